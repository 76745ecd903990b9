"""Names in figures: control characters are escaped, and long names are wrapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

import matplotlib
from matplotlib.font_manager import FontProperties, findfont, get_font

from ... import errors
from ..formulas import Symbol, split_at_symbols
from .style import FONTS

# The distance of lines that is about the font size. Since matplotlib 3.11 the unit is the size of the font with its
# ascent and descent, before it was the height of some letters, and by default lines are half a line farther apart.
SPACING = 1.0 if matplotlib.__version_info__ >= (3, 11) else 1.12
# Names are plain text: without this, matplotlib and LaTeX would read $ as the start of a formula.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False, "linespacing": SPACING}

# The label of an axis, which may have several lines.
LABEL: dict[str, Any] = {**PLAIN, "linespacing": 1.2 * SPACING}

# Texts without names, in which `mathematical` has marked the symbols.
MATHEMATICAL = {**PLAIN, "parse_math": True}

# At the start of a piece of a key that is a name, so plain text.
NO_MATH = "\N{NO-BREAK SPACE}"

MAX_LINES = 3
# Labels of axes have more lines in narrow panels, because broken words are hard to read there.
LABEL_LINES = 9
# The width of an average letter or a digit, as a fraction of the font size. It is the unit of `columns`.
LETTER = 0.48


def printable(text: str) -> str:
    """``text`` on one line, in printable form.

    >>> printable("a\\tb\\n c\\x00\\ud800")
    'a b c\\\\u0000\\\\ud800'
    """
    return errors.printable(" ".join(text.split()))


def mathematical(text: str) -> str:
    """A text without names, whose Latin symbols are italic.

    >>> mathematical("adjusted p = 0.012")
    'adjusted $p$ = 0.012'
    """
    found = (
        (each.letter, each.letter.isascii()) if isinstance(each, Symbol) else (each, False)
        for each in split_at_symbols(text)
    )
    return "".join(f"${part}$" if is_latin else part for part, is_latin in found)


def minus(text: str) -> str:
    """A text of numbers, with minus signs."""
    return text.replace("-", "\N{MINUS SIGN}")


def columns(text: str) -> float:
    """The width of a text in average letters."""
    return sum(map(_advance, text)) / LETTER


@cache
def _advance(character: str) -> float:
    """The width of a character, as a fraction of the font size."""
    font = get_font(findfont(FontProperties(family=[FONTS[0]])))
    if font.get_char_index(ord(character)):
        font.set_size(100, 72)
        return float(font.load_char(ord(character)).linearHoriAdvance) / 65536 / 100
    wide = unicodedata.east_asian_width(character) in "WF"
    return 0.0 if unicodedata.combining(character) else 1.0 if wide else 0.6


def text_size() -> float:
    """The default size of text, in points: from the figure's style or, for the user's axes, the user's settings."""
    return float(FontProperties().get_size_in_points())


def wrapped(text: str, width: int, most: int = MAX_LINES) -> str:
    """Wrap a text at ``width`` columns, in at most so many lines, after spaces and punctuation if that is possible.

    >>> print(wrapped("transformer_big-ensemble", 14))
    transformer_
    big-ensemble
    """
    text = printable(text)
    lines = filled([part for word in WORD.findall(text) for part in filled(word, width)], width)
    if len(lines) > most:
        lines = filled(text, width)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{filled(lines[most - 1], width - 2)[0]}…"]
    return "\n".join(line.strip() for line in lines)


# A word with the spaces and punctuation after it. No line ends inside "95% CI", "→ better" or "± s_sel".
WORD = re.compile(
    r"(?:[^\s_/:;|-]|(?<=\d%) (?=CI\b)|(?<=[→←]) (?=better)|(?<=±) (?=s_)|(?<=± s)_)+[\s_/:;|-]*|[\s_/:;|-]+"
)


def filled(pieces: Iterable[str], width: int) -> list[str]:
    """Fill lines of ``width`` columns with the pieces."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and columns(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return lines


def lines_of(label: str) -> int:
    """The number of lines of a label."""
    return label.count("\n") + 1
