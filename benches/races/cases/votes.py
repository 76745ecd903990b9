"""Draws of votes beside evalica."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from benches.data import Array, Texts
from reshuffle import VoteTable
from reshuffle._core import draw_weights
from reshuffle.resampling.votes import Cells
from reshuffle.settings import Resampling

from ..agreement import DisagreementError
from ..race import Contender, Race, Skipped, call
from ..rivals import ONE_THREAD, RESHUFFLE, name

__all__ = ["rated"]

SYSTEMS, VOTES, DRAWS, THEIR_DRAWS, SEED = 20, 50_000, 1_000, 3, 12345


def simulated() -> VoteTable:
    """Votes on random pairs of systems whose strengths differ; a fifth or so are ties."""
    rng = np.random.default_rng(1)
    strengths = rng.normal(size=SYSTEMS) / 2
    first = rng.integers(SYSTEMS, size=VOTES)
    second = (first + rng.integers(1, SYSTEMS, size=VOTES)) % SYSTEMS
    half = (strengths[first] - strengths[second]) / 2
    weights = np.stack([np.exp(half), np.full_like(half, 0.5), np.exp(-half)], axis=1)
    limits = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    outcome = (rng.random(VOTES)[:, None] > limits[:, :2]).sum(axis=1)
    return VoteTable(tuple(f"s{i}" for i in range(SYSTEMS)), first, second, outcome)


def theirs(table: VoteTable) -> Callable[[], Array]:
    """evalica on the votes with the weights of a draw, each tie half a win: logarithms of strengths, centred."""
    evalica, pandas = import_module("evalica"), import_module("pandas")
    index = pandas.Index(table.systems)
    xs, ys = ([table.systems[i] for i in column.tolist()] for column in (table.first, table.second))
    winners = [(evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y)[o] for o in table.outcome.tolist()]

    def draw(number: int) -> Array:
        weights = draw_weights(SEED, number, VOTES).astype(np.float64)
        found = evalica.bradley_terry(xs, ys, winners, index, weights, tolerance=1e-10, limit=10_000).scores
        logs = np.log(found.reindex(index).to_numpy())
        return np.asarray(logs - logs.mean())

    return lambda: np.array([draw(number) for number in range(THEIR_DRAWS)])


def ours(table: VoteTable, ties: str, threads: int | None) -> Callable[[], Array]:
    """The same with reshuffle."""

    def run() -> Array:
        cells = Cells(table, ties == "half")
        drawn, _ = cells.drawn("vote", cells.fit(), Resampling(DRAWS, SEED, threads))
        return drawn.strengths[:THEIR_DRAWS] if ties == "half" else np.empty(0)

    return run


def same_ratings(expected: Array, *others: Array) -> None:
    """Check that ratings on the same draws are equal, unless they are of another model."""
    for actual in others:
        if actual.size and not np.allclose(expected, actual, rtol=0, atol=1e-6):
            raise DisagreementError(f"ratings differ by {np.abs(expected - actual).max():.2g}")


def rated(texts: Texts) -> list[Race]:
    """Shows draws of 50,000 single votes on 20 systems, with a fit of each: a loop over evalica, with the same draws,
    beside 1,000 draws of reshuffle, also by Davidson's model, which evalica does not have. Per draw."""
    table = simulated()
    rival: Contender | Skipped = Skipped("evalica", "is not installed: pip install evalica")
    if find_spec("evalica") is not None:
        rival = Contender(f"loop over {name('evalica')}", call(theirs(table)), at_most=3, things=THEIR_DRAWS)
    contenders = [
        rival,
        Contender(RESHUFFLE, call(ours(table, "half", None)), target=200, things=DRAWS),
        Contender(ONE_THREAD, call(ours(table, "half", 1)), things=DRAWS),
        Contender(f"{ONE_THREAD}, Davidson", call(ours(table, "model", 1)), things=DRAWS),
    ]
    return [Race(f"draw of {VOTES:,} votes on {SYSTEMS} systems, with its fit", contenders, same_ratings)]
