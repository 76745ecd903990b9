"""Input format of meeteval: the errors and words of each recording, as ``meeteval-wer`` writes them per recording.

The JSON is an object with an object for each recording. Recordings are sorted by their names, so that files of several
systems agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import quoted, unknown_name
from ._json_parts import parts
from .base import Column, Format, Names, Source, choose, is_number, shown_json


class Recording(NamedTuple):
    """A recording, its counts, and the line on which it begins."""

    name: str
    counts: dict[str, Any]
    line: int


def recordings(source: Source) -> list[Recording]:
    """All recordings, by name."""
    found: dict[str, Recording] = {}
    for name, counts, line in parts(source, source.text()):
        if not isinstance(counts, dict) or not {"errors", "length"} <= set(counts):
            source.fail(
                f"expected an object with errors and length for the recording {quoted(name)}, got {shown_json(counts)}",
                line,
            )
        if name in found:
            source.fail(f"the recording {quoted(name)} is also on line {found[name].line}", line)
        found[name] = Recording(name, counts, line)
    if not found:
        source.fail("expected an object for each recording, got an empty object")
    return sorted(found.values())


def names_of(source: Source) -> list[str]:
    """The counts that the first recording has."""
    counts = recordings(source)[0].counts
    return [key for key, value in counts.items() if is_number(value)]


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`. Without a name, the errors."""
    rows = recordings(source)
    ids, lines = [(row.name, "") for row in rows], [row.line for row in rows]
    columns = []
    for name in names:
        key = choose(source, "count", name or "errors", list(rows[0].counts))
        for row in rows:
            if key not in row.counts:
                source.fail(str(unknown_name("count", key, row.counts)), row.line)
        columns.append(Column(source.label(name), [row.counts[key] for row in rows], lines, ids))
    return columns


FORMAT = Format(
    "errors and length of each recording, as meeteval-wer writes them per recording",
    (),
    read,
    numbers=float,
    names=names_of,
)
