"""Real numbers as integers, in multiples of a resolution that all systems share."""

from __future__ import annotations

import math

import numpy as np

from .base import LARGEST_SUM, Scores

# The resolution of scores is chosen so that their sum is at most MAX_SUM_OF_SCORES. Draws of D documents are rejected
# if D times the largest document could exceed LARGEST_SUM, so this factor allows a document of 128 times mean size.
MAX_RELATIVE_DOCUMENT = 128
MAX_SUM_OF_SCORES = float(LARGEST_SUM // MAX_RELATIVE_DOCUMENT)
MAX_DECIMALS = 15
# Largest rounding error of a score, relative to the system's largest score.
MAX_RELATIVE_ERROR = 1e-9


def steps_of(scores: Scores, segments: int) -> float:
    """The scale, how many steps of the resolution make 1: a power of ten if one is fine enough, else a power of two."""
    largest = float(np.abs(scores).max())
    for decimals in range(MAX_DECIMALS + 1):
        scale = 10.0**decimals
        if largest * scale * segments > MAX_SUM_OF_SCORES:
            break
        # One score refutes most resolutions.
        if round(largest * scale) / scale == largest and np.array_equal(np.round(scores, decimals), scores):
            return scale
    return 2.0 ** math.floor(math.log2(MAX_SUM_OF_SCORES / segments) - math.log2(largest)) if largest else 1.0
