"""Checks of arguments that many functions share, and their limits and defaults.

Each check raises :class:`InputError` for a bad value.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from .advice import advice
from .errors import InputError, quoted, unknown_name

MAX_SEED = 2**64 - 1
DEFAULT_SEED = 12345
MAX_THREADS = 4096
MAX_RESAMPLES = 2**53  # beyond this, c + 1 and R + 1 are no longer exact in float64
MAX_COUNT = MAX_RESAMPLES  # of anything that is counted without a limit of its own, for the same reason
LARGEST = 1e100  # of real numbers without a limit of their own, so that their squares are finite
MAX_INPUT = 4 << 30  # bytes of a file after decompression, by default
SMALLEST_LEVEL = 1e-12  # levels are rounded to twelve decimals

# Larger scores are refused, and segment scores that are all smaller: sums of squares and cubes of their differences,
# which tests and intervals use, could be infinite or 0.
LARGEST_SCORE, SMALLEST_SCORE = 1e75, 1e-75

# By default.
CONFIDENCE_LEVEL = 0.95


def default_alpha(confidence_level: float = CONFIDENCE_LEVEL) -> float:
    """1 − confidence_level, without the rounding error of the subtraction.

    >>> 1 - 0.95, default_alpha(0.95)
    (0.050000000000000044, 0.05)
    """
    return round(1 - confidence_level, 12)


def expected_score(value: float) -> str:
    """What an error expects instead of a value that is not finite, or beyond ``LARGEST_SCORE``.

    >>> expected_score(float("inf")), expected_score(-1e300)
    ('a finite number', 'a number of at most 1e+75 in magnitude')
    """
    return f"a number of at most {LARGEST_SCORE:g} in magnitude" if abs(value) < float("inf") else "a finite number"


def check_name(kind: str, name: object, known: Collection[str]) -> None:
    """Raise :class:`InputError` unless ``name`` is one of ``known``."""
    # Anything else than a string may not be comparable or hashable.
    if not isinstance(name, str) or name not in known:
        if elsewhere := advice(str(name).lower(), kind):
            raise InputError(f"unknown {kind} {quoted(name)}{elsewhere}")
        raise unknown_name(kind, str(name), known)


def check_text(what: str, value: object) -> str:
    """``value``, or :class:`InputError` if it is not a string, or has half of a surrogate pair, which is no text.

    >>> check_text("the name of a metric", "\\ud800")
    Traceback (most recent call last):
    reshuffle.errors.InputError: the name of a metric must be a string of valid characters, got '\\ud800'
    """
    if not isinstance(value, str) or (
        not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)
    ):
        raise InputError(f"{what} must be a string of valid characters, got {quoted(value)}")
    return value


def check_path(what: str, value: object) -> None:
    """Raise :class:`InputError` unless this is the path of a file, which standard input is not.

    >>> check_path("history", 0)
    Traceback (most recent call last):
    reshuffle.errors.InputError: history must be the path of a file, got 0
    """
    if not isinstance(value, str | os.PathLike) or os.fspath(value) in ("", "-"):
        raise InputError(f"{what} must be the path of a file, got {quoted(value)}")


def check_flag(what: str, value: object) -> bool:
    """``value`` as a bool, or :class:`InputError` if it is neither True nor False."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # also numpy's
        return bool(value)
    raise InputError(f"{what} must be True or False, got {quoted(value)}")


def check_number(
    what: str, value: object, minimum: float = -LARGEST, maximum: float = LARGEST, *, is_open: bool = False
) -> float:
    """``value`` as a float, or :class:`InputError` if it is not a number in [minimum, maximum].

    With ``is_open``, the minimum is not allowed, either.

    >>> check_number("run_sd", -1, 0)
    Traceback (most recent call last):
    reshuffle.errors.InputError: run_sd must be a number of at least 0, got -1
    """
    import numbers

    real: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else float("nan")
    if minimum <= real <= maximum and not (is_open and real == minimum):
        return float(real)
    # The largest number is of interest to those only who ask for more.
    is_small = maximum == LARGEST and minimum != -LARGEST and not maximum < real < float("inf")
    if is_open:
        allowed = f"above {minimum:g}" if is_small else f"above {minimum:g} and at most {maximum:g}"
    else:
        allowed = f"of at least {minimum:g}" if is_small else f"from {minimum:g} to {maximum:g}"
    raise InputError(f"{what} must be a number {allowed}, got {quoted(value)}")


def chosen_seed(seed: int | None) -> int:
    """The seed, or the default for None: no call of this package is random by default.

    >>> chosen_seed(7), chosen_seed(None)
    (7, 12345)
    """
    return DEFAULT_SEED if seed is None else seed


def check_integer(what: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """``value`` as an int, or :class:`InputError` if it is not one in [minimum, maximum]. The default is ``MAX_COUNT``.

    >>> check_integer("threads", 0, 1)
    Traceback (most recent call last):
    reshuffle.errors.InputError: threads must be a whole number of at least 1, got 0
    """
    limit = MAX_COUNT if maximum is None else maximum
    if isinstance(value, int) and type(value) is not bool and minimum <= value <= limit:
        return value  # unconverted, because a DerivedSeed carries its derivation
    import numbers

    number = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else None
    if number is not None and minimum <= number <= limit:
        return number
    # A largest number that nobody reaches is of interest to those only who ask for more.
    is_small = limit >= MAX_COUNT and (number is None or number < minimum)
    allowed = f"of at least {minimum}" if is_small else f"from {minimum} to {limit}"
    raise InputError(f"{what} must be a whole number {allowed}, got {quoted(value)}")


def check_n_resamples(what: str, value: object) -> int | None:
    """A number of replicates, or None for ``auto``; :class:`InputError` if it is neither.

    >>> check_n_resamples("n_resamples", "many")
    Traceback (most recent call last):
    reshuffle.errors.InputError: n_resamples must be a whole number of at least 1 or 'auto', got 'many'
    """
    if isinstance(value, str):
        if value == "auto":
            return None
        raise InputError(f"{what} must be a whole number of at least 1 or 'auto', got {quoted(value)}")
    return check_integer(what, value, 1, MAX_RESAMPLES)


def check_level(what: str, value: object) -> float:
    """``value`` as a float strictly between 0 and 1, or :class:`InputError`.

    >>> check_level("confidence_level", 95)
    Traceback (most recent call last):
    reshuffle.errors.InputError: confidence_level must lie strictly between 0 and 1, got 95: for 95% write 0.95
    """
    import numbers

    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else -1.0
    if SMALLEST_LEVEL <= number <= 1 - SMALLEST_LEVEL:
        return number
    if 0 < number < 1:
        raise InputError(f"{what} must be at least {SMALLEST_LEVEL:g} away from 0 and 1, got {quoted(value)}")
    hint = f": for {number:g}% write {number / 100:g}" if 1 < number < 100 else ""
    if isinstance(value, str):
        raise InputError(f"{what} must be a number strictly between 0 and 1, got the text {quoted(value)}")
    raise InputError(f"{what} must lie strictly between 0 and 1, got {quoted(value)}{hint}")
