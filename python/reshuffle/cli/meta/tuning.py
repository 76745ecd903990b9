"""From the options of ``reshuffle meta tune-smoothing`` to a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import InputError, listed
from ...meta.comparing import check_adjustment
from ...meta.smoothing import PARAMETERS, smoothing_grid, tune_smoothing
from ...settings import Levels
from ..metric_options import MetricChoice, flag
from ..output import chosen_output, destination
from ..params import FLAGS
from ..progress import progress_bar
from .jobs import MetaJobs
from .tune_smoothing import NOT_FOR_VOTES


def run_tuning(arguments: Sequence[str], options: dict[str, Any]) -> None:
    """Read the files, tune, and write the report. ``arguments`` are words that belong to no option."""
    if arguments:
        raise InputError(
            f"{listed(arguments)}: expected a file after an option: write --refs REF --systems SYS SYS and --judgments "
            "FILE"
        )
    _check(options)
    levels = Levels.for_tests(None, options.pop("confidence_level"), options.pop("alpha"), names=FLAGS)
    settings = {name: options.pop(name) for name in ("ties", "test", "adjust", "interval", "average", "pooled")}
    check_adjustment(settings["test"], settings["adjust"])  # before files are read
    if settings["interval"] == "none":
        settings["interval"] = None
    reports, layout = chosen_output({**options, "table": None})
    for name in ("fmt", "outputs"):
        del options[name]
    options.update(NOT_FOR_VOTES)
    options["metrics"] = choices(each for given in options.pop("grids") for each in _grids(given))
    jobs = MetaJobs.from_options(options, "sentbleu")
    if options:
        raise TypeError(f"options that nothing uses: {', '.join(options)}")
    with destination(reports, jobs.inputs, layout, ()) as write:
        with progress_bar() as progress:
            resampling = replace(jobs.resampling, progress=progress)
            result = tune_smoothing(
                jobs.read(resampling),
                **settings,
                confidence_level=levels.confidence_level,
                alpha=levels.alpha,
                n_resamples=resampling.n_resamples,
                seed=resampling.seed,
                threads=resampling.threads,
                progress=progress,
            )
        write(result)


def _grids(given: Any) -> Iterable[tuple[str, Sequence[float]]]:
    """One grid, or those that followed one option."""
    return [given] if isinstance(given[0], str) else given


def choices(grids: Iterable[tuple[str, Sequence[float]]]) -> list[MetricChoice]:
    """The metrics of a grid, as if they were asked for by ``-m``."""
    chosen: dict[str, Sequence[float]] = {}
    for smoothing, values in grids:
        if smoothing in chosen:
            raise InputError(f"--grid {smoothing} is used twice: write all its values after one =")
        chosen[smoothing] = values
    return [MetricChoice("sentbleu", dict(each.options)) for each in smoothing_grid(chosen or None)]


def _check(options: dict[str, Any]) -> None:
    """:class:`InputError` for options that are tuned."""
    for name in ("smoothing", *(f"smoothing_{each}" for each in PARAMETERS.values())):
        if options.get(name) is not None:
            raise InputError(f"{flag(name)} is what is tuned: leave it out, and use --grid")
