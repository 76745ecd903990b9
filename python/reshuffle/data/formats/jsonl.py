"""Input format JSON lines: an object, or a bare value, for each segment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from ...errors import InputError, quoted, unknown_name
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, choose, shown_json

Hook: TypeAlias = Callable[[list[tuple[str, Any]]], Any]


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    lines = split_lines(source.text())
    first = value_of(source, lines[0], 1)
    # If no key is named, lines may be bare values instead of objects.
    bare = not isinstance(first, dict)
    keys = [None if bare and name is None else _key(source, name, first) for name in names]
    columns: list[list[Any]] = [[] for _ in names]
    for number, line in enumerate(lines, 1):
        value = value_of(source, line, number)
        for key, column in zip(keys, columns, strict=True):
            if key is None:
                column.append(value)
            elif not isinstance(value, dict):
                source.fail(f"expected an object with the key {quoted(key)}, got {shown_json(value)}", number)
            elif key not in value:
                source.fail(str(unknown_name("key", key, value)), number)
            else:
                column.append(value[key])
    return [
        Column(source.label(name), column, range(1, len(lines) + 1))
        for name, column in zip(names, columns, strict=True)
    ]


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
