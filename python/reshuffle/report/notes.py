"""The sentences below the tables: how the numbers were computed, and the wording of each caveat."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from string import Formatter
from typing import Any

from ..errors import InputError, quoted, unknown_name
from ..grouping import grouped
from ..results import Caveat, Comparison, SetComparison, SignificanceResult, UsedInterval, UsedTest
from .cells import EXACT, under
from .layout import Layout, by_name, sets_of
from .margins import claim, has_margin, sides
from .parts import notes_on_parts
from .systems import pairs_of
from .votes import vote_notes
from .wording import are, ci, counted, joined, named, number, option, percent, spelled, strata

# What the error rates of adjustments are rates of.
RATES: Mapping[str, str] = {
    "family-wise error rate": "the chance of any false {star}",
    "false discovery rate": "the expected share of false {star}s among the {star}s",
}

Values = Mapping[str, Any]

# Caveats of intervals, which do not help a reader who sees none.
OF_INTERVALS = {"few-draws", "star-and-interval"}


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
    yield from _where_said(result, grouped(found))


def cautions(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """The caveats in words, with the test sets that have them.

    One that several metrics have in the same words is said once: ``BLEU, TER: …``.
    """
    return _where_said(result, cautions_of(by_name(result), layout))


def _where_said(result: Comparison | SetComparison, notes: Mapping[str, list[str]]) -> Iterator[str]:
    """The notes, each after the test sets that it is about unless it is about all."""
    sets, n_all = [*sets_of(result)], len(by_name(result))
    for note, of in notes.items():
        where = "[Each test set] " if of == sets else f"[{named(of, f'of {n_all:,} test set')}] "
        yield note if len(of) == n_all else f"{where}{note}"


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


def cautions_of(comparisons: Mapping[str, Comparison], layout: Layout) -> dict[str, list[str]]:
    """The caveats of several comparisons in words, each once, with the names of the comparisons that have it."""
    found = [
        (name, with_pairs(comparison, caveat, name))
        for name, comparison in comparisons.items()
        for caveat in comparison.caveats
        if layout.shows_intervals(comparison) or caveat.kind not in OF_INTERVALS
    ]
    texts: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    every = {metric.name for comparison in comparisons.values() for metric in comparison.metrics}
    for names, caveat in _added_up(found, every):
        sentence = worded(caveat, layout.command is not None)
        about = f"{caveat.values.get('metric')}: "
        start = about if sentence.startswith(about) else ""
        texts.setdefault((sentence.removeprefix(start), names), []).append(start.removesuffix(": "))
    said = (
        (f"{', '.join(metrics)}: {text}" if all(metrics) else text, name)
        for (text, names), metrics in texts.items()
        for name in names
    )
    return grouped(said)


# What caveats of these kinds count, which is added up over metrics and test sets.
COUNTS = {"star-and-interval": ("pairs", "starred", "tests"), "near-alpha": ("near", "tests")}
# What else may differ between caveats that are added up.
APART = ("metric", "named", "enough", "reasons")


def _added_up(found: Iterable[tuple[str, Caveat]], every: Set[str]) -> Iterator[tuple[tuple[str, ...], Caveat]]:
    """The caveats with the names of their comparisons; as one, those that differ in what they count.

    ``every``: the metrics; a caveat about all of them names none.
    """

    def kind(caveat: Caveat) -> Any:
        left_out = {*COUNTS.get(caveat.kind, ()), *APART} if caveat.kind in COUNTS else set()
        would_decide = caveat.values.get("enough", 0) is not None
        values = {key: value for key, value in caveat.values.items() if key not in left_out}
        return caveat.kind, would_decide, repr(values)

    for alike in grouped((kind(caveat), (name, caveat)) for name, caveat in found).values():
        names, caveats = zip(*alike, strict=True)
        one = len(caveats) == 1 or caveats[0].kind not in COUNTS
        yield tuple(dict.fromkeys(names)), caveats[0] if one else _sum(caveats, every)


def _sum(caveats: Sequence[Caveat], every: Set[str]) -> Caveat:
    """One caveat for several of a kind."""
    first = caveats[0]
    values = {**first.values, "several": True}
    for key in COUNTS[first.kind]:
        values[key] = sum(caveat.values[key] for caveat in caveats)
    if first.kind == "near-alpha":
        values["named"] = [name for caveat in caveats for name in caveat.values["named"]]
        if "enough" in values:
            values["enough"] = max((caveat.values["enough"] for caveat in caveats), key=lambda n: n or 0)
    else:
        metrics = list(dict.fromkeys(caveat.values["metric"] for caveat in caveats))
        values["metric"] = None if every <= {*metrics} or None in metrics else ", ".join(metrics)
        reasons = [tuple(caveat.values["reasons"]) for caveat in caveats]
        values["reasons"] = tuple(dict.fromkeys(reason for each in reasons for reason in each))
        values["differ"] = len({*reasons}) > 1
    return replace(first, values=values)


# Of more pairs, a note has the number.
MOST_PAIRS = 3
# Of more pairs, the conclusions have the number.
MAX_PAIRS = 2


def with_pairs(comparison: Comparison, caveat: Caveat, name: str = "") -> Caveat:
    """The caveat with the pairs that it is about, if its sentence names them. ``name``: that of the comparison."""
    if caveat.kind not in ("near-alpha", "skewed"):
        return caveat
    several = len(comparison.metrics) > 1 and caveat.kind == "near-alpha"
    names = [
        (f"{pair.system} − {pair.baseline}" if comparison.baseline is None else pair.system)
        + (f" under {pair.metric}" if several else "")
        + (f" ({name})" if name else "")
        for metric in comparison.metrics
        if caveat.values.get("metric") in (None, metric.name)
        for pair in pairs_of(comparison, metric)
        if caveat.kind in pair.caveats
    ]
    # The conclusions name fewer of them.
    if caveat.kind == "skewed" and (comparison.baseline is not None or len(names) <= MAX_PAIRS):
        return caveat
    return replace(caveat, values={**caveat.values, "named": names})


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


def worded(caveat: Caveat, for_command: bool = False) -> str:
    """The sentence for a caveat, with options as flags of the command line or as keyword arguments.

    >>> worded(Caveat("near-alpha", {"near": 2, "tests": 120, "alpha": 0.05, "adjusted": False}))[:64]
    'For 2 of 120 tests, Monte Carlo error leaves open on which side '
    """
    if caveat.kind not in CAVEATS:
        raise unknown_name("caveat", caveat.kind, CAVEATS)
    try:
        wording = CAVEATS[caveat.kind]
        sentence = Words().vformat(wording, (), caveat.values) if isinstance(wording, str) else wording(caveat.values)
        return spelled(sentence, for_command)
    except (KeyError, TypeError, ValueError) as error:  # read from damaged JSON
        raise InputError(f"the values of the caveat {quoted(caveat.kind)} are not complete: {error}") from error


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


# Caveats. A sentence is a template, with the values of the caveat by name, or a function of the values.

MORE = f"increase {option('-n', 'n_resamples')}"
ENOUGH = f"{MORE} to at least {{enough:,}}, or use auto"


class Words(Formatter):
    """Templates in which ``{n:segment}`` is a number with its noun, and ``{alpha:number}`` a number as it was chosen.

    >>> Words().vformat("{n:segment} at {alpha:number}", (), {"n": 2, "alpha": 0.1})
    '2 segments at 0.1'
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value in the template."""
        if format_spec == "number":
            return number(value)
        # One letter is a format of Python's own, such as g.
        is_noun = format_spec.isalpha() and len(format_spec) > 1
        return counted(value, format_spec) if is_noun else str(super().format_field(value, format_spec))


def _p(values: Values) -> str:
    """The name of the p that decides about the star."""
    return "adjusted p" if values["adjusted"] else "p"


def _of_pairs(values: Values) -> str:
    return f"{values['pairs']:,} of {counted(values['tests'], 'pair')}"


def _have(values: Values) -> str:
    return "has" if values["pairs"] == 1 else "have"


def _not_exchangeable(values: Values) -> str:
    often = "often" if values["ratio"] < 1 else "rarely"
    worst = f"{values['system']} and {values['baseline']}"
    which = worst if values["tests"] == 1 else f"{_of_pairs(values)} (worst: {worst})"
    advice = "" if values["instead"] is None else f"; use {values['instead']}"
    return (
        f"{values['metric']}: the outputs of {which} are not exchangeable: over shuffles, the SD of the "
        f"difference is {values['ratio']:.2f} times its standard error, so {values['test']} rejects too "
        f"{often}{advice}."
    )


# An output is about as long as the references if the difference is at most so many standard errors.
AS_LONG = 3.0


def _near_kink(values: Values) -> str:
    metric, pairs = values["metric"], values["pairs"]
    both = (values["system"], values["baseline"])
    near = [system for system, z in zip(both, values["lengths"], strict=True) if abs(z) <= AS_LONG] or both
    outputs = f"the output{'s' if len(near) > 1 else ''} of {joined(near)} {are(len(near))}"
    of = "" if values["tests"] == 1 else f"for {_of_pairs(values)} ({'worst: ' * (pairs > 1)}{joined(both)}), "
    wrong = [
        *([f"{values['swaps'] or 'the test'} may reject too often"] if values["test"] else []),
        *(["the interval may exclude 0 too often"] if values["interval"] else []),
    ]
    instead = values["instead"]
    options = [
        *([option(f"--test {instead}", f"test={instead!r}")] if values["test"] else []),
        *([option(f"--interval {instead}", f"interval={instead!r}")] if values["interval"] else []),
    ]
    # Only these pairs, because this test has no joint adjustment of all of them.
    check = "" if values["tests"] == 1 else f"compare {'these two' if pairs == 1 else 'such pairs'} alone, "
    return (
        f"{metric}: {of}{outputs} about as long as the references, where the brevity penalty sets in, so "
        f"{' and '.join(wrong)}: {check or 'compare '}with {' and '.join(options)}."
    )


def _many_tests(values: Values) -> str:
    alpha, probability = number(values["alpha"]), values["probability"]
    # Three significant digits, but never 1, which would look certain.
    chance = f"{probability:.3g}" if probability < 0.9995 else "above 0.999"
    null = "all differences were at the margin" if values.get("margin") else "no systems differed"
    return (
        f"{values['tests']:,} tests, p not adjusted: if {null}, independent tests would give at least "
        f"one p ≤ {alpha} with probability {chance}; a level of {_rounded_down(values['per_comparison_level'])} for "
        f"each test would make that probability {alpha}."
    )


def _rounded_down(level: float) -> str:
    """A level with three significant digits, rounded down so that the error rate is not above the one wanted.

    >>> _rounded_down(0.016952), _rounded_down(0.05)
    ('0.0169', '0.05')
    """
    from decimal import ROUND_FLOOR, Context

    rounded = Context(prec=3, rounding=ROUND_FLOOR).create_decimal(repr(level * (1 + 1e-9)))
    return f"{float(rounded):.3g}"


def _few_units(values: Values) -> str:
    # Among random shuffles the share of exceedances may by chance be smaller than among all patterns.
    by_chance = " except by Monte Carlo error" if values["by_chance"] else ""
    units, systems = counted(values["units"], values["unit"]), values.get("systems")
    differ = values.get("differ", False)
    if "pairs" in values:
        verb = ("differs in" if values["pairs"] == 1 else "differ in") if differ else _have(values)
        units = f"{_of_pairs(values)} {verb} at most {units}, which"
    elif differ:
        units = f"The {units} that differ" if values["units"] > 1 else f"The only {values['unit']} that differs"
    exchanged = "swapped" if systems is None else f"permuted between {systems} systems"
    ways = (2 if systems is None else math.factorial(systems)) ** values["units"]
    return (
        f"{units} can be {exchanged} in only {ways:,} ways, too few for significance at {number(values['alpha'])}: "
        f"{_p(values)} cannot be below {values['smallest']:.3g}{by_chance}."
    )


def _which(values: Values) -> str:
    """In parentheses, the first of the pairs that a note is about, if it names them, and how many more there are."""
    names = values.get("named", ())
    others = [f"{len(names) - MOST_PAIRS:,} more"] if len(names) > MOST_PAIRS else []
    return f" ({joined([*names[:MOST_PAIRS], *others])})" if names else ""


def _near_alpha(values: Values) -> str:
    which = "" if values["tests"] == 1 else f"For {values['near']:,} of {values['tests']:,} tests{_which(values)}, "
    enough = values.get("enough", 0)
    if enough is None:
        more = "if p stays the same, even millions of replicates do not decide"
    elif enough:
        more = f"if p stays the same, about {enough:,} replicates ({option('-n', 'n_resamples')}) would decide"
    else:
        more = MORE
    return (
        f"{which}Monte Carlo error leaves open on which side of {number(values['alpha'])} {_p(values)} lies (95% "
        f"Clopper-Pearson interval); {more}."
    )


def _small_sample(values: Values) -> str:
    instead = values.get("instead", "ar")
    use = f" (use {instead})" if instead else ""
    wrong = [
        *([f"bootstrap tests reject too often{use}"] if values["test"] else []),
        *(["intervals from draws are too narrow"] if values["interval"] else []),
    ]
    where = f"{_of_pairs(values)} {_have(values)} as few as " if "pairs" in values else ""
    count_as = ""
    if "effective" in values:
        count_as = f" count as about {values['effective']:.0f}, because some have many more votes than others"
    return (
        f"{where}{counted(values['units'], values['unit'])}{count_as}: with fewer than {values['enough']}, "
        f"{' and '.join(wrong)}."
    )


def _few_differing(values: Values) -> str:
    units = f"{values['differing']:,} of {counted(values['units'], values['unit'])}"
    if values["pairs"] == 1:
        differ = f"{values['system']} and {values['baseline']} differ in {units}"
    else:
        differ = f"{_of_pairs(values)} differ in few {values['unit']}s, the most similar in {units}"
    fewer = f"with fewer than {values['few']}, bootstrap tests are unreliable"
    if not values["by_default"]:
        return f"{values['metric']}: {differ}: {fewer.replace('bootstrap tests are', values['test'] + ' is')}; use ar."
    exact = {0: "", values["pairs"]: ", exact"}.get(values["exact"], f", {values['exact']:,} of them exact")
    return (
        f"{values['metric']}: {differ}: {fewer}, so p is that of approximate randomization (ar{exact})"
        f"{_or_of_kink(values)}."
    )


def _or_of_kink(values: Values) -> str:
    """That p is also that of another test, for pairs near the kink of a brevity penalty."""
    n = values.get("at_kink", 0)
    if not n:
        return ""
    larger = "that of bootstrap-kink, whichever is larger"
    near = "as long as the references"
    if n == values["pairs"]:
        return f" or, as {'both are' if n == 1 else 'they are'} about {near}, {larger}"
    return f" or, for the {n:,} about {near}, {larger}"


def _skewed(values: Values) -> str:
    if values["pairs"] == 1:
        where = f"the difference of {values['system']} and {values['baseline']} rests"
    else:
        where = f"{_of_pairs(values)}{_which(values)} have differences that rest"
    worst = "" if values["pairs"] == 1 else "at worst "
    return (
        f"{values['metric']}: {where} unevenly on the {values['unit']}s ({worst}as if on {values['effective']:.3g} "
        f"of {values['units']:,}; skewness {values['skewness']:.2g}). Below about {values['enough']:,} "
        f"{values['unit']}s, tests of so skewed a difference may reject too often."
    )


def _few_draws(values: Values) -> str:
    n = values["n_resamples"]
    return (
        f"{ci(values['confidence_level'])}: {counted(n, 'draw')} {are(n)} too few for precise ends; "
        f"{ENOUGH.format(**values)}."
    )


REASONS = {
    "adjustment": "p is adjusted for several tests and the interval is not",
    "level": "alpha is not 1 - confidence",
    "alternative": "the test is one-sided",
    "step-down": "stars are from step-down maxT, simultaneous intervals from single-step maxT",
    "half": "p is the larger of two bootstraps' p, and the interval is that of one of them: rely on p",
    "method": "test and interval are computed by different methods",
    "few": "the replicates are too few for this level",
}


def _star_and_interval(values: Values) -> str:
    starred, others = values["starred"], values["pairs"] - values["starred"]
    interval = f"{ci(values['confidence_level'])} "
    if values.get("margin"):
        inside, outside = "is within the margin", "is not within the margin"
    else:
        inside, outside = "excludes 0", "contains 0"
    # A family of all metrics has no metric of its own.
    about = "" if values["metric"] is None else f"{values['metric']}: "
    what = "test" if values["metric"] is None or "several" in values else "pair"
    n, of = values["tests"], f" of {counted(values['tests'], what)}"

    def side(few: int, star: str, shown: str) -> str:
        start = "the difference is" if n == 1 else f"{few:,}{of} {are(few)}"
        return f"{start} {star}, although the {interval}{shown}"

    sides = [
        *([side(starred, "significant", outside)] if starred else []),
        *([side(others, "not significant", inside)] if others else []),
    ]
    both = ", or because " if values.get("differ") else ", and "
    reasons = both.join(REASONS[reason] for reason in values["reasons"])
    return f"{about}{', and '.join(sides)}, because {reasons}."


def _identical(values: Values) -> str:
    both = f"{values['system']} and {values['baseline']}"
    which = both if values["pairs"] == 1 else f"{_of_pairs(values)}, such as {both},"
    return f"{which} are identical, or have the same scores everywhere: a file may have been passed twice."


# The wording of each kind of caveat.
CAVEATS: Mapping[str, str | Callable[[Values], str]] = {
    "identical": _identical,
    "liberal": "{test} rejects about {rate:.0%} of true null hypotheses at {level}: use {instead}, which rejects "
    "about {level:.0%} in the same simulations.",
    "all-exchangeable": lambda values: (
        f"{values['test']} is valid only if all {values['systems']:,} systems are exchangeable; if their variances "
        f"differ, the family-wise error rate at {values['level']} can exceed {values['rate']}: use maxt with "
        f"{' or '.join(values['instead'])}."
    ),
    "approximate": "{metric}: {test} is approximate, because it uses jackknife pseudo-values: the score is not a mean "
    "of {unit} scores.",
    "undecided": f"{{undecided:,}} of {{tests:test}} undecided after {{n_resamples:shuffle}}; {MORE}.",
    "other-test": "{metric}: p is that of {used!r}, because {test!r} needs counts, which a function of texts does not "
    "have.",
    "dependence": lambda values: (
        f"{values['metric']}: the intraclass correlation (ICC) of paired differences within documents is "
        f"{_range(values['correlations'], 3)}; variances are {_range(values['design_effects'], 2)} times those of "
        "independent segments (design effect)."
    ),
    "not-exchangeable": _not_exchangeable,
    "near-kink": _near_kink,
    "not-ranked": "{metric}: no ranking, because pairs of systems were compared on different segments.",
    "not-adjusted": "With the stopping rule {rule}, p is only an estimate and cannot be adjusted for {tests:,} tests: "
    "use the rule {instead} for adjusted p.",
    "many-tests": _many_tests,
    "few-units": _few_units,
    "few-replicates": lambda values: (
        f"With {counted(values['n_resamples'], 'replicate')} {_p(values)} cannot be below {values['smallest']:.2g}, "
        f"too few for significance at {number(values['alpha'])}; {ENOUGH.format(**values)}."
    ),
    "near-alpha": _near_alpha,
    "auto-limit": "'auto' uses at most {n_resamples:,} replicates, but {enough:,} would be needed here.",
    "small-sample": _small_sample,
    "few-differing": _few_differing,
    "skewed": _skewed,
    "rare-segments": "A kind of segment that makes up {share:.0%} of all has a {probability:.0%} chance of not being "
    "among these {segments:segment}, and then p says nothing about it.",
    "few-draws": _few_draws,
    "star-and-interval": _star_and_interval,
}
