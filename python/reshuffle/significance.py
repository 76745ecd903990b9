"""Significance tests for the difference of two systems. A new one is a function here and an entry in :data:`TESTS`.

Throughout, t is score(a) − score(b); a replicate counts when it is at least as extreme as t (≥, so that the
observed arrangement counts too); and p = (c + 1)/(R + 1) (Noreen 1989; Phipson & Smyth 2010,
doi:10.2202/1544-6115.1585), which is never 0 and is 1 for identical systems. Tests of means of segment scores need no
replicates: their p comes from a distribution in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Progress
from .errors import InputError, check_name
from .estimates import ANY, MEANS, check_kind, segment_values
from .given import CorpusFunction
from .metrics import Metric, MetricLike, Scores
from .multiplicity import Adjustment, FamilyTests
from .resampling import Family, Pairs, Replicates, reached
from .results import SignificanceResult
from .schemes import SCHEMES, Shuffled, Shuffling, null_distribution, shuffle
from .stopping import AnyRule
from .stopping import resolve as resolve_stopping
from .units import DocumentIds, Strata, StratumIds

__all__ = ["ALTERNATIVES", "TESTS", "SignificanceTest", "approximate_randomization", "bootstrap_test"]

ALTERNATIVES = ("two-sided", "greater", "less")

BY_COINS = Shuffling()

# The largest numbers of differences, without and with ties, for which the signed-rank test is exact.
MOST_EXACT_RANKS = 50
MOST_EXACT_TIES = 13


def pvalue(exceedances: ArrayLike, n_resamples: int) -> NDArray[np.float64]:
    """p = (c + 1)/(R + 1): Riezler & Maxwell 2005 (W05-0908), Fig. 1, last line.

    >>> pvalue([0, 499, 9999], 9999)
    array([1.e-04, 5.e-02, 1.e+00])
    """
    return np.asarray((np.asarray(exceedances) + 1) / (n_resamples + 1))


def threshold(statistic: Scores, scores_a: Scores, scores_b: Scores, alternative: str) -> Scores:
    """What a replicate has to reach to count as at least as extreme as ``statistic``.

    Equal sums give equal scores, so the usual ties are exact. Two different sums may have differences that are equal
    in mathematics but not in floating point; the sixteen units in the last place of the larger score by which the
    threshold is eased let these count as ties, as they should.
    """
    slack = 16 * np.spacing(np.maximum(np.abs(scores_a), np.abs(scores_b)))
    if alternative == "two-sided":
        return np.asarray(np.abs(statistic) - slack)
    return np.asarray(statistic + slack if alternative == "less" else statistic - slack)


@dataclass(frozen=True)
class Observed:
    """What was observed for some pairs under all families: each array has shape (metrics, pairs)."""

    replicates: Replicates
    pairs: Pairs
    scores_a: Scores
    scores_b: Scores
    shuffling: Shuffling

    @classmethod
    def of(cls, replicates: Replicates, pairs: Pairs, shuffling: Shuffling) -> Observed:
        """Look the pairs' scores up."""
        index = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
        of_a, of_b = (np.array([family.scores[side] for family in replicates.families]) for side in index)
        return cls(replicates, pairs, of_a, of_b, shuffling)

    @property
    def statistic(self) -> Scores:
        """t = score(a) − score(b)."""
        return self.scores_a - self.scores_b

    def threshold(self, alternative: str) -> Scores:
        """What replicates have to reach: see :func:`threshold`."""
        return threshold(self.statistic, self.scores_a, self.scores_b, alternative)

    def drawn(self, metric: int, pair: int) -> Scores:
        """The difference of one pair under one metric on every draw: (R,)."""
        a, b = self.pairs[pair]
        scores = self.replicates.draws[metric]
        return np.asarray(scores[a] - scores[b])


