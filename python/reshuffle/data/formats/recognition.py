"""How formats are recognized that the extension does not tell: by the name of a file, and by its beginning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from .base import ZIP, Format, Source

# The lines that are looked at if the first has only a bracket, and the most bytes of them.
LINES, BYTES = 4, 2000


def recognized(source: Source, formats: Mapping[str, Format]) -> str | None:
    """The name of the first of these formats that a file has, by its own name and its beginning; None for no one."""
    first = beginning(source)
    return next((name for name, each in formats.items() if each.recognizes(source.file, first)), None)


def beginning(source: Source) -> str:
    """The first line of a file, or more if the line has only a bracket."""
    line = first_line(source)
    if line.strip() not in ("{", "["):
        return line
    return b"\n".join(source.data[:BYTES].split(b"\n", LINES)[:LINES]).decode("utf-8", "replace")


def first_line(source: Source) -> str:
    """The first line of a file, as text; of a ZIP file only what it begins with. The rest is not decoded."""
    if source.data.startswith(ZIP):
        return ZIP.decode()
    line = source.data.partition(b"\n")[0]
    return Source.text(replace(source, data=line)).removesuffix("\r") if line.strip() else ""


def begins(pattern: str) -> Callable[[str, str], bool]:
    """Recognizes files that begin as a regular expression says."""
    return lambda file, line: re.match(pattern, line) is not None


def has_keys(*keys: str) -> Callable[[str, str], bool]:
    """Recognizes JSON lines whose first object has these keys."""
    return lambda file, line: line.lstrip().startswith("{") and all(f'"{key}"' in line for key in keys)


def any_of(*recognizers: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Recognizes what one of these does."""
    return lambda file, line: any(each(file, line) for each in recognizers)
