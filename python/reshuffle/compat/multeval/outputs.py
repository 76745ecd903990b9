"""Reading texts, and files that are about to be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reshuffle import InputError, read_lines

from .texts import normalized


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
