"""What a paper says about how the numbers of a result were computed, and the BibTeX entries of the papers it cites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ..results import Comparison, UsedInterval, UsedTest
from .notes import counted, joined, number, strata
from .sources import bibtex_entry, cited, entries_of

__all__ = [
    "STOPPING_RULES",
    "adjustment_phrase",
    "bibtex",
    "interval_phrase",
    "methods_sentence",
    "test_phrase",
    "uncited",
]

PHIPSON_SMYTH = "doi:10.2202/1544-6115.1585"
HEMERIK_GOEMAN = "doi:10.1007/s11749-017-0571-1"
MOGSTAD = "doi:10.1093/restud/rdad006"
PIEPHO = "doi:10.1198/1061860043515"
HSU = "doi:10.1214/aos/1176345580"
CARD = "2020.emnlp-main.745"

# The papers of the stopping rules.
STOPPING_RULES: Mapping[str, str] = {
    "besag-clifford": "doi:10.1093/biomet/78.2.301",
    "gandy": "doi:10.1198/jasa.2009.tm08368",
}


Cite: TypeAlias = Callable[["str | None"], str]


def uncited(source: str | None) -> str:
    """Cite nothing."""
    return ""


class _Citations:
    """Cites sources in parentheses, and remembers them."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def __call__(self, source: str | None) -> str:
        if source is None:
            return ""
        self.names |= dict.fromkeys(entries_of(source))
        return f" ({cited(source)})"


def methods_sentence(comparison: Comparison) -> str:
    """The paragraph of a paper about a comparison."""
    return " ".join(_sentences(comparison, _Citations()))


def bibtex(comparison: Comparison) -> str:
    """The entries of the papers that :func:`methods_sentence` cites, in its order."""
    citations = _Citations()
    for _ in _sentences(comparison, citations):
        pass
    return "\n".join(map(bibtex_entry, citations.names))


def _sentences(comparison: Comparison, cite: Cite) -> Iterator[str]:
    yield _scored(comparison, cite)
    if comparison.test is not None:
        yield f"{_differences(comparison)} were tested by {test_phrase(comparison, comparison.test, cite)}."
        yield from _other_tests(comparison, comparison.test)
        yield _significant(comparison, comparison.test, cite)
    if comparison.interval is not None and comparison.confidence_level is not None:
        level = number(100 * comparison.confidence_level)
        yield f"The {level}% confidence intervals are of this type: {interval_phrase(comparison, comparison.interval, cite)}."
    yield from _ranked(comparison, cite)
    yield f"All numbers were computed with reshuffle {comparison.version}; signature: {comparison.signature}."


def _scored(comparison: Comparison, cite: Cite) -> str:
    metrics = joined(f"{metric.name}{cite(metric.source)}" for metric in comparison.metrics)
    size = counted(comparison.n_segments, "segment")
    if comparison.unit != "segment":
        size += f" in {counted(comparison.n_units, comparison.unit)}"
    if comparison.n_references:
        size += f" with {counted(comparison.n_references, 'reference')} each"
    systems = counted(len(comparison.systems), "system")
    be = "was" if len(comparison.systems) == 1 else "were"
    return f"{systems} {be} scored by {metrics} on a test set of {size}."


