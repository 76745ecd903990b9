"""The bootstrap test with least favourable lengths, for scores with a kink: are those of the populations equal?

BLEU is a smooth function of its totals times exp(min(0, x)), with x = 1 − r/c for r words of references and c of
hypotheses. Near x = 0 the distribution of a difference depends on where the x of both *populations* lie, and a sample
does not say that well enough. So the draws are taken as if they lay at other places, all those that are compatible with
the sample, and the place with the largest p decides.

At places λ, draw b has the deviation f_a,b·w_a,b − f_b,b·w_b,b − d, where f are scores, d is the observed difference,
and w = exp([min(0, λ + x_b − x) − min(0, λ)] − [min(0, x_b) − min(0, x)]) replaces what the kink does to the
deviation of the draw at x by what it does at λ. At λ = x it is the deviation that ``bootstrap`` counts.

The places are those in the region of confidence 1 − β for both x, an ellipse about the observed ones. A test at level α
has β = α/50 and compares the largest p with α − β, so it rejects with probability α at most if the region contains the
true places with probability 1 − β and p at the true places is valid, as in large samples (Berger & Boos 1994, Journal
of the American Statistical Association 89; Romano, Shaikh & Wolf 2014, doi:10.3982/ECTA11011). Regions grow as α
decreases, so there is a smallest α at which it rejects, and that is p.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Scores, significant
from ..metrics.named import metric
from ..resampling import CountSample, Pairs, Replicates, Sample, reached
from ..resampling.linear import linear_variances_of_differences
from ..resampling.units import Strata
from ..results import Brevity
from ..validate import default_alpha
from .enough import fewest
from .estimates import Estimate
from .hypotheses import Observed, Outcome
from .power import normal_cdf
from .pvalues import largest_rank, pvalue

# The levels α whose regions are searched, from the smallest region to the largest. β is α divided by SHARES.
LEVELS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6)
SHARES = 50
# Places inside the smallest region, by their distance from the observed ones, and how many there are on an ellipse.
# Between neighbours p changes by much less than its Monte Carlo error at 10,000 draws.
INNER = (0.7, 1.4, 2.1)
DIRECTIONS = 24
# Deviations that are computed at a time: as many as fit in a core's cache.
CELLS = 1 << 15
# If the x of both systems are this many standard errors from 0, no place in a region has the kink within reach.
REACH = 10.0
# By how many standard errors the lengths of a sample may be off, for the bias near a kink.
SHIFT = 2.0
# From which bias on, in standard errors of a difference, expected scores and scores of populations are worth telling
# apart: docs/evidence/kink.md has figures.
NEAR_KINK = 0.3
# The test, and the interval, of scores of populations.
FOR_POPULATIONS = "bootstrap-kink"


def lengths_of(sample: Sample) -> CountSample | None:
    """The sample of the ratio c/r, of which x = 1 − r/c is a function; None for a score without a kink."""
    kink = sample.metric.kink if isinstance(sample, CountSample) else None
    if kink is None or not isinstance(sample, CountSample):
        return None
    counts = sample.stored[..., [kink.hypothesis, kink.reference]].astype(np.int64)
    return CountSample.from_counts(metric("length"), counts, sample.unit, sample.strata)


def _excess(ratios: Scores) -> Scores:
    """x = 1 − r/c from the ratios c/r; −∞ without words."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 - 1 / ratios)


