"""Metrics that are functions of whole texts, which cannot be resampled as counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import signature
from ..errors import InputError, quoted

__all__ = ["CorpusFunction"]


@dataclass(frozen=True)
class CorpusFunction:
    """A score of a whole corpus from a function that looks at texts: a black box.

    There is nothing to add up, so the function is called again for every replicate: for k systems, R replicates and one
    baseline 2·(k − 1)·R times for a test by shuffling, and k·R times for the intervals. With a function that takes a
    second, 10,000 replicates of two systems take eleven hours; counts per segment (:class:`FromCounts`) would take
    milliseconds. Calls are made one after the other, on one thread: nothing is known about the function.

    Parameters
    ----------
    name : str
        What to call the metric in tables and signatures.
    function : callable
        ``function(hypotheses, references) -> float``: S hypotheses and a list of columns of S references, as
        sacreBLEU's ``corpus_score`` takes them. It is given new lists, with segments swapped, left out or repeated.
    higher_is_better : bool

    Examples
    --------
    >>> def words(hypotheses, references):
    ...     return sum(len(line.split()) for line in hypotheses) / len(hypotheses)
    >>> from reshuffle import compare
    >>> texts = {"a": ["a b", "c d e", "f"], "b": ["a", "c d", "f"]}
    >>> comparison = compare(["a", "b", "c"], texts, CorpusFunction("words", words), n_resamples=99)
    >>> comparison.comparisons[0].difference
    -0.6666666666666667
    """

    name: str
    function: Callable[[list[str], list[list[str | None]]], float]
    higher_is_better: bool = True

    decimals: ClassVar[None] = None
    is_sum: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False

    def evaluate(self, hypotheses: list[str], references: list[list[str | None]]) -> float:
        """Call the function.

        Raises
        ------
        InputError
            If it gives anything but a finite number.
        """
        value = self.function(hypotheses, references)
        try:
            if isinstance(value, str | bytes) or np.ndim(value):  # which float() may accept
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.name}: the function gave {quoted(value)}, expected a number") from None
        if not math.isfinite(number):
            raise InputError(f"{self.name}: the function gave {number}, expected a finite number")
        return number

    def signature(self, n_references: str | None = None) -> str:
        """The name; a function has no options that could be told."""
        return signature.of_metric(self.name, n_references=n_references)

    segment_signature = signature
