"""The figures of studies: what a study says of each, and what those that draw it have in common.

Tests are distinguished without colours, and a key names their lines and markers. matplotlib is imported only when a
figure is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from ...documented import record
from ...errors import Argument, InputError, listed
from ...results import ConfidenceInterval
from ...results.lookup import metric_name
from ...results.studies import StudyResult
from ...validate import check_name
from ..plots.look import BETTER, COLUMN, FONT_SIZE, INK, MUTED, WORSE

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

    from ..plots.style import Drawing
else:
    Axes = Any  # modules that draw take it from here, without importing matplotlib

R = TypeVar("R")

# Fields of which each value has a panel, unless an option chooses one.
PANELS = ("metric", "coefficient", "grouping")


@record(slots=False)
class Figure:
    """A figure of some records of a study."""

    about: str
    """What it shows, as a caption."""
    table: str
    """The table of the records."""
    by: Sequence[str]
    """The fields in which all records of one figure agree. They are the options of the figure: ``metric`` is a keyword
    of ``result.plot.NAME`` and ``--metric`` of ``reshuffle plot``, and may be left out where the result has only one,
    or where each has a panel (``PANELS``).
    """
    drawing: Callable[[Any, Sequence[Any]], Drawing]
    """What draws it, from the study and the records: usually a :class:`ColumnFigure`."""
    over: str | None = None
    """The field on the x axis. HTML pages have the figure only if the records differ in it."""
    flat: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    """From the records of the table to those of the figure, where these are fewer or have other fields."""
    needs: str | None = None
    """What a result without records for the figure lacks; by default the table."""
    among: Sequence[str] = ()
    """Fields in which records of one figure may differ. They are options, too, which choose some of the records."""
    beside: int = 1
    """How many panels may stand beside each other. They have one label of the y axis."""
    titled: Callable[[str, Any], str] = lambda field, value: str(value)
    """What titles of panels call the value of a field."""
    part: Callable[[Mapping[str, Any]], str] = lambda chosen: ""
    """From the options of a figure to the heading of the part of an HTML page that it is in, as tables have it."""
    beyond: int = 0
    """HTML pages have the figure only of more records: a table beside it shows so many."""

    def option(self, field: str, value: Any) -> str:
        """The value of a field as captions have it: its name in words, if it has one."""
        title = self.titled(field, value)
        return f"{field.replace('_', ' ')} {value}" if title == str(value) else title

    def records(self, study: StudyResult) -> Sequence[Any]:
        """All records of figures of this kind."""
        records: Sequence[Any] = study.tables.get(self.table, ())
        return records if self.flat is None else self.flat(records)

    def choices(self, study: StudyResult, beyond: int = 0) -> list[dict[str, Any]]:
        """The options of every figure of this kind that has more records, unless it would have only one point."""
        records = self.records(study)
        if self.over is not None and len({getattr(record, self.over) for record in records}) < 2:
            return []
        every = Counter(tuple(getattr(record, field) for field in self.by) for record in records)
        return [dict(zip(self.by, values, strict=True)) for values, n in every.items() if n > beyond]

    def panels(
        self, study: StudyResult, name: str, where: Mapping[str, Any], *, single: bool = False
    ) -> dict[str, Sequence[Any]]:
        """The records of the figure of this name with the values ``where``, by the titles of panels. None is ignored.

        There are several unless there must be a ``single`` one.

        Raises
        ------
        InputError
            If an option does not apply to the figure, its value is unknown, or one of several values must be chosen.
        """
        given = {field: value for field, value in where.items() if value is not None}
        known = (*self.by, *self.among)
        for field in given:
            if field not in known:
                has = f": it has {listed(f'{{{each}}}' for each in known)}" if known else ""
                options = {each: Argument(each) for each in (*known, field)}
                raise InputError(f"the figure {name} has no option {{{field}}}{has}", **options)
        records = list(self.records(study))
        if not records:
            needed = f"needs {self.needs}" if self.needs else f"shows the table {self.table}"
            raise InputError(f"the figure {name} {needed}, but the result has none")
        fields = (*self.by, *(each for each in self.among if each in given))
        for field in sorted(fields, key=lambda each: (each not in given, each in PANELS)):
            values = list(dict.fromkeys(getattr(record, field) for record in records))
            shown = [str(value) for value in values]
            if field in given:
                if field == "metric":
                    given[field] = metric_name(given[field], shown)
                by_name = {str(value).casefold(): value for value in values}
                if str(given[field]).casefold() not in by_name:
                    check_name(field, str(given[field]), shown)
                chosen = by_name[str(given[field]).casefold()]
            elif len(values) > 1 and field in PANELS and not single:
                found = {}
                for value in values:
                    title = self.titled(field, value)
                    for more, own in self.panels(study, name, {**where, field: value}).items():
                        found[f"{title}, {more}" if more else title] = own
                return found
            elif len(values) > 1:
                asked = [each for each in fields if each not in given and (single or each not in PANELS)]
                raise _to_choose(records, asked)
            else:
                (chosen,) = values
            records = [record for record in records if getattr(record, field) == chosen]
        return {"": records}


def _to_choose(records: Sequence[Any], fields: Sequence[str]) -> InputError:
    """The error for records that differ in some of the fields, of which a figure has one value each."""
    values = {field: tuple(dict.fromkeys(str(getattr(record, field)) for record in records)) for field in fields}
    asked = {field: Argument(field, own) for field, own in values.items() if len(own) > 1}
    one = " and one ".join(field.replace("_", " ") for field in asked)
    options = ", and ".join(f"{{{field}}}" for field in asked)
    return InputError(f"a figure is of one {one}: choose {options}", **asked)


def in_module(module: str, name: str) -> Callable[[Any, Sequence[Any]], Drawing]:
    """The class of this name in a module of this package that imports matplotlib."""

    def drawing(study: Any, records: Sequence[Any]) -> Drawing:
        drawn: Drawing = getattr(import_module(f"{__package__}.{module}"), name)(study, records)
        return drawn

    return drawing


@dataclass(frozen=True)
class StudyFigure(Generic[R]):
    """The base of classes that draw records of a study (:class:`~reshuffle.report.plots.style.Drawing`)."""

    study: Any
    records: Sequence[R]


class ColumnFigure(StudyFigure[R]):
    """A figure as wide as a column of a paper, with its type size."""

    HEIGHT: ClassVar[float] = 2.1
    """In inches."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return COLUMN, self.HEIGHT

    @property
    def font_size(self) -> float:
        """In points."""
        return FONT_SIZE


