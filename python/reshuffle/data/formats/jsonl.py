"""Input format JSON lines: an object, or a bare value, for each segment."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeAlias

from ...errors import InputError, listed, quoted, unknown_name
from ..files import split_lines, unique_keys
from .base import Column, Format, Names, Source, begins, choose, shown_json

Hook: TypeAlias = Callable[[list[tuple[str, Any]]], Any]


def _lines(source: Source) -> list[str]:
    """The lines of a file, without empty ones at the end, which are no values."""
    lines = split_lines(source.text())
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines


def values(source: Source) -> list[Any]:
    """The JSON value on each line."""
    return [_value(source, line, number) for number, line in enumerate(_lines(source), 1)]


def unique_values(source: Source) -> list[Any]:
    """The same, where a key that occurs twice in an object is an error. It takes more time."""
    found = []
    for number, line in enumerate(_lines(source), 1):
        hook = partial(unique_keys, fail=partial(_twice, source, number))
        found.append(_value(source, line, number, hook))
    return found


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`."""
    lines = source.once(values)
    # If no key is named, lines may be bare values instead of objects.
    bare = not isinstance(lines[0], dict)
    keys = [None if bare and name is None else _key(source, name, lines) for name in names]
    numbers = range(1, len(lines) + 1)
    found = [lines if key is None else _column(source, key, lines) for key in keys]
    return [Column(source.label(name), column, numbers) for name, column in zip(names, found, strict=True)]


def _column(source: Source, key: str, lines: list[Any]) -> list[Any]:
    """The values of a key."""
    found = []
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict):
            source.fail(f"expected an object with the key {quoted(key)}, got {shown_json(line)}", number)
        if key not in line:
            other = f"expected the key {quoted(key)}, which line 1 has, got {listed(line)}"
            source.fail(str(unknown_name("key", key, line)) if number == 1 else other, number)
        found.append(line[key])
    return found


def names_of(source: Source) -> list[str]:
    """Keys of the object on the first line."""
    first = _value(source, split_lines(source.text())[0], 1)
    return list(first) if isinstance(first, dict) else []


def _key(source: Source, name: str | None, lines: list[Any]) -> str:
    first = lines[0]
    if not isinstance(first, dict):
        source.fail(f"expected an object with the key {quoted(name)}, got {shown_json(first)}", 1)
    if name not in first and (number := _line_with(lines, name)) is not None:
        source.fail(f"expected the key {quoted(name)}, which line {number:,} has, got {listed(first)}", 1)
    return choose(source, "key", name, list(first))


def _line_with(lines: list[Any], key: str | None) -> int | None:
    """The first line with a key."""
    return next((number for number, line in enumerate(lines, 1) if isinstance(line, dict) and key in line), None)


def has_key(source: Source, key: str) -> bool:
    """Whether any line has a key."""
    return _line_with(source.once(values), key) is not None


def _value(source: Source, line: str, number: int, hook: Hook | None = None) -> Any:
    """The JSON value on a line. ``hook`` makes the objects in it."""
    try:
        return json.loads(line, object_pairs_hook=hook)
    except InputError:  # of the hook
        raise
    except json.JSONDecodeError as error:
        got = f"{quoted(line)} ({error.msg}, character {error.pos + 1})" if line.strip() else "an empty line"
        source.fail(f"expected a JSON value, got {got}", number)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or thousands of nested brackets
        source.fail(f"the JSON value cannot be read: {error}", number)


def objects(source: Source, parse: Callable[[Source], list[Any]] = values) -> list[tuple[int, dict[str, Any]]]:
    """The object on each line, and its line. ``parse``: :func:`values` or :func:`unique_values`."""
    found = list(enumerate(source.once(parse), 1))
    for number, value in found:
        if not isinstance(value, dict):
            source.fail(f"expected a JSON object, got {shown_json(value)}", number)
    return found


def _twice(source: Source, line: int, key: str) -> NoReturn:
    source.fail(f"the key {key} occurs twice in one object", line)


FORMAT = Format(
    "one JSON value per line",
    (".jsonl", ".ndjson"),
    read,
    numbers=float,
    names=names_of,
    recognizes=begins(r"\s*\{"),
)
