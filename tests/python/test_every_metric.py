"""What holds for every metric: native, from external counts or scores, or a function of texts."""

import itertools
import math
import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811

from budgets import budget
from inputs import scores_by_system
from known import ends, known
from margins import OF_DIFFERENCES
from meteor_files import write_meteor, write_wordnet
from reshuffle import (
    Comparison,
    ConfidenceInterval,
    Corpus,
    CorpusFunction,
    Formula,
    FromCounts,
    InputError,
    NativeMetric,
    OwnTexts,
    SegmentScores,
    _core,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    compare,
    f_score,
    metric,
    score,
    segment_scores,
    standard_error,
)
from reshuffle.inference.estimates import ANY, MEANS
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.tests import TESTS
from reshuffle.metrics.registry import metric_specs
from reshuffle.report import render
from reshuffle.types import BootstrapTest
from reshuffle.validate import LARGEST_SCORE, SMALLEST_SCORE
from texts import Columns, corpora
from told import assert_raises

AnyMetric: TypeAlias = "NativeMetric | SegmentScores | FromCounts | CorpusFunction | OwnTexts"
Texts: TypeAlias = "tuple[list[str], dict[str, list[str]]]"

NATIVE = [spec.name for spec in _core.metrics()]
EXTERNAL = ["SegmentScores", "FromCounts", "FromCounts of bleu", "CorpusFunction", "OwnTexts"]
OF_ALL_METRICS = [name for name in OF_DIFFERENCES if TESTS[name].kind == ANY]

TEXT = [
    "the cat sat on the mat .",
    "a dog barked at the moon , twice",
    "it rained all day long",
    "nobody came to the harbour that night",
    "the ship left without a sound",
    "she had 3 apples and 2.5 pears",
    "well , that is that",
    "where did all the people go ?",
]


def worse(line: str, every: int) -> str:
    """The line with every ``every``-th word removed and the others in another order."""
    words = [word for i, word in enumerate(line.split()) if i % every]
    return " ".join(words[::-1] if every == 2 else [*words[1:], *words[:1]])


def parsed(line: str) -> str:
    """A parse that is a chain: every word depends on the one before."""
    return "\n".join(f"{i}\t{w}\t{w}\t_\t_\t_\t{i - 1}\tdep\t_\t_" for i, w in enumerate(line.split(), 1))


def texts(name: str) -> Texts:
    """References and three systems, two of them identical; parses for DepF."""
    systems = {"good": [worse(line, 4) for line in TEXT], "poor": [worse(line, 2) for line in TEXT]}
    systems["twin"] = list(systems["good"])
    systems["good"][2] = ""
    systems["twin"][2] = ""
    convert = parsed if name == "depf" else str
    return [convert(line) for line in TEXT], {
        system: [convert(line) for line in lines] for system, lines in systems.items()
    }


def ratio_of_words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(len(h.split()) for h in hypotheses) / max(1, sum(len((r or "").split()) for r in references[0]))


def make_metric(name: str) -> AnyMetric:
    reference, systems = texts(name)
    if name == "SegmentScores":
        return SegmentScores("rating", {s: [len(line) / 8 for line in lines] for s, lines in systems.items()})
    if name == "FromCounts":
        overlaps = {
            s: [
                [len({*h.split()} & {*r.split()}), len({*h.split()}), len({*r.split()})]
                for h, r in zip(lines, reference, strict=True)
            ]
            for s, lines in systems.items()
        }
        return FromCounts("overlap", {s: np.array(rows) for s, rows in overlaps.items()}, f_score)
    if name == "FromCounts of bleu":
        counts = metric("bleu").suff_stats([reference], list(systems.values()))
        return FromCounts("counted", dict(zip(systems, counts, strict=True)), "bleu")
    if name == "CorpusFunction":
        return CorpusFunction("words", ratio_of_words)
    if name == "OwnTexts":
        return OwnTexts(metric("depf", lowercase=True), *texts("depf"))
    return native(name)


def native(name: str, segments: slice | Sequence[int] = slice(None), **options: Any) -> NativeMetric:
    sources = np.array([f"{line} , it is said" for line in TEXT], dtype=object)[segments].tolist()
    return metric(name, sources=sources if name == "sari" else None, **options)


def is_for(name: str, kind: str) -> bool:
    """Whether a metric has what a test or an interval of this kind needs."""
    return kind == ANY or name == "SegmentScores" or (kind != MEANS and name != "CorpusFunction")