COLOURS = (INK, BETTER, WORSE, MUTED)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
# What distinguishes the n-th test: no two of the first twelve agree in their markers.
LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"color": COLOURS[i % len(COLOURS)], "marker": marker, "linestyle": DASHES[i % len(DASHES)]}
    for i, marker in enumerate(MARKERS)
)


def looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The colour, marker and dashes of each name, in order of first appearance."""
    return {name: LOOKS[i % len(LOOKS)] for i, name in enumerate(dict.fromkeys(names))}


def point(
    ax: Axes, x: float, y: float, interval: ConfidenceInterval | None, look: dict[str, Any], filled: bool = True
) -> None:
    """A value with its interval as a vertical line."""
    color = look["color"]
    if interval is not None:
        ax.plot([x, x], [interval.low, interval.high], color=color, linewidth=0.9, solid_capstyle="butt", zorder=2)
    ax.plot(
        x, y, marker=look["marker"], markersize=3.8, markeredgewidth=0.9, markeredgecolor=color,
        markerfacecolor=color if filled else "white", linestyle="none", zorder=4,
    )  # fmt: skip


def curve(ax: Axes, x: Sequence[float], rates: Sequence[Any], look: dict[str, Any]) -> None:
    """A line through rates, with their intervals."""
    ax.plot(x, [rate.rate for rate in rates], color=look["color"], linestyle=look["linestyle"], linewidth=1.0, zorder=3)
    for at, rate in zip(x, rates, strict=True):
        point(ax, at, rate.rate, rate.confidence_interval, look)


def label(ax: Axes, x: str, y: str) -> None:
    """Label both axes, which are the only lines around the figure."""
    from ..plots.labels import PLAIN

    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(x, **PLAIN)
    ax.set_ylabel(y, **PLAIN)


def key_above(ax: Axes, shown: dict[str, dict[str, Any]], columns: int) -> None:
    """A legend of the names above the axes, in at most so many columns."""
    key(ax, shown, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(columns, len(shown)), columnspacing=1.0)


def key(ax: Axes, shown: dict[str, dict[str, Any]], lines: bool = False, **attributes: Any) -> None:
    """A legend of the names."""
    from matplotlib.lines import Line2D

    from ..plots.labels import PLAIN, printable

    handles = [
        Line2D(
            [], [], color=look["color"], marker="" if lines else look["marker"], markersize=3.8, linewidth=1.0,
            linestyle=look["linestyle"] if lines else "none",
        )
        for look in shown.values()
    ]  # fmt: skip
    names: Sequence[str] = [printable(name) for name in shown]
    legend = ax.legend(
        handles, names, frameon=False, borderaxespad=0.2, handlelength=2.2 if lines else 1.0, labelspacing=0.25,
        handletextpad=0.5, **attributes,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(PLAIN["parse_math"])
