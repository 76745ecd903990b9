"""``exchange``: the type-I error of each exchange unit of optimizer runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from attrs import evolve

from ..errors import InputError, counted, either
from ..execution import ChunkJob, ItemJob
from ..execution.tables import FLAG, PROBABILITY, Column, Columns, Table, stacked
from ..inference.exchange import ALL, EXCHANGES, ExchangeUnit
from ..inference.run_tests import run_outcome
from ..metrics.base import Scores
from ..options.declare import called_with
from ..options.studies import Exchange
from ..resampling.counting import Data
from ..results.studies import StudyResult
from ..results.studies.exchange import ExchangePlan, ExchangeRate
from ..seeds import derive_seed
from ..settings import Resampling, RunSettings, Units
from .material import Material
from .rates import Dependence, rate_interval
from .run_model import PAIR, RunModel, RunPool, SimulatedRuns, size_for_ratio, size_of_splits, variance_ratio
from .settings import StudySettings, settings_of, started

# The numbers of segments and runs of simulated scores.
MODEL_SEGMENTS = (200,)
MODEL_RUNS = (3, 5, 10)
# So many simulated test sets are tested with the same replicates, which is faster by far.
SHARED = 25
LABEL = "score"


def _resolved(options: Exchange, runs: tuple[int, ...]) -> Exchange:
    """The options with the units that ``all`` stands for; :class:`InputError` if one does not support the statistic."""
    units = [*(ALL if "all" in options.exchange else ()), *(name for name in options.exchange if name != "all")]
    for at, name in enumerate(units):
        supported = EXCHANGES[name].statistics
        if options.statistic not in supported:
            raise InputError(
                f"exchange {name!r} supports the statistic {either(map(repr, supported))}, not {options.statistic!r}"
            )
        if name in units[:at]:
            raise InputError(f"exchange: {name!r} is given twice: leave one out")
    return evolve(options, exchange=units, runs=options.runs or runs)


def _units(options: Exchange, n: int) -> list[ExchangeUnit]:
    """The exchange units that n runs are enough for."""
    return [EXCHANGES[name] for name in options.exchange if EXCHANGES[name].needs_runs <= n]


def _left_out(options: Exchange) -> list[str]:
    """What is not simulated because there are too few runs, in words."""
    return [
        f"{name} with {counted(n, 'run')}"
        for n in options.runs or ()
        for name in options.exchange
        if EXCHANGES[name].needs_runs > n
    ]


@called_with(Exchange)
def exchange(options: Exchange) -> StudyResult[ExchangePlan]:
    """How often each test of optimizer runs rejects if two configurations do not differ: its type-I error.

    Without data, the scores are simulated. Run i of configuration g has on segment s the score
    √ρ·u(g, s) + √(1 − ρ)·e(g, i, s) + τ/√S·r(g, i), with standard normal u, e and r: what the runs of a configuration
    have in common, noise, and the quality of the run. With data, ``systems`` are runs of one configuration. Two
    disjoint sets of them are compared on test sets drawn from the data.

    Returns
    -------
    StudyResult
        With the table ``exchange_sizes`` (:class:`~reshuffle.results.studies.ExchangeRate`).

    Raises
    ------
    InputError
        If a name is unknown, a number is out of range, or there are fewer than 2n runs.

    Notes
    -----
    The tests are those of :func:`reshuffle.compare_runs`. Twenty-five simulated test sets at a time share their
    replicates, and the intervals of the rates take this into account. The tests of Clark et al. 2011 (P11-2031) take
    the runs as given, so their type-I error grows with τ; those that take the runs of a segment as independent reject
    too often with ρ > 0. Cost without data: simulations × R × n·S × 3 additions for each exchange unit, n and S,
    whatever the number of τ and ρ; ``hierarchical`` costs as much for each of them.

    Examples
    --------
    >>> from reshuffle.study import exchange
    >>> study = exchange(
    ...     exchange=["run", "segment"], runs=5, run_sd=2, correlation=0, sizes=50, simulations=200, n_resamples=99
    ... )
    >>> [(rate.exchange, rate.rate, round(rate.expected, 3), rate.verdict) for rate in study.tables["exchange_sizes"]]
    [('run', 0.03, 0.048, 'at its level'), ('segment', 0.33, 0.374, 'liberal')]
    """
    without_metrics = isinstance(options.metrics, str) and options.metrics == "bleu"  # not of an array
    if options.references is None and options.systems is None and without_metrics:
        with settings_of("exchange", options) as settings:
            return _of_model(settings, _resolved(options, MODEL_RUNS))
    with started("exchange", options) as (data, units, settings):
        return _of_runs(data, units, settings, _resolved(options, (max(1, len(data.names) // 2),)))


def _of_model(settings: StudySettings, options: Exchange) -> StudyResult[ExchangePlan]:
    """The type-I errors on simulated scores: see :func:`exchange`."""
    sizes = settings.sizes or MODEL_SEGMENTS
    found: list[ExchangeRate] = []
    settings.resampling.announce(settings.steps(len(options.runs or ()) * len(sizes)))
    for n, size in product(options.runs or (), sizes):
        found += _rates_of_model(RunModel(n, size), settings, options)
    truth = (
        "The two configurations have the same expected score. The score of a run on a segment is what the runs of "
        "its configuration have in common there, noise, and the quality of the run, each with mean 0. With a "
        "correlation, the configurations differ on single segments, though not on average."
    )
    return _result(settings, options, found, {"model": truth}, label=LABEL, sizes=sizes, sampling=None)


def _of_runs(data: Data, units: Units, settings: StudySettings, options: Exchange) -> StudyResult[ExchangePlan]:
    """The type-I errors on runs of one real system: see :func:`exchange`."""
    k, most = len(data.names), max(options.runs or (0,))
    if k < 2 * most:
        raise InputError(
            f"two disjoint sets of {counted(most, 'run')} need at least {2 * most} runs of one system, but "
            f"there {'is' if k == 1 else 'are'} only {k}: give more runs, or ask for fewer with runs"
        )
    steps = settings.steps(len(options.runs or ()) * settings.n_sizes)
    material = Material.from_data(data, units, settings.resampling, steps)
    counts = material.population_of("runs", material.counts).counts
    sizes = settings.sizes_in(material.n_units, material.unit)
    found: list[ExchangeRate] = []
    for n, size in product(options.runs or (), sizes):
        pool = RunPool(material.metrics, counts, n, size, settings.sampling)
        found += _rates_of_pool(pool, data.labels, settings, options)
    few = " These runs are few: the rates say little about others of the same configuration." if k < 10 else ""
    truth = f"Both configurations were the same: two disjoint sets of its {k} runs, drawn anew for each test set.{few}"
    return _result(settings, options, found, {"replicate": truth}, material=material, run_sd=None, correlation=None)


def _result(
    settings: StudySettings, options: Exchange, found: Sequence[ExchangeRate], truths: dict[str, str], **others: Any
) -> StudyResult[ExchangePlan]:
    left_out = _left_out(options)
    if not found:
        raise InputError(f"nothing is left to simulate: {', '.join(left_out)} cannot be tested, so add runs")
    return settings.result(
        options, {"exchange_sizes": found}, truths, unsigned=("left_out",), left_out=left_out, **others
    )


def _rates_of_model(model: RunModel, settings: StudySettings, options: Exchange) -> Iterator[ExchangeRate]:
    """The rates of all units, correlations and standard deviations for one number of runs and segments."""
    cells = list(product(options.correlation, options.run_sd))
    coefficients = np.array([model.coefficients(*cell) for cell in cells])
    units, n = _units(options, model.n_runs), settings.simulations
    drawn = options.statistic, settings.n_resamples, settings.seed, n
    job = _Modelled(model, coefficients, tuple(unit.name for unit in units), *drawn)
    found = job.results(n, settings.execution)
    pvalues = dict(zip(job.units, stacked(found["pvalue"], -1), strict=True))
    exact = dict(zip(job.units, found["exact"][-1], strict=True))
    dependence = Dependence(clusters=np.arange(n) // SHARED)
    for at, (correlation, run_sd) in enumerate(cells):
        for unit, alpha in product(units, settings.alphas):
            rejected = pvalues[unit.name][at] <= alpha
            interval = rate_interval(rejected, Dependence() if unit.whole_runs and exact[unit.name] else dependence)
            if unit.whole_runs:
                expected: float | None = size_of_splits(model.n_runs, correlation, run_sd, alpha)
            else:
                ratio = variance_ratio(unit.name, model.n_runs, correlation, run_sd)
                expected = None if ratio is None else size_for_ratio(ratio, alpha, settings.n_resamples)
            yield ExchangeRate(
                unit.name, LABEL, options.statistic, model.n_runs, run_sd, correlation, model.segments, alpha,
                float(rejected.mean()), interval, expected, n,
            )  # fmt: skip


def _rates_of_pool(
    pool: RunPool, labels: Sequence[str], settings: StudySettings, options: Exchange
) -> Iterator[ExchangeRate]:
    """The rates of all units and metrics for one number of runs and units."""
    units, n = _units(options, pool.n_runs), settings.simulations
    job = _Pooled(pool, tuple(unit.name for unit in units), options.statistic, settings.n_resamples, settings.seed)
    found = job.results(n, settings.execution)
    pvalues = dict(zip(job.units, stacked(found["pvalue"], -1), strict=True))
    splits = [pool.unordered(pool.split(derive_seed(settings.seed, "simulation", i))) for i in range(n)]
    numbers = {split: number for number, split in enumerate(dict.fromkeys(splits))}
    clusters = np.array([numbers[split] for split in splits], dtype=np.intp)
    for (m, label), unit, alpha in product(enumerate(labels), units, settings.alphas):
        rejected = pvalues[unit.name][m] <= alpha
        yield ExchangeRate(
            unit.name, label, options.statistic, pool.n_runs, None, None, pool.size, alpha,
            float(rejected.mean()), rate_interval(rejected, Dependence(clusters=clusters)), None, n,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Modelled(ChunkJob):
    """The tests of simulated test sets of a model: a :class:`~reshuffle.execution.jobs.TableJob`.

    Each block of :data:`SHARED` simulations has the same replicates.
    """

    model: RunModel
    coefficients: Scores
    units: Sequence[str]
    statistic: str
    n_resamples: int
    seed: int
    simulations: int  # so that the last block of another number of simulations is not taken for one of these
    block: ClassVar[int] = SHARED
    chunk: ClassVar[int] = SHARED

    @property
    def columns(self) -> Columns:
        """The p-values, and whether those of each unit are exact."""
        n = len(self.units)
        return Columns({"pvalue": Column(PROBABILITY, (n, len(self.coefficients))), "exact": Column(FLAG, (n,))})

    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """The p-values of these simulations, which share their replicates."""
        components = np.stack([self.model.components(derive_seed(self.seed, "simulation", i)) for i in items])
        resampling = Resampling(self.n_resamples, derive_seed(self.seed, "simulation", items.start), threads, None)
        runs = SimulatedRuns(self.model, components, self.coefficients, self.statistic, resampling)
        for u, name in enumerate(self.units):
            pvalues, rows["exact"][:, u] = runs.pvalues(EXCHANGES[name])
            rows["pvalue"][:, u] = pvalues.T


@dataclass(frozen=True, eq=False)
class _Pooled(ItemJob):
    """The tests of runs that are drawn from a pool."""

    pool: RunPool
    units: Sequence[str]
    statistic: str
    n_resamples: int
    seed: int

    @property
    def columns(self) -> Columns:
        """The p-values."""
        return Columns({"pvalue": Column(PROBABILITY, (len(self.units), len(self.pool.metrics)))})

    def item(self, index: int, threads: int | None) -> tuple[Scores]:
        """The p-values of one simulation."""
        seed = derive_seed(self.seed, "simulation", index)
        data = self.pool.data(seed, Resampling(self.n_resamples, seed, threads, None))
        settings = RunSettings(statistic=self.statistic, adjust=None)
        return (np.array([run_outcome(data, [PAIR], EXCHANGES[name], settings)[1].pvalue for name in self.units]),)
