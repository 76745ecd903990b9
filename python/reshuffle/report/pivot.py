"""``pivot``: a table of records, with a row for each kind of case and columns for each level, size or test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from .cells import Table
from .notes import number


class Bold(str):
    """A cell in bold type."""


def pivot(
    title: str,
    records: Sequence[Any],
    rows: Mapping[str, Callable[[Any], str]],
    column: str,
    heading: Callable[[Any], Sequence[str]],
    cells: Callable[[Any], Sequence[str]],
    *,
    columns: Iterable[Any] | None = None,
    group: Callable[[Any], object] | None = None,
    key: Callable[[Any], Hashable] | None = None,
    n_names: int | None = None,
    bold_means: str = "",
) -> Table:
    """A row for all records with the same first cells, and a group of columns for each value of a field.

    ``rows`` has what the first cells of a row show, by their headings, and ``heading`` the headings of a value's group.
    ``cells`` shows a record there, or None where there is none. A line separates rows whose records differ in
    ``group``. The first ``n_names`` cells are names, by default all in ``rows``, and ``columns`` has the values of the
    field ``column``, by default in the order of their first appearance. Records with the same first
    cells share a row; with ``key``, those with the same key, because cells may be rounded.

    >>> from types import SimpleNamespace as Record
    >>> records = [Record(test=test, alpha=alpha, rate=alpha / 2) for test in ("ar", "t") for alpha in (0.05, 0.1)]
    >>> table = pivot("Rates", records, fields({"test": "Test"}, ["test"]), "alpha", lambda alpha: [f"α={alpha}"],
    ...               lambda record: [f"{record.rate:.3f}"])
    >>> table.header, table.rows
    (['Test', 'α=0.05', 'α=0.1'], [['ar', '0.025', '0.050'], ['t', '0.025', '0.050']])
    """
    values = list(dict.fromkeys(getattr(record, column) for record in records) if columns is None else columns)
    header, breaks = [*rows], []
    for value in values:
        breaks.append(len(header))
        header += heading(value)
    table = Table(
        title,
        header,
        n_names=len(rows) if n_names is None else n_names,
        breaks=tuple(breaks[1:]),
        bold_means=bold_means,
    )
    found: dict[Hashable, list[Any]] = {}
    for record in records:
        own_key = tuple(cell(record) for cell in rows.values()) if key is None else key(record)
        found.setdefault(own_key, []).append(record)
    before = None
    for own in found.values():
        here = None if group is None else group(own[0])
        if before not in (None, here):
            table.rule()
        before = here
        of_value = {getattr(record, column): record for record in reversed(own)}
        row = [
            *(cell(own[0]) for cell in rows.values()),
            *(cell for value in values for cell in cells(of_value.get(value))),
        ]
        table.add(row, [isinstance(cell, Bold) for cell in row])
    return table


def fields(headings: Mapping[str, str], names: Iterable[str]) -> dict[str, Callable[[Any], str]]:
    """The first cells of rows that show the fields with these names, by their headings."""
    return {headings[name]: partial(_field, name) for name in names}


def _field(name: str, record: Any) -> str:
    value = getattr(record, name)
    return f"{value:,}" if isinstance(value, int) else number(value) if isinstance(value, float) else str(value)
