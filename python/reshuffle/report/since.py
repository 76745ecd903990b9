"""What has changed since an earlier result: scores, ranks, verdicts, and systems and metrics that are new or gone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..errors import InputError
from ..grouping import grouped
from ..lazy import lazy
from ..results import NO_DIFFERENCE, Comparison, PairedDifference, Ranking, SetComparison, UsedMetric
from .cells import Table, decimals_of, difference_and_interval, rank_cell, under
from .conclusions import MAX_CANDIDATES
from .layout import Layout, by_name
from .margins import claim, has_margin, is_significant, within, within_all
from .sets import headed
from .systems import has_ranks, sorted_systems
from .wording import counted, joined, named, number, option

ABSENT = "–"


@dataclass(frozen=True)
class Change:
    """A test set, or the average, that both results have. ``name`` is that of the test set, if there are several."""

    name: str
    before: Comparison
    now: Comparison

    @property
    def metrics(self) -> list[UsedMetric]:
        """The metrics that both have, as they are now."""
        known = {metric.name for metric in self.before.metrics}
        return [metric for metric in self.now.metrics if metric.name in known]

    @property
    def systems(self) -> list[str]:
        """The systems of now, in the order of their table, then those that are gone."""
        return [*sorted_systems(self.now), *self.gone]

    @property
    def rankings(self) -> list[tuple[Ranking, Ranking]]:
        """Before and now, under each metric that has ranks in both."""
        if not (has_ranks(self.before) and has_ranks(self.now)):
            return []
        before = {ranking.metric: ranking for ranking in self.before.rankings}
        return [(before[ranking.metric], ranking) for ranking in self.now.rankings if ranking.metric in before]

    @property
    def has_common_pairs(self) -> bool:
        """Whether a pair has a verdict in both, under any metric."""
        return any((pair.system, pair.baseline, pair.metric) in self._earlier for pair in self.now.comparisons)

    @lazy
    def _earlier(self) -> dict[tuple[str, str, str], _Found]:
        """The verdict of each pair before, and in the other direction where the test has none."""
        comparison = self.before
        both = [[pair, pair.reversed] if comparison.is_reversible else [pair] for pair in comparison.comparisons]
        return {(p.system, p.baseline, p.metric): _verdict_of(comparison, p) for pairs in both for p in pairs}

    @lazy
    def verdicts(self) -> list[tuple[_Found, _Found]]:
        """The verdicts before and now of the pairs whose verdict is not what it was."""
        names = {metric.name for metric in self.metrics}
        found = []
        for pair in self.now.comparisons:
            before = self._earlier.get((pair.system, pair.baseline, pair.metric))
            now = _verdict_of(self.now, pair)
            if pair.metric in names and before is not None and before.kind == now.kind and before.found != now.found:
                found.append((before, now))
        return found

    @property
    def gone(self) -> list[str]:
        """The systems that are no longer there."""
        return [system for system in self.before.systems if system not in self.now.systems]

    @property
    def new(self) -> list[str]:
        """The systems that were not there before."""
        return [system for system in self.now.systems if system not in self.before.systems]


def since_tables(result: Comparison | SetComparison, layout: Layout) -> Iterator[Table]:
    """The scores, ranks and verdicts that changed; nothing without an earlier result."""
    for change in _changes(result, layout):
        tables = (make(change, layout) for make in (_scores, _ranks, _verdicts))
        yield from (headed(change.name, table) for table in tables if table.rows)


def since_sentences(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """In words: what changed, in one sentence, then why numbers may not be comparable, and what is new and gone."""
    changes = _changes(result, layout)
    if changes:
        ranked = any(change.rankings for change in changes)
        nothing = f"no {'rank, verdict or candidate for the best system' if ranked else 'verdict'} has changed"
        comparable = not any([*_incomparable(change, layout)] for change in changes)
        caution = "" if comparable else ", but the results may not be comparable"
        tested = any(change.now.comparisons or change.before.comparisons for change in changes)
        if tested and not any(change.has_common_pairs for change in changes):
            nothing, caution = "no verdicts can be compared, because no pair of systems is in both results", ""
        yield f"Since {layout.since_name}, {_what_changed(changes) or nothing}{caution}."
    for sentences in (_baselines, _incomparable):
        yield from _of_each(changes, sentences, layout)
    if len(changes) > 1:
        found = ((change.name, _what_changed([change])) for change in changes)
        yield from (f"{name}: {what}." for name, what in found if what)
    for sentences in (_new_and_gone, _candidates, _only_adjusted, _by_chance, _same_scores):
        yield from _of_each(changes, sentences, layout)


def _same_scores(change: Change, layout: Layout) -> Iterator[str]:
    """That scores have not changed, all or those that no table lists."""
    are_same = [not each.differs for each in _both_scores(change) if each.is_common]
    if any(are_same) and not [*_incomparable(change, layout)]:
        none = "No score of a common system has changed."
        yield none if all(are_same) else "Scores that are not listed have not changed."


def _of_each(
    changes: Sequence[Change], sentences: Callable[[Change, Layout], Iterator[str]], layout: Layout
) -> Iterator[str]:
    """The sentences about test sets, each once, with the names of the test sets unless it is about all."""
    found = grouped((sentence, change.name) for change in changes for sentence in sentences(change, layout))
    for sentence, names in found.items():
        yield sentence if len(names) == len(changes) else f"{joined(names)}: {sentence}"


def _what_changed(changes: Sequence[Change]) -> str:
    """How many ranks and verdicts have changed, and under which metrics the candidates for the best; "" if none."""
    of_common = " among the common systems" if any(change.new or change.gone for change in changes) else ""
    pairs = [pair for change in changes for of in _common_ranks(change).values() for pair in of.values()]
    n_ranks = sum(before != now for before, now in pairs)
    n_verdicts = sum(len(change.verdicts) for change in changes)
    best = dict.fromkeys(metric for change in changes for metric in _new_candidates(change))
    found = [f"{counted(n_ranks, 'rank')}{of_common}"] if n_ranks else []
    found += [counted(n_verdicts, "verdict")] if n_verdicts else []
    found += [f"the candidates for the best system under {joined(best)}"] if best else []
    have = "has" if n_ranks + n_verdicts == 1 and not best else "have"
    return f"{joined(found)} {have} changed" if found else ""


def _baselines(change: Change, layout: Layout) -> Iterator[str]:
    """That the systems are compared with another one."""
    before, now = change.before.baseline, change.now.baseline
    if before is not None and now is not None and before != now:
        only = "; verdicts are compared only for pairs in both results" if change.has_common_pairs else ""
        yield f"The baseline was {_name(change, before, layout)}, and now is {_name(change, now, layout)}{only}."


def _new_and_gone(change: Change, layout: Layout) -> Iterator[str]:
    """The systems and metrics that only one of the results has."""
    before, now = ([metric.name for metric in each.metrics] for each in (change.before, change.now))
    for what, systems, metrics in (
        ("New", change.new, [name for name in now if name not in before]),
        ("Removed", change.gone, [name for name in before if name not in now]),
    ):
        names = [_name(change, system, layout) for system in systems]
        for kind, found in (("system", names), ("metric", metrics)):
            if found:
                yield f"{what} {kind}{'s' if len(found) > 1 else ''}: {joined(found)}."


def _new_candidates(change: Change) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """Which systems may be the best, before and now, under metrics where these are not the same as before."""
    return {now.metric: (before.best, now.best) for before, now in change.rankings if {*before.best} != {*now.best}}


def _candidates(change: Change, layout: Layout) -> Iterator[str]:
    """The same in words."""
    shown = grouped(
        (tuple(named([_name(change, s, layout) for s in best], "system", MAX_CANDIDATES) for best in both), metric)
        for metric, both in _new_candidates(change).items()
    )
    for (before, now), metrics in shown.items():
        yield f"Candidates for the best system under {joined(metrics)}: now {now}; before {before}."


def _changes(result: Comparison | SetComparison, layout: Layout) -> list[Change]:
    """What both results have; :class:`InputError` if they have no test set or no metric in common."""
    if layout.since is None:
        return []
    assert isinstance(layout.since, Comparison | SetComparison)  # there are no other kinds
    before, now = (by_name(each, "Average over test sets") for each in (layout.since, result))
    found = [Change(name, before[name], now[name]) for name in now if name in before]
    if not any(change.metrics for change in found):
        raise InputError(
            f"{layout.since_name} has no test set and metric in common with this result, so that nothing can be said "
            "of what changed: leave out --since"
        )
    return found


def _incomparable(change: Change, layout: Layout) -> Iterator[str]:
    """Why scores or verdicts of both results may not be comparable."""
    before = {metric.name: metric for metric in change.before.metrics}
    for metric in change.metrics:
        was = before[metric.name].signature
        if _meaning(was) != _meaning(metric.signature):
            yield f"{metric.name}: scores are not comparable; it was computed as {was}, and now as {metric.signature}."
    if change.before.n_segments != change.now.n_segments:
        now, then = change.now.n_segments, change.before.n_segments
        yield f"The test set had {counted(then, 'segment')}, and now has {now:,}: scores are not comparable."
    for metric in change.metrics:
        if metric.higher_is_better != before[metric.name].higher_is_better:
            than = ("higher", "lower") if metric.higher_is_better else ("lower", "higher")
            yield f"{than[0].capitalize()} {metric.name} is better, where {than[1]} was."
    earlier, later = _settings(change.before), _settings(change.now)
    for what, setting in earlier.items():
        if setting != later.get(what, setting):
            yield f"The {what} was {setting}; it is now {later[what]}."


def _meaning(signature: str) -> str:
    """The signature without the resolution at which scores are rounded, which depends on their size."""
    return re.sub(r"\|resolution:[^|]*", "", signature)


def _settings(comparison: Comparison) -> dict[str, str]:
    """What verdicts rest on beside scores, by its name."""
    test = comparison.test
    if test is None:
        return {"test": "no test"}
    sides = {"margin": within_all(comparison)} if has_margin(comparison) else {"alternative": test.alternative}
    alpha = {} if comparison.alpha is None else {"alpha": number(comparison.alpha)}
    return {"test": test.title, **sides, **alpha, "unit": f"{comparison.unit}s"}


def _name(change: Change, system: str, layout: Layout) -> str:
    """What a system is called: one that is gone, as in the earlier result."""
    earlier = {} if layout.since is None else layout.since.display_names or {}
    return layout.name(system) if system in change.now.systems else earlier.get(system, system)


def _scores(change: Change, layout: Layout) -> Table:
    """A row for each score that changed, before and now; under each metric, so that the table stays narrow."""
    rows = {}
    for metric, both in grouped((each.metric, each) for each in _both_scores(change)).items():
        decimals = decimals_of(under(metric, [*change.before.scores, *change.now.scores]), layout.digits)
        rows[metric] = {each.system: _score_cells(each, decimals, layout) for each in both if each.differs}
    return _table(change, f"Scores since {layout.since_name}", ["before", "now", "change"], rows, layout)


Rows: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]


def _table(change: Change, title: str, what: Sequence[str], rows: Rows, layout: Layout) -> Table:
    """The cells of systems under metrics; of several metrics, these are in the first column."""
    if len(rows) == 1:
        table = Table(title, ["System", *(f"{metric} {each}" for metric in rows for each in what)])
    else:
        table = Table(title, ["Metric", "System", *what], n_names=2, grouped=1)
    for metric, of_systems in rows.items():
        if of_systems and table.rows:
            table.rule()
        for system, cells in of_systems.items():
            table.add([*[metric] * (len(rows) > 1), _name(change, system, layout), *cells])
    return table


class _Scores(NamedTuple):
    """The scores of a system before and now; None where it is absent."""

    metric: str
    system: str
    before: float | None
    now: float | None

    @property
    def is_common(self) -> bool:
        """Whether both results have the system."""
        return self.before is not None and self.now is not None

    @property
    def differs(self) -> bool:
        """Whether the score changed, or is that of a system that is new or removed."""
        if self.before is None or self.now is None:
            return True
        return not math.isclose(self.before, self.now, rel_tol=1e-9, abs_tol=1e-12)


def _both_scores(change: Change) -> list[_Scores]:
    """The scores of all systems under all metrics of both results."""

    def of(result: Comparison, system: str, metric: str) -> float | None:
        return result.score(system, metric).score if system in result.systems else None

    return [
        _Scores(name, system, of(change.before, system, name), of(change.now, system, name))
        for name in (metric.name for metric in change.metrics)
        for system in change.systems
    ]


def _score_cells(scores: _Scores, decimals: int, layout: Layout) -> tuple[str, ...]:
    """A score before, a score now, and the change."""
    before, now = ("" if score is None else f"{score:.{decimals}f}" for score in (scores.before, scores.now))
    if scores.before is None or scores.now is None:
        return before or "new", now or "removed", ABSENT
    difference = scores.now - scores.before
    return before, now, *difference_and_interval(difference, None, decimals, exactly=layout.digits is not None)


def _common_ranks(change: Change) -> dict[str, dict[str, tuple[str, str]]]:
    """Under each metric, the ranks before and now of the systems of both results, among themselves."""
    common = [system for system in change.systems if system not in (*change.new, *change.gone)]
    found = {}
    for _, ranking in change.rankings:
        before, now = (_ranks_among(common, each, ranking.metric) for each in (change.before, change.now))
        found[ranking.metric] = {system: (before[system], now[system]) for system in common}
    return found


def _ranks_among(systems: Sequence[str], comparison: Comparison, metric: str) -> dict[str, str]:
    """The ranks that systems would have if there were no others: 1 + the number of those that are better."""
    low, high = dict.fromkeys(systems, 1), dict.fromkeys(systems, len(systems))
    for pair in comparison.comparisons:
        verdict = comparison.verdict(pair)
        if pair.metric == metric and verdict != NO_DIFFERENCE and {pair.system, pair.baseline} <= {*systems}:
            better, worse = (pair.system, pair.baseline)[:: 1 if verdict == "better" else -1]
            low[worse] += 1
            high[better] -= 1
    return {system: rank_cell(low[system], high[system]) for system in systems}


def _ranks(change: Change, layout: Layout) -> Table:
    """The systems of both results whose rank among them is not what it was, under any metric."""
    n_common = len(change.systems) - len(change.new) - len(change.gone)
    among = f" (ranks among the {n_common} common systems)" if change.new or change.gone else ""
    moved = {
        metric: {system: both for system, both in of.items() if len({*both}) > 1}
        for metric, of in _common_ranks(change).items()
    }
    return _table(change, f"Ranks that changed since {layout.since_name}{among}", ["before", "now"], moved, layout)


def _verdicts(change: Change, layout: Layout) -> Table:
    """The pairs whose verdict is not what it was."""
    header = ["System", "Baseline", "Metric", "before", "now"]
    table = Table(f"Verdicts that changed since {layout.since_name}", header, n_names=3, stacks=True)
    for before, now in change.verdicts:
        shown = layout.name(now.pair.system), layout.name(now.pair.baseline)
        table.add([*shown, now.pair.metric, before.words, now.words])
    return table


class _Found(NamedTuple):
    """A verdict: the kind of test, what it found, and this in words. Those of one kind can be compared."""

    kind: str
    found: str
    words: str
    pair: PairedDifference


def _pairs(change: Change, found: Sequence[_Found], layout: Layout) -> str:
    """The pairs in words."""
    several = len(change.metrics) > 1
    names = [
        f"{layout.name(pair.system)} − {layout.name(pair.baseline)}{f' under {pair.metric}' if several else ''}"
        for *_, pair in found
    ]
    return named(names, "pair")


def _only_adjusted(change: Change, layout: Layout) -> Iterator[str]:
    """Verdicts that changed although p itself did not cross alpha, because it is adjusted over other tests."""
    levels = [change.before.alpha or 0, change.now.alpha or 0]
    sizes = [change.before.family_size, change.now.family_size]
    found = [
        now
        for before, now in change.verdicts
        if NO_DIFFERENCE in (before.found, now.found)
        and (before.pair.test.pvalue <= levels[0]) == (now.pair.test.pvalue <= levels[1])
    ]
    if found and sizes[0] != sizes[1]:
        before, now = (f"adjusted over {size:,} tests" if size > 1 else "not adjusted" for size in sizes)
        yield (
            f"{_pairs(change, found, layout)}: unadjusted p is on the same side of alpha as before, but p was {before} "
            f"and is now {now}, which may be why the verdict changed."
        )


def _by_chance(change: Change, layout: Layout) -> Iterator[str]:
    """Verdicts that other replicates may change back."""
    found = [both[1] for both in change.verdicts if any("near-alpha" in each.pair.caveats for each in both)]
    if found and not [*_incomparable(change, layout)]:
        n = layout.spelled(option("-n", "n_resamples"))
        yield (
            f"{_pairs(change, found, layout)}: the verdict may have changed by Monte Carlo error, which leaves open on "
            f"which side of alpha p lies; more replicates ({n}) may decide."
        )


def _verdict_of(comparison: Comparison, pair: PairedDifference) -> _Found:
    """The verdict of a test: of differences, or of equivalence or non-inferiority."""
    if comparison.test is not None and has_margin(comparison):
        shown = is_significant(comparison, pair)
        words = claim(comparison, within(comparison, pair.metric)) if shown else "not shown"
        return _Found(comparison.test.alternative, "shown" if shown else "", words, pair)
    verdict = comparison.verdict(pair)
    return _Found("", verdict, verdict, pair)
