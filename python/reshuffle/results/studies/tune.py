"""The result of tuning weights of features on k-best lists, and its records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...documented import record
from .base import StudyResult, StudyTypes
from .plan import Plan, sometimes


@record
class TuningRun:
    """A replication: the weights that an optimizer found with one seed, and the scores of what they choose."""

    seed: int | None
    """None for optimizers without random numbers, whose replications are variants."""
    weights: Mapping[str, float]
    """The weight of each dense feature, and of each other one whose weight is not 0."""
    dev_score: float
    """The corpus score of the chosen entries of the development lists."""
    test_score: float | None
    """That of the chosen entries of the test lists; None without these."""


@record
class StartingScores:
    """The scores under the weights with which the search begins."""

    weights: Mapping[str, float]
    dev_score: float
    test_score: float | None


@record
class TuningStep:
    """A number from the course of a run."""

    run: int
    """The index of the run, from 0."""
    round: int
    """The round of decoding and optimization, from 1."""
    quantity: str
    """What it is, such as ``score after epoch``."""
    step: int
    """The step, epoch or start, from 0."""
    value: float


@record(kw_only=True, eq=False)
class TuningPlan(Plan):
    """How weights were tuned: the options of :func:`reshuffle.tune.tune`, and what followed from them."""

    optimizer: str
    about: str
    """What the optimizer does, in words."""
    source: str
    """The ACL id or DOI of its paper."""
    options: Mapping[str, Any]
    """The options of the optimizer that are not None."""
    metric: str
    sentence_metric: str | None = None
    """The signature of the metric of single entries; None if there is none."""
    replications: int
    seed: int | None = None
    """That of all runs; None if each was given its own."""
    rounds: int
    """The largest number of rounds of a run."""
    decoder: str | None = None
    """What ran between rounds, such as ``command``; None without rounds."""
    varies: str | None = None
    """What seeds decide; None if nothing is random."""
    sentences: Mapping[str, int]
    """The number of sentences by the name of the lists, ``dev`` or ``test``."""
    entries: Mapping[str, int]
    """The number of entries, in the run with most of them."""
    features: Mapping[str, int]
    """The number of ``dense`` and ``sparse`` features."""
    variants: tuple[Mapping[str, Any], ...] | None = sometimes()
    """The options in which each replication differs, for optimizers whose replications are variants."""


def _deviation(values: Sequence[float]) -> float | None:
    """The standard deviation with n − 1; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


@dataclass(frozen=True, repr=False)
class TuningResult(StudyResult[TuningPlan]):
    """The result of :func:`reshuffle.tune.tune`: a :class:`~reshuffle.StudyResult` called ``tune``.

    Its tables are ``runs`` (:class:`TuningRun`), ``start`` (:class:`StartingScores`, if there were weights to begin
    with) and ``trace`` (:class:`TuningStep`).
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("s_dev", "s_test")

    @property
    def runs(self) -> tuple[TuningRun, ...]:
        """The replications."""
        return self.tables["runs"]

    @property
    def start(self) -> StartingScores | None:
        """The scores before tuning; None if there were no weights to begin with."""
        return next(iter(self.tables.get("start", ())), None)

    @property
    def trace(self) -> tuple[TuningStep, ...]:
        """The course of the runs."""
        return self.tables.get("trace", ())

    @property
    def s_dev(self) -> float | None:
        """The standard deviation of the runs' scores on the development lists (n − 1); None for one run.

        Clark et al. 2011 (P11-2031), section 4.1. Fixed lists lack the decoder's feedback, so this is a lower bound.
        """
        return _deviation([run.dev_score for run in self.runs])

    @property
    def s_test(self) -> float | None:
        """The same on the test lists; None without these."""
        scores = [run.test_score for run in self.runs if run.test_score is not None]
        return _deviation(scores)


STUDY = StudyTypes([TuningPlan], TuningResult, runs=TuningRun, start=StartingScores, trace=TuningStep)
