"""The report of ``multiplicity``: family-wise error rates of tests and adjustments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from ...results.studies import FamilyWiseRate, StudyResult
from ..cells import Table
from ..pivot import Rows, fields
from ..wording import joined, number
from .base import Figure, StudyReport
from .wording import (
    CONSERVATIVE,
    LIBERAL,
    constant,
    differing,
    in_common,
    level_of,
    mark_of,
    of_keys,
    of_name,
    percent,
    rate_decimals,
    said,
    table_of_rates,
    tests_note,
)

# The mark of rates that are low because there are too few replicates.
TOO_FEW = "‡"
NONE = "none"
# The columns that identify a row beside the test and the adjustment, and what tables call them.
NAMES = {"metric": "Metric", "systems": "k", "size": "n"}


def title(study: StudyResult) -> str:
    """The tests."""
    return f"Family-wise error rates of {joined(dict.fromkeys(rate.test for rate in _rates(study)))}"


def _rates(study: StudyResult) -> Sequence[FamilyWiseRate]:
    return study.tables.get("family_wise", ())


def tables(study: StudyResult) -> Iterator[Table]:
    """A table for each kind of family, with a row for each test and adjustment and a column for each level."""
    for _, own in of_keys(_rates(study), "variances"):
        common = in_common(own, "metric", "systems", "variances", "size", "simulations")
        yield _table(own, f"Family-wise error rate in %: {common}").explained(_symbols(own))


def _table(rates: Sequence[FamilyWiseRate], heading: str) -> Table:
    names = ["test", "adjustment", *differing(rates, NAMES)]
    cells = fields({"test": "Test", "adjustment": "Adjustment", **NAMES}, names)
    rows = Rows(cells, group=attrgetter("test"))
    return table_of_rates(rates, heading, rows, _mark, own_interval=constant(rates, "alpha") is not None)


def _mark(rate: FamilyWiseRate) -> str:
    """The mark of a rate."""
    return mark_of(rate) if rate.enough_replicates else TOO_FEW


def _symbols(rates: Sequence[FamilyWiseRate]) -> str:
    marks = set(map(_mark, rates))
    return said(
        {
            f"{LIBERAL}: the {level_of(rates)} lies above α.": LIBERAL in marks,
            f"{CONSERVATIVE}: it lies below α.": CONSERVATIVE in marks,
            f"{TOO_FEW}: too few replicates for one small p among larger ones to reject.": TOO_FEW in marks,
            "k: systems.": "systems" in differing(rates, NAMES),
        }
    )


def conclusions(study: StudyResult) -> Iterator[str]:
    """The rates without adjustment beside those of independent tests, and the adjustments that do not hold α."""
    for rate in of_name(_rates(study), adjustment=NONE):
        if rate.systems == max(each.systems for each in _rates(study) if each.variances == rate.variances):
            decimals = rate_decimals(rate.simulations)
            yield (
                f"Without adjustment, {rate.test} rejects one or more of {rate.pairs:,} true null "
                f"{'hypothesis' if rate.pairs == 1 else 'hypotheses'} "
                f"in {percent(rate.rate, decimals)}% of the test sets at α = {number(rate.alpha)} ({rate.metric}, "
                f"{rate.variances} variances); independent tests would in {percent(rate.independent, decimals)}%."
            )
    found = [rate for rate in _rates(study) if rate.verdict == "liberal" and rate.adjustment != NONE]
    if found:
        yield f"Adjusted, and still too liberal: {'; '.join(dict.fromkeys(map(_named, found)))}."
    elif any(rate.adjustment != NONE for rate in _rates(study)):
        yield "No adjustment is liberal."


def _named(rate: FamilyWiseRate) -> str:
    return f"{rate.test} with {rate.adjustment} ({rate.variances} variances)"


def notes(study: StudyResult) -> Iterator[str]:
    """What the rates are."""
    rates = _rates(study)
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
        "multiplicity:FamilyWiseFigure",
    ),
}

REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
