"""Samples of logs, whose segments have ids of any kind: a sample is an output with its scores, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, quoted, unknown_name
from ..evaluations import Cells
from ..score_columns import codes
from .base import Column, Source, is_score, shown_json


class Sample(NamedTuple):
    """An output of a system on a segment, and its scores as the file has them."""

    system: str
    segment: str
    scores: Mapping[str, Any]
    line: int = 1
    place: str = ""
    """Where the sample is, for files in which lines say nothing."""
    fields: Mapping[str, Any] = {}
    """What else the file says of the segment, by name: its passage, its topic."""
    epoch: Any = None
    asked: str = ""
    """The beginning of the question, if the ids may be those of others in another file."""


def number_of(value: Any) -> float | None:
    """A score from JSON, NaN for null; None for what is no finite number."""
    if value is None:
        return math.nan
    try:
        number = float(value) if is_score(value) else math.inf
    except OverflowError:
        number = math.inf
    return None if math.isinf(number) else number


@dataclass(frozen=True)
class Samples:
    """The samples in a file."""

    source: Source
    found: Sequence[Sample]
    is_obvious: bool = False
    """Whether one score is the obvious choice, the first."""
    are_complete: bool = True
    """Whether the score of a sample that lacks it is missing. Otherwise the file has no such sample."""
    number_of: Callable[[Any], float | None] = number_of
    expected: str = "a finite number"

    @cached_property
    def names(self) -> list[str]:
        """The names of the scores."""
        return list(dict.fromkeys(name for sample in self.found for name in sample.scores))

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

    @cached_property
    def header(self) -> list[str]:
        """The names of what the file says of segments."""
        return list(dict.fromkeys(name for sample in self.found for name in sample.fields))

    def column(self, field: str) -> Column:
        """What the file says of each segment, such as its passage, in the order of :meth:`cells`."""
        if field not in self.header:
            if not self.header:
                self.source.fail(f"its samples have no field {quoted(field)}: use a table with a column 'id'")
            raise InputError(f"{self.source.name}: {unknown_name('field', field, self.header)}")
        of = {sample.segment: sample for sample in self.found}
        values, lines = ([*each] for each in zip(*((s.fields.get(field), s.line) for s in of.values()), strict=True))
        return Column(self.source.label(field), values, lines, keys=[*of])

    def values(self, field: str) -> Sequence[Any]:
        """The same without places."""
        return self.column(field).lines

    def of_epoch(self, epoch: str) -> Samples:
        """Those of one epoch."""
        found = [sample for sample in self.found if str(sample.epoch) == epoch]
        if not found:
            known = dict.fromkeys(str(sample.epoch) for sample in self.found)
            raise InputError(f"{self.source.name}: {unknown_name('epoch', epoch, known)}")
        return replace(self, found=found)

    def cells(self, metric: str) -> Cells:
        """The scores of a metric. Segments are in the order of their first occurrence."""
        having = [sample for sample in self.found if self.are_complete or metric in sample.scores]
        keys, (segment,) = codes([[sample.segment for sample in having]])
        ids, (system,) = codes([[sample.system for sample in having]])
        values = np.fromiter((self.value(sample, metric) for sample in having), np.float64)
        return Cells(metric, ids, system, segment, values, [sample.line for sample in having], base=0, keys=keys)
