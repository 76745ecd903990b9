"""The options of ``compare`` and ``score``, in the groups and the order of their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from .. import types
from ..errors import either
from ..options.comparisons import CompareSets, Score
from ..options.declare import options_of
from ..options.display import ComparisonDisplay, Display
from ..options.files import FlipFiles, HumanFiles, SetFiles, Sets, WatchFiles
from ..options.flips import FlipOptions
from ..options.human import HumanOptions
from ..options.watch import WatchOptions
from .command import option
from .declared import declared_options
from .params import ExecutorName, Metric, Name, number

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# The options that the short help of most commands shows, beside their own.
COMMON = ("references", "scores", "metrics", "n_resamples", "seed", "outputs", "fmt")

ARGUMENTS = (
    (
        "REF, SYS",
        "UTF-8 text with one segment per line, mteval (.sgm, .xml), tables (FILE#NAME), JSON lines (.jsonl), parses "
        "(.conllu) or transcripts with ids (.trn), also compressed by gzip, bzip2 or xz; - is standard input. "
        "FILE#NAME is a column of a table, a key of JSON lines, or a system or reference of an mteval file. A folder "
        "among SYS stands for the files in it, and an mteval file with several systems for all of them.",
    ),
)
COUNTS = (
    (
        "COUNTS [SYS...]",
        "Instead of REF and SYS: counts (.npz, .npy) of 'reshuffle count', and the names of systems in them.  "
        "[default: all]",
    ),
)


def any_of(names: object) -> str:
    """The names of a Literal, for a help text."""
    return either(get_args(names))


def file_options(record: type[SetFiles]) -> list[Decorator]:
    """The options of the files of a test set, in the same order for all records."""
    return declared_options(record, list(options_of(SetFiles)))


def metrics_option(default: str, kind: Metric | None = None) -> tuple[Decorator, ...]:
    """``-m`` of a command that takes several metrics, of the type ``kind``."""
    return (
        option("Metrics", "-m", "--metric", "--metrics", "metrics", multiple=True, type=kind or Metric(),
               metavar="NAME...",
               help=f"{any_of(types.MetricName)}. Several may follow one -m, up to a word that is no metric (./ter is "
               "a file). Options follow a name (bleu:tokenize=intl,lowercase) or are flags: see 'reshuffle explain "
               f"NAME'.  [default: {default}]"),
    )  # fmt: skip


METRICS = metrics_option("bleu")


THREADS = option("Resampling", "--threads", type=number(int), metavar="N", help="Threads to use.  [default: all cores]")


def executor_option(group: str) -> Decorator:
    """``--executor``, in a group of options."""
    return option(
        group,
        "--executor",
        type=ExecutorName(),
        metavar="NAME",
        help="threads, processes, or dask://HOST:PORT (a Dask cluster).  [default: threads]",
    )


EXECUTOR = executor_option("Resampling")


def output_options(formats: Sequence[str], default: str, tables: Sequence[str] = ()) -> tuple[Decorator, ...]:
    """``-o`` and ``--format``. ``tables`` are those that CSV has a file for each of."""
    *first, last = formats
    csv = f" ({', '.join(f'FILE.{table}.csv' for table in tables)})" if tables else ""
    return (
        option("Output", "-o", "--output", "outputs", metavar="FILE", multiple=True,
               help="Write the report to FILE; - is standard output. Repeatable."),
        option("Output", "--format", "fmt", type=Name("format", formats), metavar="NAME",
               help=f"{', '.join(first)} or {last}{csv}.  [default: by the ending of FILE; without one, {default}]"),
    )  # fmt: skip


SEGMENTS = (
    option(
        "Output",
        "--segments",
        is_flag=True,
        help=f"Write the score of every segment (with --docs, of every document), as {any_of(types.SegmentFormat)}.",
    ),
)


def all_of(*groups: Sequence[Decorator]) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed([decorator for group in groups for decorator in group]):
            command = decorator(command)
        return command

    return decorate


def with_texts(systems: str, *groups: Sequence[Decorator]) -> Decorator:
    """REF and SYS, and groups of options. ``systems`` stands for SYS in the usage."""
    reference = click.argument("reference", metavar="REF", required=False)
    outputs = click.argument("systems", metavar=systems, nargs=-1)
    decorate = all_of(*groups)
    return lambda command: reference(outputs(decorate(command)))


compare_options = with_texts(
    "SYS SYS...",
    file_options(SetFiles),
    declared_options(Sets),
    METRICS,
    declared_options(CompareSets),
    (EXECUTOR,),
    declared_options(ComparisonDisplay),
    output_options(get_args(types.Format), "text", get_args(types.Table)),
)
score_options = with_texts(
    "SYS...",
    file_options(SetFiles),
    METRICS,
    declared_options(Score),
    SEGMENTS,
    declared_options(Display),
    output_options((*get_args(types.Format), *get_args(types.SegmentFormat)), "text; tsv with --segments"),
)


def table_option(names: Sequence[str] = (), default: str = "the main one") -> Decorator:
    """``--table``, for results with these tables, the main one first, or for results that have their own."""
    what, kind = "The table to write as CSV", None
    if names:
        kind, what = Name("table", names), f"{what}: {either(names)}"
        default = f"with -o FILE.csv all, as FILE.{names[0]}.csv and so on; {names[0]} on standard output"
    return option("Output", "--table", type=kind, metavar="NAME", help=f"{what}.  [default: {default}]")


def table_options(names: Sequence[str] = ()) -> tuple[Decorator, ...]:
    """``--table`` and ``--paper``."""
    return (table_option(names), *declared_options(Display, ["paper"]))


def full_option(also: str) -> Decorator:
    """``--full``, for results whose text is a short form, which also shows the rest."""
    return option("Output", "--full", is_flag=True, help=f"As text: also {also}.")


watch_options = with_texts(
    "BASELINE SYS...",
    file_options(WatchFiles),
    METRICS,
    declared_options(WatchOptions),
    table_options(),
    output_options(get_args(types.Format), "text"),
)
human_options = with_texts(
    "BASELINE SYS...",
    file_options(HumanFiles),
    metrics_option("none"),
    declared_options(HumanOptions),
    table_options(),
    output_options(get_args(types.Format), "text"),
)
flip_options = with_texts(
    "BASELINE SYS",
    file_options(FlipFiles),
    METRICS,
    declared_options(FlipOptions),
    output_options(get_args(types.FlipFormat), "text"),
)
