"""Annotations of Pearmut: an object for each item and annotator, in JSON lines."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from ...errors import LINE_MESSAGE, InputError, quoted
from ..formats.base import Source, shown_json
from ._joined import Record, joined_cells
from .base import Cells, ScoreFormat, ScoreOptions
from .lm_eval_samples import objects

# What Pearmut writes as the annotation when an annotator starts again.
RESET = "__RESET__"
# Beginnings of the numbers of items that are not part of the test set.
NOT_PART = ("welcome_", "random_", "goodbye_")
SCORE = "score"


class Annotations(NamedTuple):
    """Annotator, item, system, annotation and line of each annotated output."""

    source: Source
    found: list[tuple[str, str, str, dict[str, Any], int]]


def names(file: Annotations, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: ``score``, and the names of sliders."""
    found: dict[str, None] = {}
    for *_, annotation, _ in file.found:
        for name in [SCORE, *_sliders(annotation)]:
            if name != SCORE or annotation.get(SCORE) is not None:
                found.setdefault(name)
    if not found:
        file.source.fail("expected annotations with a 'score', got none")
    return list(found), SCORE in found and next(iter(found)) == SCORE


def read(file: Annotations, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`. The last annotation of an item by each person counts; several people have a mean."""
    last: dict[tuple[Any, str, str], Record] = {}
    for user, segment, system, annotation, line in file.found:
        value = annotation.get(SCORE) if metric == SCORE else _sliders(annotation).get(metric)
        last[user, segment, system] = Record(system, segment, number(file.source, metric, value, line), line)
    return joined_cells(metric, list(last.values()))


def annotated(source: Source) -> Annotations:
    entries = objects(source, unique=True)
    resets = {str(entry.get("user_id")): line for line, entry in entries if entry.get("annotation") == RESET}
    found = []
    for line, entry in entries:
        user = str(entry.get("user_id"))
        if line <= resets.get(user, 0) or str(entry.get("item_i")).startswith(NOT_PART):
            continue
        items, annotations = entry.get("item"), entry.get("annotation")
        if not isinstance(items, list) or not isinstance(annotations, list):
            key = "item" if not isinstance(items, list) else "annotation"
            source.fail(f"expected a list as {quoted(key)}, as Pearmut writes it, got {_shown(entry, key)}", line)
        if len(items) != len(annotations):
            source.fail(f"expected an annotation of each of {len(items)} items, got {len(annotations)}", line)
        for item, by_system in zip(items, annotations, strict=True):
            if not isinstance(item, dict) or not isinstance(by_system, dict):
                continue  # skipped by the annotator
            segment = _id(item)
            found += [(user, segment, name, a, line) for name, a in by_system.items() if isinstance(a, dict)]
    if not found:
        source.fail("expected annotated items, got none")
    return Annotations(source, found)


def _shown(entry: dict[str, Any], key: str) -> str:
    return shown_json(entry[key]) if key in entry else "none"


def _id(item: dict[str, Any]) -> str:
    """The item's id; without one, all of it but the outputs, as in Pearmut."""
    if item.get("item_id") is not None:
        return str(item["item_id"])
    return json.dumps({key: value for key, value in item.items() if key != "tgt"}, ensure_ascii=False, sort_keys=True)


def _sliders(annotation: dict[str, Any]) -> dict[str, Any]:
    sliders = annotation.get("sliders")
    return sliders if isinstance(sliders, dict) else {}


def number(source: Source, key: str, value: Any, line: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        problem = f"expected a finite number as {quoted(key)}, got {shown_json(value)}"
        raise InputError(LINE_MESSAGE, file=source.name, line=line, problem=problem)
    return float(value)


def _recognises(file: str, line: str) -> bool:
    keys = ('"annotation"', '"user_id"')
    return line.lstrip().startswith("{") and all(key in line for key in keys)


FORMAT = ScoreFormat("an annotation of Pearmut on each line", _recognises, names, read, annotated)
