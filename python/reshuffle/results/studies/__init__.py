"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .base import Rate, StudyResult
from .design import DetectableAtSize, PairError, PlannedPower, PlannedSize
from .power import FittedSwapEffects, PowerRate
from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, TestedDifference
from .type1 import PvalueShare

__all__ = [
    "DetectableAtSize",
    "FittedSwapEffects",
    "MetricSensitivity",
    "PairError",
    "PlannedPower",
    "PlannedSize",
    "PowerContrast",
    "PowerRate",
    "PvalueShare",
    "Rate",
    "ScoredSystem",
    "StudyResult",
    "TestedDifference",
]
