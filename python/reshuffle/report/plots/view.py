"""The data of figures: the systems of a comparison from best to worst under one metric, and pairs in either order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...errors import ALL_PAIRS, InputError, listed, quoted
from ...lazy import lazy
from ...results import Comparison, PairedDifference, Ranking, SystemScore, UsedMetric
from ...results.lookup import metric_name
from ...validate import check_name
from ..cells import pvalue_cell, random_replicates, signed, under
from ..layout import Layout
from ..margins import is_significant, margin_of
from ..systems import some_interval_disagrees
from ..wording import ci, number
from .look import BETTER, INK, MUTED, WORSE


@dataclass(frozen=True)
class View:
    """A comparison under one metric, with the names to display."""

    comparison: Comparison
    """The systems have the names of the input."""
    metric: UsedMetric
    layout: Layout
    """Display names and decimals."""
    order: tuple[str, ...] = ()
    """The systems in the order of rows that several panels share."""
    beside: int = 1
    """How many panels stand beside each other. If there are several, they have no columns of scores."""
    test_set: str = ""
    """The name of the test set, if the result has several."""

    @classmethod
    def from_options(
        cls, comparison: Comparison, metric: str | None, names: Mapping[str, str] | None, digits: int | None
    ) -> View:
        """Check the options of a figure."""
        layout = Layout(names=names, digits=digits).named(comparison)
        layout.apply(comparison)  # checks the names
        known = [used.name for used in comparison.metrics]
        if metric in comparison.systems and metric not in known:
            raise InputError(
                f"{quoted(metric)} is a system, but this argument is a metric: {listed(known)}. Systems are named in "
                "forest(baseline=SYSTEM) and null(SYSTEM, BASELINE)"
            )
        name = metric_name(metric, known)
        return cls(comparison, next(used for used in comparison.metrics if used.name == name), layout)

    @lazy
    def scores(self) -> dict[str, SystemScore]:
        """The score of each system, from the best to the worst, in the order of the input if equal."""
        sign = -1 if self.metric.higher_is_better else 1
        found = under(self.metric.name, self.comparison.scores)
        found.sort(key=lambda score: math.inf if math.isnan(score.score) else sign * score.score)
        return {score.system: score for score in found}

    @property
    def rows(self) -> list[str]:
        """The systems in the order of the rows."""
        return [*(self.order or self.scores)]

    @lazy
    def pairs(self) -> list[PairedDifference]:
        """The pairs under the metric."""
        return under(self.metric.name, self.comparison.comparisons)

    @lazy
    def _by_names(self) -> dict[tuple[str, str], PairedDifference]:
        return {(pair.system, pair.baseline): pair for pair in self.pairs}

    @property
    def ranking(self) -> Ranking | None:
        """The ranking under the metric, if all pairs were compared."""
        rankings = under(self.metric.name, self.comparison.rankings) if self.comparison.baseline is None else []
        return rankings[0] if rankings else None

    @property
    def decimals(self) -> int:
        """The decimals of scores and differences."""
        return self.layout.decimals(self.comparison, self.metric.name)

    def signed(self, difference: float, among: Iterable[float] = ()) -> str:
        """A difference, as in tables, with a minus sign. ``among``: all of its column, for one precision."""
        decimals = self.layout.decimals_of([difference, *among], self.decimals)
        return signed(difference, decimals).replace("-", "\N{MINUS SIGN}")

    @property
    def scored(self) -> str:
        """The metric, in labels, with what it is of if there are several test sets."""
        where = "average" if self.comparison.averaged_over else self.test_set
        return f"{self.metric.name} ({where})" if where else self.metric.name

    @property
    def pvalue_name(self) -> str:
        """The name of the p-values that are compared with α: ``p`` or ``adjusted p``."""
        return "p" if self.comparison.family_size == 1 else "adjusted p"

    @property
    def alpha(self) -> str:
        """The significance level, as text."""
        return "" if self.comparison.alpha is None else number(self.comparison.alpha)

    def interval_name(self, of_differences: bool = False) -> str:
        """The name of the confidence intervals, such as ``95% CI``; empty if there are none."""
        interval, level = self.comparison.interval, self.comparison.confidence_level
        if interval is None or level is None:
            return ""
        if not of_differences:
            return ci(level)
        # Alike in the panels of all metrics.
        unadjusted = "unadjusted " if some_interval_disagrees(self.comparison) else ""
        return f"{'simultaneous ' if interval.simultaneous else unadjusted}{ci(level)}"

    def name(self, system: str) -> str:
        """The display name of a system."""
        return self.layout.name(system)

    def is_significant(self, pair: PairedDifference) -> bool:
        """Whether the pair has a star in reports."""
        return is_significant(self.comparison, pair)

    @property
    def margin(self) -> float | None:
        """The margin, if the test is one of equivalence or non-inferiority."""
        return margin_of(self.comparison, self.metric.name)

    @property
    def limits(self) -> list[float]:
        """The differences at the margin that the test is about, with their sign."""
        margin, test = self.margin, self.comparison.test
        if margin is None or test is None:
            return []
        worse = -margin if self.metric.higher_is_better else margin
        return [-margin, margin] if test.alternative == "equivalence" else [worse]

    def color(self, pair: PairedDifference) -> str:
        """The colour of a pair: that of its direction if it differs significantly, which a margin test cannot show."""
        if not self.is_significant(pair):
            return MUTED
        if self.margin is not None:
            return INK
        return BETTER if self.comparison.verdict(pair) == "better" else WORSE

    def pvalue_cell(self, pair: PairedDifference) -> str:
        """The p-value that is compared with α, formatted as in tables."""
        return pvalue_cell(pair.test.final_pvalue, random_replicates(pair.test), self.comparison.alpha)

    def need_pairs(self, what: str) -> None:
        """Raise :class:`InputError` if the result has only scores."""
        if not self.comparison.comparisons:
            raise InputError(
                f"{what} shows differences, but this result has scores only: reshuffle.compare (reshuffle compare) "
                "tests differences, reshuffle.score does not"
            )

    def pair(self, system: str, baseline: str | None) -> PairedDifference:
        """The pair, reversed if a two-sided test compared it in the other order.

        Raises
        ------
        InputError
            If there is no such pair.
        """
        if baseline is not None and (system, baseline) in self._by_names:
            return self._by_names[system, baseline]
        if baseline is not None and self.comparison.is_reversible and (baseline, system) in self._by_names:
            return self._by_names[baseline, system].reversed
        return self.comparison.pair(system, baseline, self.metric.name)

    def against(self, baseline: str | None) -> tuple[str, list[PairedDifference]]:
        """A baseline and the difference of every other system from it, in the order of the scores.

        The default is the baseline of the comparison or, if all pairs were compared, the best system. With one-sided
        tests of all pairs, it is the system that was the baseline of all others.

        Raises
        ------
        InputError
            If the systems were compared with another baseline, or by one-sided tests in the other order.
        """
        fixed = self.comparison.baseline
        tested = () if self.comparison.is_reversible else {pair.system for pair in self.pairs}
        chosen = baseline or fixed or next(system for system in self.scores if system not in tested)
        check_name("system", chosen, self.comparison.systems)
        if fixed is not None and chosen != fixed:
            raise InputError(
                "the systems were compared with {fixed}: leave out the baseline {chosen}, or compare with {all_pairs}",
                fixed=quoted(fixed),
                chosen=quoted(chosen),
                all_pairs=ALL_PAIRS,
            )
        reversed_ = [pair for pair in self.pairs if pair.system == chosen]
        if reversed_ and not self.comparison.is_reversible:
            raise InputError(
                f"the tests are one-sided, and {quoted(chosen)} was compared with "
                f"{listed(pair.baseline for pair in reversed_)} as the baseline: choose another baseline, or compare "
                "with this one only"
            )
        return chosen, [self.pair(system, chosen) for system in self.rows if system != chosen]
