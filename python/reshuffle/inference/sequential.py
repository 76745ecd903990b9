"""Tests of a difference while data arrive: how often one looks does not raise the error rate.

What each is for, when its error rate holds, and its source: :data:`reshuffle.results.studies.watch.SEQUENTIAL_TESTS`.

``betting``, ``sign`` and ``asymptotic`` are *anytime-valid*. The first two have an *e-value* after every unit, the
wealth of bets against the null hypothesis, whose expected value is then 1 at most. Units have to be independent, and
their order must not depend on their scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Scores

Looks = NDArray[np.intp]

# The methods of looks that are planned.
PLANNED = ("obrien-fleming", "pocock")

# Candidate means on each side of the observed one, and of 0, spaced by a constant factor, and the smallest distance.
CANDIDATES, AROUND_0, NEAREST = 400, 40, 1e-5


def betting_wealth(
    values: Scores, means: Scores, looks: Looks, threads: int | None = None, *, largest: bool = True
) -> Scores:
    """The log wealth at each look of bets against each mean, or the ``largest`` one up to it: (means, looks).

    ``values`` are in [−1, 1], and looks are numbers of units, in increasing order. Half of the wealth bets that the
    mean is larger, half that it is smaller. The bet on the next unit y = x − m is λ = Σy/(1 + Σy²) over the units
    before it, within [0, ½/(1 ± m)], so that no unit takes more than half of the wealth. If m is the mean, the wealth
    ever reaches 1/α with probability α at most (Ville's inequality). Cost: some ten operations for each unit and mean.
    """
    return _core.betting_wealth(values, means, looks.tolist(), largest=largest, threads=threads or 0)


def betting_interval(values: Scores, alpha: float, looks: Looks, threads: int | None = None) -> tuple[Scores, Scores]:
    """A confidence sequence for the mean of values in [−1, 1]: its ends at each look.

    It consists of the means against which bets have never reached 1/α. Candidate means are dense near the observed one,
    and the ends are the first candidates outside, so the spacing makes the interval wider (by 3 %), never narrower.
    """
    steps = np.geomspace(NEAREST, 2, CANDIDATES)
    centre = values.mean()
    # With 0 among them, an interval reaches beyond 0 exactly if no bet against 0 has decided. Others near 0 are there
    # so that no interval ends at 0 only because that is a candidate.
    small = np.geomspace(NEAREST, 0.05, AROUND_0)
    means = np.unique(np.clip(np.concatenate([centre - steps, -small, [centre, 0], small, centre + steps]), -1, 1))
    inside = -math.log(alpha) > betting_wealth(values, means, looks, threads).T
    low, high = np.full(len(looks), -1.0), np.full(len(looks), 1.0)
    for look, own in enumerate(inside):
        if not own.any():  # with probability α at most: the interval of the look before stays
            low[look:], high[look:] = low[look - 1], high[look - 1]
            break
        first, last = np.flatnonzero(own)[[0, -1]]
        low[look], high[look] = means[max(first - 1, 0)], means[min(last + 1, len(means) - 1)]
    return low, high


def sign_wealth(values: Scores) -> Scores:
    """The log e-value of the sign test after each unit: 2^(w+l)·B(w + ½, l + ½)/B(½, ½) for w wins and l losses.

    That is the likelihood of the wins, averaged over the chance of a win with the beta distribution (½, ½), relative to
    their likelihood with equal chances.

    >>> round(float(np.exp(sign_wealth(np.array([1.0] * 9 + [-1.0]))[-1])), 8)
    9.49609375
    """
    from scipy.special import betaln

    wins, losses = np.cumsum(values > 0), np.cumsum(values < 0)
    return np.asarray((wins + losses) * math.log(2) + betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5))


def tuned_for(n_units: int, alpha: float) -> float:
    """The r² for which asymptotic confidence sequences are narrowest after ``n_units``.

    It solves x − log(x + 1) = −2 log α for x = n r².

    >>> x = 500 * tuned_for(500, 0.05)
    >>> round(x - math.log1p(x), 9) == round(-2 * math.log(0.05), 9)
    True
    """
    from scipy.special import lambertw

    return float((-lambertw(-(alpha**2) / math.e, -1).real - 1) / n_units)


def asymptotic_radii(errors: Scores, n_units: Looks, alpha: float, r2: float) -> Scores:
    """Half the width of the confidence sequence at each look, from standard errors: Waudby-Smith et al. 2024, (5)."""
    x = n_units * r2
    return np.asarray(errors * np.sqrt((x + 1) / x * (np.log1p(x) - 2 * math.log(alpha))))


def asymptotic_pvalues(z: Scores, n_units: Looks, r2: float) -> Scores:
    """The smallest α at which the confidence sequence has excluded 0, at each look or before, from z = Δ/se."""
    x = n_units * r2
    with np.errstate(over="ignore", under="ignore"):
        p = np.sqrt(x + 1) * np.exp(-(z**2) * x / (2 * (x + 1)))
    return np.asarray(np.minimum.accumulate(np.minimum(p, 1.0)))


def spent(method: str, shares: Scores, alpha: float) -> Scores:
    """The error rate that may be spent up to each look, two-sided, at these shares of all units: Lan & DeMets 1983.

    >>> spent("obrien-fleming", np.array([0.5, 1.0]), 0.05).round(5).tolist()
    [0.00305, 0.05]
    >>> spent("pocock", np.array([0.5, 1.0]), 0.05).round(5).tolist()
    [0.03101, 0.05]
    """
    from scipy.special import ndtr, ndtri

    if method == "pocock":
        return np.asarray(alpha * np.log1p((math.e - 1) * shares))
    # Each side spends 2(1 − Φ(z_{α/4}/√t)).
    return np.asarray(4 * ndtr(ndtri(alpha / 4) / np.sqrt(shares)))


class Walk(NamedTuple):
    """The distribution of a random walk that has not yet left the boundaries: its density at points with weights."""

    points: Scores
    density: Scores
    weights: Scores

    def beyond(self, limit: float, deviation: float, drift: float = 0.0) -> float:
        """The probability of being beyond ±limit after a normal step, whose mean is the drift."""
        from scipy.special import ndtr

        points = self.points + drift
        outside = ndtr((points - limit) / deviation) + ndtr((-limit - points) / deviation)
        return float((self.density * self.weights) @ outside)

    def within(self, limit: float, deviation: float, drift: float = 0.0) -> Walk:
        """The walk after such a step, if it is then within ±limit."""
        points, weights = (limit * of_one for of_one in quadrature(200))
        steps = (points[:, None] - self.points - drift) / deviation
        density = np.exp(-0.5 * steps * steps) @ (self.density * self.weights)
        return Walk(points, density / (deviation * math.sqrt(2 * math.pi)), weights)


START = Walk(np.zeros(1), np.ones(1), np.ones(1))


@lru_cache
def quadrature(nodes: int) -> tuple[Scores, Scores]:
    """The nodes and weights of Gauss-Legendre quadrature on −1 to 1."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return points, weights


def _excess(walk: Walk, scale: float, deviation: float, goal: float, z: float) -> float:
    """By how much the probability of |Z| ≥ z after a step exceeds the goal."""
    return walk.beyond(z * scale, deviation) - goal


@lru_cache
def boundaries(method: str, shares: tuple[float, ...], alpha: float) -> Scores:
    """The |z| at which a group-sequential test rejects at each look, two-sided: (looks,).

    ``shares`` are the looks as shares of all units, increasing, at most 1. The test statistic times √share is a random
    walk with independent normal steps, whose distribution within the boundaries is integrated numerically (Armitage,
    McPherson & Rowe 1969, doi:10.2307/2343787).

    >>> boundaries("obrien-fleming", (0.2, 0.4, 0.6, 0.8, 1.0), 0.05).round(4).tolist()
    [4.8769, 3.357, 2.6803, 2.2898, 2.031]
    """
    from scipy.optimize import brentq

    # Where hardly anything may be spent, boundaries are too large to be computed: this one is used instead.
    most = 8.0
    walk = START
    found = np.empty(len(shares))
    before, last = 0.0, 0.0
    for look, (share, total) in enumerate(zip(shares, spent(method, np.array(shares), alpha), strict=True)):
        deviation, scale = math.sqrt(share - last), math.sqrt(share)

        excess = partial(_excess, walk, scale, deviation, total - before)
        found[look] = most if excess(most) > 0 else brentq(excess, 0, most, xtol=1e-10)
        walk = walk.within(found[look] * scale, deviation)
        before, last = total, share
    return found


def stopping(limits: Sequence[float] | Scores, shares: Sequence[float], drift: float) -> Scores:
    """The probability of rejecting at each look and not before, (looks,), for boundaries of ``|z|``.

    ``drift`` is the expected z after all units: the true difference in standard errors of the largest sample.
    """
    walk, last, found = START, 0.0, np.empty(len(shares))
    for look, (share, limit) in enumerate(zip(shares, limits, strict=True)):
        end, deviation, mean = limit * math.sqrt(share), math.sqrt(share - last), drift * (share - last)
        found[look] = walk.beyond(end, deviation, mean)
        walk, last = walk.within(end, deviation, mean), share
    return found


def drift_for(limits: Sequence[float] | Scores, shares: Sequence[float], power: float) -> float:
    """The drift that is shown at one of the looks with this probability.

    >>> round(drift_for([1.96], [1.0], 0.8), 3)  # a z-test: 1.960 + 0.842
    2.802
    """
    from scipy.optimize import brentq

    return float(brentq(lambda drift: stopping(limits, shares, drift).sum() - power, 0, 60, xtol=1e-9))
