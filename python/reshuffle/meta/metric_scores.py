"""The scores of one metric for all systems of a test set, and means of scores with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import InputError, counted, unknown_name
from ..metrics.base import Scores
from ..metrics.precomputed import SegmentScores
from ..resampling.incomplete import IncompleteSample
from ..resampling.samples import CountSample, Sample
from ..results import UsedMetric
from .values import mean_of_scores

if TYPE_CHECKING:
    from ..data.score_tables import ScoreTable


@record(eq=False)
class MetricScores:
    """The scores of N systems on S segments under one metric."""

    label: str
    """The name in results."""
    higher_is_better: bool
    segments: Scores | None
    """Shape (N, S). The score of every segment, NaN where there is none. None for a metric that only has scores of
    systems.
    """
    system_scores: Scores
    """Shape (N,). The score of each system: the corpus score if it is computed here, else given or the mean of segment
    scores. NaN where there is none.
    """
    sample: CountSample | None = None
    """The counts of a metric computed here, or of means of segment scores, which give the scores on drawn segments.
    None for a metric whose scores of systems are given.
    """
    signature: str = ""
    source: str | None = None
    """The ACL id or DOI of the metric."""

    @classmethod
    def from_sample(cls, label: str, sample: Sample, names: Sequence[str], n_references: str | None) -> MetricScores:
        """From the counts of a metric.

        :class:`InputError` for a function of texts, which need not be defined on a single segment.
        """
        m = sample.metric
        if not isinstance(sample, CountSample):
            raise InputError(
                f"{m.name} is a function of texts, whose scores of single segments are not defined: pass its scores "
                "as SegmentScores"
            )
        rows = slice(0, len(names))  # those after them are for pairs
        segments = np.asarray(sample.segment_scores(names), dtype=np.float64)[rows]
        counted = _means_if_known(segments) if isinstance(sample, IncompleteSample) else sample
        scores = np.asarray(sample.scores, dtype=np.float64)[rows]
        return cls(label, m.higher_is_better, segments, scores, counted, m.signature(n_references), m.source)

    @classmethod
    def from_table(cls, table: ScoreTable, systems: Sequence[str], n_segments: int) -> MetricScores:
        """The rows of these systems in a table of scores, NaN for those that it lacks.

        :class:`InputError` if it has none of them, or another number of segments.
        """
        check_size(table.name, table.n_segments, n_segments)
        at = places_of(systems, table.systems)
        if (at < 0).all():
            raise unknown_name(f"system of {table.name}", table.systems[0], systems)
        segments = None if table.segments is None else rows_at(table.segments, at)
        means = np.full(len(at), np.nan) if segments is None else mean_of_scores(segments)
        given = means if table.system_scores is None else rows_at(table.system_scores, at)
        is_mean = are_means(given, segments)
        return cls(
            table.name,
            table.higher_is_better,
            segments,
            np.where(np.isnan(given), means, given),
            _means_if_known(segments) if is_mean and segments is not None else None,
            signature=f"{table.name}|scores:given",
        )

    @property
    def is_given(self) -> bool:
        """Whether the scores of systems came from elsewhere, so that those on some of the segments are not known."""
        return self.sample is None and not are_means(self.system_scores, self.segments)

    def on(self, segments: NDArray[np.intp]) -> MetricScores:
        """The same metric on these segments alone. Given scores of systems remain as they are."""
        if self.segments is None:
            return self
        cells = self.segments[:, segments]
        if self.is_given:
            return replace(self, segments=cells)
        if self.sample is None or self.sample.metric.is_mean:
            return replace(self, segments=cells, system_scores=mean_of_scores(cells), sample=_means_if_known(cells))
        sample = CountSample.from_counts(self.sample.metric, self.sample.counts.take(segments, axis=1))
        return replace(self, segments=cells, system_scores=np.asarray(sample.scores, np.float64), sample=sample)

    @property
    def sign(self) -> int:
        """1 where higher scores are better, else −1."""
        return 1 if self.higher_is_better else -1

    @property
    def used(self) -> UsedMetric:
        """The metric as results describe it."""
        return UsedMetric(self.label, self.signature or self.label, self.higher_is_better, None, self.source)


def are_means(scores: Scores, cells: Scores | None) -> bool:
    """Whether scores of systems, (N,), are the means of their scores of segments, (N, S)."""
    return cells is not None and bool(np.allclose(scores, mean_of_scores(cells), rtol=1e-6, equal_nan=True))


def mean_sample(cells: Scores) -> CountSample:
    """N systems by the mean of their segment scores, (N, S); missing ones add nothing. Each system needs a score."""
    names = [str(at) for at in range(len(cells))]
    scores = SegmentScores("mean", dict(zip(names, cells, strict=True)), missing="pairwise")
    return CountSample.from_counts(scores, scores.counts_of(names))


def lacks_system(cells: Scores) -> bool:
    """Whether a system has no score of any segment."""
    return bool(np.isnan(cells).all(axis=1).any())


def _means_if_known(cells: Scores) -> CountSample | None:
    return None if lacks_system(cells) else mean_sample(cells)


def rows_at(values: Scores, at: NDArray[np.intp]) -> Scores:
    """These rows, NaN where the index is negative."""
    rows = np.array(values[at], dtype=np.float64)
    rows[at < 0] = np.nan
    return rows


def places_of(names: Sequence[str], among: Sequence[str]) -> NDArray[np.intp]:
    """The place of each name among others, −1 for one that is not there."""
    places = {name: at for at, name in enumerate(among)}
    return np.array([places.get(name, -1) for name in names], dtype=np.intp)


def check_size(name: str, found: int | None, n_segments: int) -> None:
    """:class:`InputError` for scores of another number of segments; None if they are of systems."""
    if found not in (None, n_segments):
        raise InputError(
            f"{name} has {counted(found, 'segment')}, the test set {n_segments:,}: the numbers must be equal"
        )
