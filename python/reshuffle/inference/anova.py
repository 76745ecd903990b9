"""Pairwise t-tests with the error pooled over all systems, and Tukey's and Scheffé's adjustments of their p-values.

Riezler & Maxwell 2005 (W05-0908), section 4.4, recommend these post-hoc tests for more than two systems.

The analysis of variance has two factors without interaction: v_is is the value of system i on segment s, and segments
are blocks. The residuals are r_is = v_is − v̄_i − v̄_s + v̄, and their mean square is MSE = Σ r_is²/((k − 1)(S − 1)).
For means of segment scores, v_is is the score of a segment. For other scores it is a jackknife pseudo-value
(Tukey 1958), whose mean over the segments is the score of the system.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..metrics.base import Metric, Scores
from ..resampling import CountSample, Sample
from ..resampling.exact import MISSING
from ..resampling.units import Strata
from .closed_form import binary_exponent
from .hypotheses import Observed, Outcome
from .step_down import Adjusted, Band, StepDown

# The number of values up to which each is a call. More values are interpolated between so many nodes.
NODES = 200
# SciPy subtracts from 1, so smaller probabilities may be errors. They are reported as this, which is larger.
SMALLEST = 1e-10


def studentized_range_sf(q: Scores, k: int, df: int) -> Scores:
    """P(Q ≥ q), where Q is the range of k standard normal variables, divided by an independent √(χ²/df).

    Parameters
    ----------
    q : (n,) ndarray of float
        Not negative; may be infinite.
    k : int
        At least 2.
    df : int
        At least 1.

    Returns
    -------
    (n,) ndarray of float
        At least 10⁻¹⁰, or 0 for infinite values. The absolute error is below 10⁻⁶.

    Examples
    --------
    >>> studentized_range_sf(np.array([0.0, 3.8767767500]), 3, 10).round(9).tolist()
    [1.0, 0.05]
    """
    from scipy.interpolate import CubicSpline

    values, inverse = np.unique(q, return_inverse=True)
    finite = values[np.isfinite(values)]
    p = np.zeros(len(values))
    if len(finite) <= NODES:
        p[: len(finite)] = _by_scipy(finite, k, df)
    else:
        nodes = np.linspace(finite[0], finite[-1], NODES)
        at_nodes = _by_scipy(nodes, k, df)
        large = at_nodes > SMALLEST
        inside = finite <= nodes[large][-1]
        p[: len(finite)][inside] = np.exp(CubicSpline(nodes[large], np.log(at_nodes[large]))(finite[inside]))
    p[: len(finite)] = np.minimum.accumulate(np.clip(p[: len(finite)], SMALLEST, 1))  # values are in ascending order
    return np.asarray(p[inverse.reshape(-1)])


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore warnings of integrals that are as accurate as the others, for few or for very many degrees of freedom."""
    from scipy.integrate import IntegrationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegrationWarning)
        yield


def _by_scipy(q: Scores, k: int, df: int) -> Scores:
    from scipy.stats import studentized_range

    with _without_warnings():
        return np.asarray(studentized_range.sf(q, k, df))


@lru_cache(maxsize=16)
def studentized_range_isf(p: float, k: int, df: int) -> float:
    """The value that Q reaches with probability p. Cached, because all metrics of a comparison have the same.

    >>> round(studentized_range_isf(0.05, 3, 10), 6)
    3.876777
    """
    from scipy.stats import studentized_range

    with _without_warnings():
        return float(studentized_range.isf(p, k, df))


class PooledError(NamedTuple):
    """The error of a two-way analysis of variance.

    ``of_difference`` is the standard error of a difference of two systems, √(2·MSE/S), with ``df`` degrees of freedom.
    """

    of_difference: float
    df: int
    n_systems: int


def has_segment_values(sample: Sample) -> bool:
    """Is the score the mean of one value for each unit? If not, the analysis is approximate."""
    return isinstance(sample.metric, Metric) and sample.metric.is_mean and sample.unit == "segment"


def pooled_error(sample: Sample) -> PooledError:
    """The error over all systems of a sample, with residuals within strata if there are any.

    With H strata there are (k − 1)(S − H) degrees of freedom. A stratum of one unit has none.
    """
    strata = Strata.or_single(sample.strata, sample.n_units)
    residuals = _differences_from_first(sample)
    for row in residuals:
        # Rounding of the mean would give equal values tiny deviations.
        row[:] = strata.deviations(row) if np.ptp(row) else 0.0
    residuals -= residuals.mean(axis=0)
    k, n = residuals.shape
    df = (k - 1) * (n - strata.n_strata)
    exponent = binary_exponent(residuals)
    squares = np.square(np.ldexp(residuals, -exponent, out=residuals), out=residuals)
    return PooledError(float(np.ldexp(np.sqrt(2 * squares.sum() / df / n), exponent)), df, k)


