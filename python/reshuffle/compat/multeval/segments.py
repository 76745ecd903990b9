"""The scores of segments, and their files: those of ``--rankDir`` and ``--sentLevelDir``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..commands import say, write
from .java import fixed
from .metrics import Counts, ScoredMetric, Scores
from .outputs import Texts

# How files written by this command begin.
RANKED_FILE = r"SENT \d+\t"
SEGMENT_FILE = r"0 \|\|\| "


class Evaluated(NamedTuple):
    """The counts and segment scores of all outputs.

    Attributes
    ----------
    texts : Texts
    metrics : sequence of ScoredMetric
    counts : list of (D, S, K) arrays
        By metric, of the D distinct outputs.
    """

    texts: Texts
    metrics: Sequence[ScoredMetric]
    counts: Sequence[Counts]

    def runs(self, metric: int, system: int) -> Scores:
        """The score of each run."""
        return self.metrics[metric].scores(self.counts[metric][self.texts.places[system]].sum(axis=1))

    def median_run(self, metric: int, system: int) -> int:
        """The run with the median score; of an even number of runs that with the upper one, as in MultEval."""
        runs = self.runs(metric, system)
        return int(np.flatnonzero(runs == np.sort(runs)[len(runs) // 2])[0])

    def segment_scores(self, system: int, run: int) -> list[Scores]:
        """The scores of all segments of an output, by metric."""
        row = self.texts.places[system][run]
        return [metric.scores(counts[row]) for metric, counts in zip(self.metrics, self.counts, strict=True)]

    def segment_parts(self, system: int, run: int) -> list[Scores]:
        """MultEval's submetrics of all segments of an output: by metric an array (segments, submetrics)."""
        row = self.texts.places[system][run]
        return [metric.parts_of(counts[row]) for metric, counts in zip(self.metrics, self.counts, strict=True)]


def scored_segments(done: Evaluated, folder: Path) -> None:
    """Write the scores and submetrics of all segments of every output. Systems and runs are numbered from 1."""
    say(f"writing segment scores to {folder}")
    keys = [metric.key for metric in done.metrics]
    parts = [part for metric in done.metrics for part in metric.parts]
    written: dict[int, str] = {}
    for system, places in enumerate(done.texts.places):
        for run, place in enumerate(places):
            if place not in written:
                columns = _named(keys, done.segment_scores(system, run))
                columns.append([" |||"] * len(done.texts.distinct[place]))
                columns += _named(parts, [part for own in done.segment_parts(system, run) for part in own.T])
                rows = zip(done.texts.distinct[place], *columns, strict=True)
                written[place] = "".join(
                    f"{number} ||| {line} |||{''.join(cells)}\n" for number, (line, *cells) in enumerate(rows)
                )
            write(folder / f"sys{system + 1}.opt{run + 1}", written[place])


def _named(names: Sequence[str], columns: Sequence[Scores]) -> list[list[str]]:
    """`` name=score`` for all segments, with two decimals, column by column."""
    return [[f" {name}={value}" for value in fixed(column, 2)] for name, column in zip(names, columns, strict=True)]


def ranked_segments(done: Evaluated, folder: Path) -> None:
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
            texts = (done.texts.output(0, base_run), done.texts.output(system, run), *done.texts.references)
            labels = (
                f"{metric.key}-median-baseline",
                f"{metric.key}-median-variant",
                *(f"ref{reference}" for reference in range(1, len(done.texts.references) + 1)),
            )
            segments = [
                f"SENT {segment}\t"
                + "\t".join(column[segment] for column in columns)
                + "".join(f"\n{label}: {lines[segment]}" for label, lines in zip(labels, texts, strict=True))
                + "\n\n"
                for segment in np.argsort(base[number] - scores[number], kind="stable").tolist()
            ]
            write(folder / f"sys{system + 1}.sortedby.{metric.key}", "".join(segments))
