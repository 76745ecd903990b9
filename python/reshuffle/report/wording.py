"""How sentences, tables and figures write numbers, counts and lists of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..errors import counted as counted


def number(value: float) -> str:
    """A number that the user chose, or its complement, without rounding errors in the last digits.

    >>> 100 * 0.57, number(100 * 0.57)
    (56.99999999999999, '57')
    """
    return f"{value:.10g}"


def rounded_down(level: float) -> str:
    """A level with three significant digits, rounded down so that the error rate is not above the one wanted.

    >>> rounded_down(0.016952), rounded_down(0.05)
    ('0.0169', '0.05')
    """
    from decimal import ROUND_FLOOR, Context

    rounded = Context(prec=3, rounding=ROUND_FLOOR).create_decimal(repr(level * (1 + 1e-9)))
    return f"{float(rounded):.3g}"


def joined(names: Iterable[str]) -> str:
    """Names as a phrase.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# More names than this are counted.
MAX_NAMED = 4


def named(names: Sequence[str], noun: str, most: int = MAX_NAMED) -> str:
    """Names as a phrase, or how many there are if they are many.

    >>> named(["a", "b"], "system"), named(["a", "b", "c", "d", "e"], "system")
    ('a and b', '5 systems')
    """
    return joined(names) if len(names) <= most else counted(len(names), noun)


# Of more names, a note has the first ones.
MOST_LISTED = 3


def few(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first names of a list, and how many more there are.

    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    more = len(names) - most
    return joined([*names[:most], f"{more:,} more"] if more > 0 else names)


class Nameless(str):
    """A statement that does not begin with the name of a system, so that a sentence may give it a capital letter."""

    __slots__ = ()


def are(n: int) -> str:
    """The verb after so many names."""
    return "is" if n == 1 else "are"


def percent(share: float) -> str:
    """A share that the user chose, or its complement.

    >>> percent(1 - 0.05), percent(0.57)
    ('95%', '57%')
    """
    return f"{number(100 * share)}%"


def ci(confidence_level: float) -> str:
    """What reports call a confidence interval.

    >>> ci(0.95)
    '95% CI'
    """
    return f"{percent(confidence_level)} CI"


# A pair of ways to say the same, of which `spelled` keeps one. Printable texts have none of these characters.
_START, _BETWEEN, _END = "\0", "\1", "\2"
# What templates have in their place: ⟨-n¦n_resamples⟩.
OPTION = str.maketrans({"⟨": _START, "¦": _BETWEEN, "⟩": _END})


def option(flag: str, python: str) -> str:
    """An option in a sentence: as a flag of the command line, or as Python code. See :func:`spelled`."""
    return f"{_START}{flag}{_BETWEEN}{python}{_END}"


def spelled(sentence: str, for_command: bool) -> str:
    """A sentence with its options in the language of the reader.

    >>> sentence = f"Use {option('--pairs', 'pairs=True')}."
    >>> spelled(sentence, for_command=True), spelled(sentence, for_command=False)
    ('Use --pairs.', 'Use pairs=True.')
    """
    return re.sub(f"{_START}([^{_BETWEEN}]*){_BETWEEN}([^{_END}]*){_END}", r"\1" if for_command else r"\2", sentence)


def strata(n: int) -> str:
    """A number of strata, as a phrase."""
    return f"{n:,} strat{'um' if n == 1 else 'a'}"


def left_out(signature: str, of: str = "") -> Iterator[str]:
    """That segments were left out because they did not match, as signatures say. ``of`` says of what they are.

    >>> [*left_out("F1|mean:segments|resolution:1|unmatched:drop[20]|version:1")], [*left_out("BLEU|case:lc")]
    (['20 segments left out, because not all files have them.'], [])
    """
    for n in dict.fromkeys(map(int, re.findall(r"\|unmatched:drop\[(\d+)\]", signature))):
        yield f"{counted(n, 'segment')}{of} left out, because not all files have {'it' if n == 1 else 'them'}."


def file_name(name: str) -> str:
    """A name as a part of labels, and of names of files that LaTeX can read."""
    return re.sub(r"[^A-Za-z0-9+]+", "-", name).strip("-") or "x"


def file_names(names: Iterable[str]) -> dict[str, str]:
    """The same of several names, all different.

    >>> file_names(["BLEU", "chrF2++", "a.b", "A b"])
    {'BLEU': 'BLEU', 'chrF2++': 'chrF2++', 'a.b': 'a-b', 'A b': 'A-b-2'}
    """
    found: dict[str, str] = {}
    for name in names:
        label = stem = file_name(name)
        n = 1
        while label.lower() in {other.lower() for other in found.values()}:  # some file systems ignore case
            n += 1
            label = f"{stem}-{n}"
        found[name] = label
    return found
