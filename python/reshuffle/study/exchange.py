"""``exchange``: the type-I error of each exchange unit of optimizer runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _core, signature, types
from .._core import Progress
from ..data.columns import Texts
from ..errors import InputError, either
from ..execution import AnyExecutor, ItemJob
from ..execution.checkpoint import kept
from ..execution.tables import FLAG, PROBABILITY, Column, Columns, Table, run_table, stacked
from ..inference.exchange import EXCHANGES, ExchangeUnit
from ..inference.run_tests import RunTesting, pair_outcomes
from ..metrics.base import Scores
from ..progress import AnyProgress, reported
from ..resampling.counting import Data, Metrics, References, Systems
from ..resampling.runs import STATISTICS
from ..results import UsedMetric
from ..results.studies import StudyResult
from ..results.studies.exchange import ExchangeRate
from ..seeds import derive_seed
from ..settings import DocumentIds, Resampling, Units
from ..validate import check_integer, check_name, check_number
from .material import Material
from .rates import Dependence, rate_interval
from .run_model import RunModel, RunPool, size_for_ratio, size_of_splits, variance_ratio
from .run_pvalues import PAIR, model_pvalues
from .settings import StudySettings, check_distinct, in_list
from .testing import STAGE

EXCHANGE_ALPHAS = (0.05,)
# The number of segments of simulated scores.
MODEL_SEGMENTS = (200,)
# So many simulated test sets are tested with the same replicates, which is faster by far.
SHARED = 25
LABEL = "score"
# The exchange units that ``all`` stands for, as in a comparison of runs.
ALL = tuple(name for name in EXCHANGES if name != "multeval")


@dataclass(frozen=True)
class ExchangeSettings:
    """The settings of this study beyond those that all studies share, named like the public keyword arguments."""

    exchange: Sequence[str] = ("all",)
    runs: Sequence[int] = (3, 5, 10)
    run_sd: Sequence[float] = (0.0, 0.5, 1.0)
    correlation: Sequence[float] = (0.0, 0.5)
    statistic: str = "pooled"

    def checked(self) -> ExchangeSettings:
        """The settings with names and numbers as tuples. :class:`InputError` for one that cannot be used."""
        names = in_list(self.exchange)
        for name in names:
            check_name("exchange", name, ["all", *EXCHANGES])
        check_name("statistic", self.statistic, list(STATISTICS))
        units = [*(ALL if "all" in names else ()), *(name for name in names if name != "all")]
        check_distinct("exchange", units)
        for name in units:
            supported = EXCHANGES[name].statistics
            if self.statistic not in supported:
                raise InputError(
                    f"exchange {name!r} supports the statistic {either(map(repr, supported))}, not {self.statistic!r}"
                )
        runs = tuple(check_integer("runs", n, 1) for n in in_list(self.runs))
        run_sd = tuple(check_number("run_sd", value, 0) for value in in_list(self.run_sd))
        correlation = tuple(check_number("correlation", value, 0, 1) for value in in_list(self.correlation))
        for what, values in (("runs", runs), ("run_sd", run_sd), ("correlation", correlation)):
            check_distinct(what, values)
        return replace(self, exchange=tuple(units), runs=runs, run_sd=run_sd, correlation=correlation)

    def units(self, n: int) -> list[ExchangeUnit]:
        """The exchange units that n runs are enough for."""
        return [EXCHANGES[name] for name in self.exchange if EXCHANGES[name].needs_runs <= n]

    def left_out(self) -> list[str]:
        """What is not simulated because there are too few runs, in words."""
        return [
            f"{name} with {n} run{'s' * (n != 1)}"
            for n in self.runs
            for name in self.exchange
            if EXCHANGES[name].needs_runs > n
        ]


def exchange(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics | None = None,
    *,
    exchange: types.Exchange | str | Sequence[str] = "all",
    runs: int | Sequence[int] | None = None,
    run_sd: float | Sequence[float] = (0.0, 0.5, 1.0),
    correlation: float | Sequence[float] = (0.0, 0.5),
    statistic: types.RunStatistic | str = "pooled",
    sizes: int | Sequence[int] | None = None,
    alphas: float | Sequence[float] = EXCHANGE_ALPHAS,
    simulations: int = 1000,
    n_resamples: int = 999,
    sampling: types.Sampling | str = "replace",
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """How often each test of optimizer runs rejects if two configurations do not differ: its type-I error.

    Without data, the scores are simulated. Run i of configuration g has on segment s the score
    √ρ·u(g, s) + √(1 − ρ)·e(g, i, s) + τ/√S·r(g, i), with standard normal u, e and r: what the runs of a configuration
    have in common, noise, and the quality of the run. With data, ``systems`` are runs of one configuration. Two
    disjoint sets of them are compared on test sets drawn from the data.

    Parameters
    ----------
    references, systems, metrics, reference
        As for :func:`reshuffle.study.type1`, but all systems are runs of one configuration. Without any, scores are
        simulated. The default metric is BLEU.
    exchange : str or sequence of str
        Names in :data:`reshuffle.inference.exchange.EXCHANGES`, or ``all`` for every one but ``multeval``.
    runs : int or sequence of int, optional
        n, the numbers of runs of each configuration. By default 3, 5 and 10; with data, half of the runs.
    run_sd : float or sequence of float
        τ, the standard deviation of the runs' qualities, divided by the sampling standard deviation of the score of a
        run. Only without data.
    correlation : float or sequence of float
        ρ, the correlation between the segment differences of two pairs of runs. Only without data.
    statistic : {'pooled', 'mean'}
        As for :func:`reshuffle.compare_runs`. They are the same for simulated scores.
    sizes : int or sequence of int, optional
        S, the numbers of segments (or documents) of simulated test sets. By default 200; with data, all.
    alphas : float or sequence of float
        The levels.
    simulations : int
        The number of simulated test sets for each number of runs and size. All exchange units get the same ones.
    n_resamples : int
        R, the number of replicates of each test.
    sampling : {'replace', 'subset', 'fixed'}
        How the segments of test sets are drawn from the data.
    documents
        As for :func:`reshuffle.study.type1`.
    seed : int
        0 to 2⁶⁴ − 1. Simulation i has the seed ``derive_seed(seed, "simulation", i)``.
    threads, executor, progress, checkpoint
        As for :func:`reshuffle.study.type1`.

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
    settings = StudySettings(
        sizes=sizes,  # type: ignore[arg-type]
        alphas=alphas,  # type: ignore[arg-type]
        simulations=simulations,
        n_resamples=n_resamples,
        sampling=sampling,
        seed=seed,
        threads=threads,
        executor=executor,
    )
    own = ExchangeSettings(exchange, ExchangeSettings.runs, run_sd, correlation, statistic)  # type: ignore[arg-type]
    with reported(progress) as watched, kept(checkpoint, "exchange") as finished:
        settings = settings.watched_by(watched, finished)
        if references is None and systems is None and metrics is None:
            return model_of(settings, own if runs is None else replace(own, runs=in_list(runs)))
        texts = Texts.from_arguments(references, systems, reference, documents=documents)
        data = Data.from_arguments(texts.references, texts.systems, "bleu" if metrics is None else metrics)
        chosen = (max(1, len(data.names) // 2),) if runs is None else in_list(runs)
        return exchange_of(data, Units(texts.documents), settings, replace(own, runs=chosen))


def model_of(settings: StudySettings, own: ExchangeSettings) -> StudyResult:
    """The type-I errors on simulated scores: see :func:`exchange`."""
    settings, own = settings.checked(), own.checked()
    sizes = settings.sizes or MODEL_SEGMENTS
    found: list[ExchangeRate] = []
    if settings.progress is not None:
        settings.progress.plan(settings.steps(len(own.runs) * len(sizes)))
    for n in own.runs:
        for size in sizes:
            found += _rates_of_model(RunModel(n, size), settings, own)
    plan = {
        "exchange": list(own.exchange),
        "statistic": own.statistic,
        "runs": list(own.runs),
        "run_sd": list(own.run_sd),
        "correlation": list(own.correlation),
        "metrics": [LABEL],
        "sizes": list(sizes),
        **_shared(settings),
    }
    truth = (
        "The two configurations have the same expected score. The score of a run on a segment is what the runs of "
        "its configuration have in common there, noise, and the quality of the run, each with mean 0. With a "
        "correlation, the configurations differ on single segments, though not on average."
    )
    return _result(settings, own, plan, found, {"model": truth}, (UsedMetric(LABEL, LABEL, True),))


def exchange_of(data: Data, units: Units, settings: StudySettings, own: ExchangeSettings) -> StudyResult:
    """The type-I errors on runs of one real system: see :func:`exchange`."""
    settings, own = settings.checked(), own.checked()
    k, most = len(data.names), max(own.runs)
    if k < 2 * most:
        raise InputError(
            f"two disjoint sets of {most} run{'s' * (most != 1)} need at least {2 * most} runs of one system, but "
            f"there {'is' if k == 1 else 'are'} only {k}: give more runs, or ask for fewer with runs"
        )
    n_sizes = 1 if settings.sizes is None else len(settings.sizes)
    material = Material.from_data(data, units, settings.resampling, settings.steps(len(own.runs) * n_sizes))
    counts = material.population_of("runs", material.counts).counts
    sizes = settings.sizes_in(material.n_units, material.unit)
    found: list[ExchangeRate] = []
    for n in own.runs:
        for size in sizes:
            pool = RunPool(material.metrics, counts, n, size, settings.sampling)
            found += _rates_of_pool(pool, data.labels, settings, own)
    plan = {
        "exchange": list(own.exchange),
        "statistic": own.statistic,
        "runs": list(own.runs),
        "systems": list(data.names),
        "units": material.n_units,
        "unit": material.unit,
        "metrics": list(data.labels),
        "sizes": None if settings.sizes is None else list(settings.sizes),
        "sampling": settings.sampling,
        **_shared(settings),
    }
    few = " These runs are few: the rates say little about others of the same configuration." if k < 10 else ""
    truth = f"Both configurations were the same: two disjoint sets of its {k} runs, drawn anew for each test set.{few}"
    return _result(settings, own, plan, found, {"replicate": truth}, material.used_metrics)


def _shared(settings: StudySettings) -> dict[str, Any]:
    """The part of the plan that both variants have."""
    return {
        "alphas": list(settings.alphas),
        "simulations": settings.simulations,
        "n_resamples": settings.n_resamples,
        "alternative": "two-sided",
        "seed": int(settings.seed),
    }


def _result(
    settings: StudySettings,
    own: ExchangeSettings,
    plan: dict[str, Any],
    found: Sequence[ExchangeRate],
    truths: dict[str, str],
    metrics: tuple[UsedMetric, ...],
) -> StudyResult:
    if not found:
        raise InputError(f"nothing is left to simulate: {', '.join(own.left_out())} cannot be tested, so add runs")
    signed = [metric.signature for metric in metrics if metric.signature != LABEL]
    return StudyResult(
        study="exchange",
        plan={**plan, "left_out": own.left_out()},
        metrics=metrics,
        tables={"exchange_sizes": tuple(found)},
        truths=truths,
        signature=signature.for_study("exchange", settings.signed(plan), settings.seed, signed),
        version=_core.VERSION,
    )


def _rates_of_model(model: RunModel, settings: StudySettings, own: ExchangeSettings) -> Iterator[ExchangeRate]:
    """The rates of all units, correlations and standard deviations for one number of runs and segments."""
    cells = [(correlation, run_sd) for correlation in own.correlation for run_sd in own.run_sd]
    coefficients = np.array([model.coefficients(*cell) for cell in cells])
    units, n = own.units(model.n_runs), settings.simulations
    job = _Modelled(
        model, coefficients, tuple(unit.name for unit in units), own.statistic, settings.n_resamples, settings.seed, n
    )
    found = run_table(job, n, settings.execution, stage=STAGE)
    pvalues = dict(zip(job.units, stacked(found["pvalue"], -1), strict=True))
    exact = dict(zip(job.units, found["exact"][-1], strict=True))
    dependence = Dependence(clusters=np.arange(n) // SHARED)
    for at, (correlation, run_sd) in enumerate(cells):
        for unit in units:
            for alpha in settings.alphas:
                rejected = pvalues[unit.name][at] <= alpha
                whole = unit.name == "run"
                interval = rate_interval(rejected, Dependence() if whole and exact[unit.name] else dependence)
                if whole:
                    expected: float | None = size_of_splits(model.n_runs, correlation, run_sd, alpha)
                else:
                    ratio = variance_ratio(unit.name, model.n_runs, correlation, run_sd)
                    expected = None if ratio is None else size_for_ratio(ratio, alpha, settings.n_resamples)
                yield ExchangeRate(
                    unit.name, LABEL, own.statistic, model.n_runs, run_sd, correlation, model.segments, alpha,
                    float(rejected.mean()), interval, expected, n,
                )  # fmt: skip


def _rates_of_pool(
    pool: RunPool, labels: Sequence[str], settings: StudySettings, own: ExchangeSettings
) -> Iterator[ExchangeRate]:
    """The rates of all units and metrics for one number of runs and units."""
    units, n = own.units(pool.n_runs), settings.simulations
    job = _Pooled(pool, tuple(unit.name for unit in units), own.statistic, settings.n_resamples, settings.seed)
    found = job.results(n, settings.execution)
    pvalues = dict(zip(job.units, stacked(found["pvalue"], -1), strict=True))
    splits = [pool.unordered(pool.split(derive_seed(settings.seed, "simulation", i))) for i in range(n)]
    numbers = {split: number for number, split in enumerate(dict.fromkeys(splits))}
    clusters = np.array([numbers[split] for split in splits], dtype=np.intp)
    for m, label in enumerate(labels):
        for unit in units:
            for alpha in settings.alphas:
                rejected = pvalues[unit.name][m] <= alpha
                yield ExchangeRate(
                    unit.name, label, own.statistic, pool.n_runs, None, None, pool.size, alpha,
                    float(rejected.mean()), rate_interval(rejected, Dependence(clusters=clusters)), None, n,
                )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Modelled:
    """The tests of simulated test sets of a model: a :class:`~reshuffle.execution.tables.TableJob`.

    Each block of :data:`SHARED` simulations has the same replicates.
    """

    model: RunModel
    coefficients: Scores
    units: Sequence[str]
    statistic: str
    n_resamples: int
    seed: int
    simulations: int  # so that the last block of another number of simulations is not taken for one of these
    items: ClassVar[str] = "simulations"
    block: ClassVar[int] = SHARED

    @property
    def columns(self) -> Columns:
        """The p-values, and whether those of each unit are exact."""
        n = len(self.units)
        return Columns({"pvalue": Column(PROBABILITY, (n, len(self.coefficients))), "exact": Column(FLAG, (n,))})

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Table:
        """See :class:`_Modelled`; ``first`` begins a block."""
        if progress is not None:
            progress.begin(STAGE, last - first)
        table = self.columns.empty(last - first)
        for start in range(first, last, SHARED):
            block = range(start, min(last, start + SHARED))
            components = np.stack([self.model.components(derive_seed(self.seed, "simulation", i)) for i in block])
            resampling = Resampling(self.n_resamples, derive_seed(self.seed, "simulation", start), threads, None)
            rows = table[start - first : block.stop - first]
            for u, name in enumerate(self.units):
                pvalues, rows["exact"][:, u] = model_pvalues(
                    EXCHANGES[name], self.model, components, self.coefficients, self.statistic, resampling
                )
                rows["pvalue"][:, u] = pvalues.T
            if progress is not None:
                progress.update(block.stop - first)
        return table


@dataclass(frozen=True, eq=False)
class _Pooled(ItemJob):
    """The tests of runs that are drawn from a pool."""

    pool: RunPool
    units: Sequence[str]
    statistic: str
    n_resamples: int
    seed: int
    items: ClassVar[str] = "simulations"
    stage: ClassVar[str] = STAGE

    @property
    def columns(self) -> Columns:
        """The p-values."""
        return Columns({"pvalue": Column(PROBABILITY, (len(self.units), len(self.pool.metrics)))})

    def item(self, index: int, threads: int | None) -> tuple[Scores]:
        """The p-values of one simulation."""
        seed = derive_seed(self.seed, "simulation", index)
        data = self.pool.data(seed, Resampling(self.n_resamples, seed, threads, None))
        testing = RunTesting(self.statistic, adjust=None)
        outcomes = [pair_outcomes(data, [PAIR], EXCHANGES[name], testing) for name in self.units]
        return (np.array([[pair.pvalue for (pair,) in of_unit] for of_unit in outcomes]),)
