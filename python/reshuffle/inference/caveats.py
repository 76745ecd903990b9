"""Caveats of a comparison: each has a kind and values. Reports write the sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..metrics.base import Scores
from ..resampling.stopping import STOPPING
from ..results import Caveat, Comparison, PairedDifference, SignificanceResult, UsedInterval
from ..results.caveats import SMALL_SAMPLE
from ..validate import default_alpha
from .concentration import BY_SWAPS, Found, Group, concentrated, holds_at_kink, is_of_few, of_pairs, rare_segments
from .enough import LARGEST
from .hypotheses import OVER_METRICS
from .intervals import INTERVALS
from .kink import FOR_POPULATIONS, is_near_kink
from .multiplicity import over_independent
from .plan import Plan
from .rankings import can_be_ranked, has_all_pairs
from .tests import INSTEAD, TESTS

# Of ratings, tests that are adjusted for all pairs need more (docs/evidence/votes.md).
SMALL_SAMPLE_OF_RATINGS = 100
# The numbers of replicates among which that which would decide all stars is sought.
DECIDING = [digit * 10**power for power in range(3, 7) for digit in (1, 2, 5)]
# Outputs count as exchangeable if a difference's standard deviation over shuffles, divided by its standard error, is
# between these limits.
EXCHANGEABLE = (0.8, 1.25)


def with_caveats(
    comparison: Comparison, plan: Plan | None, enough: int | None, others: Sequence[Comparison] = ()
) -> Comparison:
    """The comparison with its caveats, in the order of :class:`~reshuffle.results.Caveat`, and those of each pair.

    ``plan`` is that of the tests, None if there are only scores. ``enough`` is the number of replicates that
    ``n_resamples="auto"`` asked for, if that was used. ``others`` are the comparisons on other test sets.
    """
    found = [
        *_identical(comparison),
        *([] if plan is None else _of_tests(comparison, plan, enough, others)),
        *_of_concentration(comparison, plan is not None and plan.automatic),
        *_small_sample(comparison),
        *_few_draws(comparison),
    ]
    if not {"few-replicates", "few-draws"} & {each.caveat.kind for each in found}:  # those explain all disagreements
        found += _stars_and_intervals(comparison)
    kinds: list[list[str]] = [[] for _ in comparison.comparisons]
    for each in found:
        for pair in range(len(kinds)) if each.pairs is None else each.pairs:
            if each.caveat.kind not in kinds[pair]:
                kinds[pair].append(each.caveat.kind)
    pairs = tuple(replace(p, caveats=tuple(k)) for p, k in zip(comparison.comparisons, kinds, strict=True))
    return replace(comparison, comparisons=pairs, caveats=tuple(each.caveat for each in found))


def _by_metric(comparison: Comparison) -> list[Group]:
    groups = []
    for metric in comparison.metrics:
        indices = [index for index, pair in enumerate(comparison.comparisons) if pair.metric == metric.name]
        groups.append(Group(metric.name, indices, [comparison.comparisons[index] for index in indices]))
    return groups


def _families(comparison: Comparison, others: Sequence[Comparison] = ()) -> list[Group]:
    """The tests that are adjusted together; without an adjustment, those under each metric.

    ``others`` are the comparisons on other test sets, whose tests may be in the same families.
    """
    test = comparison.test
    if test is not None and test.family in OVER_METRICS:
        groups = [Group(None, range(len(comparison.comparisons)), comparison.comparisons)]
    else:
        groups = _by_metric(comparison)
    if test is None or test.n_sets == 1:
        return groups
    elsewhere = [pair for other in others for pair in other.comparisons]
    return [
        replace(group, elsewhere=[pair for pair in elsewhere if group.metric in (None, pair.metric)])
        for group in groups
    ]


# Caveats about tests.


def _of_tests(comparison: Comparison, plan: Plan, enough: int | None, others: Sequence[Comparison]) -> Iterator[Found]:
    if not comparison.comparisons:
        return
    families = _families(comparison, others)
    yield from map(Found, plan.caveats)
    yield from _all_exchangeable(comparison, plan)
    yield from _never_stopped(comparison)
    for group in _by_metric(comparison):
        yield from (Found(each, group.pairs) for each in group.tests[0].caveats if each.kind == "approximate")
        yield from _other_test(group, plan)
        yield from _dependence(group)
        yield from _not_exchangeable(group, plan.automatic)
        yield from _near_kink(comparison, group, plan.alpha, plan.automatic)
    yield from _not_ranked(comparison)
    yield from _not_adjusted(comparison, plan.unadjusted_by_rule)
    yield from _many_tests(comparison, plan.alpha)
    if plan.test.replicates is None:
        return
    # Each of these explains the next ones or makes them irrelevant, unless it is about some of the pairs only.
    few_units = _few_units(comparison, plan, families)
    yield from few_units
    if not few_units or few_units[0].pairs is not None:
        few_replicates = _few_replicates(comparison, plan, families)
        yield from few_replicates or _near_alpha(comparison, plan, families)
        if not few_replicates and enough is not None and enough > LARGEST:
            yield Found(Caveat("auto-limit", {"n_resamples": LARGEST, "enough": enough}))


def _identical(comparison: Comparison) -> Iterator[Found]:
    """Pairs of systems that differ nowhere under any metric."""
    indices: dict[tuple[str, str], list[int]] = {}
    for index, pair in enumerate(comparison.comparisons):
        indices.setdefault((pair.system, pair.baseline), []).append(index)
    differing = [pair.influence and pair.influence.differing for pair in comparison.comparisons]
    same = {names: own for names, own in indices.items() if all(differing[index] == 0 for index in own)}
    if same:
        (system, baseline), *_ = same
        values = {"pairs": len(same), "tests": len(indices), "system": system, "baseline": baseline}
        yield Found(Caveat("identical", values), [index for own in same.values() for index in own])


def _all_exchangeable(comparison: Comparison, plan: Plan) -> Iterator[Found]:
    """The test assumes that all systems are exchangeable. With two systems, ``not-exchangeable`` checks that."""
    if plan.test.liberal_family is not None and len(comparison.systems) > 2:
        values = {
            "test": plan.test.name,
            "systems": len(comparison.systems),
            "rate": plan.test.liberal_family,
            "level": 0.05,
            "instead": tuple(INSTEAD.values()),
        }
        yield Found(Caveat("all-exchangeable", values))


def _never_stopped(comparison: Comparison) -> Iterator[Found]:
    """Tests by Gandy's rule that used all shuffles without a decision."""
    rules = [pair.test.stopping for pair in comparison.comparisons]
    undecided = [
        (index, rule.max_resamples)
        for index, rule in enumerate(rules)
        if rule is not None and rule.rule == "gandy" and not rule.stopped
    ]
    if undecided:
        numbers = {"undecided": len(undecided), "tests": len(rules), "n_resamples": undecided[0][1]}
        yield Found(Caveat("undecided", numbers), [index for index, _ in undecided])


