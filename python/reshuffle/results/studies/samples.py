"""The records of ``samples``: scores on samples of a large test set, and the precision of test sets of other sizes."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import StudyTypes
from .plan import PoolPlan
from .validation import PairConclusions


@record
class SampleScore:
    """The score of a system on a sample."""

    metric: str
    layout: str
    size: int
    """The number of units (segments or documents) of a sample, and the number of this sample, from 1."""
    sample: int
    system: str
    score: float
    confidence_interval: ConfidenceInterval
    covers: bool
    """Whether the interval contains the score on the whole pool."""


@record
class SampleDifference:
    """The difference of two systems on a sample."""

    metric: str
    layout: str
    size: int
    """As in :class:`SampleScore`."""
    sample: int
    system: str
    baseline: str
    difference: float
    """score(system) − score(baseline) on the sample."""
    confidence: float
    """The share of draws won by the system that wins more of them."""
    conclusion: str | None
    """``right`` or ``wrong`` if this share reaches the level of confidence, else None."""
    reversal: bool
    """Whether the difference has the opposite sign on the whole pool."""


@record
class SampleRange:
    """The scores of a system on all samples of a size, and how many of their intervals miss its score on the pool."""

    metric: str
    layout: str
    size: int
    """The number of units of a sample, and the number of samples."""
    samples: int
    system: str
    pool_score: float
    """The score on the whole pool, which stands for the true one."""
    lowest: float
    """Of the scores on the samples."""
    highest: float
    deviation: float | None
    """Their standard deviation (denominator m − 1); None for one sample."""
    outside: float
    """The share of samples whose interval does not contain ``pool_score``."""
    outside_interval: ConfidenceInterval
    """Clopper–Pearson: the samples are disjoint."""
    few_samples: bool
    """Whether there are fewer than ten samples."""


@record
class CurvePoint:
    """How well test sets of some size, with some number of references, tell systems apart."""

    metric: str
    references: int | None
    """The number of references per segment: the first ones; None for all of them, and for metrics without references.
    """
    size: int
    """The number of units of a test set, and the number of test sets: broad samples of the pool."""
    samples: int
    width: float
    """The width of the confidence interval of a score, mean over test sets and systems."""
    relative_width: float | None
    """The mean width divided by the mean score; None if that is 0."""
    difference_width: float
    """The width of the confidence interval of a difference, mean over test sets and pairs of systems."""
    pairs: int
    """The number of pairs."""
    separated: float
    """The share of pairs, mean over test sets, whose interval of the difference does not contain 0."""
    confidence_interval: ConfidenceInterval | None
    """For ``separated``, with the test sets as clusters; None for one test set."""


@record(kw_only=True, eq=False)
class SamplesPlan(PoolPlan):
    """How samples were compared with their pool: the options of :func:`reshuffle.study.samples`."""

    sizes: tuple[int, ...]
    layouts: tuple[str, ...]
    n_samples: int | None
    baseline: str | None
    all_pairs: bool
    interval: str
    confidence_level: float
    curve_sizes: tuple[int, ...]
    n_references: tuple[int, ...] | None


STUDY = StudyTypes(
    [SamplesPlan],
    scores=SampleScore,
    ranges=SampleRange,
    differences=SampleDifference,
    pairs=PairConclusions,
    curves=CurvePoint,
)
