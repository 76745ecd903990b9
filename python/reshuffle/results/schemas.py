"""The versions of the JSON that results are written in."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["COMPARISON", "NON_FINITE", "SETS", "STUDY"]

# The number is raised when a key disappears or changes its meaning. Readers ignore keys that they do not know.
COMPARISON, SETS, STUDY = "reshuffle.comparison/1", "reshuffle.sets/1", "reshuffle.study/1"

# JSON has no numbers for these.
NON_FINITE: Mapping[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
