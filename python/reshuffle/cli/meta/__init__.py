"""``reshuffle meta``: do metrics agree with people?

To add a command, write a function that is decorated with ``@report_command("NAME", …)`` of
``cli/shared.py``, and add a line to :data:`COMMANDS`. The options of the function that it calls are declared in
:mod:`reshuffle.options.meta`, those of files in :mod:`reshuffle.options.meta_files`, and ``inputs.py`` reads the files.
Import what computes in the body: ``--help`` must not wait for numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_args

import click

from ... import types
from ...errors import InputError, quoted, unknown_name
from ...options.declare import options_of
from ...options.meta import Evaluation, Segments, Systems, TuneSmoothing
from ...options.meta_files import MetaFiles
from ..declared import Decorator, declared_options
from ..help import HelpGroup
from ..params import Metric, Parsed, option
from ..shared import metrics_option, report_command, table_options


def file_options(but: Collection[str] = ()) -> list[Decorator]:
    """The options of files, but some."""
    return declared_options(MetaFiles, [name for name in options_of(MetaFiles) if name not in but])


# What to write for metrics of other programs.
EXTERNAL = "is not computed here: read its scores from a file: --metric-scores {name}=FILE"
# What to write instead of words that belong to no option.
INSTEAD = "--refs REF --systems SYS SYS and --judgments FILE or --human FILE"


def _command(name: str, record: type[Evaluation], default: str, tables: tuple[str, ...]) -> click.Command:
    """The command that calls the function of :mod:`reshuffle.meta` with this name."""

    @report_command(
        f"meta {name}",
        file_options(),
        metrics_option(f"{default}; none without texts", Metric(EXTERNAL)),
        declared_options(record),
        table_options(tables),
        instead=INSTEAD,
    )
    def command(**options: Any) -> None:
        from ... import meta
        from .running import run_meta

        run_meta(getattr(meta, name), record, options, default, tables)

    return command


segments_command = _command(
    "segments", Segments, "sentbleu", tuple(name for name in get_args(types.MetaTable) if name != "systems")
)
systems_command = _command("systems", Systems, "bleu", get_args(types.MetaTable))

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
        "--grid",
        "grids",
        group="Tuning",
        multiple=True,
        type=Parsed("grid", _read_grid, "a grid", lambda word: word.partition("=")[0] in TUNED and "=" in word),
        metavar="SMOOTHING=VALUES...",
        help="The smoothings to tune, and the values to try (as in 1=0.05,0.1 4=1,5,10): epsilon of smoothing 1, K of "
        "4 and 7, alpha of 6.  [default: all four, 11 values each]",
    ),
)


@report_command(
    "meta tune-smoothing",
    file_options(but=NOT_FOR_VOTES),
    GRID,
    declared_options(TuneSmoothing),
    instead=INSTEAD,
)
def tune_smoothing_command(**options: Any) -> None:
    from ...meta import tune_smoothing
    from .running import metrics_of_grids, run_meta

    options |= {"table": None, "metrics": metrics_of_grids(options)}
    run_meta(tune_smoothing, TuneSmoothing, options, "sentbleu", ())


COMMANDS: Mapping[str, click.Command] = {
    "segments": segments_command,
    "systems": systems_command,
    "tune-smoothing": tune_smoothing_command,
}


meta_command = HelpGroup("meta", kind="command of 'reshuffle meta'", sections={"Commands": COMMANDS})