def brevity_of(sample: Sample, pairs: Pairs) -> list[Brevity | None]:
    """What the brevity penalty contributes to each difference. None without one, and where nothing varies.

    With x ~ N(m, s²) and z = m/s, E min(0, x) − min(0, m) = −s·κ(z), κ(z) = φ(z) − |z|·Φ(−|z|): the expected score of
    a system is lower than that of its population by the score times s·κ(z), to first order. A sample does not say well
    where z is, so the bias of a difference is the largest one if both systems were longer, or shorter, by up to SHIFT
    standard errors. Standard errors are by the delta method. That of the difference is the smaller one of those with
    penalties and without, because it is far too large where the lengths of both systems lie on both sides of the kink.
    """
    lengths = lengths_of(sample)
    if lengths is None or not pairs:
        return [None] * len(pairs)
    variances = _variances(sample.with_counts(), pairs)
    excess, errors = np.full((2, len(sample.scores)), np.nan)
    for i in {system for pair in pairs for system in pair}:
        if lengths.scores[i] > 0:
            excess[i] = _excess(lengths.scores[i])
            errors[i] = math.sqrt(lengths.linear.variance(i)) / lengths.scores[i] ** 2
    found: list[Brevity | None] = []
    for pair, variance in zip(pairs, variances.tolist(), strict=True):
        rows = list(pair)
        varies = variance > 0 and (errors[rows] > 0).all()
        found.append(_brevity(sample.scores[rows], excess[rows], errors[rows], variance) if varies else None)
    return found


def is_near_kink(brevity: Brevity | None) -> bool:
    """Whether the lengths are so near the kink of a brevity penalty that two null hypotheses differ."""
    return brevity is not None and brevity.bias >= NEAR_KINK


def _variances(sample: CountSample, pairs: Pairs) -> Scores:
    """The variance of each difference by the delta method: with penalties or, if it is smaller, without."""
    kink, strata = sample.metric.kink, Strata.or_single(sample.strata, sample.n_units)
    assert kink is not None
    without = sample.totals.copy()
    without[:, kink.reference] = 0  # no reference is longer than the hypotheses
    found = [
        linear_variances_of_differences(sample.metric, sample.stored, totals, strata, pairs)
        for totals in (sample.totals, without)
    ]
    return np.minimum(*found)


def _brevity(scores: Scores, excess: Scores, errors: Scores, variance: float) -> Brevity:
    """The record of a pair, from (2,) scores, x and their standard errors, and the variance of the difference."""
    z = excess / errors
    shifted = np.abs((excess[:, None] + errors.mean() * np.linspace(-SHIFT, SHIFT, 81)) / errors[:, None])
    beyond = np.reshape([normal_cdf(-x) for x in shifted.flat], shifted.shape)
    kappa = np.exp(-(shifted**2) / 2) / math.sqrt(2 * math.pi) - shifted * beyond
    biases = scores[:, None] * errors[:, None] * kappa
    share = None
    if scores.all() and scores[0] != scores[1]:
        a, b = np.minimum(0, excess)
        share = float((a - b) / math.log(scores[0] / scores[1]))
    bias = float(np.abs(biases[0] - biases[1]).max()) / math.sqrt(variance)
    known = None if share is None else significant(share)
    return Brevity(significant(z[0]), significant(z[1]), significant(bias), known)


def _excesses(replicates: Replicates, m: int) -> tuple[Scores, Scores] | None:
    """x of every system under metric m, (k,), and on every draw, (k, R); None for a score without a kink."""
    lengths = lengths_of(replicates.samples[m])
    if lengths is None:
        return None
    (drawn,) = replicates.with_samples([lengths]).draws
    return _excess(lengths.scores), _excess(drawn)


