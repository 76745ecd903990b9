"""The report of ``type1``: rejection rates under null hypotheses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...results.studies import PvalueShare, Rate, StudyResult
from ..cells import Table
from ..plots.look import FAINT, INK, MUTED
from ..wording import ci, joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key, key_above, label, looks, point
from .rates import CONSERVATIVE, LIBERAL, alphas_of, half_width, level_of, mark_of, rates_by_level, symbols_of
from .shared import constant, differing, in_common, of_name, tests_note

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


class RatesFigure(ColumnFigure[Rate]):
    """Rejection rates divided by their levels, with intervals: a group of tests for each level."""

    def draw(self, ax: Axes) -> None:
        levels, shown = alphas_of(self.records), looks(rate.test for rate in self.records)
        ax.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        step = 0.7 / len(shown)
        for at, alpha in enumerate(levels):
            for number_of_test, (test, look) in enumerate(shown.items()):
                for rate in of_name(self.records, test=test, alpha=alpha):
                    x = at + (number_of_test - (len(shown) - 1) / 2) * step
                    interval = rate.confidence_interval
                    relative = replace(interval, low=interval.low / alpha, high=interval.high / alpha)
                    point(ax, x, rate.rate / alpha, relative, look, rate.verdict != "at its level")
        ax.set_xlim(-0.5, len(levels) - 0.5)
        ax.set_ylim(0, None)
        ax.set_xticks(range(len(levels)), [number(alpha) for alpha in levels])
        ax.tick_params(axis="x", length=0)
        level = ci(self.records[0].confidence_interval.confidence_level)
        label(ax, f"α\n● {level} excludes α    ○ includes α", "rejection rate / α")
        key_above(ax, shown, 3)


class QQFigure(ColumnFigure[PvalueShare]):
    """The distribution of p against that of an exact test, which is uniform."""

    HEIGHT = 2.8

    def draw(self, ax: Axes) -> None:
        shown = looks(share.test for share in self.records)
        p = np.linspace(0, 1, 201)
        half = 1.959964 * np.sqrt(p * (1 - p) / self.study.plan.simulations)
        ax.fill_between(p, np.clip(p - half, 0, 1), np.clip(p + half, 0, 1), color=FAINT, linewidth=0)
        ax.plot(p, p, color=MUTED, linewidth=0.6)
        for test, look in shown.items():
            own = sorted(of_name(self.records, test=test), key=lambda share: float(share.p))
            x, y = [0.0, *(share.p for share in own)], [0.0, *(share.share for share in own)]
            ax.plot(x, y, color=look["color"], linestyle=look["linestyle"], linewidth=1.0, zorder=3, clip_on=False)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.set_aspect("equal")
        label(ax, "p\nband: 95% of exact tests, at each p", "share of simulations with a p-value ≤ p")
        key(ax, shown, lines=True, loc="lower right")


FIGURES = {
    "rates": Figure("Rejection rates divided by their levels, with confidence intervals.", "rates", CELL, RatesFigure),
    "qq": Figure("The distribution of p; that of an exact test is the diagonal.", "pvalues", CELL, QQFigure),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
