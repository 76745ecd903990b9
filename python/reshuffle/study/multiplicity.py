"""``multiplicity``: the family-wise error rates of adjustments for multiple tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from .. import _core, signature, types
from ..data.columns import Texts
from ..errors import InputError
from ..execution import AnyExecutor, ItemJob
from ..execution.checkpoint import kept
from ..execution.tables import PROBABILITY, Column, Columns, stacked
from ..inference.hypotheses import Hypotheses
from ..inference.multiplicity import ADJUSTMENTS, experimentwise_error
from ..inference.plan import Plan, check_test
from ..inference.running import run_on_test_set
from ..inference.tests import DEFAULT, TESTS
from ..metrics.base import Metric, Scores
from ..metrics.native import NativeMetric
from ..progress import AnyProgress, reported
from ..resampling import CountSample, Replicates
from ..resampling.counting import Data, Metrics, References, Systems
from ..results import clopper_pearson
from ..results.studies import FamilyWiseRate, StudyResult
from ..seeds import derive_seed
from ..settings import TESTS_WITH_MARGIN, ComparisonSettings, DocumentIds, Units
from ..validate import check_integer, check_name
from .families import VARIANCES, Families, FamilyPopulation
from .material import Material
from .null_data import NullOptions, Request, check_is_drawn
from .settings import StudySettings, check_distinct, in_list
from .testing import STAGE

NONE = "none"
# The default test of comparisons, beside it one by draws and one by shuffles, and the randomised Tukey test.
FAMILY_TESTS = ("ar", DEFAULT, "bootstrap", "permutation")
FAMILY_ALPHAS = (0.05,)


def multiplicity(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    variances: types.Variances | str | Sequence[str] = ("equal", "unequal"),
    n_systems: int | Sequence[int] | None = None,
    tests: types.Test | str | Sequence[str] = FAMILY_TESTS,
    adjustments: types.Adjustment | str | Sequence[str] | None = None,
    sizes: int | Sequence[int] | None = None,
    alphas: float | Sequence[float] = FAMILY_ALPHAS,
    simulations: int = 1000,
    n_resamples: int = 999,
    sampling: types.Sampling | str = "replace",
    equalize: types.Equalize | str | None = None,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """How often at least one of many true null hypotheses is rejected, with and without adjustment.

    All pairs of k systems are tested at once. In every simulated test set all systems have equal expected scores, so
    each rejection is an error, and a rate above alpha means that the adjustment does not control the family-wise error
    rate.

    Parameters
    ----------
    references, systems, metrics, reference
        As for :func:`reshuffle.study.type1`.
    variances : {'equal', 'unequal'} or sequence of them
        How all systems are made equally good. ``equal``: the outputs of each unit are permuted, so that all systems are
        exchangeable. ``unequal``: better systems are degraded to the score of the worst one, so that only scores are
        equal.
    n_systems : int or sequence of int, optional
        The sizes k of the families: the first k systems. By default all systems, or with ``unequal`` and ``mix`` all
        but the worst.
    tests : str or sequence of str
        Names in :data:`reshuffle.inference.tests.TESTS`. ``permutation`` with ``tukey`` is the randomised Tukey test.
    adjustments : str or sequence of str, optional
        ``none`` and names in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`; each is used with the tests that
        support it. By default all.
    sizes, simulations, n_resamples, sampling, documents, seed, threads, executor, progress, checkpoint
        As for :func:`reshuffle.study.type1`. Adjustments that multiply p by the number m of pairs cannot reject unless
        ``n_resamples`` is at least m/alpha − 1.
    alphas : float or sequence of float
    equalize : {'mix', 'drop-words'}, optional
        How better systems are degraded for ``unequal``: by segments of the worst system of all, which is then not in
        the family, or by dropping random words. The latter by default, if the metrics count words.

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
    Riezler & Maxwell 2005 (W05-0908), 4.4. For the randomised Tukey test see Carterette 2012,
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
    settings = StudySettings(
        tests=in_list(tests),
        sizes=None if sizes is None else in_list(sizes),
        alphas=in_list(alphas),
        simulations=simulations,
        n_resamples=n_resamples,
        sampling=sampling,
        seed=seed,
        threads=threads,
        executor=executor,
    )
    families = MultiplicitySettings(
        in_list(variances),
        None if n_systems is None else in_list(n_systems),
        None if adjustments is None else in_list(adjustments),
        equalize,
    )
    texts = Texts.from_arguments(references, systems, reference, documents=documents)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents)
    with reported(progress) as watched, kept(checkpoint, "multiplicity") as finished:
        return multiplicity_of(data, units, settings.watched_by(watched, finished), families)


@dataclass(frozen=True)
class MultiplicitySettings:
    """The settings of this study beyond those that all studies share, named like the public keyword arguments."""

    variances: Sequence[str] = ("equal", "unequal")
    n_systems: Sequence[int] | None = None
    adjustments: Sequence[str] | None = None
    equalize: str | None = None

    def equalized_by(self, data: Data) -> str:
        """The way to make scores equal: by default dropped words, if all metrics count them."""
        if self.equalize is not None:
            return self.equalize
        reads = all(isinstance(m, NativeMetric) and not m.reads_parses for m in data.metrics)
        return "drop-words" if reads and data.corpus is not None else "mix"

    def check(self, tests: Sequence[str]) -> None:
        """:class:`InputError` for a name or a number that cannot be used."""
        check_distinct("variances", self.variances)
        for name in self.variances:
            check_name("value of variances", name, list(VARIANCES))
        if self.n_systems is not None:
            check_distinct("n_systems", self.n_systems)
            for k in self.n_systems:
                check_integer("n_systems", k, 2)
        if self.equalize is not None:
            NullOptions(self.equalize).check()
        if self.adjustments is None:
            return
        check_distinct("adjustments", self.adjustments)
        for name in self.adjustments:
            check_name("adjustment", name, [NONE, *ADJUSTMENTS])
            if not any(name in self.of_test(test) for test in tests):
                supporting = [other for other in TESTS if name in self.of_test(other)]
                raise InputError(f"adjustment {name!r} is for {', '.join(supporting)}: add one of them to the tests")

    def of_test(self, test: str) -> list[str]:
        """The adjustments that a test supports, of those that were asked for."""
        own = TESTS[test].step_down
        names = [NONE, *(name for name, each in ADJUSTMENTS.items() if not each.from_replicates or name in own)]
        return [name for name in names if self.adjustments is None or name in self.adjustments]


def multiplicity_of(data: Data, units: Units, settings: StudySettings, own: MultiplicitySettings) -> StudyResult:
    """The family-wise error rates on counted texts: see :func:`multiplicity`."""
    settings = settings.checked()
    own.check(settings.tests)
    for test in settings.tests:
        if test in TESTS_WITH_MARGIN:
            raise InputError(
                f"test {test!r} has another null hypothesis than equal scores, which are what is true here: leave it "
                "out, or use study 'type1' with the null 'margin'"
            )
        check_test(test, "two-sided", *data.metrics)
    n_cells = len(own.variances) * len(own.n_systems or (0,)) * len(settings.sizes or (0,)) * len(data.metrics)
    material = Material.from_data(data, units, settings.resampling, settings.steps(n_cells))
    own = replace(own, equalize=own.equalized_by(data))
    request = Request(material, NullOptions(own.equalized_by(data)), settings.resampling)
    found: list[FamilyWiseRate] = []
    truths: dict[str, str] = {}
    for name in own.variances:
        for k in _family_sizes(material, name, own):
            families = VARIANCES[name](request, k)
            truths[name] = families.truth
            found += _rates(material, families, name, k, settings, own)
    shared = settings.plan(material)
    plan = {
        "variances": list(own.variances),
        "n_systems": None if own.n_systems is None else list(own.n_systems),
        "metrics": list(data.labels),
        **{key: value for key, value in shared.items() if key in SHARED},
        "adjustments": None if own.adjustments is None else list(own.adjustments),
        "equalize": own.equalize if "unequal" in own.variances else None,
    }
    used = material.used_metrics
    return StudyResult(
        study="multiplicity",
        plan=plan,
        metrics=used,
        tables={"family_wise": tuple(found)},
        truths=truths,
        signature=signature.for_study(
            "multiplicity", settings.signed(plan), settings.seed, [m.signature for m in used]
        ),
        version=_core.VERSION,
    )


# The settings of all studies that apply to this one.
SHARED = ("systems", "units", "unit", "tests", "sizes", "alphas", "simulations", "n_resamples", "sampling", "seed")


def _family_sizes(material: Material, variances: str, own: MultiplicitySettings) -> Sequence[int]:
    """The numbers of systems; :class:`InputError` if there are fewer."""
    n = len(material.names)
    available = n - (variances == "unequal" and own.equalize == "mix")
    if own.n_systems is None:
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
    largest = max(own.n_systems)
    if largest > n:
        raise InputError(f"n_systems: families of {largest:,} systems were asked for, but there are only {n:,}")
    return sorted(own.n_systems)


def _rates(
    material: Material,
    families: Families,
    variances: str,
    k: int,
    settings: StudySettings,
    own: MultiplicitySettings,
) -> Iterator[FamilyWiseRate]:
    """Simulate and test families of k systems, for each size."""
    m = k * (k - 1) // 2
    for population in families.populations:
        available = population.counts[0].shape[1]
        metrics = [material.metrics[index] for index in population.metrics]
        for size in settings.sizes_in(available, material.unit):
            if not population.permuted:
                check_is_drawn(settings, size, available, material.unit)
            smallest = _smallest_pvalues(population, metrics, k, size, settings, own)
            for (test, adjustment), of_metrics in smallest.items():
                for index, pvalues in zip(population.metrics, of_metrics, strict=True):
                    for alpha in settings.alphas:
                        count = int((pvalues <= alpha).sum())
                        yield FamilyWiseRate(
                            test,
                            adjustment,
                            material.data.labels[index],
                            variances,
                            k,
                            m,
                            size,
                            alpha,
                            count / len(pvalues),
                            clopper_pearson(count, len(pvalues)),
                            experimentwise_error(alpha, m),
                            _can_reject(test, adjustment, m, settings.n_resamples, alpha),
                            len(pvalues),
                        )


def _can_reject(test: str, adjustment: str, m: int, n_resamples: int, alpha: float) -> bool:
    """Whether one of m tests can have an adjusted p of at most alpha, whatever the others have."""
    if TESTS[test].replicates is None:
        return True
    smallest = TESTS[test].smallest_numerator("two-sided") / (n_resamples + 1)
    multiplied = adjustment != NONE and ADJUSTMENTS[adjustment].multiplies
    return (m if multiplied else 1) * smallest <= alpha


def _smallest_pvalues(
    population: FamilyPopulation,
    metrics: Sequence[Metric],
    k: int,
    size: int,
    settings: StudySettings,
    own: MultiplicitySettings,
) -> Mapping[tuple[str, str], Scores]:
    """The smallest adjusted p of each simulated family: (metrics, N) for each test and adjustment."""
    job = _Families(
        population,
        metrics,
        k,
        size,
        settings.sampling,
        settings.n_resamples,
        settings.seed,
        tuple((test, tuple(own.of_test(test))) for test in settings.tests),
    )
    found = stacked(job.results(settings.simulations, settings.execution)["smallest"], -1)
    columns = [(test, name) for test, names in job.tests for name in names]
    return dict(zip(columns, found, strict=True))


@dataclass(frozen=True, eq=False)
class _Families(ItemJob):
    """Simulated families of k systems."""

    population: FamilyPopulation
    metrics: Sequence[Metric]
    k: int
    size: int
    sampling: str
    n_resamples: int
    seed: int
    tests: Sequence[tuple[str, Sequence[str]]]  # each with its adjustments
    items: ClassVar[str] = "simulations"
    stage: ClassVar[str] = STAGE

    @property
    def columns(self) -> Columns:
        """The smallest adjusted p of a family, for each test and adjustment."""
        n = sum(len(names) for _, names in self.tests)
        return Columns({"smallest": Column(PROBABILITY, (n, len(self.metrics)))})

    def item(self, index: int, threads: int | None) -> tuple[Scores]:
        """The smallest p of one family, for each test and adjustment."""
        seed = derive_seed(self.seed, "simulation", index)
        data = self.population.data_set(seed, self.sampling, self.size, self.k)
        samples = [CountSample.from_counts(metric, counts) for metric, counts in zip(self.metrics, data, strict=True)]
        replicates = Replicates(samples, n_resamples=self.n_resamples, seed=seed, threads=threads)
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
    return Plan.from_settings(ComparisonSettings(test, scheme=scheme, adjust=adjustment))
