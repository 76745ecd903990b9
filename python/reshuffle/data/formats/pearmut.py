"""Annotations of Pearmut: an object for each item and annotator, in JSON lines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ...errors import quoted
from ._samples import Sample, Samples
from .base import Source, shown_json
from .jsonl import objects, unique_values

# What Pearmut writes as the annotation when an annotator starts again.
RESET = "__RESET__"
# Beginnings of the numbers of items that are not part of the test set.
NOT_PART = ("welcome_", "random_", "goodbye_")
SCORE = "score"


def annotated(source: Source) -> dict[tuple[str, str, str], Sample]:
    """The last annotation of each item and system by each person, by person, item and system."""
    entries = objects(source, unique_values)
    resets = {str(entry.get("user_id")): line for line, entry in entries if entry.get("annotation") == RESET}
    last: dict[tuple[str, str, str], Sample] = {}
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
            for system, each in by_system.items():
                if isinstance(each, dict):
                    last[user, segment, system] = Sample(system, segment, _scores(each), line)
    if not last:
        source.fail("expected annotated items, got none")
    return last


def samples(source: Source) -> Samples:
    """The annotations; several people have a mean."""
    found = Samples(source, list(annotated(source).values()))
    if not found.names:
        source.fail("expected annotations with a 'score', got none")
    return replace(found, is_obvious=found.names[0] == SCORE)


def _shown(entry: dict[str, Any], key: str) -> str:
    return shown_json(entry[key]) if key in entry else "none"


def _id(item: dict[str, Any]) -> str:
    """The item's id; without one, all of it but the outputs, as in Pearmut."""
    if item.get("item_id") is not None:
        return str(item["item_id"])
    return json.dumps({key: value for key, value in item.items() if key != "tgt"}, ensure_ascii=False, sort_keys=True)


def _scores(annotation: dict[str, Any]) -> dict[str, Any]:
    """The score, and those of sliders."""
    score, sliders = annotation.get(SCORE), annotation.get("sliders")
    return ({} if score is None else {SCORE: score}) | (sliders if isinstance(sliders, dict) else {})
