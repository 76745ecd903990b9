"""Tables and notes about several test sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attrs import evolve

from ..errors import counted
from ..results import Comparison, SetComparison, UsedMetric
from .cells import Table, score_cell, under
from .layout import FEW, Layout, by_name
from .margins import is_significant
from .systems import bold_rows, bold_systems, margin_in_title, sorted_systems


def with_choice(result: Comparison | SetComparison, layout: Layout) -> Layout:
    """The layout with ``pairs`` decided, for all test sets alike if there are several."""
    if isinstance(result, Comparison):
        return layout
    few = sum(len(comparison.comparisons) for comparison in by_name(result).values()) <= FEW
    # That there are few pairs is no request for the parts of their differences.
    return evolve(layout, pairs=few and not layout.triangle, parts=False) if layout.pairs is None else layout


def headed(name: str, table: Table) -> Table:
    """A table with the name of its test set, if it has one, in the title."""
    return replace(table, title=f"{name}: {table.title}") if name else table


def set_tables(result: SetComparison, layout: Layout) -> Iterator[Table]:
    """For each metric a table of systems × test sets, with the letters of the systems or their stars."""
    order = sorted_systems(result.average or next(iter(result.sets.values())))
    shown = by_name(result)
    first = next(iter(shown.values()))
    for metric in first.metrics:
        header = ["System", *shown]
        title = f"{metric.name} on {counted(len(result.sets), 'test set')}"
        title += "" if metric.higher_is_better else ", lower is better"
        title += margin_in_title(first, metric) if first.baseline is not None else ""
        table = Table(title, header, breaks=(*range(2, len(header)),))
        table.bold_means = bold_rows(first)
        columns = [_column(comparison, metric, layout) for comparison in shown.values()]
        for system in order:
            cells, bold = zip(*(column[system] for column in columns), strict=True)
            table.add([system, *cells], [all(bold), *bold])
        yield table


def _column(comparison: Comparison, metric: UsedMetric, layout: Layout) -> dict[str, tuple[str, bool]]:
    """The cell of each system on one test set, with its letters or its star, and whether it is bold."""
    decimals, bold = layout.decimals(comparison, metric.name), bold_systems(comparison, metric)
    if comparison.baseline is None:
        rankings = under(metric.name, comparison.rankings)
        marks = {each.system: f" {each.letters}" for of in rankings for each in of.systems if each.letters}
    else:
        pairs = under(metric.name, comparison.comparisons)
        marks = {pair.system: "*" for pair in pairs if is_significant(comparison, pair)}
    # Spaces keep the scores in line with each other.
    width = max(map(len, marks.values()), default=0)
    return {
        score.system: (
            f"{score_cell(score.score, decimals)}{marks.get(score.system, ''):<{width}}",
            score.system in bold,
        )
        for score in under(metric.name, comparison.scores)
    }