def _other_test(group: Group, plan: Plan) -> Iterator[Found]:
    """The pairs under one metric were compared by another test, because the chosen one needs counts."""
    used = group.tests[0].test
    if used == plan.test.for_texts:
        values = {"metric": group.metric, "test": plan.test.name, "used": used}
        yield Found(Caveat("other-test", values), group.pairs)


def _dependence(group: Group) -> Iterator[Found]:
    """The dependence between segments of a document, under one metric."""
    pairs = group.differences
    correlations = [p.intraclass_correlation for p in pairs if p.intraclass_correlation is not None]
    effects = [p.design_effect for p in pairs if p.design_effect is not None]
    if correlations:
        values = {
            "metric": group.metric,
            "correlations": (min(correlations), max(correlations)),
            "design_effects": (min(effects), max(effects)),
        }
        yield Found(Caveat("dependence", values), group.pairs)


def _not_exchangeable(group: Group, automatic: bool) -> Iterator[Found]:
    """Over shuffles, some differences under one metric have another spread than over samples.

    Not where another test than that of shuffles must have a small p, too.
    """
    low, high = EXCHANGEABLE
    ratios = {
        index: pair.exchangeability
        for index, pair in zip(group.pairs, group.differences, strict=True)
        if pair.exchangeability is not None
        and not low <= pair.exchangeability.ratio <= high
        and not holds_at_kink(pair, automatic)
    }
    if not ratios:
        return
    worst = min(ratios, key=lambda index: min(ratios[index].ratio, 1 / max(ratios[index].ratio, 1)))
    pair = group.differences[group.pairs.index(worst)]
    near_kink = any(found.near_kink for found in ratios.values())
    values = {
        **of_pairs(group.metric, list(ratios), group.pairs, pair),
        "ratio": ratios[worst].ratio,
        "near_kink": near_kink,
        "test": pair.test.test,
        # For few units, another note says that the bootstrap is unreliable.
        "instead": None if is_of_few(pair, automatic) else INSTEAD[near_kink],
    }
    yield Found(Caveat("not-exchangeable", values), list(ratios))


