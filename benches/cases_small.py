"""Cases of small problems: what a call costs when there is next to nothing to resample.

Simulations of type I error and power run thousands of tests of some hundred segments each. There the kernel takes
microseconds, and checking arguments, preparing counts and making a result are most of the price.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sacrebleu.significance

from agreement import Array, DisagreementError, Outcome, same_outcomes
from cases_resampling import SEED, pair, sacrebleu_test
from data import Texts
from races import Contender, Measurement, Race, call
from reshuffle import InputError, approximate_randomization, metric
from rivals import ONE_THREAD, SACREBLEU

__all__ = ["small"]

SEGMENTS = 500
PROBLEMS = 1000
SHUFFLES = 999
OPTIONS: dict[str, Any] = {"seed": SEED, "threads": 1}


def one_call(a: Array, b: Array, n: int) -> Callable[[], Outcome]:
    """A test as a user calls it, all else by default."""
    bleu = metric("bleu")

    def run() -> Outcome:
        result = approximate_randomization(a, b, bleu, n_resamples=n, **OPTIONS)
        return Outcome(result.statistic, result.pvalue, n)

    return run


def in_a_loop(a: Array, b: Array) -> Callable[[], Array]:
    """The p-values of (batch, S, K) counts, problem by problem."""
    bleu = metric("bleu")

    def run() -> Array:
        problems = zip(a, b, strict=True)
        results = (approximate_randomization(x, y, bleu, n_resamples=SHUFFLES, **OPTIONS) for x, y in problems)
        return np.array([result.pvalue for result in results])

    return run


def in_one_call(a: Array, b: Array) -> Callable[[], Array]:
    """The same, all problems in one call."""
    bleu = metric("bleu")

    def run() -> Array:
        return np.asarray(approximate_randomization(a, b, bleu, n_resamples=SHUFFLES, **OPTIONS).pvalue)

    return run


def fastest(a: Array, b: Array) -> Callable[[], Measurement]:
    """All problems in the fastest way that this build has: in one call, or in a loop if it takes no batches.

    Under one name, so that ``before.py`` sets the one beside the other.
    """
    try:
        in_one_call(a[:2], b[:2])()
    except InputError:
        return remarked(call(in_a_loop(a, b)), "this build takes no batches: a loop")
    return call(in_one_call(a, b))


def remarked(measure: Callable[[], Measurement], remark: str) -> Callable[[], Measurement]:
    """The same, with something to tell beside its times."""
    return lambda: measure()._replace(remark=remark)


def same_pvalues(expected: Array, *others: Array) -> None:
    """The same p-values, to the last bit: a batch is its problems."""
    for actual in others:
        if not np.array_equal(expected, actual):
            raise DisagreementError(f"p-values differ in {int((expected != actual).sum())} of {len(expected)} problems")


def small(texts: Texts) -> list[Race]:
    """Approximate randomization of one pair of 500 segments, BLEU, one thread, the counts given, time per test: with
    one shuffle it is all border, with 999 it is what a simulation runs, and a thousand of these in a loop and in the
    fastest way that there is (one call for all) are the simulation."""
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
        Contender(f"{ONE_THREAD}, the fastest way", fastest(many_a, many_b), things=PROBLEMS),
    ]
    races.append(Race(f"{PROBLEMS:,} pairs of {SEGMENTS} segments, R = {SHUFFLES}, per test", contenders, same_pvalues))
    return races
