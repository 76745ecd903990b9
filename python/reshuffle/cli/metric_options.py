"""Metrics and their options on the command line: ``-m bleu:tokenize=intl,lowercase`` and ``--tokenize intl``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from .. import errors
from ..errors import InputError, flag, quoted, unknown_name
from ..grouping import grouped
from ..metrics.registry import metric_specs
from ..names import IN_PYTHON, metric_key
from ..names import is_metric as is_metric_name
from ..options.choices import read_options
from ..options.declare import FILE, Option
from ..types import MetricName
from ..validate import check_name
from .habits import habits, name_advice

if TYPE_CHECKING:
    from ..metrics.named import NamedMetric


def describe_option(text: str) -> str:
    """The description of an option, with flags instead of Python names.

    One-word names stay as they are, since they may be ordinary words.

    >>> describe_option("like smooth_value: --lowercase")
    'like --smooth-value: --lowercase'
    """
    options = [o.name for spec in metric_specs() for o in spec.options if "_" in o.name]
    return re.sub(rf"(?<![-\w])({'|'.join(options)})(?![-\w])", lambda found: flag(found[1]), text)


def _options_of(name: str) -> dict[str, Option]:
    """The options of a metric; :class:`InputError` if there is no such metric."""
    check_name("metric", name, get_args(MetricName))
    if name in IN_PYTHON:
        from ..metrics.in_python import every_spec  # most commands use metrics of the core only

        specs = every_spec()
    else:
        specs = metric_specs()
    return {each.name: each for spec in specs if spec.name == name for each in spec.options}


@dataclass(frozen=True)
class MetricFlag:
    """An option that one or more metrics have under the same name."""

    option: Option
    metrics: list[str]


@cache
def flags() -> list[MetricFlag]:
    """Every option of any metric of the core, once. Those of other metrics follow only the metric's name."""
    by_name = grouped((option.name, (spec.name, option)) for spec in metric_specs() for option in spec.options)

    def merged(owners: list[tuple[str, Option]]) -> MetricFlag:
        first = owners[0][1]
        choices = dict.fromkeys(choice for _, each in owners for choice in each.choices)
        element = Literal[tuple(choices)] if choices else first.element
        return MetricFlag(replace(first, element=element), [name for name, _ in owners])

    return [merged(owners) for owners in by_name.values()]


@dataclass(frozen=True)
class MetricChoice:
    """A metric that was asked for by ``-m``, with the options after its name."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


def is_metric(word: str) -> bool:
    """Does the word name a metric, with options or without?

    >>> is_metric("BLEU:lowercase"), is_metric("chrF2++"), is_metric("ref.txt"), is_metric("./ter")
    (True, True, False, False)
    """
    return is_metric_name(word.partition(":")[0])


def parse_metric(text: str, folder: Path = Path()) -> MetricChoice:
    """A metric and its options: ``NAME`` or ``NAME:OPTION=VALUE,OPTION``. Paths are relative to the folder.

    Raises
    ------
    InputError
        If the metric, an option or a value does not exist, or an option comes twice.

    Examples
    --------
    >>> parse_metric("BLEU:tokenize=intl,lowercase,weights=0.5,0.5").options
    {'tokenize': 'intl', 'lowercase': True, 'weights': [0.5, 0.5]}
    """
    name, colon, rest = text.partition(":")
    several = re.split(r"[,\s]+|(?<=\w)\+(?=\w)", name.strip())
    if len(several) > 1 and all(map(is_metric, several)):
        words = errors.Argument(json.dumps(several), as_flag=f"-m {' '.join(several)}")
        raise InputError("{name} is one word: write {words}", name=quoted(name), words=words)
    name = metric_key(name)
    options = _options_of(name)
    found = read_options("metric", name, rest, options, partial(_check_habit, name, options)) if colon else {}
    for key, value in found.items():
        check_names(options[key], value, f"value of {name}:{options[key].written}")
        if FILE in options[key].rules:
            found[key] = str(folder / value)
    return MetricChoice(name, found)


def _check_habit(name: str, options: Mapping[str, Option], part: str) -> None:
    """:class:`InputError` for an option as signatures of sacreBLEU abbreviate it: ``tok=intl``, ``tok:intl``."""
    written, _, value = part.replace(":", "=", 1).partition("=")
    own = {**habits("option of a metric"), **{each.written: each.written for each in options.values()}}
    key = own.get(f"{written}={value}".lower(), own.get(written.lower(), ""))
    meant = options.get(key.replace("-", "_"))
    if meant is not None:
        example = meant.written if meant.is_flag else f"{meant.written}={value or 'VALUE'}"
        raise InputError(f"unknown option of metric {name} {quoted(written)}: use -m {name}:{example}")


def check_names(option: Option, value: Any, noun: str) -> None:
    """:class:`InputError` for a value that is none of the names to choose from, which are a ``noun``."""
    for name in value if option.several else [value]:
        if option.choices and name not in option.choices:
            raise name_advice(flag(option.name), name) or unknown_name(noun, name, option.choices)


def metric_flags(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of metrics that were given as flags out of ``options``."""
    values = {each.option.name: options.pop(each.option.name) for each in flags()}
    return {name: value for name, value in values.items() if value is not None}


def metrics_of(chosen: Sequence[MetricChoice], flags_of: Mapping[str, Any]) -> list[NamedMetric]:
    """The metrics with their options: those after a metric's name take precedence over flags.

    Each metric gets those of the flags that it has.
    """
    names = [choice.name for choice in chosen]
    owners = {each.option.name: each.metrics for each in flags()}
    for option in flags_of:
        if not set(owners[option]).intersection(names):
            others = ", ".join(names) or "external scores"
            raise InputError(
                "{option} does not apply to {metrics}: leave it out", option=errors.Argument(option), metrics=others
            )
    return [
        _metric(choice.name, {o: v for o, v in flags_of.items() if choice.name in owners[o]} | choice.options)
        for choice in chosen
    ]


def _metric(name: str, options: dict[str, Any]) -> NamedMetric:
    from ..metrics.named import metric  # not at start-up

    try:
        return metric(name, **options)
    except InputError as error:
        raise error.with_names(errors.Option, errors.Argument) from None
