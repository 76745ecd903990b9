"""The tables of a comparison as strings in cells, for the formats that people read."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..results import Comparison, ConfidenceInterval, PairedDifference, SignificanceResult, SystemScore, UsedMetric
from .notes import number, strata

__all__ = ["Table", "tables"]


@dataclass(slots=True)
class Table:
    """Cells to be laid out.

    The first ``n_names`` columns are names, the others numbers, and the last ``n_details`` of these may stand in a
    table of their own.
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
            yield _pairs(comparison, metric, pairs, _decimals(scores))
        else:
            yield _scores(comparison, metric, scores, {p.system: p for p in pairs})


def _title(comparison: Comparison, metric: UsedMetric) -> str:
    arrow = "" if metric.higher_is_better else ", lower is better"
    segments = "segment" if comparison.n_segments == 1 else "segments"
    if comparison.unit != "segment":
        segments += f" in {comparison.n_units:,} {comparison.unit}s"
    if comparison.n_strata is not None:
        segments += f" in {strata(comparison)}"
    n = comparison.n_references
    references = f"{n:,} reference{'s' * (n != 1)}, " if n else ""
    return (
        f"{metric.name}{arrow}: {comparison.n_segments:,} {segments}, {references}"
        f"{len(comparison.systems):,} system{'s' * (len(comparison.systems) != 1)}"
    )


def _level(comparison: Comparison) -> list[str]:
    """The column header of the intervals, if there are any."""
    has_none = comparison.interval is None or comparison.confidence_level is None
    return [] if has_none else [f"{number(100 * (comparison.confidence_level or 0))} % interval"]


def _scores(
    comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore], tested: dict[str, PairedDifference]
) -> Table:
    header = ["System", metric.name, *_level(comparison)]
    of_tests = ["Δ", *_level(comparison), *_pvalues(comparison)]
    if tested:
        header += of_tests
    table = Table(_title(comparison, metric), header)
    decimals = _decimals(scores)
    for score in scores:
        cells = [score.system, f"{score.score:.{decimals}f}", *_ends(score.confidence_interval, decimals)]
        pair = tested.get(score.system)
        if pair is not None:
            cells += _tested(comparison, pair, decimals)
        elif tested:
            cells += ["baseline", *[""] * (len(of_tests) - 1)]
        table.add(cells, pair is not None and _significant(comparison, pair))
    return table


def _pairs(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], decimals: int) -> Table:
    header = ["System", "compared with", "Δ", *_level(comparison), *_pvalues(comparison)]
    table = Table(f"{metric.name}: {len(pairs):,} pair{'s' * (len(pairs) != 1)}", header, n_names=2)
    for pair in pairs:
        table.add([pair.system, pair.baseline, *_tested(comparison, pair, decimals)], _significant(comparison, pair))
    return table


def _scores_with_details(comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore]) -> Table:
    names = list(scores[0].details)
    details = _details(names, scores)
    header = ["System", metric.name, *_level(comparison), *names]
    table = Table(_title(comparison, metric), header, n_details=len(names))
    decimals = _decimals(scores)
    for score, of_score in zip(scores, details, strict=True):
        interval = _ends(score.confidence_interval, decimals)
        table.add([score.system, f"{score.score:.{decimals}f}", *interval, *of_score])
    return table


def _details(names: Sequence[str], scores: Sequence[SystemScore]) -> list[list[str]]:
    """The details of each score: counts as whole numbers, p_1, p_2 … of all systems with the same decimals."""
    alike: dict[str, list[float]] = {}
    for name in names:
        alike.setdefault(name.split("_")[0], []).extend(score.details[name] for score in scores)

    def shown(name: str, value: float) -> str:
        if isinstance(value, int):
            return f"{value:,}"
        return f"{value:.{1 if max(alike[name.split('_')[0]]) >= 10 else 3}f}"

    return [[shown(name, score.details[name]) for name in names] for score in scores]


def _decimals(scores: Sequence[SystemScore]) -> int:
    """Decimals to show: two for scores in the tens, four for scores from 0 to 1, more where these would show 0."""
    largest = max(abs(score.score) for score in scores)
    if 0 < largest < 0.01:
        return min(2 - math.floor(math.log10(largest)), 15)
    return 2 if largest >= 10 else 3 if largest > 1 else 4


def _ends(interval: ConfidenceInterval | None, decimals: int, sign: str = "") -> list[str]:
    """The cell of an interval, if there is one."""
    return [] if interval is None else [f"{interval.low:{sign}.{decimals}f} to {interval.high:{sign}.{decimals}f}"]


def _tested(comparison: Comparison, pair: PairedDifference, decimals: int) -> list[str]:
    mark = "*" if _significant(comparison, pair) else " "
    difference = f"{pair.difference:+.{decimals}f}"
    pvalues = [_pvalue(pair.test, p) for p in (pair.test.pvalue, pair.test.adjusted_pvalue) if p is not None]
    return [difference, *_ends(pair.confidence_interval, decimals, "+"), *pvalues[:-1], pvalues[-1] + mark]


def _pvalues(comparison: Comparison) -> list[str]:
    return ["p"] if comparison.test is None or comparison.test.adjustment is None else ["p", "adjusted p"]


def _significant(comparison: Comparison, pair: PairedDifference) -> bool:
    adjusted = pair.test.adjusted_pvalue
    p = pair.test.pvalue if adjusted is None else adjusted
    return comparison.alpha is not None and p <= comparison.alpha


def _pvalue(test: SignificanceResult, p: float) -> str:
    """With as many digits as the number of replicates can tell, four at least; a smaller p in powers of ten."""
    if test.n_resamples is None or test.scheme == "exact":
        if p <= sys.float_info.min:  # a t-test without variance, or a convolution's smallest probability
            return "<2.3e-308" if p else "0"
        return f"{p:.4f}" if p >= 1e-4 else f"{p:.1e}"
    digits = max(4, math.ceil(math.log10(test.n_resamples)))
    return f"{p:.{digits}f}"
