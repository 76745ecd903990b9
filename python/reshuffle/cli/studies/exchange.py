"""``reshuffle study exchange``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...errors import InputError
from ..command import Command, option
from ..params import Name, NameList, NumberList
from .options import SIZES, study_options

EXAMPLES = (
    "reshuffle study exchange",
    "reshuffle study exchange --exchange segment cell pooled multeval --runs 3 5 --correlation 0.54 --run-sd 0 0.77",
    "reshuffle study exchange ref.txt run*.txt --runs 3 --sizes 500 -m bleu -o exchange.json",
)
ARGUMENTS = (
    (
        "REF, RUN",
        "The reference, and the outputs of runs of one system, in the formats of 'reshuffle compare'. Without them, "
        "scores are simulated.",
    ),
)

UNITS = (
    option(
        "Study",
        "--exchange",
        "exchange",
        multiple=True,
        type=NameList("exchange", ["all", *get_args(types.Exchange)]),
        metavar="NAME...",
        help="What tests exchange: all (except multeval), or names of --exchange of 'reshuffle runs'.  [default: all]",
    ),
    option(
        "Study",
        "--runs",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="Runs of each configuration.  [default: 3 5 10; with files, half of them]",
    ),
    option(
        "Study",
        "--statistic",
        type=Name("statistic", get_args(types.RunStatistic)),
        default="pooled",
        show_default=True,
        metavar="NAME",
        help="pooled (the score of all runs' outputs as one) or mean (of the runs' scores).",
    ),
    option(
        "Study",
        "--alphas",
        "--alpha",
        "alphas",
        multiple=True,
        type=NumberList(float),
        metavar="LEVEL...",
        help="Significance levels.  [default: 0.05]",
    ),
)
MODEL = (
    option(
        "Study",
        "--run-sd",
        "run_sd",
        multiple=True,
        type=NumberList(float),
        metavar="VALUE...",
        help="Without files: standard deviation between runs, in sampling standard deviations of a run's score.  "
        "[default: 0 0.5 1]",
    ),
    option(
        "Study",
        "--correlation",
        "correlation",
        multiple=True,
        type=NumberList(float),
        metavar="VALUE...",
        help="Without files: correlation between the segment differences of two pairs of runs.  [default: 0 0.5]",
    ),
)


@click.command("exchange", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(UNITS, MODEL, SIZES, pairs=False)
def exchange_command(**options: Any) -> None:
    """How often tests of optimizer runs reject if configurations do not differ.

    Scores of runs are simulated from a model, or two sets of runs of one real system are compared. A valid test rejects
    in at most a share alpha of the simulations, whatever the variance between runs.
    """
    from dataclasses import replace

    from ...study.exchange import EXCHANGE_ALPHAS, ExchangeSettings, exchange_of, model_of
    from .running import flattened, run_study, run_without_data

    options["alphas"] = options["alphas"] or (EXCHANGE_ALPHAS,)
    runs, run_sd, correlation = (flattened(options.pop(name)) for name in ("runs", "run_sd", "correlation"))
    own = ExchangeSettings(flattened(options.pop("exchange")) or ("all",), statistic=options.pop("statistic"))
    own = own if runs is None else replace(own, runs=runs)
    if options["reference"] is None and not options["scores"]:
        own = replace(own, run_sd=run_sd or own.run_sd, correlation=correlation or own.correlation)
        used = ("exchange", "runs", "run_sd", "correlation", "statistic")
        run_without_data(options, lambda settings: model_of(settings, own), used)
        return
    for flag, given in (("--run-sd", run_sd), ("--correlation", correlation)):
        if given:
            raise InputError(f"{flag} is for simulated scores: leave out {flag}, or the files")
    run_study(
        options,
        lambda data, units, settings: exchange_of(
            data, units, settings, own if runs else replace(own, runs=(max(1, len(data.names) // 2),))
        ),
    )
