"""The types of the records in the tables of studies, and of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ranking import RankedSystem
from .agreement import AgreementPlan, DomainBand, GainBin, GainThreshold, PairPvalue, TestAgreement
from .base import Rate, StudyResult
from .design import DesignPlan, DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize
from .exchange import ExchangePlan, ExchangeRate
from .gate import GatePlan, GateRate
from .human import HumanPlan, LabelledEstimate, PlannedLook, PlannedRaters, RaterAgreement
from .mbr import MbrChoice, MbrPlan, MbrScore
from .meta import (
    HumanScores,
    MetaEvaluation,
    MetaPlan,
    MetricAgreement,
    MetricDifference,
    MetricGroup,
    MetricSystemScore,
)
from .multiplicity import FamilyWiseRate, MultiplicityPlan
from .oracle import ChosenEntry, ListScore, OraclePlan, OracleSearch
from .plan import Plan
from .power import FittedSwapEffects, ParametricPlan, PowerPlan, PowerRate
from .runs import ObservedDifference, RunComparison, RunDifference, RunPlan, SystemRuns
from .samples import CurvePoint, SampleDifference, SampleRange, SampleScore, SamplesPlan
from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, SensitivityPlan, TestedDifference
from .smoothing import SmoothingPlan, SmoothingSetting
from .tune import StartingScores, TuningPlan, TuningResult, TuningRun, TuningStep
from .type1 import PvalueShare, Type1Plan
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread, ValidationPlan
from .watch import SequentialLook, SequentialVerdict, WatchPlan

# The type of the records of each table, by the name of the table: JSON, CSV and data frames are made from its fields,
# and saved studies are read back with it. Fields are str, int (not negative), float, bool, ConfidenceInterval, any of
# them or None, tuples of one of them, or mappings from names to records.
RECORDS: Mapping[str, type[Any]] = {
    "rates": Rate,
    "pvalues": PvalueShare,
    "family_wise": FamilyWiseRate,
    "pairs": PairConclusions,
    "bands": BandAccuracy,
    "gaps": GapConclusions,
    "spread": SampleSpread,
    "scores": SampleScore,
    "ranges": SampleRange,
    "differences": SampleDifference,
    "curves": CurvePoint,
    "pair_pvalues": PairPvalue,
    "gains": GainBin,
    "thresholds": GainThreshold,
    "domains": DomainBand,
    "tests": TestAgreement,
    "power": PowerRate,
    "fits": FittedSwapEffects,
    "detectable": DetectableAtSize,
    "planned": PlannedPower,
    "needed": PlannedSize,
    "sequential": PlannedLooks,
    "simulated": PowerRate,
    "errors": PairError,
    "sensitivity": MetricSensitivity,
    "scored": ScoredSystem,
    "tested": TestedDifference,
    "contrasts": PowerContrast,
    "exchange_sizes": ExchangeRate,
    "decisions": GateRate,
    "grid": SmoothingSetting,
}

# The same for single studies whose tables have the names of others with records of another type, by study.
TABLES_OF: Mapping[str, Mapping[str, type[Any]]] = {
    "meta": {
        "results": MetricAgreement,
        "comparisons": MetricDifference,
        "groups": MetricGroup,
        "human": HumanScores,
        "systems": MetricSystemScore,
    },
    "runs": {"systems": SystemRuns, "comparisons": RunDifference, "observed": ObservedDifference},
    "oracle": {"scores": ListScore, "searches": OracleSearch, "entries": ChosenEntry},
    "mbr": {"choices": MbrChoice, "scores": MbrScore},
    "human": {
        "differences": LabelledEstimate,
        "scores": LabelledEstimate,
        "ranking": RankedSystem,
        "agreement": RaterAgreement,
        "looks": PlannedLook,
        "designs": PlannedRaters,
    },
    "watch": {"verdicts": SequentialVerdict, "looks": SequentialLook},
    "tune": {"runs": TuningRun, "start": StartingScores, "trace": TuningStep},
}

# The record of the settings of each study, or the records of its variants.
PLANS: Mapping[str, Sequence[type[Plan]]] = {
    "type1": [Type1Plan],
    "multiplicity": [MultiplicityPlan],
    "power": [PowerPlan, ParametricPlan],
    "plan": [DesignPlan],
    "sensitivity": [SensitivityPlan],
    "validate": [ValidationPlan],
    "samples": [SamplesPlan],
    "agreement": [AgreementPlan],
    "exchange": [ExchangePlan],
    "gate": [GatePlan],
    "runs": [RunPlan],
    "meta": [MetaPlan],
    "tune-smoothing": [SmoothingPlan],
    "tune": [TuningPlan],
    "oracle": [OraclePlan],
    "mbr": [MbrPlan],
    "human": [HumanPlan],
    "watch": [WatchPlan],
}

# The type of the result of a study, where it is not StudyResult.
RESULTS: Mapping[str, type[StudyResult[Any]]] = {"runs": RunComparison, "meta": MetaEvaluation, "tune": TuningResult}


def record_types(study: str) -> Mapping[str, type[Any]]:
    """The type of the records of each table that a study may have."""
    return TABLES_OF.get(study, RECORDS)


def plan_type(study: str, settings: Mapping[str, Any]) -> type[Plan] | None:
    """The record of settings: of the variants of the study, that of most keys. None for studies that have none."""
    return max(PLANS.get(study, ()), key=lambda kind: len(settings.keys() & kind.names()), default=None)
