"""LaTeX: tables for the booktabs package, with the notes of the text report as comments."""

from __future__ import annotations

import re

from ..results import Comparison
from .layout import Layout
from .notes import notes
from .tables import tables

__all__ = ["as_latex"]


def as_latex(comparison: Comparison, layout: Layout) -> str:
    """``tabular`` environments for the booktabs package; notes and signature as comments."""
    lines = ["% needs \\usepackage{booktabs}"]
    for table in tables(comparison, layout):
        n_numbers = len(table.header) - table.n_names
        lines += [f"% {table.title}", f"\\begin{{tabular}}{{{'l' * table.n_names}{'r' * n_numbers}}}", "\\toprule"]
        lines += [" & ".join(map(_escaped, table.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(map(_escaped, row)) + r" \\" for row in table.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [f"% {note}" for note in [*notes(comparison, layout), f"Signature: {comparison.signature}"]]
    return "\n".join(lines) + "\n"


# A number, or an interval.
NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?: to [-+]?\d[\d.,]*)?")

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "Δ": r"$\Delta$",
        "†": r"\textdagger{}",
        "<": "$<$",
        ">": "$>$",
        **{c: f"\\{c}" for c in "&%$#_{}"},
    }
)


def _escaped(cell: str) -> str:
    escaped = cell.translate(_ESCAPES)
    # A minus sign in numbers only: a hyphen in a name stays a hyphen.
    return re.sub(r"-(?=\d)", "$-$", escaped) if NUMBERS.fullmatch(cell) else escaped
