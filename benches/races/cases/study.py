"""Cases of studies: thousands of tests of simulated test sets in one call, and the same as loops over test sets.

Simulations are drawn from one pair of systems under the swap null, so that the populations, units and swaps of all
contenders are alike. Rivals take minutes for what takes reshuffle seconds, so they run fewer simulations; all times are
per test.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benches.data import Array, Texts
from reshuffle import metric
from reshuffle.execution import Execution
from reshuffle.study.experiments import Experiment, Population, Selection
from reshuffle.study.testing import Testing

from ..race import Contender, Measurement, Race, call
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU
from ..rivals.study import (
    Setting,
    numpy_ar,
    numpy_bootstrap_shift,
    our_shuffles,
    our_test_set,
    sacrebleu_ar,
    same_pvalues_of_studies,
)
from .resampling import SEED, pair

__all__ = ["study"]

SHUFFLES, GROUP = 999, 1024
SIZES = (500, 2000)
# Simulations of reshuffle, of numpy and of sacreBLEU.
OURS, NUMPYS, SACREBLEUS = 5000, 20, 2
CHECKED = 3

NUMPY = f"numpy {np.__version__}, a loop"


def ours(
    counts: Array,
    size: int | None,
    n: int,
    test: str = "ar",
    simulations: int = OURS,
    threads: int | None = 1,
    **options: Any,
) -> Callable[[], Array]:
    """The p-values of simulations in one call."""
    selection = Selection("fixed" if size is None else "replace", size)
    experiment = Experiment([Population("pair", [metric("bleu")], [counts])], selection, SEED)
    testing = Testing([test], n, execution=Execution(threads=threads), **options)
    return lambda: testing.run(experiment, simulations).pvalue[0, 0]


def timed(run: Callable[[], Array]) -> Callable[[], Measurement]:
    """Time a study, and return the p-values of its first simulations for the comparison of contenders."""
    return call(lambda: run()[:CHECKED])


def same_law(expected: Array, *others: Array) -> None:
    """Contenders have random numbers of their own: :func:`check` compares their p-values on the same ones."""
    for pvalues in (expected, *others):
        assert ((pvalues > 0) & (pvalues <= 1)).all()


def check(counts: Array) -> None:
    """On the same test sets and shuffles, numpy and sacreBLEU have the p-values of reshuffle."""
    setting = Setting(counts, SIZES[0], SHUFFLES, SEED)
    given = our_test_set(setting), our_shuffles(setting)
    simulations = range(CHECKED)
    expected = ours(counts, SIZES[0], SHUFFLES, simulations=CHECKED)()
    same_pvalues_of_studies(expected, numpy_ar(setting, simulations, *given))


def study(texts: Texts) -> list[Race]:
    """Shows whole tests per simulated test set (BLEU, precomputed counts): by 999 shuffles, by a group of 1,024, by 999
    draws with weights of their own and with 20 shared sets, beside loops in numpy and over sacreBLEU's test; and a
    fixed test set, 10,000 simulations with the same 10,000 shuffles."""
    a, b = pair(texts)
    counts = np.stack([a, b])
    check(counts)
    races = []
    for size in SIZES:
        setting = Setting(counts, size, SHUFFLES, SEED)
        shuffled = [
            Contender(
                SACREBLEU, timed(partial(sacrebleu_ar, setting, range(SACREBLEUS))), things=SACREBLEUS, at_most=1
            ),
            Contender(NUMPY, timed(partial(numpy_ar, setting, range(NUMPYS))), things=NUMPYS, at_most=3),
            Contender(ONE_THREAD, timed(ours(counts, size, SHUFFLES)), things=OURS),
            Contender(RESHUFFLE, timed(ours(counts, size, SHUFFLES, threads=None)), target=2000, things=OURS),
            Contender(f"{ONE_THREAD}, subgroup", timed(ours(counts, size, GROUP, scheme="subgroup")), things=OURS),
            Contender(
                f"{RESHUFFLE}, subgroup",
                timed(ours(counts, size, GROUP, scheme="subgroup", threads=None)),
                target=2000,
                things=OURS,
            ),
        ]
        races.append(Race(f"ar, test sets of {size:,} segments, R = {SHUFFLES}, per test", shuffled, same_law))
        few = OURS // 10
        drawn = [
            Contender(NUMPY, timed(partial(numpy_bootstrap_shift, setting, range(NUMPYS))), things=NUMPYS, at_most=3),
            Contender(
                ONE_THREAD,
                timed(ours(counts, size, SHUFFLES, "bootstrap-shift", simulations=few)),
                target=20,
                things=few,
            ),
            Contender(
                f"{ONE_THREAD}, 20 sets of weights",
                timed(ours(counts, size, SHUFFLES, "bootstrap-shift", simulations=few, weight_sets=20)),
                target=20,
                things=few,
            ),
        ]
        races.append(Race(f"bootstrap, test sets of {size:,} segments, R = {SHUFFLES}, per test", drawn, same_law))
    n = 10_000
    fixed = [
        Contender(f"{RESHUFFLE}, orbit", timed(ours(counts, None, n, simulations=n, threads=None, scheme="orbit"))),
        Contender(
            f"{RESHUFFLE}, a group for each",
            timed(ours(counts, None, n, simulations=n, threads=None, scheme="subgroup")),
            at_most=1,
        ),
    ]
    races.append(Race(f"ar, a fixed test set, {n:,} simulations, R = {n:,}, in all", fixed, same_law))
    return races
