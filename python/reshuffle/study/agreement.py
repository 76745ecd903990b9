"""``agreement``: gains against p-values, the same winners elsewhere, and whether tests agree with one another.

Decisions are those of several tests about the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.corpus import StratumIds
from ..errors import InputError, counted, quoted
from ..execution import ItemJob
from ..execution.tables import PROBABILITY, SIGN, Column, Columns
from ..inference.hypotheses import Hypotheses
from ..inference.running import run_on_test_set
from ..metrics.base import Scores
from ..options.declare import called_with, taken
from ..options.studies import Agreement
from ..resampling import Pairs, Replicates
from ..resampling.units import numbered
from ..results import ConfidenceInterval
from ..results.studies import DomainBand, GainBin, GainThreshold, PairPvalue, StudyResult, TestAgreement
from ..results.studies.agreement import AgreementPlan
from ..seeds import derive_seed
from ..settings import Resampling, Units
from .material import Material
from .pools import SLACK, Pool, plans_of, sample_units, signs
from .rates import jackknife_interval, share_of_pairs_interval
from .settings import started
from .validation import BANDS, check_bins, in_bins


@dataclass(frozen=True, eq=False)
class Decisions:
    """What one test says about P pairs of systems under one metric.

    The p-values may come from anywhere, such as judgments of humans, in which case ``metric`` names what was judged.
    """

    metric: str
    test: str
    pvalue: Scores
    """Shape (P,)."""
    favoured: NDArray[np.int8]
    """Shape (P,). 1 if the first system of the pair is better, −1 if the second is, else 0: not the sign of the score's
    difference if lower scores are better.
    """


def kappa(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float | None:
    """Cohen's kappa of two binary decisions: Cohen 1960, doi:10.1177/001316446002000104. None if it is 0/0.

    >>> kappa(np.array([True, True, False, False]), np.array([True, False, False, False]))
    0.5
    """
    agreement = float((first == second).mean())
    by_chance = float(first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean()))
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else None


def rank_correlation(first: Scores, second: Scores) -> float | None:
    """Spearman's rank correlation, with mean ranks of ties. None if all values of one array are equal.

    >>> rank_correlation(np.array([0.1, 0.2, 0.2, 0.4]), np.array([0.3, 0.5, 0.5, 0.9]))
    1.0
    """
    ranks = np.array([_ranks(first), _ranks(second)])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    if not norms.all():
        return None
    return max(-1.0, min(1.0, float(centred[0] @ centred[1] / (norms[0] * norms[1]))))


def _ranks(values: Scores) -> Scores:
    """Mean ranks, from 1."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def agreements(
    columns: Sequence[Decisions], alphas: Sequence[float], pairs: Pairs, n_systems: int
) -> Iterator[TestAgreement]:
    """The agreement of every two columns at every level."""
    for first, second in combinations(columns, 2):
        correlation = rank_correlation(first.pvalue, second.pvalue)
        for alpha in alphas:
            a, b = first.pvalue <= alpha, second.pvalue <= alpha
            opposed = a & b & (first.favoured * second.favoured < 0)
            agree = (a == b) & ~opposed
            yield TestAgreement(
                metric=first.metric,
                test=first.test,
                other_metric=second.metric,
                other_test=second.test,
                alpha=alpha,
                pairs=len(a),
                both=int((a & b).sum()),
                neither=int((~a & ~b).sum()),
                only_first=int((a & ~b).sum()),
                only_second=int((~a & b).sum()),
                opposed=int(opposed.sum()),
                agreement=float(agree.mean()),
                agreement_interval=share_of_pairs_interval(agree, np.ones(len(a)), pairs, n_systems),
                kappa=kappa(a, b),
                kappa_interval=jackknife_interval(partial(_kappa_of, a, b), pairs, n_systems, limits=(-1.0, 1.0)),
                rank_correlation=correlation,
            )


def _kappa_of(a: NDArray[np.bool_], b: NDArray[np.bool_], mask: NDArray[np.bool_]) -> float | None:
    """Cohen's kappa of some of the decisions; None if there are none."""
    return kappa(a[mask], b[mask]) if mask.any() else None


