"""Words of reports that are data: a TOML file for each subject, which can be read and changed without the code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import unknown_name
from ...toml import loads


@cache
def words(subject: str) -> Mapping[str, Any]:
    """The texts of ``SUBJECT.toml``, by kind and name."""
    return loads((Path(__file__).parent / f"{subject}.toml").read_text("utf-8"))


def words_of(subject: str, kind: str, name: str) -> Any:
    """The entry of a name, which may be read from JSON of another version."""
    entries = words(subject)[kind]
    if name not in entries:
        raise unknown_name(kind, name, entries)
    return entries[name]
