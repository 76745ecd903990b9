"""Reading numbers, such as segment scores that another program wrote."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InputError, listed, quoted, shortened
from ..validate import check_name
from .files import MAX_INPUT, display_name, read_bytes
from .formats import INPUT_FORMATS, format_of
from .formats.base import Column, Source, shown_json
from .reading import split_name

__all__ = ["read_numbers", "read_scores"]


def read_numbers(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> list[float]:
    """Read a column of numbers: lines of text, a column of a TSV file, or a key of JSON lines.

    Parameters
    ----------
    path : str
        ``FILE`` or ``FILE#NAME``, as for :func:`read_columns`.
    input_format : str, optional
        ``text``, ``tsv`` or ``jsonl``; by default the ending tells.
    max_input : int, optional
        As for :func:`read_columns`.

    Returns
    -------
    list of S float

    Raises
    ------
    InputError
        As :func:`read_columns`, and for what is not a finite number or is of several systems.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("comet.jsonl").write_text('{"id": 1, "score": 0.875}\\n{"id": 2, "score": -1}\\n')
    >>> read_numbers("comet.jsonl#score")
    [0.875, -1.0]
    >>> Path("comet.jsonl").unlink()
    """
    by_system = read_scores(path, input_format, max_input=max_input)
    if list(by_system) != [None]:
        raise InputError(
            f"{display_name(os.fspath(path))} holds the scores of {len(by_system)} systems "
            f"({listed(map(str, by_system))}), expected those of one; --scores NAME takes such a file alone"
        )
    return by_system[None]


def read_scores(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> dict[str | None, list[float]]:
    """Numbers by system, if the file has the columns or keys ``segment`` and ``system``; else all of them under None.

    That is the layout of ``reshuffle score --segments``.

    Raises
    ------
    InputError
        As :func:`read_columns`; for what is not a finite number; if a segment is missing for a system, or comes twice.

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
    used = input_format or format_of(file)
    made = INPUT_FORMATS[used]
    if made.numbers is None:
        with_numbers = ", ".join(name for name, made in INPUT_FORMATS.items() if made.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: expected a format that holds numbers ({with_numbers}), got {used}"
        )
    source = Source(file, read_bytes(file, made.about, max_input))
    by_system = made.names is not None and {"segment", "system"} <= set(made.names(source))
    column, *keys = made.read(source, [name, "segment", "system"] if by_system else [name])
    numbers = _finite(column, _parsed if made.numbers is str else _converted)
    return _by_system(numbers, *keys) if by_system else {None: numbers}


def _finite(column: Column, convert: Callable[[Any], float]) -> list[float]:
    numbers = [convert(value) for value in column.lines]
    for segment, number in enumerate(numbers, 1):
        if not math.isfinite(number):
            value = column.lines[segment - 1]
            shown = quoted(value) if isinstance(value, str) and convert is _parsed else shown_json(value)
            raise InputError(f"{column.place(segment)}: expected a finite number, got {shown}")
    return numbers


def _by_system(numbers: Sequence[float], segments: Column, systems: Column) -> dict[str | None, list[float]]:
    """Segments are in the order of the first system."""
    found: dict[str | None, dict[str, float]] = {}
    for row, (number, segment, system) in enumerate(zip(numbers, segments.lines, systems.lines, strict=True), 1):
        if not isinstance(system, str):
            raise InputError(f"{systems.place(row)}: expected a string, got {shown_json(system)}")
        scores = found.setdefault(system, {})
        if str(segment) in scores:
            raise InputError(
                f"{segments.place(row)}: segment {shortened(str(segment))} of the system {quoted(system)} "
                "is given twice"
            )
        scores[str(segment)] = number
    first = next(iter(found))
    for system in found:
        for having, lacking in ((first, system), (system, first)):
            missing = next((segment for segment in found[having] if segment not in found[lacking]), None)
            if missing is not None:
                place = segments.name.removesuffix("#segment")
                raise InputError(
                    f"{place}: the system {quoted(lacking)} lacks segment {shortened(missing)}, which "
                    f"{quoted(having)} has"
                )
    return {system: [scores[segment] for segment in found[first]] for system, scores in found.items()}


def _parsed(text: str) -> float:
    """NaN for what is no number; float() alone would take 1_000."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _converted(value: object) -> float:
    try:
        return math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        return math.inf
