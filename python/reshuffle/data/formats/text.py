"""Input format plain text, one segment per line."""

from __future__ import annotations

from ..files import decoded, split_lines, warn_of_mark
from .base import Column, FileFormat, Names, Source, check_unnamed


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    check_unnamed(source, names, "plain text has")
    text = decoded(source.data, source.name)
    if text.startswith("\ufeff"):
        warn_of_mark(source.name)
    lines = split_lines(text)
    return [Column(source.name, lines, range(1, len(lines) + 1)) for _ in names]


FORMAT = FileFormat("one segment per line", (), read, numbers=str)
