"""Text: the systems first, sorted and with the answer in a sentence; pairs, triangles, digits and names on request."""

import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import reshuffle
from budgets import budget
from known import known
from pages import markup
from reshuffle import Comparison, InputError, SegmentScores, TestSet, compare, compare_sets, metric, score
from reshuffle.cli.main import run as run_command
from reshuffle.report import Layout, Terminal, as_fragment, document, render
from reshuffle.report.caveats import cautions
from reshuffle.report.cells import Table
from reshuffle.report.conclusions import conclusions
from reshuffle.report.document import Document
from reshuffle.report.markdown import as_markdown
from reshuffle.report.notes import LINES, explanations_of, notes
from reshuffle.report.sets import set_tables
from reshuffle.report.tables import tables
from reshuffle.report.text import table_as_text
from reshuffle.report.wording import joined
from reshuffle.results import Caveat, DetectableDifference, RankedSystem, Ranking
from reshuffle.types import Format
from told import assert_raises, assert_told, beyond_the_first

SEGMENTS = 40
RNG = np.random.default_rng(0)


def ratings(name: str, means: dict[str, float], higher_is_better: bool = True, noise: float = 1.0) -> SegmentScores:
    """Scores whose means are exactly ``means``, with noise of each system's own."""
    rng = np.random.default_rng(sum(map(ord, name)))
    scores = {}
    for system, mean in means.items():
        own = rng.integers(-8, 9, SEGMENTS) * noise
        scores[system] = mean + own - own.mean()
    return SegmentScores(name, scores, higher_is_better)


def compared(*metrics: SegmentScores, **options: Any) -> Comparison:
    chosen: dict[str, Any] = {"all_pairs": True, "test": "t-test", "interval": "t", "adjust": "holm"} | options
    return compare(metrics=list(metrics), **chosen)


def body(table: str) -> list[list[str]]:
    """The cells of the rows of the first table in a text."""
    lines = table.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("─"))
    rows = lines[start + 1 : lines.index("", start)]
    return [row.split() for row in rows if not row.startswith("╌")]


FOUR = {"a": 10.0, "b": 40.0, "c": 20.0, "d": 20.0}
FOUR_BY_NAME = {**FOUR, "d": 20.25}


# --- The table of systems


@pytest.mark.parametrize("higher", [True, False])
def test_systems_are_sorted_by_the_first_metric_with_ties_in_the_order_of_the_input(higher: bool) -> None:
    first, other = ratings("first", FOUR, higher), ratings("other", {"a": 1, "b": 2, "c": 3, "d": 4})
    expected = ["b", "c", "d", "a"] if higher else ["a", "c", "d", "b"]
    for result in (compared(first), compared(first, other), score(metrics=first), score(metrics=[first, other])):
        assert [row[0] for row in body(render(result))] == expected
    for baseline in FOUR:
        against = compared(first, other, all_pairs=False, baseline=baseline)
        assert [row[0] for row in body(render(against))] == [baseline, *(s for s in expected if s != baseline)]


def test_one_metric_has_intervals_and_lines_between_clusters() -> None:
    result = compared(ratings("x", FOUR))
    (shown, _) = tables(result, Layout())
    assert shown.header == ["System", "x", "95% CI", "Rank", "Group"]
    assert shown.rules == [1, 3]
    merged = compared(ratings("x", FOUR), ratings("y", FOUR))
    assert next(tables(merged, Layout())).rules == []
    assert render(result).splitlines()[5].startswith("╌╌╌")
    in_markdown = render(result, "markdown").splitlines()[4:10]
    assert [row for row, line in enumerate(in_markdown) if not line.strip("| ")] == [1, 4]
    assert [LINES in " ".join(str(each).split()) for each in (result, merged)] == [True, False]


def test_the_systems_that_may_be_the_best_are_bold_in_a_terminal() -> None:
    close = ratings("close", {"a": 10.0, "b": 10.25, "c": 1.0})
    result = compared(close, ratings("apart", {"a": 10.0, "b": 30.0, "c": 1.0}))
    (shown, *_) = tables(result, Layout())
    assert dict(zip([row[0] for row in shown.rows], shown.bold, strict=True)) == {
        "b": (True,) * 7,
        "a": (False, *[True] * 3, *[False] * 3),
        "c": (False,) * 7,
    }
    coloured = render(result, "text", Layout(Terminal(100, color=True)))
    assert re.search(r"^a +\x1b\[1m10\.00\x1b\[0m", coloured, re.MULTILINE)
    # Without bold type there is nothing to explain.
    plain = re.sub(r"^Bold: .*\n", "", re.sub(r"\x1b\[\d?m", "", coloured), flags=re.MULTILINE)
    assert plain == render(result, "text", Layout(Terminal(100)))


