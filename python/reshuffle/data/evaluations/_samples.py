"""Formats whose segments have ids of any kind: a sample is an output with its scores, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import quoted
from ...options.evaluations import ReadScores
from ..formats.base import Source, is_score, shown_json
from ..scores import codes
from .base import Cells, cells_of


class Sample(NamedTuple):
    """An output of a system on a segment, and its scores as the file has them."""

    system: str
    segment: str
    scores: Mapping[str, Any]
    line: int = 1
    place: str = ""
    """Where the sample is, for files in which lines say nothing."""


def number_of(value: Any) -> float | None:
    """A score from JSON, NaN for null; None for what is no finite number."""
    if value is None:
        return math.nan
    try:
        number = float(value) if is_score(value) else math.inf
    except OverflowError:
        number = math.inf
    return None if math.isinf(number) else number


class Samples(NamedTuple):
    """The samples in a file."""

    source: Source
    found: Sequence[Sample]
    is_obvious: bool = False
    """Whether one score is the obvious choice, the first."""
    are_complete: bool = True
    """Whether the score of a sample that lacks it is missing. Otherwise the file has no such sample."""
    number_of: Callable[[Any], float | None] = number_of
    expected: str = "a finite number"

    def value(self, sample: Sample, name: str) -> float:
        """A score; NaN if it is missing."""
        value = sample.scores.get(name)
        number = self.number_of(value)
        if number is None:
            where = f"{quoted(name)} of sample {quoted(sample.segment)}"
            problem = f"expected {self.expected} as {where}, got {shown_json(value)}"
            if sample.place:
                self.source.fail(f"{sample.place}: {problem}")
            self.source.fail(problem, sample.line)
        return number


def names(file: Samples, options: ReadScores) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    return list(dict.fromkeys(name for sample in file.found for name in sample.scores)), file.is_obvious


def read(file: Samples, metric: str, options: ReadScores) -> Cells:
    """See :class:`ScoreFormat`."""
    having = [sample for sample in file.found if file.are_complete or metric in sample.scores]
    return joined_cells(metric, having, (file.value(sample, metric) for sample in having))


def joined_cells(metric: str, samples: Sequence[Sample], values: Iterable[float]) -> Cells:
    """The cells of at least one sample. Segments are in the order of their first occurrence."""
    keys, (segment,) = codes([[sample.segment for sample in samples]])
    systems, lines = [sample.system for sample in samples], [sample.line for sample in samples]
    return cells_of(metric, systems, segment, np.fromiter(values, np.float64), lines, base=0, keys=keys)
