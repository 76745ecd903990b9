"""The sentences of comparisons of runs: what was found, what the statistics say (Clark et al. 2011), and how; and what
the tables and figures have in common with them.

``words/runs.toml`` has the sentences. These functions make the values in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...errors import counted, printable
from ...grouping import grouped
from ...results import UsedMetric, UsedTest
from ...results.studies import RunComparison, RunDifference, RunScores, SystemRuns
from ...results.studies.runs import RECOMMENDED_RUNS, smallest_of_splits
from ..cells import decimals_for
from ..computed import adjusted_sentence, alternative_phrase
from ..conclusions import against_baseline, number_of_pairs, one_sentence, relation
from ..methods import Detail, cite, metrics_phrase
from ..wording import MAX_NAMED, few, joined, named
from ..words import Template, said, words
from .shared import constant, of_name

CLARK = "P11-2031"
# A standard deviation is large if it is at least this share of a difference (s_sel, s_dev), or of s_sel (s_dev).
LARGE = 0.5
# Longer tables of what other experiments would observe are only in CSV and JSON.
MOST_OBSERVED = 12

_listed = partial(few, most=MAX_NAMED)
_said = partial(said, "runs")


def decimals_under(systems: Sequence[SystemRuns]) -> dict[str, int]:
    """The decimals of scores and differences under each metric."""
    return {m: decimals_for(max(abs(each.scores[m].mean) for each in systems)) for m in systems[0].scores}


@dataclass(frozen=True, slots=True)
class ScoredRuns:
    """The scores of a system's runs under one metric."""

    system: str
    metric: str
    scores: RunScores
    decimals: int
    """Of scores and differences under the metric."""


def scored_runs(systems: Sequence[SystemRuns]) -> list[ScoredRuns]:
    """The scores of each system, metric by metric."""
    return [
        ScoredRuns(each.name, metric, each.scores[metric], decimals)
        for metric, decimals in decimals_under(systems).items()
        for each in systems
    ]


def deviation(value: float | None, decimals: int) -> str:
    """A standard deviation; a dash if it is undefined, and never 0 for what only rounds to it.

    >>> deviation(0.26, 2), deviation(None, 2), deviation(0.001, 2), deviation(0.0, 2)
    ('0.26', '–', '<0.01', '0.00')
    """
    if value is None:
        return "–"
    rounded = f"{value:.{decimals}f}"
    return f"<{10.0**-decimals:.{decimals}f}" if value > 0 and float(rounded) == 0 else rounded


def p_name(result: RunComparison, units: Sequence[str]) -> str:
    """What the p-values of tests by these exchange units are called."""
    adjusted = (each.adjusted_pvalue is not None for each in result.comparisons if each.exchange in units)
    return "adjusted p" if any(adjusted) else "p"


def deciding(result: RunComparison) -> list[RunDifference]:
    """The differences, tested by the exchange unit that decides."""
    return of_name(result.comparisons, exchange=result.default_exchange)


def is_significant(result: RunComparison, each: RunDifference) -> bool:
    """Whether a test of the exchange unit that decides rejects."""
    return each.exchange == result.default_exchange and each.is_significant(result.plan.alpha)


def has_several(result: RunComparison) -> bool:
    """Whether a system has several runs."""
    return any(n > 1 for n in result.plan.systems.values())


def observes_many(result: RunComparison) -> bool:
    """Whether only CSV and JSON have the table of what other experiments would observe, because it is long."""
    return len({(each.metric, each.baseline, each.system) for each in result.observed}) > MOST_OBSERVED


def of_unit(result: RunComparison, text: str) -> str:
    """A text about segments, for documents if these are resampled."""
    unit = result.plan.unit
    return text.replace("segment", unit).replace("Segment", unit.capitalize())


def phrase(result: RunComparison, name: str, exchange: str = "", **values: Any) -> str:
    """A phrase of ``words/runs.toml``, of an interval or of an exchange unit; empty if there is none."""
    known = words("runs")
    parts = {**known["phrase"], **known["interval"], **known["exchange"].get(exchange, {})}
    two_sided = result.plan.alternative == "two-sided"
    return Template(parts).filled(name, {**result.plan, "two_sided": two_sided, **values}) if name in parts else ""


def exchange_phrase(result: RunComparison, unit: str | None = None) -> str:
    """What a test does, after ``by``: by default that which decides."""
    name = unit or result.default_exchange or ""
    return phrase(result, "by", name) or name


def conclusions(result: RunComparison) -> Iterator[str]:
    """The answer, what limits it, and how to read the statistics."""
    yield from answers(result)
    cases = {**_dev_cases(result), "high_sel": _high_sel(result)}
    read = {name: _listed(own) for name, own in cases.items() if own}
    yield from _said("conclusion", {**result.plan, **read, **_median_runs(result)})


