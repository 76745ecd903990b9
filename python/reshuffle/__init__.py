"""Is the difference between these systems more than chance?

reshuffle computes metrics of machine translation as integer counts per segment and resamples the counts, in Rust, on
all cores: approximate randomization, bootstrap tests, confidence intervals.

>>> import reshuffle
>>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
>>> systems = {
...     "a": ["the cat sat on a mat", "a dog barks", "it rains"],
...     "b": ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"],
... }
>>> comparison = reshuffle.compare(references, systems, test="ar")  # three segments are too few for the bootstrap
>>> comparison.comparisons[0].test.pvalue  # 2 of 8 shuffles
0.25
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .lazy import lazy_names

if TYPE_CHECKING:
    from ._core import Progress
    from .compare import compare, score, segment_scores
    from .counts import CountsWriter, save_counts
    from .data.corpus import Corpus, read_corpus
    from .data.evaluations.code_results import pass_at_k
    from .data.files import read_lines
    from .data.joined_scores import JoinedScores, join_scores
    from .data.saved import read_html, read_json
    from .data.score_tables import ScoreTable, read_scores
    from .data.scored_texts import ScoredTexts, read_scored_texts
    from .data.votes import VoteTable
    from .errors import InputError, InputWarning, WorkerError
    from .flips import flips
    from .gate import gate
    from .human import human
    from .inference.intervals import bootstrap_interval, standard_error
    from .inference.multiplicity import experimentwise_error
    from .inference.significance import approximate_randomization, bootstrap_test
    from .metrics.base import Formula, Metric
    from .metrics.black_box import CorpusFunction
    from .metrics.native import NativeMetric, metric, tokenize
    from .metrics.ngrams import CommonNgrams, common_ngrams
    from .metrics.precomputed import FromCounts, OwnTexts, SegmentScores, f_score
    from .metrics.stored import CountsFile, StoredCounts, open_counts
    from .options.choices import AR, Equivalence, NonInferiority, Simultaneous
    from .resampling.stopping import BesagClifford, Gandy
    from .resampling.supplied import resampled_sums
    from .resampling.units import design_effect, intraclass_correlation
    from .results import (
        Brevity,
        Caveat,
        Comparison,
        ConfidenceInterval,
        DocumentScore,
        Exchangeability,
        FlippedSegment,
        Flips,
        Gate,
        GateTask,
        Histogram,
        Influence,
        InputFile,
        LostSegment,
        NullHistogram,
        PairedDifference,
        SegmentTable,
        SetComparison,
        SignificanceResult,
        SystemScore,
        Trend,
        UsedInterval,
        UsedMetric,
        UsedStopping,
        UsedTest,
    )
    from .results.studies import RunComparison, StudyResult
    from .runs import compare_runs
    from .seeds import DerivedSeed, derive_seed
    from .sets import TestSet, compare_sets
    from .votes import votes
    from .watch import watch

__version__ = "0.1.0"  # the same as in Cargo.toml; a test compares them

__all__ = [
    "AR",
    "BesagClifford",
    "Brevity",
    "Caveat",
    "CommonNgrams",
    "Comparison",
    "ConfidenceInterval",
    "Corpus",
    "CorpusFunction",
    "CountsFile",
    "CountsWriter",
    "DerivedSeed",
    "DetectableDifference",
    "DocumentScore",
    "Equivalence",
    "Exchangeability",
    "FlippedSegment",
    "Flips",
    "Formula",
    "FromCounts",
    "Gandy",
    "Gate",
    "GateTask",
    "Histogram",
    "Influence",
    "InputError",
    "InputFile",
    "InputWarning",
    "JoinedScores",
    "LostSegment",
    "Metric",
    "NativeMetric",
    "NonInferiority",
    "NullHistogram",
    "OwnTexts",
    "PairedDifference",
    "Progress",
    "RankedSystem",
    "Ranking",
    "RunComparison",
    "ScoreTable",
    "ScoredTexts",
    "SegmentScores",
    "SegmentTable",
    "SetComparison",
    "SignificanceResult",
    "Simultaneous",
    "StoredCounts",
    "StudyResult",
    "SystemScore",
    "TestSet",
    "Trend",
    "UsedInterval",
    "UsedMetric",
    "UsedStopping",
    "UsedTest",
    "VoteTable",
    "WorkerError",
    "__version__",
    "approximate_randomization",
    "bootstrap_interval",
    "bootstrap_test",
    "common_ngrams",
    "compare",
    "compare_runs",
    "compare_sets",
    "derive_seed",
    "design_effect",
    "experimentwise_error",
    "f_score",
    "flips",
    "gate",
    "human",
    "intraclass_correlation",
    "join_scores",
    "metric",
    "open_counts",
    "pass_at_k",
    "read_corpus",
    "read_html",
    "read_json",
    "read_lines",
    "read_scored_texts",
    "read_scores",
    "resampled_sums",
    "save_counts",
    "score",
    "segment_scores",
    "standard_error",
    "tokenize",
    "votes",
    "watch",
]

# The module of each public name. It is imported when the name is first used, so that short scripts start quickly.
_NAMES = {
    "_core": ("Progress",),
    "compare": ("compare", "score", "segment_scores"),
    "counts": ("CountsWriter", "save_counts"),
    "data.corpus": ("Corpus", "read_corpus"),
    "data.files": ("read_lines",),
    "data.saved": ("read_html", "read_json"),
    "data.evaluations.code_results": ("pass_at_k",),
    "data.joined_scores": ("JoinedScores", "join_scores"),
    "data.score_tables": ("ScoreTable", "read_scores"),
    "data.scored_texts": ("ScoredTexts", "read_scored_texts"),
    "data.votes": ("VoteTable",),
    "errors": ("InputError", "InputWarning", "WorkerError"),
    "flips": ("flips",),
    "gate": ("gate",),
    "inference.intervals": ("bootstrap_interval", "standard_error"),
    "inference.multiplicity": ("experimentwise_error",),
    "inference.significance": ("approximate_randomization", "bootstrap_test"),
    "metrics.base": ("Formula", "Metric"),
    "metrics.black_box": ("CorpusFunction",),
    "metrics.native": ("NativeMetric", "metric", "tokenize"),
    "metrics.ngrams": ("CommonNgrams", "common_ngrams"),
    "metrics.precomputed": ("FromCounts", "OwnTexts", "SegmentScores", "f_score"),
    "metrics.stored": ("CountsFile", "StoredCounts", "open_counts"),
    "options.choices": ("AR", "Equivalence", "NonInferiority", "Simultaneous"),
    "resampling.stopping": ("BesagClifford", "Gandy"),
    "resampling.supplied": ("resampled_sums",),
    "resampling.units": ("design_effect", "intraclass_correlation"),
    "results": (
        "Brevity",
        "Caveat",
        "Comparison",
        "ConfidenceInterval",
        "DetectableDifference",
        "DocumentScore",
        "Exchangeability",
        "FlippedSegment",
        "Flips",
        "Gate",
        "GateTask",
        "Histogram",
        "Influence",
        "InputFile",
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
    ),
    "results.studies": ("RunComparison", "StudyResult"),
    "runs": ("compare_runs",),
    "seeds": ("DerivedSeed", "derive_seed"),
    "sets": ("TestSet", "compare_sets"),
    "human": ("human",),
    "votes": ("votes",),
    "watch": ("watch",),
}
_MODULES = (
    "_core", "compat", "data", "errors", "inference", "meta", "metrics", "report", "resampling", "results", "study",
    "tune", "types",
)  # fmt: skip
_find = lazy_names(__name__, _NAMES, _MODULES)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
