"""What ``trec_eval -q`` prints: a measure, a query and a value on each line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ...validate import LARGEST_SCORE
from ..files import split_lines
from ..formats.base import Source
from ._joined import Record, joined_cells
from .base import Cells, ScoreFormat, ScoreOptions

LINE = re.compile(r"(\S+)[ ]*\t(\S+)\t(\S+)")
# What is printed in place of a query, before the mean over queries.
SUMMARY = "all"


class Values(NamedTuple):
    """Measure, query, value and line."""

    source: Source
    found: list[tuple[str, str, float, int]]


def is_first(line: str) -> bool:
    """Whether a file that begins with this line has the format."""
    found = LINE.fullmatch(line.rstrip("\r"))
    return found is not None and (_number(found[3]) is not None or found[2] == SUMMARY)


def names(values: Values, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    return list(dict.fromkeys(measure for measure, *_ in values.found)), False


def read(values: Values, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`. Queries are the segments."""
    system = Path(values.source.file).stem
    return joined_cells(
        metric, [Record(system, q, value, n) for measure, q, value, n in values.found if measure == metric]
    )


def _values(source: Source) -> Values:
    found = []
    for number, line in enumerate(split_lines(source.text()), 1):
        parts = LINE.fullmatch(line)
        value = None if parts is None else _number(parts[3])
        if parts is None or (value is None and parts[2] != SUMMARY):
            source.fail("expected a measure, a query and a number, separated by tabs, as by trec_eval -q", number)
        if parts[2] != SUMMARY and value is not None:
            found.append((parts[1], parts[2], value, number))
    if not found:
        source.fail("there is no value of a query, only means over queries: run trec_eval with -q")
    return Values(source, found)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) <= LARGEST_SCORE and "_" not in text else None


FORMAT = ScoreFormat(
    "a measure, a query and a value on each line, as by trec_eval -q",
    lambda file, line: is_first(line),
    names,
    read,
    _values,
)
