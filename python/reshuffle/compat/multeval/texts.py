"""Lines and tokens as in MultEval 0.5.1, which was written in Java with Guava.

- Lines: characters up to U+0020 are dropped at both ends (``String.trim``), and runs of ASCII white space become one
  space.
- Tokens of BLEU and length: split at every breaking white space (Guava's ``CharMatcher.BREAKING_WHITESPACE``). Empty
  tokens count, so an empty line has one token.
- Tokens of TER and METEOR: split at ASCII white space, as those metrics do here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# What String.trim() removes.
TRIMMED = "".join(map(chr, range(0x21)))
# \s of Java's regular expressions.
SPACES = re.compile("[ \t-\r]+")
# U+00A0, U+2007 and U+202F do not break a line, so they are part of a token.
BREAKING = re.compile("[\t-\r \u0085\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]")
# Stands for the empty token. No token can contain it, because lines are split at it.
EMPTY_TOKEN = "\u2028"


class _Plain(list[str]):
    """Lines that have nothing to replace: none is empty, and their only white space is single spaces between words."""


def normalized(lines: Sequence[str]) -> list[str]:
    """The lines without white space at their ends, and with single spaces.

    >>> normalized([" a\\t b ", "", "\\u3000c"])
    ['a b', '', '\\u3000c']
    """
    return _replaced(lines, lambda line: SPACES.sub(" ", line.strip(TRIMMED)))


def with_split_tokens(lines: Sequence[str]) -> list[str]:
    """Normalized lines with one space between the tokens that MultEval's BLEU counts, for ``tokenize="multi-bleu"``.

    :data:`EMPTY_TOKEN` stands for every empty token.

    >>> with_split_tokens(["a\\u3000b", "", "a\\u00a0b \\u3000c"])
    ['a b', '\\u2028', 'a\\xa0b \\u2028 c']
    """
    return _replaced(lines, lambda line: " ".join(token or EMPTY_TOKEN for token in BREAKING.split(line)))


def _replaced(lines: Sequence[str], replace: Callable[[str], str]) -> list[str]:
    """``replace`` of the lines for which it matters. Halves without such a line are left as they are."""
    if isinstance(lines, _Plain):
        return lines
    if _are_plain(lines):
        return _Plain(lines)
    if len(lines) < 2:
        return [replace(line) for line in lines]
    middle = len(lines) // 2
    return [*_replaced(lines[:middle], replace), *_replaced(lines[middle:], replace)]


def _are_plain(lines: Sequence[str]) -> bool:
    """Whether these lines are :class:`_Plain`. One long string is searched faster than many lines."""
    # The space is the only separator that is printable. An empty line, or a space at an end, makes two spaces here.
    text = " ".join(lines)
    return text.isprintable() and "  " not in text and text[:1] not in ("", " ") and text[-1] != " "
