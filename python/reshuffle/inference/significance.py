"""Significance tests for the difference of two systems. A new one is a function here and an entry in :data:`TESTS`.

Throughout, t is score(a) − score(b); a replicate counts when it is at least as extreme as t (≥, so that the
observed arrangement counts too); and p = (c + 1)/(R + 1) (Noreen 1989; Phipson & Smyth 2010,
doi:10.2202/1544-6115.1585), which is never 0 and is 1 for identical systems. Tests of means of segment scores need no
replicates: their p comes from a distribution in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, signature, types
from .._core import Progress
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Metric, MetricLike, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import CountSample, Group, Problems, Reduction, Replicates, is_batch, reached
from ..resampling.schemes import NONE, SCHEMES, Shuffled, Shuffling, null_distribution, shuffle, shuffle_each
from ..resampling.stopping import AnyRule
from ..resampling.stopping import resolve as resolve_stopping
from ..results import SignificanceResult, UsedTest
from ..settings import ComparisonSettings, DocumentIds, Resampling, StratumIds, Units
from ..validate import check_name
from .estimates import ANY, MEANS, check_kind
from .hypotheses import COLUMNS, Hypotheses, Outcome
from .multiplicity import Adjustment, Unadjusted, check_adjustment
from .pvalues import pvalue, threshold

__all__ = ["ALTERNATIVES", "TESTS", "SignificanceTest", "approximate_randomization", "bootstrap_test"]

ALTERNATIVES = ("two-sided", "greater", "less")

BY_COINS = Shuffling()

# The largest numbers of differences, without and with ties, for which the signed-rank test is exact.
MOST_EXACT_RANKS = 50
MOST_EXACT_TIES = 13


@dataclass(frozen=True, eq=False)
class Observed:
    """What was observed about the hypotheses of one test set, and how to test them.

    ``besides`` is what else an adjustment needs of the shuffles that the test goes through.
    """

    replicates: Replicates
    hypotheses: Hypotheses
    alternative: str
    shuffling: Shuffling
    besides: Sequence[Reduction[Any, Any]] = ()

    @lazy
    def _scores(self) -> Scores:
        """The scores of a and b: (2, H)."""
        scores = np.array([sample.scores for sample in self.replicates.samples])
        of_both: Scores = scores[self.hypotheses.metric, self.hypotheses.systems]
        return of_both

    @lazy
    def statistic(self) -> Scores:
        """t = score(a) − score(b): (H,)."""
        a, b = self._scores
        difference: Scores = a - b
        return difference

    @lazy
    def thresholds(self) -> Scores:
        """What replicates have to reach: see :func:`threshold`."""
        a, b = self._scores
        return threshold(self.statistic, a, b, self.alternative)

    def drawn(self, hypothesis: int) -> Scores:
        """The difference on every draw: (R,)."""
        scores = self.replicates.draws[self.hypotheses.metric[hypothesis]]
        return np.asarray(scores[self.hypotheses.a[hypothesis]] - scores[self.hypotheses.b[hypothesis]])


def _approximate_randomization(observed: Observed) -> Outcome:
    """Shuffle the two outputs of each segment: Riezler & Maxwell 2005, Fig. 1."""
    hypotheses = observed.hypotheses
    shuffled, kept = shuffle(
        observed.replicates,
        hypotheses.pairs,
        hypotheses.table(observed.thresholds),
        observed.alternative,
        observed.shuffling,
        observed.besides,
    )
    return _of_shuffles(observed, shuffled, kept)


def _of_shuffles(observed: Observed, shuffled: Shuffled, kept: Sequence[Any] = ()) -> Outcome:
    """What shuffles say about the hypotheses."""
    pvalues = pvalue(shuffled.exceedances, shuffled.n_resamples, shuffled.includes_observed)
    if shuffled.probability is not None:
        pvalues = np.where(shuffled.n_resamples == NONE, shuffled.probability, pvalues)
    return Outcome(
        observed.statistic,
        pvalues.ravel(),
        shuffled.exceedances.ravel(),
        shuffled.n_resamples.ravel(),
        scheme=shuffled.scheme.ravel(),
        bits=None if shuffled.bits is None else shuffled.bits.ravel(),
        by_rule=None if shuffled.by_rule is None else shuffled.by_rule.ravel(),
        kept=kept,
    )


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


def _on_draws(count: Callable[[Scores, float, float, str], int]) -> Callable[[Observed], Outcome]:
    """Apply a test of one pair's differences on the draws to every hypothesis."""

    def outcome(observed: Observed) -> Outcome:
        exceedances, wins, ties = np.empty((3, len(observed.hypotheses)), dtype=np.int64)
        for h, (statistic, eased) in enumerate(zip(observed.statistic, observed.thresholds, strict=True)):
            drawn = observed.drawn(h)
            exceedances[h] = count(drawn, float(statistic), float(eased), observed.alternative)
            wins[h], ties[h] = (drawn > 0).sum(), (drawn == 0).sum()
        n = np.full(len(exceedances), observed.replicates.n_resamples)
        p = pvalue(exceedances, n)
        return Outcome(observed.statistic, p, exceedances, n, wins=wins, ties=ties)

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
        null = _core.subset_sum_distribution(ranks.astype(np.uint64))
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


