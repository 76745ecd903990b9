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
from ...errors import InputError
from ...options.declare import options_of
from ...options.list_files import Decoding, TuneFiles
from ...tune.options import OPTIMIZERS, Optimizer
from ..declared import declared_options, taken_options
from ..help import HelpGroup, WithHelp
from ..params import option
from ..shared import all_of, report_command, table_options
from .options import INPUT, SAVE, SENTENCE_METRIC, SOURCES, metric_option, replications

__all__ = ["COMMANDS", "rerank_command", "tune_command"]


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
        instead="--nbest LISTS --refs REF and --test-set LISTS REF",
        help=optimizer.about,
    )
    def command(**options: Any) -> None:
        from .running import run_tune

        run_tune(optimizer, options)

    return command


COMMANDS: Mapping[str, click.Command] = {name: _command(optimizer) for name, optimizer in OPTIMIZERS.items()}


tune_command = HelpGroup("tune", kind="optimizer", sections={"Optimizers": COMMANDS})


@click.command("rerank", cls=WithHelp)
@click.argument("lists", metavar="NBEST")
@click.argument("weights", metavar="WEIGHTS")
@all_of(
    declared_options(TuneFiles, ("sources", "first_id", "max_input")),
    (option("-o", "--output", metavar="FILE", help="Write the chosen entries to FILE; - is standard output."),),
)
def rerank_command(lists: str, weights: str, output: str | None, **options: Any) -> None:
    from ...tune import LinearModel
    from ...tune.weights import read_named_weights
    from .files import InputFiles, lines_destination

    sources = options.pop("sources")
    files = taken_options(InputFiles, options)
    first_id = files.first_id
    inputs = [lists, weights, *([] if sources is None else [sources])]
    with lines_destination(output, inputs) as write:
        read = files.read_lists([lists])
        if read.ids[0] < first_id:
            raise InputError(
                f"{read.source}: the id {read.ids[0]} is below that of the first sentence (--first-id {first_id})"
            )
        n = int(read.ids[-1]) - first_id + 1
        read.check_references(n, "the output lines")
        model = LinearModel(read_named_weights(weights, read.names, max_input=files.max_input))
        write(read.hypotheses(model.choose(read, files.lines_of(sources, n))))
