"""The options of ``reshuffle study``: those that a study declares, its input, and its output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from ... import types
from ...options.declare import Options
from ...options.files import Unstratified
from ..command import option
from ..declared import Decorator, declared_options
from ..options import COUNTS, EXECUTOR, METRICS, all_of, output_options

ARGUMENTS = (
    (
        "REF, SYS",
        "As for 'reshuffle compare': UTF-8 text with one segment per line, mteval, tables (FILE#NAME), JSON lines or "
        "parses; - is standard input.",
    ),
    *COUNTS,
)

TABLE = (option("Output", "--table", metavar="NAME", help="With csv: the table to write.  [default: the first]"),)


def study_options(
    record: type[Options], *others: Sequence[Decorator], systems: str = "SYS SYS..."
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a study: those of its record, ``others``, input, metrics and output.

    ``systems`` stands for the outputs in the usage.
    """
    outputs = click.argument("systems", metavar=systems, nargs=-1)
    reference = click.argument("reference", metavar="REF", required=False)
    output = output_options(get_args(types.Format), "text")
    decorate = all_of(
        declared_options(Unstratified), METRICS, declared_options(record), *others, (EXECUTOR,), TABLE, output
    )

    def options(command: Callable[..., Any]) -> Callable[..., Any]:
        return reference(outputs(decorate(command)))

    return options
