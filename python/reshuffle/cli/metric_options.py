"""Metrics and their options on the command line: ``-m bleu:tokenize=intl,lowercase`` and ``--tokenize intl``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, Option, quoted, unknown_name
from ..grouping import grouped
from ..metrics.registry import OptionSpec, metric_specs
from ..names import IN_PYTHON, metric_key, names_in
from ..names import is_metric as is_metric_name
from ..options.choices import FLAG_VALUES
from ..validate import check_name
from .habits import habits, name_advice

if TYPE_CHECKING:
    from ..metrics.named import NamedMetric


def flag(option: str) -> str:
    """An option as it is written on the command line.

    >>> flag("max_ngram_order")
    '--max-ngram-order'
    """
    return "--" + option.replace("_", "-")


def describe_option(text: str) -> str:
    """The description of an option, with flags instead of Python names.

    One-word names stay as they are, since they may be ordinary words.

    >>> describe_option("like smooth_value: --lowercase")
    'like --smooth-value: --lowercase'
    """
    options = [o.name for spec in metric_specs() for o in spec.options if "_" in o.name]
    return re.sub(rf"(?<![-\w])({'|'.join(options)})(?![-\w])", lambda found: flag(found[1]), text)


@cache
def metric_names() -> list[str]:
    """The names of all metrics."""
    from ..metrics.in_python import every_spec  # most commands use metrics of the core only

    return [spec.name for spec in every_spec()]


def _options_of(name: str) -> dict[str, OptionSpec]:
    """The options of a metric; :class:`InputError` if there is no such metric."""
    if name not in IN_PYTHON:
        own = {spec.name: spec for spec in metric_specs()}
        if name in own:
            return {option.name: option for option in own[name].options}
        check_name("metric", name, metric_names())
    from ..metrics.in_python import every_spec

    return {option.name: option for spec in every_spec() if spec.name == name for option in spec.options}


@dataclass(frozen=True)
class Flag:
    """An option that one or more metrics have under the same name."""

    option: OptionSpec
    metrics: list[str]
    choices: list[str]


def flags() -> list[Flag]:
    """Every option of any metric of the core, once. Those of other metrics follow only the metric's name."""
    by_name = grouped((option.name, (spec.name, option)) for spec in metric_specs() for option in spec.options)

    def merged(owners: list[tuple[str, OptionSpec]]) -> Flag:
        choices = dict.fromkeys(choice for _, option in owners for choice in option.choices)
        return Flag(owners[0][1], [name for name, _ in owners], list(choices))

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
    several = re.split(r"[,\s]+", name.strip())
    if len(several) > 1 and all(map(is_metric, several)):
        words = " ".join(several)
        raise InputError(f"{quoted(name)} is one word: write -m {words}, or {json.dumps(several)} in TOML and JSON")
    name = metric_key(name)
    specs = _options_of(name)
    if colon and not rest:
        raise InputError(f"-m {text} ends with a colon: expected options after it, such as -m {name}:{_example(specs)}")
    values: dict[str, str | None] = {}
    last = ""  # the option that was read last
    for part in rest.split(",") if rest else ():
        written, equals, value = part.partition("=")
        option = written.replace("-", "_")
        if not equals and last and specs[last].kind in SEVERAL and option not in specs:
            values[last] = f"{values[last]},{part}"  # the next of several values
            continue
        if option not in specs:
            known = [flag(each)[2:] for each in specs]
            meant = _meant(part, known, specs)
            if meant is not None:
                raise InputError(f"unknown {name} option {quoted(written)}: use -m {name}:{meant}")
            check_name(f"{name} option", written, known)
        if option in values:
            raise InputError(f"-m {text}: the option {written} is set twice")
        values[option] = value if equals else None
        last = option
    found = {option: _after_name(name, specs[option], value) for option, value in values.items()}
    for option, value in found.items():
        if specs[option].kind == "path":
            found[option] = str(folder / value)
    return MetricChoice(name, found)


def _meant(part: str, known: Sequence[str], specs: Mapping[str, OptionSpec]) -> str | None:
    """An option that is abbreviated as in signatures of sacreBLEU (``tok=intl``, ``tok:intl``), as it is here."""
    written, _, value = part.replace(":", "=", 1).partition("=")
    own = habits("option of a metric")
    name = written if written in known else own.get(f"{written}={value}".lower(), own.get(written.lower()))
    if name is None or name not in known:
        return None
    return name if specs[name.replace("-", "_")].kind == "flag" else f"{name}={value or 'VALUE'}"


def _example(specs: dict[str, OptionSpec]) -> str:
    option = next(iter(specs.values()), None)
    if option is None:
        return "OPTION=VALUE"
    return flag(option.name)[2:] + ("" if option.kind == "flag" else "=VALUE")


# Kinds of options that take several values.
SEVERAL = ("reals", "choices")


# What a value must be, by the kind of the option; those of choices name them.
EXPECTED = {
    "path": "a path",
    "language": "a language code",
    "text": "a text",
    "integer": "a whole number",
    "real": "a number",
    "reals": "numbers separated by commas",
}
CONVERT: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "real": float,
    "reals": lambda text: [float(number) for number in text.split(",")],
    "choices": names_in,
}


def parsed(option: OptionSpec, value: str, shown: str, noun: str, choices: Sequence[str]) -> Any:
    """The value of an option of a metric, which is no flag.

    ``shown`` is the option as it was written, ``noun`` what a name to choose is, and ``choices`` are the known names.
    """
    chosen = {"choice": [value], "choices": names_in(value)}.get(option.kind, [])
    for name in chosen:
        if name not in choices:
            raise name_advice(flag(option.name), name) or unknown_name(noun, name, choices)
    try:
        return CONVERT.get(option.kind, str)(value)
    except ValueError:
        raise InputError(f"{shown} must be {EXPECTED[option.kind]}, got {quoted(value)}") from None


def _after_name(metric: str, option: OptionSpec, value: str | None) -> Any:
    """The value of an option after the name of a metric; None if nothing but the option's name was written."""
    written = flag(option.name)[2:]
    shown = f"-m {metric}: {written}"
    if option.kind == "flag":
        if value is not None and value.lower() not in FLAG_VALUES:
            raise InputError(f"{shown} must be yes or no, got {quoted(value)}")
        return value is None or FLAG_VALUES[value.lower()]
    if value is None:
        names = ", ".join(option.choices)
        of_names = {"choice": f"one of {names}", "choices": f"one or more of {names}, separated by commas"}
        expected = of_names.get(option.kind) or EXPECTED[option.kind]
        raise InputError(f"{shown} must be {expected}, got no value: write {written}=VALUE")
    return parsed(option, value, shown, f"value of {metric}:{written}", option.choices)


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
            raise InputError(f"{flag(option)} does not apply to {', '.join(names) or 'external scores'}: leave it out")
    return [
        _metric(choice.name, {o: v for o, v in flags_of.items() if choice.name in owners[o]} | choice.options)
        for choice in chosen
    ]


def _metric(name: str, options: dict[str, Any]) -> NamedMetric:
    from ..metrics.named import metric  # not at start-up

    try:
        return metric(name, **options)
    except InputError as error:
        raise error.with_names(Option, flag) from None
