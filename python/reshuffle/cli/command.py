"""The command class of ``compare`` and ``score``: options that take several files, and help in groups."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from ..errors import InputError, shortened, warn
from .habits import check_habits
from .params import Name, NameList, Numbers

__all__ = ["Command", "Grouped", "option"]

# Options that take every word up to the next option.
GREEDY = ("--refs", "--parses", "--scores", "--set")
# The options among these whose words are joined into one value.
JOINED = ("--scores", "--set")
# The option that takes metrics.
METRIC = ("-m", "--metric", "--metrics")


class Grouped(click.Option):
    """An option that the help shows in a group."""

    def __init__(self, *args: Any, group: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.group = group


def option(group: str, *names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As :func:`click.option`, with a group of the help."""
    return click.option(*names, cls=Grouped, group=group, **attributes)


class Command(click.Command):
    """A command with examples and groups in its help, and a hidden flag for every option of any metric.

    Parameters
    ----------
    examples : sequence of str
        Command lines.
    arguments : sequence of (str, str)
        The arguments and what they are: the first rows of the group Input.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), arguments: Sequence[tuple[str, str]] = (), **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.examples = examples
        self.arguments = arguments

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        for metric_flag in _metric_flags():
            if metric_flag not in self.params:
                self.params.append(metric_flag)
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Input": list(self.arguments)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(param, "group", "Output"), []).append(record)
        groups["Output"] = groups.pop("Output")
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        for group, rows in groups.items():
            with formatter.section(group):
                _write_rows(formatter, rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        check_habits(args)
        # A NUL is a safe mark, because no argument can contain one. Before -#NAME it keeps click from seeing options
        # there, and in the values of --scores and --set it separates the name and the files.
        spread = _spread(args, self._lists())
        rest = super().parse_args(ctx, [f"\0{arg}" if arg.startswith("-#") else arg for arg in spread])
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = _unmarked(value)
            elif isinstance(value, tuple):
                ctx.params[name] = tuple(map(_unmarked, value))
        return rest

    def _lists(self) -> dict[str, Callable[[str], bool]]:
        """The options that take every following word of a kind, and what tells whether a word is of this kind."""
        accepting = {param: getattr(param.type, "accepts", None) for param in self.params}
        return {name: accepts for param, accepts in accepting.items() if accepts is not None for name in param.opts}


# The width of the options' column in the help. A wider option has a line of its own.
OPTION_WIDTH = 22


def _write_rows(formatter: click.HelpFormatter, rows: Sequence[tuple[str, str]]) -> None:
    """Unlike click's ``write_dl``, break no name at its hyphens, and align all groups alike."""
    indent = " " * formatter.current_indent
    hanging = indent + " " * (OPTION_WIDTH + 2)
    for written, text in rows:
        lines = textwrap.wrap(text, formatter.width - len(hanging), break_on_hyphens=False)
        first = f"{indent}{written:{OPTION_WIDTH}}  "
        if len(first) > len(hanging):
            formatter.write(f"{first.rstrip()}\n")
            first = hanging
        for line in lines:
            formatter.write(f"{first}{line}\n")
            first = hanging


def _spread(args: list[str], lists: Mapping[str, Callable[[str], bool]]) -> list[str]:
    """The same arguments with one value per option, as click wants them.

    Repeats ``--refs`` and ``--parses`` before each of their files, and ``-m`` and other options in ``lists`` before
    each word that their test accepts; joins what follows ``--scores`` or ``--set`` into one value.

    Raises
    ------
    InputError
        If another word follows ``--refs=FILE``, or the same with ``--parses``, ``--scores`` or ``--set``.
    """
    spread: list[str] = []
    greedy = ""  # the option that takes the words that follow
    closed = ""  # an argument like --refs=FILE, which takes no further files
    for index, arg in enumerate(args):
        if arg == "--":
            return spread + args[index:]
        if arg.startswith("-") and arg != "-" and not arg.startswith("-#"):
            greedy = arg if arg in GREEDY or arg in lists else ""
            closed = arg if arg.split("=")[0] in GREEDY and "=" in arg else ""
        elif closed:
            # It may be meant for the option or as another system: a wrong guess would change the result.
            option, value = closed.split("=", 1)
            noun = "word" if option == "--set" else "file"
            raise InputError(
                f"{option}= takes one {noun}, but {shortened(arg)!r} follows {closed!r}: for several {noun}s write "
                f"{option} {value} {shortened(arg)}; if it is another argument, put -- or another option before it"
            )
        elif greedy in JOINED and spread[-1] != greedy:
            spread[-1] += f"\0{arg}"
            continue
        elif greedy in lists and spread[-1] != greedy:
            if lists[greedy](arg):
                if greedy in METRIC:
                    _warn_of_file(arg)
                spread.append(greedy)
            else:  # the list ends here
                greedy = ""
        elif greedy and spread[-1] != greedy:
            spread.append(greedy)
        spread.append(arg)
    return spread


def _warn_of_file(word: str) -> None:
    """Warn of a file that has the name of a metric in a list of metrics."""
    if Path(word).is_file():
        warn(f"{word!r} after -m is read as a metric, though a file with this name exists: for the file write ./{word}")


def _unmarked(value: Any) -> Any:
    """The value without the mark before ``-#NAME``."""
    return value[1:] if isinstance(value, str) and value.startswith("\0-#") else value


@cache
def _metric_flags() -> list[click.Option]:
    """A flag for every option of any metric. ``reshuffle metrics NAME`` describes them."""
    from .metric_options import flag, flags

    def hidden(name: str, kind: str, choices: Sequence[str]) -> click.Option:
        kinds: dict[str, Any] = {
            "flag": {"is_flag": True},
            "integer": {"type": int},
            "real": {"type": float},
            "reals": {"type": Numbers()},
            "choice": {"type": Name(flag(name), choices)},
            "choices": {"type": NameList(flag(name), choices)},
            "path": {"metavar": "FILE"},
            "language": {"metavar": "CODE"},
        }
        return click.Option([flag(name), name], default=None, hidden=True, **kinds[kind])

    return [hidden(each.option.name, each.option.kind, each.choices) for each in flags()]
