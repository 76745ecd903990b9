"""What reports tell, compared as a whole with the texts in ``tests/data/told``.

After an intended change of wording, run the tests with ``RESHUFFLE_UPDATE_DOCS=1`` and read the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from reshuffle import __version__

__all__ = ["assert_told"]

FOLDER = Path(__file__).resolve().parents[1] / "data/told"


def assert_told(file: str, texts: Mapping[str, str]) -> None:
    """The texts of all cases are those of the file, each below the name of its case."""
    found = "\n".join(f"=== {case}\n\n{text.strip()}\n" for case, text in texts.items())
    found = re.sub(rf"reshuffle[- ]{re.escape(__version__)}", "reshuffle", found)
    path = FOLDER / f"{file}.txt"
    if "RESHUFFLE_UPDATE_DOCS" in os.environ:
        path.write_text(found, "utf-8")
    assert path.read_text("utf-8").splitlines() == found.splitlines()
