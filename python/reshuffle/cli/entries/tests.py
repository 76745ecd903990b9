"""Tests, intervals and adjustments of comparisons."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping

from ...errors import either
from ...inference.estimates import MEANS, SUMS
from ...inference.exchange import EXCHANGES
from ...inference.few_differing import FEW_DIFFERING, FOR_FEW
from ...inference.gate import RULES
from ...inference.hypotheses import FAMILIES
from ...inference.intervals import INTERVALS, Interval
from ...inference.multiplicity import ADJUSTMENTS, FALSE_DISCOVERY, Adjustment
from ...inference.tests import ADJUSTMENT_CHOICES, DEFAULT, TEST_CHOICES, TESTS, SignificanceTest
from ...options import watch
from ...options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS
from ...report import computed
from ...report.words import words_of
from ...resampling.stopping import STOPPING
from ...results import UsedTest
from ...results.studies.watch import E_BH, SEQUENTIAL_TESTS
from . import Entry
from .options import with_options

# Which metrics a test or an interval is for, by its kind.
METRICS_OF: Mapping[str, str] = {
    SUMS: "metrics that are computed from summed counts, so no functions of texts",
    MEANS: "means of segment scores: --scores, and metrics whose score is such a mean",
}
# The tests that all schemes and stopping rules are for.
SHUFFLED = ("ar", "ar-studentized")
# When --test auto takes a test.
WHEN: Mapping[str, str] = {
    DEFAULT: f"by default (auto), for systems that differ in {FEW_DIFFERING} segments or documents or more",
    FOR_FEW: f"by default (auto), for systems that differ in fewer than {FEW_DIFFERING} segments or documents; near "
    "the kink of a brevity penalty only together with bootstrap-kink",
}


def tests() -> Iterable[Entry]:
    yield from (Entry(name, about, "–") for name, about in TEST_CHOICES.items() if name not in TESTS)
    for test in TESTS.values():
        about = f"{test.title}: {test.about}"
        options = with_options(test.name, TESTS_WITH_OPTIONS)
        data = {"alternatives": [*test.alternatives]}
        yield Entry(test.name, about, test.source, _facts_of_test(test), options, data, [_called(test.title)])


def _called(title: str) -> str:
    """What reports call a test or an adjustment, as a name."""
    return title.replace(" ", "-")


def _facts_of_test(test: SignificanceTest) -> dict[str, str]:
    used = UsedTest(test.name, test.title, test.alternatives[0], test.replicates)
    smallest = test.smallest_numerator(test.alternatives[0])
    others = [name for name, each in ADJUSTMENTS.items() if each.of_pvalues is not None]
    return {
        "When": WHEN.get(test.name, ""),
        "Null hypothesis": f"a difference of at least the margin ({test.margin} is shown if it is rejected)"
        if test.margin is not None
        else words_of("methods", "test", test.name)["null"].format(unit="segment"),
        "p-value": computed.pvalue_sentence(used).removeprefix("Here "),
        "Smallest p": ""
        if test.replicates is None
        else f"{smallest}/(R + 1) for R {test.replicates} (-n)"
        + " of the scheme iid; 'reshuffle explain schemes' has the others" * (test.name in SHUFFLED),
        "For": METRICS_OF.get(test.kind, ""),
        "Alternatives": "" if test.margin else f"{', '.join(test.alternatives)} (--alternative)",
        "Adjustments": f"{', '.join([*test.step_down, *others])} (--adjust)",
        "Options": f"after a colon, as in {test.name}:{'bleu=0.5' if test.margin else 'scheme=subgroup'}"
        if test.name in TESTS_WITH_OPTIONS
        else "",
        "Caveats": " ".join(_caveats_of_test(test)),
    }


def _caveats_of_test(test: SignificanceTest) -> Iterable[str]:
    if test.liberal is not None:
        yield f"Rejects about {100 * test.liberal:.0f}% of true null hypotheses at 0.05: use {DEFAULT}."
    if test.liberal_family is not None:
        yield (
            f"Where the variances of systems differ, the chance of any false star was {test.liberal_family:g} at 0.05, "
            "in a simulation."
        )
    if test.needs_exchangeable:
        yield (
            "Rejects too often or too rarely where equally good systems are not exchangeable, as when one has longer "
            "outputs; a note says so."
        )
    if test.needs_all_systems:
        yield "Needs the scores of all systems on each segment."
    if test.approximate_unless_mean:
        yield "Approximate for scores that are not means of segment scores."
    if test.for_texts is not None:
        yield f"Functions of texts are tested by {test.for_texts} instead."
    if not test.averages:
        yield "Not for averages over test sets."


def intervals() -> Iterable[Entry]:
    for each in INTERVALS.values():
        yield Entry(each.name, each.about, each.source, _facts_of_interval(each))
    about = "intervals of the differences in a family that hold at once with the confidence level"
    yield Entry("simultaneous", about, options=with_options("simultaneous", INTERVALS_WITH_OPTIONS))


def _facts_of_interval(interval: Interval) -> dict[str, str]:
    ends = words_of("methods", "interval", interval.name)["ends"].format(alpha="α")
    return {
        "Ends": f"{ends}; α is 1 − confidence" if "α" in ends else ends,
        "For": METRICS_OF.get(interval.kind, ""),
        "Replicates": "bootstrap draws (-n)" if interval.draws else "none",
        "Needs": f"--test {interval.inverts}, which it inverts" if interval.inverts else "",
        "Scores": f"those of single systems have the interval {interval.of_scores}" if interval.of_scores else "",
        "Caveats": "" if interval.averages else "Not for averages over test sets.",
    }


def adjustments() -> Iterable[Entry]:
    for name, about in ADJUSTMENT_CHOICES.items():
        adjustment = ADJUSTMENTS.get(name)
        if adjustment is None:
            yield Entry(name, about, "–")
        else:
            facts = _facts_of_adjustment(adjustment)
            yield Entry(name, about, adjustment.source, facts, also=[_called(adjustment.title)])
    exact = either(name for name, test in SEQUENTIAL_TESTS.items() if test.is_exact)
    facts = {"Controls": f"{FALSE_DISCOVERY}, at one look", "Tests": f"reshuffle watch --method {exact}"}
    yield Entry(E_BH, watch.E_BH, watch.SOURCE_OF_E_BH, facts)


def _facts_of_adjustment(adjustment: Adjustment) -> dict[str, str]:
    having = [test.name for test in TESTS.values() if adjustment.name in test.step_down]
    wording = words_of("methods", "adjustment", adjustment.name)
    formula = wording.format(m="m", k="k", replicates="replicates").replace("m = m", "m")
    return {
        "Controls": adjustment.rate,
        "Adjusted p": formula.replace("k = k", "k"),
        "Tests": "all" if adjustment.of_pvalues is not None else ", ".join(having),
        "Caveats": "m tests need up to m times as many replicates (-n auto)." if adjustment.multiplies else "",
    }


def looks() -> Iterable[Entry]:
    for name, test in SEQUENTIAL_TESTS.items():
        facts = {"For": test.measures, "Error rate": f"{test.rate} α, {test.holds}"}
        yield Entry(name, test.title, test.source, facts)


def families() -> Iterable[Entry]:
    return (Entry(name, about) for name, about in FAMILIES.items())


def rules() -> Iterable[Entry]:
    return (Entry(name, about) for name, about in RULES.items())


def stopping() -> Iterable[Entry]:
    for name, rule in STOPPING.items():
        first, *more = re.sub("``", "", inspect.getdoc(rule) or "").split("\n\n")
        details = " ".join(more[0].split()) if more else ""
        yield Entry(name, " ".join(first.split()), facts={"How": details, "Tests": ", ".join(SHUFFLED)})


def exchanges() -> Iterable[Entry]:
    for unit in EXCHANGES.values():
        runs = f"at least {unit.needs_runs} of each system{', equally many' if unit.equal_runs else ''}"
        facts = {
            "Question": unit.question,
            "Null hypothesis": unit.null,
            "Runs": runs,
            "Score": f"{' or '.join(unit.statistics)} (--statistic)",
            "Caveats": unit.caveat,
        }
        data = {"null": unit.null, "caveat": unit.caveat}
        yield Entry(unit.name, unit.about, unit.source, facts, data=data)
