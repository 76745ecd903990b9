"""Reports of comparisons on several test sets: those of each test set, and that of the averages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..results import Comparison, SetComparison
from .json import as_document
from .layout import Layout
from .text import as_text

__all__ = ["sets_as_json", "sets_as_text"]


def sets_as_text(result: SetComparison, layout: Layout) -> str:
    """The report of each test set under its name, then that of the average."""

    def parts() -> Iterator[tuple[str, Comparison]]:
        for name, comparison in result.sets.items():
            yield f"Test set {name}", comparison
        if result.average is not None:
            yield f"Average over {len(result.sets):,} test sets", result.average

    shown = [f"{title}\n\n{as_text(comparison, layout)}" for title, comparison in parts()]
    dropped = f"Left out, because not every test set has them: {', '.join(result.dropped)}\n" if result.dropped else ""
    return "\n".join([*shown, f"{dropped}Signature: {result.signature}\n"])


def sets_as_json(result: SetComparison, layout: Layout) -> str:
    """One object; docs/guide.md describes its keys."""
    document: dict[str, Any] = {
        "signature": result.signature,
        "version": result.version,
        "dropped": list(result.dropped),
        "test_sets": [{"name": name, "comparison": as_document(each)} for name, each in result.sets.items()],
        "average": None if result.average is None else as_document(result.average),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
