"""``reshuffle study``, a command for each study, and ``plan``, ``watch`` and ``human``: made from tables.

To add a command, declare the options of the study in ``options/studies.py``, and add a row to :data:`STUDIES`.
``help.toml`` says what it does, with examples. The name of the command is that of the study
(``StudyResult.study``); a test checks both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from ...errors import InputError, flag
from ...options import studies as records
from ...options.declare import Options
from ...options.files import HumanFiles, Unstratified, WatchFiles
from ...options.human import HumanOptions
from ...options.watch import WatchOptions
from ..declared import Decorator, declared_options, given_values, made
from ..help import HelpGroup
from ..shared import METRICS, file_options, metrics_option, report_command, table_options
from .variants import TRAINING, Training


class Study(NamedTuple):
    """A study on the command line."""

    record: Any
    """Its options."""
    systems: str | None = "SYS SYS..."
    """What stands for the outputs in the usage; None for studies without data."""
    files: type[Unstratified] = Unstratified
    """The files of the outputs."""
    least: int = 2
    """How many systems there must be."""
    metrics: Sequence[Decorator] = METRICS
    others: Sequence[Decorator] = ()
    """Options beside those of the record."""
    module: str = "study"
    """Where the function with the name of the command is."""
    prepare: Callable[[dict[str, Any], dict[str, Any]], Mapping[str, Any] | None] = lambda values, options: None
    """Checks the given values of the record, and the other options. Returns keyword arguments of
    :func:`~reshuffle.cli.studies.running.run_study`, if any.
    """
    without_data: Callable[[dict[str, Any]], bool] = lambda options: False
    """Computes the study where the options have no files, if it can, and returns whether it did."""


def command_of(place: str, study: Study) -> click.Command:
    """The command that calls the function of its name. Users type ``place`` after ``reshuffle``."""

    @report_command(
        place,
        () if study.systems is None else (*file_options(study.files), *study.metrics),
        declared_options(study.record),
        (*study.others, *table_options()),
        systems=study.systems,
    )
    def command(**options: Any) -> None:
        from . import running

        function = getattr(import_module(f"reshuffle.{study.module}"), place.rpartition(" ")[2])
        if options.get("reference") is None and not options.get("scores") and study.without_data(options):
            return
        values = given_values(study.record, options)
        more = study.prepare(values, options) or {}
        running.run_study(function, made(study.record, values), options, study.files, study.least, **more)

    return command


def _simulated(options: dict[str, Any], name: str, record: type[Options], **more: Collection[str]) -> bool:
    """A study of scores that are simulated."""
    from ... import study
    from .running import run_without_data

    run_without_data(getattr(study, name), record, options, **more)
    return True


def _variants(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Type-I error: systems that the command trains itself."""
    return {"made": Training.from_options(options, values.get("null", ("swap",)))}


# The options of a model of power without data.
MODEL = ("difference", "p_zero", "b_zero")


def _fitted(values: dict[str, Any], options: dict[str, Any]) -> None:
    """Power: no options of a model that is fitted to the data."""
    for name in MODEL:
        if options.pop(name) not in (None, ()):
            raise InputError(
                f"{flag(name)} is for --models parametric without REF and SYS; with them, the model is fitted: leave "
                "it out"
            )


def _parametric(options: dict[str, Any]) -> bool:
    """Power of a model without data."""
    if options["models"] != (("parametric",),):
        return False
    if options["tests"] not in ((), (("ar",),)):
        raise InputError("--tests: --models parametric without REF and SYS is for the test ar only: leave out --tests")
    return _simulated(options, "parametric_power", records.ParametricPower, fixed=("models", "tests"))


def _of_runs(values: dict[str, Any], options: dict[str, Any]) -> None:
    """Exchange: no options of simulated scores beside files."""
    for name in ("run_sd", "correlation"):
        if name in values:
            raise InputError(f"{flag(name)} is for simulated scores: leave out {flag(name)}, or the files")


def _simulation(values: dict[str, Any], options: dict[str, Any]) -> None:
    """Plan: no options of simulations without any."""
    if values.get("simulate") is False:
        context = click.get_current_context()
        for name, written in (("tests", "--tests"), ("simulations", "--simulations"), ("n_resamples", "-n")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(f"{written} is for simulated tests: leave it out, or --no-simulate")


STUDIES: Mapping[str, Study] = {
    "type1": Study(records.Type1, others=TRAINING, prepare=_variants),
    "multiplicity": Study(records.Multiplicity),
    "power": Study(
        records.Power,
        others=declared_options(records.ParametricPower, MODEL),
        prepare=_fitted,
        without_data=_parametric,
    ),
    "sensitivity": Study(records.Sensitivity),
    "validate": Study(records.Validate),
    "samples": Study(records.Samples),
    "agreement": Study(
        records.Agreement,
        prepare=lambda values, options: {"domains": values.pop("domains", None)},  # ids that are read from a file
    ),
    "exchange": Study(
        records.Exchange,
        systems="RUN RUN...",
        prepare=_of_runs,
        without_data=partial(_simulated, name="exchange", record=records.Exchange, of_files=("sampling",)),
    ),
    "gate": Study(records.Gate, systems=None, without_data=partial(_simulated, name="gate", record=records.Gate)),
}


def _labelled(values: dict[str, Any], options: dict[str, Any]) -> None:
    """Human: labels, and a metric of texts if there are texts."""
    if not options["scores"]:
        raise InputError("no labels: give them as --scores NAME FILE, empty or NaN where there are none")
    if options["reference"] is not None and not options["metrics"]:
        raise InputError(
            f"{options['reference']} is read as the reference, but no metric scores texts: add one to predict the "
            f"labels, such as -m chrf, or leave {options['reference']} out"
        )


HUMAN = Study(
    HumanOptions,
    systems="BASELINE SYS...",
    files=HumanFiles,
    least=1,
    metrics=metrics_option("none"),
    prepare=_labelled,
    module="human",
)

COMMANDS = {name: command_of(f"study {name}", study) for name, study in STUDIES.items()}
study_command = HelpGroup("study", kind="study", sections={"Studies": COMMANDS})
plan_command = command_of("plan", Study(records.Plan, prepare=_simulation))
watch_command = command_of("watch", Study(WatchOptions, "BASELINE SYS...", WatchFiles, module="watch"))
human_command = command_of("human", HUMAN)
