r"""How far people's labels of the same outputs agree, and labels without the raters' own scales.

With counts n_uc of category c among the m_u ≥ 2 labels of output u, coincidences
o_ck = Σ_u n_uc·(n_uk − [c = k])/(m_u − 1), n_c = Σ_k o_ck and n = Σ_c n_c, Krippendorff's α is

    α = 1 − (n − 1)·Σ_ck o_ck·δ_ck / Σ_ck n_c·n_k·δ_ck,

where the distance δ_ck is 1 for different categories (nominal), the squared difference of values (interval), or that of
mid-ranks among all these labels (ordinal) (Krippendorff 2019, doi:10.4135/9781071878781, chapter 12). Of two raters,
Cohen's κ compares their agreement with that of independent raters with the same shares of categories (Cohen 1960,
doi:10.1177/001316446002000104). Both are functions of sums over outputs, so units are drawn as in the bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Scores
from .intervals import symmetric_ends

# Coefficients of categories are for so many of them at most.
MOST_CATEGORIES = 20
DRAWS = 2000
# The fewest degrees of freedom of the spread of labels.
FEWEST_LEFT = 10


class Agreement(NamedTuple):
    """A coefficient of agreement, with its percentile interval; None where labels do not differ."""

    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    outputs: int
    """The number of outputs with labels of two raters or more."""


def standardized(ratings: Scores) -> Scores | None:
    """Labels minus the mean of the rater, by the standard deviation of the rater: (A, k, S) in and out. NaN if missing.

    This is the z-score of WMT's direct assessment: over all labels of a rater, of all systems. None if those of a rater
    are equal, or there is only one: they have no scale.
    """
    found = np.full_like(ratings, np.nan)
    for each, own in zip(found, ratings, strict=True):
        at = ~np.isnan(own)
        if not at.any() or np.ptp(own[at]) == 0:
            return None
        each[at] = (own[at] - own[at].mean()) / own[at].std(ddof=1)
    return found


def noise(labels: Scores) -> float | None:
    """The variance of labels (A, S), NaN if missing, around means of segments and raters; None if few are shared."""
    known = ~np.isnan(labels)
    n_labels = known.sum(axis=0)
    of_rater, of_segment = np.nonzero(known & (n_labels > 1))
    # Labels and raters, without the means of segments.
    columns = np.column_stack([labels[of_rater, of_segment], np.eye(len(labels))[of_rater]])
    sums = np.array([np.bincount(of_segment, column, labels.shape[1]) for column in columns.T]).T
    columns -= (sums / np.maximum(n_labels, 1)[:, None])[of_segment]
    effects, _, rank, _ = np.linalg.lstsq(columns[:, 1:], columns[:, 0], rcond=None)
    left = len(columns) - len(np.unique(of_segment)) - int(rank)
    if left < FEWEST_LEFT:
        return None
    return float(((columns[:, 0] - columns[:, 1:] @ effects) ** 2).sum()) / left


def agreements(ratings: Scores, unit: NDArray[np.intp], level: float, seed: int, n: int = DRAWS) -> Iterator[Agreement]:
    """The coefficients of labels, (A, k, S) with NaN if missing. ``unit``, (S,), is what draws take as a whole."""
    of_outputs = ratings.reshape(len(ratings), -1)
    units = np.tile(unit, ratings.shape[1])
    several = (~np.isnan(of_outputs)).sum(axis=0) > 1
    if not several.any():
        return
    labels, index = of_outputs[:, several], np.unique(units[several], return_inverse=True)[1]
    n_units = int(index.max()) + 1
    draws = np.array([_core.draw_weights(seed, r, n_units) for r in range(n)], dtype=np.float64)
    for name, columns, value in _coefficients(labels):
        sums = np.array([np.bincount(index, column, n_units) for column in columns.T]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            (found,), drawn = value(sums.sum(axis=0)[None]), value(draws @ sums)
        low, high = (None, None) if np.isnan(drawn).any() else symmetric_ends(drawn, level)
        yield Agreement(name, None if math.isnan(found) else float(found), low, high, labels.shape[1])


def _coefficients(labels: Scores) -> Iterator[tuple[str, Scores, Callable[[Scores], Scores]]]:
    """The name of each, the columns of outputs, and the value of their sums: (J, K) → (J,)."""
    values = np.unique(labels[~np.isnan(labels)])
    if len(values) <= MOST_CATEGORIES:
        counts = np.array([(labels == value).sum(axis=0) for value in values], dtype=np.float64).T
        n_labels = counts.sum(axis=1)
        pairs = counts[:, :, None] * counts[:, None] - counts[:, :, None] * np.eye(len(values))
        coincidences = (pairs / (n_labels - 1)[:, None, None]).reshape(len(counts), -1)
        yield "alpha-nominal", coincidences, lambda sums: _alpha(sums, _nominal)
        yield "alpha-ordinal", coincidences, lambda sums: _alpha(sums, _ordinal)
    yield "alpha-interval", _moments(labels), _alpha_interval
    if len(labels) == 2 and len(values) <= MOST_CATEGORIES:
        one, other = np.searchsorted(values, labels)
        yield "kappa", np.eye(len(values) ** 2)[one * len(values) + other], _kappa


def _moments(labels: Scores) -> Scores:
    known = ~np.isnan(labels)
    centred = np.where(known, labels - labels[known].mean(), 0)
    m, first, second = known.sum(axis=0), centred.sum(axis=0), (centred**2).sum(axis=0)
    return np.column_stack([2 * (m * second - first**2) / (m - 1), m, first, second])


def _alpha_interval(sums: Scores) -> Scores:
    observed, n, first, second = sums.T
    expected = 2 * (n * second - first**2) / (n - 1)
    return np.asarray(1 - observed / np.where(expected > 0, expected, np.nan))


def _square(sums: Scores) -> Scores:
    """(J, C²) as (J, C, C)."""
    n = math.isqrt(sums.shape[1])
    return sums.reshape(-1, n, n)


def _alpha(sums: Scores, distance: Callable[[Scores], Scores]) -> Scores:
    coincidences = _square(sums)
    marginal = coincidences.sum(axis=2)
    n, apart = marginal.sum(axis=1), distance(marginal)
    expected = (marginal[:, :, None] * marginal[:, None] * apart).sum(axis=(1, 2)) / (n - 1)
    return np.asarray(1 - (coincidences * apart).sum(axis=(1, 2)) / np.where(expected > 0, expected, np.nan))


def _nominal(marginal: Scores) -> Scores:
    return 1 - np.eye(marginal.shape[1])[None]


def _ordinal(marginal: Scores) -> Scores:
    ranks = marginal.cumsum(axis=1) - marginal / 2
    return np.asarray((ranks[:, :, None] - ranks[:, None]) ** 2)


def _kappa(sums: Scores) -> Scores:
    table = _square(sums / sums.sum(axis=1, keepdims=True))
    agreed = np.trace(table, axis1=1, axis2=2)
    by_chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    return np.asarray((agreed - by_chance) / np.where(by_chance < 1, 1 - by_chance, np.nan))
