"""``reshuffle runs``: systems with several optimizer runs each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import click

from .. import types
from ..errors import InputError, listed
from .command import Command, option
from .options import (
    ALL_PAIRS,
    ALTERNATIVE,
    EXECUTOR,
    INPUT,
    METRICS,
    adjustment,
    all_of,
    any_of,
    output_options,
    resampling_options,
)
from .params import Name, NameList, flattened

EXAMPLES = (
    "reshuffle runs --refs ref.txt --baseline old.0 old.1 old.2 --system new.0 new.1 new.2",
    "reshuffle runs --refs ref.txt --baseline old.? --system A a.? --system B b.? -m bleu ter --exchange all",
    "reshuffle runs --refs ref1 ref2 --baseline old.? --system new.? --format latex -o table.tex",
    "reshuffle runs --scores COMET --baseline old.?.comet --system new.?.comet -o runs.html",
    "reshuffle runs --refs ref.txt --baseline old.? --system new.? --dev-scores new BLEU 27.1 26.8 27.4",
    "reshuffle runs --manifest runs.toml -o runs.json",
)
ARGUMENTS = (
    (
        "FILE",
        "UTF-8 text with one segment per line, mteval, tables (FILE#NAME), JSON lines or parses, as for 'reshuffle "
        "compare'; - is standard input. With --refs counts.npz ('reshuffle count'), names of systems in it.",
    ),
)

_, _, BY_POSITION, LOWER_IS_BETTER, _, _, _, DOCUMENTS, STRATA, INPUT_FORMAT, MAX_INPUT = INPUT

OUTPUTS = (
    option(
        "Input",
        "--ref",
        "--refs",
        "refs",
        multiple=True,
        greedy=["--refs"],
        metavar="FILE...",
        help="References: several files are several references of each segment.",
    ),
    option(
        "Input",
        "--baseline",
        multiple=True,
        greedy=True,
        metavar="FILE...",
        help="The outputs of the baseline's runs, one FILE per run.",
    ),
    option(
        "Input",
        "--system",
        "systems",
        multiple=True,
        greedy=True,
        joined=True,
        noun="word",
        metavar="[NAME] FILE...",
        help="A system's runs; repeatable. Without NAME, new.0 new.1 are called new.",
    ),
    option(
        "Input",
        "--baseline-name",
        default="baseline",
        show_default=True,
        metavar="NAME",
        help="The name of the baseline in reports.",
    ),
    option(
        "Input",
        "--scores",
        multiple=True,
        greedy=True,
        joined=True,
        metavar="NAME FILE...",
        help="Segment scores of another metric (COMET, human ratings): one FILE per run, named like its output, with a "
        "number per segment, or one for all runs. Without --refs, the FILEs of --baseline and --system have the "
        "scores, and --scores NAME names the metric.",
    ),
    BY_POSITION,
    LOWER_IS_BETTER,
    option(
        "Input",
        "--parses",
        multiple=True,
        greedy=True,
        metavar="FILE...",
        help="CoNLL-U parses of all references and then of the output of each run, for depf.",
    ),
    DOCUMENTS,
    STRATA,
    option(
        "Input",
        "--manifest",
        metavar="FILE",
        help="A JSON or TOML file instead of these options: {'references': FILE, 'systems': {NAME: [FILE, ...], ...}, "
        "'baseline': NAME}, perhaps with dev (references, systems, scores), scores, metrics, documents, strata.",
    ),
    INPUT_FORMAT,
    MAX_INPUT,
)

DEV = (
    option(
        "Development set",
        "--dev-refs",
        multiple=True,
        greedy=True,
        metavar="FILE...",
        help="References of the development set, for the standard deviation of its scores (s_dev).",
    ),
    option(
        "Development set",
        "--dev-baseline",
        multiple=True,
        greedy=True,
        metavar="FILE...",
        help="The outputs of the baseline's runs on it, in the same order as --baseline.",
    ),
    option(
        "Development set",
        "--dev-system",
        "dev_systems",
        multiple=True,
        greedy=True,
        joined=True,
        noun="word",
        metavar="NAME FILE...",
        help="The same for a system.",
    ),
    option(
        "Development set",
        "--dev-scores",
        multiple=True,
        greedy=True,
        joined=True,
        noun="word",
        metavar="SYSTEM METRIC VALUE...",
        help="Without these outputs: the score of each run on the development set.",
    ),
    option(
        "Development set",
        "--median-on",
        type=Name("value of --median-on", get_args(types.RunSet)),
        default="test",
        show_default=True,
        metavar="NAME",
        help="Choose the median run of each system by its score on the test set (test) or development set (dev).",
    ),
    option(
        "Development set",
        "--median-metric",
        metavar="NAME",
        help="The metric whose median run the report recommends for analysis.  [default: the first]",
    ),
)

TEST = (
    option(
        "Test",
        "--exchange",
        "exchange",
        multiple=True,
        type=NameList("value of --exchange", ("auto", *get_args(types.Exchange), "all")),
        metavar="NAME...",
        help=f"What is exchanged between two systems: {any_of(types.Exchange)}; 'reshuffle metrics' describes them. "
        "The first one decides. auto: hierarchical (segment if a system has one run), then tests of other questions. "
        "all: all but multeval.  [default: auto]",
    ),
    option(
        "Test",
        "--statistic",
        type=Name("statistic", get_args(types.RunStatistic)),
        default="pooled",
        show_default=True,
        metavar="NAME",
        help="The difference of the scores of all runs' outputs taken as one (pooled), or of the runs' mean scores "
        "(mean).",
    ),
    ALL_PAIRS,
    ALTERNATIVE,
    adjustment(types.RunAdjustment),
    option(
        "Test",
        "--family",
        type=Name("family", ("metric", "all")),
        default="metric",
        show_default=True,
        metavar="NAME",
        help="Tests that are adjusted together: the pairs under each metric (metric) or under all metrics (all).",
    ),
    option("Test", "--alpha", type=float, metavar="LEVEL", help="Significance level.  [default: 1 - confidence]"),
    option(
        "Test",
        "--confidence",
        "confidence_level",
        type=float,
        metavar="LEVEL",
        help="Confidence level of the intervals of differences.  [default: 0.95]",
    ),
)

TABLE = (
    option(
        "Output",
        "--table",
        type=Name("table", get_args(types.RunTable)),
        metavar="NAME",
        help=f"The table to write as CSV: {any_of(types.RunTable)}.  [default: with -o FILE.csv all, as "
        "FILE.systems.csv and so on; systems on standard output]",
    ),
)


@click.command("runs", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS, context_settings={"allow_extra_args": True})
@all_of(
    OUTPUTS,
    METRICS,
    DEV,
    TEST,
    resampling_options("Shuffles and draws"),
    (EXECUTOR,),
    TABLE,
    output_options(get_args(types.Format), "text"),
)
@click.pass_context
def runs_command(context: click.Context, /, **options: Any) -> None:
    """Compare systems with several optimizer runs each.

    Shows how much scores vary between runs (s_test, s_dev) and test sets (s_sel), median runs, and differences from the
    baseline. By default, p is the probability of a difference at least this large if new runs of both systems, on new
    segments, had the same expected score.
    """
    from ..runs import RunSettings, compared_runs
    from ..settings import Levels
    from .executors import chosen_executor
    from .job import FLAGS
    from .output import chosen_output, destination
    from .progress import progress_bar
    from .run_jobs import RunJob

    if context.args:
        raise InputError(
            f"{listed(context.args)}: expected a file after an option: write --refs REF, --baseline FILE FILE and "
            "--system NAME FILE FILE"
        )
    levels = Levels.for_tests(None, options.pop("confidence_level"), options.pop("alpha"), names=FLAGS)
    exchange = flattened(options.pop("exchange")) or ("auto",)
    reports, layout = chosen_output(options)
    executor = options.pop("executor")
    job = RunJob.from_options(options)
    settings = RunSettings(
        exchange=exchange[0] if len(exchange) == 1 else exchange,
        baseline=None if options["all_pairs"] else job.files.baseline,
        confidence_level=levels.confidence_level,
        alpha=levels.alpha,
        **options,
    ).checked(list(job.files.systems))
    tables = get_args(types.RunTable)
    with (
        destination(reports, job.inputs, layout, tables) as write,
        chosen_executor(executor, job.resampling.threads) as workers,
    ):
        runs, dev = job.read()
        with progress_bar() as progress:
            result = compared_runs(runs, dev, settings, replace(job.resampling, progress=progress, executor=workers))
        write(result)
