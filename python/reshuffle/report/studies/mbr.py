"""The report of ``mbr``: what minimum Bayes risk decoding changes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...errors import counted
from ...results.studies import MbrChoice, StudyResult
from ...results.studies.mbr import MbrPlan
from ..cells import Table, decimals_for
from ..pivot import number_cell
from ..wording import number
from .base import StudyReport
from .shared import in_percent, of_name, with_arrow

SHOWN = {"topbest": "1-best entry", "mbr": "Minimum Bayes risk"}


def _choices(study: StudyResult[MbrPlan]) -> tuple[MbrChoice, ...]:
    return study.tables["choices"]


def title(study: StudyResult[MbrPlan]) -> str:
    """The utility."""
    return f"Minimum Bayes risk decoding with {study.plan.utility}"


def tables(study: StudyResult[MbrPlan]) -> Iterator[Table]:
    """The mean expected utility, and the corpus scores if there are references."""
    utility, scored = study.metrics[0], study.metrics[1:]
    header = ["Choice", "Name", f"Expected {with_arrow(utility)}", *map(with_arrow, scored)]
    table = Table(title(study), header, n_names=2)
    choices = _choices(study)
    utilities = {"topbest": [each.topbest_utility for each in choices], "mbr": [each.utility for each in choices]}
    known = {choice: [value for value in own if not math.isnan(value)] for choice, own in utilities.items()}
    means = {choice: math.fsum(own) / len(own) for choice, own in known.items() if own}
    decimals = decimals_for(max(map(abs, means.values()), default=0.0))
    for choice, shown in SHOWN.items():
        scores = [each.score for each in of_name(study.tables.get("scores", ()), choice=choice)]
        cells = [f"{score:.{decimals_for(abs(score))}f}" for score in scores]
        table.add([shown, choice, number_cell(means.get(choice), f".{decimals}f"), *cells])
    references = " The other columns are corpus scores against the references." if scored else ""
    yield table.explained(f"Expected {utility.name}: mean over sentences of the expected utility.{references}")


def conclusions(study: StudyResult[MbrPlan]) -> Iterator[str]:
    """How many outputs change."""
    choices = _choices(study)
    changed = sum(each.entry != each.topbest for each in choices)
    yield (
        f"The chosen entry is not the 1-best entry for {changed:,} of {counted(len(choices), 'sentence')} "
        f"({in_percent(changed / len(choices), 0)}%)."
    )


def notes(study: StudyResult[MbrPlan]) -> Iterator[str]:
    """The lists, the probabilities, and which entries count."""
    plan, choices = study.plan, _choices(study)
    distinct = sum(each.distinct for each in choices)
    yield (f"{counted(len(choices), 'list')}, {plan.entries:,} entries, {distinct:,} of them distinct in their lists.")
    if plan.scale is None:
        yield "Probabilities: all entries of a list are equally probable, and duplicates count as often as they occur."
    else:
        yield f"Probabilities: softmax of {number(plan.scale)} times the model scores, over each list."
    itself = "leaving out itself" if plan.exclude_self else "including itself"
    yield f"Expected utility of an entry: its mean score against all entries of the list as references, {itself}."
    preferred = "first one" if plan.probabilities == "uniform" else "one with the highest model score"
    yield f"1-best entry: the {preferred} of the list."


REPORT = StudyReport(title, tables, conclusions, notes)