@dataclass(frozen=True)
class Outcome:
    """What a test found: p-values and, if it has replicates, how many are at least as extreme: (metrics, pairs).

    If it has shuffles, ``shuffled`` tells pair by pair, metric by metric how they were gone through; then
    ``exceedances`` are given if that is by coins for all.
    """

    pvalues: Scores
    exceedances: NDArray[np.int64] | None = None
    shuffled: Sequence[Sequence[Shuffled]] | None = None

    @classmethod
    def of(cls, exceedances: NDArray[np.int64], replicates: Replicates) -> Outcome:
        """From counts of replicates."""
        return cls(pvalue(exceedances, replicates.n_resamples), exceedances)


def _approximate_randomization(observed: Observed, alternative: str) -> Outcome:
    """Shuffle the two outputs of each segment: Riezler & Maxwell 2005, Fig. 1."""
    eased = observed.threshold(alternative)
    shuffled = shuffle(observed.replicates, observed.pairs, eased, alternative, observed.shuffling)
    pvalues = np.array([[one.pvalue for one in of_metric] for of_metric in shuffled])
    if observed.shuffling.scheme != "iid":
        return Outcome(pvalues, shuffled=shuffled)
    return Outcome(pvalues, np.array([[one.exceedances for one in of_metric] for of_metric in shuffled]), shuffled)


def _shift(drawn: Scores, statistic: float, eased: float, alternative: str) -> int:
    """|d_b| − mean |d_b| ≥ |d|: Riezler & Maxwell 2005, Fig. 2, to the letter."""
    magnitude = np.abs(drawn)
    return int((magnitude - magnitude.mean() >= eased).sum())


def _centred(drawn: Scores, statistic: float, eased: float, alternative: str) -> int:
    """d_b − mean d_b at least as extreme as d: the bootstrap distribution moved to where the null holds."""
    return int(reached(drawn - drawn.mean(), eased, alternative).sum())


def _paired(drawn: Scores, statistic: float, eased: float, alternative: str) -> int:
    """Draws that the better system does not win: Koehn 2004 (W04-3250), section 6. A tie is won by neither."""
    # Koehn asks how often the system that looks better wins. Of equals neither ever does, and p is 1.
    better = {"two-sided": np.sign(statistic), "greater": 1, "less": -1}[alternative]
    return int((drawn * better <= 0).sum())


def _on_draws(count: Callable[[Scores, float, float, str], int]) -> Callable[[Observed, str], Outcome]:
    """Apply a test of one pair's differences on the draws to every pair under every metric."""

    def outcome(observed: Observed, alternative: str) -> Outcome:
        statistic, eased = observed.statistic, observed.threshold(alternative)
        out = np.empty(statistic.shape, dtype=np.int64)
        for metric, pair in np.ndindex(out.shape):
            out[metric, pair] = count(
                observed.drawn(metric, pair), float(statistic[metric, pair]), float(eased[metric, pair]), alternative
            )
        return Outcome.of(out, observed.replicates)

    return outcome


def _t_test(differences: Scores, alternative: str) -> float:
    """Student 1908: t = mean d/(s/√S) with S − 1 degrees of freedom. Without spread t is infinite, and p 0 or 1."""
    from scipy.special import stdtr

    # Rounding of the mean must not make a spread of equal differences.
    error = differences.std(ddof=1) / len(differences) ** 0.5 if np.ptp(differences) else 0.0
    mean = differences.mean()
    t = mean / error if error else np.copysign(np.inf, mean)
    if alternative == "two-sided":
        return float(2 * stdtr(len(differences) - 1, -abs(t)))
    return float(stdtr(len(differences) - 1, t if alternative == "less" else -t))


def _wilcoxon(differences: Scores, alternative: str) -> float:
    """Wilcoxon 1945: the sum of the ranks of |d_s| with d_s > 0. Differences of 0 are left out, ties share a mean rank.

    Exact for at most 50 differences, 13 if there are ties, else by the normal distribution with variance Σ rank²/4,
    which corrects for ties, and without a continuity correction. These are the defaults since SciPy 1.15; earlier
    versions chose otherwise and ignored ties.
    """
    differences = differences[differences != 0]
    sizes, inverse, counts = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[inverse]  # twice the mean ranks: whole numbers
    observed, total = int(ranks[differences > 0].sum()), int(ranks.sum())
    if len(differences) <= (MOST_EXACT_RANKS if len(sizes) == len(differences) else MOST_EXACT_TIES):
        null = _core.coin_law(ranks.astype(np.uint64))
        null = 0.5 * (null + null[::-1])  # symmetric to the last bit, so that (a, b) and (b, a) have the same p
        greater, less = (float(null[sum_of_ranks:].sum()) for sum_of_ranks in (observed, total - observed))
    else:
        from scipy.special import ndtr

        z = (observed - total / 2) / (0.5 * np.linalg.norm(ranks))
        greater, less = float(ndtr(-z)), float(ndtr(z))
    p = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}[alternative]
    return min(p, 1.0)


