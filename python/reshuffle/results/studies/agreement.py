"""The records of ``agreement``: tests and metrics compared on all pairs of systems of a test set."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import StudyTypes
from .plan import PoolPlan


@record
class PairPvalue:
    """The p-value of a test for a pair of systems."""

    metric: str
    test: str
    better: str
    """The two systems, in the order of their scores."""
    worse: str
    gain: float
    """The difference of these scores, at least 0."""
    pvalue: float
    """Not adjusted for multiple tests."""


@record
class GainBin:
    """How many of the pairs with a gain in some range are significant."""

    metric: str
    test: str
    alpha: float
    """The level."""
    low: float
    """low < gain ≤ high, in the metric's units; ``high`` is None in the last bin."""
    high: float | None
    pairs: int
    """The number of pairs in the bin."""
    significant: float
    """The share of these with p ≤ alpha."""
    confidence_interval: ConfidenceInterval | None
    """For ``significant``, with systems as clusters; None for fewer than three systems."""


@record
class GainThreshold:
    """The gain above which pairs are significant."""

    metric: str
    test: str
    alpha: float
    """The level."""
    pairs: int
    """The number of pairs."""
    significant: float
    """The share of these with p ≤ alpha."""
    smallest_significant: float | None
    """The smallest gain with p ≤ alpha, and the largest one with p > alpha; None without any."""
    largest_insignificant: float | None
    threshold: float | None
    """The gain that separates significant from other pairs with the fewest errors, the middle of all such gains; None
    if all pairs are significant or none is.
    """
    errors: int
    """The number of pairs on the wrong side of the threshold."""


@record
class DomainBand:
    """How often the winner on one part of a test set also wins on another part, by the confidence of its test."""

    metric: str
    test: str
    tested_on: str
    """The two parts."""
    checked_on: str
    alpha: float
    """The level of the tests on the second part."""
    low: float
    """The band of confidence on the first part, which is 1 − p: low ≤ 1 − p < high. 1 belongs to the first band."""
    high: float
    pairs: int
    """The number of pairs in the band, without those with equal scores."""
    also_wins: float | None
    """The share of these whose winner scores higher on the second part; None without any pairs."""
    also_significant: float | None
    """The share whose winner also wins significantly there."""
    confidence_interval: ConfidenceInterval | None
    """For ``also_wins``, with systems as clusters; None for fewer than three systems with such pairs."""


@record
class TestAgreement:
    """Whether two tests, or one test under two metrics, reject for the same pairs of systems."""

    __test__ = False  # not a test of pytest

    metric: str
    test: str
    other_metric: str
    other_test: str
    alpha: float
    """The level."""
    pairs: int
    """The number of pairs."""
    both: int
    """The numbers of pairs for which both tests reject, neither does, or only one."""
    neither: int
    only_first: int
    only_second: int
    opposed: int
    """Of ``both``, the pairs in which the two metrics prefer different systems."""
    agreement: float
    """(both − opposed + neither)/pairs."""
    agreement_interval: ConfidenceInterval | None
    """For ``agreement``, with systems as clusters; None for fewer than three systems."""
    kappa: float | None
    """Cohen's kappa of the two decisions, to reject or not; None if both tests reject for all pairs, or for none."""
    kappa_interval: ConfidenceInterval | None
    """By the jackknife over systems; None for fewer than three systems, or where kappa is undefined without one."""
    rank_correlation: float | None
    """Spearman's correlation of the p-values; None if all p-values of a test are equal."""


@record(kw_only=True, eq=False)
class AgreementPlan(PoolPlan):
    """How tests were compared with each other: the options of :func:`reshuffle.study.agreement`."""

    tests: tuple[str, ...]
    alphas: tuple[float, ...]
    domains: tuple[str, ...] | None
    """The names of the domains; None without them."""
    halves: str | None
    """How the pool was divided instead."""
    bins: tuple[float, ...]


STUDY = StudyTypes(
    [AgreementPlan],
    pair_pvalues=PairPvalue,
    gains=GainBin,
    thresholds=GainThreshold,
    domains=DomainBand,
    tests=TestAgreement,
)
