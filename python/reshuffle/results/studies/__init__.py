"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .base import Rate, StudyResult
from .validation import BandAccuracy, GapConclusions, PairConclusions, SampleSpread

__all__ = ["BandAccuracy", "GapConclusions", "PairConclusions", "Rate", "SampleSpread", "StudyResult"]
