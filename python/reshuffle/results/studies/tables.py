"""All studies by name, with the types of their records."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from .base import StudyTypes

# The modules of the studies: here with the types of their records, in ``report/studies`` with what reports show.
MODULES = (
    "type1", "multiplicity", "power", "design", "sensitivity", "validation", "samples", "agreement", "exchange", "gate",
    "runs", "meta", "smoothing", "tune", "oracle", "mbr", "human", "watch",
)  # fmt: skip

STUDIES: Mapping[str, StudyTypes] = {
    types.study: types for types in (import_module(f"{__package__}.{module}").STUDY for module in MODULES)
}


def types_of(study: str) -> StudyTypes:
    """The types of a study. One that this version does not know may have tables of those that it knows."""
    if study in STUDIES:
        return STUDIES[study]
    every = [each.tables for each in STUDIES.values()]
    return StudyTypes(study, (), **{name: kind for tables in reversed(every) for name, kind in tables.items()})
