"""Caveats about differences that rest on few resampling units: few that differ, skewed influences, rare segments.

docs/evidence/skewed.md has the tables from which the limits follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..results import Caveat, Influence, PairedDifference, SignificanceResult
from ..results.caveats import SMALL_SAMPLE
from .few_differing import FEW_DIFFERING, TESTS_OF_FEW
from .kink import is_near_kink

# Tests may reject too often with fewer than SKEWED·G₁² units, for the skewness G₁ of the influences. Cochran 1977
# (Sampling Techniques, 2.15) has 25·G₁² for the coverage of intervals of one mean.
SKEWED = 50.0
# Test sets of fewer segments lack a kind of segment whose share is RARE with a probability of more than .05.
RARE, SEGMENTS_WITH_RARE = 0.01, 299

# Tests that hold their level with any number of units, if outputs are exchangeable.
BY_SWAPS = ("ar", "ar-studentized", "permutation")
# Tests that ask about ranks and signs, so that skewness of the differences is no error of theirs.
OF_RANKS = ("wilcoxon", "sign-test")


@dataclass(frozen=True)
class Group:
    """The tests under one metric, or all tests if ``metric`` is None. ``pairs`` are their indices in the comparison.

    ``elsewhere`` are the differences on other test sets, if a family extends over several.
    """

    metric: str | None
    pairs: Sequence[int]
    differences: Sequence[PairedDifference]
    elsewhere: Sequence[PairedDifference] = ()

    @property
    def tests(self) -> list[SignificanceResult]:
        return [pair.test for pair in self.differences]

    @property
    def everywhere(self) -> list[PairedDifference]:
        """The differences of the whole family, those in the comparison first."""
        return [*self.differences, *self.elsewhere]

    def where(self, condition: Callable[[PairedDifference], bool]) -> list[int]:
        """The indices in the comparison of the pairs that satisfy a condition."""
        return [index for index, pair in zip(self.pairs, self.differences, strict=True) if condition(pair)]


class _Pair(NamedTuple):
    """A pair with its index and its influence."""

    at: int
    pair: PairedDifference
    influence: Influence


Values = dict[str, Any]


class Found(NamedTuple):
    """A caveat, and the indices of the pairs that it is about; None for all of them."""

    caveat: Caveat
    pairs: Sequence[int] | None = None


def is_of_few(pair: PairedDifference, automatic: bool) -> bool:
    """Whether a pair has another test than the others by default, because it differs in few units."""
    return (
        automatic
        and pair.test.test in TESTS_OF_FEW
        and pair.influence is not None
        and 0 < pair.influence.differing < FEW_DIFFERING
    )


def holds_at_kink(pair: PairedDifference, automatic: bool) -> bool:
    """Whether p is the larger one of those by swaps and of the bootstrap with least favourable lengths.

    That is so by default for pairs that differ in few units and are near the kink of a brevity penalty.
    """
    return is_of_few(pair, automatic) and is_near_kink(pair.brevity)


def concentrated(group: Group, unit: str, alpha: float, automatic: bool) -> Iterator[Found]:
    """The caveats of the pairs under one metric, each with the indices of its pairs. ``alpha`` is the level of tests.

    ``automatic`` says whether pairs that differ in few units have their test because of that. With fewer units than
    SMALL_SAMPLE, another caveat says that bootstrap tests are unreliable.
    """
    known = [
        _Pair(index, pair, pair.influence)
        for index, pair in zip(group.pairs, group.differences, strict=True)
        if pair.influence is not None and pair.test.margin is None
    ]
    few = [each for each in known if 0 < each.influence.differing < FEW_DIFFERING]
    if automatic:
        by_default = [each for each in few if each.pair.test.test in TESTS_OF_FEW]
        yield from _few_differing(group, unit, by_default, automatic, by_default=True)
    asked_for = [
        each
        for each in few
        if each.pair.test.test not in (*BY_SWAPS, *OF_RANKS)
        and each.pair.n_units >= SMALL_SAMPLE
        and not holds_at_kink(each.pair, automatic)
    ]
    yield from _few_differing(group, unit, asked_for, automatic, by_default=False)
    yield from _skewed(group, unit, known, alpha)


def _few_differing(group: Group, unit: str, few: Sequence[_Pair], automatic: bool, by_default: bool) -> Iterator[Found]:
    """Pairs that differ in few units, and are tested by ``ar`` for that, or by a test that is unreliable there."""
    if not few:
        return
    fewest = min(few, key=lambda each: each.influence.differing)
    values = {
        **_pairs(group, unit, few, fewest),
        "differing": fewest.influence.differing,
        "few": FEW_DIFFERING,
        "test": fewest.pair.test.test,
        "exact": sum(each.pair.test.scheme == "exact" for each in few),
        "by_default": by_default,
        "at_kink": sum(holds_at_kink(each.pair, automatic) for each in few),
    }
    yield Found(Caveat("few-differing", values), [each.at for each in few])


def units_for_skewness(skewness: float) -> float:
    """The number of units from which tests are near their level although influences have this skewness."""
    return SKEWED * skewness**2


def _skewed(group: Group, unit: str, known: Sequence[_Pair], alpha: float) -> Iterator[Found]:
    """Significant differences whose influences are so skewed that tests may reject too often with so few units."""

    def share(each: _Pair) -> float:
        """The number of units as a share of what is needed."""
        return each.pair.n_units / units_for_skewness(each.influence.skewness or 0)

    skewed = [
        each
        for each in known
        if each.pair.is_significant(alpha)
        and each.influence.skewness is not None
        and each.pair.n_units < units_for_skewness(each.influence.skewness)
        and each.pair.test.test not in OF_RANKS
    ]
    if not skewed:
        return
    worst = min(skewed, key=share)
    values = {
        **_pairs(group, unit, skewed, worst),
        "effective": worst.influence.effective,
        "skewness": worst.influence.skewness,
        "enough": _two_digits(math.ceil(units_for_skewness(worst.influence.skewness or 0))),
    }
    yield Found(Caveat("skewed", values), [each.at for each in skewed])


def _two_digits(n: int) -> int:
    """A number rounded up to two digits, because it says about how many.

    >>> [_two_digits(n) for n in (7, 100, 722, 14_826)]
    [7, 100, 730, 15000]
    """
    step: int = 10 ** max(0, len(str(n)) - 2)
    return -(-n // step) * step


def of_pairs(metric: str | None, pairs: Sequence[object], tests: Sequence[object], shown: PairedDifference) -> Values:
    """What a caveat says about some pairs of all that are tested under a metric, and the names of one of them."""
    return {
        "metric": metric,
        "pairs": len(pairs),
        "tests": len(tests),
        "system": shown.system,
        "baseline": shown.baseline,
    }


def _pairs(group: Group, unit: str, found: Sequence[_Pair], shown: _Pair) -> Values:
    own = of_pairs(group.metric, found, group.pairs, shown.pair)
    return {**own, "units": shown.pair.n_units, "unit": unit}


def rare_segments(pairs: Sequence[PairedDifference], alpha: float) -> Iterator[Found]:
    """Significant differences on test sets so small that a rare kind of segment may be missing from them.

    Nothing in such a sample shows it, so this caveat depends on the number of segments only.
    """
    found = [
        index
        for index, pair in enumerate(pairs)
        if pair.n_segments < SEGMENTS_WITH_RARE and pair.is_significant(alpha) and pair.test.test not in OF_RANKS
    ]
    if found:
        segments = min(pairs[index].n_segments for index in found)
        values = {
            "segments": segments,
            "share": RARE,
            "probability": (1 - RARE) ** segments,
            "pairs": len(found),
            "tests": len(pairs),
        }
        yield Found(Caveat("rare-segments", values), found)