@called_with(Agreement)
def agreement(options: Agreement) -> StudyResult[AgreementPlan]:
    """Test all pairs of systems by several tests under several metrics, and compare their results.

    Three questions are answered. How large must a gain, the difference of two scores, be to be significant? Do the
    winners on one part of the test set also win on another part, and how does that depend on p? Both are from
    Berg-Kirkpatrick, Burkett and Klein 2012 (D12-1091). Do the tests agree with one another? This is from Graham,
    Mathur and Baldwin 2014 (W14-3333).

    Returns
    -------
    StudyResult
        With five tables. ``pair_pvalues``: p beside the gain of every pair
        (:class:`~reshuffle.results.studies.PairPvalue`). ``gains``: the share of significant pairs by gain
        (:class:`~reshuffle.results.studies.GainBin`). ``thresholds``: the gain above which pairs are significant
        (:class:`~reshuffle.results.studies.GainThreshold`). ``domains``: winners that also win on another part
        (:class:`~reshuffle.results.studies.DomainBand`). ``tests``: the agreement of every two tests or metrics
        (:class:`~reshuffle.results.studies.TestAgreement`).

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if there is only one domain, a document is in several, or a domain has fewer than
        two units.

    Notes
    -----
    Intervals take into account that pairs with a system in common depend on one another, by the jackknife over systems.
    They are for other systems on the same test set. Cost: that of :func:`reshuffle.compare` with all pairs for each
    test, on the test set and on each part.

    Examples
    --------
    >>> from reshuffle import SegmentScores
    >>> rng = np.random.default_rng(1)
    >>> quality = rng.normal(50, 9, 600)
    >>> scores = {f"s{i}": quality + rng.normal(i / 2, 5, 600) for i in range(5)}
    >>> result = agreement(metrics=SegmentScores("rating", scores), tests=("ar", "bootstrap-shift"), bins=(0, 0.5, 1))
    >>> for row in result.tables["gains"]:
    ...     print(row.test, row.low, row.high, row.pairs, round(row.significant, 2))
    ar 0.0 0.5 1 0.0
    ar 0.5 1.0 4 0.75
    ar 1.0 None 5 1.0
    bootstrap-shift 0.0 0.5 1 0.0
    bootstrap-shift 0.5 1.0 4 1.0
    bootstrap-shift 1.0 None 5 1.0
    >>> (row,) = result.tables["tests"]
    >>> row.both, row.neither, row.only_first, row.only_second, round(row.kappa, 2)
    (8, 1, 0, 1, 0.62)
    """
    with started("agreement", options) as (data, units, settings):
        resampling, tests, alphas = settings.resampling, options.tests, options.alphas
        bins = check_bins(options.bins)
        plans_of(tests, data.metrics)
        cost = float(data.n_segments * len(data.names) * len(data.metrics) * len(tests) * resampling.n_resamples)
        material = Material.from_data(data, Units(units.documents), resampling, [("testing", cost, 1)])
        pool = Pool.from_material(material, material.pairs(all_pairs=True))
        parts = _parts(material, pool, units.strata, options.halves)
        study = _Agreement(pool, alphas)
        seeds = [resampling.seed, *(derive_seed(resampling.seed, "test-set", j) for j in range(len(parts)))]
        units_of_parts = (np.arange(pool.n_units), *parts.values())
        job = _Tested(pool, units_of_parts, tuple(seeds), tests, resampling.n_resamples)
        whole, *others = (
            study.decisions(tests, row["pvalue"], row["better"])
            for row in job.results(len(units_of_parts), resampling.execution)
        )
        columns = dict(zip(parts, others, strict=True))
        has_domains = units.strata is not None
        tables: dict[str, Iterable[object]] = {
            "pair_pvalues": study.pvalues(whole),
            "gains": (row for column in whole for row in study.gains(column, bins)),
            "thresholds": (row for column in whole for row in study.thresholds(column)),
            "domains": study.domains(columns),
            "tests": agreements(whole, alphas, pool.pairs, len(pool.names)),
        }
        return settings.result(
            options,
            tables,
            {},
            material,
            domains=tuple(parts) if has_domains else None,
            halves=None if has_domains else options.halves,
            bins=bins,
        )


