"""Input formats of CoNLL: words and their tags, as of the task of 2003, and dependency parses (CoNLL-U)."""

from __future__ import annotations

from ... import _core
from ...errors import quoted, shortened
from ..files import display_name, split_lines
from .base import Column, Format, Names, Source, check_unnamed

# A line that begins a document.
DOCUMENT = "-DOCSTART-"
# What a comment before a sentence begins with. The character alone may be a word.
COMMENT = "# id "


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`. Segments are the tags of sentences, separated by spaces."""
    indices = [_index(source, name) for name in names]
    sentences: list[list[list[str]]] = []
    first_lines: list[int] = []
    documents: list[int] = []
    n_documents, goes_on = 0, False
    for number, line in enumerate(split_lines(source.text()), 1):
        fields = line.strip().split("\t" if "\t" in line else None)
        if not goes_on and line.startswith(COMMENT):
            continue
        if not any(fields) or fields[0] == DOCUMENT:
            n_documents += any(fields)
            goes_on = False
            continue
        if not goes_on:
            sentences.append([])
            first_lines.append(number)
            documents.append(n_documents)
            goes_on = True
        for index in indices:
            if len(fields) < max(index + 1, 2) or not fields[index].strip():
                expected = "a word and its tags" if index < 1 else f"a tag in column {index + 1}"
                source.fail(f"expected {expected}, got {quoted(line)}", number)
        sentences[-1].append(fields)
    if not sentences:
        source.fail("expected sentences, found only empty lines")
    ids = [(str(document), str(number)) for number, document in enumerate(documents, 1)] if n_documents else None
    return [
        Column(source.label(name), [" ".join(word[index] for word in words) for words in sentences], first_lines, ids)
        for name, index in zip(names, indices, strict=True)
    ]


def _index(source: Source, name: str | None) -> int:
    """The index of a column that is named by its number, from 1. Without a number, that of the last."""
    if name is None:
        return -1
    if not name.isascii() or not name.isdigit() or int(name) == 0:
        source.fail(f"columns of CoNLL files are numbered from 1, as in #4, got #{display_name(name)}")
    return int(name) - 1


def read_parses(source: Source, names: Names) -> list[Column]:
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


FORMAT = Format(
    "a word and its tags on each line, an empty line after each sentence",
    (".conll", ".iob", ".bio"),
    read,
    metric="span-f1",
)
PARSES = Format("sentences, each followed by an empty line", (".conllu",), read_parses)
