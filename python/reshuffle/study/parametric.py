"""A parametric model of the effects of swaps: Card et al. 2020 (2020.emnlp-main.745).

The effect of a segment is the change of the difference of two systems when their outputs of this segment are swapped.
Corpus scores are taken as additive in these effects, so that the observed difference is minus half their sum, and a
shuffle adds the effects of the segments that it swaps. An effect is 0 with probability P₀, and otherwise from a Laplace
distribution with location −2Δ/(n(1 − P₀)) and scale b₀/n, where Δ is the true difference and n the number of segments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _core
from ..errors import Argument, InputError
from ..execution import ChunkJob
from ..execution.tables import NUMBER, PROBABILITY, Column, Columns, Table
from ..inference.significance import approximate_randomization
from ..metrics.base import Counts, Metric, Scores
from ..seeds import derive_seed
from ..validate import check_number

# The number of effects in memory at a time: 32 MB.
CELLS = 1 << 22


@dataclass(frozen=True)
class SwapEffects:
    """The parameters P₀ and b₀. ``b_zero`` does not depend on the number of segments."""

    p_zero: float
    b_zero: float

    def __post_init__(self) -> None:
        if not check_number("p_zero", self.p_zero, 0, 1) < 1:
            raise InputError("{p} must be at least 0 and below 1, got {value}", p=Argument("p_zero"), value=self.p_zero)
        if not check_number("b_zero", self.b_zero, 0):
            raise InputError("{b} must be a positive number, got {value}", b=Argument("b_zero"), value=self.b_zero)

    @classmethod
    def fitted(cls, metric: Metric, counts: Counts) -> SwapEffects | None:
        """The parameters of a real pair, from its (2, U, K) counts; None if no swap has an effect.

        P₀ is the share of effects that are 0. The location is the mean of the others, as the model has it, and b₀/n is
        the maximum-likelihood scale for this location, the mean absolute deviation.
        """
        effects = effects_of_swaps(metric, counts)
        others = effects[effects != 0]
        scale = float(np.abs(others - others.mean()).mean()) if len(others) else 0.0
        if not scale:
            return None
        return cls(1 - len(others) / len(effects), scale * len(effects))

    def standard_error(self, difference: float, n: int) -> float:
        """The standard deviation of the observed difference: half that of a sum of n independent effects.

        >>> round(CARD_BLEU.standard_error(1.0, 2000), 3)
        0.381
        """
        location, scale = self._laplace(difference, n)
        variance = (1 - self.p_zero) * (location**2 + 2 * scale**2) - (2 * difference / n) ** 2
        return math.sqrt(n * max(variance, 0.0)) / 2

    def draw(self, difference: float, n: int, seed: int) -> Scores:
        """The effects of n segments of a simulated test set: (n,).

        The j-th effect is 0 if the j-th value of the stream ``selection`` is less than P₀; it is the quantile of the
        Laplace distribution at the j-th value of the stream ``assignment``.
        """
        zero, quantile = (uniform_values(seed, purpose, n) for purpose in ("selection", "assignment"))
        location, scale = self._laplace(difference, n)
        centred = quantile - 0.5
        effects: Scores = location - scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
        effects[zero < self.p_zero] = 0
        return effects

    def _laplace(self, difference: float, n: int) -> tuple[float, float]:
        """Location and scale of the effects that are not 0."""
        return -2 * difference / (n * (1 - self.p_zero)), self.b_zero / n


# Card et al.'s values for BLEU: their notebook on power of comparisons of BLEU scores, with n = 2,000.
CARD_BLEU = SwapEffects(0.13, 25.8)


def uniform_values(seed: int, purpose: str, n: int) -> Scores:
    """n uniform numbers strictly between 0 and 1, from the upper 52 bits of a stream's values."""
    values = _core.stream_values(seed, purpose, 0, n)
    return np.asarray(((values >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def effects_of_swaps(metric: Metric, counts: Counts) -> Scores:
    """The change of score(a) − score(b) when the counts of one unit are swapped, for each unit: (U,).

    Changes of a few units in the last place of the scores are rounding errors, and count as 0.
    """
    a, b = counts
    totals = counts.sum(axis=1)
    moved = b - a
    scores = metric.score(totals)
    x, y = metric.score(totals[0] + moved), metric.score(totals[1] - moved)
    effects: Scores = (x - y) - (scores[0] - scores[1])
    effects[np.abs(effects) <= 16 * np.spacing(np.abs(scores).max())] = 0
    return effects


@dataclass(frozen=True)
class SwapTests(ChunkJob):
    """Approximate randomization on simulated test sets of n segments, with a known difference.

    Simulation i has the seed ``derive_seed(seed, "simulation", i)``. The alternative is not ``better`` or ``worse``,
    which need a metric.
    """

    effects: SwapEffects
    difference: float
    n: int
    seed: int
    n_resamples: int
    alternative: str
    columns: ClassVar[Columns] = Columns({"pvalue": Column(PROBABILITY), "difference": Column(NUMBER)})

    @property
    def chunk(self) -> int:
        """See :attr:`ChunkJob.chunk`."""
        return max(1, CELLS // self.n)

    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """The p-values and the observed differences."""
        seeds = [int(derive_seed(self.seed, "simulation", i)) for i in items]
        # n times the contribution of each segment to the difference, whose mean is then the difference.
        drawn = np.stack([self.effects.draw(self.difference, self.n, own) for own in seeds])
        contributions = drawn * (-self.n / 2)
        result = approximate_randomization(
            contributions,
            np.zeros_like(contributions),
            scheme="iid",
            n_resamples=self.n_resamples,
            alternative=self.alternative,
            seed=np.array(seeds, dtype=np.uint64),
            workers=threads,
        )
        rows["pvalue"], rows["difference"] = result.pvalue, result.statistic
