"""The registry of significance tests, and the functions that check, run and record them.

To add a test, write a function from :class:`~reshuffle.inference.hypotheses.Observed` to
:class:`~reshuffle.inference.hypotheses.Outcome` in :mod:`reshuffle.inference.randomization`, ``bootstrap``,
``closed_form`` or a new module, and add an entry to :data:`TESTS`.

In all tests t is score(a) − score(b). In tests with replicates, a replicate counts if it is at least as extreme as t,
and p = (c + 1)/(R + 1) for c such replicates of R (Noreen 1989; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585), or
twice that for a test that doubles the smaller tail. So p is never 0, and it is 1 for identical systems. Tests of means
of segment scores have a p-value in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import signature
from ..errors import Argument, InputError, either
from ..metrics.base import Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..metrics.precomputed import SegmentScores
from ..resampling import Replicates, Sample
from ..resampling.averaged import AveragedSample
from ..resampling.schemes import SCHEMES, Shuffling
from ..resampling.stopping import resolve as resolve_stopping
from ..results import Caveat, SignificanceResult, UsedTest
from ..settings import ComparisonSettings, Levels, default_alpha
from ..validate import check_name
from . import anova, best, bootstrap, closed_form, permutation, randomization, studentized
from .enough import for_pvalue
from .estimates import ANY, MEANS, check_kind
from .hypotheses import (
    COLUMNS,
    FAMILIES,
    MISSING,
    ON_ONE_SET,
    OVER_METRICS,
    OVER_SETS,
    Hypotheses,
    Observed,
    Outcome,
    family_size,
)
from .intervals import INTERVALS, Interval
from .multiplicity import ADJUSTMENTS, Adjustment, per_comparison_level
from .simultaneous import simultaneous_ends
from .step_down import (
    MAX_T_OF_BOTH,
    MAX_T_OF_CENTRED_DRAWS,
    MAX_T_OF_PERCENTILES,
    MAX_T_OF_SHUFFLES,
    MIN_P_OF_SHUFFLES,
    StepDown,
    Unadjusted,
)

__all__ = [
    "ADJUSTMENT_CHOICES",
    "ALTERNATIVES",
    "INSTEAD",
    "TESTS",
    "Plan",
    "SignificanceTest",
    "check_test",
    "records",
    "run_on_test_set",
    "run_signature",
    "run_tests",
]

ALTERNATIVES = ("two-sided", "greater", "less")

IID = Shuffling()

# Adjustments that users choose: those of the registry, and two that are resolved to one of them or to none.
ADJUSTMENT_CHOICES: Mapping[str, str] = {
    "auto": "the default: maxt, or tukey for anova and permutation; holm for other tests without maxt, with the "
    "schemes exact and subgroup, and with besag-clifford; none for a single comparison and with gandy",
    "none": "p is not adjusted; the report has the chance of any false star, and a level for each test that limits it",
    **{adjustment.name: f"{adjustment.title}: {adjustment.about}" for adjustment in ADJUSTMENTS.values()},
}


@dataclass(frozen=True)
class SignificanceTest:
    """An entry of the registry.

    Attributes
    ----------
    name, title, about, source : str
        The name that users type, the name in reports, a description, and the paper.
    run : callable
        A function from the observed data for the hypotheses about one test set to their outcomes.
    alternatives : tuple of str
        The alternatives that the test supports.
    replicates : {'shuffles', 'draws', 'permutations'} or None
        The kind of its replicates; None for tests in closed form.
    kind : str
        The kind of metric that it needs: ``ANY`` or ``MEANS`` (:mod:`reshuffle.inference.estimates`).
    tails : int
        2 if its two-sided p is, or may be, twice the share of the smaller tail. Its smallest two-sided p is
        ``tails``/(R + 1).
    step_down : mapping of str to StepDown
        The adjustments that only some tests support, by name, its default first. All tests support adjustments of
        p-values.
    for_texts : str or None
        The test that functions of texts get instead, if it needs counts.
    in_batches : bool
        Whether the core tests a batch of problems in one call.
    needs_exchangeable : bool
        Whether it rejects at the wrong rate if the outputs of a unit are not exchangeable.
    liberal : float or None
        The share of true null hypotheses that it rejects at .05, if that is far more than .05.
    liberal_family : float or None
        For a test that needs all systems of a family to be exchangeable, a family-wise error rate at .05 measured where
        their variances differ.
    needs_all_systems : bool
        Whether it needs the scores of all systems on each segment, even to compare two.
    approximate_unless_mean : bool
        Whether it uses jackknife pseudo-values for scores that are not means of segment scores, so that it is
        approximate for them.
    averages : bool
        Whether it can compare averages over test sets: whether it counts replicates of differences.
    best : callable or None
        Hsu's multiple comparisons with the best: from the replicates and the index of a metric to the p-value of each
        system (:mod:`reshuffle.inference.best`).
    """

    name: str
    title: str
    about: str
    source: str
    run: Callable[[Observed], Outcome]
    alternatives: tuple[str, ...] = ALTERNATIVES
    replicates: str | None = "shuffles"
    kind: str = ANY
    tails: int = 1
    step_down: Mapping[str, StepDown] = field(default_factory=dict)
    for_texts: str | None = None
    in_batches: bool = False
    needs_exchangeable: bool = False
    liberal: float | None = None
    liberal_family: float | None = None
    needs_all_systems: bool = False
    approximate_unless_mean: bool = False
    averages: bool = True
    best: Callable[[Replicates, int], Scores] | None = None

    @property
    def adjustments_with_bands(self) -> list[str]:
        """The names of the adjustments that have simultaneous intervals."""
        return [name for name, step_down in self.step_down.items() if step_down.has_bands]

    def name_for(self, metric: Metric | CorpusFunction) -> str:
        """The name of the test that is used for a metric."""
        return self.for_texts if self.for_texts is not None and isinstance(metric, CorpusFunction) else self.name

    def smallest_numerator(self, alternative: str) -> int:
        """The smallest p is this number divided by R + 1."""
        return self.tails if alternative == "two-sided" else 1


TESTS: Mapping[str, SignificanceTest] = {
    test.name: test
    for test in (
        SignificanceTest(
            "ar",
            "approximate randomization",
            "swap the two systems' outputs of random segments; exact under exchangeability",
            "W05-0908, Fig. 1",
            randomization.approximate_randomization,
            step_down={"maxt": MAX_T_OF_SHUFFLES, "minp": MIN_P_OF_SHUFFLES},
            in_batches=True,
            needs_exchangeable=True,
        ),
        SignificanceTest(
            "ar-studentized",
            "studentized approximate randomization",
            "as ar, with each difference divided by its standard error; in large samples also valid for systems with "
            "equal scores that are not exchangeable",
            "doi:10.1214/13-AOS1090",
            studentized.studentized_randomization,
            step_down={"maxt": studentized.MAX_T, "minp": studentized.MIN_P},
            for_texts="ar",
            averages=False,
        ),
        SignificanceTest(
            "permutation",
            "permutation test of all systems",
            "permute the outputs of all systems in each segment; exact if all systems are exchangeable",
            "doi:10.1145/2094072.2094076",
            permutation.permutation_test,
            alternatives=("two-sided",),
            replicates="permutations",
            step_down={"tukey": permutation.TUKEY},
            needs_exchangeable=True,
            liberal_family=0.15,
            needs_all_systems=True,
        ),
        SignificanceTest(
            "bootstrap",
            "centred bootstrap",
            "draw segments with replacement, centre the differences on 0; stays close to its nominal level",
            "doi:10.2307/2532163",
            bootstrap.centred,
            replicates="draws",
            step_down={"maxt": MAX_T_OF_CENTRED_DRAWS},
            best=best.of_centred_draws,
        ),
        SignificanceTest(
            "bootstrap-both",
            "centred and percentile bootstrap",
            "the default: the larger p of bootstrap and bootstrap-percentile, which fail in different cases",
            "Berger 1982, Technometrics 24",
            bootstrap.both,
            replicates="draws",
            tails=2,
            step_down={"maxt": MAX_T_OF_BOTH},
            best=best.of_both,
        ),
        SignificanceTest(
            "bootstrap-percentile",
            "percentile bootstrap",
            "p <= alpha exactly when the percentile interval of the difference excludes 0; smallest p 2/(n + 1)",
            "doi:10.1017/CBO9780511802843, 5.3",
            bootstrap.percentile,
            replicates="draws",
            tails=2,
            step_down={"maxt": MAX_T_OF_PERCENTILES},
            best=best.of_percentiles,
        ),
        SignificanceTest(
            "bootstrap-shift",
            "bootstrap with shift",
            "as published, absolute value before centring; rejects about twice as often as it should",
            "W05-0908, Fig. 2",
            bootstrap.shift,
            alternatives=("two-sided",),
            replicates="draws",
            liberal=0.11,
        ),
        SignificanceTest(
            "paired-bootstrap",
            "paired bootstrap",
            "the share of draws that the better system does not win; one-sided in the observed direction",
            "W04-3250, section 6",
            bootstrap.paired,
            replicates="draws",
            liberal=0.10,
        ),
        SignificanceTest(
            "t-test",
            "paired t-test",
            "for means of segment scores; exact if their differences are normal",
            "doi:10.1093/biomet/6.1.1",
            closed_form.t_test,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
        SignificanceTest(
            "anova",
            "pairwise t-tests with the error pooled over all systems",
            "the error is that of a two-way analysis of variance, systems by segments; approximate unless the score is "
            "a mean of segment scores",
            "W05-0908, 4.4",
            anova.pooled_t_test,
            alternatives=("two-sided",),
            replicates=None,
            step_down={"tukey": anova.TUKEY, "scheffe": anova.SCHEFFE},
            needs_all_systems=True,
            approximate_unless_mean=True,
            averages=False,
            best=best.of_pooled_error,
        ),
        SignificanceTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            "for means of segment scores; tests whether their differences are symmetric about 0",
            "doi:10.2307/3001968",
            closed_form.wilcoxon,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
        SignificanceTest(
            "sign-test",
            "sign test",
            "for means of segment scores; tests whether both systems win equally many segments",
            "doi:10.1080/01621459.1946.10501898",
            closed_form.sign_test,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
    )
}


# What notes recommend if a test needs exchangeable outputs or is liberal: where the score is smooth, and near a kink.
INSTEAD = {False: "ar-studentized", True: "bootstrap-both"}


def check_test(name: str, alternative: str, *metrics: Metric | CorpusFunction) -> SignificanceTest:
    """The test with this name.

    :class:`InputError` if there is none, or if it does not support the alternative or one of the metrics.
    """
    check_name("test", name, TESTS)
    check_name("alternative", alternative, ALTERNATIVES)
    test = TESTS[name]
    if alternative not in test.alternatives:
        supported = " or ".join(map(repr, test.alternatives))
        raise InputError(
            f"test {name!r} takes absolute values, so its alternative must be {supported}, got {alternative!r}: use "
            "'bootstrap-both' or 'ar' for a one-sided test"
        )
    check_kind(f"test {name!r}", test.kind, metrics, ["bootstrap-both", "ar"])
    for m in metrics:
        if test.needs_all_systems and isinstance(m, SegmentScores) and not m.is_complete:
            raise InputError(
                f"test {name!r} needs the scores of all systems on each segment, but {m.name} lacks some: use "
                "'bootstrap-both' or 'ar'"
            )
    return test


def _automatic_adjustment(
    settings: ComparisonSettings, test: SignificanceTest, n_pairs: int, n_metrics: int, n_sets: int
) -> str | None:
    """The name of the adjustment that ``auto`` stands for, or None for none.

    Adjustments from replicates need replicates that all pairs share. Where every family has only one test, Holm's
    method leaves p as it is, so that the test may still be exact.
    """
    if settings.simultaneous:
        return next(iter(test.step_down))
    rule = resolve_stopping(settings.stopping)
    n_tests = n_pairs * n_metrics * (n_sets if settings.family in OVER_SETS else 1)
    if n_tests == 1 or (rule is not None and not rule.valid_at_all_levels):
        return None
    several_metrics = settings.family in OVER_METRICS
    own = [name for name, each in test.step_down.items() if not (each.per_metric and several_metrics)]
    several = family_size(ON_ONE_SET[settings.family], n_pairs, n_metrics) > 1
    shared = several and rule is None and settings.scheme in ("auto", "iid")
    return (own or ["holm"])[0] if shared else "holm"


def _check_adjustment(name: str, test: SignificanceTest, family: str) -> Adjustment:
    """The adjustment with this name; :class:`InputError` if the test or the kind of family does not support it."""
    adjustment = ADJUSTMENTS[name]
    if adjustment.from_replicates and name not in test.step_down:
        others = [
            other.name for other in ADJUSTMENTS.values() if other.name in test.step_down or not other.from_replicates
        ]
        raise InputError(
            "adjustment {adjustment!r} does not support {test}: use {tests}, or the adjustment {others}",
            adjustment=name,
            test=_named(test),
            tests=Argument("test", tuple(other.name for other in TESTS.values() if name in other.step_down)),
            others=either(others),
        )
    if family in OVER_METRICS and name in test.step_down and test.step_down[name].per_metric:
        raise InputError(
            f"adjustment {name!r} compares scores under one metric, so there is no family {family!r}: leave out the "
            "family"
        )
    return adjustment


def _check_simultaneous(settings: ComparisonSettings, test: SignificanceTest) -> None:
    """:class:`InputError` if the settings do not give each interval that excludes 0 its star."""
    supported = {other.name: names for other in TESTS.values() if (names := other.adjustments_with_bands)}
    if test.name not in supported:
        raise InputError(
            "there are no simultaneous intervals for {test}: use {tests}",
            test=_named(test),
            tests=Argument("test", tuple(supported)),
        )
    adjust = "none" if settings.adjust is None else settings.adjust
    if adjust not in ("auto", *supported[test.name]):
        raise InputError(
            "simultaneous intervals for {test} belong to the adjustment {own}, but the adjustment is {adjust!r}: leave "
            "one of them out",
            test=_named(test),
            own=either(map(repr, supported[test.name])),
            adjust=adjust,
        )
    rule = resolve_stopping(settings.stopping)
    if rule is not None or settings.scheme not in ("auto", "iid"):
        what = f"the scheme {settings.scheme!r}" if rule is None else f"the stopping rule {rule.name!r}"
        raise InputError(
            f"simultaneous intervals need the same shuffles for all pairs, which {what} does not provide: leave one of "
            "them out"
        )
    if settings.alternative != "two-sided":
        raise InputError(
            f"simultaneous intervals are two-sided, but the alternative is {settings.alternative!r}: leave one of them "
            "out"
        )


def _named(test: SignificanceTest) -> str:
    """A test in a message. The default is called that, because the user may not know its name."""
    return f"the {'default ' if test.name == ComparisonSettings.test else ''}test {test.name!r}"


def _check_shuffling(
    settings: ComparisonSettings,
    test: SignificanceTest,
    adjustment: Adjustment | None = None,
    alpha: float | None = None,
) -> Shuffling:
    """The scheme and stopping rule of the settings. With ``alpha``, that is the level at which the rule decides.

    :class:`InputError` if a name is unknown, or if scheme, rule, test and adjustment cannot be combined.
    """
    scheme = settings.scheme
    check_name("scheme", scheme, SCHEMES)
    rule = resolve_stopping(settings.stopping)
    if test.replicates != "shuffles":
        if rule is None and scheme == "auto":
            return Shuffling()
        raise InputError(
            "{what} is for tests with shuffles, not for {test}: use {tests}, or leave out the {kind}",
            what=f"the scheme {scheme!r}" if rule is None else f"the stopping rule {rule.name!r}",
            test=_named(test),
            tests=Argument("test", tuple(other.name for other in TESTS.values() if other.replicates == "shuffles")),
            kind="scheme" if rule is None else "rule",
        )
    can_be_iid = scheme in ("auto", "iid")
    if adjustment is not None and adjustment.from_replicates:
        # All pairs must have the same shuffles, and p must come from the same shuffles as the adjusted p.
        if rule is not None:
            raise InputError(
                f"adjustment {adjustment.name!r} needs all shuffles of every pair, but a stopping rule ends those of "
                "each pair early: leave out the rule, or use 'holm' with the rule 'besag-clifford'"
            )
        if not can_be_iid:
            raise InputError(
                f"adjustment {adjustment.name!r} needs the scheme 'iid', got {scheme!r}: leave out the scheme"
            )
        return Shuffling()
    if rule is None:
        return Shuffling(scheme)
    if not can_be_iid:
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
    """A test with its options, which have been checked to be compatible."""

    test: SignificanceTest
    alternative: str
    shuffling: Shuffling = IID
    adjustment: Adjustment | None = None
    family: str = "metric"  # a name in FAMILIES
    n_sets: int = 1  # how many test sets each family extends over
    inverted: bool = False  # whether an interval inverts the test
    simultaneous: float | None = None  # the confidence level of simultaneous intervals
    # Whether the stopping rule is the reason why ``auto`` does not adjust.
    unadjusted_by_rule: bool = False

    @classmethod
    def from_settings(
        cls,
        settings: ComparisonSettings,
        *metrics: Metric | CorpusFunction,
        alpha: float | None = None,
        n_pairs: int = 1,
        n_sets: int = 1,
    ) -> Plan:
        """Check the settings for these metrics and a number of pairs; :class:`InputError` if they cannot be combined.

        ``metrics`` are those of all test sets, equally many for each. The adjustment ``auto`` is resolved here.
        """
        test = check_test(settings.test, settings.alternative, *metrics)
        if settings.simultaneous:
            _check_simultaneous(settings, test)
        chosen = "none" if settings.adjust is None else settings.adjust
        n_metrics = max(len(metrics) // n_sets, 1)
        check_name("adjustment", chosen, list(ADJUSTMENT_CHOICES))
        check_name("family", settings.family, list(FAMILIES))
        if chosen == "none" and settings.family != "metric":
            raise InputError(
                f"family {settings.family!r} needs adjusted p-values, but the adjustment is 'none': leave one of them "
                "out"
            )
        family = ON_ONE_SET[settings.family] if n_sets == 1 else settings.family
        automatic = _automatic_adjustment(replace(settings, family=family), test, n_pairs, n_metrics, n_sets)
        name = {"none": None, "auto": automatic}.get(chosen, chosen)
        adjustment = None if name is None else _check_adjustment(name, test, family)
        return cls(
            test,
            settings.alternative,
            _check_shuffling(settings, test, adjustment, alpha),
            adjustment,
            family,
            n_sets if family in OVER_SETS else 1,
            unadjusted_by_rule=chosen == "auto"
            and automatic is None
            and family_size(family, n_pairs, n_metrics, n_sets) > 1,
        )

    def for_inversion(self, interval: str) -> Plan:
        """This plan with an interval that inverts the test; :class:`InputError` if a rule stops the shuffles early."""
        if self.shuffling.stopping is not None:
            raise InputError(
                f"interval {interval!r} needs all shuffles, but a stopping rule ends them early: leave out the rule, "
                "or choose another interval"
            )
        return replace(self, inverted=True)

    def for_simultaneous(self, interval: Interval | None, levels: Levels) -> Plan:
        """This plan with simultaneous intervals of the differences. ``interval`` is that of the scores.

        :class:`InputError` if the interval or the levels do not go with them.
        """
        own = [name for name, other in INTERVALS.items() if name == "percentile" or other.inverts == self.test.name]
        if interval is None or interval.name not in own:
            chosen = None if interval is None else interval.name
            raise InputError(
                f"with simultaneous intervals of differences, the interval of scores must be {either(map(repr, own))}, "
                f"got {chosen!r}: leave it out"
            )
        if levels.alpha != default_alpha(levels.confidence_level):
            raise InputError(
                f"with simultaneous intervals, alpha must be 1 - confidence, {default_alpha(levels.confidence_level)}, "
                f"got {levels.alpha}: leave out one of them"
            )
        return replace(self, simultaneous=levels.confidence_level)

    def for_average(self) -> Plan:
        """The same test of averages over test sets, whose families contain no other tests.

        :class:`InputError` if the test or the scheme does not support averages.
        """
        leave_out = "or leave out the average (average=False, --no-average)"
        if not self.test.averages:
            raise InputError(
                "{test} does not support averages over test sets: use {tests}, {leave_out}",
                test=_named(self.test),
                tests=Argument("test", tuple(other.name for other in TESTS.values() if other.averages)),
                leave_out=leave_out,
            )
        scheme = self.shuffling.scheme
        if scheme not in ("auto", "iid"):
            raise InputError(f"scheme {scheme!r} does not support averages over test sets: use 'iid', {leave_out}")
        shuffling = replace(self.shuffling, scheme="iid")
        return replace(self, shuffling=shuffling, family=ON_ONE_SET[self.family], n_sets=1)

    @property
    def tails(self) -> int:
        """2 if p is twice the share of the smaller tail, else 1."""
        return self.test.smallest_numerator(self.alternative)

    @property
    def step_down(self) -> StepDown | None:
        """How the adjustment is computed from replicates; None without such an adjustment."""
        return None if self.adjustment is None else self.test.step_down.get(self.adjustment.name)

    def enough_replicates(self, family: int, alpha: float) -> int | None:
        """How many replicates are enough for ``family`` tests that are adjusted together; None if any number is."""
        if self.test.replicates is None or self.shuffling.scheme == "exact":
            return None
        smallest = self.test.smallest_numerator(self.alternative)
        if self.adjustment is None:
            return for_pvalue(alpha, smallest)
        if self.adjustment.multiplies:
            return for_pvalue(alpha, smallest * family)
        return for_pvalue(self.level_on_one_set(alpha), smallest)

    def level_on_one_set(self, alpha: float) -> float:
        """The level at which an adjustment within each test set keeps that of its families over test sets at α."""
        return alpha if self.n_sets == 1 else per_comparison_level(alpha, self.n_sets)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Caveats about the test, whatever its results."""
        if self.test.liberal is None:
            return ()
        values = {"test": self.test.name, "rate": self.test.liberal, "level": 0.05, "instead": INSTEAD[True]}
        return (Caveat("liberal", values),)

    def caveats_of(self, sample: Sample, label: str) -> tuple[Caveat, ...]:
        """The caveats about the test under one metric, which reports call ``label``."""
        if not self.test.approximate_unless_mean or anova.has_segment_values(sample):
            return self.caveats
        values = {"metric": label, "test": self.test.name, "unit": sample.unit}
        return (*self.caveats, Caveat("approximate", values))

    @property
    def used(self) -> UsedTest:
        """The test in the record of a comparison."""
        adjustment, rule = self.adjustment, self.shuffling.stopping
        return UsedTest(
            self.test.name,
            self.test.title,
            self.alternative,
            self.test.replicates,
            adjustment=None if adjustment is None else adjustment.name,
            adjustment_title=None if adjustment is None else adjustment.title,
            adjustment_rate=None if adjustment is None else adjustment.rate,
            family=None if adjustment is None else self.family,
            n_sets=self.n_sets,
            stopping=None if rule is None else rule.signature,
            source=self.test.source,
            adjustment_source=None if adjustment is None else adjustment.source,
        )


