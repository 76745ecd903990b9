"""Files of mt-metrics-eval: a system and a score on each line, for segments system by system."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import quoted
from ..files import uncompressed
from ..formats.base import Source
from ..formats.table import Rows, read_rows
from .base import Cells, Integers, ScoreFormat, ScoreOptions, codes, numbers

ENDINGS = (".seg.score", ".sys.score", ".score")


def names(source: Source, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: the name of the file without its ending."""
    name = Path(uncompressed(source.file)).name
    return [next((name[: -len(ending)] for ending in ENDINGS if name.endswith(ending)), name)], True


def read(source: Source, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`."""
    rows = read_rows(source, header=False)
    if len(rows.header) != 2:
        rows.fail(0, f"expected {FORMAT.about}, got {len(rows.header)} fields")
    values = numbers(rows, "the score", rows.columns[1])
    ids, (system,) = codes([rows.columns[0]])
    first = np.unique(system, return_index=True)[1]
    lines = [rows.lines[i] for i in first.tolist()]
    counts = np.bincount(system)
    if counts.max() == 1 and not uncompressed(source.file).endswith(".seg.score"):
        return Cells(metric, ids, lines, system, None, values, rows.lines, 1)
    if uncompressed(source.file).endswith(".sys.score"):
        twice = int(np.flatnonzero(counts > 1)[0])
        again = int(np.flatnonzero(system == twice)[1])
        rows.fail(again, f"expected one score of each system, got a second one of {quoted(ids[twice])}")
    _check_counts(rows, ids, counts)
    # The segment of a row is the number of rows of the same system before it.
    order = np.argsort(system, kind="stable")
    segment = np.empty(len(system), dtype=np.int64)
    segment[order] = np.arange(len(system)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Cells(metric, ids, lines, system, segment, values, rows.lines, 1, in_order=True)


def _check_counts(rows: Rows, ids: list[str], counts: Integers) -> None:
    other = np.flatnonzero(counts != counts[0])
    if other.size:
        got = f"{quoted(ids[other[0]])} has {counts[other[0]]:,} scores, and {quoted(ids[0])} has {counts[0]:,}"
        rows.source.fail(f"expected a score for each system and segment (None if it is missing), but {got}")


def _recognises(file: str, line: str) -> bool:
    return uncompressed(file).endswith(".score") or (len(line.split()) == 2 and not line.startswith("{"))


FORMAT = ScoreFormat(
    "a system and a score, separated by a tab, on each line",
    recognises=_recognises,
    names=names,
    read=read,
)
