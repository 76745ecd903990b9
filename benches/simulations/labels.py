"""Measure the intervals and tests of ``reshuffle human``: few labels, and a metric on all segments.

    python -m benches.simulations.labels --help

*MQM*: the 28 differences of eight systems of WMT21 English–German, whose 527 labels are the truth. Labels are hidden,
but for n segments drawn at random. Predictors are the differences of chrF, and invented ones with a correlation ρ.
*set*: the mean of the 527 is meant; *population*: the 527 are the population, from which 2,000 segments are drawn.
*Documents*: invented labels in documents of 1 to 30 segments, of which whole ones are labelled. *Strata*, *Raters*,
*Ranks* and *Agreement*: invented labels, as their functions say.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benches.data import FOLDER, Array
from benches.machine import markdown_table
from reshuffle import SegmentScores, human, metric, read_lines
from reshuffle.human import Asked, LabelUnits, Question
from reshuffle.inference.predicted import Estimated, Labelled, sums_of
from reshuffle.inference.raters import agreements, standardized
from reshuffle.inference.sequential import boundaries
from reshuffle.options.human import HumanOptions
from reshuffle.resampling.units import Strata

SET = "wmt21-en-de"
# Where the file of a system has another name than its labels.
FILES = {"Nemo": "NVIDIA-NeMo"}
LEVEL = 0.95
POPULATION = 2000
# How much labels grow with the length of an invented document.
SLOPE = 0.02
PREDICTORS = ("alone", "chrF", "ρ = .3", "ρ = .5", "ρ = .7", "ρ = .9")
SIZES = (30, 50, 100, 200)
SELECTED = ["labels", "metric_var", "random, alone", "random, helped", "error: metric_var", "error: helped"]


def scores(folder: Path) -> tuple[Array, Array]:
    """MQM and chrF of the systems: (8, 527) each."""
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
    return np.array([[labels[name][s] for s in common] for name in names]), f


def differences(of_systems: Array) -> Array:
    """The differences of all pairs: (28, 527)."""
    return np.array([of_systems[a] - of_systems[b] for a, b in combinations(range(len(of_systems)), 2)])


def selected(y: Array, f: Array, n: int, simulations: int) -> list[str]:
    """The share of pairs in the order of all labels, by n labels: those where the metric varies most, and random ones.

    The former is ``metric_var`` of subset2evaluate 1.0.27. Beside it, the root mean squared error of its differences.
    """
    rng = np.random.default_rng(n)
    truth = differences(y).mean(axis=1)

    def agree(found: Array) -> float:
        return float((found * truth > 0).mean())

    top = differences(y)[:, np.argsort(-f.var(axis=0))[:n]].mean(axis=1)
    alone, helped, errors = [], [], []
    for _ in range(simulations):
        at = rng.permutation(y.shape[1]) < n
        found = [Labelled(own[at], at, np.ones(len(own)), True) for own in differences(y)]
        alone.append(np.array([each.alone().mean for each in found]))
        helped.append(np.array([e.predicted(g).mean for e, g in zip(found, differences(f), strict=True)]))
        errors.append((helped[-1] - truth) ** 2)
    orders = (agree(top), float(np.mean([*map(agree, alone)])), float(np.mean([*map(agree, helped)])))
    off = (np.sqrt(((top - truth) ** 2).mean()), np.sqrt(np.mean(errors)))
    return [*(f"{each:.2f}" for each in orders), *(f"{each:.2f}" for each in off)]


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


def strata(numbers: tuple[int, ...], skewed: bool, simulations: int) -> list[str]:
    """Labels of so many segments of three strata, which have 60, 30 and 10% of 600 segments; the last are much larger.

    *mixed up*: the same labels, as if they were a random sample of all segments.
    """
    rng = np.random.default_rng(sum(numbers) + skewed)
    sizes, means, spread = np.array([360, 180, 60]), np.array([0.0, 1.0, 4.0]), np.array([0.5, 1.0, 3.0])
    index = np.repeat(np.arange(3), sizes)
    first = np.cumsum(sizes) - sizes
    labelled = np.arange(600) - first[index] < np.array(numbers)[index]
    truth = float(sizes @ means / 600)
    cells = [Cell(), Cell(), Cell()]
    for _ in range(simulations):
        noise = rng.standard_exponential(600) - 1 if skewed else rng.standard_normal(600)
        y = means[index] + spread[index] * noise
        f = y + 0.7 * rng.standard_normal(600)
        own = Labelled(y[labelled], labelled, np.ones(600), strata=Strata(index))
        mixed = Labelled(y[labelled], labelled, np.ones(600))
        for cell, found in zip(cells, (own.alone(), own.predicted(f), mixed.predicted(f)), strict=True):
            cell.add(found, truth)
    return [f"{', '.join(map(str, numbers))}{', skewed' if skewed else ''}", *(cell.shown(cells[0]) for cell in cells)]


def raters(n_raters: int, each: int, sd: float, simulations: int) -> list[str]:
    """Differences of two systems on 60 of 300 segments, each by so many of the raters, whose preferences differ by sd.

    The truth is the mean preference of all raters, or that of these raters (*fixed*, where it is the truth).
    """
    rng = np.random.default_rng(100 * n_raters + each)
    cells = [Cell() for _ in range(4)]
    for _ in range(simulations):
        y = rng.standard_normal(300)
        f = y + 0.7 * rng.standard_normal(300)
        preferences = sd * rng.standard_normal(n_raters)
        ratings = y + preferences[:, None] + 0.7 * rng.standard_normal((n_raters, 300))
        order = np.argsort(rng.random((n_raters, 300)), axis=0)
        ratings[(order >= each) | (np.arange(300) >= 60)] = np.nan
        question = Question(ratings, [f], "")
        fixed, random = (question.answers(LabelUnits(None, None, False, each)) for each in (False, True))
        cells[0].add(fixed[1], float(preferences.mean()))
        for cell, found in zip(cells[1:], (fixed[1], random[0], random[1]), strict=True):
            cell.add(found, 0.0)
    return [f"{n_raters}, {each} each, {sd}", *(cell.shown(cells[0]) for cell in cells)]


def scales(n: int, each: int, simulations: int) -> list[str]:
    """Three raters, one strict and one with a wide scale, label n of 5n segments, as given and standardized."""
    rng = np.random.default_rng(n + each)

    def drawn(n: int, labelled: int) -> tuple[Array, Array]:
        y = rng.standard_normal(n) + np.array([[0.0], [0.4]]) + 0.5 * rng.standard_normal((2, n))
        scale = np.array([1.0, 1.0, 2.5])[:, None, None]
        shift = np.array([0.0, -2.0, 0.0])[:, None, None]
        ratings = shift + scale * (y + 0.7 * rng.standard_normal((3, 2, n)))
        order = np.argsort(rng.random((3, n)), axis=0)
        keep = (order < each) & (np.arange(n) < labelled)
        return np.where(keep[:, None], ratings, np.nan), y + 0.7 * rng.standard_normal((2, n))

    def answers(ratings: Array, f: Array) -> Iterator[Estimated]:
        without_scales = standardized(ratings)
        assert without_scales is not None
        for own in (ratings, without_scales):
            yield from Question.of(own, [f], 1, 0).answers(LabelUnits(None, None, False, False))

    truths = [found.mean for found in answers(*drawn(400_000, 399_000))][::2]
    cells = [Cell() for _ in range(4)]
    for _ in range(simulations):
        for at, (cell, found) in enumerate(zip(cells, answers(*drawn(5 * n, n)), strict=True)):
            cell.add(found, truths[at // 2])
    return [f"{n}, {each}", *(cell.shown(cells[at - at % 2]) for at, cell in enumerate(cells))]


def gates(n: int, skewed: bool, simulations: int) -> list[str]:
    """Differences by n of 500 labels: how often one worse by the margin is allowed, and an equal one rejected."""
    rng = np.random.default_rng(n + skewed)
    wrong = np.zeros(3)
    for _ in range(simulations):
        # Most differences are small, and in a few segments the new system is much worse.
        y = rng.standard_normal(500) - (5 * (rng.random(500) < 0.05) - 0.25 if skewed else 0)
        (found,) = list(estimates(y, [y + 0.7 * rng.standard_normal(500)], n, False, rng))[1:]
        mirrored = replace(found, mean=-found.mean)
        wrong += [each <= 0.05 for each in (found.pvalue_above(0), mirrored.pvalue_above(0), found.pvalue)]
    return [f"{n}{', skewed' if skewed else ''}", *(f"{each:.3f}" for each in wrong / simulations)]


def looks(n_looks: int, difference: float, n: int, simulations: int) -> list[str]:
    """Labels of at most n of 2,000 segments, by O'Brien and Fleming's looks: how often a difference is shown, and n."""
    rng = np.random.default_rng(n_looks + n)
    shares = tuple(look / n_looks for look in range(1, n_looks + 1))
    levels = [math.erfc(z / math.sqrt(2)) for z in boundaries("obrien-fleming", shares, 0.05)]
    shown, used = 0, []
    for _ in range(simulations):
        y = difference + rng.standard_normal(2000)
        f = y + rng.standard_normal(2000)
        for share, level in zip(shares, levels, strict=True):
            at = np.arange(2000) < round(share * n)
            if Labelled(y[at], at, np.ones(2000)).predicted(f).pvalue <= level:
                shown += 1
                break
        used.append(round(share * n))
    return [str(n_looks), str(n), f"{difference:g}", f"{shown / simulations:.3f}", f"{np.mean(used):.0f}"]


def plans(n_raters: int, each: int, simulations: int) -> list[str]:
    """Plans for a difference of .5 from pilots of 60 segments with two labels each, and how often labels show it then.

    By the median plan: labels of so many segments by so many raters each.
    """
    rng = np.random.default_rng(n_raters + each)

    def answered(n: int, each: int) -> Asked:
        y = 0.5 + rng.standard_normal(5 * n)
        f = y + 0.7 * rng.standard_normal(5 * n)
        ratings = y + 0.7 * rng.standard_normal((n_raters, 5 * n))
        order = np.argsort(rng.random(ratings.shape), axis=0)
        ratings[(order >= each) | (np.arange(5 * n) >= n)] = np.nan
        # The baseline's labels are 0.
        both = np.stack([np.where(np.isnan(ratings), np.nan, 0.0), ratings], axis=1)
        options = HumanOptions(difference=0.5)
        scores = [np.stack([np.zeros(5 * n), f])]
        return Asked(["people"], both, scores, ["f"], LabelUnits(None, None, False, False), options, ("a", "b"), True)

    planned = []
    for _ in range(simulations // 8):
        found = [row for row in answered(60, 2).designs(1, 0) if row.predictor and row.per_segment == each]
        planned.append(found[0].needed or math.inf)
    n = int(np.median(planned))
    shown = [
        Question.of(asked.ratings, asked.scores, 1, 0).answers(asked.design)[1].pvalue <= 0.05
        for asked in (answered(n, each) for _ in range(simulations))
    ]
    ends = " to ".join(f"{end:.0f}" for end in np.sort(planned)[[len(planned) // 10, -1 - len(planned) // 10]])
    return [f"{n_raters}, {each}", f"{n}", ends, f"{np.mean(shown):.2f}"]


def ranks(steps: tuple[float, ...], n: int, simulations: int) -> list[str]:
    """Systems whose means are so far apart, by n labels of 400: how often rank intervals are all right, and width."""
    rng = np.random.default_rng(n)
    k, covered, widths, names = len(steps), [], [], [f"s{i}" for i in range(len(steps))]
    means = np.array(steps)
    best = 1 + (means[:, None] < means).sum(axis=1)
    worst = k - (means[:, None] > means).sum(axis=1)
    for _ in range(simulations):
        y = means[:, None] + rng.standard_normal(400) + rng.standard_normal((k, 400))
        f = y + rng.standard_normal((k, 400))
        labels = np.where(rng.permutation(400) < n, y, np.nan)
        people = SegmentScores("people", dict(zip(names, labels, strict=True)), missing="pairwise")
        judge = SegmentScores("judge", dict(zip(names, f, strict=True)))
        rows = human(metrics=[people, judge], all_pairs=True).tables["ranking"]
        at = [names.index(row.system) for row in rows]
        low, high = (np.array([getattr(row, name) for row in rows]) for name in ("rank_low", "rank_high"))
        # Systems that are equally good have several ranks, all of which must be in the interval.
        covered.append(bool((low <= best[at]).all() and (high >= worst[at]).all()))
        widths.append(float((high - low + 1).mean()))
    return [" ".join(f"{step:g}" for step in steps), str(n), f"{np.mean(covered):.3f}", f"{np.mean(widths):.2f}"]


def agreement(n: int, n_raters: int, simulations: int) -> list[str]:
    """Labels from 1 to 5 of n outputs by raters who label 80% of them."""
    rng = np.random.default_rng(n + n_raters)

    def drawn(size: int) -> Array:
        quality = rng.standard_normal(size) + 0.3 * np.arange(n_raters)[:, None]
        found: Array = np.clip(np.round(3 + quality + 0.6 * rng.standard_normal((n_raters, size))), 1, 5)
        found[rng.random((n_raters, size)) < 0.2] = np.nan
        return found[:, None]

    truths = {each.coefficient: each.value for each in agreements(drawn(100_000), np.arange(100_000), LEVEL, 1, 2)}
    covered: dict[str, list[bool]] = {name: [] for name in truths}
    for seed in range(simulations):
        for each in agreements(drawn(n), np.arange(n), LEVEL, seed, 1000):
            covered[each.coefficient].append(bool(each.low <= truths[each.coefficient] <= each.high))  # type: ignore[operator]
    return [f"{n}, {n_raters} raters", *(f"{np.mean(each):.3f}" for each in covered.values())]


def selected_rows(y: Array, f: Array, simulations: int) -> list[list[str]]:
    """With chrF, and with invented scores that have a correlation of .5 with the labels of each system."""
    rng = np.random.default_rng(0)
    predictors = {"chrF": f, "ρ = .5": np.array([invented(each, 0.5, rng) for each in y])}
    return [[f"{n}, {name}", *selected(y, g, n, simulations)] for name, g in predictors.items() for n in (50, 100, 200)]


def invented_tables(simulations: int) -> None:
    """The tables of invented labels without documents."""
    print("\nStrata\n")
    numbers = ((5, 5, 10), (10, 10, 10), (20, 20, 20), (60, 30, 10), (10, 20, 40))
    rows = [strata(each, skewed, simulations) for skewed in (False, True) for each in numbers]
    print(markdown_table(["labels", "alone", "predicted", "mixed up"], rows))
    print("\nRaters\n")
    designs = [(a, r, sd) for a in (3, 5, 10, 20) for r in (1, 2) for sd in (0.0, 0.3)]
    rows = [raters(*each, simulations) for each in designs]
    print(markdown_table(["raters, labels, sd", "fixed, of these", "fixed", "random, alone", "random"], rows))
    print("\nGates\n")
    rows = [gates(n, skewed, simulations) for skewed in (False, True) for n in (20, 30, 50, 100)]
    print(markdown_table(["labels", "allowed at the margin", "rejected if equal", "two-sided"], rows))
    print("\nLooks\n")
    rows = [looks(k, d, n, simulations) for n in (90, 240) for k in (1, 3, 5) for d in (0.0, 2.2 / math.sqrt(n))]
    print(markdown_table(["looks", "at most", "difference", "shown", "labels"], rows))
    print("\nPlans\n")
    rows = [plans(*each, simulations) for each in ((3, 1), (3, 2), (8, 1), (8, 3))]
    print(markdown_table(["raters, labels", "median plan", "80% of plans", "shown"], rows))
    print("\nRanks\n")
    systems = ((0.0,) * 6, (0.0, 0.0, 0.0, 0.5, 0.5, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    print(
        markdown_table(
            ["means", "labels", "all right", "width"],
            [ranks(each, n, simulations // 4) for each in systems for n in (30, 100)],
        )
    )
    print("\nStandardized\n")
    rows = [scales(n, each, simulations) for n in (30, 60, 120) for each in (1, 2)]
    print(markdown_table(["labels, raters", "given, alone", "given", "standardized, alone", "standardized"], rows))
    print("\nAgreement\n")
    rows = [agreement(n, a, simulations // 4) for a in (2, 3) for n in (30, 50, 100, 200)]
    print(markdown_table(["outputs", "nominal", "ordinal", "interval", "κ"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.labels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=200, help="samples of each pair of systems (default: 200)")
    options = parser.parse_args()
    of_systems = scores(FOLDER / SET)
    y, f = map(differences, of_systems)
    own = [abs(float(np.corrcoef(*each)[0, 1])) for each in zip(y, f, strict=True)]
    print(f"Correlation of differences of MQM and chrF: median {np.median(own):.3f}, at most {max(own):.3f}\n")
    print(f"Coverage of {LEVEL:.0%} intervals, and variance beside that of the labels alone\n")
    rows = [mqm(y, f, n, finite, options.simulations) for finite in (False, True) for n in SIZES]
    print(markdown_table(["labels", *PREDICTORS], rows))
    print("\nDocuments\n")
    sizes = ((20, 100), (30, 100), (50, 200))
    rows = [documents(*each, 28 * options.simulations) for each in sizes]
    print(markdown_table(["labelled", "alone", "predicted", "segments as units"], rows))
    print("\nSelected by metric_var, or at random\n")
    print(markdown_table(SELECTED, selected_rows(*of_systems, options.simulations)))
    invented_tables(28 * options.simulations)


if __name__ == "__main__":
    main()