def _parts(
    material: Material, pool: Pool, domains: StratumIds | None, halves: str | None
) -> dict[str, NDArray[np.intp]]:
    """The units of each domain or half, by its name."""
    if domains is None:
        if halves is None:
            return {}
        units = sample_units(halves, pool.n_units // 2, 2)
        parts = {f"half {number}": own for number, own in enumerate(units, 1)}
    else:
        index, names = numbered("domains", domains, material.n_segments)
        if len(names) < 2:
            raise InputError(
                f"domains: all {len(index):,} segments belong to one, {quoted(''.join(names))}: expected at least 2"
            )
        parts = {name: np.flatnonzero(_of_units(index, material) == d) for d, name in enumerate(names)}
    for name, own in parts.items():
        if len(own) < 2:
            raise InputError(
                f"{quoted(name)} has {counted(len(own), pool.unit)}: tests need at least 2, or leave it out"
            )
    return parts


def _of_units(index: NDArray[np.intp], material: Material) -> NDArray[np.intp]:
    """The domain of each unit. :class:`InputError` if segments of one document have different domains."""
    if material.documents is None:
        return index
    of_documents = index[material.documents.first_segments]
    strays = np.flatnonzero(of_documents[material.documents.index] != index)
    if strays.size:
        raise InputError(
            f"domains: segment {strays[0] + 1:,} has a different domain than others of its document: expected one "
            "domain for each document"
        )
    return np.asarray(of_documents)


@dataclass(frozen=True, eq=False)
class _Tested(ItemJob):
    """The tests of all pairs on parts of the test set."""

    pool: Pool
    units: Sequence[NDArray[np.intp]]
    seeds: Sequence[int]
    tests: Sequence[str]
    n_resamples: Any
    items: ClassVar[str] = "parts"
    stage: ClassVar[str] = "testing"

    @property
    def columns(self) -> Columns:
        """The p-values, and the signs of the differences, positive if the first system is better."""
        shape = len(self.pool.metrics), len(self.pool.pairs)
        return Columns({"pvalue": Column(PROBABILITY, (len(self.tests), *shape)), "better": Column(SIGN, shape)})

    def item(self, index: int, threads: int | None) -> tuple[Scores, NDArray[np.int8]]:
        """The tests on one part."""
        pool = self.pool
        samples = pool.samples(self.units[index])
        replicates = Replicates(samples, Resampling(self.n_resamples, self.seeds[index], threads))
        hypotheses = Hypotheses.from_pairs(pool.pairs, n_metrics=len(samples))
        better = [
            signs(sample.scores, pool.pairs) * (1 if metric.higher_is_better else -1)
            for sample, metric in zip(samples, pool.metrics, strict=True)
        ]
        outcomes = [run_on_test_set(plan, replicates, hypotheses) for plan in plans_of(self.tests, pool.metrics)]
        return np.array([hypotheses.table(outcome.pvalue) for outcome in outcomes]), np.array(better, dtype=np.int8)


@dataclass(frozen=True, eq=False)
class _Agreement:
    """All pairs of systems, and the levels of the study."""

    pool: Pool
    alphas: Sequence[float]

    def decisions(self, tests: Sequence[str], pvalues: Scores, better: NDArray[np.int8]) -> list[Decisions]:
        """The decisions of all tests under all metrics: see :class:`_Tested`."""
        return [
            Decisions(label, test, pvalues[t, m], better[m])
            for m, label in enumerate(self.pool.labels)
            for t, test in enumerate(tests)
        ]

    def pvalues(self, columns: Sequence[Decisions]) -> Iterator[PairPvalue]:
        """p beside the gain, for every pair, test and metric."""
        for column in columns:
            gains = self.pool.gaps(column.metric)
            for (a, b), sign, gain, p in zip(self.pool.pairs, column.favoured, gains, column.pvalue, strict=True):
                better, worse = (a, b) if sign >= 0 else (b, a)
                names = self.pool.names[better], self.pool.names[worse]
                yield PairPvalue(column.metric, column.test, *names, float(gain), float(p))

    def gains(self, column: Decisions, bins: Sequence[float]) -> Iterator[GainBin]:
        """The share of significant pairs by gain. Bins without pairs are left out."""
        gains = self.pool.gaps(column.metric)
        for alpha in self.alphas:
            significant = column.pvalue <= alpha
            for low, high, inside in in_bins(gains, bins):
                yield taken(
                    GainBin,
                    column,
                    alpha=alpha,
                    low=low,
                    high=high,
                    pairs=int(inside.sum()),
                    significant=float(significant[inside].mean()),
                    confidence_interval=self._interval(significant & inside, inside),
                )

    def _interval(self, hits: NDArray[np.bool_], cases: NDArray[np.bool_]) -> ConfidenceInterval | None:
        """The interval of a share of pairs."""
        return share_of_pairs_interval(hits, cases, self.pool.pairs, len(self.pool.names))

    def thresholds(self, column: Decisions) -> Iterator[GainThreshold]:
        """The gain from which pairs differ significantly, at each level."""
        gains = self.pool.gaps(column.metric)
        for alpha in self.alphas:
            significant = column.pvalue <= alpha
            threshold, errors = separating_gain(gains, significant)
            yield taken(
                GainThreshold,
                column,
                alpha=alpha,
                pairs=len(gains),
                significant=float(significant.mean()),
                smallest_significant=float(gains[significant].min()) if significant.any() else None,
                largest_insignificant=float(gains[~significant].max()) if not significant.all() else None,
                threshold=threshold,
                errors=errors,
            )

    def domains(self, columns: dict[str, list[Decisions]]) -> Iterator[DomainBand]:
        """Winners on one part that also win on another part, by confidence."""
        for tested_on, checked_on in permutations(columns, 2):
            for column, other in zip(columns[tested_on], columns[checked_on], strict=True):
                wins = (column.favoured == other.favoured) & (column.favoured != 0)
                for alpha in self.alphas:
                    for low, high in zip(BANDS[1:], (2.0, *BANDS[1:]), strict=False):
                        confidence = 1 - column.pvalue
                        cell = (confidence >= low - SLACK) & (confidence < high - SLACK) & (column.favoured != 0)
                        n = int(cell.sum())
                        also = wins & (other.pvalue <= alpha)
                        yield taken(
                            DomainBand,
                            column,
                            tested_on=tested_on,
                            checked_on=checked_on,
                            alpha=alpha,
                            low=low,
                            high=min(high, 1.0),
                            pairs=n,
                            also_wins=float(wins[cell].mean()) if n else None,
                            also_significant=float(also[cell].mean()) if n else None,
                            confidence_interval=self._interval(wins & cell, cell) if n else None,
                        )


def separating_gain(gains: Scores, significant: NDArray[np.bool_]) -> tuple[float | None, int]:
    """The gain that separates significant pairs from others with the fewest errors, and their number.

    The candidates are the middles between neighbouring gains. Where several are equally good, the one in the middle of
    the lowest and the highest of them is taken. None if all pairs are significant or none is.

    >>> separating_gain(np.array([0.1, 0.3, 0.5, 0.9]), np.array([False, False, True, True]))
    (0.4, 0)
    """
    if significant.all() or not significant.any():
        return None, 0
    values = np.unique(gains)
    candidates = np.concatenate([[values[0]], (values[1:] + values[:-1]) / 2, [np.inf]])
    errors = np.array([np.count_nonzero((gains >= candidate) != significant) for candidate in candidates])
    best = candidates[errors == errors.min()]
    finite = best[np.isfinite(best)]
    return (float((finite[0] + finite[-1]) / 2) if finite.size else None), int(errors.min())
