"""The report of ``tune``: the scores and weights of an optimizer's runs on k-best lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import fmean, stdev
from typing import Any

from ...errors import counted
from ...grouping import grouped
from ...results.studies import TuningResult, TuningRun, TuningStep
from ...results.studies.runs import RECOMMENDED_RUNS
from ..cells import Table, decimals_for
from ..pivot import Cells, Rows, as_number, number_cell, pivot
from ..plots.look import BETTER, FAINT, INK, MUTED
from ..wording import joined, number
from ..words import said
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, label
from .run_sentences import deviation
from .shared import with_arrow

# More features than this are not shown: those whose weights are largest on average are.
MOST_FEATURES = 20
# More runs than this are only in JSON, CSV and figures.
MOST_RUNS = 20
# With fewer runs, two standard deviations differ by chance.
FEW_RUNS = 10
SETS = {"dev": "Development", "test": "Test"}


def _scores(result: TuningResult, name: str) -> list[float]:
    """The scores of all runs on ``dev`` or ``test``; empty without these lists."""
    return [value for run in result.runs if (value := getattr(run, f"{name}_score")) is not None]


def _decimals(result: TuningResult) -> int:
    return decimals_for(max(map(abs, _scores(result, "dev"))))


def title(result: TuningResult) -> str:
    """The optimizer, the metric and the number of runs."""
    n = len(result.runs)
    runs = "" if n == 1 else f", {counted(n, 'run')}"
    return f"Tuning with {result.plan.optimizer} for {result.metrics[0].name}{runs}"


def tables(result: TuningResult) -> Iterator[Table]:
    """The scores on each set of lists, those of each run, and the weights."""
    yield _summary(result).explained(SPREAD if len(result.runs) > 1 else "")
    if 1 < len(result.runs) <= MOST_RUNS:
        yield _runs(result)
    if found := _mean_weights(result):
        yield _weights(result, found)


SPREAD = "s: sample standard deviation of the runs' scores: s_dev on the development lists, s_test on the test lists."


def _summary(result: TuningResult) -> Table:
    """A row for each set of lists: the score before, and the scores of the runs."""
    several, spec = len(result.runs) > 1, f".{_decimals(result)}f"
    scores = {name: own for name in SETS if (own := _scores(result, name))}

    def of_scores(function: Callable[[list[float]], float]) -> Callable[[str], str]:
        return lambda name: f"{function(scores[name]):{spec}}"

    cells: Cells = {
        "Lists": lambda name: SETS[name],
        "Sentences": lambda name: f"{result.plan.sentences[name]:,}",
        "Entries": lambda name: f"{result.plan.entries[name]:,}",
        "Start": result.start is not None and (lambda name: as_number(f"{name}_score", spec)(result.start)),
        "Mean" if several else "Tuned": of_scores(fmean),
        "s": several and (lambda name: deviation(getattr(result, f"s_{name}"), _decimals(result) + 1)),
        "Lowest": several and of_scores(min),
        "Highest": several and of_scores(max),
    }
    return pivot(f"{title(result)} ({with_arrow(result.metrics[0])})", list(scores), Rows(cells, n_names=1))


def _runs(result: TuningResult) -> Table:
    """A row for each run."""
    variants, spec = result.plan.variants or (), f".{_decimals(result)}f"
    numbers = [sum(weight != 0 for weight in run.weights.values()) for run in result.runs]
    cells: Cells = {
        "Run": lambda i: str(i + 1),
        "Variant": bool(variants) and (lambda i: _variant(variants[i])),
        "Development": lambda i: f"{result.runs[i].dev_score:{spec}}",
        "Test": bool(_scores(result, "test")) and (lambda i: number_cell(result.runs[i].test_score, spec)),
        "Weights": len(set(numbers)) > 1 and (lambda i: f"{numbers[i]:,}"),
    }
    rows = Rows(cells, n_names=2 if variants else 1)
    return pivot(f"Scores of each run: {result.metrics[0].name}", range(len(result.runs)), rows)


def _variant(options: Mapping[str, Any]) -> str:
    """What is special about a variant."""
    parts = [f"{name} {joined(map(str, v)) if isinstance(v, tuple) else v}" for name, v in options.items()]
    return "; ".join(parts).replace("_", " ") or "as given"


def _mean_weights(result: TuningResult) -> dict[str, list[float]]:
    """The weights of all runs by feature, 0 where a run has none, the largest on average first if there are many."""
    names = list(dict.fromkeys(name for run in result.runs for name in run.weights))
    found = {name: [run.weights.get(name, 0.0) for run in result.runs] for name in names}
    if len(found) <= MOST_FEATURES:
        return found
    largest = sorted(found, key=lambda name: -abs(fmean(found[name])))
    return {name: found[name] for name in largest}


def _weights(result: TuningResult, found: Mapping[str, list[float]]) -> Table:
    """A row for each feature: the weight, or its mean and spread over the runs."""
    several, n = len(result.runs) > 1, len(found)

    def of_weights(function: Callable[[list[float]], float], spec: str = ".4f") -> Callable[[str], str]:
        return lambda name: f"{function(found[name]):{spec}}"

    cells: Cells = {
        "Feature": str,
        "Weight": not several and of_weights(fmean, ".4g"),
        "Mean": several and of_weights(fmean),
        "s": several and of_weights(stdev),
        "Lowest": several and of_weights(min),
        "Highest": several and of_weights(max),
    }
    left_out = (
        f"Weights: the {MOST_FEATURES} largest on average; JSON has all {n:,}, and a weights file of each run is "
        "written by --save."
    )
    table = pivot(f"Weights of {counted(n, 'feature')}", list(found)[:MOST_FEATURES], Rows(cells, n_names=1))
    return table.explained(left_out if n > MOST_FEATURES else "")


def conclusions(result: TuningResult) -> Iterator[str]:
    """What was gained, how much runs differ, and what fixed lists cannot show."""
    yield from said("tune", "conclusion", _values(result))


def notes(result: TuningResult) -> Iterator[str]:
    """How weights were tuned."""
    yield from said("tune", "note", _values(result))


def _values(result: TuningResult) -> dict[str, Any]:
    """What the templates of ``words/tune.toml`` depend on."""
    plan, decimals, n, dev, test = result.plan, _decimals(result), len(result.runs), result.s_dev, result.s_test
    reached = []
    for name, shown in SETS.items():
        scores, before = _scores(result, name), getattr(result.start, f"{name}_score", None)
        if scores:
            was = "" if before is None else f" (start: {before:.{decimals}f})"
            reached.append(f"{fmean(scores):.{decimals}f} on the {shown.lower()} lists{was}")
    same = len({run.dev_score for run in result.runs}) == len({run.test_score for run in result.runs}) == 1
    options = "; ".join(f"{name} {_value(value)}" for name, value in plan.options.items() if value != ())
    return {
        **plan,
        "score": result.metrics[0].name,
        "reached": reached,
        "n": n,
        "one": n == 1,
        "several": n > 1,
        "few": n < FEW_RUNS,
        "least": RECOMMENDED_RUNS,
        "most": MOST_RUNS,
        "same": same,
        "unstable": not (same or dev is None or test is None) and bool(plan.varies),
        "s_dev": dev,
        "s_test": test,
        "dev": deviation(dev, decimals + 1),
        "test": deviation(test, decimals + 1),
        "between": deviation(test and math.sqrt(2) * test, decimals + 1),
        "method": plan.about.rstrip("."),
        "chosen": options.replace("_", " "),
    }


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return joined(map(str, value))
    return number(value) if isinstance(value, float) else str(value)


# The share of the range of the values that is left free at each end.
FREE = 0.12


# Labels of quantities whose names alone do not say what they count.
LABELS = {"selected": "selected features", "not zero": "features with a weight"}


class ReplicationsFigure(ColumnFigure[TuningRun]):
    """The test score of each run against its development score, with the means and standard deviations."""

    HEIGHT = 2.5

    def draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        from ..plots.labels import printable

        x = [run.dev_score for run in self.records]
        y = [run.test_score for run in self.records if run.test_score is not None]
        ax.plot(
            x, y, marker="o", markersize=3.6, markeredgewidth=0.8, markeredgecolor=BETTER, markerfacecolor="white",
            linestyle="none", zorder=3,
        )  # fmt: skip
        for draw, values in ((ax.axvline, x), (ax.axhline, y)):
            draw(sum(values) / len(values), color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        # The same length of a unit on both axes shows which standard deviation is larger.
        half = max(max(x) - min(x), max(y) - min(y)) * (0.5 + FREE) or 0.5
        for limits, values in ((ax.set_xlim, x), (ax.set_ylim, y)):
            middle = (min(values) + max(values)) / 2
            limits(middle - half, middle + half)
        ax.set_box_aspect(1)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5))
        ax.grid(color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        metric = printable(self.study.metrics[0].name)
        label(ax, f"{metric}, development lists\ndashed: means", f"{metric}, test lists")


class CourseFigure(ColumnFigure[TuningStep]):
    """A quantity by step: a line for each run and round."""

    def draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        from ..plots.labels import printable

        lines = grouped(((each.run, each.round), each) for each in self.records)
        # Starts have no order; epochs and steps have.
        name = self.records[0].quantity
        ordered = "after" in name or name in ("selected", "not zero")
        for own in lines.values():
            x, y = [each.step + 1 for each in own], [each.value for each in own]
            if ordered:
                ax.plot(x, y, color=BETTER, linewidth=0.5, alpha=0.55, zorder=2)
            else:
                ax.plot(x, y, marker=".", markersize=2.5, color=BETTER, alpha=0.55, linestyle="none", zorder=2)
        self._mean(ax, ordered)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        what, _, counted = name.replace(" of ", " after ").partition(" after ")
        label(ax, counted or "step", LABELS.get(name, what.replace("score", printable(self.study.metrics[0].name))))

    def _mean(self, ax: Axes, ordered: bool) -> None:
        """The mean over runs, at steps that all of them have."""
        values = grouped((each.step, each.value) for each in self.records)
        runs = len({(each.run, each.round) for each in self.records})
        several = {step + 1: sum(own) / runs for step, own in sorted(values.items()) if len(own) == runs > 1}
        if several and ordered:
            ax.plot([*several], [*several.values()], color=INK, linewidth=1.1, zorder=4)


FIGURES = {
    "replications": Figure(
        "The score of each run on the test lists by that on the development lists. Dashed: means. Both axes have the "
        "same scale.",
        "runs",
        (),
        ReplicationsFigure,
        over="dev_score",
        flat=lambda runs: [run for run in runs if run.test_score is not None],
        needs="test lists",
    ),
    "course": Figure(
        "Each run in the course of tuning, and the mean of the runs in black. Scores of starts are points.",
        "trace",
        ("quantity",),
        CourseFigure,
        over="step",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
