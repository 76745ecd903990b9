"""Gates: the verdict, why it was reached, and what would decide it; for terminals, comments and test reporters."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any
from xml.etree import ElementTree

from ..errors import counted, printable
from ..names import higher_is_better, is_metric
from ..results import Gate, GateTask, Trend, may_lie_across
from ..results.caveats import SMALL_SAMPLE
from ..results.gate import FEWEST_RUNS, SCORE_TEST
from ..results.schemas import GATE, as_dict
from .cells import Table, decimals_apart, decimals_for, equation, pvalue_cell, signed
from .document import Document, Page, Paragraph
from .flips import segments_table
from .frames import Columns, columns_from
from .json import as_json
from .layout import Layout
from .page import STUDY_SCRIPTS, template_of
from .wording import joined, left_out, named, number, percent
from .words import sentence

# The most tasks that a sentence lists.
MOST_LISTED = 3
_said = partial(sentence, "gate")
# With fewer units, tests of margins under metrics that are not means of segment scores are liberal.
NEAR_LEVEL = 500


def gate_document(gate: Gate, layout: Layout) -> Document:
    """The verdict, tables of tasks and of the segments that lost most, and sentences.

    The short text has only the table of tasks, and not even that if many tasks are allowed.
    """
    tables = []
    if layout.full or layout.paper:
        tables = [_tasks(gate), *_lost(gate)]
    elif gate.verdict != "allow" or len(gate.tasks) <= MOST_LISTED:
        tables = [_tasks(gate)]
    has_margins = any(task.margin is not None for task in gate.tasks)
    meaning = _said("meaning", gate.rule, alpha=gate.alpha, has_margins=has_margins)
    return Document(
        [*tables, Paragraph([*_sentences(gate)])],
        [*_directions(gate), " ".join([meaning, *_of_few(gate)]), *_of_units(gate)],
        gate.signature,
        page=lambda: _page(gate, gate_document(gate, layout), layout),
        headline=headline(gate),
        marker=f"reshuffle-gate {_suite(gate)}",
        link=layout.page,
    )


def _directions(gate: Gate) -> Iterator[str]:
    """Which scores are better, unless the name of the metric says that higher ones are."""
    directions = {task.metric: task.higher_is_better for task in gate.tasks}
    for is_higher, word in ((True, "higher"), (False, "lower")):
        names = [
            name
            for name, higher in directions.items()
            if higher == is_higher and not (higher and is_metric(name) and higher_is_better(name))
        ]
        if names:
            yield _said("note", "direction", metrics=named(names, "metric", MOST_LISTED), word=word)


def _of_units(gate: Gate) -> Iterator[str]:
    """How many units each test set has, and how many were compared, unless it is all."""
    sizes = {task.test_set: counted(task.n_units + task.n_missing, task.unit) for task in gate.tasks}
    shown = [*sizes.values()] if len(sizes) == 1 else [f"{size} of {name}" for name, size in sizes.items()]
    others = [f"those of {counted(len(shown) - MOST_LISTED, 'more test set')}"] * (len(shown) > MOST_LISTED)
    yield f"Tested on {joined([*shown[:MOST_LISTED], *others])}."
    yield from left_out(gate.signature, " of a test set" * (len(sizes) > 1))
    yield from (_of_task(gate, task, "size") for task in gate.tasks if task.n_missing)


def _of_few(gate: Gate) -> Iterator[str]:
    """That the probabilities may be larger."""
    no_means = {"non-inferiority", "non-inferiority-studentized"}
    liberal = [task for task in gate.tasks if task.margin_test in no_means and task.n_units < NEAR_LEVEL]
    if liberal:
        metrics = [*dict.fromkeys(task.metric for task in liberal)]
        yield _said("note", "liberal", metrics=named(metrics, "metric", MOST_LISTED), near=NEAR_LEVEL)
    with_margin = [task for task in gate.tasks if task.margin is not None]
    shuffled = [task for task in with_margin if task.has_enough and task.margin_test != SCORE_TEST]
    # Where nothing differs under a metric that is no mean, the outputs are nearly always identical.
    may_differ = [task for task in shuffled if task.n_differing or task.margin_test == "non-inferiority-ar"]
    few = [task for task in may_differ if task.n_differing < SMALL_SAMPLE]
    if few:
        yield _said("note", "few_differ", tasks=_names(few), few=SMALL_SAMPLE)


def _names(tasks: Sequence[GateTask]) -> str:
    return named([task.name for task in tasks], "task", MOST_LISTED)


def _suite(gate: Gate) -> str:
    """A digest of the names of tasks, so that a comment is updated only by a gate of the same tasks."""
    names = json.dumps([[task.test_set, task.metric] for task in gate.tasks])
    return hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def headline(gate: Gate) -> str:
    """The verdict, and why it was reached."""
    return f"{gate.verdict.upper()}: {_reason(gate)}"


def _reason(gate: Gate) -> str:
    """Why the verdict was reached."""
    if not all(task.has_enough for task in gate.tasks) and gate.verdict != "reject":
        return f"{_of_task(gate, min(gate.tasks, key=lambda each: each.n_units), 'reason')}."
    if gate.is_identical and not _untested(gate) and all(task.is_primary for task in _open_tasks(gate)):
        return "the systems do not differ under any metric."
    if gate.verdict == "reject":
        worse = sorted((task for task in gate.tasks if task.is_worse), key=_is_within)
        reasons = [_listed(gate, worse, "rejected")]
        if all(map(_is_within, worse)):  # which would be allowed, but for these
            reasons.append(_listed(gate, _open_tasks(gate), "reason"))
        return f"{'; '.join(filter(None, reasons))}."
    if gate.rule == "no-regression":
        return f"the system is not shown to be worse under {_names(gate.tasks)}."
    if gate.verdict == "allow":
        return f"{_listed(gate, _closest(gate.tasks), 'shown')}."
    return f"{_listed(gate, _open_tasks(gate), 'open')}."


def _is_within(task: GateTask) -> bool:
    """Whether a task is worse, but shown to be so by less than its margin."""
    return task.is_worse and task.is_shown and task.margin is not None


def _open_tasks(gate: Gate) -> list[GateTask]:
    """The tasks that neither allow nor reject the outputs."""
    return [task for task in gate.tasks if not task.is_shown and not task.is_worse]


def _untested(gate: Gate) -> list[GateTask]:
    """Tasks of labels that say nothing of their error."""
    return [task for task in gate.tasks if task.unit.startswith("labelled ") and task.standard_error is None]


def _closest(tasks: Sequence[GateTask]) -> list[GateTask]:
    """The tasks, those first whose bounds are closest to their margins."""

    def used(task: GateTask) -> float:
        if task.margin is None or task.bound is None:
            return 0.0
        return (-task.bound if task.higher_is_better else task.bound) / task.margin

    return sorted(tasks, key=used, reverse=True)


def _listed(gate: Gate, tasks: Sequence[GateTask], part: str) -> str:
    """A sentence about each of the first tasks, and how many there are if these are not all."""
    shown = "; ".join(_of_task(gate, task, part) for task in tasks[:MOST_LISTED])
    return shown if len(tasks) <= MOST_LISTED else f"{shown}; and {counted(len(tasks) - MOST_LISTED, 'more task')}"


def _decimals(task: GateTask) -> int:
    return decimals_for(max(abs(task.baseline_score), abs(task.system_score)))


def _signed(task: GateTask, value: float) -> str:
    if math.isinf(value):
        return "unbounded"
    ends = [] if task.bound is None or math.isinf(task.bound) else [task.bound]
    return signed(value, decimals_apart(_decimals(task), task.difference, ends))


def _margin(task: GateTask) -> str:
    """The margin in points, and as it was written if that is something else."""
    if task.margin is None:
        return ""
    points = number(float(f"{task.margin:.4g}"))
    has_unit = task.given_margin is not None and task.given_margin.endswith(("sd", "%"))
    return f"{points} ({task.given_margin})" if has_unit else points


def _pvalue(gate: Gate, p: float | None, adjusted: bool = False) -> str:
    return "" if p is None else f"{'adjusted ' * adjusted}{equation('p', pvalue_cell(p, alpha=gate.alpha))}"


def _of_task(gate: Gate, task: GateTask, part: str) -> str:
    """A sentence about a task: fields of the record, and how numbers are shown."""
    are_equal = not task.n_differing and task.margin_test == SCORE_TEST and bool(task.margin and task.bound)
    values = {
        **as_dict(task),
        "name": task.name,
        "is_primary": task.is_primary,
        "seeks_regressions": gate.rule == "no-regression",
        "is_within": _is_within(task),
        "may_be_within": task.margin is not None and task.bound is not None and task.loss < task.margin,
        "n_all": task.n_units + task.n_missing,
        "difference": _signed(task, task.difference),
        "bound": "" if task.bound is None else _signed(task, task.bound),
        "margin": _margin(task),
        "worse_p": _pvalue(gate, task.worse_adjusted_pvalue, adjusted=len(gate.tasks) > 1),
        "better_p": _pvalue(gate, task.better_pvalue),
        "regression": "" if task.detectable is None else number(float(f"{task.detectable:.2g}")),
        "are_equal": are_equal,
        "more": _more_equal(gate, task) if are_equal else 0,
    }
    return _said("task", part, **values)


def _more_equal(gate: Gate, task: GateTask) -> int:
    """How many more equal answers would be enough: the bound of n is z^2 / (n + z^2) times the range of the scores."""
    assert task.bound is not None
    assert task.margin is not None
    z2 = NormalDist().inv_cdf(gate.alpha) ** 2
    return math.ceil(abs(task.bound) * (task.n_units + z2) / task.margin - z2) - task.n_units


def _sentences(gate: Gate) -> Iterator[str]:
    """What else was found, what would decide an open case, and trends."""
    labelled = [task for task in gate.tasks if task.unit.startswith("labelled ")]
    if labelled:
        yield _said("found", "labelled", numbers=[f"{counted(t.n_units, t.unit)} ({t.name})" for t in labelled])
    untested = _untested(gate)
    if untested:
        yield _said("found", "untested", names=[task.name for task in untested])
    elif gate.is_identical:
        yield _said("found", "identical")
    worse = [task for task in gate.tasks if task.is_worse]
    if gate.verdict == "allow" and worse:
        yield _said("found", "within", worse=_listed(gate, worse, "worse"))
    if gate.verdict == "reject" and all(map(_is_within, worse)):
        yield _said("found", "not_alone")
    if gate.verdict == "inconclusive" and not worse and all(task.has_enough for task in gate.tasks):
        shown = [task for task in gate.tasks if task.is_shown]
        closest = f"; {_listed(gate, _closest(shown), 'shown')}" if shown else ""
        yield _said("found", "either", system=gate.system, closest=closest)
    by_chance = [task.name for task in gate.tasks if _is_open_by_chance(gate, task)]
    if by_chance:
        yield _said("found", "by_chance", names=by_chance, n=len(by_chance))
    yield from _power(gate)
    detectable = [task for task in gate.tasks if task.has_enough and task.detectable is not None]
    if gate.rule == "no-regression" and detectable:
        yield _said("found", "detectable", smallest=_listed(gate, detectable, "detectable"))
    yield from _trends(gate)


def _is_open_by_chance(gate: Gate, task: GateTask) -> bool:
    """Whether p of the margin, a share of replicates, is so near alpha that other replicates may decide otherwise."""
    if task.margin_pvalue is None or task.margin_test == SCORE_TEST or not task.has_enough or not gate.n_resamples:
        return False
    reached = task.margin_pvalue * (gate.n_resamples + 1)  # c + 1, unless all ways were tried
    is_share = math.isclose(reached, round(reached), rel_tol=1e-9)
    return is_share and may_lie_across(round(reached) - 1, gate.n_resamples, gate.alpha)


def _power(gate: Gate) -> Iterator[str]:
    """If it is inconclusive: how likely it was that a system without any difference is allowed, and what would help."""
    weakest, needed = gate.weakest, gate.needed_room
    if gate.verdict != "inconclusive" or weakest is None or weakest.room is None:
        return
    if gate.allowed_if_equal is None or needed is None:
        return
    rooms = sorted(
        (task.room, task.name, task.standard_error) for task in gate.tasks if task.room and task.standard_error
    )
    short = [(name, error) for room, name, error in rooms if room < needed]
    margins = [f"{number(float(f'{needed * error:.3g}'))} for {name}" for name, error in short]
    if len(margins) > MOST_LISTED:
        margins[MOST_LISTED:] = [f"larger ones for {counted(len(margins) - MOST_LISTED, 'more task')}"]
    yield _said(
        "found", "power", has_room=not short, needed=margins, n_short=len(short), units=_more(gate),
        n_tasks=len(gate.tasks), allowed=gate.allowed_if_equal,
    )  # fmt: skip


def _more(gate: Gate) -> str:
    """How many more segments are needed, of which test sets."""
    most: dict[str, GateTask] = {}
    for task in sorted(gate.tasks, key=lambda task: task.more_units or 0):
        most[task.test_set] = task  # the last one needs the most
    found = [task for task in gate.tasks if task.more_units and most[task.test_set] is task]
    others = len(found) > MOST_LISTED
    if others:
        found = [max(found, key=lambda task: task.more_units or 0)]
    more = [
        f"{_about(task.more_units or 0)} more {task.unit}s{f' of {task.test_set}' if len(most) > 1 else ''}"
        for task in found
    ]
    return f"{joined(more)} and fewer of others" if others else joined(more) if more else ""


def _about(n: int) -> str:
    """A number with two significant digits.

    >>> _about(1873), _about(7)
    ('1,900', '7')
    """
    return f"{int(float(f'{n:.2g}')):,}"


def _trends(gate: Gate) -> Iterator[str]:
    moving = [trend for trend in gate.trends if trend.pvalue <= gate.alpha]
    runs = max((trend.n_runs for trend in gate.trends), default=gate.n_runs)
    too_few = runs is not None and runs < FEWEST_RUNS
    # Enough runs may have no trend to test, because all scores are equal or of other segments: nothing is said.
    if (gate.trends or too_few) and not moving:
        yield _said("found", "no_trend", runs=runs, too_few=too_few, fewest=FEWEST_RUNS)
    for trend in moving[:MOST_LISTED]:
        p = _pvalue(gate, trend.pvalue, adjusted=len(gate.trends) > 1)
        yield _said("found", "trend", **as_dict(trend), rises=trend.tau > 0, p=p)


def _tasks(gate: Gate) -> Table:
    margins = any(task.margin is not None for task in gate.tasks)
    level = f"{percent(1 - gate.alpha)} bound"
    of_margin, p = [level, "Margin"] if margins else [], f"{'adjusted ' * (len(gate.tasks) > 1)}p (worse)"
    several = len({task.test_set for task in gate.tasks}) > 1
    names = ["Test set", "Metric"] if several else ["Metric"]
    header = [*names, gate.baseline, gate.system, "Δ", *of_margin, p, "Result"]
    title = f"{gate.system} against {gate.baseline}"
    table = Table(title, header, n_names=len(names), grouped=several, stacks=True)
    for task in gate.tasks:
        cells = [f"{score:.{_decimals(task)}f}" for score in (task.baseline_score, task.system_score)]
        cells.append(_signed(task, task.difference))
        if margins:
            cells += ["" if task.bound is None else _signed(task, task.bound), _margin(task)]
        cells += [pvalue_cell(task.worse_adjusted_pvalue, alpha=gate.alpha), _of_task(gate, task, "result")]
        table.add([*[task.test_set, task.metric][-len(names) :], *cells])
    return table


def _lost(gate: Gate) -> Iterator[Table]:
    """The segments that lost most, under the task that lost most."""
    losing = [task for task in gate.tasks if task.lost and task.standard_error]
    if not losing:
        return
    task = max(losing, key=lambda each: each.loss / (each.standard_error or 1.0))
    title = f"The {task.unit}s that lost most under {task.name}"
    if (task.n_lost or 0) > len(task.lost):
        last = task.lost[-1].contribution
        same = sum(math.isclose(each.contribution, last) for each in task.lost)
        n_same = (task.n_lost or 0) - len(task.lost) + same
        title += f", {'' if same == len(task.lost) else 'the last '}{same} of {n_same:,} with the same loss"
    header = [task.unit.capitalize(), gate.baseline, gate.system, "Part of Δ"]
    yield segments_table(title, header, task.lost, [each.contribution for each in task.lost])


# The columns of CSV: fields of tasks.
COLUMNS: Mapping[str, str | None] = {
    "test_set": None, "metric": None, "unit": None, "n_units": "Int64", "n_differing": "Int64",
    "baseline_score": "float64", "system_score": "float64", "difference": "float64", "standard_error": "float64",
    "margin": "float64", "bound": "float64", "margin_test": None, "margin_pvalue": "float64", "worse_test": None,
    "worse_pvalue": "float64", "worse_adjusted_pvalue": "float64", "better_pvalue": "float64",
    "is_shown": "boolean", "is_worse": "boolean", "detectable": "float64", "more_units": "Int64",
}  # fmt: skip


def gate_columns(gate: Gate, table: str | None = None) -> Columns:
    """A row for each task."""
    columns = columns_from({name: (kind, name) for name, kind in COLUMNS.items()}, gate.tasks)
    return {**columns, "verdict": ([gate.verdict] * len(gate.tasks), None)}


def gate_as_junit(gate: Gate) -> str:
    """JUnit's XML: a test case for each task. Those that are worse or inconclusive fail, unless outputs are allowed."""
    failed = {
        n: "reject" if task.is_worse else "inconclusive"
        for n, task in enumerate(gate.tasks)
        if gate.verdict != "allow" and (task.is_worse or not (task.has_enough and task.is_shown))
    }
    suite = ElementTree.Element(
        "testsuite", name="reshuffle gate", tests=f"{len(gate.tasks)}", failures=f"{len(failed)}"
    )
    for n, task in enumerate(gate.tasks):
        case = ElementTree.SubElement(
            suite, "testcase", classname=_plain(task.test_set or "reshuffle gate"), name=_plain(task.metric)
        )
        if n in failed:
            said = _plain(_of_task(gate, task, "reason"))
            failure = ElementTree.SubElement(case, "failure", type=failed[n], message=said)
            failure.text = f"{failed[n].upper()}: {said}."
        ElementTree.SubElement(case, "system-out").text = _of_task(gate, task, "with_result")
    ElementTree.SubElement(suite, "system-out").text = _plain("\n".join([headline(gate), *_sentences(gate)]))
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


