"""What several reductions keep of replicates, and the significance level alpha."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from reshuffle import CorpusFunction, Formula, FromCounts, InputError, compare, experimentwise_error, metric
from reshuffle.inference import step_down
from reshuffle.metrics.base import Counts
from reshuffle.report import render
from reshuffle.resampling import (
    CountSample,
    MaxT,
    MinP,
    Replicates,
    SequentialCounts,
    SequentialTally,
    Series,
    Spread,
    Tally,
)
from reshuffle.resampling.stopping import BesagClifford

BLEU = metric("bleu")


def counts_of(seed: int, systems: int = 4, segments: int = 60) -> Counts:
    rng = np.random.default_rng(seed)
    matches = np.sort(rng.integers(0, 9, (systems, segments, 4)))[..., ::-1]
    totals = np.array([9, 8, 7, 6]) + np.zeros_like(matches)
    return np.concatenate([np.full((systems, segments, 2), 9), np.minimum(matches, totals), totals], axis=-1)


def replicates_of(seed: int, n: int = 99) -> Replicates:
    counts = counts_of(seed)
    samples = [
        CountSample.from_counts(BLEU, counts),
        CountSample.from_counts(Formula("same", lambda t: BLEU.score(t)), counts),
    ]
    return Replicates(samples, n_resamples=n, seed=seed)


def test_several_reductions_in_one_pass_equal_each_alone() -> None:
    pairs = list(combinations(range(4), 2))
    replicates = replicates_of(5, 2000)
    (series,) = replicates.run([Series()], pairs)
    thresholds = np.quantile(np.abs(series), 0.9, axis=-1)
    asked: list[Any] = [
        Tally("two-sided", thresholds),
        Spread(),
        SequentialTally("two-sided", thresholds, BesagClifford(9).core()),
        MaxT("two-sided", np.ones_like(thresholds), thresholds, np.arange(2)),
        Series(),
        MinP("two-sided", thresholds, np.zeros_like(thresholds), np.full(thresholds.shape, 40), np.arange(2)),
    ]
    for reduction, found in zip(asked, replicates.run(asked, pairs), strict=True):
        (alone,) = replicates.run([reduction], pairs)
        if isinstance(found, SequentialCounts):
            assert found.null is alone.null is None
            found, alone = found[:3], alone[:3]
        np.testing.assert_array_equal(np.array(found), np.array(alone))


def test_max_t_makes_a_second_pass_only_if_the_statistics_need_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    references = [f"a{i} b{i} c{i}" for i in range(12)]
    systems = {
        "x": references,
        "y": [line if i % 3 else "z" for i, line in enumerate(references)],
        "z": [line if i % 2 else "z" for i, line in enumerate(references)],
    }
    share = CorpusFunction("share", lambda h, r: sum(a == b for a, b in zip(h, r[0], strict=True)) / len(h))
    found = []
    # The statistics of 60 shuffles of two pairs.
    for kept, passes in ((120, 1), (119, 2)):
        monkeypatch.setattr(step_down, "STATISTICS_TO_KEEP", kept)
        comparison = compare(references, systems, share, test="ar", adjust="maxt", n_resamples=60, interval=None)
        # Three scores, then the passes of 60 shuffles, each with two pairs of systems.
        assert comparison.metrics[0].evaluations == 3 + passes * 60 * 2 * 2
        found.append([pair.test for pair in comparison.comparisons])
    assert found[0] == found[1]


# --- The level of the tests


def compared(**options: Any) -> Any:
    external = FromCounts("m", dict(zip("abcd", counts_of(7), strict=True)), "bleu")
    return compare(metrics=external, n_resamples=999, interval="delta", **options)


def test_alpha_defaults_to_one_minus_the_confidence_level() -> None:
    assert compared().alpha == 0.05
    assert compared(confidence_level=0.9).alpha == 0.1
    comparison = compared(alpha=0.2)
    assert (comparison.alpha, comparison.confidence_level) == (0.2, 0.95)
    assert comparison.experimentwise_error == experimentwise_error(0.2, 3)
    assert [c.confidence_interval for c in comparison.comparisons] == [
        c.confidence_interval for c in compared().comparisons
    ]
    assert "* adjusted p ≤ 0.2" in render(comparison, "text")
    for alpha in (0, 1, 5, "x"):
        with pytest.raises(InputError, match="alpha must lie strictly between 0 and 1"):
            compared(alpha=alpha)
