"""The public tests of two systems from arrays: ``approximate_randomization`` and ``bootstrap_test``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from numpy.typing import ArrayLike

from .. import types
from ..data.arrays import as_array
from ..errors import InputError
from ..metrics.base import Metric, MetricLike, Scores
from ..progress import AnyProgress, reported
from ..resampling import CountSample, Problems, Replicates, is_batch
from ..resampling.schemes import null_distribution
from ..resampling.stopping import AnyRule
from ..resampling.supplied import Blocks
from ..results import SignificanceResult
from ..settings import ComparisonSettings, DocumentIds, Resampling, StratumIds, Units
from ..validate import check_name
from .batches import ONE_PAIR, run_batch
from .plan import Plan
from .replay import Replay, resampling_settings
from .running import records, run_tests
from .steps import array_steps
from .studentized import as_studentized

SHUFFLE_TESTS = ("ar", "ar-studentized")
BOOTSTRAP_TESTS = ("bootstrap", "bootstrap-both", "bootstrap-percentile", "bootstrap-shift", "paired-bootstrap")

# The values of a null distribution, and their probabilities unless all values are equally likely.
NullDistribution: TypeAlias = tuple[Scores, Scores | None]


def _test(
    plan: Plan,
    systems: tuple[MetricLike | None, ArrayLike, ArrayLike],
    units: Units,
    resampling: Resampling,
    replay: Replay | None,
    null: Callable[[Replicates, SignificanceResult], NullDistribution] | None,
) -> SignificanceResult:
    """Test two systems, or two systems in each problem of a batch.

    ``replay`` holds user-supplied replicates, if any. ``null`` computes the null distribution for the result; None to
    leave it out.
    """
    metric, a, b = systems[0], as_array(systems[1], "a"), as_array(systems[2], "b")
    if plan.alternative in ("better", "worse") and not isinstance(metric, str | Metric):
        what = "segment scores do" if metric is None else "a function of counts does"
        raise InputError(
            f"alternative {plan.alternative!r}: {what} not say whether higher is better: use 'greater' or 'less'"
        )
    if is_batch(a, metric):
        if null is not None:
            raise InputError(
                "keep_null_distribution does not support a batch: leave it out, or test the problems whose null "
                "distributions you need one at a time"
            )
        return run_batch(plan, Problems.from_arrays(metric, a, b, units, resampling.seed), resampling, replay)
    if resampling.progress is not None:
        makes_again = null is not None and plan.test.replicates == "shuffles" and replay is None
        resampling.progress.plan(array_steps(plan.test.replicates, 2 if makes_again else 1))
    sample = CountSample.from_arrays(metric, a, b, units)
    replicates = (
        Replicates.from_settings([sample], resampling) if replay is None else replay.replicates([sample], resampling)
    )
    (result,) = records(plan, [replicates], ONE_PAIR, run_tests(plan, [replicates], ONE_PAIR))
    if null is None:
        return result
    values, probabilities = null(replicates, result)
    return replace(result, null_distribution=values, null_probabilities=probabilities)


def approximate_randomization(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    test: types.ShuffleTest | str = "ar",
    scheme: types.Scheme | str = "auto",
    stopping: types.Stopping | str | AnyRule | None = None,
    n_resamples: int | None = None,
    alternative: types.Alternative | str = "two-sided",
    seed: int | ArrayLike | None = None,
    masks: Blocks | None = None,
    ties: types.Ties | str = ">=",
    keep_null_distribution: bool = False,
    threads: int | None = None,
    progress: AnyProgress = None,
) -> SignificanceResult:
    r"""Approximate randomization test of two systems.

    Null hypothesis: the joint distribution of the two outputs of a segment does not change when they are swapped,
    independently for each segment. Statistic: t = score(a) − score(b) on summed counts. Each shuffle swaps every
    segment with probability ½, and p = (#{|t_r| ≥ |t|} + 1)/(R + 1). Under the null hypothesis P(p ≤ α) ≤ α for every α
    and every R. Riezler & Maxwell 2005 (W05-0908), Fig. 1; Noreen 1989.

    The null distribution can be obtained in several ways, with the same hypothesis, statistic and guarantee:

    ======== ============================================= ========================================================
    scheme   shuffles                                      p
    ======== ============================================= ========================================================
    iid      R, each segment swapped with probability ½    (c + 1)/(R + 1), c = #{\|t_r\| ≥ \|t\|}
    subgroup 2^m ≥ R that form a group                     c/2^m: Hemerik & Goeman 2018, 10.1007/s11749-017-0571-1
    exact    all 2^d patterns of swaps of the d segments   c/2^d, without Monte Carlo error
             in which the systems differ
    auto     ``exact`` if 2^(d−1) ≤ R, or by convolution   that of the scheme used, which the result names
             if that costs no more than ``iid``, and there
             is no stopping rule; otherwise ``iid``
    ======== ============================================= ========================================================

    Do not use it for segments that depend on one another, such as sentences of a document, without ``documents``. With
    ``documents``, whole documents are swapped, and the null hypothesis is about documents. Do not use it for systems
    with several training or tuning runs each: there the exchangeable unit is the run.

    Parameters
    ----------
    a, b : (S, K) array_like of int, or (S,) array_like of float
        The counts of each segment, as :meth:`reshuffle.NativeMetric.suff_stats` returns them, or one score for each
        segment, from any metric or human rater. Arrays of shape (batch, S, K), or (batch, S) of floats, are a batch of
        problems, which are tested in one call with the same results as in separate calls.
    metric : str, Metric or callable, optional
        Scores summed counts. A callable maps an integer array of shape (…, K) to scores of shape (…). Leave it out for
        segment scores: their means are compared in exact fixed-point arithmetic, with a resolution that a and b share
        (:class:`~reshuffle.SegmentScores`).
    documents : sequence of S str or int, optional
        The document id of each segment. Segments of a document need not be adjacent. Counts are summed over each
        document before resampling.
    strata : sequence of S str or int, optional
        The stratum id of each segment, as in :func:`bootstrap_test`. Only with ``ar-studentized``: standard errors
        depend on strata, but shuffles do not.
    test : {'ar', 'ar-studentized'}
        ``ar-studentized`` divides each difference, observed or shuffled, by its own standard error by the delta method.
        The test remains exact under the null hypothesis above. In large samples it is also valid for systems that have
        equal scores without being exchangeable, for example two outputs with different lengths (Janssen 1997,
        doi:10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi:10.1214/13-AOS1090), but not near a kink of the
        metric, as where outputs are about as long as their references. The metric needs derivatives; those of a
        callable are finite differences.
    scheme : {'auto', 'iid', 'subgroup', 'exact'}
        See above.
    stopping : {'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional
        Sequential Monte Carlo: use ``iid`` shuffles one after another, at most R, until the rule stops the test.
        :class:`~reshuffle.BesagClifford` stops after 20 exceedances. :class:`~reshuffle.Gandy` stops once it is decided
        whether p ≤ .05, with error probability .001. The result has the number of shuffles used, which depends only on
        the data and the seed.
    n_resamples : int, optional
        R, the number of shuffles, 10,000 by default. The smallest possible p is 1/(R + 1). A subgroup has 2^m shuffles,
        the next power of two ≥ R, and its smallest p is 1/2^m.
    alternative : {'two-sided', 'better', 'worse', 'greater', 'less'}
        ``greater``: the alternative hypothesis is that a scores higher than b. ``better``: that a is better than b,
        which depends on the metric; it needs the name of a metric or a :class:`~reshuffle.Metric`.
    seed : int, or (batch,) array_like of int, optional
        The same seed gives the same result. From 0 to 2⁶⁴ − 1; None is 12345. The result is also the same on another
        machine, and with another number of threads. For a batch, one seed for all problems or one for each.
    masks : (R, S) array_like of bool, or iterable of such blocks, optional
        The shuffles of another program, instead of ``n_resamples`` and ``seed``: shuffle r swaps the segments for which
        ``masks[r]`` is true (or 1). If an iterator yields blocks of rows, they are never all in memory.
        p = (c + 1)/(R + 1). All problems of a batch share the shuffles.
    ties : {'>=', '>'}
        ``>`` does not count shuffles in which \|t_r\| equals \|t\|. Then p is too small if there are ties, and
        1/(R + 1) for identical systems. Only with ``masks``, to reproduce the p-values of programs that count in this
        way, such as sacreBLEU.
    keep_null_distribution : bool
        Return the statistic of every shuffle used (8 bytes each). For a convolution, return every value of the
        statistic and its probability. Not supported for a batch.
    threads : int, optional
        One per core by default.
    progress : bool or Progress, optional
        True shows a progress bar in a terminal or a notebook, if the call takes long. A :class:`reshuffle.Progress`
        lets another thread read how far the test has come.

    Returns
    -------
    SignificanceResult
        For a batch, with arrays of shape (batch,).

    Raises
    ------
    InputError
        If shapes differ, counts are not whole numbers, there are fewer than 2 segments or documents, an argument is
        out of range, ``exact`` would need more than 2³⁰ patterns, or ``masks`` are combined with ``n_resamples``,
        ``seed``, ``scheme``, ``stopping``, ``ar-studentized``, documents or strata.

    Notes
    -----
    Cost: about S·K/6 additions of bytes, 64 per instruction, and two scores for each shuffle. A subgroup takes K·m/16
    additions and two scores for each shuffle, whatever S. Memory: S·K numbers, whatever R. With D documents, replace S
    by D. ``ar-studentized`` takes about three times as long.

    Convolution is for systems that differ in only one column of counts, such as the number of edits (TER, WER) or a
    segment score. Then t depends on one sum ±d_1 ± d_2 …, whose distribution takes at most d·Σ\|d_s\|/g additions,
    where g is the greatest common divisor of the d_s. The relative error of p is at most d·2⁻⁵². ``exact`` allows
    1.5·10¹¹ additions. ``auto`` allows as many as R shuffles would cost, by an estimate that is the same on every
    machine.

    Examples
    --------
    Two systems are right or wrong on eight segments; the metric is accuracy:

    >>> import numpy as np
    >>> a = np.array([[1], [1], [1], [1], [1], [1], [0], [1]])
    >>> b = np.array([[0], [0], [1], [0], [0], [1], [1], [0]])
    >>> result = approximate_randomization(a, b, lambda totals: totals[..., 0] / 8)
    >>> result.statistic, result.scheme, result.n_resamples
    (0.5, 'exact', 64)
    >>> result.pvalue == 14 / 64  # of 64 patterns of the six segments that differ, 14 reach ½
    True

    The same as four documents of two segments each:

    >>> result = approximate_randomization(a, b, lambda totals: totals[..., 0] / 8, documents=[1, 1, 2, 2, 3, 3, 4, 4])
    >>> result.pvalue  # documents differ by 2, 1, 1, 0: all of one sign in 2 of 8 patterns
    0.25

    Use only as many shuffles of a million as are needed to decide whether p ≤ .05:

    >>> result = approximate_randomization(
    ...     a, b, lambda totals: totals[..., 0] / 8, n_resamples=1_000_000, stopping="gandy"
    ... )
    >>> result.pvalue > 0.05, result.n_resamples < 1000
    (True, True)

    A batch of three problems, each with its own seed:

    >>> accuracy = lambda totals: totals[..., 0] / 8
    >>> approximate_randomization([a, b, a], [b, a, a], accuracy, seed=[1, 2, 3]).pvalue
    array([0.21875, 0.21875, 1.     ])

    With each difference divided by its standard error:

    >>> result = approximate_randomization(a, b, accuracy, test="ar-studentized")
    >>> result.test, result.pvalue, round(result.statistic / result.standard_error, 3)
    ('ar-studentized', 0.21875, 1.871)

    External segment scores need no metric:

    >>> result = approximate_randomization([0.81, 0.84, 0.79, 0.9], [0.75, 0.8, 0.8, 0.85])
    >>> round(result.statistic, 3), result.pvalue
    (0.035, 0.25)

    The shuffles and the tie rule of another program:

    >>> masks = np.random.default_rng(12345).integers(2, size=(1000, 8), dtype=bool)
    >>> result = approximate_randomization(a, b, accuracy, masks=masks, ties=">")
    >>> result.exceedances, result.n_resamples, result.scheme
    (27, 1000, 'replay')
    """
    check_name("test", test, SHUFFLE_TESTS)
    studentized = test == "ar-studentized"
    if strata is not None and not studentized:
        raise InputError(
            "strata: shuffles do not depend on them, only the standard errors of studentized differences do; leave "
            "them out, or pass test='ar-studentized'"
        )
    plan = Plan.from_settings(ComparisonSettings(test=test, scheme=scheme, stopping=stopping, alternative=alternative))
    units = Units(documents, strata)
    replay = Replay.from_arguments("masks", masks, n_resamples, seed, units, ties)
    if replay is not None:
        for argument, is_default in (
            ("scheme", scheme == "auto"),
            ("stopping", stopping is None),
            (f"test {test!r}", not studentized),
        ):
            if not is_default:
                raise InputError(
                    f"masks and {argument} were both passed: masks do not support {argument}, leave one out"
                )
        plan = plan.for_replay(ties)

    def null(replicates: Replicates, result: SignificanceResult) -> NullDistribution:
        if studentized:
            replicates = as_studentized(replicates)
        if result.stopping is not None and result.n_resamples is not None:
            replicates = replicates.first(result.n_resamples)
        values, probabilities, _ = null_distribution(replicates, (0, 1), plan.shuffling.scheme)
        return values, probabilities

    with reported(progress) as watched:
        resampling = resampling_settings(n_resamples, seed, threads, watched)
        return _test(plan, (metric, a, b), units, resampling, replay, null if keep_null_distribution else None)


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    test: types.BootstrapTest | str = "bootstrap",
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    n_resamples: int | None = None,
    alternative: types.Alternative | str = "two-sided",
    seed: int | ArrayLike | None = None,
    indices: Blocks | None = None,
    ties: types.Ties | str = ">=",
    keep_null_distribution: bool = False,
    threads: int | None = None,
    progress: AnyProgress = None,
) -> SignificanceResult:
    r"""Bootstrap tests of two systems.

    Each draw takes S segments with replacement, the same segments for both systems. Let d = score(a) − score(b), and
    let d_b be the difference on draw b. p = (c + 1)/(R + 1), where c is the number of draws for which

    ==================== ================================================= =======================================
    test                 condition (two-sided)                             source
    ==================== ================================================= =======================================
    bootstrap            \|d_b − d\| ≥ \|d\|                                Hall & Wilson 1991, doi:10.2307/2532163
    bootstrap-percentile d_b ≤ 0 or d_b ≥ 0, whichever is rarer;           Davison & Hinkley 1997, 5.3
                         p is 2(c + 1)/(R + 1), at most 1
    bootstrap-both       the larger p of these two                         those of both
    bootstrap-shift      \|d_b\| − mean \|d_b\| ≥ \|d\|                     Riezler & Maxwell 2005, W05-0908, Fig. 2
    paired-bootstrap     the system that scores higher does not win draw b Koehn 2004, W04-3250, section 6
    ==================== ================================================= =======================================

    The names are those of :func:`reshuffle.compare`. One-sided, ``bootstrap-percentile`` counts d_b ≤ 0 (``greater``)
    or d_b ≥ 0 (``less``), and p is (c + 1)/(R + 1).

    Null hypothesis: the expected difference is 0, on test sets of this size. The type-I error of ``bootstrap`` and
    ``bootstrap-percentile`` is close to nominal for most pairs. Where outputs differ in length, one of them may reject
    too often; in simulations of equal scores with 500 segments ``bootstrap-both`` rejected .022 to .067 at .05. All
    reject too often if the systems differ in few segments, or if few of them make the difference, and if the question
    is whether the scores of the populations are equal and outputs are about as long as their references. Two-sided,
    ``bootstrap-percentile`` has p ≤ α exactly when the percentile interval of :func:`bootstrap_interval` at the
    confidence level 1 − α excludes 0; one-sided, exactly when that at 1 − 2α lies above 0 (``greater``) or below 0
    (``less``). ``bootstrap-shift`` takes the absolute value before centring, as published and as in sacreBLEU and
    Moses: under the null hypothesis it rejects in about 11 % of tests at the 5 % level, and p is almost always below
    .43. ``paired-bootstrap`` is one-sided in the observed direction: read as a two-sided test it rejects in about 10 %
    of tests at the 5 % level. docs/evidence/size.md#tests-under-the-null-hypothesis has the figures.

    Parameters
    ----------
    a, b, metric, documents, n_resamples, seed, threads, progress
        As in :func:`approximate_randomization`. ``n_resamples`` is R, the number of draws. With D documents, D
        documents are drawn, so draws differ in their number of segments; a metric must not divide by a fixed number of
        segments.
    strata : sequence of S str or int, optional
        The stratum id of each segment; segments of a stratum need not be adjacent. A stratum is a part of the test set
        whose size was fixed by design. Each draw takes as many segments (or documents) from a stratum as it has. All
        segments of a document must be in the same stratum.
    test : {'bootstrap', 'bootstrap-both', 'bootstrap-percentile', 'bootstrap-shift', 'paired-bootstrap'}
        See above.
    alternative : {'two-sided', 'better', 'worse', 'greater', 'less'}
        As for :func:`approximate_randomization`. ``bootstrap-shift`` is only two-sided.
    indices : (R, n) array_like of int, or iterable of such blocks, optional
        The draws of another program, instead of ``n_resamples`` and ``seed``: draw b takes the segments ``indices[b]``,
        from 0 to S − 1. n is usually S. If an iterator yields blocks of rows, they are never all in memory. All
        problems of a batch share the draws.
    ties : {'>=', '>'}
        ``>`` does not count draws for which both sides of the condition above are equal; for ``paired-bootstrap``,
        draws with d_b = 0. Only with ``indices``, to reproduce the p-values of programs that count in this way, such as
        sacreBLEU.
    keep_null_distribution : bool
        Return d_b − d of every draw, 8·R bytes. Not supported for a batch.

    Returns
    -------
    SignificanceResult
        ``wins`` and ``ties`` are the numbers of draws in which a scored higher than b, and in which the scores were
        equal.

    Raises
    ------
    InputError
        As :func:`approximate_randomization`, and for an unknown test, a document in several strata, more than 65,536
        strata, strata with only one segment each, or ``indices`` with ``n_resamples``, ``seed``, documents or strata.

    Notes
    -----
    Cost: about 2·S·K products of bytes, 64 per instruction, and two scores for each draw. Memory: S·K numbers and 16·R
    bytes.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[1], [1], [1], [1], [1], [1], [0], [1]])
    >>> b = np.array([[0], [0], [1], [0], [0], [1], [1], [0]])
    >>> result = bootstrap_test(a, b, lambda totals: totals[..., 0] / 8, n_resamples=1000)
    >>> result.statistic, result.pvalue < 0.1
    (0.5, True)
    """
    check_name("test", test, BOOTSTRAP_TESTS)

    def null(replicates: Replicates, result: SignificanceResult) -> NullDistribution:
        (scores,) = replicates.draws
        return scores[0] - scores[1] - result.statistic, None

    plan = Plan.from_settings(ComparisonSettings(test=test, alternative=alternative))
    units = Units(documents, strata)
    replay = Replay.from_arguments("indices", indices, n_resamples, seed, units, ties)
    if replay is not None:
        plan = plan.for_replay(ties)
    with reported(progress) as watched:
        resampling = resampling_settings(n_resamples, seed, threads, watched)
        return _test(plan, (metric, a, b), units, resampling, replay, null if keep_null_distribution else None)
