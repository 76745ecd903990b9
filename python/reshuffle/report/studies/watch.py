"""The report of ``watch``: what was shown while data arrived, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...errors import counted
from ...grouping import grouped
from ...results.studies import SequentialLook, SequentialVerdict, StudyResult
from ...results.studies.watch import E_BH, SEQUENTIAL_TESTS, WatchPlan
from ..cells import Table, decimals_for, decimals_in_column, equation, pvalue_cell, signed
from ..pivot import Cells, Rows, as_number, pivot
from ..plots.look import INK, MUTED
from ..wording import number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, label


def _verdicts(study: StudyResult[WatchPlan]) -> tuple[SequentialVerdict, ...]:
    return study.tables["verdicts"]


def title(study: StudyResult[WatchPlan]) -> str:
    """The units so far."""
    return f"{counted(study.plan.units, study.plan.unit)} so far"


def _level(study: StudyResult[WatchPlan]) -> str:
    sharing = 1 if study.plan.adjust == E_BH else len(_verdicts(study))
    return f"{number(100 * (1 - study.plan.alpha / sharing))}% sequence"


def tables(study: StudyResult[WatchPlan]) -> Iterator[Table]:
    """The verdicts; and the course, if there is one pair under one metric."""
    verdicts = _verdicts(study)
    cells: Cells = {
        "System": "system",
        "Metric": "metric",
        **_known(study, verdicts),
        "Verdict": "verdict",
        "after": as_number("decided_at", ","),
    }
    yield pivot(title(study), verdicts, Rows(cells, n_names=2))
    if len(verdicts) == 1:
        yield _course(study)


def _known(study: StudyResult[WatchPlan], records: Sequence[SequentialVerdict | SequentialLook]) -> Cells:
    """What is known after some units: the difference, and what the verdicts have beside it."""
    verdicts = _verdicts(study)
    differences = grouped((each.metric, abs(each.difference)) for each in records)
    decimals = {metric: decimals_in_column(decimals_for(max(own)), own) for metric, own in differences.items()}

    def shown(each: SequentialVerdict | SequentialLook) -> list[str]:
        """The difference and the known ends of its interval."""
        ends = [end for end in (each.low, each.high) if end is not None]
        return [signed(value, decimals[each.metric]) for value in (each.difference, *ends)]

    has_interval, has_p = (any(getattr(each, name) is not None for each in verdicts) for name in ("low", "pvalue"))
    return {
        "Δ": lambda each: shown(each)[0],
        _level(study): has_interval and (lambda each: " to ".join(shown(each)[1:]) or "–"),
        "p": has_p and (lambda each: "–" if each.pvalue is None else pvalue_cell(each.pvalue)),
    }


def _course(study: StudyResult[WatchPlan]) -> Table:
    """The looks at the only pair under the only metric."""
    looks: Sequence[SequentialLook] = study.tables["looks"]
    planned = looks[0].boundary is not None
    cells: Cells = {
        "Units": "units",
        **_known(study, looks),
        "|z|": planned and (lambda look: f"{abs(look.z or 0):.2f}"),
        "boundary": planned and as_number("boundary", ".2f"),
    }
    return pivot("Looks", looks, Rows(cells, n_names=1))


def conclusions(study: StudyResult[WatchPlan]) -> Iterator[str]:
    """What was shown, and after how many units."""
    unit = study.plan.unit
    for each in _verdicts(study):
        if each.low is None and each.pvalue is None:
            yield f"Not tested yet under {each.metric}: {each.system} and {each.baseline}."
        elif each.decided_at is None:
            yield f"Not decided under {each.metric}: {each.system} may be better or worse than {each.baseline}."
        else:
            after = counted(each.decided_at, unit)
            yield f"{each.system} is {each.verdict} than {each.baseline} under {each.metric}, shown after {after}."


def settings(study: StudyResult[WatchPlan]) -> Mapping[str, str]:
    """The test, and what it bounds, for a methods paragraph."""
    test, alpha = SEQUENTIAL_TESTS[study.plan.method], number(study.plan.alpha)
    level = {"share": alpha} if study.plan.adjust == E_BH else {"rate": test.rate}
    return {"test": test.title, "source": test.source, "holds": test.holds, **level}


def notes(study: StudyResult[WatchPlan]) -> Iterator[str]:
    """The method, its error rate, and what it takes for granted."""
    plan, n = study.plan, len(_verdicts(study))
    test, alpha = SEQUENTIAL_TESTS[plan.method], number(plan.alpha)
    if plan.adjust == E_BH:
        yield (
            f"Method: {test.title}, with e-BH. Among the verdicts after {counted(plan.units, plan.unit)}, the expected "
            f"share of wrong ones is {test.rate} {alpha}, {test.holds}. A later look may withdraw a verdict. Each "
            "sequence and each p is for a single difference, without adjustment."
        )
    else:
        yield f"Method: {test.title}. The probability of a wrong verdict is {test.rate} {alpha}, {test.holds}."
        if n > 1:
            yield f"Each of the {n} differences is tested at level {alpha}/{n}, so that this holds for all."
    logs = [each.log_evalue for each in _verdicts(study) if each.log_evalue is not None]
    if n > 1 and logs:
        mean = np.logaddexp.reduce(logs) - math.log(n)
        yield (
            f"The mean of the {n} e-values tests whether there is any difference at all: "
            f"{equation('p', pvalue_cell(math.exp(-max(mean, 0.0))))}."
        )
    if plan.first_look is not None and plan.units < plan.first_look:
        yield f"The first look is after {counted(plan.first_look, plan.unit)}; before it nothing is tested."
    for each in _verdicts(study):
        if each.low is None or each.high is None:
            continue
        if not each.low <= each.difference <= each.high:
            yield (
                f"{each.metric}: {each.system} − {each.baseline} is outside its sequence. By chance that is as rare as "
                "a wrong verdict; if the difference changes as data arrive, the error rate does not hold."
            )
        elif each.low <= 0 <= each.high and each.decided_at is not None:
            yield (
                f"{each.metric}: the sequence of {each.system} − {each.baseline} contains 0 again, but the verdict "
                "stands, because its error rate is over all looks."
            )
    if plan.planned is not None:
        yield f"{plan.looks} looks are planned, the last one after {counted(plan.planned, plan.unit)}."
        last = max((look.units for look in study.tables["looks"]), default=plan.units)
        if last < plan.units:
            yield f"All numbers are those of the look after {counted(last, plan.unit)}, the last one so far."
    yield (
        f"This holds for independent {plan.unit}s that were not scored before, in an order that does not depend on "
        "their scores."
    )


class WatchFigure(ColumnFigure[SequentialLook]):
    """A line for the difference, and a band for its confidence sequence."""

    HEIGHT = 2.2

    def draw(self, ax: Axes) -> None:
        from ..plots.labels import wrapped

        looks = sorted(self.records, key=lambda look: look.units)
        units = [look.units for look in looks]
        ax.axhline(0, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        ends = [(look.units, look.low, look.high) for look in looks if look.low is not None and look.high is not None]
        if ends:
            at, low, high = zip(*ends, strict=True)
            ax.fill_between(at, low, high, color=INK, alpha=0.15, linewidth=0, zorder=2)
        ax.plot(
            units, [look.difference for look in looks], color=INK, linewidth=1.0, marker="o", markersize=2, zorder=3
        )
        ax.xaxis.set_major_formatter("{x:,.0f}")
        label(ax, "units", wrapped(f"Δ {looks[0].metric}", 30))


FIGURES = {
    "course": Figure(
        "The difference and its confidence sequence after every look.",
        "looks",
        ("metric", "system"),
        WatchFigure,
        over="units",
    )
}
REPORT = StudyReport(
    title, tables, conclusions, notes, FIGURES, settings=settings,
    intervals="Intervals, where there are any, are confidence sequences for the sampling of the units. Each system has "
    "a single output: variation between training runs is not in them.",
)  # fmt: skip
