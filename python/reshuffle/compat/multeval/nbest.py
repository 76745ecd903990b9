"""``nbest``: the hypotheses of n-best lists, scored and ranked by each metric."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, read_lines

from ..commands import check_output, say, write
from .arguments import files_of
from .java import as_double, fixed, rounded
from .metrics import Counts, ScoredMetric, Scores, counts_of
from .outputs import normalized, output_folder, read_columns

Places: TypeAlias = NDArray[np.intp]

SORTED_FILE = r"\d+ \|\|\| "
NUMBER = re.compile(r"[-+]?[0-9]+")
COLUMNS = "id ||| hypothesis ||| features ||| score"


class Hypotheses(NamedTuple):
    """The lines of an n-best list.

    Attributes
    ----------
    segments : list of int
        The segment of each line, from 0: those of a segment follow each other.
    texts, features : list of str
        Normalized hypotheses, and their features as they were read.
    totals : list of float
        The decoder's scores.
    """

    segments: list[int]
    texts: list[str]
    features: list[str]
    totals: list[float]

    @property
    def starts(self) -> Places:
        """The first line of each segment, and the number of lines."""
        return np.searchsorted(self.segments, np.arange(self.segments[-1] + 2))

    def ranks(self, order: Places) -> Places:
        """The rank of each line in its segment, from 0, if the lines have this order."""
        return np.argsort(order) - self.starts[self.segments]


def ranked_nbest(options: argparse.Namespace, metrics: Sequence[ScoredMetric]) -> str:
    """Score and rank a list, write the files that were asked for, and return the list."""
    paths = [Path(options.rankDir, f"{metric.key}.sorted") for metric in metrics if options.rankDir]
    for path in paths:
        check_output(path, SORTED_FILE)
    hypotheses = read_nbest(options.nbest)
    n_segments = hypotheses.segments[-1] + 1
    references = read_columns(files_of(options.refs), options.nbest, n_segments)
    say(f"Found {n_segments} hypotheses with {len(references)} references")
    counts, places = _counted(hypotheses, references, metrics, options.threads or None)
    scores = [metric.scores(own) for metric, own in zip(metrics, counts, strict=True)]
    orders = ranked([own[places] for own in scores], hypotheses, metrics)
    lines = _lines(hypotheses, metrics, orders, _printed(metrics, counts, scores), places)
    if options.rankDir:
        output_folder(options.rankDir)
        for path, order in zip(paths, orders, strict=True):
            write(path, "".join(lines[line] for line in order.tolist()))
        say(f"Wrote n-best list ranked by metrics to: {options.rankDir}")
    _report_oracles(hypotheses, metrics, [own[places] for own in counts], orders)
    return "".join(lines)


def read_nbest(path: str) -> Hypotheses:
    """Read a list in Moses' or cdec's format; :class:`InputError` with the line that is wrong."""
    rows: list[tuple[int, str, str, float]] = []
    for number, line in enumerate(read_lines(path), 1):
        columns = [column.strip(" ") for column in line.split("|||")]
        try:
            if not NUMBER.fullmatch(columns[0]) or "_" in columns[3]:  # which Python would take
                raise ValueError
            row = int(columns[0]), columns[1], columns[2], float(columns[3])
        except (IndexError, ValueError):
            raise InputError(f"{path}, line {number}: expected {COLUMNS}, got {line[:60]!r}") from None
        segment, last = row[0], rows[-1][0] if rows else -1
        if segment not in ((last, last + 1) if rows else (0,)):
            after = f"after {last}" if rows else "at the beginning"
            raise InputError(
                f"{path}, line {number}: segment {segment} {after}: expected segments from 0, in order, and none left "
                "out"
            )
        rows.append(row)
    segments, texts, features, totals = map(list, zip(*rows, strict=True))
    return Hypotheses(segments, normalized(texts), features, totals)


def _counted(
    hypotheses: Hypotheses, references: Sequence[Sequence[str]], metrics: Sequence[ScoredMetric], threads: int | None
) -> tuple[list[Counts], Places]:
    """The counts of distinct hypotheses of a segment, by metric, and for each line which of them it is."""
    distinct: dict[tuple[int, str], int] = {}
    places = [
        distinct.setdefault(key, len(distinct)) for key in zip(hypotheses.segments, hypotheses.texts, strict=True)
    ]
    columns = [[column[segment] for segment, _ in distinct] for column in references]
    counts = counts_of(metrics, [[text for _, text in distinct]], columns, threads)
    return [own[0] for own in counts], np.array(places)


def ranked(scores: Sequence[Scores], hypotheses: Hypotheses, metrics: Sequence[ScoredMetric]) -> list[Places]:
    """By metric the lines, segment by segment, from the best to the worst score.

    As in MultEval, hypotheses with the same score keep the order of the metric before, and under the first metric that
    of the list.
    """
    orders: list[Places] = []
    segments = np.array(hypotheses.segments)
    place = np.arange(len(segments))
    for metric, own in zip(metrics, scores, strict=True):
        order = np.lexsort((place, -own if metric.formula.higher_is_better else own, segments))
        orders.append(order)
        place = np.argsort(order)
    return orders


def _printed(metrics: Sequence[ScoredMetric], counts: Sequence[Counts], scores: Sequence[Scores]) -> list[str]:
    """`` metric=score`` and `` submetric=score`` of each distinct hypothesis."""
    names = [metric.key for metric in metrics] + [part for metric in metrics for part in metric.parts]
    parts = [part for metric, own in zip(metrics, counts, strict=True) for part in metric.parts_of(own).T]
    columns = [as_double(column.tolist()) for column in [*scores, *parts]]
    return [
        "".join(f" {name}={value}" for name, value in zip(names, row, strict=True))
        for row in zip(*columns, strict=True)
    ]


def _lines(
    hypotheses: Hypotheses,
    metrics: Sequence[ScoredMetric],
    orders: Sequence[Places],
    printed: Sequence[str],
    places: Places,
) -> list[str]:
    """The lines of the list with ranks and scores."""
    names = ["origRank", *(f"{metric.key}Rank" for metric in metrics)]
    ranks = [
        " ".join(f"{name}={value}" for name, value in zip(names, row, strict=True))
        for row in np.column_stack([hypotheses.ranks(each) for each in (np.arange(len(places)), *orders)]).tolist()
    ]
    # MultEval reads the decoder's score in single precision.
    with np.errstate(over="ignore"):  # as in Java, where a larger number is infinite
        totals = fixed(np.array(hypotheses.totals, dtype=np.float32), 6)
    rows = zip(hypotheses.segments, hypotheses.texts, hypotheses.features, totals, ranks, places.tolist(), strict=True)
    return [
        f"{segment} ||| {text} ||| {features} ||| {total} ||| {own_ranks} |||{printed[place]}\n"
        for segment, text, features, total, own_ranks, place in rows
    ]


def _report_oracles(
    hypotheses: Hypotheses, metrics: Sequence[ScoredMetric], counts: Sequence[Counts], orders: Sequence[Places]
) -> None:
    """Print corpus scores of the decoder's choice, and of the best and worst hypothesis of each segment."""
    starts = hypotheses.starts
    for metric, own, order in zip(metrics, counts, orders, strict=True):
        chosen = {
            "topbest": starts[:-1],
            "oracle": order[starts[:-1]],
            "worst-oracle": order[starts[1:] - 1],
        }
        for name, lines in chosen.items():
            totals = own[lines].sum(axis=0)
            parts = fixed(metric.parts_of(totals[None])[0], 2)
            shown = "; ".join(f"{part}={value}" for part, value in zip(metric.parts, parts, strict=True))
            say(f"{metric.name} {name} score: {rounded(float(metric.scores(totals)), 2)} ({shown})")
