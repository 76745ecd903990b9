"""The record of ``tune-smoothing``: the agreement of a setting of a smoothing with people."""

from __future__ import annotations

from collections.abc import Mapping

from ...documented import record
from ..intervals import ConfidenceInterval
from ..verdicts import Tested
from .base import StudyTypes
from .meta import MetaPlan
from .plan import sometimes


@record
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


@record(kw_only=True, eq=False)
class SmoothingPlan(MetaPlan):
    """How smoothings were compared: the options of :func:`reshuffle.meta.tune_smoothing`, and what followed."""

    coefficients: tuple[str, ...] | None = sometimes()
    """Not here, as the baseline, which differs: each is the selected value of a smoothing."""
    baseline: str | None = sometimes()
    grids: Mapping[str, tuple[float, ...]]
    """The values that were tried, by smoothing."""
    decides: str
    """The test set by which a value was selected, ``average`` or ``pooled``."""


STUDY = StudyTypes([SmoothingPlan], grid=SmoothingSetting)
