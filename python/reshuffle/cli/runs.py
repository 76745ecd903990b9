"""``reshuffle runs``: systems with several optimizer runs each."""

from __future__ import annotations

from typing import Any, get_args

from attrs import evolve

from .. import types
from ..options.comparisons import CompareRuns
from ..options.declare import options_of
from ..options.display import Display
from ..options.run_files import DevOutputs, GivenRuns, RunFiles
from .declared import declared_options, given_values, taken_options
from .shared import METRICS, full_option, report_command, table_options

INPUT = (
    *declared_options(RunFiles, ["references"]),
    *declared_options(GivenRuns, ["baseline", "systems", "baseline_name"]),
    *declared_options(RunFiles, [name for name in options_of(RunFiles) if name != "references"]),
    *declared_options(GivenRuns, ["manifest"]),
)

# The baseline is the outputs of its runs.
RUNS = declared_options(CompareRuns, [name for name in options_of(CompareRuns) if name != "baseline"])

TABLE = (
    *declared_options(Display, ["methods"]),
    *table_options(get_args(types.RunTable)),
    full_option("p by other tests, what scores vary with, and the median runs, for analysis by hand"),
)


@report_command(
    "runs",
    INPUT,
    METRICS,
    declared_options(DevOutputs),
    RUNS,
    TABLE,
    instead="--refs REF, --baseline FILE FILE and --system NAME FILE FILE",
)
def runs_command(**options: Any) -> None:
    from ..runs import compared_runs
    from ..settings import RunSettings, in_order
    from .inputs.runs import RunInputs
    from .job import started
    from .output import Output

    output = Output.from_options(options, tables=get_args(types.RunTable), methods=options.pop("methods"))
    given = GivenRuns(**given_values(GivenRuns, options))
    chosen = taken_options(CompareRuns, options, references=None, systems={})
    inputs = RunInputs.from_options(given, options, chosen.threads)
    first = None if chosen.all_pairs else inputs.files.baseline
    settings = RunSettings.from_options(evolve(chosen, baseline=first))
    in_order(list(inputs.files.systems), settings)  # which checks the baseline, before anything is read
    with started(output, inputs.paths, chosen.workers) as job:
        runs, dev = inputs.read()
        job.report(lambda: compared_runs(runs, dev, settings, job.resampling(chosen)))