@cache
def comparison(name: str, test: str = "ar", interval: str = "percentile", adjust: str = "auto") -> Comparison:
    options: dict[str, Any] = {"test": test, "interval": interval, "adjust": adjust}
    return compare(*texts(name), make_metric(name), n_resamples=60, baseline="good", **options)


def approximately(m: AnyMetric, value: float) -> Any:
    """A value equal to this score or difference: exact, or within the decimals that its metric has."""
    return value if m.decimals is None else pytest.approx(value, rel=0, abs=1.5 * 10**-m.decimals)


def assert_alike(m: AnyMetric, rounded: ConfidenceInterval | None, interval: ConfidenceInterval | None) -> None:
    assert rounded is not None
    assert interval is not None
    # With more than two systems, standard errors come from one matrix, which adds the same numbers in another order.
    from_matrix = m.decimals is None and interval.method in ("delta", "studentized", "jackknife")
    size = 1e-12 * max(abs(interval.low), abs(interval.high))
    for end, expected in ((rounded.low, interval.low), (rounded.high, interval.high)):
        assert end == (pytest.approx(expected, rel=0, abs=size) if from_matrix else approximately(m, expected))
    assert replace(rounded, low=0, high=0) == replace(interval, low=0, high=0)


# With eight short segments, many draws have a BLEU of 0 and so a standard error of 0.
UNDEFINED = {(name, "studentized") for name in ("bleu", "FromCounts of bleu", "rouge2")}

COMBINATIONS = [
    (name, test, interval)
    for name in NATIVE + EXTERNAL
    for test in OF_DIFFERENCES
    for interval in INTERVALS
    if INTERVALS[interval].inverts in (None, test)
    if test == "ar" or interval == "percentile" or INTERVALS[interval].inverts
    if is_for(name, TESTS[test].kind) and is_for(name, INTERVALS[interval].kind)
    if (name, interval) not in UNDEFINED
]


@pytest.mark.parametrize("name", NATIVE + EXTERNAL)
def test_every_test_and_interval_works_and_identical_systems_do_not_differ(name: str) -> None:
    for own, test, interval in COMBINATIONS:
        if own != name:
            continue
        result = comparison(name, test, interval)
        assert [score.system for score in result.scores] == ["good", "poor", "twin"]
        for score_ in result.scores:
            interval_ = known(score_.confidence_interval)
            assert math.isfinite(score_.score)
            assert -math.inf < interval_.low <= interval_.high < math.inf
            # An interval that inverts a test is for differences; scores have another one.
            assert interval_.method == (interval if INTERVALS[interval].inverts is None else "percentile")
        poor, twin = result.comparisons
        assert known(poor.confidence_interval).method == interval
        assert (twin.system, twin.difference, twin.test.pvalue) == ("twin", 0, 1)
        assert ends(twin) == (0, 0)
        assert poor.difference == approximately(make_metric(name), result.scores[1].score - result.scores[0].score)
        assert 0 < poor.test.pvalue <= 1
        assert poor.test.signature.startswith(f"{result.metrics[0].signature}|test:")
        # A test of shuffles honours the scheme, and records the one that was used.
        assert (poor.test.scheme is not None) == (TESTS[test].replicates == "shuffles")
        # Signatures name the replicates if and only if some are random.
        at_random = TESTS[test].replicates is not None and poor.test.scheme != "exact"
        assert (poor.test.seed is not None) == at_random
        assert ("|n:60|" in poor.test.signature) == at_random
        assert f"|interval:{interval}[0.95]|test:{test}|" in result.signature


@pytest.mark.parametrize("name", NATIVE + EXTERNAL[:3])
def test_tests_and_intervals_of_two_arrays_equal_those_of_compare(name: str) -> None:
    m = make_metric(name)
    assert not isinstance(m, CorpusFunction)
    reference, systems = texts(name)
    outputs = [systems["poor"], systems["good"]]
    a, b = m.suff_stats([reference], outputs) if isinstance(m, NativeMetric) else m.counts_of(["poor", "good"])
    for test in ("ar", *get_args(BootstrapTest)):
        if test == "ar":
            result = approximate_randomization(a, b, m, n_resamples=60)
        else:
            result = bootstrap_test(a, b, m, test=test, n_resamples=60)
        there = comparison(name, test, adjust="none")
        expected = there.comparisons[0].test
        # Counts do not reveal the number of references.
        assert expected.statistic == approximately(m, result.statistic)
        assert replace(expected, signature="", statistic=0) == replace(result, signature="", statistic=0)
        assert expected.signature.removeprefix(there.metrics[0].signature) == result.signature.removeprefix(
            m.signature()
        )
    for interval in INTERVALS.values():
        if (name, "ar", interval.name) in COMBINATIONS:
            shown = comparison(name, "ar", interval.name)
            of_score = bootstrap_interval(a, m, interval=interval.name, n_resamples=60)
            assert_alike(m, shown.scores[1].confidence_interval, of_score)
            of_difference = bootstrap_interval(a, m, b=b, interval=interval.name, n_resamples=60)
            assert_alike(m, shown.comparisons[0].confidence_interval, of_difference)


