"""From the options of a study to its report: what all studies share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import click
from attrs import evolve
from click.core import ParameterSource

from ...data.count_files import is_count_file
from ...errors import InputError
from ...options.declare import Options, call, check_combined, options_of, several, taken
from ...options.files import Unstratified
from ...options.human import HumanOptions
from ...options.nulls import Variants
from ...options.studies import StudyInputs
from ...options.watch import WatchOptions
from ...results.studies import StudyResult
from ...validate import check_name
from ..declared import taken_options
from ..inputs.sets import given_files
from ..inputs.test_set import Input
from ..job import progress_bar, started
from ..metric_options import MetricChoice
from ..output import Output
from .variants import Training


def run_study(
    study: Callable[..., StudyResult],
    chosen: StudyInputs | WatchOptions | HumanOptions,
    options: dict[str, Any],
    files_record: type[Unstratified],
    least: int,
    made: Training | None = None,
    domains: str | None = None,
) -> None:
    """Read the files of at least so many systems, compute the study, and write its report.

    ``chosen`` are the options of the study, and ``options`` the others of its command, of which ``files_record`` has
    those of files. With ``made``, its systems are those of the study. ``domains`` is the file of the ids of segments'
    domains, if any.
    """
    output = _resumable(chosen, options)
    files = given_files(files_record, options, options.pop("reference"), options.pop("systems"))
    if domains is not None:  # ids of domains are read as those of strata
        files = evolve(files, strata=domains)
    names = several(chosen.metrics)
    if len(names) > 1 and not files.metrics and not files.scores and not is_count_file("".join(files.references[:1])):
        files = evolve(files, metrics=tuple(map(MetricChoice, names)))
    own_names, least = ([], least) if made is None else (made.names, 0)
    test_set = Input.checked(files, least, threads=chosen.threads, made=own_names)
    test_set.check_source()
    baseline = test_set.system(getattr(chosen, "baseline", None))
    if made is not None and baseline is not None:
        check_name("baseline", baseline, made.names)
    paths = [*test_set.paths, *([] if made is None else made.files)]
    with started(output, paths, chosen.workers) as job:
        given: dict[str, Any] = {}
        outputs = None
        if made is not None:
            with progress_bar() as progress:
                trained = made.trained(chosen.threads, progress)
            outputs, given["null"] = trained.outputs, (Variants(trained),)
        found = test_set.read(outputs)
        if not getattr(chosen, "all_pairs", isinstance(chosen, StudyInputs)):
            test_set.note_baseline(baseline)
        given |= {"domains": found.strata, "baseline": baseline, **job.given}
        own = {name: value for name, value in given.items() if name in options_of(type(chosen))}
        whole = taken(type(chosen), chosen, found, **own)
        check_combined(whole)  # with what the files have
        job.report(lambda: call(study, whole))


# The options of a command that do not need files, beside those of a record without input.
WITHOUT_DATA = ("fmt", "outputs", "table", "paper")


def run_without_data(
    study: Callable[..., StudyResult],
    record: type[Options],
    options: dict[str, Any],
    fixed: Collection[str] = (),
    of_files: Collection[str] = (),
) -> None:
    """Compute a study that needs no files, and write its report. Options that need files are errors.

    ``fixed`` are options of the command that have the only value that they can have here, and ``of_files`` options of
    the record that say what to do with files.
    """
    context = click.get_current_context()
    used = {*WITHOUT_DATA, *fixed, *options_of(record)} - {*of_files}
    # Not arguments: click 8.2 takes an empty list of systems for given.
    for param in (each for each in context.command.params if isinstance(each, click.Option)):
        given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if given and param.name not in used:
            flag = param.opts[0]
            raise InputError(f"{flag} needs texts or scores: add REF and SYS, or leave {flag} out")
    chosen = taken_options(record, options)
    with started(_resumable(chosen, options), [], chosen.workers) as job:
        job.report(lambda: call(study, evolve(chosen, **job.given)))


def _resumable(chosen: Any, options: dict[str, Any]) -> Output:
    """The output of a study, which must not replace the file of ``--resume``."""
    resume = getattr(chosen, "checkpoint", None)
    return replace(Output.from_options(options), kept=[] if resume is None else [resume])
