"""The settings that all studies of tests share, as one frozen record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Progress
from ..errors import InputError, quoted
from ..execution import AnyExecutor, Execution, check_executor
from ..inference.margins import check_margins
from ..inference.pvalues import largest_rank
from ..inference.steps import Step
from ..inference.tests import ALTERNATIVES, DEFAULT, TESTS
from ..resampling.counting import labels_of
from ..resampling.stopping import BesagClifford
from ..settings import Resampling
from ..validate import MAX_SEED, MAX_THREADS, check_integer, check_level, check_name
from .material import Material
from .populations import SAMPLING
from .rates import Dependence
from .testing import Testing, check_stopping

if TYPE_CHECKING:
    from ..execution.checkpoint import Checkpoint

# The default test of comparisons, and the tests of Riezler & Maxwell 2005, the bootstrap also centred on the estimate.
DEFAULT_TESTS = ("ar", DEFAULT, "bootstrap", "bootstrap-shift")
ALPHAS = (0.01, 0.05, 0.1)
# How ``ar`` makes its shuffles in a study: see :class:`reshuffle.study.testing.Testing`.
STUDY_SCHEMES = ("iid", "subgroup", "orbit")
# The rules that end the shuffles of a test without a change of its decisions: see :attr:`StudySettings.rule`.
STUDY_STOPPING = (BesagClifford.name,)
# The cost of a replicate of a test set of usual size, for the progress bar.
NANOSECONDS = 100


def in_list(values: Any) -> tuple[Any, ...]:
    """One value, or a sequence of values, as a tuple.

    >>> in_list("ar"), in_list(0.05), in_list(["ar", "bootstrap"])
    (('ar',), (0.05,), ('ar', 'bootstrap'))
    """
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return (values,)
    return tuple(values)


@dataclass(frozen=True)
class StudySettings:
    """The tests, sizes, levels and simulations of a study. Fields are named like the public keyword arguments."""

    tests: Sequence[str] = None  # type: ignore[assignment]  # those of DEFAULT_TESTS that have the alternative
    sizes: Sequence[int] | None = None
    alphas: Sequence[float] = ALPHAS
    simulations: int = 1000
    n_resamples: int = 999
    sampling: str = "replace"
    scheme: str = "iid"
    stopping: str | None = None
    weight_sets: int | None = None
    alternative: str = "two-sided"
    baseline: str | None = None
    all_pairs: bool = False
    margins: Mapping[str, float] = field(default_factory=dict)
    seed: int = 12345
    threads: int | None = None
    progress: Progress | None = None
    executor: AnyExecutor = None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        if self.tests is None:
            tests = tuple(name for name in DEFAULT_TESTS if self.alternative in TESTS[name].alternatives)
            object.__setattr__(self, "tests", tests)

    def checked(self) -> StudySettings:
        """The settings with sequences as tuples. :class:`InputError` for a name or a number that cannot be used."""
        check_name("alternative", self.alternative, ALTERNATIVES)  # first: the default tests depend on it
        tests, alphas = in_list(self.tests), in_list(self.alphas)
        for test in tests:
            check_name("test", test, TESTS)
        check_distinct("tests", tests)
        if not alphas:
            raise InputError("no levels: expected at least one value of alphas")
        alphas = tuple(check_level("alphas", alpha) for alpha in alphas)
        check_distinct("alphas", alphas)
        check_name("sampling", self.sampling, SAMPLING)
        check_name("scheme", self.scheme, STUDY_SCHEMES)
        if self.stopping is not None:
            check_name("stopping rule", self.stopping, STUDY_STOPPING)
            check_stopping(self.stopping, self.scheme, tests)
        sizes = None if self.sizes is None else tuple(check_integer("sizes", n, 2) for n in in_list(self.sizes))
        if sizes is not None:
            check_distinct("sizes", sizes)
        check_integer("simulations", self.simulations, 1)
        check_integer("n_resamples", self.n_resamples, 1)
        check_integer("seed", self.seed, 0, MAX_SEED)
        if self.weight_sets is not None:
            check_integer("weight_sets", self.weight_sets, 1)
        if self.threads is not None:
            check_integer("threads", self.threads, 1, MAX_THREADS)
        check_executor(self.executor)
        return replace(self, tests=tests, alphas=alphas, sizes=sizes)

    @property
    def rule(self) -> BesagClifford | None:
        """The stopping rule, if any, whose tests reject at all levels of the study exactly if all R shuffles do.

        h is the smallest number of exceedances with h/R > α for the largest level α, but at least 20, as in a
        comparison. A test that stops has p = h/n ≥ h/R > α, and with all shuffles p ≥ (h + 1)/(R + 1) ≥ h/R > α. A test
        that does not stop has the p of all shuffles.

        >>> StudySettings(n_resamples=9999, stopping="besag-clifford").rule
        BesagClifford(exceedances=1000)
        """
        if self.stopping is None:
            return None
        return BesagClifford(max(BesagClifford.exceedances, largest_rank(self.n_resamples, max(self.alphas)) + 1))

    def sizes_in(self, available: int, unit: str, where: str = "the pool") -> tuple[int, ...]:
        """The sizes of the simulated test sets, by default all units that there are.

        :class:`InputError` if there are fewer than two, or fewer than a size asks for.
        """
        if available < 2:
            raise InputError(f"{where} has only {available:,} {unit}: a study needs at least 2")
        if self.sizes is None:
            return (available,)
        largest = max(self.sizes)
        if largest > available:
            raise InputError(
                f"sizes: {largest:,} {unit}s were asked for, but {where} has only {available:,}: ask for fewer"
            )
        if self.sampling == "fixed" and self.sizes != (available,):
            raise InputError(
                f"sampling 'fixed' takes all {available:,} {unit}s of {where}: leave out the sizes, or use "
                "'subset' or 'replace'"
            )
        return tuple(self.sizes)

    def watched_by(self, progress: Progress | None, checkpoint: Checkpoint | None = None) -> StudySettings:
        """The same settings with a progress, and a file for finished simulations."""
        return replace(self, progress=progress, checkpoint=checkpoint)

    def steps(self, n_cells: int) -> list[Step]:
        """The steps of the simulations for progress reports: one stage for each cell."""
        replicates = n_cells * self.simulations * self.n_resamples * len(self.tests)
        return [("simulating", float(replicates * NANOSECONDS), n_cells)]

    def dependence(self, test: str, simulations: int, n_samples: int | None = None) -> Dependence:
        """How the simulations of this test depend on one another.

        ``n_samples`` is the number of populations if these are a sample: simulation i uses population i mod that.
        """
        if n_samples is not None:
            return Dependence(clusters=np.arange(simulations) % n_samples)
        if test == "ar" and self.scheme == "orbit":
            return Dependence(shared_replicates=self.n_resamples)
        if TESTS[test].replicates == "draws" and self.weight_sets is not None:
            return Dependence(clusters=np.arange(simulations) % self.weight_sets)
        return Dependence()

    @property
    def resampling(self) -> Resampling:
        """What counting needs of these settings."""
        return Resampling(self.n_resamples, self.seed, self.threads, self.progress, self.executor, self.checkpoint)

    @property
    def execution(self) -> Execution:
        """Where simulations are computed."""
        return Execution(self.executor, self.threads, self.progress, self.checkpoint)

    def for_metrics(self, material: Material, indices: Sequence[int]) -> StudySettings:
        """The same settings with the margins of some of the metrics only."""
        if not self.margins:
            return self
        margins = check_margins(self.margins, material.data.metrics, "this study")
        labels = labels_of([material.metrics[m] for m in indices])
        return replace(self, margins={label: margins[m] for label, m in zip(labels, indices, strict=True)})

    def testing(self) -> Testing:
        """The tests with their settings."""
        return Testing(
            self.tests,
            self.n_resamples,
            self.alternative,
            self.scheme,
            self.rule,
            self.weight_sets,
            self.margins,
            self.execution,
        )

    def plan(self, material: Material) -> dict[str, Any]:
        """The settings for :attr:`reshuffle.results.studies.StudyResult.plan`, with the names of the systems."""
        rule = self.rule
        return {
            "systems": list(material.names),
            "units": material.n_units,
            "unit": material.unit,
            "tests": list(self.tests),
            "sizes": None if self.sizes is None else list(self.sizes),
            "alphas": list(self.alphas),
            "simulations": self.simulations,
            "n_resamples": self.n_resamples,
            "sampling": self.sampling,
            "scheme": self.scheme,
            "stopping": self.stopping,
            **({} if rule is None else {"exceedances": rule.exceedances}),
            "weight_sets": self.weight_sets,
            "alternative": self.alternative,
            "baseline": self.baseline,
            "all_pairs": self.all_pairs,
            "margins": dict(self.margins),
            "seed": int(self.seed),
        }

    @staticmethod
    def signed(plan: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a plan that signatures show beside the seed and the metrics."""
        names = {"n_resamples": "n"}
        return {names.get(key, key): value for key, value in plan.items() if key not in ("seed", "metrics")}


def check_distinct(what: str, values: Sequence[object]) -> None:
    """:class:`InputError` if there are no values, or one is given twice."""
    if not values:
        raise InputError(f"no {what}: expected at least one")
    for at, value in enumerate(values):
        if value in values[:at]:
            raise InputError(f"{what}: {quoted(value)} is given twice: leave one out")
