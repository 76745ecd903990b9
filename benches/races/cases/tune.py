"""Cases of tuning on k-best lists: line searches, MERT, batch MIRA, and reading lists, beside numpy and Python.

The lists are those of WMT11, German to English: 500 sentences of up to 100 entries with 12 features. No compiled tool
for MERT was found on PyPI or in Debian. So the rivals are in ``rivals/tune.py``: Och's line search list by list, and
one that treats all lists at once. Lines and weights must be equal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from benches.data import FOLDER, Array, Texts
from reshuffle import _core, metric, read_lines, tune
from reshuffle.tune.lists import additive

from ..agreement import DisagreementError, same_scores
from ..race import Contender, Measurement, Race, Skipped, call, command, new_folder
from ..rivals import ONE_THREAD, RESHUFFLE
from ..rivals.tune import Found, Lists, at_once, mert, mira, one_by_one, read_nbest

__all__ = ["linesearch", "tuned"]

SET = "kbest-wmt11-de-en"
ONE_BY_ONE, AT_ONCE = f"numpy {np.__version__}, list by list", f"numpy {np.__version__}, all lists at once"
BLEU = metric("bleu", tokenize="none")
LINE_TARGET, MERT_TARGET = 50, 10
RUN_SECONDS, RUNS_SECONDS, RUNS = 1.4, 80, 50
EPOCHS, MIRA_SECONDS = 60, 0.1
ENTRIES, READ_SECONDS, READ_FACTOR = 1_000_000, 3, 3


@cache
def lists() -> tuple[tune.NBest, Lists, Array]:
    """The development lists, the same for numpy, and weights: of the start, the least, the largest."""
    folder = FOLDER / SET
    read = tune.read_nbest(str(folder / "dev.nbest.gz"))
    counts = read.count(BLEU, read_lines(str(folder / "dev.ref")))
    weights = np.array([line.split() for line in read_lines(str(folder / "init.opt"))[:3]], float)
    return read, Lists(read.offsets, read.dense, counts), weights


def missing(what: str) -> list[Race] | None:
    """A race that is left out, without the data."""
    if (FOLDER / SET).is_dir():
        return None
    return [Race(what, [Skipped(SET, f"it is not in {FOLDER}")], same_trace)]


def watched(
    measure: Callable[[], Measurement], seconds: float | None = None, peak: float | None = None, things: int = 1
) -> Callable[[], Measurement]:
    """Remark the processor time of the first turn, of all threads, and whether its time and memory reached targets."""

    def verdict(reached: bool) -> str:
        return "reached" if reached else "MISSED"

    def measured() -> Measurement:
        used, wall = sum(os.times()[:4]), perf_counter()
        found = measure()
        # A turn may have repeated the call.
        share = (sum(os.times()[:4]) - used) / (perf_counter() - wall)
        remarks = [f"processor {found.seconds * share / things:.3g} s"]
        if seconds is not None:
            remarks.insert(0, f"≤ {seconds:g} s: {verdict(found.seconds <= seconds)}")
        if found.peak is not None and peak is not None:
            remarks.append(f"≤ {peak / 1e6:.0f} MB: {verdict(found.peak <= peak)}")
        return found._replace(remark="; ".join(remarks))

    return measured


def same_lines(expected: list[Found], *others: list[Found]) -> None:
    """Check that the best part of every line is the same, to the bit, and its score to 1e-9."""
    for actual in others:
        same_scores([each.score for each in expected], [each.score for each in actual])
        ends = [[(each.position, *each.interval) for each in found] for found in (expected, actual)]
        if ends[0] != ends[1]:
            raise DisagreementError(f"lines differ: {ends[0]} and {ends[1]}")


def same_weights(expected: tuple[Array, float], *others: tuple[Array, float]) -> None:
    """Check for the same weights and scores, up to rounding."""
    for actual in others:
        same_scores(expected[0], actual[0], 1e-12)
        same_scores(expected[1], actual[1])


def same_trace(expected: Array, actual: Array) -> None:
    """Check the scores of all epochs."""
    same_scores(expected, actual)


def linesearch(texts: Texts) -> list[Race]:
    """Shows line searches from the start weights along the 12 axes of k-best lists with 49,738 entries, beside numpy.
    Positions and ends of the best parts must be equal to the bit."""
    if left_out := missing("line search"):
        return left_out
    _, given, (start, *_) = lists()
    axes, core = np.eye(len(start)), additive(BLEU).core

    def ours(threads: int) -> list[Found]:
        position, score, ends, *_ = _core.tune_line_search(
            given.offsets, given.features, given.counts, core, start, axes, threads=threads
        )
        return [
            Found(x, y, (a, b)) for x, y, (a, b) in zip(position.tolist(), score.tolist(), ends.tolist(), strict=True)
        ]

    def along(search: Callable[[Lists, Array, Array], Found]) -> Callable[[], list[Found]]:
        return lambda: [search(given, start, axis) for axis in axes]

    n = len(axes)
    return [
        Race(
            f"line search, {len(given.features):,} entries, per line",
            [
                Contender(ONE_BY_ONE, watched(call(along(one_by_one)), things=n), at_most=2, things=n),
                Contender(AT_ONCE, watched(call(along(at_once)), things=n), things=n),
                Contender(RESHUFFLE, watched(call(lambda: ours(0)), things=n), target=LINE_TARGET, things=n),
                Contender(ONE_THREAD, watched(call(lambda: ours(1)), things=n), things=n),
            ],
            same_lines,
        )
    ]


def tuned(texts: Texts) -> list[Race]:
    """Shows MERT along all axes from one start, whole runs of the preset ``both`` (20 restarts, 5 random directions),
    60 epochs of batch MIRA, and reading 10^6 entries of 12 features."""
    if left_out := missing("tuning"):
        return left_out
    return [one_start(), whole_runs(), batch_mira(), reading()]


def one_start() -> Race:
    """The same search in numpy and here."""
    read, given, (start, *_) = lists()

    def rival(search: Any) -> Callable[[], tuple[Array, float]]:
        return lambda: mert(given, start, search)[:2]

    def ours(threads: int | None = None) -> tuple[Array, float]:
        found = tune.mert(
            read, given.counts, metric=BLEU, initial=start, restarts=0, random_directions=0, workers=threads
        )
        return found.weights[0], float(found.trace[0, 0])

    return Race(
        "MERT, one start, all axes",
        [
            Contender(ONE_BY_ONE, watched(call(rival(one_by_one))), at_most=1),
            Contender(AT_ONCE, watched(call(rival(at_once))), at_most=2),
            Contender(ONE_THREAD, watched(call(lambda: ours(1))), target=MERT_TARGET),
        ],
        same_weights,
    )


def whole_runs() -> Race:
    """Runs of the preset, which numpy would need minutes for; a seed's result must not depend on the others."""
    read, given, (start, low, high) = lists()

    def runs(n: int) -> Callable[[], Array]:
        limits = {"initial": start, "low": low, "high": high}
        return lambda: tune.mert(read, given.counts, metric=BLEU, seeds=range(1, n + 1), **limits).weights

    def same_first(one: Array, many: Array) -> None:
        if one.tobytes() != many[:1].tobytes():
            raise DisagreementError("the weights of the first seed differ")

    return Race(
        "MERT, preset both, from 21 starts",
        [
            Contender(f"{RESHUFFLE}, one run", watched(call(runs(1)), RUN_SECONDS)),
            Contender(f"{RESHUFFLE}, {RUNS} runs", watched(call(runs(RUNS)), RUNS_SECONDS), at_most=1),
        ],
        same_first,
    )


