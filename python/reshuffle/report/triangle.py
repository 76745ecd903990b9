"""The pairs of systems as a triangular matrix of differences and stars."""

from __future__ import annotations

from ..results import Comparison, UsedMetric
from .cells import Table, decimals_of
from .layout import Layout
from .systems import is_significant, margin_in_title

# More columns have room for two or three digits only.
MAX_COMPLETE = 8


def triangle(comparison: Comparison, metric: UsedMetric, layout: Layout) -> Table:
    """A matrix of how much each system is better than each system below it, from best to worst under the metric."""
    sign = 1 if metric.higher_is_better else -1
    scores = {s.system: s.score for s in comparison.scores if s.metric == metric.name}
    systems = sorted(scores, key=lambda system: -sign * scores[system])
    pairs = {}
    for pair in comparison.comparisons:
        if pair.metric == metric.name:
            star, verdict = "*" if is_significant(comparison, pair) else " ", comparison.verdict(pair)
            pairs[pair.system, pair.baseline] = (sign * pair.difference, star, verdict == "better")
            pairs[pair.baseline, pair.system] = (-sign * pair.difference, star, verdict == "worse")
    decimals = decimals_of([s for s in comparison.scores if s.metric == metric.name], layout.digits)
    # Differences of small scores would be rounded to 0.
    complete = len(systems) <= MAX_COMPLETE or layout.digits is not None or decimals > 4
    numbers = range(1, len(systems) + 1)
    header = ["", "System", *(f"{number} " for number in numbers[:-1])]
    title = f"{metric.name}: by how much the system of the column is better than the system of the row"
    title += margin_in_title(comparison, metric)
    table = Table(title, header, 2, breaks=(*range(3, len(header)),), gap=1 if complete else 0)
    table.bold_means = "the system of the column is significantly better"
    for row, system in enumerate(systems):
        cells = [f"{numbers[row]:>{len(str(len(systems)))}}", system]
        bold = [False, False]
        for column in range(len(systems) - 1):
            value, star, better = pairs[systems[column], system] if column < row else (None, "", False)
            cells.append("" if value is None else f"{_cell(value, decimals, complete)}{star}")
            bold.append(better)
        table.add(cells, bold)
    return table


def _cell(value: float, decimals: int, complete: bool) -> str:
    """A difference; unless ``complete`` in at most three characters, or four if it is negative.

    >>> _cell(0.1234, 4, True), _cell(0.1234, 4, False), _cell(1.96, 2, False), _cell(12.85, 2, False)
    ('0.1234', '.12', '2.0', '13')
    """
    if complete:
        return f"{value:.{decimals}f}"
    if abs(value) < 0.995:
        return f"{value:.2f}".replace("0.", ".", 1)
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"
