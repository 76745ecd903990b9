"""The figures of a comparison: ``comparison.plot``. :mod:`reshuffle.report` draws them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypedDict, get_args

from typing_extensions import Unpack

from ..documented import record
from ..options.hints import hinting
from ..types import PlotKind
from .compared import Compared
from .differences import PairedDifference
from .reported import reports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")


class Look(TypedDict, total=False):
    """The parameters that all figures have: see :class:`Plots`."""

    ax: Axes | None
    width: float | None
    height: float | None
    names: Mapping[str, str] | None
    digits: int | None


def _figure(method: Callable[P, Axes]) -> Callable[P, Axes]:
    """A method whose signature has the parameters of :class:`Look` one by one, as help and errors show them."""
    declared = inspect.signature(method)
    *own, _ = declared.parameters.values()
    look = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)
        for name, kind in Look.__annotations__.items()
    ]
    method.__signature__ = declared.replace(parameters=[*own, *look])  # type: ignore[attr-defined]
    return hinting(method)


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
        Axes to draw into, which keep their style; those of ``plt.subplots(layout="constrained")`` have room for all
        names and for the legend below. Columns beside narrow axes, as of ranks, are left out. A new figure by default.
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

    comparison: Compared

    def __repr__(self) -> str:
        return figures_in_words("result.plot", get_args(PlotKind))

    def __call__(self, *args: object, **options: object) -> NoReturn:
        """Say which figures there are."""
        raise TypeError(figures_in_words("result.plot", get_args(PlotKind)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            figures = figures_in_words("result.plot", get_args(PlotKind))
            raise AttributeError(f"there is no figure {name!r}; {figures}", name=name, obj=self)

    @_figure
    def forest(self, metric: str | None = None, *, baseline: str | None = None, **look: Unpack[Look]) -> Axes:
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
        return self._drawn("forest", metric, look, baseline=baseline)

    @_figure
    def matrix(self, metric: str | None = None, **look: Unpack[Look]) -> Axes:
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
        return self._drawn("matrix", metric, look)

    @_figure
    def ranking(self, metric: str | None = None, **look: Unpack[Look]) -> Axes:
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
        return self._drawn("ranking", metric, look)

    @_figure
    def null(
        self,
        system: str | PairedDifference | None = None,
        baseline: str | None = None,
        metric: str | None = None,
        **look: Unpack[Look],
    ) -> Axes:
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
        return self._drawn("null", metric, look, system=system, baseline=baseline)

    @_figure
    def densities(self, metric: str | None = None, **look: Unpack[Look]) -> Axes:
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
        'rating on bootstrap draws (→ better); filled: 95% CI'
        """
        return self._drawn("densities", metric, look)

    def _drawn(self, kind: str, metric: str | None, look: Look, **own: Any) -> Axes:
        axes: Axes = reports().drawn(kind, self.comparison, metric, **look, **own)
        return axes


def figures_in_words(plot: str, names: Iterable[str]) -> str:
    """What a result's figures print as, and say if they are called.

    >>> figures_in_words("result.plot", ["ranking", "forest"])
    'figures of the result: result.plot.ranking(), result.plot.forest()'
    """
    return f"figures of the result: {', '.join(f'{plot}.{name}()' for name in names)}"