def run_tests(plan: Plan, sets: Sequence[Replicates], hypotheses: Hypotheses) -> Outcome:
    """Test hypotheses about one or more test sets, from the replicates of each test set."""
    outcomes = [run_on_test_set(plan, replicates, hypotheses.on_test_set(t)) for t, replicates in enumerate(sets)]
    if len(outcomes) == 1:
        return outcomes[0]
    outcome = Outcome.concatenate(outcomes)
    if plan.adjustment is None or plan.n_sets == 1:
        return outcome
    return replace(outcome, adjusted=plan.adjustment.over_sets(hypotheses, outcome))


def run_on_test_set(plan: Plan, replicates: Replicates, hypotheses: Hypotheses) -> Outcome:
    """Test the hypotheses about one test set, all on the same replicates.

    p is adjusted within the test set, even if families extend over several.
    """
    step_down = plan.step_down
    extra = () if step_down is None else step_down.reductions(len(hypotheses), replicates.n_resamples)
    observed = Observed(
        replicates,
        hypotheses.in_rows_of(replicates.samples),
        plan.alternative,
        plan.shuffling,
        extra,
        tails=plan.tails,
        every_statistic=plan.inverted or step_down is not None,
    )
    run = plan.test.run if step_down is None or step_down.run is None else step_down.run
    outcome = run(observed)
    if plan.adjustment is None:
        return outcome
    adjusted = plan.adjustment.adjust(Unadjusted(observed, outcome), step_down)
    outcome = replace(outcome, adjusted=adjusted.pvalues)
    if plan.simultaneous is None or step_down is None:
        return outcome
    level = plan.simultaneous ** (1 / plan.n_sets)  # on each of n independent test sets
    low, high = simultaneous_ends(observed, adjusted, step_down, level)
    return replace(outcome, low=low, high=high)


