"""Options: of commands that compare, and those that follow a name and a colon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping

from ...options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Named
from ...options.comparisons import CompareRuns, CompareSets
from ...options.declare import Option, options_of
from ...options.gate import Gated
from ..declared import flag_of, help_of
from . import Entry

COMMANDS = {"compare": CompareSets, "runs": CompareRuns, "gate": Gated}
# The options by which something with options of its own is chosen.
NAMED: Mapping[str, Named] = {"--test": TESTS_WITH_OPTIONS, "--interval": INTERVALS_WITH_OPTIONS}


def options() -> Iterable[Entry]:
    """Each option with all places where it can be written. What it does is that of the first of these."""
    places: dict[str, list[str]] = {}
    about: dict[str, str] = {}
    for name, place, text in _written():
        places.setdefault(name, []).append(place)
        about.setdefault(name, text)
    return (Entry(name, about[name], facts={"Written": "; ".join(every)}) for name, every in places.items())


def _written() -> Iterable[tuple[str, str, str]]:
    """The name of each option, a place where it can be written, and what it does there."""
    for command, record in COMMANDS.items():
        for each in options_of(record).values():
            if each.flag.shown:
                flag = flag_of(each)
                yield flag.lstrip("-"), f"reshuffle {command} {flag}", help_of(each, record)
    for flag, named in NAMED.items():
        for name, make in named.items():
            for key, each in options_of(make.func).items():
                if key not in make.keywords and each.flag.shown:
                    written = _written_as(each)
                    own = key.removesuffix("s") if each.is_mapping else written
                    yield own, f"{flag} {name}:{written if each.is_mapping else f'{written}=VALUE'}", _about(each)


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