def answers(result: RunComparison) -> Iterator[str]:
    """Which systems are better, and what limits the answer."""
    if result.comparisons:
        statements = {metric.name: (_statement(result, metric), "") for metric in result.metrics}
        yield one_sentence(statements, "under", f"By {exchange_phrase(result)}, ")
        yield from _limits(result, result.plan.exchange[:1])
        yield from _unreachable(result)
    yield from _duplicates(result)


def notes(result: RunComparison) -> Iterator[str]:
    """Which tests there are, why, and what their replicates are."""
    plan = result.plan
    if result.comparisons:
        reason = of_unit(result, (plan.exchange_reason or "").rstrip(".").replace("<=", "≤"))
        yield from _said("chosen", {"exchange": plan.exchange[0], "reason": reason})
        for name, why in plan.left_out.items():
            yield from _said("left_out", {"exchange": name, "reason": why.partition(":")[0].rstrip(".")})
        ignored = {name: phrase(result, "ignores", name) for name in plan.exchange}
        yield from _said("ignored", {"ignored": "; ".join(f"{name} {text}" for name, text in ignored.items() if text)})
        yield from _limits(result, plan.exchange[1:])
        yield tests_of(result, plan.exchange)
        yield from intervals(result)
    yield from _said("note", {**plan, "observes_many": observes_many(result), "has_several": has_several(result)})


# What was found.


def _statement(result: RunComparison, metric: UsedMetric) -> str:
    """Which systems are better under a metric, by the exchange unit that decides."""
    tested = of_name(deciding(result), metric=metric.name)
    baseline, alternative = constant(tested, "baseline"), result.plan.alternative
    if baseline is None:
        return number_of_pairs([is_significant(result, each) for each in tested])
    relations = {each.system: relation(result.verdict(each), alternative, metric) for each in tested}
    return against_baseline(relations, baseline)


def _unreachable(result: RunComparison) -> Iterator[str]:
    """Tests whose p cannot reach alpha, and how many runs would be enough."""
    for name in result.plan.exchange:
        own = of_name(result.comparisons, exchange=name)
        worst = max(own, key=lambda each: each.smallest_pvalue)
        if worst.smallest_pvalue <= result.plan.alpha:
            continue
        needed = worst.runs_needed
        values = {
            "exchange": name,
            "smallest": worst.smallest_pvalue,
            "n": result.plan.systems[worst.system],
            "m": result.plan.systems[worst.baseline],
            "needed": needed,
            "reached": needed and smallest_of_splits(needed, needed, result.plan.alternative),
            "exact": worst.exact,
            "unit": result.plan.unit,
        }
        yield from _said("unreachable", values)


# What limits the answer.


def _limits(result: RunComparison, units: Sequence[str]) -> Iterator[str]:
    """Where tests may reject too often: a sentence for each of them and reason."""
    for unit in units:
        own = of_name(result.comparisons, exchange=unit)
        largest = words("runs")["exchange"][unit].get("largest", {})
        for kind, reason in words("runs")["limit"].items():
            cases = [_case(each) for each in own if kind in each.caveats]
            values = {"exchange": unit, "reason": reason, "largest": largest.get(kind)}
            if cases:
                values["cases"] = "" if len(cases) == len(own) else _listed(cases)
                yield from _said("limited", values)


def _duplicates(result: RunComparison) -> Iterator[str]:
    """Runs with the same output: of systems that are the same in all runs, of one system, and others; and few runs."""
    found = [tuple(each) for each in result.plan.duplicates]
    first = {(name, run): (other, of) for name, run, other, of in found}
    outputs = {
        name: sorted(first.get((name, run), (name, run)) for run in range(n)) for name, n in result.plan.systems.items()
    }
    same = [(a, b) for at, b in enumerate(outputs) for a in [*outputs][:at] if outputs[a] == outputs[b]]
    for a, b in same:
        tested = of_name(deciding(result), system=b, baseline=a)
        is_one = tested and all(each.pvalue == 1 for each in tested)
        yield from _said("identical", {"system": b, "other": a, "is_one": is_one})
    within = [f"runs {of} and {run} of {name}" for name, run, other, of in found if name == other]
    between = [
        f"run {run} of {name} and run {of} of {other}"
        for name, run, other, of in found
        if name != other and not {(name, other), (other, name)} & {*same}
    ]
    copies = [*within, *between]
    yield from _said("doubtful", {"same_bytes": _listed(copies) if copies else "", **_few_runs(result)})


