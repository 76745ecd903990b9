"""Reading texts, with lines and tokens as in MultEval 0.5.1, which was written in Java with Guava.

- Lines: characters up to U+0020 are dropped at both ends (``String.trim``), and runs of ASCII white space become one
  space.
- Tokens of BLEU and length: split at every breaking white space (Guava's ``CharMatcher.BREAKING_WHITESPACE``). Empty
  tokens count, so an empty line has one token.
- Tokens of TER and METEOR: split at ASCII white space, as those metrics do here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reshuffle import InputError, read_lines

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


class Texts(NamedTuple):
    """Normalized outputs and references.

    Attributes
    ----------
    references : list of columns
    names : list of str
        Of the systems; the first is the baseline.
    files : list of lists of str
        Those of the runs, system by system.
    distinct : list of outputs
        Without copies, so that nothing is counted twice.
    places : list of lists of int
        For each system the index of each run's output in ``distinct``.
    """

    references: list[list[str]]
    names: list[str]
    files: list[list[str]]
    distinct: list[list[str]]
    places: list[list[int]]

    @property
    def n_runs(self) -> int:
        """The number of runs, which is the same for all systems."""
        return len(self.files[0])

    def output(self, system: int, run: int) -> list[str]:
        """The lines of an output."""
        return self.distinct[self.places[system][run]]


def read_texts(references: Sequence[str], systems: Mapping[str, Sequence[str]]) -> Texts:
    """Read and normalize all files. ``systems`` are the files of their runs by option; the first is the baseline.

    Raises :class:`InputError` if numbers of runs or of lines differ, or if a file cannot be read.
    """
    (baseline, first), *others = systems.items()
    for option, files in others:
        if len(files) != len(first):
            raise InputError(
                f"{option} names {_counted(len(files), 'file')}, but {baseline} {_counted(len(first), 'file')}: every "
                "system needs as many runs as the baseline"
            )
    distinct: dict[str, int] = {}
    texts: list[list[str]] = []
    places: list[list[int]] = []
    for files in systems.values():
        places.append([])
        for file in files:
            lines = read_lines(file)
            _check_length(file, len(lines), first[0], len(texts[0]) if texts else len(lines))
            key = "\n".join(lines)
            if key not in distinct:
                distinct[key] = len(texts)
                texts.append(normalized(lines))
            places[-1].append(distinct[key])
    names = ["baseline", *(f"system {number}" for number in range(1, len(systems)))]
    columns = read_references(references, first[0], len(texts[0]))
    return Texts(columns, names, [list(files) for files in systems.values()], texts, places)


def read_references(files: Sequence[str], other: str, n: int) -> list[list[str]]:
    """The normalized lines of each file, which must be as many as the segments of the file ``other``."""
    columns = []
    for file in files:
        lines = normalized(read_lines(file))
        _check_length(file, len(lines), other, n)
        columns.append(lines)
    return columns


def _check_length(file: str, n: int, other: str, expected: int) -> None:
    if n != expected:
        raise InputError(
            f"{file} has {_counted(n, 'segment')}, but {other} has {_counted(expected, 'segment')}: they must match "
            "line by line"
        )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def output_folder(path: str) -> Path:
    """The folder, which is made if it does not exist."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror}") from None
    return Path(path)
