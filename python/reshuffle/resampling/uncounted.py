"""What samples have in common: :class:`Complete`, and :class:`Uncounted` for those without counts of their own.

Each method stands for the one of :class:`~reshuffle.resampling.samples.Sample` with its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn

from ..errors import InputError
from ..metrics.base import Metric, Scores
from ..metrics.black_box import CorpusFunction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ..results import Exchangeability
    from .samples import Batch, CountSample, DifferingColumn, Pairs, Sample
    from .units import Documents, Strata, Variances


class Complete:
    """Systems that are compared as they are, because they have scores in all units."""

    metric: Metric | CorpusFunction

    def for_pairs(self, pairs: Pairs) -> Self:
        """This sample."""
        return self

    def rows_of(self, pairs: Pairs) -> Pairs:
        """The systems themselves."""
        return pairs

    def scored_units(self, rows: Sequence[int]) -> NDArray[np.intp] | None:
        """None: all units."""
        return None

    def round_score(self, value: float) -> float:
        """The value, rounded if the resolution of the metric is known."""
        return value if self.metric.decimals is None else round(value, self.metric.decimals)


class Uncounted(Complete):
    """Samples without counts: no exact tests, closed forms, or units that are still to be formed.

    Subclasses have shuffles or draws. ``of`` says in errors what they are samples of.
    """

    of: ClassVar[str]

    def native(self, kind: str) -> None:
        """None: replicates are computed batch by batch, by functions of Python."""
        return

    def details(self, system: int) -> Mapping[str, float]:
        """Empty."""
        return {}

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """(None, None) for every pair."""
        return [(None, None)] * len(pairs)

    def exchangeability(self, pairs: Pairs) -> list[Exchangeability | None]:
        """None for every pair."""
        return [None] * len(pairs)

    def variances_of_differences(self, pairs: Pairs) -> Scores | None:
        """None: there are no derivatives."""
        return None

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

    @property
    def leave_one_out(self) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("leave-one-out scores")

    @property
    def jackknife(self) -> Variances:
        """See :meth:`with_counts`."""
        self.refuse("jackknife errors")

    @property
    def linear(self) -> Variances:
        """See :meth:`with_counts`."""
        self.refuse("derivatives")

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("shuffles")

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("draws")

    def permutation_scores(self, batch: Batch) -> Scores:
        """See :meth:`with_counts`."""
        self.refuse("permutations")
