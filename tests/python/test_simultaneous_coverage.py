"""Simultaneous intervals cover all true differences together at their level: ``python -m pytest -m slow -s``."""

from __future__ import annotations

import numpy as np
import pytest

from benches.data import Array, MissingDataError
from benches.simulations.blocks import texts
from benches.simulations.families import FAMILIES, Family
from reshuffle import FromCounts, SegmentScores, compare
from reshuffle.metrics.base import Metric
from reshuffle.results import Comparison, clopper_pearson

pytestmark = pytest.mark.slow

SIMULATIONS = 500
LEVEL = 0.95

# All null hypotheses are true in the first two of each kind of metric, and one system differs in the third.
POPULATIONS = [
    "exchangeable",
    "lengths 1.01, 1.00, .99, .98",
    "lengths 1.01, 1.00, .99, .98, one worse",
    "means, equal spreads",
    "means, one of larger spread",
    "means, one of larger spread, one worse",
]


@pytest.fixture(scope="module")
def families() -> dict[str, Family]:
    """The populations by name."""
    try:
        return {name: FAMILIES[name](texts()) for name in POPULATIONS}
    except MissingDataError as missing:
        pytest.skip(str(missing))


def compared(metric: Metric, counts: Array, test: str, seed: int) -> Comparison:
    """All pairs of a sample, (k, S, K), with simultaneous intervals."""
    rows = {f"{system}": of_system for system, of_system in enumerate(counts)}
    scored: Metric
    if metric.is_mean:
        scored = SegmentScores(
            metric.name, {name: metric.segment_scores(of_system) for name, of_system in rows.items()}
        )
    else:
        scored = FromCounts(metric.name, rows, metric)
    return compare(
        metrics=scored,
        test=test,
        all_pairs=True,
        adjust="maxt",
        n_resamples=999,
        seed=seed,
        threads=1,
        confidence_level=LEVEL,
        interval="simultaneous",
    )


@pytest.mark.parametrize("segments", [100, 500])
@pytest.mark.parametrize("test", ["bootstrap-both", "ar-studentized"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_simultaneous_intervals_cover_all_differences(
    families: dict[str, Family], name: str, test: str, segments: int
) -> None:
    family = families[name]
    (metric,) = family.metrics
    # The true score of each system, relative to the first.
    truth = {"0": 0.0} | {
        f"{a}": float(difference)
        for (a, b), difference in zip(family.pairs, family.differences[0], strict=True)
        if b == 0
    }
    rng = np.random.default_rng(2008)
    covered, each, stars = 0, [], 0
    for seed in range(SIMULATIONS):
        (counts,) = family.sample(rng, segments)
        pairs = compared(metric, counts, test, seed).comparisons
        inside = []
        for pair in pairs:
            interval = pair.confidence_interval
            assert interval is not None
            true = truth[pair.system] - truth[pair.baseline]
            inside.append(interval.low <= true <= interval.high)
            if not interval.low <= 0 <= interval.high:
                assert pair.is_significant(round(1 - LEVEL, 12))
                stars += 1
        covered += all(inside)
        each.append(np.mean(inside))
    interval = clopper_pearson(covered, SIMULATIONS)
    print(
        f"simultaneous intervals, {name}, {test}, {segments} segments: all covered {covered / SIMULATIONS:.3f} "
        f"(95% interval {interval.low:.3f} to {interval.high:.3f}), each {np.mean(each):.3f}; "
        f"{stars / SIMULATIONS:.2f} of {len(family.pairs)} exclude 0"
    )
    # ``ar-studentized`` is known to fail near the kink, and few segments make intervals too short.
    fails = test == "ar-studentized" and family.near_kink(segments) and name.startswith("lengths")
    assert covered / SIMULATIONS > (0.6 if fails else 0.92 if segments == 500 else 0.88)
