"""The numbers of a comparison as two flat tables, for CSV and data frames: its systems, and its pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..results import Comparison, PairedDifference, RankedSystem, Ranking, SetComparison, SystemScore
from ..results.sets import AVERAGE
from ..validate import check_name
from .frames import Columns, Fields, columns_from
from .layout import sets_of


class SystemRow(NamedTuple):
    """A metric and a system."""

    comparison: Comparison
    score: SystemScore
    ranking: Ranking | None
    ranked: RankedSystem | None

    @property
    def best(self) -> bool | None:
        """Whether the system may be the best."""
        return None if self.ranking is None else self.score.system in self.ranking.best


class PairRow(NamedTuple):
    """A metric and a pair of systems, with their scores."""

    comparison: Comparison
    pair: PairedDifference
    system_score: float
    baseline_score: float

    @property
    def significant(self) -> bool | None:
        """Whether the difference has a star."""
        alpha = self.comparison.alpha
        return None if alpha is None else self.pair.is_significant(alpha)

    @property
    def caveats(self) -> str:
        """The kinds of the caveats that apply to the pair."""
        return " ".join(self.pair.caveats)


# The columns are the same for every comparison, so that programs which read several of them need no special cases. The
# parts of a score are not among them, because each metric has others.
SYSTEM_COLUMNS: Fields = {
    "system": (None, "score.system"),
    "metric": (None, "score.metric"),
    "score": ("float64", "score.score"),
    "low": ("float64", "score.confidence_interval.low"),
    "high": ("float64", "score.confidence_interval.high"),
    "n_segments": ("Int64", "score.n_segments"),
    "position": ("Int64", "ranked.position"),
    "rank_low": ("Int64", "ranked.rank_low"),
    "rank_high": ("Int64", "ranked.rank_high"),
    "cluster": ("Int64", "ranked.cluster"),
    "letters": (None, "ranked.letters"),
    "best": ("boolean", "best"),
    "mcb_pvalue": ("float64", "ranked.mcb_pvalue"),
    "unit": (None, "comparison.unit"),
    "n_units": ("Int64", "comparison.n_units"),
    "n_strata": ("Int64", "comparison.n_strata"),
}
# First what a reader looks for: pandas shows the first ten and the last ten columns in a notebook.
PAIR_COLUMNS: Fields = {
    "system": (None, "pair.system"),
    "baseline": (None, "pair.baseline"),
    "metric": (None, "pair.metric"),
    "system_score": ("float64", "system_score"),
    "baseline_score": ("float64", "baseline_score"),
    "difference": ("float64", "pair.difference"),
    "difference_low": ("float64", "pair.confidence_interval.low"),
    "difference_high": ("float64", "pair.confidence_interval.high"),
    "pvalue": ("float64", "pair.test.pvalue"),
    "adjusted_pvalue": ("float64", "pair.test.adjusted_pvalue"),
    "significant": ("boolean", "significant"),
    "n_segments": ("Int64", "pair.n_segments"),
    "test": (None, "pair.test.test"),
    "scheme": (None, "pair.test.scheme"),
    "alternative": (None, "pair.test.alternative"),
    "margin": ("float64", "pair.test.margin"),
    "n_resamples": ("Int64", "pair.test.n_resamples"),
    "seed": ("UInt64", "pair.test.seed"),
    "pvalue_low": ("float64", "pair.test.pvalue_interval.low"),
    "pvalue_high": ("float64", "pair.test.pvalue_interval.high"),
    "adjustment": (None, "comparison.test.adjustment"),
    "family": (None, "comparison.test.family"),
    "unit": (None, "comparison.unit"),
    "n_units": ("Int64", "pair.n_units"),
    "n_strata": ("Int64", "comparison.n_strata"),
    "intraclass_correlation": ("float64", "pair.intraclass_correlation"),
    "design_effect": ("float64", "pair.design_effect"),
    "caveats": (None, "caveats"),
}


def comparison_columns(result: Comparison | SetComparison, table: str | None = None) -> Columns:
    """The columns of a table of a comparison: for None its main table, or the only one.

    On several test sets, the rows are those of each and then of the average.
    """
    comparisons = [*sets_of(result).items()]
    main = "pairs" if any(comparison.comparisons for _, comparison in comparisons) else "systems"
    name = main if table is None else table
    check_name("table", name, list(TABLES))
    columns, rows_of = TABLES[name]
    average = getattr(result, "average", None)
    if average is not None:
        comparisons.append((AVERAGE, average))
    rows = [(name, row) for name, comparison in comparisons for row in rows_of(comparison)]
    found = columns_from(columns, [row for _, row in rows])
    return found if isinstance(result, Comparison) else {"test_set": ([name for name, _ in rows], None), **found}


def _systems(comparison: Comparison) -> Iterator[SystemRow]:
    """A row for each metric and system, in the order of ``comparison.scores``."""
    ranked = {
        (ranking.metric, each.system): (ranking, each) for ranking in comparison.rankings for each in ranking.systems
    }
    for score in comparison.scores:
        yield SystemRow(comparison, score, *ranked.get((score.metric, score.system), (None, None)))


def _pairs(comparison: Comparison) -> Iterator[PairRow]:
    """A row for each metric and pair, in the order of ``comparison.comparisons``."""
    scores = {(score.metric, score.system): score.score for score in comparison.scores}
    for pair in comparison.comparisons:
        yield PairRow(comparison, pair, scores[pair.metric, pair.system], scores[pair.metric, pair.baseline])


TABLES: Mapping[str, tuple[Fields, Callable[[Comparison], Iterator[Any]]]] = {
    "systems": (SYSTEM_COLUMNS, _systems),
    "pairs": (PAIR_COLUMNS, _pairs),
}