# Names in bold type, in each format.
BOLD = {
    "text": r"^\x1b\[1m(\w+)\x1b\[0m",
    "markdown": r"^\| \*\*(\w+)\*\* \|",
    "latex": r"^\\textbf\{(\w+)\} &",
    "typst": r'^ *strong\("(\w+)"\),',
    "html": r'<td class="name bold">(\w+)</td>',
    "notebook": r'<tr><td style="[^"]*font-weight: bold;[^"]*">(\w+)</td>',
}


def shown_as(result: Comparison | reshuffle.SetComparison, fmt: str) -> str:
    if fmt == "notebook":
        return as_fragment(document(result, Layout()))
    return render(result, fmt, Layout(Terminal(200, color=True)))


@pytest.mark.parametrize("fmt", BOLD)
@pytest.mark.parametrize("higher", [True, False])
def test_bold_type_marks_better_systems_and_not_worse_ones(fmt: str, higher: bool) -> None:
    means = {"low": 10.0, "middle": 20.0, "same": 20.25, "high": 40.0}
    better = {
        "low": {"middle", "same", "high"}, "middle": {"high"}, "same": {"high"}, "high": set()
    } if higher else {"low": set(), "middle": {"low"}, "same": {"low"}, "high": {"low", "middle", "same"}}  # fmt: skip
    for baseline, expected in better.items():
        options: dict[str, Any] = {"baseline": baseline, "all_pairs": False, "test": "t-test", "interval": "t"}
        result = compared(ratings("m", means, higher), **options)
        own = {name: ratings("m", means, higher) for name in ("news", "talks")}
        sets = {name: TestSet(metrics=metric) for name, metric in own.items()}
        for each in (result, compare_sets(sets, average=False, adjust="holm", **options)):
            report = shown_as(each, fmt)
            # The header of a text is bold, too.
            assert {*re.findall(BOLD[fmt], report, re.MULTILINE)} - {"System"} == expected
            # The caption or a note says what it means, and only where something is bold.
            assert (f"Bold: significantly better than {baseline}" in report.replace("\n", " ")) == bool(expected)


def test_in_tables_of_all_pairs_the_better_system_is_bold() -> None:
    result = compared(ratings("m", {"a": 10.0, "b": 40.0, "c": 39.75}, False))
    *_, pairs = tables(result, Layout(pairs=True))
    assert [row[0] if bold[0] else None for row, bold in zip(pairs.rows, pairs.bold, strict=True)] == ["a", "a", None]
    assert pairs.key == "Bold: in tables of pairs, the significantly better system."


def many(k: int, **options: Any) -> Comparison:
    """k systems under three metrics, in more than 26 groups if there are many."""
    rng = np.random.default_rng(3)
    means = {name: {f"system-{i:03}": 50 + i * step for i in range(k)} for name, step in
             (("BLEU", 0.15), ("chrF2", 0.3), ("TER", -0.2))}  # fmt: skip
    metrics = [
        SegmentScores(name, {s: rng.normal(mean, 8, 300) for s, mean in of.items()}, name != "TER")
        for name, of in means.items()
    ]
    chosen: dict[str, Any] = {"all_pairs": True, "test": "t-test", "interval": "t"} | options
    return compare(metrics=metrics, **chosen)


