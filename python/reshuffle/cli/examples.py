"""The texts of ``help.toml``, and the commands and groups of commands whose help has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from ..toml import loads
from ..validate import check_name


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    return loads((Path(__file__).parent / "help.toml").read_text("utf-8"))


def examples_of(command: str) -> list[str]:
    """Examples of a command, which is named as users type it: ``study type1``."""
    return _texts().get(command, {}).get("examples", "").splitlines()


def tests_of(command: str) -> str:
    """What a command tests, for those whose help does not say so."""
    return " ".join(_texts().get(command, {}).get("tests", "").split())


def about(command: str) -> str:
    """What a command does, for those without a docstring that says so."""
    return _texts()[command]["about"]


class WithExamples(click.Command):
    """A command or group whose help ends with its examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.epilog = "\n  ".join(["\b\nExamples:", *examples_of(self.name or "")])
        super().format_epilog(ctx, formatter)


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
