"""The result of any study, and the record that most studies share: a rejection rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import UsedMetric
from ..intervals import ConfidenceInterval

__all__ = ["Rate", "StudyResult"]


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a test rejects at one level.

    Attributes
    ----------
    test, metric, null : str
        The test, the metric, and what was true in the simulated test sets: a null hypothesis or an alternative.
    size : int
        The number of units (segments or documents) of a simulated test set.
    alpha : float
        The test rejects if p ≤ alpha.
    rate : float
        The share of simulations in which it rejects.
    confidence_interval : ConfidenceInterval
        For the rejection probability: Clopper–Pearson, unless simulations depend on one another.
    simulations : int
    """

    test: str
    metric: str
    null: str
    size: int
    alpha: float
    rate: float
    confidence_interval: ConfidenceInterval
    simulations: int

    @property
    def verdict(self) -> str:
        """The interval against the level, where a null hypothesis was true.

        ``liberal`` if it lies above alpha, ``conservative`` if it lies below, else ``at its level``: Monte Carlo error
        explains the difference.
        """
        if self.confidence_interval.low > self.alpha:
            return "liberal"
        return "conservative" if self.confidence_interval.high < self.alpha else "at its level"


@dataclass(frozen=True)
class StudyResult:
    """The result of a study.

    Attributes
    ----------
    study : str
        The name of the study, such as ``type1``.
    plan : mapping of str to JSON values
        All settings, by the names of the public keyword arguments.
    metrics : tuple of UsedMetric
    tables : mapping of str to tuple of records
        Frozen records by the name of their table, such as ``rates``. The names are keys of the JSON.
    truths : mapping of str to str
        What was true in the simulated test sets, in words, by null hypothesis.
    signature : str
        One line with everything needed to repeat the study on the same data.
    version : str
        The version of reshuffle.
    """

    study: str
    plan: Mapping[str, Any]
    metrics: tuple[UsedMetric, ...]
    tables: Mapping[str, tuple[Any, ...]]
    truths: Mapping[str, str]
    signature: str
    version: str

    @property
    def rates(self) -> tuple[Rate, ...]:
        """The rejection rates; empty if the study has none."""
        return self.tables.get("rates", ())
