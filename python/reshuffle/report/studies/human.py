"""The report of ``human``: what labels say, and how much more with a metric's help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import listed
from ...results.studies import LabelledEstimate, StudyResult
from ..cells import Table, decimals_for, pvalue_cell
from ..notes import counted, number
from .base import StudyReport
from .wording import of_name

# Intervals from fewer labels are somewhat too short: docs/evidence/human.md.
FEW_LABELS = 50
# A predictor that is worth less than this share of the labels is not worth having.
LEAST_WORTH = 0.05
# Labels that were drawn at random look this different in one of a hundred cases.
SELECTED = 0.01


def title(study: StudyResult) -> str:
    """What was labelled."""
    fewest, most = _numbers(study)
    plan = study.plan
    shown = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{plan['human']}: labels of {shown} of {counted(plan['units'], plan['unit'])}"


def _numbers(study: StudyResult) -> tuple[int, int]:
    """The smallest and the largest number of labels."""
    numbers = [each.labelled for table in study.tables.values() for each in table]
    return min(numbers), max(numbers)


def tables(study: StudyResult) -> Iterator[Table]:
    """Differences from the baseline, if there are any, and scores."""
    differences, scores = study.tables["differences"], study.tables["scores"]
    if differences:
        yield _table(study, f"Differences from {study.plan['baseline']}", differences)
    yield _table(study, "Scores", scores)


def _table(study: StudyResult, name: str, rows: Sequence[LabelledEstimate]) -> Table:
    of_pairs = rows[0].baseline is not None
    planned = study.plan["difference"] if of_pairs else None
    level = f"{number(100 * study.plan['confidence_level'])}% interval"
    header = ["System", "With", "Δ" if of_pairs else "Score", level, *(["p"] if of_pairs else []), "ρ", "Worth"]
    header += [*(["MDD"] if of_pairs else []), *([f"for {number(planned)}"] if planned is not None else [])]
    table = Table(f"{title(study)}. {name}", header, n_names=2, grouped=1)
    decimals = decimals_for(max(abs(row.estimate) for row in rows))
    sign = "+" if of_pairs else ""
    for row in rows:
        p = row.pvalue if row.adjusted_pvalue is None else row.adjusted_pvalue
        cells = [
            row.system,
            row.predictor or "labels alone",
            f"{row.estimate:{sign}.{decimals}f}",
            f"{row.low:{sign}.{decimals}f} to {row.high:{sign}.{decimals}f}",
            *([] if p is None else [pvalue_cell(p)]),
            "–" if row.correlation is None else f"{row.correlation:.2f}",
            "–" if row.predictor is None else f"{row.worth:+,.0f}",
        ]
        if row.detectable is not None:
            cells.append(f"{row.detectable:.{decimals}f}")
        if planned is not None:
            cells.append("–" if row.needed is None else f"{row.needed:,}")
        table.add(cells)
    return table


def conclusions(study: StudyResult) -> Iterator[str]:
    """Who is better, and how much each predictor is worth: for differences, or for scores if there is one system."""
    rows: Sequence[LabelledEstimate] = study.tables["differences"] or study.tables["scores"]
    predictors = [*dict.fromkeys(row.predictor for row in rows if row.predictor is not None)]
    # Of several metrics, none was chosen beforehand.
    chosen = predictors[0] if len(predictors) == 1 else None
    for row in of_name(study.tables["differences"], predictor=chosen):
        yield _verdict(study, row)
    for predictor in predictors:
        own = of_name(rows, predictor=predictor)
        shares = [row.worth / row.labelled for row in own]
        if max(shares) < LEAST_WORTH:
            yield f"{predictor} says next to nothing about these labels: estimates are those of the labels alone."
        elif len(own) == 1:
            more = counted(round(own[0].worth), "label")
            yield f"{predictor} is worth {more} more than the {own[0].labelled:,} there are."
        else:
            low, high = (f"{100 * share:.0f}%" for share in (min(shares), max(shares)))
            yield f"{predictor} is worth {low} to {high} more labels than there are."


def _verdict(study: StudyResult, row: LabelledEstimate) -> str:
    """Whether a difference is shown."""
    p = row.pvalue if row.adjusted_pvalue is None else row.adjusted_pvalue
    assert p is not None
    (human,) = of_name(study.metrics, name=row.metric)
    if p > 1 - study.plan["confidence_level"]:
        return f"No difference is shown between {row.system} and {row.baseline} under {row.metric}."
    better = (row.estimate > 0) == human.higher_is_better
    return f"{row.system} is {'better' if better else 'worse'} than {row.baseline} under {row.metric}."


def notes(study: StudyResult) -> Iterator[str]:
    """What is estimated, how, and what may be wrong."""
    plan = study.plan
    units = f"{plan['unit']}s"
    meant = (
        f"all {units} like these, of which they are a sample"
        if plan["target"] == "population"
        else f"labels of all these {counted(plan['units'], plan['unit'])}"
    )
    yield f"Estimates are of {meant}."
    yield (
        "With a metric: the labels, corrected by what it says of the rest, with the weight that gives the smallest "
        "error (prediction-powered inference). ρ: its correlation with the labels. Worth: how many labels more would "
        "be as good."
    )
    if study.tables["differences"]:
        level = number(1 - plan["confidence_level"])
        yield f"MDD: minimum detectable difference, which the t test at {level} shows with 80% power."
    if plan["difference"] is not None:
        yield (
            f"for {number(plan['difference'])}: the labels that show a difference of this size with 80% power, if as "
            f"large a share of the {units} has labels."
        )
    if any(row.adjusted_pvalue is not None for row in study.tables["differences"]):
        yield "p is adjusted for all pairs by Holm's method."
    if len(study.metrics) > 2:
        yield "Choose one metric before you see the labels: the best of several intervals is too short."
    if _numbers(study)[0] < FEW_LABELS:
        yield f"With fewer than {FEW_LABELS} labelled {units}, intervals with a metric are somewhat too short."
    rows: Sequence[LabelledEstimate] = study.tables["scores"]
    moved = [row for row in rows if row.shift_pvalue is not None and row.shift_pvalue < SELECTED]
    for predictor in dict.fromkeys(row.predictor for row in moved):
        own = of_name(moved, predictor=predictor)
        yield (
            f"{predictor} scores {listed([row.system for row in own])} differently on {units} with labels than on the "
            "others, by more than chance: were they drawn at random? If not, none of this holds."
        )
    yield f"This holds for labelled {units} that were drawn at random from all of them."


REPORT = StudyReport(title, tables, conclusions, notes)
