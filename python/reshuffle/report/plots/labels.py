"""Names in figures: without control characters, and in several lines if they are long."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

__all__ = ["PLAIN", "columns", "lines_of", "printable", "wrapped"]

# Names are text, though matplotlib and LaTeX would read $ as the start of a formula.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

MAX_LINES = 3
# Joiners are parts of words in Persian and in Indic scripts.
JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """``text`` on one line, with escapes for control characters and other code points that no font can show.

    >>> printable("a\\tb\\n c\\x00\\ud800")
    'a b c\\\\x00\\\\ud800'
    """
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text)


def columns(text: str) -> int:
    """The width of a text, where 1 is that of a Latin letter. Most Chinese letters take 2, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def wrapped(text: str, width: int) -> str:
    """A text in lines of at most ``width`` columns, broken after spaces and punctuation if three lines are enough.

    >>> print(wrapped("transformer_big-ensemble", 14))
    transformer_
    big-ensemble
    """
    text = printable(text)
    lines = _filled([part for word in WORD.findall(text) for part in _filled(word, width)], width)
    if len(lines) > MAX_LINES:
        lines = _filled(text, width)
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"{lines[MAX_LINES - 1][: width - 1]}…"]
    return "\n".join(line.strip() for line in lines)


# A word with the spaces and punctuation after it.
WORD = re.compile(r"[^\s_/:;|-]+[\s_/:;|-]*|[\s_/:;|-]+")


def _filled(pieces: Iterable[str], width: int) -> list[str]:
    """Lines of as many pieces as ``width`` columns hold."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and columns(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return lines


def lines_of(label: str) -> int:
    """The number of lines of a label."""
    return label.count("\n") + 1
