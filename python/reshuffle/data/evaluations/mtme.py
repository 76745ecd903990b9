"""Files of mt-metrics-eval: a system and a score on each line, for segments system by system."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import quoted
from ..files import uncompressed
from ..formats.base import Source
from ..formats.table import read_rows
from .base import Cells, ScoreFormat, ScoreOptions, cells_of, check_counts, numbers

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
    cells = cells_of(metric, rows.columns[0], None, values, rows.lines)
    assert cells.system is not None
    system, counts = cells.system, np.bincount(cells.system)
    if counts.max() == 1 and not uncompressed(source.file).endswith(".seg.score"):
        return cells
    if uncompressed(source.file).endswith(".sys.score"):
        twice = int(np.flatnonzero(counts > 1)[0])
        again = int(np.flatnonzero(system == twice)[1])
        rows.fail(again, f"expected one score of each system, got a second one of {quoted(cells.ids[twice])}")
    check_counts(source, cells.ids, counts, " scores")
    # The segment of a row is the number of rows of the same system before it.
    order = np.argsort(system, kind="stable")
    segment = np.empty(len(system), dtype=np.int64)
    segment[order] = np.arange(len(system)) - np.repeat(np.cumsum(counts) - counts, counts)
    return cells._replace(segment=segment, in_order=True)


def _recognizes(file: str, line: str) -> bool:
    return uncompressed(file).endswith(".score") or (len(line.split()) == 2 and not line.startswith("{"))


FORMAT = ScoreFormat(
    "a system and a score, separated by a tab, on each line",
    recognizes=_recognizes,
    names=names,
    read=read,
)
