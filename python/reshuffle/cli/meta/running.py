"""From the options of ``reshuffle meta`` to a report: what its commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from ...errors import InputError, flag, unknown_name
from ...meta.material import JudgedSet
from ...meta.smoothing import PARAMETERS, smoothing_grid
from ...names import metric_key
from ...options.declare import call
from ...options.meta import Evaluation
from ...results.studies import StudyResult
from ...sets import on_each
from ..declared import by_name, check_all_used, taken_options
from ..inputs.sets import in_manifest
from ..job import started
from ..metric_options import MetricChoice
from ..output import Output
from .inputs import checked_sets


def run_meta(
    function: Callable[..., StudyResult],
    record: type[Evaluation],
    options: dict[str, Any],
    default: str,
    tables: Sequence[str],
) -> None:
    """Read the files, evaluate, and write the report.

    ``record`` has the options of the function. ``default`` is the metric on texts if none is named, and ``tables`` are
    those of the result.
    """
    chosen: Evaluation = taken_options(record, options, test_sets=())
    output = Output.from_options(options, tables=tables)
    inputs = checked_sets(options, default, chosen.threads)
    check_all_used(options)
    with started(output, inputs.paths, chosen.workers) as job:

        def compute() -> StudyResult:
            given: dict[str, Any] = job.given
            resampling = job.resampling(chosen)
            with in_manifest(inputs.manifest):
                sets = given["test_sets"] = [*on_each(inputs.sets, lambda _, each: each.read(resampling)).values()]
            baseline = getattr(chosen, "baseline", None)
            if baseline is not None:
                given["baseline"] = _metric(baseline, sets)
            return call(function, evolve(chosen, **given))

        job.report(compute)


def _metric(name: str, sets: Sequence[JudgedSet]) -> str:
    """The label of a metric, from its label or, ignoring case, the beginning of only one label."""
    labels = [m.label for m in sets[0].metrics]
    if name in labels:
        return name
    wanted = name.casefold().replace("=", ":").replace(",", " ")
    same = (
        [label for label in labels if label.casefold() == wanted]
        or [label for label in labels if label.casefold().replace(" ", ":", 1) == wanted]
        or [label for label in labels if metric_key(label) == metric_key(name)]
    )
    if len(same) == 1:
        return same[0]
    raise unknown_name("baseline metric", name, labels)


def metrics_of_grids(options: dict[str, Any]) -> list[MetricChoice]:
    """The metrics of ``--grid``, which is taken out of ``options``, as if they were asked for by ``-m``."""
    for name in ("smoothing", *(f"smoothing_{each}" for each in PARAMETERS.values())):
        if options.get(name) is not None:
            raise InputError(f"{flag(name)} is what is tuned: leave it out, and use --grid")
    given = options.pop("grids")
    chosen: dict[str, Sequence[float]] = by_name("--grid", given, "write all its values after one =")
    return [MetricChoice("sentbleu", dict(each.options)) for each in smoothing_grid(chosen or None)]