@dataclass(frozen=True, eq=False)
class DrawnPair:
    """Two systems with a kink: scores and x, (2,), and those on every draw, (2, R)."""

    scores: Scores
    drawn: Scores
    excess: Scores
    drawn_excess: Scores

    @classmethod
    def from_replicates(cls, replicates: Replicates, m: int, a: int, b: int) -> DrawnPair | None:
        """Systems a and b under metric m; None if the kink cannot matter."""
        excesses = replicates.once((_excesses, m), partial(_excesses, replicates, m))
        if excesses is None:
            return None
        rows = [a, b]
        pair = cls(replicates.samples[m].scores[rows], replicates.draws[m][rows], excesses[0][rows], excesses[1][rows])
        return pair if pair.is_near else None

    @property
    def difference(self) -> float:
        """The observed difference."""
        return float(self.scores[0] - self.scores[1])

    @lazy
    def _deviations(self) -> Scores:
        """x_b − x: (2, R)."""
        return np.asarray(self.drawn_excess - self.excess[:, None])

    @lazy
    def errors(self) -> Scores:
        """The standard deviations of the x of the draws that have words: (2,)."""
        return np.asarray(self._usable.std(axis=1)) if self._usable.shape[1] else np.zeros(2)

    @lazy
    def _usable(self) -> Scores:
        return np.asarray(self._deviations[:, np.isfinite(self._deviations).all(axis=0)])

    @property
    def is_near(self) -> bool:
        """Whether the kink is within reach of either system."""
        if not np.isfinite(self.excess).all():
            return False  # a system without words
        return bool((np.abs(self.excess) < REACH * self.errors).any())

    @lazy
    def _smooth(self) -> Scores:
        """The drawn scores without what the kink does to their deviations: (2, R)."""
        observed = np.minimum(0, self.excess)[:, None]
        with np.errstate(invalid="ignore", over="ignore"):
            smooth = self.drawn * np.exp(observed - np.minimum(0, self.drawn_excess))
        return np.where(self.drawn == 0, 0.0, smooth)

    @lazy
    def _factors(self) -> Scores:
        """exp(x_b − x): (2, R)."""
        return np.asarray(np.exp(self._deviations))

    def deviations(self, level: float) -> Iterator[Scores]:
        """The deviations of the differences at the places that the region of a level adds, (n, R) for n at a time."""
        places = self._places(level)
        at_once = max(1, CELLS // self.drawn.shape[1])
        for first in range(0, len(places), at_once):
            yield self._deviations_at(places[first : first + at_once])

    def _deviations_at(self, places: Scores) -> Scores:
        """The deviations of the differences if both x were at each of these places, (n, 2): (n, R)."""
        # exp(min(0, λ + δ) − min(0, λ)) is the smaller of exp(−min(0, λ)) and exp(λ − min(0, λ))·exp(δ).
        below = np.minimum(0, places)
        largest, scale = np.exp(-below), np.exp(places - below)
        found = np.empty((2, len(places), self.drawn.shape[1]))
        for i, of_system in enumerate(found):
            np.multiply(scale[:, i, None], self._factors[i], out=of_system)
            np.minimum(of_system, largest[:, i, None], out=of_system)
            of_system *= self._smooth[i]
        found[0] -= found[1]
        found[0] -= self.difference
        return np.asarray(found[0])

    def _places(self, level: float) -> Scores:
        """The places that the region of a level adds to those of higher levels: (n, 2)."""
        radii = [*(INNER if level == LEVELS[0] else ()), math.sqrt(-2 * math.log(level / SHARES))]
        return np.concatenate([self.excess + radius * self._ellipse for radius in radii])

    @lazy
    def _ellipse(self) -> Scores:
        """Places at a distance of one standard error from the observed x, less these: (n, 2)."""
        product = self.errors[0] * self.errors[1]
        a, b = self._usable - self._usable.mean(axis=1, keepdims=True)
        correlation = float((a * b).mean() / product) if product > 0 else 0.0
        angles = 2 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
        # Without a rounding error for equal lengths, so that equal scores have equal deviations.
        apart = 0.0 if np.array_equal(a, b) else math.acos(min(1.0, max(-1.0, correlation)))
        return np.asarray(self.errors * np.stack([np.cos(angles), np.cos(angles - apart)], axis=1))


def _exceedances(pair: DrawnPair, at_observed: int, threshold: float, alternative: str) -> int:
    """c of p = (c + 1)/(R + 1), rounded up, from the number of exceedances at the observed places."""
    n, most = int(pair.drawn.shape[1]) + 1, at_observed
    smallest = n
    for level in LEVELS:
        for deviations in pair.deviations(level):
            most = max(most, int(np.count_nonzero(reached(deviations, threshold, alternative), axis=1).max()))
        needed = _with_share(most + 1)
        smallest = min(smallest, max(needed, _count(level, n)))
        if _count(level, n) <= needed:
            break  # larger regions cannot have a smaller p
    return smallest - 1


def _count(level: float, n: int) -> int:
    """The largest number of n equally likely arrangements whose share is at most a level."""
    return max(1, largest_rank(n, level))


def _with_share(count: int) -> int:
    """The smallest number of which all but one of SHARES parts are at least ``count``."""
    return -(-count * SHARES // (SHARES - 1))


def least_favourable(observed: Observed) -> Outcome:
    """``bootstrap`` with the lengths, among those compatible with the sample, that have the largest p.

    For a score without a kink, or with both systems far from it, the same as ``bootstrap``.
    """
    return least_favourable_of(observed, range(len(observed.hypotheses)))


def least_favourable_of(observed: Observed, chosen: Sequence[int]) -> Outcome:
    """The same for the hypotheses with these indices."""
    counted = np.array([_counted(observed, h) for h in chosen], dtype=np.int64)
    exceedances, wins, ties = counted.reshape(-1, 3).T
    n = observed.replicates.n_resamples
    return Outcome(observed.statistic[list(chosen)], pvalue(exceedances, n), exceedances, n, wins=wins, ties=ties)


def _counted(observed: Observed, h: int) -> tuple[int, int, int]:
    """For one hypothesis: c of p, the draws in which a scores higher than b, and those in which both are equal."""
    statistic, threshold = observed.statistic[h], float(observed.thresholds[h])
    alternative, drawn = str(observed.each_alternative[h]), observed.drawn_differences(h)
    exceedances = int(np.count_nonzero(reached(drawn - statistic, threshold, alternative)))
    pair = DrawnPair.from_replicates(observed.replicates, *observed.hypotheses.indices(h))
    if pair is not None:
        exceedances = _exceedances(pair, exceedances, threshold, alternative)
    return exceedances, int(np.count_nonzero(drawn > 0)), int(np.count_nonzero(drawn == 0))


def by_inversion(estimate: Estimate, level: float) -> tuple[float, float]:
    """d ± the k-th largest absolute deviation of R draws, at the places where that is largest.

    0 is outside exactly when the two-sided test ``bootstrap-kink`` has p ≤ α. With K = ⌊α(R + 1)⌋, k is 49/50 of K,
    rounded down; without a kink within reach it is K.
    """
    n, alpha = estimate.replicates.n_resamples + 1, default_alpha(level)
    allowed = largest_rank(n, alpha)
    pair = DrawnPair.from_replicates(estimate.replicates, estimate.metric, *estimate.pair)
    rank = allowed if pair is None else allowed * (SHARES - 1) // SHARES
    if rank == 0:
        needed = fewest(alpha, 1 if pair is None else SHARES / (SHARES - 1))
        raise InputError(
            f"interval 'bootstrap-kink' needs at least {needed:,} draws at confidence level {level:.10g}, got "
            f"{n - 1:,}: increase n_resamples, or choose another interval"
        )
    widest = _kth_largest(estimate.draws - estimate.value, rank)
    if pair is not None:
        for each in LEVELS:
            widest = max([widest, *(_kth_largest(deviations, rank) for deviations in pair.deviations(each))])
            if _count(each, n) <= allowed:
                break
    d = estimate.value
    if abs(widest - abs(d)) <= estimate.tolerance:  # a tie, so p > α and 0 is an end
        return min(0.0, 2 * d), max(0.0, 2 * d)
    return d - widest, d + widest


def _kth_largest(deviations: Scores, rank: int) -> float:
    """The k-th largest absolute value of each row, and of these the largest."""
    place = deviations.shape[-1] - rank
    return float(np.partition(np.abs(deviations), place)[..., place].max())
