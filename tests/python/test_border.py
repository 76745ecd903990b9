"""The core raises exceptions for arguments that it cannot use; it never panics or aborts the process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calls
from budgets import budget
from reshuffle import InputError, _core

BLEU = _core.Metric("bleu", {})
COUNTS = np.random.default_rng(0).integers(1, 30, size=(2, 70, 10))
SAMPLES, PAIR, LIMIT = [(BLEU, COUNTS)], [(0, 1)], np.zeros((1, 1))
RANKS = np.ones((1, 1), dtype=np.uint64)
RULE = _core.StoppingRule.besag_clifford(10)
CODES = np.zeros(70, dtype=np.uint64)
# As many numbers as for two metrics and three pairs, but for three metrics and two pairs.
PAIRS, TURNED = [(0, 1), (1, 0), (0, 1)], np.ones((3, 2))
RIGHT = TURNED.T.copy()
LISTS = (np.array([0, 30, 70]), COUNTS[0])
MANY = np.array([0, 2**32])


def with_word(specification: _core.Reduction, at: int, word: int) -> object:
    """What has the state of a result, of which a word is replaced."""
    (computed,) = calls.resampler(SAMPLES, kind="shuffles").run([specification], n=64)
    words = computed.state()
    words[at] = word
    return specification.with_state(words)


def experiment(groups: Any = None) -> _core.Experiment:
    """Simulations under two metrics."""
    samples = [(BLEU, _core.Counts([COUNTS]))] * 2
    return _core.Experiment([(samples, groups)], sampling="subset", size=10, swapped=0, seed=1)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "indices": (lambda: _core.stream_indices(1, 0, 5, 10**13), "n must be at most 8589934592, after which"),
    "minP of 0": (
        lambda: calls.shuffle_min_p(SAMPLES, PAIR, "two-sided", (LIMIT, LIMIT), RANKS, [0], n=0, seed=1),
        "replicates: expected at least one, got none",
    ),
    "NaN": (
        lambda: calls.shuffle_tally(SAMPLES, PAIR, "two-sided", LIMIT * np.nan, n=10, seed=1),
        "thresholds must be numbers, got NaN",
    ),
    "no metric": (
        lambda: calls.shuffle_min_p([], PAIR, "less", (np.zeros((0, 1)),) * 2, RANKS[:0], [], n=1, seed=1),
        "metrics: expected at least one, got none",
    ),
    "pair": (lambda: calls.shuffle_spreads(SAMPLES, [(0, 2)], n=1, seed=1), "system 2 is out of range: there are 2"),
    # 70 segments need two 64-bit values of flips.
    "masks": (
        lambda: calls.shuffle_sums([COUNTS], n=1, seed=1, masks=np.zeros((3, 65), dtype=bool)),
        "segments of masks: expected 70, got 65",
    ),
    "masks and codes": (
        lambda: calls.shuffle_sums([COUNTS], n=1, seed=1, masks=np.zeros((3, 70), dtype=bool), codes=CODES),
        "codes must be None when masks are passed, got both",
    ),
    "indices of draws": (
        lambda: calls.draw_sums([COUNTS], n=1, seed=1, indices=np.full((3, 69), 70, dtype=np.uint32)),
        "segment 70 is out of range: there are 70",
    ),
    "no indices": (
        lambda: calls.draw_sums([COUNTS], n=1, seed=1, indices=np.zeros((3, 0), dtype=np.uint32)),
        "indices: expected at least one, got none",
    ),
    "more indices than sums have room for": (
        lambda: calls.draw_sums([COUNTS + 2**55], n=1, seed=1, indices=np.zeros((3, 700), dtype=np.uint32)),
        "the number of indices of a replicate must be at most 127 for counts this large, got 700",
    ),
    # Replicates past the last number once gave zeros instead of sums.
    "first": (
        lambda: calls.shuffle_sums([COUNTS], n=10, seed=1, first=2**64 - 5, codes=CODES),
        "the first replicate must be at most 18446744073709551605 for 10 replicates, got 18446744073709551611",
    ),
    "strata": (lambda: calls.draw_sums([COUNTS], n=1, seed=1, strata=[]), "strata: expected at least one, got none"),
    "threads": (
        lambda: calls.shuffle_spreads(SAMPLES, PAIR, n=1, seed=1, threads=10**9),
        "threads must be at most 4096, got 1000000000",
    ),
    "a group without units": (
        lambda: experiment(np.repeat(np.array([0, 2], np.uint32), 35)),
        "units of group 1: expected at least one, got none",
    ),
    "scale": (lambda: _core.Metric.mean("x", 0.0, higher_is_better=True), "scale must be a number above 0"),
    "2^32 candidates of the reranker": (
        lambda: _core.tune_l1_loss(MANY, np.empty((2**32, 0)), None, np.zeros(1, np.int64), np.zeros(0)),
        "candidates must be fewer than 2^32, got 4294967296",
    ),
    "2^32 candidates of PRO": (
        lambda: _core.tune_pro(MANY, np.empty((2**32, 0)), None, np.zeros(0), seeds=[1]),
        "candidates must be fewer than 2^32, got 4294967296",
    ),
    "a sentence without candidates": (
        lambda: _core.tune_oracle(np.array([0, 2, 2]), COUNTS[0, :2], BLEU, np.zeros((0, 2), np.int64)),
        "candidates of sentence 2: expected at least one, got none",
    ),
}

BEYOND_MEMORY: dict[str, tuple[Callable[[], object], str]] = {
    "minP beyond memory": (
        lambda: calls.shuffle_min_p(SAMPLES, PAIR, "two-sided", (LIMIT, LIMIT), RANKS, [0], n=2**60, seed=1),
        "cannot allocate 1152921504606846976 numbers",
    ),
    "simulations beyond memory": (lambda: experiment().draws(n_resamples=5, n=2**62), "numbers: ask for fewer"),
    "limits beyond memory": (lambda: RULE.limits(2**60), "numbers: ask for fewer"),
    "exact test beyond memory": (
        lambda: _core.subset_sum_distribution(np.array([2**60], dtype=np.uint64)),
        "cannot allocate 1152921504606846977 numbers",
    ),
    "room for a batch": (
        lambda: _core.draw_many(
            _core.Metric("bleu", {}), _core.Counts([COUNTS[:1]]), n=1 << 62, seeds=np.zeros(1, np.uint64)
        ),
        "cannot allocate 4611686018427387904 numbers",
    ),
}

THRESHOLDS = "pairs of thresholds: expected 3, got 2"
TRANSPOSED: dict[str, tuple[Callable[[], object], str]] = {
    "Tally": (lambda: _core.Tally(PAIRS, "less", TURNED), THRESHOLDS),
    "PermutedTally": (lambda: _core.PermutedTally(PAIRS, TURNED), THRESHOLDS),
    "SequentialTally": (lambda: _core.SequentialTally(PAIRS, "less", TURNED, RULE), THRESHOLDS),
    "MaxT": (lambda: _core.MaxT(PAIRS, "less", RIGHT, TURNED, [0, 1]), THRESHOLDS),
    "scales of MaxT": (lambda: _core.MaxT(PAIRS, "less", TURNED, RIGHT, [0, 1]), "pairs of scales: expected 3, got 2"),
    "MinP": (lambda: _core.MinP(PAIRS, "less", TURNED, RIGHT, RIGHT.astype(np.uint64), [0, 1]), THRESHOLDS),
    "tolerances of MinP": (
        lambda: _core.MinP(PAIRS, "less", RIGHT, TURNED, RIGHT.astype(np.uint64), [0, 1]),
        "pairs of tolerances: expected 3, got 2",
    ),
    "ranks of MinP": (
        lambda: _core.MinP(PAIRS, "less", RIGHT, RIGHT, TURNED.astype(np.uint64), [0, 1]),
        "pairs of ranks: expected 3, got 2",
    ),
    "simulations": (
        lambda: experiment().exceedances("less", TURNED, n_resamples=10),
        "metrics of thresholds: expected 2, got 3",
    ),
    "sequential simulations": (
        lambda: experiment().sequential("less", TURNED, RULE, n_resamples=10),
        "metrics of thresholds: expected 2, got 3",
    ),
    "directions": (
        lambda: _core.tune_line_search(
            LISTS[0], np.ones((70, 3)), LISTS[1], BLEU, np.ones(3), np.ones((3, 2)), threads=1
        ),
        "features of directions: expected 3, got 2",
    ),
    "starts": (
        lambda: _core.tune_oracle(*LISTS, BLEU, np.array([[0], [30]])),
        "sentences of starts: expected 2, got 1",
    ),
}
CALLS |= {f"transposed {name}": each for name, each in TRANSPOSED.items()}

# A highest value below the lowest, a scale that is no power of two, counts beyond the values, a number of tests whose
# product overflows, more exceedances than shuffles, and squares below 0.
STATES: dict[str, tuple[_core.Reduction, int, int]] = {
    "range": (_core.Histograms([(0, 1)]), 7, 2),
    "scale of bins": (_core.Histograms([(0, 1)]), 8, int(np.float64(3).view(np.uint64))),
    "counts of bins": (_core.Histograms([(0, 1)]), 10, 1),
    "tests": (_core.Series([(0, 1), (1, 0)]), 1, 2**63 + 1),
    "exceedances": (_core.Tally([(0, 1)], "less", LIMIT), 5, 65),
    "squares": (_core.Spread([(0, 1)]), 5, int(np.float64(-1).view(np.uint64))),
}
CALLS |= {
    f"state with wrong {name}": (partial(with_word, *damage), "the state of a reduction must be that of a")
    for name, damage in STATES.items()
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS.keys())
def test_unusable_arguments_raise_an_error_that_explains_them(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(("call", "message"), BEYOND_MEMORY.values(), ids=BEYOND_MEMORY.keys())
def test_what_does_not_fit_into_memory_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(MemoryError, match=message):
        call()


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
def test_no_arguments_cause_a_panic_or_an_abort() -> None:
    script, wanted = Path(__file__).parent / "border.py", os.environ.get("RESHUFFLE_FUZZ")
    arguments = [wanted, "new"] if wanted else [str(budget(400)), "same"]
    limit = 300 + int(arguments[0]) // 10
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=limit)
    assert (done.returncode, done.stdout) == (0, "all calls returned or raised\n"), done.stderr[-3000:]