@pytest.mark.parametrize("k", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_reports_of_many_systems_under_three_metrics_fit_the_terminal_and_lose_nothing(k: int) -> None:
    result = many(k)
    assert len(result.comparisons) == 3 * k * (k - 1) / 2
    assert len(render(result).splitlines()) <= k + 20
    assert len(body(render(result))) == k
    for pairs, width in product((False, True), (60, 80, 100, 140)):
        wide = render(result, "text", Layout(pairs=pairs))
        text = render(result, "text", Layout(Terminal(width), pairs=pairs))
        lines = [line for line in text.splitlines() if not line.startswith("Signature: ")]
        assert max(map(len, lines)) <= width
        assert {cell for cell in wide.split() if re.fullmatch(r"[\d.+–*†-]+", cell)} <= {*text.split()}


# --- What is shown by default


@pytest.mark.parametrize(("k", "shown"), [(3, True), (4, False)])
def test_pairs_are_shown_if_there_are_at_most_12_or_on_request(k: int, shown: bool) -> None:
    result = many(k)  # 9 or 18 comparisons
    titles = {pairs: [table.title for table in tables(result, Layout(pairs=pairs))] for pairs in (None, False, True)}
    assert len(titles[False]) == 1
    of_pairs = [f"{metric}: {k * (k - 1) // 2} pairs" for metric in ("BLEU", "chrF2", "TER")]
    assert titles[True][1:] == ["95% CI of scores", *of_pairs]
    assert titles[None] == titles[shown]
    of_all = f"For the differences, intervals and p of all {3 * k * (k - 1) // 2} tests"
    advice = f"{of_all}: render(pairs=True), or save as JSON or CSV."
    assert (advice in " ".join(render(result).split())) != shown


@pytest.mark.parametrize(("metrics", "every"), [("x", "the test"), ("xy", "both tests")])
def test_one_or_two_tests_are_not_all(metrics: str, every: str) -> None:
    result = compared(*(ratings(name, {"a": 10.0, "b": 30.0}) for name in metrics))
    assert f" intervals and p of {every}: render" in " ".join(render(result, layout=Layout(pairs=False)).split())


def test_caveats_about_intervals_are_shown_with_the_intervals() -> None:
    result = many(6)
    assert "star-and-interval" in {caveat.kind for caveat in result.caveats}
    assert ["CI excludes 0" in result.render(pairs=pairs) for pairs in (None, True)] == [False, True]


# --- Sentences


def ranking(metric: str, spans: dict[str, tuple[int, int]], mcb: tuple[str, ...] | None = None) -> Ranking:
    systems = tuple(RankedSystem(s, n, low, high, 1, None) for n, (s, (low, high)) in enumerate(spans.items(), 1))
    return Ranking(metric, systems, None, tuple(s for s, (low, _) in spans.items() if low == 1), mcb, True)


def said(*rankings: Ranking, detectable: tuple[DetectableDifference, ...] = ()) -> Comparison:
    names = [r.system for r in rankings[0].systems]
    metrics = [ratings(r.metric, dict.fromkeys(names, 50.0)) for r in rankings]
    return replace(compared(*metrics), rankings=rankings, detectable=detectable)


CLEAR = {"uedin": (1, 1), "SYSTRAN": (2, 3), "xmu": (2, 3)}
TIED = {"uedin": (1, 2), "SYSTRAN": (1, 2), "xmu": (3, 3)}


def ranked(n: int, best: int) -> dict[str, tuple[int, int]]:
    """Ranks of n systems, of which some may be the best."""
    return {f"s{i}": (1, best) if i < best else (best + 1, n) for i in range(n)}


def with_baseline(*means: float, **others: float) -> Comparison:
    named = {f"s{i}": mean for i, mean in enumerate(means)}
    return compared(ratings("m", {"a": 10.0, **others, **named}), all_pairs=False)


EQUAL = SegmentScores("m", {"a": [0] * 21, "b": [1] * 20 + [-20]})
SIX = {"base": 20.0, "b": 60.0, "c": 60.0, "d": 60.0, "e": 60.0, "f": 20.0}
NOISE, DRAWN = np.random.default_rng(3).normal(size=(3, 35)).round(3), np.random.default_rng(2)
FEW = {"a": NOISE[0], "b": NOISE[1] + 3, "c": NOISE[2]}
NEAR = DRAWN.normal(size=400).round(3)
RARE = NEAR.copy()
RARE[:40] += (3 * DRAWN.exponential(1, 40) ** 2).round(3)
DOUBTFUL = {"near": NEAR, "rare": RARE}
for name, apart, spread in (("low0", -9, 9), ("low1", -9, 9), ("top", 9, 9), ("plain", 1, 1), ("same", 0, 1)):
    DOUBTFUL[name] = NEAR + DRAWN.normal(apart, spread, 400).round(3)


def doubtful(names: Iterable[str], test: str = "auto", systems: Any = DOUBTFUL, **options: Any) -> Comparison:
    """A comparison in which a test may not hold its level: the sentence says so of significant differences only."""
    scores = SegmentScores("x", {name: systems[name] for name in names})
    return compare(metrics=scores, test=test, n_resamples=999, interval=None, **options)


DETECTABLE = DetectableDifference("m", 0.5, 0.25, 0.75, 0.8, 0.05)
CONCLUSIONS: dict[str, Callable[[], Comparison]] = {
    "three metrics": lambda: said(ranking("BLEU", CLEAR), ranking("chrF", CLEAR), ranking("TER", TIED)),
    "one of two": lambda: said(ranking("m", {"a": (1, 1), "b": (2, 2)})),
    "none of two": lambda: said(ranking("m", ranked(2, 2))),
    "none of three": lambda: said(ranking("m", ranked(3, 3))),
    "the only candidate": lambda: said(ranking("m", {"a": (1, 2), "b": (2, 2), "c": (3, 3)})),
    "two of four": lambda: said(ranking("m", ranked(4, 2))),
    "two candidates": lambda: said(ranking("m", {"a": (1, 2), "b": (1, 3), "c": (2, 3)})),
    "many candidates": lambda: said(ranking("m", ranked(13, 12))),
    "ten of twelve": lambda: said(ranking("m", {f"s{i}": (1, 12) if i < 10 else (2, 12) for i in range(12)}, ("s0",))),
    "many under two metrics": lambda: said(ranking("m", ranked(15, 11)), ranking("n", ranked(15, 13))),
    "many under one metric, two under another": lambda: said(
        ranking("m", ranked(15, 11)), ranking("n", TIED | dict.fromkeys(ranked(15, 11), (9, 9)))
    ),
    "the minimum detectable difference": lambda: said(ranking("m", TIED), detectable=(DETECTABLE,)),
    "minimum detectable differences without ranges": lambda: said(
        ranking("m", TIED),
        ranking("n", TIED),
        detectable=(
            replace(DETECTABLE, low=0.5, high=0.5),
            DetectableDifference("n", 0.125, 0.125, 0.125, 0.8, 0.05),
        ),
    ),
    "better than the baseline": lambda: with_baseline(b=30.0),
    "not significantly different": lambda: with_baseline(b=10.25),
    "worse": lambda: with_baseline(b=1.0),
    "better, worse and neither": lambda: with_baseline(b=30.0, c=1.0, d=10.25, e=10.0),
    "better, worse and neither, lower is better": lambda: compared(
        ratings("m", {"a": 10.0, "b": 1.0, "c": 30.0, "d": 10.25, "e": 10.0}, False), all_pairs=False
    ),
    "a significant test of equal scores": lambda: compare(metrics=EQUAL, test="sign-test", interval=None),
    "all better": lambda: with_baseline(*[30.0] * 5),
    "many better, one worse": lambda: with_baseline(*[30.0] * 5, x=1.0),
    "many neither": lambda: with_baseline(*[10.25] * 5),
    "many better, many worse": lambda: with_baseline(*[30.0] * 5, *[1.0] * 5),
    "many under all metrics or some": lambda: compared(
        ratings("x", SIX), ratings("y", {**SIX, "c": 20.0, "d": 0.0}), all_pairs=False
    ),
    "one-sided tests of all pairs": lambda: compared(ratings("m", FOUR), alternative="greater"),
    "few segments": lambda: doubtful("abc", "bootstrap-both", FEW),
    "few segments, swaps": lambda: doubtful("abc", "ar", FEW),
    "a test that rejects too often": lambda: doubtful("abc", "bootstrap-shift", FEW),
    "no difference under it": lambda: doubtful("ac", "bootstrap-shift", FEW),
    "a doubt about one of the better": lambda: doubtful(("near", "plain", "rare")),
    "a doubt about the only better one": lambda: doubtful(("near", "same", "rare")),
    "a doubt about the only pair": lambda: doubtful(("rare", "near"), all_pairs=True),
    "a doubt about the best": lambda: doubtful(("rare", "near", "low0", "low1"), all_pairs=True),
    "a doubt about others than the best": lambda: doubtful(("top", "rare", "near"), all_pairs=True),
}


def test_sentences_say_which_systems_are_better() -> None:
    assert_told("conclusions", {case: "\n".join(conclusions(make(), Layout())) for case, make in CONCLUSIONS.items()})


def test_there_is_one_list_of_candidates_which_are_those_in_bold() -> None:
    noise = {f"s{j}": np.random.default_rng(500 + j).normal(j / 9, 1, 50) for j in range(8)}
    found = compare(metrics=SegmentScores("m", noise), all_pairs=True, n_resamples=999)
    (of_noise,), (table,) = found.rankings, document(found, Layout(pairs=False)).tables
    assert len(known(of_noise.mcb_best)) < len(of_noise.best) < 8
    assert {row[0] for row, bold in zip(table.rows, table.bold, strict=True) if bold[0]} == {*of_noise.best}
    named = f"{joined(of_noise.best)} are candidates for the best system under m. Candidates are {table.bold_means}."
    assert named in " ".join(str(found).split())
    assert "Hsu" not in str(found) + found.methods_sentence() + found.bibtex()


# --- Triangles


def test_a_triangle_has_every_difference_and_star() -> None:
    result = compared(ratings("x", FOUR_BY_NAME), ratings("y", FOUR_BY_NAME, False, noise=2))
    _, *triangles = tables(result, Layout(triangle=True))
    assert [triangle.rows for triangle in triangles] == [
        [["1", "b", "", "", ""], ["2", "d", "19.75*", "", ""], ["3", "c", "20.00*", "0.25 ", ""],
         ["4", "a", "30.00*", "10.25*", "10.00*"]],
        [["1", "a", "", "", ""], ["2", "c", "10.00*", "", ""], ["3", "d", "10.25*", "0.25 ", ""],
         ["4", "b", "30.00*", "20.00*", "19.75*"]],
    ]  # fmt: skip
    for triangle in triangles:
        assert triangle.bold == [tuple("*" in cell for cell in row) for row in triangle.rows]


@pytest.mark.parametrize("k", [2, 8, 9, 16, 20])
def test_a_triangle_of_up_to_20_systems_fits_80_columns(k: int) -> None:
    text = render(many(k), "text", Layout(Terminal(80), triangle=True))
    lines = [line for line in text.splitlines() if not line.startswith("Signature: ")]
    assert max(map(len, lines)) <= 80
    for triangle in re.split(r"^\w.*: by how much", text, flags=re.MULTILINE)[1:]:
        matrix = [line for line in triangle.split("\n\nRank")[0].splitlines() if re.match(r" ?\d+ ", line)]
        assert sum(len(re.findall(r"\d*\.\d+|\d+(?=[* ]|$)", line[11:])) for line in matrix) >= k * (k - 1) / 2


# --- Digits and names


@pytest.mark.parametrize("digits", [0, 1, 4])
def test_digits_are_those_of_scores_differences_and_intervals(digits: int) -> None:
    result = compared(ratings("m", FOUR))
    for table in tables(result, Layout(digits=digits, pairs=True)):
        columns = [n for n, name in enumerate(table.header) if name in ("m", "Δ", "95% CI")]
        numbers = [number for row in table.rows for n in columns for number in row[n].split(" to ")]
        assert {len(number.partition(".")[2]) for number in numbers} == {digits}


@pytest.mark.parametrize("fmt", ["text", "markdown", "latex", "html"])
def test_display_names_replace_every_name_in_formats_for_people(fmt: Any) -> None:
    systems = {"sys-a": 10.0, "sys-b": 30.0, "sys-c": 20.0}
    result = compared(ratings("m", systems))
    worst = Caveat("not-exchangeable", {"metric": "m", "system": "sys-a", "baseline": "sys-b", "ratio": 0.5, "tests": 3,
                                        "pairs": 1, "test": "ar", "instead": "maxt"})  # fmt: skip
    result = replace(result, caveats=(*result.caveats, worst))
    assert "sys-a" in " ".join(notes(result, Layout()))
    names = {"sys-a": "first", "sys-b": "second", "sys-c": "third"}
    text = markup(result.render(fmt, names=names, pairs=True))
    assert "sys-" not in text
    assert all(name in text for name in names.values())
    one = result.render(fmt, names={"sys-a": "first"})
    assert "sys-b" in one
    against = markup(compared(ratings("m", systems), all_pairs=False).render(fmt, names=names))
    assert "sys-" not in against


@pytest.mark.parametrize("fmt", ["json", "csv"])
def test_formats_for_programs_keep_the_names_of_the_input(fmt: Any) -> None:
    result = compared(ratings("m", {HOSTILE: 10.0, "=1+1": 20.0}))
    assert result.render(fmt, names={"=1+1": "two"}) == result.render(fmt)
    rows = csv.DictReader(io.StringIO(render(result, "csv", Layout(table="systems")), newline=""))
    assert {row["system"] for row in rows} == set(json.loads(render(result, "json"))["systems"]) == {HOSTILE, "=1+1"}


def test_wrong_digits_names_and_shapes_of_tables_are_refused() -> None:
    assert_raises("python_errors_of_text", globals())


# --- On the command line


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, shift in (("a", 0), ("b", 3), ("c", 30)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{(7 * i) % 11 + shift * (1 + i % 3)}\n" for i in range(60)))
    return tmp_path


SCORES = ("compare", "--scores", "m", "a.txt", "b.txt", "c.txt", "--test", "t-test", "--interval", "t")


@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("\ufeff", "\r\n")])
@pytest.mark.parametrize("text", ["c\tthe third\n\na\tfirst one\n", '{"c": "the third",\n"a": "first one"}\n'])
def test_names_are_read_from_a_file(files: Path, run: Any, text: str, start: str, end: str) -> None:
    (files / "names.tsv").write_text(start + text.replace("\n", end), encoding="utf-8", newline="")
    out = run(*SCORES, "--all-pairs", "--names", "names.tsv", "--digits", "1").out
    assert re.findall(r"^(.*?) {2,}\d+\.\d ", out, re.MULTILINE) == ["the third", "b", "first one"]
    assert not re.search(r"^[ac]  ", out, re.MULTILINE)


