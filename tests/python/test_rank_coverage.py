"""Rank intervals, sets of the best and simultaneous intervals contain the truth at their level: ``-m slow -s``."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from benches.data import Array, MissingDataError
from benches.simulations.blocks import texts
from benches.simulations.families import CLOSE, FAMILIES, LIUM, Build, Family, exchangeable, lengths, lognormal
from known import known
from reshuffle import Comparison, FromCounts, SegmentScores, compare
from reshuffle.metrics.base import Metric
from reshuffle.results import clopper_pearson

pytestmark = pytest.mark.slow

SIMULATIONS = 500
ALPHA = 0.05
# Systems whose scores differ by less are tied.
TIED = 1e-3

# All systems are tied in the first four, and two of them at the top in the others.
POPULATIONS: Mapping[str, Build] = {
    name: FAMILIES[name]
    for name in ("exchangeable", "lengths 1.01, 1.00, .99, .98", "means, equal spreads", "means, one of larger spread")
} | {
    "exchangeable, two at the top": exchangeable(CLOSE[:2], "bleu", better=["C-3MA.4959", "online-A.0", "online-G.0"]),
    "lengths 1.01, .99, three worse": lengths(LIUM, 1.01, 0.99, 1.0, 0.98, 1.02, below=[0.5, 0.5, 1]),
    "means, three worse": lognormal([0.5, 1, 0.5, 0.5, 1], below=[0.06, 0.06, 0.12]),
}


# All null hypotheses are true in the first two of each kind of metric, and one system differs in the third.
SIMULTANEOUS: Mapping[str, Build] = {
    name: FAMILIES[name]
    for name in (
        "exchangeable",
        "lengths 1.01, 1.00, .99, .98",
        "lengths 1.01, 1.00, .99, .98, one worse",
        "means, equal spreads",
        "means, one of larger spread",
        "means, one of larger spread, one worse",
    )
}


@pytest.fixture(scope="module")
def families() -> dict[str, Family]:
    """The populations by name."""
    try:
        return {name: build(texts()) for name, build in {**POPULATIONS, **SIMULTANEOUS}.items()}
    except MissingDataError as missing:
        pytest.skip(str(missing))


def true_scores(family: Family) -> Array:
    """The true score of each system, less that of the first: (k,)."""
    of_pairs = dict(zip(family.pairs, family.differences[0], strict=True))
    return np.array([0.0, *(of_pairs[system, 0] for system in range(1, len(family.counts[0])))])


def compared(metric: Metric, counts: Array, test: str, seed: int, **options: Any) -> Comparison:
    """All pairs of a sample, (k, S, K)."""
    scored: FromCounts | SegmentScores = FromCounts(metric.name, dict(zip("0123456789", counts, strict=False)), metric)
    if metric.is_mean:
        scored = SegmentScores(metric.name, dict(zip("0123456789", metric.segment_scores(counts), strict=False)))
    return compare(metrics=scored, test=test, all_pairs=True, n_resamples=999, seed=seed, workers=1, **options)


@pytest.mark.parametrize("segments", [100, 500])
@pytest.mark.parametrize(
    ("test", "adjust"), [("bootstrap-both", "maxt"), ("ar", "maxt"), ("ar-studentized", "maxt"), ("anova", "holm")]
)
@pytest.mark.parametrize("name", POPULATIONS)
def test_rank_intervals_and_sets_of_the_best_contain_the_truth(
    families: dict[str, Family], name: str, test: str, adjust: str, segments: int
) -> None:
    family = families[name]
    (metric,) = family.metrics
    scores = true_scores(family)
    # The ranks that ties leave open.
    low = 1 + (scores > scores[:, None] + TIED).sum(axis=1)
    high = len(scores) - (scores < scores[:, None] - TIED).sum(axis=1)
    tied = [f"{system}" for system in np.flatnonzero(low == 1)]
    rng = np.random.default_rng(2024)
    intervals = sets = 0
    of_best, sizes, separated = np.zeros(len(tied)), [], []
    for seed in range(SIMULATIONS):
        (counts,) = family.sample(rng, segments)
        (ranking,) = compared(metric, counts, test, seed, adjust=adjust, interval=None, alpha=ALPHA).rankings
        assert ranking.best
        intervals += all(
            ranking[f"{i}"].rank_low <= low[i] and high[i] <= ranking[f"{i}"].rank_high for i in range(len(scores))
        )
        sets += set(tied) <= set(ranking.best)
        separated.append(len(ranking.best))
        if ranking.mcb_best is not None:
            assert ranking.mcb_best
            of_best += [system in ranking.mcb_best for system in tied]
            sizes.append(len(ranking.mcb_best))
    exact = clopper_pearson(intervals, SIMULATIONS)
    line = (
        f"ranks, {name}, {test}, {adjust}, {segments} segments: all intervals {intervals / SIMULATIONS:.3f} "
        f"({exact.low:.3f} to {exact.high:.3f}), best {sets / SIMULATIONS:.3f} of size {np.mean(separated):.2f}"
    )
    if sizes:
        line += f", MCB {of_best.min() / SIMULATIONS:.3f} of size {np.mean(sizes):.2f}"
    print(line)
    # Tests that need exchangeable outputs, or equal variances, are known to fail without them.
    fails = not name.startswith("exchangeable") and (test in ("ar", "anova") or name.startswith("lengths"))
    fails &= test != "bootstrap-both"
    least = 0.5 if fails else 0.92 if segments == 500 else 0.88
    assert intervals / SIMULATIONS > least
    assert sets / SIMULATIONS > least
    assert not sizes or of_best.min() / SIMULATIONS > least


@pytest.mark.parametrize("segments", [100, 500])
@pytest.mark.parametrize("test", ["bootstrap-both", "ar-studentized"])
@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_simultaneous_intervals_cover_all_differences(
    families: dict[str, Family], name: str, test: str, segments: int
) -> None:
    family = families[name]
    (metric,) = family.metrics
    truth = true_scores(family)
    rng = np.random.default_rng(2008)
    covered, each, stars = 0, [], 0
    for seed in range(SIMULATIONS):
        (counts,) = family.sample(rng, segments)
        pairs = compared(
            metric, counts, test, seed, adjust="maxt", confidence_level=1 - ALPHA, interval="simultaneous"
        ).comparisons
        inside = []
        for pair in pairs:
            interval = known(pair.confidence_interval)
            true = truth[int(pair.system)] - truth[int(pair.baseline)]
            inside.append(interval.low <= true <= interval.high)
            if not interval.low <= 0 <= interval.high:
                assert pair.is_significant(ALPHA)
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
