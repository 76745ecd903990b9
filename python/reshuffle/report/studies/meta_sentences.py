"""Sentences about meta-evaluations: which metrics agree best with people, and how agreement was computed.

``words/meta.toml`` has the sentences. These functions make the values in them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any

from ...errors import counted, either
from ...grouping import grouped
from ...results.studies import MetaEvaluation, MetricDifference
from ..cells import Table
from ..wording import joined, named
from ..words import Template, filled, said, words
from .meta_values import AVERAGE, Family, families, on_segments, short_name, shown_families, sized

# More metrics or systems are counted instead of named, and more sentences are left to other formats.
MAX_NAMED, MAX_SENTENCES = 5, 12
# Values and ends of intervals that differ by less are equal.
TOLERANCE = 1e-9
# Outliers are more than 2.5 standard deviations, of 1.4826 median absolute deviations each, from the median.
FAR = 2.5 * 1.4826
# With fewer other systems, a correlation without the outliers says little.
FEW_LEFT = 5
# Reports have tables of the tests of so many coefficients and test sets.
MAX_TESTED = 4


def _named(what: str, names: Sequence[str]) -> dict[str, Any]:
    """The names as a phrase, and how many there are."""
    return {what: named(names, "metric", MAX_NAMED) if names else "", f"n_{what}": len(names)}


def conclusions(result: MetaEvaluation) -> Iterator[str]:
    """Which metrics agree best with people, which are not significantly different, and what is not defined."""
    several = len(families(result)) > 1
    answers = [answer for family in shown_families(result) for answer in _answer(family, several)]
    sentences = [sentence for answer in _merged(answers) for sentence in said("meta", "answer", answer)]
    yield from sentences[:MAX_SENTENCES]
    if len(sentences) > MAX_SENTENCES:
        yield from said("meta", "more", {"n": len(sentences) - MAX_SENTENCES})
    yield from _undefined(result)
    for family in families(result):
        yield from said("meta", "biased", _of_family(family, several) | _outside(family))
        if (family.level, family.coefficient) == ("system", "pearson"):
            yield from said("meta", "outliers", _of_family(family, several) | _outliers(result, family))


def _outliers(result: MetaEvaluation, family: Family) -> dict[str, Any]:
    """The systems whose human scores are far from the others, and r of each metric without them."""
    scores = grouped((each.metric, each) for each in result.systems if each.test_set == family.test_set)
    human = {each.system: each.human for own in scores.values() for each in own if math.isfinite(each.human)}
    centre = statistics.median(human.values()) if human else 0.0
    spread = statistics.median(abs(each - centre) for each in human.values()) if human else 0.0
    far = [system for system, each in human.items() if abs(each - centre) > FAR * spread > 0]
    found: dict[str, float] = {}
    for metric in result.metrics if far and len(human) - len(far) >= FEW_LEFT else ():
        pairs = [(each.human, each.score) for each in scores[metric.name] if each.system in human.keys() - {*far}]
        with suppress(statistics.StatisticsError):  # of constant or too few scores
            found[metric.name] = statistics.correlation(*zip(*pairs, strict=True)) * (
                1 if metric.higher_is_better else -1
            )
    values = [f"{r:.3f} ({name})" for name, r in found.items()]
    if len(values) > MAX_NAMED:
        values = [f"{min(found.values()):.3f} to {max(found.values()):.3f}"]
    return {"far": far, "n_far": len(far), "values": values}


def _of_family(family: Family, several: bool) -> dict[str, Any]:
    """The coefficient, and the test set if there are several."""
    return {"coefficient": family.name, "test_set": family.test_set, "several": several}


def _merged(answers: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The answers; coefficients share one if no metrics differ by them and the same metrics have the highest values."""
    alike = grouped(
        ((each["test_set"], each["highest"]) if each["ranked"] and not each["any_differ"] else at, each)
        for at, each in enumerate(answers)
    )
    for first, *others in alike.values():
        own = [first, *others]
        values = joined(f"{each['most']:.3f}" for each in own)
        yield {
            **first,
            "coefficient": joined(each["coefficient"] for each in own),
            "values": values,
            "n_values": len(own),
        }


