"""The report of ``oracle``: the scores of the best and the worst entries of k-best lists."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...errors import counted
from ...results.studies import ListScore, OracleSearch, StudyResult
from ...results.studies.oracle import OraclePlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Rows, as_number, pivot
from .base import StudyReport
from .shared import of_name, with_arrow

TITLE = "Best and worst entries of k-best lists"
SHOWN = {
    "topbest": "1-best entry",
    "sentence-oracle": "Best sentence score",
    "oracle": "Best corpus score",
    "sentence-worst": "Worst sentence score",
    "worst": "Worst corpus score",
}
# Searches whose ends differ by less have the same end.
SAME = 1e-9


def _scores(study: StudyResult[OraclePlan]) -> tuple[ListScore, ...]:
    return study.tables["scores"]


def _decimals(study: StudyResult[OraclePlan]) -> int:
    return decimals_for(max(abs(each.score) for each in _scores(study)))


def title(study: StudyResult[OraclePlan]) -> str:
    """The metric."""
    return f"{TITLE}: {study.metrics[0].name}"


def tables(study: StudyResult[OraclePlan]) -> Iterator[Table]:
    """The score of each choice, and its difference from the 1-best entries."""
    decimals = _decimals(study)
    cells: Cells = {
        "Choice": lambda each: SHOWN[each.choice],
        "Name": "choice",
        "Score": as_number("score", f".{decimals}f"),
        "Difference": lambda each: "–" if each.choice == "topbest" else f"{each.gain:+.{decimals}f}",
    }
    table = pivot(f"{TITLE}: {with_arrow(study.metrics[0])}", _scores(study), Rows(cells, n_names=2))
    preferred = "first entry" if study.plan.topbest == "first entry" else "entry with the highest model score"
    yield table.explained(f"Difference: from topbest, the {preferred} of each list.")


def conclusions(study: StudyResult[OraclePlan]) -> Iterator[str]:
    """How far reranking could go, and how sure the search is."""
    found, decimals = {each.choice: each for each in _scores(study)}, _decimals(study)
    name, best = study.metrics[0].name, found["oracle"]
    yield (
        f"Perfect reranking of these lists would reach {name} {best.score:.{decimals}f} (oracle); the 1-best "
        f"entries have {found['topbest'].score:.{decimals}f}."
    )
    step = abs(best.score - found["sentence-oracle"].score)
    if step > SAME:
        yield (f"The entries with the best sentence scores (sentence-oracle) miss the best corpus score by {step:.2g}.")
    for choice in ("oracle", "worst"):
        yield _searches(of_name(study.tables["searches"], choice=choice), choice)


def _searches(searches: list[OracleSearch], choice: str) -> str:
    """How many searches ended at the score that was found."""
    # Searches move from their initial score in one direction, whichever is better.
    rises = math.fsum(each.final - each.initial for each in searches) >= 0
    best = (max if rises else min)(each.final for each in searches)
    n = sum(abs(each.final - best) < SAME for each in searches)
    return f"{choice}: {n} of {len(searches)} searches ended at this score."


def notes(study: StudyResult[OraclePlan]) -> Iterator[str]:
    """The lists, and how the corpus oracle was searched."""
    plan = study.plan
    yield f"{counted(plan.sentences, 'list')}, {plan.entries:,} entries."
    greedy = counted(plan.random_starts, "greedy choice")
    yield (
        f"Searches start from the 1-best entries, the best (worst) sentence scores and {greedy} in random order, and "
        "end where replacing any single entry does not improve (worsen) the corpus score. That no choice is better "
        "(worse) is not proved."
    )


REPORT = StudyReport(title, tables, conclusions, notes)
