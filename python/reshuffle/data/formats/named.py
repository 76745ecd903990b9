"""Input format of mt-metrics-eval: the name of a system and a score on each line, in the order of segments."""

from __future__ import annotations

import re
from collections import Counter

from ..files import uncompressed
from .base import Column, Format, Names, Source, choose
from .table import Rows, read_rows

SYSTEM, SEGMENT, SCORE = "system", "segment", "score"
NUMBER = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)?|none|nan", re.IGNORECASE | re.ASCII)


def is_named(line: str) -> bool:
    """Whether a file that begins with this line has the name of a system before each score."""
    system, _, score = line.partition("\t")
    return bool(system.strip()) and NUMBER.fullmatch(score.strip()) is not None


def _rows(source: Source) -> Rows:
    return read_rows(source, header=False)


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`. The segment of a row is the number of rows of its system so far."""
    rows = source.once(_rows)
    if len(rows.header) != 2:
        rows.fail(0, f"expected {FORMAT.about}, got {len(rows.header)} fields")
    systems, scores = [system.strip() for system in rows.columns[0]], rows.columns[1]
    if "" in systems:
        rows.fail(systems.index(""), "expected the name of a system, got an empty field")
    n_segments: Counter[str] = Counter()
    segments = []
    for system in systems:
        n_segments[system] += 1
        segments.append(str(n_segments[system]))
    columns = {SYSTEM: systems, SEGMENT: segments, SCORE: scores}
    chosen = [SCORE if name is None else choose(source, "column", name, list(columns)) for name in names]
    return [Column(source.label(n), columns[name], rows.lines) for n, name in zip(names, chosen, strict=True)]


def _recognizes(file: str, line: str) -> bool:
    return uncompressed(file).endswith(".score") or (len(line.split()) == 2 and not line.startswith("{"))


FORMAT = Format(
    "a system and a score, separated by a tab, on each line",
    (),
    read,
    numbers=str,
    names=lambda source: [SYSTEM, SEGMENT, SCORE],
    recognizes=_recognizes,
)
