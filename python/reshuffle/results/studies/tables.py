"""All studies by name, with the types of their records. The module of a study is imported when these are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from .base import StudyTypes

# The module of each study: here with the types of its records, in ``report/studies`` with what reports show.
MODULES: Mapping[str, str] = {
    "type1": "type1", "multiplicity": "multiplicity", "power": "power", "plan": "design", "sensitivity": "sensitivity",
    "validate": "validation", "samples": "samples", "agreement": "agreement", "exchange": "exchange", "gate": "gate",
    "runs": "runs", "meta": "meta", "tune-smoothing": "smoothing", "tune": "tune", "oracle": "oracle", "mbr": "mbr",
    "human": "human", "watch": "watch",
}  # fmt: skip


def types_of(study: str) -> StudyTypes:
    """The types of a study. One that this version does not know may have tables of those that it knows."""
    if study in MODULES:
        types: StudyTypes = import_module(f"{__package__}.{MODULES[study]}").STUDY
        return types
    every = [types_of(name).tables for name in MODULES]
    return StudyTypes((), **{name: kind for tables in reversed(every) for name, kind in tables.items()})
