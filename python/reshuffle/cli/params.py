"""Types of command-line parameters, and the key of the command line in click's context."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, quoted
from ..validate import check_n_resamples, check_name
from .habits import name_advice

if TYPE_CHECKING:
    from .metric_options import MetricChoice

    StrParam = click.ParamType[str]
    IntParam = click.ParamType[int]
    MetricParam = click.ParamType[MetricChoice]
else:  # generic at run time only in later releases of click
    StrParam = IntParam = MetricParam = click.ParamType

# The key of the command line in `click.Context.meta`.
COMMAND_LINE = "reshuffle.command_line"


class Name(StrParam):
    """One of the names in a registry. The error for any other name suggests the nearest."""

    name = "name"

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        self.kind = kind
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        advice = None if value in self.known else name_advice(self.kind, str(value))
        if advice is not None:
            raise advice
        check_name(self.kind, value, self.known)
        return str(value)


class Metric(MetricParam):
    """A metric, perhaps with options: ``bleu:tokenize=intl``."""

    name = "metric"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MetricChoice:
        from .metric_options import MetricChoice, is_metric, parse_metric

        if isinstance(value, MetricChoice):
            return value
        advice = None if is_metric(value) else name_advice("metric", value.partition(":")[0])
        if advice is not None:
            raise advice
        return parse_metric(value)


class Numbers(StrParam):
    """Numbers separated by commas."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return [float(number) for number in value.split(",")]
        except ValueError:
            option = param.opts[0] if param is not None else "expected"
            raise InputError(f"{option} must be numbers separated by commas, got {quoted(value)}") from None


class Replicates(click.ParamType):  # type: ignore[type-arg]
    """A number of replicates, or ``auto``."""

    name = "replicates"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        try:
            number = int(value)
        except ValueError:
            number = value
        check_n_resamples("-n", number)
        return number


class Margin(click.ParamType):  # type: ignore[type-arg]
    """A metric and its margin: ``bleu=0.5``."""

    name = "margin"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, _, number = value.rpartition("=")
        if not name:
            raise InputError(f"--margin: expected a metric and its margin, as in bleu=0.5, got {quoted(value)}")
        try:
            return name, float(number)
        except ValueError:
            raise InputError(f"--margin {name}: expected a number after =, got {quoted(number)}") from None


def is_margin(word: str) -> bool:
    """Does the word look like a metric and its margin?

    >>> is_margin("bleu=0.5"), is_margin("system.txt"), is_margin("system=a.txt")
    (True, False, False)
    """
    name, _, number = word.rpartition("=")
    try:
        return bool(name) and math.isfinite(float(number))
    except ValueError:
        return False


class Size(IntParam):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from ..data.files import parse_size

        try:
            return parse_size(value) if isinstance(value, str) else int(value)
        except InputError as error:
            option = param.opts[0] if param is not None else "size"
            raise InputError(f"{option}: {error}") from None