def _sign_test(differences: Scores, alternative: Any) -> float:
    """Dixon & Mood 1946: of the differences that are not 0, is half positive? Exact."""
    from scipy.stats import binomtest

    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return float(binomtest(wins, wins + losses, alternative=alternative).pvalue)


def _on_segments(test: Callable[[Scores, str], float]) -> Callable[[Observed, str], Outcome]:
    """Apply a test of one pair's differences on the segments to every pair under every metric, all of them means."""

    def outcome(observed: Observed, alternative: str) -> Outcome:
        pvalues = np.ones((len(observed.replicates.families), len(observed.pairs)))
        for metric, family in enumerate(observed.replicates.families):
            assert isinstance(family, Family)  # check_test has seen to it
            for index, (a, b) in enumerate(observed.pairs):
                differences = segment_values(family, a, b)
                if differences.any():  # nothing speaks against the null if no segment differs
                    pvalues[metric, index] = test(differences, alternative)
        return Outcome(pvalues)

    return outcome


@dataclass(frozen=True)
class SignificanceTest:
    """A test as the registry knows it.

    ``outcome(observed, alternative)`` gives what it finds for all pairs under all metrics. ``replicates`` is what its
    replicates are called, None if it has none; ``kind`` what it needs of a metric (:mod:`reshuffle.estimates`).
    """

    name: str
    title: str
    about: str
    source: str
    outcome: Callable[[Observed, str], Outcome]
    alternatives: tuple[str, ...] = ALTERNATIVES
    replicates: str | None = "shuffles"
    kind: str = ANY


TESTS: Mapping[str, SignificanceTest] = {
    test.name: test
    for test in (
        SignificanceTest(
            "ar",
            "approximate randomization",
            "swap the two outputs of random segments; exact under exchangeability",
            "W05-0908, Fig. 1",
            _approximate_randomization,
        ),
        SignificanceTest(
            "bootstrap",
            "centred bootstrap",
            "draw segments, centre the differences on 0; close to its nominal level",
            "doi:10.2307/2532163",
            _on_draws(_centred),
            replicates="draws",
        ),
        SignificanceTest(
            "bootstrap-shift",
            "bootstrap with shift",
            "as published, absolute value before centring; rejects twice as often as it should",
            "W05-0908, Fig. 2",
            _on_draws(_shift),
            alternatives=("two-sided",),
            replicates="draws",
        ),
        SignificanceTest(
            "paired-bootstrap",
            "paired bootstrap",
            "the share of draws that the better system does not win; one-sided in the direction observed",
            "W04-3250, section 6",
            _on_draws(_paired),
            replicates="draws",
        ),
        SignificanceTest(
            "t-test",
            "paired t-test",
            "for means of segment scores; exact if their differences are normal",
            "doi:10.1093/biomet/6.1.1",
            _on_segments(_t_test),
            replicates=None,
            kind=MEANS,
        ),
        SignificanceTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            "for means of segment scores; are their differences symmetric about 0?",
            "doi:10.2307/3001968",
            _on_segments(_wilcoxon),
            replicates=None,
            kind=MEANS,
        ),
        SignificanceTest(
            "sign-test",
            "sign test",
            "for means of segment scores; does each system win as many segments?",
            "doi:10.1080/01621459.1946.10501898",
            _on_segments(_sign_test),
            replicates=None,
            kind=MEANS,
        ),
    )
}


