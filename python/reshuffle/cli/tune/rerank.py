"""``reshuffle rerank``: the entries that weights choose."""

from __future__ import annotations

from typing import Any

import click

from ...errors import InputError
from ...options.list_files import TuneFiles
from ..command import option
from ..declared import declared_options, given_values
from ..examples import WithExamples
from ..options import all_of


@click.command("rerank", cls=WithExamples)
@click.argument("lists", metavar="NBEST")
@click.argument("weights", metavar="WEIGHTS")
@all_of(
    declared_options(TuneFiles, ("sources", "first_id", "max_input")),
    (
        option(
            "Output", "-o", "--output", metavar="FILE", help="Write the chosen entries to FILE; - is standard output."
        ),
    ),
)
def rerank_command(lists: str, weights: str, output: str | None, **options: Any) -> None:
    """Choose the best entry of each k-best list.

    WEIGHTS is a file that 'reshuffle tune --save' wrote, or any other file of weights: lines 'name value' or 'name=
    value ...', JSON, moses.ini or init.opt. Features that are made from texts, such as 'ngram:2=of the', are made
    again. Writes one line for each sentence; of entries with equal scores the first.
    """
    from ...tune import LinearModel, read_nbest
    from ...tune.weights import read_named_weights
    from .files import lines_destination, lines_of

    files = TuneFiles(**given_values(TuneFiles, options))
    first_id, max_input = files.first_id, files.max_input
    inputs = [lists, weights, *([] if files.sources is None else [files.sources])]
    with lines_destination(output, inputs) as write:
        read = read_nbest(lists, first_id=first_id, max_input=max_input)
        if read.ids[0] < first_id:
            raise InputError(
                f"{read.source}: the id {read.ids[0]} is below that of the first sentence (--first-id {first_id})"
            )
        n = int(read.ids[-1]) - first_id + 1
        read.check_references(n, "the output lines")
        model = LinearModel(read_named_weights(weights, read.names, max_input=max_input))
        own = lines_of(files.sources, n, None, max_input)
        write(read.hypotheses(model.choose(read, own)))
