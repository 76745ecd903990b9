"""Options: of all commands, and those that follow a name and a colon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from ...grouping import grouped
from ...options import choices
from ...options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Named
from ...options.declare import Option, Options, options_of
from ...options.nulls import NULLS_WITH_OPTIONS
from ..help import about, examples_of, tests_of
from ..metric_options import describe_option, flags
from ..root import cli

# The options by which something with options of its own is chosen.
NAMED: Mapping[str, Named] = {
    "--test": TESTS_WITH_OPTIONS,
    "--interval": INTERVALS_WITH_OPTIONS,
    "--null": NULLS_WITH_OPTIONS,
}


def described(text: str | None) -> dict[str, Any]:
    """A docstring as a record: its first paragraph, and those after it up to examples."""
    first, *more = inspect.cleandoc(text or "").partition("\b")[0].replace("``", "").split("\n\n")
    return {"about": " ".join(first.split()), "details": [" ".join(each.split()) for each in more]}


def commands() -> dict[str, Any]:
    """The commands, from their help."""
    return {
        name: described(about(name))
        | {
            "tests": tests_of(name),
            "example": next((each for each in examples_of(name) if f" {name} " in each), ""),
        }
        for name in cli.list_commands(click.Context(cli))
    }


# Defaults of commands differ.
DEFAULT = re.compile(r"\s*\[default: .*\]$")


def options() -> dict[str, Any]:
    """Each option with what it does, and all places where it can be written: an option may mean several things."""
    found = {}
    for name, every in grouped((each.name, each) for each in _written()).items():
        (first, of_first), *others = grouped((DEFAULT.sub("", each.about), each) for each in every).items()
        texts = {written.about for written in of_first}
        elsewhere = (f"{_places(own)}: {DEFAULT.sub('', text).rstrip('. ')}." for text, own in others)
        places = _places(of_first)
        # An option that only commands take has the name of its flag.
        taken = {each.flag for each in of_first} == {f"--{name}"} and all(each.command for each in of_first)
        found[name] = {
            "also": [*dict.fromkeys(other for each in every for other in each.others)],
            "about": texts.pop() if len(texts) == 1 else first,
            "taken_by": places.removeprefix(f"--{name} of ") if taken else "",
            "written": "" if taken else places,
            "elsewhere": "\n".join(elsewhere),
        }
    return found


def _places(found: Iterable[_Written]) -> str:
    """How an option is written, and of what."""
    commands = grouped((each.flag, each.command) for each in found)
    return "; ".join(f"{flag} of {', '.join(own)}" if any(own) else flag for flag, own in commands.items())


class _Written(NamedTuple):
    """A way to write an option: of a command, or after a colon."""

    name: str
    flag: str
    command: str
    """Empty for those after a colon."""
    about: str
    others: Sequence[str] = ()
    """Other flags of the same option, the long ones without hyphens."""


def _written() -> Iterator[_Written]:
    for command, params in _leaves(cli):
        for param in params:
            if isinstance(param, click.Option) and not param.hidden and param.help:
                flag = max(param.opts, key=len)
                others = [each.removeprefix("--") for each in param.opts if each != flag]
                yield _Written(flag.lstrip("-"), flag, command, " ".join(param.help.split()), others)
    for flag, named in NAMED.items():
        for name in named:
            for key, each in options_after(flag, name).items():
                own = key.removesuffix("s") if each.is_mapping else each.written
                place = f"{flag} {name}:{each.written if each.is_mapping else f'{each.written}=VALUE'}"
                yield _Written(own, place, "", _about(each))
    for of_metrics in flags():
        each = of_metrics.option
        about = _about(each) + (f": {', '.join(each.choices)}" if each.choices else "")
        yield _Written(each.written, f"--{each.written} of commands with -m", "", about)
        value = "" if each.is_flag else "=VALUE"
        for metric in of_metrics.metrics:
            yield _Written(each.written, f"-m METRIC:{each.written}{value}", metric, about)


def _leaves(group: click.Group, before: str = "") -> Iterator[tuple[str, list[click.Parameter]]]:
    """Every command that is no group, with its parameters."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command.params


def options_after(flag: str, name: str) -> dict[str, Option]:
    """The options that may follow a name and a colon after ``--test`` and its like."""
    named = NAMED[flag]
    own = choices.options_after(named[name]) if name in named else {}
    return {key: each for key, each in own.items() if each.flag.shown}


def rows(options: Mapping[str, Option] | type[Options]) -> list[list[str]]:
    """A row for each option: how it is written, what it takes, its default and what it does."""
    every = options_of(options) if isinstance(options, type) else options
    return [
        [(*each.flag.names, each.written)[0], each.takes, _default(each), _about(each)]
        for each in every.values()
        if each.flag.shown
    ]


def _default(each: Option) -> str:
    if each.default is None or each.default is inspect.Parameter.empty:
        return "–"
    return str(each.default) if not isinstance(each.default, bool) else "yes" if each.default else "no"


def _about(each: Option) -> str:
    return describe_option(re.sub("``", "", " ".join(each.about.split("\n\n")[0].split())))
