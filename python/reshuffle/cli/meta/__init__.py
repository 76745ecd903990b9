"""``reshuffle meta``: do metrics agree with people?

To add a command, write ``cli/meta/NAME.py`` with a function that is decorated with ``@report_command("NAME", …)`` of
``cli/options.py``, and add a line to :data:`COMMANDS`; one of agreement is an entry in ``agreement.py``. The options of
the function that it calls are declared in :mod:`reshuffle.options.meta`, those of files in
:mod:`reshuffle.options.meta_files`, and ``inputs.py`` reads the files. Import what computes in the body: ``--help``
must not wait for numpy.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..groups import CommandGroup
from .agreement import segments_command, systems_command
from .tune_smoothing import tune_smoothing_command

__all__ = ["COMMANDS", "meta_group"]

COMMANDS: Mapping[str, click.Command] = {
    "segments": segments_command,
    "systems": systems_command,
    "tune-smoothing": tune_smoothing_command,
}


@click.group(
    "meta",
    cls=CommandGroup,
    kind="command of 'reshuffle meta'",
    heading="Commands",
    commands=COMMANDS,
)
def meta_group() -> None:
    """Do metrics agree with people?

    Compares the scores of metrics with human judgments of the same outputs, by segment or by system, and tests which
    metrics agree better than others.
    """