def test_a_file_of_names_is_checked_before_the_tests(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["reshuffle.compare"], "compared", lambda *_: pytest.fail("the tests were computed"))

    def named(text: str) -> int:
        (files / "names.tsv").write_text(text)
        return run_command([*SCORES, "--names", "names.tsv"])

    assert_raises("python_errors_of_names", {"named": named})
    # Python refuses to parse such a number, with a ValueError that is not a JSONDecodeError.
    with pytest.raises(InputError, match=r"names\.tsv"):
        named('{"a": ' + "1" * 5000 + "}")


@pytest.mark.parametrize("fmt", get_args(Format))
def test_a_name_with_half_of_a_surrogate_pair_is_written_to_files_as_to_standard_output(
    files: Path, run: Any, fmt: str
) -> None:
    (files / "names.tsv").write_text('{"a": "x\\ud800"}')
    args = (*SCORES, "--names", "names.tsv", "--format", fmt, *(("--table", "pairs") if fmt == "csv" else ()))
    assert run(*args, "-o", "report").code == 0
    # HTML also has the command line, and labels have the name of the file.
    written = (files / "report").read_text(encoding="utf-8").replace(" -o report", "")
    assert run(*args).out == re.sub("(tab[:-])report", r"\1reshuffle", written)


# --- Several test sets


