"""``reshuffle rerank``: the entries that weights choose."""

from __future__ import annotations

from typing import Any

import click

from ...options.list_files import TuneFiles
from ..command import option
from ..declared import declared_options, given_values
from ..options import all_of

EPILOG = """\b
Examples:
  reshuffle rerank test.nbest.gz tuned/weights.1 -o test.out
  reshuffle rerank test.nbest.gz weights.json --sources test.src | reshuffle score test.ref -
"""


@click.command("rerank", epilog=EPILOG)
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
    from .reranking import run_rerank

    run_rerank(lists, weights, TuneFiles(**given_values(TuneFiles, options)), output)