def _differences_from_first(sample: Sample) -> Scores:
    """The values of each system minus those of the first one: (k, S).

    Residuals do not change if the same number is subtracted from all values of a segment. Differences of scores are
    computed on integers, so that equal differences stay equal.
    """
    if has_segment_values(sample):
        counts: CountSample = sample.with_counts()
        first = counts.rows(0)[:, 0]
        rows = [counts.rows(system).copy() for system in range(len(sample.scores))]
        for row in rows:
            row[:, 0] -= first
        return np.stack([counts.metric.segment_scores(row) for row in rows])
    # The pseudo-value is θ + (S − 1)·(mean θ₍ₛ₎ − θ₍ₛ₎), where θ₍ₛ₎ is the score without unit s. Deviations from the
    # mean over the units do not depend on the constant.
    without = sample.leave_one_out
    return np.asarray((sample.n_units - 1) * (without[0] - without))


def pooled_t_test(observed: Observed) -> Outcome:
    """t = (v̄_i − v̄_j)/√(2·MSE/S) against Student's t with (k − 1)(S − 1) degrees of freedom.

    Without adjustment this is Fisher's least significant difference (1935). k is the number of all systems, even if
    each is only compared with a baseline. ``extra`` has the (H,) statistics t, their degrees of freedom and k.

    If the MSE is 0, t is infinite and p is 0, except that p is 1 for systems with equal scores.
    """
    from scipy.special import stdtr

    hypotheses = observed.hypotheses
    errors = [pooled_error(sample) for sample in observed.replicates.samples]
    error = np.array([e.of_difference for e in errors])[hypotheses.metric]
    df = np.array([e.df for e in errors])[hypotheses.metric]
    k = np.array([e.n_systems for e in errors])[hypotheses.metric]
    equal = np.abs(observed.statistic) <= observed.tolerances
    difference = np.where(equal, 0.0, np.abs(observed.statistic))
    t = np.divide(difference, error, out=np.where(equal, 0.0, np.inf), where=error > 0)
    missing = np.full(len(hypotheses), MISSING)
    return Outcome(
        observed.statistic,
        np.minimum(2 * stdtr(df, -t), 1),
        missing,
        missing,
        standard_error=error,
        extra=[t, df, k],
    )


def _step_down(of_t: Callable[[Scores, int, int], Scores], critical: Callable[[float, int, int], float]) -> StepDown:
    """An adjustment from its p-values for the (n,) |t| of k > 2 systems, and from its critical value of |t| at α.

    Both functions also take k and the degrees of freedom. For two systems there is nothing to adjust.
    """

    def adjust(observed: Observed, outcome: Outcome) -> Adjusted:
        (t, df, k), families = outcome.extra, observed.hypotheses.families()
        adjusted, error = outcome.pvalue.copy(), outcome.standard_error
        assert error is not None
        sizes = [(int(k[family.start]), int(df[family.start])) for family in families]
        for family, size in zip(families, sizes, strict=True):
            if size[0] > 2:
                adjusted[family] = of_t(t[family], *size)

        def critical_values(alpha: float) -> Scores:
            return np.array([(critical if size[0] > 2 else _student)(alpha, *size) for size in sizes])

        return Adjusted(adjusted, (Band(critical_values, t, error, error),))

    return StepDown(adjust, has_bands=True, per_metric=True)


def _student(alpha: float, k: int, df: int) -> float:
    """The critical value of |t| of two systems."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def _tukey(t: Scores, k: int, df: int) -> Scores:
    """√2·|t| against the studentized range of k means: Tukey 1953."""
    return studentized_range_sf(np.sqrt(2) * t, k, df)


def _critical_by_tukey(alpha: float, k: int, df: int) -> float:
    return studentized_range_isf(alpha, k, df) / math.sqrt(2)


def _scheffe(t: Scores, k: int, df: int) -> Scores:
    """t²/(k − 1) against F with k − 1 and df degrees of freedom: Scheffé 1953."""
    from scipy.special import fdtrc

    return np.where(np.isinf(t), 0.0, fdtrc(k - 1, df, t**2 / (k - 1)))


def _critical_by_scheffe(alpha: float, k: int, df: int) -> float:
    from scipy.special import fdtri

    return math.sqrt((k - 1) * float(fdtri(k - 1, df, 1 - alpha)))


TUKEY = _step_down(_tukey, _critical_by_tukey)
SCHEFFE = _step_down(_scheffe, _critical_by_scheffe)
