"""What tests of meta-evaluation share: tables of scores, votes, slow twins."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from reshuffle import meta
from reshuffle.meta import Judgments, ScoreTable

Scores = np.ndarray[Any, np.dtype[np.float64]]
Vote = tuple[int, int, int]

# Values alone.
QUIET: dict[str, Any] = {"test": None, "interval": None}


def table(name: str, cells: Any, higher: bool = True) -> ScoreTable:
    """Scores of systems a, b, c …"""
    cells = np.asarray(cells, dtype=np.float64)
    return ScoreTable(name, tuple("abcdefghij"[: len(cells)]), cells, None, higher)


def value(result: meta.MetaEvaluation, name: str = "m", **where: Any) -> meta.MetricAgreement:
    """The only record of a metric with these fields."""
    found = [
        each
        for each in result.results
        if each.metric == name and all(getattr(each, key) == wanted for key, wanted in where.items())
    ]
    (record,) = found
    return record


def judged(systems: str, n_segments: int, votes: Iterable[Any]) -> Judgments:
    """Judgments from segments, better and worse systems."""
    segment, better, worse = np.array(list(votes), dtype=np.int64).reshape(-1, 3).T
    return Judgments.from_votes(systems, n_segments, segment, better, worse)


def tau_by_loop(x: Scores, votes: Iterable[Any], ties: str) -> float:
    """Kendall's τ from (segment, better, worse), as the papers count tied scores."""
    concordant = discordant = total = 0.0
    for segment, better, worse in votes:
        a, b = x[better, segment], x[worse, segment]
        if math.isnan(a) or math.isnan(b):
            continue
        if a == b:
            half, against, counted = {
                "half": (0.5, 0.5, 1),
                "discordant": (0, 1, 1),
                "ignore": (0, 0, 0),
                "denominator": (0, 0, 1),
            }[ties]
            concordant, discordant, total = concordant + half, discordant + against, total + counted
        else:
            concordant, discordant, total = concordant + (a > b), discordant + (a < b), total + 1
    return (concordant - discordant) / total if total else math.nan


def random_votes(seed: int, n: int = 4, s: int = 60, m: int = 4) -> tuple[list[ScoreTable], Judgments]:
    """Scores of m metrics, increasingly noisy, with ties, and votes."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (n, s)) + np.arange(n)[:, None] / 4
    tables = [table(f"m{k}", np.round(quality + rng.normal(0, 0.5 + k / 2, (n, s)), 0)) for k in range(m)]
    votes = [(j, a, b) for j in range(s) for a in range(n) for b in range(n) if quality[a, j] > quality[b, j] + 0.7]
    return tables, judged("abcd"[:n], s, votes)


def random_matrices(seed: int, n: int = 6, s: int = 25, m: int = 3) -> meta.JudgedSet:
    """m metrics, increasingly noisy, and people, with gaps."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (n, s)) + np.arange(n)[:, None] / 2
    tables = [table(f"m{k}", quality + rng.normal(0, 0.3 + 1.2 * k, (n, s))) for k in range(m)]
    human = np.round(quality + rng.normal(0, 0.3, (n, s)), 0)
    human[:, ::5] = np.nan
    return meta.JudgedSet.from_scores(tables, human=table("h", human))


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text("utf-8").split("\n")[:-1]
