"""``compare_runs``: systems with several optimizer runs each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import types
from .data.corpus import Lines
from .progress import AnyProgress
from .resampling.counting import Metrics, References
from .results.studies import RunComparison
from .settings import DocumentIds, StratumIds

__all__ = ["SETS", "RunSettings", "compare_runs", "output_name"]

# The test sets on which the median run can be determined.
SETS = ("test", "dev")


def output_name(system: str, run: int) -> str:
    """The name of an output: the key of its scores in :class:`~reshuffle.SegmentScores` and ``FromCounts``.

    >>> output_name("baseline", 0)
    'baseline#0'
    """
    return f"{system}#{run}"


@dataclass(frozen=True)
class RunSettings:
    """What is tested, and how. Fields are named like the keywords of :func:`compare_runs`."""

    exchange: str | Sequence[str] = "auto"
    statistic: str = "pooled"
    baseline: str | None = None
    all_pairs: bool = False
    alternative: str = "two-sided"
    adjust: str | None = "auto"
    family: str = "metric"
    confidence_level: float | None = None
    alpha: float | None = None
    median_on: str = "test"
    median_metric: str | None = None


def compare_runs(
    references: References,
    systems: Mapping[str, Sequence[Lines]],
    metrics: Metrics = "bleu",
    *,
    exchange: types.Exchange | str | Sequence[str] = "auto",
    statistic: types.RunStatistic | str = "pooled",
    baseline: str | None = None,
    all_pairs: bool = False,
    dev_references: References = None,
    dev_systems: Mapping[str, Sequence[Lines]] | None = None,
    dev_scores: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
    median_on: types.RunSet | str = "test",
    median_metric: str | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    alternative: types.Alternative | str = "two-sided",
    adjust: types.Adjustment | str | None = "auto",
    family: types.Family | str = "metric",
    confidence_level: float | None = None,
    alpha: float | None = None,
    n_resamples: int | Literal["auto"] = 10_000,
    seed: int = 12345,
    threads: int | None = None,
    progress: AnyProgress = None,
) -> RunComparison:
    """Compare systems with several optimizer runs each."""
    raise NotImplementedError
