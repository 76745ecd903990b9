"""``reshuffle tune`` and ``reshuffle rerank``: weights of features on k-best lists.

The commands of the group are made from :data:`reshuffle.tune.options.OPTIMIZERS`: an optimizer that is added there has
a command, with a flag for each option. :mod:`reshuffle.options.list_files` declares those of files, ``options.py`` has
the others, and ``running.py`` reads the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import click

from ... import types
from ...options.declare import options_of
from ...options.list_files import Decoding, TuneFiles
from ...tune.options import OPTIMIZERS, Optimizer
from ..declared import declared_options
from ..examples import about
from ..groups import CommandGroup
from ..options import report_command, table_options
from .options import ARGUMENTS, COMMON, INPUT, SAVE, SENTENCE_METRIC, SOURCES, metric_option, replications
from .rerank import rerank_command

__all__ = ["COMMANDS", "rerank_command", "tune_group"]


def _command(optimizer: Optimizer) -> click.Command:
    """The command of an optimizer."""
    place = f"tune {optimizer.name}"
    sentences = (SENTENCE_METRIC[optimizer.optimizes],) if optimizer.optimizes in SENTENCE_METRIC else ()
    with_sources = SOURCES if "templates" in options_of(optimizer.options) else ()
    files = declared_options(TuneFiles, (*INPUT, *with_sources))

    @report_command(
        place,
        files,
        (metric_option("The corpus metric", "bleu"), *sentences),
        declared_options(optimizer.options),
        replications(optimizer),
        declared_options(Decoding),
        (SAVE, *table_options(get_args(types.TuneTable))),
        arguments=ARGUMENTS,
        common=COMMON,
        instead="--nbest LISTS --refs REF and --test-set LISTS REF",
        help=f"{optimizer.about}\n\n{about(place)}",
    )
    def command(**options: Any) -> None:
        from .running import run_tune

        run_tune(optimizer, options)

    return command


COMMANDS: Mapping[str, click.Command] = {name: _command(optimizer) for name, optimizer in OPTIMIZERS.items()}


@click.group(
    "tune",
    cls=CommandGroup,
    kind="optimizer",
    heading="Optimizers",
    commands=COMMANDS,
)
def tune_group() -> None:
    """Tune weights of features on k-best lists.

    Weights give each entry a model score, and the best entry of each list is the output. Replications differ only in
    the seed (those of l1, which has none, in redundant features), so their spread shows how large a difference the
    optimizer alone can make.
    """
