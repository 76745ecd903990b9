"""Compare forms of the standard error of ``ar-studentized`` in cost and size.

    python -m benches.simulations.studentized_forms

The standard error of a shuffle needs sums of products: of the differences of two systems' columns (δ) with the sums of
their columns (w). The forms differ in what replaces the columns of δ: one fixed direction, one or two (the package), or
nothing, which is the full delta method. :mod:`reshuffle.resampling.studentized` defines them. The sizes are those of
``size_power.py``, under three null hypotheses where the forms may differ and one where they should not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from unittest import mock

import numpy as np

from benches.data import Array, Texts, find
from reshuffle import metric
from reshuffle.inference import studentized as inference
from reshuffle.resampling import CountSample, Replicates, Tally
from reshuffle.resampling.studentized import StudentizedSample, studentize
from reshuffle.settings import Resampling

from . import studentized_numpy
from .blocks import BLOCK, Cell, blocks, pvalues
from .studentized_numpy import Probed, Weights

FORMS = ("one direction", "package", "every column")
CELLS = (
    Cell("size", "8% cut, 1.06 and 0.97", 2000),
    Cell("size", "3% empty, 1.02 and 0.99", 2000),
    Cell("size", "lengths 1.02 and 0.98", 500),
    Cell("size", "swap null, close systems", 500),
)
METRICS = ("bleu", "chrf", "ter", "nist")
SHUFFLES = 10_000
TURNS = 9


def every_column(delta: Array, _: Probed, weights: Weights) -> tuple[Array, Array]:
    """The columns that differ as contributions, (S, m), and their derivatives as factors."""
    (moved,) = np.nonzero(delta.any(axis=0))
    projection = np.zeros((len(moved), delta.shape[1]))
    projection[np.arange(len(moved)), moved] = weights.common
    return np.ascontiguousarray(delta[:, moved]), projection


def of_form(form: str) -> Callable[..., StudentizedSample]:
    """The function that makes a sample with this form of the standard error."""
    if form == "package":
        return studentize
    if form == "one direction":
        return partial(studentized_numpy.studentize, change=np.inf)
    return partial(studentized_numpy.studentize, contribute=every_column)


@contextmanager
def using(form: str) -> Iterator[None]:
    """A context in which the package uses this form of the standard error."""
    with mock.patch.object(inference, "studentize", of_form(form)):
        yield


def rejections(form: str, cell: Cell, block: int, n_resamples: int) -> int:
    """How many samples of a block are rejected at .05."""
    with using(form):
        return int((pvalues(cell, block, ["ar-studentized"], n_resamples)["ar-studentized"] <= 0.05).sum())


def sizes(simulations: int, n_resamples: int, jobs: int) -> None:
    """Print the size of each form in each cell."""
    print(f"| size at .05, n = {simulations:,}, R = {n_resamples} | S | {' | '.join(FORMS)} |")
    print(f"| --- | ---: | {' | '.join('---:' for _ in FORMS)} |")
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for cell in CELLS:
            counts = {
                form: [pool.submit(rejections, form, cell, block, n_resamples) for block in blocks(simulations)]
                for form in FORMS
            }
            rates = [sum(count.result() for count in each) / (BLOCK * len(each)) for each in counts.values()]
            print(f"| {cell.name} | {cell.segments:,} | {' | '.join(f'{rate:.3f}' for rate in rates)} |", flush=True)


def costs() -> None:
    """Print the time of a shuffle of each form and metric, relative to ``ar``, on one thread."""
    files = find()
    outputs = list(files.outputs().values())[2:4]
    texts = Texts(files, files.references(), files.outputs())
    print(f"| time of a shuffle ÷ `ar` | S | `ar`, ns | {' | '.join(FORMS)} |")
    print(f"| --- | ---: | ---: | {' | '.join('---:' for _ in FORMS)} |")
    for name in METRICS:
        m = metric(name)
        counts = m.suff_stats(texts.references, outputs)
        for n_segments in (500, counts.shape[1]):
            sample = CountSample.from_counts(m, counts[:, :n_segments])
            samples = {"ar": sample}
            for form in FORMS:
                samples[form] = of_form(form)(sample, (0, 1))
            best = dict.fromkeys(samples, np.inf)
            for _ in range(TURNS):
                for form, each in samples.items():
                    replicates = Replicates([each], Resampling(SHUFFLES, 1, 1))
                    replicates.run([Tally("two-sided", np.ones((1, 1)))], [(0, 1)])  # makes the tables
                    start = time.perf_counter()
                    replicates.run([Tally("two-sided", np.ones((1, 1)))], [(0, 1)])
                    best[form] = min(best[form], time.perf_counter() - start)
            ratios = " | ".join(f"{best[form] / best['ar']:.1f}" for form in FORMS)
            print(f"| {m.name} | {n_segments:,} | {best['ar'] / SHUFFLES * 1e9:.0f} | {ratios} |", flush=True)


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.studentized_forms",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=2000, metavar="N", help="per cell (default: %(default)s)")
    parser.add_argument("--n-resamples", type=int, default=199, metavar="R", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: %(default)s)")
    arguments = parser.parse_args()
    costs()
    if arguments.simulations:
        sizes(arguments.simulations, arguments.n_resamples, arguments.jobs)


if __name__ == "__main__":
    main()
