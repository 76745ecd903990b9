"""The sentences below the tables: how the numbers were computed, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ..errors import unknown_name
from ..grouping import grouped
from ..results import Comparison, SetComparison, SignificanceResult, UsedInterval, UsedTest
from .caveats import cautions, where_said
from .cells import EXACT, under
from .layout import Layout, by_name
from .margins import claim, has_margin, sides
from .parts import notes_on_parts
from .votes import vote_notes
from .wording import ci, counted, joined, number, option, percent, spelled, strata

# What the error rates of adjustments are rates of.
RATES: Mapping[str, str] = {
    "family-wise error rate": "the chance of any false {star}",
    "false discovery rate": "the expected share of false {star}s among the {star}s",
}


def notes(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """The sentences below the tables: first how the numbers were computed, then the caveats."""
    yield from explanations(result, layout)
    yield from cautions(result, layout)


def explanations(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """How the numbers were computed, and what the symbols mean, each with the test sets that it is about."""
    of = result if isinstance(result, SetComparison) else None
    if of is not None and of.dropped:
        yield f"Left out, because not every test set has them: {joined(of.dropped)}."
    # Without an average and the tables of each set, letters are shown but no ranks.
    hides_ranks = of is not None and of.average is None and not layout.wants_pairs
    found = (
        (sentence, name)
        for name, comparison in by_name(result).items()
        for sentence in explanations_of(comparison, layout, of)
        if not (hides_ranks and sentence.startswith(RANK))
    )
    yield from where_said(result, grouped(found))


def explanations_of(comparison: Comparison, layout: Layout, of: SetComparison | None = None) -> Iterator[str]:
    """How the numbers were computed, and what the symbols mean. ``of``: of which the comparison is a part."""
    for metric in comparison.metrics:
        if metric.evaluations is not None:
            yield f"{metric.name}: computed from the texts by {metric.evaluations:,} calls of its function."
        if comparison.lacks_scores(metric.name):
            yield _missing(comparison, metric.name)
    if comparison.votes is not None:
        yield from (spelled(each, layout.command is not None) for each in vote_notes(comparison.votes))
    if comparison.baseline is None and comparison.rankings:
        yield from _ranks(comparison, layout)
    if comparison.test is not None and comparison.alpha is not None:
        # With its meaning if no table of the report has the mark.
        has_stars = comparison.baseline is not None or layout.triangle or layout.shows_pairs(comparison)
        star = "*" if has_stars else "significant:"
        of_test = _test(comparison, comparison.test, number(comparison.alpha), star, of)
        yield from (spelled(sentence, layout.command is not None) for sentence in of_test)
    level = comparison.confidence_level
    if comparison.interval is not None and level is not None and layout.shows_intervals(comparison):
        yield f"{_interval(comparison, comparison.interval, level)}."
    yield from _not_shown(comparison, layout, of)
    if layout.shows_parts(comparison):
        yield from notes_on_parts(comparison)


# How the sentence about ranks begins.
RANK = "Rank:"
LETTERS = "systems that share a letter do not differ significantly (compact letter display)."


def rank_key(comparison: Comparison, without: str = "") -> str:
    """What ranks are; those without simultaneous coverage end in ``without``."""
    if all(ranking.simultaneous for ranking in comparison.rankings):
        return f"{RANK} simultaneous {percent(1 - (comparison.alpha or 0))} confidence intervals of the ranks."
    return f"{RANK} the ranks that are compatible with the significant differences{without}."


def _ranks(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """The meaning of the ranks and letters that are shown."""
    n_metrics = len(comparison.metrics)
    ranks = rank_key(comparison, ", without simultaneous coverage")
    without = [ranking.metric for ranking in comparison.rankings if ranking.groups is None]
    if len(without) == len(comparison.rankings):
        yield f"{ranks} Letters: none, because over 26 are needed."
        return
    if without or layout.shows_group("ranks", n_metrics):
        yield ranks
    if layout.shows_group("letters", n_metrics):
        missing = f" There are none under {joined(without)}, because more than 26 would be needed." if without else ""
        yield f"Group: {LETTERS}{missing}"


def _not_shown(comparison: Comparison, layout: Layout, of: SetComparison | None) -> Iterator[str]:
    """What the report leaves out, and how to see it."""
    several, tests = len(comparison.metrics) > 1, len(comparison.comparisons) * (1 if of is None else len(by_name(of)))
    if tests and not layout.shows_pairs(comparison) and (several or comparison.baseline is None):
        shown = "differences, intervals and p" if comparison.interval is not None else "differences and p"
        pairs = spelled(option("--pairs", "render(pairs=True)"), layout.command is not None)
        yield f"For the {shown} of all {counted(tests, 'test')}: {pairs}, or save as JSON or CSV."
    if not (layout.paper or layout.shows_all_documents(comparison)):
        pairs = spelled(option("--pairs", "render(pairs=True)"), layout.command is not None)
        yield f"For the scores on all documents: {f'{pairs}, or ' if tests else ''}save as JSON or HTML."
    if several and not (tests or layout.shows_details(comparison)) and any(s.details for s in comparison.scores):
        yield "The components of the scores, such as precisions, are in json, and in reports on a single metric."


# How numbers were computed.


def _missing(comparison: Comparison, metric: str) -> str:
    """What n counts under a metric with missing scores, and whether differences are those of the scores shown."""
    scores = {score.system: score.score for score in under(metric, comparison.scores)}
    pairs = under(metric, comparison.comparisons)
    apart = sum(
        not math.isclose(scores[p.system] - scores[p.baseline], p.difference, rel_tol=1e-9, abs_tol=1e-12)
        for p in pairs
    )
    sentence = f"{metric}: some scores are missing; n is the number of segments for which a system"
    if not pairs:
        return f"{sentence} has a score."
    sentence += ", or both systems of a pair, have a score."
    if not apart:
        return sentence
    return f"{sentence} Δ is the difference on the latter, so it may differ from the difference of the scores shown."


def _test(comparison: Comparison, test: UsedTest, alpha: str, star: str, of: SetComparison | None) -> Iterator[str]:
    replicates = "" if test.replicates is None else f" {_replicates(comparison, test)}{_of_units(comparison, test)},"
    starred = "adjusted p" if comparison.family_size > 1 else "p"
    # The name that one types, and what it stands for.
    name = test.title if test.name in test.title else f"{test.name} ({test.title})"
    shown = f", {claim(comparison, 'the margin')}" if test.has_margin else ""
    yield f"p: {name},{replicates} {sides(comparison, test)}; {star} {starred} ≤ {alpha}{shown}."
    yield from _stopping([pair.test for pair in comparison.comparisons])
    several = len(comparison.comparisons) * test.n_sets > 1
    if test.adjustment is not None and test.adjustment_rate is not None and several:
        mark = "star" if star == "*" else "positive"
        yield _adjusted(comparison, test, test.adjustment_rate, mark, of)
        if of is not None and of.average is not None and over_sets(of):
            others = "the test sets" if comparison.averaged_over else "the averages"
            yield f"This rate does not cover {others}, which are adjusted separately."


def is_nominal(comparison: Comparison) -> bool:
    """Whether units are too few for the error rate of tests of ratings (docs/evidence/votes.md)."""
    return comparison.votes is not None and any(each.kind == "small-sample" for each in comparison.caveats)


def over_sets(result: SetComparison) -> bool:
    """Whether families extend over the test sets."""
    return any(each.test is not None and each.test.n_sets > 1 for each in result.sets.values())


def separately(result: SetComparison) -> str:
    """What has families of its own if they do not extend over the test sets."""
    return f"on each test set {'' if result.average is None else 'and for the average '}separately"


def _adjusted(comparison: Comparison, test: UsedTest, rate: str, mark: str, of: SetComparison | None) -> str:
    """How p was adjusted, over which tests, and which error rate that controls.

    ``mark`` is what a significant difference is called.
    """
    tests, metrics, alpha = len(comparison.comparisons), len(comparison.metrics), comparison.alpha or 0
    pairs = counted(tests // metrics, "pair")
    method = f"Adjusted p: {test.adjustment_title}"
    if rate not in RATES:  # read from damaged JSON
        raise unknown_name("error rate", rate, RATES)
    risk = RATES[rate].format(star=mark)
    nominal = f"nominally, because there are few {comparison.unit}s, " if is_nominal(comparison) else ""
    controlled = f"{nominal}{rate} ≤ {number(alpha)}: {risk}"
    if of is not None and len(by_name(of)) > 1 and not over_sets(of):
        return _adjusted_apart(comparison, test, of, f"The {rate}, {risk}, is {nominal}", risk)
    on_sets = "" if test.n_sets == 1 else f" on each of {test.n_sets:,} test sets"
    if metrics == 1:
        return f"{method} over {pairs}{on_sets}; {controlled}."
    if test.family in ("set", "all"):
        tests *= test.n_sets
        return f"{method} over {tests:,} tests, {pairs} under each of {metrics:,} metrics{on_sets}; {controlled}."
    # Each metric adds at most alpha to the chance of a false star, or to the share of false stars, over all metrics.
    family = option("--family all", "family='all'")
    limit, over = number(min(1, round(metrics * alpha, 12))), f"over the {tests * test.n_sets:,} tests"
    if comparison.family_size == 1:
        return (
            f"Each metric is a family of one test, so p needs no adjustment. For the {metrics:,} metrics together, "
            f"{risk} may be up to {limit}; with {family} it is at most {number(alpha)} {over}."
        )
    both = "both metrics" if metrics == 2 else f"all {metrics:,} metrics"
    together = f"over {both} together it may be up to {limit} (with {family}, ≤ {number(alpha)} {over})"
    rates = f"≤ {number(alpha)} under each metric; {together}"
    return f"{method} over {pairs} under each metric{on_sets}. The {rate}, {risk}, is {nominal}{rates}."


def _adjusted_apart(comparison: Comparison, test: UsedTest, of: SetComparison, rate: str, risk: str) -> str:
    """The same where each test set and the average have families of their own."""
    metrics, alpha, size = len(comparison.metrics), comparison.alpha or 0, comparison.family_size
    n = len(comparison.comparisons) // size * len(by_name(of))
    # Each family adds at most alpha to the chance of a false star, or to the share of false stars, over all of them.
    limit, together = (number(min(1, round(k * alpha, 12))) for k in (n, 1 + (of.average is not None)))
    whole = "all" if metrics > 1 else "sets"
    family = option(f"--family {whole}", f"family={whole!r}")
    two = "" if of.average is None else ": one family for the test sets, one for the average"
    if size == 1:
        return (
            f"Each metric is a family of one test, {separately(of)}, so p needs no adjustment. For the {n:,} tests "
            f"together, {risk} may be up to {limit}; with {family} it is at most {together}{two}."
        )
    tests = counted(size, "pair")
    if test.family in ("set", "all"):
        tests = f"{size:,} tests, {counted(size // metrics, 'pair')} under each of {metrics:,} metrics"
    elif metrics > 1:
        tests += " under each metric"
    return (
        f"Adjusted p: {test.adjustment_title} over {tests}, {separately(of)}. {rate}≤ {number(alpha)} in each of these "
        f"{n:,} families and ≤ {limit} in all together (with {family}, ≤ {together}{two})."
    )


def _of_units(comparison: Comparison, test: UsedTest) -> str:
    """What follows the number of replicates: `` of documents within 3 strata``, or nothing."""
    return f"{_unit(comparison)}{within_strata(comparison) if test.replicates == 'draws' else ''}"


def _unit(comparison: Comparison) -> str:
    return "" if comparison.unit == "segment" else f" of {comparison.unit}s"


def within_strata(comparison: Comparison) -> str:
    """Within what is drawn, as the end of a phrase."""
    if comparison.averaged_over:
        return " within each test set"
    return "" if comparison.n_strata is None else f" within {strata(comparison.n_strata)}"


def _interval(comparison: Comparison, interval: UsedInterval, level: float) -> str:
    n_draws = counted(comparison.n_resamples or 0, "bootstrap draw")
    draws = f", {n_draws}{_unit(comparison)}" if interval.draws else ""
    computed = f"{interval.title}{draws}{within_strata(comparison)}"
    if interval.simultaneous:
        return f"{ci(level)} of scores: {computed}. {_simultaneous(comparison, level)}"
    if has_margin(comparison):
        return f"{ci(level)} of scores: {computed}. {_with_margin(comparison, level)}"
    several = len(comparison.comparisons) > 1
    each = f"; {percent(level)} holds for each interval, not for all at once" if several else ""
    return f"{ci(level)}: {computed}{each}"


def _with_margin(comparison: Comparison, level: float) -> str:
    """What the intervals of tests with a margin show."""
    test, alpha = comparison.test, number(comparison.alpha or 0)
    equivalence = test is not None and test.alternative == "equivalence"
    end = "it lies" if equivalence else "its end on the side of worse scores lies"
    adjusted = ", before adjustment" if comparison.family_size > 1 else ""
    inside = f"{end} within the margin exactly when p ≤ {alpha}{adjusted}"
    return f"{ci(level)} of differences: the inverse of the test; {inside}"


def _simultaneous(comparison: Comparison, level: float) -> str:
    """What simultaneous intervals are and promise."""
    tests, metrics = len(comparison.comparisons), len(comparison.metrics)
    n_sets = 1 if comparison.test is None else comparison.test.n_sets
    if n_sets > 1:
        of = f"all {comparison.family_size:,} intervals of a family at once, on {n_sets:,} test sets"
    elif tests == 1:
        of = "the only difference"
    elif comparison.family_size == 1:
        of = "each of them, because each metric is a family of one"
    elif comparison.family_size == tests:
        of = f"all {tests:,} intervals at once" + ("" if metrics == 1 else ", under all metrics")
    else:
        of = f"all {comparison.family_size:,} intervals under a metric at once"
    return f"{ci(level)} of differences: simultaneous, {percent(level)} for {of}"


def _stopping(tests: Sequence[SignificanceResult]) -> Iterator[str]:
    """For tests with a stopping rule: the rule, and how many shuffles it used."""
    rule = tests[0].stopping
    if rule is None:
        return
    numbers = [test.n_resamples or 0 for test in tests]
    used = f"{_range(numbers, 0, ',')} shuffle{'' if max(numbers) == 1 else 's'} used"
    if rule.rule == "besag-clifford":
        not_stopped = sum(test.stopping is not None and not test.stopping.stopped for test in tests)
        exceedances = counted(rule.exceedances or 0, "shuffle")
        yield (
            f"Sequential stopping (Besag & Clifford 1991): each test ends after {exceedances} with a difference at "
            f"least as large; {used}, {not_stopped:,} of {counted(len(tests), 'test')} reached the maximum."
        )
        return
    yield (
        f"Sequential stopping (Gandy 2009): each test ends once it is decided whether p ≤ {rule.level:.10g}, with an "
        f"error probability of at most {rule.risk:.10g}; {used}; p itself is an estimate."
    )


def _replicates(comparison: Comparison, test: UsedTest) -> str:
    """How many replicates the tests used, or how exact tests computed p; both if only some tests are exact."""
    replicates = test.replicates or ""
    n = counted(comparison.n_resamples or 0, replicates.removesuffix("s"))
    tests = [pair.test for pair in comparison.comparisons]
    exact = sum(test.scheme == "exact" for test in tests)
    # Exact tests among those by draws are those of pairs that differ in few units.
    methods = _exact_methods(tests, "shuffles" if replicates == "draws" else replicates)
    subgroup = next((test.n_resamples for test in tests if test.scheme == "subgroup"), None)
    if exact == len(tests):
        return f"{EXACT} exact, {methods}"
    if subgroup is not None:
        return f"a random subgroup of {subgroup:,} {replicates}"
    if test.stopping is not None:
        return f"at most {n}"
    some = f" ({EXACT} {exact:,} of {counted(len(tests), 'test')} exact, {methods})" if exact else ""
    return f"{n}{some}"


def _exact_methods(tests: Sequence[SignificanceResult], replicates: str) -> str:
    """How exact tests computed p, with the number of tests for each method if there are two."""
    by_patterns = sum(test.exact_by == "patterns" for test in tests)
    by_convolution = sum(test.exact_by == "convolution" for test in tests)
    patterns, convolution = f"by enumeration of all {replicates}", "by convolution"
    if by_patterns and by_convolution:
        return f"{by_patterns:,} {patterns} and {by_convolution:,} {convolution}"
    return patterns if by_patterns else convolution


def _range(values: Sequence[float], decimals: int, grouping: str = "") -> str:
    """The smallest and the largest value, or only one if both are displayed alike.

    >>> _range([0.5, 0.25, 1], 2), _range([3, 3], 0)
    ('0.25 to 1.00', '3')
    """
    ends = dict.fromkeys(f"{value:{grouping}.{decimals}f}" for value in (min(values), max(values)))
    return " to ".join(ends)
