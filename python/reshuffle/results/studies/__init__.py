"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .base import Rate, StudyResult
from .type1 import PvalueShare

__all__ = ["BandAccuracy", "GapConclusions", "PairConclusions", "PvalueShare", "Rate", "SampleSpread", "StudyResult"]
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread
