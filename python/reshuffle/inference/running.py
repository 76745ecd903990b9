"""Running a plan on the replicates of test sets, and the public records of its outcomes.

Of simultaneous confidence intervals, the confidence level is the probability that all intervals of a family are right.
As the adjustments to which they belong, they have this level in large samples.

The interval of a difference d is d − c·s₋ to d + c·s₊. c is the critical value of the largest standardized deviation
in the family, and s₋ and s₊ are the scales of the deviations below and above d. Such intervals correspond to the
single-step form of the adjustment that decides about stars (Westfall & Young 1993, 2.3). Its step-down form rejects
whatever the single-step form rejects. So a difference whose interval excludes 0 has a star, but a difference with a
star may have an interval that contains 0.

If an adjusted p is the largest of several p-values, the interval contains those that correspond to each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from .. import signature
from ..errors import InputError
from ..metrics.base import Scores
from ..options.declare import taken
from ..resampling import Replicates, directed
from ..resampling.averaged import AveragedSample
from ..resampling.exact import MISSING
from ..results import SignificanceResult
from ..validate import default_alpha
from .estimates import Estimate
from .few_differing import FOR_FEW, Index, adjusted_for_few, at_kink, few_differing, near_kink, retested
from .hypotheses import Hypotheses, Observed, Outcome
from .intervals import INTERVALS
from .plan import Plan
from .step_down import Adjusted, Band, StepDown, rank_for_intervals


def simultaneous_ends(observed: Observed, adjusted: Adjusted, step_down: StepDown, level: float) -> Scores:
    """The lower and the upper ends of the intervals of all differences: (2, H).

    An end is itself part of the interval. ``level`` is the confidence level for a family. :class:`InputError` if there
    are too few replicates for it, or if an interval would be infinite.
    """
    alpha = default_alpha(level)
    if step_down.dual is not None:
        rank_for_intervals(observed.replicates.n_resamples, alpha, observed.tails)
    ends = [_ends_of_band(observed, band, alpha) for band in adjusted.bands]
    if step_down.dual is not None:
        hypotheses, dual = observed.hypotheses, INTERVALS[step_down.dual]
        systems = zip(hypotheses.metric.tolist(), hypotheses.a.tolist(), hypotheses.b.tolist(), strict=True)
        single = [dual.ends(Estimate(observed.replicates, m, a, b), level) for m, a, b in systems]
        ends.append(np.array(single).T)
    lower, upper = np.array(ends).swapaxes(0, 1)
    return np.array([lower.min(axis=0), upper.max(axis=0)])


def _ends_of_band(observed: Observed, band: Band, alpha: float) -> Scores:
    """The ends by one statistic: (2, H)."""
    # The maximum over a family whose differences are all constant is −∞. Their intervals have a width of 0.
    critical = np.empty(len(observed.hypotheses))
    for family, value in zip(observed.hypotheses.families(), band.critical(alpha).tolist(), strict=True):
        critical[family] = max(value, 0)
    if np.isinf(critical).any():
        raise InputError(
            "simultaneous intervals would be infinite, because too many replicates have a standard error of 0: use "
            "another test"
        )
    difference = observed.statistic
    lower, upper = difference - critical * band.below, difference + critical * band.above
    # A critical value within the tolerance of the observed one is a tie. Then p > α, and 0 is an end.
    tie = critical >= band.to_reach
    return np.array([np.where(tie, np.minimum(lower, 0), lower), np.where(tie, np.maximum(upper, 0), upper)])


NO_INDICES: Index = np.empty(0, dtype=np.intp)


def run_tests(plan: Plan, sets: Sequence[Replicates], hypotheses: Hypotheses, *, histograms: bool = False) -> Outcome:
    """Test hypotheses about one or more test sets, from the replicates of each test set.

    With ``histograms``, the outcome has the null distributions (:attr:`Outcome.null`).
    """
    outcomes = [
        run_on_test_set(plan, replicates, hypotheses.on_test_set(t), histograms=histograms)
        for t, replicates in enumerate(sets)
    ]
    if len(outcomes) == 1:
        return outcomes[0]
    outcome = Outcome.concatenate(outcomes)
    if plan.adjustment is None or plan.n_sets == 1:
        return outcome
    return replace(outcome, adjusted=plan.adjustment.over_sets(hypotheses, outcome))


def run_on_test_set(plan: Plan, replicates: Replicates, hypotheses: Hypotheses, *, histograms: bool = False) -> Outcome:
    """Test the hypotheses about one test set, all on the same replicates.

    p is adjusted within the test set, even if families extend over several.
    """
    observed = _observed(plan, replicates, hypotheses, histograms)
    few = few_differing(observed) if plan.automatic else NO_INDICES
    near = near_kink(observed, few) if few.size else NO_INDICES
    if few.size and few.size == len(hypotheses):  # one test for all, and its own adjustment
        plan, few = plan.for_few, near
        observed = _observed(plan, replicates, hypotheses, histograms)
        outcome = replace(_unadjusted(plan, observed), test=FOR_FEW)
    else:
        outcome = _unadjusted(plan, observed)
        if few.size:
            outcome = retested(observed, outcome, few)
    if near.size:
        outcome = at_kink(observed, outcome, near)
    return outcome if plan.adjustment is None else _adjusted(plan, observed, outcome, few)


def _observed(plan: Plan, replicates: Replicates, hypotheses: Hypotheses, histograms: bool) -> Observed:
    """The data of the hypotheses, with what the test and its adjustment need."""
    step_down = plan.step_down
    return taken(
        Observed,
        plan,
        replicates=replicates,
        hypotheses=hypotheses.in_rows_of(replicates.samples),
        extra=() if step_down is None else step_down.reductions(len(hypotheses), replicates.n_resamples),
        every_statistic=plan.inverted or step_down is not None,
        histograms=histograms,
    )


def _unadjusted(plan: Plan, observed: Observed) -> Outcome:
    """The outcome of the plan's test for all hypotheses."""
    step_down = plan.step_down
    run = plan.test.run if step_down is None or step_down.run is None else step_down.run
    outcome = run(observed)
    if observed.replicates.is_replay:
        outcome = replace(outcome, scheme="replay")
    # The null hypothesis of a margin is not a difference of 0, so draws centred on 0 are not its null distribution.
    if observed.histograms and plan.test.replicates == "draws" and plan.test.margin is None:
        outcome = replace(outcome, null=observed.null_distributions_of_draws())
    return outcome


