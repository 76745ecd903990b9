"""Rejection rates in reports: their cells with marks and intervals, tables by level, and what the marks mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ...results import ConfidenceInterval
from ...results.studies.base import ErrorRate
from ..cells import Table
from ..pivot import Bold, Columns, Rows, fields, pivot
from ..wording import ci, number
from .shared import HEADINGS, differing, in_percent, percent_interval

# The marks of rates whose interval lies above or below the level.
LIBERAL, CONSERVATIVE = "*", "†"
# What bold type marks in tables of rates.
BOLD_RATES = "rates whose interval lies above α"
# What the marks mean, for :func:`symbols_of`.
MARKS = {LIBERAL: f"{LIBERAL}: the {{level}} lies above α.", CONSERVATIVE: f"{CONSERVATIVE}: it lies below α."}


def half_width(interval: ConfidenceInterval) -> float:
    """What stands after ±."""
    return float(interval.high - interval.low) / 2


def rate_decimals(simulations: int) -> int:
    """The decimals of a rate in percent: as many as its Monte Carlo error allows, at least one.

    >>> rate_decimals(1000), rate_decimals(10_000), rate_decimals(1_000_000)
    (1, 2, 3)
    """
    return max(1, math.floor(math.log10(max(simulations, 1)) / 2))


def mark_of(rate: ErrorRate) -> str:
    """The mark of a rate; empty if the interval contains the level."""
    return {"liberal": LIBERAL, "conservative": CONSERVATIVE}.get(rate.verdict, "")


def alphas_of(rates: Iterable[Any]) -> list[float]:
    """The levels of rates, in increasing order."""
    return sorted({rate.alpha for rate in rates})


def cells_of(
    rates: Sequence[Any], mark: Callable[[Any], str] = mark_of, plus_minus: bool = False
) -> Callable[[Any], str]:
    """The cells of rates: in percent with the mark, and perhaps with half the width of the interval after ±.

    Liberal rates are bold, if they have a mark.
    """
    decimals = rate_decimals(min(rate.simulations for rate in rates))
    # Spaces in place of marks that rates lack.
    width = max(map(len, map(mark, rates)))

    def cell(rate: Any) -> str:
        shown = f"{in_percent(rate.rate, decimals)}{mark(rate):<{width}}"
        if plus_minus:
            shown += f" ±{in_percent(half_width(rate.confidence_interval), decimals)}"
        return Bold(shown) if mark(rate) and rate.verdict == "liberal" else shown

    return cell


def rates_by_level(
    rates: Sequence[Any],
    title: str,
    names: Sequence[str],
    group: Sequence[str],
    mark: Callable[[Any], str] = mark_of,
    *,
    own_interval: bool,
    plus_minus: bool = False,
) -> Table:
    """A row for all rates that agree in some fields, and for each level the rate, perhaps with a column of intervals.

    A line separates rows that differ in the fields of the ``group``.
    """
    cell, decimals = cells_of(rates, mark, plus_minus), rate_decimals(min(rate.simulations for rate in rates))
    shown = 1 + own_interval

    def cells(rate: Any) -> list[str]:
        found = ["", ""] if rate is None else [cell(rate), percent_interval(rate.confidence_interval, decimals)]
        return found[:shown]

    columns = Columns("alpha", lambda alpha: [f"α={number(alpha)}", level_of(rates)][:shown], cells, alphas_of(rates))
    return pivot(title, rates, Rows(fields(HEADINGS, names), group=attrgetter(*group)), columns, BOLD_RATES)


def symbols_of(
    rates: Sequence[Any], about: Mapping[str, str], mark: Callable[[Any], str] = mark_of, also: Iterable[str] = ()
) -> str:
    """The sentences about marks that occur, about fields in which the rates differ, and about those in ``also``."""
    shown = {*map(mark, rates), *also, *differing(rates, [name for name in about if hasattr(rates[0], name)])}
    return " ".join(text.format(level=level_of(rates)) for name, text in about.items() if name in shown)


def level_of(rates: Sequence[Any]) -> str:
    """What the intervals of rates are called."""
    return ci(rates[0].confidence_interval.confidence_level)