def _differences(comparison: Comparison) -> str:
    """Which differences were tested, as the subject of a sentence."""
    if comparison.baseline is not None:
        return f"The differences from {comparison.baseline}"
    pairs = counted(len(comparison.comparisons) // len(comparison.metrics), "pair")
    return f"The differences between all {pairs} of systems"


def test_phrase(comparison: Comparison, test: UsedTest, cite: Cite) -> str:
    """The test, its alternative and its replicates."""
    title = f"{test.title}{cite(test.source)}"
    return ", ".join([title, test.alternative, *_replicates(comparison, test, cite)])


def _replicates(comparison: Comparison, test: UsedTest, cite: Cite) -> Iterator[str]:
    if test.replicates is None:
        return
    tests = [pair.test for pair in comparison.comparisons]
    exact = sum(test.scheme == "exact" for test in tests)
    if exact == len(tests):
        yield f"with exact p-values from all {test.replicates}"
        return
    units = f" of {comparison.unit}s"
    if test.replicates == "draws" and comparison.n_strata is not None:
        units += f" within {strata(comparison.n_strata)}"
    n = f"{comparison.n_resamples or 0:,} {test.replicates}{units}"
    subgroup = next((test.n_resamples for test in tests if test.scheme == "subgroup"), None)
    rule = _rule(comparison)
    if subgroup is not None:
        yield f"a random subgroup of {subgroup:,} {test.replicates}{units}{cite(HEMERIK_GOEMAN)}"
    elif rule is not None:
        yield f"at most {n} with sequential stopping{cite(STOPPING_RULES[rule])}"
    else:
        yield n
    if exact:
        yield f"but exact p-values for {exact:,} of {counted(len(tests), 'test')}"
    if cite is not uncited:
        if subgroup is None and rule is None:
            yield f"p = (c + 1)/(R + 1){cite(PHIPSON_SMYTH)}"
        if comparison.seed is not None:
            yield f"seed {getattr(comparison.seed, 'derivation', comparison.seed)}"


def _rule(comparison: Comparison) -> str | None:
    """The stopping rule of the tests."""
    return next((p.test.stopping.rule for p in comparison.comparisons if p.test.stopping is not None), None)


def _other_tests(comparison: Comparison, test: UsedTest) -> Iterator[str]:
    """The tests that functions of texts got instead."""
    others: dict[str, str] = {p.metric: p.test.test for p in comparison.comparisons if p.test.test != test.name}
    for metric, name in others.items():
        yield f"For {metric}, which is a function of texts, the test was {name}."


def _significant(comparison: Comparison, test: UsedTest, cite: Cite) -> str:
    alpha = number(comparison.alpha or 0)
    if comparison.family_size == 1:
        adjusted = "" if len(comparison.comparisons) == 1 else ", without an adjustment for multiple tests"
        return f"A difference is called significant if p is at most {alpha}{adjusted}."
    each = " under each metric" if _within_metrics(comparison) else ""
    return (
        f"p was adjusted by {adjustment_phrase(comparison, test, cite)}, and a difference is called significant "
        f"if the adjusted p is at most {alpha}; this controls the {test.adjustment_rate}{each} at {alpha}."
    )


def adjustment_phrase(comparison: Comparison, test: UsedTest, cite: Cite) -> str:
    """The adjustment, and the tests that are adjusted together."""
    return f"{test.adjustment_title}{cite(test.adjustment_source)} over {_family(comparison)}"


def _within_metrics(comparison: Comparison) -> bool:
    """Whether the tests under each of several metrics are a family."""
    return len(comparison.metrics) > 1 and comparison.family_size < len(comparison.comparisons)


def _family(comparison: Comparison) -> str:
    if len(comparison.metrics) == 1:
        return f"the {counted(comparison.family_size, 'pair')}"
    if _within_metrics(comparison):
        return f"the {counted(comparison.family_size, 'pair')} under each metric"
    return f"all {counted(comparison.family_size, 'test')} under {len(comparison.metrics)} metrics"


def interval_phrase(comparison: Comparison, interval: UsedInterval, cite: Cite) -> str:
    """The confidence interval, and its draws."""
    draws = f", from {counted(comparison.n_resamples or 0, 'bootstrap draw')}" if interval.draws else ""
    simultaneous = "; those of differences hold at once" if interval.simultaneous else ""
    return f"{interval.title}{cite(interval.source)}{draws}{simultaneous}"


def _ranked(comparison: Comparison, cite: Cite) -> Iterator[str]:
    if comparison.rankings:
        at_once = " at once" if comparison.rankings[0].simultaneous else ""
        yield f"Rank intervals contain the ranks that the tests leave open for all systems{at_once}{cite(MOGSTAD)}."
        if any(ranking.groups is not None for ranking in comparison.rankings):
            yield f"Systems that share a letter do not differ significantly{cite(PIEPHO)}."
        if any(ranking.mcb_best is not None for ranking in comparison.rankings):
            yield f"Candidates for the best system follow from Hsu's comparison with the best{cite(HSU)}."
    if comparison.detectable:
        power = number(100 * comparison.detectable[0].power)
        yield f"The minimum detectable difference has {power}% power{cite(CARD)}."
