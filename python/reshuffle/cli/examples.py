"""The texts of ``help.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import click

from ..toml import loads


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
