"""``validate``: does a test draw the right conclusions from samples of a large test set?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, InputError
from ..grouping import grouped
from ..metrics.base import Scores
from ..options.declare import called_with, taken
from ..options.studies import Validate
from ..resampling.samples import columns_of
from ..results import clopper_pearson
from ..results.studies import BandAccuracy, GapConclusions, PairConclusions, SampleSpread, StudyResult
from ..results.studies.validation import ValidationPlan
from .pools import SLACK, Conclusions, Drawn, Pool, SampleTests, Split, check_sizes, plans_of, pool_of, units_of
from .rates import clustered_interval
from .settings import started

# What counts as the truth about a pair of systems.
TRUTHS: Mapping[str, str] = {
    "complement": "The system with the better score on the rest of the pool, without the sample, counts as better.",
    "whole": "The system with the better score on the whole pool, which contains the sample, counts as better.",
}

# The lower ends of the bands of confidence: Koehn 2004, Table 4. The paper has no confidence below .5.
BANDS = (1.0, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.0)


@called_with(Validate)
def validate(options: Validate) -> StudyResult[ValidationPlan]:
    """Test pairs of systems on samples of a large test set, and count how many conclusions are right.

    The test set, called the pool, is split into disjoint samples of each size. On each sample every test is run for
    every pair of systems. The conclusions are compared with what the rest of the pool says: Koehn 2004 (W04-3250),
    section 7.

    Returns
    -------
    StudyResult
        With four tables. ``pairs``: the shares of right and wrong conclusions about each pair
        (:class:`~reshuffle.results.studies.PairConclusions`, the paper's Table 3). ``bands``: the accuracy of
        conclusions by their confidence, for each size and for all together
        (:class:`~reshuffle.results.studies.BandAccuracy`, Table 4). ``gaps``: right and wrong conclusions by the size
        of the true difference (:class:`~reshuffle.results.studies.GapConclusions`). ``spread``: the bootstrap's
        standard deviation beside that over samples (:class:`~reshuffle.results.studies.SampleSpread`).

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if a size is larger than the pool, ``n_samples`` samples do not fit, or
        nothing is left of the pool without a sample.

    Notes
    -----
    Intervals of rates over pairs have the samples as clusters, because all pairs on a sample share its segments. They
    describe other samples of the same pool. Cost: for each layout and size, about as much as a test of all pairs on the
    whole pool. Memory: 8·k·R bytes for the draws of a sample, and 10 bytes for each pair, sample, test and metric.

    Examples
    --------
    >>> from reshuffle import SegmentScores
    >>> rng = np.random.default_rng(1)
    >>> ratings = SegmentScores("rating", {"old": rng.normal(50, 9, 900), "new": rng.normal(54, 9, 900)})
    >>> result = validate(metrics=ratings, sizes=(20, 60), layouts="broad", n_resamples=200)
    >>> for row in result.tables["pairs"]:
    ...     print(row.size, row.samples, row.better, round(row.gap, 1), round(row.right, 2), round(row.wrong, 2))
    20 45 new 4.5 0.47 0.0
    60 15 new 4.5 0.87 0.0
    """
    with started("validate", options) as (data, units, settings):
        resampling, level, tests = settings.resampling, options.confidence_level, options.tests
        bins = check_bins(options.bins)
        plans_of(tests, data.metrics)
        n_units, unit = units_of(data, units)
        sizes = check_sizes(options.sizes, n_units, unit, options.n_samples)
        if options.truth == "complement" and sizes[-1] == n_units:
            raise InputError(
                f"a sample of all {n_units:,} {unit}s leaves nothing to compare its conclusions with: use a smaller "
                "size, or {whole}",
                whole=Argument("truth", ("whole",)),
            )
        n_splits, all_pairs = len(options.layouts) * len(sizes), options.baseline is None
        material, pool = pool_of(data, units, resampling, n_splits, options.baseline, all_pairs)
        splits = pool.splits(options.layouts, sizes, options.n_samples)
        own = resampling.n_resamples, resampling.seed, tests, options.truth
        drawn = [Drawn.by(SampleTests(pool, split, *own), resampling.execution) for split in splits]
        every = [found for each in drawn for found in each.conclusions]
        tables: dict[str, Iterable[object]] = {
            "pairs": (row for found in every for row in pair_rows(found, pool, level)),
            "bands": _band_rows(every),
            "gaps": (row for found in every for row in _gap_rows(found, pool, bins, level)),
            "spread": _spread_rows(drawn, pool),
        }
        truths = {options.truth: TRUTHS[options.truth]}
        return settings.result(options, tables, truths, material, sizes=sizes, bins=bins)


def check_bins(bins: Sequence[float]) -> tuple[float, ...]:
    """The ends of bins as floats; :class:`InputError` unless they ascend from 0 or more."""
    ends = tuple(float(end) for end in bins)
    if not ends or not all(map(math.isfinite, ends)) or ends[0] < 0 or any(high <= low for low, high in pairwise(ends)):
        raise InputError(f"bins must be ascending numbers of at least 0, got {list(bins)}")
    return ends


def in_bins(values: Scores, bins: Sequence[float]) -> Iterator[tuple[float, float | None, NDArray[np.bool_]]]:
    """The ends of each bin, and which values are above the lower and not above the upper end. Bins without any are left
    out. The last one has no upper end.
    """
    for low, high in zip(bins, [*bins[1:], None], strict=True):
        inside = (values > low) & (values <= (np.inf if high is None else high))
        if inside.any():
            yield low, high, inside


def pair_rows(found: Conclusions, pool: Pool, level: float) -> Iterator[PairConclusions]:
    """The records of all pairs (Table 3 of the paper)."""
    m, n = pool.labels.index(found.metric), found.split.samples
    for p, (a, b) in enumerate(pool.pairs):
        gap = float(pool.scores[m][a] - pool.scores[m][b])
        pair = (a, b) if (gap >= 0) == pool.metrics[m].higher_is_better else (b, a)
        better, worse = (pool.names[system] for system in pair)
        right, wrong = (int(each(level)[:, p].sum()) for each in (found.right, found.wrong))
        yield taken(
            PairConclusions,
            found,
            found.split,
            better=better,
            worse=worse,
            gap=abs(gap),
            right=right / n,
            wrong=wrong / n,
            right_interval=clopper_pearson(right, n),
            wrong_interval=clopper_pearson(wrong, n),
        )


def _band_rows(every: Sequence[Conclusions]) -> Iterator[BandAccuracy]:
    """The accuracy by confidence (Table 4), for each metric, test and layout: each size, then all sizes together."""
    groups = grouped(((found.metric, found.test, found.split.layout), found) for found in every)
    for of_sizes in groups.values():
        for together in [*([found] for found in of_sizes), *([of_sizes] if len(of_sizes) > 1 else [])]:
            yield from _bands(together)


def _bands(together: Sequence[Conclusions]) -> Iterator[BandAccuracy]:
    """The bands of conclusions from samples of one or more sizes."""
    first, single = together[0], len(together) == 1
    for low, high in zip(BANDS, (1.0, *BANDS), strict=False):
        hits, cases = [], []
        for found in together:
            below = found.confidence < high - SLACK if low < 1 else True
            cell = (found.confidence >= low - SLACK) & below & (found.favoured != 0) & (found.truth != 0)
            hits.append((cell & (found.favoured == found.truth)).sum(axis=1))
            cases.append(cell.sum(axis=1))
        right, conclusions = np.concatenate(hits), np.concatenate(cases)
        n = int(conclusions.sum())
        if low == 0 and n == 0:  # the rare band below .5
            continue
        yield taken(
            BandAccuracy,
            first,
            first.split,
            size=first.split.size if single else None,
            low=low,
            high=high,
            conclusions=n,
            right=int(right.sum()) / n if n else None,
            confidence_interval=clustered_interval(right, conclusions) if single and n else None,
            few_samples=any(found.split.few_samples for found in together),
        )


def _gap_rows(found: Conclusions, pool: Pool, bins: Sequence[float], level: float) -> Iterator[GapConclusions]:
    """Right and wrong conclusions by the difference on the pool. Bins without pairs are left out."""
    for low, high, inside in in_bins(pool.gaps(found.metric), bins):
        right, wrong = (mask(level)[:, inside].sum(axis=1) for mask in (found.right, found.wrong))
        cases = np.full(len(right), int(inside.sum()))
        yield taken(
            GapConclusions,
            found,
            found.split,
            low=low,
            high=high,
            pairs=int(inside.sum()),
            right=float(right.sum() / cases.sum()),
            wrong=float(wrong.sum() / cases.sum()),
            right_interval=clustered_interval(right, cases),
            wrong_interval=clustered_interval(wrong, cases),
        )


def _spread_rows(drawn: Sequence[Drawn], pool: Pool) -> Iterator[SampleSpread]:
    """The bootstrap's standard deviations beside those over samples."""
    first, second = columns_of(pool.pairs)
    for each in drawn:
        for m, label in enumerate(pool.labels):
            own, of_systems, of_pairs = (each.of[name][m] for name in ("scores", "deviations", "deviations_of_pairs"))
            yield _spread(label, each.split, "scores", own, of_systems)
            yield _spread(label, each.split, "differences", own[:, first] - own[:, second], of_pairs)


def _spread(metric: str, split: Split, quantity: str, values: Scores, deviations: Scores) -> SampleSpread:
    """The record of (m, n) values on m samples, and the standard deviations of their draws."""
    observed = float(np.sqrt(values.var(axis=0, ddof=1).mean())) if split.samples > 1 else None
    bootstrap = float(np.sqrt((deviations**2).mean()))
    return taken(
        SampleSpread,
        split,
        metric=metric,
        quantity=quantity,
        observed=observed,
        bootstrap=bootstrap,
        ratio=bootstrap / observed if observed else None,
    )
