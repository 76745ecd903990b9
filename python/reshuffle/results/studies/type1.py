"""Records of a study of type-I errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...documented import record
from .base import Rate, StudyTypes
from .plan import PairsPlan, first


@record
class PvalueShare:
    """One point of the distribution of p under a null hypothesis."""

    test: str
    metric: str
    null: str
    size: int
    """The number of units of a simulated test set."""
    p: float
    """A point of the grid."""
    share: float
    """The share of simulations whose p-value is at most ``p``. A valid test has shares of at most ``p``, an exact one
    shares near ``p``.
    """


@record(kw_only=True, eq=False)
class Type1Plan(PairsPlan):
    """How type-I errors were simulated: the options of :func:`reshuffle.study.type1`, and what followed from them."""

    null: tuple[str, ...] = first()
    metrics: tuple[str, ...] = first()
    equalize: str | None
    """None, as the next four, if no null has this option."""
    document_size: int | None
    icc: float | None
    noise: float | None
    runs: int | None
    variants: Mapping[str, Any] | None
    """How the systems of the null ``variants`` were trained."""


STUDY = StudyTypes([Type1Plan], rates=Rate, pvalues=PvalueShare)
