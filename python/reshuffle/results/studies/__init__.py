"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .agreement import DomainBand, GainBin, GainThreshold, PairPvalue, TestAgreement
    from .base import Rate, StudyResult
    from .design import DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize
    from .exchange import ExchangeRate
    from .human import LabelledEstimate, PlannedLook, PlannedRaters, RaterAgreement
    from .mbr import MbrChoice, MbrScore
    from .meta import (
        HumanScores,
        MetaEvaluation,
        MetricAgreement,
        MetricDifference,
        MetricGroup,
        MetricSystemScore,
    )
    from .multiplicity import FamilyWiseRate
    from .oracle import ChosenEntry, ListScore, OracleSearch
    from .power import FittedSwapEffects, PowerRate
    from .runs import ObservedDifference, RunComparison, RunDifference, RunScores, SystemRuns
    from .samples import CurvePoint, SampleDifference, SampleRange, SampleScore
    from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, TestedDifference
    from .smoothing import SmoothingSetting
    from .tables import RECORDS, RESULTS, TABLES_OF, record_types
    from .tune import StartingScores, TuningResult, TuningRun, TuningStep
    from .type1 import PvalueShare
    from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread
    from .watch import SequentialLook, SequentialVerdict

__all__ = [
    "RECORDS",
    "RESULTS",
    "TABLES_OF",
    "BandAccuracy",
    "ChosenEntry",
    "CurvePoint",
    "DetectableAtSize",
    "DomainBand",
    "ExchangeRate",
    "FamilyWiseRate",
    "FittedSwapEffects",
    "GainBin",
    "GainThreshold",
    "GapConclusions",
    "HumanScores",
    "LabelledEstimate",
    "ListScore",
    "MbrChoice",
    "MbrScore",
    "MetaEvaluation",
    "MetricAgreement",
    "MetricDifference",
    "MetricGroup",
    "MetricSensitivity",
    "MetricSystemScore",
    "ObservedDifference",
    "OracleSearch",
    "PairConclusions",
    "PairError",
    "PairPvalue",
    "PlannedLook",
    "PlannedLooks",
    "PlannedPower",
    "PlannedRaters",
    "PlannedSize",
    "PowerContrast",
    "PowerRate",
    "PvalueShare",
    "Rate",
    "RaterAgreement",
    "RunComparison",
    "RunDifference",
    "RunScores",
    "SampleDifference",
    "SampleRange",
    "SampleScore",
    "SampleSpread",
    "ScoredSystem",
    "SequentialLook",
    "SequentialVerdict",
    "SmoothingSetting",
    "StartingScores",
    "StudyResult",
    "SystemRuns",
    "TestAgreement",
    "TestedDifference",
    "TuningResult",
    "TuningRun",
    "TuningStep",
    "record_types",
]

# The module of each name. A study needs few of them, and a comparison of systems none.
_NAMES = {
    "agreement": ("DomainBand", "GainBin", "GainThreshold", "PairPvalue", "TestAgreement"),
    "base": ("Rate", "StudyResult"),
    "design": ("DetectableAtSize", "PairError", "PlannedLooks", "PlannedPower", "PlannedSize"),
    "exchange": ("ExchangeRate",),
    "human": ("LabelledEstimate", "PlannedLook", "PlannedRaters", "RaterAgreement"),
    "mbr": ("MbrChoice", "MbrScore"),
    "meta": (
        "HumanScores",
        "MetaEvaluation",
        "MetricAgreement",
        "MetricDifference",
        "MetricGroup",
        "MetricSystemScore",
    ),
    "multiplicity": ("FamilyWiseRate",),
    "oracle": ("ChosenEntry", "ListScore", "OracleSearch"),
    "power": ("FittedSwapEffects", "PowerRate"),
    "runs": ("ObservedDifference", "RunComparison", "RunDifference", "RunScores", "SystemRuns"),
    "samples": ("CurvePoint", "SampleDifference", "SampleRange", "SampleScore"),
    "sensitivity": ("MetricSensitivity", "PowerContrast", "ScoredSystem", "TestedDifference"),
    "tune": ("StartingScores", "TuningResult", "TuningRun", "TuningStep"),
    "type1": ("PvalueShare",),
    "validation": ("BandAccuracy", "GapConclusions", "PairConclusions", "SampleSpread"),
    "watch": ("SequentialLook", "SequentialVerdict"),
    "smoothing": ("SmoothingSetting",),
    "tables": ("RECORDS", "RESULTS", "TABLES_OF", "record_types"),
}
_find = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    return _find(name)
