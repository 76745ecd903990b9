"""``reshuffle study``: a command for each study.

To add a command:

1. Write ``cli/studies/NAME.py`` with a function ``NAME_command(**options)`` that is decorated with
   ``@click.command("NAME", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)`` and ``@study_options(…)``. Its
   docstring is the help. ``type1.py`` is the model.
2. ``study_options`` (``options.py``) takes the options that the study has besides those of all studies: groups such as
   ``NULLS``, ``TESTS``, ``SIZES``, ``DESIGN`` and ``MARGINS``, or decorators of your own made by
   :func:`reshuffle.cli.command.option`. The names of options are those of the public keyword arguments.
3. In the body, take your own options out of ``options`` (``options.pop("nulls")``), then call
   :func:`~reshuffle.cli.studies.running.run_study` with the rest and a function from the data, the units and the
   :class:`~reshuffle.study.settings.StudySettings` to the result. ``run_study`` reads the files, shows progress, and
   writes the report. Options that are fields of ``StudySettings`` are in the settings; an option that the command does
   not have leaves the default of the field. Import what computes in the body: ``--help`` must not wait for numpy.
4. Add a line to :data:`COMMANDS` below.

The name of the command is that of the study (``StudyResult.study``); a test checks both.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..groups import CommandGroup
from .agreement import agreement_command
from .exchange import exchange_command
from .multiplicity import multiplicity_command
from .pools import samples_command, validate_command
from .power import power_command
from .sensitivity import sensitivity_command
from .type1 import type1_command

__all__ = ["COMMANDS", "study_group"]

COMMANDS: Mapping[str, click.Command] = {
    "type1": type1_command,
    "multiplicity": multiplicity_command,
    "power": power_command,
    "sensitivity": sensitivity_command,
    "validate": validate_command,
    "samples": samples_command,
    "agreement": agreement_command,
    "exchange": exchange_command,
}


@click.group(
    "study",
    cls=CommandGroup,
    kind="study",
    heading="Studies",
    commands=COMMANDS,
    epilog="""\b
Examples:
  reshuffle study type1 ref.txt a.txt b.txt --tests ar bootstrap-shift -m bleu
  reshuffle study type1 ref.txt a.txt b.txt -o type1.json
  reshuffle study STUDY --help""",
)
def study_group() -> None:
    """Simulate how tests behave on real outputs.

    A study draws many test sets from the outputs of real systems, in such a way that the truth is known, and runs the
    tests on each of them.
    """