def rearranged(name: str, order: Sequence[int]) -> tuple[Texts, AnyMetric]:
    """The texts, and the metric's own scores or counts, with these segments in this order."""
    reference, systems = texts(name)
    moved = [reference[i] for i in order], {s: [lines[i] for i in order] for s, lines in systems.items()}
    m = make_metric(name)
    if isinstance(m, SegmentScores):
        given_scores = cast("dict[str, list[float]]", m.scores)
        return moved, SegmentScores(m.name, {s: np.asarray(values)[order] for s, values in given_scores.items()})
    if isinstance(m, FromCounts):
        return moved, FromCounts(m.name, {s: rows[order] for s, rows in m.counts.items()}, m.scoring)
    if isinstance(m, OwnTexts):
        return moved, OwnTexts(metric("depf", lowercase=True), *rearranged("depf", order)[0])
    return moved, native(name, order) if isinstance(m, NativeMetric) else m


@pytest.mark.parametrize("name", NATIVE + EXTERNAL)
def test_scores_do_not_depend_on_the_order_of_segments(name: str) -> None:
    # NIST's information is computed from all references together, so their order does not matter.
    order = np.random.default_rng(1).permutation(len(TEXT)).tolist()
    (columns, m), before = rearranged(name, order), make_metric(name)
    one, other = score(*texts(name), before), score(*columns, m)
    assert [(s.score, s.details) for s in one.scores] == [(s.score, s.details) for s in other.scores]
    segments = [
        next(iter(segment_scores(*of, each).scores.values())) for of, each in ((texts(name), before), (columns, m))
    ]
    np.testing.assert_array_equal(segments[0][:, order], segments[1])


@pytest.mark.parametrize("name", NATIVE)
def test_counts_do_not_depend_on_the_number_of_threads(name: str) -> None:
    reference, systems = texts(name)
    outputs, columns = [lines * 40 for lines in systems.values()], [reference * 40, reference[::-1] * 40]
    m = native(name, [*range(len(TEXT))] * 40)
    expected = m.suff_stats(columns, outputs, workers=1)
    for threads in (2, 3):
        np.testing.assert_array_equal(expected, m.suff_stats(columns, outputs, workers=threads))


@pytest.mark.parametrize("name", NATIVE + EXTERNAL)
def test_p_values_do_not_depend_on_the_number_of_threads_or_on_pickling(name: str) -> None:
    # One thread takes at least 2^19 additions: these are 800 segments times 2,000 shuffles.
    # A function of texts is called on one thread, whatever the argument.
    repeat, n = (1, 40) if name == "CorpusFunction" else (100, 2_000)
    columns, m = rearranged(name, [*range(len(TEXT))] * repeat)
    here = compare(*columns, m, test="ar", n_resamples=n, workers=1)
    assert here == compare(*columns, pickle.loads(pickle.dumps(m)), test="ar", n_resamples=n, workers=3)


def test_pickling_keeps_options_of_every_kind(tmp_path: Path) -> None:
    table, jar, wordnet = tmp_path / "table.gz", write_meteor(tmp_path / "meteor"), write_wordnet(tmp_path / "wordnet")
    table.write_text("0.5\na\nb\n", "utf-8")
    paths: dict[str, Any] = {"meteor_jar": str(jar), "wordnet": str(wordnet), "paraphrases": str(table)}
    numbers: dict[str, Any] = {
        "max_ngram_order": 2,
        "smooth_method": "floor",
        "smooth_value": 0.5,
        "weights": (1, 0.25),
    }
    for name, options in (
        ("bleu", {"lowercase": True, "tokenize": "zh", **numbers}),
        ("meteor", {"modules": ("exact", "stem", "synonym"), "module_weights": (1.0, 0.5, 0.25), **paths}),
    ):
        before = metric(name, **options)
        after = pickle.loads(pickle.dumps(before))
        assert after.options == before.options == options
        assert after.signature() == before.signature()
        assert after == before != metric(name)
        lines = texts(name)[0]
        totals = before.suff_stats([lines[::-1]], [lines]).sum(axis=1)
        assert after.score(totals) == before.score(totals)


