"""Reading columns of numbers, such as segment scores from another program."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, get_args

from ..errors import InputError, listed, quoted, shortened
from ..types import InputFormat, Missing
from ..validate import check_name
from .files import MAX_INPUT, display_name, read_bytes
from .formats import INPUT_FORMATS, format_of
from .formats.base import Column, Source, shown_json
from .reading import split_name

__all__ = ["read_numbers", "read_scores"]


# How files of text and tables mark a missing score, in lower case. WMT's have None.
MISSING_WORDS = ("", "nan", "na", "n/a", "none", "null")


def read_numbers(
    path: str | os.PathLike[str],
    input_format: InputFormat | str | None = None,
    *,
    max_input: int = MAX_INPUT,
    missing: Missing | str = "error",
) -> list[float]:
    """Read the numbers of one system: lines of text, a column of a TSV file, or a key of JSON lines.

    Parameters
    ----------
    path : str
        ``FILE`` or ``FILE#NAME``, as for :func:`read_columns`.
    input_format : str, optional
        ``text``, ``tsv`` or ``jsonl``. By default the file's extension determines the format.
    max_input : int, optional
        As for :func:`read_columns`.
    missing : {'error', 'pairwise'}
        As for :class:`reshuffle.SegmentScores`. With ``pairwise``, missing numbers are NaN. They are empty lines or
        fields, and ``NaN``, ``NA``, ``N/A``, ``None`` and ``null`` in upper or lower case; in JSON, null and NaN.

    Returns
    -------
    list of S float

    Raises
    ------
    InputError
        As :func:`read_columns`; for a value that is not a finite number; if the file has several systems.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("comet.jsonl").write_text('{"id": 1, "score": 0.875}\\n{"id": 2, "score": -1}\\n')
    >>> read_numbers("comet.jsonl#score")
    [0.875, -1.0]
    >>> Path("comet.jsonl").unlink()
    """
    by_system = read_scores(path, input_format, max_input=max_input, missing=missing)
    if list(by_system) != [None]:
        raise InputError(
            f"{display_name(os.fspath(path))} has the scores of {len(by_system)} systems "
            f"({listed(map(str, by_system))}), expected one system; --scores NAME accepts such a file only on its own"
        )
    return by_system[None]


def read_scores(
    path: str | os.PathLike[str],
    input_format: InputFormat | str | None = None,
    *,
    max_input: int = MAX_INPUT,
    missing: Missing | str = "error",
) -> dict[str | None, list[float]]:
    """Read numbers by system, if the file has columns or keys ``segment`` and ``system``; else all numbers under None.

    ``reshuffle score --segments`` writes files with these columns. ``missing`` is as for :func:`read_numbers`.

    Raises
    ------
    InputError
        As :func:`read_columns`; for a value that is not a finite number; if a system lacks a segment or has it twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("long.tsv").write_text("segment\\tsystem\\tBLEU\\n1\\ta\\t20\\n1\\tb\\t30\\n")
    >>> read_scores("long.tsv#BLEU")
    {'a': [20.0], 'b': [30.0]}
    >>> Path("long.tsv").unlink()
    """
    if input_format is not None:
        check_name("input format", input_format, list(INPUT_FORMATS))
    file, name = split_name(os.fspath(path))
    format_name = input_format or format_of(file)
    file_format = INPUT_FORMATS[format_name]
    if file_format.numbers is None:
        with_numbers = ", ".join(name for name, each in INPUT_FORMATS.items() if each.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: scores cannot be read from the format {format_name}; these formats have "
            f"numbers: {with_numbers}"
        )
    source = Source(file, read_bytes(file, file_format.about, max_input))
    by_system = file_format.names is not None and {"segment", "system"} <= set(file_format.names(source))
    column, *keys = file_format.read(source, [name, "segment", "system"] if by_system else [name])
    check_name("missing", missing, get_args(Missing))
    numbers = _finite(column, _parse if file_format.numbers is str else _to_float, missing == "pairwise")
    return _by_system(numbers, *keys) if by_system else {None: numbers}


def _finite(column: Column, convert: Callable[[Any], float], may_be_missing: bool) -> list[float]:
    """The numbers of a column, with NaN for missing ones if there may be any."""
    numbers = [convert(value) for value in column.lines]
    for segment, number in enumerate(numbers, 1):
        if not math.isfinite(number):
            value = column.lines[segment - 1]
            is_missing = _is_missing(value, convert is _parse)
            if is_missing and may_be_missing:
                continue
            shown = quoted(value) if isinstance(value, str) and convert is _parse else shown_json(value)
            hint = "; with missing='pairwise' (--missing pairwise) it is a missing score" if is_missing else ""
            raise InputError(f"{column.place(segment)}: expected a finite number, got {shown}{hint}")
    return numbers


def _is_missing(value: object, is_text: bool) -> bool:
    """Whether a value that is not a finite number stands for a missing one."""
    if is_text:
        return isinstance(value, str) and value.strip().lower() in MISSING_WORDS
    return value is None or (isinstance(value, float) and math.isnan(value))


def _by_system(numbers: Sequence[float], segments: Column, systems: Column) -> dict[str | None, list[float]]:
    """Scores of each system, with segments in the order of the first system."""
    found: dict[str | None, dict[str, float]] = {}
    for row, (number, segment, system) in enumerate(zip(numbers, segments.lines, systems.lines, strict=True), 1):
        if not isinstance(system, str):
            raise InputError(f"{systems.place(row)}: expected a string, got {shown_json(system)}")
        scores = found.setdefault(system, {})
        if str(segment) in scores:
            raise InputError(
                f"{segments.place(row)}: segment {shortened(str(segment))} of system {quoted(system)} occurs twice"
            )
        scores[str(segment)] = number
    first = next(iter(found))
    for system in found:
        for having, lacking in ((first, system), (system, first)):
            missing = next((segment for segment in found[having] if segment not in found[lacking]), None)
            if missing is not None:
                place = segments.name.removesuffix("#segment")
                raise InputError(
                    f"{place}: system {quoted(lacking)} lacks segment {shortened(missing)}, which {quoted(having)} has"
                )
    return {system: [scores[segment] for segment in found[first]] for system, scores in found.items()}


def _parse(text: str) -> float:
    """A string as a float; NaN if it is not a number."""
    try:  # float() accepts 1_000, which no other program writes
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _to_float(value: object) -> float:
    """A JSON value as a float; NaN if it is not a number, infinity if it is too large."""
    try:
        return math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        return math.inf
