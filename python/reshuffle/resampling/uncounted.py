"""``Uncounted``: what samples have in common that are not sums of counts of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..metrics.base import Metric, Scores
from .samples import CountSample, DifferingColumn, Pairs, Sample
from .units import Documents, Strata


class Uncounted:
    """The methods of :class:`Sample` that are for counts: exact tests, closed forms, units that are still to be formed.

    Subclasses have shuffles or draws. ``of`` says in errors what they are samples of.
    """

    of: ClassVar[str]
    metric: Metric

    def native(self, kind: str) -> None:
        """None: replicates are computed batch by batch, by functions of Python."""
        return

    def details(self, system: int) -> Mapping[str, float]:
        """Empty."""
        return {}

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """(None, None) for every pair."""
        return [(None, None)] * len(pairs)

    def refuse(self, what: str) -> NoReturn:
        """Raise :class:`InputError`."""
        raise InputError(f"{self.metric.name}: {what} of {self.of} are not defined")

    def with_counts(self) -> CountSample:
        """Raises :class:`InputError`, as do the methods below."""
        self.refuse("counts")

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("segment scores")

    def segment_values(self, a: int, b: int | None = None) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("segment scores")

    def document_scores(self, documents: Documents) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("documents")

    def by_document(self, documents: Documents) -> Sample:
        """See :meth:`with_counts`."""
        self.refuse("documents")

    def stratified(self, strata: Strata) -> Sample:
        """See :meth:`with_counts`."""
        self.refuse("further strata")

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
        """See :meth:`with_counts`."""
        self.refuse("exact tests")

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """See :meth:`with_counts`."""
        self.refuse("exact tests")

    def select_pair(self, pair: tuple[int, int]) -> tuple[Sample, tuple[int, int]]:
        """See :meth:`with_counts`."""
        self.refuse("exact tests")
