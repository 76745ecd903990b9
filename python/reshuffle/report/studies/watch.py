"""The report of ``watch``: what was shown while data arrived, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...errors import counted
from ...results.studies import SequentialLook, SequentialVerdict, StudyResult
from ...results.studies.watch import E_BH, SEQUENTIAL_TESTS, WatchPlan
from ..cells import Table, decimals_apart, decimals_for, equation, pvalue_cell, signed
from ..wording import number
from .base import Figure, StudyReport


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
    with_ends, with_p = (any(getattr(each, name) is not None for each in verdicts) for name in ("low", "pvalue"))
    header = ["System", "Metric", "Δ", *([_level(study)] if with_ends else []), *(["p"] if with_p else [])]
    table = Table(title(study), [*header, "Verdict", "after"], n_names=2)
    for each in verdicts:
        of_metric = [other for other in verdicts if other.metric == each.metric]
        cells = _known(each, _decimals(of_metric), with_ends, with_p)
        table.add(
            [each.system, each.metric, *cells, each.verdict, "–" if each.decided_at is None else f"{each.decided_at:,}"]
        )
    yield table
    if len(verdicts) == 1:
        yield _course(study, with_ends, with_p)


def _decimals(known: Sequence[SequentialVerdict | SequentialLook]) -> int:
    return decimals_for(max(abs(each.difference) for each in known))


def _known(each: SequentialVerdict | SequentialLook, decimals: int, with_ends: bool, with_p: bool) -> list[str]:
    """The cells of what is known after some units."""
    ends = [end for end in (each.low, each.high) if with_ends and end is not None]
    decimals = decimals_apart(decimals, each.difference, ends)
    cells = [signed(each.difference, decimals)]
    if with_ends:
        cells.append(" to ".join(signed(end, decimals) for end in ends) or "–")
    if with_p:
        cells.append("–" if each.pvalue is None else pvalue_cell(each.pvalue))
    return cells


def _course(study: StudyResult[WatchPlan], with_ends: bool, with_p: bool) -> Table:
    """The looks at the only pair under the only metric."""
    looks: Sequence[SequentialLook] = study.tables["looks"]
    planned = looks[0].boundary is not None
    header = ["Units", "Δ", *([_level(study)] if with_ends else []), *(["p"] if with_p else [])]
    table = Table("Looks", [*header, *(["|z|", "boundary"] if planned else [])])
    for look in looks:
        extra = [f"{abs(look.z or 0):.2f}", f"{look.boundary:.2f}"] if planned else []
        table.add([f"{look.units:,}", *_known(look, _decimals(looks), with_ends, with_p), *extra])
    return table


def conclusions(study: StudyResult[WatchPlan]) -> Iterator[str]:
    """What was shown, and after how many units."""
    unit = study.plan.unit
    for each in _verdicts(study):
        if each.decided_at is None:
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
        if each.low is not None and each.high is not None and not each.low <= each.difference <= each.high:
            yield (
                f"{each.metric}: {each.system} − {each.baseline} is outside its sequence. By chance that is as rare as "
                "a wrong verdict; if the difference changes as data arrive, the error rate does not hold."
            )
    if plan.planned is not None:
        yield f"{plan.looks} looks are planned, the last one after {counted(plan.planned, plan.unit)}."
    yield (
        f"This holds for independent {plan.unit}s that were not scored before, in an order that does not depend on "
        "their scores."
    )


FIGURES = {
    "course": Figure(
        "The difference and its confidence sequence after every look.",
        "looks",
        ("metric", "system"),
        "watch:WatchFigure",
        over="units",
    )
}
# For the checklist of a paper.
INTERVALS = (
    "Intervals, where there are any, are confidence sequences for the sampling of the units. Each system has a single "
    "output: variation between training runs is not in them."
)
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES, settings=settings, intervals=INTERVALS)
