"""``reshuffle rerank``: the entries that weights choose."""

from __future__ import annotations

from typing import Any

import click

from ..command import option
from ..options import all_of
from ..params import Size

EPILOG = """\b
Examples:
  reshuffle rerank test.nbest.gz tuned/weights.1 -o test.out
  reshuffle rerank test.nbest.gz weights.json --sources test.src | reshuffle score test.ref -
"""


@click.command("rerank", epilog=EPILOG)
@click.argument("lists", metavar="NBEST")
@click.argument("weights", metavar="WEIGHTS")
@all_of(
    (
        option("Input", "--sources", metavar="FILE",
               help="The source of each sentence, for weights of the templates phrase and words."),
        option("Input", "--first-id", type=int, default=0, show_default=True, metavar="N",
               help="The id of the first sentence, which is that of the first line written."),
        option("Input", "--max-input", type=Size(), default="4GiB", show_default=True, metavar="SIZE",
               help="Largest size of a compressed file after decompression."),
        option("Output", "-o", "--output", metavar="FILE",
               help="Write the chosen entries to FILE; - is standard output."),
    )
)  # fmt: skip
def rerank_command(lists: str, weights: str, **options: Any) -> None:
    """Choose the best entry of each k-best list.

    WEIGHTS is a file that 'reshuffle tune --save' wrote, or any other file of weights: lines 'name value' or 'name=
    value ...', JSON, moses.ini or init.opt. Features that are made from texts, such as 'ngram:2=of the', are made
    again. Writes one line for each sentence; of entries with equal scores the first.
    """
    from .reranking import run_rerank

    run_rerank(lists, weights, **options)
