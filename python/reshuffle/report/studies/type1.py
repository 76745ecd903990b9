"""The report of ``type1``: rejection rates under null hypotheses."""

from __future__ import annotations

from collections.abc import Iterator

from ...results.studies import Rate, StudyResult
from ..cells import Table
from ..wording import joined, number
from .base import Figure, StudyReport
from .shared import (
    CONSERVATIVE,
    LIBERAL,
    constant,
    differing,
    half_width,
    in_common,
    level_of,
    mark_of,
    of_name,
    rates_by_level,
    symbols_of,
    tests_note,
)

# What the methods of intervals are called.
METHODS = {
    "clopper-pearson": "Clopper–Pearson",
    "clopper-pearson-shared": "Clopper–Pearson for shared shuffles",
    "korn-graubard": "Korn & Graubard 1998",
}

# What tests are tried on.
CELL = ("metric", "null", "size")
SYMBOLS = {
    "±": "±: half the width of the {level}.",
    LIBERAL: f"{LIBERAL}: the interval lies above α (liberal).",
    CONSERVATIVE: f"{CONSERVATIVE}: the interval lies below α (conservative).",
}
# From so many rates on, some are probably marked by chance.
MANY = 10
# The width of an interval from which on it does not support any conclusion.
WIDE = 0.5


def title(study: StudyResult) -> str:
    """The tests and the metrics."""
    return f"Type-I error of {joined(dict.fromkeys(rate.test for rate in study.rates))}"


def tables(study: StudyResult) -> Iterator[Table]:
    """One table of all rates; one for each null hypothesis if metrics, nulls and sizes all differ.

    Columns in which all rates agree are left out, except the tests. The interval has a column of its own only if the
    tests are the only names, because a terminal has no room for more.
    """
    several = len(differing(study.rates, CELL)) == len(CELL)
    for null in dict.fromkeys(rate.null for rate in study.rates) if several else [None]:
        rates = study.rates if null is None else of_name(study.rates, null=null)
        common = in_common(rates, *CELL, "simulations")
        shown = f"Type-I error in %{': ' if common else ''}{common}"
        names = ["test", *differing(rates, CELL)]
        alone = len(names) == 1
        table = rates_by_level(rates, shown, names, ("null", "size"), own_interval=alone, plus_minus=not alone)
        yield table.explained(symbols_of(rates, SYMBOLS, also=() if alone else ("±",)))


def conclusions(study: StudyResult) -> Iterator[str]:
    """Which tests reject too often or too rarely."""
    for verdict, what in (("liberal", "Too liberal"), ("conservative", "Conservative")):
        found = [rate for rate in study.rates if rate.verdict == verdict]
        if found:
            yield f"{what}: {'; '.join(_by_test(study, found))}."
    tests = dict.fromkeys(rate.test for rate in study.rates)
    marked = {rate.test for rate in study.rates if mark_of(rate)}
    # The intervals of very few independent simulations.
    unclear = {rate.test for rate in study.rates if 2 * half_width(rate.confidence_interval) > WIDE} - marked
    if others := [test for test in tests if test not in marked | unclear]:
        yield f"The rates of {joined(others)} are compatible with α."
    if unclear:
        wide = joined(test for test in tests if test in unclear)
        yield f"The intervals of {wide} are too wide to say whether the rates differ from α."


def _by_test(study: StudyResult, found: list[Rate]) -> Iterator[str]:
    """Each test, with the levels or, among several cells, the number of its rates."""
    for test in dict.fromkeys(rate.test for rate in found):
        own, every = (sum(rate.test == test for rate in rates) for rates in (found, study.rates))
        levels = [number(rate.alpha) for rate in found if rate.test == test]
        if own == every:
            yield f"{test} at every α"
        elif differing(study.rates, CELL):
            yield f"{test} ({own:,} of {every:,} rates)"
        else:
            yield f"{test} at α = {joined(levels)}"


def notes(study: StudyResult) -> Iterator[str]:
    """What the rates and intervals are."""
    by = METHODS[study.rates[0].confidence_interval.method]
    simulations = constant(study.rates, "simulations")
    of = "simulated test sets" if simulations is None else f"{simulations:,} simulated test sets"
    yield f"Rates: the share of {of} with p ≤ α; {level_of(study.rates)} by {by}."
    if len(study.rates) > MANY and any(map(mark_of, study.rates)):
        yield "By chance alone, about one in forty rates of an exact test is marked as liberal, one as conservative."
    yield from tests_note(study)


FIGURES = {
    "rates": Figure(
        "Rejection rates divided by their levels, with confidence intervals.", "rates", CELL, "rates:RatesFigure"
    ),
    "qq": Figure("The distribution of p; that of an exact test is the diagonal.", "pvalues", CELL, "rates:QQFigure"),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
