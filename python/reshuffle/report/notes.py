"""What a reader has to know to read the tables: how numbers were made, and the wording of caveats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..results import Caveat, Comparison, SignificanceResult, UsedInterval, UsedTest

__all__ = ["CAVEATS", "notes", "number", "strata"]

Values = Mapping[str, Any]


def notes(comparison: Comparison) -> Iterator[str]:
    """Sentences to stand below the tables: first how numbers were made, then the caveats."""
    for metric in comparison.metrics:
        if metric.evaluations is not None:
            yield f"{metric.name}: a function of texts, called {metric.evaluations:,} times."
    if comparison.test is not None and comparison.alpha is not None:
        yield from _test(comparison, comparison.test, number(comparison.alpha))
    if comparison.interval is not None:
        yield _intervals(comparison, comparison.interval)
    yield from map(worded, comparison.caveats)


def worded(caveat: Caveat) -> str:
    """A caveat in words.

    >>> worded(Caveat("near-alpha", {"near": 2, "tests": 120, "alpha": 0.05}))[:61]
    '2 of 120 p-values may lie on the other side of 0.05 by chance'
    """
    return CAVEATS[caveat.kind](caveat.values)


def number(given: float) -> str:
    """A number that the user chose, or its complement, without rounding errors in the last digits."""
    return f"{given:.10g}"


def strata(comparison: Comparison) -> str:
    """How many there are."""
    return f"{comparison.n_strata:,} strat{'um' if comparison.n_strata == 1 else 'a'}"


# How numbers were made.


def _test(comparison: Comparison, test: UsedTest, alpha: str) -> Iterator[str]:
    replicates = "" if test.replicates is None else f" {_replicates(comparison, test)}{_of_units(comparison, test)},"
    star = "p" if test.adjustment is None else "adjusted p"
    yield f"p: {test.title},{replicates} {test.alternative}; * {star} ≤ {alpha}."
    yield from _stopping([pair.test for pair in comparison.comparisons])
    if test.adjustment is not None:
        pairs = len(comparison.comparisons) // len(comparison.metrics)
        yield (
            f"Adjusted p: {test.adjustment_title}, over the {pairs:,} pairs under each metric; some star is wrong with "
            f"probability {alpha} at most."
        )


def _of_units(comparison: Comparison, test: UsedTest) -> str:
    return f"{_unit(comparison)}{_within(comparison) if test.replicates == 'draws' else ''}"


def _unit(comparison: Comparison) -> str:
    return "" if comparison.unit == "segment" else f" of {comparison.unit}s"


def _within(comparison: Comparison) -> str:
    return "" if comparison.n_strata is None else f" within {strata(comparison)}"


def _intervals(comparison: Comparison, interval: UsedInterval) -> str:
    draws = f" of {comparison.n_resamples or 0:,} bootstrap draws{_unit(comparison)}" if interval.draws else ""
    return f"Intervals: {interval.title}{draws}{_within(comparison)}."


def _stopping(tests: Sequence[SignificanceResult]) -> Iterator[str]:
    """How many shuffles were used if a rule stopped them, and what that makes of p."""
    rule = tests[0].stopping
    if rule is None:
        return
    used = _range([test.n_resamples or 0 for test in tests], 0, ",")
    if rule.rule == "besag-clifford":
        to_the_end = sum(test.stopping is not None and not test.stopping.stopped for test in tests)
        yield (
            f"Each test stops at {rule.exceedances} shuffles that reach the difference (Besag & Clifford 1991): "
            f"{used} shuffles used, {to_the_end:,} of {len(tests):,} tests not stopped."
        )
        return
    yield (
        f"Each test stops once it is decided, wrongly with probability at most {rule.risk:.10g}, whether "
        f"p ≤ {rule.level:.10g} (Gandy 2009): {used} shuffles used; p itself is an estimate."
    )


def _replicates(comparison: Comparison, test: UsedTest) -> str:
    """What the test went through: n replicates, or for some pairs or all of them another number."""
    n, replicates = f"{comparison.n_resamples or 0:,}", test.replicates or ""
    tests = [pair.test for pair in comparison.comparisons]
    exact = sum(test.scheme == "exact" for test in tests)
    ways = _ways_of_exact_tests(tests, replicates)
    group = next((test.n_resamples for test in tests if test.scheme == "subgroup"), None)
    if exact == len(tests):
        return f"exact, {ways}"
    if group is not None:
        return f"{group:,} {replicates} that are a group"
    if test.stopping is not None:
        return f"at most {n} {replicates}"
    some = f" ({exact:,} of {len(tests):,} p exact, {ways})" if exact else ""
    return f"{n} {replicates}{some}"


def _ways_of_exact_tests(tests: Sequence[SignificanceResult], replicates: str) -> str:
    """How exact tests computed p; with the number of tests for each way if there are two."""
    by_patterns = sum(test.exact_by == "patterns" for test in tests)
    by_convolution = sum(test.exact_by == "convolution" for test in tests)
    patterns, convolution = f"by enumeration of all {replicates}", "by convolution"
    if by_patterns and by_convolution:
        return f"{by_patterns:,} {patterns} and {by_convolution:,} {convolution}"
    return patterns if by_patterns else convolution


def _range(values: Sequence[float], decimals: int, grouping: str = "") -> str:
    ends = dict.fromkeys(f"{value:{grouping}.{decimals}f}" for value in (min(values), max(values)))
    return " to ".join(ends)


# Caveats.


def _undecided(values: Values) -> str:
    return (
        f"{values['undecided']:,} of {values['tests']:,} tests are undecided after {values['n_resamples']:,} shuffles; "
        "raise n."
    )


def _dependence(values: Values) -> str:
    return (
        f"{values['metric']}: paired differences within a document correlate by {_range(values['correlations'], 3)} "
        f"(ICC), which makes variances {_range(values['design_effects'], 2)} times (design effect) those of "
        "independent segments."
    )


def _many_tests(values: Values) -> str:
    tests, alpha, probability = f"{values['tests']:,}", values["alpha"], values["probability"]
    # Three significant digits, but never 1, which would look certain.
    told = f"{probability:.3g}" if probability < 0.9995 else "above 0.999"
    return (
        f"{tests} tests, p not adjusted: if nothing differed, independent tests that keep their level would give at "
        f"least one p ≤ {number(alpha)} with probability {told} (1 - {number(1 - alpha)}^{tests})."
    )


def _few_units(values: Values) -> str:
    by_chance = " but by chance of the shuffles" if values["by_chance"] else ""
    return (
        f"{values['units']} {values['unit']}s can be swapped in {2 ** values['units']:,} ways: no p below "
        f"{values['smallest']:.3g}{by_chance}, too few to decide at {number(values['alpha'])}."
    )


def _few_replicates(values: Values) -> str:
    return (
        f"{values['n_resamples']:,} replicates cannot give a p below {values['smallest']:.2g}: too few to decide at "
        f"{number(values['alpha'])}; raise n."
    )


def _near_alpha(values: Values) -> str:
    return (
        f"{values['near']:,} of {values['tests']:,} p-values may lie on the other side of {number(values['alpha'])} by "
        "chance of the replicates alone (Clopper-Pearson, 95 %); more replicates would tell."
    )


# How each kind of caveat is worded.
CAVEATS: Mapping[str, Callable[[Values], str]] = {
    "undecided": _undecided,
    "dependence": _dependence,
    "many-tests": _many_tests,
    "few-units": _few_units,
    "few-replicates": _few_replicates,
    "near-alpha": _near_alpha,
}
