"""Figures for papers. matplotlib is imported only when a figure is drawn.

To add a figure, write a file here with a class that has a size and draws into axes, an entry in :data:`PLOTS`, and a
method of :class:`Plots` with its name. Add the name to :mod:`reshuffle.types`, for type checkers and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn

from ...documented import record
from ...options.declare import hinting
from ...results import Comparison, PairedDifference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .style import Drawing

__all__ = ["PLOTS", "Plots", "figure_of", "file_of"]

# In inches: higher panels one above the other share their rows instead, at most so many beside each other.
STACKED, MOST_BESIDE = 4.5, 4


@record(slots=False)
class Plots:
    """The figures of a comparison on one test set, or of the average over test sets: ``comparison.plot``.

    Each method draws into the axes ``ax``, or into those of a new figure, and returns the axes. A new figure is as wide
    as a column of an ACL paper (7.7 cm; 16 cm if that is too narrow) and as high as its rows need. Its font resembles
    Times, in 7.5 pt. No meaning depends on colour alone. ``ax.figure.savefig("figure.pdf")`` embeds TrueType fonts,
    and the same figure gives the same file. New figures do not use pyplot, and do not change matplotlib's settings.

    Notes
    -----
    All methods have these parameters:

    metric : str, optional
        The name of a metric in ``comparison.metrics``; case is ignored. If there are several and none is named, a new
        figure has a panel for each: ``ax.figure.axes`` are all of them, of which the first one is returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, which keep their style. A new figure by default.
    width, height : float, optional
        The size of a new figure, in inches.
    names : mapping of str to str, optional
        Display names, by system.
    digits : int, optional
        The number of decimals of scores and differences, from 0 to 15. Chosen by metric by default.

    They raise :class:`~reshuffle.InputError` if a metric or system is unknown, if a value is out of range, or if the
    result lacks what the figure shows.

    Examples
    --------
    >>> from reshuffle import SegmentScores, compare
    >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
    >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
    >>> ax = comparison.plot.ranking()
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b', 'c']
    >>> ax.figure.savefig("ranking.pdf")  # doctest: +SKIP
    """

    comparison: Comparison

    def __repr__(self) -> str:
        return figures_in_words("result.plot", PLOTS)

    def __call__(self, *args: object, **options: object) -> NoReturn:
        """Say which figures there are."""
        raise TypeError(figures_in_words("result.plot", PLOTS))

    @hinting
    def forest(
        self, metric: str | None = None, *, baseline: str | None = None, ax: Axes | None = None,
        width: float | None = None, height: float | None = None, names: Mapping[str, str] | None = None,
        digits: int | None = None,
    ) -> Axes:  # fmt: skip
        """Forest plot: the differences of all systems from one of them, with confidence intervals and p-values.

        p is adjusted if there is an adjustment. Filled markers and stars indicate significant differences (p ≤ α). If a
        few systems, at most a tenth, are so far away that they would squeeze the other intervals, the axis ends before
        them: an arrow at its end has their difference.

        Parameters
        ----------
        metric : str, optional
        baseline : str, optional
            The system that is subtracted from the others: the baseline of the comparison or, if all pairs were
            compared, any system. By default that baseline, else the best system or, with one-sided tests, the one that
            was the baseline of all others.
        ax, width, height, names, digits
            As for all figures (:class:`Plots`).

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If the result has only scores, if the systems were compared with another baseline, or if a one-sided test
            has compared ``baseline`` with a baseline of its own.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
        >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
        >>> ax = comparison.plot.forest(baseline="b")
        >>> ax.get_xlabel()
        'Δrating from b, 95% CI (→ better)'
        """
        return self._drawn("forest", metric, ax, width, height, names=names, digits=digits, baseline=baseline)

    @hinting
    def matrix(
        self, metric: str | None = None, *, ax: Axes | None = None, width: float | None = None,
        height: float | None = None, names: Mapping[str, str] | None = None, digits: int | None = None,
    ) -> Axes:  # fmt: skip
        """A heat map of the p-values of all pairs, with numbers for up to 20 systems; stars indicate significant ones.

        Systems are ordered from best to worst. Each cell shows the p-value (adjusted if there is an adjustment) of the
        systems of its row and column, of which the better one is the column. For one-sided tests, the row is the system
        and the column its baseline.

        Parameters
        ----------
        metric : str, optional
        ax, width, height, names, digits
            As for all figures (:class:`Plots`).

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If not all pairs were compared.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
        >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
        >>> [text.get_text() for text in comparison.plot.matrix().get_legend().get_texts()]
        ['≤ 0.001', '≤ 0.01', '≤ 0.05', '≤ 0.1', '> 0.1', '≤ 0.05']
        """
        return self._drawn("matrix", metric, ax, width, height, names=names, digits=digits)

    @hinting
    def ranking(
        self, metric: str | None = None, *, ax: Axes | None = None, width: float | None = None,
        height: float | None = None, names: Mapping[str, str] | None = None, digits: int | None = None,
    ) -> Axes:  # fmt: skip
        """The scores of all systems with their confidence intervals, from best to worst.

        If all pairs were compared, the figure also has intervals of the ranks, and a bar with a letter for each group
        of systems that do not differ significantly: two systems that share no bar differ significantly. If there is a
        baseline, a square and a dashed line mark it, and filled markers and stars indicate significant differences
        from it.

        Parameters
        ----------
        metric : str, optional
        ax, width, height, names, digits
            As for all figures (:class:`Plots`).

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            As for all figures (:class:`Plots`).

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
        >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
        >>> comparison.plot.ranking().get_xlabel()
        'rating, 95% CI (→ better)'
        """
        return self._drawn("ranking", metric, ax, width, height, names=names, digits=digits)

    @hinting
    def null(
        self, system: str | PairedDifference | None = None, baseline: str | None = None, metric: str | None = None, *,
        ax: Axes | None = None, width: float | None = None, height: float | None = None,
        names: Mapping[str, str] | None = None, digits: int | None = None,
    ) -> Axes:  # fmt: skip
        """The null distribution of the test statistic of a pair, with the observed value and the tail that p counts.

        Parameters
        ----------
        system, baseline : str, optional
            The pair, as for :meth:`reshuffle.Comparison.pair`, or instead of both what that returns. May be omitted if
            there is only one pair.
        metric : str, optional
        ax, width, height, names, digits
            As for all figures (:class:`Plots`).

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If there is no such pair, or its test has no replicates.

        Notes
        -----
        The bin in which the tail begins is cut there, so its shaded part is approximate. What p counts is shaded:
        both tails of two-sided tests, or the smaller one where p is 2(c + 1)/(R + 1) of its c of R draws
        (``bootstrap-percentile``, and ``bootstrap-both`` if that has the larger p). For ``bootstrap-shift``, which
        centres the sizes of the differences, no tail is.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
        >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
        >>> comparison.plot.null("c", "a").get_xlabel().splitlines()
        ['Δrating: c − a', 'under the null hypothesis']
        """
        if isinstance(system, PairedDifference):
            metric = system.metric if metric is None else metric
        own: dict[str, Any] = {"system": system, "baseline": baseline, "names": names, "digits": digits}
        return self._drawn("null", metric, ax, width, height, **own)

    @hinting
    def densities(
        self, metric: str | None = None, *, ax: Axes | None = None, width: float | None = None,
        height: float | None = None, names: Mapping[str, str] | None = None, digits: int | None = None,
    ) -> Axes:  # fmt: skip
        """The bootstrap distributions of the systems' scores, from the best system to the worst.

        The curves are kernel density estimates from 64-bin histograms, all of the same area. The vertical line is the
        observed score, and the filled area is the confidence interval.

        Parameters
        ----------
        metric : str, optional
        ax, width, height, names, digits
            As for all figures (:class:`Plots`).

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If the result has no bootstrap draws.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> scores = {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20, "c": [0, 1, 2, 3] * 20}
        >>> comparison = compare(metrics=SegmentScores("rating", scores), all_pairs=True, n_resamples=1000)
        >>> comparison.plot.densities().get_xlabel()
        'rating on bootstrap draws; filled: 95% CI'
        """
        return self._drawn("densities", metric, ax, width, height, names=names, digits=digits)

    def _drawn(
        self, kind: str, metric: str | None, ax: Axes | None, width: float | None, height: float | None, **options: Any
    ) -> Axes:  # fmt: skip
        """The axes of a figure under a metric; without one, the first axes of a figure with a panel for each."""
        from .style import axes_of

        if metric is None and ax is None and len(self.comparison.metrics) > 1:
            panels = {used.name: (self.comparison, used.name) for used in self.comparison.metrics}
            return figure_of(kind, panels, width=width, height=height, **options).axes[0]
        return axes_of(_drawing(kind, self.comparison, metric, **options), ax, width, height)


def figure_of(
    kind: str, panels: Mapping[str, tuple[Comparison, str | None]], *, width: float | None = None,
    height: float | None = None, test_set: str = "", **options: Any,
) -> Figure:  # fmt: skip
    """A new figure with a panel for each title: a comparison under one of its metrics. One panel needs no title.

    ``test_set``: the one of the comparisons, for labels, if the result has several.
    """
    from .style import axes_of, drawn_alone, panels_of, stacked_height

    def draw(order: tuple[str, ...] = (), beside: int = 1) -> dict[str, Callable[..., Axes]]:
        shown: dict[str, Any] = {**options, "order": order, "beside": beside, "test_set": test_set}
        return {title: partial(axes_of, _drawing(kind, *panel, **shown)) for title, panel in panels.items()}

    panel = draw()
    if len(panel) == 1:
        (only,) = panel.values()
        made: Figure = only(width=width, height=height).figure  # type: ignore[assignment]
        return made
    alone, beside = drawn_alone(panel), 1
    order = _shared_order(kind, panels)
    if stacked_height(alone) > STACKED and order and _has_same_rows(kind, panels, options.get("baseline")):
        beside = len(panels) if len(panels) <= MOST_BESIDE else 3
    # The bars of a ranking join neighbours, so panels of rankings have an order of their own if they have bars.
    if order and (beside > 1 or kind != "ranking"):
        panel = draw(order, beside)
        alone = drawn_alone(panel)
    return panels_of(panel, alone, beside, width, height)


def _shared_order(kind: str, panels: Mapping[str, tuple[Comparison, str | None]]) -> tuple[str, ...]:
    """The systems from the best one in the first panel, if all panels have the same."""
    from .view import View

    first, *others = panels.values()
    comparison, metric = first
    if kind not in ("ranking", "densities", "forest"):
        return ()
    if any({*other.systems} != {*comparison.systems} for other, _ in others):
        return ()
    return (*View.from_options(comparison, metric, None, None).scores,)


def _has_same_rows(kind: str, panels: Mapping[str, tuple[Comparison, str | None]], baseline: Any) -> bool:
    """Whether all panels have the same rows: a forest has none of its baseline."""
    comparison, _ = next(iter(panels.values()))
    return kind != "forest" or (baseline or comparison.baseline) is not None


def _drawing(
    kind: str, comparison: Comparison, metric: str | None, *, names: Mapping[str, str] | None = None,
    digits: int | None = None, order: tuple[str, ...] = (), beside: int = 1, test_set: str = "", **own: Any,
) -> Drawing:  # fmt: skip
    """A figure of a comparison on this test set, whose rows are in an order that several panels share, if any."""
    from .view import View

    view = replace(View.from_options(comparison, metric, names, digits), order=order, beside=beside, test_set=test_set)
    figure = getattr(import_module(f".{kind}", __package__), PLOTS[kind])
    drawing: Drawing = figure.from_view(view, **own)
    return drawing


def figures_in_words(plot: str, names: Iterable[str]) -> str:
    """What a result's figures print as, and say if they are called.

    >>> figures_in_words("result.plot", ["ranking", "forest"])
    'figures of the result: result.plot.ranking(), result.plot.forest()'
    """
    return f"figures of the result: {', '.join(f'{plot}.{name}()' for name in names)}"


def check_matplotlib() -> None:
    """Raise :class:`ModuleNotFoundError` if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'reshuffle[plots]'", name="matplotlib")


def file_of(figure: Any, fmt: str) -> bytes:
    """The contents of a ``pdf``, ``svg`` or ``png`` file with a new figure of :class:`Plots`."""
    content = BytesIO()
    figure.savefig(content, format=fmt)
    return content.getvalue()


# By the name of a method of Plots, which is also that of a file here, the class in it that draws. In the order of the
# gallery (docs/gallery.md).
PLOTS: Mapping[str, str] = {
    "ranking": "RankingFigure",
    "forest": "Forest",
    "matrix": "Matrix",
    "null": "NullFigure",
    "densities": "Densities",
}
