"""Warnings about the numbers of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..documented import record


@record
class Caveat:
    """A warning about the p-values or intervals of a result. :mod:`reshuffle.report` formulates the sentences."""

    kind: str
    """A name that ``reshuffle explain`` knows: it says when each kind applies, and what to do."""
    values: Mapping[str, Any]
    """The numbers, names and truth values in the sentence, by name. A pair is the minimum and maximum over the pairs of
    systems. ``pairs`` and ``tests`` are the numbers of pairs to which the caveat applies and of all pairs;
    ``few-units`` and ``small-sample`` have them only if scores are missing.
    """


# Bootstrap tests and intervals from draws are unreliable with fewer resampling units
# (docs/evidence/size.md#small-samples).
SMALL_SAMPLE = 40
