"""Options of commands from their declarations (:mod:`reshuffle.options`)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, get_origin

from .. import errors
from ..errors import InputError, either
from ..options.declare import SIZE, WORKERS, Option, Options, Reads, check, flag_of, options_of
from .params import (
    Name,
    Named,
    NameList,
    WordList,
    Workers,
    flattened,
    headers,
    number,
    number_list,
    number_or,
    of_metric,
    option,
    replicates,
    size,
)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
T = TypeVar("T")

# The most names that the help of an option lists if 'reshuffle explain' has all of them, and how many of more.
MOST_NAMES, FIRST_NAMES = 10, 8


def declared_options(record: type[Options], only: Collection[str] = ()) -> list[Decorator]:
    """The options of a record in its order, or those with these names in theirs."""
    options = options_of(record)
    return [_option(options[name], record) for name in only or options if options[name].flag.shown]


def _option(each: Option, record: type[Options]) -> Decorator:
    names, flag = each.flag.names or (errors.flag(each.name),), each.flag
    attributes: dict[str, Any] = {"group": each.title, "help": help_of(each, record), "hidden": flag.hidden}
    attributes |= {"required": True} if each.default is inspect.Parameter.empty else {"default": None}
    if each.is_flag:
        attributes["is_flag"] = True
        return option(*names, each.name, **attributes)
    kind, metavar = _type(each)
    metavar = flag.metavar or metavar
    if (flag.greedy or hasattr(kind, "accepts")) and each.length is None:
        metavar += "..."
    repeated = (each.several and not flag.joined) or each.is_mapping
    attributes |= {"type": kind, "metavar": metavar, "multiple": repeated, "greedy": flag.greedy, "noun": flag.noun}
    if each.length is not None and kind is str:
        return option(*names, each.name, **attributes | {"multiple": False, "nargs": each.length})
    if each.several and kind is str and not flag.greedy:
        attributes |= {"metavar": f"{metavar}...", "greedy": True, "noun": "word"}
    return option(*names, each.name, **attributes)


def _takes_words(each: Option) -> bool:
    """Whether each value is a tuple of words."""
    return get_origin(each.element) is tuple


def _type(each: Option) -> tuple[Any, str]:
    """What click converts a value with, and what stands for it in the help."""
    if each.choices == ("auto",):
        return replicates(), "N"
    if each.choices:
        noun = f"value of {flag_of(each)}" if "_" in each.noun else each.noun
        return (NameList if each.several else Name)(noun, each.choices, each.has_options), "NAME"
    if WORKERS in each.rules:
        return Workers(), "N"
    if SIZE in each.rules:
        return size(), "SIZE"
    if each.flag.none is not None:
        return number_or(each.flag.none), f"N|{each.flag.none}"
    if each.number is not None:
        return (number_list if each.several else number)(each.number), "N" if each.number is int else "VALUE"
    if _takes_words(each) or each.flag.joined:
        return WordList(), "WORD"
    if each.is_mapping and each.flag.greedy:
        return Named(), "NAME FILE"
    if each.keys:
        return headers(each.keys), "NAME=VALUE"
    if each.is_mapping:
        (read,) = [rule for rule in each.rules if isinstance(rule, Reads)] or [Reads()]
        return of_metric(*read), "VALUE"
    return str, "VALUE"


def help_of(each: Option, record: type[Options]) -> str:
    """The first paragraph of what the option does, with flags for Python's names, and its default."""
    text = " ".join(each.about.split("\n\n")[0].split())
    flags = {name: flag_of(other) for name, other in options_of(record).items() if other.flag.shown or other.flag.names}
    flags["None"] = each.flag.none or "None"
    text = re.sub(r":func:`reshuffle\.([\w.]+)`", lambda found: f"'reshuffle {_command(found[1])}'", text)
    text = re.sub(r"(?:[Aa] name|[Nn]ames) in :data:`([^`]*)`", lambda found: _listed(each, found[1]), text)
    text = re.sub(r"``(\w+)=\"([\w-]+)\"``", lambda found: f"{flags[found[1]]} {found[2]}", text)
    text = re.sub(r"``([^`]+)``", lambda found: flags.get(found[1], found[1]), text)
    text, *stated = re.split(r" By default (.*)\.$", text)
    if each.flag.note:
        note = each.flag.note
        text = re.sub(
            r"(\))?\.(?= [A-Z-]|$)", lambda found: f"; {note})." if found[1] else f" ({note}).", text, count=1
        )
    default = each.flag.none if each.default is None else each.default
    if stated:
        return f"{text}  [default: {stated[0]}]"
    if default is None or default in (False, (), {}, inspect.Parameter.empty):
        return text
    if default is True:
        return f"{text}  [default: {flag_of(each).removeprefix('--')}]"
    return f"{text}  [default: {' '.join(map(_shown, default)) if each.several else _shown(default)}]"


