"""Scores from neural metrics: files of ``comet-score``, and one number on each line, as BLEURT writes it."""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import chain
from typing import Any

from ...options.evaluations import ReadScores
from ..files import uncompressed
from ..formats import comet
from ..scores import MISSING_WORDS, Table, table_in
from .base import ScoreFormat
from .tables import names_of_file, read


def names(table: Table, options: ReadScores) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: the keys of the scores in the first segment, that of COMET first."""
    first, _ = comet.first_segment(table.source)
    score = comet.score_key(table.source, list(first), first)
    return [score, *(key for key in comet.score_keys(first) if key != score)], True


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


FORMAT = ScoreFormat(
    "the JSON file of COMET's --to_json", _recognizes, names, read, partial(table_in, format_name="comet")
)
PRINTED = ScoreFormat(
    "what comet-score prints",
    lambda file, line: comet.is_printed(line),
    lambda table, options: ([comet.KEYS[0]], True),
    read,
    partial(table_in, format_name="comet-printed"),
)
NUMBERS = ScoreFormat(
    "the score of a segment on each line, as BLEURT",
    _is_score,
    names_of_file,
    read,
    partial(table_in, format_name="text"),
)
