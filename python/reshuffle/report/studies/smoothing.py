"""The report of ``tune-smoothing``: τ by the value of each smoothing's parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import counted
from ...grouping import grouped
from ...results.studies import SmoothingSetting, StudyResult
from ...results.studies.smoothing import SmoothingPlan
from ..cells import Table, pvalue_cell
from ..pivot import ends_cell, number_cell
from ..plots.look import COLUMN, FAINT
from ..wording import ci, joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key_above, label, looks, point
from .shared import of_name

SYMBOLS = {"epsilon": "ε", "k": "K", "alpha": "α"}


def _settings(study: StudyResult[SmoothingPlan]) -> tuple[SmoothingSetting, ...]:
    return study.tables["grid"]


def _smoothings(study: StudyResult[SmoothingPlan]) -> list[str]:
    return list(dict.fromkeys(each.smoothing for each in _settings(study)))


def _value(value: float) -> str:
    return number(value) if value < 1 else f"{value:g}"


def title(study: StudyResult[SmoothingPlan]) -> str:
    """The smoothings."""
    return f"Parameters of smoothing{'s' * (len(_smoothings(study)) > 1)} {joined(_smoothings(study))} of sentence BLEU"


def tables(study: StudyResult[SmoothingPlan]) -> Iterator[Table]:
    """A table for each smoothing: a row for each value, with τ on every test set and the difference."""
    names = _smoothings(study)
    for smoothing in names:
        yield _table(study, smoothing).explained(_symbols(study) if smoothing == names[-1] else "")


def _table(study: StudyResult[SmoothingPlan], smoothing: str) -> Table:
    """τ of each value on each test set, and the difference from the selected value where the selection was made."""
    own = of_name(_settings(study), smoothing=smoothing)
    sets = list(dict.fromkeys(each.test_set for each in own))
    tested = any(each.difference is not None for each in own)
    symbol = SYMBOLS[own[0].parameter]
    header = [symbol, *(f"τ, {name}" if name else "τ" for name in sets)]
    level = next((ci(each.confidence_interval.confidence_level) for each in own if each.confidence_interval), None)
    breaks = [*range(2, len(header))]
    if tested:
        breaks.append(len(header))
        is_adjusted = any(each.adjusted_pvalue is not None for each in own)
        header += ["Δ", *([level] if level else []), "p, adjusted" if is_adjusted else "p"]
    shown = f"Smoothing {smoothing}: Kendall's τ by {symbol}"
    table = Table(shown, header, breaks=tuple(breaks), bold_means=f"the largest τ{_where(study)}")
    decides = study.plan.decides
    for value in dict.fromkeys(each.value for each in own):
        records = {each.test_set: each for each in own if each.value == value}
        chosen = records[decides]
        cells = [_value(value)]
        cells += [number_cell(records[name].tau, ".4f") for name in sets]
        if tested:
            cells += _difference(chosen, level is not None, study.plan.alpha)
        table.add(cells, bold=chosen.selected)
    return table


def _difference(each: SmoothingSetting, with_interval: bool, alpha: float) -> list[str]:
    """The difference from the selected value, its interval and its p-value."""
    p = each.final_pvalue
    if each.difference is None or p is None:
        return ["–"] * (3 if with_interval else 2)
    ends = [ends_cell(each.confidence_interval, "+.4f")] if with_interval else []
    return [f"{each.difference:+.4f}", *ends, pvalue_cell(p, alpha=alpha)]


def _symbols(study: StudyResult[SmoothingPlan]) -> str:
    """What the columns mean."""
    tested = any(each.difference is not None for each in _settings(study))
    return f"Δ: difference from the value with the largest τ{_where(study)}." if tested else ""


def _where(study: StudyResult[SmoothingPlan]) -> str:
    """Where the values were selected."""
    names = {each.test_set for each in _settings(study)}
    if len(names) == 1:
        return ""
    return {"average": " on average", "pooled": " on all votes"}.get(study.plan.decides, "")


def conclusions(study: StudyResult[SmoothingPlan]) -> Iterator[str]:
    """The selected values, which others are as good, and which lie at an end of their grid."""
    for smoothing in _smoothings(study):
        own = of_name(_settings(study), smoothing=smoothing, test_set=study.plan.decides)
        chosen = next((each for each in own if each.selected), None)
        if chosen is None:
            yield f"Smoothing {smoothing}: τ is not defined."
            continue
        symbol = SYMBOLS[chosen.parameter]
        text = f"Smoothing {smoothing}: {symbol} = {_value(chosen.value)} has the largest τ, {chosen.tau:.4f}"
        close = [_value(each.value) for each in own if (p := each.final_pvalue) is not None and p > study.plan.alpha]
        if close:
            do = "does" if len(close) == 1 else "do"
            text += f"; {symbol} = {joined(close)} {do} not differ significantly from it"
        values = sorted(each.value for each in own)
        if len(values) > 1 and chosen.value in (values[0], values[-1]):
            end = "smallest" if chosen.value == values[0] else "largest"
            text += f". {symbol} = {_value(chosen.value)} is the {end} value of the grid"
        yield f"{text}."


def notes(study: StudyResult[SmoothingPlan]) -> Iterator[str]:
    """What was counted and tested."""
    plan = study.plan
    votes = {each.test_set: each.n for each in _settings(study)}
    own = {name: n for name, n in votes.items() if name not in ("average", "pooled")}
    shown = joined(f"{n:,} ({name})" if name else f"{n:,}" for name, n in own.items())
    repeats = "net votes: one for each pair of outputs" if plan.repeats == "net" else "votes"
    yield f"τ: Kendall's τ on {shown} {repeats}; ties of the metric: {plan.ties}."
    n = plan.n_resamples
    if n is not None and any(each.difference is not None for each in _settings(study)):
        tests, replicates = joined(filter(None, plan.tests)), counted(n, "replicate")
        yield (
            f"p: {tests} with {replicates}. The selected value is treated as if it had been known "
            "before, though the same votes selected it."
        )


class GridFigure(ColumnFigure[SmoothingSetting]):
    """τ by value: a line for each test set."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.1 + 0.14 * -(-len(self._lines) // 2)

    def draw(self, ax: Axes) -> None:
        lines, shown = self._lines, looks(self._lines)
        for name, settings in lines.items():
            ordered = sorted((each for each in settings if each.tau == each.tau), key=lambda each: each.value)
            look = shown[name]
            x = [each.value for each in ordered]
            ax.plot(x, [each.tau for each in ordered], color=look["color"], linestyle=look["linestyle"], linewidth=1.0)
            for each in ordered:
                point(ax, each.value, each.tau, None, look, filled=each.best)
        values = sorted({each.value for each in self.records})
        ax.set_xscale("log")
        ticks = _apart(values)
        ax.set_xticks(ticks, [f"{value:g}" for value in ticks])
        ax.minorticks_off()
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        label(ax, SYMBOLS[self.records[0].parameter], "Kendall's τ")
        if len(lines) > 1 or next(iter(lines)):
            key_above(ax, shown, 2)

    @property
    def _lines(self) -> dict[str, list[SmoothingSetting]]:
        return grouped((each.test_set, each) for each in self.records)


def _apart(values: Sequence[float]) -> list[float]:
    """The values that have room for their labels on a logarithmic axis: each at least a tenth of it after the last."""
    least = (values[-1] / values[0]) ** 0.1 if values[0] > 0 else 1.0
    kept = [values[0]]
    for value in values[1:]:
        if value >= kept[-1] * least:
            kept.append(value)
    return kept


FIGURES = {
    "grid": Figure(
        "Kendall's τ by the value of a smoothing's parameter, which has a logarithmic scale; filled marks are the "
        "largest values.",
        "grid",
        ("smoothing",),
        GridFigure,
        over="value",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
