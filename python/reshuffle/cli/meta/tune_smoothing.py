"""``reshuffle meta tune-smoothing``."""

from __future__ import annotations

from typing import Any

from ...errors import InputError, quoted, unknown_name
from ...options.meta import TuneSmoothing
from ..command import option
from ..declared import declared_options
from ..options import EXECUTOR, report_command
from ..params import Parsed
from .options import ARGUMENTS, COMMON, INSTEAD, file_options

# The options of files that are for human scores, or for metrics from other programs.
NOT_FOR_VOTES = ("human", "human_format", "columns", "test_set", "score_files", "lower_is_better")

# The smoothings that have a parameter, and what it is called.
TUNED = {"1": "epsilon", "4": "K", "6": "alpha", "7": "K"}


def _read_grid(text: str) -> tuple[str, tuple[float, ...]]:
    """A smoothing and the values to try: ``4=1,5,10``."""
    smoothing, equals, numbers = text.partition("=")
    if not equals:
        raise InputError(f"--grid: expected SMOOTHING=VALUE,VALUE such as 4=1,5,10, got {quoted(text)}")
    if smoothing not in TUNED:
        raise unknown_name("smoothing with a parameter", smoothing, list(TUNED))
    try:
        return smoothing, tuple(map(float, numbers.split(",")))
    except ValueError:
        raise InputError(f"--grid {text}: expected numbers separated by commas, got {quoted(numbers)}") from None


GRID = (
    option(
        "Tuning",
        "--grid",
        "grids",
        multiple=True,
        type=Parsed("grid", _read_grid, "a grid", lambda word: word.partition("=")[0] in TUNED and "=" in word),
        metavar="SMOOTHING=VALUES...",
        help="The smoothings to tune and the values to try, as in 1=0.05,0.1 4=1,5,10: epsilon of smoothing 1, K of 4 "
        "and 7, alpha of 6.  [default: all four, 11 values each]",
    ),
)


@report_command(
    "meta tune-smoothing",
    file_options(but=NOT_FOR_VOTES),
    GRID,
    declared_options(TuneSmoothing),
    (EXECUTOR,),
    arguments=ARGUMENTS,
    common=(*COMMON, "grids"),
    instead=INSTEAD,
)
def tune_smoothing_command(**options: Any) -> None:
    """Which epsilon, K and alpha of sentence BLEU's smoothings agree best with people?

    Kendall's tau on votes for every value of a grid (Chen & Cherry 2014); for each smoothing the best value, on average
    over the test sets; and tests of the other values against it. Options of sentbleu, such as --lowercase, may follow.
    """
    from ...meta import tune_smoothing
    from .running import run_meta
    from .tuning import metrics_of_grids

    options |= {"table": None, "metrics": metrics_of_grids(options)}
    run_meta(tune_smoothing, TuneSmoothing, options, "sentbleu", ())
