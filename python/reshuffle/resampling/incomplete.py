"""Segment scores of which some are missing: each pair of systems is compared on the segments that both have.

A missing score is a row of zeros, ``(0, 0)`` instead of ``(score, 1)``. So a mean divides by the number of scores that
were summed, and all shuffles and draws stay those of the other metrics. For a pair, the rows of both systems are zero
wherever either score is missing. Such a segment is equal in both systems, and swapping it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..lazy import lazy
from ..metrics.base import Counts, Scores
from ..metrics.precomputed import SegmentScores
from ..results import Exchangeability
from .samples import CountSample, Pairs, Sample
from .units import Documents, Strata, document_effect, paired_influence

# A draw of S units has none of a given n units with a probability of at most exp(-n), so only rows with fewer units
# than this can have such draws.
FEW_UNITS = 100


@dataclass(eq=False)
class IncompleteSample(CountSample):
    """Segment scores of k systems, some of which are missing.

    The first k rows are the systems with all their scores. Each of the other rows is a system without the scores of the
    segments that another system lacks. ``places`` has the two rows with which each pair of systems is compared. Pairs
    that compare a system on the same segments share its row, so there are only k rows if all systems lack the same
    scores.
    """

    names: tuple[str, ...] = field(kw_only=True)
    places: Mapping[tuple[int, int], tuple[int, int]] = field(kw_only=True)

    @staticmethod
    def from_scores(metric: SegmentScores, names: Sequence[str]) -> IncompleteSample:
        """The systems with these names, without rows for pairs."""
        counts = np.ascontiguousarray(metric.counts_of(names))
        return IncompleteSample(metric, [counts], names=tuple(names), places={})

    def for_pairs(self, pairs: Pairs) -> IncompleteSample:
        """See :meth:`Sample.for_pairs`."""
        present = self.counts[:, :, 1] > 0
        rows = list(self.counts)
        found = {(system, mask.tobytes()): system for system, mask in enumerate(present)}
        places = {}
        for a, b in pairs:
            common = present[a] & present[b]
            for system in (a, b):
                key = system, common.tobytes()
                if key not in found:
                    found[key] = len(rows)
                    rows.append(self.counts[system] * common[:, None])
            places[a, b] = found[a, common.tobytes()], found[b, common.tobytes()]
        return replace(self, arrays=[np.stack(rows)], places=places)._with_enough_units()

    def _with_enough_units(self) -> IncompleteSample:
        """This sample, if there are 2 units with scores for each system and each pair."""
        for what, rows in self._compared():
            n = len(self._units(rows))
            if n < 2:
                shown = f"only 1 {self.unit} has" if n else f"no {self.unit} has"
                raise InputError(
                    f"{self.metric.name}: {shown} scores of {what}: tests and intervals need at least 2 {self.unit}s"
                )
            if self.strata is not None and np.bincount(self.strata.index[self._units(rows)]).max() < 2:
                raise InputError(
                    f"{self.metric.name}: no stratum has 2 {self.unit}s with scores of {what}, so there is nothing to "
                    "draw"
                )
        return self

    def _compared(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each system and each pair: its name in messages, and its rows."""
        for system, name in enumerate(self.names):
            yield f"system {quoted(name)}", (system,)
        for (a, b), rows in self.places.items():
            yield f"both {quoted(self.names[b])} and {quoted(self.names[a])}", rows

    def rows_of(self, pairs: Pairs) -> Pairs:
        """See :meth:`Sample.rows_of`."""
        return [self.places[x, y] for x, y in pairs]

    def _units(self, rows: Sequence[int]) -> NDArray[np.intp]:
        """The units in which all these rows have scores."""
        return np.flatnonzero(np.all([self.rows(row)[:, 1] > 0 for row in rows], axis=0))

    def scored_units(self, rows: Sequence[int]) -> NDArray[np.intp] | None:
        """See :meth:`Sample.scored_units`."""
        units = self._units(rows)
        return None if len(units) == self.n_units else units

    def alone(self, rows: Sequence[int]) -> tuple[CountSample, Sequence[int]]:
        """See :meth:`Sample.alone`."""
        units = self._units(rows)
        counts = np.stack([self.rows(row)[units] for row in rows])
        strata = None if self.strata is None else self.strata.at(units)
        return CountSample.from_counts(self.metric, counts, self.unit, strata), range(len(rows))

    def by_document(self, documents: Documents) -> IncompleteSample:
        """See :meth:`Sample.by_document`."""
        return replace(self, arrays=[self._document_sums(documents)], unit="document")._with_enough_units()

    def stratified(self, strata: Strata) -> IncompleteSample:
        """See :meth:`Sample.stratified`."""
        return replace(self, strata=strata)._with_enough_units()

    def document_scores(self, documents: Documents) -> Scores:
        """See :meth:`Sample.document_scores`. NaN for a document without scores."""
        sums = self._document_sums(documents)
        return np.where(sums[..., 1] > 0, self.metric.score(sums), np.nan)

    def segment_values(self, a: int, b: int | None = None) -> Scores:
        """See :meth:`Sample.segment_values`."""
        sample, systems = self.alone([a] if b is None else [a, b])
        return sample.segment_values(*systems)

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """See :meth:`Sample.document_effects`."""
        found: list[tuple[float | None, float | None]] = []
        for rows in pairs:
            sample, _ = self.alone(rows)
            influence = paired_influence(sample.scores, sample.leave_one_out, 0, 1)
            effects = document_effect(influence, documents.at(self._units(rows)))
            correlation, effect = (None if np.isnan(value) else value for value in effects)
            found.append((correlation, effect))
        return found

    def exchangeability(self, pairs: Pairs) -> list[Exchangeability | None]:
        """See :meth:`Sample.exchangeability`."""
        return [self.alone(rows)[0].exchangeability([(0, 1)])[0] for rows in pairs]

    def variances_of_differences(self, pairs: Pairs) -> Scores:
        """See :meth:`Sample.variances_of_differences`."""
        return np.array([self.alone(rows)[0].variances_of_differences([(0, 1)])[0] for rows in pairs])

    @lazy
    def scarce(self) -> tuple[Sequence[int], Counts]:
        """The rows with scores in so few units that a draw may have none, and their numbers of scores: (rows, S, 1)."""
        numbers = self.counts_by_stratum[:, :, 1:]
        rows = np.flatnonzero((numbers[:, :, 0] > 0).sum(axis=1) < FEW_UNITS)
        return rows.tolist(), numbers[rows]


def complete_counts(sample: Sample, user: str, names: Sequence[str]) -> CountSample:
    """The counts of all systems, for ``user``; :class:`InputError` if there are none, or some are missing."""
    if not isinstance(sample, CountSample):
        raise InputError(f"{user} needs counts, but {sample.metric.name} is a function of texts: leave it out")
    if isinstance(sample, IncompleteSample):
        system, segment = np.argwhere(sample.counts[: len(names), :, 1] == 0)[0]
        raise InputError(
            f"{user} needs the scores of all systems on each segment, but {sample.metric.name} lacks some, the first "
            f"of {names[system]} on segment {segment + 1}: leave out the segments without scores"
        )
    return sample.with_counts()
