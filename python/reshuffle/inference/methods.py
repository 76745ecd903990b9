"""``METHODS``: the tests, intervals, adjustments and exchange units by name, as users know them.

The tables of methods.toml have the fields that are not functions. The modules of the registries add the functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..documented import record
from ..toml import loads

METHODS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    kind: {
        name: {field: tuple(value) if isinstance(value, list) else value for field, value in entry.items()}
        for name, entry in entries.items()
    }
    for kind, entries in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


@record(slots=False)
class Method:
    """An entry of a registry."""

    name: str
    """The name that users type, the name in reports, a description, and the paper."""
    title: str
    about: str
    source: str
