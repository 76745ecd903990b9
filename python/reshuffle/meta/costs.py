"""What calibrated ties cost in replicates: said before anything is computed, or refused."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, counted, warn
from ..metrics.base import thread_count
from .coefficients import COEFFICIENTS, TESTS
from .comparing import Testing
from .material import JudgedSet

# The most pairs of outputs that the core calibrates in replicates, which it holds in memory.
MOST_PAIRS = 1 << 24
# Nanoseconds for a pair of outputs on one thread: twice what draws took (benches/record/2026-11-27-meta-size.md), and
# for shuffles an estimate from their number of operations.
DRAWN, SHUFFLED = 0.4, 1.2
# Shorter jobs are not announced.
SECONDS = 60.0


def pairs_of_outputs(there: NDArray[np.bool_], grouping: str) -> int:
    """The number of pairs of outputs within groups; ``there`` says which outputs are scored, (N, S)."""
    sizes = {"none": there.sum(keepdims=True), "sys": there.sum(axis=1), "item": there.sum(axis=0)}[grouping]
    return int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())


def check_costs(questions: list[tuple[JudgedSet, str, str]], testing: Testing) -> None:
    """Warn of questions (test set, grouping, coefficient) that take minutes, and refuse those that are too large."""
    seconds: dict[str, float] = {}
    for test_set, grouping, coefficient in questions:
        human = test_set.human_cells
        if not COEFFICIENTS[coefficient].calibrated or human is None:
            continue
        metrics = [m for m in test_set.metrics if m.segments is not None]
        pairs, (drawn, shuffled) = pairs_of_outputs(~np.isnan(human), grouping), _replicates(testing, len(metrics))
        if (drawn or shuffled) and pairs > MOST_PAIRS:
            raise InputError(
                f"{coefficient} with grouping {grouping!r} calibrates ties on {pairs:,} pairs of outputs, again in "
                f"each shuffle and draw, which is possible for at most {MOST_PAIRS:,}: use grouping 'item', leave out "
                f"{coefficient}, or turn off intervals (interval 'none') and tests but 't-both'"
            )
        cost = 1e-9 * pairs * testing.resampling.n_resamples * (DRAWN * drawn + SHUFFLED * shuffled)
        name = f"{coefficient} with grouping {grouping!r}"
        seconds[name] = seconds.get(name, 0.0) + cost / (
            thread_count(testing.resampling.threads) or os.cpu_count() or 1
        )
    if sum(seconds.values()) > SECONDS:
        what = max(seconds, key=lambda name: seconds[name])
        warn(
            f"{what} will take about {_minutes(seconds[what])}, because ties are calibrated again in each shuffle and "
            "draw: grouping 'item' is much faster, and without intervals the test 't-both' needs no replicates"
        )


def _replicates(testing: Testing, n_metrics: int) -> tuple[int, int]:
    """How many values each draw, and each shuffle, computes."""
    tests = [] if testing.test in ("auto", "none") else [TESTS[testing.test]]
    kinds = [each.replicates for each in tests]
    drawn = (testing.interval is not None) + ("draws" in kinds)
    n_pairs = n_metrics * (n_metrics - 1) // 2 if testing.baseline is None else n_metrics - 1
    return drawn * n_metrics, n_pairs if "shuffles" in kinds else 0


def _minutes(seconds: float) -> str:
    """A duration of a minute or more, roughly.

    >>> _minutes(130), _minutes(9000)
    ('2 minutes', '2.5 hours')
    """
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{counted(minutes, 'minute')}"
    return f"{seconds / 3600:.1f} hours"
