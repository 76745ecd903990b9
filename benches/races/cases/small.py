"""Cases of small problems: the cost of a call with little to resample.

Simulations of type-I error and power run thousands of tests of several hundred segments each. There the kernel takes
microseconds, and most of the time goes to checking arguments, preparing counts and making a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sacrebleu.significance

from benches.data import Array, Texts
from reshuffle import approximate_randomization, metric

from ..agreement import DisagreementError, Outcome, same_outcomes
from ..race import Contender, Race, call
from ..rivals import ONE_THREAD, SACREBLEU
from .resampling import SEED, pair, sacrebleu_test

__all__ = ["small"]

SEGMENTS = 500
PROBLEMS = 1000
SHUFFLES = 999
OPTIONS: dict[str, Any] = {"seed": SEED, "workers": 1}


def one_call(a: Array, b: Array, n: int) -> Callable[[], Outcome]:
    """One test with default settings."""
    bleu = metric("bleu")

    def run() -> Outcome:
        result = approximate_randomization(a, b, bleu, n_resamples=n, **OPTIONS)
        return Outcome(result.statistic, result.pvalue, n)

    return run


def in_a_loop(a: Array, b: Array) -> Callable[[], Array]:
    """The p-values of (batch, S, K) counts, with one call per problem."""
    bleu = metric("bleu")

    def run() -> Array:
        problems = zip(a, b, strict=True)
        results = (approximate_randomization(x, y, bleu, n_resamples=SHUFFLES, **OPTIONS) for x, y in problems)
        return np.array([result.pvalue for result in results])

    return run


def in_one_call(a: Array, b: Array) -> Callable[[], Array]:
    """The same with all problems in one call."""
    bleu = metric("bleu")

    def run() -> Array:
        return np.asarray(approximate_randomization(a, b, bleu, n_resamples=SHUFFLES, **OPTIONS).pvalue)

    return run


def same_pvalues(expected: Array, *others: Array) -> None:
    """Check for bitwise equal p-values: a batch must give the results of its problems."""
    for actual in others:
        if not np.array_equal(expected, actual):
            raise DisagreementError(f"p-values differ in {int((expected != actual).sum())} of {len(expected)} problems")


def small(texts: Texts) -> list[Race]:
    """Shows the cost of one test of 500 segments (BLEU, one thread, from precomputed counts): with one shuffle it is
    all overhead, with 999 it is a test as in simulations, and a thousand of these, in a loop and in one call, are a
    simulation."""
    a, b = pair(texts)
    races = []
    for n in (1, SHUFFLES):
        first, second = a[:SEGMENTS].copy(), b[:SEGMENTS].copy()
        rival = call(sacrebleu_test(sacrebleu.significance._paired_ar_test, first, second, n))
        contenders = [
            Contender(SACREBLEU, rival, at_most=3),
            Contender(ONE_THREAD, call(one_call(first, second, n))),
        ]
        races.append(Race(f"one pair of {SEGMENTS} segments, R = {n}, per test", contenders, same_outcomes))
    rng = np.random.default_rng(SEED)
    chosen = np.stack([rng.choice(len(a), SEGMENTS, replace=False) for _ in range(PROBLEMS)])
    many_a, many_b = a[chosen], b[chosen]
    contenders = [
        Contender(f"{ONE_THREAD}, a call for each", call(in_a_loop(many_a, many_b)), things=PROBLEMS),
        Contender(f"{ONE_THREAD}, all in one call", call(in_one_call(many_a, many_b)), things=PROBLEMS),
    ]
    races.append(Race(f"{PROBLEMS:,} pairs of {SEGMENTS} segments, R = {SHUFFLES}, per test", contenders, same_pvalues))
    return races
