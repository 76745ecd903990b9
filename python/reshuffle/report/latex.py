"""LaTeX: a ``table`` for the booktabs package, whose caption explains it; conclusions and notes as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..errors import printable
from .cells import Table
from .document import Document
from .layout import Layout
from .notes import joined

# A table of more rows does not fit a page.
LONG = 45

# In points: the average width of a character, in part bold, and the width of an article's text.
POINTS, TEXT_WIDTH = 5.5, 345
# Commands, the scale of the letters, and the points on each side of a column.
SIZES = (
    ("", 1.0, 6),
    (r"\small", 0.9, 6),
    (r"\footnotesize\setlength{\tabcolsep}{3pt}", 0.8, 3),
    (r"\scriptsize\setlength{\tabcolsep}{2pt}", 0.7, 2),
)


def as_latex(document: Document, layout: Layout) -> str:
    """``table`` environments with labels, or ``longtable`` where one is longer than a page; sentences as comments."""
    tables = document.tables
    long = any(len(table.rows) > LONG for table in tables)
    grouped = any(table.grouped and len(table.rows) <= LONG for table in tables)
    packages = ["booktabs", *(["multirow"] if grouped else []), *(["longtable"] if long else [])]
    lines = ["% needs " + joined(f"\\usepackage{{{name}}}" for name in packages)]
    for number, table in enumerate(tables, 1):
        lines += _table(table, "tab:reshuffle" + (f"-{number}" if number > 1 else ""))
    remarks = [*document.sentences, f"Signature: {document.signature}"]
    lines += [f"% {printable(' '.join(remark.split()))}" for remark in remarks]
    return "\n".join(lines) + "\n"


def _table(table: Table, label: str) -> Iterator[str]:
    head = [r"\toprule", _with_indices(_row(table.header, n_names=len(table.header))), r"\midrule"]
    body = []
    for number, (row, bold, spans) in enumerate(zip(table.rows, table.bold, table.spans(), strict=True)):
        body += [r"\midrule"] * (number in table.rules) + [
            _row(row, bold, spans, len(table.rows) <= LONG, table.n_names)
        ]
    captioned = f"\\caption{{{_with_indices(_escaped(table.caption))}}}\\label{{{label}}}"
    columns = _columns(table)
    if len(table.rows) > LONG:
        yield from [f"\\begin{{longtable}}{{{columns}}}", f"{captioned} \\\\", *head, r"\endfirsthead", *head]
        yield from [r"\endhead", r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]
        return
    yield from [r"\begin{table}", r"\centering", captioned, *_size(table)]
    yield from [f"\\begin{{tabular}}{{{columns}}}", *head, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]


def _columns(table: Table) -> str:
    """The columns: names to the left, numbers to the right, with more space before those of the next metric."""
    kinds = ["l" if index < table.n_names else "r" for index in range(len(table.header))]
    for index in table.breaks if len(table.breaks) + 2 < len(kinds) else ():
        kinds[index] = f"@{{\\hskip 1em}}{kinds[index]}"
    return "".join(kinds)


def _size(table: Table) -> list[str]:
    """The largest size in which the table is not wider than the text of an article, else the smallest."""
    characters = sum(max(map(len, column)) for column in zip(table.header, *table.rows, strict=True))
    letters, columns = POINTS * characters + 10 * len(table.breaks), len(table.header)
    fitting = [command for command, scale, space in SIZES if scale * letters + 2 * space * columns <= TEXT_WIDTH]
    command = fitting[0] if fitting else SIZES[-1][0]
    return [command] if command else []


def _with_indices(text: str) -> str:
    """The standard deviations of runs with an index, as Clark et al. 2011 write them."""
    return re.sub(r"\bs\\_(sel|test|dev)\b", r"$s_{\\mathrm{\1}}$", text)


def _row(
    cells: Sequence[str],
    bold: Sequence[bool] = (),
    spans: Sequence[int] = (),
    multirow: bool = False,
    n_names: int = 1,
) -> str:
    """``spans``: how many rows the first cells span, in ``\\multirow`` or, in tables of several pages, left empty."""
    flags = bold or [False] * len(cells)
    shown = [_cell(cell, flag, index < n_names) for index, (cell, flag) in enumerate(zip(cells, flags, strict=True))]
    for index, n in enumerate(spans):
        if n != 1:
            shown[index] = f"\\multirow{{{n}}}{{*}}{{{shown[index]}}}" if n and multirow else shown[index] if n else ""
    row = " & ".join(shown)
    # A line break takes a star or a bracket that follows it as its own argument.
    return ("{}" if row[:1] in "[*" and row else "") + row + r" \\"


def _cell(cell: str, bold: bool, is_name: bool) -> str:
    # The spaces at the end keep numbers without a mark in line with those that have one.
    shown = _escaped(cell.rstrip()) if cell.strip() else ""
    # A minus sign in numbers only: a hyphen in a name stays a hyphen, even if a system is named "-1".
    if not is_name and NUMBERS.fullmatch(cell.rstrip()):
        shown = re.sub(r"-(?=\d)", "$-$", shown)
    shown = f"\\textbf{{{shown}}}" if bold and shown else shown
    marks = len(cell) - len(cell.rstrip())
    return f"{shown}\\phantom{{{'*' * marks}}}" if shown and marks else shown


# A number, or an interval, perhaps with marks or an error.
NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?: to [-+]?\d[\d.,]*)?[*†‡]*(?: *±\d[\d.,]*)?")

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\`{}",
        "\0": "{}",
        "|": r"\textbar{}",
        '"': r"\char34{}",
        "<": "$<$",
        ">": "$>$",
        "Δ": r"$\Delta$",
        "α": r"$\alpha$",
        "ε": r"$\varepsilon$",
        "η": r"$\eta$",
        "κ": r"$\kappa$",
        "ρ": r"$\rho$",
        "τ": r"$\tau$",
        "½": r"$\frac12$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "−": "$-$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "†": r"\textdagger{}",
        "‡": r"\textdaggerdbl{}",
        "→": r"$\rightarrow$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "–": "--",
        "—": "---",
        "…": r"\ldots{}",
        **{c: f"\\{c}" for c in "&%$#_{}"},
    }
)


def _escaped(text: str) -> str:
    plain = printable(" ".join(text.split()))
    # Two hyphens would become a dash; NUL stands for the braces that keep them apart.
    return re.sub("-(?=-)", "-\0", plain).translate(_ESCAPES)
