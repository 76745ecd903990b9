"""Numbers in results."""

from __future__ import annotations

from typing import Any, TypeAlias

# A float (Real) or an int (Whole), or an array of these for a batch of problems; type checkers cannot know which.
Real: TypeAlias = Any
Whole: TypeAlias = Any
