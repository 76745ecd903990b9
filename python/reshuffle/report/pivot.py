"""``pivot``: a table of records, with a row for each kind of case and columns for each level, size or test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..grouping import grouped
from ..lazy import lazy
from .cells import Table
from .wording import number

# What columns show of a record, by heading: the field of this name, or what the function returns. A column of
# False or None is left out.
Cells: TypeAlias = dict[str, "str | Callable[[Any], str] | Literal[False] | None"]


class Bold(str):
    """A cell in bold type."""


@dataclass(frozen=True)
class Rows:
    """The rows of a pivot table, each for the records with the same first cells."""

    cells: Mapping[str, str | Callable[[Any], str] | Literal[False] | None]
    """What the first cells show, by their headings: see :data:`Cells`."""
    key: Callable[[Any], Hashable] | None = None
    """What the records of a row have in common, where that is more than their first cells, which may be rounded.
    Without other columns, each record has a row of its own.
    """
    group: Callable[[Any], object] | None = None
    """A line separates rows whose records differ in it."""
    n_names: int | None = None
    """How many of the first cells are names; by default all."""
    bold: Callable[[Any], bool] = lambda record: False
    """Whether all cells of a row are bold."""
    grouped: int = 0
    """In how many of them repeated cells are left out: :attr:`.Table.grouped`."""

    @lazy
    def shown(self) -> dict[str, Callable[[Any], str]]:
        """The functions that make the first cells, without columns that are left out."""
        return {
            heading: as_field(cell) if isinstance(cell, str) else cell for heading, cell in self.cells.items() if cell
        }

    def key_of(self, record: Any) -> Hashable:
        """What the records of a row have in common."""
        return tuple(cell(record) for cell in self.shown.values()) if self.key is None else self.key(record)


@dataclass(frozen=True)
class Columns:
    """The other columns of a pivot table: a group for each value of a field."""

    field: str
    heading: Callable[[Any], Sequence[str]]
    """The headings of a value's group."""
    cells: Callable[[Any], Sequence[str]]
    """What a record shows there; called with None where there is none."""
    values: Iterable[Any] | None = None
    """The values of the field; by default in the order of their first appearance."""


# For records that each have a row of their own.
NONE = Columns("", list, list, ())


def pivot(title: str, records: Sequence[Any], rows: Rows, columns: Columns = NONE, bold_means: str = "") -> Table:
    """A table with a row for each kind of case, and a group of columns for each value of a field.

    >>> from types import SimpleNamespace as Record
    >>> records = [Record(test=test, alpha=alpha, rate=alpha / 2) for test in ("ar", "t") for alpha in (0.05, 0.1)]
    >>> levels = Columns("alpha", lambda alpha: [f"α={alpha}"], lambda record: [f"{record.rate:.3f}"])
    >>> table = pivot("Rates", records, Rows(fields({"test": "Test"}, ["test"])), levels)
    >>> table.header, table.rows
    (['Test', 'α=0.05', 'α=0.1'], [['ar', '0.025', '0.050'], ['t', '0.025', '0.050']])
    >>> names = Rows(fields({"test": "Test", "alpha": "α"}, ["test", "alpha"]), n_names=1, grouped=1)
    >>> pivot("Levels", records, names).rows
    [['ar', '0.05'], ['ar', '0.1'], ['t', '0.05'], ['t', '0.1']]
    """
    of_records = [getattr(record, columns.field, None) for record in records]
    values = list(dict.fromkeys(of_records) if columns.values is None else columns.values)
    header, breaks = [*rows.shown], []
    for value in values:
        breaks.append(len(header))
        header += columns.heading(value)
    n_names = len(rows.shown) if rows.n_names is None else rows.n_names
    table = Table(title, header, n_names, breaks=tuple(breaks[1:]), grouped=rows.grouped, bold_means=bold_means)
    table.stacks = rows.grouped > 0
    key_of = id if columns is NONE else rows.key_of
    found = grouped((key_of(record), record) for record in records)
    before = None
    for own in found.values():
        here = None if rows.group is None else rows.group(own[0])
        if before not in (None, here):
            table.rule()
        before = here
        of_value = {getattr(record, columns.field, None): record for record in reversed(own)}
        row = [cell(own[0]) for cell in rows.shown.values()]
        row += [cell for value in values for cell in columns.cells(of_value.get(value))]
        table.add(row, rows.bold(own[0]) or [isinstance(cell, Bold) for cell in row])
    return table


def fields(headings: Mapping[str, str], names: Iterable[str]) -> Cells:
    """The first cells of rows that show the fields with these names, by their headings."""
    return {headings[name]: name for name in names}


def as_field(name: str) -> Callable[[Any], str]:
    """The cells of the field with this name."""

    def shown(record: Any) -> str:
        value = getattr(record, name)
        return f"{value:,}" if isinstance(value, int) else number(value) if isinstance(value, float) else str(value)

    return shown


def number_cell(value: float | None, spec: str) -> str:
    """A number in a format such as ``.2f``; a dash if it is None or NaN.

    >>> number_cell(0.5, "+.2f"), number_cell(1200, ","), number_cell(None, ".2f"), number_cell(float("nan"), ".2f")
    ('+0.50', '1,200', '–', '–')
    """
    return "–" if value is None or value != value else f"{value:{spec}}"


def ends_cell(ends: Iterable[float | None] | None, spec: str) -> str:
    """The ends of an interval in a format; a dash without any.

    >>> ends_cell((-0.5, 1.0), "+.1f"), ends_cell(None, ".2f"), ends_cell((None, None), ".2f")
    ('-0.5 to +1.0', '–', '–')
    """
    return " to ".join(f"{end:{spec}}" for end in ends or () if end is not None) or "–"


def as_number(name: str, spec: str) -> Callable[[Any], str]:
    """The cells of the field with this name, in a format; a dash without a number."""
    return lambda record: number_cell(getattr(record, name), spec)


def as_ends(name: str, spec: str) -> Callable[[Any], str]:
    """The cells of the interval with this name; a dash without one."""
    return lambda record: ends_cell(getattr(record, name), spec)
