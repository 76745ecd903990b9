"""What has changed since an earlier result: scores, ranks, verdicts, and systems and metrics that are new or gone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import InputError
from ..grouping import grouped
from ..lazy import lazy
from ..results import NO_DIFFERENCE, Comparison, PairedDifference, SetComparison, UsedMetric
from .cells import Table, decimals_of, difference_and_interval, rank_cell, under
from .conclusions import MAX_CANDIDATES
from .layout import Layout, by_name
from .margins import claim, has_margin, is_significant, within, within_all
from .sets import headed
from .systems import has_ranks, sorted_systems
from .wording import counted, joined, named, number, option

ABSENT = "–"
# Of systems under metrics, what a table shows.
Rows: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Change:
    """A test set, or the average, that both results have. ``name`` is that of the test set, if there are several."""

    name: str
    before: Comparison
    now: Comparison
    layout: Layout

    @lazy
    def metrics(self) -> list[UsedMetric]:
        """The metrics that both have, as they are now."""
        known = {metric.name for metric in self.before.metrics}
        return [metric for metric in self.now.metrics if metric.name in known]

    @property
    def new(self) -> list[str]:
        """The systems that were not there before."""
        return [system for system in self.now.systems if system not in self.before.systems]

    @property
    def gone(self) -> list[str]:
        """The systems that are no longer there."""
        return [system for system in self.before.systems if system not in self.now.systems]

    @lazy
    def common(self) -> list[str]:
        """The systems of both, in the order of the table of now."""
        return [system for system in sorted_systems(self.now) if system in self.before.systems]

    def called(self, system: str) -> str:
        """What a system is called: one that is gone, as in the earlier result."""
        earlier = {} if self.layout.since is None else self.layout.since.display_names or {}
        return self.layout.name(system) if system in self.now.systems else earlier.get(system, system)

    @lazy
    def scores(self) -> dict[str, dict[str, tuple[float | None, float | None]]]:
        """Under each metric, the scores of all systems before and now; None where a system is absent."""

        def of(result: Comparison, system: str, metric: str) -> float | None:
            return result.score(system, metric).score if system in result.systems else None

        systems, metrics = [*sorted_systems(self.now), *self.gone], [metric.name for metric in self.metrics]
        return {name: {s: (of(self.before, s, name), of(self.now, s, name)) for s in systems} for name in metrics}

    @lazy
    def best(self) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
        """Under each metric that has ranks in both, which systems may be the best, before and now."""
        if not (has_ranks(self.before) and has_ranks(self.now)):
            return {}
        before = {ranking.metric: ranking.best for ranking in self.before.rankings}
        return {r.metric: (before[r.metric], r.best) for r in self.now.rankings if r.metric in before}

    @property
    def new_best(self) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
        """The same where they are not the same systems."""
        return {metric: (before, now) for metric, (before, now) in self.best.items() if {*before} != {*now}}

    @lazy
    def moved(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Under each of these metrics, the ranks before and now of systems of both among themselves, if they differ."""
        found = {}
        for metric in self.best:
            before, now = (_ranks_among(self.common, each, metric) for each in (self.before, self.now))
            found[metric] = {s: (before[s], now[s]) for s in self.common if before[s] != now[s]}
        return found

    @lazy
    def pairs(self) -> list[tuple[PairedDifference, PairedDifference]]:
        """The pairs that have a verdict in both, also in the other direction where the earlier test has none."""
        both = [*self.before.comparisons]
        both += [pair.reversed for pair in both] if self.before.is_reversible else []
        earlier = {(pair.system, pair.baseline, pair.metric): pair for pair in both}
        found = ((earlier.get((now.system, now.baseline, now.metric)), now) for now in self.now.comparisons)
        return [(before, now) for before, now in found if before is not None]

    @lazy
    def verdicts(self) -> list[tuple[PairedDifference, PairedDifference]]:
        """Those whose verdict is not what it was: verdicts on differences and on margins are not compared."""
        kinds = {each.test.alternative if each.test and has_margin(each) else "" for each in (self.before, self.now)}
        found = ((before, now, _verdict(self.before, before), _verdict(self.now, now)) for before, now in self.pairs)
        return [(before, now) for before, now, was, is_now in found if len(kinds) == 1 and was != is_now]


