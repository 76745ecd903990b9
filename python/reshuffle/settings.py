"""What a caller may choose, in frozen records that the public functions and the command line fill.

Names are those of the public keywords. This module imports little, so that a mistyped option costs no wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .validate import MAX_RESAMPLES, MAX_SEED, MAX_THREADS, check_integer, check_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Progress

__all__ = ["Comparing", "DocumentIds", "Levels", "Resampling", "StratumIds", "Units", "default_alpha"]

DocumentIds: TypeAlias = "Sequence[str | int] | NDArray[Any]"
StratumIds: TypeAlias = DocumentIds

CONFIDENCE_LEVEL = 0.95


def default_alpha(confidence_level: float = CONFIDENCE_LEVEL) -> float:
    """1 − confidence_level, without the rounding error: .05 is .05.

    >>> 1 - 0.95, default_alpha(0.95)
    (0.050000000000000044, 0.05)
    """
    return round(1 - confidence_level, 12)


@dataclass(frozen=True)
class Resampling:
    """How replicates are made."""

    n_resamples: int = 10_000
    seed: Any = 12345  # an integer, which is checked where replicates are made
    threads: int | None = None
    progress: Progress | None = None

    def check(self, called: Mapping[str, str] | None = None) -> None:
        """Raise :class:`InputError` for a number out of range; ``called`` tells what the caller calls each."""
        names = {"n_resamples": "n_resamples", "seed": "seed", "threads": "threads"} | dict(called or {})
        check_integer(names["n_resamples"], self.n_resamples, 1, MAX_RESAMPLES)
        check_integer(names["seed"], self.seed, 0, MAX_SEED)
        if self.threads is not None:
            check_integer(names["threads"], self.threads, 1, MAX_THREADS)


@dataclass(frozen=True)
class Units:
    """What is swapped and drawn, and within what: an id of a document and of a stratum for each segment."""

    documents: DocumentIds | None = None
    strata: StratumIds | None = None


@dataclass(frozen=True)
class Comparing:
    """What is compared with what, and by which test."""

    test: str = "ar"
    scheme: str = "auto"
    stopping: Any = None  # a name, or a rule of reshuffle.resampling.stopping
    alternative: str = "two-sided"
    adjust: str | None = None
    baseline: str | None = None
    all_pairs: bool = False


@dataclass(frozen=True)
class Levels:
    """Which interval, its confidence level, and the level of the tests."""

    interval: str | None = "percentile"
    confidence_level: float = CONFIDENCE_LEVEL
    alpha: float = default_alpha()

    @classmethod
    def of(
        cls,
        interval: str | None,
        confidence_level: float,
        alpha: float | None = None,
        called: Mapping[str, str] | None = None,
    ) -> Levels:
        """With levels that lie between 0 and 1, or :class:`InputError`; alpha is 1 − confidence_level unless given."""
        names: Mapping[str, Any] = {"confidence_level": "confidence_level", "alpha": "alpha"} | dict(called or {})
        confidence_level = check_level(names["confidence_level"], confidence_level)
        if alpha is None:
            return cls(interval, confidence_level, default_alpha(confidence_level))
        return cls(interval, confidence_level, check_level(names["alpha"], alpha))

    @classmethod
    def asked(
        cls, interval: str | None, confidence_level: float | None, called: Mapping[str, str] | None = None
    ) -> Levels | None:
        """Those of intervals without tests; None if neither is given. Of the two, the other one has its default."""
        if interval is None and confidence_level is None:
            return None
        confidence_level = CONFIDENCE_LEVEL if confidence_level is None else confidence_level
        return cls.of("percentile" if interval is None else interval, confidence_level, called=called)
