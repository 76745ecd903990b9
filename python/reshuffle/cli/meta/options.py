"""What the commands of ``reshuffle meta`` share beside the options that are declared."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_args

import click

from ... import types
from ...errors import InputError, either, quoted
from ...options.declare import options_of
from ...options.meta_files import MetaFiles
from ..command import option
from ..declared import declared_options
from ..habits import EXTERNAL
from ..options import Decorator, any_of, output_options
from ..params import Metric, Name

ARGUMENTS = (
    (
        "FILE",
        "Outputs and references: UTF-8 text with one segment per line. Or mteval, tables (FILE#NAME) or JSON lines, as "
        "for 'reshuffle compare'; - is standard input. Counts of 'reshuffle count' (.npz, .npy) can stand in place of "
        "--refs; --systems are then names in them.",
    ),
)


class OutputMetric(Metric):
    """A metric on texts. The scores of others are read by ``--metric-scores``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.lower() in EXTERNAL:
            raise InputError(
                f"{quoted(value)} is not computed here: read its scores from a file: --metric-scores {value}=FILE"
            )
        return super().convert(value, param, ctx)


def file_options(but: Collection[str] = ()) -> list[Decorator]:
    """The options of files, but some."""
    return declared_options(MetaFiles, [name for name in options_of(MetaFiles) if name not in but])


def metrics_option(default: str) -> tuple[Decorator, ...]:
    """``-m``, whose default is that of the level."""
    return (
        option(
            "Metrics",
            "-m",
            "--metric",
            "--metrics",
            "metrics",
            multiple=True,
            type=OutputMetric(),
            metavar="NAME...",
            help=f"{any_of(types.MetricName)}. Several names may follow one -m. Options follow a name, as in "
            "sentbleu:smoothing=7, or are flags for all metrics that have them; 'reshuffle explain NAME' lists them.  "
            f"[default: {default}, if there are texts]",
        ),
    )


def chosen_table(names: tuple[str, ...]) -> tuple[Decorator, ...]:
    """``--table``, with the tables of a command."""
    return (
        option(
            "Output",
            "--table",
            type=Name("table", names),
            metavar="NAME",
            help=f"The table to write as CSV: {either(names)}.  [default: with -o FILE.csv all, as FILE.results.csv "
            "and so on; results on standard output]",
        ),
    )


output = output_options(get_args(types.Format), "text")

# What the short help of all commands shows.
COMMON = (
    "judgments", "human", "references", "systems", "score_files", "manifest", "metrics", "test", "outputs", "fmt",
)  # fmt: skip