def _on_segments(test: Callable[[Scores, str], float]) -> Callable[[Observed], Outcome]:
    """Apply a test of one pair's differences on the segments to every hypothesis, all of them about means."""

    def outcome(observed: Observed) -> Outcome:
        hypotheses, samples = observed.hypotheses, observed.replicates.samples
        pvalues = np.ones(len(hypotheses))
        for h, (m, a, b) in enumerate(zip(hypotheses.metric, hypotheses.a, hypotheses.b, strict=True)):
            differences = samples[m].values(a, b)
            if differences.any():  # nothing speaks against the null if no segment differs
                pvalues[h] = test(differences, observed.alternative)
        none = np.full(len(hypotheses), NONE)
        return Outcome(observed.statistic, pvalues, none, none)

    return outcome


@dataclass(frozen=True)
class SignificanceTest:
    """A test as the registry knows it.

    ``outcome(observed)`` gives what it finds for all hypotheses. ``replicates`` is what its replicates are called, None
    if it has none; ``kind`` what it needs of a metric (:mod:`reshuffle.inference.estimates`).
    """

    name: str
    title: str
    about: str
    source: str
    outcome: Callable[[Observed], Outcome]
    alternatives: tuple[str, ...] = ALTERNATIVES
    replicates: str | None = "shuffles"
    kind: str = ANY


TESTS: Mapping[str, SignificanceTest] = {
    test.name: test
    for test in (
        SignificanceTest(
            "ar",
            "approximate randomization",
            "swap the two systems' outputs of random segments; exact under exchangeability",
            "W05-0908, Fig. 1",
            _approximate_randomization,
        ),
        SignificanceTest(
            "bootstrap",
            "centred bootstrap",
            "draw segments with replacement, centre the differences on 0; stays close to its nominal level",
            "doi:10.2307/2532163",
            _on_draws(_centred),
            replicates="draws",
        ),
        SignificanceTest(
            "bootstrap-shift",
            "bootstrap with shift",
            "as published, absolute value before centring; rejects about twice as often as it should",
            "W05-0908, Fig. 2",
            _on_draws(_shift),
            alternatives=("two-sided",),
            replicates="draws",
        ),
        SignificanceTest(
            "paired-bootstrap",
            "paired bootstrap",
            "the share of draws that the better system does not win; one-sided in the observed direction",
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
            "for means of segment scores; tests whether their differences are symmetric about 0",
            "doi:10.2307/3001968",
            _on_segments(_wilcoxon),
            replicates=None,
            kind=MEANS,
        ),
        SignificanceTest(
            "sign-test",
            "sign test",
            "for means of segment scores; tests whether both systems win equally many segments",
            "doi:10.1080/01621459.1946.10501898",
            _on_segments(_sign_test),
            replicates=None,
            kind=MEANS,
        ),
    )
}