def records(
    plan: Plan,
    sets: Sequence[Replicates],
    hypotheses: Hypotheses,
    outcome: Outcome,
    labels: Sequence[str] | None = None,
    n_references: str | None = None,
) -> list[SignificanceResult]:
    """The public result of each hypothesis.

    ``labels`` are the names of the metrics in results, by default the metrics' own names. ``n_references`` is the
    number of references as signatures write it.
    """
    rule = plan.shuffling.stopping
    # The seed and the run's part of the signature, by test set, test, scheme and bits. Most hypotheses share it.
    runs: dict[tuple[int, str, str | None, int | None], tuple[int | None, str]] = {}
    results: list[SignificanceResult] = []
    arrays = [hypotheses.test_set, hypotheses.metric, *[getattr(outcome, column) for column in COLUMNS]]
    none = [None] * len(hypotheses)
    columns = [none if array is None else array.tolist() for array in arrays]
    for t, m, statistic, p, exceedances, n, adjusted, scheme, bits, stopped, wins, ties, tails, error, *_ in zip(
        *columns, strict=True
    ):
        replicates = sets[t]
        sample = replicates.samples[m]
        metric = sample.metric
        name, label = plan.test.name_for(metric), metric.name if labels is None else labels[m]
        if (t, name, scheme, bits) not in runs:
            seed = None if plan.test.replicates is None or scheme == "exact" else replicates.seed
            scheme_part = None if bits is None or bits == MISSING else signature.for_scheme(scheme, bits)
            run = run_signature(plan, replicates, scheme_part, seed)
            runs[t, name, scheme, bits] = seed, run._replace(test=name).line
        seed, line = runs[t, name, scheme, bits]
        results.append(
            SignificanceResult(
                test=name,
                metric=label,
                statistic=statistic,
                pvalue=p,
                alternative=plan.alternative,
                exceedances=_none_if_missing(exceedances),
                n_resamples=_none_if_missing(n),
                seed=seed,
                signature=signature.joined((metric.signature(n_references), line)),
                wins=_none_if_missing(wins),
                ties=_none_if_missing(ties),
                adjusted_pvalue=adjusted,
                scheme=scheme,
                stopping=None if rule is None else rule.used(replicates.n_resamples, stopped),
                caveats=plan.caveats_of(sample, label),
                tails=plan.tails if tails is None else tails,
                standard_error=None if error is None or math.isnan(error) else error,
            )
        )
    return results


def _none_if_missing(number: int | None) -> int | None:
    return None if number == MISSING else number


def run_signature(plan: Plan, replicates: Replicates, scheme: str | None, seed: int | None) -> signature.Run:
    """The run's part of the signature of a test. It mentions resampling units and strata if p depends on them."""
    rule, strata, sample = plan.shuffling.stopping, replicates.strata, replicates.samples[0]
    on_units = plan.test.replicates is not None or plan.test.approximate_unless_mean
    on_strata = plan.test.replicates == "draws" or plan.test.approximate_unless_mean
    return signature.Run(
        average=sample.n_sets if isinstance(sample, AveragedSample) else None,
        test=plan.test.name,
        alternative=plan.alternative,
        adjust=None if plan.adjustment is None else plan.adjustment.name,
        family=plan.family if plan.adjustment is not None and plan.family != "metric" else None,
        scheme=scheme,
        stopping=None if rule is None else rule.signature,
        strata=strata.n_strata if strata is not None and on_strata else None,
        unit=replicates.unit if on_units else None,
        units=replicates.n_units,
        n=replicates.n_resamples,
        seed=seed,
    )
