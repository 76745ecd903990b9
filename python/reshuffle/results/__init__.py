"""Results: frozen records that carry everything needed to repeat them.

Nothing here resamples. Methods that display or convert a result import :mod:`reshuffle.report` when they are called.
"""

from __future__ import annotations

from .caveats import Caveat
from .comparison import (
    Brevity,
    Comparison,
    Contribution,
    DocumentScore,
    Exchangeability,
    Influence,
    PairedDifference,
    SystemScore,
    UsedInterval,
    UsedMetric,
    UsedTest,
)
from .flips import FlippedSegment, Flips
from .gate import Gate, GateTask, LostSegment, Trend
from .histograms import Histogram, NullHistogram
from .inputs import InputFile
from .intervals import ConfidenceInterval, clopper_pearson, may_lie_across, robbins
from .ranking import DetectableDifference, RankedSystem, Ranking
from .segments import SegmentTable
from .sets import SetComparison
from .significance import SignificanceResult, UsedStopping
from .texts import ComparedTexts
from .verdicts import Verdict, sought_by, verdict
from .votes import FirstAdvantage, LargestResidual, VoteFit

__all__ = [
    "Brevity",
    "Caveat",
    "ComparedTexts",
    "Comparison",
    "ConfidenceInterval",
    "Contribution",
    "DetectableDifference",
    "DocumentScore",
    "Exchangeability",
    "FirstAdvantage",
    "FlippedSegment",
    "Flips",
    "Gate",
    "GateTask",
    "Histogram",
    "Influence",
    "InputFile",
    "LargestResidual",
    "LostSegment",
    "NullHistogram",
    "PairedDifference",
    "RankedSystem",
    "Ranking",
    "SegmentTable",
    "SetComparison",
    "SignificanceResult",
    "SystemScore",
    "Trend",
    "UsedInterval",
    "UsedMetric",
    "UsedStopping",
    "UsedTest",
    "Verdict",
    "VoteFit",
    "clopper_pearson",
    "may_lie_across",
    "robbins",
    "sought_by",
    "verdict",
]
