"""The sentences of comparisons of runs: what was found, what the statistics say (Clark et al. 2011), and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import correlation

from ...errors import counted, printable
from ...grouping import grouped
from ...results import UsedMetric, UsedTest
from ...results.studies import RunComparison, RunDifference
from ...results.studies.runs import MOST_RUNS, RECOMMENDED_RUNS, runs_needed, smallest_of_splits
from ..computed import adjusted_sentence, alternative_phrase
from ..conclusions import against_baseline, number_of_pairs, one_sentence, relation
from ..methods import Detail, cite, metrics_phrase
from ..wording import MAX_NAMED, are, ci, joined, named, number, option
from ..words import filled, words
from .run_values import (
    deciding,
    decimals_under,
    deviation,
    exchange_phrase,
    has_several,
    is_significant,
    observes_many,
    of_unit,
    scored_runs,
)
from .shared import constant, of_name

CLARK = "P11-2031"
# A standard deviation is large if it is at least this share of a difference (s_sel, s_dev), or of s_sel (s_dev).
LARGE = 0.5


def conclusions(result: RunComparison) -> Iterator[str]:
    """The answer, what limits it, and how to read the statistics."""
    yield from answers(result)
    yield from _local_optima(result)
    yield from _overfitting(result)
    yield from _more_runs(result)
    yield from _median_runs(result)


def answers(result: RunComparison) -> Iterator[str]:
    """Which systems are better, and what limits the answer."""
    if result.comparisons:
        yield _answer(result)
        yield from _limits(result, result.plan.exchange[:1])
        yield from _unreachable(result)
    yield from _duplicates(result)
    yield from _few_runs(result)


def notes(result: RunComparison) -> Iterator[str]:
    """Which tests there are, why, and what their replicates are."""
    plan = result.plan
    if result.comparisons:
        if plan.exchange_reason:
            reason = of_unit(result, plan.exchange_reason.rstrip(".").replace("<=", "≤"))
            yield f"Why {plan.exchange[0]} decides: {reason}."
        for name, reason in plan.left_out.items():
            yield f"{name} is left out: it {reason.partition(':')[0].rstrip('.')}."
        yield from _caveats(result)
        yield from _limits(result, result.plan.exchange[1:])
        yield tests_of(result, plan.exchange)
        yield from intervals(result)
    if observes_many(result):
        yield (
            "What experiments with other numbers of runs would observe is left out here, because the table is long: "
            "--format csv --table observed."
        )
    median_on = option("--median-on", "median_on")
    if plan.median_on == "test" and has_several(result):
        yield (
            f"Median runs: Clark et al. recommend choosing them on another set than the one to analyse ({median_on})."
        )
    draws = f"{counted(plan.n_resamples, 'bootstrap draw')} of {plan.unit}s"
    yield f"Runs are numbered from 0. Standard deviations of runs divide by n − 1; s_sel is from {draws}."


# What was found.


def _answer(result: RunComparison) -> str:
    """Which systems are better, by the exchange unit that decides."""
    statements = {metric.name: (_statement(result, metric), "") for metric in result.metrics}
    return one_sentence(statements, "under", f"By {exchange_phrase(result)}, ")


def _statement(result: RunComparison, metric: UsedMetric) -> str:
    """Which systems are better under a metric."""
    tested = of_name(deciding(result), metric=metric.name)
    baseline, alternative = constant(tested, "baseline"), result.plan.alternative
    if baseline is None:
        return number_of_pairs([is_significant(result, each) for each in tested])
    relations = {each.system: relation(result.verdict(each), alternative, metric) for each in tested}
    return against_baseline(relations, baseline)


def _unreachable(result: RunComparison) -> Iterator[str]:
    """Tests whose p cannot reach alpha, and how many runs would be enough."""
    alpha = result.plan.alpha
    for name in result.plan.exchange:
        limited = [each for each in of_name(result.comparisons, exchange=name) if each.smallest_pvalue > alpha]
        if not limited:
            continue
        worst = max(limited, key=lambda each: each.smallest_pvalue)
        if worst.runs_needed is None:
            few = of_unit(result, "all exchanges are counted, because the outputs differ in so few segments")
            advice = few if worst.exact else f"use more replicates ({option('-n', 'n_resamples')})"
            yield f"{name}: p ≥ {worst.smallest_pvalue:.3g}: {advice}."
            continue
        yield f"{name}: {_whatever(result, worst, worst.smallest_pvalue)}; {_enough(result)}."


def _whatever(result: RunComparison, each: RunDifference, smallest: float) -> str:
    """The smallest p that the numbers of runs of a pair allow."""
    limit = "is always 1" if smallest == 1 else f"cannot fall below {smallest:.3g}"
    return f"with {_numbers(result, each)}, p {limit}"


def _numbers(result: RunComparison, each: RunDifference) -> str:
    n, m = (result.plan.systems[name] for name in (each.system, each.baseline))
    return f"{counted(n, 'run')} each" if n == m else f"{n:,} and {m:,} runs"


def _enough(result: RunComparison) -> str:
    """How many runs of each system would be enough, and the smallest p that they allow."""
    alternative = result.plan.alternative
    needed = runs_needed(result.plan.alpha, alternative) or MOST_RUNS
    return f"with {needed:,}, it can be {smallest_of_splits(needed, needed, alternative):.3g}"


# What limits the answer.


def _limits(result: RunComparison, units: Sequence[str]) -> Iterator[str]:
    """Where tests may reject too often: a sentence for each of them and reason."""
    for unit in units:
        own = of_name(result.comparisons, exchange=unit)
        for kind, text in words("runs")["limit"].items():
            cases = [each for each in own if kind in each.caveats]
            if not cases:
                continue
            rate = words("runs")["exchange"][unit].get("largest", {}).get(kind)
            shown = "" if rate is None else f" (up to {rate} at .05 in simulations)"
            where = "" if len(cases) == len(own) else f", {_listed([*map(_case, cases)])}"
            yield f"Limitation of {unit}{where}: {text}{shown}."


def _duplicates(result: RunComparison) -> Iterator[str]:
    """Runs with the same output: of one system, of systems that are the same in all runs, and others."""
    found = [tuple(each) for each in result.plan.duplicates]
    if not found:
        return
    first = {(name, run): (other, of) for name, run, other, of in found}
    outputs = {
        name: sorted(first.get((name, run), (name, run)) for run in range(n)) for name, n in result.plan.systems.items()
    }
    same = [(b, a) for a, b in _pairs_of(result) if outputs[a] == outputs[b]]
    for b, a in same:
        tested = of_name(deciding(result), system=b, baseline=a)
        p = ": p = 1" if tested and all(each.pvalue == 1 for each in tested) else ""
        yield f"{b} and {a} are identical: their runs have the same outputs, byte for byte{p}."
    within = [(name, run, of) for name, run, other, of in found if name == other]
    between = [
        f"run {run} of {name} and run {of} of {other}"
        for name, run, other, of in found
        if name != other and not any({name, other} == {*pair} for pair in same)
    ]
    shown = [f"runs {of} and {run} of {name}" for name, run, of in within] + between
    if shown:
        copies = "p counts copies as further runs, so it is too small"
        yield f"Warning: {_listed(shown)} have the same bytes: {copies}."


def _pairs_of(result: RunComparison) -> list[tuple[str, str]]:
    """The pairs of systems in the order of the result, each with those before it."""
    names = [*result.plan.systems]
    return [(a, b) for at, b in enumerate(names) for a in names[:at]]


def _few_runs(result: RunComparison) -> Iterator[str]:
    """Fewer runs than recommended."""
    few = {name: n for name, n in result.plan.systems.items() if n < RECOMMENDED_RUNS}
    if not few:
        return
    by_number = {n: [name for name, own in few.items() if own == n] for n in sorted(set(few.values()))}
    shown = [
        f"{named(names, 'system')} have {counted(n, 'run')} each"
        if len(names) > 1
        else f"{names[0]} has {counted(n, 'run')}"
        for n, names in by_number.items()
    ]
    undefined = " With one run, s_test is undefined." if 1 in by_number else ""
    yield (
        f"Warning: {joined(shown)}; Clark et al. 2011 recommend at least {RECOMMENDED_RUNS}, because runs of the same "
        f"system differ.{undefined}"
    )


def _case(each: RunDifference) -> str:
    """The pair of a difference, and its metric."""
    return f"{each.system} − {each.baseline} under {each.metric}"


def _listed(cases: Sequence[str]) -> str:
    """Some cases, and how many others there are."""
    left = len(cases) - MAX_NAMED
    return joined(cases) if left <= 0 else f"{', '.join(cases[:MAX_NAMED])} and {left:,} more"


# How to read the statistics: Clark et al. 2011, 4.1.


def _smallest_difference(result: RunComparison, metric: str, system: str) -> float | None:
    """The smallest absolute difference of a system from those that it is compared with; None without one."""
    own = of_name(deciding(result), metric=metric)
    found = [abs(each.difference) for each in own if system in (each.system, each.baseline) and each.difference]
    return min(found, default=None)


def _local_optima(result: RunComparison) -> Iterator[str]:
    """Systems whose scores on the development set depend on the run."""
    cases = []
    for each in scored_runs(result.systems):
        scores, decimals = each.scores, decimals_under(result, each.metric)
        difference = _smallest_difference(result, each.metric, each.system)
        against, what = (scores.s_sel, "s_sel") if difference is None else (difference, "difference")
        if scores.s_dev is not None and 0 < LARGE * against <= scores.s_dev:
            size = f"{deviation(scores.s_dev, decimals)}, {what} {against:.{decimals}f}"
            cases.append(f"{each.system} under {each.metric} ({size})")
    if cases:
        yield (
            f"High s_dev: {_listed(cases)}. The optimizer may end in different local optima, and more random restarts "
            "may help."
        )


def variance_test(dev: Sequence[float], test: Sequence[float]) -> float | None:
    """Two-sided p-value of the Pitman–Morgan test that runs vary equally on two sets; None if it is undefined.

    The correlation of the sums with the differences is tested by Student's t with n − 2 degrees of freedom (Pitman
    1939, doi:10.1093/biomet/31.1-2.9).
    """
    n = len(dev)
    sums, differences = ([x + sign * y for x, y in zip(test, dev, strict=True)] for sign in (1, -1))
    if n < 3 or min(max(sums) - min(sums), max(differences) - min(differences)) <= 0:
        return None
    from scipy.special import stdtr  # takes long to import

    r = correlation(sums, differences)
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def _overfitting(result: RunComparison) -> Iterator[str]:
    """Systems whose runs differ more on the test set than on the development set, unless that may be chance."""
    sure: list[str] = []
    unsure: list[str] = []
    for each in scored_runs(result.systems):
        scores = each.scores
        if scores.s_dev is None or scores.s_test is None or scores.s_test <= scores.s_dev:
            continue
        decimals, p = decimals_under(result, each.metric), variance_test(scores.dev_runs, scores.runs)
        values = f"{deviation(scores.s_test, decimals)} > {deviation(scores.s_dev, decimals)}"
        shown = "" if p is None else ", p < 0.001" if p < 0.001 else f", p = {p:.2g}"
        case = f"{each.system} under {each.metric} ({values}{shown})"
        (sure if p is not None and p <= result.plan.alpha else unsure).append(case)
    if sure:
        yield f"s_test > s_dev: {_listed(sure)}. This points to overfitting of the tuning set (p: Pitman–Morgan test)."
    if unsure:
        yield (
            f"s_test > s_dev: {_listed(unsure)}. It may be overfitting of the tuning set, but with so few runs also "
            "chance (p: Pitman–Morgan test)."
        )


def _more_runs(result: RunComparison) -> Iterator[str]:
    """Differences that are not significant, and small against s_sel."""
    cases = []
    for each in deciding(result):
        difference, pair = abs(each.difference), (each.baseline, each.system)
        s_sel = max(system.scores[each.metric].s_sel for system in result.systems if system.name in pair)
        if difference and s_sel >= LARGE * difference and not is_significant(result, each):
            decimals = decimals_under(result, each.metric)
            values = f"{deviation(s_sel, decimals)}, difference {difference:.{decimals}f}"
            cases.append(f"{_case(each)} ({values})")
    if cases:
        yield (
            f"Large s_sel: {_listed(cases)}. Clark et al. advise more runs in this case, and say that a larger test "
            "set may help."
        )


def _median_runs(result: RunComparison) -> Iterator[str]:
    """Which runs to analyse by hand, and that other metrics choose others."""
    plan = result.plan
    several = [system for system in result.systems if len(next(iter(system.scores.values())).runs) > 1]
    if not several:
        return
    metric = plan.median_metric
    where = "development" if plan.median_on == "dev" else "test"
    chosen = [f"run {system.scores[metric].median_run} of {system.name}" for system in several]
    runs = "run" if len(chosen) == 1 else "runs"
    yield f"For manual analysis: the median {runs} by {metric} on the {where} set {are(len(chosen))} {_listed(chosen)}."
    others: list[str] = []
    for other in result.metrics:
        differing = [s for s in several if s.scores[other.name].median_run != s.scores[metric].median_run]
        if differing:
            cases = [f"{system.scores[other.name].median_run} of {system.name}" for system in differing]
            others.append(f"{other.name} (run {_listed(cases)})")
    if others:
        yield f"Other metrics choose other median runs: {_listed(others)}. Use the metric that you trust most."


# How it was computed.


def _caveats(result: RunComparison) -> Iterator[str]:
    """What the tests beside the one that decides ignore."""
    # The names of exchange units stay as they are where documents are resampled.
    ignored = {name: words("runs")["exchange"].get(name, {}).get("ignores") for name in result.plan.exchange}
    shown = [f"{name} {of_unit(result, text)}" for name, text in ignored.items() if text is not None]
    if shown:
        yield f"Caveats: {'; '.join(shown)}."


def tests_of(result: RunComparison, units: Sequence[str]) -> str:
    """The alternative, the replicates and the adjustment of tests by some exchange units."""
    plan = result.plan
    parts: dict[str, list[str]] = {}
    for name in units:
        own = of_name(result.comparisons, exchange=name)
        for exact in (True, False):
            numbers = sorted({each.n_resamples for each in own if each.exact == exact})
            if numbers:
                n = " to ".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
                shown = f"all {n} exchanges" if exact else f"{n} replicate{'s' * (numbers[-1] != 1)}"
                if numbers == [0]:
                    shown = "closed form"
                parts.setdefault(shown, []).append(name)
    sentences = [f"{joined(names)}: {shown}" for shown, names in parts.items()]
    return f"Tests: {'; '.join([plan.alternative, *sentences, *adjustments(result, units)])}."


def adjustments(result: RunComparison, units: Sequence[str], citing: bool = False) -> Iterator[str]:
    """How p is adjusted, with the exchange units if these differ in it. ``citing``: with the papers."""

    def title(how: str) -> str:
        about = words("runs")["adjustment"].get(how, {"title": how})
        return f"{about['title']}{cite(about.get('source')) if citing else ''}"

    chosen = result.plan.adjustments.items()
    by_title = grouped((title(how), name) for name, how in chosen if name in units and how != "none")
    shown = [f"{how} ({joined(names)})" if len(by_title) > 1 else how for how, names in by_title.items()]
    over = "all pairs and metrics" if result.plan.family == "all" else "the pairs under each metric"
    if shown:
        yield f"p adjusted by {joined(shown)} over {over}"


def intervals(result: RunComparison, sentence: bool = False) -> Iterator[str]:
    """What the intervals are, of the unit that decides: as a note, or as a sentence of a paper."""
    found = deciding(result)
    intervals = [each.confidence_interval for each in found if each.confidence_interval is not None]
    if not intervals:
        return
    freedom = sorted(each.degrees_of_freedom for each in found if each.degrees_of_freedom is not None)
    t = ""
    if freedom:
        ends = list(dict.fromkeys(f"{value:.1f}" for value in (freedom[0], freedom[-1])))
        t = f", with {' to '.join(ends)} degrees of freedom for the runs"
    method, level = intervals[0].method, intervals[0].confidence_level
    each = f"; {number(100 * level)}% holds for each interval, not for all at once" if len(intervals) > 1 else ""
    name = of_unit(result, words("runs")["interval"].get(method, method))
    the = "the " if name[0].islower() else ""
    begins = f"The {number(100 * level)}% confidence intervals are computed by {the}" if sentence else f"{ci(level)}: "
    yield f"{begins}{name}{t}{each}."


# The methods paragraph of a paper.


def methods(result: RunComparison) -> Iterator[str]:
    """The runs and their scores, the test that decides, its replicates and seed, and what is called significant."""
    plan = result.plan
    runs = joined(f"{counted(n, 'run')} of {printable(name)}" for name, n in plan.systems.items())
    size = counted(plan.segments, "segment")
    if plan.unit != "segment":
        size += f" in {counted(plan.units, plan.unit)}"
    yield f"The outputs of {runs} were scored by {metrics_phrase(result.metrics)} on {size}."
    if has_several(result):
        yield (
            f"How much scores vary between runs (s_test) and between test sets (s_sel) was estimated{cite(CLARK)}, "
            f"s_sel from R = {plan.n_resamples:,} bootstrap draws of {plan.unit}s with seed {plan.seed}."
        )
    if result.comparisons:
        yield from _tested(result, result.default_exchange or "")
        yield from _others(result, result.plan.exchange[1:])
        yield from map(Detail, _pvalues(result))
        yield from intervals(result, sentence=True)


def _tested(result: RunComparison, unit: str) -> Iterator[str]:
    """The test that decides."""
    plan = result.plan
    against = "between all pairs of systems" if plan.baseline is None else f"from {printable(plan.baseline)}"
    by = f"{exchange_phrase(result)}{cite(_source(unit))}"
    how = f"{alternative_phrase(plan.alternative)}{_replicates(result, unit)}"
    yield f"Differences {against} were tested by {by}, {how}."
    yield f"The null hypothesis is that {of_unit(result, result.truths[unit].rstrip('.'))}."
    called, alpha = "difference is called significant if", number(plan.alpha)
    adjusted = [each.removeprefix("p ") for each in adjustments(result, [unit], citing=True)]
    if adjusted:
        yield f"The p-values were {adjusted[0]}, and a {called} the adjusted p is at most {alpha}."
    else:
        yield f"A {called} p is at most {alpha}."


def _source(unit: str) -> str | None:
    source: str | None = words("runs")["exchange"].get(unit, {}).get("source")
    return source


def _others(result: RunComparison, units: Sequence[str]) -> Iterator[str]:
    """The tests whose p tables have beside it, and how p is adjusted."""
    if not units:
        return
    named = {unit: of_unit(result, exchange_phrase(result, unit).partition(" (")[0]) for unit in units}
    tests = joined(f"{by} ({unit}{_replicates(result, unit)}){cite(_source(unit))}" for unit, by in named.items())
    adjusted = [*adjustments(result, units, citing=True)]
    were = f"; their p-values were {adjusted[0].removeprefix('p ')}" if adjusted else ""
    yield f"For comparison, the differences were also tested by {tests}{were}."


def _pvalues(result: RunComparison) -> Iterator[str]:
    """How p and adjusted p are computed, once for tests with the same formula."""
    plan = result.plan
    two_sided = plan.alternative == "two-sided"
    than = {
        "as": "at least as large in absolute value as" if two_sided else "at least as far in the direction tested as",
        "beyond": "larger in absolute value than" if two_sided else "farther in the direction tested than",
    }

    def formula(unit: str) -> str:
        about, own = words("runs")["exchange"].get(unit, {}), of_name(result.comparisons, exchange=unit)
        if "compared" in about:
            return f"For the p-value of {{units}}, {about['compared']}."
        exact = {each.exact for each in own}
        shares = ["(c + 1)/(R + 1)"] * (False in exact) + ["c/R for all R exchanges"] * (True in exact)
        return f"The p-value of {{units}} is {' or '.join(shares)}, where c is the number of {about['counted']}."

    for text, units in grouped((formula(unit), unit) for unit in plan.exchange).items():
        yield of_unit(result, filled(text, {**than, "units": joined(units)}))
    n_tests = len(deciding(result)) // (1 if plan.family == "all" else len(result.metrics))
    for unit, how in plan.adjustments.items():
        if unit == result.default_exchange and how != "none":
            # Studentized statistics have a common scale, and the others are standardized as those of shuffles.
            scaled = UsedTest("ar-studentized" if unit == "run" else "ar", "", "", "replicates", adjustment=how)
            yield adjusted_sentence(scaled, n_tests, len(plan.systems))


def _replicates(result: RunComparison, unit: str) -> str:
    """The replicates of a test, and their seed."""
    tests = of_name(result.comparisons, exchange=unit)
    random = {each.n_resamples for each in tests if not each.exact} - {0}
    exact = {each.n_resamples for each in tests if each.exact}
    shown = [f"R = {max(random):,} replicates and seed {result.plan.seed}"] if random else []
    shown += [f"all {max(exact):,} exchanges{' where these are few' if random else ''}"] if exact else []
    return f", with {joined(shown)}" if shown else ""
