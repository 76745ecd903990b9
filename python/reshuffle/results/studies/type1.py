"""Records of a study of type-I errors."""

from __future__ import annotations

from dataclasses import dataclass

from ...documented import documented


@documented
@dataclass(frozen=True, slots=True)
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
