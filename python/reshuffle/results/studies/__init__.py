"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .agreement import DomainBand, GainBin, GainThreshold, PairPvalue, TestAgreement
    from .base import Rate, StudyResult
    from .design import DetectableAtSize, PairError, PlannedPower, PlannedSize
    from .exchange import ExchangeRate
    from .multiplicity import FamilyWiseRate
    from .power import FittedSwapEffects, PowerRate
    from .runs import ObservedDifference, RunComparison, RunDifference, RunScores, SystemRuns
    from .samples import CurvePoint, SampleDifference, SampleRange, SampleScore
    from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, TestedDifference
    from .tables import RECORDS, RESULTS
    from .type1 import PvalueShare
    from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread

__all__ = [
    "RECORDS",
    "RESULTS",
    "BandAccuracy",
    "CurvePoint",
    "DetectableAtSize",
    "DomainBand",
    "ExchangeRate",
    "FamilyWiseRate",
    "FittedSwapEffects",
    "GainBin",
    "GainThreshold",
    "GapConclusions",
    "MetricSensitivity",
    "ObservedDifference",
    "PairConclusions",
    "PairError",
    "PairPvalue",
    "PlannedPower",
    "PlannedSize",
    "PowerContrast",
    "PowerRate",
    "PvalueShare",
    "Rate",
    "RunComparison",
    "RunDifference",
    "RunScores",
    "SampleDifference",
    "SampleRange",
    "SampleScore",
    "SampleSpread",
    "ScoredSystem",
    "StudyResult",
    "SystemRuns",
    "TestAgreement",
    "TestedDifference",
]

# The module of each name. A study needs few of them, and a comparison of systems none.
_NAMES = {
    "agreement": (
        "DomainBand",
        "GainBin",
        "GainThreshold",
        "PairPvalue",
        "TestAgreement",
    ),
    "base": (
        "Rate",
        "StudyResult",
    ),
    "design": (
        "DetectableAtSize",
        "PairError",
        "PlannedPower",
        "PlannedSize",
    ),
    "exchange": ("ExchangeRate",),
    "multiplicity": ("FamilyWiseRate",),
    "power": (
        "FittedSwapEffects",
        "PowerRate",
    ),
    "runs": (
        "ObservedDifference",
        "RunComparison",
        "RunDifference",
        "RunScores",
        "SystemRuns",
    ),
    "samples": (
        "CurvePoint",
        "SampleDifference",
        "SampleRange",
        "SampleScore",
    ),
    "sensitivity": (
        "MetricSensitivity",
        "PowerContrast",
        "ScoredSystem",
        "TestedDifference",
    ),
    "type1": ("PvalueShare",),
    "validation": (
        "BandAccuracy",
        "GapConclusions",
        "PairConclusions",
        "SampleSpread",
    ),
    "tables": (
        "RECORDS",
        "RESULTS",
    ),
}
_find = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    return _find(name)
