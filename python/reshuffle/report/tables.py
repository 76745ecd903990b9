"""The tables of a comparison, for the formats that people read: first the systems, then what the layout asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..errors import counted
from ..grouping import grouped
from ..results import Comparison, DocumentScore, PairedDifference, SystemScore, UsedMetric
from .captions import symbols
from .cells import Table, score_cell, under
from .conclusions import detectable_sentence
from .layout import Layout
from .margins import is_significant
from .parts import parts_table
from .systems import (
    difference_columns,
    has_ranks,
    interval_header,
    margin_in_title,
    merged,
    of_direction,
    of_one_metric,
    pairs_of,
    score_intervals,
    shows_best_alone,
    sorted_systems,
)

# A triangle of more columns has room for two or three digits only.
MAX_COMPLETE = 8
# So many documents are shown of more than FEW.
FIRST = 5


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
            pairs = pairs_of(comparison, metric)
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
    under = f" under {of_direction(metrics[0])}" if len(metrics) == 1 else ""
    if comparison.averaged_over:
        under += f", average over {counted(len(comparison.averaged_over), 'test set')}"
    numbered = comparison.lacks_scores()
    names = ["System", *["Baseline"] * (comparison.baseline is None and not (of_best and comparison.is_reversible))]
    tested = comparison.comparisons
    header = [*names, *(heading for heading, _ in difference_columns(comparison, tested, 0, numbered))]
    table = Table(f"Differences {which}{under}", header, n_names=len(names))
    for metric in metrics:
        if table.rows:
            table.rule()
        if len(metrics) > 1:
            of_system = "" if one or not of_best else f": differences {from_best.format(best[metric.name])}"
            table.sections[len(table.rows)] = f"{of_direction(metric)}{of_system}"
        pairs = [
            pair.reversed if of_best and pair.system == best[metric.name] and comparison.is_reversible else pair
            for pair in pairs_of(comparison, metric)
            if not of_best or best[metric.name] in (pair.system, pair.baseline)
        ]
        columns = difference_columns(comparison, tested, _decimals(comparison, metric, pairs, layout), numbered)
        for pair in pairs:
            table.add([*(pair.system, pair.baseline)[: len(names)], *(cell(pair) for _, cell in columns)])
    more = detectable_sentence(comparison, layout) if comparison.detectable else ""
    return replace(table.explained(*symbols(comparison, table)), remark=more)


def _decimals(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], layout: Layout) -> int:
    """Those of the differences of these pairs."""
    return layout.decimals_of([pair.difference for pair in pairs], layout.decimals(comparison, metric.name))


def _pairs(comparison: Comparison, metric: UsedMetric, layout: Layout) -> Table:
    """A row for each pair of systems."""
    pairs = pairs_of(comparison, metric)
    decimals = _decimals(comparison, metric, pairs, layout)
    columns = difference_columns(comparison, pairs, decimals, comparison.lacks_scores(metric.name))
    header = ["System", "Baseline", *(heading for heading, _ in columns)]
    title = f"{metric.name}: {counted(len(pairs), 'pair')}{margin_in_title(comparison, metric)}"
    table = Table(title, header, n_names=2, bold_means="in tables of pairs, the significantly better system")
    for pair in pairs:
        cells = [pair.system, pair.baseline, *(cell(pair) for _, cell in columns)]
        verdict = comparison.verdict(pair)
        table.add(cells, [verdict == "better", verdict == "worse", *[False] * (len(cells) - 2)])
    return table


def triangle(comparison: Comparison, metric: UsedMetric, layout: Layout) -> Table:
    """A matrix of how much each system is better than each system below it, from best to worst under the metric."""
    sign = 1 if metric.higher_is_better else -1
    systems = sorted_systems(comparison, metric)
    pairs = {}
    for pair in under(metric.name, comparison.comparisons):
        star, verdict = "*" if is_significant(comparison, pair) else " ", comparison.verdict(pair)
        pairs[pair.system, pair.baseline] = (sign * pair.difference, star, verdict == "better")
        pairs[pair.baseline, pair.system] = (-sign * pair.difference, star, verdict == "worse")
    decimals = layout.decimals(comparison, metric.name)
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


def document_tables(comparison: Comparison, layout: Layout, every: bool = False) -> Iterator[Table]:
    """A row for each document and system; no table if there are no scores of documents. JSON has all metrics.

    Of many documents, those with the highest error rates are shown, unless tables of pairs or ``every`` are wanted.
    """
    if not comparison.document_scores or (layout.pairs is False and not every):
        return
    metric = comparison.document_scores[0].metric
    in_all = under(metric, comparison.scores)
    decimals, details = layout.decimals(comparison, metric), list(in_all[0].details)
    by_document = grouped((score.document, score) for score in under(metric, comparison.document_scores))
    header = ["Document", "System", "Segments", metric, *details]
    title = f"{metric} by document"
    if not (every or layout.shows_all_documents(comparison)):
        means = {name: sum(each.score for each in own) / len(own) for name, own in by_document.items()}
        highest = sorted(by_document, key=means.__getitem__, reverse=True)[:FIRST]
        title = f"{title}: the {len(highest)} highest of {len(by_document)}"
        by_document = {name: by_document[name] for name in highest}
    table = Table(title, header, n_names=2, grouped=1)

    def add(document: str, scores: Sequence[DocumentScore | SystemScore]) -> None:
        of_system = {score.system: score for score in scores}
        for score in map(of_system.__getitem__, sorted_systems(comparison)):
            counts = [f"{score.details[name]:,.0f}" for name in details]
            table.add([document, score.system, f"{score.n_segments:,}", score_cell(score.score, decimals), *counts])

    for document, scores in by_document.items():
        add(document, scores)
    table.rule()
    add("all", in_all)
    yield table
