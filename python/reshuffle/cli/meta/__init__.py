"""``reshuffle meta``: do metrics agree with people?

To add a command, write a function in ``commands.py`` that is decorated with ``@report_command("NAME", …)`` of
``cli/options.py``, and add a line to :data:`COMMANDS`. The options of the function that it calls are declared in
:mod:`reshuffle.options.meta`, those of files in :mod:`reshuffle.options.meta_files`, and ``inputs.py`` reads the files.
Import what computes in the body: ``--help`` must not wait for numpy.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..examples import CommandGroup
from .commands import segments_command, systems_command, tune_smoothing_command

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