def _adjusted(plan: Plan, observed: Observed, outcome: Outcome, few: Index) -> Outcome:
    """The outcome with adjusted p-values. ``few`` are the hypotheses that other tests decide than the plan's."""
    assert plan.adjustment is not None
    step_down = plan.step_down
    adjusted = plan.adjustment.adjust(observed, outcome, step_down)
    pvalues = adjusted.pvalues
    if few.size and step_down is not None:
        pvalues = adjusted_for_few(observed, outcome.pvalue, pvalues, few)
    outcome = replace(outcome, adjusted=pvalues)
    if plan.simultaneous is None or step_down is None:
        return outcome
    level = plan.simultaneous ** (1 / plan.n_sets)  # on each of n independent test sets
    low, high = simultaneous_ends(observed, adjusted, step_down, level)
    return replace(outcome, low=low, high=high)


# The columns of an outcome that public results have.
shown_columns = attrgetter(
    "statistic", "pvalue", "exceedances", "n_resamples", "adjusted", "test", "scheme", "bits", "stopped", "wins",
    "ties", "tails", "standard_error",
)  # fmt: skip


def records(
    plan: Plan,
    replicates: Replicates,
    hypotheses: Hypotheses,
    outcome: Outcome,
    labels: Sequence[str] | None = None,
    n_references: str | None = None,
) -> list[SignificanceResult]:
    """The public result of each hypothesis about one test set.

    ``labels`` are the names of the metrics in results, by default the metrics' own names. ``n_references`` is the
    number of references as signatures write it.
    """
    rule = plan.shuffling.stopping
    # The seed and the run's part of the signature, by what they depend on. Most hypotheses share it.
    runs: dict[tuple[str, float | None, str | None, int | None], tuple[int | None, str]] = {}
    results: list[SignificanceResult] = []
    n_tests = len(outcome.pvalue)
    columns = [
        column.tolist() if isinstance(column, np.ndarray) else [column] * n_tests
        for column in (hypotheses.metric, *shown_columns(outcome))
    ]
    for m, statistic, p, exceedances, n, adjusted, other, scheme, bits, stopped, wins, ties, tails, error in zip(
        *columns, strict=True
    ):
        sample = replicates.samples[m]
        metric = sample.metric
        used = plan.for_few_by(other) if other else plan
        name, label = used.test.name_for(metric), metric.name if labels is None else labels[m]
        margin = plan.margins[m] if plan.margins else None
        key = name, margin, scheme, bits
        if key not in runs:
            seed = None if used.test.replicates is None or scheme in ("exact", "replay") else replicates.seed
            scheme_part = None if bits is None or bits == MISSING else signature.for_scheme(scheme, bits)
            if scheme == "replay":
                scheme_part = signature.for_replay(replicates.n_resamples)
            shown = None if margin is None else signature.for_margins([margin])
            run = run_signature(used, replicates, scheme_part, seed, test=name, margin=shown)
            runs[key] = seed, signature.for_run(run)
        seed, line = runs[key]
        results.append(
            SignificanceResult(
                test=name,
                metric=label,
                statistic=statistic,
                pvalue=p,
                alternative=directed(plan.test.carried_out(plan.alternative), metric.higher_is_better),
                exceedances=None if exceedances == MISSING else exceedances,
                n_resamples=None if n == MISSING else n,
                seed=seed,
                signature=f"{metric.signature(n_references)}|{line}",
                wins=None if wins == MISSING else wins,
                ties=None if ties == MISSING else ties,
                adjusted_pvalue=adjusted,
                scheme=scheme or None,
                stopping=None if rule is None else rule.used(replicates.n_resamples, stopped),
                caveats=used.caveats_of(sample, label),
                tails=used.tails if tails is None else tails,
                standard_error=None if error is None or math.isnan(error) else error,
                margin=margin,
            )
        )
    return results


def run_signature(
    plan: Plan, replicates: Replicates, scheme: str | None, seed: int | None, **others: str | None
) -> dict[str, Any]:
    """The parts of the run in the signature of a test. Resampling units and strata are among them if p depends on them.

    ``others`` are parts that are not as in the plan.
    """
    strata, sample = replicates.strata, replicates.samples[0]
    on_units = plan.test.replicates is not None or plan.test.approximate_unless_mean
    on_strata = plan.test.replicates == "draws" or plan.test.approximate_unless_mean
    return {
        **plan.signature,
        "average": sample.n_sets if isinstance(sample, AveragedSample) else None,
        "scheme": scheme,
        "strata": strata.n_strata if strata is not None and on_strata else None,
        "unit": signature.for_unit(replicates.unit, replicates.n_units) if on_units else None,
        **({} if seed is None else signature.drawn(replicates.n_resamples, seed)),
        **others,
    }
