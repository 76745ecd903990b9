"""Nulls made of several outputs of one system: noisy copies, runs, and variants that are assumed to be equivalent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..errors import InputError, counted, listed
from ..metrics.base import Counts
from ..metrics.native import NativeMetric, count_all
from .null_data import NullData, Request, swap_probability
from .populations import Population

# All splits of the runs into two sets are used if there are at most this many.
MAX_SPLITS = 1000
# Edits: a word is dropped, repeated, replaced by another word of the system, or exchanged with the next.
EDITS = 4


def of_noise(request: Request) -> NullData:
    """Two copies of a system with independent random edits. The systems take turns."""
    material, rate = request.material, request.options.noise
    corpus = material.data.corpus
    unread = [m.name for m in material.metrics if not isinstance(m, NativeMetric) or m.reads_parses]
    if corpus is None or unread:
        raise InputError(
            f"null 'noise' edits texts, which {listed(unread)} does not read: leave it out, or use another null"
        )
    threads = request.resampling.threads
    populations = []
    for number, name in enumerate(material.names):
        lines = [str(line) for line in corpus.systems[name]]
        copies = {f"{name} {copy}": noisy(lines, rate, request, 2 * number + copy) for copy in (0, 1)}
        native = [metric for metric in material.metrics if isinstance(metric, NativeMetric)]
        counts = count_all(native, copies, corpus.references, threads, None)
        populations.append(material.population_of(f"{name}, with noise", counts))
    truth = (
        f"Two copies of one system (in turn {_and_others(material.names)}), each with its own random edits of "
        f"{100 * rate:g}% of the words. In each {material.unit}, a fair coin decided which copy went to which side, so "
        "that each simulation has other edits. So the copies are exchangeable and neither is better."
    )
    return NullData.of_all_metrics(populations, swap_probability(0), truth, material.unit)


def noisy(lines: Sequence[str], rate: float, request: Request, index: int) -> list[str]:
    """The lines with random edits: each word is edited with probability ``rate``, in one of four ways.

    It is dropped, repeated, replaced by a random word of all lines, or exchanged with the next word of its line.
    """
    words = [line.split() for line in lines]
    vocabulary = [word for line in words for word in line]
    if not vocabulary:
        return list(lines)
    first, second = request.random(2 * index, len(vocabulary)), request.random(2 * index + 1, len(vocabulary))
    edited = (first.astype(np.float64) / 2**64 < rate).tolist()
    kinds = (second % np.uint64(EDITS)).tolist()
    others = ((second // np.uint64(EDITS)) % np.uint64(len(vocabulary))).tolist()
    out, at = [], 0
    for line in words:
        made: list[str] = []
        held: str | None = None  # a word that waits for the next
        for word in line:
            kind = kinds[at] if edited[at] and held is None else None
            if kind == 1:
                made += [word, word]
            elif kind == 2:
                made.append(vocabulary[others[at]])
            elif kind == 3:
                held = word
            elif kind is None:
                made += [word] if held is None else [word, held]
                held = None
            at += 1
        out.append(" ".join(made if held is None else [*made, held]))
    return out


def of_runs(request: Request) -> NullData:
    """Two disjoint sets of n runs of one system."""
    material, n = request.material, request.options.runs
    k = len(material.names)
    if k < 2 * n:
        raise InputError(
            f"null 'replicate' compares two disjoint sets of {counted(n, 'run')}, so it needs at least {2 * n} runs "
            f"of one system, but there are only {k}: give more runs, each as a system"
        )
    splits = list(_splits(request, k, n))
    populations = []
    for left, right in splits:
        counts = [_pooled(of_metric, left, right) for of_metric in material.counts]
        populations.append(material.population_of(f"{material.named(left)} - {material.named(right)}", counts))
    possible = math.comb(k, n) * math.comb(k - n, n) // 2
    each = "one run" if n == 1 else f"{n} runs, whose counts were added up"
    few = (
        f" {k} runs are few: the rates describe these runs, and say little about others of the same configuration."
        if k < 10
        else ""
    )
    truth = (
        f"The two systems are {each}, of one configuration ({_and_others(material.names)}): all differences between "
        f"them are those of random restarts. {_used(len(splits), possible)} of the runs into two sets took turns; "
        f"splits share runs, and the intervals treat different splits as independent.{few}"
    )
    return NullData.of_all_metrics(populations, 0.0, truth, material.unit, sampled=True)


def _used(splits: int, possible: int) -> str:
    return f"All {possible:,} splits" if splits == possible else f"{splits:,} random splits of {possible:,}"


def _pooled(counts: Counts, left: Sequence[int], right: Sequence[int]) -> Counts:
    """The sums over two sets of runs: (k, S, K) in, (2, S, K) out."""
    return np.stack([counts[list(side)].sum(axis=0) for side in (left, right)])


def _splits(request: Request, k: int, n: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of disjoint sets of n of k runs, in random order: all of them, or as many random ones as allowed."""
    if math.comb(k, n) * math.comb(k - n, n) // 2 <= MAX_SPLITS:
        found = [
            (left, right)
            for left in combinations(range(k), n)
            for right in combinations([run for run in range(left[0] + 1, k) if run not in left], n)
        ]
        sides = request.random(0, len(found)) % np.uint64(2)
        for index in request.order(1, len(found)).tolist():
            left, right = found[index]
            yield (right, left) if sides[index] else (left, right)
        return
    for draw in range(MAX_SPLITS):
        order = request.order(draw, k).tolist()
        yield tuple(sorted(order[:n])), tuple(sorted(order[n : 2 * n]))


def of_variants(request: Request) -> NullData:
    """Pairs of systems that are assumed to be equivalent: all, or those with the baseline."""
    material, trained = request.material, request.options.variants
    pairs = material.pairs(request.baseline, all_pairs=request.all_pairs or request.baseline is None)
    populations: list[Population] = [material.population(pair) for pair in pairs]
    made = "" if trained is None else f"{trained.about} "
    truth = (
        f"The systems ({_and_others(material.names)}) are assumed to be equivalent. {made}This is an assumption that "
        f"is not checked: if they differ, rejections are right. The {len(pairs):,} pairs took turns; they share "
        "systems, and the intervals treat different pairs as independent."
    )
    return NullData.of_all_metrics(populations, 0.0, truth, material.unit, sampled=True)


def _and_others(names: Sequence[str]) -> str:
    """The first names.

    >>> _and_others(["a", "b"]), _and_others(list("abcdef"))
    ('a, b', 'a, b, c and 3 others')
    """
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3:,} others"
