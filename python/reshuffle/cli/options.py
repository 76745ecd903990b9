"""The options of metrics as flags of the command line, with their help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics.registry import OptionSpec, metric_specs

__all__ = ["Flag", "about_option", "flag", "flags", "known_case"]


def flag(option: str) -> str:
    """An option as it is written on the command line.

    >>> flag("max_ngram_order")
    '--max-ngram-order'
    """
    return "--" + option.replace("_", "-")


def about_option(text: str) -> str:
    """The description of an option with flags for names of options; one-word names stay, since they may be plain words.

    >>> about_option("like smooth_value: --lowercase")
    'like --smooth-value: --lowercase'
    """
    options = [o.name for spec in metric_specs() for o in spec.options if "_" in o.name]
    return re.sub(rf"(?<![-\w])({'|'.join(options)})(?![-\w])", lambda found: flag(found[1]), text)


def known_case(name: str, known: Sequence[str]) -> str:
    """A name in lower case if that is known (BLEU is bleu): no two metrics differ in case alone."""
    return name.lower() if name.lower() in known else name


@dataclass(frozen=True)
class Flag:
    """An option that one or more metrics share by name."""

    option: OptionSpec
    metrics: list[str]
    choices: list[str]
    help: str


def flags() -> list[Flag]:
    """Every option of any metric, once; the help says what it means to each metric."""
    takers: dict[str, list[tuple[str, OptionSpec]]] = {}
    for spec in metric_specs():
        for option in spec.options:
            takers.setdefault(option.name, []).append((spec.name, option))

    def merged(of_metrics: list[tuple[str, OptionSpec]]) -> Flag:
        meanings: dict[str, list[str]] = {}
        for metric_name, option in of_metrics:
            default = "" if option.kind == "flag" or option.default is None else f"  [default: {option.default}]"
            meanings.setdefault(about_option(option.about) + default, []).append(metric_name)
        told = [f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items()]
        choices = dict.fromkeys(choice for _, option in of_metrics for choice in option.choices)
        return Flag(of_metrics[0][1], [name for name, _ in of_metrics], list(choices), "; ".join(told))

    return [merged(of_metrics) for of_metrics in takers.values()]
