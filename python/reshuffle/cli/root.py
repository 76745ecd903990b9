"""The command ``reshuffle``: its commands by section, each imported when it is used."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..errors import InputError, quoted, shortened
from .habits import command_advice, habits, without_options_of_outputs
from .help import HelpGroup
from .params import COMMAND_LINE
from .process import check_room, single_threaded_blas

# The commands of each section, and where they are.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Compare": {
        "compare": ".commands",
        "score": ".commands",
        "runs": ".runs",
        "flips": ".commands",
        "gate": ".gate",
        "watch": ".studies",
        "count": ".count",
        "show": ".commands",
        "verify": ".commands",
        "plot": ".plot",
    },
    "Studies of tests": {"study": ".studies", "plan": ".studies"},
    "People's judgments": {"human": ".studies", "votes": ".votes", "meta": ".meta"},
    "K-best lists": {"tune": ".tune", "rerank": ".tune", "oracle": ".lists", "mbr": ".lists"},
    "Help": {"demo": ".demo", "explain": ".commands", "doctor": ".doctor"},
}

# Longer command lines are not repeated in an error.
MAX_WORDS_SHOWN = 120

# The environment variable by which a shell asks for completions; click derives it from the program's name.
COMPLETE = "_RESHUFFLE_COMPLETE"

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ClosedPipeError(Exception):
    """A broken pipe, in a form that click passes on: click itself turns EPIPE into exit code 1."""


@contextlib.contextmanager
def _broken_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


def _check_not_empty(args: Sequence[str]) -> None:
    """Raise :class:`InputError` for an empty argument. Options, which say what they expect, check their own values."""
    for at, (before, word) in enumerate(itertools.pairwise(["", *args]), 1):
        if not word and (before in ("-", "--") or not before.startswith("-")):
            after = f" (after {shortened(before)})" if before else ""
            raise InputError(f"argument {at}{after} is empty: was a variable of the shell not set?")


class Commands(HelpGroup):
    """Records the command line for reports. Raises :class:`ClosedPipeError` if the reader has closed the pipe."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> click.Context:
        if not extra.get("resilient_parsing"):  # as for completion
            _check_not_empty(args)
        command = shlex.join([info_name or "reshuffle", *args])  # parsing empties the list
        with _broken_pipes():
            context = super().make_context(info_name, args, *rest, **extra)
        context.meta[COMMAND_LINE] = command
        return context

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            if (advice := habits("program").get(name.lower())) is not None:
                raise InputError(f"there is no command {quoted(name)}: {advice}")
            if Path(name).exists() or "." in name:
                words = shlex.join(without_options_of_outputs(args))
                words = words if len(words) <= MAX_WORDS_SHOWN else "REF SYS SYS..."
                raise InputError(
                    f"unknown command {quoted(name)}: to compare systems write 'reshuffle compare {words}', to score "
                    "them 'reshuffle score ...'"
                )
            meant = command_advice(name)
            if name == "help":
                meant = f"{args[1]} --help" if args[1:] and args[1] in self.list_commands(ctx) else "--help"
            if meant is not None:
                raise InputError(f"there is no command {quoted(name)}: use 'reshuffle {meant}'")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        check_room()
        single_threaded_blas()
        with _broken_pipes():
            return super().invoke(ctx)


cli = click.version_option(__version__, "--version", prog_name="reshuffle", message="%(prog)s %(version)s")(
    Commands("reshuffle", kind="command", sections=SECTIONS, context_settings=CONTEXT)
)