def check_test(name: str, alternative: str, *metrics: Metric | CorpusFunction) -> SignificanceTest:
    """The test of that name, or :class:`InputError` if there is none, or not with this alternative or these metrics."""
    check_name("test", name, TESTS)
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
    given: ComparisonSettings, test: SignificanceTest, adjustment: Adjustment | None = None, alpha: float | None = None
) -> Shuffling:
    """How to go through the shuffles of tests, if alpha is given at this level.

    :class:`InputError` if there is no scheme or rule of that name, or if they are not for this test or this adjustment,
    or not for one another.
    """
    scheme = given.scheme
    check_name("scheme", scheme, SCHEMES)
    rule = resolve_stopping(given.stopping)
    if test.replicates != "shuffles":
        if rule is not None:
            raise InputError(f"a stopping rule is for the test 'ar', not for {test.name!r}: leave it out, or use 'ar'")
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
                f"adjustment {adjustment.name!r} needs all shuffles of every pair, but a stopping rule ends those of "
                "each pair early: leave out the rule, or use 'holm' with the rule 'besag-clifford'"
            )
        if not by_coins:
            raise InputError(
                f"adjustment {adjustment.name!r} needs the scheme 'iid', got {scheme!r}: leave out the scheme"
            )
        return Shuffling()
    if rule is None:
        return Shuffling(scheme)
    if not by_coins:
        raise InputError(
            f"a stopping rule needs independent shuffles, as the scheme 'iid' makes them, not those of {scheme!r}: "
            "leave out the scheme or the rule"
        )
    if adjustment is not None and not rule.valid_at_all_levels:
        raise InputError(
            f"the stopping rule {rule.name!r} decides at one level and only estimates p, so adjustment "
            f"{adjustment.name!r} cannot use it: use the rule 'besag-clifford', or leave out the rule or the adjustment"
        )
    return Shuffling("iid", rule if alpha is None else rule.at(alpha))


@dataclass(frozen=True)
class Plan:
    """Which test, how it goes through shuffles, and how p is adjusted: all of them checked to go together."""

    test: SignificanceTest
    alternative: str
    shuffling: Shuffling = BY_COINS
    adjustment: Adjustment | None = None

    @classmethod
    def of(cls, given: ComparisonSettings, *metrics: Metric | CorpusFunction, alpha: float | None = None) -> Plan:
        """From what a caller chose, for these metrics; :class:`InputError` for what does not go together."""
        test = check_test(given.test, given.alternative, *metrics)
        adjustment = check_adjustment(given.adjust, test.name, test.replicates == "shuffles")
        return cls(test, given.alternative, check_shuffling(given, test, adjustment, alpha), adjustment)

    @property
    def used(self) -> UsedTest:
        """For the record."""
        adjustment, rule = self.adjustment, self.shuffling.stopping
        return UsedTest(
            self.test.name,
            self.test.title,
            self.alternative,
            self.test.replicates,
            adjustment=None if adjustment is None else adjustment.name,
            adjustment_title=None if adjustment is None else adjustment.title,
            stopping=None if rule is None else rule.signature,
        )


def run_tests(plan: Plan, sets: Sequence[Replicates], hypotheses: Hypotheses) -> Outcome:
    """Test hypotheses about one or more test sets, of each of which there are ``Replicates``."""
    outcomes = [_of_set(plan, replicates, hypotheses.of_set(t)) for t, replicates in enumerate(sets)]
    return outcomes[0] if len(outcomes) == 1 else Outcome.joined(outcomes)


