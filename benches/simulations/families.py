"""Populations of several systems, in which it is known which pairs have equal scores, for studies of multiple tests.

As in ``populations.py``, real outputs are changed until their BLEU is equal, and samples are drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.stats

from benches.data import Array, Texts
from reshuffle import Metric, SegmentScores, metric

from .populations import BLEU, SEED, VALUES, WRONG, Outputs, Population, count, emptied, equalized, resized, tokens

__all__ = ["FAMILIES", "Family"]

Build: TypeAlias = Callable[[Texts], "Family"]
# The outputs of one system, from the texts, the references, and random numbers.
Output: TypeAlias = Callable[[Texts, Outputs, np.random.Generator], Outputs]

# Scores of a population that differ by less are equal. Thinned outputs have equal BLEU to 10⁻⁴ points.
EQUAL = 1e-3


@dataclass(frozen=True, eq=False)
class Family:
    """Segments from which samples of k systems are drawn.

    ``counts`` has an array (k, N, K) for each metric. In a sample, the outputs of the first ``permuted`` systems are
    permuted within each segment, which makes them exchangeable.
    """

    about: str
    metrics: tuple[Metric, ...]
    counts: tuple[Array, ...]
    permuted: int = 0

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of systems."""
        return [(a, b) for a in range(len(self.counts[0])) for b in range(a)]

    def sample(self, rng: np.random.Generator, segments: int) -> list[Array]:
        """A sample of S segments with replacement: (k, S, K) for each metric."""
        k, population = self.counts[0].shape[:2]
        drawn = rng.integers(population, size=segments)
        systems = np.repeat(np.arange(k)[:, None], segments, axis=1)
        if self.permuted:
            systems[: self.permuted] = rng.permuted(systems[: self.permuted], axis=0)
        return [np.ascontiguousarray(counts[systems, drawn]) for counts in self.counts]

    @cached_property
    def differences(self) -> Array:
        """The true difference of each pair under each metric: (metrics, pairs)."""
        found = np.empty((len(self.metrics), len(self.pairs)))
        for m, (measure, counts) in enumerate(zip(self.metrics, self.counts, strict=True)):
            totals = counts.sum(axis=1)
            if self.permuted:
                totals[: self.permuted] = totals[: self.permuted].mean(axis=0)
            scores = measure.score(totals)
            found[m] = [scores[a] - scores[b] for a, b in self.pairs]
        return found

    @cached_property
    def true_nulls(self) -> Array:
        """Which pairs have equal scores under each metric: (metrics, pairs)."""
        equal: Array = np.abs(self.differences) < EQUAL
        return equal

    def near_kink(self, segments: int) -> bool:
        """Whether an output in a sample may be longer or shorter than the reference: see ``Population.near_kink``."""
        return any(
            Population("", measure, np.stack([rows, rows])).near_kink(segments)
            for measure, counts in zip(self.metrics, self.counts, strict=True)
            for rows in self._distributions(counts)
        )

    def length_ratios(self) -> list[float] | None:
        """The length of each output relative to the reference under the first metric, or None without lengths."""
        pairs = [
            Population("", self.metrics[0], np.stack([rows, rows])).length_ratios()
            for rows in self._distributions(self.counts[0])
        ]
        return [pair[0] for pair in pairs if pair is not None] or None

    def _distributions(self, counts: Array) -> list[Array]:
        """The segments of each system's population; exchangeable systems have that of all of them, once."""
        mixed = [np.concatenate(list(counts[: self.permuted]))] if self.permuted else []
        return [*mixed, *counts[self.permuted :]]


# Outputs of one system.


def of(name: str) -> Output:
    """A real system."""
    return lambda texts, references, rng: tokens(texts.systems[name])


def of_length(name: str, ratio: float) -> Output:
    """A system whose wrong words are cut or repeated until its length is a multiple of that of the reference."""

    def build(texts: Texts, references: Outputs, rng: np.random.Generator) -> Outputs:
        outputs = tokens(texts.systems[name])
        length = round(ratio * sum(map(len, references)))
        return resized(outputs, length, WRONG.mark(outputs, references), rng)

    return build


def with_empty(name: str, share: float) -> Output:
    """A system with a share of its outputs empty."""
    return lambda texts, references, rng: emptied(tokens(texts.systems[name]), share, rng)


# Families of systems.


def equal_bleu(about: str, outputs: Sequence[Output], below: Sequence[float] = ()) -> Build:
    """Systems with equal BLEU, the lowest of all. The last systems are worse: by as many points as ``below`` has."""

    def build(texts: Texts) -> Family:
        rng = np.random.default_rng(SEED)
        references = tokens(texts.references[0])
        systems = [output(texts, references, rng) for output in outputs]
        counts = [count(system, references) for system in systems]
        scores = [float(BLEU.score(rows.sum(axis=0))) for rows in counts]
        lowest, first_worse = min(scores), len(systems) - len(below)
        targets = [lowest] * first_worse + [lowest - points for points in below]
        for index, target in enumerate(targets):
            if scores[index] > target:
                counts[index] = equalized(systems[index], target, references, rng)
        worse = "".join(f"; the last {points:g} points lower" for points in below)
        words = "words of the others replaced until BLEU is equal to the lowest"
        return Family(f"{about}; {words}{worse}", (BLEU,), (np.stack(counts),))

    return build


