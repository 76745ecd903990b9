"""Gates of logs beside evalsig, the other gate on PyPI."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from benches.data import Texts
from reshuffle import SegmentScores, gate, join_scores

from ..agreement import DisagreementError
from ..race import Contender, Race, Skipped, call
from ..rivals import RESHUFFLE, name

__all__ = ["gates"]

ITEMS, RESAMPLES = 2_000, 10_000


def logs() -> dict[str, Path]:
    """Samples of lm-eval of two models, each right about as often as the other."""
    rng = np.random.default_rng(1)
    folder, skill = Path(mkdtemp()), rng.normal(size=ITEMS)
    found = {}
    for model in ("base", "new"):
        right = rng.random(ITEMS) < 1 / (1 + np.exp(-skill))
        records = (
            {
                "doc_id": item,
                "doc": {},
                "arguments": [],
                "filtered_resps": [],
                "filter": "none",
                "metrics": ["acc"],
                "acc": acc,
            }
            for item, acc in enumerate(right.astype(float).tolist())
        )
        found[model] = folder / f"{model}.jsonl"
        found[model].write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return found


def theirs(files: dict[str, Path], method: str, is_read: bool) -> Callable[[], float]:
    """Gate both logs with evalsig, which may have been read before. Returns the difference."""
    evalsig = import_module("evalsig.compare.gate")

    def read() -> list[Any]:
        reader = import_module("evalsig.io.lm_eval").read_lm_eval_json
        return [reader(file, model_id=model, task_id="task") for model, file in files.items()]

    runs = read() if is_read else None

    def run() -> float:
        report = evalsig.gate(*(runs or read()), min_delta=0.01, method=method, n_resamples=RESAMPLES)
        return float(report.comparison.delta)

    return run


def ours(files: dict[str, Path], is_read: bool) -> Callable[[], float]:
    """The same with reshuffle: two tests, of the margin and of a regression, from as many replicates."""

    def read() -> SegmentScores:
        table = join_scores(files, metric="acc").table
        assert table.segments is not None
        return SegmentScores("acc", dict(zip(table.systems, table.segments, strict=True)))

    scores = read() if is_read else None

    def run() -> float:
        found = gate(metrics=scores or read(), margin={"acc": 0.01}, n_resamples=RESAMPLES)
        return found.tasks[0].difference

    return run


def same_differences(expected: float, *others: float) -> None:
    """Check that all saw the same difference; the verdicts answer different questions."""
    for actual in others:
        if not np.isclose(expected, actual):
            raise DisagreementError(f"differences {expected} and {actual}")


def gates(texts: Texts) -> list[Race]:
    """Shows the cost of a gate over the logs of two models with 2,000 questions and 10,000 replicates, from their files
    and alone."""
    files, races = logs(), []
    for method, is_read in (("paired_permutation", False), ("paired_permutation", True), ("paired_bootstrap", True)):
        rival: Contender | Skipped = Skipped("evalsig", "is not installed: pip install evalsig")
        if find_spec("evalsig") is not None:
            rival = Contender(name("evalsig"), call(theirs(files, method, is_read)), at_most=3)
        what = f"gate of {ITEMS:,} questions, {method}, {'reading excluded' if is_read else 'from files'}"
        races.append(Race(what, [rival, Contender(RESHUFFLE, call(ours(files, is_read)))], same_differences))
    return races
