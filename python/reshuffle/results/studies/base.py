"""The result of any study, and the record that most studies share: a rejection rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn

from typing_extensions import TypeVar

from ...documented import record
from ...errors import listed
from .. import UsedMetric
from ..intervals import ConfidenceInterval
from ..lookup import first_names
from ..plots import figures_in_words
from ..reported import Cited, reports
from .plan import Plan, with_lists

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The type of the settings. That of a study that this version does not know is a mapping.
P_co = TypeVar("P_co", bound=Mapping[str, Any], default=Mapping[str, Any], covariant=True)


class ErrorRate:
    """A record of how often a test rejects where a null hypothesis was true."""

    __slots__ = ()

    alpha: float
    confidence_interval: ConfidenceInterval

    @property
    def verdict(self) -> str:
        """The interval against the level.

        ``liberal`` if it lies above alpha, ``conservative`` if it lies below, else ``at its level``: Monte Carlo error
        explains the difference.
        """
        if self.confidence_interval.low > self.alpha:
            return "liberal"
        return "conservative" if self.confidence_interval.high < self.alpha else "at its level"


@record
class Rate(ErrorRate):
    """How often a test rejects at one level."""

    test: str
    """The test, the metric, and what was true in the simulated test sets: a null hypothesis or an alternative."""
    metric: str
    null: str
    size: int
    """The number of units (segments or documents) of a simulated test set."""
    alpha: float
    """The test rejects if p ≤ alpha."""
    rate: float
    """The share of simulations in which it rejects."""
    confidence_interval: ConfidenceInterval
    """For the rejection probability: Clopper–Pearson, unless simulations depend on one another."""
    simulations: int


@record(slots=False, repr=False)
class StudyResult(Cited, Generic[P_co]):
    """The result of a study.

    ``print(result)`` shows it, and :meth:`render` writes reports. :meth:`to_dicts`, :meth:`to_pandas` and
    :meth:`to_polars` return a table of its records.
    """

    study: str
    """The name of the study, such as ``type1``."""
    plan: P_co
    """All settings, by the names of the public keyword arguments: ``plan.alpha``. As a mapping, ``plan["alpha"]``, it
    has the values of JSON: sequences are lists.
    """
    metrics: tuple[UsedMetric, ...]
    tables: Mapping[str, tuple[Any, ...]]
    """Frozen records by the name of their table, such as ``rates``. The names are keys of the JSON. The first table is
    the main one.
    """
    truths: Mapping[str, str]
    """What was true in the simulated test sets, in words, by null hypothesis or alternative."""
    signature: str
    """One line with everything needed to repeat the study on the same data."""
    version: str
    """The version of reshuffle."""

    def __post_init__(self) -> None:
        # Lists and tuples are the same in JSON: equal plans must be equal after they were written and read.
        if not isinstance(self.plan, Plan):
            object.__setattr__(self, "plan", with_lists(self.plan))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(records):,}" for name, records in self.tables.items())
        metrics = first_names(metric.name for metric in self.metrics)
        return f"<{type(self).__name__}: {'; '.join(filter(None, (self.study, metrics, sizes)))}>"

    @property
    def plot(self) -> StudyPlots:
        """The figures of the study: ``result.plot.NAME()``, with the names in ``dir(result.plot)``.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        reports().check_matplotlib()
        return StudyPlots(self)

    def paper(self, directory: str | PathLike[str]) -> list[Path]:
        """Write what a paper needs to a folder, and return the files, as :meth:`reshuffle.Comparison.paper`.

        The figures are those of :attr:`plot`, at most eight.
        """
        report = reports()
        files: list[Path] = report.write_paper(self, Path(directory), report.Layout())
        return files

    @property
    def rates(self) -> tuple[Rate, ...]:
        """The rejection rates; empty if the study has none."""
        return self.tables.get("rates", ())


class StudyTypes:
    """The types of a study's settings and tables, from which JSON, CSV and data frames follow.

    Fields of records are str, int (not negative), float, bool, ConfidenceInterval, any of them or None, tuples of one
    of them, or mappings from names to records.
    """

    def __init__(
        self, plans: Sequence[type[Plan]], result: type[StudyResult[Any]] = StudyResult, /, **tables: type
    ) -> None:
        self.plans, self.result, self.tables = plans, result, tables

    def plan_with(self, settings: Mapping[str, Any]) -> type[Plan] | None:
        """The type of these settings: of the variants of the study, that of most keys. None for unknown studies."""
        return max(self.plans, key=lambda kind: len(settings.keys() & kind.names()), default=None)


@record(slots=False)
class StudyPlots:
    """The figures of a study: ``result.plot.rates()``. ``dir(result.plot)`` lists them, with ``_`` for ``-``.

    Each method draws into the axes ``ax``, or into those of a new figure, and returns the axes; the style and the size
    are those of the figures of comparisons (:class:`reshuffle.report.Plots`).

    Notes
    -----
    All methods have these parameters:

    ax : matplotlib.axes.Axes, optional
        Axes to draw into, which keep their style. A new figure by default.
    width, height : float, optional
        The size of a new figure, in inches.
    metric, null, size …
        What the figure is about: values of fields of the records. May be omitted if there is only one, and
        ``metric``, ``coefficient`` and ``grouping`` always: by default, each has a panel.

    They raise :class:`~reshuffle.InputError` if a value is unknown, or if there are several and none is given.
    """

    study: StudyResult

    @property
    def _figures(self) -> Mapping[str, Any]:
        figures: Mapping[str, Any] = reports().report_of(self.study.study).figures
        return figures

    def __repr__(self) -> str:
        return figures_in_words("result.plot", dir(self)[:-1])

    def __call__(self, *args: object, **options: object) -> NoReturn:
        """Say which figures there are."""
        raise TypeError(repr(self))

    def __getattr__(self, name: str) -> Callable[..., Axes]:
        figures = {kind.replace("-", "_"): kind for kind in self._figures}
        if name not in figures:
            raise AttributeError(f"the study {self.study.study} has no figure {name!r}; its figures: {listed(figures)}")

        def draw(**options: Any) -> Axes:
            axes: Axes = reports().draw_figure(self.study, figures[name], **options)
            return axes

        draw.__name__, draw.__doc__ = name, self._figures[figures[name]].about
        return draw

    def __dir__(self) -> list[str]:
        return [*(kind.replace("-", "_") for kind in self._figures), "study"]
