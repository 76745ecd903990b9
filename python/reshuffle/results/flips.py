"""The result of :func:`reshuffle.flips`: a frozen record, like those of :mod:`reshuffle.results`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..documented import record
from ..errors import counted
from .comparison import UsedMetric
from .reported import Reported


@record
class FlippedSegment:
    """A segment (or a document) under two systems."""

    segment: int | str
    """The number of the segment, from 1, or its id, as in logs; or the id of the document."""
    baseline_score: float
    """Its scores."""
    system_score: float
    flip: str
    """``gained`` if only the system's score passes the threshold, ``lost`` if only the baseline's does, else ``both``
    or ``neither``.
    """
    contribution: float
    """What the segment adds to the difference of the corpus scores, as in the reports of gates: the difference of its
    counts times the gradient of the score at the mean of both totals. Of a mean, the difference of the segment's scores
    divided by the number of segments; where there is no gradient, the difference minus that without the segment.
    """


@record
class Flips(Reported):
    """The segments that a system gains and loses at a threshold, and those with the largest parts of the difference.

    ``print(flips)`` shows them, with long lists shortened; :meth:`to_dicts` has every segment.
    """

    baseline: str
    system: str
    metric: UsedMetric
    threshold: float
    """A score passes if it is at least this, or at most this if lower is better."""
    unit: str
    """``segment``, or ``document`` if the scores are those of documents."""
    baseline_score: float
    """The corpus scores on the segments compared."""
    system_score: float
    difference: float
    segments: tuple[FlippedSegment, ...]
    """The segments that are compared, in their order."""
    n_missing: int
    """The number of segments that are left out because a score is missing."""
    top: int
    """How many segments :attr:`largest` has at most."""
    pvalue: float
    """The two-sided p of McNemar's exact test of whether gains and losses are equally likely: the sign test on the
    segments gained or lost. 1 if there are none. McNemar 1947, doi:10.1007/BF02295996.
    """
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""

    DERIVED: ClassVar[tuple[str, ...]] = ("gained", "lost", "n_both", "n_neither", "net", "largest")

    def __repr__(self) -> str:
        return (
            f"<Flips: {self.metric.name} at {self.threshold:g}, {self.system} against {self.baseline}; "
            f"{len(self.gained)} gained, {len(self.lost)} lost of {counted(len(self.segments), self.unit)}>"
        )

    def _with_flip(self, flip: str) -> list[FlippedSegment]:
        return [segment for segment in self.segments if segment.flip == flip]

    @property
    def gained(self) -> list[int | str]:
        """The segments that pass the threshold under the system but not under the baseline."""
        return [segment.segment for segment in self._with_flip("gained")]

    @property
    def lost(self) -> list[int | str]:
        """The segments that pass the threshold under the baseline but not under the system."""
        return [segment.segment for segment in self._with_flip("lost")]

    @property
    def n_both(self) -> int:
        """The number of segments that pass under both systems."""
        return len(self._with_flip("both"))

    @property
    def n_neither(self) -> int:
        """The number of segments that pass under neither system."""
        return len(self._with_flip("neither"))

    @property
    def n_unchanged(self) -> int:
        """The number of segments that pass under both systems or under neither."""
        return self.n_both + self.n_neither

    @property
    def net(self) -> int:
        """The number of segments gained minus the number lost."""
        return len(self.gained) - len(self.lost)

    @property
    def largest(self) -> Sequence[FlippedSegment]:
        """The ``top`` segments with the largest parts of the difference, of equal ones those with its sign first.

        Segments without a part are left out.
        """
        adding = [segment for segment in self.segments if segment.contribution]
        adding.sort(key=lambda each: (-abs(each.contribution), each.contribution * self.difference < 0))
        return adding[: self.top]
