"""The types of the records in the tables of studies, and of their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .agreement import DomainBand, GainBin, GainThreshold, PairPvalue, TestAgreement
from .base import Rate, StudyResult
from .design import DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize
from .exchange import ExchangeRate
from .human import LabelledEstimate
from .mbr import MbrChoice, MbrScore
from .meta import HumanScores, MetaEvaluation, MetricAgreement, MetricDifference, MetricGroup, MetricSystemScore
from .multiplicity import FamilyWiseRate
from .oracle import ChosenEntry, ListScore, OracleSearch
from .power import FittedSwapEffects, PowerRate
from .runs import ObservedDifference, RunComparison, RunDifference, SystemRuns
from .samples import CurvePoint, SampleDifference, SampleRange, SampleScore
from .sensitivity import MetricSensitivity, PowerContrast, ScoredSystem, TestedDifference
from .smoothing import SmoothingSetting
from .tune import StartingScores, TuningResult, TuningRun, TuningStep
from .type1 import PvalueShare
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread
from .watch import SequentialLook, SequentialVerdict

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
    "human": {"differences": LabelledEstimate, "scores": LabelledEstimate},
    "watch": {"verdicts": SequentialVerdict, "looks": SequentialLook},
    "tune": {"runs": TuningRun, "start": StartingScores, "trace": TuningStep},
}

# The type of the result of a study, where it is not StudyResult.
RESULTS: Mapping[str, type[StudyResult]] = {"runs": RunComparison, "meta": MetaEvaluation, "tune": TuningResult}


def record_types(study: str) -> Mapping[str, type[Any]]:
    """The type of the records of each table that a study may have."""
    return TABLES_OF.get(study, RECORDS)
