"""Ids of segments in columns of tables whose header names none, or only numbers of rows."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

from ..errors import InputError, quoted, warn
from .alignment import order_by
from .formats.base import Column
from .id_columns import QUESTIONS, are_numbers_of_rows


def with_unnamed_ids(columns: Sequence[Column]) -> list[Column]:
    """The columns, with ids for tables whose headers name none, if the values show which column has them.

    They are the values of a column that are all ids of a file that has some; or the distinct values of a column that
    another table has under the same header, if these are in another order, or if the ids of the two have nothing in
    common, as those of answers. A warning says so. If the values are numbers without gaps, which may be ranks, it is an
    :class:`InputError`, and so are questions that occur several times, in different orders. Nothing is done if another
    column with distinct values shows that the rows are in one order; numbers of rows, as pandas writes them, do not,
    whatever the header.
    """
    found = list(columns)
    _instead_of_foreign(found)
    _like_known(found)
    _like_each_other(found)
    return found


def _instead_of_foreign(columns: list[Column]) -> None:
    """If no two tables have an id in common (each answer may have its own), take those in a column that all have."""
    keyed = [each for each in columns if each.keys is not None]
    tables = {each.others.file: each for each in keyed if each.others is not None}
    if len(tables) < 2 or any(each.others is None or are_numbers_of_rows(each.keys) for each in keyed):
        return
    ids = [{*(each.keys or ())} for each in tables.values()]
    (first, table), (other, _), *_ = tables.items()
    assert table.others is not None
    for name in table.others.header if sum(map(len, ids)) == len({*chain(*ids)}) else ():
        values = {file: _distinct(_values(each, name)) for file, each in tables.items()}
        known = {*(values[first] or ())}
        if known and not _may_be_ranks(known) and all({*(own or ())} == known for own in values.values()):
            for at, column in enumerate(columns):
                if column.others and column.others.file in values:
                    columns[at] = replace(column, keys=values[column.others.file])
            warn(
                f"{first} and {other} have no id in common, but the same values in the column {quoted(name)}, so "
                "segments are matched by it"
            )
            return


def _like_known(columns: list[Column]) -> None:
    """Give tables the ids that are known of another file."""
    tables = {column.others.file: column for column in columns if column.others and column.keys is None}
    seen: list[Sequence[str]] = []
    for of in columns:
        if not of.keys or not tables or any(of.keys == each for each in seen):
            continue
        seen.append(of.keys)
        known = {*of.keys}
        if len(known) < len(of.keys) or _may_be_ranks(known):
            continue
        for key, table in [*tables.items()]:
            own = _ids_of(table, known)
            if own is None:
                continue
            name, ids = own
            del tables[key]
            for at, column in enumerate(columns):
                if column.others and column.others.file == key:
                    columns[at] = replace(column, keys=ids)
            if ids != [*of.keys]:
                warn(f"{key}: the column {quoted(name)} has the ids of {of.name}, so segments are matched by it")


def _ids_of(table: Column, known: set[str]) -> tuple[str, list[str]] | None:
    """The first column of a table whose values are ids, among them all known ones; and these."""
    assert table.others is not None
    for name in table.others.header:
        values = table.others.values(name)
        is_likely = len(values) > len(known) or (len(values) == len(known) and str(values[0]).strip() in known)
        ids = _distinct(values) if is_likely else None
        if ids is not None and known <= {*ids}:
            return name, ids
    return None


def _like_each_other(columns: list[Column]) -> None:
    """Give tables the ids that they have in a column of the same header, if these are in different orders."""
    tables = {column.others.file: column for column in columns if column.others and are_numbers_of_rows(column.keys)}
    for at, (file, table) in enumerate(tables.items()):
        for first, other in [*tables.items()][:at]:
            if len(table.lines) != len(other.lines) or _headers(table).isdisjoint(_headers(other)):
                continue
            name = _moved(other, table)
            if name is None:
                break  # the first with such a column stands for all
            warn(
                f"{first} and {file} have the same values in the column {quoted(name)} in different orders, so "
                "segments are matched by it"
            )
            for each, own in enumerate(columns):
                in_table = own.others is not None and are_numbers_of_rows(own.keys)
                ids = _distinct(_values(own, name)) if in_table else None
                if ids is not None:
                    columns[each] = replace(own, keys=ids)
            return


def _headers(column: Column) -> set[str]:
    """The headers of the other columns of a table, in lower case."""
    return {name.lower() for name in column.others.header} if column.others else set()


def _moved(one: Column, other: Column) -> str | None:
    """The header of the first column of names that two tables have in different orders.

    None if there is none, or if another column shows that the rows are in one order. :class:`InputError` for a column
    of numbers without gaps.
    """
    assert one.others is not None
    assert other.others is not None
    moved: list[tuple[str, bool]] = []
    are_numbered = False
    for name in one.others.header:
        values, theirs = _values(one, name), _values(other, name)
        if not values or len(values) != len(theirs):
            continue
        if values == theirs:
            if _are_distinct(values):
                if not _may_be_ranks({*map(str, values)}):
                    return None
                are_numbered = True
        elif values[0] in theirs and theirs[0] in values:
            ids, others = _distinct(values), _distinct(theirs)
            if ids is not None and others is not None and {*ids} == {*others}:
                moved.append((name, _may_be_ranks({*ids})))
            elif name.lower() in QUESTIONS and sorted(map(str, values)) == sorted(map(str, theirs)):
                order_by((other.others.file, [*map(str, theirs)]), (one.others.file, [*map(str, values)]))
    names = [name for name, may_be_ranks in moved if not may_be_ranks]
    if moved and not names and not are_numbered:
        raise InputError(
            f"{one.others.file} and {other.others.file} have the same numbers in the column {quoted(moved[0][0])}, in "
            "different orders: if they are ids of segments, call the column 'id' in both files; else remove it from "
            "one of them, to match segments by position"
        )
    return names[0] if names else None


def _values(column: Column, name: str) -> Sequence[Any]:
    """The values of a column of the same table, ignoring the case of its header; none if there is none."""
    assert column.others is not None
    own = next((each for each in column.others.header if each.lower() == name.lower()), None)
    values = () if own is None else column.others.values(own)
    # Prompts may be lists of messages.
    return [json.dumps(value) if isinstance(value, list | dict) else value for value in values]


def _may_be_ranks(ids: Set[str]) -> bool:
    """Whether ids are numbers without gaps, as ranks are.

    >>> _may_be_ranks({"1", "3", "2"}), _may_be_ranks({"17", "3"}), _may_be_ranks({"s1", "s2"})
    (True, False, False)
    """
    if not all(map(str.isdecimal, ids)):
        return False
    numbers = [*map(int, ids)]
    return max(numbers) - min(numbers) < len(numbers)


def _are_distinct(values: Sequence[Any]) -> bool:
    """Whether values are texts or integers of which no two are the same."""
    return {*map(type, values)} <= {str, int} and len({*values}) == len(values) > 1


def _distinct(values: Sequence[Any]) -> list[str] | None:
    """Values as ids, if they are texts or integers and no two are the same."""
    if not _are_distinct(values):
        return None
    ids = [str(value).strip() for value in values]
    return ids if all(ids) and len({*ids}) == len(ids) else None
