"""Step-down adjustments by their definition, for the tests of everything that computes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def step_down(replicates: Any, observed: Any, adjust: str = "maxt") -> Floats:
    """Adjusted p-values of Westfall & Young 1993, from how extreme (tests, R) replicates and the (tests,) observed are.

    Statistics that differ by rounding errors are equal.
    """
    everything = np.column_stack([observed, replicates])  # the observed arrangement is one of the replicates
    near = 1e-9 * np.maximum(np.abs(everything[:, 0]), 1)
    if adjust == "minp":
        # The statistic is minus the number of arrangements that are at least as extreme.
        everything = -(everything[:, None, :] >= everything[:, :, None] - near[:, None, None]).sum(axis=2) * 1.0
        near = np.zeros(len(near))
    order = np.argsort(-everything[:, 0], kind="stable")
    adjusted, largest = np.empty(len(order)), 0.0
    for place, test in enumerate(order):
        reached = everything[order[place:]].max(axis=0) >= everything[test, 0] - near[test]
        adjusted[test] = largest = max(largest, float(reached.mean()))
    return adjusted