def _answer(family: Family, several: bool) -> Iterator[dict[str, Any]]:
    """Which metric agrees best with people, or how metrics differ from the baseline, as values of a sentence."""
    values = family.by_metric
    defined = [metric for metric in family.by_value if not math.isnan(values[metric].value)]
    if not defined:
        return
    if family.groups:
        first, *others = [metric for metric in family.ranked if metric in family.group_of]
    elif family.comparisons:
        first, others = family.comparisons[0].metric_b, [each.metric_a for each in family.comparisons]
    else:
        first, others = defined[0], []
    better = [metric for metric in others if family.better(metric, first)]
    worse = [metric for metric in others if family.better(first, metric)]
    same = [metric for metric in others if metric not in (*better, *worse)]
    about = {
        **_of_family(family, several),
        **_named("better", better),
        **_named("worse", worse),
        **_named("same", same),
        "too_many": MAX_NAMED + 1,
        "no_better": either(same) if 0 < len(same) <= MAX_NAMED else counted(len(same), "metric"),
        **_named("highest", [metric for metric in defined if values[metric].value == values[defined[0]].value]),
        "most": values[defined[0]].value,
        "first": values[first],
        "second": values[others[0]] if others else None,
        "interval": values[first].confidence_interval,
        "n": len(defined),
        "tested": bool(family.comparisons),
        "ranked": bool(family.groups),
        "any_differ": any(pair.is_significant(family.alpha) for pair in family.comparisons),
    }
    yield about | {"against": "; ".join(said("meta", "against", about))}


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
        values = {"values": named(whats, "value", MAX_NAMED), "reason": reason}
        yield from said("meta", "undefined", _named("metrics", names) | values)


def _outside(family: Family) -> dict[str, Any]:
    """The metrics whose intervals lie below and above their values."""
    known = [(each, each.confidence_interval) for each in family.results if each.confidence_interval is not None]
    below = [each.metric for each, interval in known if each.value > interval.high + TOLERANCE]
    above = [each.metric for each, interval in known if each.value < interval.low - TOLERANCE]
    return {**_named("below", below), **_named("above", above)}


# Tests that ask whether the differences hold for other systems.
OF_SYSTEMS = ("williams", "t-both", "perm-systems", "boot-systems")
# Tests that ask about these systems only, by level.
OF_THESE_SYSTEMS = {"segment": ("perm-both", "perm-inputs", "boot-inputs"), "system": ("perm-both", "perm-inputs")}
# With fewer systems, T-BOTH by segment rejected more than 7% in simulations: .072 with four systems, and .053 with six.
ENOUGH_SYSTEMS = 6
# Tests that swap or draw scores of segments compare the means of systems; for soft accuracy PERM-SYSTEMS, too.
OF_MEANS = ("perm-both", "perm-inputs", "boot-both")
# Tests without replicates, whose p-values are adjusted by Holm's method, as notes on that call them.
CLOSED = {"williams": "Williams", "t-both": "T-BOTH"}


def _word(kind: str, name: str | None) -> str:
    """What a test or an option is called in sentences."""
    found: str = words("meta")[kind].get(name, name)
    return found


def explained(result: MetaEvaluation) -> dict[str, list[str]]:
    """What each coefficient measures, and on which groups of outputs, by its name in headings."""
    known, found = words("meta"), {}
    for family in filter(attrgetter("is_defined"), families(result)):
        about = {**result.plan, "coefficient": family.coefficient, "ties_count": _word("ties", result.plan.ties)}
        own = [known[kind].get(getattr(family, kind), {}).get("definition") for kind in ("coefficient", "grouping")]
        definition, *of_group = [filled(each, about) for each in own if each] or [""]
        found[family.name] = [*filter(None, [definition]), *said("meta", "explained", about), *of_group]
    return found


