"""From parsed JSON to values of known types, with the place of whatever does not fit.

A decoder is a function from a parsed value to the value that a record has. It raises :class:`Mismatch` if the value is
not what it expects. That of a record follows from its fields (:func:`record_of`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

from ..errors import quoted
from ..results.schemas import NON_FINITE, NUMBER, SEED_DERIVATION, field_types
from ..seeds import DerivedSeed
from ..validate import MAX_SEED

LARGEST_INTEGER = int(sys.float_info.max)

Decoder: TypeAlias = Callable[[Any], Any]


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

    def inside(self, *steps: str | int) -> Mismatch:
        """The same problem, seen from the object or list to which these keys and indices of the value belong."""
        for step in reversed(steps):
            here = f"[{step}]" if isinstance(step, int) else step
            self.place = here + ("." if self.place and self.place[0] != "[" else "") + self.place
        return self


@contextlib.contextmanager
def inside(*steps: str | int) -> Iterator[None]:
    """Problems in the body are those of the value with these keys and indices."""
    try:
        yield
    except Mismatch as mismatch:
        raise mismatch.inside(*steps) from None


def text(value: Any) -> str:
    """A string."""
    if type(value) is str:
        return value
    raise Mismatch.expected("a string", value)


def whole(value: Any) -> int:
    """A count, a rank or a seed: an integer that is not negative."""
    if type(value) is int and 0 <= value <= MAX_SEED:
        return value
    expected = "a whole number, below 2^64" if type(value) is int and value > 0 else "a whole number"
    raise Mismatch.expected(expected, value)


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


def anything(value: Any) -> Any:
    """Any value, with tuples for lists and the numbers that JSON does not have."""
    if type(value) is int:
        return real(value)
    if type(value) is list:
        return tuple(map(anything, value))
    if type(value) is not dict:
        return value
    name = value.get(NUMBER) if len(value) == 1 else None
    return NON_FINITE[name] if type(name) is str and name in NON_FINITE else _anything_by_name(value)


def any_of(decoders: Sequence[Decoder]) -> Decoder:
    """What the first decoder takes that takes the value; the problem is that of the last one."""
    *others, last = decoders

    def decode(value: Any) -> Any:
        for decoder in others:
            with contextlib.suppress(Mismatch):
                return decoder(value)
        return last(value)

    return decode


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


_anything_by_name = mapping_of(anything)


class Hooks(NamedTuple):
    """What is done for records of some types, beside decoding their fields."""

    before: Mapping[type[Any], Decoder]
    """What the parsed value is replaced by first."""
    after: Mapping[type[Any], Callable[[Any], None]]
    """A check of the record, which raises :class:`Mismatch`."""


def keys_of(cls: type[Any], hooks: Hooks) -> dict[str, Decoder | Key]:
    """The decoders of the fields of a dataclass; fields with a default may be absent."""
    decoders: dict[str, Decoder | Key] = {}
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    for name, annotation in field_types(cls).items():
        decoder, default = decoder_of(annotation, hooks), defaults[name]
        decoders[name] = decoder if default is dataclasses.MISSING else Key(decoder, default)
    return decoders


def record_of(cls: type[Any], hooks: Hooks) -> Decoder:
    """An object with the fields of a dataclass."""
    decoders = keys_of(cls, hooks)
    is_seeded = "seed" in decoders
    if is_seeded:
        decoders[SEED_DERIVATION] = Key(optional(text))
    decode, before, after = object_of(decoders), hooks.before.get(cls), hooks.after.get(cls)

    def decode_record(value: Any) -> Any:
        found = decode(value if before is None else before(value))
        if is_seeded:
            derivation = found.pop(SEED_DERIVATION)
            if derivation is not None and found["seed"] is not None:
                found["seed"] = DerivedSeed(found["seed"], derivation)
        record = cls(**found)
        if after is not None:
            after(record)
        return record

    return decode_record


_PLAIN: Mapping[Any, Decoder] = {str: text, int: whole, float: real, bool: flag, Any: anything}


def decoder_of(annotation: Any, hooks: Hooks) -> Decoder:
    """The decoder of the values of a type."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return decoder_of(arguments[1], hooks)
    if origin in (typing.Union, types.UnionType):
        decoders = [decoder_of(argument, hooks) for argument in arguments if argument is not type(None)]
        decoder = any_of(decoders) if len(decoders) > 1 else decoders[0]
        return decoder if len(decoders) == len(arguments) else optional(decoder)
    if origin is tuple:
        return list_of(decoder_of(arguments[0], hooks))
    if origin is Mapping:
        return mapping_of(decoder_of(arguments[1], hooks))
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return record_of(annotation, hooks)
    raise TypeError(f"no decoder for {annotation}")
