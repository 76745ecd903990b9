"""Studies of significance tests as one would write them without reshuffle: loops over simulated test sets.

Every function takes a :class:`Setting` and the numbers of the simulations, draws a test set for each from the same
population, and returns the p-values. ``numpy_*`` are the fastest loops that we could write, with BLAS; ``sacrebleu_*``
call sacreBLEU's own test for each test set, ``scipy_mean`` SciPy's. Given the shuffles or draws of reshuffle they must
give its p-values: :func:`our_test_set`, :func:`our_shuffles`, and ``bootstrap_test(indices=…)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import sacrebleu.significance
import scipy
import scipy.stats

from benches.data import Array
from reshuffle import _core, derive_seed

from ..cases.resampling import RIVALS, numpy_bleu

__all__ = [
    "Setting",
    "numpy_ar",
    "numpy_bootstrap_shift",
    "our_shuffles",
    "our_test_set",
    "sacrebleu_ar",
    "sacrebleu_bootstrap",
    "same_pvalues_of_studies",
    "scipy_mean",
]

# Replicates per product of matrices: larger blocks leave the cache.
SHUFFLES_PER_BLOCK, DRAWS_PER_BLOCK = 500, 50

# SciPy's argument for the seed had another name before version 1.15.
GENERATOR = "rng" if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 15) else "random_state"

# Makes the test set of a simulation, (2, n, K), and the replicates of its test: masks (R, n) or indices (R, n).
TestSet = Callable[[int], Array]
Replicates = Callable[[int], Array]


@dataclass(frozen=True, eq=False)
class Setting:
    """A study of one pair under the swap null.

    ``size`` units are drawn from the counts (2, U, K) with replacement, and the two outputs of each are swapped with
    probability ½.
    """

    counts: Array
    size: int
    n_resamples: int
    seed: int = 12345

    def test_set(self, simulation: int) -> Array:
        """A test set from numpy's generator."""
        rng = np.random.Generator(np.random.SFC64([self.seed, simulation]))
        drawn = self.counts[:, rng.integers(self.counts.shape[1], size=self.size)]
        swapped = rng.integers(2, size=(self.size, 1), dtype=bool)
        return np.where(swapped, drawn[::-1], drawn)

    def masks(self, simulation: int) -> Array:
        """The shuffles of a test from numpy's generator: (R, n), true where two outputs are swapped."""
        source = np.random.SFC64([self.seed, simulation, 1])
        raw = source.random_raw(self.n_resamples * -(-self.size // 64)).view(np.uint8)
        return np.unpackbits(raw.reshape(self.n_resamples, -1), axis=1, count=self.size).view(bool)

    def indices(self, simulation: int) -> Array:
        """The draws of a test from numpy's generator: (R, n)."""
        rng = np.random.Generator(np.random.SFC64([self.seed, simulation, 2]))
        return rng.integers(self.size, size=(self.n_resamples, self.size))


# The test sets and shuffles of reshuffle, for checks.


def our_test_set(setting: Setting) -> TestSet:
    """The test sets of reshuffle's studies, rebuilt from its streams ``selection`` and ``assignment``."""

    def test_set(simulation: int) -> Array:
        seed, size = derive_seed(setting.seed, "simulation", simulation), setting.size
        chosen = _core.stream_indices(seed, 0, setting.counts.shape[1], size, purpose="selection").astype(np.intp)
        words = _core.stream_values(seed, "assignment", 0, -(-size // 2)).view(np.uint32)[:size]
        drawn = setting.counts[:, chosen]
        return np.where((words < 2**31)[:, None], drawn[::-1], drawn)

    return test_set


def our_shuffles(setting: Setting) -> Replicates:
    """The shuffles of reshuffle's tests, rebuilt: unit u is swapped if bit u of the stream is set."""

    def masks(simulation: int) -> Array:
        seed, size = derive_seed(setting.seed, "simulation", simulation), setting.size
        values = [_core.stream_values(seed, "shuffle", r, -(-size // 64)) for r in range(setting.n_resamples)]
        bits = np.unpackbits(np.stack(values).astype("<u8").view(np.uint8), axis=1, count=size, bitorder="little")
        return bits.view(bool)

    return masks


def same_pvalues_of_studies(expected: Array, *others: Array) -> None:
    """Check for bitwise equal p-values of the same simulations with the same replicates."""
    for actual in others:
        np.testing.assert_array_equal(np.asarray(expected), np.asarray(actual))


# numpy.


def numpy_ar(
    setting: Setting, simulations: range, test_set: TestSet | None = None, masks: Replicates | None = None
) -> Array:
    """Approximate randomization of BLEU: blocks of flips times the differences, through BLAS.

    Sums stay below 2²⁴, so float32 is exact.
    """
    of_set, of_masks = test_set or setting.test_set, masks or setting.masks
    pvalues = np.empty(len(simulations))
    for i, simulation in enumerate(simulations):
        a, b = of_set(simulation)
        total_a, total_b = a.sum(axis=0), b.sum(axis=0)
        difference, flips = (a - b).astype(np.float32), of_masks(simulation)
        (observed,) = numpy_bleu(total_a[None]) - numpy_bleu(total_b[None])
        reached = 0
        for first in range(0, setting.n_resamples, SHUFFLES_PER_BLOCK):
            block = flips[first : first + SHUFFLES_PER_BLOCK].astype(np.float32)
            shift = (block @ difference).astype(np.float64)
            shuffled = numpy_bleu(total_a - shift) - numpy_bleu(total_b + shift)
            # Equal sums give equal scores but for rounding, so ties are counted with a tolerance.
            reached += int((np.abs(shuffled) >= abs(observed) - 1e-9).sum())
        pvalues[i] = (reached + 1) / (setting.n_resamples + 1)
    return pvalues


def numpy_bootstrap_shift(
    setting: Setting, simulations: range, test_set: TestSet | None = None, indices: Replicates | None = None
) -> Array:
    """The bootstrap with shift of BLEU: how often each unit is drawn, times the counts, through BLAS."""
    of_set, of_indices, size = test_set or setting.test_set, indices or setting.indices, setting.size
    pvalues = np.empty(len(simulations))
    for i, simulation in enumerate(simulations):
        a, b = of_set(simulation)
        both, width = np.hstack([a, b]).astype(np.float32), a.shape[1]
        (observed,) = numpy_bleu(a.sum(axis=0)[None]) - numpy_bleu(b.sum(axis=0)[None])
        drawn, differences = of_indices(simulation), np.empty(setting.n_resamples)
        for first in range(0, setting.n_resamples, DRAWS_PER_BLOCK):
            block = drawn[first : first + DRAWS_PER_BLOCK]
            offset = block + np.arange(len(block))[:, None] * size
            times = np.bincount(offset.ravel(), minlength=len(block) * size).reshape(len(block), size)
            sums = (times.astype(np.float32) @ both).astype(np.float64)
            differences[first : first + len(block)] = numpy_bleu(sums[:, :width]) - numpy_bleu(sums[:, width:])
        magnitude = np.abs(differences)
        reached = int((magnitude - magnitude.mean() >= abs(observed) - 1e-9).sum())
        pvalues[i] = (reached + 1) / (setting.n_resamples + 1)
    return pvalues


# sacreBLEU.


class Replayed:
    """A generator for sacreBLEU's tests that returns given masks and indices instead of random ones."""

    def __init__(self, replicates: Array) -> None:
        self.replicates = replicates

    def integers(self, *_: Any, **__: Any) -> Array:
        """sacreBLEU's masks: true where the baseline's output stays the baseline's."""
        return ~self.replicates

    def choice(self, *_: Any, **__: Any) -> Array:
        """sacreBLEU's indices."""
        return self.replicates


@contextmanager
def generator(replicates: Array | None) -> Iterator[None]:
    """Let sacreBLEU's tests use given replicates; None for their own."""
    module: Any = sacrebleu.significance
    if replicates is None:
        yield
        return
    replayed = Replayed(replicates)

    class Numpy:
        """numpy, but for its generator."""

        random = type("random", (), {"default_rng": staticmethod(lambda _: replayed)})

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    module.np = Numpy()
    try:
        yield
    finally:
        module.np = np


def _sacrebleu(
    test: Callable[..., Any],
    setting: Setting,
    simulations: range,
    test_set: TestSet | None,
    replicates: Replicates | None,
) -> Array:
    of_set, pvalues = test_set or setting.test_set, np.empty(len(simulations))
    for i, simulation in enumerate(simulations):
        counts, baseline_counts = (rows.tolist() for rows in of_set(simulation))
        rival = RIVALS["bleu"]()
        # The tests count texts first. That step returns the counts, in sacreBLEU's format.
        vars(rival)["_extract_corpus_statistics"] = lambda *_, counts=counts: counts
        baseline = rival._aggregate_and_compute(baseline_counts).score
        info = {"bleu": (baseline_counts, sacrebleu.significance.Result(baseline))}
        with generator(None if replicates is None else replicates(simulation)):
            _, results = test(
                info,
                "system",
                [""] * len(counts),
                None,
                {"bleu": rival},
                n_samples=setting.n_resamples,
                seed=simulation,
            )
        pvalues[i] = results["bleu"].p_value
    return pvalues


def sacrebleu_ar(
    setting: Setting, simulations: range, test_set: TestSet | None = None, masks: Replicates | None = None
) -> Array:
    """sacreBLEU's approximate randomization of BLEU, one test after the other, from counts.

    It counts shuffles with a larger difference, not those with an equal one, so p is smaller where there are ties.
    """
    return _sacrebleu(sacrebleu.significance._paired_ar_test, setting, simulations, test_set, masks)


def sacrebleu_bootstrap(
    setting: Setting, simulations: range, test_set: TestSet | None = None, indices: Replicates | None = None
) -> Array:
    """sacreBLEU's bootstrap test (with shift) of BLEU, one test after the other, from counts."""
    return _sacrebleu(sacrebleu.significance._paired_bs_test, setting, simulations, test_set, indices)


# SciPy.


def scipy_mean(setting: Setting, simulations: range, test_set: TestSet | None = None, batch: int = 50) -> Array:
    """SciPy's permutation test of a mean; the counts are (score, 1) of each segment.

    If 2^n is at most R, it enumerates all swaps, and p is exact.
    """
    of_set, pvalues = test_set or setting.test_set, np.empty(len(simulations))

    def statistic(x: Array, y: Array, axis: int) -> Array:
        return np.asarray((x - y).mean(axis=axis))

    options: dict[str, Any] = {"permutation_type": "samples", "n_resamples": setting.n_resamples}
    options |= {"batch": batch, "vectorized": True}
    for i, simulation in enumerate(simulations):
        a, b = of_set(simulation)[:, :, 0]
        options[GENERATOR] = simulation
        result = scipy.stats.permutation_test((a, b), statistic, **options)
        pvalues[i] = result.pvalue
    return pvalues
