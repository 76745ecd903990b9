"""Null hypotheses of studies: populations of real outputs in which the truth is known.

A null is a function from real systems to populations (:class:`~reshuffle.study.experiments.Population`), in
:data:`BUILD`, and an entry in nulls.toml. It says in words what is true in them; reports repeat these words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, counted, listed
from ..inference.margins import check_margins
from ..metrics.base import Counts, Metric, Scores
from ..metrics.native import NativeMetric, count_all
from ..resampling.units import Documents
from ..toml import loads
from .equal_scores import of_equal_scores, of_margins
from .experiments import Population, swap_probability
from .null_data import NullData, Part, Request

# All splits of the runs into two sets are used if there are at most this many.
MAX_SPLITS = 1000
# Edits: a word is dropped, repeated, replaced by another word of the system, or exchanged with the next.
EDITS = 4


def _of_swaps(request: Request) -> NullData:
    """The real pairs, swapped at random."""
    material = request.material
    populations = [material.population(pair) for pair in request.pairs]
    truth = (
        f"In each {material.unit}, a fair coin decided which output went to which system. So the two systems are "
        "exchangeable, whatever the metric: the null hypothesis of approximate randomization holds exactly, and the "
        "expected scores are equal."
    )
    return NullData.of_all_metrics(populations, swap_probability(0), truth, material.unit)


def _of_margins(request: Request) -> NullData:
    margins = check_margins(request.options.margins, request.material.data.metrics, "null", "margin")
    return of_margins(request, margins)


# Segments that depend on one another: whole documents are drawn and swapped.


def of_documents(request: Request, *, as_units: bool) -> NullData:
    """Whole documents are drawn and swapped, and tests resample them as units, or their segments."""
    material, options = request.material, request.options
    tests = "Tests resample whole documents, as they should." if as_units else (
        "Tests resample segments as if these were independent, which they are not."
    )  # fmt: skip
    exchangeable = "In each document, a fair coin decided which outputs went to which system, for all of its segments."
    if material.documents is not None:
        if options.document_size is not None or options.icc is not None:
            raise InputError(
                "null 'documents': size and icc are for simulated documents, but there are real ones: leave out these "
                "options or the documents"
            )
        populations = [
            _grouped(
                Population(material.named(pair), material.metrics, [c[list(pair)] for c in material.counts]),
                material.documents,
                as_units,
            )
            for pair in request.pairs
        ]
        truth = f"{exchangeable} {tests}"
        return NullData.of_all_metrics(populations, swap_probability(0), truth, "document")
    size, icc = options.document_size, options.icc
    if size is None or icc is None:
        raise InputError(
            "the null 'documents' needs the documents of segments, but there are none: add --docs (documents), or "
            "simulate documents with a size or an intraclass correlation, as in documents:size=15 or documents:icc=0.1"
        )
    simulated = [_simulated(request, pair, size, icc, number) for number, pair in enumerate(request.pairs)]
    populations = [_grouped(each, Documents(np.arange(each.n_units) // size), as_units) for each, _ in simulated]
    others = "".join(
        f"; under {label} it is {_range([correlations[m] for _, correlations in simulated])}"
        for m, label in enumerate(material.data.labels)
        if m > 0
    )
    truth = (
        f"The data has no documents, so they were simulated: {size} random segments each, whose outputs were assigned "
        f"so that differences under {material.data.labels[0]} have an intraclass correlation of {icc:g}{others}. "
        f"{exchangeable} {tests}"
    )
    return NullData([Part(range(len(material.metrics)), populations)], swap_probability(0), truth, "document", size)


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"


def _grouped(population: Population, documents: Documents, as_units: bool) -> Population:
    """A population with documents as groups, or as the units."""
    if not as_units:
        return replace(population, groups=documents.index.astype(np.uint32))
    return replace(population, counts=[documents.sums(counts) for counts in population.counts])


def influences(metric: Metric, counts: Counts) -> Scores:
    """How much the swap of each segment changes the difference of two systems of equal counts: (2, S, K) in, (S,) out.

    Each is f(T + δ_s) − f(T − δ_s) for the sum T of both systems' totals and the difference δ_s of the segment. The
    difference of two systems that were swapped at random is, to first order, the sum of ±these.
    """
    totals, differences = counts.sum(axis=(0, 1)), counts[0] - counts[1]
    return np.asarray(metric.score(totals + differences) - metric.score(totals - differences))


def _simulated(
    request: Request, pair: tuple[int, int], size: int, icc: float, index: int
) -> tuple[Population, list[float]]:
    """Documents of random segments, whose differences are correlated after the swaps of whole documents.

    The segments of a document follow each other. With them are the intraclass correlations under all metrics.

    Let d_s be the influence of segment s under the first metric. The outputs are first assigned so that d_s > 0 with
    probability (1 + q)/2, independently. If the documents are then swapped at random, E[d_s d_t] = q²·E[|d|]² for two
    segments of one document, 0 for others, and E[d²] stays as it is: q = √icc·√E[d²]/E[|d|] gives the correlation icc.
    """
    material = request.material
    n = material.n_segments // size * size
    if n < 2 * size:
        raise InputError(
            f"documents of {size:,} segments need at least {2 * size:,} segments, but there are only "
            f"{material.n_segments:,}"
        )
    counts = [of_metric[list(pair)] for of_metric in material.counts]
    d = influences(material.metrics[0], counts[0])
    mean, mean_of_squares = float(np.abs(d).mean()), float((d**2).mean())
    largest = mean**2 / mean_of_squares if mean_of_squares else 0.0
    if icc > largest:
        raise InputError(
            f"icc: differences between {material.named(pair)} under {material.data.labels[0]} can have an intraclass "
            f"correlation of at most {math.floor(1000 * largest) / 1000:g}, got {icc:g}"
        )
    q = math.sqrt(icc / largest)
    random = request.random(index, 2 * material.n_segments)
    positive = random[: material.n_segments].astype(np.float64) / 2**64 < (1 + q) / 2
    swapped = positive != (d > 0)
    order = np.argsort(random[material.n_segments :], kind="stable")[:n]
    counts = [np.where(swapped[:, None], of_metric[::-1], of_metric)[:, order] for of_metric in counts]
    own = [influences(metric, of_metric) for metric, of_metric in zip(material.metrics, counts, strict=True)]
    correlations = [float(d.mean() ** 2 / ((d**2).mean() or 1.0)) for d in own]
    counts = [np.ascontiguousarray(each) for each in counts]
    return Population(material.named(pair), material.metrics, counts), correlations


# Several outputs of one system: noisy copies, runs, and variants that are assumed to be equivalent.


def of_noise(request: Request) -> NullData:
    """Two copies of a system with independent random edits. The systems take turns."""
    material, rate = request.material, request.options.noise
    corpus = material.data.corpus
    unread = [m.name for m in material.metrics if not isinstance(m, NativeMetric) or m.reads_parses]
    if corpus is None or unread:
        raise InputError(
            f"null 'noise' edits texts, but {listed(unread)} cannot be computed from them again: leave it out, or use "
            "another null"
        )
    threads = request.settings.threads
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
    material, trained, settings = request.material, request.options.variants, request.settings
    pairs = material.pairs(settings.baseline, settings.all_pairs or settings.baseline is None)
    populations: list[Population] = [material.population(pair) for pair in pairs]
    made = "" if trained is None else f"{trained.about} "
    truth = (
        f"The systems ({_and_others(material.names)}) are assumed to be equivalent. {made}This is an assumption that "
        f"is not checked: if they differ, rejections are right. The {len(pairs):,} pairs took turns; they share "
        "systems, and the intervals treat different pairs as independent."
    )
    return NullData.of_all_metrics(populations, 0.0, truth, material.unit, sampled=True)


def _and_others(names: Sequence[str]) -> str:
    """All names or, of more than four, the first three and how many others there are.

    >>> _and_others(["a", "b"]), _and_others(list("abcdef"))
    ('a, b', 'a, b, c and 3 others')
    """
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3:,} others"


# From a request (the material of a study, its pairs of systems, options and a seed) to populations, or an
# :class:`InputError` if the data cannot serve this null.
BUILD: Mapping[str, Callable[[Request], NullData]] = {
    "swap": _of_swaps,
    "equal-score": of_equal_scores,
    "margin": _of_margins,
    "documents": partial(of_documents, as_units=False),
    "documents-as-units": partial(of_documents, as_units=True),
    "noise": of_noise,
    "replicate": of_runs,
    "variants": of_variants,
}
NULLS: Mapping[str, Mapping[str, Any]] = loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
