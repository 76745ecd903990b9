"""Do metrics agree with people? Coefficients of agreement, intervals, and tests between metrics.

A :class:`JudgedSet` has the scores of metrics, computed here or read from files, and human judgments of the same
outputs: votes between pairs of outputs, or scores. :func:`segments` compares them at segment level, :func:`systems` at
system level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..data.judgments import Judgments, read_judgments
    from ..data.score_tables import ScoreTable, read_all_scores, read_scores
    from ..data.system_names import read_sysmap
    from ..results.studies import (
        HumanScores,
        MetaEvaluation,
        MetricAgreement,
        MetricDifference,
        MetricGroup,
        MetricSystemScore,
        SmoothingSetting,
    )
    from .coefficients import COEFFICIENTS, TESTS
    from .human import HUMAN_SCORES, human_scores
    from .material import JudgedSet
    from .metric_scores import MetricScores
    from .segments import segments
    from .smoothing import smoothing_grid, tune_smoothing
    from .systems import systems
    from .williams import williams

__all__ = [
    "COEFFICIENTS",
    "HUMAN_SCORES",
    "TESTS",
    "HumanScores",
    "JudgedSet",
    "Judgments",
    "MetaEvaluation",
    "MetricAgreement",
    "MetricDifference",
    "MetricGroup",
    "MetricScores",
    "MetricSystemScore",
    "ScoreTable",
    "SmoothingSetting",
    "human_scores",
    "read_all_scores",
    "read_judgments",
    "read_scores",
    "read_sysmap",
    "segments",
    "smoothing_grid",
    "systems",
    "tune_smoothing",
    "williams",
]

# The module of each public name. It is imported when the name is first used, as in the package itself.
_find = lazy_names(
    __name__,
    {
        ".data.judgments": ("Judgments", "read_judgments"),
        ".data.score_tables": ("ScoreTable", "read_all_scores", "read_scores"),
        ".data.system_names": ("read_sysmap",),
        ".results.studies": (
            "HumanScores",
            "MetaEvaluation",
            "MetricAgreement",
            "MetricDifference",
            "MetricGroup",
            "MetricSystemScore",
            "SmoothingSetting",
        ),
        "coefficients": ("COEFFICIENTS", "TESTS"),
        "human": ("HUMAN_SCORES", "human_scores"),
        "material": ("JudgedSet",),
        "metric_scores": ("MetricScores",),
        "segments": ("segments",),
        "smoothing": ("smoothing_grid", "tune_smoothing"),
        "systems": ("systems",),
        "williams": ("williams",),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