def check_test(name: str, alternative: str, *metrics: Metric | CorpusFunction) -> SignificanceTest:
    """The test of that name, or :class:`InputError` if there is none, or not with this alternative or these metrics."""
    check_name("test", name, list(TESTS))
    check_name("alternative", alternative, ALTERNATIVES)
    test = TESTS[name]
    if alternative not in test.alternatives:
        raise InputError(
            f"test {name!r} has no alternative {alternative!r}: it takes absolute values, so it is "
            f"{' or '.join(test.alternatives)} only; use 'ar' or 'bootstrap' for a one-sided test"
        )
    check_kind(f"test {name!r}", test.kind, metrics, ["ar", "bootstrap"])
    return test


def check_shuffling(
    scheme: str,
    stopping: str | AnyRule | None,
    test: SignificanceTest,
    adjustment: Adjustment | None = None,
    level: float | None = None,
) -> Shuffling:
    """How to go through the shuffles of tests at this level.

    :class:`InputError` if there is no scheme or rule of that name, or if they are not for this test or this adjustment,
    or not for one another.
    """
    check_name("scheme", scheme, SCHEMES)
    rule = resolve_stopping(stopping)
    if test.replicates != "shuffles":
        if rule is not None:
            raise InputError(f"stopping is for test 'ar', not for {test.name!r}: leave it out, or test by 'ar'")
        if scheme != "auto":
            raise InputError(
                f"test {test.name!r} has no shuffles: leave out the scheme {scheme!r}, or use the test 'ar'"
            )
        return Shuffling()
    by_coins = scheme in ("auto", "iid")
    if adjustment is not None and adjustment.of_shuffles:
        # All pairs have to go through the same shuffles, and p through those that it is adjusted by.
        if rule is not None:
            raise InputError(
                f"adjustment {adjustment.name!r} takes all pairs through the same shuffles to the end, and stopping "
                "ends each pair at its own: leave out the stopping, or adjust by 'holm' and stop by 'besag-clifford'"
            )
        if not by_coins:
            raise InputError(f"adjustment {adjustment.name!r} goes through shuffles by 'iid' only, not by {scheme!r}")
        return Shuffling()
    if rule is None:
        return Shuffling(scheme)
    if not by_coins:
        raise InputError(
            f"stopping looks at independent shuffles, one after the other, so it goes with the scheme 'iid', not with "
            f"{scheme!r}: leave out the scheme or the stopping"
        )
    if adjustment is not None and not rule.valid_at_all_levels:
        raise InputError(
            f"stopping by {rule.name!r} decides at one level, and its p is an estimate that adjustment "
            f"{adjustment.name!r} cannot build on: stop by 'besag-clifford', or leave out one of the two"
        )
    return Shuffling("iid", rule.at(level))


def run_test(
    test: SignificanceTest,
    replicates: Replicates,
    pairs: Pairs,
    alternative: str,
    adjustment: Adjustment | None = None,
    shuffling: Shuffling = BY_COINS,
    labels: Sequence[str] | None = None,
    n_references: str | None = None,
) -> list[list[SignificanceResult]]:
    """Test every pair under every family, all on the same replicates: metric by metric, pair by pair.

    ``labels`` name the metrics in the results, by default as they are called; ``n_references`` is for signatures.
    """
    observed = Observed.of(replicates, pairs, shuffling)
    outcome = test.outcome(observed, alternative)
    adjusted = None
    if adjustment is not None:
        eased = observed.threshold(alternative)
        tested = FamilyTests(replicates, pairs, alternative, outcome.pvalues, eased, outcome.exceedances)
        adjusted = adjustment.adjust(tested)
    resampled = test.replicates is not None
    used = test.name, alternative, None if adjustment is None else adjustment.name
    rule = None if shuffling.stopping is None else shuffling.stopping.signature
    strata = replicates.strata if test.replicates == "draws" else None

    def result(m: int, p: int) -> SignificanceResult:
        metric = replicates.families[m].metric
        drawn = observed.drawn(m, p) if test.replicates == "draws" else None
        exceedances = None if outcome.exceedances is None else int(outcome.exceedances[m, p])
        n, scheme, name, stopping = replicates.n_resamples if resampled else None, None, None, None
        if outcome.shuffled is not None:
            shuffled = outcome.shuffled[m][p]
            exceedances, n = shuffled.exceedances, shuffled.n_resamples
            scheme, name, stopping = shuffled.scheme, shuffled.name, shuffled.stopping
        at_random = resampled and scheme != "exact"
        suffix = run_signature(replicates if resampled else None, (*used, name, rule), strata, at_random)
        return SignificanceResult(
            test=test.name,
            metric=metric.name if labels is None else labels[m],
            statistic=float(observed.statistic[m, p]),
            pvalue=float(outcome.pvalues[m, p]),
            alternative=alternative,
            exceedances=exceedances,
            n_resamples=n,
            seed=replicates.seed if at_random else None,
            signature=f"{metric.signature(n_references)}|{suffix}",
            wins=None if drawn is None else int((drawn > 0).sum()),
            ties=None if drawn is None else int((drawn == 0).sum()),
            adjusted_pvalue=None if adjusted is None else float(adjusted[m, p]),
            scheme=scheme,
            stopping=stopping,
        )

    return [[result(m, p) for p in range(len(pairs))] for m in range(len(replicates.families))]


