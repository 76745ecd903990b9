"""Exchanges of runs whose masks the core makes, rebuilt from their random numbers, and swapped one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from reshuffle import InputError, _core
from reshuffle.metrics.base import Counts
from reshuffle.resampling.run_layout import in_groups
from reshuffle.resampling.samples import resampler_of_sums

SIZES = st.sampled_from([1, 2, 63, 64, 65, 130])
SEEDS = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**63))


def random_rows(seed: int, *shape: int) -> Counts:
    return np.random.default_rng(seed % 2**32).integers(-50, 50, shape)


def swapped(rows: Counts, exchange: Any, seed: int, first: int, n: int) -> Counts:
    """The core's sums of the swapped rows of each side: (sides, rows, S, K) in, (n, sides, K) out."""
    units = in_groups(rows)
    with_zeros = np.concatenate([np.zeros_like(units[:1]), units])
    run = resampler_of_sums("shuffles", with_zeros).run
    (sums,) = run([_core.Sums()], n=n, seed=seed, first=first, exchange=exchange)
    return np.asarray(sums.sums).reshape(n, len(with_zeros), -1)[:, 1:]


def pooled_outputs(seed: int, r: int, n: int, m: int, n_units: int) -> NDArray[np.bool_]:
    """Which of n + m outputs of each unit are the first system's: (units, n + m)."""
    return _core.permutations(seed, r, n + m, n_units) < n


def multeval_choices(seed: int, r: int, n: int, n_units: int) -> tuple[list[list[tuple[bool, int]]], ...]:
    """For each unit and place, whether X and Y take the other system's output, and of which run."""
    words = -(-n_units // 64)
    values = _core.stream_values(seed, "shuffle", r, n * words)
    x, y = [], []
    for unit, permuted in enumerate(_core.permutations(seed, r, n, n_units).tolist()):
        coins = [bool(int(values[unit // 64 * n + place]) >> unit % 64 & 1) for place in range(n)]
        x.append([(coins[place], permuted[place]) for place in range(n)])
        y.append([(coins[place], permuted.index(place)) for place in range(n)])
    return x, y


@settings(max_examples=budget(40), deadline=None)
@given(shape=st.tuples(st.integers(1, 3), st.integers(1, 4), SIZES, st.integers(1, 3)))
def test_groups_have_each_row_once_and_otherwise_zeros(shape: tuple[int, int, int, int]) -> None:
    rows = np.arange(1, 1 + np.prod(shape)).reshape(shape)
    sides, n_rows, n_units, width = shape
    units = in_groups(rows)
    assert units.shape == (sides, -(-n_units // 64) * 64 * n_rows, width)
    for row in range(n_rows):
        for unit in range(n_units):
            place = 64 * (unit // 64 * n_rows + row) + unit % 64
            np.testing.assert_array_equal(units[:, place], rows[:, row, unit])
    assert np.count_nonzero(units) == rows.size


@settings(max_examples=budget(30), deadline=None)
@given(n=st.integers(1, 4), m=st.integers(1, 4), n_units=SIZES, seed=SEEDS)
def test_pooled_outputs_are_those_with_small_labels(n: int, m: int, n_units: int, seed: tuple[int, int]) -> None:
    outputs = random_rows(seed[0], n + m, n_units, 2)
    signs = np.repeat([-1, 1], [n, m])[:, None, None]
    got = outputs[:n].sum(axis=(0, 1)) + swapped((signs * outputs)[None], ("pooled", n, m), *seed, 20)[:, 0]
    for r, sums in enumerate(got):
        chosen = pooled_outputs(seed[0], seed[1] + r, n, m, n_units)
        assert (chosen.sum(axis=1) == n).all()
        np.testing.assert_array_equal(outputs.transpose(1, 0, 2)[chosen].sum(axis=0), sums)


@settings(max_examples=budget(30), deadline=None)
@given(n=st.sampled_from([1, 2, 3, 5, 17]), n_units=SIZES, seed=SEEDS)
def test_multeval_takes_outputs_by_a_permutation_and_its_inverse(n: int, n_units: int, seed: tuple[int, int]) -> None:
    a, b = systems = random_rows(seed[0], 2, n, n_units, 2)
    sides = np.zeros((2, 2, n, n_units, 2), np.int64)
    sides[0, 0] = sides[1, 1] = b - a
    moved = swapped(sides.reshape(2, 2 * n, n_units, 2), ("multeval", n), *seed, 5)
    for r, (x, y) in enumerate(moved):
        choices = multeval_choices(seed[0], seed[1] + r, n, n_units)
        for own, got in zip((0, 1), (a.sum(axis=(0, 1)) + x, b.sum(axis=(0, 1)) - y), strict=True):
            taken = [
                systems[own ^ other, run, unit] for unit, places in enumerate(choices[own]) for other, run in places
            ]
            np.testing.assert_array_equal(np.sum(taken, axis=0), got)


@pytest.mark.parametrize("exchange", [("pooled", 2, 3), ("multeval", 3)])
def test_threads_and_cuts_change_nothing(exchange: Any) -> None:
    rows = random_rows(1, 1, 6 if exchange[0] == "multeval" else 5, 200, 3)
    resampler = resampler_of_sums("shuffles", np.concatenate([np.zeros_like(in_groups(rows)), in_groups(rows)]))

    def sums(first: int, n: int, threads: int) -> Counts:
        (found,) = resampler.run([_core.Sums()], n=n, seed=3, first=first, exchange=exchange, threads=threads)
        return np.asarray(found.sums)

    whole = sums(7, 1300, 1)
    np.testing.assert_array_equal(whole, sums(7, 1300, 3))
    np.testing.assert_array_equal(whole, np.concatenate([sums(7, 100, 2), sums(107, 1200, 2)]))


@pytest.mark.parametrize(
    ("exchange", "message"),
    [
        (("cells", 3), "unknown exchange 'cells'"),
        (("pooled", 3), r"exchange must be \('pooled', n, m\), with the numbers of runs of both systems, got"),
        (("multeval", 3, 3), r"exchange must be \('multeval', n\), with the number of runs of each system, got"),
        (("multeval", 0), "the number of runs of a system must be at least 1, got 0"),
        (("pooled", 2, 2), "must be a multiple of 256, 64 segments of 4 rows each, got 128"),
    ],
)
def test_what_does_not_fit_is_refused(exchange: Any, message: str) -> None:
    resampler = resampler_of_sums("shuffles", np.zeros((2, 128, 1), np.int64))
    with pytest.raises(InputError, match=message):
        resampler.run([_core.Sums()], n=1, exchange=exchange)
    with pytest.raises(InputError, match="exchange must be None when codes are passed"):
        resampler.run([_core.Sums()], n=1, exchange=exchange, codes=np.zeros(128, np.uint64))
