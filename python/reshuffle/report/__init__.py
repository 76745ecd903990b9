"""A comparison as something to read: pure functions from a result to a string.

A new format is a function in a file here and an entry in :data:`FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import check_name
from ..results import Comparison
from .data import as_csv, as_json
from .table import Terminal, as_latex, as_markdown, as_text

__all__ = ["FORMATS", "Terminal", "render"]

FORMATS: Mapping[str, Callable[[Comparison, Terminal], str]] = {
    "text": as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}


def render(comparison: Comparison, fmt: str = "text", terminal: Terminal | None = None) -> str:
    """The comparison in one of :data:`FORMATS`, ending in a newline.

    ``terminal`` (its width and whether it shows colours) matters to ``text`` only.
    """
    check_name("format", fmt, list(FORMATS))
    return FORMATS[fmt](comparison, terminal or Terminal())