def _near_kink(comparison: Comparison, group: Group, alpha: float, automatic: bool) -> Iterator[Found]:
    """Under one metric, some expected differences are far from those of the populations, because of a kink.

    Only of pairs for which p or the interval shows something. The test FOR_POPULATIONS rejects less often, so it takes
    nothing back where there is no star.
    """

    def by_test(pair: PairedDifference) -> bool:
        """Whether the star is by a test that does not hold its level for equal scores of populations."""
        other = comparison.test is not None and pair.test.test != FOR_POPULATIONS
        return other and pair.is_significant(alpha) and not holds_at_kink(pair, automatic)

    def by_interval(pair: PairedDifference) -> bool:
        """The same of the interval."""
        other = comparison.interval is not None and comparison.interval.name != FOR_POPULATIONS
        return other and _interval_shows(comparison, pair)

    near = group.where(lambda pair: is_near_kink(pair.brevity) and (by_test(pair) or by_interval(pair)))
    if not near:
        return
    pairs = [comparison.comparisons[index] for index in near]
    worst, brevity = max(
        ((pair, pair.brevity) for pair in pairs if pair.brevity is not None), key=lambda pair: pair[1].bias
    )
    tests = {pair.test.test for pair in pairs if by_test(pair)}
    values = {
        **of_pairs(group.metric, near, group.pairs, worst),
        "lengths": (brevity.system, brevity.baseline),
        "bias": brevity.bias,
        "share": brevity.share,
        "test": bool(tests),
        "swaps": next((name for name in BY_SWAPS if name in tests), None),
        "interval": any(map(by_interval, pairs)),
        "instead": FOR_POPULATIONS,
    }
    yield Found(Caveat("near-kink", values), near)


def _interval_shows(comparison: Comparison, pair: PairedDifference) -> bool:
    """Whether the interval shows what the test seeks: a difference, or that it is within the margin."""
    interval, margin = pair.confidence_interval, pair.test.margin
    if interval is None:
        return False
    if margin is None:
        return not bool(interval.low <= 0 <= interval.high)
    sides = (bool(-margin < interval.low), bool(interval.high < margin))
    if pair.test.alternative == "equivalence":
        return all(sides)
    higher_is_better = next(metric.higher_is_better for metric in comparison.metrics if metric.name == pair.metric)
    return sides[not higher_is_better]


def _not_ranked(comparison: Comparison) -> Iterator[Found]:
    """Metrics without a ranking, because scores are missing. Not for two systems, which have only one difference."""
    if not has_all_pairs(comparison) or len(comparison.systems) == 2:
        return
    for group, metric in zip(_by_metric(comparison), comparison.metrics, strict=True):
        if not can_be_ranked(comparison, metric):
            yield Found(Caveat("not-ranked", {"metric": metric.name}), group.pairs)


def _not_adjusted(comparison: Comparison, unadjusted_by_rule: bool) -> Iterator[Found]:
    """A stopping rule whose p is only an estimate prevents an adjustment."""
    rule = comparison.comparisons[0].test.stopping
    if unadjusted_by_rule and rule is not None:
        instead = next(name for name, other in STOPPING.items() if other.valid_at_all_levels)
        yield Found(
            Caveat("not-adjusted", {"tests": len(comparison.comparisons), "rule": rule.rule, "instead": instead})
        )


