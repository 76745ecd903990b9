"""The options of ``reshuffle tune``: those of all optimizers, and those made from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from ... import types
from ...errors import either
from ...options.declare import options_of
from ...options.list_files import Decoding, TuneFiles
from ...options.tuning import Tune, TuneHere
from ...tune.options import Optimizer
from ..declared import Decorator, declared_options
from ..params import Metric, option
from ..shared import metric_names

# The metrics that read texts.
OF_TEXTS = [name for name in get_args(types.MetricName) if name not in ("depf", "sari")]


# The options of files beside the sources, which only features of templates need.
SOURCES = ("sources", "dev_sources", "test_sources")
INPUT = [name for name in options_of(TuneFiles) if name not in (*SOURCES, *options_of(Decoding))]


# A metric that counts texts: scores of another program cannot be counted for each entry.
COUNTED = Metric(f"does not sum counts of texts, which lists need: choose among {either(OF_TEXTS)}")


def metric_option(about: str, default: str) -> Decorator:
    """``-m`` of a command that has one metric."""
    return option("-m", "--metric", "metric", group="Metrics", type=COUNTED, metavar="NAME",
                  help=f"{about}: {metric_names(OF_TEXTS)}. Options follow the name, as in bleu:tokenize=none, or are "
                  f"flags, as in --tokenize none.  [default: {default}]")  # fmt: skip


_BY_DEFAULT = "sentbleu for bleu and nist, else that of -m; flags such as --smoothing 3 apply to it, too"
SENTENCE_METRIC: Mapping[str, Decorator] = {
    kind: option(
        "--sentence-metric",
        group="Metrics",
        type=COUNTED,
        metavar="NAME",
        help=f"{about} as in sentbleu:smoothing=3.  [default: {default}]",
    )
    for kind, about, default in (
        ("sentence", "The metric of single entries,", _BY_DEFAULT),
        (
            "background",
            "The score of single entries, instead of BLEU together with the background,",
            "BLEU with the background for bleu; sentbleu for nist, else that of -m",
        ),
    )
}


def replications(optimizer: Optimizer) -> Sequence[Decorator]:
    """The options of the runs and rounds. What draws no random numbers reads texts."""
    return declared_options(TuneHere if optimizer.seeded is None else Tune, options_of(Tune))


SAVE = option(
    "--save",
    metavar="DIR",
    help="Write weights (weights.1 ...) and chosen entries (dev.1 ..., test.1 ...) of each run to DIR: a new or empty "
    "folder, with outputs for 'reshuffle runs --system NAME DIR/test.*'.",
)
