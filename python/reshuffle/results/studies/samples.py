"""The records of ``samples``: scores on samples of a large test set, and the precision of test sets of other sizes."""

from __future__ import annotations

from dataclasses import dataclass

from ..intervals import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class SampleScore:
    """The score of a system on a sample.

    Attributes
    ----------
    metric, layout : str
    size, sample : int
        The number of units (segments or documents) of a sample, and the number of this sample, from 1.
    system : str
    score : float
    confidence_interval : ConfidenceInterval
    covers : bool
        Whether the interval contains the score on the whole pool.
    """

    metric: str
    layout: str
    size: int
    sample: int
    system: str
    score: float
    confidence_interval: ConfidenceInterval
    covers: bool


@dataclass(frozen=True, slots=True)
class SampleDifference:
    """The difference of two systems on a sample.

    Attributes
    ----------
    metric, layout : str
    size, sample : int
        As in :class:`SampleScore`.
    system, baseline : str
    difference : float
        score(system) − score(baseline) on the sample.
    confidence : float
        The share of draws won by the system that wins more of them.
    conclusion : str or None
        ``right`` or ``wrong`` if this share reaches the level of confidence, else None.
    reversal : bool
        Whether the difference has the opposite sign on the whole pool.
    """

    metric: str
    layout: str
    size: int
    sample: int
    system: str
    baseline: str
    difference: float
    confidence: float
    conclusion: str | None
    reversal: bool


@dataclass(frozen=True, slots=True)
class SampleRange:
    """The scores of a system on all samples of a size, and how many of their intervals miss its score on the pool.

    Attributes
    ----------
    metric, layout : str
    size, samples : int
        The number of units of a sample, and the number of samples.
    system : str
    pool_score : float
        The score on the whole pool, which stands for the true one.
    lowest, highest : float
        Of the scores on the samples.
    deviation : float or None
        Their standard deviation (denominator m − 1); None for one sample.
    outside : float
        The share of samples whose interval does not contain ``pool_score``.
    outside_interval : ConfidenceInterval
        Clopper–Pearson: the samples are disjoint.
    few_samples : bool
        Whether there are fewer than ten samples.
    """

    metric: str
    layout: str
    size: int
    samples: int
    system: str
    pool_score: float
    lowest: float
    highest: float
    deviation: float | None
    outside: float
    outside_interval: ConfidenceInterval
    few_samples: bool


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How well test sets of some size, with some number of references, tell systems apart.

    Attributes
    ----------
    metric : str
    references : int or None
        The number of references per segment: the first ones; None for all of them, and for metrics without references.
    size, samples : int
        The number of units of a test set, and the number of test sets: broad samples of the pool.
    width : float
        The width of the confidence interval of a score, mean over test sets and systems.
    relative_width : float or None
        The mean width divided by the mean score; None if that is 0.
    difference_width : float
        The width of the confidence interval of a difference, mean over test sets and pairs of systems.
    pairs : int
        The number of pairs.
    separated : float
        The share of pairs, mean over test sets, whose interval of the difference does not contain 0.
    confidence_interval : ConfidenceInterval or None
        For ``separated``, with the test sets as clusters; None for one test set.
    """

    metric: str
    references: int | None
    size: int
    samples: int
    width: float
    relative_width: float | None
    difference_width: float
    pairs: int
    separated: float
    confidence_interval: ConfidenceInterval | None
