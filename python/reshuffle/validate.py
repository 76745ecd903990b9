"""Checks of arguments that many functions share. Each raises :class:`InputError` for a bad value."""

from __future__ import annotations

from collections.abc import Collection

from .errors import InputError, quoted, unknown_name

__all__ = [
    "MAX_RESAMPLES",
    "MAX_SEED",
    "MAX_THREADS",
    "check_integer",
    "check_level",
    "check_n_resamples",
    "check_name",
]

MAX_SEED = 2**64 - 1
MAX_THREADS = 4096
MAX_RESAMPLES = 2**53  # beyond this, c + 1 and R + 1 are no longer exact in float64


def check_name(kind: str, name: str, known: Collection[str]) -> None:
    """Raise :class:`InputError` unless ``name`` is one of ``known``."""
    if name not in known:
        raise unknown_name(kind, str(name), known)


def check_integer(what: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """``value`` as an int, or :class:`InputError` if it is not an integer in [minimum, maximum].

    >>> check_integer("threads", 0, 1)
    Traceback (most recent call last):
    reshuffle.errors.InputError: threads must be a whole number of at least 1, got 0
    """
    if (
        isinstance(value, int)
        and type(value) is not bool
        and minimum <= value
        and (maximum is None or value <= maximum)
    ):
        return value  # unconverted, because a DerivedSeed carries its derivation
    import numbers

    allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        if number >= minimum and (maximum is None or number <= maximum):
            return number
    raise InputError(f"{what} must be a whole number {allowed}, got {quoted(value)}")


def check_n_resamples(what: str, value: object) -> int | None:
    """A number of replicates, or None for ``auto``; :class:`InputError` if it is neither.

    >>> check_n_resamples("n_resamples", "many")
    Traceback (most recent call last):
    reshuffle.errors.InputError: n_resamples must be a whole number from 1 to 9007199254740992 or 'auto', got 'many'
    """
    if isinstance(value, str):
        if value == "auto":
            return None
        raise InputError(f"{what} must be a whole number from 1 to {MAX_RESAMPLES} or 'auto', got {quoted(value)}")
    return check_integer(what, value, 1, MAX_RESAMPLES)


def check_level(what: str, value: object) -> float:
    """``value`` as a float strictly between 0 and 1, or :class:`InputError`.

    >>> check_level("confidence_level", 95)
    Traceback (most recent call last):
    reshuffle.errors.InputError: confidence_level must lie strictly between 0 and 1, got 95: for 95% write 0.95
    """
    import numbers

    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else -1.0
    if 0 < number < 1:
        return number
    hint = f": for {number:g}% write {number / 100:g}" if 1 < number < 100 else ""
    raise InputError(f"{what} must lie strictly between 0 and 1, got {quoted(value)}{hint}")
