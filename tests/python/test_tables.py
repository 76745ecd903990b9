"""Tables in a terminal: long names are folded, numbers are never cut."""

from __future__ import annotations

import re

import pytest

from lazy import Lazy
from reshuffle import Comparison, SegmentScores, compare, metric, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.cells import Table
from reshuffle.report.document import Document
from reshuffle.report.markdown import as_markdown

REFERENCES = demo_corpus().references
SHORT = dict(demo_corpus().systems)
LONG = {f"{name}-of-the-university-of-somewhere-{'x' * 30}.4722": lines for name, lines in SHORT.items()}
WIDE = "システム" * 9


def cells(text: str) -> set[str]:
    return set(text.split())


RESULTS = Lazy[Comparison](
    {
        "score": lambda: score(REFERENCES, SHORT, ["bleu", "nist", "chrf++"], confidence_level=0.95, n_resamples=50),
        "many details": lambda: score(REFERENCES, LONG, metric("bleu", max_ngram_order=16)),
        "compare": lambda: compare(REFERENCES, LONG, n_resamples=50),
        "all pairs": lambda: compare(REFERENCES, LONG, n_resamples=50, all_pairs=True),
        "long metric": lambda: compare(
            metrics=SegmentScores("a long name of a metric " * 3, {WIDE: [0.5] * 9, "b": [0.25] * 9}), n_resamples=50
        ),
    }
)


@pytest.mark.parametrize("width", [80, 100, 60, 20])
@pytest.mark.parametrize("name", RESULTS)
def test_no_number_is_cut_at_any_width(name: str, width: int) -> None:
    result = RESULTS[name]
    everything = {cell for cell in cells(render(result)) if re.search(r"\d", cell)}
    narrow = render(result, "text", Layout(Terminal(width)))
    assert "…" not in narrow
    names = {cell for cell in everything if any(part in cell for system in result.systems for part in system.split())}
    assert everything - names <= cells(narrow)


def test_folded_names_are_complete() -> None:
    result = RESULTS["compare"]
    lines = render(result, "text", Layout(Terminal(80))).splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("─"))
    end = lines.index("", rule)
    width = next(line.index("BLEU") for line in lines[2:rule] if "BLEU" in line) - 2
    baseline, *others = LONG
    others.sort(key=lambda system: -result.score(system).score)
    assert "".join([baseline, *others]) == "".join(line[:width].strip() for line in lines[rule + 1 : end])


@pytest.mark.parametrize("name", RESULTS)
def test_tables_fit_80_columns(name: str) -> None:
    from rich.cells import cell_len

    text = render(RESULTS[name], "text", Layout(Terminal(80)))
    assert max(cell_len(line) for line in text.splitlines() if not line.startswith("Signature:")) <= 80


def test_without_a_terminal_a_table_is_as_wide_as_necessary() -> None:
    lines = render(score(REFERENCES, LONG, "bleu", confidence_level=0.95, n_resamples=50)).splitlines()
    for system in LONG:
        (row,) = (line for line in lines if line.startswith(system))
        assert len(row.split()) == 13
    assert max(map(len, lines)) > 100


def test_integers_have_no_decimals_and_precisions_equally_many() -> None:
    # One matching word of twenty and no matching pair: a precision below 10 beside one above.
    result = score(["a b c d e f g h i j"] * 2, {"x": ["a y c z v u d q r s"] * 2, "y": ["a"] * 2}, metric("bleu"))
    rows = [line.split() for line in render(result).splitlines() if line[:1] in ("x", "y")]
    assert [row[-2:] for row in rows] == [["20", "20"], ["2", "20"]]
    assert {len(p.partition(".")[2]) for row in rows for p in row[2:6]} == {1}
    details = result.scores[0].details
    assert (repr(details["hyp_len"]), repr(details["ref_len"])) == ("20", "20")


def test_an_empty_cell_of_a_bold_row_has_no_asterisks_in_markdown() -> None:
    table = Table("t", ["System", "x", "p"])
    table.add(["a", "", "1"], bold=True)
    table.add(["b", "", "1"], bold=(False, True, False))
    rows = as_markdown(Document([table], [], "s"), Layout()).splitlines()
    assert rows[3:6] == ["| --- | ---: | ---: |", "| **a** |  | **1** |", "| b |  | 1 |"]