DOCUMENTS = ["a", "b", "a", "c", "b", "c", "c", "d"]
FROM_DRAWS = ["percentile", "koehn", "basic", "normal", "bca", "jackknife"]


# NIST is left out: its information comes from the references, and would be computed anew for every draw. And functions
# of texts get no sources for SARI.
@pytest.mark.parametrize("name", [name for name in NATIVE if name not in ("nist", "sari")])
def test_resampled_documents_have_the_scores_of_their_texts(name: str) -> None:
    # Draws of documents differ in their number of segments, so no formula may assume that it is constant.
    m = metric(name)

    def from_texts(hypotheses: list[str], references: list[list[str | None]]) -> float:
        return float(m.score(m.suff_stats(references, [hypotheses])[0].sum(axis=0)))

    tests = ("ar:scheme=iid", "ar:scheme=subgroup", "ar:scheme=exact", "bootstrap", "permutation")
    cases: list[dict[str, Any]] = [{"test": test, "documents": DOCUMENTS} for test in tests]
    for strata in ({"strata": list("xxxyxyyy")}, {"strata": list("xxxyxyyy"), "documents": DOCUMENTS}):
        cases += [{"test": "bootstrap", "interval": interval, **strata} for interval in FROM_DRAWS]
    for options in cases:
        both: list[AnyMetric] = [m, CorpusFunction("texts", from_texts, m.higher_is_better)]
        result = compare(*texts(name), both, n_resamples=20, **options)
        for one, other in zip(*np.array_split(np.array(result.comparisons), 2), strict=True):
            # Texts may differ where counts do not: an exact test then enumerates more patterns and gets the same p.
            assert one.test.pvalue == other.test.pvalue
            assert one.test.scheme == "exact" or one.test.exceedances == other.test.exceedances
            assert_alike(m, one.confidence_interval, other.confidence_interval)
        for score_, of_texts in zip(*np.array_split(np.array(result.scores), 2), strict=True):
            assert_alike(m, score_.confidence_interval, of_texts.confidence_interval)


@pytest.mark.parametrize("name", NATIVE)
def test_references_get_the_best_score(name: str) -> None:
    reference, systems = texts(name)
    m = native(name)
    best, *others = m.score(m.suff_stats([reference], [reference, *systems.values()]).sum(axis=1)).tolist()
    if m.higher_is_better:
        assert all(best > other for other in others)
    else:
        assert best == 0
        assert all(other > 0 for other in others)


@pytest.mark.parametrize("name", NATIVE)
def test_the_options_of_every_metric_have_names_choices_and_limits(name: str) -> None:
    spec = next(spec for spec in metric_specs() if spec.name == name)
    for option in spec.options:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({f"{option.name}x": True}, f"unknown {name} option '{option.name}x': did you mean")
        ]
        if option.choices and not option.several:
            wrong.append(({option.name: f"{option.choices[-1]}x"}, f"'{option.choices[-1]}x'"))
        if option.is_flag:
            wrong.append(({option.name: "perhaps"}, f"{option.name} must be true or false"))
        if option.number and not option.several:
            beyond = [{option.name: value} for value in (-1, 10 * known(option.limits[1]))]
            wrong += [(each, f"{name}: {option.name} must be a ") for each in beyond]
        for options, message in wrong:
            with pytest.raises(InputError, match=re.escape(message)):
                metric(name, **options)


def test_options_with_the_same_name_have_the_same_kind() -> None:
    # The command line has one flag per option name, for all metrics that have the option.
    kinds: dict[str, set[Any]] = {}
    for spec in metric_specs():
        for option in spec.options:
            kinds.setdefault(option.name, set()).add(
                (option.kind, option.several, None if option.choices else option.element)
            )
    assert {name: kinds_of_option for name, kinds_of_option in kinds.items() if len(kinds_of_option) > 1} == {}


REAL = [(spec.name, option) for spec in _core.metrics() for option in spec.options if option.kind == "real"]


