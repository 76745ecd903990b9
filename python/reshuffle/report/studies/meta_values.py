"""What the tables, sentences and figures of meta-evaluations have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...lazy import lazy
from ...results.studies import MetaEvaluation, MetricAgreement, MetricDifference, MetricGroup
from ..words import Template, words

# Names of test sets that stand for several.
AVERAGE, POOLED = "average", "pooled"


def short_name(coefficient: str) -> str:
    """What lists of several coefficients call one."""
    found: str = words("meta")["coefficient"][coefficient]["short"]
    return found


def name_of(coefficient: str, grouping: str | None) -> str:
    """What sentences call a coefficient, unless it is one of another version, with its grouping."""
    known = words("meta")
    names = known["coefficient"].get(coefficient, {"name": coefficient}), known["grouping"].get(grouping, {})
    return " ".join(each["name"] for each in names if each)


@dataclass(frozen=True)
class Family:
    """One coefficient on one test set: the metrics, their differences and their ranking."""

    test_set: str
    level: str
    grouping: str | None
    coefficient: str
    results: Sequence[MetricAgreement]
    comparisons: Sequence[MetricDifference]
    groups: Sequence[MetricGroup]
    alpha: float

    @property
    def name(self) -> str:
        """The coefficient and its grouping, as a phrase."""
        return name_of(self.coefficient, self.grouping)

    @property
    def title(self) -> str:
        """The same with the test set."""
        return f"{self.name}{self.phrase('in_title')}"

    def phrase(self, name: str, **values: Any) -> str:
        """A phrase of ``words/meta.toml``."""
        own = {"test_set": self.test_set, "level": self.level, "coefficient": self.coefficient}
        return Template(words("meta")["phrase"]).filled(name, own | values)

    @property
    def is_over_sets(self) -> bool:
        """Whether it is about several test sets."""
        return self.test_set in (AVERAGE, POOLED)

    @property
    def is_defined(self) -> bool:
        """Whether some metric has a value."""
        return not all(math.isnan(each.value) for each in self.results)

    @property
    def symbol(self) -> str:
        """The header of the column of values."""
        return self._words.get("heading", self.coefficient)

    @property
    def _words(self) -> Mapping[str, str]:
        """The words for the coefficient, unless it is one of another version."""
        found: Mapping[str, str] = words("meta")["coefficient"].get(self.coefficient, {})
        return found

    @lazy
    def by_metric(self) -> Mapping[str, MetricAgreement]:
        """The value of each metric."""
        return {each.metric: each for each in self.results}

    @lazy
    def by_value(self) -> list[str]:
        """The metrics from the highest value to the lowest; those without a value at the end."""
        return sorted(self.by_metric, key=self._place)

    @lazy
    def ranked(self) -> list[str]:
        """The metrics in the order of the ranking, and then those that are not in it, by value.

        A ranking is of values on the scores that all metrics have, or of means of segment scores.
        """
        ranks = {each.metric: each.rank for each in self.groups}
        return sorted(self.by_metric, key=lambda metric: (ranks.get(metric, math.inf), self._place(metric)))

    def _place(self, metric: str) -> float:
        value = self.by_metric[metric].value
        return math.inf if math.isnan(value) else -value

    @lazy
    def group_of(self) -> Mapping[str, MetricGroup]:
        """The place of each ranked metric."""
        return {each.metric: each for each in self.groups}

    @lazy
    def pairs(self) -> Mapping[tuple[str, str], MetricDifference]:
        """The comparison of two metrics, in either order."""
        found = {(each.metric_a, each.metric_b): each for each in self.comparisons}
        return {**{(b, a): each for (a, b), each in found.items()}, **found}

    def better(self, a: str, b: str) -> bool:
        """Whether the first metric agrees significantly better with people than the second."""
        pair = self.pairs.get((a, b))
        if pair is None or not pair.is_significant(self.alpha):
            return False
        return (pair.difference if pair.metric_a == a else -pair.difference) > 0

    @property
    def leaders(self) -> set[str]:
        """The metrics that share a letter with the first."""
        if not self.groups:
            return set()
        first = set(self.group_of[self.ranked[0]].letters)
        return {each.metric for each in self.groups if first.intersection(each.letters)}

    def leads(self, metric: str) -> bool:
        """Whether it is one of the leaders: all metrics, if none differ."""
        return metric in self.leaders


def families(result: MetaEvaluation) -> list[Family]:
    """Every coefficient on every test set, in the order of the results."""
    return [
        Family(
            *key,
            results=[each for each in result.results if _key(each) == key],
            comparisons=[each for each in result.comparisons if _key(each) == key],
            groups=[each for each in result.groups if _key(each) == key],
            alpha=result.plan.alpha,
        )
        for key in dict.fromkeys(map(_key, result.results))
    ]


def family_of(result: MetaEvaluation, each: MetricAgreement | MetricDifference) -> Family:
    """The family of a record."""
    return next(family for family in families(result) if _key(family) == _key(each))


def _key(each: MetricAgreement | MetricDifference | MetricGroup | Family) -> tuple[str, str, str | None, str]:
    """What the records of a family have in common."""
    return each.test_set, each.level, each.grouping, each.coefficient


def shown_families(result: MetaEvaluation) -> list[Family]:
    """What conclusions and tests are shown for.

    Averages and pooled votes, where there are any; each test set, where there are none or only test sets were tested.
    """
    every = families(result)
    found = []
    for family in every:
        same = [each for each in every if (each.grouping, each.coefficient) == (family.grouping, family.coefficient)]
        over_sets = [each for each in same if each.is_over_sets]
        tested = any(each.comparisons for each in over_sets) or not any(each.comparisons for each in same)
        if not over_sets or family in over_sets or not tested:
            found.append(family)
    return found


def sized(result: MetaEvaluation, family: Family, n: int) -> str:
    """What a value is computed from, as a phrase."""
    return family.phrase("computed_from", n=n, repeats=result.plan.repeats)


def on_segments(result: MetaEvaluation, family: Family) -> str:
    """On how many segments metrics scored systems, and people judged them; empty where metrics did not score any."""
    own = next((each for each in family.results if each.segments is not None), None)
    if own is None:
        return ""
    numbers = {"segments": own.segments, "judged": own.judged_segments, "all": result.plan.segments[family.test_set]}
    return family.phrase("scored_on", **{name: n for name, n in numbers.items() if n is not None})