def _verdict(comparison: Comparison, pair: PairedDifference) -> str:
    """The verdict of a test of differences, or whether equivalence or non-inferiority is shown."""
    if has_margin(comparison):
        return "shown" if is_significant(comparison, pair) else "not shown"
    return comparison.verdict(pair)


def _ranks_among(systems: Sequence[str], comparison: Comparison, metric: str) -> dict[str, str]:
    """The ranks that systems would have if there were no others: 1 + the number of those that are better."""
    low, high = dict.fromkeys(systems, 1), dict.fromkeys(systems, len(systems))
    for pair in under(metric, comparison.comparisons):
        verdict = comparison.verdict(pair)
        if verdict != NO_DIFFERENCE and {pair.system, pair.baseline} <= {*systems}:
            better, worse = (pair.system, pair.baseline)[:: 1 if verdict == "better" else -1]
            low[worse] += 1
            high[better] -= 1
    return {system: rank_cell(low[system], high[system]) for system in systems}


def _differ(before: float | None, now: float | None) -> bool:
    """Whether a score changed, or is that of a system that is new or removed."""
    return before is None or now is None or not math.isclose(before, now, rel_tol=1e-9, abs_tol=1e-12)


def _changes(result: Comparison | SetComparison, layout: Layout) -> list[Change]:
    """What both results have; :class:`InputError` if they have no test set or no metric in common."""
    if layout.since is None:
        return []
    assert isinstance(layout.since, Comparison | SetComparison)  # there are no other kinds
    before, now = (by_name(each, "Average over test sets") for each in (layout.since, result))
    found = [Change(name, before[name], now[name], layout) for name in now if name in before]
    if not any(change.metrics for change in found):
        raise InputError(
            f"{layout.since_name} has no test set and metric in common with this result, so that nothing can be said "
            "of what changed: leave out --since"
        )
    return found


def since_tables(result: Comparison | SetComparison, layout: Layout) -> Iterator[Table]:
    """The scores, ranks and verdicts that changed; nothing without an earlier result or a common system."""
    for change in _changes(result, layout):
        tables = (make(change) for make in (_scores, _ranks, _verdicts) if change.common)
        yield from (headed(change.name, table) for table in tables if table.rows)


def _scores(change: Change) -> Table:
    """A row for each score that changed, before and now; under each metric, so that the table stays narrow."""
    rows: dict[str, dict[str, Sequence[str]]] = {}
    for metric, of_systems in change.scores.items():
        every = under(metric, [*change.before.scores, *change.now.scores])
        decimals, exactly = decimals_of(every, change.layout.digits), change.layout.digits is not None
        rows[metric] = {}
        for system, (before, now) in of_systems.items():
            was, is_now = ("" if score is None else f"{score:.{decimals}f}" for score in (before, now))
            if before is None or now is None:
                rows[metric][system] = was or "new", is_now or "removed", ABSENT
            elif _differ(before, now):
                rows[metric][system] = was, is_now, *difference_and_interval(now - before, None, decimals, exactly)
    return _table(change, "Scores", "", ["before", "now", "change"], rows)


def _ranks(change: Change) -> Table:
    """The systems of both results whose rank among them is not what it was, under any metric."""
    among = f" (ranks among the {len(change.common)} common systems)" if change.new or change.gone else ""
    return _table(change, "Ranks that changed", among, ["before", "now"], change.moved)


