"""Files of display names of systems."""

from __future__ import annotations

from ..errors import InputError, quoted
from .files import MAX_INPUT, STDIN, at_line, decoded, display_name, read_bytes, split_lines, unique_json
from .system_names import NameMap

EXPECTED = "expected the name of a system, a tab, and the name to display"


def read_names(path: str, *, max_input: int = MAX_INPUT) -> NameMap:
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
        return NameMap(_from_json("\n".join(lines), shown), shown)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        system, tab, name = line.partition("\t")
        if not (tab and system and name.strip()) or "\t" in name:
            raise at_line(shown, number, f"{EXPECTED}, got {quoted(line)}")
        if system in names:
            raise at_line(shown, number, f"{quoted(system)} already has a name on line {numbers[system]}")
        names[system], numbers[system] = name.strip(), number
    return NameMap(names, shown, numbers)


def _from_json(text: str, shown: str) -> dict[str, str]:
    names: dict[str, str] = unique_json(text, shown, "names of systems", "{} has two display names")
    for system, name in names.items():
        if not isinstance(name, str):
            raise InputError(f"{shown}: expected a string as the display name of {quoted(system)}, got {quoted(name)}")
    return names
