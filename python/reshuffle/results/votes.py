"""What a comparison of ratings says of the votes and the model, beside the ratings."""

from __future__ import annotations

from ..documented import record
from .intervals import ConfidenceInterval


@record
class FirstAdvantage:
    """The advantage of the system that was shown first, or on the left."""

    advantage: float
    """By how much it raises the difference of ratings."""
    confidence_interval: ConfidenceInterval | None
    """None, as ``pvalue``, if intervals and tests are withheld."""
    pvalue: float | None
    """Of no advantage, two-sided, by bootstrap-both."""


@record
class LargestResidual:
    """The two systems whose votes the model explains worst."""

    system: str
    baseline: str
    n_votes: int
    observed: float
    """The share of their votes that ``system`` won, a tie being half a win."""
    expected: float
    """The same by the model."""
    z: float
    """The difference of the two, divided by its standard error if votes were independent."""
    n_pairs: int
    """The number of pairs of systems that were compared."""


@record
class VoteFit:
    """The votes, and the model that was fitted to them."""

    n_votes: int
    n_ties: int
    """The number of ties among them, or that were left out."""
    ties: str
    """``model``, ``half`` or ``drop``: see :func:`reshuffle.votes`."""
    nu: float | None
    """The parameter of ties. Two equal systems tie with probability ν/(2 + ν). None if ties are not modelled."""
    scale: str
    """The unit of ratings: ``log`` for the natural logarithm of strengths, ``elo`` for 400 times their logarithm to
    base 10.
    """
    effective_units: float
    """(Σm)²/Σm² for units with m votes: as many units with equal numbers of votes would tell about as much."""
    prior: float
    """Wins that were added to each system of every pair that was compared."""
    separated: int
    """The number of draws whose votes have no finite ratings. They were fitted with wins added: those of ``prior``, or
    half a win.
    """
    n_draws: int
    withheld: bool
    """Whether there are no intervals and tests, because ``separated`` is more than 1% of ``n_draws``."""
    residual: LargestResidual
    first: FirstAdvantage | None = None
    """None unless it was fitted."""
