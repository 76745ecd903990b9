"""Reports of comparisons on several test sets: those of each test set, and that of the averages."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Comparison, SetComparison
from .layout import Layout
from .text import as_text

__all__ = ["sets_as_text"]


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