def run_signature(
    replicates: Replicates | None,
    test: tuple[str, str, str | None, str | None, str | None] | None,
    strata: Strata | None = None,
    resampled: bool = True,
) -> str:
    """The part of a signature that tells what was tested, and how replicates were made.

    ``test``: test, alternative, adjustment, scheme and stopping, None for what was not used or goes without saying;
    ``strata`` are those within which units vary, if anything depends on them. Standard errors in closed form depend on
    the units, too, and so do exact tests, where nothing is ``resampled`` at random.
    """
    parts = ("test", "alternative", "adjust", "scheme", "stopping")
    used = [f"{part}:{name}" for part, name in zip(parts, test or (), strict=False) if name is not None]
    used += [] if strata is None else [f"strata:{strata.n_strata}"]
    made = []
    if replicates is not None:
        unit = [] if replicates.unit == "segment" else [f"unit:{replicates.unit}[{replicates.n_units}]"]
        how = [f"n:{replicates.n_resamples}", f"seed:{replicates.seed}", f"rng:{_core.GENERATOR}"]
        made = unit + (how if resampled else [])
    return "|".join([*used, *made, f"version:reshuffle-{_core.VERSION}"])


def _two_systems(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None,
    documents: DocumentIds | None,
    strata: StratumIds | None,
    n_resamples: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> Replicates:
    family = Family.of(metric, a, b, documents, strata)
    return Replicates([family], n_resamples=n_resamples, seed=seed, threads=threads, progress=progress)


def approximate_randomization(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    documents: DocumentIds | None = None,
    scheme: str = "auto",
    stopping: str | AnyRule | None = None,
    n_resamples: int = 10_000,
    alternative: str = "two-sided",
    seed: int = 12345,
    keep_null_distribution: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SignificanceResult:
    r"""Approximate randomization test of two systems.

    Null hypothesis: the joint distribution of the two outputs of a segment does not change when they are swapped,
    independently for each segment. Statistic: t = score(a) − score(b) on summed counts. Each replicate swaps every
    segment with probability ½; p = (#{|t_r| ≥ |t|} + 1)/(R + 1). Under the null the test rejects at level α with
    probability at most α, for any R. Riezler & Maxwell 2005 (W05-0908), Fig. 1; Noreen 1989.

    Shuffles may be gone through in other ways, with the same null hypothesis and statistic and the same guarantee:

    ======== ============================================= ========================================================
    scheme   shuffles                                      p
    ======== ============================================= ========================================================
    iid      R, each segment swapped with probability ½    (c + 1)/(R + 1), c = #{\|t_r\| ≥ \|t\|}
    subgroup 2^m ≥ R that are a group                      c/2^m: Hemerik & Goeman 2018, 10.1007/s11749-017-0571-1
    exact    all 2^d patterns of swaps of the d segments   c/2^d; no chance of shuffles is in it
             in which the systems differ
    auto     ``exact`` if 2^(d−1) ≤ R, or by convolution   of the scheme that was used, which the result names
             if that takes milliseconds, and no rule is
             to stop shuffles; else ``iid``
    ======== ============================================= ========================================================

    Not for segments that depend on one another (sentences of one document) unless ``documents`` are given: then whole
    documents are swapped, and the null hypothesis is about these. Not for systems each of which was trained or tuned
    several times: there the unit to swap is the run.

    Parameters
    ----------
    a, b : (S, K) array_like of int, or (S,) array_like of float
        The counts of each segment, as :meth:`~reshuffle.metrics.NativeMetric.suff_stats` gives them; or one score for
        each segment, from any metric or human rater.
    metric : str, Metric or callable, optional
        Scores summed counts. A callable maps an integer array of shape (…, K) to scores of shape (…). Leave it out for
        scores of segments: their means are compared, in exact arithmetic in a unit that a and b share
        (:class:`~reshuffle.SegmentScores`).
    documents : sequence of S str or int, optional
        The id of each segment's document, adjacent or not; counts are summed over each first.
    scheme : {'auto', 'iid', 'subgroup', 'exact'}
        See above.
    stopping : {'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional
        Look at one shuffle after the other, by ``iid``, and at no more than the rule needs, R at most:
        :class:`~reshuffle.BesagClifford` stops at 20 exceedances, :class:`~reshuffle.Gandy` as soon as it is decided,
        with an error of at most .001, whether p ≤ .05. The result says how many shuffles that took. It depends on the
        seed alone, as ever.
    n_resamples : int
        R, the number of shuffles. The smallest possible p is 1/(R + 1). A subgroup has the next power of two, 2^m ≥ R,
        as the result says; the smallest p is then 1/2^m.
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: a scores higher than b.
    seed : int
        0 to 2⁶⁴ − 1. The same seed gives the same replicates on any machine and number of threads.
    keep_null_distribution : bool
        Keep the statistic of every shuffle, 8·R bytes, or of those that were looked at if they were stopped; by
        convolution every value it takes, and their probabilities.
    threads : int, optional
        As many as there are cores by default.
    progress : Progress, optional
        Tells another thread how far the test has come.

    Returns
    -------
    SignificanceResult

    Raises
    ------
    InputError
        If shapes differ, counts are not whole numbers, there are fewer than 2 segments or documents, an argument is
        out of range, or an exact test was asked for that would take more than 2³⁰ patterns.

    Notes
    -----
    Cost: about S·K/6 additions of bytes, 64 at a time, and two scores per shuffle; memory S·K numbers, whatever R.
    With D documents D takes the place of S. A subgroup takes K·m/16 additions and two scores per shuffle, whatever S.

    Convolution is for systems that differ in one column of counts only, as by the number of edits (TER, WER) or by a
    segment score. Then t depends on one sum ±d_1 ± d_2 …, whose law takes d·Σ\|d_s\|/g additions, g the greatest common
    divisor of the d_s; p is right to d·2⁻⁵² of itself. ``auto`` makes at most 10⁸ additions, ``exact`` 10¹¹.

    Examples
    --------
    Two systems right and wrong on eight segments, scored by accuracy:

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

    As many shuffles as are needed, of a million, to tell whether p ≤ .05:

    >>> result = approximate_randomization(
    ...     a, b, lambda totals: totals[..., 0] / 8, n_resamples=1_000_000, stopping="gandy"
    ... )
    >>> result.pvalue > 0.05, result.n_resamples < 1000
    (True, True)

    Scores of segments that came from elsewhere need no metric:

    >>> result = approximate_randomization([0.81, 0.84, 0.79, 0.9], [0.75, 0.8, 0.8, 0.85])
    >>> round(result.statistic, 3), result.pvalue
    (0.035, 0.25)
    """
    test = check_test("ar", alternative)
    shuffling = check_shuffling(scheme, stopping, test)
    replicates = _two_systems(a, b, metric, documents, None, n_resamples, seed, threads, progress)
    result = run_test(test, replicates, [(0, 1)], alternative, shuffling=shuffling)[0][0]
    if not keep_null_distribution:
        return result
    if result.stopping is not None and result.n_resamples is not None:
        replicates = replicates.first(result.n_resamples)
    values, probabilities = null_distribution(replicates, (0, 1), shuffling.scheme)
    return replace(result, null_distribution=values, null_probabilities=probabilities)


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    method: str = "centred",
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    n_resamples: int = 10_000,
    alternative: str = "two-sided",
    seed: int = 12345,
    keep_null_distribution: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SignificanceResult:
    r"""Bootstrap tests of two systems.

    Each replicate draws S segments with replacement, the same for both systems. With d = score(a) − score(b) and d_b
    the same on draw b, a draw counts when

    ======== ================================================= =============================================
    method   two-sided                                         source
    ======== ================================================= =============================================
    centred  \|d_b − mean d_b\| ≥ \|d\|                         Hall & Wilson 1991, doi:10.2307/2532163
    shift    \|d_b\| − mean \|d_b\| ≥ \|d\|                     Riezler & Maxwell 2005, W05-0908, Fig. 2
    paired   the system that scores higher does not win draw b Koehn 2004, W04-3250, section 6
    ======== ================================================= =============================================

    and p = (c + 1)/(B + 1). Null hypothesis: the expected difference is 0. ``centred`` is the one to use: its size is
    close to nominal. ``shift`` takes the absolute value before centring, as published and as sacreBLEU and Moses do;
    under the null it rejects about 11 % of the time at the 5 % level and its p hardly ever exceeds .43. ``paired`` is
    one-sided in the direction that was observed; read as a two-sided test it rejects about 10 % of the time at the 5 %
    level. docs/statistics.md has the figures.

    Parameters
    ----------
    a, b, metric, documents, n_resamples, seed, threads, progress
        As in :func:`approximate_randomization`; ``n_resamples`` is B, the number of draws. Of D documents D are drawn,
        so draws differ in their number of segments: a function that divides by a fixed number of them is no metric.
    strata : sequence of S str or int, optional
        The id of each segment's stratum, adjacent or not: a part of the test set whose size was fixed when it was made.
        Of each stratum as many segments are drawn as it has, or documents, which must lie in one stratum. (Shuffles
        swap each segment by itself: strata mean nothing to them.)
    method : {'centred', 'shift', 'paired'}
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: a scores higher than b. ``shift`` is two-sided only.
    keep_null_distribution : bool
        Keep d_b − mean d_b of every draw, 8·B bytes.

    Returns
    -------
    SignificanceResult
        ``wins`` and ``ties`` are the draws in which a scored higher than b, and equal.

    Raises
    ------
    InputError
        As :func:`approximate_randomization`, for an unknown method, if a document lies in several strata, and if there
        are more than 65,536 strata or each has one segment only.

    Notes
    -----
    Cost: about 2·S·K products of bytes, 64 at a time, and two scores per draw; memory S·K numbers and 16·B bytes.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[1], [1], [1], [1], [1], [1], [0], [1]])
    >>> b = np.array([[0], [0], [1], [0], [0], [1], [1], [0]])
    >>> result = bootstrap_test(a, b, lambda totals: totals[..., 0] / 8, n_resamples=1000)
    >>> result.statistic, result.pvalue < 0.1
    (0.5, True)
    """
    check_name("method", method, list(BOOTSTRAP_METHODS))
    test = check_test(BOOTSTRAP_METHODS[method], alternative)
    replicates = _two_systems(a, b, metric, documents, strata, n_resamples, seed, threads, progress)
    result = run_test(test, replicates, [(0, 1)], alternative)[0][0]
    if not keep_null_distribution:
        return result
    (scores,) = replicates.draws
    drawn = scores[0] - scores[1]
    return replace(result, null_distribution=drawn - drawn.mean())


BOOTSTRAP_METHODS = {"centred": "bootstrap", "shift": "bootstrap-shift", "paired": "paired-bootstrap"}
