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
from ..groups import CommandGroup
from ..options import report_command, table_options
from .options import ARGUMENTS, COMMON, INPUT, SAVE, SENTENCE_METRIC, SOURCES, metric_option, replications
from .rerank import rerank_command

__all__ = ["COMMANDS", "rerank_command", "tune_group"]

LISTS = "--nbest dev.nbest --refs dev.ref"
TEST = "--test-set test.nbest test.ref"
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "mert": (
        f"reshuffle tune mert {LISTS} {TEST} --replications 9",
        f"reshuffle tune mert {LISTS} --init init.opt -m ter --save tuned",
        f"reshuffle tune mert {LISTS} --rounds 5 --decoder 'run {{weights}} {{nbest}}'",
        "reshuffle tune mert --simulate large.nbest --refs dev.ref --init init.opt --rounds 5",
    ),
    "kbmira": (
        f"reshuffle tune kbmira {LISTS} {TEST} --replications 9",
        f"reshuffle tune kbmira {LISTS} --sentence-metric sentbleu:smoothing=3",
    ),
    "pro": (f"reshuffle tune pro {LISTS} {TEST} --smoothing 2",),
    "xbleu": (
        f"reshuffle tune xbleu {LISTS} --smoothing 7 --replications 5",
        f"reshuffle tune xbleu {LISTS} --method lbfgs --format json",
    ),
    "l1": (
        f"reshuffle tune l1 {LISTS} --templates ngram:2 ngram:3 --save reranker",
        f"reshuffle tune l1 {LISTS} --templates ngram:2 --replications 6",
    ),
}
ABOUT: Mapping[str, str] = {
    "mert": "Finds weights whose chosen entries have the best corpus score, by exact line searches (Och 2003). "
    "Replications differ in their random restarts and directions.",
    "kbmira": "Moves the weights so that the hope, an entry with a high model score and a high BLEU, scores above the "
    "fear, one with a high model score and a low BLEU (Cherry & Foster 2012). BLEU of an entry is computed together "
    "with a background, the decaying counts of earlier sentences. Replications differ in the order of the sentences.",
    "pro": "Learns which of two entries is better by a logistic regression (Hopkins & May 2011). Replications differ "
    "in the sampled pairs.",
    "xbleu": "Maximises the expected sentence BLEU of a log-linear model (Chen & Cherry 2014). Replications differ in "
    "the order of the sentences.",
    "l1": "Trains a log-linear model towards the entries closest to the references, adding features step by step "
    "(Riezler & Maxwell 2005). Nothing is random: replications are variants with redundant features.",
}


def _command(optimizer: Optimizer) -> click.Command:
    """The command of an optimizer."""
    sentences = (SENTENCE_METRIC[optimizer.optimises],) if optimizer.optimises in SENTENCE_METRIC else ()
    with_sources = SOURCES if "templates" in options_of(optimizer.options) else ()
    files = declared_options(TuneFiles, (*INPUT, *with_sources))

    @report_command(
        optimizer.name,
        files,
        (metric_option("The corpus metric", "bleu"), *sentences),
        declared_options(optimizer.options),
        replications(optimizer),
        declared_options(Decoding),
        (SAVE, *table_options(get_args(types.TuneTable))),
        examples=EXAMPLES[optimizer.name],
        arguments=ARGUMENTS,
        common=COMMON,
        instead="--nbest LISTS --refs REF and --test-set LISTS REF",
        help=f"{optimizer.about}\n\n{ABOUT[optimizer.name]}",
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
    epilog="""\b
Examples:
  reshuffle tune mert --nbest dev.nbest.gz --refs dev.ref --init init.opt --replications 9
  reshuffle tune kbmira --nbest dev.nbest.gz --refs dev.ref --save mira
  reshuffle tune OPTIMIZER --help""",
)
def tune_group() -> None:
    """Tune weights of features on k-best lists.

    Weights give each entry a model score, and the best entry of each list is the output. Replications differ only in
    the seed (those of l1, which has none, in redundant features), so their spread shows how large a difference the
    optimizer alone can make.
    """
