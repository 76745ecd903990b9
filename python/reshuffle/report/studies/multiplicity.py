"""The report of ``multiplicity``: family-wise error rates of tests and adjustments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...results.studies import FamilyWiseRate, StudyResult
from ..cells import Table
from ..wording import joined, number
from .base import Figure, StudyReport
from .shared import (
    MARKS,
    constant,
    differing,
    in_common,
    in_percent,
    level_of,
    mark_of,
    of_keys,
    of_name,
    rate_decimals,
    rates_by_level,
    symbols_of,
    tests_note,
)

# The mark of rates that are low because there are too few replicates.
TOO_FEW = "‡"
NONE = "none"
NAMES = ("metric", "systems", "size")
SYMBOLS = {
    **MARKS,
    TOO_FEW: f"{TOO_FEW}: too few replicates for one small p among larger ones to reject.",
    "systems": "k: systems.",
}


def title(study: StudyResult) -> str:
    """The tests."""
    return f"Family-wise error rates of {joined(dict.fromkeys(rate.test for rate in study.tables['family_wise']))}"


def tables(study: StudyResult) -> Iterator[Table]:
    """A table for each kind of family, with a row for each test and adjustment and a column for each level."""
    for _, own in of_keys(study.tables["family_wise"], "variances"):
        common = in_common(own, "metric", "systems", "variances", "size", "simulations")
        table = rates_by_level(
            own,
            f"Family-wise error rate in %: {common}",
            ["test", "adjustment", *differing(own, NAMES)],
            ("test",),
            _mark,
            own_interval=constant(own, "alpha") is not None,
        )
        yield table.explained(symbols_of(own, SYMBOLS, _mark))


def _mark(rate: FamilyWiseRate) -> str:
    """The mark of a rate."""
    return mark_of(rate) if rate.enough_replicates else TOO_FEW


def conclusions(study: StudyResult) -> Iterator[str]:
    """The rates without adjustment beside those of independent tests, and the adjustments that do not hold α."""
    rates: Sequence[FamilyWiseRate] = study.tables["family_wise"]
    for rate in of_name(rates, adjustment=NONE):
        if rate.systems == max(each.systems for each in rates if each.variances == rate.variances):
            decimals = rate_decimals(rate.simulations)
            yield (
                f"Without adjustment, {rate.test} rejects one or more of {rate.pairs:,} true null "
                f"{'hypothesis' if rate.pairs == 1 else 'hypotheses'} "
                f"in {in_percent(rate.rate, decimals)}% of the test sets at α = {number(rate.alpha)} ({rate.metric}, "
                f"{rate.variances} variances); independent tests would in {in_percent(rate.independent, decimals)}%."
            )
    found = [rate for rate in rates if rate.verdict == "liberal" and rate.adjustment != NONE]
    if found:
        yield f"Adjusted, and still too liberal: {'; '.join(dict.fromkeys(map(_named, found)))}."
    elif any(rate.adjustment != NONE for rate in rates):
        yield "No adjustment is liberal."


def _named(rate: FamilyWiseRate) -> str:
    return f"{rate.test} with {rate.adjustment} ({rate.variances} variances)"


def notes(study: StudyResult) -> Iterator[str]:
    """What the rates are."""
    rates: Sequence[FamilyWiseRate] = study.tables["family_wise"]
    yield (
        "Rates: the share of simulated test sets in which the smallest adjusted p of all pairs is at most α; "
        f"{level_of(rates)} by Clopper–Pearson. All null hypotheses are true, so the false discovery rate of bh and "
        "by is the same."
    )
    yield "Independent tests: 1 − (1 − α)^m for m pairs (W05-0908, 4.4)."
    if any(not rate.enough_replicates for rate in rates):
        needed = max(round(rate.pairs / rate.alpha) for rate in rates) - 1
        yield f"With {needed:,} replicates, all adjustments could reject for one small p."
    yield from tests_note(study)


FIGURES = {
    "families": Figure(
        "Family-wise error rates by adjustment, with confidence intervals; the dashed line is α.",
        "family_wise",
        ("metric", "size", "alpha"),
        "rates:FamilyWiseFigure",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