def _of_set(plan: Plan, replicates: Replicates, hypotheses: Hypotheses) -> Outcome:
    """Test the hypotheses about one test set, all on the same replicates."""
    adjustment = plan.adjustment
    besides = () if adjustment is None else adjustment.besides
    observed = Observed(replicates, hypotheses, plan.alternative, plan.shuffling, besides)
    outcome = plan.test.outcome(observed)
    if adjustment is None:
        return outcome
    tested = Unadjusted(replicates, hypotheses, plan.alternative, observed.thresholds, outcome)
    return replace(outcome, adjusted=adjustment.adjust(tested))


def records(
    plan: Plan,
    sets: Sequence[Replicates],
    hypotheses: Hypotheses,
    outcome: Outcome,
    labels: Sequence[str] | None = None,
    n_references: str | None = None,
) -> list[SignificanceResult]:
    """What was found about each hypothesis, for people.

    ``labels`` name the metrics, by default as they are called; ``n_references`` is for signatures.
    """
    rule, name = plan.shuffling.stopping, plan.test.name
    runs: dict[tuple[int, str | None, int | None], tuple[int | None, str]] = {}  # seed and part of the signature
    found: list[SignificanceResult] = []
    columns = [hypotheses.test_set, hypotheses.metric, *[getattr(outcome, column) for column in COLUMNS]]
    nothing = [None] * len(hypotheses)
    of_each = [nothing if column is None else column.tolist() for column in columns]
    for t, m, statistic, p, exceedances, n, adjusted, scheme, bits, by_rule, wins, ties in zip(*of_each, strict=True):
        replicates = sets[t]
        metric = replicates.samples[m].metric
        if (t, scheme, bits) not in runs:
            seed = None if plan.test.replicates is None or scheme == "exact" else replicates.seed
            made = None if bits is None or bits == NONE else signature.for_scheme(scheme, bits)
            runs[t, scheme, bits] = seed, run_of(plan, replicates, made, seed).line
        seed, line = runs[t, scheme, bits]
        found.append(
            SignificanceResult(
                test=name,
                metric=metric.name if labels is None else labels[m],
                statistic=statistic,
                pvalue=p,
                alternative=plan.alternative,
                exceedances=_known(exceedances),
                n_resamples=_known(n),
                seed=seed,
                signature=signature.joined((metric.signature(n_references), line)),
                wins=_known(wins),
                ties=_known(ties),
                adjusted_pvalue=adjusted,
                scheme=scheme,
                stopping=None if rule is None else rule.used(replicates.n_resamples, by_rule),
            )
        )
    return found


def _known(number: int | None) -> int | None:
    return None if number == NONE else number


def run_of(plan: Plan, replicates: Replicates, scheme: str | None, seed: int | None) -> signature.Run:
    """What the signature of a test tells of it; of tests without replicates nothing of units."""
    rule, strata = plan.shuffling.stopping, replicates.strata
    resampled = plan.test.replicates is not None
    return signature.Run(
        test=plan.test.name,
        alternative=plan.alternative,
        adjust=None if plan.adjustment is None else plan.adjustment.name,
        scheme=scheme,
        stopping=None if rule is None else rule.signature,
        strata=strata.n_strata if strata is not None and plan.test.replicates == "draws" else None,
        unit=replicates.unit if resampled else None,
        units=replicates.n_units,
        n=replicates.n_resamples,
        seed=seed,
    )


ONE_PAIR = Hypotheses.of_pairs([(0, 1)])


# The values of the null distribution, and their probabilities if they are not equally likely.
Null: TypeAlias = tuple[Scores, Scores | None]


