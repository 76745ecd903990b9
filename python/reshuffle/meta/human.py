"""Scores of systems from people's votes, as WMT computed its official ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..types import HumanScore
from ..validate import check_name
from .values import ratio

if TYPE_CHECKING:
    from ..data.judgments import Judgments

Counts = NDArray[np.int64]
Scores = NDArray[np.float64]


def _wins(wins: Counts, ties: Counts) -> Scores:
    won, lost = wins.sum(axis=-1), wins.sum(axis=-2)
    return ratio(won, won + lost)


def _expected_wins(wins: Counts, ties: Counts) -> Scores:
    shares = ratio(wins, wins + np.swapaxes(wins, -1, -2))
    has = ~np.isnan(shares)  # the diagonal has no votes
    return ratio(np.where(has, shares, 0).sum(axis=-1), has.sum(axis=-1))


def _wins_or_ties(wins: Counts, ties: Counts) -> Scores:
    won, lost, tied = wins.sum(axis=-1), wins.sum(axis=-2), ties.sum(axis=-1)
    return ratio(won + tied, won + lost + tied)


# From wins (…, N, N), where ``wins[i, j]`` are the votes for i against j, and ties (…, N, N) to scores (…, N).
HUMAN_SCORES: Mapping[str, Callable[[Counts, Counts], Scores]] = {
    "wins": _wins,
    "expected-wins": _expected_wins,
    "wins-or-ties": _wins_or_ties,
}


def human_scores(judgments: Judgments, method: HumanScore | str = "wins") -> Scores:
    """Scores of systems from votes between pairs of their outputs; higher is better.

    Every vote counts, also with net judgments, because WMT's scores are computed from all votes.

    Parameters
    ----------
    judgments : Judgments
        From :func:`reshuffle.meta.read_judgments`.
    method : {'wins', 'expected-wins', 'wins-or-ties'}
        ``wins``: wins / (wins + losses) of a system against all others, WMT's official score of 2012 (Callison-Burch et
        al. 2012, W12-3102; Bojar et al. 2011, W11-2101, on ties). ``expected-wins``: the mean of wins / (wins + losses)
        against each other system, so that it does not matter how often each was compared, that of 2013 (Bojar et al.
        2013, W13-2201; Koehn 2012, IWSLT, 179–184). ``wins-or-ties``: (wins + ties) / (wins + losses + ties), that
        of 2008 (Callison-Burch et al. 2008, W08-0309).

    Returns
    -------
    (N,) float64 array
        From 0 to 1. NaN for a system that was never compared, or, with the first two, has only ties.

    Raises
    ------
    InputError
        If the method is unknown.

    Examples
    --------
    >>> from reshuffle.data.judgments import Judgments
    >>> votes = Judgments.from_votes(["a", "b", "c"], 1, [0] * 5, [0, 0, 0, 1, 2], [1, 1, 2, 2, 0], tied=[[0, 1, 2]])
    >>> human_scores(votes).tolist(), human_scores(votes, "expected-wins").tolist()
    ([0.75, 0.3333333333333333, 0.3333333333333333], [0.75, 0.5, 0.25])
    """
    check_name("method", method, list(HUMAN_SCORES))
    every = judgments if judgments.raw is None else judgments.raw
    n = len(every.systems)
    wins = np.zeros((n, n), dtype=np.int64)
    np.add.at(wins, (every.better, every.worse), every.votes)
    ties = np.zeros((n, n), dtype=np.int64)
    np.add.at(ties, (every.tied[:, 1], every.tied[:, 2]), 1)
    return HUMAN_SCORES[method](wins, ties + ties.T)
