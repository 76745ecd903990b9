"""``multiplicity``: the family-wise error rates of adjustments for multiple tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from .. import _core
from ..errors import Argument, InputError
from ..execution import ItemJob
from ..execution.tables import PROBABILITY, Column, Columns, stacked
from ..inference.hypotheses import Hypotheses
from ..inference.multiplicity import ADJUSTMENTS, experimentwise_error
from ..inference.plan import Plan
from ..inference.running import run_on_test_set
from ..inference.tests import TESTS
from ..metrics.base import Counts, Metric, Scores
from ..metrics.native import NativeMetric
from ..options.declare import called_with
from ..options.studies import Multiplicity
from ..resampling import Replicates, samples_of
from ..resampling.counting import Data
from ..results import clopper_pearson
from ..results.studies import FamilyWiseRate, StudyResult
from ..results.studies.multiplicity import MultiplicityPlan
from ..seeds import DerivedSeed, derive_seed
from ..settings import ComparisonSettings, Resampling
from .equal_scores import checked_error, made_worse
from .material import Material
from .null_data import EQUALIZE, NullOptions, Request, check_is_drawn
from .settings import StudySettings, started

NONE = "none"


@called_with(Multiplicity)
def multiplicity(options: Multiplicity) -> StudyResult[MultiplicityPlan]:
    """How often at least one of many true null hypotheses is rejected, with and without adjustment.

    All pairs of k systems are tested at once. In every simulated test set all systems have equal expected scores, so
    each rejection is an error, and a rate above alpha means that the adjustment does not control the family-wise error
    rate.

    Returns
    -------
    StudyResult
        With the table ``family_wise`` (:class:`~reshuffle.results.studies.FamilyWiseRate`), which also has the rate
        of independent tests.

    Raises
    ------
    InputError
        As :func:`reshuffle.study.type1`, and if a family needs more systems than there are, or no test supports an
        adjustment.

    Notes
    -----
    Riezler & Maxwell 2005 (W05-0908), 4.4. For the randomized Tukey test see Carterette 2012,
    doi:10.1145/2094072.2094076. Cost: for each simulation and test R scores of each system or pair, and two or three
    times that with ``maxt`` and ``minp``.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import multiplicity
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", dict(zip("abcde", rng.random((5, 100)).round(2))))
    >>> study = multiplicity(
    ...     metrics=quality, variances="equal", tests="ar", adjustments=["none", "maxt"], simulations=100,
    ...     n_resamples=99,
    ... )
    >>> [(rate.adjustment, rate.rate, round(rate.independent, 3)) for rate in study.tables["family_wise"]]
    [('none', 0.2, 0.401), ('maxt', 0.05, 0.401)]
    """
    with started("multiplicity", options) as (data, units, settings):
        _check_adjustments(options)
        n_cells = len(options.variances) * len(options.n_systems or (0,)) * settings.n_sizes * len(data.metrics)
        material = settings.material(data, units, n_cells)
        options = evolve(options, equalize=_equalized_by(options, data))
        request = Request(material, NullOptions(equalize=str(options.equalize)), settings)
        found: list[FamilyWiseRate] = []
        truths: dict[str, str] = {}
        for name in options.variances:
            for k in _family_sizes(material, name, options):
                populations, truths[name] = VARIANCES[name](request, k)
                for population in populations:
                    found += _rates(material, population, name, k, settings, options)
        equalize = options.equalize if "unequal" in options.variances else None
        return settings.result(options, {"family_wise": found}, truths, material, equalize=equalize)


def _equalized_by(options: Multiplicity, data: Data) -> str:
    """The way to make scores equal: by default dropped words, if all metrics count them."""
    if options.equalize is not None:
        return options.equalize
    reads = all(isinstance(m, NativeMetric) and not m.reads_parses for m in data.metrics)
    return "drop-words" if reads and data.corpus is not None else "mix"


def _check_adjustments(options: Multiplicity) -> None:
    """:class:`InputError` for an adjustment that none of the tests supports."""
    for name in options.adjustments or ():
        if not any(name in _adjustments_of(test, options) for test in options.tests):
            supporting = [other for other in TESTS if name in _adjustments_of(other, options)]
            raise InputError(f"adjustment {name!r} is for {', '.join(supporting)}: add one of them to the tests")


def _adjustments_of(test: str, options: Multiplicity) -> list[str]:
    """The adjustments that a test supports, of those that were asked for."""
    own = TESTS[test].step_down
    names = [NONE, *(name for name, each in ADJUSTMENTS.items() if not each.from_replicates or name in own)]
    return [name for name in names if options.adjustments is None or name in options.adjustments]


def _family_sizes(material: Material, variances: str, options: Multiplicity) -> Sequence[int]:
    """The numbers of systems; :class:`InputError` if there are fewer."""
    n = len(material.names)
    available = n - (variances == "unequal" and options.equalize == "mix")
    if options.n_systems is None:
        if available < 2:
            raise InputError(
                f"a family needs at least 2 systems, but there are only {n:,}"
                + (
                    ", of which the worst provides segments: add systems, or use equalize 'drop-words'"
                    if available < n
                    else ": add systems"
                )
            )
        return (available,)
    largest = max(options.n_systems)
    if largest > n:
        raise InputError(
            f"{{option}}: families of {largest:,} systems were asked for, but there are only {n:,}",
            option=Argument("n_systems"),
        )
    return sorted(options.n_systems)


def _rates(
    material: Material, family: Family, variances: str, k: int, settings: StudySettings, options: Multiplicity
) -> Iterator[FamilyWiseRate]:
    """Simulate and test families of k systems, for each size."""
    m = k * (k - 1) // 2
    tests = tuple((test, tuple(_adjustments_of(test, options))) for test in settings.tests)
    columns = [(test, name) for test, names in tests for name in names]
    available = family.counts[0].shape[1]
    metrics = [material.metrics[index] for index in family.metrics]
    for size in settings.sizes_in(available, material.unit):
        if not family.permuted:
            check_is_drawn(settings, size, available, material.unit)
        drawn = settings.sampling, settings.n_resamples, settings.seed
        job = _TestedFamilies(family, metrics, k, size, *drawn, tests)
        smallest = stacked(job.results(settings.simulations, settings.execution)["smallest"], -1)
        for (test, adjustment), of_metrics in zip(columns, smallest, strict=True):
            for index, pvalues in zip(family.metrics, of_metrics, strict=True):
                label, n = material.data.labels[index], len(pvalues)
                for alpha in settings.alphas:
                    count = int((pvalues <= alpha).sum())
                    can_reject = _can_reject(test, adjustment, m, settings.n_resamples, alpha)
                    yield FamilyWiseRate(
                        test, adjustment, label, variances, k, m, size, alpha, count / n, clopper_pearson(count, n),
                        experimentwise_error(alpha, m), can_reject, n,
                    )  # fmt: skip


def _can_reject(test: str, adjustment: str, m: int, n_resamples: int, alpha: float) -> bool:
    """Whether one of m tests can have an adjusted p of at most alpha, whatever the others have."""
    if TESTS[test].replicates is None:
        return True
    smallest = TESTS[test].smallest_numerator("two-sided") / (n_resamples + 1)
    multiplied = adjustment != NONE and ADJUSTMENTS[adjustment].multiplies
    return (m if multiplied else 1) * smallest <= alpha


@dataclass(frozen=True, eq=False)
class _TestedFamilies(ItemJob):
    """Simulated families of k systems."""

    population: Family
    metrics: Sequence[Metric]
    k: int
    size: int
    sampling: str
    n_resamples: int
    seed: int
    tests: Sequence[tuple[str, Sequence[str]]]  # each with its adjustments

    @property
    def columns(self) -> Columns:
        """The smallest adjusted p of a family, for each test and adjustment."""
        n = sum(len(names) for _, names in self.tests)
        return Columns({"smallest": Column(PROBABILITY, (n, len(self.metrics)))})

    def item(self, index: int, threads: int | None) -> tuple[Scores]:
        """The smallest p of one family, for each test and adjustment."""
        seed = derive_seed(self.seed, "simulation", index)
        data = self.population.data_set(seed, self.sampling, self.size, self.k)
        samples = samples_of(self.metrics, data)
        replicates = Replicates(samples, Resampling(self.n_resamples, seed, threads))
        hypotheses = Hypotheses.from_pairs(list(combinations(range(self.k), 2)), n_metrics=len(samples))
        rows = []
        for test, names in self.tests:
            found = dict(adjusted_pvalues(replicates, hypotheses, test, names))
            rows += [hypotheses.table(found[name]).min(axis=1) for name in names]
        return (np.array(rows),)


def adjusted_pvalues(
    replicates: Replicates, hypotheses: Hypotheses, test: str, adjustments: Sequence[str]
) -> Iterator[tuple[str, Scores]]:
    """The adjusted p-values of a test by each adjustment, ``none`` included: (H,).

    The test is run once for each adjustment from replicates, and its p-values are used for all others.
    """
    outcome = None
    for name in (each for each in adjustments if each in TESTS[test].step_down):
        outcome = run_on_test_set(_plan(test, name), replicates, hypotheses)
        if outcome.adjusted is not None:
            yield name, outcome.adjusted
    others = [each for each in adjustments if each not in TESTS[test].step_down]
    if not others:
        return
    p = (outcome or run_on_test_set(_plan(test, NONE), replicates, hypotheses)).pvalue
    for name in others:
        of_pvalues = None if name == NONE else ADJUSTMENTS[name].of_pvalues
        if of_pvalues is None:
            yield name, p
        else:
            yield name, np.concatenate([of_pvalues(p[family]) for family in hypotheses.families()])


def _plan(test: str, adjustment: str) -> Plan:
    # The automatic scheme would test some small samples exactly. Adjustments from replicates need shared shuffles.
    scheme = "iid" if TESTS[test].replicates == "shuffles" else "auto"
    return Plan.from_settings(ComparisonSettings(test=test, scheme=scheme, adjust=adjustment))


@dataclass(frozen=True, eq=False)
class Family:
    """k systems with equal scores under one or more metrics."""

    metrics: Sequence[int]
    """Their indices."""
    counts: Sequence[Counts]
    """Shape (k, U, K). For each metric."""
    permuted: bool
    """Whether the outputs of each unit are permuted in every simulation, which makes the systems exchangeable."""

    def data_set(self, seed: DerivedSeed, sampling: str, size: int, k: int) -> list[Counts]:
        """A simulated test set of the first k systems, (k, n, K) for each metric: a pure function of the seed.

        The units are chosen as by :meth:`reshuffle.study.experiments.Experiment.units`. Permutations have a seed of
        their own, because tests that permute have those of the simulation's seed.
        """
        chosen = self._units(seed, sampling, size)
        if not self.permuted:
            return [np.ascontiguousarray(counts[:k, chosen]) for counts in self.counts]
        systems = _core.permutations(derive_seed(seed, "test-set", 0), 0, k, len(chosen)).astype(np.intp).T
        return [np.ascontiguousarray(counts[systems, chosen]) for counts in self.counts]

    def _units(self, seed: DerivedSeed, sampling: str, size: int) -> NDArray[np.intp]:
        n_units = self.counts[0].shape[1]
        if sampling == "replace":
            return _core.stream_indices(seed, 0, n_units, size, purpose="selection").astype(np.intp)
        if sampling == "subset":
            keys = _core.stream_values(seed, "selection", 0, n_units)
            return np.sort(np.argsort(keys, kind="stable")[:size])
        return np.arange(n_units)


# The populations of one kind of family, each for some of the metrics, and what is true in them, in words.
Families: TypeAlias = tuple[Sequence[Family], str]


def _of_equal_variances(request: Request, k: int) -> Families:
    """The first k systems, whose outputs are permuted in each unit."""
    material = request.material
    counts = [material.by_unit(of_metric[:k]) for of_metric in material.counts]
    truth = (
        f"In each {material.unit}, the outputs of the systems were permuted at random. So all systems are "
        "exchangeable: their scores, their variances and all correlations are equal, and every null hypothesis is true."
    )
    return [Family(range(len(material.metrics)), counts, True)], truth


def _of_unequal_variances(request: Request, k: int) -> Families:
    """k systems that were made as bad as the worst of them, under each metric. A worse one provides segments."""
    material, how = request.material, request.options.equalize
    populations, abouts = [], []
    for m, metric in enumerate(material.metrics):
        scores = metric.score(material.counts[m].sum(axis=1))
        best_first = np.argsort(-scores if metric.higher_is_better else scores, kind="stable").tolist()
        # The worst system of all provides the segments.
        source = best_first[-1] if how == "mix" else None
        members = [system for system in range(len(material.names)) if system != source][:k]
        if len(members) < k:
            raise InputError(
                f"{len(members) + 1:,} systems make families of at most {len(members):,} with equal scores, because "
                f"segments of the worst replace those of the others: ask for fewer systems than {k:,}, add a worse "
                "one, or use equalize 'drop-words'"
            )
        worst = max(members, key=best_first.index)
        target = float(scores[worst])
        family = [material.counts[m][worst]] * k
        shares = []
        for index, system in enumerate(members):
            if system == worst or float(scores[system]) == target:
                family[index] = material.counts[m][system]
                continue
            family[index], about = made_worse(request, m, system, target, m * len(material.names) + system)
            pair = np.stack([family[index], material.counts[m][worst]])
            checked_error(request, m, (system, worst), pair)
            shares.append(about)
        populations.append(Family([m], [material.by_unit(np.stack(family))], False))
        abouts.append(f"{material.data.labels[m]}: {'; '.join(shares[:3])}{'; …' if len(shares) > 3 else ''}")
    truth = (
        f"The scores of all systems are equal on the whole pool, from which test sets were drawn: {EQUALIZE[how]}, "
        f"until all are as bad as the worst ({'. '.join(abouts)}). Variances and correlations differ, so the systems "
        "are not exchangeable, but every null hypothesis about equal scores is true."
    )
    return populations, truth


# Kinds of families with true null hypotheses: functions from a request and the number of systems.
VARIANCES: Mapping[str, Callable[[Request, int], Families]] = {
    "equal": _of_equal_variances,
    "unequal": _of_unequal_variances,
}
