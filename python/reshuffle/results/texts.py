"""The texts of a comparison, and the scores of their segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ComparedTexts"]


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """The texts that were compared, which :class:`~reshuffle.Comparison` keeps only on request.

    Attributes
    ----------
    references : tuple of S tuples of str or None
        The references of each segment; None stands for a missing one.
    systems : mapping of str to tuple of S str
        The outputs, by system.
    scores : mapping of str to mapping of str to tuple of S float or None
        The score of each segment, by metric and system, as :func:`reshuffle.segment_scores` returns it; None for a
        missing score. Metrics without scores of segments are left out.
    """

    references: tuple[tuple[str | None, ...], ...]
    systems: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, Mapping[str, tuple[float | None, ...]]]
