"""The record of ``tune-smoothing``: the agreement of a setting of a smoothing with people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...documented import documented
from ..intervals import ConfidenceInterval
from ..verdicts import Tested
from .plan import Plan


@documented
@dataclass(frozen=True, slots=True)
class SmoothingSetting(Tested):
    """How well sentence BLEU agrees with people if the parameter of a smoothing has one value."""

    test_set: str
    """The name of the test set; ``average`` for the mean over test sets, ``pooled`` for all votes taken as one."""
    smoothing: str
    """A smoothing of Chen & Cherry 2014 (W14-3346) with a parameter: 1, 4, 6 or 7."""
    parameter: str
    """``epsilon``, ``k`` or ``alpha``."""
    value: float
    """Of the parameter."""
    tau: float
    """Kendall's τ on votes. NaN where it is not defined."""
    selected: bool
    """Whether τ of this value is the largest of the smoothing: on average over the test sets, if there are several. Of
    equal ones, the first in the grid.
    """
    best: bool
    """The same on this test set alone."""
    difference: float | None
    """τ minus that of the selected value on the same votes; None for the selected value, and if nothing was tested."""
    confidence_interval: ConfidenceInterval | None
    """Of the difference."""
    pvalue: float | None
    """Of the difference; adjusted for all values of the smoothing."""
    adjusted_pvalue: float | None
    n: int
    """The number of votes."""


@documented
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmoothingPlan(Plan):
    """How smoothings were compared: the options of :func:`reshuffle.meta.tune_smoothing`.

    What followed from them is as in :class:`~reshuffle.results.studies.meta.MetaPlan`.
    """

    level: str
    test_sets: tuple[str, ...]
    systems: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, tuple[str, ...]]
    segments: Mapping[str, int]
    repeats: str | None
    raw_votes: Mapping[str, int]
    raw_ties: Mapping[str, int]
    ties: str
    average: bool
    pooled: bool
    test: str
    tests: tuple[str, ...]
    adjust: str | None
    interval: str | None
    confidence_level: float
    alpha: float
    n_resamples: int
    seed: int
    grids: Mapping[str, tuple[float, ...]]
    """The values that were tried, by smoothing."""
    decides: str
    """The test set by which a value was selected, ``average`` or ``pooled``."""
