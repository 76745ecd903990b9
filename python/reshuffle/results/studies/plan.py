"""The settings of a study as a record, and what several studies have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import cache
from typing import Any

from ...documented import record

# The metadata of a field that only some plans have, and of one that comes before those of the base.
SOMETIMES, FIRST = {"sometimes": True}, {"first": True}


def sometimes() -> Any:
    """A field that only some plans have; None in others, whose JSON lacks it."""
    return field(default=None, metadata=SOMETIMES)


def first() -> Any:
    """A field of a study's own that JSON and signatures have before those of many studies."""
    return field(metadata=FIRST)


class Plan(Mapping[str, Any]):
    """The base of records of settings, in which sequences are tuples.

    It is also a mapping from the names of the fields to their values in JSON, where sequences are lists, and equal to
    any mapping with the same values: subclasses are dataclasses with ``eq=False``.
    """

    __slots__ = ()

    @classmethod
    def names(cls) -> list[str]:
        """The names of the fields, in the order of JSON."""
        return [*_names(cls)]

    def __post_init__(self) -> None:
        for name in _names(type(self)):
            object.__setattr__(self, name, _with(tuple, getattr(self, name)))

    def _has(self, name: str) -> bool:
        only_sometimes = _names(type(self)).get(name)
        return only_sometimes is not None and not (only_sometimes and getattr(self, name) is None)

    def __getitem__(self, key: str) -> Any:
        if not self._has(key):
            raise KeyError(key)
        return with_lists(getattr(self, key))

    def __iter__(self) -> Iterator[str]:
        return filter(self._has, _names(type(self)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache  # a study looks its settings up for every test and level
def _names(cls: type[Any]) -> dict[str, bool]:
    """The names of the fields, in the order of JSON, and whether only some plans have the field."""
    every = sorted(fields(cls), key=lambda each: each.metadata != FIRST)
    return {each.name: each.metadata == SOMETIMES for each in every}


def with_lists(value: Any) -> Any:
    """A JSON value with lists for tuples."""
    return _with(list, value)


def _with(kind: type[list[Any]] | type[tuple[Any, ...]], value: Any) -> Any:
    """A JSON value whose sequences are of one type."""
    if isinstance(value, Mapping):
        return {key: _with(kind, item) for key, item in value.items()}
    return kind(_with(kind, item) for item in value) if isinstance(value, list | tuple) else value


@record(kw_only=True, eq=False)
class DataPlan(Plan):
    """The settings of studies of systems."""

    systems: tuple[str, ...]
    units: int
    """The number of segments or documents of the data."""
    unit: str
    """``segment`` or ``document``."""


@record(kw_only=True, eq=False)
class SimulatedPlan(DataPlan):
    """The settings of studies that simulate test sets, and test them."""

    tests: tuple[str, ...]
    sizes: tuple[int, ...] | None
    """None for test sets of as many units as the data."""
    alphas: tuple[float, ...]
    simulations: int
    n_resamples: int
    sampling: str


@record(kw_only=True, eq=False)
class PairsPlan(SimulatedPlan):
    """The settings of studies that simulate test sets of pairs of systems, and compare tests of them."""

    scheme: str
    """How the shuffles of ``ar`` are made."""
    stopping: str | None
    exceedances: int | None = sometimes()
    """That of the stopping rule: the number of replicates at least as extreme that ends a test."""
    weight_sets: int | None
    alternative: str
    baseline: str | None
    all_pairs: bool
    margins: Mapping[str, float]
    """Those of the tests, by metric."""
    seed: int


@record(kw_only=True, eq=False)
class PoolPlan(DataPlan):
    """The settings of studies of a pool of segments or documents, and of samples of it."""

    metrics: tuple[str, ...]
    n_resamples: int
    seed: int
