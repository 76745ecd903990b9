"""From matrices of scores to the samples with which metrics are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..lazy import lazy
from ..metrics.base import Scores
from .coefficients import TESTS
from .samples import Agreement, MatrixSample, standardized
from .values import mean_of_cells


@dataclass(frozen=True, eq=False)
class Cells:
    """Scores of metrics, (M, N, S), and of people, (N, S), higher for better; NaN where either is missing.

    ``common`` has the standardized scores of metrics in the cells that people and all metrics have, and ``human`` those
    of people.
    """

    own: Scores
    human_own: Scores
    there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    has_gaps: bool

    @classmethod
    def of(cls, cells: Scores, human: Scores) -> Cells:
        """From the scores of metrics and people."""
        missing, judged = np.isnan(cells), ~np.isnan(human)
        return cls(cells, human, judged & ~missing.any(axis=0), bool((missing & judged).any()))

    @lazy
    def common(self) -> Scores:
        """Standardized scores of metrics in common cells."""
        return np.ascontiguousarray(standardized(np.where(self.there, self.own, np.nan)))

    @lazy
    def human(self) -> Scores:
        """Scores of people in common cells."""
        return np.ascontiguousarray(np.where(self.there, self.human_own, np.nan))

    @property
    def n_common(self) -> int:
        """The number of common cells."""
        return int(self.there.sum())


def matrix_sample(
    coefficient: str, cells: Cells, grouping: str, values: Scores, test: str | None, interval: str | None
) -> MatrixSample:
    """The sample of metrics on common cells, with the draws of the interval and the shuffles of the test."""
    shuffled = None if test is None or TESTS[test].replicates != "shuffles" else TESTS[test].unit
    drawn = None if interval is None else TESTS[interval].unit
    metric = Agreement(coefficient)
    return MatrixSample(metric, cells.common, cells.human, grouping, values, shuffled or "both", drawn or "inputs")


def for_test(sample: MatrixSample, test: str | None) -> MatrixSample:
    """The same sample with the draws of a test, if it needs draws."""
    unit = None if test is None or TESTS[test].replicates != "draws" else TESTS[test].unit
    return sample if unit in (None, sample.drawn) else replace(sample, drawn=unit)


def standardized_systems(scores: Scores, cells: Scores | None) -> Scores:
    """Scores of systems, (M, N), on a common scale: with mean 0, and the spread of the means of standardized cells.

    ``cells`` are standardized scores of segments, (M, N, S), whose many values make the scale more certain than that of
    N scores; without them, or if all means of a metric are equal, every metric has standard deviation 1.
    """
    scaled = standardized(scores[:, :, None])[..., 0]
    if cells is None:
        return scaled
    spread = np.stack([mean_of_cells(own) for own in cells]).std(axis=1, keepdims=True)
    return scaled * spread if (spread > 0).all() else scaled


def systems_sample(coefficient: str, scores: Scores, human: Scores, values: Scores) -> MatrixSample:
    """The sample of metrics on (M, N) scores of systems, which are swapped and drawn."""
    cells = np.ascontiguousarray(scores[:, :, None]), np.ascontiguousarray(human[:, None])
    return MatrixSample(Agreement(coefficient), *cells, "system", values, "systems", "systems")
