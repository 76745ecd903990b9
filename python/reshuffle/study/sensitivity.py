"""``sensitivity``: which metric shows the difference of two systems most clearly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..errors import InputError
from ..inference.estimates import Estimate
from ..inference.hypotheses import Hypotheses
from ..inference.plan import Plan
from ..inference.running import run_on_test_set
from ..options.declare import called_with, taken
from ..options.studies import Sensitivity
from ..resampling import CountSample, Replicates, samples_of
from ..results import ConfidenceInterval
from ..results.studies import MetricSensitivity, PowerContrast, ScoredSystem, StudyResult, TestedDifference
from ..results.studies.sensitivity import SensitivityPlan
from ..settings import ComparisonSettings, Resampling
from .material import Material
from .power import MODELS, Cells, PowerStudy, check_shuffles, power_rates
from .settings import StudySettings, started

# The number of replicates for the p-values of the real pairs.
OBSERVED_RESAMPLES = 10_000


@called_with(Sensitivity)
def sensitivity(options: Sensitivity) -> StudyResult[SensitivityPlan]:
    """Which metric shows the difference of two systems most clearly.

    Riezler & Maxwell 2005 (W05-0908) compare metrics by the p-values of one pair (Table 1) and of several variants
    against a baseline (Table 2). p-values of one test set vary a lot, so this study adds three measures: the difference
    divided by its standard error; the power of tests under each metric when the two systems are mixed, at equal type-I
    error; and the difference in power between metrics on the same simulated test sets.

    Returns
    -------
    StudyResult
        With the tables ``sensitivity`` (:class:`~reshuffle.results.studies.MetricSensitivity`), ``scored``
        (:class:`~reshuffle.results.studies.ScoredSystem`), ``tested``
        (:class:`~reshuffle.results.studies.TestedDifference`), ``power``
        (:class:`~reshuffle.results.studies.PowerRate`) and ``contrasts``
        (:class:`~reshuffle.results.studies.PowerContrast`).

    Raises
    ------
    InputError
        As :func:`reshuffle.study.power`, and for fewer than two metrics.

    Notes
    -----
    Intervals of differences in power are for paired proportions: Bonett & Price 2012, doi:10.3102/1076998611411915.
    Cost: as for :func:`reshuffle.study.power`.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import sensitivity
    >>> rng = np.random.default_rng(1)
    >>> quality = rng.normal([[0], [0.3]], 1, (2, 400))
    >>> ratings = [
    ...     SegmentScores(name, dict(zip("ab", quality + rng.normal(0, noise, (2, 400)))))
    ...     for name, noise in [("one rater", 2), ("ten raters", 0.6)]
    ... ]
    >>> study = sensitivity(metrics=ratings, tests="ar", effects=0.5, simulations=100, n_resamples=99)
    >>> [(each.metric, each.rank) for each in study.tables["sensitivity"]]
    [('one rater', 2), ('ten raters', 1)]
    """
    with started("sensitivity", options) as (data, units, settings):
        check_shuffles(settings, options.size_adjusted)
        if len(data.metrics) < 2:
            raise InputError(
                f"only one metric ({data.labels[0]}): a study of sensitivity compares at least two, so add one"
            )
        n_effects = len({0.0, *options.effects} if options.size_adjusted else options.effects)
        n_cells = settings.n_pairs(len(data.names)) * n_effects * settings.n_sizes
        material = settings.material(data, units, n_cells)
        study = _Sensitivity(material, settings)
        cells = [*PowerStudy(material, settings, options).cells()]
        tables: dict[str, Iterable[object]] = {
            "sensitivity": study.sensitivities(),
            "scored": study.scores(),
            "tested": study.tests(),
            "power": [rate for own in cells for cell in own for rate in power_rates(cell, settings)],
            "contrasts": [each for own in cells for each in _contrasts(own, settings.alphas)],
        }
        return settings.result(options, tables, {"eta": MODELS["eta"]["truth"]}, material)


def paired_difference(only_first: int, only_second: int, n: int, confidence_level: float = 0.95) -> ConfidenceInterval:
    """The interval for the difference of two proportions of the same n trials, from the numbers of discordant trials.

    One trial is added to both: Bonett & Price 2012, doi:10.3102/1076998611411915, eq. 9.

    >>> interval = paired_difference(30, 10, 100)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.078, 0.315)
    """
    from statistics import NormalDist

    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    difference = first - second
    half = NormalDist().inv_cdf((1 + confidence_level) / 2) * math.sqrt((first + second - difference**2) / (n + 2))
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), confidence_level, "bonett-price")


@dataclass(frozen=True, eq=False)
class _Sensitivity:
    material: Material
    settings: StudySettings

    def scores(self) -> Iterator[ScoredSystem]:
        """The score of each system and its standard error."""
        everything = self.material.population_of("", self.material.counts)
        for label, metric, counts in zip(self.material.data.labels, everything.metrics, everything.counts, strict=True):
            sample = CountSample.from_counts(metric, counts)
            replicates = Replicates([sample], Resampling(1, 0))
            for s, name in enumerate(self.material.names):
                yield ScoredSystem(label, name, float(sample.scores[s]), Estimate(replicates, 0, s).delta_error)

    def sensitivities(self) -> Iterator[MetricSensitivity]:
        """The standardized difference of each pair under each metric, and the metrics' ranks."""
        for pairs in self.material.measured_pairs(self.settings.baseline, self.settings.all_pairs):
            found = []
            for pair in pairs:
                difference, error = pair.observed, pair.unit_error / math.sqrt(pair.n_units)
                standardized = abs(difference) / error if error else None
                measures = {"difference": difference, "standard_error": error, "standardized": standardized}
                found.append(taken(MetricSensitivity, pair, **measures, rank=None))
            sizes = [each.standardized for each in found if each.standardized is not None]
            for each in found:
                own = each.standardized
                yield each if own is None else replace(each, rank=1 + sum(size > own for size in sizes))

    def tests(self) -> Iterator[TestedDifference]:
        """The p-values of the pairs as they are."""
        settings = self.settings
        for pairs in self.material.measured_pairs(self.settings.baseline, self.settings.all_pairs):
            samples = samples_of([each.formula for each in pairs], [each.counts for each in pairs])
            replicates = Replicates(samples, Resampling(OBSERVED_RESAMPLES, settings.seed, settings.threads))
            hypotheses = Hypotheses.from_pairs([(0, 1)], n_metrics=len(pairs))
            for name in settings.tests:
                plan = Plan.from_settings(ComparisonSettings(test=name, alternative=settings.alternative))
                outcome = run_on_test_set(plan, replicates, hypotheses)
                n = None if plan.test.replicates is None else OBSERVED_RESAMPLES
                for pair, difference, p in zip(pairs, outcome.statistic.tolist(), outcome.pvalue.tolist(), strict=True):
                    yield taken(TestedDifference, pair, test=name, difference=difference, pvalue=p, n_resamples=n)


def _contrasts(cells: Cells, alphas: Sequence[float]) -> Iterator[PowerContrast]:
    """The difference in power of each test between two metrics, at each level."""
    for first, second in combinations(cells, 2):
        for alpha in alphas if first.test == second.test else ():
            (_, one), (_, other) = first.rejected(alpha), second.rejected(alpha)
            only_one, only_other, n = int((one & ~other).sum()), int((other & ~one).sum()), len(one)
            yield taken(
                PowerContrast,
                first.pair,
                first,
                other=second.pair.metric,
                alpha=alpha,
                difference=(only_one - only_other) / n,
                confidence_interval=paired_difference(only_one, only_other, n),
                only_metric=only_one,
                only_other=only_other,
                simulations=n,
            )
