"""Options: of all commands, and those that follow a name and a colon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import click

from ...grouping import grouped
from ...options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Named
from ...options.declare import Option, options_of
from ...options.nulls import NULLS_WITH_OPTIONS
from ..examples import examples_of, tests_of
from ..metric_options import describe_option, flags
from ..metric_options import flag as metric_flag
from ..root import SECTIONS, cli
from . import Entry

# The options by which something with options of its own is chosen.
NAMED: Mapping[str, Named] = {
    "--test": TESTS_WITH_OPTIONS,
    "--interval": INTERVALS_WITH_OPTIONS,
    "--null": NULLS_WITH_OPTIONS,
}


def commands() -> Iterable[Entry]:
    for section in SECTIONS.values():
        for name, (_, about) in section.items():
            command = cli.get_command(click.Context(cli), name)
            details = inspect.cleandoc((command and command.help) or "").partition("\n\n")[2].partition("\b")[0]
            facts = {
                "How": " ".join(details.split()),
                "Tests": tests_of(name),
                "Example": next((each for each in examples_of(name) if f" {name} " in each), ""),
                "More": f"reshuffle {name} --help",
            }
            yield Entry(name, about, facts=facts)


# Defaults of commands differ.
DEFAULT = re.compile(r"\s*\[default: .*\]$")


def options() -> Iterable[Entry]:
    """Each option with what it does, and all places where it can be written: an option may mean several things."""
    meanings: dict[str, dict[str, list[_Written]]] = {}
    for written in _written():
        meanings.setdefault(written.name, {}).setdefault(DEFAULT.sub("", written.about), []).append(written)
    for name, every in meanings.items():
        (first, of_first), *others = every.items()
        texts = {written.about for written in of_first}
        about = texts.pop() if len(texts) == 1 else first
        elsewhere = (f"{_places(found)}: {DEFAULT.sub('', text).split('. ')[0].rstrip('.')}." for text, found in others)
        places = _places(of_first)
        # An option that only commands take has the name of its flag.
        taken = {each.flag for each in of_first} == {f"--{name}"} and all(each.command for each in of_first)
        first_place = ("Taken by", places.removeprefix(f"--{name} of ")) if taken else ("Written", places)
        yield Entry(name, about, facts=dict([first_place, ("Elsewhere", "\n".join(elsewhere))]))


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


def _written() -> Iterator[_Written]:
    for command, params in _leaves(cli):
        for param in params:
            if isinstance(param, click.Option) and not param.hidden and param.help:
                flag = max(param.opts, key=len)
                yield _Written(flag.lstrip("-"), flag, command, " ".join(param.help.split()))
    for flag, named in NAMED.items():
        for name, make in named.items():
            for key, each in options_of(make.func).items():
                if key not in make.keywords and each.flag.shown:
                    written = _written_as(each)
                    own = key.removesuffix("s") if each.is_mapping else written
                    place = f"{flag} {name}:{written if each.is_mapping else f'{written}=VALUE'}"
                    yield _Written(own, place, "", _about(each))

    for metric_option in flags():
        flag = metric_flag(metric_option.option.name)
        about = describe_option(metric_option.option.about) + (
            f": {', '.join(metric_option.choices)}" if metric_option.choices else ""
        )
        yield _Written(flag[2:], f"{flag} of commands with -m", "", about)
        value = "" if metric_option.option.kind == "flag" else "=VALUE"
        for metric in metric_option.metrics:
            yield _Written(flag[2:], f"-m METRIC:{flag[2:]}{value}", metric, about)


def _leaves(group: click.Group, before: str = "") -> Iterator[tuple[str, list[click.Parameter]]]:
    """Every command that is no group, with its parameters."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command.params


def with_options(name: str, named: Named) -> list[list[str]]:
    """The options that follow a name and a colon."""
    if name not in named:
        return []
    make = named[name]
    return declared({key: each for key, each in options_of(make.func).items() if key not in make.keywords})


def declared(options: Mapping[str, Option]) -> list[list[str]]:
    """A row for each option: how it is written, what it takes, its default and what it does."""
    return [
        [
            _written_as(each),
            _taken(each),
            "–" if each.default in (None, inspect.Parameter.empty) else default(each.default),
            _about(each),
        ]
        for each in options.values()
        if each.flag.shown
    ]


def _taken(each: Option) -> str:
    """What an option takes."""
    if each.is_mapping:
        return "a number"
    kinds = {int: "a whole number", float: "a number", bool: "yes or no"}
    known = ", ".join(each.choices)
    return known or kinds.get(each.element) or each.documented_type.removesuffix(", optional")


def default(value: object) -> str:
    return {None: "–", False: "no", True: "yes"}[value] if isinstance(value, bool | None) else str(value)


def _written_as(each: Option) -> str:
    return "METRIC=VALUE" if each.is_mapping else each.name.replace("_", "-")


def _about(each: Option) -> str:
    return re.sub("``", "", " ".join(each.about.split("\n\n")[0].split()))
