"""The test ``permutation``: rebuilt from its random numbers, and the same on every path."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from counts import bleu_counts
from reshuffle import Comparison, Formula, FromCounts, InputError, SegmentScores, _core, compare, metric
from reshuffle.metrics.base import Counts
from reshuffle.resampling import CountSample, PermutedTally, Replicates
from reshuffle.settings import Resampling
from test_resampling import random_values
from told import assert_raises

BLEU = metric("bleu")
Labels = NDArray[np.int64]


def word(seed: int, r: int, part: int, w: int) -> int:
    """The 32-bit number w of a part of the stream of permutations, as in docs/design/random-numbers.md."""
    return int(random_values(seed, r, "permutation", w // 2 + 1, part).astype("<u8").view("<u4")[w])


def rebuilt(seed: int, r: int, k: int, units: int) -> Labels:
    """The permutation of k labels in each unit of replicate r: (units, k)."""
    out = np.zeros((units, k), np.int64)
    for u in range(units):
        for j in range(1, k):
            w = 64 * (u // 64 * (k - 1) + j - 1) + u % 64
            numbers = (word(seed, r, part, w) * (j + 1) for part in range(2**24))
            accepted = next(n for n in numbers if n % 2**32 >= 2**32 % (j + 1))
            position = accepted >> 32
            out[u, j] = out[u, position]
            out[u, position] = j
    return out


@settings(max_examples=budget(20), deadline=None)
@given(
    seed=st.integers(0, 2**64 - 1),
    r=st.integers(0, 2**64 - 1),
    k=st.sampled_from([1, 2, 3, 5, 16, 130]),
    units=st.sampled_from([1, 2, 63, 64, 65, 130]),
)
def test_permutations_are_those_of_the_documented_stream(seed: int, r: int, k: int, units: int) -> None:
    units = min(units, 1 + 400 // k)
    np.testing.assert_array_equal(rebuilt(seed, r, k, units), _core.permutations(seed, r, k, units))


def test_rejected_numbers_are_replaced_by_those_of_the_next_part() -> None:
    # A rejection is rare: one number in 2³²/(2³² mod 65,536-ish) at the most, so the search needs large j.
    k = 40_000
    labels = _core.permutations(1, 0, k, 64)
    w = np.arange(64 * (k - 1))
    assert np.array_equal(np.sort(labels, axis=1), np.broadcast_to(np.arange(k), (64, k)))
    values = _core.stream_values(1, "permutation", 0, len(w) // 2)
    numbers = values.view(np.uint32).astype(np.uint64)
    j = np.repeat(np.arange(1, k), 64).astype(np.uint64)
    rejected = np.flatnonzero((numbers * (j + 1)).astype(np.uint32) < 2**32 % (j + 1))
    assert rejected.size > 0
    last = rejected[-1]
    # From the end of the shuffle back, each step can be undone, so that the label shows which number was used.
    steps, lane = int(j[last]), int(last % 64)
    mine = labels[lane].astype(np.int64)
    for step in range(k - 1, steps, -1):
        position = int(np.flatnonzero(mine == step)[0])
        mine[position] = mine[step]
    position = int(np.flatnonzero(mine[: steps + 1] == steps)[0])
    part = 1
    while word(1, 0, part, int(last)) * (steps + 1) % 2**32 < 2**32 % (steps + 1):
        part += 1
    assert position == word(1, 0, part, int(last)) * (steps + 1) >> 32


def test_sums_near_the_largest_are_exact() -> None:
    largest = _core.LARGEST_SUM // 2
    counts = np.array([[[largest], [-largest]], [[-largest], [largest]], [[largest], [largest]]])
    resampler = _core.Resampler([(None, _core.Counts([counts]))], kind="permutations")
    (sums,) = resampler.run([_core.Sums()], n=20, seed=5)
    for r in range(20):
        labels = _core.permutations(5, r, 3, 2)
        expected = [sum(int(counts[labels[u, i], u, 0]) for u in range(2)) for i in range(3)]
        assert sums.sums[r].tolist() == expected


def named(counts: Counts) -> dict[str, Counts]:
    return {f"s{i}": rows for i, rows in enumerate(counts)}


def compared(metrics: Any, **options: Any) -> Comparison:
    defaults = {"test": "permutation", "adjust": "tukey", "n_resamples": 300, "interval": None, "all_pairs": True}
    return compare(metrics=metrics, **{**defaults, **options})


def numbers(comparison: Comparison) -> list[tuple[float, float | None, int]]:
    return [(p.test.pvalue, p.test.adjusted_pvalue, p.test.exceedances) for p in comparison.comparisons]


def by_definition(
    counts: Counts, n: int, seed: int, unit_of: list[int] | None = None
) -> list[tuple[float, float, int]]:
    """p, adjusted p and exceedances of all pairs, permutation by permutation."""
    k, segments, _ = counts.shape
    unit = np.arange(segments) if unit_of is None else np.array(unit_of)
    observed = BLEU.score(counts.sum(axis=1))
    every = [_core.permutations(seed, r, k, int(unit.max()) + 1)[unit].astype(np.int64) for r in range(n)]
    drawn = np.array([BLEU.score(np.take_along_axis(counts, labels.T[..., None], 0).sum(axis=1)) for labels in every])
    ranges = np.ptp(drawn, axis=1)
    out = []
    for x, y in combinations(range(k), 2):
        t = abs(observed[y] - observed[x]) - 1e-11
        c, of_range = int((abs(drawn[:, y] - drawn[:, x]) >= t).sum()), int((ranges >= t).sum())
        out.append(((c + 1) / (n + 1), (of_range + 1) / (n + 1), c))
    return out


@pytest.mark.parametrize("documents", [None, [i // 3 for i in range(60)]])
@pytest.mark.parametrize("k", [2, 4])
def test_p_values_are_those_of_the_definition_for_native_and_python_formulas(
    k: int, documents: list[int] | None
) -> None:
    counts = bleu_counts(1, k, 60, 0.02)
    expected = by_definition(counts, 300, 12345, documents)
    native = compared(FromCounts("m", named(counts), "bleu"), documents=documents)
    in_python = compared(FromCounts("m", named(counts), BLEU.score), documents=documents)
    assert expected == numbers(native) == numbers(in_python)
    assert all(p.test.n_resamples == 300 and p.test.scheme is None for p in native.comparisons)
    assert "300 permutations" in " ".join(str(native).split())
    assert "300 permutations, " in str(native.comparisons[0].test)
    if k == 2:
        assert [p for p, _, _ in expected] == [adjusted for _, adjusted, _ in expected]


def test_results_are_the_same_bytes_on_any_number_of_threads_and_in_any_parts() -> None:
    samples = [CountSample.from_counts(BLEU, bleu_counts(seed, 5, 150, 0.02)) for seed in (1, 2)]
    pairs = list(combinations(range(5), 2))
    thresholds = np.full((2, len(pairs)), 2.0)

    def whole(threads: int) -> tuple[bytes, bytes]:
        (counts,) = Replicates(samples, Resampling(1000, 4, threads)).run([PermutedTally(pairs, thresholds)])
        return counts.pairs.tobytes(), counts.ranges.tobytes()

    def part(first: int, n: int, more: float = 0.0) -> Any:
        core = [(BLEU.core, sample.core_counts) for sample in samples]
        resampler = _core.Resampler(core, kind="permutations", threads=2)
        (tally,) = resampler.run([_core.PermutedTally(pairs, thresholds + more)], n=n, first=first, seed=4)
        return tally

    assert len({whole(threads) for threads in (1, 2, 3, 7)}) == 1
    merged = part(0, 64).merge(part(64, 100)).merge(part(164, 836))
    assert whole(1) == (merged.counts.astype(np.int64).tobytes(), merged.range_counts.astype(np.int64).tobytes())
    assert merged.replicates == (0, 1000)
    with pytest.raises(InputError, match="same pairs, thresholds"):
        part(0, 64).merge(part(64, 64, more=1.0))


def test_a_baseline_is_compared_with_the_range_of_all_systems() -> None:
    own = FromCounts("m", named(bleu_counts(3, 4, 80, 0.02)), "bleu")
    few, every = compared(own, all_pairs=False), compared(own)
    assert len(few.comparisons) == 3
    for pair in few.comparisons:
        same = every.pair(pair.system, pair.baseline).test
        assert (pair.test.pvalue, pair.test.adjusted_pvalue) == (same.pvalue, same.adjusted_pvalue)


@pytest.mark.parametrize("adjust", [None, "tukey", "holm"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_warning_is_shown_for_more_than_two_systems(k: int, adjust: str | None) -> None:
    comparison = compared(FromCounts("m", named(bleu_counts(1, k, 40, 0.02)), "bleu"), adjust=adjust)
    assert ("all-exchangeable" in [caveat.kind for caveat in comparison.caveats]) == (k > 2)
    # For two systems, exchangeability is checked.
    assert (comparison.comparisons[0].exchangeability is None) == (k > 2)


def test_invalid_options_are_refused() -> None:
    own = FromCounts("m", named(bleu_counts(1, 3, 20, 0.02)), "bleu")
    broken = FromCounts("m", own.counts, Formula("broken", lambda totals: totals[..., 0] * np.nan))
    assert_raises("python_errors_of_permutation", globals() | {"own": own, "broken": broken})


def test_too_few_units_are_reported() -> None:
    scores = SegmentScores("x", {"a": [1.0, 2], "b": [4.0, 6], "c": [9.0, 12]})
    caveat = next(c for c in compared(scores, adjust=None).caveats if c.kind == "few-units")
    assert caveat.values["smallest"] == pytest.approx(2 / 6**2)
    assert "can be permuted between 3 systems in only 36 ways" in " ".join(str(compared(scores, adjust=None)).split())
