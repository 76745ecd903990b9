"""What the commands of ``reshuffle meta`` share beside the options that are declared."""

from __future__ import annotations

from collections.abc import Collection

from ...options.declare import options_of
from ...options.meta_files import MetaFiles
from ..declared import declared_options
from ..options import TEXTS, Decorator
from ..options import metrics_option as metrics
from ..params import Metric

ARGUMENTS = (
    (
        "FILE",
        f"Outputs and references: {TEXTS} Counts of 'reshuffle count' (.npz, .npy) can stand in place of --refs; "
        "--systems are then names in them.",
    ),
)


def file_options(but: Collection[str] = ()) -> list[Decorator]:
    """The options of files, but some."""
    return declared_options(MetaFiles, [name for name in options_of(MetaFiles) if name not in but])


def metrics_option(default: str) -> tuple[Decorator, ...]:
    """``-m``, whose default is that of the level."""
    external = "is not computed here: read its scores from a file: --metric-scores {name}=FILE"
    return metrics(f"{default}, if there are texts", Metric(external))


# What to write instead of words that belong to no option.
INSTEAD = "--refs REF --systems SYS SYS and --judgments FILE or --human FILE"

# What the short help of all commands shows.
COMMON = (
    "judgments", "human", "references", "systems", "score_files", "manifest", "metrics", "test", "outputs", "fmt",
)  # fmt: skip