def notes(result: MetaEvaluation) -> Iterator[str]:
    """Definitions, the votes, the intervals, the tests, and what was left out."""
    by_test = grouped((each.test, each) for each in result.comparisons)
    values: dict[str, Any] = {**result.plan, "of_systems": result.plan.level == "system"}
    yield from dict.fromkeys(sentence for own in explained(result).values() for sentence in own)
    yield from said("meta", "computed", {**values, **_computed(result), **_scored(result)})
    yield from _of_tests(by_test)
    yield from said("meta", "note", {**values, **_tested(result, by_test), **_shown(result)})
    for test_set, systems in result.plan.left_out.items():
        of_set = f" of {test_set}" if test_set else ""
        about = {"of_set": of_set, "n": len(systems), "names": systems, "too_many": MAX_NAMED + 1}
        yield from said("meta", "left_out", about)
    yield from _remarks(result)


def _of_tests(by_test: Mapping[str, Sequence[MetricDifference]]) -> Iterator[str]:
    """A sentence about each test."""
    for name, own in by_test.items():
        about = {
            "test": name,
            "title": _word("test", name),
            "n": max(each.n_resamples or 0 for each in own),
            "draws": name.startswith("boot"),
            "several": len(by_test) > 1,
            "coefficients": dict.fromkeys(short_name(each.coefficient) for each in own),
        }
        yield from said("meta", "tested", about)


def symbols(result: MetaEvaluation, table: Table, tested: Sequence[MetricDifference] = ()) -> str:
    """What the columns of a table are, for its caption. ``tested``: the pairs whose p-values it has."""
    by_test = grouped((each.test, each) for each in tested)
    known, template = words("meta"), Template(words("meta")["phrase"])
    about = {
        **result.plan,
        **_computed(result),
        **_tested(result, by_test),
        "adjusted": any(each.adjusted_pvalue is not None for each in tested),
        "has_intervals": any(name.endswith(" CI") for name in table.header),
        "has_groups": "Group" in table.header,
    }
    groups, adjusted = (template.text(known["note"][part], about) for part in ("groups", "adjusted"))
    intervals = template.text(known["computed"]["intervals"], about)
    return " ".join(filter(None, [table.symbols, groups, intervals, *_of_tests(by_test), adjusted]))


def settings(result: MetaEvaluation) -> dict[str, str]:
    """What a methods paragraph says of the scores by people, the adjustment and the intervals, if there are any."""
    by_test = grouped((each.test, each) for each in result.comparisons)
    about = {**result.plan, **_computed(result), **_scored(result), **_tested(result, by_test)}
    template, found = Template(words("meta")["phrase"]), {}
    if about.get("kinds"):
        found["human"] = about["kinds"]
    if about["has_intervals"]:
        found["drawn"] = about["drawn"]
    if about["adjusted"]:
        sentence = template.filled("adjusted_in_methods", about)
        if result.plan.adjust == "auto":
            source = template.filled("adjustment_source", about)
            found |= {"adjusted_by_default": sentence, "adjustment_source": source}
        else:
            found["adjusted"] = f"{sentence}."
    return found


def _computed(result: MetaEvaluation) -> dict[str, Any]:
    """The coefficients, the judgments of people and the intervals."""
    plan = result.plan
    intervals = [each.confidence_interval for each in result.results]
    intervals += [each.confidence_interval for each in result.comparisons]
    return {
        "n_votes": sum(plan.raw_votes.values()),
        "n_ties": sum(plan.raw_ties.values()),
        "n_files": len(plan.raw_votes),
        "has_intervals": any(intervals),
        "drawn": _word("drawn", plan.interval),
    }


