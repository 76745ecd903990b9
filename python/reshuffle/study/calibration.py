"""How well a test does beside the z-test: the power of a plan, calibrated by simulation.

The closed forms of :mod:`reshuffle.inference.power` take a difference as normal with a known standard error. A test
whose power is p where theirs is that of an effect of so many standard errors has an *efficiency*: the effect with which
the z-test has power p, divided by the true one. It is near 1, and hardly depends on the size of the test set. The
simulated systems are mixtures of a pair, whose difference adds to the variance: the true effect is in standard errors
of the mixture, and plans are in those of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attrs import evolve

from ..errors import InputError
from ..inference.power import critical_value, detectable_factor
from ..resampling import directed
from ..results.studies import PowerRate
from .material import MeasuredPair
from .power import power_rates, simulated_mixture
from .settings import StudySettings

# The second of two simulations has the difference that the first one found, and more test sets. Both count.
ROUNDS = (0.25, 1.0)
# Test sets larger than the pilot repeat its units. They are simulated up to so many times its size, if no pair of
# systems differs enough for a smaller one.
MOST_REPEATS = 4
# A power so low that it would belong to an effect of the other sign has this one, so that ratios are positive.
LEAST_EFFECT = 0.1


class Efficiency(NamedTuple):
    """The efficiency of a test, and the last of the simulations that measured it."""

    ratio: float
    simulated: PowerRate


class _Point(NamedTuple):
    """A pair, and a difference and a size at which it has a given effect."""

    pair: MeasuredPair
    difference: float
    size: int

    @property
    def eta(self) -> float:
        """The η of the mixture with the difference."""
        return effect_for(self.pair, self.difference)


@dataclass(frozen=True, eq=False)
class Calibrator:
    """The pairs of a pilot under one metric."""

    pairs: Sequence[MeasuredPair]
    level: float
    """That of a single test."""
    settings: StudySettings

    def efficiency(self, test: str, power: float, size: int, difference: float | None = None) -> Efficiency | None:
        """The efficiency of a test near this power on test sets of this size; None if no pair differs enough.

        It is simulated on test sets that are at most as large as the pilot, unless none of its pairs differs enough. A
        ``difference`` is kept, and the size chosen for it, where a pair differs as much and the pilot is large enough.
        """
        side = "two-sided" if self.settings.alternative == "two-sided" else "greater"
        effect, z = detectable_factor(self.level, power, side), critical_value(self.level, side)
        if not 0 < effect < math.inf:
            return None
        found: list[tuple[float, PowerRate]] = []
        for share in ROUNDS:
            point = self._at(difference, effect / _mean(found)) or self._point(effect / _mean(found), size)
            if point is None:
                break
            rate = self._simulated(test, point, max(1, round(share * self.settings.simulations)))
            if rate.rate <= self.level and rate.confidence_interval.high < power / 4:
                raise InputError(
                    f"{self.pairs[0].metric}: on test sets of {point.size:,}, {test} hardly ever rejects at alpha "
                    f"{self.level:g}, because its p can hardly get that small: plan larger sizes, or choose another "
                    "test"
                )
            true_effect = point.difference / point.pair.mixture_error(point.eta, point.size)
            found.append((max(_quantile(rate) + z, LEAST_EFFECT) / true_effect, rate))
        return Efficiency(_mean(found), found[-1][1]) if found else None

    def _at(self, difference: float | None, effect: float) -> _Point | None:
        """Where a given difference has this effect, for the median pair of those that differ as much."""
        if difference is None:
            return None
        # The difference may be that of a pair, as it was printed.
        able = [p for p in self.pairs if p.unit_error > 0 and abs(p.observed) * (1 + 1e-9) >= difference]
        if not able:
            return None
        pair = _median(able)
        difference = min(difference, abs(pair.observed))
        error = pair.mixture_error(difference / abs(pair.observed) / 2, 1)
        size = max(2, math.ceil((effect * error / difference) ** 2))
        return _Point(pair, difference, size) if size <= pair.n_units else None

    def _point(self, effect: float, size: int) -> _Point | None:
        """Where a difference has this effect, in standard errors.

        The pair is that with the (lower) median standard error of those that differ enough.
        """
        units = self.pairs[0].n_units
        size = min(size, units)
        root = math.sqrt(size)
        able = [p for p in self.pairs if p.unit_error > 0 and abs(p.observed) >= effect * p.unit_error / root]
        if able:
            pair = _median(able)
            # effect = difference / mixture_error, whose square is linear in that of the difference.
            null = pair.null_unit_error**2
            if not null:
                return None
            slope = (pair.unit_error**2 - null) / pair.observed**2
            return _Point(pair, effect * math.sqrt(null / (size - effect**2 * slope)), size)
        pair = max(self.pairs, key=lambda p: abs(p.observed) / p.unit_error if p.unit_error > 0 else 0.0)
        own = abs(pair.observed)
        if own * math.sqrt(MOST_REPEATS * units) < effect * pair.unit_error or not own:
            return None
        return _Point(pair, own, math.ceil((effect * pair.unit_error / own) ** 2))

    def _simulated(self, test: str, point: _Point, simulations: int) -> PowerRate:
        """The power of a test at a point: that of a mixture of the outputs of its pair."""
        settings = evolve(self.settings, tests=(test,), alphas=(self.level,), simulations=simulations)
        pair = point.pair
        # One-sided tests are simulated in the direction of their alternative.
        alternative = directed(settings.alternative, pair.higher_is_better)
        if alternative != "two-sided" and (pair.observed > 0) != (alternative == "greater"):
            pair = pair.reversed
        (cell,) = simulated_mixture([pair], point.size, point.eta, settings)
        (rate,) = power_rates(cell, settings)
        return rate


def _median(pairs: Sequence[MeasuredPair]) -> MeasuredPair:
    """The one of these pairs with the (lower) median standard error."""
    return sorted(pairs, key=lambda each: each.unit_error)[(len(pairs) - 1) // 2]


def effect_for(pair: MeasuredPair, difference: float) -> float:
    """η for which the mixture of a pair has this difference, by bisection.

    The pair itself differs by at least as much, with the same sign.
    """
    low, high = 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        if abs(pair.difference(middle)) < abs(difference):
            low = middle
        else:
            high = middle
    return high


def _mean(found: Sequence[tuple[float, PowerRate]]) -> float:
    """The geometric mean of ratios, each with the weight of its simulations; 1 if there are none."""
    total = sum(rate.simulations for _, rate in found)
    return math.exp(sum(rate.simulations * math.log(ratio) for ratio, rate in found) / total) if found else 1.0


def _quantile(rate: PowerRate) -> float:
    """The standard normal quantile of a rate. One of 0 or 1 counts as half a simulation from it."""
    from statistics import NormalDist

    margin = 0.5 / rate.simulations
    return NormalDist().inv_cdf(min(max(rate.rate, margin), 1 - margin))