@pytest.mark.parametrize(("name", "option"), REAL, ids=lambda value: getattr(value, "name", value))
def test_options_at_the_ends_of_their_ranges_give_finite_scores(name: str, option: _core.OptionSpec) -> None:
    spec = next(spec for spec in metric_specs() if spec.name == name)
    choices: dict[str, list[Any]] = {o.name: [o.default] for o in spec.options if o.choices and not o.several}
    choices.update({o.name: [*o.choices] for o in spec.options if o.name.startswith("smooth") and o.choices})
    reference, systems = texts(name)
    for value, chosen in itertools.product((option.minimum, option.maximum), itertools.product(*choices.values())):
        m = metric(name, **dict(zip(choices, chosen, strict=True)), **{option.name: value})
        counts = m.suff_stats([reference], list(systems.values()))
        assert np.isfinite(m.score(counts.sum(axis=1))).all()
        assert np.isfinite(m.segment_scores(counts)).all()


def test_numeric_choices_can_be_strings_or_integers() -> None:
    assert metric("sentbleu", smoothing=4).signature() == metric("sentbleu", smoothing="4").signature()


@pytest.mark.parametrize("name", [name for name in NATIVE if name not in ("depf", "sari")])
def test_any_text_can_be_counted_and_scored(name: str) -> None:
    m = metric(name)

    @settings(max_examples=budget(40))
    @given(corpora(max_references=2, missing=False))
    def check(corpus: tuple[list[str], Columns]) -> None:
        counts = m.suff_stats(corpus[1], [corpus[0]])[0]
        assert (counts >= 0).all()
        assert math.isfinite(m.score(counts.sum(axis=0)))
        assert np.isfinite(m.segment_scores(counts)).all()
        # One segment is a corpus of one segment, except for BLEU's effective order.
        if name != "bleu":
            got, expected = m.segment_scores(counts), m.score(counts)
            if name == "sentbleu":
                # It has no weight if the closest reference is empty, and more digits if the score is tiny.
                got = np.where(counts[:, 1] > 0, got, 0)
                got = np.where(np.abs(got - expected) < 1e-7, expected, got)
            np.testing.assert_array_equal(got, expected)

    check()


@given(corpora(), st.sampled_from(["13a", "char", "intl", "none"]))
def test_the_length_ratio_is_that_of_bleu(corpus: tuple[list[str], Columns], tokenizer: str) -> None:
    length, bleu = metric("length", tokenize=tokenizer), metric("bleu", tokenize=tokenizer)
    rows, of_bleu = (m.suff_stats(corpus[1], [corpus[0]])[0] for m in (length, bleu))
    np.testing.assert_array_equal(rows, of_bleu[:, :2])
    assert float(length.score(rows.sum(axis=0))) == bleu.details(of_bleu.sum(axis=0))["ratio"]


# --- Scores of segments


DECIMALS = st.integers(0, 9).flatmap(
    lambda d: st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30).map(lambda n: (d, n))
)


@given(DECIMALS)
def test_sums_of_decimals_are_exact(decimals: tuple[int, list[int]]) -> None:
    digits, numbers = decimals
    # The nearest float to each decimal, as read from a file.
    scores = [float(Decimal(number).scaleb(-digits)) for number in numbers]
    rating = SegmentScores("rating", {"a": scores})
    # "resolution:10^-3": a score is a whole number of thousandths.
    base, _, exponent = rating.signature().rsplit(":", 1)[1].partition("^")
    unit = Fraction(base) ** int(exponent or 1)
    assert unit >= Fraction(1, 10**digits)
    totals = rating.counts["a"].sum(axis=0)
    exact = Fraction(sum(numbers), 10**digits)
    assert int(totals[0]) * unit == exact
    assert float(rating.score(totals)) == pytest.approx(float(exact / len(numbers)), rel=1e-15, abs=1e-300)


FLOATS = st.floats(-1e9, 1e9, allow_subnormal=False)


