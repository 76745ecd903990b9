"""Ratings from votes: cells of pairs and outcomes, their fit, and the fits of draws.

The counts of a resampling unit are its votes in each cell: pair of systems and outcome. The formula is the fit of the
model of Davidson (1970) to their sums. Both are in the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import _core, signature
from .._core import Progress
from ..data.score_columns import Integers
from ..data.votes import FIRST, SECOND, TIE, VoteTable
from ..errors import Argument, InputError, listed
from ..execution.jobs import run_table
from ..execution.tables import FLAG, NUMBER, Column, Columns, Table
from ..lazy import lazy
from ..metrics.base import Metric, Scores
from ..results import VoteFit
from ..settings import Resampling
from .counting import Data
from .samples import Batch, Sample

OUTCOMES = 3
PRIOR = "{prior}, which makes ratings finite, but mostly without intervals and tests"
SOME_WINS = Argument("prior", (0.5,))
# Wins for both systems of each pair that was compared, for draws without finite ratings if there is no prior.
RESCUE = 0.5


@dataclass(frozen=True)
class RatingMetric(Metric):
    """Ratings: logarithms of strengths, or a multiple of them."""

    options: tuple[tuple[str, str], ...]
    paper: str
    name: str = "rating"

    is_sum: ClassVar[bool] = False

    @property
    def source(self) -> str:
        """See :attr:`Metric.source`."""
        return self.paper

    def score(self, totals: object) -> NoReturn:
        """Raises :class:`InputError`: a rating is not a function of the votes on one system."""
        raise InputError("ratings are fitted to the votes on all systems together")

    def signature(self, n_references: str | None = None) -> str:
        """The model, and the options that change a rating."""
        return signature.for_metric(self.name, self.options)


class Fit(NamedTuple):
    """Logarithms of strengths, (…, k), with sum 0; ln ν, −∞ without ties; and the advantage of the first."""

    strengths: Scores
    log_nu: Scores
    advantage: Scores

    @classmethod
    def of(cls, values: Scores) -> Fit:
        """From the values of the core: (…, k + 2)."""
        return cls(values[..., :-2], values[..., -2], values[..., -1])


class Residuals(NamedTuple):
    """For each two systems that were compared: the share of their votes that the first won, a tie being half a win."""

    systems: Integers
    """Their indices: (P, 2)."""
    n_votes: Scores
    observed: Scores
    expected: Scores
    error: Scores
    """The standard error of the observed share for independent votes."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The votes by pair and outcome. Cell 3p + o has the votes on pair p with outcome o."""

    votes: VoteTable
    halved: bool = False
    """Whether each tie is half a win for both."""
    position: bool = False
    """Whether the first of a pair may have an advantage. Then (a, b) and (b, a) are different pairs."""
    prior: float = 0.0
    """Wins that are added to each system of every pair that was compared."""

    @lazy
    def _pairs_and_index(self) -> tuple[NDArray[np.uint32], Integers, NDArray[np.bool_]]:
        """The pairs that occur, that of each vote, and whether the vote has its systems in the other order."""
        first, second = self.votes.first, self.votes.second
        turned = np.zeros(len(first), dtype=np.bool_) if self.position else first > second
        one, other = np.where(turned, second, first), np.where(turned, first, second)
        k = len(self.votes.systems)
        keys, index = np.unique(one * k + other, return_inverse=True)
        return np.stack([keys // k, keys % k], axis=1).astype(np.uint32), index.reshape(-1), turned

    @property
    def pairs(self) -> NDArray[np.uint32]:
        """The pairs that were compared: (P, 2)."""
        return self._pairs_and_index[0]

    @lazy
    def _weighted(self) -> tuple[Integers, Integers, Integers]:
        """The vote, the cell and the number of each entry."""
        _, pair, turned = self._pairs_and_index
        outcome = np.where(turned, SECOND - self.votes.outcome, self.votes.outcome)
        vote = np.arange(len(pair))
        if not self.halved:
            return vote, OUTCOMES * pair + outcome, np.ones_like(vote)
        tied = np.flatnonzero(outcome == TIE)
        first, rest = np.where(outcome == TIE, FIRST, outcome), OUTCOMES * pair[tied] + SECOND
        # In half votes, so that the core has integers. The scale does not change the fit.
        numbers = np.where(outcome == TIE, 1, 2)
        return (
            np.concatenate([vote, tied]),
            np.concatenate([OUTCOMES * pair + first, rest]),
            np.concatenate([numbers, np.ones_like(tied)]),
        )

    @property
    def _scale(self) -> int:
        return 2 if self.halved else 1

    def wins_for_all(self, wins: float) -> Scores:
        """So many wins for both of any two systems that were compared, in the unit of the cells: (3P,).

        Two systems that were shown in both orders get half of them in each.
        """
        _, index, orders = np.unique(np.sort(self.pairs, axis=1), axis=0, return_inverse=True, return_counts=True)
        added = np.zeros((len(self.pairs), OUTCOMES))
        added[:, [FIRST, SECOND]] = (wins * self._scale / orders[index.reshape(-1)])[:, None]
        return added.ravel()

    @lazy
    def totals(self) -> Scores:
        """All votes, with the prior, in the unit of the cells: (3P,)."""
        _, cell, number = self._weighted
        counts = np.bincount(cell, weights=number, minlength=OUTCOMES * len(self.pairs))
        return np.asarray(counts + self.wins_for_all(self.prior), dtype=np.float64)

    def fit(self) -> Fit:
        """The fit of all votes.

        Raises
        ------
        InputError
            If no ratings are finite, with the systems that are the reason.
        """
        values = self._values()
        if values is None:
            raise self._reason()
        if np.isnan(values).any():
            raise InputError(
                "the ratings are too far apart to be computed: leave out the systems that won or lost nearly all votes"
                + ", or add more wins ({prior})" * bool(self.prior),
                prior=Argument("prior"),
            )
        return Fit.of(values)

    def _values(self) -> Scores | None:
        return _core.votes_fit(len(self.votes.systems), self.pairs, self.totals, self.position)

    def _reason(self) -> InputError:
        """Why there are no finite ratings."""
        names, k = np.array(self.votes.systems), len(self.votes.systems)
        either = self.totals + self.wins_for_all(1)
        together = np.array(_core.votes_groups(k, self.pairs, either))
        if together.any():
            one, other = (listed(names[each].tolist()) for each in (together == 0, together != 0))
            return InputError(
                f"no vote compares {one} with {other}: their ratings have no common scale; rate them separately"
            )
        groups = np.array(_core.votes_groups(k, self.pairs, self.totals))
        if groups.any():
            return InputError(
                f"{{reason}}, so that no rating is finite: leave systems out, or add wins with {PRIOR}",
                reason=self._separated(names, groups),
                prior=SOME_WINS,
            )
        if self.position:
            alone = replace(self, position=False)
            return self._reason_of_position() if alone._values() is not None else alone._reason()
        return InputError(
            "wins and ties have an order that no vote contradicts, so that the ratings grow without limit as the share "
            f"of ties does: count ties as half a win each ({{half}}), or add wins with {PRIOR}",
            half=Argument("ties", ("half",)),
            prior=SOME_WINS,
        )

    def _reason_of_position(self) -> InputError:
        """Why there are no finite ratings although there are without an advantage."""
        k, (first, second) = len(self.votes.systems), self.pairs.T
        # Of strengths up to a constant, and of the advantage.
        design = np.column_stack([np.eye(k)[first] - np.eye(k)[second], np.ones(len(first))])
        if np.linalg.matrix_rank(design) < k:
            return InputError(
                "position: the systems were always shown in one order, so that an advantage of the first place cannot "
                "be told from a stronger system: leave position out"
            )
        return InputError(
            "position: strengths and an advantage of the first place explain the votes without exception, so that "
            f"they grow without limit: leave position out, or add wins with {PRIOR}",
            prior=SOME_WINS,
        )

    def _separated(self, names: NDArray[np.str_], groups: NDArray[np.intp]) -> str:
        """Which systems never beat the others, or were never beaten by them: the smallest such group."""
        beats = np.zeros((len(names),) * 2, dtype=np.bool_)
        cells = self.totals.reshape(-1, OUTCOMES) > 0
        for (a, b), (first, tie, second) in zip(self.pairs.tolist(), cells.tolist(), strict=True):
            beats[a, b] |= first or tie
            beats[b, a] |= second or tie
        found: list[tuple[int, str]] = []
        for group in dict.fromkeys(groups.tolist()):
            own = groups == group
            one, others, n = listed(names[own].tolist()), listed(names[~own].tolist()), int(own.sum())
            if not beats[np.ix_(own, ~own)].any():
                found.append((n, f"{one} never beat {others}"))
            if not beats[np.ix_(~own, own)].any():
                found.append((n, f"{one} {'was' if n == 1 else 'were'} never beaten by {others}"))
        return min(found, key=lambda each: each[0])[1]

    def drawn(self, unit: str, fit: Fit, resampling: Resampling) -> tuple[Fit, NDArray[np.bool_]]:
        """The fits of draws of the units, and which draws have no finite ratings.

        These were fitted with :data:`RESCUE`. With a prior, all draws are fitted with that, and these are the draws
        that have no finite ratings without it.
        """
        vote, cell, number = self._weighted
        units = vote if unit == "vote" else self.votes.units[unit][vote]
        n_units, n_cells = int(units.max()) + 1, OUTCOMES * len(self.pairs)
        keys, index = np.unique(units * n_cells + cell, return_inverse=True)
        counts = np.bincount(index.reshape(-1), weights=number).astype(np.uint32)
        job = VoteDraws(
            len(self.votes.systems),
            (
                self.pairs,
                self.position,
                np.searchsorted(keys, np.arange(n_units + 1) * n_cells).astype(np.uint64),
                (keys % n_cells).astype(np.uint32),
                counts,
                np.append(fit.strengths, [fit.log_nu, fit.advantage]),
                self.wins_for_all(self.prior or RESCUE),
                self.prior > 0,
            ),
            resampling.seed,
        )
        table = run_table(job, resampling.n_resamples, resampling.execution, stage="drawing")
        values = np.ascontiguousarray(table["values"])
        return Fit.of(values), (table["separated"] != 0) | np.isnan(values[:, 0])

    def residuals(self, fit: Fit) -> Residuals:
        """How far the votes are from those that the model expects."""
        first, second = self.pairs.astype(np.int64).T
        x = fit.strengths[first] - fit.strengths[second] + fit.advantage
        weights = np.exp(np.stack([x / 2, np.full_like(x, fit.log_nu), -x / 2], axis=1))
        expected = weights / weights.sum(axis=1, keepdims=True)
        counts = (self.totals - self.wins_for_all(self.prior)).reshape(-1, OUTCOMES)
        points = np.array([1.0, 0.5, 0.0])
        n = counts.sum(axis=1)
        won, hoped = counts @ points, expected @ points
        variance = expected @ points**2 - hoped**2
        turned = first > second  # only with an advantage, where a pair may occur in both orders
        sums = np.stack([n, np.where(turned, n - won, won), n * np.where(turned, 1 - hoped, hoped), n * variance])
        keys, index = np.unique(np.sort(self.pairs, axis=1), axis=0, return_inverse=True)
        of_pairs = np.array([np.bincount(index.reshape(-1), weights=each) for each in sums])
        votes = of_pairs[0]
        # Half votes come in pairs, so a share rests on half as many.
        error = np.sqrt(of_pairs[3] * self._scale) / votes
        return Residuals(keys.astype(np.int64), votes / self._scale, of_pairs[1] / votes, of_pairs[2] / votes, error)


@dataclass(frozen=True, eq=False)
class VoteDraws:
    """Fits of draws, which are the items: see :class:`reshuffle.execution.Job`."""

    items: ClassVar[str] = "draws"
    block: ClassVar[int] = 1

    n_systems: int
    arguments: tuple[Any, ...]
    """The others of the core's ``votes_drawn``."""
    seed: int

    @property
    def columns(self) -> Columns:
        """Strengths, log ν and advantage, and whether the draw has no finite ratings."""
        return Columns({"values": Column(NUMBER, (self.n_systems + 2,)), "separated": Column(FLAG)})

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Table:
        """See :class:`reshuffle.execution.Job`."""
        where: Any = {"threads": threads or 0, "progress": progress}
        values, separated = _core.votes_drawn(
            self.n_systems, *self.arguments, n=last - first, seed=self.seed, first=first, **where
        )
        table = self.columns.empty(last - first)
        table["values"], table["separated"] = values, separated
        return table


@dataclass(eq=False)
class VoteSample(Sample):
    """Ratings of k systems, and those on draws of the units."""

    batch_size: ClassVar[int] = 1 << 16

    metric: RatingMetric
    scores: Scores
    draws: Scores
    """Shape (k, R)."""
    unit: str
    n_units: int

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.draw_scores`. All draws have been fitted in one pass."""
        return self.draws[:, batch.first : batch.first + batch.n]


@dataclass(frozen=True)
class VoteData(Data):
    """What a comparison of ratings is computed from."""

    sample: VoteSample
    votes: VoteFit

    @classmethod
    def of(cls, names: tuple[str, ...], sample: VoteSample, votes: VoteFit) -> VoteData:
        """Ratings of systems with these names."""
        metrics: Any = [sample.metric]
        return cls(None, metrics, names, sample.n_units, sample, votes)

    @property
    def ratings(self) -> VoteFit:
        """The fit of the votes."""
        return self.votes

    @property
    def most_references(self) -> int:
        """0: nobody wrote references."""
        return 0

    def count(self, names: Sequence[str], resampling: Resampling) -> list[Sample]:
        """The sample, whose votes have been counted."""
        return [self.sample]