def batch_mira() -> Race:
    """The same orders of sentences in numpy and here."""
    read, given, (start, *_) = lists()
    seed, n = 1, read.n_sentences

    def order(epoch: int) -> list[int]:
        places, words = list(range(n)), _core.stream_values(seed, "visit", epoch, n - 1).tolist()
        for i, word in zip(range(n - 1, 0, -1), words, strict=True):
            other = word * (i + 1) >> 64
            places[i], places[other] = places[other], places[i]
        return places

    orders = [order(epoch) for epoch in range(EPOCHS)]

    def ours() -> Array:
        return tune.kbmira(read, given.counts, metric=BLEU, initial=start, seeds=[seed], epochs=EPOCHS).trace[0, :]

    return Race(
        f"batch MIRA, {EPOCHS} epochs",
        [
            Contender(f"numpy {np.__version__}", watched(call(lambda: mira(given, start, orders))), at_most=1),
            Contender(RESHUFFLE, watched(call(ours), MIRA_SECONDS)),
        ],
        same_trace,
    )


READ = """
import json, sys
from reshuffle import tune
lists = tune.read_nbest(sys.argv[1])
print(json.dumps([len(lists), lists.dense.sum(0).tolist(), lists.hypotheses([0, len(lists) - 1])]))
"""


def reading() -> Race:
    """The development lists again and again, as sentences of their own, in one file."""
    source = tune.read_nbest(str(FOLDER / SET / "dev.nbest.gz"))
    path = new_folder() / "large.nbest"
    copies, texts, ids = -(-ENTRIES // len(source)), source.hypotheses(range(len(source))), source.ids
    tails = [
        f" ||| {text} ||| d: {' '.join(map(repr, row))} ||| 0\n"
        for text, row in zip(texts, source.dense.tolist(), strict=True)
    ]
    numbers = np.repeat(ids, np.diff(source.offsets)).tolist()
    with path.open("w", encoding="utf-8") as file:
        for copy in range(copies):
            file.writelines(f"{number + copy * len(ids)}{tail}" for number, tail in zip(numbers, tails, strict=True))

    def rival() -> tuple[int, Array, list[str]]:
        texts, values = read_nbest(str(path))
        return len(texts), values.sum(0), [texts[0], texts[-1]]

    def same_lists(expected: Any, actual: Any) -> None:
        same_scores(expected[1], actual[1], 1e-3)
        if expected[0] != actual[0] or expected[2] != list(actual[2]):
            raise DisagreementError("lists differ")

    # The interpreter and its imports come on top of the lists.
    alone = command(sys.executable, "-c", "import numpy; from reshuffle import tune; print(tune.read_nbest)", read=str)
    peak = READ_FACTOR * 8 * source.dense.shape[1] * copies * len(source) + (alone().peak or 0)
    return Race(
        f"reading {copies * len(source):,} entries of {source.dense.shape[1]} features",
        [
            Contender("Python and numpy", watched(call(rival)), at_most=1),
            Contender(
                f"{RESHUFFLE}, with interpreter and imports",
                watched(command(sys.executable, "-c", READ, str(path), read=json.loads), READ_SECONDS, peak),
            ),
        ],
        same_lists,
    )