@pytest.mark.parametrize("largest", [LARGEST_SCORE, 1e18, SMALLEST_SCORE])
def test_very_large_and_very_small_scores_are_summed(largest: float) -> None:
    rating = SegmentScores("rating", {"a": [largest, 0.0, largest], "b": [0.0, largest, 0.0]})
    scores = [s.score for s in score(metrics=rating).scores]
    assert scores[0] == pytest.approx(2 * (largest / 3), rel=1e-9, abs=1e-300)
    assert compare(metrics=rating, test="ar", n_resamples=9).comparisons[0].test.pvalue > 0


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=20), st.floats(1e-20, 1e20))
def test_large_scores_of_one_system_do_not_round_away_those_of_another(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    scores = {"a": [a for a, _ in pairs], "b": [factor * b for _, b in pairs]}
    refused = ""
    try:
        rating = SegmentScores("rating", scores)
    except InputError as error:
        refused = str(error)
    small, large = sorted(max(map(abs, values)) for values in scores.values())
    if refused and large >= SMALLEST_SCORE:
        # The sum of 20 scores fits 55 bits, so the resolution is at most 2^-50 of the largest score. Half of that is
        # 10^-9 of a score of 2^-21.
        assert small < 2.0**-20 * large
        assert "is too large. All scores" in refused
        return
    if refused:
        assert "which is too small" in refused
        return
    for system, expected in scores.items():
        largest = max(map(abs, expected))
        got = rating.segment_scores(rating.counts[system])
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-9 * largest)


# --- Counts


@pytest.mark.parametrize("test", OF_ALL_METRICS)
def test_external_counts_have_the_results_of_their_metric(test: str) -> None:
    ours, native = comparison("FromCounts of bleu", test), comparison("bleu", test)
    for a, b in zip(ours.scores, native.scores, strict=True):
        assert (a.score, a.confidence_interval, a.details) == (b.score, b.confidence_interval, b.details)
    for c, d in zip(ours.comparisons, native.comparisons, strict=True):
        assert (c.difference, c.confidence_interval) == (d.difference, d.confidence_interval)
        assert (c.test.exceedances, c.test.wins, c.test.ties) == (d.test.exceedances, d.test.wins, d.test.ties)


def test_the_direction_of_a_metric_can_come_from_its_function() -> None:
    errors = Formula("errors", lambda totals: totals[..., 0] / 9, higher_is_better=False)
    counts = {"a": np.array([[1], [2]])}
    assert FromCounts("x", counts, errors).higher_is_better is False
    assert FromCounts("x", counts, errors, higher_is_better=True).higher_is_better is True
    assert FromCounts("x", counts, errors.function).higher_is_better is True
    assert FromCounts("x", counts, errors).signature() == "x|counts:given"


def test_external_counts_are_exact_up_to_the_largest_sum() -> None:
    edge = _core.LARGEST_SUM // 2
    for sign in (1, -1):
        counts = {"a": np.array([[sign * edge]] * 2), "b": np.array([[0], [sign]])}
        external = FromCounts("x", counts, lambda totals: totals[..., 0] / 1e9)
        (test,) = (pair.test for pair in compare(metrics=external, test="ar", n_resamples=9, interval=None).comparisons)
        assert (test.pvalue, test.statistic) == (0.5, (sign - sign * 2 * edge) / 1e9)
        beyond = [[0], [sign * (edge + 1)]]
        with pytest.raises(InputError, match=r"the counts of column 0 are too large: their sum would pass 2\^62"):
            _core.Counts([np.array([beyond, beyond])])


def test_a_metric_with_its_own_texts_gives_the_same_results() -> None:
    alone = compare(*texts("depf"), ["depf"], test="ar", n_resamples=60)
    beside = compare(*texts("bleu"), ["bleu", OwnTexts("depf", *texts("depf"))], test="ar", n_resamples=60)
    assert beside.metrics[1] == alone.metrics[0]
    assert beside.scores[3:] == alone.scores
    for ours, native in zip(beside.comparisons[2:], alone.comparisons, strict=True):
        assert (ours.difference, ours.test.pvalue) == (native.difference, native.test.pvalue)
        assert ours.confidence_interval == native.confidence_interval
    # It has its own references: here one reference is missing, while the other metrics have one for every segment.
    columns: Columns = [["a", None], ["b", "c"]]
    own = OwnTexts("bleu", columns, {"x": ["a", "c"]})
    (used,) = score(["a", "c"], {"x": ["a", "c"]}, own).metrics
    assert used.signature.startswith("BLEU|nrefs:var|")


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50)), min_size=1),
    st.sampled_from([0.5, 1, 2]),
)
def test_f_is_the_weighted_harmonic_mean_of_precision_and_recall(rows: list[tuple[int, int, int]], beta: float) -> None:
    totals = np.array([[min(row), *row[1:]] for row in rows])
    for (matches, hypothesis, reference), got in zip(totals.tolist(), f_score(totals, beta), strict=True):
        if matches == 0:
            assert got == 0
            continue
        precision, recall = Fraction(matches, hypothesis), Fraction(matches, reference)
        squared = Fraction(beta) ** 2
        expected = (1 + squared) * precision * recall / (squared * precision + recall)
        assert got == pytest.approx(100 * float(expected), rel=1e-12)