def _scored(result: MetaEvaluation) -> dict[str, Any]:
    """At system level, where the scores of people are from, and on which segments metrics scored the systems."""
    if result.plan.level != "system":
        return {}
    kinds, known = (result.plan.human_scores or "").split(", "), words("meta")["human-scores"]
    of_sets = {family.test_set: family for family in families(result) if family.test_set != AVERAGE}
    shown = {name: on_segments(result, family) for name, family in of_sets.items()}
    parts = [f"{name}: {text}" if name and len(shown) > 1 else text for name, text in shown.items() if text]
    every = [each for family in of_sets.values() for each in family.results]
    given = list(dict.fromkeys(each.metric for each in every if each.segments is None))
    return {
        "kinds": "; ".join(known[kind] for kind in kinds if kind in known),
        "scored": "; ".join(parts),
        "as_a_whole": any(each.judged_segments is None for each in every),
        "on_others": any((each.segments or 0) > (each.judged_segments or 0) for each in every),
        **_named("given", given),
    }


def _tested(result: MetaEvaluation, by_test: Mapping[str, Sequence[MetricDifference]]) -> dict[str, Any]:
    """The tests, what they ask about, and how p is adjusted."""
    plan, pairs = result.plan, result.comparisons

    def titles(names: Sequence[str]) -> list[str]:
        return [_word("test", name) for name in by_test if name in names]

    about_others, about_these = titles(OF_SYSTEMS), titles(OF_THESE_SYSTEMS[plan.level])
    of_means = titles(OF_MEANS)
    if any(each.coefficient == "soft-accuracy" for each in by_test.get("perm-systems", ())):
        of_means.append(f"PERM-SYSTEMS of {short_name('soft-accuracy')}")
    by_segment = {each.test_set for each in by_test.get("t-both", ()) if each.grouping == "item"} & {*plan.systems}
    on_segments = [each for each in pairs if each.level == "segment"]
    return {
        "about_others_named": about_others,
        "n_about_others": len(about_others),
        "about_these_named": about_these,
        "n_about_these": len(about_these),
        "other_segments": plan.interval == "boot-inputs" and any(each.confidence_interval for each in result.results),
        **{f"{each.test}:{each.grouping}": True for each in on_segments},
        **{f"{each.test}:{each.coefficient}:{each.grouping}": True for each in on_segments},
        "enough": ENOUGH_SYSTEMS,
        "few_systems": any(len(plan.systems[name]) < ENOUGH_SYSTEMS for name in by_segment),
        "of_means": of_means,
        "adjusted": any(each.adjusted_pvalue is not None for each in pairs),
        "closed": (closed := [CLOSED[name] for name in by_test if name in CLOSED]),
        "n_closed": len(closed),
        "all_closed": len(closed) == len(by_test),
    }


def _shown(result: MetaEvaluation) -> dict[str, Any]:
    """What tables have."""
    every = families(result)
    return {
        "many_tested": sum(bool(family.comparisons) for family in shown_families(result)) > MAX_TESTED,
        "has_groups": any(family.groups for family in every),
        "has_average": any(family.test_set == AVERAGE for family in every),
        **_named("lower", [metric.name for metric in result.metrics if not metric.higher_is_better]),
    }


def _remarks(result: MetaEvaluation) -> Iterator[str]:
    """What is unusual about values that are defined, and differences on fewer scores than values."""
    remarks = grouped(
        (each.reason, each.metric) for each in result.results if each.reason is not None and not math.isnan(each.value)
    )
    for reason, metrics in remarks.items():
        yield from said("meta", "unusual", {**_named("metrics", [*dict.fromkeys(metrics)]), "reason": reason})
    for family in families(result):
        sizes = {each.n for each in family.comparisons}
        if len(sizes) == 1 and any(each.n > n for n in sizes for each in family.results):
            size, on_set = sized(result, family, sizes.pop()), f" on {family.test_set}" if family.test_set else ""
            yield from said("meta", "fewer", {"coefficient": family.name, "on_set": on_set, "size": size})