def _many_tests(comparison: Comparison, alpha: float) -> Iterator[Found]:
    """Several tests without an adjustment."""
    tests, used = len(comparison.comparisons), comparison.test
    if tests > 1 and used is not None and used.adjustment is None:
        values = {
            "tests": tests,
            "alpha": alpha,
            "probability": comparison.experimentwise_error,
            "per_comparison_level": comparison.per_comparison_level,
            **({"margin": True} if used.has_margin else {}),
        }
        yield Found(Caveat("many-tests", values))


def _smallest_adjusted(plan: Plan, smallest: Scores) -> Scores:
    """The smallest p-values of a family after adjustment, from those before it."""
    if plan.adjustment is None:
        return smallest
    if plan.adjustment.of_pvalues is not None:
        return plan.adjustment.of_pvalues(smallest)
    return smallest if plan.n_sets == 1 else over_independent(smallest, plan.n_sets)


def _few_units(comparison: Comparison, plan: Plan, families: Sequence[Group]) -> list[Found]:
    """Too few resampling units: even the smallest possible p, after adjustment, is above alpha."""
    by_swaps = [
        TESTS[pair.test.test].replicates in ("shuffles", "permutations") or holds_at_kink(pair, plan.automatic)
        for pair in comparison.comparisons
    ]
    if not any(by_swaps):
        return []
    permuted, k = plan.test.replicates == "permutations", len(comparison.systems)
    # One of the arrangements of the two systems of a pair in a unit is the observed one.
    arrangements = float(k * (k - 1) if permuted else 2)
    smallest = np.empty(len(comparison.comparisons))
    for family in families:
        of_family = (1 + (plan.alternative == "two-sided")) * arrangements ** -np.array(
            [_exchanged(pair, permuted) for pair in family.everywhere]
        )
        smallest[list(family.pairs)] = _smallest_adjusted(plan, of_family)[: len(family.pairs)]
    few = np.flatnonzero((smallest > plan.alpha) & by_swaps).tolist()
    if not few:
        return []
    by_chance = permuted or any(comparison.comparisons[index].test.scheme == "iid" for index in few)
    units = max(_exchanged(comparison.comparisons[index], permuted) for index in few)
    values: dict[str, Any] = {"units": units, "unit": comparison.unit, "smallest": float(smallest[few].min())}
    if any(units < comparison.comparisons[index].n_units for index in few):
        values["differ"] = True
    values |= {"by_chance": by_chance, "alpha": plan.alpha, "adjusted": comparison.family_size > 1}
    if permuted:
        values["systems"] = k
    if len(few) == len(smallest):
        return [Found(Caveat("few-units", values))]
    return [Found(Caveat("few-units", {**values, "pairs": len(few), "tests": len(smallest)}), few)]


def _exchanged(pair: PairedDifference, permuted: bool) -> int:
    """The number of units whose exchange may change the difference: those in which the two systems differ.

    All units if more systems are permuted, in which other systems may differ, and if no unit differs, because p is then
    1 for any number of units.
    """
    if permuted or pair.influence is None or not pair.influence.differing:
        return pair.n_units
    return pair.influence.differing


def _few_replicates(comparison: Comparison, plan: Plan, families: Sequence[Group]) -> list[Found]:
    """Too few replicates: even the smallest p that is possible, after adjustment, is above alpha."""
    found: list[tuple[float, int, list[int]]] = []
    for family in families:
        # Exact tests have no such limit, and their p-values affect those of other tests by the adjustment.
        numbers: list[int | None] = []
        possible = []
        for test in (pair.test for pair in family.everywhere):
            n = test.n_resamples if test.stopping is None else test.stopping.max_resamples
            numbers.append(None if test.scheme == "exact" else n)
            numerator, observed = TESTS[test.test].smallest_numerator(plan.alternative), test.scheme != "subgroup"
            possible.append(test.pvalue if numbers[-1] is None else numerator / (numbers[-1] + observed))
        smallest = _smallest_adjusted(plan, np.array(possible))
        limited = [index for index, n in enumerate(numbers[: len(family.pairs)]) if n is not None]
        if limited and smallest[limited].min() > plan.alpha:
            largest = max(n for n in numbers if n is not None)
            found.append((float(smallest[limited].min()), largest, [family.pairs[index] for index in limited]))
    if not found:
        return []
    size = len(families[0].everywhere)
    values = {
        "n_resamples": found[0][1],
        "smallest": min(smallest for smallest, _, _ in found),
        "alpha": plan.alpha,
        "family": size,
        "adjusted": comparison.family_size > 1,
        "enough": plan.enough_replicates(size),
    }
    return [Found(Caveat("few-replicates", values), [pair for _, _, pairs in found for pair in pairs])]