# --- Functions of texts


@pytest.mark.parametrize("test", OF_ALL_METRICS)
def test_a_function_of_texts_has_the_same_p_values_as_the_native_metric(test: str) -> None:
    reference, systems = texts("bleu")
    second = [line if i % 3 else None for i, line in enumerate(reversed(reference))]
    columns: list[list[str | None]] = [[*reference], second]
    # sacrebleu 2.6.0
    function = CorpusFunction("sacreBLEU", lambda h, r: float(SacreBLEU(force=True).corpus_score(h, r).score))
    used = TESTS[test].for_texts or test
    ours, native = (
        compare(columns, systems, m, test=name, n_resamples=20, seed=3, all_pairs=True)
        for m, name in ((function, test), (metric("bleu"), used))
    )
    for a, b in zip(ours.comparisons, native.comparisons, strict=True):
        assert a.difference == pytest.approx(b.difference, rel=1e-12, abs=1e-12)
        assert a.test.test == b.test.test == used
        assert a.test.exceedances == b.test.exceedances
        if used == test:  # tests that stand in for one another need not have the same adjustment by default
            assert a.test.adjusted_pvalue == pytest.approx(b.test.adjusted_pvalue)
        assert (a.test.wins, a.test.ties) == (b.test.wins, b.test.ties)
        assert ends(a) == pytest.approx(ends(b), abs=1e-10)


def test_a_function_may_modify_its_arguments() -> None:
    def careless(hypotheses: list[str], references: list[list[str | None]]) -> float:
        value = ratio_of_words(hypotheses, references)
        hypotheses.clear()
        references[0].clear()
        return value

    functions: list[Callable[[list[str], list[list[str | None]]], float]] = [ratio_of_words, careless]
    tidy, untidy = (compare(*texts("bleu"), CorpusFunction("words", f), test="ar", n_resamples=50) for f in functions)
    assert tidy == untidy


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=2, max_size=40))
def test_a_mean_has_only_the_decimals_that_the_resolution_determines(pairs: list[tuple[float, float]]) -> None:
    columns = {name: list(column) for name, column in zip("ab", zip(*pairs, strict=True), strict=True)}
    try:
        rating = SegmentScores("rating", columns)
    except InputError:  # too far apart for one resolution
        return
    result = compare(metrics=rating, n_resamples=20)
    exact = {name: sum(map(Fraction, column), Fraction(0)) / len(column) for name, column in columns.items()}
    shown = [(s.score, exact[s.system]) for s in result.scores]
    shown.append((result.comparisons[0].difference, exact["b"] - exact["a"]))
    intervals = [score.confidence_interval for score in result.scores]
    intervals += [pair.confidence_interval for pair in result.comparisons]
    ends = [(interval.low, interval.high) for interval in intervals if interval is not None]
    if rating.decimals is None:  # the counts represent the scores exactly
        for name, column in columns.items():
            assert rating.segment_scores(rating.counts[name]).tolist() == column
        return
    last = Fraction(10) ** -rating.decimals
    for value, true in shown:
        # One in the last decimal, plus the rounding error of a float of that size.
        assert abs(Fraction(value) - true) <= last + 2 * Fraction(math.ulp(max(map(abs, columns["a"] + columns["b"]))))
    for value in (*(value for value, _ in shown), *(end for both in ends for end in both)):
        assert value == round(value, rating.decimals)
    # No decimal is dropped needlessly: twice the largest error of a score affects the next decimal.
    unit = Fraction(2) ** int(rating.signature().rsplit("^", 1)[1] if "^" in rating.signature() else 0)
    errors: list[Fraction] = [
        abs(count * unit - Fraction(value))
        for name, column in columns.items()
        for count, value in zip(rating.counts[name][:, 0].tolist(), column, strict=True)
    ]
    assert last / 10 < 2 * max(errors) * Fraction(1.001)
    assert 2 * max(errors) <= last * Fraction(1.001)


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=40), st.sampled_from(["tsv", "jsonl"]))
def test_segment_scores_are_written_unchanged(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[float, float]], fmt: str
) -> None:
    columns = {name: list(column) for name, column in zip("ab", zip(*pairs, strict=True), strict=True)}
    try:
        rating = SegmentScores("rating", columns)
    except InputError:
        return
    table = segment_scores(metrics=rating)
    assert {name: row.tolist() for name, row in zip("ab", table.scores["rating"], strict=True)} == columns
    path = tmp_path_factory.mktemp("digits") / f"scores.{fmt}"
    path.write_text(render(table, fmt))
    assert scores_by_system(f"{path}#rating") == columns


