"""``reshuffle oracle`` and ``reshuffle mbr``: what the entries of k-best lists are worth, and which agree best.

``running.py`` reads the files and computes.
"""

from __future__ import annotations

from typing import Any, get_args

from ... import types
from ...options.list_files import ListFiles
from ...options.tuning import Mbr, Oracle
from ..declared import declared_options
from ..params import option
from ..shared import report_command, table_options
from ..tune.options import COUNTED, metric_option

__all__ = ["mbr_command", "oracle_command"]


INSTEAD = "--nbest NBEST --refs REF"


@report_command(
    "oracle",
    declared_options(ListFiles),
    (
        metric_option("The corpus metric", "bleu"),
        *declared_options(Oracle),
        option(
            "--save",
            metavar="DIR",
            help="Write the outputs of each choice (topbest, sentence-oracle, oracle, sentence-worst, worst) to DIR: a "
            "new or empty folder.",
        ),
        *table_options(get_args(types.OracleTable)),
    ),
    instead=INSTEAD,
)
def oracle_command(**options: Any) -> None:
    from .running import run_oracle

    run_oracle(options)


@report_command(
    "mbr",
    declared_options(ListFiles),
    (
        *declared_options(Mbr, ("scale", "exclude_self")),
        metric_option("The utility (the metric that scores entries against each other)", "chrf"),
        option("--evaluate", group="Metrics", multiple=True, type=COUNTED, metavar="NAME...",
               help="With --refs: the metrics that score the outputs.  [default: that of -m]"),
        *declared_options(Mbr, ("workers",)),
        option("--save", metavar="FILE",
               help="Write the chosen entries to FILE: a line for each sentence."),
        *table_options(get_args(types.MbrTable)),
    ),
    instead=INSTEAD,
)  # fmt: skip
def mbr_command(**options: Any) -> None:
    from .running import run_mbr

    run_mbr(options)
