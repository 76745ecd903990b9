"""Scores of segments or documents, for programs: a row or an object for each and each system, every number in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import InputError
from ..results import SegmentTable

# Rows of Python numbers take some hundred bytes each: a block of these is small, and large enough to be fast.
BLOCK = 4096


def segments_as_tsv(table: SegmentTable) -> Iterator[str]:
    """A header, then a line for each segment and system: segment, system, the score under each metric.

    The column ``segment`` holds its number; for documents the column is ``document`` and holds the id.
    """
    _check_names(table)
    for name in (*table.systems, *table.scores, *(table.documents or ())):
        if any(c in name for c in "\t\n\r"):
            raise InputError(f"tsv cannot hold a tab or an end of line, as in the name {name!r}: choose jsonl")
    yield "\t".join([_unit(table), "system", *table.scores]) + "\n"
    rows = ["\t".join(["{0}", _literal(name), *_fields(table, k)]) for k, name in enumerate(table.systems)]
    yield from _filled(table, rows, table.documents)


def segments_as_jsonl(table: SegmentTable) -> Iterator[str]:
    """A line for each segment and system: ``{"segment": 1, "system": "a", "BLEU": 41.2}``."""
    _check_names(table)
    metrics = [_literal(json.dumps(name, ensure_ascii=False)) for name in table.scores]
    rows = []
    for k, name in enumerate(table.systems):
        scores = ", ".join(f"{m}: {field}" for m, field in zip(metrics, _fields(table, k), strict=True))
        system = _literal(json.dumps(name, ensure_ascii=False))
        rows.append(f'{{{{"{_unit(table)}": {{0}}, "system": {system}, {scores}}}}}')
    documents = table.documents and [json.dumps(name, ensure_ascii=False) for name in table.documents]
    yield from _filled(table, rows, documents)


def _unit(table: SegmentTable) -> str:
    """The name of the first column: what a row scores."""
    return "segment" if table.documents is None else "document"


def _check_names(table: SegmentTable) -> None:
    for name in table.scores:
        if name in (_unit(table), "system"):
            raise InputError(f"a metric called {name!r} would hide the column of that name: give it another name")


def _literal(name: str) -> str:
    """A name inside a format string."""
    return name.replace("{", "{{").replace("}", "}}")


def _fields(table: SegmentTable, system: int) -> list[str]:
    """The fields for a system's scores. repr tells a float in full, and is JSON as long as the float is finite."""
    n_metrics = len(table.scores)
    return [f"{{{1 + system * n_metrics + m}!r}}" for m in range(n_metrics)]


def _filled(table: SegmentTable, rows: Sequence[str], names: Sequence[str] | None) -> Iterator[str]:
    """The rows of every segment, block by block. Field 0 is the segment's number, from 1, or the document's id."""
    ids: Sequence[int | str] = range(1, table.n_segments + 1) if names is None else names
    # One format string for all rows of a segment: with ten systems a quarter of the time of joining row by row.
    fill = "".join(f"{row}\n" for row in rows).format
    for start in range(0, table.n_segments, BLOCK):
        block = np.stack([scores[:, start : start + BLOCK].T for scores in table.scores.values()], axis=-1)
        flat = block.reshape(len(block), -1).tolist()
        yield "".join(fill(id_, *scores) for id_, scores in zip(ids[start : start + BLOCK], flat, strict=True))