def _few_runs(result: RunComparison) -> dict[str, Any]:
    """The systems with fewer runs than recommended."""
    few_runs = grouped((n, name) for name, n in result.plan.systems.items() if n < RECOMMENDED_RUNS)
    shown = [
        f"{named(names, 'system')} have {counted(n, 'run')} each"
        if len(names) > 1
        else f"{names[0]} has {counted(n, 'run')}"
        for n, names in sorted(few_runs.items())
    ]
    return {"few_runs": shown, "has_one": 1 in few_runs, "least": RECOMMENDED_RUNS}


def _case(each: RunDifference) -> str:
    """The pair of a difference, and its metric."""
    return f"{each.system} − {each.baseline} under {each.metric}"


# How to read the statistics: Clark et al. 2011, 4.1.


def _dev_cases(result: RunComparison) -> dict[str, list[str]]:
    """Systems whose scores depend on the run on the development set, or on the test set even more.

    The latter may be chance, unless p of the Pitman–Morgan test is small.
    """
    found: dict[str, list[str]] = {"high_dev": [], "sure": [], "unsure": []}
    for each in scored_runs(result.systems):
        scores, decimals = each.scores, each.decimals
        if scores.s_dev is None:
            continue
        where, s_dev = f"{each.system} under {each.metric}", deviation(scores.s_dev, decimals)
        compared = of_name(deciding(result), metric=each.metric)
        differences = [abs(own.difference) for own in compared if each.system in (own.system, own.baseline)]
        smallest = min(filter(None, differences), default=None)
        against, what = (scores.s_sel, "s_sel") if smallest is None else (smallest, "difference")
        if 0 < LARGE * against <= scores.s_dev:
            found["high_dev"].append(f"{where} ({s_dev}, {what} {against:.{decimals}f})")
        if scores.s_test is not None and scores.s_test > scores.s_dev:
            p = scores.variance_pvalue
            shown = "" if p is None else ", p < 0.001" if p < 0.001 else f", p = {p:.2g}"
            is_sure = p is not None and p <= result.plan.alpha
            found["sure" if is_sure else "unsure"].append(
                f"{where} ({deviation(scores.s_test, decimals)} > {s_dev}{shown})"
            )
    return found


def _high_sel(result: RunComparison) -> list[str]:
    """Differences that are not significant, and small against s_sel."""
    cases = []
    for each in deciding(result):
        difference, pair = abs(each.difference), (each.baseline, each.system)
        s_sel = max(system.scores[each.metric].s_sel for system in result.systems if system.name in pair)
        if difference and s_sel >= LARGE * difference and not is_significant(result, each):
            decimals = decimals_under(result.systems)[each.metric]
            cases.append(f"{_case(each)} ({deviation(s_sel, decimals)}, difference {difference:.{decimals}f})")
    return cases


def _median_runs(result: RunComparison) -> dict[str, Any]:
    """Which runs to analyse by hand, and that other metrics choose others."""
    several = [system for system in result.systems if result.plan.systems[system.name] > 1]
    if not several:
        return {}

    def median(system: SystemRuns, metric: str) -> str:
        return f"{system.scores[metric].median_run} of {system.name}"

    by = result.plan.median_metric
    others = [
        f"{metric.name} (run {_listed(cases)})"
        for metric in result.metrics
        if (cases := [own for each in several if (own := median(each, metric.name)) != median(each, by)])
    ]
    chosen = _listed([f"run {median(each, by)}" for each in several])
    return {"median": chosen, "n_median": len(several), "others": _listed(others) if others else ""}


# How it was computed.


def tests_of(result: RunComparison, units: Sequence[str]) -> str:
    """The alternative, the replicates and the adjustment of tests by some exchange units."""
    made: list[tuple[str, str]] = []
    for name in units:
        own = of_name(result.comparisons, exchange=name)
        for exact in (True, False):
            numbers = sorted({each.n_resamples for each in own if each.exact == exact})
            if numbers:
                ends = numbers[0], numbers[-1]
                made.append((phrase(result, "made", numbers=ends, most=numbers[-1], exact=exact), name))
    sentences = [f"{joined(names)}: {shown}" for shown, names in grouped(made).items()]
    return f"Tests: {'; '.join([result.plan.alternative, *sentences, *adjustments(result, units)])}."


