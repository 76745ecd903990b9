"""What the tests conclude, in a few sentences: which systems are better, and which differences would be detected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..results import Comparison, DetectableDifference, PairedDifference, Ranking, UsedMetric
from .cells import decimals_of
from .layout import Layout
from .notes import counted, joined, number
from .systems import has_ranks, is_significant

__all__ = ["conclusions"]

# More systems are counted instead of named.
MAX_NAMED = 4


def conclusions(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """The sentences below the table of systems. None for scores without tests."""
    if not comparison.comparisons:
        return
    if has_ranks(comparison):
        yield _per_metric({ranking.metric: _top(ranking) for ranking in comparison.rankings})
        narrower = {r.metric: r.mcb_best for r in comparison.rankings if r.mcb_best and len(r.mcb_best) < len(r.best)}
        if narrower:
            which = "; ".join(f"under {metric}: {_named(best)}" for metric, best in narrower.items())
            yield f"Hsu's comparison with the best leaves fewer candidates for the best, {which}."
    elif comparison.baseline is not None:
        yield _per_metric({m.name: _against_baseline(comparison, m, comparison.baseline) for m in comparison.metrics})
    else:
        yield _per_metric({m.name: _number_of_pairs(comparison, m) for m in comparison.metrics})
    if comparison.detectable:
        yield _detectable(comparison, layout)


def _per_metric(statements: dict[str, str]) -> str:
    """One sentence of the statements, with the metrics for which each holds.

    >>> _per_metric({"BLEU": "a is better than b", "chrF": "a is better than b", "TER": "a and b are not separated"})
    'a is better than b under BLEU and chrF; under TER a and b are not separated.'
    """
    metrics: dict[str, list[str]] = {}
    for metric, statement in statements.items():
        metrics.setdefault(statement, []).append(metric)
    (first, under), *others = metrics.items()
    parts = [f"{first} under {joined(under)}", *(f"under {joined(under)} {statement}" for statement, under in others)]
    return "; ".join(parts) + "."


def _top(ranking: Ranking) -> str:
    """Which systems may be the best one."""
    top, n_systems = ranking.systems[0], len(ranking.systems)
    if top.rank_high == 1:
        others = "" if n_systems == 2 else "all others"
        return f"{top.system} is better than {others or ranking.systems[1].system}"
    if len(ranking.best) == n_systems:
        if n_systems == 2:
            return f"{joined(ranking.best)} are not separated"
        return f"no two of the {n_systems:,} systems are separated"
    if len(ranking.best) == 1:
        return f"only {ranking.best[0]} is not worse than any other, but it is not better than all others"
    return f"{_named(ranking.best)} are not separated from the best"


def _named(systems: tuple[str, ...]) -> str:
    return joined(systems) if len(systems) <= MAX_NAMED else counted(len(systems), "system")


def _against_baseline(comparison: Comparison, metric: UsedMetric, baseline: str) -> str:
    """How the systems differ from the baseline."""
    groups: dict[str, list[str]] = {"better than": [], "worse than": [], "not separated from": []}
    for pair in comparison.comparisons:
        if pair.metric == metric.name:
            groups[_relation(comparison, pair, metric)].append(pair.system)
    present = {relation: systems for relation, systems in groups.items() if systems}
    if len(present) == 1:
        ((relation, systems),) = present.items()
        subject = _all(systems)
        return f"{subject} {relation} {baseline}"
    phrases = [
        f"{_some(systems)} {relation} {baseline if index == 0 else 'it'}"
        for index, (relation, systems) in enumerate(present.items())
    ]
    return joined(phrases)


def _relation(comparison: Comparison, pair: PairedDifference, metric: UsedMetric) -> str:
    if not is_significant(comparison, pair):
        return "not separated from"
    # A one-sided test can only show a difference in its direction.
    alternative = pair.test.alternative
    higher = pair.difference > 0 if alternative == "two-sided" else alternative == "greater"
    return "better than" if higher == metric.higher_is_better else "worse than"


def _all(systems: list[str]) -> str:
    if len(systems) <= MAX_NAMED:
        return _some(systems)
    return f"all {len(systems):,} systems are"


def _some(systems: list[str]) -> str:
    be = "is" if len(systems) == 1 else "are"
    return f"{_named(tuple(systems))} {be}"


def _number_of_pairs(comparison: Comparison, metric: UsedMetric) -> str:
    """For pairs without a ranking, as in one-sided tests."""
    pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
    starred = sum(is_significant(comparison, pair) for pair in pairs)
    return f"{starred:,} of {counted(len(pairs), 'pair')} differ significantly"


def _detectable(comparison: Comparison, layout: Layout) -> str:
    decimals = {
        metric.name: decimals_of([s for s in comparison.scores if s.metric == metric.name], layout.digits)
        for metric in comparison.metrics
    }
    differences = ", ".join(_of_metric(each, decimals[each.metric]) for each in comparison.detectable)
    power = number(100 * comparison.detectable[0].power)
    median = " for the median pair" if any(each.low < each.high for each in comparison.detectable) else ""
    return f"Minimum detectable difference ({power}% power){median}: {differences}."


def _of_metric(each: DetectableDifference, decimals: int) -> str:
    """The difference for the median pair, with that of the other pairs where these differ.

    >>> _of_metric(DetectableDifference("BLEU", 0.5, 0.25, 0.75, 0.8, 0.05), 2)
    'BLEU 0.50 (0.25 to 0.75)'
    """
    median, low, high = (f"{value:.{decimals}f}" for value in (each.difference, each.low, each.high))
    return f"{each.metric} {median}" + (f" ({low} to {high})" if low != high else "")
