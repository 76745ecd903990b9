"""Reading texts, with lines and tokens as in MultEval 0.5.1, which was written in Java with Guava.

- Lines: characters up to U+0020 are dropped at both ends (``String.trim``), and runs of ASCII white space become one
  space.
- Tokens of BLEU and length: split at every breaking white space (Guava's ``CharMatcher.BREAKING_WHITESPACE``). Empty
  tokens count, so an empty line has one token.
- Tokens of TER and METEOR: split at ASCII white space, as those metrics do here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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


def normalized(lines: Sequence[str]) -> list[str]:
    """The lines without white space at their ends, and with single spaces.

    >>> normalized([" a\\t b ", "", "\\u3000c"])
    ['a b', '', '\\u3000c']
    """
    trimmed = (line.strip(TRIMMED) for line in lines)
    # The space is the only separator that is printable, so that most lines need no replacement, which takes long.
    return [line if line.isprintable() and "  " not in line else SPACES.sub(" ", line) for line in trimmed]


def with_split_tokens(lines: Sequence[str]) -> list[str]:
    """Normalized lines with one space between the tokens that MultEval's BLEU counts, for ``tokenize="multi-bleu"``.

    :data:`EMPTY_TOKEN` stands for every empty token.

    >>> with_split_tokens(["a\\u3000b", "", "a\\u00a0b \\u3000c"])
    ['a b', '\\u2028', 'a\\xa0b \\u2028 c']
    """
    return [
        line if line and line.isprintable() else " ".join(token or EMPTY_TOKEN for token in BREAKING.split(line))
        for line in lines
    ]


class Texts(NamedTuple):
    """Normalized outputs and references.

    Attributes
    ----------
    references : list of columns
    names : list of str
        Of the systems; the first is the baseline.
    files : list of lists of str
        Those of the runs, system by system.
    outputs : list of columns
        Those of the runs of the first system, of the second, and so on.
    """

    references: list[list[str]]
    names: list[str]
    files: list[list[str]]
    outputs: list[list[str]]

    @property
    def n_runs(self) -> int:
        """The number of runs, which is the same for all systems."""
        return len(self.files[0])

    def output(self, system: int, run: int) -> list[str]:
        """The lines of an output."""
        return self.outputs[system * self.n_runs + run]


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
    outputs = read_columns((file for files in systems.values() for file in files), first[0])
    names = ["baseline", *(f"system {number}" for number in range(1, len(systems)))]
    columns = read_columns(references, first[0], len(outputs[0]))
    return Texts(columns, names, [list(files) for files in systems.values()], outputs)


def read_columns(files: Iterable[str], other: str, n: int | None = None) -> list[list[str]]:
    """The normalized lines of each file, as many as the n segments of the file ``other``: by default the first one."""
    columns: list[list[str]] = []
    for file in files:
        lines = normalized(read_lines(file))
        n = len(lines) if n is None else n
        if len(lines) != n:
            raise InputError(
                f"{file} has {_counted(len(lines), 'segment')}, but {other} has {_counted(n, 'segment')}: they must "
                "match line by line"
            )
        columns.append(lines)
    return columns


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def output_folder(path: str) -> Path:
    """The folder, which is made if it does not exist."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror}") from None
    return Path(path)
