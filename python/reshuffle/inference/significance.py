"""The public tests of two systems from arrays: ``approximate_randomization`` and ``bootstrap_test``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from ..data.arrays import as_array
from ..data.columns import check_rows
from ..errors import InputError
from ..metrics.base import Metric, Scores
from ..options.arrays import ApproximateRandomization, BootstrapTest
from ..options.declare import called_with
from ..progress import reported
from ..resampling import CountSample, Problems, Replicates, is_batch
from ..resampling.replicates import array_steps
from ..resampling.schemes import null_distribution
from ..resampling.stopping import AnyRule, resolve
from ..resampling.supplied import Supplied
from ..results import SignificanceResult
from ..settings import ComparisonSettings, Units
from .batches import ONE_PAIR, run_batch
from .plan import Plan
from .replay import replicates_of, resampling_of, supplied_in
from .running import records, run_on_test_set
from .studentized import as_studentized

# The values of a null distribution, and their probabilities unless all values are equally likely.
NullDistribution: TypeAlias = tuple[Scores, Scores | None]


@lru_cache
def _usual_plan(test: str, alternative: str, scheme: str = "auto") -> Plan:
    """The plan of a test. Simulations ask for the same one thousands of times."""
    return Plan.from_settings(ComparisonSettings(test=test, alternative=alternative, scheme=scheme))


def _plan(test: str, alternative: str, scheme: str, stopping: AnyRule | None) -> Plan:
    """The same with a rule for stopping. It is kept as it was given: equal rules may have numbers of other types."""
    if stopping is None:
        return _usual_plan(test, alternative, scheme)
    settings = ComparisonSettings(test=test, alternative=alternative, scheme=scheme, stopping=stopping)
    return Plan.from_settings(settings)


def _test(
    plan: Plan,
    options: ApproximateRandomization | BootstrapTest,
    replay: Supplied | None,
    null: Callable[[Replicates, SignificanceResult], NullDistribution],
) -> SignificanceResult:
    """Test two systems, or two systems in each problem of a batch.

    ``replay`` holds user-supplied replicates, if any. ``null`` computes the null distribution for the result.
    """
    check_rows("", {"a": options.a, "b": options.b, "documents": options.documents, "strata": options.strata})
    metric, a, b = options.metric, as_array(options.a, "a"), as_array(options.b, "b")
    units = Units(options.documents, options.strata)
    if plan.alternative in ("better", "worse") and not isinstance(metric, str | Metric):
        what = "segment scores do" if metric is None else "a function of counts does"
        raise InputError(
            f"alternative {plan.alternative!r}: {what} not say whether higher is better: use 'greater' or 'less'"
        )
    with reported(options.progress) as watched:
        resampling = resampling_of(options, watched)
        if is_batch(a, metric):
            if options.keep_null_distribution:
                raise InputError(
                    "keep_null_distribution does not support a batch: leave it out, or test the problems whose null "
                    "distributions you need one at a time"
                )
            return run_batch(plan, Problems.from_arrays(metric, a, b, units, resampling.seed), resampling, replay)
        if watched is not None:
            makes_again = options.keep_null_distribution and plan.test.replicates == "shuffles" and replay is None
            watched.plan(array_steps(plan.test.replicates, 2 if makes_again else 1))
        replicates = replicates_of([CountSample.from_arrays(metric, a, b, units)], resampling, replay)
        (result,) = records(plan, replicates, ONE_PAIR, run_on_test_set(plan, replicates, ONE_PAIR))
        if not options.keep_null_distribution:
            return result
        values, probabilities = null(replicates, result)
        return replace(result, null_distribution=values, null_probabilities=probabilities)


@called_with(ApproximateRandomization)
def approximate_randomization(options: ApproximateRandomization) -> SignificanceResult:
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
    studentized = options.test == "ar-studentized"
    if options.strata is not None and not studentized:
        raise InputError(
            "strata: shuffles do not depend on them, only the standard errors of studentized differences do; leave "
            "them out, or pass test='ar-studentized'"
        )
    plan = _plan(options.test, options.alternative, options.scheme, resolve(options.stopping))
    replay = supplied_in(options, "masks")
    if replay is not None:
        for argument, is_default in (
            ("scheme", options.scheme == "auto"),
            ("stopping", options.stopping is None),
            (f"test {options.test!r}", not studentized),
        ):
            if not is_default:
                raise InputError(
                    f"masks and {argument} were both passed: masks do not support {argument}, leave one out"
                )
        plan = plan.for_replay(options.ties)

    def null(replicates: Replicates, result: SignificanceResult) -> NullDistribution:
        if studentized:
            replicates = as_studentized(replicates)
        if result.stopping is not None and result.n_resamples is not None:
            replicates = replicates.first(result.n_resamples)
        values, probabilities, _ = null_distribution(replicates, (0, 1), plan.shuffling.scheme)
        return values, probabilities

    return _test(plan, options, replay, null)


@called_with(BootstrapTest)
def bootstrap_test(options: BootstrapTest) -> SignificanceResult:
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
    Moses: under the null hypothesis it rejects in about 11% of tests at the 5% level, and p is almost always below
    .43. ``paired-bootstrap`` is one-sided in the observed direction: read as a two-sided test it rejects in about 10%
    of tests at the 5% level. docs/evidence/size.md#tests-under-the-null-hypothesis has the figures.

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
    plan = _usual_plan(options.test, options.alternative)
    replay = supplied_in(options, "indices")
    if replay is not None:
        plan = plan.for_replay(options.ties)

    def null(replicates: Replicates, result: SignificanceResult) -> NullDistribution:
        (scores,) = replicates.draws
        return scores[0] - scores[1] - result.statistic, None

    return _test(plan, options, replay, null)