def _test(
    plan: Plan,
    systems: tuple[MetricLike | None, ArrayLike, ArrayLike],
    units: Units,
    resampling: Resampling,
    null: Callable[[Replicates, SignificanceResult], Null] | None,
) -> SignificanceResult:
    """The test of two systems, or of two in each problem of a batch; ``null`` makes the null distribution to keep."""
    metric, a, b = systems
    if is_batch(a, metric):
        if null is not None:
            raise InputError(
                "null distributions of a batch are not kept: leave keep_null_distribution out, or test the problems "
                "whose distributions you want one by one"
            )
        return _batch(plan, Problems.of(metric, a, b, units, resampling.seed), resampling)
    replicates = Replicates.of([CountSample.of_arrays(metric, a, b, units)], resampling)
    (result,) = records(plan, [replicates], ONE_PAIR, run_tests(plan, [replicates], ONE_PAIR))
    if null is None:
        return result
    values, probabilities = null(replicates, result)
    return replace(result, null_distribution=values, null_probabilities=probabilities)


def _batch(plan: Plan, problems: Problems, resampling: Resampling) -> SignificanceResult:
    """The test of two systems in each of many problems, as if each were alone."""
    numbers: list[int] = []
    outcomes: list[Outcome] = []
    for group in problems.groups:
        together = _together(plan, group, problems, resampling)
        numbers += group.numbers.tolist()
        if together is not None:
            outcomes.append(together)
        else:
            each = (problems.replicates(group, at, resampling) for at in range(len(group.numbers)))
            outcomes += [_of_set(plan, replicates, ONE_PAIR) for replicates in each]
    outcome = Outcome.joined(outcomes).at(np.argsort(numbers))
    return _record_of_batch(plan, problems, resampling, outcome)


def _together(plan: Plan, group: Group, problems: Problems, resampling: Resampling) -> Outcome | None:
    """The tests of all problems under one metric in one call, if the core can make them so."""
    shuffling = plan.shuffling
    if plan.test.replicates != "shuffles" or shuffling.stopping is not None or shuffling.scheme == "subgroup":
        return None
    sample = CountSample.of_turns(group.metric, group.arrays, problems.unit)
    pairs = [(2 * problem, 2 * problem + 1) for problem in range(len(group.numbers))]
    seeds = problems.seeds[group.numbers]
    replicates = Replicates.of([sample], replace(resampling, seed=int(seeds[0])))  # only their number matters
    observed = Observed(replicates, Hypotheses.of_pairs(pairs), plan.alternative, shuffling)
    thresholds = observed.thresholds[None]
    shuffled = shuffle_each(observed.replicates, thresholds, plan.alternative, shuffling.scheme, seeds)
    return None if shuffled is None else _of_shuffles(observed, shuffled)


def _record_of_batch(plan: Plan, problems: Problems, resampling: Resampling, outcome: Outcome) -> SignificanceResult:
    """What was found in each problem, in one record of arrays."""
    metric = problems.groups[0].metric
    replicates = problems.replicates(problems.groups[0], 0, resampling)
    scheme = outcome.scheme
    names = set() if scheme is None else set(scheme.tolist()) - {"iid"}
    made_of = None if scheme is None or not names else "+".join(sorted(set(scheme.tolist())))
    run = run_of(plan, replicates, made_of, replicates.seed)
    each_its_own = np.ndim(resampling.seed) > 0
    if each_its_own:
        run = run._replace(seed=signature.for_seeds(problems.seeds.tolist()))
    rule = plan.shuffling.stopping
    of_metric = {group.metric.signature() for group in problems.groups}
    return SignificanceResult(
        test=plan.test.name,
        metric=metric.name,
        statistic=outcome.statistic,
        pvalue=outcome.pvalue,
        alternative=plan.alternative,
        exceedances=outcome.exceedances,
        n_resamples=outcome.n_resamples,
        seed=problems.seeds if each_its_own else int(problems.seeds[0]),
        signature=signature.joined([*sorted(of_metric), signature.for_batch(len(problems)), run.line]),
        wins=outcome.wins,
        ties=outcome.ties,
        scheme=scheme,
        stopping=None if rule is None else rule.used(resampling.n_resamples, outcome.by_rule),
    )


