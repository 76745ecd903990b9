"""Text: tables that fit a terminal, the notes, and the signature."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Sequence

from ..results import Comparison
from .layout import Layout
from .notes import notes
from .tables import Table, tables
from .terminal import Terminal

__all__ = ["as_text", "prose", "table_as_text"]

# Characters between two columns of a table.
GAP = 2
# A name is never folded to fewer characters than this.
MIN_NAME = 8


def as_text(comparison: Comparison, layout: Layout) -> str:
    """Tables that fit the terminal, the notes, and the signature on one line."""
    terminal = layout.terminal
    shown = (table_as_text(table, terminal) for table in tables(comparison))
    return "\n".join([*shown, prose(notes(comparison), comparison.signature, terminal)])


def prose(sentences: Iterable[str], signature: str, terminal: Terminal) -> str:
    """Sentences in lines that fit the terminal, and the signature on one line, so that it can be copied."""
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)
    for sentence in sentences:
        console.print(Text(sentence))
    return f"{_without_trailing_spaces(out.getvalue())}Signature: {signature}\n"


def table_as_text(table: Table, terminal: Terminal) -> str:
    """The title, an empty line, and the table; in several parts if it is wider than the terminal."""
    from rich.text import Text

    out = io.StringIO()
    terminal.console(out).print(Text(table.title, style="bold"))
    for part in _parts_that_fit(table, terminal.width):
        out.write("\n")
        _print(part, terminal, out)
    return _without_trailing_spaces(out.getvalue())


def _without_trailing_spaces(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _widths(table: Table) -> list[int]:
    """The width of each column on a screen, in characters."""
    from rich.cells import cell_len

    lines = zip(*(map(str.splitlines, row) for row in [table.header, *table.rows]), strict=True)
    return [max((cell_len(line) for cell in column for line in cell), default=0) for column in lines]


def _full_width(table: Table) -> int:
    return sum(_widths(table)) + GAP * (len(table.header) - 1)


def _parts_that_fit(table: Table, width: int | None) -> list[Table]:
    """The table; if it is too wide, its details in tables of their own and long headers on several lines."""
    if width is None or _full_width(table) <= width:
        return [table]
    widths = _widths(table)
    names, details = range(table.n_names), range(len(widths) - table.n_details, len(widths))
    parts = [[*range(details.start)]]
    # Names can be folded, so they leave three quarters of the width to the numbers.
    room = width - min(sum(widths[: table.n_names]), width // 4)
    left = 0
    for index in details:
        left -= widths[index] + GAP
        if left < 0:
            parts.append([*names])
            left = room - widths[index] - GAP
        parts[-1].append(index)
    return [_with_folded_headers(_columns(table, columns), width) for columns in parts]


def _columns(table: Table, columns: Sequence[int]) -> Table:
    """A table of some of the columns."""
    header, *rows = ([row[index] for index in columns] for row in [table.header, *table.rows])
    return Table(table.title, header, table.n_names, 0, rows, table.significant)


def _with_folded_headers(table: Table, width: int) -> Table:
    """Put headers of numbers on several lines if the table is too wide: they may contain the name of a metric."""
    if _full_width(table) > width:
        widths = _widths(Table("", [""] * len(table.header), rows=table.rows))
        for index in range(table.n_names, len(widths)):
            table.header[index] = textwrap.fill(table.header[index], max(widths[index], MIN_NAME))
    return table


def _print(table: Table, terminal: Terminal, out: io.StringIO) -> None:
    """Lay out a table. Names are folded where there is no room; numbers are neither folded nor cut."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    for index, name in enumerate(table.header):
        if index < table.n_names:
            rich_table.add_column(Text(name), overflow="fold")
        else:
            rich_table.add_column(Text(name), justify="right", no_wrap=True)
    for cells, significant in zip(table.rows, table.significant, strict=True):
        rich_table.add_row(*map(Text, cells), style="bold" if significant else None)
    width = _full_width(table)
    if terminal.width is not None and width > terminal.width:
        narrowest = width - sum(max(0, name - MIN_NAME) for name in _widths(table)[: table.n_names])
        width = max(terminal.width, narrowest)
    terminal.console(out, width).print(rich_table)
