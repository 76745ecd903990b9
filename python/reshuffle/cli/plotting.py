"""``reshuffle plot``: a figure of a saved result."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click

from .. import types
from ..data.saved import read_json
from ..data.system_names import read_names
from ..errors import InputError, either, listed, printable, quoted
from ..grouping import grouped
from ..options.declare import options_of
from ..options.display import ComparisonFigure, Figure, StudyFigure
from ..report import PLOTS
from ..report.layout import check_names, named_systems
from ..report.plots import figure_of, file_of
from ..report.plots.look import PAGE_HEIGHT
from ..report.studies import draw_figure, report_of
from ..report.systems import sorted_systems
from ..report.wording import joined
from ..results import Comparison, Flips, Gate, SetComparison
from ..results.studies import StudyResult
from ..validate import check_name
from .declared import check_unused
from .output import need_matplotlib, stream_destination
from .show import on_set

# File name extensions, which are also matplotlib's names of the formats.
FORMATS = ("pdf", "svg", "png")
# Options that apply to only one kind of figure.
OWN_OPTIONS = {"pair": "null", "baseline": "forest"}


def plot(source: str, kind: str | None, output: str | None, options: Figure) -> None:
    """Read a result, plot it, and write the figure to a file."""
    if kind is None:
        raise InputError(f"missing argument 'KIND': choose {either(_kinds(_drawable(source)))}")
    if kind not in (*PLOTS, *get_args(types.StudyPlotKind)):
        check_name("figure", kind, _kinds(_drawable(source)))
    if output is None:
        raise InputError("missing option '-o': name the file of the figure, in .pdf, .svg or .png")
    fmt = _format(output)
    need_matplotlib()
    for option, owner in OWN_OPTIONS.items():
        if kind in PLOTS and kind != owner and getattr(options, option) is not None:
            raise InputError(f"--{option} is for {owner}, not for {kind}: leave it out")
    inputs = [source, *([] if options.names is None else [options.names])]
    with stream_destination(output, inputs) as file:
        result = _drawable(source)
        figure = _of_study(result, kind, options) if isinstance(result, StudyResult) else _of(result, kind, options)
        file.write(file_of(figure, fmt))


def _drawable(source: str) -> Comparison | SetComparison | StudyResult:
    """The result; :class:`InputError` for one without figures."""
    result = read_json(source)
    if isinstance(result, Flips | Gate):
        is_gate = isinstance(result, Gate)
        held = "a gate" if is_gate else "flips"
        hint = f"; that of a gate is on its page: reshuffle show {source} -o gate.html" if is_gate else ""
        raise InputError(f"{source} holds {held}: expected a comparison or a study, of which there are figures{hint}")
    return result


def _kinds(result: Comparison | SetComparison | StudyResult) -> Sequence[str]:
    """The figures that a result has."""
    if isinstance(result, StudyResult):
        figures = report_of(result.study).figures
        if not figures:
            raise InputError(f"the study {result.study} has no figures")
        return [name for name, figure in figures.items() if figure.records(result)] or list(figures)
    first, *_ = [*result.sets.values()] if isinstance(result, SetComparison) else [result]
    has = {
        "ranking": True,
        "forest": bool(first.comparisons),
        "matrix": bool(first.comparisons) and first.baseline is None,
        "null": any(pair.null is not None for pair in first.comparisons),
        "densities": any(score.draws is not None for score in first.scores),
    }
    return [kind for kind in PLOTS if has[kind]]


def _of(result: Comparison | SetComparison, kind: str, options: Figure) -> Any:
    """The figure of a comparison, with a panel for each metric."""
    if kind not in PLOTS:
        raise InputError(f"{quoted(kind)} shows a study, but the result is a comparison: choose {either(PLOTS)}")
    check_unused(options, options_of(StudyFigure), "is for figures of studies, but the result is a comparison")
    comparison = _chosen(result, options.test_set)
    common: dict[str, Any] = {"names": _names(options.names, result, comparison), "digits": options.digits}
    common["test_set"] = options.test_set or ""
    size: dict[str, Any] = {"width": options.width, "height": options.height}
    own: dict[str, Any] = {"baseline": options.baseline} if kind == "forest" else {}
    if kind == "null" and options.pair is not None:
        own = dict(zip(("system", "baseline"), options.pair, strict=True))
    elif kind == "null":
        _check_one_pair(comparison)
    metrics = [metric.name for metric in comparison.metrics] if options.metric is None else [options.metric]
    panels = {metric: (comparison, metric) for metric in metrics}
    if kind == "forest" and options.baseline is None and options.metric is None:
        own = _baseline_of_all(comparison, partial(figure_of, kind, panels, **size, **common))
    return figure_of(kind, panels, **size, **common, **own)


def _check_one_pair(comparison: Comparison) -> None:
    """Raise :class:`InputError` if there are several pairs."""
    pairs = dict.fromkeys((pair.system, pair.baseline) for pair in comparison.comparisons)
    if len(pairs) > 1:
        first = " ".join(map(shlex.quote, next(iter(pairs))))
        raise InputError(f"choose one of the {len(pairs):,} pairs with --pair, as in --pair {printable(first)}")


def _baseline_of_all(comparison: Comparison, draw: Callable[[], Any]) -> dict[str, str]:
    """The baseline of all panels if those from several baselines would not fit a page; say which systems they are."""
    best = grouped((sorted_systems(comparison, metric)[0], metric.name) for metric in comparison.metrics)
    if len(comparison.metrics) == 1 or comparison.baseline is not None or not comparison.is_reversible:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the figure that is kept warns, too
        is_high = draw().get_figheight() > PAGE_HEIGHT
    if is_high:
        system, (metric, *_) = next(iter(best.items()))
        click.echo(
            f"reshuffle: the differences are from {printable(system)}, the best system under {printable(metric)}, so "
            "that all metrics fit a page: --baseline chooses another",
            err=True,
        )
        return {"baseline": system}
    if len(best) > 1:
        each = joined(f"{printable(system)} ({', '.join(map(printable, under))})" for system, under in best.items())
        click.echo(
            f"reshuffle: the differences are from the best system under each metric, {each}: --baseline chooses one "
            "for all",
            err=True,
        )
    return {}


def _of_study(result: StudyResult, kind: str, options: Figure) -> Any:
    """The figure of a study."""
    check_unused(options, options_of(ComparisonFigure), "is for figures of comparisons, but the result is a study")
    where = {option: getattr(options, option) for option in ("metric", "test_set", *options_of(StudyFigure))}
    return draw_figure(result.plot.study, kind, width=options.width, height=options.height, **where).figure


def _format(output: str) -> str:
    ending = Path(output).suffix[1:].lower()
    if output and ending not in FORMATS:
        endings = either(f".{fmt}" for fmt in FORMATS)
        raise InputError(f"-o: expected a file name that ends in {endings}, got {quoted(output)}")
    return ending


def _chosen(result: Comparison | SetComparison, test_set: str | None) -> Comparison:
    """The comparison to plot: with several test sets, the average unless one test set is named."""
    if test_set is not None:
        return on_set(result, test_set)
    if isinstance(result, Comparison):
        return result
    if result.average is None:
        raise InputError(
            f"the result has no average over test sets: choose one of its test sets with --set: {listed(result.sets)}"
        )
    return result.average


def _names(path: str | None, result: Comparison | SetComparison, comparison: Comparison) -> dict[str, str]:
    """The display names of the systems in the comparison, from a file that may also name others.

    Without a file, those of the result.
    """
    found = result.display_names or {}
    if path is not None:
        names = read_names(path)
        check_names(names.names, named_systems(result), names.where)
        found = names.names
    return {system: name for system, name in found.items() if system in comparison.systems}
