"""Null hypotheses of studies: populations of real outputs in which it is known what is true.

A null is a function from real systems to populations (:class:`~reshuffle.study.populations.Population`) and an entry
in :data:`NULLS`. It says in words what is true in them; reports repeat these words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ..resampling import Pairs
from ..settings import Resampling
from ..validate import check_name
from .material import Material
from .populations import Population

__all__ = ["NULLS", "Null", "NullData", "NullOptions", "Part", "check_nulls", "swap_probability"]


def swap_probability(eta: float) -> float:
    """The probability with which two systems are swapped in a unit for an effect of size η: (1 − 2η)/2.

    η = 0 makes the systems exchangeable, the null hypothesis of approximate randomization; η = ½ is the real pair. In
    between, each system's expected counts move in proportion from the mean of both to its own, so that power curves
    over η compare metrics on the same effects, with real covariance.

    >>> swap_probability(0), swap_probability(0.25), swap_probability(0.5)
    (0.5, 0.25, 0.0)
    """
    if not 0 <= eta <= 0.5:
        raise InputError(f"eta must be from 0 (the null hypothesis) to 0.5 (the real pair), got {eta!r}")
    return (1 - 2 * eta) / 2


@dataclass(frozen=True)
class NullOptions:
    """The options of all nulls. Fields are named like the public keyword arguments."""

    margins: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Part:
    """Populations for some of the metrics, by their indices: scores can be made equal under one metric at a time."""

    metrics: Sequence[int]
    populations: Sequence[Population]


@dataclass(frozen=True, eq=False)
class NullData:
    """The populations of a null.

    Attributes
    ----------
    parts : sequence of Part
        Each metric is in one of them.
    swapped : float
        The probability with which the two systems of a unit are swapped.
    truth : str
        What is true in the simulated test sets, in words.
    draws : str
        What is drawn and swapped: ``segment`` or ``document``.
    segments_per_draw : int
        More than 1 where sizes are in segments and documents of as many segments are drawn.
    """

    parts: Sequence[Part]
    swapped: float
    truth: str
    draws: str
    segments_per_draw: int = 1


@dataclass(frozen=True)
class Null:
    """An entry of the registry.

    Attributes
    ----------
    name, title, about, source : str
        The name that users type, the name in reports, what is true, and the paper.
    build : callable
        From the material of a study, its pairs of systems, the options, and settings with the seed, to populations.
        :class:`InputError` if the data cannot serve this null.
    """

    name: str
    title: str
    about: str
    source: str
    build: Callable[[Material, Pairs, NullOptions, Resampling], NullData]


def _of_swaps(material: Material, pairs: Pairs, options: NullOptions, resampling: Resampling) -> NullData:
    """The real pairs, swapped at random."""
    populations = [material.population(pair) for pair in pairs]
    truth = (
        f"In each {material.unit}, a fair coin decided which output went to which system. So the two systems are "
        "exchangeable, whatever the metric: the null hypothesis of approximate randomization holds exactly, and the "
        "expected scores are equal."
    )
    return NullData([_all_metrics(material, populations)], swap_probability(0), truth, material.unit)


def _all_metrics(material: Material, populations: Sequence[Population]) -> Part:
    return Part(range(len(material.metrics)), populations)


NULLS: Mapping[str, Null] = {
    null.name: null
    for null in (
        Null(
            "swap",
            "random swaps",
            "in each unit, a fair coin decides which of the two systems has which output",
            "W05-0908, section 4; Noreen 1989",
            _of_swaps,
        ),
    )
}


def check_nulls(names: Sequence[str]) -> None:
    """:class:`InputError` for an unknown null, or one that is named twice."""
    if not names:
        raise InputError("no null hypotheses: expected at least one")
    for at, name in enumerate(names):
        check_name("null", name, NULLS)
        if name in names[:at]:
            raise InputError(f"null: {name!r} is there twice: leave one out")