def sets(means: dict[str, dict[str, dict[str, float]]], **options: Any) -> reshuffle.SetComparison:
    """A comparison from means by test set, metric and system. Lower is better under TER."""
    tested = {
        test_set: TestSet(metrics=[ratings(name, of, name != "TER") for name, of in metrics.items()])
        for test_set, metrics in means.items()
    }
    chosen: dict[str, Any] = {"all_pairs": True, "test": "ar:scheme=iid", "n_resamples": 199, "interval": None}
    return compare_sets(tested, **(chosen | options))


BY_SET = {
    "news": {"BLEU": {"a": 10.0, "b": 30.0, "c": 50.0}, "TER": {"a": 50.0, "b": 30.0, "c": 10.0}},
    "talks": {"BLEU": {"a": 10.0, "b": 50.0, "c": 50.25}, "TER": {"a": 50.0, "b": 10.0, "c": 30.0}},
    "chat": {"BLEU": {"a": 10.0, "b": 30.0, "c": 50.0}, "TER": {"a": 50.0, "b": 30.0, "c": 10.0}},
}


def few_and_many(*names: str) -> reshuffle.SetComparison:
    own = TestSet(metrics=SegmentScores("m", {"a": [0, 1, 2], "b": [1, 2, 3]}))
    large = TestSet(metrics=ratings("m", {"a": 10.0, "b": 30.0}))
    return compare_sets(dict(zip(names, (own, large), strict=True)), test="ar", interval=None)


