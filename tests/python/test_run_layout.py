"""Exchanges of runs whose masks the core makes: on any number of threads, in any parts, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reshuffle import InputError, _core
from reshuffle.metrics.base import Counts
from reshuffle.resampling.run_layout import in_groups
from reshuffle.resampling.samples import resampler_of_sums


def random_rows(seed: int, *shape: int) -> Counts:
    return np.random.default_rng(seed % 2**32).integers(-50, 50, shape)


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