def exchangeable(alike: Sequence[str], *metrics: str, better: Sequence[str] = ()) -> Build:
    """Real systems whose outputs are permuted within each segment, and better ones that are not."""

    def build(texts: Texts) -> Family:
        measures = tuple(map(metric, metrics))
        outputs = [texts.systems[name] for name in (*alike, *better)]
        counts = tuple(measure.suff_stats(texts.references, outputs) for measure in measures)
        others = f"; {' and '.join(better)} better" if better else ""
        about = f"{', '.join(alike)}, whose outputs are permuted within each sampled segment{others}"
        return Family(about, measures, counts, permuted=len(alike))

    return build


def lognormal(spreads: Sequence[float], n_metrics: int = 1, below: Sequence[float] = ()) -> Build:
    """Segment scores with lognormal distributions of equal means, but for the last systems, whose means are lower."""

    def build(_: Texts) -> Family:
        rng = np.random.default_rng(SEED)
        k = len(spreads)
        covariance = np.full((n_metrics * k, n_metrics * k), 0.5) + np.diag(np.full(n_metrics * k, 0.5))
        normal = rng.multivariate_normal(np.zeros(n_metrics * k), covariance, VALUES).T
        quantiles = scipy.stats.norm.ppf((scipy.stats.rankdata(normal, axis=1) - 0.5) / VALUES)
        of_system = np.tile(spreads, n_metrics)[:, None]
        thousandths = np.round(1000 * np.exp(of_system * quantiles - of_system**2 / 2))
        # Rounding and the finite number of quantiles leave small differences of sums.
        missing = (1000 * VALUES - thousandths.sum(axis=1)).astype(int)
        for row, steps in zip(thousandths, missing, strict=True):
            share, rest = divmod(abs(int(steps)), VALUES)
            row += np.sign(steps) * (share + (np.arange(VALUES) < rest))
        scores = thousandths.reshape(n_metrics, k, VALUES)
        for system, difference in zip(range(k - len(below), k), below, strict=True):
            scores[:, system] -= round(1000 * difference)
        values = [SegmentScores(f"score {m + 1}", list(rows / 1000)) for m, rows in enumerate(scores)]
        worse = "".join(f"; the mean of the last {difference:g} lower" for difference in below)
        about = (
            f"segment scores with lognormal distributions of mean 1 and log-scale spreads "
            f"{', '.join(f'{spread:g}' for spread in spreads)}, whose logarithms have correlations of 0.5{worse}"
        )
        return Family(about, tuple(values), tuple(measure.counts_of(list(measure.counts)) for measure in values))

    return build


LIUM, C3MA = "LIUM-NMT.4900", "C-3MA.4959"
CLOSE = ("KIT.4950", "RWTH-nmt-ensemble.4921", "LMU-nmt-single.4893", "FBK.4870", LIUM)


def lengths(name: str, *ratios: float, below: Sequence[float] = ()) -> Build:
    """Copies of one system at several lengths, with equal BLEU but for the last."""
    about = f"copies of {name} with wrong words cut or repeated until the lengths are {', '.join(map(str, ratios))}"
    return equal_bleu(about, [of_length(name, ratio) for ratio in ratios], below)


FOUR = ("bleu", "chrf", "ter", "nist")

# The names say which null hypotheses are true: all, or all but those about a better or a worse system.
FAMILIES: Mapping[str, Build] = {
    "exchangeable": exchangeable(CLOSE, "bleu"),
    "equal BLEU, five systems": equal_bleu(", ".join(CLOSE), [of(name) for name in CLOSE]),
    "lengths 1.06, 1.03, .97, .94": lengths(LIUM, 1.06, 1.03, 0.97, 0.94),
    "lengths 1.01, 1.00, .99, .98": lengths(LIUM, 1.01, 1.00, 0.99, 0.98),
    "lengths 1.01, 1.01, .99, .99": lengths(LIUM, 1.01, 1.01, 0.99, 0.99),
    "lengths 1.00, 1.00, .99, .99": lengths(LIUM, 1.00, 1.00, 0.99, 0.99),
    "lengths .985, .975, .965, .955": lengths(C3MA, 0.985, 0.975, 0.965, 0.955),
    "one with 10% empty": equal_bleu(
        "KIT.4950, LMU-nmt-single.4893, FBK.4870, and a copy of online-G.0 with 10% of its outputs empty",
        [of("KIT.4950"), of("LMU-nmt-single.4893"), of("FBK.4870"), with_empty("online-G.0", 0.1)],
    ),
    "means, equal spreads": lognormal([0.5] * 5),
    "means, one of larger spread": lognormal([0.5, 0.5, 0.5, 0.5, 1]),
    "means, one of ten of larger spread": lognormal([0.5] * 9 + [1]),
    "exchangeable, one better": exchangeable(CLOSE[:4], "bleu", better=["uedin-nmt.4722"]),
    "exchangeable, two better": exchangeable(CLOSE[:3], "bleu", better=["LMU-nmt-reranked.4934", "uedin-nmt.4722"]),
    "lengths 1.06, 1.03, .97, .94, one worse": lengths(LIUM, 1.06, 1.03, 0.97, 0.94, below=[0.5]),
    "lengths 1.01, 1.00, .99, .98, one worse": lengths(LIUM, 1.01, 1.00, 0.99, 0.98, below=[0.5]),
    "means, one of larger spread, one worse": lognormal([1, 0.5, 0.5, 0.5, 0.5], below=[0.06]),
    "four metrics, exchangeable": exchangeable(CLOSE, *FOUR),
    "four metrics, exchangeable, one better": exchangeable(CLOSE[:4], *FOUR, better=["uedin-nmt.4722"]),
    "four means, one of larger spread": lognormal([0.5, 0.5, 0.5, 0.5, 1], n_metrics=4),
}