OF_SETS: dict[str, Callable[[], str]] = {
    "an average": lambda: sets(BY_SET).render(pairs=False),
    "a baseline": lambda: sets(BY_SET, all_pairs=False, average=False).render(digits=0),
    "few replicates": lambda: sets(BY_SET, n_resamples=9).render(pairs=False),
    "a test set called average": lambda: str(few_and_many("small", "Average")),
}


def test_scores_on_test_sets_follow_their_average() -> None:
    assert_told("test_sets", beyond_the_first({case: make() for case, make in OF_SETS.items()}))
    # Letters stand beside scores in bold type of their own.
    bleu, _ = set_tables(sets(BY_SET), Layout())
    assert bleu.bold[1] == (False, False, False, True, False)


def test_metrics_without_letters_are_named() -> None:
    spread, alike = (
        SegmentScores(name, {f"s{i}": RNG.normal(size=40) + i * step for i in range(27)})
        for name, step in (("A", 1.0), ("B", 0.0))
    )
    result = compare(metrics=[spread, alike], all_pairs=True, n_resamples=199, interval=None)
    assert [ranking.groups is None for ranking in result.rankings] == [True, False]
    text = " ".join(result.render().split())
    assert "There are none under A, because more than 26 would be needed." in text


def test_the_family_that_a_note_recommends_has_the_tests_that_it_counts() -> None:
    result = sets(BY_SET, family="sets")
    n_tests = sets(BY_SET, family="all")["news"].family_size
    text = " ".join(explanations_of(result["news"], Layout(), result))
    assert f"family='all': ≤ 0.05 over the {n_tests} tests" in text
    assert "family='all': ≤ 0.05" in " ".join(notes(result["news"], Layout()))


def test_monte_carlo_error_on_several_test_sets_is_one_note_with_the_largest_number() -> None:
    near = {"near": 1, "tests": 3, "alpha": 0.05, "adjusted": False, "enough": 5000}
    result = sets(BY_SET, average=False)
    of: dict[str, Any] = {"news": near, "talks": {**near, "enough": 100_000}, "chat": {**near, "enough": None}}
    changed = {}
    for name, own in of.items():
        pair, *others = result[name].comparisons
        pairs = (replace(pair, caveats=("near-alpha",)), *others)
        changed[name] = replace(result[name], caveats=(Caveat("near-alpha", own),), comparisons=pairs)
    decided, not_decided = cautions(replace(result, sets=changed), Layout())
    named = f"{pair.system} − {pair.baseline} under {pair.metric}"
    assert decided.startswith(f"[news and talks] For 2 of 6 tests ({named} (news) and {named} (talks)), Monte")
    assert "about 100,000 replicates (n_resamples) would decide" in decided
    assert not_decided.startswith(f"[chat] For 1 of 3 tests ({named}), ")


def test_pairs_and_triangles_of_every_test_set_are_shown_on_request() -> None:
    result = sets(BY_SET)
    titles = [f"{name}: BLEU: 3 pairs" for name in BY_SET]
    assert not any(title in str(result) for title in titles)  # 24 comparisons
    assert all(f"\n{title}\n" in result.render(pairs=True) for title in titles)
    assert "\nBLEU: 3 pairs\n" in result.render(pairs=True)
    triangles = result.render(triangle=True)
    assert all(f"\n{name}: TER: by how much" in triangles for name in BY_SET)
    small = sets({name: {"BLEU": metrics["BLEU"]} for name, metrics in BY_SET.items()})
    assert all(f"\n{title}\n" in str(small) for title in titles)  # 12 comparisons


