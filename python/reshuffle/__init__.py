"""Is the difference between these systems more than chance?

reshuffle computes metrics of machine translation as integer counts per segment and resamples the counts, in Rust, on
all cores: approximate randomization, bootstrap tests, confidence intervals.

>>> import reshuffle
>>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
>>> systems = {
...     "a": ["the cat sat on a mat", "a dog barks", "it rains"],
...     "b": ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"],
... }
>>> comparison = reshuffle.compare(references, systems)
>>> 0.2 < comparison.comparisons[0].test.pvalue < 0.3  # all shuffles of three segments: 1/4
True
"""

from ._core import VERSION, Progress
from .compare import compare, score, segment_scores
from .corpus import Corpus, read_corpus
from .errors import InputError, InputWarning
from .files import read_lines
from .given import CorpusFunction, FromCounts, OwnTexts, SegmentScores, f_score
from .intervals import bootstrap_interval, standard_error
from .metrics import Formula, Metric, NativeMetric, metric, tokenize
from .multiplicity import experimentwise_error
from .results import (
    Comparison,
    ConfidenceInterval,
    PairedDifference,
    SegmentTable,
    SignificanceResult,
    SystemScore,
    UsedInterval,
    UsedMetric,
    UsedStopping,
    UsedTest,
)
from .significance import approximate_randomization, bootstrap_test
from .stopping import BesagClifford, Gandy
from .units import design_effect, intraclass_correlation

__version__ = VERSION

__all__ = [
    "BesagClifford",
    "Comparison",
    "ConfidenceInterval",
    "Corpus",
    "CorpusFunction",
    "Formula",
    "FromCounts",
    "Gandy",
    "InputError",
    "InputWarning",
    "Metric",
    "NativeMetric",
    "OwnTexts",
    "PairedDifference",
    "Progress",
    "SegmentScores",
    "SegmentTable",
    "SignificanceResult",
    "SystemScore",
    "UsedInterval",
    "UsedMetric",
    "UsedStopping",
    "UsedTest",
    "__version__",
    "approximate_randomization",
    "bootstrap_interval",
    "bootstrap_test",
    "compare",
    "design_effect",
    "experimentwise_error",
    "f_score",
    "intraclass_correlation",
    "metric",
    "read_corpus",
    "read_lines",
    "score",
    "segment_scores",
    "standard_error",
    "tokenize",
]
