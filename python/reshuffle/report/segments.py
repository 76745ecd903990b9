"""Scores of segments, for programs: a row or an object for each segment and system, every number in full."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from ..results import SegmentTable

# Rows of Python numbers take some hundred bytes each: a block of these is small, and large enough to be fast.
BLOCK = 4096


def segments_as_tsv(table: SegmentTable) -> Iterator[str]:
    """A header, then a line for each segment and system: segment, system, the score under each metric."""
    for name in (*table.systems, *table.scores):
        if any(c in name for c in "\t\n\r"):
            raise InputError(f"tsv cannot hold a tab or an end of line, as in the name {name!r}: choose jsonl")
    yield "\t".join(["segment", "system", *table.scores]) + "\n"
    for segment, scores in _blocks(table):
        yield "".join(
            "\t".join([str(s), system, *map(repr, row)]) + "\n"
            for s, rows in enumerate(scores, segment)
            for system, row in zip(table.systems, rows, strict=True)
        )


def segments_as_jsonl(table: SegmentTable) -> Iterator[str]:
    """A line for each segment and system: ``{"segment": 1, "system": "a", "scores": {"BLEU": 41.2}}``."""
    systems = [json.dumps(name, ensure_ascii=False) for name in table.systems]
    metrics = [json.dumps(name, ensure_ascii=False) for name in table.scores]
    for segment, scores in _blocks(table):
        # By hand: json.dumps would take most of the time. repr of a finite float is JSON.
        yield "".join(
            f'{{"segment": {s}, "system": {system}, "scores": {{'
            + ", ".join(f"{metric}: {score!r}" for metric, score in zip(metrics, row, strict=True))
            + "}}\n"
            for s, rows in enumerate(scores, segment)
            for system, row in zip(systems, rows, strict=True)
        )


def _blocks(table: SegmentTable) -> Iterator[tuple[int, list[list[list[float]]]]]:
    """The number of a block's first segment, from 1, and its scores: segment, system, metric."""
    for start in range(0, table.n_segments, BLOCK):
        block = np.stack([scores[:, start : start + BLOCK].T for scores in table.scores.values()], axis=-1)
        yield start + 1, block.tolist()
