"""Measure coverage and size of ratings from simulated votes, where the strengths are known.

    python -m benches.simulations.votes --help

Six systems have strengths 0.25 apart, or all the same. A user has strengths of his own, which deviate from these by a
standard deviation of 0.8, and casts votes on random pairs: a geometric number with mean 20. Ties have the share that
the row says if two systems are equal. The true ratings are those of a fit to the votes of 20,000 users. The
columns "(votes)" draw single votes instead of users, and "place" is the share of p ≤ .05 for the advantage of the first
place, which there is none of.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

import numpy as np

from benches.data import Array
from reshuffle import Comparison, InputWarning, VoteTable, votes
from reshuffle.resampling.votes import Cells

K, STEP, SPREAD, VOTES = 6, 0.25, 0.8, 20
ROWS = ((10, 0.2), (20, 0.2), (40, 0.2), (100, 0.2), (40, 0.0), (40, 0.4))
APART, EQUAL = STEP * (np.arange(K) - (K - 1) / 2), np.zeros(K)
LEVEL = 0.05


def sample(rng: np.random.Generator, strengths: Array, users: int, ties: float) -> VoteTable:
    """The votes of some users."""
    user = np.repeat(np.arange(users), rng.geometric(1 / VOTES, users))
    own = strengths + SPREAD * rng.normal(size=(users, K))
    first = rng.integers(K, size=len(user))
    second = (first + rng.integers(1, K, size=len(user))) % K
    half = (own[user, first] - own[user, second]) / 2
    nu = 2 * ties / (1 - ties)
    weights = np.stack([np.exp(half), np.full_like(half, nu), np.exp(-half)], axis=1)
    limits = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    outcome = (rng.random(len(user))[:, None] > limits[:, :2]).sum(axis=1)
    index = np.unique(user, return_inverse=True)[1].reshape(-1)
    return VoteTable(tuple(f"s{i}" for i in range(K)), first, second, outcome, {"judge": index}, has_order=True)


def covered(found: Comparison, truth: Array) -> tuple[float, float, bool]:
    """The shares of ratings and of differences in their intervals, and whether all ranks are in theirs."""
    at = {name: int(name[1:]) for name in found.systems}
    intervals = [(score.confidence_interval, truth[at[score.system]]) for score in found.scores]
    pairs = [(p.confidence_interval, truth[at[p.system]] - truth[at[p.baseline]]) for p in found.comparisons]
    inside = [[i is not None and i.low <= value <= i.high for i, value in each] for each in (intervals, pairs)]
    rank = {f"s{i}": 1 + int((truth > truth[i] + 1e-9).sum()) for i in range(K)}
    ranks = all(r.rank_low <= rank[r.system] <= r.rank_high for r in found.rankings[0].systems)
    return float(np.mean(inside[0])), float(np.mean(inside[1])), ranks


def row(users: int, ties: float, simulations: int, n_resamples: int) -> list[float]:
    """The rates of one row."""
    truth = np.asarray(Cells(sample(np.random.default_rng(0), APART, 20_000, ties)).fit().strengths)
    rates, refused = [], 0
    place = []
    for number in range(simulations):
        rng = np.random.default_rng([number, users, round(100 * ties)])
        apart, equal = (sample(rng, strengths, users, ties) for strengths in (APART, EQUAL))
        by_user, null, single = (
            votes(table, units=unit, n_resamples=n_resamples, seed=number, workers=1)
            for table, unit in ((apart, "judge"), (equal, "judge"), (equal, "vote"))
        )
        if not (by_user.comparisons and null.comparisons and single.comparisons):
            refused += 1
            continue
        advantage = votes(equal, units="judge", position=True, n_resamples=n_resamples, seed=number, workers=1).votes
        if advantage is not None and advantage.first is not None and advantage.first.pvalue is not None:
            place.append(advantage.first.pvalue <= LEVEL)
        rejected = [float(np.mean([p.test.pvalue <= LEVEL for p in each.comparisons])) for each in (null, single)]
        any_star = [any(p.is_significant(LEVEL) for p in each.comparisons) for each in (null, single)]
        rates.append((*covered(by_user, truth), rejected[0], any_star[0], rejected[1], any_star[1]))
    return [*np.mean(rates, axis=0).tolist(), float(np.mean(place)), float(refused)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.votes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=1000, metavar="N", help="per row (default: %(default)s)")
    parser.add_argument("--n-resamples", type=int, default=999, metavar="R", help="default: %(default)s")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", InputWarning)
    error = np.sqrt(LEVEL * (1 - LEVEL) / given.simulations)
    print(f"{given.simulations} simulations, R = {given.n_resamples}; standard error at .05 at most {error:.4f}")
    names = (
        "rating",
        "difference",
        "all ranks",
        "size",
        "any star",
        "size (votes)",
        "any star (votes)",
        "place",
        "left out",
    )
    print(f"| users | ties | {' | '.join(names)} |")
    print(f"|---|---|{'---|' * len(names)}")
    for users, ties in ROWS:
        *rates, refused = row(users, ties, given.simulations, given.n_resamples)
        cells = " | ".join(f"{rate:.3f}" for rate in rates)
        print(f"| {users} | {ties:.0%} | {cells} | {refused:.0f} |", flush=True)


if __name__ == "__main__":
    main()
