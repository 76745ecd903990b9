"""The settings of a study as a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

P = TypeVar("P", bound="Plan")


class Plan(Mapping[str, Any]):
    """The base of records of settings.

    It is also a mapping from the names of the fields to their values in JSON, where sequences are lists.
    """

    __slots__ = ()

    @classmethod
    def from_settings(cls: type[P], settings: Mapping[str, Any]) -> P:
        """The record of a mapping, whose sequences may be lists; other keys than the names of fields are left out."""
        names = (field.name for field in fields(cls))  # type: ignore[arg-type]  # subclasses are dataclasses
        return cls(**{name: _with(tuple, settings[name]) for name in names if name in settings})

    def __getitem__(self, key: str) -> Any:
        if key not in [*self]:
            raise KeyError(key)
        return with_lists(getattr(self, key))

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(fields(self))  # type: ignore[arg-type]


def with_lists(value: Any) -> Any:
    """A JSON value with lists for tuples."""
    return _with(list, value)


def _with(kind: type[list[Any]] | type[tuple[Any, ...]], value: Any) -> Any:
    """A JSON value whose sequences are of one type."""
    if isinstance(value, Mapping):
        return {key: _with(kind, item) for key, item in value.items()}
    return kind(_with(kind, item) for item in value) if isinstance(value, list | tuple) else value
