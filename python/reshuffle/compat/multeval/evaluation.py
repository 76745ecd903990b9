"""``eval``: systems with several runs each, in MultEval's tables and files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reshuffle import InputError

from ..commands import check_file, check_output, say, write
from .arguments import files_of
from .java import fixed, rounded
from .metrics import Counts, ScoredMetric, Scores, counts_of
from .outputs import Texts, output_folder, read_texts
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
# How files written by this command begin: those of --json, --rankDir and --sentLevelDir.
JSON_FILE = r'\{\s*"schema": "reshuffle\.study/1",\s*"inputs": \[.*?\],\s*"study": "runs"'
RANKED_FILE = r"SENT \d+\t"
SEGMENT_FILE = r"0 \|\|\| "


class Evaluated(NamedTuple):
    """The counts of all outputs.

    Attributes
    ----------
    texts : Texts
    metrics : sequence of ScoredMetric
    counts : list of (systems, runs, S, K) arrays
        By metric.
    """

    texts: Texts
    metrics: Sequence[ScoredMetric]
    counts: Sequence[Counts]

    @classmethod
    def of(cls, texts: Texts, metrics: Sequence[ScoredMetric], threads: int | None) -> Evaluated:
        """Count all outputs."""
        counts = counts_of(metrics, texts.outputs, texts.references, threads)
        return cls(texts, metrics, [own.reshape(len(texts.names), texts.n_runs, *own.shape[1:]) for own in counts])

    def median_run(self, metric: int, system: int) -> int:
        """See :func:`median_run`."""
        return median_run(self.metrics[metric].scores(self.counts[metric][system].sum(axis=1)).tolist())

    def segment_scores(self, system: int, run: int) -> list[Scores]:
        """The scores of all segments of an output, by metric."""
        return [metric.scores(own[system, run]) for metric, own in zip(self.metrics, self.counts, strict=True)]

    def segment_parts(self, system: int, run: int) -> list[Scores]:
        """MultEval's submetrics of all segments of an output, one after the other."""
        pairs = zip(self.metrics, self.counts, strict=True)
        return [part for metric, own in pairs for part in metric.parts_of(own[system, run]).T]


