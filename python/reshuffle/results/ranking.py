"""The ranking of systems under a metric, as far as significance tests separate them."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError, listed, quoted

__all__ = ["DetectableDifference", "RankedSystem", "Ranking"]


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """A system in a :class:`Ranking`.

    Attributes
    ----------
    system : str
    position : int
        Its place by score, 1 for the best. Systems with equal scores have the same position.
    rank_low, rank_high : int
        The best and the worst rank that the tests leave open: 1 + the number of systems that are significantly better,
        and k − the number of systems that are significantly worse. If the family-wise error rate is controlled at α,
        the intervals of all systems contain their true ranks at once with probability 1 − α at least (Mogstad et al.
        2024, doi:10.1093/restud/rdad006).
    cluster : int
        1 for the first cluster. Systems of a cluster are significantly better than all of later clusters, as
        in WMT's rankings (W14-3302).
    letters : str or None
        Two systems share a letter exactly if they do not differ significantly (compact letter display; Piepho 2004,
        doi:10.1198/1061860043515). None if more than 26 letters would be needed.
    mcb_pvalue : float or None
        p of the hypothesis that the system is the best one, by Hsu's multiple comparisons with the best (Hsu 1981,
        doi:10.1214/aos/1176345580). None where the test has no replicates to compute it from.
    """

    system: str
    position: int
    rank_low: int
    rank_high: int
    cluster: int
    letters: str | None
    mcb_pvalue: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The systems under one metric, from best to worst, and which of them the tests separate.

    It follows from the two-sided tests of all pairs at level α, with adjusted p if there is an adjustment.

    Attributes
    ----------
    metric : str
    systems : tuple of RankedSystem
        From best to worst; systems with equal scores in the order of the input.
    groups : tuple of tuple of str, or None
        The systems of each letter, from ``a`` on: the largest sets without a significant difference. None if there are
        more than 26.
    best : tuple of str
        The confidence set of the best system: every system that is not significantly worse than another. Never empty.
    mcb_best : tuple of str or None
        The systems whose ``mcb_pvalue`` exceeds α. None where it does not apply.
    simultaneous : bool
        Whether the family-wise error rate is controlled, so that rank intervals and ``best`` hold at once for all
        systems with probability 1 − α. False without an adjustment, and for adjustments of the false discovery rate.
    """

    metric: str
    systems: tuple[RankedSystem, ...]
    groups: tuple[tuple[str, ...], ...] | None
    best: tuple[str, ...]
    mcb_best: tuple[str, ...] | None
    simultaneous: bool

    def __getitem__(self, system: str) -> RankedSystem:
        """The place of a system, by name.

        Raises
        ------
        InputError
            If there is no such system.
        """
        for ranked in self.systems:
            if ranked.system == system:
                return ranked
        raise InputError(f"no system {quoted(system)} in the ranking, only {listed(r.system for r in self.systems)}")


@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """The smallest true difference under a metric that the test would detect with a given power on this test set.

    It is (z₁₋α′⸝₂ + z_power)·se, with the standard error se of the difference of two systems on this test set and the
    level α′ of a single test: α, divided by the size of the family if p is adjusted (Card et al. 2020,
    2020.emnlp-main.745).

    Attributes
    ----------
    metric : str
    difference : float
        In the metric's units, for the median pair.
    low, high : float
        The same for the pairs with the smallest and the largest standard error.
    power : float
    level : float
        α′.
    """

    metric: str
    difference: float
    low: float
    high: float
    power: float
    level: float
