"""The records of ``validate``: conclusions from samples of a large test set, compared with the truth."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import StudyTypes
from .plan import PoolPlan


@record
class PairConclusions:
    """The share of samples from which a test draws a right or a wrong conclusion about a pair of systems."""

    metric: str
    test: str
    layout: str
    size: int
    """The number of units (segments or documents) of a sample, and the number of samples."""
    samples: int
    better: str
    """The two systems, in the order of their scores on the whole pool."""
    worse: str
    gap: float
    """The difference of these scores, at least 0."""
    right: float
    """Of the samples, the share in which the test concludes with the given confidence that the truly better system is
    better, and the share in which it concludes something else. If the truth is that the scores are equal, every
    conclusion is wrong.
    """
    wrong: float
    right_interval: ConfidenceInterval
    """Clopper–Pearson: the samples are disjoint."""
    wrong_interval: ConfidenceInterval
    few_samples: bool
    """Whether there are fewer than ten samples, too few for reliable shares."""


@record
class BandAccuracy:
    """How many of the conclusions with a confidence in some band are right."""

    metric: str
    test: str
    layout: str
    size: int | None
    """The number of units of a sample; None for samples of all sizes together."""
    low: float
    """The band: low ≤ confidence < high. The first band, 1 to 1, has a confidence of exactly 1."""
    high: float
    conclusions: int
    """The number of conclusions: pairs of systems and samples. Those without a true difference are left out."""
    right: float | None
    """The share of these that name the better system; None without any."""
    confidence_interval: ConfidenceInterval | None
    """For ``right``, with the samples as clusters; None for fewer than two samples and for all sizes together, because
    samples of different sizes share segments.
    """
    few_samples: bool
    """Whether there are fewer than ten samples (of some size)."""


@record
class GapConclusions:
    """The shares of right and wrong conclusions about all pairs whose scores on the pool differ by some amount."""

    metric: str
    test: str
    layout: str
    size: int
    """The number of units of a sample, and the number of samples."""
    samples: int
    low: float
    """low < difference on the pool ≤ high, in the metric's units; ``high`` is None in the last bin."""
    high: float | None
    pairs: int
    """The number of pairs in the bin."""
    right: float
    """Of these pairs on all samples, the shares with a right and with a wrong conclusion."""
    wrong: float
    right_interval: ConfidenceInterval | None
    """With the samples as clusters; None for fewer than two samples."""
    wrong_interval: ConfidenceInterval | None
    few_samples: bool
    """Whether there are fewer than ten samples."""


@record
class SampleSpread:
    """The bootstrap's standard deviation beside that over samples, which it is meant to estimate."""

    metric: str
    layout: str
    size: int
    """The number of units of a sample, and the number of samples."""
    samples: int
    quantity: str
    """``scores`` of single systems, or ``differences`` of pairs."""
    observed: float | None
    """The standard deviation over the samples (denominator m − 1), root mean square over systems or pairs; None for one
    sample.
    """
    bootstrap: float
    """The standard deviation of the draws of a sample, root mean square over samples and systems or pairs."""
    ratio: float | None
    """bootstrap/observed; None where that is undefined."""
    few_samples: bool
    """Whether there are fewer than ten samples."""


@record(kw_only=True, eq=False)
class ValidationPlan(PoolPlan):
    """How tests were validated on samples: the options of :func:`reshuffle.study.validate`."""

    sizes: tuple[int, ...]
    layouts: tuple[str, ...]
    n_samples: int | None
    truth: str
    tests: tuple[str, ...]
    baseline: str | None
    confidence_level: float
    bins: tuple[float, ...]


STUDY = StudyTypes(
    [ValidationPlan], pairs=PairConclusions, bands=BandAccuracy, gaps=GapConclusions, spread=SampleSpread
)
