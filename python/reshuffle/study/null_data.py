"""The records that all null hypotheses share: their options, and the populations that they return."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from .. import _core
from ..errors import Argument, InputError
from ..options.choices import merged
from ..options.groups import by_metric
from ..options.nulls import NULLS_WITH_OPTIONS, TrainedSystems
from ..options.studies import Type1
from ..resampling import Pairs
from ..seeds import derive_seed
from .experiments import Population
from .material import Material
from .settings import StudySettings

# Defaults of simulated documents: their segments, and the intraclass correlation of differences.
DOCUMENT_SIZE, ICC = 15, 0.1

# How the scores of two systems are made equal.
EQUALIZE: Mapping[str, str] = {
    "mix": "some segments of the better system are replaced by those of a third system",
    "drop-words": "random words of the better system are dropped",
}


@frozen(kw_only=True, slots=False)
class NullOptions:
    """The null hypotheses by name, and their options, which all nulls of a study share.

    ``used`` are the options that the nulls have: see :mod:`reshuffle.options.nulls`.
    """

    null: tuple[str, ...] = ("swap",)
    used: Collection[str] = ()
    equalize: str = "mix"
    document_size: int | None = None
    icc: float | None = None
    noise: float = 0.05
    runs: int = 1
    variants: TrainedSystems | None = None
    margins: Mapping[str, float] = field(default=None, converter=by_metric)

    @classmethod
    def from_options(cls, options: Type1) -> NullOptions:
        """The nulls of the options. What a null is named without has the value of another null, or its default."""
        found = merged("null", options.null, "null")
        for name in found["null"]:
            if name in NULLS_WITH_OPTIONS:
                found = NULLS_WITH_OPTIONS[name]().settings | found
        return cls(**found, used=tuple(found))

    def resolved(self, has_documents: bool) -> NullOptions:
        """The options with the default of the other option, if one of those of simulated documents was chosen."""
        if has_documents or (self.document_size is None and self.icc is None):
            return self
        size = DOCUMENT_SIZE if self.document_size is None else self.document_size
        return evolve(self, document_size=size, icc=ICC if self.icc is None else self.icc)

    def plan(self) -> dict[str, Any]:
        """The nulls and the options that they use, for plans; None for the others."""
        options = ("equalize", "document_size", "icc", "noise", "runs")
        values = {option: getattr(self, option) if option in self.used else None for option in options}
        return {"null": self.null, **values, "variants": None if self.variants is None else self.variants.plan}


@dataclass(frozen=True)
class Request:
    """The input of a null: systems, options, and the study that asks for it."""

    material: Material
    options: NullOptions
    settings: StudySettings

    @property
    def pairs(self) -> Pairs:
        """The pairs of systems of the study; :class:`InputError` if there is only one system."""
        return self.material.pairs(self.settings.baseline, self.settings.all_pairs)

    def random(self, index: int, n: int) -> NDArray[np.uint64]:
        """n random 64-bit values. They depend on the seed, the index and nothing else.

        No simulation uses the same values, because the seeds of simulations are of another kind.
        """
        return _core.stream_values(derive_seed(self.settings.seed, "test-set", index), "selection", 0, n)

    def order(self, index: int, n: int) -> NDArray[np.intp]:
        """A random order of n things."""
        return np.argsort(self.random(index, n), kind="stable")


@dataclass(frozen=True, eq=False)
class Part:
    """Populations for some of the metrics, by their indices: scores can be made equal under one metric at a time."""

    metrics: Sequence[int]
    populations: Sequence[Population]


@dataclass(frozen=True, eq=False)
class NullData:
    """The populations of a null."""

    parts: Sequence[Part]
    """Each metric is in one of them."""
    swapped: float
    """The probability with which the two systems of a unit are swapped."""
    truth: str
    """What is true in the simulated test sets, in words."""
    draws: str
    """What is drawn and swapped: ``segment`` or ``document``."""
    segments_per_draw: int = 1
    """More than 1 where sizes are in segments, and documents of so many segments are drawn."""
    sampled: bool = False
    """Whether the populations are themselves a sample, such as pairs of runs, so that simulations from the same one
    depend on one another, and each is tested only once if it is not drawn from.
    """

    def sizes(self, settings: StudySettings) -> tuple[int, ...]:
        """The sizes of test sets; :class:`InputError` if one is too large, or too small for two documents."""
        per_draw = self.segments_per_draw
        available = per_draw * min(population.n_groups for part in self.parts for population in part.populations)
        sizes = settings.sizes_in(available, "segment" if per_draw > 1 else self.draws)
        smallest = min(sizes)
        if smallest < 2 * per_draw:
            raise InputError(
                f"{{sizes}}: {smallest} segments are fewer than two documents of {per_draw}", sizes=Argument("sizes")
            )
        return tuple(dict.fromkeys(size // per_draw * per_draw for size in sizes))

    def truth_of(self, settings: StudySettings) -> str:
        """What is true in test sets that are drawn in this way."""
        if self.swapped or settings.sampling != "subset":
            return self.truth
        return (
            f"{self.truth} Test sets were drawn without replacement, so the differences of large ones vary less than "
            "those of new test sets: the rates are too low."
        )

    def simulations(self, settings: StudySettings, size: int, part: Part) -> int:
        """The number of simulations: without draws and swaps, that of the populations if it is smaller.

        :class:`InputError` if all simulated test sets would be the same.
        """
        available = part.populations[0].n_groups
        if self.swapped or is_drawn(settings, size // self.segments_per_draw, available):
            return settings.simulations
        if not self.sampled:
            check_is_drawn(settings, size, available, self.draws)
        return min(settings.simulations, len(part.populations))

    @classmethod
    def of_all_metrics(
        cls, populations: Sequence[Population], swapped: float, truth: str, draws: str, sampled: bool = False
    ) -> NullData:
        """Populations that serve all metrics."""
        part = Part(range(len(populations[0].metrics)), populations)
        return cls([part], swapped, truth, draws, sampled=sampled)


def is_drawn(settings: StudySettings, size: int, available: int) -> bool:
    """Whether simulated test sets have different units."""
    return settings.sampling == "replace" or (settings.sampling == "subset" and size < available)


def check_is_drawn(settings: StudySettings, size: int, available: int, unit: str) -> None:
    """:class:`InputError` if all simulated test sets would be the same, because nothing is swapped or permuted."""
    if is_drawn(settings, size, available):
        return
    smaller = ", or 'subset' with smaller sizes" if settings.sampling == "subset" else ""
    raise InputError(
        f"sampling {settings.sampling!r} takes all {size:,} {unit}s, so that all simulated test sets are the same "
        f"where scores were made equal: use 'replace'{smaller}"
    )
