"""What the reports of several studies need: records by their fields, columns that differ, phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import counted
from ...results import ConfidenceInterval, UsedMetric
from ...results.studies import StudyResult
from ..wording import joined, number

# How the names of tests with a margin begin: they have no other alternative.
WITH_MARGIN = ("equivalence", "non-inferiority")
# The tests whose shuffles may be a group.
SHUFFLED = ("ar", "ar-studentized")
# What tables call the fields that identify a rate.
HEADINGS = {
    "test": "Test", "adjustment": "Adjustment", "method": "Method", "differences": "Differences", "metric": "Metric",
    "null": "Null", "systems": "k", "size": "n", "runs": "Runs", "tasks": "Tasks", "correlation": "ρ", "run_sd": "τ",
    "margin": "Margin", "truth": "Truth",
}  # fmt: skip


def with_arrow(metric: UsedMetric) -> str:
    """The name of a metric, and whether higher or lower scores are better."""
    return f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"


def in_percent(share: float | None, decimals: int) -> str:
    """A share in percent, without the sign; a dash for None.

    >>> in_percent(0.0512, 1), in_percent(None, 1)
    ('5.1', '–')
    """
    return "–" if share is None else f"{100 * share:.{decimals}f}"


def percent_interval(interval: ConfidenceInterval | None, decimals: int) -> str:
    """An interval of shares in percent; a dash for None.

    >>> percent_interval(ConfidenceInterval(0.0421, 0.0611, 0.95, "clopper-pearson"), 1)
    '4.2 to 6.1'
    """
    return "–" if interval is None else f"{in_percent(interval.low, decimals)} to {in_percent(interval.high, decimals)}"


def as_percent(name: str, decimals: int) -> Callable[[Any], str]:
    """The cells of the share or the interval of shares with this name."""

    def shown(record: Any) -> str:
        value = getattr(record, name)
        return (percent_interval if isinstance(value, ConfidenceInterval) else in_percent)(value, decimals)

    return shown


def differing(records: Sequence[Any], names: Iterable[str]) -> list[str]:
    """Those fields in which the records are not all the same.

    >>> from types import SimpleNamespace as R
    >>> differing([R(test="ar", size=1), R(test="ar", size=2)], ["test", "size"])
    ['size']
    """
    return [name for name in names if len({getattr(record, name) for record in records}) > 1]


def constant(records: Sequence[Any], name: str) -> Any:
    """The value that all records have in a field; None if there are several."""
    values = {getattr(record, name) for record in records}
    return values.pop() if len(values) == 1 else None


def unit_of(study: StudyResult) -> str:
    """The resampling unit of a study."""
    return str(study.plan.get("unit", "segment"))


def of_name(records: Iterable[Any], **values: Any) -> list[Any]:
    """The records with these values."""
    return [record for record in records if all(getattr(record, name) == value for name, value in values.items())]


# What titles say of a field in which all records agree.
IN_TITLES: Mapping[str, Callable[[Any], str]] = {
    "alpha": lambda alpha: f"α = {number(alpha)}",
    "metric": str,
    "null": lambda null: f"null hypothesis {null}",
    "model": lambda model: f"model {model}",
    "systems": lambda n: f"{n:,} systems, {counted(n * (n - 1) // 2, 'pair')}",
    "variances": lambda kind: f"{kind} variances",
    "size": lambda n: f"n = {n:,}",
    "simulations": lambda n: counted(n, "simulation"),
}


def in_common(records: Sequence[Any], *names: str) -> str:
    """What all records have in common in these fields, for a title."""
    values = {name: constant(records, name) for name in names}
    return ", ".join(IN_TITLES[name](value) for name, value in values.items() if value not in (None, ""))


def tests_note(study: StudyResult) -> Iterator[str]:
    """The replicates and the alternative of the tests, as a sentence, if the tests have replicates."""
    n, alternative = study.plan.get("n_resamples"), study.plan.get("alternative", "two-sided")
    if n is None:
        return
    names = study.plan.get("tests", ()) or ("the test",)
    # The tests of equivalence and non-inferiority have an alternative of their own, which their names say.
    if all(name.startswith(WITH_MARGIN) for name in names):
        alternative = ""
    elif any(name.startswith(WITH_MARGIN) for name in names):
        alternative = f", {joined([name for name in names if not name.startswith(WITH_MARGIN)])} {alternative}"
    else:
        alternative = f", {alternative}"
    group = ""
    if study.plan.get("scheme") == "subgroup" and any(name in SHUFFLED for name in names):
        group = f" (shuffles: a random group of {1 << (n - 1).bit_length():,})"
    early = ""
    if study.plan.get("stopping") is not None:
        early = (
            f" Shuffles end early, at {study.plan['exceedances']:,} exceedances, where the test cannot reject at these "
            "levels (Besag & Clifford 1991)."
        )
    yield f"Tests: {joined(names)}{alternative}, with {counted(n, 'replicate')} each{group}.{early}"


def of_keys(records: Sequence[Any], *names: str) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """The records that agree in these fields, in the order of their first appearance."""
    keys = dict.fromkeys(tuple(getattr(record, name) for name in names) for record in records)
    for key in keys:
        values = dict(zip(names, key, strict=True))
        yield values, of_name(records, **values)


def band_name(low: float, high: float) -> str:
    """A band of confidence in percent.

    >>> band_name(1, 1), band_name(0.999, 1), band_name(0.9, 0.95), band_name(0, 0.5)
    ('100', '99.9 to <100', '90 to <95', '<50')
    """
    if low == high:
        return number(100 * low)
    if low == 0:
        return f"<{number(100 * high)}"
    return f"{number(100 * low)} to <{number(100 * high)}"


def gap_name(low: float, high: float | None) -> str:
    """A bin of differences.

    >>> gap_name(0.5, 1.0), gap_name(5.0, None)
    ('0.5 to 1', 'over 5')
    """
    return f"over {number(low)}" if high is None else f"{number(low)} to {number(high)}"
