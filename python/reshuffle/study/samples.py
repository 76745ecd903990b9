"""``samples``: scores and conclusions from samples of a large test set, and curves of their precision by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, InputError
from ..execution.tables import FLAG, NUMBER, Column, Columns, stacked
from ..inference.estimates import Estimate
from ..inference.intervals import INTERVALS, Interval, check_interval
from ..metrics.base import Scores
from ..options.declare import called_with, taken
from ..options.studies import Samples
from ..resampling import Pairs, Replicates
from ..resampling.counting import Data
from ..results import ConfidenceInterval, clopper_pearson
from ..results.studies import CurvePoint, SampleDifference, SampleRange, SampleScore, StudyResult
from ..results.studies.samples import SamplesPlan
from ..settings import Resampling, Units
from .material import Material
from .pools import BY_WINS, Drawn, OfSamples, Pool, SampleTests, Split, check_sizes, pool_of, signs, units_of
from .rates import clustered_interval
from .settings import started
from .validation import TRUTHS, pair_rows

# The smallest test set of a curve.
SMALLEST = 50


@called_with(Samples)
def samples(options: Samples) -> StudyResult[SamplesPlan]:
    """Score systems on samples of a large test set, and compare scores and intervals with those of the whole.

    The test set, called the pool, is split into disjoint samples. Their scores, intervals and conclusions are compared
    with the scores on the whole pool: Koehn 2004 (W04-3250), Figs. 2–4 and 6–8. Curves show the width of intervals and
    the share of pairs that they separate, by the size of the test set and the number of references: Zhang & Vogel 2004
    (Measuring confidence intervals for the machine translation evaluation metrics, TMI).

    Returns
    -------
    StudyResult
        With five tables. ``scores``: each system on each sample (:class:`~reshuffle.results.studies.SampleScore`,
        Figs. 2, 3 and 6). ``ranges``: their summary (:class:`~reshuffle.results.studies.SampleRange`).
        ``differences``: each pair on each sample (:class:`~reshuffle.results.studies.SampleDifference`, Fig. 4).
        ``pairs``: their summary (:class:`~reshuffle.results.studies.PairConclusions`, Figs. 7 and 8).
        ``curves``: :class:`~reshuffle.results.studies.CurvePoint`.

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if a size is larger than the pool, ``n_samples`` samples do not fit, or
        there are fewer references than in ``n_references``.

    Notes
    -----
    The whole pool contains the sample, so slightly fewer intervals miss its score than would miss the score of a much
    larger pool: the standard deviation of the difference is smaller by the factor √(1 − size/S). Cost: R draws and one
    interval for each system and pair on each sample.

    Examples
    --------
    >>> from reshuffle import SegmentScores
    >>> rng = np.random.default_rng(1)
    >>> ratings = SegmentScores("rating", {"old": rng.normal(50, 9, 900), "new": rng.normal(54, 9, 900)})
    >>> result = samples(metrics=ratings, sizes=30, layouts="broad", curve_sizes=(100, 900))
    >>> for row in result.tables["ranges"]:
    ...     print(row.system, *(round(x, 1) for x in (row.pool_score, row.lowest, row.highest, 30 * row.outside)))
    old 49.5 46.6 52.6 1.0
    new 54.0 51.3 57.6 1.0
    >>> [(point.size, round(point.width, 1), round(point.separated, 1)) for point in result.tables["curves"]]
    [(100, 3.5, 1.0), (900, 1.1, 1.0)]
    """
    with started("samples", options) as (data, units, settings):
        resampling = settings.resampling
        interval = check_interval(options.interval, *data.metrics, test=None)
        numbers = _numbers_of_references(data, options.n_references)
        n_units, unit = units_of(data, units)
        sizes = check_sizes(options.sizes, n_units, unit, options.n_samples)
        sizes = sizes[-1:] if options.sizes is None else sizes
        curve_sizes = _curve_sizes(options.curve_sizes, n_units, unit)
        n_splits = len(options.layouts) * len(sizes) + len(numbers) * len(curve_sizes)
        material, pool = pool_of(data, units, resampling, n_splits, options.baseline, options.all_pairs)
        study = _Samples(data, pool, interval, options.confidence_level, resampling)
        tables: dict[str, list[object]] = {"scores": [], "ranges": [], "differences": [], "pairs": []}
        for split in pool.splits(options.layouts, sizes, options.n_samples):
            for name, rows in study.tables(split).items():
                tables[name] += rows
        curves: list[CurvePoint] = []
        for number in numbers if curve_sizes else []:
            counted = study.with_references(number, units)
            for size in curve_sizes:
                curves += counted.curve_points(number, size)
        return settings.result(
            options,
            {**tables, "curves": _by_metric(curves)},
            {"whole": TRUTHS["whole"]},
            material,
            sizes=sizes,
            curve_sizes=curve_sizes,
            n_references=[number for number in numbers if number is not None] or None,
        )


def _by_metric(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    """The points of one metric after another."""
    names = list(dict.fromkeys(point.metric for point in points))
    return sorted(points, key=lambda point: names.index(point.metric))


def _curve_sizes(sizes: Sequence[int] | None, n_units: int, unit: str) -> tuple[int, ...]:
    """The sizes of the test sets of curves, in ascending order."""
    if sizes is not None:
        return check_sizes(sizes, n_units, unit) if sizes else ()
    halved = [n_units]
    while halved[-1] // 2 >= SMALLEST:
        halved.append(halved[-1] // 2)
    return tuple(reversed(halved))


def _numbers_of_references(data: Data, numbers: Sequence[int] | None) -> Sequence[int | None]:
    """The numbers of references of curves; None stands for all of them."""
    most = data.most_references
    if numbers is None:
        return [n for n in range(1, most + 1) if _all_have_one(data, n)] if most > 1 else [None]
    if max(numbers) > most:
        raise InputError(
            f"{{option}}: {max(numbers):,} were asked for, but segments have at most {most:,} reference"
            f"{'s' * (most > 1)}: use at most {most:,}"
            if most
            else "{option} needs references, but there are only precomputed scores: leave it out",
            option=Argument("n_references"),
        )
    for n in numbers:
        if not _all_have_one(data, n):
            raise InputError(
                "with {option}, some segments have no reference: use more, or leave these segments out",
                option=Argument("n_references", (n,)),
            )
    return sorted(numbers)


def _all_have_one(data: Data, n: int) -> bool:
    """Has every segment one of the first n references?"""
    assert data.corpus is not None
    return all(any(line is not None for line in lines) for lines in zip(*data.corpus.references[:n], strict=True))


@dataclass(frozen=True, eq=False)
class _Samples:
    """Samples of a pool, with the settings of the study."""

    data: Data
    pool: Pool
    interval: Interval
    level: float
    resampling: Resampling

    def with_references(self, number: int | None, units: Units) -> _Samples:
        """The same systems, counted with the first references of each segment only."""
        data = self.data
        if number is None or data.corpus is None or number == data.most_references:
            return self
        fewer = replace(
            data.corpus,
            references=data.corpus.references[:number],
            reference_names=data.corpus.reference_names[:number],
            sources=(),
        )
        material = Material.from_data(
            Data(fewer, data.metrics, data.names, data.n_segments), units, replace(self.resampling, progress=None)
        )
        return replace(self, data=material.data, pool=Pool.from_material(material, self.pool.pairs))

    def _of(self, split: Split) -> tuple[Pool, Split, Any, int]:
        """The first fields of the jobs of this study."""
        return self.pool, split, self.resampling.n_resamples, self.resampling.seed

    def tables(self, split: Split) -> dict[str, list[object]]:
        """The rows of all tables but the curves for one size and layout."""
        job = _Intervals(*self._of(split), [BY_WINS], "whole", self.interval.name, self.level)
        drawn = Drawn.by(job, self.resampling.execution)
        scores = list(self._scores(drawn))
        return {
            "scores": [*scores],
            "ranges": list(self._ranges(scores, split)),
            "differences": list(self._differences(drawn)),
            "pairs": [row for found in drawn.conclusions for row in pair_rows(found, self.pool, self.level)],
        }

    def _scores(self, drawn: Drawn) -> Iterator[SampleScore]:
        """The scores of all systems on each sample."""
        found, method = (drawn.of[name] for name in ("scores", "lows", "highs")), self.interval.for_score.name
        every = np.stack([*found], axis=-1)
        for m, j, system in np.ndindex(every.shape[:-1]):
            score, low, high = every[m, j, system].tolist()
            yield taken(
                SampleScore,
                drawn.split,
                metric=self.pool.labels[m],
                sample=j + 1,
                system=self.pool.names[system],
                score=score,
                confidence_interval=ConfidenceInterval(low, high, self.level, method),
                covers=bool(low <= self.pool.scores[m][system] <= high),
            )

    def _ranges(self, scores: Sequence[SampleScore], split: Split) -> Iterator[SampleRange]:
        """The summary of the scores of each system."""
        for label, own in zip(self.pool.labels, self.pool.scores, strict=True):
            for name, true_score in zip(self.pool.names, own.tolist(), strict=True):
                rows = [row for row in scores if row.metric == label and row.system == name]
                values = [row.score for row in rows]
                outside = sum(not row.covers for row in rows)
                yield taken(
                    SampleRange,
                    split,
                    metric=label,
                    system=name,
                    pool_score=true_score,
                    lowest=min(values),
                    highest=max(values),
                    deviation=float(np.std(values, ddof=1)) if len(values) > 1 else None,
                    outside=outside / len(rows),
                    outside_interval=clopper_pearson(outside, len(rows)),
                )

    def _differences(self, drawn: Drawn) -> Iterator[SampleDifference]:
        """The differences of all pairs on all samples."""
        for found, observed in zip(drawn.conclusions, drawn.of["scores"], strict=True):
            right, wrong = found.right(self.level), found.wrong(self.level)
            reversed_ = signs(observed, self.pool.pairs) * found.truth < 0
            for j, p in np.ndindex(right.shape):
                a, b = self.pool.pairs[p]
                yield taken(
                    SampleDifference,
                    found,
                    found.split,
                    sample=j + 1,
                    system=self.pool.names[a],
                    baseline=self.pool.names[b],
                    difference=float(observed[j, a] - observed[j, b]),
                    confidence=float(found.confidence[j, p]),
                    conclusion="right" if right[j, p] else "wrong" if wrong[j, p] else None,
                    reversal=bool(reversed_[j, p]),
                )

    def curve_points(self, references: int | None, size: int) -> Iterator[CurvePoint]:
        """The point of each metric for test sets of one size."""
        split = Split("broad", size, self.pool.n_units // size)
        pairs = list(combinations(range(len(self.pool.names)), 2))
        job = _Widths(*self._of(split), self.interval.name, self.level, pairs)
        table = job.results(split.samples, self.resampling.execution)
        scores, widths, of_pairs, separated = (stacked(table[name], 1) for name in job.columns.by_name)
        for metric, label in enumerate(self.pool.labels):
            width, score = float(widths[metric].mean()), float(scores[metric].mean())
            yield taken(
                CurvePoint,
                split,
                metric=label,
                references=references,
                width=width,
                relative_width=width / score if score else None,
                difference_width=float(of_pairs[metric].mean()),
                pairs=len(pairs),
                separated=float(separated[metric].mean()),
                confidence_interval=clustered_interval(
                    separated[metric].sum(axis=1), np.full(split.samples, len(pairs))
                ),
            )


@dataclass(frozen=True, eq=False)
class _Intervals(SampleTests):
    """What the tables have of each sample: also the intervals of the scores."""

    interval: str
    level: float

    @property
    def columns(self) -> Columns:
        """Those of the base, and the ends."""
        ends = Column(NUMBER, (len(self.pool.metrics), len(self.pool.names)))
        return Columns({**super().columns.by_name, "lows": ends, "highs": ends})

    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[NDArray[Any], ...]:
        """The columns of a sample."""
        systems = [(system, None) for system in range(len(self.pool.names))]
        return *super().of_sample(units, replicates), *_ends(self.interval, self.level, replicates, systems)


@dataclass(frozen=True, eq=False)
class _Widths(OfSamples):
    """What curves have of each sample."""

    interval: str
    level: float
    pairs: Pairs

    @property
    def columns(self) -> Columns:
        """Scores, widths of systems and of pairs, and which pairs differ."""
        of_systems, of_pairs = ((len(self.pool.metrics), len(each)) for each in (self.pool.names, self.pairs))
        return Columns(
            {
                "scores": Column(NUMBER, of_systems),
                "widths": Column(NUMBER, of_systems),
                "widths_of_pairs": Column(NUMBER, of_pairs),
                "separated": Column(FLAG, of_pairs),
            }
        )

    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[NDArray[Any], ...]:
        """The columns of a sample."""
        systems = [(system, None) for system in range(len(self.pool.names))]
        (low, high), (lows, highs) = (
            _ends(self.interval, self.level, replicates, compared) for compared in (systems, self.pairs)
        )
        scores = np.stack([sample.scores for sample in replicates.samples])
        return scores, high - low, highs - lows, (lows > 0) | (highs < 0)


def _ends(interval: str, level: float, replicates: Replicates, compared: Sequence[tuple[int, int | None]]) -> Scores:
    """The intervals of scores of systems or differences of pairs on a sample: (2, metrics, systems or pairs)."""
    found = np.empty((2, len(replicates.samples), len(compared)))
    for metric, column in np.ndindex(found.shape[1:]):
        ends = INTERVALS[interval].confidence_interval(Estimate(replicates, metric, *compared[column]), level)
        found[:, metric, column] = ends.low, ends.high
    return found
