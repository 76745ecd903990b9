"""What is chosen from k-best lists: best and worst entries, those of minimum Bayes risk, reports, wrong input."""

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reshuffle import InputWarning, metric, read_json
from reshuffle.metrics.native import NativeMetric
from reshuffle.results.studies import StudyResult
from reshuffle.tune import LinearModel, NBest, mbr, oracle, read_nbest, read_samples, read_weights
from reshuffle.tune.mbr import probabilities
from told import assert_raises, assert_refused

LISTS = NBest.from_texts([["a", "b"]])
LINES = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat"]), max_size=7).map(" ".join)
METRICS = (metric("bleu"), metric("bleu", smooth_method="none"), metric("ter"), metric("chrf"), metric("sentbleu"))


def all_scores(m: NativeMetric, lists: NBest, references: list[str]) -> dict[tuple[int, ...], float]:
    """The corpus score of every choice of entries."""
    counts = lists.count(m, references)
    ranges = [range(a, b) for a, b in zip(lists.offsets, lists.offsets[1:], strict=False)]
    choices = list(product(*ranges))
    scores = m.score(np.array([counts[list(rows)].sum(axis=0) for rows in choices]))
    return dict(zip(choices, scores.tolist(), strict=True))


@given(
    st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=4)), min_size=1, max_size=4),
    st.sampled_from(METRICS),
)
def test_no_single_replacement_is_better_and_no_choice_beats_the_bounds(
    sentences: list[tuple[str, list[str]]], m: NativeMetric
) -> None:
    references = [reference for reference, _ in sentences]
    lists = NBest.from_texts([texts for _, texts in sentences])
    known = all_scores(m, lists, references)
    found = oracle(lists, references, m, random_starts=5)
    sign = 1 if m.higher_is_better else -1
    for choice, factor in (("oracle", sign), ("worst", -sign)):
        rows = tuple(found.rows[choice].tolist())
        assert found.scores[choice] == known[rows]
        for i in range(len(rows)):
            a, b = lists.offsets[i : i + 2]
            for other in range(a, b):
                neighbour = (*rows[:i], other, *rows[i + 1 :])
                assert factor * known[neighbour] <= factor * known[rows]
        best = max(factor * score for score in known.values())
        assert factor * known[rows] <= best
        for start in ("topbest", f"sentence-{choice}"):
            assert factor * found.scores[choice] >= factor * found.scores[start]
    # Sums of a weight and a weighted score: linear steps lead to the optimum.
    if m.key == "ter" and all(references):
        assert found.scores["oracle"] == pytest.approx(min(known.values()), abs=1e-12)


@pytest.fixture(scope="module")
def dev(data: Path) -> tuple[NBest, list[str]]:
    """Lists of 500 sentences, and their references."""
    folder = data / "kbest-wmt11-de-en"
    references = (folder / "dev.ref").read_text(encoding="utf-8").splitlines()
    return read_nbest(folder / "dev.nbest.gz"), references


def test_the_corpus_oracle_of_real_lists_is_better_than_that_of_sentences(
    dev: tuple[NBest, list[str]], data: Path
) -> None:
    lists, references = dev
    bleu = metric("bleu", tokenize="none")
    weights = read_weights(data / "kbest-wmt11-de-en/init.opt", lists.names)
    scores = LinearModel(dict(zip(lists.names, map(float, weights.dense), strict=True))).scores(lists)
    found = oracle(lists, references, bleu, scores=scores)
    # TUNING.md: untuned 22.83.
    assert found.scores["topbest"] == pytest.approx(22.83, abs=0.005)
    order = ["worst", "sentence-worst", "topbest", "sentence-oracle", "oracle"]
    assert sorted(order, key=found.scores.__getitem__) == order
    assert found.scores["oracle"] - found.scores["sentence-oracle"] > 0.04
    counts = lists.count(bleu, references)
    sentence = bleu.segment_scores(counts)
    for a, b, best, worst in zip(
        lists.offsets, lists.offsets[1:], found.rows["sentence-oracle"], found.rows["sentence-worst"], strict=False
    ):
        assert (best, worst) == (a + np.argmax(sentence[a:b]), a + np.argmin(sentence[a:b]))
    # Greedy choices in random order are starts, and none of them is as good as where the search ends.
    searches = [each for each in found.result.tables["searches"] if each.choice == "oracle"]
    assert [each.start for each in searches][:3] == ["topbest", "sentence-oracle", "greedy 1"]
    assert max(each.initial for each in searches) <= found.scores["oracle"]
    assert {round(each.final, 9) for each in searches} == {round(found.scores["oracle"], 9)}
    assert found.outputs("worst") == lists.hypotheses(found.rows["worst"])


