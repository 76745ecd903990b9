"""Systems with several optimizer runs each: the counts of all outputs, and the statistics of pairs of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import LARGEST_SUM, Counts, Scores
from ..settings import Resampling, Units
from .counting import Data
from .incomplete import complete_counts
from .replicates import Replicates
from .run_draws import DrawnRuns
from .run_linear import RunCovariances
from .samples import CountSample
from .units import Documents, Strata

STATISTICS: Mapping[str, str] = {
    "pooled": "the score of all outputs of a system, taken as one long output",
    "mean": "the mean of the scores of a system's runs",
}


@dataclass(frozen=True, eq=False)
class RunData:
    """The outputs of all runs of k systems on the same test set, counted under some metrics.

    ``samples`` have a row for each output: those of the first system, then those of the second, and so on. Their units
    are documents if documents are resampled.
    """

    names: tuple[str, ...]
    n_runs: tuple[int, ...]
    samples: Sequence[CountSample]
    resampling: Resampling

    @classmethod
    def from_data(cls, data: Data, n_runs: Mapping[str, int], units: Units, resampling: Resampling) -> RunData:
        """Count all outputs. The systems of ``data`` are the outputs, in the order of ``n_runs``."""
        documents = None if units.documents is None else Documents.checked(units.documents, data.n_segments)
        strata = None if units.strata is None else Strata.from_ids(units.strata, data.n_segments, documents)
        samples = []
        for sample in data.count(data.names, resampling):
            counted = complete_counts(sample, "a comparison of runs", data.names)
            if documents is not None:
                counted = counted.by_document(documents)
            samples.append(counted if strata is None else counted.stratified(strata))
        return cls(tuple(n_runs), tuple(n_runs.values()), samples, resampling)

    @property
    def replicates(self) -> Replicates:
        """The replicates of the outputs under the first metric; all metrics have the same."""
        return Replicates.from_settings(self.samples[:1], self.resampling)

    @property
    def n_units(self) -> int:
        """The number of segments, or of documents."""
        return self.samples[0].n_units

    @property
    def unit(self) -> str:
        """``segment`` or ``document``."""
        return self.samples[0].unit

    @lazy
    def rows(self) -> list[slice]:
        """The rows of each system's outputs."""
        ends = np.cumsum(self.n_runs).tolist()
        return [slice(end - n, end) for n, end in zip(self.n_runs, ends, strict=True)]

    @lazy
    def counts(self) -> Counts:
        """The counts of all metrics side by side: (outputs, units, ΣK)."""
        return np.concatenate([sample.counts for sample in self.samples], axis=2)

    @lazy
    def totals(self) -> Counts:
        """The sums over all units: (outputs, ΣK)."""
        return np.concatenate([sample.totals for sample in self.samples], axis=1)

    @lazy
    def drawn(self) -> DrawnRuns:
        """The scores of all systems on bootstrap draws of segments, and of runs and segments."""
        return DrawnRuns(self)

    @lazy
    def covariances(self) -> list[RunCovariances]:
        """How the scores of all outputs vary together over test sets, for each metric."""
        return [RunCovariances.from_data(self, m) for m in range(len(self.samples))]

    def check_sums(self, sums: Counts, where: str = "") -> None:
        """:class:`InputError` if sums over all runs of a system, of (..., outputs, ΣK), could pass ``LARGEST_SUM``."""
        for name, n, rows in zip(self.names, self.n_runs, self.rows, strict=True):
            of_system = sums[..., rows, :]
            # as integers of Python, which do not overflow
            if n * max(int(of_system.max()), -int(of_system.min())) > LARGEST_SUM:
                raise InputError(
                    f"the counts of the {n} runs of {name} are too large to be added up{where}: use fewer runs, or "
                    "round the scores of segments to a few decimals"
                )

    def by_metric(self, sums: Counts) -> list[Counts]:
        """Sums of the columns of all metrics, (..., ΣK), split into those of each metric: (..., K)."""
        ends = np.cumsum([sample.totals.shape[1] for sample in self.samples])[:-1]
        return np.split(sums, ends, axis=-1)

    def scored(self, sums: Counts) -> list[Scores]:
        """The scores of sums of the columns of all metrics: (..., ΣK) in, (...) for each metric out."""
        return [sample.metric.score(own) for sample, own in zip(self.samples, self.by_metric(sums), strict=True)]

    def weights(self, pair: tuple[int, int]) -> tuple[int, int]:
        """What the sums of the runs of two systems are multiplied by, so that both stand for equally many runs.

        1 and 1 for systems with equally many runs. Scores do not change: they are ratios of sums.
        """
        n, m = (self.n_runs[system] for system in pair)
        common = math.lcm(n, m)
        return common // n, common // m

    def score_of(self, system: int, statistic: str) -> list[float]:
        """The score of a system under each metric, by a name in :data:`STATISTICS`."""
        totals = self.totals[self.rows[system]]
        if statistic == "pooled":
            return [float(score) for score in self.scored(totals.sum(axis=0))]
        return [float(scores.mean()) for scores in self.scored(totals)]
