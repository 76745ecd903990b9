"""Measure the intervals and tests of ``reshuffle human``: few labels, and a metric on all segments.

    python -m benches.simulations.labels --help

*MQM*: the 28 differences of eight systems of WMT21 English–German, whose 527 labels are the truth. Labels are hidden,
but for n segments drawn at random. Predictors are the differences of chrF, and invented ones with a correlation ρ.
*set*: the mean of the 527 is meant; *population*: the 527 are the population, from which 2,000 segments are drawn.
*Documents*: invented labels in documents of 1 to 30 segments, of which whole ones are labelled.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from benches.data import FOLDER, Array
from benches.machine import markdown_table
from reshuffle import metric, read_lines
from reshuffle.inference.predicted import Estimated, Labelled, sums_of

SET = "wmt21-en-de"
# Where the file of a system has another name than its labels.
FILES = {"Nemo": "NVIDIA-NeMo"}
LEVEL = 0.95
POPULATION = 2000
# How much labels grow with the length of an invented document.
SLOPE = 0.02
PREDICTORS = ("alone", "chrF", "ρ = .3", "ρ = .5", "ρ = .7", "ρ = .9")
SIZES = (30, 50, 100, 200)


def differences(folder: Path) -> tuple[Array, Array]:
    """The differences of MQM and of chrF of all pairs: (28, 527) each."""
    labels: dict[str, dict[int, float]] = {}
    for line in read_lines(folder / "judgments/mqm_newstest2021_ende.avg_seg_scores.tsv")[1:]:
        system, score, segment = line.split()
        if score != "None":
            labels.setdefault(FILES.get(system, system), {})[int(segment) - 1] = float(score)
    names = sorted(name for name in labels if (folder / f"sys/{name}.txt").exists())
    common = sorted(set.intersection(*(set(labels[name]) for name in names)))
    reference = read_lines(folder / "ref-C.txt")
    chrf = metric("chrf")
    texts = [[read_lines(folder / f"sys/{name}.txt")[s] for s in common] for name in names]
    f = chrf.segment_scores(chrf.suff_stats([[reference[s] for s in common]], texts))
    y = np.array([[labels[name][s] for s in common] for name in names])
    pairs = list(combinations(range(len(names)), 2))
    return np.array([y[a] - y[b] for a, b in pairs]), np.array([f[a] - f[b] for a, b in pairs])


def invented(y: Array, correlation: float, rng: np.random.Generator) -> Array:
    """A predictor with this correlation with y."""
    z = (y - y.mean()) / y.std()
    found: Array = correlation * z + np.sqrt(1 - correlation**2) * rng.standard_normal(len(y))
    return found


def estimates(
    y: Array, others: list[Array], n: int, finite: bool, rng: np.random.Generator, index: Array | None = None
) -> Iterator[Estimated]:
    """By n labelled units: alone, and with each predictor."""
    index = np.arange(len(y)) if index is None else index
    sizes = np.bincount(index).astype(np.float64)
    labelled = rng.permutation(len(sizes)) < n
    own = Labelled(sums_of(index, y)[labelled], labelled, sizes, finite)
    yield own.alone()
    for f in others:
        yield own.predicted(sums_of(index, f))


class Cell:
    """How often an interval had the truth, and its mean squared width beside that of the labels alone."""

    def __init__(self) -> None:
        self.covered: list[bool] = []
        self.variances: list[float] = []

    def add(self, found: Estimated, truth: float) -> None:
        low, high = found.interval(LEVEL)
        self.covered.append(low <= truth <= high)
        self.variances.append(found.standard_error**2)

    def shown(self, alone: Cell) -> str:
        return f"{np.mean(self.covered):.3f}, {np.mean(self.variances) / np.mean(alone.variances):.2f}"


def mqm(y: Array, f: Array, n: int, finite: bool, simulations: int) -> list[str]:
    rng = np.random.default_rng(n + finite)
    cells = [Cell() for _ in PREDICTORS]
    for own, chrf in zip(y, f, strict=True):
        others = [chrf, *(invented(own, rho, rng) for rho in (0.3, 0.5, 0.7, 0.9))]
        for _ in range(simulations):
            at = slice(None) if finite else rng.integers(len(own), size=POPULATION)
            found = estimates(own[at], [each[at] for each in others], n, finite, rng)
            for cell, estimate in zip(cells, found, strict=True):
                cell.add(estimate, own.mean())
    return [f"{n}, {'set' if finite else 'population'}", *(cell.shown(cells[0]) for cell in cells)]


def documents(n: int, n_documents: int, simulations: int) -> list[str]:
    """Labels of whole documents, and the same numbers of labels as if segments had been drawn one by one."""
    rng = np.random.default_rng(n)
    cells = [Cell(), Cell(), Cell()]
    # Longer documents have higher labels, so the mean of all segments is a ratio.
    lengths = np.arange(1, 31)
    truth = SLOPE * float((lengths**2).sum() / lengths.sum())
    for _ in range(simulations):
        sizes = rng.choice(lengths, n_documents)
        index = np.repeat(np.arange(n_documents), sizes)
        y = SLOPE * sizes[index] + 0.5 * rng.standard_normal(n_documents)[index] + rng.standard_normal(len(index))
        f = y + 0.8 * rng.standard_normal(len(index))
        for cell, estimate in zip(cells, estimates(y, [f], n, False, rng, index), strict=False):
            cell.add(estimate, truth)
        labelled = index < n  # the documents are in random order
        cells[2].add(Labelled(y[labelled], labelled, np.ones(len(y))).predicted(f), truth)
    return [f"{n} of {n_documents}", *(cell.shown(cells[0]) for cell in cells)]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.labels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=200, help="samples of each pair of systems (default: 200)")
    options = parser.parse_args()
    y, f = differences(FOLDER / SET)
    own = [abs(float(np.corrcoef(*each)[0, 1])) for each in zip(y, f, strict=True)]
    print(f"Correlation of differences of MQM and chrF: median {np.median(own):.3f}, at most {max(own):.3f}\n")
    print(f"Coverage of {LEVEL:.0%} intervals, and variance beside that of the labels alone\n")
    rows = [mqm(y, f, n, finite, options.simulations) for finite in (False, True) for n in SIZES]
    print(markdown_table(["labels", *PREDICTORS], rows))
    print("\nDocuments\n")
    sizes = ((20, 100), (30, 100), (50, 200))
    rows = [documents(*each, 28 * options.simulations) for each in sizes]
    print(markdown_table(["labelled", "alone", "predicted", "segments as units"], rows))


if __name__ == "__main__":
    main()