def _near_alpha(comparison: Comparison, plan: Plan, families: Sequence[Group]) -> Iterator[Found]:
    """p-values with a star, or without, that more replicates might move to the other side of alpha."""
    stopping = comparison.comparisons[0].test.stopping
    # Gandy's rule bounds the probability of that.
    if stopping is not None and stopping.rule == "gandy":
        return
    undecided = [(family, _undecided(family, plan)) for family in families]
    near = [family.pairs[index] for family, own in undecided for index in own if index < len(family.pairs)]
    if near:
        tests, adjusted = len(comparison.comparisons), comparison.family_size > 1
        values: dict[str, Any] = {"near": len(near), "tests": tests, "alpha": plan.alpha, "adjusted": adjusted}
        if stopping is None:  # with a stopping rule, more shuffles would not all be used
            now = comparison.n_resamples or 0
            more = (n for n in DECIDING if n > now)
            values["enough"] = next(
                (n for n in more if not any(_undecided(family, plan, n, own) for family, own in undecided)), None
            )
        yield Found(Caveat("near-alpha", values), near)


def _undecided(family: Group, plan: Plan, n: int | None = None, among: Sequence[int] | None = None) -> Sequence[int]:
    """The indices in a family of the tests whose p, after adjustment, may lie on either side of alpha.

    With ``n``, if p were the same with n replicates. ``among`` has the only tests to look at, unless it depends on all.
    """
    if plan.adjustment is not None and not plan.adjustment.from_replicates:
        return plan.adjustment.undecided([_with(pair.test, n) for pair in family.everywhere], plan.alpha)
    every = family.tests
    indices = range(len(every)) if among is None else among
    tests = [every[index] for index in indices]
    if plan.adjustment is None:
        found = [index for index, test in enumerate(tests) if _with(test, n).may_lie_across(plan.alpha)]
    else:
        # Adjusted p-values of several test sets are computed from those of each, which are shares of replicates.
        tests = [test if plan.n_sets == 1 else _on_one_set(test, plan.n_sets) for test in tests]
        found = plan.adjustment.undecided([_with(test, n) for test in tests], plan.level_on_one_set)
    return [indices[index] for index in found]


def _with(test: SignificanceResult, n: int | None) -> SignificanceResult:
    """The test as if it had n replicates, and the same p."""
    if n is None or not test.n_resamples or test.exceedances is None:
        return test
    exceedances = round((test.exceedances + 1) / (test.n_resamples + 1) * (n + 1)) - 1
    return replace(test, n_resamples=n, exceedances=exceedances)


def _on_one_set(test: SignificanceResult, n_sets: int) -> SignificanceResult:
    """The test with the p-value that is adjusted within its test set: the inverse of :func:`over_independent`."""
    if test.adjusted_pvalue is None or test.adjusted_pvalue == test.pvalue:
        return test
    within = -math.expm1(math.log1p(-test.adjusted_pvalue) / n_sets) if test.adjusted_pvalue < 1 else 1.0
    return replace(test, adjusted_pvalue=test.pvalue if math.isclose(within, test.pvalue) else within)


def _of_concentration(comparison: Comparison, automatic: bool) -> Iterator[Found]:
    """Differences that rest on few units; where none of these caveats applies, also that rare segments may be missing.

    With so few units that ``small-sample`` applies, that says enough.
    """
    if not comparison.comparisons or comparison.alpha is None:
        return
    found: list[Found] = []
    for group in _by_metric(comparison):
        found += concentrated(group, comparison.unit, comparison.alpha, automatic)
    yield from found
    if not found and comparison.n_units >= SMALL_SAMPLE and comparison.votes is None:
        yield from rare_segments(comparison.comparisons, comparison.alpha)


# Caveats about intervals.


