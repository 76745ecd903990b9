"""The report of ``human``: what labels say, and how much more with a metric's help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import listed
from ...results.studies import LabelledEstimate, StudyResult
from ...results.studies.human import HumanPlan
from ..cells import Table, decimals_for, pvalue_cell
from ..notes import counted, number
from .base import StudyReport
from .wording import of_name

# Intervals from fewer labelled documents are somewhat too short: docs/evidence/human.md.
FEW_LABELS = 30
# A predictor that is worth less than this share of the labels is not worth having.
LEAST_WORTH = 0.05
# In a result of labels that were drawn at random, a metric looks as if they were not this often.
SELECTED = 0.01
# The t of a correlation that is hardly chance.
NOISE = 2.0


def title(study: StudyResult[HumanPlan]) -> str:
    """What was labelled."""
    fewest, most = _numbers(study)
    plan = study.plan
    shown = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{plan.human}: labels of {shown} of {counted(plan.units, plan.unit)}"


def _numbers(study: StudyResult[HumanPlan]) -> tuple[int, int]:
    """The smallest and the largest number of labels."""
    numbers = [each.labelled for table in study.tables.values() for each in table]
    return min(numbers), max(numbers)


def tables(study: StudyResult[HumanPlan]) -> Iterator[Table]:
    """Differences from the baseline, if there are any, and scores."""
    differences, scores = study.tables["differences"], study.tables["scores"]
    if differences:
        yield _table(study, f"Differences from {study.plan.baseline}", differences)
    yield _table(study, "Scores", scores)


def _table(study: StudyResult[HumanPlan], name: str, rows: Sequence[LabelledEstimate]) -> Table:
    of_pairs = rows[0].baseline is not None
    planned = study.plan.difference if of_pairs else None
    level = f"{number(100 * study.plan.confidence_level)}% interval"
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
            "–" if row.predictor is None else "+0" if abs(row.worth) < 0.5 else f"{row.worth:+,.0f}",
        ]
        if row.detectable is not None:
            cells.append(f"{row.detectable:.{decimals}f}")
        if planned is not None:
            cells.append("–" if row.needed is None else f"{row.needed:,}")
        table.add(cells)
    return table


def conclusions(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """Who is better, and how much each predictor is worth: for differences, or for scores if there is one system."""
    rows: Sequence[LabelledEstimate] = study.tables["differences"] or study.tables["scores"]
    selected = list(_selected(study))
    yield from selected
    predictors = [*dict.fromkeys(row.predictor for row in rows if row.predictor is not None)]
    # Of several metrics, none was chosen beforehand.
    chosen = predictors[0] if len(predictors) == 1 else None
    for row in of_name(study.tables["differences"], predictor=chosen) if not selected else ():
        yield _verdict(study, row)
    for predictor in predictors:
        yield _worth(predictor, of_name(rows, predictor=predictor))


def _selected(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """Predictors whose scores of labelled and of other units differ."""
    rows = [row for row in study.tables["scores"] if row.shift_pvalue is not None]
    moved = [row for row in rows if row.shift_pvalue < SELECTED / len(rows)]
    for predictor in dict.fromkeys(row.predictor for row in moved):
        systems = listed([row.system for row in of_name(moved, predictor=predictor)])
        yield (
            f"{predictor} scores {systems} differently on {study.plan.unit}s with labels than on the others, by "
            "more than chance: were they drawn at random? If not, none of this holds."
        )


def _verdict(study: StudyResult[HumanPlan], row: LabelledEstimate) -> str:
    """Whether a difference is shown."""
    p = row.pvalue if row.adjusted_pvalue is None else row.adjusted_pvalue
    assert p is not None
    (human,) = of_name(study.metrics, name=row.metric)
    by = "by the labels alone" if row.predictor is None else f"with the help of {row.predictor}"
    if p > 1 - study.plan.confidence_level:
        return f"No difference between {row.system} and {row.baseline} is shown under {row.metric}, {by}."
    better = "better" if (row.estimate > 0) == human.higher_is_better else "worse"
    return f"{row.system} is {better} than {row.baseline} under {row.metric}, {by}."


def _worth(predictor: str, rows: Sequence[LabelledEstimate]) -> str:
    shares = [row.worth / row.labelled for row in rows]
    # A correlation of nothing but noise is larger in one of twenty cases.
    related = [abs(row.correlation or 0) > NOISE / row.labelled**0.5 for row in rows]
    if max(shares) < LEAST_WORTH or not any(related):
        return f"{predictor} says little or nothing about these labels: estimates are nearly those of the labels alone."
    if len(rows) == 1:
        extra = counted(round(rows[0].worth), "extra label")
        return f"{predictor} is worth about {extra}, on top of the {rows[0].labelled:,} there are."
    low, high = (f"{100 * share:.0f}%" for share in (min(shares), max(shares)))
    return f"{predictor} is worth about {low} to {high} extra labels, depending on the pair."


def notes(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """What is estimated, how, and what may be wrong."""
    plan = study.plan
    units = f"{plan.unit}s"
    meant = (
        f"all {units} like these, of which they are a sample"
        if plan.target == "population"
        else f"labels of all these {counted(plan.units, plan.unit)}"
    )
    yield f"Estimates are of {meant}."
    finite = plan.target == "set"
    name = "regression estimate" if finite else "prediction-powered inference"
    yield (
        "With a metric: the mean of the labels, adjusted by the metric's scores of the others, with the weight that "
        f"gives the smallest error ({name}). ρ: its correlation with the labels. Worth: how many extra labels would be "
        "as good."
    )
    if study.tables["differences"]:
        level = number(1 - plan.confidence_level)
        yield f"MDD: minimum detectable difference, which a single t test at {level} shows with 80% power."
    if plan.difference is not None:
        of = f"of these {plan.units:,} {units} " if finite else ""
        share = "" if finite else f", if as large a share of the {units} has labels"
        yield f"for {number(plan.difference)}: the labels {of}that show such a difference with 80% power{share}."
    if any(row.adjusted_pvalue is not None for row in study.tables["differences"]):
        yield "p is adjusted for all pairs by Holm's method; each interval is for one pair."
    if len(study.metrics) > 2:
        yield (
            "Choose one metric before you see the labels. The best of several intervals is too short, so the verdict "
            "is that of the labels alone."
        )
    if _numbers(study)[0] < FEW_LABELS:
        yield f"With fewer than {FEW_LABELS} labelled {units}, intervals may be somewhat too short."
    yield f"This holds for labelled {units} that were drawn at random from all of them."


REPORT = StudyReport(title, tables, conclusions, notes)
