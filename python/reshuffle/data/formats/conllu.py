"""Input format CoNLL-U: dependency parses, one sentence per segment."""

from __future__ import annotations

from ... import _core
from ...errors import shortened
from ..files import split_lines
from .base import Column, Format, Names, Source, check_unnamed


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`."""
    check_unnamed(source, names, "CoNLL-U has")
    lines = split_lines(source.text())
    if lines[-1]:  # the last sentence need not be followed by an empty line
        lines.append("")
    while len(lines) > 1 and not lines[-1] and not lines[-2]:  # ignore further empty lines at the end
        lines.pop()
    blocks: list[str] = []
    first_lines: list[int] = []
    start = 0
    for number, line in enumerate(lines):
        if line:
            continue
        if number == start:
            source.fail(
                "expected a sentence, got an empty line; a segment without words needs a comment line", number + 1
            )
        blocks.append("\n".join(lines[start:number]))
        first_lines.append(start + 1)
        start = number + 1
    broken = _core.broken_parse(blocks)
    if broken is not None:
        block, line_of_block, expected, got = broken
        source.fail(f"expected {expected}, got {shortened(got)}", first_lines[block] + line_of_block - 1)
    return [Column(source.name, blocks, first_lines, format="conllu") for _ in names]


FORMAT = Format("sentences, each followed by an empty line", (".conllu",), read)
