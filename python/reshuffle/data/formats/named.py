"""Input format of mt-metrics-eval: the name of a system, a tab and a score on each line, in the order of segments."""

from __future__ import annotations

import re

from ...errors import quoted
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, choose

SYSTEM, SEGMENT, SCORE = "system", "segment", "score"
NUMBER = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)?|none|nan", re.IGNORECASE | re.ASCII)


def is_named(line: str) -> bool:
    """Whether a file that begins with this line has the name of a system before each score."""
    system, _, score = line.partition("\t")
    return bool(system.strip()) and NUMBER.fullmatch(score.strip()) is not None


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    systems, segments, scores = [], [], []
    n_segments: dict[str, int] = {}
    for number, line in enumerate(split_lines(source.text()), 1):
        system, tab, score = line.partition("\t")
        system = system.strip()
        if not tab or not system:
            source.fail(f"expected the name of a system, a tab and a score, got {quoted(line)}", number)
        n_segments[system] = n_segments.get(system, 0) + 1
        systems.append(system)
        segments.append(str(n_segments[system]))
        scores.append(score)
    columns = {SYSTEM: systems, SEGMENT: segments, SCORE: scores}
    lines = range(1, len(systems) + 1)
    chosen = [SCORE if name is None else choose(source, "column", name, list(columns)) for name in names]
    return [Column(source.label(n), columns[name], lines) for n, name in zip(names, chosen, strict=True)]


FORMAT = FileFormat(
    "the name of a system, a tab and a score on each line",
    (),
    read,
    numbers=str,
    names=lambda source: [SYSTEM, SEGMENT, SCORE],
)
