"""From parsed JSON to values of known types, with the place of whatever does not fit.

A decoder is a function from a parsed value to the value that a record has. It raises :class:`Mismatch` if the value is
not what it expects. :mod:`reshuffle.data.from_json` combines them.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..errors import quoted
from ..results.schemas import NON_FINITE
from ..validate import MAX_SEED

LARGEST_INTEGER = int(sys.float_info.max)

Decoder: TypeAlias = Callable[[Any], Any]
Record = TypeVar("Record")


class Mismatch(Exception):  # noqa: N818
    """A value is not what was expected. ``place`` is its path, such as ``comparisons[3].pvalue``."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem, self.place = problem, ""

    @classmethod
    def expected(cls, what: str, value: object) -> Mismatch:
        """The problem that ``value`` is not ``what``."""
        shown = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else quoted(value)
        return cls(f"expected {what}, got {'null' if value is None else shown}")

    def inside(self, step: str | int) -> Mismatch:
        """The same problem, seen from the object or list that contains the value."""
        here = f"[{step}]" if isinstance(step, int) else step
        self.place = here + ("." if self.place and self.place[0] != "[" else "") + self.place
        return self


def text(value: Any) -> str:
    """A string."""
    if type(value) is str:
        return value
    raise Mismatch.expected("a string", value)


def whole(value: Any) -> int:
    """A count, a rank or a seed: an integer that is not negative."""
    return _whole(value, 0, "a whole number")


def positive(value: Any) -> int:
    """An integer above 0."""
    return _whole(value, 1, "a whole number above 0")


def _whole(value: Any, least: int, expected: str) -> int:
    if type(value) is int and least <= value <= MAX_SEED:
        return value
    raise Mismatch.expected(f"{expected}, below 2^64" if type(value) is int and value > 0 else expected, value)


def flag(value: Any) -> bool:
    """True or false."""
    if type(value) is bool:
        return value
    raise Mismatch.expected("true or false", value)


def real(value: Any) -> float:
    """A number, or the name of one that JSON does not have."""
    if type(value) is float or (type(value) is int and abs(value) <= LARGEST_INTEGER):
        return value
    if type(value) is str and value in NON_FINITE:
        return NON_FINITE[value]
    raise Mismatch.expected('a number, "NaN", "Infinity" or "-Infinity"', value)


def optional(decoder: Decoder) -> Decoder:
    """Also null."""
    return lambda value: None if value is None else decoder(value)


def list_of(decoder: Decoder) -> Decoder:
    """A list, as a tuple."""

    def decode(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise Mismatch.expected("a list", value)
        found: list[Any] = []
        try:
            for item in value:
                found.append(decoder(item))
        except Mismatch as mismatch:
            raise mismatch.inside(len(found)) from None
        return tuple(found)

    return decode


def mapping_of(decoder: Decoder) -> Decoder:
    """An object with any keys, as a dict."""

    def decode(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Mismatch.expected("an object", value)
        found: dict[str, Any] = {}
        for key, item in value.items():
            try:
                found[key] = decoder(item)
            except Mismatch as mismatch:
                raise mismatch.inside(key) from None
        return found

    return decode


class Key(NamedTuple):
    """A key of an object that may be absent, and the value that it then has."""

    decoder: Decoder
    default: Any = None


def object_of(decoders: Mapping[str, Decoder | Key]) -> Callable[[Any], dict[str, Any]]:
    """An object with these keys, as a dict. Other keys are ignored, so that later versions can add some."""
    required = [(key, decoder) for key, decoder in decoders.items() if not isinstance(decoder, Key)]
    others = [(key, decoder) for key, decoder in decoders.items() if isinstance(decoder, Key)]

    def decode(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Mismatch.expected("an object", value)
        found = {}
        key = ""
        try:
            for key, decoder in required:
                if key not in value:
                    raise Mismatch("the key is missing")
                found[key] = decoder(value[key])
            for key, (decoder, default) in others:
                found[key] = decoder(value[key]) if key in value else default
        except Mismatch as mismatch:
            raise mismatch.inside(key) from None
        return found

    return decode


def record_of(cls: type[Record], **decoders: Decoder) -> Callable[[Any], Record]:
    """An object with the fields of a dataclass. ``decoders`` are for fields whose annotation is not enough."""
    annotations = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    decode = object_of({name: decoders.get(name) or _for_annotation(annotations[name]) for name in names})
    return lambda value: cls(**decode(value))


def _for_annotation(annotation: Any) -> Decoder:
    plain: Mapping[Any, Decoder] = {str: text, int: whole, float: real, bool: flag}
    if annotation in plain:
        return plain[annotation]
    if annotation is Any:  # `Real`: saved results have no batches
        return real
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        (some,) = (argument for argument in arguments if argument is not type(None))
        return optional(_for_annotation(some))
    if origin is tuple:
        return list_of(_for_annotation(arguments[0]))
    if origin is Mapping:
        return mapping_of(_for_annotation(arguments[1]))
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return record_of(annotation)
    raise TypeError(f"no decoder for {annotation}")
