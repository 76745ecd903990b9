"""Settings of a comparison, as frozen records that both the public functions and the command line fill in.

Fields are named like the public keyword arguments. This module imports little, so that the command line can report a
mistyped option at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from attrs import field, frozen

from .errors import Argument, InputError, listed
from .execution import Execution
from .options.choices import TESTS_WITH_MARGIN, settings_of
from .options.comparisons import Compare, CompareRuns, CompareSets, Kept, Medians, Pairs, Resampled, RunTests, Tested
from .options.declare import taken
from .options.groups import by_metric
from .validate import CONFIDENCE_LEVEL, check_n_resamples, check_name, chosen_seed, default_alpha

if TYPE_CHECKING:
    from ._core import Progress
    from .data.corpus import DocumentIds, StratumIds
    from .execution import AnyExecutor
    from .execution.checkpoint import Checkpoint
    from .progress import Step
    from .resampling.stopping import AnyRule


@dataclass
class Resampling:
    """Number of replicates, their seed, and what computes them."""

    n_resamples: Any = 10_000  # an integer or "auto"; checked where replicates are made
    seed: Any = None  # an integer, or None for the default; checked where replicates are made
    threads: int | None = None
    progress: Progress | None = None
    executor: AnyExecutor = None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        self.seed = chosen_seed(self.seed)

    @property
    def execution(self) -> Execution:
        """Where replicates are computed."""
        return Execution(self.executor, self.threads, self.progress, self.checkpoint)

    @classmethod
    def from_options(cls, options: Resampled, progress: Progress | None) -> Resampling:
        """From the options of a function, and what watches it."""
        return cls(options.n_resamples, options.seed, options.threads, progress, options.executor)

    def announce(self, steps: Iterable[Step]) -> None:
        """Plan the steps of a job, if someone watches its progress: see :meth:`Progress.plan`."""
        if self.progress is not None:
            self.progress.plan([*steps])

    def with_number(self, automatic: int) -> Resampling:
        """The same settings with a number of replicates: ``automatic`` instead of ``auto``."""
        n = check_n_resamples("n_resamples", self.n_resamples)
        return self if n is self.n_resamples else replace(self, n_resamples=automatic if n is None else n)


@dataclass(frozen=True)
class Units:
    """The id of each segment's document and stratum, or None.

    With documents the resampling unit is the document, otherwise the segment. Draws are made within strata.
    """

    documents: DocumentIds | None = None
    strata: StratumIds | None = None
    source: Sequence[str | None] | None = None
    """The source text of each segment, which only reports show."""


@frozen(kw_only=True, slots=False)
class ComparisonSettings(Kept, Pairs, Tested):
    """The significance test, its options, the pairs of systems to compare, and what the result keeps.

    ``interval`` is that of the scores, and also of the differences unless these are ``simultaneous``. Without
    ``alpha``, tests are for no particular level.
    """

    test: str = "auto"
    interval: str | None = "percentile"
    simultaneous: bool = False
    scheme: str = "auto"
    stopping: AnyRule | str | None = None
    confidence_level: float = CONFIDENCE_LEVEL
    margins: Mapping[str, float] = field(default=None, converter=by_metric)

    @classmethod
    def from_options(cls, options: Compare | CompareSets) -> ComparisonSettings:
        """The settings that the options of a function stand for."""
        interval = {"interval": None} if options.interval is None else settings_of(options.interval, "interval")
        test = settings_of(options.test, "test")
        return taken(cls, options, **test, **interval, **levels(options.confidence_level, options.alpha, test["test"]))

    @classmethod
    def for_scores(cls, interval: str | None, confidence_level: float | None) -> ComparisonSettings:
        """Scores without tests. If one argument is None, it has its default; if both are, there are no intervals."""
        if interval is None and confidence_level is None:
            return cls(interval=None)
        return cls(interval="percentile" if interval is None else interval, **levels(confidence_level, None))


def in_order(names: Sequence[str], chosen: Pairs) -> tuple[tuple[str, ...], str | None]:
    """The systems with the baseline first, and the baseline, which is None if every pair is compared.

    :class:`InputError` for an unknown baseline.
    """
    if chosen.all_pairs:
        return tuple(names), None
    baseline = names[0] if chosen.baseline is None else chosen.baseline
    check_name("baseline", baseline, names)
    return (baseline, *(name for name in names if name != baseline)), baseline


class Levels(TypedDict):
    """The confidence level of intervals, and the significance level of tests."""

    confidence_level: float
    alpha: float


def levels(confidence_level: float | None, alpha: float | None, test: str = "auto") -> Levels:
    """The confidence level, by default 0.95, and alpha, by default 1 − confidence_level.

    For a test with a margin, the confidence level is 1 − 2·alpha, and 0.90 by default.
    """
    if test in TESTS_WITH_MARGIN:
        confidence_level, alpha = _levels_with_margin(test, confidence_level, alpha)
    confidence_level = CONFIDENCE_LEVEL if confidence_level is None else confidence_level
    alpha = default_alpha(confidence_level) if alpha is None else alpha
    return {"confidence_level": confidence_level, "alpha": alpha}


def _levels_with_margin(test: str, confidence_level: float | None, alpha: float | None) -> tuple[float, float]:
    """The confidence level 1 − 2·alpha and alpha; :class:`InputError` if they do not belong together."""
    if alpha is None:
        alpha = default_alpha() if confidence_level is None else round((1 - confidence_level) / 2, 12)
    expected = round(1 - 2 * alpha, 12)
    if expected <= 0:
        raise InputError(f"{{alpha}} must be below 0.5 for the test {test!r}, got {alpha}", alpha=Argument("alpha"))
    if confidence_level is not None and confidence_level != expected:
        raise InputError(
            f"with the test {test!r}, {{level}} must be 1 - 2*alpha, {expected:.10g}, got {confidence_level}: leave "
            "out one of them",
            level=Argument("confidence_level"),
        )
    return expected, alpha


@frozen(kw_only=True, slots=False)
class RunSettings(Medians, Pairs, RunTests):
    """How systems with several runs are compared."""

    alpha: float = default_alpha()
    confidence_level: float = CONFIDENCE_LEVEL

    @classmethod
    def from_options(cls, options: CompareRuns) -> RunSettings:
        """The settings that the options of a function stand for."""
        if len(options.exchange) > 1 and "auto" in options.exchange:
            raise InputError(
                "{exchange}: expected auto, or names of units, got {got}",
                exchange=Argument("exchange"),
                got=listed(options.exchange),
            )
        return taken(cls, options, **levels(options.confidence_level, options.alpha))
