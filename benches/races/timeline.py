"""The records of races as a page: ``python -m benches.races.timeline`` writes docs/evidence/speed.md and its figure."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benches.machine import markdown_table

from .report import HEADER, Row

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "benches" / "record"
PAGE = ROOT / "docs" / "evidence" / "speed.md"
FIGURE = PAGE.with_suffix(".svg")
LINK = "https://github.com/reshuffle-mt/reshuffle/blob/main/benches/record/"
OURS = "reshuffle"
# Columns of comparisons of two builds.
BUILDS = ("case", "what", "before", "now", "ratio", "middle half")
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
# Medians of the same call on a shared machine differ by so much.
NOISE = 1.15
# A cell is cut, so that tables stay readable.
LONGEST = 90
# The races that README and the paper claim, with their words for them.
CLAIMED = {
    "BLEU counts (13a) of 16 systems, per system": ("count", "16 systems in one go, per system"),
    "TER counts of 16 systems, per system": ("ter", "16 systems in one go, per system"),
    "approximate randomization of BLEU, one pair, per shuffle": ("ar", "one pair, BLEU, per shuffle"),
    "paired bootstrap of BLEU, one pair, per draw": ("bootstrap", "one pair, BLEU, per draw"),
    "the whole command, 16 systems, 10,000 shuffles": ("command", "16 systems, AR, 10,000 shuffles"),
}


class Record(NamedTuple):
    """A record: its name, what its first lines say, its races and its comparisons of builds."""

    name: str
    title: str
    facts: Mapping[str, str]
    races: Sequence[Row]
    builds: Sequence[Sequence[str]]

    @property
    def link(self) -> str:
        """A link whose target is at the end of the page."""
        return f"[{self.name}]"

    @property
    def is_forced(self) -> bool:
        """Whether slower instructions were chosen than the machine has."""
        return "--simd" in self.facts.get("command", "") and "avx512" not in self.facts["command"]


def seconds(text: str) -> float:
    """A time as records have it.

    >>> seconds("1.50 ms"), seconds("1,002 s")
    (0.0015, 1002.0)
    """
    number, unit = text.split()
    return float(number.replace(",", "")) * UNITS[unit]


def tables(lines: Sequence[str], header: Sequence[str]) -> Iterator[list[str]]:
    """The rows of all tables with this header. An empty cell of the case or the race stands for the one above."""
    inside, above = False, ["", ""]
    for line in lines:
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells == [*header]:
            inside = True
        elif inside and len(cells) == len(header) and not set("".join(cells)) <= set("-: "):
            above = [cells[0] or above[0], cells[1] or above[1]] if cells[0] or cells[1] else above
            yield [*above, *cells[2:]]


def read(path: Path) -> Record:
    """Parse a record."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    facts = dict(re.findall(r"^- ([a-z ]+?)s?(?:,[^:`]*)?: (.+)$", text, re.MULTILINE))
    races = [Row(*cells) for cells in tables(lines, HEADER)]
    return Record(path.stem, lines[0].lstrip("# "), facts, races, list(tables(lines, BUILDS)))


def records() -> list[Record]:
    """All records, by date."""
    return [read(path) for path in sorted(RECORDS.glob("*.md"))]


def repeated(found: Sequence[Record]) -> Iterator[tuple[Row, Record, Record, float]]:
    """Each of our times that was measured again: the last row, the record before it and its own, and how much slower.

    Only records of the same vector instructions are compared. Those that do not name them used the best.
    """
    last: dict[tuple[str, ...], tuple[Row, Record]] = {}
    for record in found:
        for row in record.races:
            if row.tool.startswith(OURS):
                key = (row.case, row.what, row.tool, record.facts.get("instruction", "avx512"))
                if key in last:
                    before, earlier = last[key]
                    yield row, earlier, record, seconds(row.median) / seconds(before.median)
                last[key] = row, record


def slower_builds(found: Sequence[Record]) -> Iterator[tuple[Record, Sequence[str]]]:
    """The comparisons of two builds in which the newer one was slower in three quarters of the turns."""
    for record in found:
        yield from ((record, row) for row in record.builds if float(row[5].split(" to ")[1]) < 1)


def newest(found: Sequence[Record]) -> dict[tuple[str, str], tuple[Row, Row, Record]]:
    """For each race its last record with the best instructions: the other tool's row, and our first."""
    races: dict[tuple[str, str], tuple[Row, Row, Record]] = {}
    for record in found:
        first: dict[tuple[str, str], Row] = {}
        for row in record.races:
            race = row.case, row.what
            other = first.setdefault(race, row)
            seen = races.get(race, (None, None, None))[2] is record
            if row.tool.startswith(OURS) and not other.tool.startswith(OURS) and not record.is_forced and not seen:
                races[race] = other, row, record
    return races


def speed(row: Row) -> float:
    """How many times as fast as the other tool."""
    return float(row.faster.rstrip("×").replace(",", ""))


def claims(found: Sequence[Record]) -> list[tuple[str, str, str, str]]:
    """The rows of the tables in README and in the paper: the task, the other tool's time, ours, and how much faster."""
    races = newest(found)
    rows = [(task, *races[race][:2]) for task, race in CLAIMED.items()]
    return [(task, _cost(other), _cost(ours), ours.faster.rstrip("×")) for task, other, ours in rows]


def _cost(row: Row) -> str:
    return ", ".join(filter(None, [row.median, row.peak]))


def of_turns(what: str) -> str:
    """The name of a race without the unit that its time is divided by: comparisons of builds have times of turns.

    >>> of_turns("16 systems in one go, per system, reshuffle, 1 thread")
    '16 systems in one go, reshuffle, 1 thread'
    """
    return re.sub(r", per [\w ]+(?=,|$)", "", what)


def cut(text: str) -> str:
    """A text that fits into a cell."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def page(found: Sequence[Record]) -> str:
    """The page."""
    races = [record for record in found if record.races]
    again = list(repeated(found))
    slower = [each for each in again if each[3] > NOISE]
    builds = list(slower_builds(found))
    n_builds = sum(len(record.builds) for record in found)
    by_case = sorted(newest(found).items(), key=lambda item: (item[0][0], item[0][1]))
    parts = [
        "# Speed: the records of races",
        "Generated by `python -m benches.races.timeline` from the records in `benches/record`. A race runs another "
        "tool and reshuffle in turn, compares their results, and then reports medians. [All measurements](https://github.com/"
        "reshuffle-mt/reshuffle/blob/main/benches/README.md) has the commands of the others.",
        "## What regressed",
        f"{len(again)} of our times in races were measured again on the same instructions; {len(slower)} of them were "
        f"more than {NOISE - 1:.0%} slower than before, which also happens by other work on the machine: the column "
        "*speed* is relative to a tool that ran in the same minutes.",
        _table(
            ["race", "tool", "before", "now", "slower by", "speed", "records"],
            [
                [
                    cut(f"{now.case}: {now.what}"), now.tool, _median(earlier, now), now.median, f"{ratio:.2f}×",
                    f"{_row(earlier, now).faster}, then {now.faster}", f"{earlier.link}, {record.link}",
                ]
                for now, earlier, record, ratio in slower
            ],
        ),
        f"Two builds were compared, turn by turn, in {n_builds} calls; in {len(builds)} of them the newer one was "
        "slower in three quarters of the turns. A turn times each build once, with several systems or replicates at a "
        "time; *before* and *now* are medians over turns. *Ratio* is the median of the ratios before/now within turns, "
        "so it need not be that of the medians; three quarters of the ratios are below the end of *middle half*.",
        _table(
            ["call", "time of a turn before", "now", "ratio", "middle half", "record"],
            [[cut(f"{row[0]}: {of_turns(row[1])}"), *row[2:], record.link] for record, row in builds],
        ),
        "## Beside other tools",
        "The last record of each race, with the best instructions of the machine; reshuffle uses all cores, unless the "
        "record says something else.",
        f"![How many times as fast as the other tool, for each race, on a logarithmic scale]({FIGURE.name})",
        _table(
            ["case", "race", "other tool", "its time", "reshuffle", "speed", "record"],
            [
                [case, cut(what), other.tool, other.median, ours.median, ours.faster, record.link]
                for (case, what), (other, ours, record) in by_case
            ],
        ),
        "## The records",
        _table(
            ["record", "machine", "instructions", "commit", "load", "command"],
            [
                [
                    record.link, record.facts.get("machine", ""), record.facts.get("instruction", ""),
                    record.facts.get("commit", ""), record.facts.get("load at the start", ""),
                    record.facts.get("command", ""),
                ]
                for record in races
            ],
        ),
        "\n".join(f"{record.link}: {LINK}{record.name}.md" for record in found if record.races or record.builds),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, rows, text_columns=2) if rows else ""


def _row(record: Record, like: Row) -> Row:
    """The row of the same tool in another record."""
    return next(row for row in record.races if (row.case, row.what, row.tool) == (like.case, like.what, like.tool))


def _median(record: Record, like: Row) -> str:
    return _row(record, like).median


def draw(found: Sequence[Record], path: Path) -> None:
    """The figure: a dot for each race, by case."""
    from benches.papers.figures import columns, save

    figure, (axes,) = columns(1)
    races = newest(found)
    cases = sorted({case for case, _ in races}, reverse=True)
    figure.set_size_inches(6, 0.6 + 0.16 * len(cases))
    points: list[tuple[float, int]] = [(speed(ours), cases.index(case)) for (case, _), (_, ours, _) in races.items()]
    axes.plot(*zip(*points, strict=True), "o", color="0.2", alpha=0.6)
    axes.axvline(1, color="0.6")
    axes.set(xscale="log", xlabel="times as fast as the other tool", yticks=range(len(cases)), yticklabels=cases)
    axes.grid(axis="x", color="0.9")
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page and the figure."""
    argparse.ArgumentParser(prog="python -m benches.races.timeline", description=__doc__).parse_args(arguments)
    found = records()
    PAGE.write_text(page(found), "utf-8")
    draw(found, FIGURE)


if __name__ == "__main__":
    main()
