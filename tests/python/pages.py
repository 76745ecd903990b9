"""The text of HTML reports."""

from __future__ import annotations

import re

__all__ = ["markup"]


def markup(page: str) -> str:
    """A page without the contents of its scripts, such as its data, and its style sheet."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