def adjustments(result: RunComparison, units: Sequence[str], citing: bool = False) -> Iterator[str]:
    """How p is adjusted, with the exchange units if these differ in it. ``citing``: with the papers."""

    def title(how: str) -> str:
        about = words("runs")["adjustment"].get(how, {"title": how})
        return f"{about['title']}{cite(about.get('source')) if citing else ''}"

    chosen = result.plan.adjustments.items()
    by_title = grouped((title(how), name) for name, how in chosen if name in units and how != "none")
    if by_title:
        several = len(by_title) > 1
        shown = [f"{how} ({joined(names)})" if several else how for how, names in by_title.items()]
        yield phrase(result, "adjusted", how=shown)


def intervals(result: RunComparison, in_paper: bool = False) -> Iterator[str]:
    """What the intervals are, of the unit that decides: as a note, or as a sentence of a paper."""
    found = deciding(result)
    intervals = [each.confidence_interval for each in found if each.confidence_interval is not None]
    if not intervals:
        return
    freedom = sorted(each.degrees_of_freedom for each in found if each.degrees_of_freedom is not None)
    name = phrase(result, intervals[0].method) or intervals[0].method
    values = {
        "in_paper": in_paper,
        "level": intervals[0].confidence_level,
        "article": "the " if name[0].islower() else "",
        "interval": name,
        "freedom": (freedom[0], freedom[-1]) if freedom else (),
        "several": len(intervals) > 1,
    }
    yield from _said("intervals", values)


# The methods paragraph of a paper.


def methods(result: RunComparison) -> Iterator[str]:
    """The runs and their scores, the test that decides, its replicates and seed, and what is called significant."""
    plan = result.plan
    of_units = "" if plan.unit == "segment" else f" in {counted(plan.units, plan.unit)}"
    values: dict[str, Any] = {
        **plan,
        "runs_of": [f"{counted(n, 'run')} of {printable(name)}" for name, n in plan.systems.items()],
        "metrics": metrics_phrase(result.metrics),
        "size": f"{counted(plan.segments, 'segment')}{of_units}",
        "has_several": has_several(result),
        "cited_clark": cite(CLARK),
    }
    if result.comparisons:
        values |= _tests(result)
    yield from _said("methods", values)
    if result.comparisons:
        yield from map(Detail, _pvalues(result))
        yield from intervals(result, in_paper=True)


def _tests(result: RunComparison) -> dict[str, Any]:
    """The test that decides, those beside it, and how p is adjusted."""
    decides, *others = result.plan.exchange
    baseline = result.plan.baseline
    of_each = (adjustments(result, own, citing=True) for own in ([decides], others))
    adjusted = [[each.removeprefix("p ") for each in own] for own in of_each]
    tests = {unit: exchange_phrase(result, unit).partition(" (")[0] for unit in others}
    return {
        "between": "between all pairs of systems" if baseline is None else f"from {printable(baseline)}",
        "decides": f"{exchange_phrase(result)}{_cited(decides)}",
        "alternative": alternative_phrase(result.plan.alternative),
        "replicates": _drawn(result, decides),
        "null": result.truths[decides].rstrip("."),
        "is_adjusted": "".join(adjusted[0]),
        "others": [f"{by} ({unit}{_drawn(result, unit)}){_cited(unit)}" for unit, by in tests.items()],
        "others_adjusted": "".join(adjusted[1]),
    }


def _cited(unit: str) -> str:
    return cite(words("runs")["exchange"].get(unit, {}).get("source"))


def _drawn(result: RunComparison, unit: str) -> str:
    """The replicates of a test, and their seed."""
    tests = of_name(result.comparisons, exchange=unit)
    random, exact = ([each.n_resamples for each in tests if each.exact == own] for own in (False, True))
    return phrase(result, "drawn", random=max(random, default=0), exact=max(exact, default=0))


def _pvalues(result: RunComparison) -> Iterator[str]:
    """How p and adjusted p are computed, once for tests with the same formula."""
    plan = result.plan

    def formula(unit: str) -> tuple[str, ...]:
        exact = {each.exact for each in of_name(result.comparisons, exchange=unit)}
        share = phrase(result, "share", is_exact=True in exact, is_random=False in exact)
        return share, *(phrase(result, part, unit) for part in ("compared", "counted"))

    for (share, compared, count), units in grouped((formula(unit), unit) for unit in plan.exchange).items():
        yield phrase(result, "formula", tests=units, shares=share, compared=compared, counted=count)
    n_tests = len(deciding(result)) // (1 if plan.family == "all" else len(result.metrics))
    for unit, how in plan.adjustments.items():
        if unit == result.default_exchange and how != "none":
            # Studentized statistics have a common scale, and the others are standardized as those of shuffles.
            scaled = UsedTest("ar-studentized" if unit == "run" else "ar", "", "", "replicates", adjustment=how)
            yield adjusted_sentence(scaled, n_tests, len(plan.systems))
