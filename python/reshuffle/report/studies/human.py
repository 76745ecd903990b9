"""The report of ``human``: what labels say, and how much more with a metric's help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import counted, listed, printable
from ...grouping import grouped
from ...results import NO_DIFFERENCE
from ...results.studies import LabelledEstimate, PlannedLook, PlannedRaters, RaterAgreement, StudyResult
from ...results.studies.human import HumanPlan, deciding, is_selected
from ..cells import Table, decimals_for, pvalue_cell, rank_cell
from ..methods import cite, metrics_phrase
from ..notes import LETTERS
from ..pivot import Cells, Rows, as_number, ends_cell, number_cell, pivot
from ..wording import joined, number
from ..words import Template, said, words
from .base import StudyReport
from .shared import of_name

# Intervals from fewer labelled documents are somewhat too short: docs/evidence/human.md.
FEW_LABELS = 30
# A predictor that is worth less than this share of the labels is not worth having.
LEAST_WORTH = 0.05
# The t of a correlation that is hardly chance.
NOISE = 2.0
# The heading of p that is adjusted.
ADJUSTED_P = "adjusted p"
# More differences are counted, not listed.
MOST_VERDICTS = 5
COEFFICIENTS = {
    "alpha-nominal": "α, nominal",
    "alpha-ordinal": "α, ordinal",
    "alpha-interval": "α, interval",
    "kappa": "κ",
}


def title(study: StudyResult[HumanPlan]) -> str:
    """What was labelled."""
    return f"{listed(study.plan.human)}: labels of {_labelled(study)}"


def _labelled(study: StudyResult[HumanPlan]) -> str:
    """How many units have labels, as a phrase."""
    numbers = {each.labelled for each in _estimates(study)}
    shown = " to ".join(f"{n:,}" for n in sorted({min(numbers), max(numbers)}))
    return f"{shown} of {counted(study.plan.units, study.plan.unit)}"


def _estimates(study: StudyResult[HumanPlan]) -> Sequence[LabelledEstimate]:
    """Differences and scores."""
    return [*study.tables["differences"], *study.tables["scores"]]


def tables(study: StudyResult[HumanPlan]) -> Iterator[Table]:
    """Differences, if there are any, ranks, scores, and how far raters agree."""
    differences, scores = study.tables["differences"], study.tables["scores"]
    ranks, agreement = (study.tables.get(name, ()) for name in ("ranking", "agreement"))
    baseline = study.plan.baseline
    if differences:
        yield _table(
            study, "Differences of all pairs" if baseline is None else f"Differences from {baseline}", differences
        )
    if ranks:
        rank: Cells = {
            "System": "system",
            "Rank": lambda each: rank_cell(each.rank_low, each.rank_high),
            "Group": lambda each: each.letters or "",
        }
        yield pivot(f"{title(study)}. Ranks, {_by(_chosen(study))}", ranks, Rows(rank, n_names=1))
    yield _table(study, "Scores", scores)
    what = f"for a difference of {_planned(study)}, {_by(_chosen(study))}"
    if looks := of_name(study.tables.get("looks", ()), predictor=_chosen(study)):
        look: Cells = {
            "Pair": _pair,
            "Look": lambda each: f"{each.look}",
            "Labels": "labels",
            "Stop if p ≤": as_number("level", ".2g"),
            "Shown by then": lambda each: f"{100 * each.power:.0f}%",
        }
        yield pivot(f"Looks {what}", looks, Rows(look, n_names=1, grouped=1))
    if designs := of_name(study.tables.get("designs", ()), predictor=_chosen(study)):
        design: Cells = {
            "Pair": _pair,
            "Per segment": lambda each: f"{each.per_segment}",
            f"{study.plan.unit.capitalize()}s": as_number("needed", ","),
        }
        yield pivot(f"Labels {what}", designs, Rows(design, n_names=1, grouped=1))
    if agreement:
        raters: Cells = {
            "Labels": _labels,
            "Coefficient": lambda each: COEFFICIENTS[each.coefficient],
            "Value": as_number("value", ".2f"),
            _interval(study): lambda each: " to ".join(number_cell(end, ".2f") for end in (each.low, each.high)),
            "Outputs": "outputs",
        }
        yield pivot("Agreement of raters", agreement, Rows(raters, n_names=2, grouped=1))


def _pair(each: PlannedLook | PlannedRaters | LabelledEstimate) -> str:
    return f"{each.system} − {each.baseline}"


def paper(study: StudyResult[HumanPlan]) -> Iterator[Table]:
    """The same tables, whose captions explain their columns: papers have no notes."""
    phrases, values = Template(words("human")["phrase"]), _values(study)
    phrase_of = {**words("human")["heading"], _for(study.plan): "planned"}
    for table in tables(study):
        symbols = (phrases.filled(phrase_of[name], values) for name in table.header if name in phrase_of)
        yield table.explained(" ".join(filter(None, symbols)))


def _values(study: StudyResult[HumanPlan]) -> dict[str, Any]:
    """What the templates of ``words/human.toml`` depend on."""
    plan, every, scores = study.plan, _estimates(study), study.tables["scores"]
    return {
        **plan,
        **{name: bool(study.tables.get(name)) for name in ("differences", "ranking", "agreement")},
        "size": counted(plan.units, plan.unit),
        "alpha": 1 - plan.confidence_level,
        "level": number(100 * plan.confidence_level),
        "letters": LETTERS,
        "for": _for(plan),
        "adjusted": any(row.adjusted_pvalue is not None for row in study.tables["differences"]),
        "standardized": any(row.standardized for row in scores),
        "worthless": any(_worth_cell(row.worth).startswith("-") for row in every),
        "unknown": any(row.low is None for row in every),
        "several": len({row.predictor for row in scores}) > 2,
        "few": min(row.labelled for row in every) < FEW_LABELS,
        "least": FEW_LABELS,
    }


def _for(plan: HumanPlan) -> str:
    """The heading of the column of planned labels."""
    return "" if plan.difference is None else f"for {number(plan.difference)}"


def _planned(study: StudyResult[HumanPlan]) -> str:
    return "–" if study.plan.difference is None else number(study.plan.difference)


def _interval(study: StudyResult[HumanPlan]) -> str:
    return f"{number(100 * study.plan.confidence_level)}% interval"


def _labels(row: LabelledEstimate | RaterAgreement) -> str:
    return "standardized" if row.standardized else "as given"


def _chosen(study: StudyResult[HumanPlan]) -> str | None:
    """The predictor that helps to decide; None for the labels alone."""
    return deciding([*dict.fromkeys(name for row in study.tables["scores"] if (name := row.predictor) is not None)])


def _by(predictor: str | None) -> str:
    return "according to the labels alone" if predictor is None else f"according to the labels and {predictor}"


def _table(study: StudyResult[HumanPlan], name: str, rows: Sequence[LabelledEstimate]) -> Table:
    plan, of_pairs = study.plan, rows[0].baseline is not None
    ways = len({row.standardized for row in rows}) > 1
    decimals = decimals_for(max(abs(row.estimate) for row in rows))
    spec, alpha = f"{'+' if of_pairs else ''}.{decimals}f", round(1 - plan.confidence_level, 10)
    planned = of_pairs and plan.difference is not None
    p = ADJUSTED_P if any(row.adjusted_pvalue is not None for row in rows) else "p"
    cells: Cells = {
        "System": lambda row: row.system if row.baseline == plan.baseline or not of_pairs else _pair(row),
        "Labels": ways and _labels,
        "With": lambda row: row.predictor or "labels alone",
        "Δ" if of_pairs else "Score": as_number("estimate", spec),
        _interval(study): lambda row: ends_cell((row.low, row.high), spec),
        p: of_pairs and (lambda row: pvalue_cell(row.decisive_pvalue, alpha=alpha)),
        "ρ": as_number("correlation", ".2f"),
        "Worth": lambda row: "–" if row.predictor is None else _worth_cell(row.worth),
        "MDD": of_pairs and as_number("detectable", f".{decimals}f"),
        _for(plan): planned and as_number("needed", ","),
    }
    order = [(row.system, row.baseline) for row in rows]
    ordered = sorted(rows, key=lambda row: order.index((row.system, row.baseline)))
    return pivot(f"{title(study)}. {name}", ordered, Rows(cells, n_names=2 + ways, grouped=1 + ways))


def conclusions(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """Who is better, and how much each predictor is worth: for differences, or for scores if there is one system."""
    differences, scores = (
        [row for row in study.tables[name] if not row.standardized] for name in ("differences", "scores")
    )
    rows: Sequence[LabelledEstimate] = differences or scores
    selected = list(_selected(study))
    yield from selected
    predictors = [*dict.fromkeys(row.predictor for row in rows if row.predictor is not None)]
    decided = [] if selected else of_name(differences, predictor=_chosen(study))
    if len(decided) > MOST_VERDICTS:
        shown = sum(row.decisive_pvalue <= 1 - study.plan.confidence_level for row in decided)
        yield f"{shown} of {len(decided)} differences are significant, {_by(_chosen(study))}."
    else:
        for (verbs, rest), systems in grouped((_verdict(study, row), row.system) for row in decided).items():
            yield f"{joined(systems)} {verbs[len(systems) > 1]} {rest}."
    for predictor in predictors:
        yield _worth(predictor, of_name(rows, predictor=predictor))


def _selected(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """Predictors whose scores of labelled and of other units differ."""
    rows = [row for row in study.tables["scores"] if row.shift_pvalue is not None and not row.standardized]
    moved = [row for row in rows if is_selected(row.shift_pvalue, len(rows))]
    for predictor in dict.fromkeys(row.predictor for row in moved):
        systems = listed([row.system for row in of_name(moved, predictor=predictor)])
        yield (
            f"{predictor} scores {systems} differently on {study.plan.unit}s with labels than on the others, by "
            "more than chance: were they drawn at random? If not, none of this holds."
            + ("" if study.plan.strata else " If they were drawn within parts of the set, name these as strata.")
        )


def _verdict(study: StudyResult[HumanPlan], row: LabelledEstimate) -> tuple[tuple[str, str], str]:
    """Whether a difference is shown: the verb, also in the plural, and what follows it."""
    human, by = next(iter(of_name(study.metrics, name=study.plan.human[0]))), _by(row.predictor)
    end = f"under {joined(study.plan.human)}, {by}"
    if row.decisive_pvalue > 1 - study.plan.confidence_level:
        return ("shows", "show"), f"{NO_DIFFERENCE} from {row.baseline} {end}"
    better = "better" if (row.estimate > 0) == human.higher_is_better else "worse"
    return ("is", "are"), f"significantly {better} than {row.baseline} {end}"


def _worth_cell(worth: float) -> str:
    """A number of labels with its sign, which 0 has, too.

    >>> _worth_cell(-0.3), _worth_cell(-1.2)
    ('+0', '-1')
    """
    return "+0" if abs(worth) < 0.5 else f"{worth:+,.0f}"


def _worth(predictor: str, rows: Sequence[LabelledEstimate]) -> str:
    shares = [row.worth / row.labelled for row in rows]
    # A correlation of nothing but noise is larger in one of twenty cases.
    related = [abs(row.correlation or 0) > NOISE / row.labelled**0.5 for row in rows]
    if max(shares) < LEAST_WORTH or not any(related):
        return f"{predictor} says little or nothing about these labels: estimates are nearly those of the labels alone."
    if len(rows) == 1:
        extra = counted(round(rows[0].worth), "extra label")
        return f"{predictor} is worth about {extra}, on top of the {rows[0].labelled:,} there are."
    low, high = (f"{100 * max(0, share):.0f}%" for share in (min(shares), max(shares)))
    return f"{predictor} is worth about {low} to {high} extra labels, depending on the pair."


def methods(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """The labels and who gave them, the metric, what is estimated, and how it is tested."""
    plan = study.plan
    values = {
        "whose": joined(map(printable, plan.human)),
        "labels": _labelled(study),
        "by": metrics_phrase([each for each in study.metrics if each.name not in plan.human]),
        "cited": cite(None if plan.target == "set" else "doi:10.1126/science.adi6000"),
        "n_raters": len(plan.human),
        "of": "of all pairs" if plan.baseline is None else f"from {printable(plan.baseline)}",
        "helped": _by(_chosen(study)),
    }
    yield from said("human", "methods", _values(study) | values)


def notes(study: StudyResult[HumanPlan]) -> Iterator[str]:
    """What is estimated, how, and what may be wrong."""
    yield from said("human", "note", _values(study))


REPORT = StudyReport(
    title, tables, conclusions, notes, paper=paper, methods=methods,
    intervals="Intervals of scores and differences are for the sampling of the units with labels, and of raters if "
    "these are random. Each system has a single output: variation between training runs is not in them.",
)  # fmt: skip
