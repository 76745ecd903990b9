"""Markdown: pipe tables, what they show, and the notes of the text report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..errors import printable
from ..results import Comparison, SetComparison
from .cells import Table, keys
from .conclusions import conclusions
from .layout import Layout
from .notes import notes
from .sets import content_of_sets
from .tables import tables


def as_markdown(comparison: Comparison, layout: Layout) -> str:
    """Pipe tables, what they show and the notes as a list, and the signature as code."""
    sentences = [*conclusions(comparison, layout), *notes(comparison, layout)]
    return markdown_document(tables(comparison, layout), sentences, comparison.signature)


def sets_as_markdown(result: SetComparison, layout: Layout) -> str:
    """The same for several test sets."""
    return markdown_document(*content_of_sets(result, layout), result.signature)


def markdown_document(shown: Iterable[Table], sentences: Iterable[str], signature: str) -> str:
    """Tables with their titles, a list of sentences, and a signature."""
    parts, shown = [], [*shown]
    for table in shown:
        rule = ["---" if index < table.n_names else "---:" for index in range(len(table.header))]
        rows = [_cells(row, bold) for row, bold in zip(table.rows, table.bold, strict=True)]
        parts += [f"**{_escaped(table.title)}**", "\n".join(map(_line, [_cells(table.header), rule, *rows]))]
    items = [*map(_escaped, [*sentences, *keys(shown)]), f"Signature: `{printable(signature)}`"]
    return "\n\n".join([*parts, "\n".join(f"- {item}" for item in items)]) + "\n"


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
