"""The real texts of the benchmarks: WMT 2017 news, English to German, 16 systems, 3,004 segments."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from reshuffle import read_lines

__all__ = ["BASELINE", "OTHER", "Array", "Files", "MissingDataError", "Texts", "find"]

Array: TypeAlias = NDArray[Any]

SET = "wmt17-en-de"
FOLDER = Path(os.environ.get("RESHUFFLE_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data")

# Two systems whose difference is not significant: a p-value in the middle of its range reveals a wrong test, one at its
# minimum would not.
BASELINE = "SYSTRAN.4847"
OTHER = "LMU-nmt-single.4893"


class MissingDataError(Exception):
    """The data is missing."""


@dataclass(frozen=True)
class Files:
    """The paths of the test set; the baseline is the first system."""

    reference: str
    systems: tuple[str, ...]

    def references(self) -> list[list[str]]:
        """The texts of the references, in one column."""
        return [read_lines(self.reference)]

    def outputs(self) -> dict[str, list[str]]:
        """The texts of the systems by name."""
        return {Path(path).stem: read_lines(path) for path in self.systems}


class Texts(NamedTuple):
    """The test set in all forms that cases need, and the path of NIST's script, if known."""

    files: Files
    references: list[list[str]]
    systems: dict[str, list[str]]
    mteval: Path | None = None

    def first(self, segments: int) -> Texts:
        """The first segments."""
        systems = {name: lines[:segments] for name, lines in self.systems.items()}
        return self._replace(references=[lines[:segments] for lines in self.references], systems=systems)


def find(test_set: str = SET) -> Files:
    """Find a test set; the error says where to put it. Of several references, it is the first."""
    references, systems = sorted(FOLDER.glob(f"{test_set}/ref*.txt")), sorted(FOLDER.glob(f"{test_set}/sys/*.txt"))
    reference = next((path for path in references if path.name == "ref.txt"), references[0] if references else None)
    if reference is None or not systems:
        raise MissingDataError(
            f"no {test_set} in {FOLDER}: let RESHUFFLE_DATA name the folder that holds {test_set}/ref.txt and sys/"
        )
    systems.sort(key=lambda path: path.stem != BASELINE)
    return Files(str(reference), tuple(map(str, systems)))
