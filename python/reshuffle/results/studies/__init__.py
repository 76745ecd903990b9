"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .agreement import DomainBand, GainBin, GainThreshold, PairPvalue, TestAgreement
from .base import Rate, StudyResult
from .samples import CurvePoint, SampleDifference, SampleRange, SampleScore
from .type1 import PvalueShare
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread

__all__ = [
    "BandAccuracy",
    "CurvePoint",
    "DomainBand",
    "GainBin",
    "GainThreshold",
    "GapConclusions",
    "PairConclusions",
    "PairPvalue",
    "PvalueShare",
    "Rate",
    "SampleDifference",
    "SampleRange",
    "SampleScore",
    "SampleSpread",
    "StudyResult",
    "TestAgreement",
]