def test_any_number_of_threads_and_seeds_give_the_same_bytes(dev: tuple[NBest, list[str]]) -> None:
    lists, references = dev
    one, three = (oracle(lists, references, random_starts=6, workers=threads) for threads in (1, 3))
    assert one.result.render("json") == three.result.render("json")
    other = oracle(lists, references, random_starts=6, seed=1)
    starts = [[each.initial for each in found.result.tables["searches"]] for found in (one, other)]
    assert starts[0] != starts[1]


def test_wrong_input_is_refused() -> None:
    assert_raises("python_errors_of_oracle", globals())


def test_the_command_writes_a_report_and_the_outputs_of_each_choice(files: None, run: Callable[..., Any]) -> None:
    outcome = run("oracle", "--nbest", "n.txt", "--refs", "ref", "-m", "ter", "--save", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Best and worst entries of k-best lists: TER ↓\n")
    best, worst = dict.fromkeys(("sentence-oracle", "oracle"), "a b d\n"), ("topbest", "sentence-worst", "worst")
    written = {path.name: path.read_text(encoding="utf-8") for path in Path("out").iterdir()}
    assert written == best | dict.fromkeys(worst, "a b c\n")
    words = ("oracle", "--nbest", "n.txt", "--refs", "ref", "--random-starts", "3", "-o", "r.json", "-o", "r.csv")
    assert run(*words) == (0, "", "")
    result = read_json("r.json")
    assert isinstance(result, StudyResult)
    assert (result.study, len(result.tables["searches"]), len(result.tables["entries"])) == ("oracle", 10, 5)
    assert {path.name for path in Path().glob("*.csv")} == {"r.scores.csv", "r.searches.csv", "r.entries.csv"}


def test_wrong_arguments_are_refused(files: None, run: Callable[..., Any]) -> None:
    assert_refused("errors_of_oracle", run)


# --- Minimum Bayes risk decoding: against single pairs and sacreBLEU, probabilities, plain texts


UTILITIES = (
    metric("chrf"),
    metric("chrf++", lowercase=True),
    metric("bleu"),
    metric("sentbleu", smoothing="3"),
    metric("ter"),
    metric("meteor", modules=["exact", "stem"]),
)


def pair_score(m: NativeMetric, hypothesis: str, reference: str) -> float:
    """The segment score of a hypothesis against one reference."""
    return float(m.segment_scores(m.suff_stats([[reference]], [[hypothesis]]))[0, 0])


def slow_utilities(
    m: NativeMetric, texts: Sequence[str], p: NDArray[np.float64], exclude_self: bool
) -> NDArray[np.float64]:
    """The expected utilities of one list, entry by entry."""
    found = []
    for i, hypothesis in enumerate(texts):
        others = [j for j in range(len(texts)) if not (exclude_self and j == i)]
        total = sum(p[j] for j in others)
        scores = [p[j] * pair_score(m, hypothesis, texts[j]) for j in others]
        found.append(sum(scores) / total if total > 0 else np.nan)
    return np.array(found)


OUTPUTS = st.lists(st.sampled_from(["", "the", "cat", "Cat", "sat", "mat", ",", "é."]), max_size=6).map(" ".join)


@given(
    st.lists(st.lists(OUTPUTS, min_size=1, max_size=5), min_size=1, max_size=3),
    st.sampled_from(UTILITIES),
    st.booleans(),
    st.sampled_from([None, 0.0, 0.7]),
    st.integers(0, 2**32 - 1),
)
def test_utilities_are_those_of_single_pairs(
    texts: list[list[str]], m: NativeMetric, exclude_self: bool, scale: float | None, seed: int
) -> None:
    lists = NBest.from_texts(texts)
    scores = None if scale is None else np.random.default_rng(seed).normal(size=len(lists)).round(1)
    found = mbr(lists, m, scores=scores, scale=1.0 if scale is None else scale, exclude_self=exclude_self, workers=2)
    expected = np.concatenate(
        [
            slow_utilities(m, own, found.probabilities[first : first + len(own)], exclude_self)
            for own, first in zip(texts, lists.offsets, strict=False)
        ]
    )
    np.testing.assert_allclose(found.utilities, expected, rtol=1e-12, atol=1e-12)
    sign = 1 if m.higher_is_better else -1
    for own, first, row in zip(texts, lists.offsets, found.rows, strict=False):
        values = np.nan_to_num(sign * found.utilities[first : first + len(own)], nan=-1e300)
        assert first + np.argmax(values >= values.max() - 1e-12 * abs(values.max())) == row


def test_of_equal_utilities_that_differ_by_rounding_the_first_is_chosen() -> None:
    """TER is 0, 0, 200 and 0 with the three equal entries, and three times 66.7 and 0 with the other: 50 on average."""
    found = mbr(NBest.from_texts([["b a a", "b a a", "a", "b a a"]]), "ter")
    np.testing.assert_allclose(found.utilities, [50, 50, 50, 50], rtol=1e-12)
    assert found.utilities[2] < 50
    assert found.outputs() == ["b a a"]


def test_probabilities_are_the_softmax_of_scaled_scores() -> None:
    lists = NBest.from_texts([["a", "b", "c"], ["d", "e"]])
    scores = np.array([-800.0, -801.0, -803.5, 1e3, 1e3])
    expected = np.concatenate([np.exp([0.0, -0.5, -1.75]) / np.exp([0.0, -0.5, -1.75]).sum(), [0.5, 0.5]])
    np.testing.assert_allclose(probabilities(lists, scores, 0.5), expected, rtol=1e-14)
    assert probabilities(lists, scores, 0.0).tolist() == probabilities(lists).tolist()


def test_probabilities_that_are_nearly_uniform_give_a_warning() -> None:
    # Nine entries with p = 1/10 and ten with 1/100: the entropy is that of 10·10^(1/10) = 12.6 equal ones.
    scores = np.log([0.1] * 9 + [0.01] * 10 + [1.0])
    lists = NBest.from_texts([[f"w{i}" for i in range(19)], ["a"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mbr(lists, "length", scores=scores)  # 12.6 of 19
        mbr(lists, "length", scores=scores, scale=0)
        mbr(lists, "length")
        mbr(NBest.from_texts([["a"], ["b"]]), "length", scores=[1.0, 2.0])
    with pytest.warns(InputWarning, match=r"spread over 18\.9 of the 19\.0 entries .* choose a larger scale on a dev"):
        mbr(lists, "length", scores=scores, scale=0.1)


@pytest.mark.parametrize("gap", [0.0, 36.0, 40.0, 700.0])
@pytest.mark.parametrize("texts", [["a b c d", "a b c e", "a x"], ["a b c d", "a b c d", "a x"], ["a b", "a c"]])
def test_others_keep_their_digits_beside_an_entry_with_nearly_all_probability(gap: float, texts: list[str]) -> None:
    chrf = metric("chrf")
    others = np.exp([0.0, -1.0][: len(texts) - 1])  # their proportions do not depend on the first entry
    expected = others @ [pair_score(chrf, texts[0], text) for text in texts[1:]] / others.sum()
    scores = [gap, 0.0, -1.0][: len(texts)]
    found = mbr(NBest.from_texts([texts]), chrf, scores=scores, exclude_self=True)
    assert found.utilities[0] == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module")
def small(dev: tuple[NBest, list[str]]) -> NBest:
    """The first twelve entries of twelve sentences."""
    rows = [row for first in dev[0].offsets[:12] for row in range(first, first + 12)]
    return dev[0].selected(rows)


def test_any_number_of_threads_gives_the_same_bytes(small: NBest) -> None:
    for name in ("chrf", "ter", "nist", "gtm"):
        one, three = (mbr(small, name, workers=threads) for threads in (1, 3))
        assert one.utilities.tobytes() == three.utilities.tobytes()
        assert one.result.render("json") == three.result.render("json")


def test_a_long_list_is_divided_among_threads() -> None:
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(list("abcdefgh"), size=rng.integers(1, 12))) for _ in range(700)]
    bleu = metric("bleu")
    found = mbr(NBest.from_texts([texts]), bleu, workers=3)
    for row in (0, 232, 233, 466, 467, 699):
        scores = bleu.segment_scores(bleu.suff_stats([texts], [[texts[row]] * 700]))[0]
        assert found.utilities[row] == pytest.approx(scores.mean(), rel=1e-12)


def test_references_score_the_chosen_and_the_preferred_entries(dev: tuple[NBest, list[str]]) -> None:
    lists, references = dev[0].selected(range(dev[0].offsets[150])), dev[1][:150]
    bleu = metric("bleu", tokenize="none")
    found = mbr(lists, references=references, metrics=[bleu, "ter"])
    scores = {(each.choice, each.metric): each.score for each in found.result.tables["scores"]}
    for choice, rows in (("mbr", found.rows), ("topbest", found.topbest)):
        expected = bleu.score(bleu.suff_stats([references], [lists.hypotheses(rows)])[0].sum(axis=0))
        assert scores[choice, "BLEU"] == float(expected)
    # The entries that agree best with the others are better than the first ones, by any metric.
    assert scores["mbr", "BLEU"] > scores["topbest", "BLEU"] + 1
    assert scores["mbr", "TER"] < scores["topbest", "TER"]


def test_plain_texts_are_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("all.txt").write_text("a b\na c\nd ||| e\nd\n", encoding="utf-8")
    Path("one.txt").write_text("a b\nd ||| e\n", encoding="utf-8")
    Path("two.txt").write_text("a c\nd\n", encoding="utf-8")
    lists = read_samples("all.txt", 2)
    for other in (read_samples(["one.txt", "two.txt"]), NBest.from_texts([["a b", "a c"], ["d ||| e", "d"]])):
        assert (lists.texts(), lists.offsets.tolist()) == (other.texts(), other.offsets.tolist())
    assert (lists.names, lists.dense.shape, lists.sparse, lists.totals) == ([], (4, 0), None, None)
    assert lists.count("bleu", ["a c", "d"])[:, 0].tolist() == [2, 2, 5, 1]


FILE = "0 ||| a b c ||| lm= -1 ||| -1\n0 ||| a b d ||| lm= -2 ||| -2\n0 ||| a b d e ||| lm= -3 ||| -3\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small lists, samples and references in the current directory, and a folder that is not empty."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "n.txt": FILE, "ref": "a b d\n", "s.txt": "a b\na c\na\n", "t.txt": "b\n", "w.txt": "lm 1\n", "0.txt": "lm 0\n",
        "bare.txt": "0 ||| a ||| lm= 1\n",
    }  # fmt: skip
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("full").mkdir()
    Path("full/x").touch()


def test_the_command_of_mbr_writes_a_report_and_the_chosen_entries(files: None, run: Callable[..., Any]) -> None:
    words = ("mbr", "--nbest", "n.txt", "-m", "bleu", "--refs", "ref", "--evaluate", "ter", "bleu", "--save", "out")
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert Path("out").read_text(encoding="utf-8") == "a b d\n"
    assert "Minimum Bayes risk  mbr" in outcome.out
    outcome = run("mbr", "--nbest", "n.txt", "--totals", "--scale", "1e6", "--exclude-self", "-o", "r.json")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    result = read_json("r.json")
    assert isinstance(result, StudyResult)
    assert result.study == "mbr"
    assert (result.plan["utility"], result.plan["probabilities"]) == ("chrF2", "softmax")
    assert (result.plan["scale"], result.plan["exclude_self"]) == (1e6, True)
    found = run("mbr", "--nbest", "n.txt", "--model", "w.txt", "--format", "csv").out.splitlines()
    assert found[0] == "sentence,entry,utility,topbest,topbest_utility,entries,distinct,output"
    assert len(found) == 2
    assert run("mbr", "--samples", "s.txt", "--per-sentence", "3", "-o", "c.csv", "--format", "csv").code == 0
    assert Path("c.choices.csv").read_text(encoding="utf-8").splitlines()[1].endswith(",3,3,a")
