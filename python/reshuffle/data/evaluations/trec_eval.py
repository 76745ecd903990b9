"""What ``trec_eval -q`` prints: a measure, a query and a value on each line."""

from __future__ import annotations

import re
from pathlib import Path

from ...validate import LARGEST_SCORE
from ..files import split_lines
from ..formats.base import Source, number_in
from ._samples import Sample, Samples, names, read
from .base import ScoreFormat

LINE = re.compile(r"(\S+)[ ]*\t(\S+)\t(\S+)")
# What is printed in place of a query, before the mean over queries.
SUMMARY = "all"


def is_first(line: str) -> bool:
    """Whether a file that begins with this line has the format."""
    found = LINE.fullmatch(line.rstrip("\r"))
    return found is not None and (_number(found[3]) is not None or found[2] == SUMMARY)


def _samples(source: Source) -> Samples:
    """Queries are the segments."""
    found, system = [], Path(source.file).stem
    for number, line in enumerate(split_lines(source.text()), 1):
        parts = LINE.fullmatch(line)
        value = None if parts is None else _number(parts[3])
        if parts is None or (value is None and parts[2] != SUMMARY):
            source.fail("expected a measure, a query and a number, separated by tabs, as by trec_eval -q", number)
        if parts[2] != SUMMARY and value is not None:
            found.append(Sample(system, parts[2], {parts[1]: value}, number))
    if not found:
        source.fail("there is no value of a query, only means over queries: run trec_eval with -q")
    return Samples(source, found, are_complete=False)


def _number(text: str) -> float | None:
    number = number_in(text)
    return number if abs(number) <= LARGEST_SCORE else None


FORMAT = ScoreFormat(
    "a measure, a query and a value on each line, as by trec_eval -q",
    lambda file, line: is_first(line),
    names,
    read,
    _samples,
)
