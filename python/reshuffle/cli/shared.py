"""What commands share: groups of options that are not declared, and the decorator that makes a command of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from .. import types
from ..errors import either
from ..options.declare import options_of
from ..options.display import Display
from ..options.files import SetFiles
from .command import Command
from .declared import Decorator, declared_options
from .params import Metric, Name, option

# The metrics that help names first.
MOST_USED: Sequence[types.MetricName] = ("bleu", "chrf", "chrf++", "ter", "asr-wer", "rougeL", "f1", "accuracy")


def metric_names(names: Sequence[str]) -> str:
    """The names of metrics, for a help text."""
    ordered = dict.fromkeys((*(name for name in MOST_USED if name in names), *names))
    return f"{either([*ordered])} ('reshuffle explain metrics')"


def any_of(names: object) -> str:
    """The names of a Literal, for a help text."""
    return either(get_args(names))


def file_options(record: type[SetFiles]) -> list[Decorator]:
    """The options of the files of a test set, in the same order for all records."""
    return declared_options(record, list(options_of(SetFiles)))


def metrics_option(default: str, kind: Metric | None = None) -> tuple[Decorator, ...]:
    """``-m`` of a command that takes several metrics, of the type ``kind``."""
    return (
        option("-m", "--metric", "--metrics", "metrics", group="Metrics", multiple=True, type=kind or Metric(),
               metavar="NAME...",
               help=f"{metric_names(get_args(types.MetricName))}. Several may follow one -m, up to a word that is no "
               "metric (./ter is a file). Options follow a name (bleu:tokenize=intl,lowercase) or are flags "
               "(--tokenize, --lowercase, --word-order ...): 'reshuffle explain bleu' lists those of a metric.  "
               f"[default: {default}]"),
    )  # fmt: skip


METRICS = metrics_option("bleu; asr-wer for transcripts, span-f1 for CoNLL")


def output_options(
    formats: Sequence[str] = get_args(types.Format), default: str = "text", tables: Sequence[str] = ()
) -> tuple[Decorator, ...]:
    """``-o`` and ``--format``. ``tables`` are those that CSV has a file for each of."""
    *first, last = formats
    csv = f" ({', '.join(f'FILE.{table}.csv' for table in tables)})" if tables else ""
    return (
        option("-o", "--output", "outputs", metavar="FILE", multiple=True,
               help="Write the report to FILE; - is standard output. Repeatable."),
        option("--format", "fmt", type=Name("format", formats), metavar="NAME",
               help=f"{', '.join(first)} or {last}{csv}.  [default: by the ending of FILE; without one, {default}]"),
    )  # fmt: skip


def all_of(*groups: Sequence[Decorator]) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed([decorator for group in groups for decorator in group]):
            command = decorator(command)
        return command

    return decorate


def report_command(
    place: str,
    *groups: Sequence[Decorator],
    systems: str | None = None,
    output: Sequence[Decorator] = output_options(),
    **attributes: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that computes a result, with groups of options and those of its output.

    ``place`` is what users type after ``reshuffle``, such as ``study type1``. ``systems`` stands for SYS in the
    usage of a command that takes REF and SYS. The attributes are those of :class:`~reshuffle.cli.command.Command`.
    """
    texts: tuple[Decorator, ...] = ()
    if systems is not None:
        reference = click.argument("reference", metavar="REF", required=False)
        texts = (reference, click.argument("systems", metavar=systems, nargs=-1))
    decorate = all_of(texts, *groups, output)
    return lambda function: click.command(place.rpartition(" ")[2], cls=Command, place=place, **attributes)(
        decorate(function)
    )


def table_option(names: Sequence[str] = (), default: str = "the main one") -> Decorator:
    """``--table``, for results with these tables, the main one first, or for results that have their own."""
    what, kind = "The table to write as CSV", None
    if names:
        kind, what = Name("table", names), f"{what}: {either(names)}"
        default = f"with -o FILE.csv all, as FILE.{names[0]}.csv and so on; {names[0]} on standard output"
    return option("--table", type=kind, metavar="NAME", help=f"{what}.  [default: {default}]")


def table_options(names: Sequence[str] = ()) -> tuple[Decorator, ...]:
    """``--table`` and ``--paper``."""
    return (table_option(names), *declared_options(Display, ["paper"]))


def full_option(also: str) -> Decorator:
    """``--full``, for results whose text is a short form, which also shows the rest."""
    return option("--full", is_flag=True, help=f"Show the whole report as text. It also has {also}.")