def _small_sample(comparison: Comparison) -> Iterator[Found]:
    """Too few resampling units for results from bootstrap draws."""
    of_test = any(TESTS[pair.test.test].replicates == "draws" for pair in comparison.comparisons)
    of_interval = comparison.interval is not None and comparison.interval.draws
    if not (of_test or of_interval):
        return
    votes = comparison.votes
    enough = SMALL_SAMPLE if votes is None or comparison.family_size == 1 else SMALL_SAMPLE_OF_RATINGS
    values: dict[str, Any] = {"unit": comparison.unit, "enough": enough, "test": of_test, "interval": of_interval}
    if comparison.test is not None and comparison.test.has_margin:
        values["instead"] = f"{comparison.test.alternative}-ar for means of segment scores"
    elif votes is not None:
        values["instead"] = ""  # votes have no shuffles
    effective = comparison.n_units if votes is None else round(votes.effective_units, 1)
    if effective < enough:
        count_as = {"effective": effective} if round(effective) < comparison.n_units else {}
        yield Found(Caveat("small-sample", {"units": comparison.n_units, **count_as, **values}))
        return
    # Scores are missing.
    few = [index for index, pair in enumerate(comparison.comparisons) if pair.n_units < SMALL_SAMPLE]
    if few:
        numbers = [comparison.comparisons[index].n_units for index in few]
        some = {"pairs": len(few), "tests": len(comparison.comparisons)}
        yield Found(Caveat("small-sample", {"units": min(numbers), **values, **some}), few)
    elif any(score.n_segments < SMALL_SAMPLE for score in comparison.scores):
        fewest = min(score.n_segments for score in comparison.scores)
        yield Found(Caveat("small-sample", {"units": fewest, **values, "unit": "segment"}))


def _few_draws(comparison: Comparison) -> Iterator[Found]:
    """Too few draws for the interval at its level."""
    interval, level, n = comparison.interval, comparison.confidence_level, comparison.n_resamples
    if interval is None or level is None or n is None:
        return
    enough = INTERVALS[interval.name].enough_draws(level)
    if enough is not None and n < enough:
        values = {"n_resamples": n, "confidence_level": level, "enough": enough}
        yield Found(Caveat("few-draws", values))


def _stars_and_intervals(comparison: Comparison) -> Iterator[Found]:
    """The star of a difference and its interval disagree: one of them excludes 0 and the other does not."""
    alpha, test, level, interval = comparison.alpha, comparison.test, comparison.confidence_level, comparison.interval
    if interval is None or test is None or alpha is None or level is None:
        return
    others = [
        *(["level"] if alpha != default_alpha(level) else []),
        *(["alternative"] if test.alternative != "two-sided" else []),
    ]
    if test.has_margin:
        others = ["few"]
    for family in _families(comparison):
        disagree = family.where(lambda pair: pair.is_significant(alpha) != _interval_shows(comparison, pair))
        if not disagree:
            continue
        pairs = [comparison.comparisons[index] for index in disagree]
        # The adjustment is the reason only if the unadjusted p agrees with the interval.
        by_adjustment = [
            pair.test.adjusted_pvalue is not None
            and not interval.simultaneous
            and (pair.test.pvalue <= alpha) == _interval_shows(comparison, pair)
            for pair in pairs
        ]
        reasons = [
            *(["adjustment"] if any(by_adjustment) else []),
            *([] if all(by_adjustment) else others or [_by_methods(interval, pairs)]),
        ]
        values: dict[str, Any] = {
            "metric": family.metric,
            "pairs": len(pairs),
            "tests": len(family.pairs),
            "starred": sum(pair.is_significant(alpha) for pair in pairs),
            "confidence_level": level,
            "reasons": tuple(reasons),
            **({"margin": True} if test.has_margin else {}),
        }
        yield Found(Caveat("star-and-interval", values), disagree)


def _by_methods(interval: UsedInterval, pairs: Sequence[PairedDifference]) -> str:
    """The reason why the two-sided tests of these pairs and intervals at the same level may disagree."""
    if interval.simultaneous:  # each that excludes 0 has a star
        return "step-down"
    # The interval is the dual of bootstrap-percentile, which is one half of bootstrap-both.
    tests = {pair.test.test for pair in pairs}
    return "half" if (tests, interval.name) == ({"bootstrap-both"}, "percentile") else "method"
