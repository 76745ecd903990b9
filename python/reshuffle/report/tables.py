"""The tables of a comparison, for the formats that people read: first the systems, then what the layout asks for."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import counted
from ..results import Comparison, PairedDifference, UsedMetric
from .captions import symbols
from .cells import Table, decimals_of
from .conclusions import detectable_sentence
from .layout import Layout
from .parts import parts_table
from .speakers import document_tables
from .systems import (
    difference_cells,
    has_ranks,
    interval_header,
    margin_in_title,
    merged,
    number_header,
    of_one_metric,
    pvalue_headers,
    score_intervals,
    shows_best_alone,
    some_exact,
    sorted_systems,
)
from .triangle import triangle


def tables(comparison: Comparison, layout: Layout) -> Iterator[Table]:
    """The systems under all metrics in one table; then, as the layout wants, triangles and tables of each metric.

    Names are those of the comparison: :meth:`Layout.apply` renames systems.
    """
    first, *details = system_tables(comparison, layout)
    yield first
    yield from pair_tables(comparison, layout)
    yield from details
    yield from document_tables(comparison, layout)


def system_tables(comparison: Comparison, layout: Layout) -> Iterator[Table]:
    """One table of all systems and metrics, then the components of the scores if the layout asks for them."""
    metrics = comparison.metrics
    if len(metrics) == 1:
        yield of_one_metric(comparison, metrics[0], layout)
    else:
        yield merged(comparison, layout)
    if layout.shows_details(comparison):
        detailed = {score.metric for score in comparison.scores if score.details}
        yield from (of_one_metric(comparison, metric, layout) for metric in metrics if metric.name in detailed)


def pair_tables(comparison: Comparison, layout: Layout) -> Iterator[Table]:
    """The triangles and tables of pairs that the layout asks for."""
    if layout.triangle:
        for metric in comparison.metrics:
            yield triangle(comparison, metric, layout)
    if layout.shows_pairs(comparison):
        yield from _pairs_of_metrics(comparison, layout)
    if layout.shows_parts(comparison):
        for metric in comparison.metrics:
            pairs = _pairs_of(comparison, metric)
            if any(pair.contributions for pair in pairs):
                yield parts_table(comparison, metric, pairs, layout)


def _pairs_of_metrics(comparison: Comparison, layout: Layout) -> Iterator[Table]:
    """A table of differences for each metric, unless that of the systems has them."""
    several = len(comparison.metrics) > 1
    if comparison.baseline is not None:
        if several:
            yield from (of_one_metric(comparison, metric, layout) for metric in comparison.metrics)
        return
    if several and has_ranks(comparison) and interval_header(comparison):
        yield score_intervals(comparison, layout)
    for metric in comparison.metrics:
        yield _pairs(comparison, metric, layout)


def differences(comparison: Comparison, layout: Layout) -> Table:
    """The differences under all metrics with their intervals and p-values: for papers, beside the table of systems.

    Of all pairs of many systems, those from the best one under the metric.
    """
    of_best, metrics = shows_best_alone(comparison), comparison.metrics
    best = {metric.name: sorted_systems(comparison, metric)[0] for metric in metrics}
    one = len(set(best.values())) == 1
    from_best = "from {}" if comparison.is_reversible else "between {} and others"
    if of_best:
        which = from_best.format(best[metrics[0].name] if one else "the best system under each metric")
    else:
        which = "of all pairs" if comparison.baseline is None else f"from {comparison.baseline}"
    under = f" under {metrics[0].name}" if len(metrics) == 1 else ""
    if comparison.averaged_over:
        under += f", average over {counted(len(comparison.averaged_over), 'test set')}"
    numbered = any(number_header(comparison, metric.name) for metric in metrics)
    names = ["System", *["Baseline"] * (comparison.baseline is None and not (of_best and comparison.is_reversible))]
    header = [*names, "Δ", *interval_header(comparison), *["n"] * numbered, *pvalue_headers(comparison)]
    table = Table(f"Differences {which}{under}", header, n_names=len(names))
    exact = some_exact(comparison.comparisons)
    for metric in metrics:
        if table.rows:
            table.rule()
        if len(metrics) > 1:
            of_system = "" if one or not of_best else f": differences {from_best.format(best[metric.name])}"
            table.sections[len(table.rows)] = f"{metric.name}{of_system}"
        decimals = decimals_of([s for s in comparison.scores if s.metric == metric.name], layout.digits)
        pairs = [
            pair.reversed if of_best and pair.system == best[metric.name] and comparison.is_reversible else pair
            for pair in _pairs_of(comparison, metric)
            if not of_best or best[metric.name] in (pair.system, pair.baseline)
        ]
        decimals = layout.decimals_of([pair.difference for pair in pairs], decimals)
        for pair in pairs:
            shown = difference_cells(comparison, pair, decimals, numbered, exact)
            table.add([*(pair.system, pair.baseline)[: len(names)], *shown])
    more = detectable_sentence(comparison, layout) if comparison.detectable else ""
    return table.explained(" ".join(filter(None, (symbols(comparison, table), more))))


def _pairs_of(comparison: Comparison, metric: UsedMetric) -> list[PairedDifference]:
    """The pairs under a metric, in the order of the systems. Of all pairs, the better system comes first."""
    all_pairs = comparison.baseline is None
    place = {system: number for number, system in enumerate(sorted_systems(comparison, metric if all_pairs else None))}
    pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
    if all_pairs and comparison.is_reversible:
        pairs = [pair if place[pair.system] < place[pair.baseline] else pair.reversed for pair in pairs]
    return sorted(pairs, key=lambda pair: sorted((place[pair.system], place[pair.baseline])))


def _pairs(comparison: Comparison, metric: UsedMetric, layout: Layout) -> Table:
    """A row for each pair of systems."""
    pairs = _pairs_of(comparison, metric)
    number = number_header(comparison, metric.name)
    header = ["System", "Baseline", "Δ", *interval_header(comparison), *number, *pvalue_headers(comparison)]
    title = f"{metric.name}: {counted(len(pairs), 'pair')}{margin_in_title(comparison, metric)}"
    table = Table(title, header, n_names=2, bold_means="in tables of pairs, the significantly better system")
    decimals = decimals_of([s for s in comparison.scores if s.metric == metric.name], layout.digits)
    decimals, exact = layout.decimals_of([pair.difference for pair in pairs], decimals), some_exact(pairs)
    for pair in pairs:
        shown = difference_cells(comparison, pair, decimals, bool(number), exact)
        cells = [pair.system, pair.baseline, *shown]
        verdict = comparison.verdict(pair)
        table.add(cells, [verdict == "better", verdict == "worse", *[False] * (len(cells) - 2)])
    return table
