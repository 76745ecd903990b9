"""Options: of all commands, and those that follow a name and a colon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping

import click

from ...options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Named
from ...options.declare import Option, options_of
from ...options.nulls import NULLS_WITH_OPTIONS
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
            yield Entry(name, about, facts={"More": f"reshuffle {name} --help"})


def options() -> Iterable[Entry]:
    """Each option with all places where it can be written. What it does is that of the first of these."""
    places: dict[str, dict[str, list[str]]] = {}
    about: dict[str, str] = {}
    for name, written, command, text in _written():
        places.setdefault(name, {}).setdefault(written, []).append(command)
        # Defaults of commands differ.
        known, default = about.setdefault(name, text), re.compile(r"\s*\[default: .*\]$")
        if default.findall(known) != default.findall(text):
            about[name] = default.sub("", known)
    for name, every in places.items():
        parts = (f"{flag} of {', '.join(found)}" if any(found) else flag for flag, found in every.items())
        yield Entry(name, about[name], facts={"Written": "; ".join(parts)})


def _written() -> Iterator[tuple[str, str, str, str]]:
    """The name of each option, how it is written, its command ("" for those after a colon), and what it does."""
    for command, params in _leaves(cli):
        for param in params:
            if isinstance(param, click.Option) and not param.hidden and param.help:
                flag = max(param.opts, key=len)
                yield flag.lstrip("-"), flag, command, " ".join(param.help.split())
    for flag, named in NAMED.items():
        for name, make in named.items():
            for key, each in options_of(make.func).items():
                if key not in make.keywords and each.flag.shown:
                    written = _written_as(each)
                    own = key.removesuffix("s") if each.is_mapping else written
                    yield own, f"{flag} {name}:{written if each.is_mapping else f'{written}=VALUE'}", "", _about(each)

    for own in flags():
        flag = metric_flag(own.option.name)
        about = describe_option(own.option.about) + (f": {', '.join(own.choices)}" if own.choices else "")
        yield flag[2:], f"{flag} of commands with -m", "", about
        value = "" if own.option.kind == "flag" else "=VALUE"
        for metric in own.metrics:
            yield flag[2:], f"-m METRIC:{flag[2:]}{value}", metric, about


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
