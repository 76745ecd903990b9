"""Markdown and LaTeX: the tables and notes of the text report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..results import Comparison
from .notes import notes
from .tables import tables
from .terminal import Terminal

__all__ = ["as_latex", "as_markdown"]


def as_markdown(comparison: Comparison, terminal: Terminal) -> str:
    """Pipe tables, the notes as a list, and the signature as code."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    parts = []
    for table in tables(comparison):
        escaped = [[_markdown(cell) for cell in row] for row in [table.header, *table.rows]]
        rule = ["---" if index < table.n_names else "---:" for index in range(len(table.header))]
        parts += [f"**{_markdown(table.title)}**", "\n".join(map(line, [escaped[0], rule, *escaped[1:]]))]
    parts.append("\n".join(f"- {note}" for note in [*notes(comparison), f"Signature: `{comparison.signature}`"]))
    return "\n\n".join(parts) + "\n"


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def as_latex(comparison: Comparison, terminal: Terminal) -> str:
    """``tabular`` environments for the booktabs package; notes and signature as comments."""
    lines = ["% needs \\usepackage{booktabs}"]
    for table in tables(comparison):
        n_numbers = len(table.header) - table.n_names
        lines += [f"% {table.title}", f"\\begin{{tabular}}{{{'l' * table.n_names}{'r' * n_numbers}}}", "\\toprule"]
        lines += [" & ".join(map(_latex, table.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [f"% {note}" for note in [*notes(comparison), f"Signature: {comparison.signature}"]]
    return "\n".join(lines) + "\n"


# A number, or an interval.
NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?: to [-+]?\d[\d.,]*)?")

_LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "Δ": r"$\Delta$",
        **{c: f"\\{c}" for c in "&%$#_{}"},
    }
)


def _latex(cell: str) -> str:
    escaped = cell.translate(_LATEX_ESCAPES)
    # A minus sign in numbers only: a hyphen in a name stays a hyphen.
    return re.sub(r"-(?=\d)", "$-$", escaped) if NUMBERS.fullmatch(cell) else escaped
