"""The settings that all studies of tests share, as one frozen record."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from .. import _core, signature
from .._core import Progress
from ..comparing import data_and_units
from ..errors import Argument, InputError
from ..execution import Execution
from ..execution.checkpoint import Checkpoint, kept
from ..inference.margins import check_margins
from ..inference.plan import check_test
from ..inference.pvalues import largest_rank
from ..inference.tests import DEFAULT, TESTS
from ..options.choices import TESTS_WITH_MARGIN, Choice, WithMargin, merged
from ..options.declare import several, taken
from ..options.groups import Computed, by_metric
from ..options.studies import Pairs, Replicates, SharedDraws, Simulated, Sized, Tested
from ..progress import Step, reported
from ..resampling.counting import Data, labels_of
from ..resampling.stopping import BesagClifford
from ..results import UsedMetric
from ..results.studies import StudyResult, types_of
from ..results.studies.plan import Plan
from ..settings import Resampling, Units
from ..validate import check_name
from .material import Material
from .rates import Dependence
from .testing import Testing

if TYPE_CHECKING:
    from ..options.studies import StudyInputs, StudyOptions

# The default test of comparisons, and those of Riezler & Maxwell 2005, the bootstrap also centred on the estimate.
DEFAULT_TESTS = ("ar", DEFAULT, "bootstrap", "bootstrap-shift")
# How ``ar`` makes its shuffles in a study: see :class:`reshuffle.study.testing.Testing`.
STUDY_SCHEMES = ("iid", "subgroup", "orbit")
# The rules that end the shuffles of a test without a change of its decisions: see :attr:`StudySettings.rule`.
STUDY_STOPPING = (BesagClifford.name,)
# The cost of a replicate of a test set of usual size, for the progress bar.
NANOSECONDS = 100


@frozen(kw_only=True, slots=False)
class StudySettings(Computed, Replicates, Simulated, SharedDraws, Sized, Pairs, Tested):
    """The options that most studies share. Those that a study does not have are at their defaults.

    ``scheme`` and ``stopping`` are those of the shuffles of all tests, and ``margins`` those of all tests that have
    some.
    """

    study: str = ""
    """The name of the study."""
    tests: tuple[str, ...] = field(default=DEFAULT_TESTS, converter=several)
    scheme: str = "iid"
    stopping: str | None = None
    margins: Mapping[str, float] = field(default=None, converter=by_metric)
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

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

    def sizes_in(self, available: int, unit: str) -> tuple[int, ...]:
        """The sizes of the simulated test sets, by default all units that there are.

        :class:`InputError` if there are fewer than two, or fewer than a size asks for.
        """
        if available < 2:
            raise InputError(f"the pool has only {available:,} {unit}: a study needs at least 2")
        if self.sizes is None:
            return (available,)
        largest = max(self.sizes)
        if largest > available:
            raise InputError(
                f"{{sizes}}: {largest:,} {unit}s were asked for, but the pool has only {available:,}: ask for fewer",
                sizes=Argument("sizes"),
            )
        if self.sampling == "fixed" and self.sizes != (available,):
            raise InputError(
                f"sampling 'fixed' takes all {available:,} {unit}s of the pool: leave out the sizes, or use "
                "'subset' or 'replace'"
            )
        return tuple(self.sizes)

    @property
    def n_sizes(self) -> int:
        """The number of sizes of simulated test sets."""
        return 1 if self.sizes is None else len(self.sizes)

    def n_pairs(self, n_systems: int) -> int:
        """The number of pairs of systems, before they are counted."""
        return n_systems * (n_systems - 1) // 2 if self.all_pairs else n_systems - 1

    def steps(self, n_cells: int) -> list[Step]:
        """The steps of the simulations for progress reports: one for each cell."""
        cost = float(self.simulations * self.n_resamples * len(self.tests) * NANOSECONDS)
        numbers = [f" ({i} of {n_cells})" for i in range(1, n_cells + 1)] if n_cells > 1 else [""] * n_cells
        return [(f"simulating{number}", cost, 1) for number in numbers]

    def material(self, data: Data, units: Units, n_cells: int) -> Material:
        """Count all systems, before so many cells are simulated. :class:`InputError` for tests of other metrics."""
        for test in self.tests:
            check_test(test, self.alternative, *data.metrics)
        return Material.from_data(data, units, self.resampling, self.steps(n_cells))

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
        return self.resampling.execution

    def for_metrics(self, material: Material, indices: Sequence[int]) -> StudySettings:
        """The same settings with the margins of some of the metrics only."""
        if not self.margins:
            return self
        test = next((name for name in self.tests if name in TESTS_WITH_MARGIN), "equivalence")
        margins = check_margins(self.margins, material.data.metrics, "test", test)
        labels = labels_of([material.metrics[m] for m in indices])
        return evolve(self, margins={label: margins[m] for label, m in zip(labels, indices, strict=True)})

    def testing(self) -> Testing:
        """The tests with their settings."""
        return taken(Testing, self, stopping=self.rule)

    @property
    def exceedances(self) -> int | None:
        """That of the stopping rule, if any."""
        return None if self.rule is None else self.rule.exceedances

    def result(
        self,
        options: StudyOptions,
        tables: Mapping[str, Iterable[Any]],
        truths: Mapping[str, str],
        material: Material | None = None,
        *,
        label: str = "",
        plan: type[Plan] | None = None,
        unsigned: Collection[str] = (),
        **others: Any,
    ) -> StudyResult[Any]:
        """The result of the study, whose signature has its plan, the seed and the metrics.

        The plan has those of its fields that the data, these settings and the options have, and ``others``. Simulated
        scores have a ``label`` in place of a ``material``. ``unsigned`` settings follow from others.
        """
        if material is None:
            data: dict[str, Any] = {"metrics": (label,)}
            metrics: tuple[UsedMetric, ...] = (UsedMetric(label, label, True),)
        else:
            names = {"systems": material.names, "units": material.n_units, "unit": material.unit}
            data, metrics = {**names, "metrics": material.data.labels}, material.data.used_metrics()
        planned = taken(plan or types_of(self.study).plans[0], options, self, **{**data, **others})
        signed = {
            "n" if name == "n_resamples" else name: value
            for name, value in planned.items()
            if name not in ("seed", "metrics", *unsigned)
        }
        lines = [] if material is None else [metric.signature for metric in metrics]
        return StudyResult(
            study=self.study,
            plan=planned,
            metrics=metrics,
            tables={name: tuple(records) for name, records in tables.items()},
            truths=truths,
            signature=signature.for_study(self.study, signed, self.seed, lines),
            version=_core.VERSION,
        )


@contextlib.contextmanager
def started(study: str, options: StudyInputs) -> Iterator[tuple[Data, Units, StudySettings]]:
    """The data of a study, the ids of its units, and its settings, while it is watched and its checkpoint is open."""
    data, units = data_and_units(options)
    with settings_of(study, options) as settings:
        yield data, units, settings


@contextlib.contextmanager
def settings_of(study: str, options: StudyOptions) -> Iterator[StudySettings]:
    """The settings of a study, while it is watched and its checkpoint is open."""
    with reported(options.progress) as watched, kept(options.checkpoint, study) as checkpoint:
        own: dict[str, Any] = {"study": study, "progress": watched, "checkpoint": checkpoint}
        if isinstance(options, Tested):
            default = [name for name in DEFAULT_TESTS if options.alternative in TESTS[name].alternatives]
            own |= tests_with_options(default if options.tests is None else options.tests)
        yield taken(StudySettings, options, **own)


def tests_with_options(tests: Sequence[str | Choice]) -> dict[str, Any]:
    """The names of the tests of a study, and their options as settings; :class:`InputError` if they do not fit."""
    for each in tests:
        if isinstance(each, WithMargin) and each.scheme != "auto":
            raise InputError(
                f"scheme {each.scheme!r} is for tests without a margin: studies choose that of "
                f"{each.settings['test']!r}"
            )
    found = merged("test", tests, "test")
    found["tests"] = found.pop("test")
    if "scheme" in found:
        check_name("scheme of a study", found["scheme"], STUDY_SCHEMES)
    if found.get("stopping") is not None:
        check_name("stopping rule of a study", found["stopping"], STUDY_STOPPING)
    return found
