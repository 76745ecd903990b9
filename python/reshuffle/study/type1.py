"""``type1``: how often tests reject a null hypothesis that is true."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from .. import _core, signature, types
from ..data.columns import Texts
from ..errors import InputError
from ..execution import AnyExecutor
from ..execution.checkpoint import kept
from ..inference.margins import check_margins
from ..inference.plan import check_test
from ..progress import AnyProgress, reported
from ..resampling.counting import Data, Metrics, References, Systems
from ..results.studies import StudyResult
from ..settings import TESTS_WITH_MARGIN, DocumentIds, Units
from .experiments import Experiment
from .material import Material
from .null_data import NullData, NullOptions, Request, TrainedSystems
from .nulls import NULLS, check_nulls
from .populations import Selection
from .rates import Cell, pvalue_shares, rates
from .settings import ALPHAS, StudySettings, in_list


def type1(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    null: types.Null | str | Sequence[str] = "swap",
    tests: types.Test | str | Sequence[str] | None = None,
    sizes: int | Sequence[int] | None = None,
    alphas: float | Sequence[float] = ALPHAS,
    simulations: int = 1000,
    n_resamples: int = 999,
    sampling: types.Sampling | str = "replace",
    scheme: types.StudyScheme | str = "iid",
    stopping: types.StudyStopping | str | None = None,
    weight_sets: int | None = None,
    alternative: types.Alternative | str = "two-sided",
    baseline: str | None = None,
    all_pairs: bool = False,
    margins: Mapping[str, float] | None = None,
    equalize: types.Equalize | str = "mix",
    document_size: int | None = None,
    icc: float | None = None,
    noise: float = 0.05,
    runs: int = 1,
    variants: TrainedSystems | None = None,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """How often significance tests reject a true null hypothesis: their type-I error on real outputs.

    Each simulation draws a test set from a population in which the null hypothesis is known to be true, and tests the
    difference of the two systems. A test has the right size if it rejects a share α of the simulations at level α.

    Parameters
    ----------
    references, systems, metrics, reference
        As for :func:`reshuffle.compare`, but metrics must have counts: no :class:`~reshuffle.CorpusFunction`, and no
        missing scores.
    null : str or sequence of str
        Names in :data:`reshuffle.study.nulls.NULLS`.
    tests : str or sequence of str, optional
        Names in :data:`reshuffle.inference.tests.TESTS`. By default ``ar``, ``bootstrap-both``, ``bootstrap`` and, if
        the alternative is two-sided, ``bootstrap-shift``, which has no other.
    sizes : int or sequence of int, optional
        The numbers of units (segments, or documents) of simulated test sets. By default as many as there are.
    alphas : float or sequence of float
        The levels.
    simulations : int
        The number of simulated test sets for each null and size. They are the same for all tests, and also for all
        metrics unless the null depends on the metric. Several pairs of systems take turns.
    n_resamples : int
        R, the number of shuffles or draws of each test. The size of ``ar`` is exact if (R + 1)·α is a whole number, so
        it need not be large.
    sampling : {'replace', 'subset', 'fixed'}
        Draw the units of a test set with replacement, without it, or take all of them.
    scheme : {'iid', 'subgroup', 'orbit'}
        How ``ar`` makes its shuffles. ``orbit`` shares them between all simulations and needs ``sampling='fixed'``.
    stopping : {'besag-clifford'}, optional
        End the shuffles of each ``ar`` and ``ar-studentized`` as soon as it cannot reject at any of ``alphas``: at the
        h-th exceedance, where h is the smallest number with h/R > α for the largest α, but at least 20 (Besag &
        Clifford 1991, doi:10.1093/biomet/78.2.301). Rates are the same as without it, bit for bit. A larger p is h/n,
        so the table ``pvalues`` differs there. Needs the scheme ``iid``. Without a difference and with R = 9,999,
        ``ar`` is then about twice as fast for α up to .1 and three times for α up to .05; with R = 999 little is saved.
    weight_sets : int, optional
        The number of independent sets of bootstrap draws, which simulations then share. By default each simulation has
        draws of its own.
    alternative : {'two-sided', 'better', 'worse', 'greater', 'less'}
        As for :func:`reshuffle.compare`.
    baseline, all_pairs
        Which pairs of systems take turns, as for :func:`reshuffle.compare`.
    margins : mapping of str to float, optional
        Margins of tests of equivalence and non-inferiority and of the null ``margin``, in points of each metric.
    equalize : {'mix', 'drop-words'}
        For ``equal-score`` and ``margin``, what makes the better system worse: segments of a third system, or random
        words that are dropped.
    document_size : int, optional
    icc : float, optional
        For the nulls about documents without documents: simulate them with this many segments, and this intraclass
        correlation of differences under the first metric. If only one of the options is passed, the other is 15 or .1.
        Sizes are then in segments, and rounded down to whole documents.
    noise : float
        For ``noise``: the share of words that are edited.
    runs : int
        For ``replicate``: how many runs are on each side. All systems are runs of one configuration.
    variants : reshuffle.tune.TrainedVariants, optional
        For ``variants``: how the systems were made, for the report. Without ``baseline``, all pairs take turns.
    documents : sequence of S str or int, optional
        The document id of each segment. Documents are then the units, unless the null says otherwise.
    seed : int
        0 to 2⁶⁴ − 1. Simulation i has the seed ``derive_seed(seed, "simulation", i)``, whatever else is in the study.
    executor : concurrent.futures.Executor or object with ``get_executor()``, optional
        Has the simulations computed by the workers of a pool of processes, a Dask client or the like, with one thread
        each. The result is the same.
    threads, progress
        As for :func:`reshuffle.compare`.
    checkpoint : path, optional
        A file that keeps finished simulations. After an interruption, the same call with the same file goes on from
        them, also with another executor, another number of threads or more simulations; the result is that of a study
        without interruption. A damaged end of the file is dropped, with an :class:`~reshuffle.InputWarning`.

    Returns
    -------
    StudyResult
        With the tables ``rates`` (:class:`~reshuffle.results.studies.Rate`, whose ``verdict`` compares the interval
        with the level) and ``pvalues`` (:class:`~reshuffle.results.studies.PvalueShare`, the distribution of p).

    Raises
    ------
    InputError
        If a name is unknown, a number is out of range, a size is larger than the pool, or the data cannot serve a null;
        if the checkpoint has simulations of another study, or another process writes it.

    Notes
    -----
    Intervals of rates are Clopper and Pearson's, or wider if simulations share shuffles or draws. Riezler & Maxwell
    2005 (W05-0908) propose both tests and recommend ``ar``; section 4 is about type-I errors. Cost: simulations × tests
    × R scores for each metric, null and size. Memory: 8·k·S·K bytes for the counts and 8·simulations for each p.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import type1
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", dict(zip("ab", rng.random((2, 200)).round(2))))
    >>> study = type1(metrics=quality, tests=["ar", "bootstrap-shift"], alphas=0.1, simulations=200, n_resamples=99)
    >>> [(rate.test, rate.rate, rate.verdict) for rate in study.rates]
    [('ar', 0.13, 'at its level'), ('bootstrap-shift', 0.305, 'liberal')]
    """
    settings = StudySettings(
        tests=tests,  # type: ignore[arg-type]
        sizes=None if sizes is None else in_list(sizes),
        alphas=in_list(alphas),
        simulations=simulations,
        n_resamples=n_resamples,
        sampling=sampling,
        scheme=scheme,
        stopping=stopping,
        weight_sets=weight_sets,
        alternative=alternative,
        baseline=baseline,
        all_pairs=all_pairs,
        margins=margins or {},
        seed=seed,
        threads=threads,
        executor=executor,
    )
    texts = Texts.from_arguments(references, systems, reference, documents=documents)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents)
    with reported(progress) as watched, kept(checkpoint, "type1") as finished:
        options = NullOptions(equalize, document_size, icc, noise, runs, settings.margins, variants)
        return type1_of(data, units, settings.watched_by(watched, finished), in_list(null), options)


def type1_of(
    data: Data,
    units: Units,
    settings: StudySettings,
    nulls: Sequence[str],
    options: NullOptions | None = None,
) -> StudyResult:
    """The type-I errors on counted texts: see :func:`type1`."""
    settings = settings.checked()
    check_nulls(nulls)
    options = NullOptions(margins=settings.margins) if options is None else options
    options.check()
    options.check_used(nulls, units.documents is not None)
    for test in settings.tests:
        check_test(test, settings.alternative, *data.metrics)
    _check_margins(data, settings, nulls)
    n_parts = sum(len(data.metrics) if NULLS[name].per_metric else 1 for name in nulls)
    n_cells = n_parts * (1 if settings.sizes is None else len(settings.sizes))
    material = Material.from_data(data, units, settings.resampling, settings.steps(n_cells))
    options = options.resolved(material.documents is not None)
    request = Request(material, options, settings.resampling, settings.baseline, settings.all_pairs)
    built = {name: NULLS[name].build(request) for name in nulls}
    cells = list(chain.from_iterable(cells_of(material, name, found, settings) for name, found in built.items()))
    plan = {"null": list(nulls), "metrics": list(data.labels), **settings.plan(material), **options.plan(nulls)}
    used = material.used_metrics
    return StudyResult(
        study="type1",
        plan=plan,
        metrics=used,
        tables={
            "rates": tuple(rate for cell in cells for rate in rates(cell, settings.alphas)),
            "pvalues": tuple(share for cell in cells for share in pvalue_shares(cell)),
        },
        truths={name: found.truth_of(settings) for name, found in built.items()},
        signature=signature.for_study("type1", settings.signed(plan), settings.seed, [m.signature for m in used]),
        version=_core.VERSION,
    )


def _check_margins(data: Data, settings: StudySettings, nulls: Sequence[str]) -> None:
    """:class:`InputError` if a test or a null lacks margins, or nothing needs those that there are."""
    users = [f"test {test!r}" for test in settings.tests if test in TESTS_WITH_MARGIN]
    users += ["null 'margin'"] * ("margin" in nulls)
    if users:
        check_margins(settings.margins, data.metrics, users[0])
    elif settings.margins:
        raise InputError(
            "margins are for tests of equivalence and non-inferiority and for the null 'margin', but none of them is "
            "in this study: leave them out"
        )


def cells_of(material: Material, name: str, null: NullData, settings: StudySettings) -> Iterator[Cell]:
    """Simulate the test sets of a null, for each size, and test them."""
    labels = material.data.labels
    for size in null.sizes(settings):
        for part in null.parts:
            testing = settings.for_metrics(material, part.metrics).testing()
            n = null.simulations(settings, size, part)
            selection = Selection(settings.sampling, size // null.segments_per_draw, null.swapped)
            tested = testing.run(Experiment(part.populations, selection, settings.seed), n)
            for test, of_test in zip(settings.tests, tested.pvalue, strict=True):
                dependence = settings.dependence(test, n, len(part.populations) if null.sampled else None)
                for m, pvalues in zip(part.metrics, of_test, strict=True):
                    yield Cell(test, labels[m], name, size, pvalues, dependence)