# How GitHub marks a verdict.
LEVELS: Mapping[str, str] = {"allow": "notice", "reject": "error", "inconclusive": "warning"}


def gate_as_github(gate: Gate) -> str:
    """An annotation with the verdict and the reason, which GitHub shows beside the checks of a pull request."""
    return annotation(LEVELS[gate.verdict], f"reshuffle gate, {gate.system} against {gate.baseline}", headline(gate))


def annotation(level: str, title: str, text: str) -> str:
    """A command of GitHub Actions.

    >>> annotation("error", "a, b", "100% worse")
    '::error title=a%2C b::100%25 worse\\n'
    """
    title, text = (printable(each).replace("%", "%25") for each in (title, text))
    return f"::{level} title={title.replace(':', '%3A').replace(',', '%2C')}::{text}\n"


def _plain(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return printable(text, keep="\n\t")


def _place(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where a figure has a value: between its ends ``start`` and ``end``, also for values beyond the scale."""
    return lambda value: round(start + (min(max(value, low), high) - low) * (end - start) / (high - low), 1)


def _svg(template: str, **values: Any) -> str:
    """A figure that needs no matplotlib: base64-encoded SVG."""
    return base64.b64encode(template_of(template).render(**values).encode()).decode("ascii")


def _history(gate: Gate, trend: Trend) -> tuple[str, str]:
    """The scores of a history as a line, with those of the last baseline, and a caption."""
    task = next(task for task in gate.tasks if task.name == trend.task)
    baseline, margin = task.baseline_score, task.margin
    limit = None if margin is None else baseline - (margin if task.higher_is_better else -margin)
    drawn = [*trend.scores, baseline, *([] if limit is None else [limit])]
    low, high = min(drawn), max(drawn)
    ends = [max(trend.scores), min(trend.scores)]
    decimals = decimals_for(max(map(abs, ends)))
    svg = _svg(
        "history.svg.j2",
        scores=trend.scores,
        ends=ends,
        shown=lambda score: f"{score:.{decimals}f}".replace("-", "\N{MINUS SIGN}"),
        baseline=baseline,
        limit=limit,
        high=high,
        x=_place(0, trend.n_runs - 1, 72, WIDTH - 16),
        y=_place(low, high, 120, 16),
    )
    return svg, _said("figure", "history", task=trend.task, n_runs=trend.n_runs, has_margin=limit is not None)


# The width of figures and of the names in that of all tasks, the most tasks that it shows, the end of its scale in
# units of a row, and the most intervals between ticks.
WIDTH, NAMES, MOST_DRAWN, LONGEST, MOST_TICKS = 432, 176, 40, 8.0, 6
# The average width of a letter. Wider names are cut off by the figure itself.
LETTER = 6.4


def _cut(name: str) -> str:
    """A name that is about as wide as its column at most."""
    from rich.cells import cell_len, set_cell_size  # they take long to import

    most = int(NAMES / LETTER)
    return name if cell_len(name) <= most else f"{set_cell_size(name, most - 1).rstrip()}…"


def _forest(gate: Gate) -> tuple[str, str] | None:
    """Δ, its bound and the margin of each task as base64-encoded SVG, and a caption; None if none has a unit."""
    tasks = [task for task in _closest(gate.tasks) if task.margin or task.standard_error]
    drawn = {task.name for task in tasks[:MOST_DRAWN]}
    shown = [task for task in gate.tasks if task.name in drawn]  # in the order of the table
    if not shown:
        return None
    rows: list[dict[str, Any]] = []
    for task in shown:
        # To the left are losses, in margins or, without one, in standard errors.
        by = (1 if task.higher_is_better else -1) / (task.margin or task.standard_error or 1.0)
        values = {"difference": task.difference * by, "bound": None if task.bound is None else task.bound * by}
        decides = task.is_worse or (task.is_shown and gate.rule != "no-regression")
        own = {"name": _cut(task.name), "is_worse": task.is_worse, "has_margin": bool(task.margin), "decides": decides}
        rows.append(own | values)
    values_of = [row[key] for row in rows for key in ("difference", "bound") if row[key] is not None]
    finite = [*filter(math.isfinite, values_of), -1.2, 0.6]
    low, high = max(min(finite), -LONGEST), min(max(finite), LONGEST)
    left, right, step = NAMES + 16, WIDTH - 16, math.ceil((high - low) / MOST_TICKS)
    ticks = range(math.ceil(low / step) * step, math.floor(high) + 1, step)
    scale = {"low": low, "high": high, "left": left, "right": right, "ticks": ticks}
    svg = _svg("tasks.svg.j2", rows=rows, x=_place(low, high, left, right), **scale)
    n_margins, has_bounds = sum(bool(task.margin) for task in shown), any(task.bound is not None for task in shown)
    more = len(tasks) - len(shown)
    return svg, _said("figure", "tasks", n=len(shown), n_margins=n_margins, has_bounds=has_bounds, more=more)


def _page(gate: Gate, document: Document, layout: Layout) -> Page:
    """The page, in the form of that of a study."""
    from .studies.page import Drawn, StudyContent  # most commands write no page

    drawn = [_forest(gate), *(_history(gate, trend) for trend in gate.trends)]
    figures = [Drawn(*figure) for figure in drawn if figure is not None]
    facts = [("Verdict", gate.verdict), ("Baseline", gate.baseline), ("System", gate.system), ("Rule", gate.rule)]
    margins = {task.name: task.given_margin for task in gate.tasks if task.given_margin is not None}
    shown = StudyContent(
        title=f"Gate: {gate.verdict}",
        facts=[*facts, ("α", number(gate.alpha)), ("Replicates", f"{gate.n_resamples:,}"), ("Seed", f"{gate.seed}")],
        conclusions=document.found,
        tables=document.tables,
        notes=document.notes,
        figures=figures,
        command=layout.command,
        plan=json.dumps(margins, indent=2, ensure_ascii=False) if margins else "",
        plan_heading="Margins",
        signature=gate.signature,
        version=gate.version,
        schema=GATE,
    )
    return Page("study.html.j2", STUDY_SCRIPTS, as_json(gate), {"shown": shown})
