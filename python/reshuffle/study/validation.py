"""``validate``: does a test draw the right conclusions from samples of a large test set?"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise

import numpy as np

from .. import _core, types
from ..data.columns import Texts
from ..errors import InputError
from ..execution import AnyExecutor
from ..execution.checkpoint import kept
from ..metrics.base import Scores
from ..progress import AnyProgress, reported
from ..resampling import Pairs
from ..resampling.counting import Data, Metrics, References, Systems
from ..results import clopper_pearson
from ..results.studies import BandAccuracy, GapConclusions, PairConclusions, SampleSpread, StudyResult
from ..settings import DocumentIds, Resampling, Units
from ..validate import check_level, check_name
from .clusters import clustered_interval
from .conclusions import BY_WINS, SLACK, Conclusions, Drawn, plans_of
from .material import Material
from .pools import Pool, Split, check_layouts, check_sizes, plan_of, sampling_step, signature_of, units_of
from .settings import in_list

# What counts as the truth about a pair of systems.
TRUTHS: Mapping[str, str] = {
    "complement": "The system with the better score on the rest of the pool, without the sample, counts as better.",
    "whole": "The system with the better score on the whole pool, which contains the sample, counts as better.",
}

# The lower ends of the bands of confidence: Koehn 2004, Table 4. The paper has no confidence below .5.
BANDS = (1.0, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.0)

# The ends of the bins of differences, in the metric's units.
BINS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class ValidationSettings:
    """The settings of :func:`validate`."""

    sizes: int | Sequence[int] | None = None
    layouts: str | Sequence[str] = ("broad", "block")
    n_samples: int | None = None
    truth: str = "complement"
    tests: str | Sequence[str] = (BY_WINS,)
    baseline: str | None = None
    confidence_level: float = 0.95
    bins: Sequence[float] = field(default=BINS)


def validate(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    sizes: int | Sequence[int] | None = None,
    layouts: types.SampleLayout | str | Sequence[types.SampleLayout | str] = ("broad", "block"),
    n_samples: int | None = None,
    truth: types.Truth | str = "complement",
    tests: types.Test | str | Sequence[types.Test | str] = (BY_WINS,),
    baseline: str | None = None,
    confidence_level: float = 0.95,
    bins: Sequence[float] = BINS,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Test pairs of systems on samples of a large test set, and count how many conclusions are right.

    The test set, called the pool, is split into disjoint samples of each size. On each sample every test is run for
    every pair of systems. The conclusions are compared with what the rest of the pool says: Koehn 2004 (W04-3250),
    section 7.

    Parameters
    ----------
    references, systems, metrics, reference
        As for :func:`reshuffle.compare`.
    documents : sequence of S str or int, optional
        The document id of each segment. Whole documents are then sampled and resampled, and sizes are numbers of
        documents.
    sizes : int or sequence of int, optional
        The numbers of units (segments or documents) of a sample. By default those of 100, 300, 600 and 3,000 for which
        the pool has at least ten samples.
    layouts : str or sequence of str
        ``broad``: sample j takes the units j, j + m, j + 2m …, where m is the number of samples. ``block``: it takes
        consecutive units. Consecutive segments often come from the same document, so blocks differ more.
    n_samples : int, optional
        m, at most ⌊S/size⌋, which is the default.
    truth : {'complement', 'whole'}
        Which system is better: the one with the better score on the pool without the sample, or, as in the paper, on
        the whole pool. The whole pool contains the sample, which makes conclusions from large samples look better than
        they are.
    tests : str or sequence of str
        Names in :data:`reshuffle.inference.tests.TESTS`. The confidence of ``paired-bootstrap`` is the share of draws
        won by the system that wins more of them, so 95% needs 950 of 1,000 draws. The confidence of other tests is
        1 − p. No p-value is adjusted for multiple tests.
    baseline : str, optional
        Compare each system with this one only. By default, all pairs of systems.
    confidence_level : float
        The confidence that a test needs to draw a conclusion.
    bins : sequence of float
        The edges of the bins of ``gaps``, ascending, in points of the metric.
    n_resamples : int
        The number of draws or shuffles on each sample.
    seed : int
        Sample j of each size and layout has the seed ``derive_seed(seed, "test-set", j)``.
    threads, executor, progress, checkpoint
        As for :func:`reshuffle.study.type1`.

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
    texts = Texts.from_arguments(references, systems, reference, documents=documents)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents)
    settings = ValidationSettings(
        sizes, layouts, n_samples, truth, tests, baseline, confidence_level, bins
    )  # fmt: skip
    with reported(progress) as watched, kept(checkpoint, "validate") as finished:
        return validate_of(data, units, settings, Resampling(n_resamples, seed, threads, watched, executor, finished))


def validate_of(data: Data, units: Units, settings: ValidationSettings, resampling: Resampling) -> StudyResult:
    """The validation of tests on the pool in the data: see :func:`validate`."""
    resampling.check()
    check_name("truth", settings.truth, TRUTHS)
    level = check_level("confidence_level", settings.confidence_level)
    bins = check_bins(settings.bins)
    layouts = check_layouts(settings.layouts)
    tests = tuple(dict.fromkeys(in_list(settings.tests)))
    if not tests:
        raise InputError("no tests: expected at least one")
    plans_of(tests, data.metrics)
    n_units, unit = units_of(data, units)
    sizes = check_sizes(settings.sizes, n_units, unit, settings.n_samples)
    if settings.truth == "complement" and sizes[-1] == n_units:
        raise InputError(
            f"a sample of all {n_units:,} {unit}s leaves nothing to compare its conclusions with: use a smaller size, "
            "or truth='whole' (--truth whole)"
        )
    step = sampling_step(data, len(layouts) * len(sizes), resampling)
    material = Material.from_data(data, units, resampling, [step])
    pairs = material.pairs(settings.baseline, settings.baseline is None)
    pool = Pool.from_material(material)
    labels = [metric.name for metric in material.used_metrics]
    splits = pool.splits(layouts, sizes, settings.n_samples)
    drawn = [Drawn.from_pool(pool, split, pairs, tests, settings.truth, labels, resampling) for split in splits]
    scores = pool.scores()
    plan = plan_of(material, pool, resampling) | asdict(settings) | {
        "sizes": list(sizes), "layouts": list(layouts), "tests": list(tests), "bins": list(bins),
    }  # fmt: skip
    return StudyResult(
        study="validate",
        plan=plan,
        metrics=material.used_metrics,
        tables={
            "pairs": tuple(_pair_rows(drawn, material, pairs, scores, level)),
            "bands": tuple(_band_rows(drawn)),
            "gaps": tuple(_gap_rows(drawn, labels, pairs, scores, bins, level)),
            "spread": tuple(_spread_rows(drawn, labels, pairs)),
        },
        truths={settings.truth: TRUTHS[settings.truth]},
        signature=signature_of("validate", plan, material, resampling),
        version=_core.VERSION,
    )


def check_bins(bins: Sequence[float]) -> tuple[float, ...]:
    """The ends of bins as floats; :class:`InputError` unless they ascend from 0 or more."""
    ends = tuple(float(end) for end in bins)
    if not ends or not all(map(math.isfinite, ends)) or ends[0] < 0 or any(high <= low for low, high in pairwise(ends)):
        raise InputError(f"bins must be ascending numbers of at least 0, got {list(bins)}")
    return ends


def pair_row(found: Conclusions, pair: int, names: tuple[str, str], gap: float, level: float) -> PairConclusions:
    """The record of one pair. ``names`` are the better system and the other one."""
    m = found.split.n_samples
    right, wrong = (int(each(level)[:, pair].sum()) for each in (found.right, found.wrong))
    return PairConclusions(
        metric=found.metric,
        test=found.test,
        layout=found.split.layout,
        size=found.split.size,
        samples=m,
        better=names[0],
        worse=names[1],
        gap=gap,
        right=right / m,
        wrong=wrong / m,
        right_interval=clopper_pearson(right, m),
        wrong_interval=clopper_pearson(wrong, m),
        few_samples=found.split.is_small,
    )


def _pair_rows(
    drawn: Sequence[Drawn], material: Material, pairs: Pairs, scores: Sequence[Scores], level: float
) -> Iterator[PairConclusions]:
    """The records of all pairs (Table 3 of the paper), for each metric, test, layout and size."""
    for each in drawn:
        for found in each.conclusions:
            m = [metric.name for metric in material.used_metrics].index(found.metric)
            for p, (a, b) in enumerate(pairs):
                gap = float(scores[m][a] - scores[m][b])
                higher_first = (gap >= 0) == material.metrics[m].higher_is_better
                names = (a, b) if higher_first else (b, a)
                yield pair_row(found, p, (material.names[names[0]], material.names[names[1]]), abs(gap), level)


def _band_rows(drawn: Sequence[Drawn]) -> Iterator[BandAccuracy]:
    """The accuracy by confidence (Table 4), for each metric, test and layout: each size, then all sizes together."""
    groups: dict[tuple[str, str, str], list[Conclusions]] = {}
    for each in drawn:
        for found in each.conclusions:
            groups.setdefault((found.metric, found.test, found.split.layout), []).append(found)
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
        yield BandAccuracy(
            metric=first.metric,
            test=first.test,
            layout=first.split.layout,
            size=first.split.size if single else None,
            low=low,
            high=high,
            conclusions=n,
            right=int(right.sum()) / n if n else None,
            confidence_interval=clustered_interval(right, conclusions) if single and n else None,
            few_samples=any(found.split.is_small for found in together),
        )


def _gap_rows(
    drawn: Sequence[Drawn],
    labels: Sequence[str],
    pairs: Pairs,
    scores: Sequence[Scores],
    bins: Sequence[float],
    level: float,
) -> Iterator[GapConclusions]:
    """Right and wrong conclusions by the difference on the pool. Bins without pairs are left out."""
    first, second = np.array(pairs, dtype=np.intp).T
    for each in drawn:
        for found in each.conclusions:
            own = scores[labels.index(found.metric)]
            gaps = np.abs(own[first] - own[second])
            for low, high in zip(bins, [*bins[1:], None], strict=True):
                chosen = (gaps > low) & (gaps <= (np.inf if high is None else high))
                if not chosen.any():
                    continue
                right, wrong = (mask(level)[:, chosen].sum(axis=1) for mask in (found.right, found.wrong))
                cases = np.full(len(right), int(chosen.sum()))
                yield GapConclusions(
                    metric=found.metric,
                    test=found.test,
                    layout=found.split.layout,
                    size=found.split.size,
                    samples=found.split.n_samples,
                    low=low,
                    high=high,
                    pairs=int(chosen.sum()),
                    right=float(right.sum() / cases.sum()),
                    wrong=float(wrong.sum() / cases.sum()),
                    right_interval=clustered_interval(right, cases),
                    wrong_interval=clustered_interval(wrong, cases),
                    few_samples=found.split.is_small,
                )


def _spread_rows(drawn: Sequence[Drawn], labels: Sequence[str], pairs: Pairs) -> Iterator[SampleSpread]:
    """The bootstrap's standard deviations beside those over samples."""
    first, second = np.array(pairs, dtype=np.intp).T
    for each in drawn:
        for m, label in enumerate(labels):
            own = each.scores[m]
            quantities = {
                "scores": (own, each.deviations[m]),
                "differences": (own[:, first] - own[:, second], each.deviations_of_pairs[m]),
            }
            for quantity, (values, deviations) in quantities.items():
                yield _spread(label, each.split, quantity, values, deviations)


def _spread(metric: str, split: Split, quantity: str, values: Scores, deviations: Scores) -> SampleSpread:
    """The record of (m, n) values on m samples, and the standard deviations of their draws."""
    observed = float(np.sqrt(values.var(axis=0, ddof=1).mean())) if split.n_samples > 1 else None
    bootstrap = float(np.sqrt((deviations**2).mean()))
    return SampleSpread(
        metric=metric,
        layout=split.layout,
        size=split.size,
        samples=split.n_samples,
        quantity=quantity,
        observed=observed,
        bootstrap=bootstrap,
        ratio=bootstrap / observed if observed else None,
        few_samples=split.is_small,
    )
