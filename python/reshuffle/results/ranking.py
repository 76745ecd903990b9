"""Rankings of systems from significance tests, and minimum detectable differences."""

from __future__ import annotations

from ..documented import record
from ..errors import unknown_name


@record
class RankedSystem:
    """A system in a :class:`Ranking`."""

    system: str
    position: int
    """The rank by score, 1 for the best. Systems with equal scores have the same position."""
    rank_low: int
    """The rank interval. ``rank_low`` is 1 + the number of systems that are significantly better, and ``rank_high`` is
    the number of all systems minus the number of those that are significantly worse.
    """
    rank_high: int
    cluster: int
    """1 for the first cluster. All systems of a cluster are significantly better than all systems of later clusters, as
    in the rankings of WMT (W17-4717).
    """
    letters: str | None
    """Two systems share a letter if and only if they do not differ significantly (compact letter display; Piepho 2004,
    doi:10.1198/1061860043515). None if more than 26 letters would be needed.
    """
    mcb_pvalue: float | None = None
    """p of the hypothesis that no other system is better, by multiple comparisons with the best (Hsu 1981, Annals of
    Statistics 9). For ``bootstrap``, ``bootstrap-percentile``, ``bootstrap-both`` and ``anova``; None for other tests.
    """


@record
class Ranking:
    """The systems under one metric, from best to worst, with rank intervals, letters and confidence sets of the best.

    It is computed from the two-sided tests of all pairs. A pair differs significantly if its p (adjusted p if there is
    an adjustment) is at most α. The system with the better score is then significantly better.

    Notes
    -----
    These probabilities hold if the test holds its level. If a test rejects too often, such as ``ar`` for systems that
    are not exchangeable, rank intervals and confidence sets are too small. The null hypotheses of ``wilcoxon`` and
    ``sign-test`` are not about the scores, so the intervals are not confidence intervals of ranks by score.

    Examples
    --------
    >>> from reshuffle import SegmentScores, compare
    >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
    >>> (ranking,) = compare(metrics=SegmentScores("rating", scores), all_pairs=True).rankings
    >>> [(ranked.system, ranked.rank_low, ranked.rank_high, ranked.letters) for ranked in ranking.systems]
    [('a', 1, 2, 'a'), ('b', 1, 2, 'a'), ('c', 3, 3, 'b')]
    >>> ranking.best, ranking["c"].cluster
    (('a', 'b'), 2)
    """

    metric: str
    systems: tuple[RankedSystem, ...]
    """From best to worst; systems with equal scores in the order of the input."""
    groups: tuple[tuple[str, ...], ...] | None
    """The systems of each letter, from ``a`` on: the maximal sets of systems without a significant difference, in the
    order of their best systems. None if there are more than 26.
    """
    best: tuple[str, ...]
    """The confidence set of the best system: all systems that are not significantly worse than any other. Never empty.
    """
    mcb_best: tuple[str, ...] | None
    """The confidence set of the best by multiple comparisons with the best: the systems whose ``mcb_pvalue`` exceeds α.
    In large samples it contains the best system with probability 1 − α or more. If several systems are tied for the
    best, it contains each of them with this probability, but not necessarily all of them at once, so it is usually
    smaller than ``best``. Never empty; None where there is no ``mcb_pvalue``.
    """
    simultaneous: bool
    """Whether the tests of all pairs control the family-wise error rate. Then, with probability 1 − α or more, the rank
    intervals of all systems contain their true ranks and ``best`` contains all systems that are tied for the best
    (Mogstad et al. 2024, doi:10.1093/restud/rdad006). False for several pairs without an adjustment, and for
    adjustments that control the false discovery rate.
    """

    def __getitem__(self, system: str) -> RankedSystem:
        """A system of the ranking, by name.

        Raises
        ------
        InputError
            If there is no such system.
        """
        for ranked in self.systems:
            if ranked.system == system:
                return ranked
        raise unknown_name("system", system, [ranked.system for ranked in self.systems])


@record
class DetectableDifference:
    """The minimum detectable difference: the true difference that the test would detect with a power of 80%.

    It is (z₁₋α′⸝₂ + z_power)·se, where se is the standard error of the difference of two systems on this test set, and
    α′ is the level of a single test. For one-sided tests it is (z₁₋α′ + z_power)·se. It is inversely
    proportional to the square root of the number of segments.

    Notes
    -----
    The standard error is that of the delta method. For functions of texts it is the standard deviation of the draws, if
    there are any. Card et al. 2020 (2020.emnlp-main.745) discuss the power of comparisons in NLP.

    Examples
    --------
    >>> from reshuffle import SegmentScores, compare
    >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20}
    >>> (detectable,) = compare(metrics=SegmentScores("rating", scores)).detectable
    >>> round(detectable.difference, 3), detectable.level
    (0.223, 0.05)
    """

    metric: str
    difference: float
    """In the metric's units, for the median standard error of the compared pairs."""
    low: float
    """The same for the smallest and the largest standard error."""
    high: float
    power: float
    """The probability of detecting it, 0.8."""
    level: float
    """α′: α divided by the number of tests that are adjusted together. Adjustments that have more power than
    Bonferroni's detect somewhat smaller differences.
    """
    left_out: tuple[tuple[str, str], ...] = ()
    """The pairs (system, baseline) without a standard error, such as identical systems, or that differ in so few units
    that no test of swaps could be significant.
    """
