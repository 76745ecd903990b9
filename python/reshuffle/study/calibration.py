"""How well a test does beside the z-test: the power of a plan, calibrated by simulation.

The closed forms of :mod:`reshuffle.inference.power` take a difference as normal with a known standard error. A test
whose power is p where theirs is that of an effect of so many standard errors has an *efficiency*: the effect with which
the z-test has power p, divided by the true one. It is near 1, and hardly depends on the size of the test set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from attrs import evolve

from ..errors import InputError
from ..inference.power import critical_value, detectable_factor
from ..lazy import lazy
from ..resampling import directed
from ..results.studies import PowerRate
from .populations import Population
from .power import power_rates, simulated_mixture, true_difference, unit_error
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
    """The index of a pair, and a difference and a size at which it has a given effect."""

    pair: int
    difference: float
    size: int


@dataclass(frozen=True, eq=False)
class Calibrator:
    """The pairs of a pilot under one metric."""

    label: str
    """The metric."""
    populations: Sequence[Population]
    """Each with this metric alone."""
    names: Sequence[tuple[str, str]]
    """The system and the baseline of each."""
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
                    f"{self.label}: on test sets of {point.size:,}, {test} hardly ever rejects at alpha "
                    f"{self.level:g}, because its p can hardly get that small: plan larger sizes, or choose another "
                    "test"
                )
            true_effect = point.difference * math.sqrt(point.size) / self._unit_errors[point.pair]
            found.append((max(_quantile(rate) + z, LEAST_EFFECT) / true_effect, rate))
        return Efficiency(_mean(found), found[-1][1]) if found else None

    @lazy
    def _differences(self) -> list[float]:
        """The difference of each pair."""
        return [true_difference(each.metrics[0], each.counts[0].sum(axis=1), 0.5) for each in self.populations]

    @lazy
    def _unit_errors(self) -> list[float]:
        """The standard deviation of a unit's contribution to the difference of each pair."""
        return [unit_error(each, 0) for each in self.populations]

    def _at(self, difference: float | None, effect: float) -> _Point | None:
        """Where a given difference has this effect, for the median pair of those that differ as much."""
        if difference is None:
            return None
        errors = self._unit_errors
        # The difference may be that of a pair, as it was printed.
        own = [abs(each) * (1 + 1e-9) for each in self._differences]
        able = [at for at, error in enumerate(errors) if error > 0 and own[at] >= difference]
        if not able:
            return None
        at = _median(able, errors)
        size = max(2, math.ceil((effect * errors[at] / difference) ** 2))
        return _Point(at, min(difference, abs(self._differences[at])), size) if size <= self._n_units else None

    @property
    def _n_units(self) -> int:
        return self.populations[0].n_units

    def _point(self, effect: float, size: int) -> _Point | None:
        """Where a difference has this effect, in standard errors.

        The pair is that with the (lower) median standard error of those that differ enough.
        """
        units, errors, own = self._n_units, self._unit_errors, [abs(d) for d in self._differences]
        size = min(size, units)
        needed = [effect * error / math.sqrt(size) for error in errors]
        able = [at for at, error in enumerate(errors) if error > 0 and own[at] >= needed[at]]
        if able:
            at = _median(able, errors)
            return _Point(at, needed[at], size)
        at = max(range(len(own)), key=lambda at: own[at] / errors[at] if errors[at] > 0 else 0.0)
        if own[at] * math.sqrt(MOST_REPEATS * units) < effect * errors[at] or not own[at]:
            return None
        return _Point(at, own[at], math.ceil((effect * errors[at] / own[at]) ** 2))

    def _simulated(self, test: str, point: _Point, simulations: int) -> PowerRate:
        """The power of a test at a point: that of a mixture of the outputs of its pair."""
        settings = evolve(self.settings, tests=(test,), alphas=(self.level,), simulations=simulations)
        population, (system, baseline) = self.populations[point.pair], self.names[point.pair]
        (metric,), (counts,) = population.metrics, population.counts
        wanted = math.copysign(point.difference, self._differences[point.pair])
        # One-sided tests are simulated in the direction of their alternative.
        alternative = directed(settings.alternative, metric.higher_is_better)
        if alternative != "two-sided" and (wanted > 0) != (alternative == "greater"):
            population = replace(population, counts=[np.ascontiguousarray(counts[::-1])])
            wanted, system, baseline = -wanted, baseline, system
        eta = effect_for(population, wanted)
        (cell,) = simulated_mixture(population, [self.label], (system, baseline), point.size, eta, settings)
        (rate,) = power_rates(cell, settings)
        return rate


def _median(pairs: Sequence[int], errors: Sequence[float]) -> int:
    """The one of these pairs with the (lower) median standard error."""
    return sorted(pairs, key=lambda at: errors[at])[(len(pairs) - 1) // 2]


def effect_for(population: Population, difference: float) -> float:
    """η for which the mixture of a pair under one metric has this difference, by bisection.

    The pair itself differs by at least as much, with the same sign.
    """
    (metric,), (counts,) = population.metrics, population.counts
    totals, low, high = counts.sum(axis=1), 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        if abs(true_difference(metric, totals, middle)) < abs(difference):
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
