"""The real texts that benchmarks run on: news of WMT 2017, English to German, 16 systems, 3,004 segments."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reshuffle import read_lines

__all__ = ["BASELINE", "OTHER", "Files", "MissingDataError", "Texts", "find"]

SET = "wmt17-en-de"
FOLDER = Path(os.environ.get("RESHUFFLE_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data")

# Two systems whose difference is chance as likely as not: a p-value in the middle of its range tells a wrong test
# from a right one, one at its floor would not.
BASELINE = "SYSTRAN.4847"
OTHER = "LMU-nmt-single.4893"


class MissingDataError(Exception):
    """The texts are not where they should be."""


@dataclass(frozen=True)
class Files:
    """The paths of the test set, the baseline before the other systems."""

    reference: str
    systems: tuple[str, ...]

    def references(self) -> list[list[str]]:
        """The texts of the references, in the one column that there is."""
        return [read_lines(self.reference)]

    def outputs(self) -> dict[str, list[str]]:
        """The texts of the systems by name."""
        return {Path(path).stem: read_lines(path) for path in self.systems}


class Texts(NamedTuple):
    """The test set in every form that a case may want, and the script of NIST if there is one."""

    files: Files
    references: list[list[str]]
    systems: dict[str, list[str]]
    mteval: Path | None = None


def find() -> Files:
    """Find the test set, or say what to do."""
    reference, systems = FOLDER / SET / "ref.txt", sorted(FOLDER.glob(f"{SET}/sys/*.txt"))
    if not reference.is_file() or not systems:
        raise MissingDataError(
            f"no {SET} in {FOLDER}: let RESHUFFLE_DATA name the folder that holds {SET}/ref.txt and sys/"
        )
    systems.sort(key=lambda path: path.stem != BASELINE)
    return Files(str(reference), tuple(map(str, systems)))
