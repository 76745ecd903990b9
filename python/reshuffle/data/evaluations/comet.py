"""Scores from neural metrics: files of ``comet-score``, and one number on each line, as BLEURT writes it."""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import quoted
from ..files import split_lines, uncompressed
from ..formats import comet
from ..formats.base import Source, shown_json
from ..formats.table import Rows
from ..scores import MISSING_WORDS
from ._samples import number_of
from .base import Cells, ScoreFormat, ScoreOptions, cells_of, check_counts, numbers

# The system of a file that names none.
UNNAMED = "system"


def names(source: Source, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: the keys of the scores in the first segment, that of COMET first."""
    first, _ = comet.first_segment(source)
    score = comet.score_key(source, list(first), first)
    return [score, *(key for key in comet.score_keys(first) if key != score)], True


def read(source: Source, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`."""
    records = comet.read_records(source)
    found = comet.values_of(source, records, metric)
    values = [number_of(value) for value in found]
    if None in values:
        wrong = values.index(None)
        problem = f"expected a finite number as {quoted(metric)}, got {shown_json(found[wrong])}"
        source.fail(problem, records.lines[wrong])
    counts = [n for _, n in records.systems]
    ids = [UNNAMED if name is None else name for name, _ in records.systems]
    check_counts(source, ids, counts)
    system = None if records.systems[0][0] is None else np.repeat(np.arange(len(ids)), counts)
    segment = np.tile(np.arange(counts[0]), len(ids))
    numbers_of = np.array(values, dtype=np.float64)
    return Cells(metric, ids, system, segment, numbers_of, records.lines, 1, in_order=True)


def _printed_names(source: Source, options: ScoreOptions) -> tuple[list[str], bool]:
    return [comet.KEYS[0]], True


def _read_printed(source: Source, metric: str, options: ScoreOptions) -> Cells:
    column, segment, system = comet.read_printed(source, [None, comet.SEGMENT, comet.SYSTEM])
    rows = Rows((metric,), [column.lines], column.first_lines, source)
    values, segments = numbers(rows, metric, column.lines), np.array(list(map(int, segment.lines)), dtype=np.int64)
    cells = cells_of(metric, system.lines, segments, values, column.first_lines, base=0, in_order=True)
    assert cells.system is not None
    check_counts(source, cells.ids, np.bincount(cells.system))
    return cells


def _numbers_names(source: Source, options: ScoreOptions) -> tuple[list[str], bool]:
    return [Path(uncompressed(source.file)).name], True


def _read_numbers(source: Source, metric: str, options: ScoreOptions) -> Cells:
    lines = split_lines(source.text())
    rows = Rows((metric,), [lines], range(1, len(lines) + 1), source)
    values = numbers(rows, "the score", lines)
    return Cells(metric, [UNNAMED], None, np.arange(len(lines)), values, rows.lines, 1, in_order=True)


def _recognizes(file: str, line: str) -> bool:
    """JSON, but not JSON lines, whose first line is a whole object with several keys."""
    if not line.lstrip().startswith(("{", "[")):
        return False
    try:
        value = json.loads(line)
    except ValueError:
        return True
    except RecursionError:
        return False
    if isinstance(value, dict) and isinstance(value.get(comet.COMPARED), list):
        return True
    if isinstance(value, dict) and uncompressed(file).lower().endswith(".json") and len(value) < 2:
        return True
    return isinstance(value, list) or _holds_segments(value)


def _holds_segments(value: dict[str, Any]) -> bool:
    found = list(value.values())
    return bool(found) and all(isinstance(each, list) for each in found) and isinstance(next(chain(*found), 0), dict)


def _is_score(file: str, line: str) -> bool:
    try:
        return line.strip().lower() in MISSING_WORDS[1:] or not math.isinf(float(line))
    except ValueError:
        return False


FORMAT = ScoreFormat("the JSON file of COMET's --to_json", _recognizes, names, read)
PRINTED = ScoreFormat(
    "what comet-score prints", lambda file, line: comet.is_printed(line), _printed_names, _read_printed
)
NUMBERS = ScoreFormat("the score of a segment on each line, as BLEURT", _is_score, _numbers_names, _read_numbers)
