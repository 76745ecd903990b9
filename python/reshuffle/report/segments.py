"""Scores of segments or documents: a row for each and each system.

Formats for programs hold every number in full; a preview for people holds the first rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, counted
from ..results import SegmentTable
from .cells import Table, decimals_for
from .document import Document
from .frames import Columns
from .layout import Layout

# Segments that are formatted at a time: their Python numbers take some hundred bytes per row.
BLOCK = 4096


def segments_as_tsv(table: SegmentTable) -> Iterator[str]:
    """A header, then a line for each segment and system: segment, system, the score under each metric.

    The column ``segment`` holds its number, or its id if it has one; for documents the column is ``document`` and holds
    the id.
    """
    _check_names(table)
    for name in (*table.systems, *table.scores, *(_names(table) or ())):
        if any(c in name for c in "\t\n\r"):
            raise InputError(f"tsv cannot hold a tab or an end of line, as in the name {name!r}: choose jsonl")
    yield "\t".join([_unit(table), "system", *table.scores]) + "\n"
    rows = ["\t".join(["{0}", _literal(name), *_fields(table, k)]) for k, name in enumerate(table.systems)]
    yield from _filled(table, rows, _ids(table), Missing(""))


def segments_as_jsonl(table: SegmentTable) -> Iterator[str]:
    """A line for each segment and system: ``{"segment": 1, "system": "a", "BLEU": 41.2}``."""
    _check_names(table)
    metrics = [_literal(json.dumps(name, ensure_ascii=False)) for name in table.scores]
    rows = []
    for k, name in enumerate(table.systems):
        scores = ", ".join(f"{m}: {field}" for m, field in zip(metrics, _fields(table, k), strict=True))
        system = _literal(json.dumps(name, ensure_ascii=False))
        rows.append(f'{{{{"{_unit(table)}": {{0}}, "system": {system}, {scores}}}}}')
    names = _names(table)
    ids = _ids(table) if names is None else [json.dumps(name, ensure_ascii=False) for name in names]
    yield from _filled(table, rows, ids, Missing("null"))


class Missing(str):
    """Stands for a missing score in a row. Its repr is what the format writes for it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _unit(table: SegmentTable) -> str:
    """The name of the first column."""
    return "segment" if table.documents is None else "document"


def _check_names(table: SegmentTable) -> None:
    for name in table.scores:
        if name in (_unit(table), "system"):
            raise InputError(f"a metric called {name!r} would hide the column of that name: give it another name")


def _literal(name: str) -> str:
    """``name`` for use inside a format string."""
    return name.replace("{", "{{").replace("}", "}}")


def _fields(table: SegmentTable, system: int) -> list[str]:
    """The format fields for a system's scores. ``repr`` writes a float in full, and is JSON if the float is finite."""
    n_metrics = len(table.scores)
    return [f"{{{1 + system * n_metrics + m}!r}}" for m in range(n_metrics)]


def _filled(table: SegmentTable, rows: Sequence[str], ids: Sequence[int | str], missing: Missing) -> Iterator[str]:
    """The rows of every segment, block by block, from format strings whose field 0 is the segment's id."""
    # One format string for all rows of a segment takes a quarter of the time of joining row by row (ten systems).
    fill = "".join(f"{row}\n" for row in rows).format
    for start in range(0, table.n_segments, BLOCK):
        block = np.stack([scores[:, start : start + BLOCK].T for scores in table.scores.values()], axis=-1)
        flat: list[list[Any]] = block.reshape(len(block), -1).tolist()
        if np.isnan(block).any():
            flat = [[missing if score != score else score for score in scores] for scores in flat]
        yield "".join(fill(id_, *scores) for id_, scores in zip(ids[start : start + BLOCK], flat, strict=True))


def _names(table: SegmentTable) -> Sequence[str] | None:
    """The ids of the documents, or of the segments if they have some."""
    return table.segment_ids if table.documents is None else table.documents


def _ids(table: SegmentTable) -> Sequence[int | str]:
    """The ids of the segments or documents, or the numbers of the segments, from 1."""
    names = _names(table)
    return range(1, table.n_segments + 1) if names is None else names


def segment_columns(table: SegmentTable, name: str | None = None) -> Columns:
    """The columns of the TSV."""
    _check_names(table)
    n_systems = len(table.systems)
    ids = [id_ for id_ in _ids(table) for _ in range(n_systems)]
    scores: dict[str, tuple[Any, str]] = {
        name: (of_metric.T.ravel(), "float64") for name, of_metric in table.scores.items()
    }
    return {
        _unit(table): (ids, "int64" if _names(table) is None else None),
        "system": (list(table.systems) * table.n_segments, None),
        **scores,
    }


# The most rows that a preview shows.
PREVIEW_ROWS = 10


def preview(table: SegmentTable, layout: Layout) -> Document:
    """The first rows, and how many there are."""
    n_systems = len(table.systems)
    # At least one segment, so that all systems are there.
    n_shown = min(table.n_segments, max(1, PREVIEW_ROWS // n_systems))
    title = f"{counted(table.n_segments, _unit(table))}, {counted(n_systems, 'system')}"
    shown = Table(title, [_unit(table).capitalize(), "System", *table.scores], n_names=2)
    decimals = [decimals_for(float(np.nanmax(np.abs(scores)))) for scores in table.scores.values()]
    for segment, id_ in enumerate(_ids(table)[:n_shown]):
        for system, name in enumerate(table.systems):
            scores = [of_metric[system, segment] for of_metric in table.scores.values()]
            cells = ("" if np.isnan(score) else f"{score:.{n}f}" for score, n in zip(scores, decimals, strict=True))
            shown.add([str(id_), name, *cells])
    rows = f"{n_shown * n_systems:,} of {table.n_segments * n_systems:,} rows"
    notes = [] if n_shown == table.n_segments else [f"{rows}; to_dicts() and to_pandas() have all."]
    return Document([shown], notes, table.signature)
