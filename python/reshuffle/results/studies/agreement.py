"""The records of ``agreement``: tests and metrics compared on all pairs of systems of a test set."""

from __future__ import annotations

from dataclasses import dataclass

from ..intervals import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class PairPvalue:
    """The p-value of a test for a pair of systems.

    Attributes
    ----------
    metric, test : str
    better, worse : str
        The two systems, in the order of their scores.
    gain : float
        The difference of these scores, at least 0.
    pvalue : float
        Not adjusted for multiple tests.
    """

    metric: str
    test: str
    better: str
    worse: str
    gain: float
    pvalue: float


@dataclass(frozen=True, slots=True)
class GainBin:
    """How many of the pairs with a gain in some range are significant.

    Attributes
    ----------
    metric, test : str
    alpha : float
        The level.
    low, high : float
        low < gain ≤ high, in the metric's units; ``high`` is None in the last bin.
    pairs : int
        The number of pairs in the bin.
    significant : float
        The share of these with p ≤ alpha.
    confidence_interval : ConfidenceInterval or None
        For ``significant``, with systems as clusters; None for fewer than three systems.
    """

    metric: str
    test: str
    alpha: float
    low: float
    high: float | None
    pairs: int
    significant: float
    confidence_interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class GainThreshold:
    """The gain above which pairs are significant.

    Attributes
    ----------
    metric, test : str
    alpha : float
        The level.
    pairs : int
        The number of pairs.
    significant : float
        The share of these with p ≤ alpha.
    smallest_significant, largest_insignificant : float or None
        The smallest gain with p ≤ alpha, and the largest one with p > alpha; None without any.
    threshold : float or None
        The gain that separates significant from other pairs with the fewest errors, the middle of all such gains; None
        if all pairs are significant or none is.
    errors : int
        The number of pairs on the wrong side of the threshold.
    """

    metric: str
    test: str
    alpha: float
    pairs: int
    significant: float
    smallest_significant: float | None
    largest_insignificant: float | None
    threshold: float | None
    errors: int


@dataclass(frozen=True, slots=True)
class DomainBand:
    """How often the winner on one part of a test set also wins on another part, by the confidence of its test.

    Attributes
    ----------
    metric, test : str
    tested_on, checked_on : str
        The two parts.
    alpha : float
        The level of the tests on the second part.
    low, high : float
        The band of confidence on the first part, which is 1 − p: low ≤ 1 − p < high. 1 belongs to the first band.
    pairs : int
        The number of pairs in the band, without those with equal scores.
    also_wins : float or None
        The share of these whose winner scores higher on the second part; None without any pairs.
    also_significant : float or None
        The share whose winner also wins significantly there.
    confidence_interval : ConfidenceInterval or None
        For ``also_wins``, with systems as clusters; None for fewer than three systems with such pairs.
    """

    metric: str
    test: str
    tested_on: str
    checked_on: str
    alpha: float
    low: float
    high: float
    pairs: int
    also_wins: float | None
    also_significant: float | None
    confidence_interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class TestAgreement:
    """Whether two tests, or one test under two metrics, reject for the same pairs of systems.

    Attributes
    ----------
    metric, test, other_metric, other_test : str
    alpha : float
        The level.
    pairs : int
        The number of pairs.
    both, neither, only_first, only_second : int
        The numbers of pairs for which both tests reject, neither does, or only one.
    opposed : int
        Of ``both``, the pairs in which the two metrics prefer different systems.
    agreement : float
        (both − opposed + neither)/pairs.
    agreement_interval : ConfidenceInterval or None
        For ``agreement``, with systems as clusters; None for fewer than three systems.
    kappa : float or None
        Cohen's kappa of the two decisions, to reject or not; None if both tests reject for all pairs, or for none.
    kappa_interval : ConfidenceInterval or None
        By the jackknife over systems; None for fewer than three systems, or where kappa is undefined without one.
    rank_correlation : float or None
        Spearman's correlation of the p-values; None if all p-values of a test are equal.
    """

    __test__ = False  # not a test of pytest

    metric: str
    test: str
    other_metric: str
    other_test: str
    alpha: float
    pairs: int
    both: int
    neither: int
    only_first: int
    only_second: int
    opposed: int
    agreement: float
    agreement_interval: ConfidenceInterval | None
    kappa: float | None
    kappa_interval: ConfidenceInterval | None
    rank_correlation: float | None
