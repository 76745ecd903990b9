"""The metrics that a command line chooses: ``-m`` and the flags of their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import InputError, Option
from ...metrics.native import metric
from ..metric_options import MetricChoice, flag, flags

if TYPE_CHECKING:
    from ...metrics.counted import NamedMetric


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
    try:
        return metric(name, **options)
    except InputError as error:
        raise error.with_names(Option, flag) from None
