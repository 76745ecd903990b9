"""Scores of two systems in files, and what commands say of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from inputs import put

A, B = [0.5, 1.0, 0.25, 2.0, 0.0, 1.5], [1.0, 0.75, 0.5, 2.5, 1.0, 0.5]


def metrics(outcome: Any) -> Any:
    """The last metric, its scores and its tests."""
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    metric = found["metrics"][-1]
    return metric, *([e for e in found[key] if e["metric"] == metric["name"]] for key in ("scores", "comparisons"))


def compare_right(run: Any, *words: str) -> Any:
    return run("compare", "--scores", "right", *words)


def put_scores(name: str, ids: Iterable[object], scores: Sequence[float]) -> None:
    rows = (f"{key}\t{score}\n" for key, score in zip(ids, scores, strict=True))
    put(f"{name}.tsv", "id\tx\n" + "".join(rows))


def compared(run: Any, ids: Iterable[object], others: Iterable[object], *options: str) -> Any:
    """The comparison of A and B in tables with these ids."""
    put_scores("a", ids, A)
    put_scores("b", others, B)
    return run("compare", "--scores", "x", "a.tsv", "b.tsv", "-n", "99", *options)
