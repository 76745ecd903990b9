"""``reshuffle study``: a command for each study.

To add a command, declare the options of the study in ``options/studies.py``, and add a row to the table in
``commands.py``. ``help.toml`` says what it does, with examples. The name of the command is that of the study
(``StudyResult.study``); a test checks both.
"""

from __future__ import annotations

import click

from ..examples import CommandGroup
from .commands import COMMANDS

__all__ = ["COMMANDS", "study_group"]


@click.group(
    "study",
    cls=CommandGroup,
    kind="study",
    heading="Studies",
    commands=COMMANDS,
)
def study_group() -> None:
    """Simulate how tests behave on real outputs.

    A study draws many test sets from the outputs of real systems, in such a way that the truth is known, and runs the
    tests on each of them.
    """
