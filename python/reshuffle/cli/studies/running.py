"""From the options of a study to its report: what all studies share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypeAlias

import click
from click.core import ParameterSource

from ..._core import Progress
from ...data.files import STDIN
from ...errors import InputError, quoted
from ...execution.checkpoint import kept
from ...resampling.counting import Data
from ...results.studies import StudyResult
from ...settings import Units
from ...study.null_data import NullOptions
from ...study.settings import StudySettings
from ...validate import check_name
from ..executors import chosen_executor
from ..job import Job
from ..output import Reports, chosen_output, destination
from ..params import flattened, margins_of
from ..progress import progress_bar

__all__ = ["Compute", "Made", "flattened", "null_options", "run_study", "run_without_data"]

Compute: TypeAlias = Callable[[Data, Units, StudySettings], StudyResult]

# Options that take several values, each of which is a list.
LISTS = ("tests", "alphas", "sizes")


def null_options(options: dict[str, Any]) -> NullOptions:
    """Take the options of null hypotheses out of ``options``. Margins stay there, because tests have them, too."""
    names = {field.name for field in fields(NullOptions)} - {"margins", "variants"}
    given = {name: options.pop(name) for name in list(options) if name in names}
    return NullOptions(**given, margins=margins_of(options.get("margins", ())))


class Made(Protocol):
    """Systems that a command makes, instead of reading their outputs from files."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the systems."""

    @property
    def files(self) -> Sequence[str]:
        """All files that will be read."""

    def outputs(self, threads: int | None, progress: Progress) -> Mapping[str, Sequence[str]]:
        """The output of each system."""


def run_study(
    options: dict[str, Any],
    compute: Compute,
    min_systems: int = 2,
    has_domains: bool = False,
    made: Made | None = None,
) -> None:
    """Read the files, compute the study, and write its report.

    ``options`` are those of :func:`reshuffle.cli.studies.options.study_options`; the command has taken its own out.
    With ``has_domains``, the strata of the units are the domains of the study. With ``made``, its systems are those of
    the study.
    """
    reports, layout = chosen_output(options)
    resume = _resumed(options, reports)
    names, least = ((), min_systems) if made is None else (made.names, 0)
    job = Job.from_arguments(options.pop("reference"), options.pop("systems"), options, least, names)
    if job.strata is not None and not has_domains:
        raise InputError("--strata does not apply to studies: leave it out")
    resampling = job.resampling
    executor = options.pop("executor")
    options |= {"n_resamples": resampling.n_resamples, "seed": resampling.seed, "threads": resampling.threads}
    options["baseline"] = job.system(options.get("baseline"))
    if made is not None and options["baseline"] is not None:
        check_name("baseline", options["baseline"], made.names)
    settings = _settings(options)
    if options:
        raise TypeError(f"options that nothing uses: {', '.join(options)}")
    files = [*job.files, *([] if made is None else made.files), *([] if resume is None else [resume])]
    with (
        destination(reports, files, layout) as write,
        kept(resume, _study()) as checkpoint,
        chosen_executor(executor, settings.threads) as workers,
    ):
        settings = replace(settings, checkpoint=checkpoint, executor=workers)
        if made is not None:
            with progress_bar() as progress:
                job = replace(job, made=made.outputs(settings.threads, progress))
        arguments, units = job.read()
        if not has_domains:
            units = replace(units, strata=None)  # those of a file of counts
        with progress_bar() as progress:
            result = compute(Data.from_arguments(*arguments), units, replace(settings, progress=progress))
        write(result)


# The options that do not need files.
WITHOUT_DATA = (
    "sizes", "alphas", "simulations", "alternative", "n_resamples", "seed", "threads", "executor", "resume", "fmt",
    "outputs", "table"
)  # fmt: skip


def run_without_data(
    options: dict[str, Any], compute: Callable[[StudySettings], StudyResult], used: Collection[str]
) -> None:
    """Compute a study that needs no files, and write its report.

    ``used`` are its own options. Those that need files are errors.
    """
    context = click.get_current_context()
    # Not arguments: click 8.2 takes an empty list of systems for given.
    for param in (each for each in context.command.params if isinstance(each, click.Option)):
        name = param.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in WITHOUT_DATA and name not in used:
            flag = param.opts[0]
            raise InputError(f"{flag} needs texts or scores: add REF and SYS, or leave {flag} out")
    reports, layout = chosen_output(options)
    resume, executor = _resumed(options, reports), options.pop("executor")
    settings = _settings(options)
    files = [] if resume is None else [resume]
    with (
        destination(reports, files, layout) as write,
        kept(resume, _study()) as checkpoint,
        chosen_executor(executor, settings.threads) as workers,
    ):
        with progress_bar() as progress:
            result = compute(replace(settings, progress=progress, checkpoint=checkpoint, executor=workers))
        write(result)


def _study() -> str:
    """The name of the study."""
    return click.get_current_context().command.name or ""


def _resumed(options: dict[str, Any], reports: Reports) -> str | None:
    """Take the file of ``--resume`` out of ``options``."""
    resume: str | None = options.pop("resume")
    if resume is None:
        return None
    if resume in ("", STDIN):
        raise InputError(f"--resume: expected the name of a file, got {quoted(resume)}")
    if os.path.realpath(resume) in (os.path.realpath(output) for output, _ in reports.files if output is not None):
        raise InputError(f"--resume and -o have the same file, {resume}: the report needs a file of its own")
    return resume


def _settings(options: dict[str, Any]) -> StudySettings:
    """Take the settings out of ``options``. None stands for the default of a setting."""
    for name in LISTS:
        if name in options:
            options[name] = flattened(options[name])
    if "margins" in options:
        options["margins"] = margins_of(options["margins"])
    known = {field.name for field in fields(StudySettings)}
    given = {name: options.pop(name) for name in list(options) if name in known}
    return StudySettings(**{name: value for name, value in given.items() if value is not None}).checked()
