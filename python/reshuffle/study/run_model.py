"""Simulated runs of two configurations that do not differ: a model, its p-values, and runs of one real system."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..inference.exchange import ExchangeUnit
from ..inference.pvalues import largest_rank, threshold
from ..inference.run_tests import run_outcome
from ..metrics.base import Counts, Metric, Scores, tolerance
from ..metrics.precomputed import SegmentScores
from ..resampling import CountSample, samples_of
from ..resampling.reductions import reached
from ..resampling.run_exchange import exchange_runs
from ..resampling.run_hierarchical import draw_runs_and_segments, no_lighter_than_normal
from ..resampling.run_linear import RunCovariances, tails
from ..resampling.runs import RunData
from ..settings import Resampling, RunSettings
from .parametric import uniform_values

# The two configurations.
NAMES = ("first", "second")
# The difference that is tested: second − first.
PAIR = (1, 0)
# The components of the scores are rounded to this share of their standard deviation.
RESOLUTION = 1e-4
# The points at which a normal distribution is integrated.
GRID = 20_000


# The metric of simulated scores, which are integers.
_SCORE = SegmentScores("score", {"any": [0.0, 1.0]})


def normal_values(seed: int, n: int) -> Scores:
    """n independent standard normal values, which depend on the seed and nothing else."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform_values(seed, "selection", n)))


@dataclass(frozen=True)
class RunModel:
    """A model of the segment scores of n runs of each of two configurations.

    The score of run i of configuration g on segment s is

    √ρ·u(g, s) + √(1 − ρ)·e(g, i, s) + τ/√S·r(g, i)

    with standard normal u, e and r. u is what the runs of a configuration have in common, e is noise, and r the quality
    of a run. So ρ is the correlation between the segment differences of two pairs of runs, and τ is the standard
    deviation between runs divided by the sampling standard deviation of the score of a run. The difficulty of a segment
    would be the same in all 2n outputs: it cancels, whatever is exchanged.
    """

    n_runs: int
    segments: int

    def components(self, seed: int) -> Counts:
        """u, e and r of one simulated test set, for all outputs, in units of :data:`RESOLUTION`: (3, 2n, S)."""
        n, size = self.n_runs, self.segments
        normal = normal_values(seed, 2 * size + 2 * n * size + 2 * n)
        shared, noise, quality = np.split(normal, np.cumsum([2 * size, 2 * n * size]))
        rows = np.empty((3, 2 * n, size))
        rows[0] = np.repeat(shared.reshape(2, size), n, axis=0)
        rows[1] = noise.reshape(2 * n, size)
        rows[2] = quality[:, None]
        return np.rint(rows / RESOLUTION).astype(np.int64)

    def coefficients(self, correlation: float, run_sd: float) -> Scores:
        """What the components are multiplied by: (3,)."""
        return np.array([math.sqrt(correlation), math.sqrt(1 - correlation), run_sd / math.sqrt(self.segments)])

    def composed(self, components: Counts, coefficients: Scores) -> Counts:
        """The scores of all outputs, rounded: (…, 3, 2n, S) in, (…, 2n, S) out."""
        scores = np.einsum("c,...cos->...os", coefficients, components.astype(np.float64))
        return np.asarray(np.rint(scores), dtype=np.int64)


def data_of(scores: Counts, resampling: Resampling) -> RunData:
    """Simulated scores, each as a metric of its own, so that all have the same replicates: (metrics, 2n, S) in."""
    n = scores.shape[1] // 2
    samples = [CountSample.from_counts(_SCORE, np.stack([each, np.ones_like(each)], axis=2)) for each in scores]
    return RunData(NAMES, (n, n), samples, resampling)


