"""The parts of a large JSON object, with the lines on which they begin."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from .base import Source

SPACE = re.compile(r"[ \t\r\n]*")


def parts(source: Source, text: str, lists: Collection[str] | None = ()) -> Iterator[tuple[str, Any, int]]:
    """Key, value and line of the entries of an object; those of ``lists`` come one by one, or for None of all lists."""
    decoder = json.JSONDecoder()
    position, line = after(text, 0), 1
    if text[position : position + 1] != "{":
        source.fail("expected a JSON object", 1)
    try:
        position = after(text, position + 1)
        while text[position] != "}":
            if text[position] != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, position)
            key, position = decoder.raw_decode(text, position)
            position = after(text, _passed(text, position, ":"))
            counted, line = position, 1 + text.count("\n", 0, position)
            if (lists is None or key in lists) and text[position] == "[":
                position = after(text, position + 1)
                while text[position] != "]":
                    line, counted = line + text.count("\n", counted, position), position
                    value, position = decoder.raw_decode(text, position)
                    yield key, value, line
                    position = next_entry(text, position)
                position += 1
            else:
                value, position = decoder.raw_decode(text, position)
                yield key, value, line
            position = next_entry(text, position)
        if after(text, position + 1) < len(text):
            raise json.JSONDecodeError("Extra data", text, after(text, position + 1))
    except json.JSONDecodeError as error:
        source.fail(f"not valid JSON: {error.msg}", error.lineno)
    except IndexError:
        source.fail("the file ends within its JSON: is it complete?", 1 + text.count("\n"))
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or thousands of nested brackets
        source.fail(f"the JSON value cannot be read: {error}", line)


def value_of(source: Source, text: str, where: str) -> Any:
    """The value of a small JSON text; ``where`` says in messages what it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        source.fail(f"{where}: not valid JSON: {error}")


def after(text: str, position: int) -> int:
    """The position after white space."""
    found = SPACE.match(text, position)
    return position if found is None else found.end()


def _passed(text: str, position: int, sign: str) -> int:
    position = after(text, position)
    if text[position] != sign:
        raise json.JSONDecodeError(f"Expecting {sign!r}", text, position)
    return position + 1


def next_entry(text: str, position: int) -> int:
    """The position of the next entry, or of the closing bracket."""
    position = after(text, position)
    if text[position] in "]}":
        return position
    return after(text, _passed(text, position, ","))