def approximate_randomization(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    documents: DocumentIds | None = None,
    scheme: types.Scheme | str = "auto",
    stopping: types.Stopping | str | AnyRule | None = None,
    n_resamples: int = 10_000,
    alternative: types.Alternative | str = "two-sided",
    seed: int | ArrayLike = 12345,
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
             if that costs no more than ``iid``, and no
             rule is to stop shuffles; else ``iid``
    ======== ============================================= ========================================================

    Not for segments that depend on one another (sentences of one document) unless ``documents`` are given: then whole
    documents are swapped, and the null hypothesis is about these. Not for systems each of which was trained or tuned
    several times: there the unit to swap is the run.

    Parameters
    ----------
    a, b : (S, K) array_like of int, or (S,) array_like of float
        The counts of each segment, as :meth:`reshuffle.NativeMetric.suff_stats` gives them; or one score for
        each segment, from any metric or human rater. Arrays of shape (batch, S, K) or (batch, S), the latter of floats,
        are many problems, tested in one call as each would be alone.
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
    seed : int, or (batch,) array_like of int
        0 to 2⁶⁴ − 1. The same seed gives the same replicates on any machine and number of threads. Problems of a batch
        have the same seed, or one each.
    keep_null_distribution : bool
        Keep the statistic of every shuffle, 8·R bytes, or of those that were looked at if they were stopped; by
        convolution every value it takes, and their probabilities. Not for a batch.
    threads : int, optional
        As many as there are cores by default.
    progress : Progress, optional
        Tells another thread how far the test has come.

    Returns
    -------
    SignificanceResult
        For a batch its numbers are arrays.

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
    segment score. Then t depends on one sum ±d_1 ± d_2 …, whose law takes at most d·Σ\|d_s\|/g additions, g the
    greatest common divisor of the d_s; p is right to d·2⁻⁵² of itself. ``exact`` makes at most 1.5·10¹¹ additions,
    ``auto`` as many as R shuffles would cost, by an estimate that is the same on every machine.

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

    Three problems in one call, each with a seed of its own:

    >>> accuracy = lambda totals: totals[..., 0] / 8
    >>> approximate_randomization([a, b, a], [b, a, a], accuracy, seed=[1, 2, 3]).pvalue
    array([0.21875, 0.21875, 1.     ])

    Scores of segments that came from elsewhere need no metric:

    >>> result = approximate_randomization([0.81, 0.84, 0.79, 0.9], [0.75, 0.8, 0.8, 0.85])
    >>> round(result.statistic, 3), result.pvalue
    (0.035, 0.25)
    """
    plan = Plan.of(ComparisonSettings("ar", scheme, stopping, alternative))

    def null(replicates: Replicates, result: SignificanceResult) -> Null:
        if result.stopping is not None and result.n_resamples is not None:
            replicates = replicates.first(result.n_resamples)
        return null_distribution(replicates, (0, 1), plan.shuffling.scheme)

    resampling = Resampling(n_resamples, seed, threads, progress)
    return _test(plan, (metric, a, b), Units(documents), resampling, null if keep_null_distribution else None)


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    metric: MetricLike | None = None,
    *,
    method: types.BootstrapMethod | str = "centred",
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    n_resamples: int = 10_000,
    alternative: types.Alternative | str = "two-sided",
    seed: int | ArrayLike = 12345,
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

    def null(replicates: Replicates, result: SignificanceResult) -> Null:
        (scores,) = replicates.draws
        drawn = scores[0] - scores[1]
        return drawn - drawn.mean(), None

    plan = Plan.of(ComparisonSettings(BOOTSTRAP_METHODS[method], alternative=alternative))
    resampling = Resampling(n_resamples, seed, threads, progress)
    return _test(plan, (metric, a, b), Units(documents, strata), resampling, null if keep_null_distribution else None)


BOOTSTRAP_METHODS = {"centred": "bootstrap", "shift": "bootstrap-shift", "paired": "paired-bootstrap"}