@dataclass(frozen=True, eq=False)
class RunPool:
    """Runs of one real system, from which two disjoint sets of n runs are drawn for each simulated test set.

    ``counts`` has an array (k, units, K) for each metric. The units of a test set are drawn, too: ``sampling`` is a
    name in :data:`~reshuffle.study.experiments.SAMPLING`.
    """

    metrics: Sequence[Metric]
    counts: Sequence[Counts]
    n_runs: int
    size: int
    sampling: str

    def split(self, seed: int) -> tuple[int, ...]:
        """The n runs of the first set, then those of the second."""
        values = _core.stream_values(seed, "assignment", 0, len(self.counts[0]))
        return tuple(np.argsort(values, kind="stable")[: 2 * self.n_runs].tolist())

    def unordered(self, split: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The two sets, the same whichever of them is the first."""
        n = self.n_runs
        return tuple(sorted((tuple(sorted(split[:n])), tuple(sorted(split[n:])))))

    def units(self, seed: int) -> NDArray[np.intp]:
        """The units of a simulated test set: (size,)."""
        available = self.counts[0].shape[1]
        if self.sampling == "fixed":
            return np.arange(available)
        if self.sampling == "subset":
            values = _core.stream_values(seed, "selection", 0, available)
            return np.sort(np.argsort(values, kind="stable")[: self.size])
        values = _core.stream_values(seed, "selection", 0, self.size)
        half = np.uint64(32)  # the product of two numbers below 2^32 fits
        return ((values >> half) * np.uint64(available) >> half).astype(np.intp)

    def data(self, seed: int, resampling: Resampling) -> RunData:
        """The counts of a simulated test set."""
        rows, units = np.array(self.split(seed))[:, None], self.units(seed)
        samples = samples_of(self.metrics, [counts[rows, units] for counts in self.counts])
        return RunData(NAMES, (self.n_runs, self.n_runs), samples, resampling)


def variance_ratio(exchange: str, n: int, correlation: float, run_sd: float) -> float | None:
    """The variance of the difference divided by its mean variance over the replicates, for many segments.

    The variance of the difference of n runs is proportional to 1 + (n − 1)ρ + τ². Swapping all runs of a segment keeps
    the correlation of the runs, but not τ²; a coin for each run takes runs as independent; and a permutation of all
    outputs of a segment keeps n/(2n − 1) of what the runs of a configuration have in common. As coded in MultEval, an
    output is on neither or on both sides of the difference with probability (n − 2)/(2n). None without a formula.

    >>> [round(variance_ratio(name, 3, 0.54, 0), 2) for name in ("segment", "cell", "pooled")]
    [1.0, 2.08, 2.65]
    """
    of_replicates = {
        "segment": 1 + (n - 1) * correlation,
        "cell": 1.0,
        "pooled": 1 - correlation + correlation * n / (2 * n - 1),
        "multeval": (n + 2 + (n - 2) * correlation) / (2 * n) if n > 1 else 1.0,
    }
    if exchange not in of_replicates:
        return None
    return (1 + (n - 1) * correlation + run_sd**2) / of_replicates[exchange]


def size_for_ratio(ratio: float, alpha: float, n_resamples: int) -> float:
    """The type-I error of a two-sided test with R replicates whose variance is too small by a factor.

    >>> round(size_for_ratio(1, 0.05, 999), 4), round(size_for_ratio(2.08, 0.05, 999), 3)
    (0.05, 0.174)
    """
    from scipy.special import bdtr, ndtr, ndtri

    largest = largest_rank(n_resamples + 1, alpha) - 1  # the number of exceedances with which the test rejects
    if largest < 0:
        return 0.0
    quantiles = ndtri((np.arange(GRID) + 0.5) / (2 * GRID))  # the lower half: the test is two-sided
    return float(bdtr(largest, n_resamples, 2 * ndtr(quantiles * math.sqrt(ratio))).mean())


def size_of_splits(n: int, correlation: float, run_sd: float, alpha: float) -> float:
    """The type-I error of the two-sided test that exchanges whole runs in all ways.

    p is a multiple of 2/C(2n, n), because the opposite of a split is as extreme. The test takes the segments as given:
    its error is exact for ρ = 0, and otherwise approximated by that of a t-test of the runs' scores whose variance is
    too small.

    >>> [round(size_of_splits(n, 0, 0, 0.05), 4) for n in (3, 4, 5)]
    [0.0, 0.0286, 0.0476]
    >>> round(size_of_splits(5, 0.5, 0, 0.05), 2)
    0.37
    """
    from scipy.special import stdtr, stdtrit

    step = 2 / math.comb(2 * n, n)
    level = math.floor(alpha / step * (1 + 1e-12)) * step
    within = 1 - correlation + run_sd**2
    if not correlation or not level:
        return level
    if not within:  # all runs of a configuration have the same score
        return 1.0
    ratio = (1 + (n - 1) * correlation + run_sd**2) / within
    freedom = 2 * n - 2
    return float(2 * stdtr(freedom, stdtrit(freedom, level / 2) / math.sqrt(ratio)))


@dataclass(frozen=True, eq=False)
class SimulatedRuns:
    """Simulated test sets of a model, and their tests by exchange units. All test sets get the same replicates.

    The scores are linear in their components, and so is a difference of means: components are exchanged or drawn once,
    for all correlations and standard deviations.
    """

    model: RunModel
    components: Counts
    """Shape (simulations, 3, 2n, S)."""
    coefficients: Scores
    """Shape (cells, 3)."""
    statistic: str
    resampling: Resampling

    def pvalues(self, unit: ExchangeUnit) -> tuple[Scores, bool]:
        """The p-values of a unit, (cells, simulations), and whether they are exact."""
        simulations = len(self.components)
        data = data_of(self.components.reshape(-1, *self.components.shape[2:]), self.resampling)
        if unit.run is draw_runs_and_segments:
            return self._drawn(data), False
        # The numbers of runs are equal, so dividing the differences of splits by their errors changes no p-value.
        function = partial(exchange_runs, studentized=False) if unit.run is exchange_runs else unit.run
        exchanged = function(data, [PAIR], self.statistic)
        if exchanged.closed is not None:  # statistics that are not linear in the components
            return self.composed_pvalues(unit)
        replicates = np.array([series for (series,) in exchanged.statistics]).reshape(simulations, 3, -1)
        observed, tolerances = self._observed(data, self.statistic)
        limits = threshold(observed, tolerances if unit.ties == ">=" else -tolerances, "two-sided")
        of_cells = (np.einsum("c,scr->sr", own, replicates) for own in self.coefficients)
        is_exact = bool(exchanged.exact[0])
        return _shares(zip(of_cells, limits, strict=True), is_exact), is_exact

    def composed_pvalues(self, unit: ExchangeUnit) -> tuple[Scores, bool]:
        """As :meth:`pvalues`, from the scores of each test set, as :func:`reshuffle.compare_runs` tests them."""
        composed = np.stack([self.model.composed(self.components, own) for own in self.coefficients])
        data = data_of(composed.reshape(-1, *composed.shape[2:]), self.resampling)
        _, outcome = run_outcome(data, [PAIR], unit, RunSettings(statistic=self.statistic, adjust=None))
        return outcome.pvalue.reshape(len(self.coefficients), len(self.components)), bool(outcome.exact[0])

    def _observed(self, data: RunData, statistic: str) -> tuple[Scores, Scores]:
        """The differences, and the tolerances of ties: (cells, simulations) each. ``data`` has the components."""
        scores = [np.array(data.score_of(system, statistic)).reshape(-1, 3) @ self.coefficients.T for system in PAIR]
        a, b = (np.ascontiguousarray(each.T) for each in scores)
        return a - b, tolerance(a, b)

    def _drawn(self, data: RunData) -> Scores:
        """The p-values of the hierarchical bootstrap: (cells, simulations).

        Its deviations are stretched to Student's t by an increasing function, so the difference is shrunk instead.
        """
        from scipy.special import ndtri

        a, b = PAIR
        drawn = np.array([scores[a] - scores[b] for scores in data.hierarchical_draws["mean"]])
        observed, tolerances = self._observed(data, "mean")
        of_components = np.subtract(*(np.array(data.score_of(system, "mean")) for system in PAIR))
        deviations = (drawn - of_components[:, None]).reshape(len(self.components), 3, -1)
        factors, shares, degrees = self._spreads(data.rows)
        products = deviations @ deviations.transpose(0, 2, 1)
        squares = np.einsum("ka,kb,sab->ks", self.coefficients, self.coefficients, products)
        scales = np.sqrt(squares / deviations.shape[2]) * factors
        reduced = np.maximum(np.abs(observed) - tolerances, 0)
        ratios = np.divide(reduced, scales, out=np.zeros_like(reduced), where=scales > 0)
        # stretched(z·scale) ≥ d exactly if Φ(−z) ≤ T(−d/scale)
        unscaled = scales / factors
        limits = -ndtri(tails(ratios, shares, degrees)) * unscaled
        limits = np.where((scales > 0) | (reduced == 0), limits, np.inf)
        of_cells = (
            no_lighter_than_normal(np.einsum("c,scr->sr", own, deviations), scale)
            for own, scale in zip(self.coefficients, unscaled, strict=True)
        )
        return _shares(zip(of_cells, limits, strict=True), False)

    def _spreads(self, rows: list[slice]) -> tuple[Scores, Scores, Scores]:
        """The factor of each difference, (cells, simulations), and its levels, (cells, simulations, levels).

        They are those of :class:`~reshuffle.resampling.run_linear.Spread`: with equal numbers of runs there are two
        levels, runs and segments. The shares come before the degrees of freedom.
        """
        simulations, _, outputs, size = self.components.shape
        means = self.components.mean(axis=3)
        centred = (self.components - means[..., None]).reshape(simulations, 3 * outputs, size) / size
        products = (centred @ centred.transpose(0, 2, 1)).reshape(simulations, 3, outputs, 3, outputs)
        factors = np.empty((len(self.coefficients), simulations))
        levels = np.empty((2, *factors.shape, 2))
        for cell, own in enumerate(self.coefficients):
            covariances = np.einsum("a,b,saxby->sxy", own, own, products)
            scores = np.einsum("a,sax->sx", own, means)
            for at in range(simulations):
                runs = RunCovariances(scores[at], covariances[at] * size / (size - 1), covariances[at], size, rows)
                spread = runs.of_difference(*PAIR)
                factors[cell, at] = spread.factor
                levels[:, cell, at] = spread.levels.shares, spread.levels.degrees_of_freedom
        return factors, levels[0], levels[1]


def _shares(of_cells: Iterable[tuple[Scores, Scores]], exact: bool) -> Scores:
    """The shares of replicates, (simulations, R) for each cell, that reach the limits, (simulations,)."""
    plus = 0 if exact else 1
    return np.array(
        [
            (reached(values, limit[:, None], "two-sided").sum(axis=1) + plus) / (values.shape[1] + plus)
            for values, limit in of_cells
        ]
    )