def _listed(each: Option, registry: str) -> str:
    """The names of a registry that Python's documentation refers to: the first ones, if there are many."""
    names = each.choices
    if not registry.startswith("reshuffle.inference."):
        return either(names)
    explain = f"'reshuffle explain {registry.rpartition('.')[2].lower()}"
    if len(names) <= MOST_NAMES:
        return f"{either(names)} ({explain}' has more)"
    return f"{', '.join(names[:FIRST_NAMES])} … ({explain}' has all {len(names)})"


def _command(function: str) -> str:
    """The command that does what a function does.

    >>> _command("compare_runs"), _command("study.power"), _command("study.plan")
    ('runs', 'study power', 'plan')
    """
    named = {"compare_runs": "runs", "study.plan": "plan"}
    return named.get(function, function.replace(".", " "))


def _shown(value: Any) -> str:
    """A default, with numbers as users write them.

    >>> _shown(0.0), _shown(0.05), _shown("ar")
    ('0', '0.05', 'ar')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def given_values(record: type[Options], options: dict[str, Any]) -> dict[str, Any]:
    """Take the values of the record's options that were given out of ``options``."""
    values: dict[str, Any] = {}
    for name, each in options_of(record).items():
        value = options.pop(name, None) if each.flag.shown else None
        if value is None or value == ():
            continue
        if value == each.flag.none:
            value = None
        elif each.is_mapping:
            value = _mapping(each, value)
        elif each.several and not _takes_words(each) and isinstance(value[0], tuple):
            value = flattened(value)
        values[name] = value
    return values


def _mapping(each: Option, given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The values of an option by name."""
    if each.flag.greedy:
        return by_name(flag_of(each), given)
    if each.keys:
        return by_name(flag_of(each), flattened(tuple(given)) or (), "leave out one of them")
    found: dict[str, tuple[Any, ...]] = {}
    for name, value in given:
        found[name] = (*found.get(name, ()), value)
    return found


def by_name(flag: str, given: Sequence[tuple[str, T]], advice: str = "choose different names") -> dict[str, T]:
    """The value of each name. :class:`InputError`, with the advice, if a name is used twice."""
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{flag} {name} is used twice: {advice}")
    return dict(given)


def flags_of(record: type[Options]) -> dict[str, str]:
    """The options of a record as they are written on the command line, by name."""
    return {name: flag_of(each) for name, each in options_of(record).items()}


def made(record: type[Options], values: Mapping[str, Any]) -> Any:
    """The record with these values; :class:`InputError`, with the flag, for one that cannot be used."""
    options = record(**values)
    check(options, flags_of(record))
    return options


def taken_options(record: type[Options], options: dict[str, Any], **others: Any) -> Any:
    """The record with the values that were given, which are taken out of ``options``, and ``others``; as :func:`made`.

    Others are what the record needs and a command reads from files.
    """
    return made(record, others | given_values(record, options))


def check_all_used(options: Mapping[str, Any]) -> None:
    """Make sure that all options of a command were taken."""
    if options:
        raise TypeError(f"options that nothing uses: {', '.join(options)}")


def check_unused(options: Options, names: Collection[str], why: str) -> None:
    """:class:`InputError` if one of these options was given."""
    for name, each in options_of(type(options)).items():
        if name in names and getattr(options, name) != each.default:
            raise InputError(f"{flag_of(each)} {why}: leave it out")
