"""Markdown: pipe tables, and lists of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import printable
from .cells import keys
from .document import Document
from .layout import Layout


def as_markdown(document: Document, layout: Layout) -> str:
    """Pipe tables, in which an empty row is a line, all sentences as a list, the signature as code, and methods."""
    parts, shown = _top(document), document.tables
    for table in shown:
        rule = ["---" if table.is_left(index) else "---:" for index in range(len(table.header))]
        rows = [_cells(row, bold) for row, bold in zip(table.rows, table.bold, strict=True)]
        for number in reversed([] if table.grouped else table.rules):  # the names of groups tell them apart
            rows.insert(number, [""] * len(rule))
        parts += [f"**{_escaped(table.title)}**", "\n".join(map(_line, [_cells(table.header), rule, *rows]))]
    sentences = [*document.below_headline, *document.notes, *keys(shown)]
    items = [*map(_escaped, sentences), f"Signature: `{printable(document.signature)}`"]
    if document.link is not None:
        items.insert(0, f"[Report](<{_address(document.link)}>)")
    parts.append("\n".join(f"- {item}" for item in items))
    if document.methods is not None:
        plain, entries = document.methods.plain, printable(document.methods.bibtex, keep="\n")
        parts += ["**Methods**", _escaped(plain), f"```bibtex\n{entries}```"]
    return "\n\n".join(parts) + "\n"


def _top(document: Document) -> list[str]:
    """The marker, which is not shown, and the headline."""
    marker = [f"<!-- {document.marker} -->"] if document.marker else []
    return [*marker, *([f"### {_escaped(document.headline)}"] if document.headline else [])]


def _address(link: str) -> str:
    """An address in angle brackets, which must not contain these nor end the line."""
    return "".join(f"%{ord(c):02X}" if c in "<>\\" or ord(c) <= 32 else c for c in link)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(row: Sequence[str], bold: Sequence[bool] = ()) -> list[str]:
    cells = map(_escaped, row)
    return [
        f"**{cell}**" if flag and cell else cell for cell, flag in zip(cells, bold or [False] * len(row), strict=True)
    ]


# Characters that can be markup anywhere, and underscores unless they are inside a word.
_MARKUP = re.compile(r"[\\|*`<\[\]~&$]|(?<![^\W_])_|_(?![^\W_])")


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(" ".join(text.split())))