def test_changing_an_array_after_passing_it_has_no_effect() -> None:
    values = np.random.default_rng(1).random(50)
    rating = SegmentScores("rating", {"a": values})
    before = segment_scores(metrics=rating).scores["rating"].copy()
    values[:] = 0
    np.testing.assert_array_equal(before, segment_scores(metrics=rating).scores["rating"])


# --- Scores of segments as plain arrays


RATINGS_A, RATINGS_B = [0.81, 0.84, 0.79, 0.9, 0.2], [0.75, 0.8, 0.8, 0.85, 0.25]


def test_arrays_of_segment_scores_are_compared_by_their_means() -> None:
    ratings = SegmentScores("score", {"b": RATINGS_B, "a": RATINGS_A})
    options: dict[str, Any] = {"n_resamples": 99}
    there = compare(metrics=ratings, test="ar", interval="percentile", **options).comparisons[0]
    for a, b in ((RATINGS_A, RATINGS_B), (np.array(RATINGS_A), tuple(RATINGS_B))):
        result = approximate_randomization(a, b, **options)
        assert there.test == result
        assert result.signature.startswith("score|mean:segments|resolution:10^-2|test:")
        assert there.confidence_interval == bootstrap_interval(a, b=b, **options)
    expected = np.std(np.subtract(RATINGS_A, RATINGS_B), ddof=1) / 5**0.5
    assert expected == pytest.approx(standard_error(RATINGS_A, b=RATINGS_B), rel=1e-12)
    by_documents = approximate_randomization(RATINGS_A, RATINGS_B, documents=[1, 1, 2, 2, 3])
    assert by_documents.statistic == pytest.approx(np.mean(RATINGS_A) - np.mean(RATINGS_B))


def test_both_arrays_share_one_resolution_and_sums_are_exact() -> None:
    # .1 + .2 is not .3 in floating point, but it is in tenths, so the two systems tie.
    result = approximate_randomization([0.1, 0.2, 0.3], [0.3, 0.0, 0.3])
    assert (result.statistic, result.pvalue) == (0, 1)
    # Two segments differ, so there are four patterns; two of them give the observed difference or its opposite.
    assert approximate_randomization([0.7, 0.1, 0.5], [0.4, 0.1, 0.2], scheme="exact").pvalue == 0.5
    assert "resolution:10^-3|" in approximate_randomization([1, 2, 3], [0.125, 2, 3]).signature


def test_flat_references_are_one_column_in_every_function() -> None:
    reference, hypotheses = ["ab", "cd ef", "g"], ["ab", "cd", "g"]
    bleu = metric("bleu", tokenize="char")
    expected = bleu.suff_stats([reference], [hypotheses])
    assert expected[0, :, 1].tolist() == [2, 4, 1]
    arrays: Any = np.array(reference), [np.array(hypotheses)]
    for flat, outputs in ((reference, [hypotheses]), (tuple(reference), {"x": tuple(hypotheses)}), arrays):
        np.testing.assert_array_equal(expected, bleu.suff_stats(flat, outputs))
    assert Corpus([reference], {"x": hypotheses}) == Corpus.from_texts(reference, {"x": hypotheses})
    assert score([reference], {"x": hypotheses}) == score(reference, {"x": hypotheses})


# --- Calls that are refused, and what functions may not return

COUNTS = {"a": [[1, 2], [2, 3], [0, 1]], "b": [[0, 1], [2, 3], [1, 2]]}
RATING = SegmentScores("rating", {"a": [1, 2], "b": [2, 3]})


def returning(value: Any) -> Comparison:
    return compare(["x", "y"], [["x", "y"], ["y", "x"]], CorpusFunction("broken", lambda *_: value), n_resamples=9)


def test_what_does_not_fit_together_is_refused() -> None:
    assert_raises("python_errors_of_every_metric", globals())
