"""``Plan``: a test with its options, checked to be compatible with one another and with the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import signature
from ..errors import NO_AVERAGE, Argument, InputError, either
from ..lazy import lazy
from ..metrics.base import Metric
from ..metrics.black_box import CorpusFunction
from ..metrics.precomputed import SegmentScores
from ..resampling import Sample
from ..resampling.schemes import Shuffling
from ..resampling.stopping import resolve as resolve_stopping
from ..results import Caveat, UsedTest
from ..settings import ComparisonSettings
from ..validate import default_alpha
from . import anova
from .enough import for_pvalue
from .estimates import check_kind
from .few_differing import FOR_FEW
from .hypotheses import ON_ONE_SET, OVER_METRICS, OVER_SETS, family_size
from .intervals import INTERVALS, Interval
from .margins import check_margins
from .multiplicity import ADJUSTMENTS, Adjustment, per_comparison_level
from .step_down import StepDown
from .tests import DEFAULT, INSTEAD, TESTS, SignificanceTest

IID = Shuffling()


def check_test(name: str, alternative: str, *metrics: Metric | CorpusFunction) -> SignificanceTest:
    """The test with this name; ``auto`` is ``DEFAULT``.

    :class:`InputError` if it does not support the alternative or one of the metrics.
    """
    name = DEFAULT if name == "auto" else name
    test = TESTS[name]
    if test.margin is not None:
        if alternative != "two-sided":
            raise InputError(
                f"test {name!r} has no other alternative than {test.margin}, got {alternative!r}: leave out the "
                "alternative"
            )
        check_kind(f"test {name!r}", test.kind, metrics, [test.margin])
        return test
    if alternative not in test.alternatives:
        supported = " or ".join(map(repr, test.alternatives))
        raise InputError(
            f"test {name!r} takes absolute values, so its alternative must be {supported}, got {alternative!r}: for a "
            "one-sided test use {tests}",
            tests=Argument("test", ("bootstrap-both", "ar")),
        )
    check_direction(alternative, metrics)
    check_kind(f"test {name!r}", test.kind, metrics, ["bootstrap-both", "ar"])
    for m in metrics:
        if test.needs_all_systems and isinstance(m, SegmentScores) and not m.is_complete:
            raise InputError(
                f"test {name!r} needs the scores of all systems on each segment, but {m.name} lacks some: use "
                "'bootstrap-both' or 'ar'"
            )
    return test


def check_direction(alternative: str, metrics: Sequence[Metric | CorpusFunction]) -> None:
    """Raise :class:`InputError` for a direction of scores that is an improvement under only some of the metrics."""
    lower = next((m.name for m in metrics if not m.higher_is_better), None)
    higher = next((m.name for m in metrics if m.higher_is_better), None)
    if alternative in ("greater", "less") and lower is not None and higher is not None:
        which, other = ("better", "worse") if alternative == "greater" else ("worse", "better")
        raise InputError(
            f"the alternative {alternative!r} is {which} under {higher} and {other} under {lower}, where lower is "
            "better: use 'better' or 'worse', which follow each metric, or test these metrics one at a time"
        )


def _automatic_adjustment(
    settings: ComparisonSettings, family: str, test: SignificanceTest, n_pairs: int, n_metrics: int, n_sets: int
) -> str | None:
    """The name of the adjustment that ``auto`` stands for, or None for none.

    Adjustments from replicates need replicates that all pairs share. Where every family has only one test, Holm's
    method leaves p as it is, so that the test may still be exact.
    """
    if settings.simultaneous:
        return next(iter(test.step_down))
    rule = resolve_stopping(settings.stopping)
    n_tests = n_pairs * n_metrics * (n_sets if family in OVER_SETS else 1)
    if n_tests == 1 or (rule is not None and not rule.valid_at_all_levels):
        return None
    several_metrics = family in OVER_METRICS
    own = [name for name, each in test.step_down.items() if not (each.per_metric and several_metrics)]
    several = family_size(ON_ONE_SET[family], n_pairs, n_metrics) > 1
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
            "adjustment {adjustment!r} does not support {test}: use {tests}, or {others}",
            adjustment=name,
            test=_named(test),
            tests=Argument("test", tuple(other.name for other in TESTS.values() if name in other.step_down)),
            others=Argument("adjust", tuple(others)),
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
    return f"the {'default ' if test.name == DEFAULT else ''}test {test.name!r}"


def _check_shuffling(settings: ComparisonSettings, test: SignificanceTest, adjustment: Adjustment | None) -> Shuffling:
    """The scheme and stopping rule of the settings. A rule decides at the level of the settings, if they have one.

    :class:`InputError` if scheme, rule, test and adjustment cannot be combined.
    """
    scheme = settings.scheme
    rule = resolve_stopping(settings.stopping)
    if test.replicates != "shuffles":  # such tests have neither of them
        return Shuffling()
    if test.margin is not None:
        return Shuffling(scheme)
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
    return Shuffling("iid", rule if settings.alpha is None else rule.at(settings.alpha))


@dataclass(frozen=True)
class Plan:
    """A test with its options, which have been checked to be compatible."""

    test: SignificanceTest
    alternative: str
    shuffling: Shuffling = IID
    ties: str = ">="  # or ">", only for user-supplied replicates
    adjustment: Adjustment | None = None
    family: str = "metric"  # a name in FAMILIES
    n_sets: int = 1  # how many test sets each family extends over
    adjusts: bool = False  # whether there is an adjustment, and families have several tests, so that it changes p
    inverted: bool = False  # whether an interval inverts the test
    simultaneous: float | None = None  # the confidence level of simultaneous intervals
    # Whether the stopping rule is the reason why ``auto`` does not adjust.
    unadjusted_by_rule: bool = False
    # For tests with a margin: that of each metric, and the level α of the interval that shows the result.
    margins: tuple[float, ...] = ()
    alpha: float = default_alpha()
    # Whether pairs that differ in few units get another test: see :mod:`reshuffle.inference.few_differing`.
    automatic: bool = False

    @classmethod
    def from_settings(
        cls,
        settings: ComparisonSettings,
        *metrics: Metric | CorpusFunction,
        n_pairs: int = 1,
        n_sets: int = 1,
    ) -> Plan:
        """Check the settings for these metrics and a number of pairs; :class:`InputError` if they cannot be combined.

        ``metrics`` are those of all test sets, equally many for each. The adjustment ``auto`` is resolved here.
        """
        test = check_test(settings.test, settings.alternative, *metrics)
        if settings.simultaneous:
            _check_simultaneous(settings, test)
        with_margin = () if test.margin is None else metrics[: len(metrics) // n_sets]
        margins = check_margins(settings.margins, with_margin, "test", test.name)
        chosen = "none" if settings.adjust is None else settings.adjust
        n_metrics = max(len(metrics) // n_sets, 1)
        if chosen == "none" and settings.family != "metric":
            raise InputError(
                f"family {settings.family!r} needs adjusted p-values, but the adjustment is 'none': leave one of them "
                "out"
            )
        family = ON_ONE_SET[settings.family] if n_sets == 1 else settings.family
        if chosen == "auto":
            name = _automatic_adjustment(settings, family, test, n_pairs, n_metrics, n_sets)
        else:
            name = None if chosen == "none" else chosen
        adjustment = None if name is None else _check_adjustment(name, test, family)
        several = family_size(family, n_pairs, n_metrics, n_sets) > 1
        return cls(
            test,
            settings.alternative if test.margin is None else test.margin,
            _check_shuffling(settings, test, adjustment),
            adjustment=adjustment,
            family=family,
            n_sets=n_sets if family in OVER_SETS else 1,
            adjusts=several and adjustment is not None,
            unadjusted_by_rule=several and chosen == "auto" and name is None,
            margins=margins,
            alpha=default_alpha() if settings.alpha is None else settings.alpha,
            # Simultaneous intervals are those of one test.
            automatic=settings.test == "auto" and not settings.simultaneous,
        )

    def for_replay(self, ties: str) -> Plan:
        """This plan for user-supplied replicates, with a tie rule."""
        return replace(self, shuffling=Shuffling("replay"), ties=ties)

    def for_inversion(self, interval: str) -> Plan:
        """This plan with an interval that inverts the test; :class:`InputError` if a rule stops the shuffles early."""
        if self.shuffling.stopping is not None:
            raise InputError(
                f"interval {interval!r} needs all shuffles, but a stopping rule ends them early: leave out the rule, "
                "or choose another interval"
            )
        return replace(self, inverted=True)

    def for_simultaneous(self, interval: Interval | None, confidence_level: float) -> Plan:
        """This plan with simultaneous intervals of the differences. ``interval`` is that of the scores.

        :class:`InputError` if the interval or its level does not go with them.
        """
        own = [name for name, other in INTERVALS.items() if name == "percentile" or other.inverts == self.test.name]
        if interval is None or interval.name not in own:
            chosen = None if interval is None else interval.name
            raise InputError(
                f"with simultaneous intervals of differences, the interval of scores must be {either(map(repr, own))}, "
                f"got {chosen!r}: leave it out"
            )
        expected = default_alpha(confidence_level)
        if self.alpha != expected:
            raise InputError(
                f"with simultaneous intervals, alpha must be 1 - confidence_level, {expected}, got {self.alpha}: "
                "leave out one of them"
            )
        return replace(self, simultaneous=confidence_level)

    def for_average(self, n_pairs: int, n_metrics: int) -> Plan:
        """The same test of averages over test sets, whose families contain no other tests.

        :class:`InputError` if the test or the scheme does not support averages.
        """
        leave_out = "or leave out the average ({no_average})"
        if not self.test.averages:
            others = tuple(each.name for each in TESTS.values() if each.averages and each.margin == self.test.margin)
            raise InputError(
                f"{{test}} does not support averages over test sets: use {{tests}}, {leave_out}",
                test=_named(self.test),
                tests=Argument("test", others),
                no_average=NO_AVERAGE,
            )
        scheme = self.shuffling.scheme
        if scheme not in ("auto", "iid"):
            raise InputError(
                f"scheme {scheme!r} does not support averages over test sets: use 'iid', {leave_out}",
                no_average=NO_AVERAGE,
            )
        shuffling = replace(self.shuffling, scheme="iid")
        family = ON_ONE_SET[self.family]
        adjusts = self.adjustment is not None and family_size(family, n_pairs, n_metrics) > 1
        return replace(self, shuffling=shuffling, family=family, n_sets=1, adjusts=adjusts, automatic=False)

    @property
    def for_few(self) -> Plan:
        """The test of pairs that differ in few units."""
        shared = self.adjustment is not None and self.adjustment.from_replicates
        return replace(self, test=TESTS[FOR_FEW], shuffling=IID if shared else Shuffling("auto"), automatic=False)

    def for_few_by(self, name: str) -> Plan:
        """The one of the tests of such pairs that decided."""
        return self.for_few if name == FOR_FEW else replace(self, test=TESTS[name], automatic=False)

    @lazy
    def tails(self) -> int:
        """2 if p is twice the share of the smaller tail, else 1."""
        return self.test.smallest_numerator(self.alternative)

    @lazy
    def step_down(self) -> StepDown | None:
        """How the adjustment is computed from replicates; None without such an adjustment."""
        return None if self.adjustment is None else self.test.step_down.get(self.adjustment.name)

    def enough_replicates(self, family: int) -> int | None:
        """How many replicates are enough for ``family`` tests that are adjusted together; None if any number is."""
        if self.test.replicates is None or self.shuffling.scheme == "exact":
            return None
        smallest = self.test.smallest_numerator(self.alternative)
        if self.adjustment is None:
            return for_pvalue(self.alpha, smallest)
        if self.adjustment.multiplies:
            return for_pvalue(self.alpha, smallest * family)
        return for_pvalue(self.level_on_one_set, smallest)

    @property
    def level_on_one_set(self) -> float:
        """The level at which an adjustment within each test set keeps that of its families over test sets at α."""
        return self.alpha if self.n_sets == 1 else per_comparison_level(self.alpha, self.n_sets)

    @lazy
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

    @lazy
    def signature(self) -> dict[str, Any]:
        """The parts of the signature of a run, of which others depend on the replicates."""
        rule = self.shuffling.stopping
        return {
            **signature.RUN,
            "test": self.test.name,
            "margin": signature.for_margins(self.margins) if self.margins else None,
            # The names of tests with a margin say it.
            "alternative": None if self.margins else self.test.carried_out(self.alternative),
            "adjust": self.adjustment.name if self.adjustment is not None and self.adjusts else None,
            "family": self.family if self.adjusts and self.family != "metric" else None,
            "ties": None if self.ties == ">=" else self.ties,
            "stopping": None if rule is None else rule.signature,
        }

    @property
    def used(self) -> UsedTest:
        """The test in the record of a comparison."""
        adjustment, rule = self.adjustment, self.shuffling.stopping
        return UsedTest(
            self.test.name,
            self.test.title,
            self.test.carried_out(self.alternative),
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
