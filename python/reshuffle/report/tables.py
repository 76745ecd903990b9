"""The tables of a comparison as strings in cells, for the formats that people read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..results import Comparison, ConfidenceInterval, PairedDifference, SignificanceResult, SystemScore, UsedMetric
from .notes import EXACT, ci, counted, strata

__all__ = ["Table", "decimals_for", "pvalue_cell", "tables"]


@dataclass(slots=True)
class Table:
    """A title, a header and rows of cells.

    The first ``n_names`` columns are names, the others numbers. The last ``n_details`` columns may be moved to a table
    of their own where there is no room. ``significant`` has a flag for each row.
    """

    title: str
    header: list[str]
    n_names: int = 1
    n_details: int = 0
    rows: list[list[str]] = field(default_factory=list)
    significant: list[bool] = field(default_factory=list)

    def add(self, cells: Sequence[str], significant: bool = False) -> None:
        """Append a row."""
        self.rows.append(list(cells))
        self.significant.append(significant)


def tables(comparison: Comparison) -> Iterator[Table]:
    """The tables of a comparison, metric by metric."""
    for metric in comparison.metrics:
        scores = [s for s in comparison.scores if s.metric == metric.name]
        pairs = [p for p in comparison.comparisons if p.metric == metric.name]
        if not pairs:
            yield _scores_with_details(comparison, metric, scores)
        elif comparison.baseline is None:
            yield _scores(comparison, metric, scores, {})
            yield _pairs(comparison, metric, pairs, _decimals_of(scores))
        else:
            yield _scores(comparison, metric, scores, {p.system: p for p in pairs})


def _title(comparison: Comparison, metric: UsedMetric) -> str:
    direction = "" if metric.higher_is_better else ", lower is better"
    segments = counted(comparison.n_segments, "segment")
    if comparison.unit != "segment":
        segments += f" in {counted(comparison.n_units, comparison.unit)}"
    if comparison.averaged_over:
        segments += f" of {counted(len(comparison.averaged_over), 'test set')}"
    elif comparison.n_strata is not None:
        segments += f" in {strata(comparison.n_strata)}"
    references = f"{counted(comparison.n_references, 'reference')}, " if comparison.n_references else ""
    return f"{metric.name}{direction}: {segments}, {references}{counted(len(comparison.systems), 'system')}"


def _interval_header(comparison: Comparison) -> list[str]:
    """The header of a column of confidence intervals, if there are any."""
    if comparison.interval is None or comparison.confidence_level is None:
        return []
    return [ci(comparison.confidence_level)]


def _pvalue_headers(comparison: Comparison) -> list[str]:
    """Without the adjusted p where it equals p because every family has only one test."""
    return ["p", "adjusted p"] if comparison.family_size > 1 else ["p"]


def _scores(
    comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore], pairs: dict[str, PairedDifference]
) -> Table:
    """A row for each system, with its difference from the baseline if it was compared with that."""
    number = ["n"] if comparison.lacks_scores(metric.name) else []
    header = ["System", metric.name, *_interval_header(comparison), *number]
    test_header = ["Δ", *_interval_header(comparison), *number, *_pvalue_headers(comparison)]
    if pairs:
        header += test_header
    table = Table(_title(comparison, metric), header)
    decimals, some_exact = _decimals_of(scores), _some_exact(pairs.values())
    for score in scores:
        cells = [score.system, f"{score.score:.{decimals}f}", *_interval(score.confidence_interval, decimals)]
        cells += [f"{score.n_segments:,}"] * len(number)
        pair = pairs.get(score.system)
        if pair is not None:
            cells += _difference(comparison, pair, decimals, bool(number), some_exact)
        elif pairs:
            cells += ["baseline", *[""] * (len(test_header) - 1)]
        table.add(cells, pair is not None and _is_significant(comparison, pair))
    return table


def _pairs(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], decimals: int) -> Table:
    """A row for each pair of systems."""
    number = ["n"] if comparison.lacks_scores(metric.name) else []
    header = ["System", "Baseline", "Δ", *_interval_header(comparison), *number, *_pvalue_headers(comparison)]
    table = Table(f"{metric.name}: {counted(len(pairs), 'pair')}", header, n_names=2)
    some_exact = _some_exact(pairs)
    for pair in pairs:
        cells = [pair.system, pair.baseline, *_difference(comparison, pair, decimals, bool(number), some_exact)]
        table.add(cells, _is_significant(comparison, pair))
    return table


def _scores_with_details(comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore]) -> Table:
    """A row for each system, with the parts of its score."""
    names = list(scores[0].details)
    number = ["n"] if comparison.lacks_scores(metric.name) else []
    header = ["System", metric.name, *_interval_header(comparison), *number, *names]
    table = Table(_title(comparison, metric), header, n_details=len(names))
    decimals = _decimals_of(scores)
    for score, details in zip(scores, _details(names, scores), strict=True):
        interval = _interval(score.confidence_interval, decimals)
        n = [f"{score.n_segments:,}"] * len(number)
        table.add([score.system, f"{score.score:.{decimals}f}", *interval, *n, *details])
    return table


def _details(names: Sequence[str], scores: Sequence[SystemScore]) -> list[list[str]]:
    """The details of each score: counts as integers, the precisions p_1, p_2 … of all systems with equal decimals."""
    groups: dict[str, list[float]] = {}
    for name in names:
        groups.setdefault(name.split("_")[0], []).extend(score.details[name] for score in scores)

    def cell(name: str, value: float) -> str:
        if isinstance(value, int):
            return f"{value:,}"
        return f"{value:.{1 if max(groups[name.split('_')[0]]) >= 10 else 3}f}"

    return [[cell(name, score.details[name]) for name in names] for score in scores]


def _decimals_of(scores: Sequence[SystemScore]) -> int:
    return decimals_for(max(abs(score.score) for score in scores))


def decimals_for(largest: float) -> int:
    """Decimals for scores up to ``largest``: two in the tens, four from 0 to 1, more where these would show 0.

    >>> decimals_for(71.2), decimals_for(5.3), decimals_for(0.8), decimals_for(0.00013)
    (2, 3, 4, 6)
    """
    if 0 < largest < 0.01:
        return min(2 - math.floor(math.log10(largest)), 15)
    return 2 if largest >= 10 else 3 if largest > 1 else 4


def _interval(interval: ConfidenceInterval | None, decimals: int, sign: str = "") -> list[str]:
    """The cell of an interval, if there is one."""
    return [] if interval is None else [f"{interval.low:{sign}.{decimals}f} to {interval.high:{sign}.{decimals}f}"]


def _some_exact(pairs: Iterable[PairedDifference]) -> bool:
    """Whether any test of a table is exact, so that its p-values have a column for that mark."""
    return any(pair.test.scheme == "exact" for pair in pairs)


def _difference(
    comparison: Comparison, pair: PairedDifference, decimals: int, numbered: bool, some_exact: bool
) -> list[str]:
    """The cells of a difference: its value, its interval and its p-values, with a star if it is significant.

    ``numbered``: also its number of segments. ``some_exact``: whether any test of the table is exact.
    """
    # The spaces keep p-values without a mark in line with those that have one.
    star = "*" if _is_significant(comparison, pair) else " "
    difference = f"{pair.difference:+.{decimals}f}"
    of_columns = [pair.test.pvalue, pair.test.adjusted_pvalue][: len(_pvalue_headers(comparison))]
    pvalues = [pvalue_cell(pair.test, p) for p in of_columns if p is not None]
    if some_exact:
        pvalues[0] += EXACT if pair.test.scheme == "exact" else " "
    n = [f"{pair.n_segments:,}"] if numbered else []
    return [difference, *_interval(pair.confidence_interval, decimals, "+"), *n, *pvalues[:-1], pvalues[-1] + star]


def _is_significant(comparison: Comparison, pair: PairedDifference) -> bool:
    return comparison.alpha is not None and pair.is_significant(comparison.alpha)


def pvalue_cell(test: SignificanceResult, p: float) -> str:
    """``p`` with as many decimals as 1/R has, at least four; ``<0.0001`` below that."""
    if p < 1e-4:
        return "<0.0001"
    simulated = test.n_resamples is not None and test.scheme != "exact"
    return f"{p:.{max(4, math.ceil(math.log10(test.n_resamples))) if simulated else 4}f}"
