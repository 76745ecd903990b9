"""What readers of judgments and of scores share: columns of numbers, and the entries of the registries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...documented import record
from ...errors import counted, quoted
from ...options.evaluations import ReadScores
from ..formats.base import Source
from ..scores import Integers, codes

# The largest number of segments that is taken from a file: a larger one is a mistake, and would need much memory.
MAX_SEGMENTS = 10_000_000
# Numbers of so many digits fit into 64 bits.
MAX_DIGITS = 18


class Votes(NamedTuple):
    """What a file of judgments says, before ids are mapped to systems.

    ``first`` and ``second`` (J,) are indices into ``ids``. ``sign`` (J,) is 1 if the first is better, −1 if the second
    is, and 0 for a tie. ``segment`` (J,) counts from 0, and ``lines`` (J,) are lines of the file. ``base`` is the
    number of the first segment in the file.
    """

    ids: list[str]
    segment: Integers
    first: Integers
    second: Integers
    sign: Integers
    lines: Integers
    base: int


@record
class JudgmentFormat:
    """A format of judgments."""

    about: str
    """Short description of a line."""
    recognizes: Callable[[str, str], bool]
    """Whether a file of this name that begins with this line has the format."""
    read: Callable[[Source, str | None, int | None], Votes]
    """Takes the file, the language pair or task (None for the only one) and the number of the first segment (None for
    the format's own), and returns the votes.
    """
    judge: str | None = None
    """The column of the people, if each row is a ranking by one of them."""


class Cells(NamedTuple):
    """The scores of one metric or of people: a value for each rating, before ids are mapped to systems.

    ``system`` (J,) are indices into ``ids``, or None if the file does not name systems. ``segment`` (J,) counts from 0;
    None for scores of systems. ``values`` (J,) are NaN for missing scores. If ``in_order``, the file does not number
    the segments, so that it must have a row for each. ``keys`` has the ids of the segments, if they are not numbers.
    """

    metric: str
    ids: list[str]
    system: Integers | None
    segment: Integers | None
    values: NDArray[np.float64]
    lines: Sequence[int]
    base: int = 1
    in_order: bool = False
    keys: Sequence[str] | None = None


def cells_of(
    metric: str,
    systems: Sequence[str],
    segment: Integers | None,
    values: NDArray[np.float64],
    lines: Sequence[int],
    **others: Any,
) -> Cells:
    """The cells of a file that has a system on each row. ``others`` are further fields."""
    ids, (system,) = codes([systems])
    return Cells(metric, ids, system, segment, values, lines, **others)


@record
class ScoreFormat:
    """A format of scores."""

    about: str
    """Short description of a line."""
    recognizes: Callable[[str, str], bool]
    """Whether a file of this name that begins with this line has the format."""
    names: Callable[[Any, ReadScores], tuple[list[str], bool]]
    """The names of the metrics in a file, and whether one of them is the obvious choice (the first)."""
    read: Callable[[Any, str, ReadScores], Cells]
    """The scores of a metric, by name."""
    parse: Callable[[Source], Any] = lambda source: source
    """What ``names`` and ``read`` get instead of the file, so that a file is parsed once."""


def has_keys(*keys: str) -> Callable[[str, str], bool]:
    """Recognizes JSON lines whose first object has these keys."""
    return lambda file, line: line.lstrip().startswith("{") and all(f'"{key}"' in line for key in keys)


def recognized(source: Source, formats: Mapping[str, JudgmentFormat] | Mapping[str, ScoreFormat]) -> str | None:
    """The name of the first of these formats that a file has, by its own name and its beginning; None for no one."""
    first = beginning(source)
    return next((name for name, each in formats.items() if each.recognizes(source.file, first)), None)


def beginning(source: Source) -> str:
    """The first line of a file, or more if the line has only a bracket; of a ZIP file only what it begins with."""
    if source.data.startswith(b"PK\x03\x04"):
        return "PK\x03\x04"
    line = first_line(source)
    if line.strip() != "{":
        return line
    return b"\n".join(source.data[:2000].split(b"\n", 3)[:3]).decode("utf-8", "replace")


def first_line(source: Source) -> str:
    """The first line of a file, as text. The rest is not decoded."""
    line = source.data.partition(b"\n")[0]
    return Source.text(replace(source, data=line)).removesuffix("\r") if line.strip() else ""


def integers(
    fail: Callable[[int, str], NoReturn], name: str, column: Sequence[str], what: str = "a whole number"
) -> Integers:
    """A column of integers. ``fail`` raises the error for a row with another value than ``what``."""
    if "_" not in "".join(column):  # which int() accepts, and no other program writes
        try:
            return np.array(list(map(int, column)), dtype=np.int64)
        except (ValueError, OverflowError):
            pass
    for row, field in enumerate(column):
        if not field.strip().removeprefix("-").isdecimal():
            fail(row, f"expected {what} as {name}, got {quoted(field)}")
        if len(field.strip()) > MAX_DIGITS:
            fail(row, f"expected {what} as {name}, with at most {MAX_DIGITS} digits, got {quoted(field)}")
    return np.array([int(field) for field in column], dtype=np.int64)


def check_segments(
    source: Source, segment: Integers, lines: Sequence[int] | Integers, base: int, n_segments: int | None
) -> int:
    """The number of segments; :class:`InputError` for the first line with a segment out of range.

    ``n_segments`` is the number of segments of the texts, or None for the largest in the file.
    """
    n = MAX_SEGMENTS if n_segments is None else n_segments
    wrong = np.flatnonzero((segment < 0) | (segment >= n))
    if not wrong.size:
        return int(segment.max()) + 1 if n_segments is None else n
    line, at = min((int(lines[at]), at) for at in wrong.tolist())
    known = f" to {n - 1 + base:,}, because the texts have {counted(n, 'segment')}"
    hint = f"the first segment is {base} unless segment_base (--segment-base) says otherwise"
    got = f"got {segment[at] + base:,}"
    if n_segments is None and segment[at] > 0:
        known, hint = f" to {n - 1 + base:,}", "if the texts have more segments, say how many with n_segments"
    elif n_segments is None:
        known = ""
    return source.fail(f"expected a segment from {base}{known}, {got}; {hint}", line)


def renumbered(names: Sequence[str], *columns: Integers) -> tuple[list[str], list[Integers]]:
    """The names that occur in columns of indices into them, and the columns as indices into these names.

    >>> renumbered(["a", "b", "c"], np.array([2, 0]), np.array([0]))
    (['a', 'c'], [array([1, 0]), array([0])])
    """
    used = np.unique(np.concatenate(columns))
    index = np.full(len(names), -1, dtype=np.int64)
    index[used] = np.arange(len(used))
    return [names[i] for i in used], [index[column] for column in columns]
