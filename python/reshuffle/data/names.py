"""Files of display names of systems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import LINE_MESSAGE, InputError, quoted
from .files import MAX_INPUT, STDIN, decoded, display_name, read_bytes, split_lines

EXPECTED = "expected the name of a system, a tab, and the name to display"


@dataclass(frozen=True)
class DisplayNames:
    """The names of a file, by system, and the place of each in the file for error messages."""

    names: Mapping[str, str]
    file: str
    lines: Mapping[str, int]

    def where(self, system: str) -> str:
        """The file and, unless it is JSON, the line of a system's name."""
        return f"{self.file}, line {self.lines[system]}" if system in self.lines else self.file


def read_names(path: str, *, max_input: int = MAX_INPUT) -> DisplayNames:
    """Read display names: lines of a name, a tab and the name to display, or a JSON object if the file begins with {.

    Empty lines are skipped, and so is a byte order mark, which some editors write.

    Raises
    ------
    InputError
        If a line or the object has another form, or a system appears twice.
    """
    shown = display_name(path)
    if path == STDIN:
        raise InputError("--names cannot be read from standard input: write a file name")
    content = read_bytes(path, "the name of a system, a tab, and the name to display on each line", max_input)
    lines = split_lines(decoded(content, shown).removeprefix("\ufeff"))
    if next(filter(None, map(str.strip, lines)), "").startswith("{"):
        return DisplayNames(_from_json("\n".join(lines), shown), shown, {})
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        system, tab, name = line.partition("\t")
        if not (tab and system and name.strip()) or "\t" in name:
            raise _bad(shown, number, f"{EXPECTED}, got {quoted(line)}")
        if system in names:
            raise _bad(shown, number, f"{quoted(system)} already has a name on line {numbers[system]}")
        names[system], numbers[system] = name.strip(), number
    return DisplayNames(names, shown, numbers)


def _bad(file: str, line: int, problem: str) -> InputError:
    return InputError(LINE_MESSAGE, file=file, line=line, problem=problem)


def _from_json(text: str, shown: str) -> dict[str, str]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(f"{shown}: {quoted(key)} has two display names")
            found[key] = value
        return found

    try:
        names = json.loads(text, object_pairs_hook=unique)
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{shown} is nested too deeply for names of systems") from None
    except ValueError as error:  # not only JSONDecodeError: a number may have too many digits
        raise InputError(f"{shown} is not valid JSON: {error}") from None
    for system, name in names.items():
        if not isinstance(name, str):
            raise InputError(f"{shown}: expected a string as the display name of {quoted(system)}, got {quoted(name)}")
    return dict(names)
