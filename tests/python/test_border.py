"""The core raises exceptions for arguments that it cannot use; it never panics or aborts the process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calls
from budgets import budget
from reshuffle import _core
from told import assert_raises

# What the calls in python_errors_of_the_core.txt are about.
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


def test_unusable_arguments_raise_an_error_that_explains_them() -> None:
    # Among them: 70 segments need two 64-bit values of flips, and replicates past the last number once gave zeros.
    assert_raises("python_errors_of_the_core", globals())


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
def test_no_arguments_cause_a_panic_or_an_abort() -> None:
    script, wanted = Path(__file__).parent / "border.py", os.environ.get("RESHUFFLE_FUZZ")
    arguments = [wanted, "new"] if wanted else [str(budget(400)), "same"]
    limit = 300 + int(arguments[0]) // 10
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=limit)
    assert (done.returncode, done.stdout) == (0, "all calls returned or raised\n"), done.stderr[-3000:]
