"""Files of scores and of counts as options name them: which belongs to which system, and what was read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...data.file_names import files_by_name
from ...data.formats.base import Column
from ...data.reading import split_name
from ...errors import Argument, InputError, listed

if TYPE_CHECKING:
    from ...options.files import OfSystems


class ReadScores(NamedTuple):
    """Scores in one order of segments, with the ids, documents and strata of these."""

    by_metric: Mapping[str, Mapping[str, Sequence[float]]]
    """By metric and system."""
    columns: Sequence[Column]
    """The files that have this order, one for each way to name the segments."""
    shown_ids: tuple[str, ...] | None
    """The ids that reports show, of the samples of logs or of rows; None if they are 1, 2, 3 …"""
    groups: Sequence[Sequence[str] | None]
    """The ids of documents and strata."""
    n_left_out: int
    """How many segments that not all files have were left out."""


def of_metric(option: str, metric: str) -> Argument:
    """The scores or counts of a metric, as errors name them."""
    return Argument(f"{option}, {metric}", as_flag=f"--{option} {metric}")


def ordered_files(option: Argument, files: OfSystems, systems: Mapping[str, str], by_position: bool) -> Sequence[str]:
    """The files of a metric in the order of the systems, whose own files they are named like."""
    if isinstance(files, Mapping):
        return [files[name] for name in systems]
    own = list(systems.values())
    if len(files) < 2 or by_position or list(files) == own:
        return files
    return files_by_name(option, files, own)


def numbered(runs: Mapping[str, Sequence[str]]) -> str:
    """How many runs there are.

    >>> numbered({"old": ["old/0.txt", "old/1.txt"], "new": ["new/0.txt"]})
    '3 runs (2 of old, 1 of new)'
    """
    return f"{sum(map(len, runs.values()))} runs ({listed(f'{len(own)} of {name}' for name, own in runs.items())})"


def wrong_number_of_files(
    name: str,
    files: Sequence[str],
    systems: Sequence[str],
    runs: Mapping[str, Sequence[str]],
    option: str = "scores",
) -> InputError:
    """The error for another number of files than systems, or than the runs of systems."""
    hint = ""
    if len(files) > len(systems):
        hint = "; it takes all files up to the next option, so put it last"
    elif Path(split_name(name)[0]).is_file():
        hint = f"; {name} is a file: write a name before it"
    return InputError(
        "{option}: expected a file for each of {systems}{got}",
        option=of_metric(option, name),
        systems=numbered(runs) if runs else f"{len(systems)} systems",
        got=Argument(f", got {len(files)}", as_flag=f" after the name, got {len(files)}{hint}"),
    )
