"""From the options of ``reshuffle meta`` to a report: what its commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from ...errors import unknown_name
from ...meta.material import JudgedSet
from ...names import metric_key
from ...options.declare import call
from ...options.meta import Evaluation
from ...results.studies import StudyResult
from ...settings import Resampling
from ..declared import given_values, made
from ..executors import chosen_executor
from ..output import chosen_output, destination
from ..progress import progress_bar
from .inputs import MetaInputs


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
    chosen: Evaluation = made(record, {"test_sets": (), **given_values(record, options)})
    reports, layout = chosen_output(options)
    executor = options.pop("executor")
    inputs = MetaInputs.from_options(options, default, chosen.threads)
    if options:
        raise TypeError(f"options that nothing uses: {', '.join(options)}")
    with (
        destination(reports, inputs.paths, layout, tables) as write,
        chosen_executor(executor, chosen.threads) as workers,
    ):
        with progress_bar() as progress:
            sets = inputs.read(Resampling(threads=chosen.threads, progress=progress, executor=workers))
            given: dict[str, Any] = {"test_sets": sets, "executor": workers, "progress": progress}
            baseline = getattr(chosen, "baseline", None)
            if baseline is not None:
                given["baseline"] = _metric(baseline, sets)
            result = call(function, evolve(chosen, **given))
        write(result)


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