def test_display_names_apply_to_all_test_sets() -> None:
    result = sets({name: {"BLEU": {f"sys-{s}": m for s, m in of["BLEU"].items()}} for name, of in BY_SET.items()})
    text = result.render(names={"sys-a": "Alpha", "sys-b": "Beta", "sys-c": "Gamma"}, pairs=True)
    assert "sys-" not in text
    assert all(text.count(f"\n{name} ") > 4 for name in ("Alpha", "Beta", "Gamma"))
    assert result.render("json", names={"sys-a": "Alpha"}) == result.render("json")
    lacking = {"one": TestSet(metrics=ratings("m", FOUR)), "two": TestSet(metrics=ratings("m", {"a": 1.0, "b": 2.0}))}
    with pytest.warns(reshuffle.InputWarning):
        dropped = compare_sets(lacking, test="ar", interval=None, missing_systems="drop")
    assert "Left out, because not every test set has them: c and Delta.\n" in dropped.render(names={"d": "Delta"})


@pytest.mark.parametrize("width", [60, 80, 100])
def test_tables_of_ten_test_sets_fit_the_terminal(width: int) -> None:
    result = sets({f"test-set-{number}": BY_SET["news"] for number in range(10)})
    lines = render(result, "text", Layout(Terminal(width))).splitlines()
    assert max(len(line) for line in lines if not line.startswith("Signature: ")) <= width


# --- Layout of tables, beside rich


def with_rich(table: Table, width: int | None) -> str:
    """The slow twin: the table laid out by rich, for tables without rules that fit."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    for index, name in enumerate(table.header):
        if index < table.n_names:
            rich_table.add_column(Text(name), overflow="fold")
        else:
            rich_table.add_column(Text(name), justify="right", no_wrap=True)
    for row in table.rows:
        rich_table.add_row(*map(Text, row))
    out = io.StringIO()
    Console(file=out, width=width or 10_000, color_system=None, highlight=False).print(rich_table)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


NAME = st.text(st.sampled_from("abcシステム-é\N{COMBINING ACUTE ACCENT} "), min_size=1, max_size=30).map(str.strip)
NUMBER = st.from_regex(r"[+-]?[0-9]{1,4}\.[0-9]{1,3}\*?", fullmatch=True)


@st.composite
def laid_out(draw: Any) -> Table:
    n_names, n_numbers = draw(st.integers(1, 2)), draw(st.integers(1, 5))
    table = Table("t", [draw(NAME) for _ in range(n_names)] + [draw(NUMBER) for _ in range(n_numbers)], n_names)
    for _ in range(draw(st.integers(1, 5))):
        table.add([draw(NAME) for _ in range(n_names)] + [draw(NUMBER) for _ in range(n_numbers)])
    return table


@settings(max_examples=budget(150), deadline=None)
@given(laid_out())
def test_tables_are_laid_out_as_by_rich(table: Table) -> None:
    assert table_as_text(table, Terminal()).split("\n\n", 1)[1] == with_rich(table, None)


@settings(max_examples=budget(150), deadline=None)
@given(laid_out(), st.integers(10, 60), st.booleans())
@example(Table("t", ["name", "x"], rows=[["システム" * 9, "1.00"]], bold=[(False, False)]), 20, False)
def test_narrow_tables_have_every_number_and_every_letter_of_a_name(table: Table, width: int, split: bool) -> None:
    if split:
        table.breaks = (*range(table.n_names + 1, len(table.header)),)
    text = table_as_text(table, Terminal(width))
    columns = [[row[index] for row in table.rows] for index in range(len(table.header))]
    numbers = {cell for column in columns[table.n_names :] for cell in column}
    assert numbers <= {*text.split()}
    assert {*"".join(map("".join, columns))} <= {*text}
    # Names and headers are folded to 8 characters, numbers not at all.
    room = width - (8 + 2) * table.n_names
    if all(max(8, *map(len, column)) <= room for column in columns[table.n_names :]):
        assert max(map(cell_len, text.splitlines())) <= width


HOSTILE = "a\x1b[31mb\x9b2J\x07\x7f\u202ec\u2066\ud800d"
ESCAPED = r"a\u001b[31mb\u009b2J\u0007\u007f\u202ec\u2066\ud800d"


def unsafe(text: str, keep: str = "\n") -> set[str]:
    """The characters that a terminal would obey or a reader could not see."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in keep}