def _table(change: Change, what: str, among: str, columns: Sequence[str], rows: Rows) -> Table:
    """The cells of systems under metrics; of several metrics, these are in the first column."""
    title = f"{what} since {change.layout.since_name}{among}"
    if len(rows) == 1:
        table = Table(title, ["System", *(f"{metric} {each}" for metric in rows for each in columns)])
    else:
        table = Table(title, ["Metric", "System", *columns], n_names=2, grouped=1)
    for metric, of_systems in rows.items():
        if of_systems and table.rows:
            table.rule()
        for system, cells in of_systems.items():
            table.add([*[metric] * (len(rows) > 1), change.called(system), *cells])
    return table


def _verdicts(change: Change) -> Table:
    """The pairs whose verdict is not what it was."""
    header = ["System", "Baseline", "Metric", "before", "now"]
    table = Table(f"Verdicts that changed since {change.layout.since_name}", header, n_names=3, stacks=True)
    for both in change.verdicts:
        pair, found = both[1], zip((change.before, change.now), both, strict=True)
        words = (
            claim(each, within(each, of.metric)) if (said := _verdict(each, of)) == "shown" else said
            for each, of in found
        )
        table.add([change.layout.name(pair.system), change.layout.name(pair.baseline), pair.metric, *words])
    return table


