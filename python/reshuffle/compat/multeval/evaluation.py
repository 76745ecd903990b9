"""``eval``: systems with several runs each, in MultEval's tables and files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reshuffle import InputError

from ..commands import check_file, check_output, say, write
from .arguments import files_of
from .java import rounded
from .metrics import ScoredMetric, counts_of
from .outputs import output_folder, read_texts
from .segments import RANKED_FILE, SEGMENT_FILE, Evaluated, ranked_segments, scored_segments
from .tables import LATEX_FILE, Cell, latex_table, plain_table

if TYPE_CHECKING:
    from reshuffle import RunComparison

LEGACY = "multeval"
FAULTS = (
    "note: p-values are those of MultEval's own test, which has these faults. It exchanges single segments of single "
    "runs, as if runs were other test sets, so that p is too small. Shuffles as extreme as the difference do not "
    "count, so that identical systems get p = 1/(shuffles + 1). With three or more runs p depends on their order. "
    "--test auto takes reshuffle's tests instead."
)
JSON_FILE = r'\{\s*"schema": "reshuffle\.study/1",\s*"inputs": \[.*?\],\s*"study": "runs"'


def evaluate(options: argparse.Namespace, metrics: Sequence[ScoredMetric]) -> str:
    """Evaluate, write the files that were asked for, and return the table."""
    _check_outputs(options, metrics)
    systems = {"--hyps-baseline": files_of(options.hyps_baseline)}
    systems |= {f"--hyps-sys{number}": files_of(files) for number, files in enumerate(options.systems, 1)}
    texts = read_texts(files_of(options.refs), systems)
    done = Evaluated(texts, metrics, counts_of(metrics, texts.distinct, texts.references, options.threads or None))
    if options.sentLevelDir:
        scored_segments(done, output_folder(options.sentLevelDir))
    if options.rankDir:
        ranked_segments(done, output_folder(options.rankDir))
    result = compared(done, options)
    cells = _cells(done, result, options.boot_samples)
    _report_results(done, cells, options.verbosity)
    if len(texts.names) > 1:
        say(FAULTS if options.test == LEGACY else _explained(result))
    if options.latex:
        write(options.latex, latex_table(texts.names, metrics, cells, options.fullLatexDoc, options.test == LEGACY))
    if options.json:
        write(options.json, result.render("json"))
    return plain_table(texts.names, metrics, cells, texts.n_runs)


def _check_outputs(options: argparse.Namespace, metrics: Sequence[ScoredMetric]) -> None:
    """Refuse to replace other files, before anything is computed."""
    if options.latex:
        check_file(options.latex, LATEX_FILE)
    if options.json:
        check_file(options.json, JSON_FILE)
    if options.latex and options.json and Path(options.latex).resolve() == Path(options.json).resolve():
        raise InputError(f"--latex and --json name the same file, {options.json}: choose another name for one of them")
    for number in range(2, len(options.systems) + 2):
        for metric in metrics if options.rankDir else ():
            check_output(Path(options.rankDir, f"sys{number}.sortedby.{metric.key}"), RANKED_FILE)
    for number, files in enumerate([options.hyps_baseline, *options.systems], 1):
        for run in range(1, len(files_of(files)) + 1) if options.sentLevelDir else ():
            check_output(Path(options.sentLevelDir, f"sys{number}.opt{run}"), SEGMENT_FILE)


def compared(done: Evaluated, options: argparse.Namespace) -> RunComparison:
    """Standard deviations from the bootstrap draws, and p-values from the shuffles."""
    from reshuffle import FromCounts, compare_runs

    texts = done.texts
    given = [
        FromCounts(
            metric.name,
            {
                f"{name}#{run}": counts[place]
                for name, places in zip(texts.names, texts.places, strict=True)
                for run, place in enumerate(places)
            },
            metric.formula,
        )
        for metric, counts in zip(done.metrics, done.counts, strict=True)
    ]

    def of_systems(names: Sequence[str], n_resamples: int) -> RunComparison:
        return compare_runs(
            None,
            dict.fromkeys(names, texts.n_runs),
            given,
            exchange=options.test,
            adjust=None,
            n_resamples=n_resamples,
            seed=options.seed,
            workers=options.threads or None,
        )

    is_tested = len(texts.names) > 1
    result = of_systems(texts.names, options.ar_shuffles if is_tested else options.boot_samples)
    systems = result.systems
    if is_tested and options.boot_samples != options.ar_shuffles:
        # A system alone is not tested, so that only the draws are made.
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they have been issued
            systems = tuple(of_systems([name], options.boot_samples).systems[0] for name in texts.names)
    named = tuple(replace(system, outputs=tuple(files)) for system, files in zip(systems, texts.files, strict=True))
    return replace(result, tables={**result.tables, "systems": named})


def _cells(done: Evaluated, result: RunComparison, n_draws: int) -> list[list[Cell]]:
    """The cells of the tables: for each metric those of all systems."""
    unit = result.default_exchange
    pvalues = {(each.metric, each.system): each.pvalue for each in result.comparisons if each.exchange == unit}
    cells: list[list[Cell]] = []
    for number, metric in enumerate(done.metrics):
        cells.append([])
        for place, system in enumerate(result.systems):
            scores = system.scores[metric.name]
            cells[-1].append(
                Cell(
                    runs=scores.runs,
                    mean=scores.mean,
                    s_sel=scores.s_sel if n_draws > 1 else None,
                    s_opt=scores.s_test,
                    pvalue=pvalues.get((metric.name, system.name)),
                    median_run=done.median_run(number, place),
                )
            )
    return cells


def _report_results(done: Evaluated, cells: Sequence[Sequence[Cell]], verbosity: int) -> None:
    """Print the numbers with six decimals to standard error, in MultEval's form."""
    for metric, of_systems in zip(done.metrics, cells, strict=True):
        for name, cell in zip(done.texts.names, of_systems, strict=True):
            if verbosity:
                for run, score in enumerate(cell.runs):
                    say(f"RESULT: {name}: {metric.name}: OptRun {run}: {rounded(score, 6)}")
            numbers: Mapping[str, float | None] = {
                "AVG": cell.mean,
                "MEDIAN": cell.runs[cell.median_run],
                "STDDEV": cell.s_opt,
                "MIN": min(cell.runs),
                "MAX": max(cell.runs),
                "MEDIAN_IDX": float(cell.median_run),
                "RESAMPLED_STDDEV_AVG": cell.s_sel,
                **({} if cell.pvalue is None else {"P_VALUE": cell.pvalue}),
            }
            for key, value in numbers.items():
                say(f"RESULT: {name}: {metric.name}: {key}: {rounded(value, 6)}")


def _explained(result: RunComparison) -> str:
    """What was tested, in words."""
    unit = result.default_exchange or ""
    null = result.truths.get(unit)
    reason = result.plan["exchange_reason"]
    text = f"note: p-values are those of --test {unit}"
    text += f", whose null hypothesis is: {null}" if null else ""
    return f"{text}. Reason: {reason}." if reason else f"{text}."
