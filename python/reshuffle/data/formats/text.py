"""Input format plain text, one segment per line."""

from __future__ import annotations

import math

from ..files import decoded, split_lines, warn_of_mark
from .base import MISSING_WORDS, Column, Format, Names, Source, check_unnamed, number_in


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`."""
    text = decoded(source.data, source.name)
    if text.startswith("\ufeff"):
        warn_of_mark(source.name)
    return _columns(source, names, text)


def read_numbers(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`. A byte order mark is not part of the first number."""
    return _columns(source, names, source.text())


def _columns(source: Source, names: Names, text: str) -> list[Column]:
    check_unnamed(source, names, "plain text has")
    lines = split_lines(text)
    return [Column(source.name, lines, range(1, len(lines) + 1)) for _ in names]


FORMAT = Format("one segment per line", read=read, numbers=str)
NUMBERS = Format(
    "a score on each line, as BLEURT writes them",
    read=read_numbers,
    numbers=str,
    recognizes=lambda file, line: math.isfinite(number_in(line)) or line.strip().lower() in MISSING_WORDS[1:],
)