def median_run(scores: Sequence[float]) -> int:
    """The run with the median score; of an even number of runs that with the upper one, as in MultEval.

    >>> median_run([0.3, 0.1, 0.4, 0.2])
    0
    """
    return scores.index(sorted(scores)[len(scores) // 2])


def evaluate(options: argparse.Namespace, metrics: Sequence[ScoredMetric]) -> str:
    """Evaluate, write the files that were asked for, and return the table."""
    _check_outputs(options, metrics)
    systems = {"--hyps-baseline": files_of(options.hyps_baseline)}
    systems |= {f"--hyps-sys{number}": files_of(files) for number, files in enumerate(options.systems, 1)}
    texts = read_texts(files_of(options.refs), systems)
    done = Evaluated.of(texts, metrics, options.threads or None)
    if options.sentLevelDir:
        _write_segments(done, output_folder(options.sentLevelDir))
    if options.rankDir:
        _write_ranked(done, output_folder(options.rankDir))
    result = compared(done, options)
    cells = _cells(metrics, result)
    _report_results(done, cells, options.verbosity)
    if len(texts.names) > 1:
        say(FAULTS if options.test == LEGACY else _explained(result))
    if options.latex:
        write(options.latex, latex_table(texts.names, metrics, cells, options.fullLatexDoc, options.test == LEGACY))
    if options.json:
        write(options.json, result.render("json"))
    return plain_table(texts.names, metrics, cells)


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


def _write_segments(done: Evaluated, folder: Path) -> None:
    """Write the scores and submetrics of all segments of every output. Systems and runs are numbered from 1."""
    say(f"writing segment scores to {folder}")
    keys = [metric.key for metric in done.metrics]
    parts = [part for metric in done.metrics for part in metric.parts]
    for system in range(len(done.texts.names)):
        for run in range(done.texts.n_runs):
            lines = done.texts.output(system, run)
            columns = [*_named(keys, done.segment_scores(system, run)), [" |||"] * len(lines)]
            columns += _named(parts, done.segment_parts(system, run))
            rows = enumerate(zip(lines, *columns, strict=True))
            text = "".join(f"{number} ||| {line} |||{''.join(cells)}\n" for number, (line, *cells) in rows)
            write(folder / f"sys{system + 1}.opt{run + 1}", text)


def _named(names: Sequence[str], columns: Sequence[Scores]) -> list[list[str]]:
    """`` name=score`` for all segments, with two decimals, column by column."""
    return [[f" {name}={value}" for value in fixed(column, 2)] for name, column in zip(names, columns, strict=True)]


def _write_ranked(done: Evaluated, folder: Path) -> None:
    """Write the segments of each system's median run, by the difference of their scores from the baseline's.

    The median runs are those by the metric. The largest difference comes first, also for TER, where it is the largest
    loss. Equal differences keep the order of the segments.
    """
    say(f"writing ranked segments to {folder}")
    for number, metric in enumerate(done.metrics):
        base_run = done.median_run(number, 0)
        base = done.segment_scores(0, base_run)
        # The metric of the ranking comes first, and then the others in their order.
        order = [number, *(other for other in range(len(done.metrics)) if other != number)]
        for system in range(1, len(done.texts.names)):
            run = done.median_run(number, system)
            scores = done.segment_scores(system, run)
            columns = []
            for other in order:
                before, after = base[other], scores[other]
                rows = zip(fixed(before, 1), fixed(after, 1), fixed(after - before, 1), strict=True)
                key = done.metrics[other].key
                columns.append([f"{key}: {old} -> {new} = {difference}" for old, new, difference in rows])
            texts = {
                f"{metric.key}-median-baseline": done.texts.output(0, base_run),
                f"{metric.key}-median-variant": done.texts.output(system, run),
                **{f"ref{reference}": lines for reference, lines in enumerate(done.texts.references, 1)},
            }
            segments = [
                f"SENT {segment}\t"
                + "\t".join(column[segment] for column in columns)
                + "".join(f"\n{label}: {lines[segment]}" for label, lines in texts.items())
                + "\n\n"
                for segment in np.argsort(base[number] - scores[number], kind="stable").tolist()
            ]
            write(folder / f"sys{system + 1}.sortedby.{metric.key}", "".join(segments))


def compared(done: Evaluated, options: argparse.Namespace) -> RunComparison:
    """Standard deviations from the bootstrap draws, and p-values from the shuffles."""
    from reshuffle import FromCounts, compare_runs

    texts = done.texts
    given = [
        FromCounts(
            metric.name,
            {
                f"{name}#{run}": counts
                for name, of_system in zip(texts.names, of_metric, strict=True)
                for run, counts in enumerate(of_system)
            },
            metric.formula,
        )
        for metric, of_metric in zip(done.metrics, done.counts, strict=True)
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


def _cells(metrics: Sequence[ScoredMetric], result: RunComparison) -> list[list[Cell]]:
    """The cells of the tables: for each metric those of all systems."""
    unit = result.default_exchange
    pvalues = {(each.metric, each.system): each.pvalue for each in result.comparisons if each.exchange == unit}
    cells = []
    for name in (metric.name for metric in metrics):
        scores = [(pvalues.get((name, system.name)), system.scores[name]) for system in result.systems]
        cells.append([Cell(s.runs, s.mean, s.s_sel, s.s_test, p) for p, s in scores])
    return cells


def _report_results(done: Evaluated, cells: Sequence[Sequence[Cell]], verbosity: int) -> None:
    """Print the numbers with six decimals to standard error, in MultEval's form."""
    for metric, of_systems in zip(done.metrics, cells, strict=True):
        for name, cell in zip(done.texts.names, of_systems, strict=True):
            if verbosity:
                for run, score in enumerate(cell.runs):
                    say(f"RESULT: {name}: {metric.name}: OptRun {run}: {rounded(score, 6)}")
            median = median_run(cell.runs)
            numbers: Mapping[str, float | None] = {
                "AVG": cell.mean,
                "MEDIAN": cell.runs[median],
                "STDDEV": cell.s_opt,
                "MIN": min(cell.runs),
                "MAX": max(cell.runs),
                "MEDIAN_IDX": float(median),
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
