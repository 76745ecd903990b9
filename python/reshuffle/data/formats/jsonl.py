"""Input format JSON lines: an object, or a bare value, for each segment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from ...errors import InputError, quoted, unknown_name
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, choose, shown_json

Hook: TypeAlias = Callable[[list[tuple[str, Any]]], Any]


def lines_in(source: Source) -> list[str]:
    """The lines of a file, without empty ones at the end, which are no values."""
    lines = split_lines(source.text())
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines


def values(source: Source) -> list[Any]:
    """The JSON value on each line."""
    return [value_of(source, line, number) for number, line in enumerate(lines_in(source), 1)]


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    lines = source.once(values)
    # If no key is named, lines may be bare values instead of objects.
    bare = not isinstance(lines[0], dict)
    keys = [None if bare and name is None else _key(source, name, lines[0]) for name in names]
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
            source.fail(str(unknown_name("key", key, line)), number)
        found.append(line[key])
    return found


def names_of(source: Source) -> list[str]:
    """Keys of the object on the first line."""
    first = value_of(source, split_lines(source.text())[0], 1)
    return list(first) if isinstance(first, dict) else []


def _key(source: Source, name: str | None, first: Any) -> str:
    if not isinstance(first, dict):
        source.fail(f"expected an object with the key {quoted(name)}, got {shown_json(first)}", 1)
    return choose(source, "key", name, list(first))


def value_of(source: Source, line: str, number: int, what: str = "value", hook: Hook | None = None) -> Any:
    """The JSON value on a line. ``hook`` makes the objects in it."""
    try:
        return json.loads(line, object_pairs_hook=hook)
    except InputError:  # of the hook
        raise
    except json.JSONDecodeError as error:
        got = f"{quoted(line)} ({error.msg}, character {error.pos + 1})" if line.strip() else "an empty line"
        source.fail(f"expected a JSON {what}, got {got}", number)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or thousands of nested brackets
        source.fail(f"the JSON value cannot be read: {error}", number)


FORMAT = FileFormat("one JSON value per line", (".jsonl", ".ndjson"), read, numbers=float, names=names_of)