@pytest.mark.parametrize("fmt", ["text", "markdown", "latex", "typst", "notebook"])
def test_names_are_printable_in_reports(fmt: str) -> None:
    names = {f"{HOSTILE}\u2028\t1\r\n": 10.0, "other": 20.0}
    metric = ratings(HOSTILE.replace("\ud800", ""), names)
    result = compared(metric)
    sets = compare_sets({name: TestSet(metrics=metric) for name in (HOSTILE, "x")}, n_resamples=99)
    for each in (result, sets, compared(metric, baseline="other", all_pairs=False)):
        report = as_fragment(document(each, Layout())) if fmt == "notebook" else render(each, fmt, Layout(pairs=True))
        assert unsafe(report) == set()
        name = ESCAPED.replace("\\", {"latex": r"\textbackslash{}", "typst": r"\\", "markdown": r"\\"}.get(fmt, "\\"))
        name = name.replace("[", r"\[") if fmt == "markdown" else name
        assert name in report
    if fmt == "text":
        assert unsafe(render(result, "text", Layout(methods=True)) + str(result.comparisons[0].test)) == set()
        assert unsafe(f"{result!r} {sets!r}") == set()
        assert rf"{ESCAPED}\u2028\t1\r\n" in render(result)


# --- Words


def test_options_are_named_in_the_language_of_the_reader() -> None:
    result = many(4)
    for command, pairs, n in (("reshuffle compare", "--pairs", "-n"), (None, "render(pairs=True)", "n_resamples")):
        text = " ".join(render(result, "text", Layout(command=command)).split())
        assert f"of all 18 tests: {pairs}, or save as JSON or CSV." in text
        few = " ".join(render(sets(BY_SET, n_resamples=9), "text", Layout(command=command)).split())
        assert f"increase {n} to at least" in few
        assert not {"\0", "\1", "\2"} & {*text, *few}


def test_integers_have_no_decimals_and_precisions_equally_many() -> None:
    # One matching word of twenty and no matching pair: a precision below 10 beside one above.
    result = score(["a b c d e f g h i j"] * 2, {"x": ["a y c z v u d q r s"] * 2, "y": ["a"] * 2}, metric("bleu"))
    rows = [line.split() for line in render(result).splitlines() if line[:1] in ("x", "y")]
    assert [row[-1] for row in rows] == ["20", "2"]
    assert {len(p.partition(".")[2]) for row in rows for p in row[2:6]} == {1}
    # What is the same for all systems is no column.
    assert render(result).splitlines()[0] == "BLEU: 2 segments, 1 reference, 2 systems; ref_len 20"
    details = result.scores[0].details
    assert (repr(details["hyp_len"]), repr(details["ref_len"])) == ("20", "20")


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (24, ["s          Δ  adjusted p", "model  +0.10     0.0002*"]),
        (23, ["s          Δ   adj. p", "model  +0.10  0.0002*"]),
        (20, ["s         Δ  adj. p", "model +0.10 0.0002*"]),
        (18, ["s          Δ", "model  +0.10", "s       adj. p", "model  0.0002*"]),
    ],
)
def test_where_there_is_no_room_headers_are_short_and_columns_close(width: int, expected: list[str]) -> None:
    table = Table("", ["s", "Δ", "adjusted p"])
    table.add(["model", "+0.10", "0.0002*"])
    lines = table_as_text(table, Terminal(width)).splitlines()
    assert [line for line in lines if line.strip("─")] == expected


def test_an_empty_cell_of_a_bold_row_has_no_asterisks_in_markdown() -> None:
    table = Table("t", ["System", "x", "p"])
    table.add(["a", "", "1"], bold=True)
    assert "| **a** |  | **1** |" in as_markdown(Document([table], [], "s"), Layout()).splitlines()


def test_a_column_has_one_precision_at_which_no_difference_is_shown_as_0() -> None:
    a = np.linspace(20, 80, 200).round(4)
    scores = {"a": a, "b": (a + 0.0012).round(4), "c": (a + 5).round(4)}
    result = compare(metrics=SegmentScores("x", scores), n_resamples=99)
    rows = {line.split()[0]: line for line in result.render().splitlines() if re.match("[bc]  ", line)}
    assert re.search(r" \+0\.001 +\+0\.001 to \+0\.001 ", rows["b"])
    assert " +5.000 " in rows["c"]
    assert "+0.00 " in result.render(digits=2)
    assert "+0.00 " in compare(metrics=SegmentScores("x", {"a": a, "b": a}), n_resamples=99).render()


def test_a_single_difference_near_0_has_two_significant_digits() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(30, 5, 3000).round(2)
    b = a.copy()
    b[:20] += rng.normal(-0.2, 0.4, 20).round(2)
    result = compare(metrics=SegmentScores("x", {"a": a, "b": b}), n_resamples=999)
    (pair,) = result.comparisons
    assert 0 < abs(pair.difference) < 0.005
    row = next(line for line in result.render().splitlines() if line.startswith("b "))
    difference, interval = re.findall(r"([+-]\S+)\s+([+-]\S+ to [+-]\S+)", row)[-1]
    assert {len(each.partition(".")[2]) for each in [difference, *interval.split(" to ")]} == {4}
    assert float(difference) == pytest.approx(pair.difference, abs=1e-4)
    (detectable,) = result.detectable
    shown = re.findall(r"power\): x (\S+)", result.render())
    assert detectable.difference < 0.005
    assert float(shown[0].rstrip(".")) == pytest.approx(detectable.difference, rel=0.1)
