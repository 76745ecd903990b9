"""Commands that are groups of commands, such as ``reshuffle study``."""

from __future__ import annotations

from typing import Any

import click

from ..validate import check_name
from .examples import WithExamples


class CommandGroup(WithExamples, click.Group):
    """An unknown command is an error that suggests the nearest.

    Parameters
    ----------
    kind : str
        What its commands are, for this error.
    heading : str
        The heading of the list of commands in the help.
    """

    def __init__(self, *args: Any, kind: str, heading: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.kind, self.heading = kind, heading

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-"):
            check_name(self.kind, args[0], list(self.commands))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole sentences, which click would cut off."""
        with formatter.section(self.heading):
            formatter.write_dl([(name, command.get_short_help_str(200)) for name, command in self.commands.items()])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of the registry
