"""Tables with a row for each system: its scores, and its rank or its difference from the baseline."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ..errors import counted
from ..results import Comparison, PairedDifference, RankedSystem, SystemScore, UsedMetric
from .cells import (
    EXACT,
    Table,
    difference_and_interval,
    interval_cells,
    pvalue_cell,
    random_replicates,
    rank_cell,
    score_cell,
    signed,
    under,
)
from .layout import Layout
from .margins import claim, has_margin, is_significant, within
from .wording import ci, joined, strata

# The heading of a column, and what it shows of a record.
Column: TypeAlias = tuple[str, Callable[[Any], str]]
# How votes belong to what is drawn.
BELONG = {"judge": "by", "ranking": "in", "prompt": "on"}


def size_of(comparison: Comparison, stratified: bool = False) -> str:
    """What was compared, as a phrase: segments with scores, in how many documents and strata, or votes."""
    of_unit = counted(comparison.n_units, comparison.unit)
    if comparison.votes is not None:
        votes = counted(comparison.votes.n_votes, "vote")
        belong = BELONG.get(comparison.unit)
        return votes if belong is None else f"{votes} {belong} {of_unit}"
    size = counted(comparison.n_segments, "segment")
    scored = [score.n_segments for score in comparison.scores]
    if max(scored) < comparison.n_segments:  # else the columns n say which scores are missing
        most = f"{max(scored):,}"
        size = f"{most if min(scored) == max(scored) else f'{min(scored):,} to {most}'} of {size}"
    if comparison.unit != "segment":
        size += f" in {of_unit}"
    if stratified and comparison.n_strata is not None:
        size += f" in {strata(comparison.n_strata)}"
    return size


def references_of(comparison: Comparison) -> str:
    """How many references segments have, as a phrase: at most so many if that varies, also between test sets."""
    varies = any(re.search(r"\|nrefs:(var|\d+\+)", metric.signature) for metric in comparison.metrics)
    return f"{'up to ' if varies else ''}{counted(comparison.n_references, 'reference')}"


def sorted_systems(comparison: Comparison, metric: UsedMetric | None = None) -> list[str]:
    """The systems from best to worst under a metric, in the order of the input if equal; the baseline first.

    The default is the first metric.
    """
    metric = metric or comparison.metrics[0]
    sign = -1 if metric.higher_is_better else 1
    scores = {s.system: sign * s.score for s in under(metric.name, comparison.scores)}
    return sorted(comparison.systems, key=lambda system: (system != comparison.baseline, scores[system]))


def pairs_of(comparison: Comparison, metric: UsedMetric) -> list[PairedDifference]:
    """The pairs under a metric, in the order of their rows. Of all pairs, the better system comes first."""
    all_pairs = comparison.baseline is None
    place = {system: number for number, system in enumerate(sorted_systems(comparison, metric if all_pairs else None))}
    pairs = under(metric.name, comparison.comparisons)
    if all_pairs and comparison.is_reversible:
        pairs = [pair if place[pair.system] < place[pair.baseline] else pair.reversed for pair in pairs]
    return sorted(pairs, key=lambda pair: sorted((place[pair.system], place[pair.baseline])))


def has_ranks(comparison: Comparison) -> bool:
    """Whether the table of systems shows ranks: differences from a baseline say more about that baseline."""
    return comparison.baseline is None and bool(comparison.rankings)


def of_one_metric(comparison: Comparison, metric: UsedMetric, layout: Layout) -> Table:
    """Everything about the systems under one metric: with the differences or, without tests, the score components."""
    columns = _columns(comparison, metric, layout, complete=True)
    details, constant = _details([] if comparison.comparisons else under(metric.name, comparison.scores))
    header = ["System", *(heading for heading, _ in [*columns, *details])]
    title = (
        _title(comparison, [metric])
        if len(comparison.metrics) == 1
        else _with_direction(metric) + margin_in_title(comparison, metric)
    )
    breaks = (*range(1 + len(columns), len(header)),)
    table = Table(title + constant, header, breaks=breaks, beside=tuple(_letters(columns, 1)))
    table.bold_means = bold_means(comparison)
    clusters = {system: ranked.cluster for system, ranked in _ranks(comparison, metric).items()}
    bold, before = bold_systems(comparison, metric), None
    for system in sorted_systems(comparison, metric if has_ranks(comparison) else None):
        if before is not None and clusters[system] != before:
            table.rule()
        before = clusters.get(system)
        table.add([system, *(cell(system) for _, cell in [*columns, *details])], system in bold)
    return table


def merged(comparison: Comparison, layout: Layout) -> Table:
    """Systems × metrics: scores with ranks and letters, or with differences from the baseline and stars."""
    groups = [_columns(comparison, metric, layout, complete=False) for metric in comparison.metrics]
    bold = [bold_systems(comparison, metric) for metric in comparison.metrics]
    header, breaks, beside = ["System"], [], []
    for columns in groups:
        breaks.append(len(header))
        beside += _letters(columns, len(header))
        header += [heading for heading, _ in columns]
    table = Table(_title(comparison, comparison.metrics), header, breaks=tuple(breaks[1:]), beside=tuple(beside))
    table.bold_means = bold_rows(comparison)
    for system in sorted_systems(comparison):
        cells = [cell(system) for columns in groups for _, cell in columns]
        flags = [system in own for own, columns in zip(bold, groups, strict=True) for _ in columns]
        table.add([system, *cells], [all(flags), *flags])
    return table


def score_intervals(comparison: Comparison, layout: Layout) -> Table:
    """The confidence intervals of the scores, for which a table with ranks under several metrics has no room."""
    level = interval_header(comparison)[0]
    header = ["System", *(f"{metric.name} {level}" for metric in comparison.metrics)]
    table = Table(f"{level} of scores", header, breaks=(*range(2, len(header)),))
    rows: dict[str, list[str]] = {system: [] for system in sorted_systems(comparison)}
    for metric in comparison.metrics:
        decimals = layout.decimals(comparison, metric.name)
        for score in under(metric.name, comparison.scores):
            rows[score.system] += interval_cells(score.confidence_interval, decimals)
    for system, cells in rows.items():
        table.add([system, *cells])
    return table


def bold_systems(comparison: Comparison, metric: UsedMetric) -> set[str]:
    """The systems that may be the best ones under a metric, or are significantly better than the baseline."""
    if comparison.baseline is None:
        return {system for ranking in under(metric.name, comparison.rankings) for system in ranking.best}
    pairs = under(metric.name, comparison.comparisons)
    return {pair.system for pair in pairs if comparison.verdict(pair) == "better"}


def _ranks(comparison: Comparison, metric: UsedMetric) -> dict[str, RankedSystem]:
    """The systems in the ranking under a metric, if the table has ranks."""
    rankings = under(metric.name, comparison.rankings) if has_ranks(comparison) else ()
    return {ranked.system: ranked for ranking in rankings for ranked in ranking.systems}


def _letters(columns: Sequence[Column], first: int) -> list[int]:
    """The index of the column of letters, if there is one, where that of the score is ``first``."""
    return [first + index for index, (heading, _) in enumerate(columns) if heading == "Group" and index]


def _columns(comparison: Comparison, metric: UsedMetric, layout: Layout, complete: bool) -> list[Column]:
    """The columns of a table of systems that belong to one metric.

    The score, its interval and number of segments, and the rank and the letters, or the difference from the baseline.
    ``complete``: with confidence intervals and p-values, for which a table of several metrics has no room.
    """
    scores = {score.system: score for score in under(metric.name, comparison.scores)}
    decimals, n_metrics = layout.decimals(comparison, metric.name), len(comparison.metrics)
    ranks, numbered = _ranks(comparison, metric), comparison.lacks_scores(metric.name)
    pairs = {} if comparison.baseline is None else {p.system: p for p in under(metric.name, comparison.comparisons)}
    columns: list[Column] = [(metric.name, lambda system: score_cell(scores[system].score, decimals))]
    # Without ranks and differences there is room for the intervals of several metrics.
    for level in interval_header(comparison) if complete or not (ranks or pairs) else ():
        columns.append((level, lambda system: "".join(interval_cells(scores[system].confidence_interval, decimals))))
    if numbered:
        columns.append(("n", lambda system: f"{scores[system].n_segments:,}"))
    lettered = any(ranked.letters is not None for ranked in ranks.values())
    # Ranks stand in for letters that there are too few of.
    if ranks and (not lettered or layout.shows_group("ranks", n_metrics)):
        columns.append(("Rank", lambda system: rank_cell(ranks[system].rank_low, ranks[system].rank_high)))
    if lettered and layout.shows_group("letters", n_metrics):
        columns.append(("Group", lambda system: ranks[system].letters or ""))
    return [*columns, *_of_pairs(comparison, pairs, decimals, layout, numbered, complete)] if pairs else columns


def _of_pairs(
    comparison: Comparison,
    pairs: Mapping[str, PairedDifference],
    decimals: int,
    layout: Layout,
    numbered: bool,
    complete: bool,
) -> Iterator[Column]:
    """The difference from the baseline; ``complete`` with its interval and p."""
    decimals = layout.decimals_of([pair.difference for pair in pairs.values()], decimals)

    def starred(pair: PairedDifference) -> str:
        return f"{signed(pair.difference, decimals)}{'*' if is_significant(comparison, pair) else ' '}"

    def of_system(cell: Callable[[PairedDifference], str], of_baseline: str, system: str) -> str:
        return cell(pairs[system]) if system in pairs else of_baseline

    columns = difference_columns(comparison, [*pairs.values()], decimals, numbered)
    if not complete:
        columns = [("Δ", starred), *(each for each in columns if each[0] == "n")]
    # A caption says from what system differences are.
    of_baseline = ["–" if layout.paper else "baseline", *[""] * len(columns)]
    for (heading, cell), empty in zip(columns, of_baseline, strict=False):
        yield heading, partial(of_system, cell, empty)


def _with_direction(metric: UsedMetric) -> str:
    return metric.name + ("" if metric.higher_is_better else ", lower is better")


def of_direction(metric: UsedMetric) -> str:
    """The name of a metric among others, with what is better if that is lower."""
    return metric.name + ("" if metric.higher_is_better else " (lower is better)")


def margin_in_title(comparison: Comparison, *metrics: UsedMetric) -> str:
    """What follows the title of a table if its stars mark equivalence or non-inferiority under these metrics."""
    if not has_margin(comparison):
        return ""
    return f"; *: {claim(comparison, joined(within(comparison, metric.name) for metric in metrics))}"


def _title(comparison: Comparison, metrics: Sequence[UsedMetric]) -> str:
    title = _with_direction(metrics[0]) if len(metrics) == 1 else joined(map(of_direction, metrics))
    segments = size_of(comparison, stratified=not comparison.averaged_over)
    if comparison.averaged_over:
        title += f", average over {counted(len(comparison.averaged_over), 'test set')}"
    references = f"{references_of(comparison)}, " if comparison.n_references else ""
    systems = counted(len(comparison.systems), "system")
    margins = margin_in_title(comparison, *metrics) if comparison.baseline is not None else ""
    return f"{title}: {segments}, {references}{systems}{margins}"


def interval_header(comparison: Comparison) -> list[str]:
    """The header of a column of confidence intervals, if there are any."""
    if comparison.interval is None or comparison.confidence_level is None:
        return []
    return [ci(comparison.confidence_level)]


def difference_columns(
    comparison: Comparison, pairs: Sequence[PairedDifference], decimals: int, numbered: bool
) -> list[Column]:
    """The columns of differences: the value, its interval and its p-values, with a star if it is significant.

    ``numbered``: also the number of segments. Without the adjusted p where it equals p because every family has only
    one test.
    """
    some_exact = any(pair.test.scheme == "exact" for pair in pairs)

    def difference(pair: PairedDifference) -> list[str]:
        return difference_and_interval(pair.difference, pair.confidence_interval, decimals, exactly=True)

    def pvalue(pair: PairedDifference, p: float | None) -> str:
        return "" if p is None else pvalue_cell(p, random_replicates(pair.test), comparison.alpha)

    # The spaces keep p-values without a mark in line with those that have one.
    def star(pair: PairedDifference) -> str:
        return "*" if is_significant(comparison, pair) else " "

    def unadjusted(pair: PairedDifference) -> str:
        exact = (EXACT if pair.test.scheme == "exact" else " ") * some_exact
        return pvalue(pair, pair.test.pvalue) + exact

    columns: list[Column] = [("Δ", lambda pair: difference(pair)[0])]
    columns += [(level, lambda pair: difference(pair)[1]) for level in interval_header(comparison)]
    columns += [("n", lambda pair: f"{pair.n_segments:,}")] * numbered
    if comparison.family_size == 1:
        return [*columns, ("p", lambda pair: unadjusted(pair) + star(pair))]
    adjusted: Column = ("adjusted p", lambda pair: pvalue(pair, pair.test.adjusted_pvalue) + star(pair))
    return [*columns, ("p", unadjusted), adjusted]


def some_interval_disagrees(comparison: Comparison, among: Collection[PairedDifference] | None = None) -> bool:
    """Whether an interval of these pairs (by default all) excludes 0 although p, which is adjusted, is above α."""
    if comparison.family_size == 1 or has_margin(comparison):
        return False
    return any(
        pair.confidence_interval is not None
        and (pair.confidence_interval.low > 0 or pair.confidence_interval.high < 0)
        and not is_significant(comparison, pair)
        for pair in (comparison.comparisons if among is None else among)
    )


def bold_means(comparison: Comparison) -> str:
    """What bold type marks in tables of systems."""
    if comparison.baseline is None:
        return "not significantly worse than any other system"
    return f"significantly better than {comparison.baseline}"


def bold_rows(comparison: Comparison) -> str:
    """The same for tables with several scores of a system in a row."""
    return f"{bold_means(comparison)}; a name is bold if this holds in its whole row"


# The parts of scores that are counts of references.
OF_REFERENCES = ("ref_len", "gold")


def _details(scores: Sequence[SystemScore]) -> tuple[list[Column], str]:
    """The parts of the scores under one metric that all systems have, such as the precisions of BLEU.

    Counts of references, where they are the same for all of several systems, are not columns but the end of a title.
    """
    by_system = {score.system: score.details for score in scores}
    every = [*by_system.values()]
    # The precisions p_1, p_2 … have equal decimals, because they are compared with each other.
    largest: dict[str, float] = {}
    for details in every:
        for name, value in details.items():
            largest[_group(name)] = max(value, largest.get(_group(name), value))

    def cell(name: str, system: str) -> str:
        """Counts as integers, other parts with one decimal in the tens and three below."""
        value = by_system[system][name]
        return f"{value:,}" if isinstance(value, int) else f"{value:.{1 if largest[_group(name)] >= 10 else 3}f}"

    columns: list[Column] = []
    constant = ""
    for name in next(iter(every), ()):
        if not all(name in details for details in every):
            continue
        first, *others = (details[name] for details in every)
        if others and name in OF_REFERENCES and all(other == first for other in others):
            constant += f"; {name} {first:,}"
        else:
            # Precisions, which results call p_1, p_2 …, are not p-values.
            columns.append((f"prec_{name[2:]}" if _group(name) == "p" else name, partial(cell, name)))
    return columns, constant


def _group(name: str) -> str:
    """The parts that have equal decimals: ``p`` for p_1, p_2 …"""
    return name.partition("_")[0]


# Of more systems, a paper has the differences from the best one only.
MANY_SYSTEMS = 6


def shows_best_alone(comparison: Comparison) -> bool:
    """Whether there are too many pairs for a table of a paper, which has the differences from the best system."""
    return comparison.baseline is None and len(comparison.systems) > MANY_SYSTEMS
