"""The settings of a study as a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

P = TypeVar("P", bound="Plan")

# The metadata of a field that only some plans have.
SOMETIMES = {"sometimes": True}


def sometimes() -> Any:
    """A field that only some plans have; None in others, whose JSON lacks it."""
    return field(default=None, metadata=SOMETIMES)


class Plan(Mapping[str, Any]):
    """The base of records of settings, in which sequences are tuples.

    It is also a mapping from the names of the fields to their values in JSON, where sequences are lists, and equal to
    any mapping with the same values: subclasses are dataclasses with ``eq=False``.
    """

    __slots__ = ()

    @classmethod
    def from_settings(cls: type[P], settings: Mapping[str, Any]) -> P:
        """The record of a mapping; other keys than the names of fields are left out."""
        names = (each.name for each in fields(cls))  # type: ignore[arg-type]  # subclasses are dataclasses
        return cls(**{name: settings[name] for name in names if name in settings})

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, each.name, _with(tuple, getattr(self, each.name)))

    def __getitem__(self, key: str) -> Any:
        if key not in [*self]:
            raise KeyError(key)
        return with_lists(getattr(self, key))

    def __iter__(self) -> Iterator[str]:
        for each in fields(self):  # type: ignore[arg-type]
            if each.metadata != SOMETIMES or getattr(self, each.name) is not None:
                yield each.name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def with_lists(value: Any) -> Any:
    """A JSON value with lists for tuples."""
    return _with(list, value)


def _with(kind: type[list[Any]] | type[tuple[Any, ...]], value: Any) -> Any:
    """A JSON value whose sequences are of one type."""
    if isinstance(value, Mapping):
        return {key: _with(kind, item) for key, item in value.items()}
    return kind(_with(kind, item) for item in value) if isinstance(value, list | tuple) else value
