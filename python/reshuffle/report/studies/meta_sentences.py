"""Sentences about meta-evaluations: which metrics agree best with people, and how agreement was computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ...errors import either
from ...grouping import grouped
from ...results.studies import MetaEvaluation, MetricDifference
from ..wording import are, ci, counted, joined, named, number, option
from ..words import filled, words
from .meta_values import AVERAGE, POOLED, Family, families, on_segments, short_name, shown_families, sized

# More metrics or systems are counted instead of named, and more sentences are left to other formats.
MAX_NAMED, MAX_SENTENCES = 5, 12
# Values and ends of intervals that differ by less are equal.
TOLERANCE = 1e-9
# Reports have tables of the tests of so many coefficients and test sets.
MAX_TESTED = 4


def conclusions(result: MetaEvaluation) -> Iterator[str]:
    """Which metrics agree best with people, which are not significantly different, and what is not defined."""
    several = len(families(result)) > 1
    sentences = [sentence for family in shown_families(result) for sentence in _answer(family, several)]
    yield from sentences[:MAX_SENTENCES]
    if len(sentences) > MAX_SENTENCES:
        yield f"{len(sentences) - MAX_SENTENCES:,} more answers are in the tables and in json."
    yield from _undefined(result)
    yield from _biased(result)


def _by(family: Family, several: bool) -> str:
    """The start of a sentence: by which coefficient, and on which test set if there are several."""
    where = {AVERAGE: " on average over test sets", POOLED: " on the votes of all test sets"}
    on = where.get(family.test_set, f" on {family.test_set}" if family.test_set else "")
    return f"By {family.name}{on if several else ''}"


def _answer(family: Family, several: bool) -> Iterator[str]:
    by = _by(family, several)
    defined = [metric for metric in family.by_value if not math.isnan(family.by_metric[metric].value)]
    if not defined:
        return
    best = defined[0]
    value = f"{family.by_metric[best].value:.3f}"
    if not family.comparisons:
        interval = family.by_metric[best].confidence_interval
        of = ""
        if interval is not None:
            of = f" ({ci(interval.confidence_level)} {interval.low:.3f} to {interval.high:.3f})"
        if len(defined) == 1:
            yield f"{by}, the agreement of {best} with people is {value}{of}."
        else:
            yield f"{by}, {best} has the highest value, {value}{of}; differences were not tested."
    elif family.groups:
        yield f"{by}, {_ranking(family)}."
    else:
        yield f"{by}, {_against_baseline(family)}."


def _ranking(family: Family) -> str:
    """Which metric agrees best, and which are not significantly different from it."""
    values = {metric: f"{each.value:.3f}" for metric, each in family.by_metric.items()}
    best, *others = [metric for metric in family.ranked if metric in family.group_of]
    worse = [metric for metric in others if family.better(best, metric)]
    same = [metric for metric in others if metric not in worse]
    value = values[best]
    if not same:
        return f"{best} agrees better with people ({value}) than {_some(worse, 'all others', len(others))}"
    if not any(pair.is_significant(family.alpha) for pair in family.comparisons):
        if len(others) == 1:
            return f"{best} ({value}) and {same[0]} ({values[same[0]]}) do not differ significantly"
        highest = family.by_metric[family.by_value[0]].value
        top = [metric for metric in family.by_value if family.by_metric[metric].value == highest]
        has = "has" if len(top) == 1 else "have"
        of = f"{_named(top)} {has} the highest value, {highest:.3f}"
        return f"no metric agrees significantly better with people than another ({of})"
    no_better = either(same) if len(same) <= MAX_NAMED else counted(len(same), "metric")
    start = f"{best} agrees best with people ({value}), but not significantly better than {no_better}"
    return f"{start}; it agrees better than {_some(worse, 'the others', len(others))}" if worse else start


def _some(metrics: Sequence[str], rest: str | None, n: int) -> str:
    """The metrics if they are few; else ``rest``, or their number."""
    if len(metrics) <= MAX_NAMED and (rest != "all others" or n == 1):
        return joined(metrics)
    if rest == "the others":
        return f"the {len(metrics):,} others"
    return rest or counted(len(metrics), "metric")


def _against_baseline(family: Family) -> str:
    """How the metrics differ from the baseline."""
    baseline = family.comparisons[0].metric_b
    metrics = [each.metric_a for each in family.comparisons]
    relations = {
        "better": [metric for metric in metrics if family.better(metric, baseline)],
        "worse": [metric for metric in metrics if family.better(baseline, metric)],
    }
    apart = {metric for own in relations.values() for metric in own}
    same = [metric for metric in metrics if metric not in apart]
    parts = [
        f"{_named(own)} {'agrees' if len(own) == 1 else 'agree'} {relation} with people than {baseline}"
        for relation, own in relations.items()
        if own
    ]
    if same:
        parts.append(f"{_named(same)} {'does' if len(same) == 1 else 'do'} not differ significantly from {baseline}")
    return "; ".join(parts)


def _named(metrics: Sequence[str]) -> str:
    return named(metrics, "metric", MAX_NAMED)


def _undefined(result: MetaEvaluation) -> Iterator[str]:
    """Values that are not defined, by reason."""
    several = len(result.plan.test_sets) > 1

    def name_of(family: Family) -> str:
        return f"{family.name} on {family.test_set}" if family.test_set and several else family.name

    every = [(family, each) for family in families(result) if family.test_set != AVERAGE for each in family.results]
    undefined = [(family, each) for family, each in every if math.isnan(each.value)]
    reasons = grouped(((name_of(family), each.reason or "unknown"), each.metric) for family, each in undefined)
    by_reason = grouped(((reason, tuple(metrics)), what) for (what, reason), metrics in reasons.items())
    for (reason, names), whats in by_reason.items():
        shown = named(whats, "value", MAX_NAMED)
        yield f"Not defined for {_named(names)}: {shown} ({reason})."


def _biased(result: MetaEvaluation) -> Iterator[str]:
    """Intervals that do not contain the value."""
    several = len(families(result)) > 1
    for family in families(result):
        below, above = [], []
        for each in family.results:
            interval = each.confidence_interval
            if interval is not None and each.value > interval.high + TOLERANCE:
                below.append(each.metric)
            elif interval is not None and each.value < interval.low - TOLERANCE:
                above.append(each.metric)
        by = f"Warning: b{_by(family, several)[1:]}"
        if below:
            yield (
                f"{by}, {_outside(below, 'below')}. Drawing adds noise to the scores by people and by the metric, so "
                "that they agree less than on the whole test set (bootstrap bias)."
            )
        if above:
            yield f"{by}, {_outside(above, 'above')}, because draws are biased."


def _outside(metrics: Sequence[str], side: str) -> str:
    if len(metrics) == 1:
        return f"the interval of {metrics[0]} is wholly {side} its value"
    return f"the intervals of {_named(metrics)} are wholly {side} their values"


# Tests that ask whether the differences hold for other systems.
OF_SYSTEMS = ("williams", "t-both", "perm-systems", "boot-systems")
# Tests that ask about these systems only, by level, and how often they reject for other systems in simulations
# (docs/evidence/people.md).
OF_THESE_SYSTEMS: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "segment": (("perm-both", "perm-inputs", "boot-inputs"), "about a quarter", "T-BOTH"),
    "system": (("perm-both", "perm-inputs"), "a third to two thirds", "PERM-SYSTEMS"),
}
# Tests that take segments as given, and the largest share of true null hypotheses that they reject in simulations.
GIVEN_SEGMENTS: Mapping[str, str] = {"perm-systems": "12%", "boot-systems": "16%"}
# A test that rejects too often by segment, the coefficient, and the largest share.
BY_SEGMENT = "boot-systems", "pearson", "11%"
# With fewer systems, T-BOTH by segment rejected more than 7% there: .072 with four systems, and .053 with six.
ENOUGH_SYSTEMS = 6
# Tests that swap or draw scores of segments compare the means of systems; for soft accuracy PERM-SYSTEMS, too.
OF_MEANS = ("perm-both", "perm-inputs", "boot-both")


def _word(kind: str, name: str | None) -> str:
    """What a test or an option is called in sentences."""
    found: str = words("meta")[kind].get(name, name)
    return found


def notes(result: MetaEvaluation) -> Iterator[str]:
    """Definitions, the votes, the intervals, the tests, and what was left out."""
    plan = result.plan
    yield from _definitions(result)
    yield from _people(result)
    yield from _intervals(result)
    yield from _tests(result)
    if sum(bool(family.comparisons) for family in shown_families(result)) > MAX_TESTED:
        table = option("--table comparisons", "table='comparisons'")
        yield f"The differences and p of all pairs are in json, and in csv with {table}."
    if any(family.groups for family in families(result)):
        yield (
            "Group: metrics that share a letter do not differ significantly. Cluster: all metrics of a cluster differ "
            "significantly from all metrics of later clusters."
        )
    if any(family.test_set == AVERAGE for family in families(result)):
        yield "Average: mean over the test sets, each with the same weight."
    if any(not metric.higher_is_better for metric in result.metrics):
        lower = [metric.name for metric in result.metrics if not metric.higher_is_better]
        yield f"{_named(lower)}: lower is better, so the sign is changed; positive values are agreement."
    for test_set, systems in plan.left_out.items():
        on = f" of {test_set}" if test_set else ""
        names = joined(systems) if len(systems) <= MAX_NAMED else "json has their names"
        yield f"Left out{on}: {counted(len(systems), 'system')} without judgments ({names})."
    yield from _remarks(result)


def _definitions(result: MetaEvaluation) -> Iterator[str]:
    """What the coefficients are, how ties count, and the groupings."""
    plan = result.plan
    coefficients = list(dict.fromkeys(each.coefficient for each in result.results))
    minimum = number(plan.minimum_difference or 0)
    known = words("meta")["coefficient"]
    yield from (filled(known[name]["definition"], {"minimum": minimum}) for name in coefficients if name in known)
    if "tau" in coefficients:
        yield f"Votes on outputs to which a metric gives the same score: {_word('ties', plan.ties)}."
    groupings = list(dict.fromkeys(each.grouping for each in result.results))
    definitions = [each["definition"] for name, each in words("meta")["grouping"].items() if name in groupings]
    if definitions:
        shown = "; ".join(definitions)
        left_out = " Groups without a value are left out." if set(groupings) & {"sys", "item"} else ""
        yield f"{shown[0].upper()}{shown[1:]}.{left_out}"


def _people(result: MetaEvaluation) -> Iterator[str]:
    """The human judgments, and how they were counted."""
    plan = result.plan
    votes, ties = plan.raw_votes, plan.raw_ties
    if votes:
        total, tied = sum(votes.values()), sum(ties.values())
        ties_too = f" and {counted(tied, 'tie')}" if tied else ""
        raw = f"{counted(total, 'vote')}{ties_too} {'in the file' if len(votes) == 1 else 'in the files'}"
        if plan.level == "system":
            yield f"Votes: {raw}."
        elif plan.repeats == "net":
            yield f"Votes: {raw}; net votes: one for each pair of outputs of a segment, that of the majority."
        else:
            yield f"Votes: {raw}; every vote counts."
    if plan.level == "system":
        kinds = (plan.human_scores or "").split(", ")
        known = words("meta")["human-scores"]
        if set(kinds) & set(known):
            yield f"Human scores of systems: {'; '.join(known[kind] for kind in kinds if kind in known)}."
        yield from _scored(result)


def _scored(result: MetaEvaluation) -> Iterator[str]:
    """On which segments metrics scored the systems, beside those that people judged."""
    of_sets = {family.test_set: family for family in families(result) if family.test_set != AVERAGE}
    shown = {name: on_segments(result, family) for name, family in of_sets.items()}
    parts = [f"{name}: {text}" if name and len(shown) > 1 else text for name, text in shown.items() if text]
    if parts:
        yield f"Metrics scored systems on {'; '.join(parts)}."
    every = [each for family in of_sets.values() for each in family.results]
    if any(each.judged_segments is None for each in every):
        yield "People scored systems as a whole: which segments they judged is not known."
    elif any((each.segments or 0) > (each.judged_segments or 0) for each in every):
        yield (
            "On segments that people did not judge, systems may be better or worse; --scored-segments judged leaves "
            "them out."
        )
    given = list(dict.fromkeys(each.metric for each in every if each.segments is None))
    if given:
        yield f"{_named(given)}: scores of systems as they were given, on whatever segments."


def _intervals(result: MetaEvaluation) -> Iterator[str]:
    plan = result.plan
    intervals = [*(each.confidence_interval for each in result.results)]
    intervals += [each.confidence_interval for each in result.comparisons]
    if any(interval is not None for interval in intervals):
        drawn = _word("drawn", plan.interval)
        yield f"{ci(plan.confidence_level)}: percentile, {plan.n_resamples:,} draws of {drawn}."


def _tests(result: MetaEvaluation) -> Iterator[str]:
    """The tests, their replicates and the adjustment."""
    by_test = grouped((each.test, each) for each in result.comparisons)
    for name, own in by_test.items():
        n = max((each.n_resamples or 0 for each in own), default=0)
        kind = "draws" if name.startswith("boot") else "shuffles"
        replicates = f", {n:,} {kind}" if n else ""
        of = ""
        if len(by_test) > 1:
            of = f" of {joined(dict.fromkeys(short_name(each.coefficient) for each in own))}"
        how = ", t with jackknife standard errors of systems and segments" if name == "t-both" else replicates
        yield f"p{of}: {_word('test', name)}{how}, two-sided."
    intervals = any(each.confidence_interval is not None for each in result.results)
    of_systems = [_word("test", name) for name in by_test if name in OF_SYSTEMS]
    if of_systems and intervals and result.plan.interval == "boot-inputs":
        yield (
            f"{joined(of_systems)} {are(len(of_systems))} about other systems, but intervals are only about other "
            "segments, so they may disagree."
        )
    yield from _liberal(result, by_test)
    of_means = [_word("test", name) for name in by_test if name in OF_MEANS]
    if any(each.coefficient == "soft-accuracy" for each in by_test.get("perm-systems", ())):
        of_means.append(f"PERM-SYSTEMS of {short_name('soft-accuracy')}")
    if result.plan.level == "system" and of_means:
        yield (
            f"{joined(of_means)}: on means of segment scores, as are differences and ranking. These may contradict the "
            "values, which are of corpus scores for metrics on texts."
        )
    if any(each.adjusted_pvalue is not None for each in result.comparisons):
        by_formula = {"williams": "Williams", "t-both": "T-BOTH"}
        holm = [by_formula[name] for name in by_test if name in by_formula]
        names = {"auto": f"step-down maxT ({joined(holm)}: Holm)" if holm else "step-down maxT"}
        if set(by_test) <= set(by_formula):
            names = {"auto": "Holm's method"}
        how = names.get(str(result.plan.adjust), str(result.plan.adjust))
        yield f"Adjusted p: for all tests of one coefficient on one test set, by {how}."


def _liberal(result: MetaEvaluation, by_test: Mapping[str, Sequence[MetricDifference]]) -> Iterator[str]:
    """Which tests rejected too often in simulations, and of which metrics."""
    level = result.plan.level
    about_these, share, calm = OF_THESE_SYSTEMS[level]
    of_these = [_word("test", name) for name in by_test if name in about_these]
    if of_these:
        verb, they = ("is", "it") if len(of_these) == 1 else ("are", "they")
        yield (
            f"{joined(of_these)} {verb} about these systems. In simulations of metrics that favour some systems, "
            f"{they} rejected {share} of true null hypotheses about other systems at level 0.05; {calm} "
            "rejected 7% at most."
        )
    for name, most in GIVEN_SEGMENTS.items():
        if level == "segment" and any(each.grouping == "none" for each in by_test.get(name, ())):
            yield (
                f"{_word('test', name)} on all outputs as one group is about these segments. In simulations of metrics "
                f"with errors that all systems share on a segment, it rejected up to {most} of true null hypotheses "
                "about other segments at level 0.05; T-BOTH rejected 7% at most."
            )
    name, coefficient, most = BY_SEGMENT
    if level == "segment" and any(
        (each.coefficient, each.grouping) == (coefficient, "item") for each in by_test.get(name, ())
    ):
        yield (
            f"{_word('test', name)} of {short_name(coefficient)} by segment: in simulations of metrics that favour "
            f"some systems, or of which one has skewed errors, it rejected up to {most} of true null hypotheses at "
            "level 0.05; T-BOTH rejected 7% at most."
        )
    systems = result.plan.systems
    by_segment = {each.test_set for each in by_test.get("t-both", ()) if each.grouping == "item"}
    if any(len(systems[name]) < ENOUGH_SYSTEMS for name in by_segment & set(systems)):
        yield (
            f"T-BOTH by segment, with fewer than {ENOUGH_SYSTEMS} systems: in simulations of metrics that favour some "
            "of four systems, it rejected up to 7.2% of true null hypotheses at level 0.05."
        )


def _remarks(result: MetaEvaluation) -> Iterator[str]:
    """What is unusual about values that are defined, and differences on fewer scores than values."""
    remarks = grouped(
        (each.reason, each.metric) for each in result.results if each.reason is not None and not math.isnan(each.value)
    )
    for reason, metrics in remarks.items():
        yield f"{_named(list(dict.fromkeys(metrics)))}: {reason}."
    for family in families(result):
        sizes = {each.n for each in family.comparisons}
        if len(sizes) == 1 and any(each.n > n for n in sizes for each in family.results):
            on = f" on {family.test_set}" if family.test_set else ""
            yield (
                f"Differences, tests and ranking by {family.name}{on} are on the {sized(result, family, sizes.pop())} "
                "for which all metrics have scores."
            )
