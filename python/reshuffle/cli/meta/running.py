"""From the options of ``reshuffle meta`` to a report: what its commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ...errors import InputError, listed, unknown_name
from ...meta.comparing import check_adjustment
from ...meta.material import TestSet
from ...results.studies import MetaEvaluation
from ...settings import Levels
from ..executors import chosen_executor
from ..output import chosen_output, destination
from ..params import FLAGS
from ..progress import progress_bar
from .jobs import MetaJobs

Evaluate: TypeAlias = Callable[[Sequence[TestSet], dict[str, Any]], MetaEvaluation]


def run_meta(
    arguments: Sequence[str], options: dict[str, Any], default: str, tables: Sequence[str], evaluate: Evaluate
) -> None:
    """Read the files, evaluate, and write the report.

    ``arguments`` are words that belong to no option, ``default`` is the metric on texts if none is named, and
    ``tables`` are those of the result.
    """
    if arguments:
        raise InputError(
            f"{listed(arguments)}: expected a file after an option: write --refs REF --systems SYS SYS and --judgments "
            "FILE or --human FILE"
        )
    levels = Levels.for_tests(None, options.pop("confidence_level"), options.pop("alpha"), names=FLAGS)
    settings = {name: options.pop(name) for name in ("test", "baseline", "adjust", "interval", "average")}
    if settings["interval"] == "none":
        settings["interval"] = None
    check_adjustment(settings["test"], settings["adjust"])  # before files are read
    reports, layout = chosen_output(options)
    executor = options.pop("executor")
    jobs = MetaJobs.from_options(options, default)
    if options:
        raise TypeError(f"options that nothing uses: {', '.join(options)}")
    every = tables
    with (
        destination(reports, jobs.inputs, layout, every) as write,
        chosen_executor(executor, jobs.resampling.threads) as workers,
    ):
        with progress_bar() as progress:
            resampling = replace(jobs.resampling, progress=progress, executor=workers)
            sets = jobs.read(resampling)
            settings["baseline"] = _metric(settings["baseline"], sets)
            settings |= {
                "confidence_level": levels.confidence_level,
                "alpha": levels.alpha,
                "n_resamples": resampling.n_resamples,
                "seed": resampling.seed,
                "threads": resampling.threads,
                "executor": workers,
                "progress": progress,
            }
            result = evaluate(sets, settings)
        write(result)


def _metric(name: str | None, sets: Sequence[TestSet]) -> str | None:
    """The label of a metric, from its label or, ignoring case, the beginning of only one label."""
    if name is None:
        return None
    labels = [m.label for m in sets[0].metrics]
    if name in labels:
        return name
    wanted = name.casefold().replace("=", ":").replace(",", " ")
    same = [label for label in labels if label.casefold() == wanted] or [
        label for label in labels if label.casefold().replace(" ", ":", 1) == wanted
    ]
    if len(same) == 1:
        return same[0]
    raise unknown_name("baseline metric", name, labels)
