"""``tune_smoothing``: τ of every value of a grid, the best ones, tests against them, the command and its report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from meta_material import Vote, judged, tau_by_loop
from reshuffle import InputError, StudyResult, metric, read_json, read_lines
from reshuffle.cli.root import cli
from reshuffle.meta import JudgedSet, read_judgments, segments, smoothing_grid, tune_smoothing
from told import assert_raises

SMALL: dict[str, list[float]] = {"1": [0.1, 2.0], "4": [1.0, 5.0], "6": [5.0], "7": [5.0, 0.5, 20.0]}
WORDS = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)


def tau(smoothing: str, option: str, value: float, texts: list[list[str]], refs: list[str], votes: list[Vote]) -> float:
    """Kendall's τ by a loop over votes."""
    bleu = metric("sentbleu", tokenize="none", smoothing=smoothing, **{f"smoothing_{option}": value})
    scores = bleu.segment_scores(bleu.suff_stats([refs], texts))
    return tau_by_loop(scores, votes, "half")


@st.composite
def voted(draw: st.DrawFn) -> tuple[list[list[str]], list[str], list[Vote]]:
    """Outputs of two or three systems, references, and one vote at most on each pair of outputs."""
    n, k = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    texts = draw(st.lists(st.lists(WORDS, min_size=n, max_size=n), min_size=k, max_size=k))
    refs = draw(st.lists(WORDS.filter(bool), min_size=n, max_size=n))
    pairs = [(s, i, j) for s in range(n) for i in range(k) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return texts, refs, [(s, i, j) if draw(st.booleans()) else (s, j, i) for s, i, j in chosen]


@settings(max_examples=budget(60), deadline=None)
@given(voted())
def test_every_value_of_the_grid_equals_a_loop_over_votes(case: tuple[list[list[str]], list[str], list[Vote]]) -> None:
    texts, refs, votes = case
    judgments = judged("abc"[: len(texts)], len(refs), votes)
    outputs = dict(zip("abc", texts, strict=False))
    test_set = JudgedSet.from_texts(refs, outputs, smoothing_grid(SMALL, tokenize="none"), judgments=judgments)
    grid = tune_smoothing(test_set, test=None).tables["grid"]
    assert [(each.smoothing, each.value) for each in grid] == [(s, v) for s, values in SMALL.items() for v in values]
    for each in grid:
        expected = tau(each.smoothing, each.parameter, each.value, texts, refs, votes)
        if np.isnan(each.tau):  # all scores are equal
            assert expected == 0
        else:
            assert each.tau == pytest.approx(expected, abs=1e-12)
            assert each.n == len(votes)
    for smoothing in SMALL:
        own = [each for each in grid if each.smoothing == smoothing]
        defined = [each.tau for each in own if not np.isnan(each.tau)]
        selected = [each.tau for each in own if each.selected]
        assert selected == ([max(defined)] if defined else [])
        assert [each.selected for each in own] == [each.best for each in own]


@pytest.fixture(scope="module")
def wmt08(data: Path) -> dict[str, JudgedSet]:
    """French and German into English of 2008 with the votes of their own tasks, at a small grid."""
    found, votes = {}, str(data / "wmt08-judgments/wmt08-human-judgments.csv")
    for code, language in (("fr", "French"), ("de", "German")):
        folder, task = data / f"wmt08-{code}-en", f"WMT08 {language}-English News"
        outputs = {path.stem: read_lines(str(path)) for path in sorted((folder / "sys").iterdir())}
        judgments = read_judgments(votes, systems=list(outputs), language_pair=task, n_segments=2051, unknown="drop")
        grid = smoothing_grid({"1": [0.1, 0.9], "7": [1.0, 5.0]})
        found[f"{code}-en"] = JudgedSet.from_texts(
            read_lines(str(folder / "ref.txt")), outputs, grid, judgments=judgments, name=f"{code}-en"
        )
    return found


def test_several_test_sets_select_by_the_average(wmt08: dict[str, JudgedSet]) -> None:
    result = tune_smoothing(wmt08, n_resamples=199, pooled=True)
    grid = result.tables["grid"]
    by_set = {(each.test_set, each.smoothing, each.value): each for each in grid}
    assert {each.test_set for each in grid} == {"fr-en", "de-en", "average", "pooled"}
    for smoothing, value in (("1", 0.1), ("1", 0.9), ("7", 1.0), ("7", 5.0)):
        mean = np.mean([by_set[name, smoothing, value].tau for name in wmt08])
        assert by_set["average", smoothing, value].tau == pytest.approx(mean)
    # The values that the paper chose are better than these others; on the two test sets alike, K = 1 is far worse.
    assert {(each.smoothing, each.value) for each in grid if each.selected} == {("1", 0.1), ("7", 5.0)}
    far = by_set["average", "7", 1.0]
    assert far.difference == pytest.approx(far.tau - by_set["average", "7", 5.0].tau)
    assert far.pvalue == pytest.approx(1 / 200)
    assert far.confidence_interval is not None
    assert far.confidence_interval.high < 0
    # The same numbers as the functions that it uses.
    sevens = [replace(each, metrics=tuple(m for m in each.metrics if "smooth:7" in m.label)) for each in wmt08.values()]
    compared = segments(sevens, baseline="sentBLEU smooth:7[5]", test="perm-inputs", n_resamples=199).comparisons
    (pair,) = (each for each in compared if each.test_set == "average")
    assert (pair.difference, pair.pvalue) == (far.difference, far.pvalue)
    without = tune_smoothing(wmt08, test=None, average=False)
    assert without.plan["decides"] == "pooled"
    assert {each.difference for each in without.tables["grid"]} == {None}
    assert "Smoothing 7: K = 5 has the largest τ" in str(result)
    assert ". K = 5 is the largest value of the grid" in str(result)


def of_two_sets() -> StudyResult:
    refs, grid = ["a b c d e", "b c d e f g", "c d e f"], smoothing_grid({"1": [0.1, 0.9], "7": [1.0, 5.0]})
    outputs = {"a": refs, "b": ["a b c d", "b c d x e", "c d"]}
    judgments = judged("ab", 3, [(0, 0, 1), (1, 0, 1), (2, 1, 0)])
    test_set = JudgedSet.from_texts(refs, outputs, grid, judgments=judgments)
    return tune_smoothing({"x": test_set, "y": test_set}, n_resamples=19)


# test_every_study.py writes, draws and reads it.
RESULTS = {"tune-smoothing": of_two_sets}


def test_undefined_values_are_reported() -> None:
    texts = {"a": ["x", "x"], "b": ["y", "y"]}
    judgments = judged("ab", 2, [(0, 0, 1), (1, 1, 0)])
    result = tune_smoothing(JudgedSet.from_texts(["a b", "c d"], texts, smoothing_grid(SMALL), judgments=judgments))
    assert all(np.isnan(each.tau) and not each.selected for each in result.tables["grid"])
    assert "Smoothing 1: τ is not defined." in str(result)


def test_grids_that_make_no_sense() -> None:
    assert_raises("python_errors_of_tune_smoothing", globals())


def test_other_metrics_and_other_judgments_are_refused() -> None:
    texts = {"a": ["a b", "c"], "b": ["a", "c d"]}
    judgments = judged("ab", 2, [(0, 0, 1), (1, 1, 0)])
    for chosen in (metric("chrf"), metric("sentbleu", smoothing="2")):
        with pytest.raises(InputError, match="is not sentence BLEU with smoothing 1, 4, 6 or 7: make the metrics by"):
            tune_smoothing(JudgedSet.from_texts(["a b", "c d"], texts, chosen, judgments=judgments))


def test_the_command_gives_the_numbers_of_the_function(data: Path, wmt08: dict[str, JudgedSet], tmp_path: Path) -> None:
    sets = {
        name: {
            "judgments": str(data / "wmt08-judgments/wmt08-human-judgments.csv"),
            "language_pair": f"WMT08 {language}-English News",
            "references": [str(data / f"wmt08-{name}/ref.txt")],
            "systems": str(data / f"wmt08-{name}/sys"),
            "missing_systems": "drop",
        }
        for name, language in (("fr-en", "French"), ("de-en", "German"))
    }
    manifest = tmp_path / "sets.json"
    manifest.write_text(json.dumps({"sets": sets}), encoding="utf-8")
    words = ["meta", "tune-smoothing", "--manifest", str(manifest), "--grid", "1=0.1,0.9", "7=1,5", "-n", "199"]
    outcome = CliRunner().invoke(cli, [*words, "--format", "json"])
    assert outcome.exit_code == 0, outcome.output + repr(outcome.exception)
    result = read_json(outcome.stdout)
    assert isinstance(result, StudyResult)
    assert result.tables == tune_smoothing(wmt08, n_resamples=199).tables
