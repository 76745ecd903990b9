"""Placeholder of helper VAR's module."""

from __future__ import annotations

from ..resampling.runs import RunData
from ..results import ConfidenceInterval

__all__ = ["interval_of"]


def interval_of(
    exchange: str, data: RunData, metric: int, pair: tuple[int, int], statistic: str, confidence_level: float
) -> ConfidenceInterval | None:
    return None