def since_sentences(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """In words: what changed, in one sentence, then why numbers may not be comparable, and what is new and gone."""
    changes = _changes(result, layout)
    if changes:
        ranked = any(change.best for change in changes)
        nothing = f"no {'rank, verdict or candidate for the best system' if ranked else 'verdict'} has changed"
        comparable = not any([*_incomparable(change)] for change in changes)
        caution = "" if comparable else ", but the results may not be comparable"
        tested = any(change.now.comparisons or change.before.comparisons for change in changes)
        if tested and not any(change.pairs for change in changes):
            nothing, caution = "no verdicts can be compared, because no pair of systems is in both results", ""
        yield f"Since {layout.since_name}, {_what_changed(changes) or nothing}{caution}."
    for sentences in (_baselines, _incomparable):
        yield from _of_each(changes, sentences)
    if len(changes) > 1:
        found = ((change.name, _what_changed([change])) for change in changes)
        yield from (f"{name}: {what}." for name, what in found if what)
    for sentences in (_new_and_gone, _candidates, _only_adjusted, _by_chance, _same_scores):
        yield from _of_each(changes, sentences)


def _of_each(changes: Sequence[Change], sentences: Callable[[Change], Iterator[str]]) -> Iterator[str]:
    """The sentences about test sets, each once, with the names of the test sets unless it is about all."""
    found = grouped((sentence, change.name) for change in changes for sentence in sentences(change))
    for sentence, names in found.items():
        yield sentence if len(names) == len(changes) else f"{joined(names)}: {sentence}"


def _what_changed(changes: Sequence[Change]) -> str:
    """How many ranks and verdicts have changed, and under which metrics the candidates for the best; "" if none."""
    of_common = " among the common systems" if any(change.new or change.gone for change in changes) else ""
    n_ranks = sum(len(systems) for change in changes for systems in change.moved.values())
    n_verdicts = sum(len(change.verdicts) for change in changes)
    best = dict.fromkeys(metric for change in changes for metric in change.new_best)
    found = [f"{counted(n_ranks, 'rank')}{of_common}"] if n_ranks else []
    found += [counted(n_verdicts, "verdict")] if n_verdicts else []
    found += [f"the candidates for the best system under {joined(best)}"] if best else []
    have = "has" if n_ranks + n_verdicts == 1 and not best else "have"
    return f"{joined(found)} {have} changed" if found else ""


def _baselines(change: Change) -> Iterator[str]:
    """That the systems are compared with another one."""
    before, now = change.before.baseline, change.now.baseline
    if before is not None and now is not None and before != now:
        only = "; verdicts are compared only for pairs in both results" if change.pairs else ""
        yield f"The baseline was {change.called(before)}, and now is {change.called(now)}{only}."


def _incomparable(change: Change) -> Iterator[str]:
    """Why scores or verdicts of both results may not be comparable."""
    before = {metric.name: metric for metric in change.before.metrics}
    for metric in change.metrics:
        both = before[metric.name].signature, metric.signature
        # The resolution at which scores are rounded depends on their size.
        if len({re.sub(r"\|resolution:[^|]*", "", each) for each in both}) > 1:
            yield f"{metric.name}: scores are not comparable; it was computed as {both[0]}, and now as {both[1]}."
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


def _settings(comparison: Comparison) -> dict[str, str]:
    """What verdicts rest on beside scores, by its name."""
    test = comparison.test
    if test is None:
        return {"test": "no test"}
    sides = {"margin": within_all(comparison)} if has_margin(comparison) else {"alternative": test.alternative}
    alpha = {} if comparison.alpha is None else {"alpha": number(comparison.alpha)}
    return {"test": test.title, **sides, **alpha, "unit": f"{comparison.unit}s"}


def _new_and_gone(change: Change) -> Iterator[str]:
    """The systems and metrics that only one of the results has."""
    before, now = ([metric.name for metric in each.metrics] for each in (change.before, change.now))
    for what, systems, metrics in (
        ("New", change.new, [name for name in now if name not in before]),
        ("Removed", change.gone, [name for name in before if name not in now]),
    ):
        for kind, found in (("system", [*map(change.called, systems)]), ("metric", metrics)):
            if found:
                yield f"{what} {kind}{'s' if len(found) > 1 else ''}: {joined(found)}."


def _candidates(change: Change) -> Iterator[str]:
    """Which systems may be the best, before and now, if these are not the same as before."""
    shown = grouped(
        (tuple(named([*map(change.called, best)], "system", MAX_CANDIDATES) for best in both), metric)
        for metric, both in change.new_best.items()
    )
    for (before, now), metrics in shown.items():
        yield f"Candidates for the best system under {joined(metrics)}: now {now}; before {before}."


def _only_adjusted(change: Change) -> Iterator[str]:
    """Verdicts that changed although p itself did not cross alpha, because it is adjusted over other tests."""
    levels = [change.before.alpha or 0, change.now.alpha or 0]
    sizes = [change.before.family_size, change.now.family_size]
    found = [
        now
        for before, now in change.verdicts
        if NO_DIFFERENCE in (_verdict(change.before, before), _verdict(change.now, now))
        and (before.test.pvalue <= levels[0]) == (now.test.pvalue <= levels[1])
    ]
    if found and sizes[0] != sizes[1]:
        was, is_now = (f"adjusted over {size:,} tests" if size > 1 else "not adjusted" for size in sizes)
        yield (
            f"{_named(change, found)}: unadjusted p is on the same side of alpha as before, but p was {was} and is now "
            f"{is_now}, which may be why the verdict changed."
        )


def _by_chance(change: Change) -> Iterator[str]:
    """Verdicts that other replicates may change back."""
    found = [both[1] for both in change.verdicts if any("near-alpha" in each.caveats for each in both)]
    if found and not [*_incomparable(change)]:
        n = change.layout.spelled(option("-n", "n_resamples"))
        yield (
            f"{_named(change, found)}: the verdict may have changed by Monte Carlo error, which leaves open on which "
            f"side of alpha p lies; more replicates ({n}) may decide."
        )


def _named(change: Change, pairs: Sequence[PairedDifference]) -> str:
    """The pairs in words."""
    name, several = change.layout.name, len(change.metrics) > 1
    names = [f"{name(p.system)} − {name(p.baseline)}{f' under {p.metric}' if several else ''}" for p in pairs]
    return named(names, "pair")


def _same_scores(change: Change) -> Iterator[str]:
    """That scores have not changed, all or those that no table lists."""
    every = [both for of_systems in change.scores.values() for both in of_systems.values()]
    are_same = [not _differ(*both) for both in every if None not in both]
    if any(are_same) and not [*_incomparable(change)]:
        none = "No score of a common system has changed."
        yield none if all(are_same) else "Scores that are not listed have not changed."
