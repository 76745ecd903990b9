"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .base import Rate, StudyResult
from .design import DetectableAtSize, PairError, PlannedPower, PlannedSize
from .power import FittedSwapEffects, PowerRate
from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, TestedDifference
from .type1 import PvalueShare
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread

__all__ = [
    "BandAccuracy",
    "DetectableAtSize",
    "FittedSwapEffects",
    "GapConclusions",
    "MetricSensitivity",
    "PairConclusions",
    "PairError",
    "PlannedPower",
    "PlannedSize",
    "PowerContrast",
    "PowerRate",
    "PvalueShare",
    "Rate",
    "SampleSpread",
    "ScoredSystem",
    "StudyResult",
    "TestedDifference",
]
