"""The best and the worst entries of k-best lists: all choices of tiny lists, real lists, reports, wrong input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import InputError, metric, read_json
from reshuffle.metrics.native import NativeMetric
from reshuffle.results.studies import StudyResult
from reshuffle.tune import LinearModel, NBest, oracle, read_nbest, read_weights

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


@pytest.mark.slow
def test_the_search_hardly_ever_misses_the_best_choice() -> None:
    rng = np.random.default_rng(3)
    words = np.array("the cat sat on a mat and dogs ran".split())
    misses, losses = 0, []
    for _ in range(60):
        references = [" ".join(rng.choice(words, size=8)) for _ in range(4)]
        texts = [
            [
                " ".join(np.where(rng.random(8) < 0.6, line.split(), rng.choice(words, size=8))[: rng.integers(5, 9)])
                for _ in range(5)
            ]
            for line in references
        ]
        lists = NBest.from_texts(texts)
        best = max(all_scores(METRICS[0], lists, references).values())
        loss = best - oracle(lists, references, "bleu").scores["oracle"]
        misses += loss > 1e-9
        losses.append(loss)
    assert misses <= 3
    assert max(losses) < 1


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oracle(LISTS, ["a"], "depf"), "DepF reads parses, and k-best lists hold texts: expected a metric "
         "of texts"),
        (lambda: oracle(LISTS, ["a", "b"]), "lists: no list for the id 1 (line 2 of the references): expected lists of "
         "2 sentences, got 1"),
        (lambda: oracle(LISTS, ["a"], random_starts=-1), "random_starts must be a whole number of at least 0, got -1"),
        (lambda: oracle(LISTS, ["a"], scores=[1, np.nan]), "scores: expected finite numbers, got nan for entry 1"),
        (lambda: oracle(LISTS, ["a"]).outputs("best"), "choice: expected one of topbest, sentence-oracle, oracle, "
         "sentence-worst, worst, got 'best'"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small lists and references in the current directory."""
    monkeypatch.chdir(tmp_path)
    Path("n.txt").write_text("0 ||| a b c ||| lm= -1\n0 ||| a b d ||| lm= -2\n", encoding="utf-8")
    Path("ref").write_text("a b d\n", encoding="utf-8")
    Path("full").mkdir()
    Path("full/x").touch()


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--nbest n.txt", "no references: add --refs REF, with a segment for each sentence of the lists"),
        ("--nbest n.txt --refs ref --save full", "--save full: the folder is not empty: choose a new or empty one"),
        ("--nbest n.txt --refs ref --random-starts -1", "--random-starts must be a whole number of at least 0, got -1"),
        ("--nbest n.txt --refs ref --model none", "none: no such file"),
    ],
)
def test_wrong_arguments_are_refused(files: None, run: Callable[..., Any], arguments: str, message: str) -> None:
    assert message in run("oracle", *arguments.split()).refusal()
