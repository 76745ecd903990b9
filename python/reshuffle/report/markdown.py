"""Markdown: pipe tables and the notes of the text report."""

from __future__ import annotations

from collections.abc import Sequence

from ..results import Comparison
from .layout import Layout
from .notes import notes
from .tables import tables

__all__ = ["as_markdown"]


def as_markdown(comparison: Comparison, layout: Layout) -> str:
    """Pipe tables, the notes as a list, and the signature as code."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    parts = []
    for table in tables(comparison, layout):
        escaped = [[_escaped(cell) for cell in row] for row in [table.header, *table.rows]]
        rule = ["---" if index < table.n_names else "---:" for index in range(len(table.header))]
        parts += [f"**{_escaped(table.title)}**", "\n".join(map(line, [escaped[0], rule, *escaped[1:]]))]
    parts.append(
        "\n".join(f"- {note}" for note in [*notes(comparison, layout), f"Signature: `{comparison.signature}`"])
    )
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
