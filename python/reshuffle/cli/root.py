"""The command ``reshuffle``: its commands by section, each imported when it is used."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from .. import __version__
from ..errors import InputError, quoted, shortened
from ..validate import check_name
from .habits import command_advice, without_options_of_outputs
from .help import WithHelp
from .params import COMMAND_LINE
from .process import check_room, single_threaded_blas

# The commands of each section: where they are, and the first sentence of their help.
SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Compare": {
        "compare": (".commands:compare_command", "Test whether systems differ by more than chance."),
        "score": (".commands:score_command", "Score systems, and show the components of each score."),
        "runs": (".runs:runs_command", "Compare systems with several runs (seeds, epochs) each."),
        "flips": (".commands:flips_command", "List the segments that make the difference between two systems."),
        "gate": (".gate:gate_command", "Let CI decide whether new outputs may replace the baseline."),
        "watch": (".studies:watch_command", "Test while data arrive, however often you look."),
        "count": (".count:count_command", "Count texts once, into a file that takes their place."),
        "show": (".commands:show_command", "Show a saved result in any format."),
        "verify": (".commands:verify_command", "Run a command again, and compare its result with a saved one."),
        "plot": (".plot:plot_command", "Plot a saved result for a paper."),
    },
    "Studies of tests": {
        "study": (".studies:study_group", "Simulate how tests behave on real outputs."),
        "plan": (".studies:plan_command", "Plan a test set: what it can detect, and how large it must be."),
    },
    "People's judgments": {
        "human": (
            ".studies:human_command",
            "Compare systems by people's labels of some segments and a metric.",
        ),
        "votes": (".votes:votes_command", "Rate systems by votes on pairs of them, with ties."),
        "meta": (".meta:meta_group", "Do metrics agree with people?"),
    },
    "K-best lists": {
        "tune": (".tune:tune_group", "Tune weights of features on k-best lists."),
        "rerank": (".tune:rerank_command", "Choose the best entry of each k-best list."),
        "oracle": (
            ".lists:oracle_command",
            "Find the best and the worst entries of k-best lists.",
        ),
        "mbr": (".lists:mbr_command", "Choose the entry of each list that agrees best with the others."),
    },
    "Help": {
        "demo": (".demo:demo_command", "Compare four synthetic systems on a built-in corpus."),
        "explain": (".commands:explain_command", "Explain a metric, test, interval or any other name."),
        "doctor": (".doctor:doctor_command", "Show what is installed and missing, or what a file is."),
    },
}
LONGEST_NAME = max(len(name) for section in SECTIONS.values() for name in section)

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


class Commands(WithHelp, click.Group):
    """Records the command line for reports. Raises :class:`ClosedPipeError` if the reader has closed the pipe."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> click.Context:
        if not extra.get("resilient_parsing"):  # as for completion
            _check_not_empty(args)
        command = shlex.join([info_name or "reshuffle", *args])  # parsing empties the list
        with _broken_pipes():
            context = super().make_context(info_name, args, *rest, **extra)
        context.meta[COMMAND_LINE] = command
        return context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in SECTIONS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; --help of one should not wait for the options of all others."""
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            (place,) = (section[cmd_name][0] for section in SECTIONS.values() if cmd_name in section)
            module, name = place.split(":")
            self.add_command(getattr(import_module(module, __package__), name))
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click, without importing the commands."""
        about = {name: text for section in SECTIONS.values() for name, (_, text) in section.items()}
        found = [CompletionItem(name, help=text) for name, text in about.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, section in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{LONGEST_NAME}}", about) for name, (_, about) in section.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
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
            check_name("command", name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        check_room()
        single_threaded_blas()
        with _broken_pipes():
            return super().invoke(ctx)


@click.group("reshuffle", cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, "--version", prog_name="reshuffle", message="%(prog)s %(version)s")
def cli() -> None:
    """Are the differences between systems larger than chance?

    Scores translations by BLEU, chrF, TER and other metrics, or takes any scores of segments, and tests differences
    by resampling segments.
    """
