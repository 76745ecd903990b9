"""From decisions about pairs of systems to ranks, clusters and letters.

Systems are numbered from best to worst. ``better``, (k, k) booleans, is true where the system of the row is
significantly better than the system of the column, which is only above the diagonal. Sets of systems are integers whose
bit i stands for system i.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

Decisions = NDArray[np.bool_]


def positions(scores: Sequence[float], tolerances: Sequence[float]) -> list[int]:
    """1 + the number of systems before the first one with an equal score, for scores from best to worst: (k,).

    Scores whose distance is at most the system's entry in ``tolerances`` are equal.

    >>> positions([30.0, 29.5, 29.5, 28.0], [1e-9] * 4)
    [1, 2, 2, 4]
    """
    found: list[int] = []
    first = 0
    for index, (score, tolerance) in enumerate(zip(scores, tolerances, strict=True)):
        if abs(score - scores[first]) > tolerance:
            first = index
        found.append(first + 1)
    return found


def clusters(better: Decisions) -> list[int]:
    """The cluster of each system, from 1: (k,).

    A cluster ends where every system so far is significantly better than every later one, as in the rankings of WMT.

    >>> clusters(np.array([[False, True, True], [False, False, False], [False, False, False]]))
    [1, 2, 2]
    """
    k = len(better)
    # The last system that each one is not significantly better than.
    last = np.where(better, -1, np.arange(k)).max(axis=1)
    ends = np.maximum.accumulate(last) <= np.arange(k)
    return [1, *(1 + np.cumsum(ends[:-1])).tolist()]


def groups_without_difference(different: Sequence[int], most: int) -> list[int] | None:
    """The largest sets of systems without a significant difference, sorted by their members; None if over ``most``.

    ``different[i]`` is the set of the systems that differ significantly from system i. Two systems are in a common set
    if and only if they do not differ. This is the insert-and-absorb algorithm (Piepho 2004, Journal of Computational
    and Graphical Statistics 13), which splits sets at significant pairs and drops subsets of others. Here all pairs of
    a system with earlier systems are inserted at once. The number of sets then never decreases from one system to the
    next, so it can stop as soon as there are too many. Adversarial decisions have 3^(k/3) sets. Cost: k·most²
    operations on sets.

    >>> groups_without_difference([0b100, 0b000, 0b001], most=26)
    [3, 6]
    """
    groups = [0]
    for system, others in enumerate(different):
        alike = {group & ~others for group in groups}
        maximal = [one for one in alike if not any(one != other and one & other == one for other in alike)]
        groups = [group for group in groups if group & others] + [group | 1 << system for group in maximal]
        if len(groups) > most:
            return None
    return sorted(groups, key=members)


def members(group: int) -> list[int]:
    """The systems of a set, in order.

    >>> members(0b1101)
    [0, 2, 3]
    """
    return [system for system in range(group.bit_length()) if group >> system & 1]


def letters(groups: Sequence[int], n_systems: int) -> list[str]:
    """The letters of each system, one for each of at most 26 sets that contain it: (k,).

    >>> letters([0b011, 0b110], 3)
    ['a', 'ab', 'b']
    """
    named = list(zip(ascii_lowercase, groups, strict=False))
    return ["".join(letter for letter, group in named if group >> system & 1) for system in range(n_systems)]
