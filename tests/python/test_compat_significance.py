"""The drop-in's significance tests equal sacreBLEU's (the host's) to the last digit or, if asked, reshuffle's."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu.significance as host
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric

import reshuffle
from against_sacrebleu import host_log
from budgets import budget
from known import known
from reshuffle import Corpus, InputError, compat
from reshuffle.compat.sacrebleu import BLEU as OUR_BLEU
from reshuffle.compat.sacrebleu import CHRF as OUR_CHRF
from reshuffle.compat.sacrebleu import TER as OUR_TER
from reshuffle.compat.sacrebleu import significance
from reshuffle.compat.sacrebleu.formulas import formula_of
from reshuffle.compat.sacrebleu.significance import AR, RESAMPLE
from test_compat_counting import OPTIONS as COUNTED
from test_compat_counting import countable

WORDS = "the cat sat on a mat and the dog barked at it .".split()


@pytest.fixture(autouse=True)
def _seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


# --- formulas


OF_BLEU, OF_CHRF, OF_TER = (COUNTED[name].map(countable) for name in ("BLEU", "CHRF", "TER"))
OPTIONS = OF_BLEU.map(lambda own: BLEU(**own)) | OF_CHRF.map(lambda own: CHRF(**own)) | st.builds(TER)


def columns(metric: Any) -> int:
    number: int = {"BLEU": 2, "CHRF": 0, "TER": 2}[type(metric).__name__]
    if isinstance(metric, BLEU):
        number += 2 * metric.max_ngram_order
    elif isinstance(metric, CHRF):
        number += 3 * metric.order
    return number


@st.composite
def metrics_and_rows(draw: st.DrawFn) -> tuple[Any, Any]:
    metric = draw(OPTIONS)
    shape = draw(st.integers(1, 12)), columns(metric)
    dtype = draw(st.sampled_from(["int64", "float64", "float32"]))
    largest = draw(st.sampled_from([1, 3, 50, 10**6, 2**24]))
    rows = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, largest)))
    if isinstance(metric, CHRF) and draw(st.booleans()):
        rows[:, 2::3] = np.minimum(rows[:, 2::3], np.minimum(rows[:, ::3], rows[:, 1::3]))
    return metric, rows.astype(dtype)


def assert_equal_scores(metric: Any, rows: Any) -> None:
    formula = known(formula_of(metric, rows.shape[1]))
    # The host changes the rows, so it gets copies.
    expected = np.array([metric._compute_score_from_stats(row).score for row in rows.copy()])
    actual = formula(rows)
    assert (expected.dtype, expected.tobytes()) == (actual.dtype, actual.tobytes())


@pytest.mark.parametrize("examples", [budget(300), pytest.param(20_000, marks=pytest.mark.slow)])
def test_formulas_equal_the_hosts_in_every_bit_and_in_dtype(examples: int) -> None:
    settings(max_examples=examples)(given(metrics_and_rows())(lambda case: assert_equal_scores(*case)))()


# --- replay: equal to the last digit


def fields(result: Any) -> list[tuple[str, type, Any]]:
    """Names, types and values of a result, bit by bit."""
    return [
        (name, type(value), value.hex() if isinstance(value, float) else None if value is None else value.tobytes())
        for name, value in vars(result).items()
    ]


def everything(tested: tuple[Any, Any]) -> Any:
    signatures, scores = tested
    return (
        {name: (signature.format(), signature.format(short=True)) for name, signature in signatures.items()},
        scores["System"],
        {name: list(map(fields, results)) for name, results in scores.items() if name != "System"},
    )


def done(cls: Any, systems: Any, metrics: dict[str, Any], references: Any, **arguments: Any) -> Any:
    """What a test finds, or its error, and what sacreBLEU logs."""
    with host_log() as log:
        try:
            found: Any = everything(cls(systems, metrics, references, **arguments)())
        except Exception as error:
            found = type(error), str(error)
    return found, log


def assert_equal(systems: Any, metrics: Callable[[], Any], references: Any, **arguments: Any) -> Any:
    """Compare our test, the host's and the patched host's. ``metrics`` creates new metrics for each."""
    expected = done(host.PairedTest, systems, metrics(), references, **arguments)
    assert expected == done(significance.PairedTest, systems, metrics(), references, **arguments)
    with compat.install("sacrebleu", log="off"):
        assert expected == done(host.PairedTest, systems, metrics(), references, **arguments)
    return expected


LINES = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)


@st.composite
def texts(draw: st.DrawFn) -> tuple[Any, Any]:
    """Systems that share many lines with the baseline, and one to three columns of references."""
    n = draw(st.integers(1, 12))
    segments = st.lists(LINES, min_size=n, max_size=n)
    baseline = draw(segments)
    systems = [("base", baseline)]
    for number in range(draw(st.integers(1, 3))):
        other, kept = draw(segments), draw(st.lists(st.booleans(), min_size=n, max_size=n))
        lines = [line if same else new for line, new, same in zip(baseline, other, kept, strict=True)]
        systems.append((f"s{number}", lines))
    return systems, draw(st.lists(segments, min_size=1, max_size=3))


@st.composite
def all_metrics(draw: st.DrawFn) -> Callable[[], dict[str, Any]]:
    bleu, chrf, ter = draw(OF_BLEU), draw(OF_CHRF), draw(OF_TER)
    return lambda: {"BLEU": BLEU(**bleu), "chrF": CHRF(**chrf), "TER": TER(**ter)}


@pytest.mark.parametrize("examples", [budget(60), pytest.param(1000, marks=pytest.mark.slow)])
def test_paired_tests_equal_the_hosts(examples: int) -> None:
    @settings(max_examples=examples)
    @given(
        texts(),
        all_metrics(),
        st.sampled_from(["ar", "bs"]),
        st.integers(1, 100),
        st.sampled_from([-1, 0, 1, 39, 100]),
        st.sampled_from([1, 12345, 2**40]),
    )
    def check(case: Any, metrics: Any, test: str, n: int, confidence: int, seed: int) -> None:
        systems, references = case
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SACREBLEU_SEED", str(seed))
            assert_equal(systems, metrics, references, test_type=test, n_samples=n, n_ar_confidence=confidence)

    check()


class Invented(Metric):  # type: ignore[misc]
    """A metric whose hypotheses are lines of statistics."""

    def __init__(self, dtype: type = int) -> None:
        super().__init__()
        self.dtype, self.num_refs = dtype, 1

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        return [list(map(self.dtype, line.split())) for line in hypotheses]

    def _aggregate_and_compute(self, stats: Any) -> Any:
        return self._compute_score_from_stats(np.asarray(stats).sum(0))

    def _compute_score_from_stats(self, stats: Any) -> Any:
        return type("Scored", (), {"name": "invented", "score": 100 * stats[0] / (stats[1] + 1)})

    def _preprocess_segment(self, sent: str) -> str:
        raise NotImplementedError

    _extract_reference_info = _compute_segment_statistics = _preprocess_segment


@settings(max_examples=budget(60))
@given(
    st.integers(1, 40).flatmap(lambda n: hnp.arrays(np.int64, (3, n, 2), elements=st.integers(-1, 2))),
    st.sampled_from(["ar", "bs"]),
    st.sampled_from([int, float, lambda text: int(text) / 4]),
    st.integers(1, 200),
)
def test_invented_counts_with_many_ties_are_tested_as_by_the_host(counts: Any, test: str, dtype: Any, n: int) -> None:
    systems = [(str(i), [" ".join(map(str, row)) for row in system]) for i, system in enumerate(counts.tolist())]
    with np.errstate(all="ignore"):
        assert_equal(systems, lambda: {"x": Invented(dtype)}, None, test_type=test, n_samples=n, n_ar_confidence=20)


OURS: dict[str, Any] = {"BLEU": OUR_BLEU, "chrF": OUR_CHRF, "TER": OUR_TER}


@pytest.mark.slow
@pytest.mark.parametrize("test", ["ar", "bs"])
def test_a_real_pair_at_the_default_numbers_equals_the_hosts(wmt17: Corpus, data: Path, test: str) -> None:
    references = [(data / "wmt17-en-de/ref.txt").read_text("utf-8").split("\n")[:-1]]
    files = sorted((data / "wmt17-en-de/sys").iterdir())[:3]
    systems = [(file.name, file.read_text("utf-8").split("\n")[:-1]) for file in files]
    metrics = lambda: {"BLEU": BLEU(), "chrF": CHRF(word_order=2), "TER": TER()}  # noqa: E731
    assert_equal(systems, metrics, references, test_type=test, n_ar_confidence=0)


def lines(n: int, seed: int, words: Sequence[str] = WORDS) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n)]


def two_systems(n: int = 30) -> list[tuple[str, list[str]]]:
    return [("a", lines(n, 1)), ("b", lines(n, 2)), ("c", lines(n, 3))]


def all_three() -> dict[str, Any]:
    return {"BLEU": BLEU(), "chrF": CHRF(), "TER": TER()}


def test_blocks_continue_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.compat.sacrebleu.replay.BLOCK_BYTES", 1)
    small = [("a", ["1 1"] * 3), ("b", ["2 1", "0 1", "1 1"])]
    for test in ("ar", "bs"):
        arguments = {"test_type": test, "n_samples": 301, "n_ar_confidence": 101}
        assert_equal(two_systems(7), all_three, [lines(7, 0)], **arguments)
        assert_equal(small, lambda: {"x": Invented()}, None, **arguments)


@pytest.mark.parametrize("test", ["ar", "bs"])
@pytest.mark.parametrize(("n", "n_samples"), [(1000, 6400), pytest.param(5, 100_000, marks=pytest.mark.slow)])
def test_masks_indices_and_sums_are_never_all_in_memory(
    test: str, n: int, n_samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reshuffle.compat.sacrebleu.replay.BLOCK_BYTES", 1 << 20)
    systems = [("a", lines(n, 1)), ("b", lines(n, 2)), ("c", lines(n, 3))]
    metric = OUR_BLEU(references=[lines(n, 0)])
    metric.corpus_score(lines(n, 1), None)
    paired = significance.PairedTest(systems, {"x": metric}, None, test_type=test, n_samples=n_samples)
    tracemalloc.start()
    try:
        paired()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Scores of all replicates take 3.2 MB. In the first case, the host's masks take 6.4 MB and its indices 51 MB. In
    # the second, the sums take 16 MB.
    assert peak < 11e6


def beyond_float32(scale: int, extra: int) -> list[tuple[str, list[str]]]:
    """Two systems with invented counts below this number, and one that is larger."""
    counts = np.random.default_rng(4).integers(0, scale, (2, 40, 2))
    counts[0, 0] += extra
    return [(str(i), [f"{a} {b}" for a, b in system]) for i, system in enumerate(counts.tolist())]


SAME = [("a", lines(5, 1)), ("b", lines(5, 1))]
REFERENCES = [lines(30, 5), lines(30, 6), lines(30, 7)]
MISSING: list[list[str | None]] = [[*REFERENCES[0]], [line if i % 3 else None for i, line in enumerate(REFERENCES[1])]]
# Options that no formula of ours has, and formulas of an object's own.
CHANGES: list[dict[str, Any]] = [
    {"smooth_method": "other"},
    {"smooth_method": "floor", "smooth_value": -0.5},
    {"smooth_method": "add-k", "smooth_value": np.float64(1)},
    {"max_ngram_order": 3},
    {"compute_bleu": lambda **options: BLEU.compute_bleu(**{**options, "smooth_method": "floor"})},
    {"_compute_score_from_stats": lambda stats: BLEU()._compute_score_from_stats(2 * stats)},
]


def changed_bleu(change: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    def make() -> dict[str, Any]:
        metric = BLEU()
        vars(metric).update(change)
        return {"x": metric}

    return make


# Systems, a function that makes new metrics, and references.
CASES: dict[str, tuple[Any, Callable[[], dict[str, Any]], Any]] = {
    "a baseline alone": (SAME[:1], all_three, [lines(5, 2)]),
    "identical systems": (SAME, all_three, [lines(5, 2)]),
    "one segment": ([("a", ["the cat sat on a mat ."]), ("b", ["a cat"])], all_three, [["the cat sat on the mat"]]),
    "two references": (two_systems(), all_three, REFERENCES[:2]),
    "three references": (two_systems(), all_three, REFERENCES),
    "missing references": (two_systems(), all_three, MISSING),
    "cached references": (
        two_systems(), lambda: {n: type(metric)(references=MISSING) for n, metric in all_three().items()}, None
    ),
    "tokenized periods": (
        [(str(i), [f"{line} ." for line in lines(120, i)]) for i in (1, 2, 3)], all_three, [lines(120, 0)]
    ),
    **{" ".join(change): (two_systems(), changed_bleu(change), [lines(30, 0)]) for change in CHANGES},
    # Some draws exceed 2^24 and others do not; a single count exceeds it, too.
    "some sums beyond float32": (beyond_float32(2**24 // 40, 0), lambda: {"x": Invented()}, None),
    "counts beyond float32": (beyond_float32(2**24, 2**25 + 1), lambda: {"x": Invented()}, None),
}  # fmt: skip


@pytest.mark.parametrize("test", ["ar", "bs"])
@pytest.mark.parametrize("case", CASES)
def test_unusual_texts_and_counts_are_tested_as_by_the_host(case: str, test: str) -> None:
    assert_equal(*CASES[case], test_type=test, n_samples=100, n_ar_confidence=100)


FIVE, REFERENCE = [("a", lines(5, 1)), ("b", lines(5, 2))], [lines(5, 2)]
# Systems, references and other arguments, with any test.
WRONG: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "a shorter system": ([*FIVE[:1], ("b", lines(4, 1))], REFERENCE, {}),
    "a longer system": ([*FIVE[:1], ("b", lines(6, 1))], REFERENCE, {}),
    "a shorter baseline": ([("a", lines(4, 1)), *FIVE[1:]], REFERENCE, {}),
    "short references": ([("a", lines(6, 1)), ("b", lines(6, 2))], REFERENCE, {}),
    "an empty system": ([*FIVE[:1], ("b", [])], REFERENCE, {}),
    "numbers": ([*FIVE[:1], ("b", [1, 2, 3, 4, 5])], REFERENCE, {}),
    "no segments": ([("a", []), ("b", [])], REFERENCE, {}),
    "no references": (FIVE, None, {}),
    "missing references": (FIVE, [[None] * 5], {}),
    "another test": (FIVE, REFERENCE, {"test_type": "t"}),
    "half a sample": (FIVE, REFERENCE, {"n_samples": 10.5}),
    **{
        f"{name} {value!r}": (FIVE, REFERENCE, {name: value})
        for name in ("n_samples", "n_ar_confidence")
        for value in (True, np.int64(7))
    },
}


@pytest.mark.parametrize("test", ["ar", "bs"])
@pytest.mark.parametrize("case", WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors_are_those_of_the_host(case: str, test: str) -> None:
    systems, references, options = WRONG[case]
    for metrics in (lambda: {"BLEU": BLEU()}, lambda: {"BLEU": BLEU(), "TER": TER()}):
        assert_equal(systems, metrics, references, **{"test_type": test, "n_samples": 30, **options})


def test_an_impossible_seed_is_refused_before_anything_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "-3")
    (kind, _), _ = assert_equal(two_systems(), all_three, [lines(30, 0)], n_samples=40)
    assert kind is ValueError


def test_means_over_references_that_are_not_whole_are_left_to_the_host() -> None:
    for number in (2, 3):
        before = AR.fallbacks["TER: the statistics are not whole numbers"]
        significance.PairedTest(two_systems(), all_three(), REFERENCES[:number], n_samples=9)()
        assert (AR.fallbacks["TER: the statistics are not whole numbers"] > before) == (number == 3)  # halves are exact


class Geometric(BLEU):  # type: ignore[misc]
    def _compute_score_from_stats(self, stats: Any) -> Any:
        score = super()._compute_score_from_stats(stats)
        score.score = score.score**0.5
        return score


class Smoother(BLEU):  # type: ignore[misc]
    @staticmethod
    def compute_bleu(**options: Any) -> Any:
        return BLEU.compute_bleu(**{**options, "smooth_method": "add-k", "smooth_value": 0.7})


class Harmonic(CHRF):  # type: ignore[misc]
    def _compute_f_score(self, statistics: Any) -> Any:
        return 100 * statistics[2] / (statistics[0] + statistics[1] + 1)


class MeanOfSegments(TER):  # type: ignore[misc]
    """Scores depend on all rows, and not on their sum."""

    def _aggregate_and_compute(self, stats: Any) -> Any:
        scores = [self._compute_score_from_stats(row) for row in stats]
        scores[0].score = sum(score.score for score in scores) / len(scores)
        return scores[0]


class LineCounts(TER):  # type: ignore[misc]
    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: Any) -> Any:
        return [len(hypothesis), float(len(ref_kwargs["ref_words"][0]))]


@pytest.mark.parametrize("cls", [Geometric, Smoother, Harmonic, MeanOfSegments, LineCounts])
@pytest.mark.parametrize("test", ["ar", "bs"])
def test_subclasses_are_honoured(cls: Any, test: str) -> None:
    arguments = {"test_type": test, "n_samples": 60, "n_ar_confidence": 20}
    found = assert_equal(two_systems(), lambda: {"x": cls()}, [lines(30, 0)], **arguments)
    plain = assert_equal(two_systems(), lambda: {"x": cls.__base__()}, [lines(30, 0)], **arguments)
    assert found[0][2] != plain[0][2]


def test_seeds_are_read_as_by_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in ("7", "None", "none", "0"):
        monkeypatch.setenv("SACREBLEU_SEED", seed)
        for test in ("ar", "bs"):
            tested = [
                everything(cls(two_systems(), {"BLEU": BLEU()}, [lines(30, 0)], test_type=test, n_samples=300)())
                for cls in (host.PairedTest, significance.PairedTest, significance.PairedTest)
            ]
            assert tested[0][0] == tested[1][0]  # the signatures
            pvalues = [[result[1] for result in results["BLEU"]] for _, _, results in tested]
            # With the seed 0, the host's tests are unseeded, because of a bug.
            assert (pvalues[0] == pvalues[1] == pvalues[2]) == (seed == "7")


@pytest.mark.parametrize("dtype", [None, "int32", "int64", "float64", "float32", "bool", "object"])
def test_the_helpers_equal_the_hosts_and_the_statistics_of_the_baseline_may_be_arrays(dtype: str | None) -> None:
    metric, references, (_, (name, hypotheses), _) = BLEU(), [lines(30, 0)], two_systems()
    statistics = metric._extract_corpus_statistics(lines(30, 1), references)
    if dtype is not None:
        statistics = np.array(statistics).astype(dtype)
    info = {"BLEU": (statistics, host.Result(20.0))}
    for helper in ("_paired_ar_test", "_paired_bs_test"):
        ours, theirs = getattr(significance, helper), getattr(host, helper)
        for seed in (0, 3, np.int64(4), np.random.SeedSequence(5)):
            arguments: Any = (info, name, hypotheses, references, {"BLEU": metric}, 80, 30, seed)
            (expected_name, expected), (actual_name, actual) = theirs(*arguments), ours(*arguments)
            assert (expected_name, list(expected)) == (actual_name, list(actual))
            assert fields(expected["BLEU"]) == fields(actual["BLEU"])


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TER"])
@pytest.mark.parametrize("number", [1, 3])
def test_the_bootstrap_of_corpus_score_equals_the_hosts(name: str, number: int) -> None:
    cls, ours = {"BLEU": BLEU, "chrF": CHRF, "TER": TER}[name], OURS[name]
    references = [lines(30, seed) for seed in range(number)]
    metric = cls()
    expected = metric.corpus_score(lines(30, 9), references, n_bootstrap=100)
    signature = str(metric.get_signature())
    our_metric = ours()
    actual = our_metric.corpus_score(lines(30, 9), references, n_bootstrap=100)
    assert expected.format() == actual.format()
    assert (expected._mean, expected._ci) == (actual._mean, actual._ci)
    assert signature == str(our_metric.get_signature())
    with compat.install("sacrebleu", log="off"):
        calls = RESAMPLE.calls
        patched = cls().corpus_score(lines(30, 9), references, n_bootstrap=100)
        assert RESAMPLE.calls == calls + 1
    assert (expected._mean, expected._ci) == (patched._mean, patched._ci)


def test_a_replaced_test_and_several_jobs() -> None:
    paired = significance.PairedTest(two_systems(), {"BLEU": BLEU()}, [lines(30, 0)], n_samples=50, n_jobs=2)
    single = host.PairedTest(two_systems(), {"BLEU": BLEU()}, [lines(30, 0)], n_samples=50)
    assert everything(single()) == everything(paired())
    paired.n_jobs = 1
    paired._fn = lambda *arguments: (arguments[1], {"BLEU": host.Result(1.0, 0.5)})
    assert [result.p_value for result in paired()[1]["BLEU"]] == [None, 0.5, 0.5]


@pytest.mark.parametrize("test", ["ar", "bs"])
def test_a_test_can_be_pickled_and_called_again(test: str) -> None:
    paired = significance.PairedTest(two_systems(), all_three(), [lines(30, 0)], test, 50, n_ar_confidence=10)
    copy = pickle.loads(pickle.dumps(paired))
    assert everything(paired()) == everything(paired()) == everything(copy())


# --- sound p-values


@pytest.mark.parametrize("test", ["ar", "bs"])
@pytest.mark.parametrize("number", [1, 3])
def test_sound_p_values_and_intervals_are_those_of_our_tests(
    test: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "99")
    systems, references = two_systems(60), [lines(60, 20 + i) for i in range(number)]
    arguments: dict[str, Any] = {"test_type": test, "n_samples": 200, "n_ar_confidence": 120}
    _, scores = significance.PairedTest(systems, all_three(), references, **arguments, pvalues="sound")()
    plain = host.PairedTest(systems, all_three(), references, **arguments)()[1]
    n_draws = 120 if test == "ar" else 200
    for name in ("BLEU", "chrF2", "TER"):
        metric = reshuffle.metric({"BLEU": "bleu", "chrF2": "chrf", "TER": "ter"}[name])
        baseline, *others = metric.suff_stats(references, [lines for _, lines in systems])
        assert [result.score for result in scores[name]] == [result.score for result in plain[name]]
        assert scores[name][0].p_value is None
        for result, counts in zip(scores[name][1:], others, strict=True):
            if test == "ar":
                expected = reshuffle.approximate_randomization(
                    baseline, counts, metric, n_resamples=200, seed=99, scheme="iid"
                )
            else:
                expected = reshuffle.bootstrap_test(baseline, counts, metric, n_resamples=200, seed=99)
            assert result.p_value == expected.pvalue
        for result, counts in zip(scores[name], (baseline, *others), strict=True):
            interval = reshuffle.bootstrap_interval(counts, metric, n_resamples=n_draws, seed=99)
            assert result.mean - result.ci == pytest.approx(interval.low, rel=1e-12)
            assert result.mean + result.ci == pytest.approx(interval.high, rel=1e-12)


def test_sound_p_values_count_ties_and_mark_the_signature() -> None:
    same = [("a", lines(20, 1)), ("b", lines(20, 1))]
    signatures, scores = significance.PairedTest(same, all_three(), [lines(20, 2)], n_samples=50, pvalues="sound")()
    assert [results[1].p_value for name, results in scores.items() if name != "System"] == [1.0, 1.0, 1.0]
    for signature in signatures.values():
        mark = f"reshuffle-{reshuffle.__version__}"
        assert f"|pvalues:{mark}|" in signature.format()
        assert f"|p:{mark}|" in signature.format(short=True)
        assert "|ar:50|" in signature.format()
    assert scores["BLEU"][0].mean is None


def test_install_chooses_sound_p_values() -> None:
    arguments: Any = (two_systems(), all_three(), [lines(30, 0)])
    sound = everything(significance.PairedTest(*arguments, n_samples=50, pvalues="sound")())
    before = host.PairedTest(*arguments, n_samples=50)
    plain = everything(before())
    with compat.install("sacrebleu", pvalues="sound"):
        for cls in (host.PairedTest, significance.PairedTest):
            assert sound == everything(cls(two_systems(), all_three(), [lines(30, 0)], n_samples=50)())
        assert "pvalues" in before()[0]["BLEU"].format()
        exact = significance.PairedTest(*arguments, n_samples=50, pvalues="exact-replay")
        assert sound != everything(exact())
    assert plain == everything(before())  # without the mark of the other call
    with pytest.raises(InputError, match="pvalues must be 'exact-replay' or 'sound', got 'exact'"):
        significance.PairedTest(*arguments, pvalues="exact")


def test_sound_p_values_of_subclasses_use_their_formula() -> None:
    references = [lines(30, 0)]
    paired = significance.PairedTest(two_systems(), {"x": Geometric()}, references, n_samples=200, pvalues="sound")
    _, scores = paired()
    metric = reshuffle.metric("bleu")
    counts = metric.suff_stats(references, [lines for _, lines in two_systems()])
    expected = reshuffle.approximate_randomization(
        counts[0], counts[1], lambda totals: metric.score(totals) ** 0.5, n_resamples=200, scheme="iid", seed=12345
    )
    assert scores["BLEU"][1].p_value == expected.pvalue


def test_statistics_that_are_not_counts_are_left_to_the_host_and_not_marked() -> None:
    systems = [("a", ["1.37 2", "2.2 3"]), ("b", ["1.1 2", "0.3 2"])]
    arguments: Any = {"n_samples": 50}
    exact = host.PairedTest(systems, {"x": Invented(float)}, None, **arguments)()
    sound = significance.PairedTest(systems, {"x": Invented(float)}, None, **arguments, pvalues="sound")()
    assert everything(exact) == everything(sound)
