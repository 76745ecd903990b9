"""``watch``: is a system better, while data still arrive?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from . import _core, signature
from .comparing import data_and_units
from .errors import Argument, InputError, either, warn
from .inference import sequential
from .inference.estimates import MEANS, check_kind
from .inference.hypotheses import pairs_of
from .inference.multiplicity import benjamini_hochberg
from .inference.sequential import PLANNED, Looks
from .lazy import lazy
from .metrics.base import Scores
from .options.declare import called_with, taken
from .options.watch import WatchOptions
from .progress import reported
from .resampling import CountSample
from .resampling.counting import Data
from .resampling.incomplete import complete_counts
from .resampling.linear import gradient, rows_of, slopes_of
from .resampling.units import Documents
from .results.studies import SequentialLook, SequentialVerdict, StudyResult
from .results.studies.watch import BONFERRONI, E_BH, WatchPlan
from .settings import Resampling
from .validate import check_name

# How many looks are shown, and how many are taken if each needs a pass over the data.
SHOWN, TAKEN = 10, 100
# Scores in a smaller part of the bounds than this are warned of.
SMALL_PART = 0.02


@called_with(WatchOptions)
def watch(options: WatchOptions) -> StudyResult[WatchPlan]:
    """Test whether systems differ while data arrive, without being fooled by looking often.

    Pass all data so far, in the order in which they arrived. At the next look, pass the same data again, and after them
    those that have come since. Nothing is kept between calls: all looks are computed from the data and the options.

    Returns
    -------
    StudyResult
        With the tables ``verdicts`` (:class:`~reshuffle.results.studies.SequentialVerdict`) and ``looks``
        (:class:`~reshuffle.results.studies.SequentialLook`): for each pair and metric, 10 looks spread over the data,
        and the one that decided; with planned looks, those so far.

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if a score is outside the bounds, a metric does not suit the method, or there are
        more units than were planned.

    Notes
    -----
    Units must be independent, and their order must not depend on their scores: not sorted by difficulty, and without
    units that were scored before. Each pair is tested under each metric at ``alpha`` divided by the number of these
    tests, so that ``alpha`` bounds the probability of any wrong verdict; ``adjust`` may change that. Cost: for
    ``betting``, some 900 bets on each unit; for ``sign``, a pass over the scores; for the others, a pass over the
    counts at each look.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores, watch
    >>> rng = np.random.default_rng(1)
    >>> accuracy = SegmentScores("accuracy", {"old": rng.random(2000) < 0.7, "new": rng.random(2000) < 0.76})
    >>> found = watch(metrics=accuracy, bounds=(0, 1)).tables["verdicts"][0]
    >>> found.verdict, found.decided_at
    ('better', 778)
    """
    data, units = data_and_units(options)
    if options.baseline is not None:
        check_name("baseline", options.baseline, data.names)
    with reported(options.progress) as watched:
        counted = data.count_alone(data.names, Resampling(threads=options.threads, progress=watched))
        samples = [complete_counts(sample, "watch", data.names) for sample in counted]
        if units.documents is not None:
            grouping = Documents.from_ids(units.documents, data.n_segments)
            samples = [sample.by_document(grouping) for sample in samples]
        resolved = _resolved(options, data, samples[0])
        if resolved.bounds is not None:
            for sample in samples:
                _check_bounds(sample, *resolved.bounds)
        return _watched(data, samples, resolved)


def _check_bounds(sample: CountSample, low: float, high: float) -> None:
    """Warn of bounds that are much wider than the scores."""
    ends = [end(sample.segment_values(row)) for row in range(len(sample.counts)) for end in (np.min, np.max)]
    if 0 < max(ends) - min(ends) < SMALL_PART * (high - low):
        warn(
            f"{sample.metric.name}: all scores are between {min(ends):g} and {max(ends):g}, a small part of the bounds "
            f"{low:g} and {high:g}, which widen the intervals: give the lowest and the highest possible score"
        )


def _resolved(options: WatchOptions, data: Data, sample: CountSample) -> WatchOptions:
    """The options with the method that ``auto`` stands for; :class:`InputError` if the method does not fit the data."""
    if len(data.names) < 2:
        raise InputError(f"there is only one system, {data.names[0]}: a difference needs two")
    if sample.n_units < 2:
        raise InputError(f"there is only one {sample.unit}: a test needs at least 2")
    method = options.method
    if method == "auto":
        method = "asymptotic" if options.bounds is None else "betting"
    if method in WEALTH:
        check_kind(f"method {method!r}", MEANS, data.metrics, ["asymptotic"])
        if sample.unit != "segment":
            raise InputError(f"method {method!r} takes segments as units, not {sample.unit}s: use 'asymptotic'")
    if (method == "betting") != (options.bounds is not None):
        raise InputError(
            "method {method!r} needs no bounds: leave them out"
            if options.bounds is not None
            else "method 'betting' needs the lowest and the highest possible score: give {bounds}, such as 0 and 1",
            method=method,
            bounds=Argument("bounds"),
        )
    if options.adjust == E_BH and method not in WEALTH:
        raise InputError(f"adjust 'e-bh' needs e-values, which method {method!r} lacks: use {either(WEALTH)}")
    planned = options.planned
    if method in PLANNED:
        if planned is None:
            raise InputError(
                f"method {method!r} needs the number of {sample.unit}s at the last look, chosen before the first: give "
                "{planned}",
                planned=Argument("planned"),
            )
        if sample.n_units > planned:
            raise InputError(
                f"planned: {planned:,} {sample.unit}s were planned, but there are {sample.n_units:,}: looks that were "
                "not planned raise the error rate"
            )
        if options.looks > planned:
            raise InputError(f"looks: {options.looks:,} looks need as many {sample.unit}s, but {planned:,} are planned")
    elif planned is not None:
        raise InputError(
            f"method {method!r} has no planned looks: leave out {{planned}}, or choose 'pocock'",
            planned=Argument("planned"),
        )
    return evolve(options, method=method)


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """That two systems do not differ under a metric."""

    sample: CountSample
    """The counts of the system and the baseline."""
    alpha: float
    options: WatchOptions

    @property
    def n_units(self) -> int:
        return self.sample.n_units

    def estimates(self, looks: Looks) -> tuple[Scores, Scores]:
        """The differences on the first units up to each look, and their standard errors by the delta method.

        While the outputs do not differ, nothing is known of their differences, so the error is infinite.
        """
        metric, counts = self.sample.metric, self.sample.counts
        starts = np.concatenate([[0], looks[:-1]])
        totals = np.cumsum(np.add.reduceat(counts[:, : looks[-1]], starts, axis=1), axis=1)
        scores, slopes = metric.score(totals), slopes_of(gradient(metric, counts, totals))
        rows = rows_of(counts).astype(np.float64)
        sums, squares = np.zeros(rows.shape[1]), np.zeros((rows.shape[1],) * 2)
        variances = np.empty(len(looks))
        for look, (start, n) in enumerate(zip(starts, looks, strict=True)):
            new, slope = rows[start:n], slopes[look]
            sums += new.sum(axis=0)
            squares += new.T @ new
            variances[look] = n / (n - 1) * (slope @ squares @ slope - (sums @ slope) ** 2 / n)
        known = variances > 0
        errors = np.sqrt(variances, out=np.full(len(looks), np.inf), where=known)
        return scores[0] - scores[1], errors

    @lazy
    def values(self) -> Scores:
        """The differences of the units, of means of segment scores."""
        return self.sample.segment_values(0, 1)


# The metric, the system and the baseline.
Names: TypeAlias = tuple[str, str, str]


class Path(NamedTuple):
    """What is known at each look: arrays with a number for each look, or None."""

    units: Looks
    differences: Scores
    low: Scores | None = None
    high: Scores | None = None
    pvalues: Scores | None = None
    z: Scores | None = None
    boundaries: Scores | None = None
    decided_at: int | None = None
    """The number of units at which a difference was shown, which is one of the looks."""
    log_evalue: float | None = None
    """After all units."""


def _spread(n_units: int, first: int = 1) -> Looks:
    """Looks after equal numbers of units, the last one after all: at most :data:`SHOWN`."""
    looks = np.ceil(np.linspace(0, n_units, SHOWN + 1)[1:]).astype(np.intp)
    return np.unique(looks[looks >= first])


def _with(looks: Looks, decided_at: int | None) -> Looks:
    return looks if decided_at is None else np.union1d(looks, [decided_at])


def _first(reached: NDArray[np.bool_]) -> int | None:
    """The index of the first true value; None if there is none."""
    return int(reached.argmax()) if reached.any() else None


def _unit_by_unit(hypothesis: Hypothesis) -> Path:
    """What follows from the log e-values after each unit, at the looks to show."""
    wealth, n = WEALTH[hypothesis.options.method](hypothesis), hypothesis.n_units
    largest = np.maximum.accumulate(wealth)
    first = _first(largest >= -math.log(hypothesis.alpha))
    decided_at = None if first is None else first + 1
    looks = _with(_spread(n), decided_at)
    means, p = np.cumsum(hypothesis.values) / np.arange(1, n + 1), np.exp(-np.maximum(largest, 0))
    known = means[looks - 1], None, None, p[looks - 1]
    return Path(looks, *known, decided_at=decided_at, log_evalue=float(wealth[-1]))


def _bets(hypothesis: Hypothesis) -> Scores:
    """The log wealth of bets against no difference after each unit."""
    every, (scaled, _) = np.arange(1, hypothesis.n_units + 1), _scaled(hypothesis)
    wealth = sequential.betting_wealth(scaled, np.zeros(1), every, hypothesis.options.threads, largest=False)
    return np.asarray(wealth[0])


def _betting(hypothesis: Hypothesis) -> Path:
    path, (scaled, scale) = _unit_by_unit(hypothesis), _scaled(hypothesis)
    low, high = sequential.betting_interval(scaled, hypothesis.alpha, path.units, hypothesis.options.threads)
    return path._replace(low=low * scale, high=high * scale)


def _scaled(hypothesis: Hypothesis) -> tuple[Scores, float]:
    """The differences of the units by the largest possible one, and that; :class:`InputError` for wrong bounds."""
    low, high = hypothesis.options.bounds or (0.0, 1.0)
    for row in (0, 1):
        scores = hypothesis.sample.segment_values(row)
        outside = _first((scores < low) | (scores > high))
        if outside is not None:
            raise InputError(
                f"{hypothesis.sample.metric.name}: segment {outside + 1:,} has the score {scores[outside]:g}, outside "
                f"the bounds {low:g} and {high:g}: give the lowest and the highest possible score"
            )
    return hypothesis.values / (high - low), high - low


def _asymptotic(hypothesis: Hypothesis) -> Path:
    first, n = hypothesis.options.first_look, hypothesis.n_units
    if n < first:
        return Path(np.array([n]), hypothesis.estimates(np.array([n]))[0])
    taken = np.unique(np.append(_spread(n, first), np.linspace(first, n, TAKEN).round().astype(np.intp)))
    differences, errors = hypothesis.estimates(taken)
    r2 = sequential.tuned_for(first, hypothesis.alpha)
    radii = sequential.asymptotic_radii(errors, taken, hypothesis.alpha, r2)
    z = differences / errors
    p = sequential.asymptotic_pvalues(z, taken, r2)
    at = _first(p <= hypothesis.alpha)
    decided_at = None if at is None else int(taken[at])
    shown = np.isin(taken, _with(_spread(n, first), decided_at))
    # Not the intersection over looks: where the difference drifts, that need not contain the estimate.
    low, high = differences - radii, differences + radii
    return Path(taken[shown], differences[shown], low[shown], high[shown], p[shown], z[shown], decided_at=decided_at)


def _planned(hypothesis: Hypothesis) -> Path:
    options, n = hypothesis.options, hypothesis.n_units
    assert options.planned is not None
    planned = np.ceil(np.arange(1, options.looks + 1) * options.planned / options.looks).astype(np.intp)
    taken = planned[planned <= n]
    if not len(taken):
        return Path(np.array([n]), hypothesis.estimates(np.array([n]))[0])
    differences, errors = hypothesis.estimates(taken)
    shares = tuple((planned / options.planned).tolist())
    limits = sequential.boundaries(options.method, shares, hypothesis.alpha)[: len(taken)]
    z = differences / errors
    at = _first(np.abs(z) >= limits)
    ends = differences - limits * errors, differences + limits * errors
    return Path(taken, differences, *ends, None, z, limits, None if at is None else int(taken[at]))


METHODS: Mapping[str, Callable[[Hypothesis], Path]] = {
    "betting": _betting,
    "sign": _unit_by_unit,
    "asymptotic": _asymptotic,
    "obrien-fleming": _planned,
    "pocock": _planned,
}
# Methods that look after every unit: the log e-values.
WEALTH: Mapping[str, Callable[[Hypothesis], Scores]] = {
    "betting": _bets,
    "sign": lambda hypothesis: sequential.sign_wealth(hypothesis.values),
}


def decided_at(hypothesis: Hypothesis) -> int | None:
    """After how many units a difference is shown."""
    method = hypothesis.options.method
    path_of = _unit_by_unit if method in WEALTH else METHODS[method]  # without the interval
    return path_of(hypothesis).decided_at


def _watched(data: Data, samples: Sequence[CountSample], options: WatchOptions) -> StudyResult[WatchPlan]:
    """All pairs with the baseline under all metrics."""
    base = 0 if options.baseline is None else data.names.index(options.baseline)
    pairs = pairs_of(len(data.names), base)
    alpha = options.alpha if options.adjust == E_BH else options.alpha / (len(pairs) * len(samples))
    paths: dict[Names, Path] = {}
    for label, sample in zip(data.labels, samples, strict=True):
        for system, baseline in pairs:
            own = CountSample.from_counts(sample.metric, sample.counts[[system, baseline]], sample.unit)
            path = METHODS[options.method](Hypothesis(own, alpha, options))
            paths[label, data.names[system], data.names[baseline]] = path
    if options.adjust == E_BH:
        paths = _by_e_bh(paths, options.alpha)
    looks = {names: tuple(_looks(names, path)) for names, path in paths.items()}
    used, n = data.used_metrics(), samples[0].n_units
    lower = {metric.name for metric in used if not metric.higher_is_better}
    verdicts = [_verdict(names, looks[names][-1], path, n, names[0] in lower) for names, path in paths.items()]
    is_planned = options.method in PLANNED
    plan = taken(
        WatchPlan,
        options,
        systems=data.names,
        unit=samples[0].unit,
        units=n,
        adjust=None if options.adjust == BONFERRONI else options.adjust,
        first_look=options.first_look if options.method == "asymptotic" else None,
        looks=options.looks if is_planned else None,
        planned=options.planned if is_planned else None,
    )
    return StudyResult(
        study="watch",
        plan=plan,
        metrics=used,
        tables={"verdicts": tuple(verdicts), "looks": tuple(chain.from_iterable(looks.values()))},
        truths={},
        signature=signature.without_seed("watch", plan, [metric.signature for metric in used]),
        version=_core.VERSION,
    )


def _by_e_bh(paths: Mapping[Names, Path], alpha: float) -> dict[Names, Path]:
    """The paths, of which those are decided, after all units, whose e-values e-BH rejects.

    It rejects the k largest of m e-values for the largest k of which all are m/(αk) or more, as Benjamini and
    Hochberg's procedure does with their inverses. Unlike p-values, e-values may depend on one another in any way.
    """
    inverses = np.exp([-max(path.log_evalue or 0.0, 0.0) for path in paths.values()])
    return {
        names: path._replace(decided_at=int(path.units[-1]) if p <= alpha else None)
        for (names, path), p in zip(paths.items(), benjamini_hochberg(inverses).tolist(), strict=True)
    }


def _looks(names: Names, path: Path) -> Iterator[SequentialLook]:
    for look, units in enumerate(path.units.tolist()):
        others = (None if each is None else float(each[look]) for each in path[2:7])
        yield SequentialLook(*names, units, float(path.differences[look]), *others)


def _verdict(names: Names, last: SequentialLook, path: Path, n: int, lower_is_better: bool) -> SequentialVerdict:
    verdict = "undecided"
    if path.decided_at is not None:
        shown = float(path.differences[path.units == path.decided_at][0])
        verdict = "better" if (-shown if lower_is_better else shown) > 0 else "worse"
    ends = last.low, last.high, last.pvalue, path.log_evalue
    return SequentialVerdict(*names, verdict, path.decided_at, n, last.difference, *ends)
