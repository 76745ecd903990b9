"""Nulls whose segments depend on one another: whole documents are drawn and swapped."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..metrics.base import Counts, Metric, Scores
from ..resampling.units import Documents
from .null_data import NullData, Part, Request, swap_probability
from .populations import Population


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
    populations = [_grouped(each.population, each.documents, as_units) for each in simulated]
    others = "".join(
        f"; under {label} it is {_range([each.correlations[m] for each in simulated])}"
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


@dataclass(frozen=True, eq=False)
class Simulated:
    """A population of segments, their simulated documents, and the intraclass correlation under each metric."""

    population: Population
    documents: Documents
    correlations: list[float]


def influences(metric: Metric, counts: Counts) -> Scores:
    """How much the swap of each segment changes the difference of two systems of equal counts: (2, S, K) in, (S,) out.

    Each is f(T + δ_s) − f(T − δ_s) for the sum T of both systems' totals and the difference δ_s of the segment. The
    difference of two systems that were swapped at random is, to first order, the sum of ±these.
    """
    totals, differences = counts.sum(axis=(0, 1)), counts[0] - counts[1]
    return np.asarray(metric.score(totals + differences) - metric.score(totals - differences))


def _simulated(request: Request, pair: tuple[int, int], size: int, icc: float, index: int) -> Simulated:
    """Documents of random segments, whose differences are correlated after the swaps of whole documents.

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
    population = Population(material.named(pair), material.metrics, [np.ascontiguousarray(each) for each in counts])
    return Simulated(population, Documents(np.arange(n) // size), correlations)
