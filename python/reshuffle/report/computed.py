"""How p-values, adjusted p-values and confidence intervals are computed, in the words of a methods section.

Every test, adjustment and interval of the registries has an entry, by its name. R is the number of replicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from ..errors import unknown_name
from ..results import UsedTest
from .wording import number

T = TypeVar("T")


def _entry(kind: str, name: str, entries: Mapping[str, T]) -> T:
    """The entry of a name, which may be read from JSON of another version."""
    if name not in entries:
        raise unknown_name(kind, name, entries)
    return entries[name]


# The articles that the titles of tests need in a sentence.
ARTICLES: Mapping[str, str] = {
    **dict.fromkeys(("permutation", "non-inferiority", "non-inferiority-studentized", "non-inferiority-ar"), "a "),
    **dict.fromkeys(
        ("bootstrap", "bootstrap-both", "bootstrap-kink", "bootstrap-percentile", "bootstrap-shift"), "the "
    ),
    **dict.fromkeys(("paired-bootstrap", "t-test", "wilcoxon", "sign-test"), "the "),
}
SIDES: Mapping[str, str] = {
    "two-sided": "two-sided",
    "better": "one-sided (better: the system is better than its baseline)",
    "worse": "one-sided (worse: the system is worse than its baseline)",
    "greater": "one-sided (greater: the system scores higher than its baseline)",
    "less": "one-sided (less: the system scores lower than its baseline)",
}


def name_of(test: UsedTest) -> str:
    """The test as the object of a sentence.

    >>> name_of(UsedTest("sign-test", "sign test", "two-sided", None))
    'the sign test'
    """
    return f"{ARTICLES.get(test.name, '')}{test.title.replace(', ', ' with ', 1)}"


def alternative_phrase(alternative: str) -> str:
    """Whether a test without a margin is two-sided or one-sided."""
    return SIDES.get(alternative, f"one-sided ({alternative})")


class Counted(NamedTuple):
    """The replicates that c counts, after "the number of": for two-sided tests and for one-sided ones.

    ``tails``: 2 if the two-sided p is twice the share of these replicates.
    """

    two_sided: str
    one_sided: str
    tails: int = 1


WITHOUT_EFFECT = "draws without a difference in the direction of the alternative"
COUNTED: Mapping[str, Counted] = {
    "ar": Counted(
        "shuffles whose difference is at least as large in absolute value as the observed one",
        "shuffles whose difference is at least as extreme as the observed one in the direction of the alternative",
    ),
    "ar-studentized": Counted(
        "shuffles whose difference, divided by its standard error, is at least as large in absolute value as the "
        "observed difference, divided by its own",
        "shuffles whose difference, divided by its standard error, is at least as extreme as the observed difference, "
        "divided by its own, in the direction of the alternative",
    ),
    "permutation": Counted(
        "permutations in which the difference of the pair is at least as large in absolute value as the observed one",
        "",
    ),
    "bootstrap": Counted(
        "draws whose difference deviates from the observed difference by at least the absolute value of the latter",
        "draws whose difference, minus the observed difference, is at least as extreme as the latter in the direction "
        "of the alternative",
    ),
    "bootstrap-kink": Counted(
        "draws whose difference deviates from the observed difference by at least the absolute value of the latter, at "
        "those lengths, among the ones compatible with the sample, for which c is largest, plus 2% of it",
        "draws whose difference, minus the observed difference, is at least as extreme as the latter in the direction "
        "of the alternative, at those lengths, among the ones compatible with the sample, for which c is largest, plus "
        "2% of it",
    ),
    "bootstrap-percentile": Counted(
        "draws with a difference of at most 0, or of those with a difference of at least 0 if they are fewer",
        WITHOUT_EFFECT,
        tails=2,
    ),
    "bootstrap-shift": Counted(
        "draws whose absolute difference, minus the mean absolute difference of all draws, is at least as large as "
        "the absolute observed difference",
        "",
    ),
    "paired-bootstrap": Counted("draws that the better system does not win, ties included", WITHOUT_EFFECT),
}
# The null hypotheses of tests without a margin. ``{unit}`` is the resampling unit.
EXPECTED = "the expected scores of both systems on test sets of this size are equal"
EXCHANGEABLE = "the outputs of both systems for a {unit} are exchangeable"
MEAN = "the expected difference in segment scores is 0"
NULLS: Mapping[str, str] = {
    "ar": EXCHANGEABLE,
    "ar-studentized": EXCHANGEABLE,
    "permutation": "the outputs of all systems for a {unit} are exchangeable",
    **dict.fromkeys(("bootstrap", "bootstrap-both", "bootstrap-percentile", "bootstrap-shift"), EXPECTED),
    "bootstrap-kink": "the scores of both systems are equal in the population of which the test set is a sample",
    "paired-bootstrap": "the system with the better score has no better expected score on test sets of this size",
    "t-test": MEAN,
    "anova": "the expected scores of both systems are equal",
    "wilcoxon": "the differences in segment scores are symmetric about 0",
    "sign-test": "differences in segment scores are as often positive as negative",
}
# What tests with a margin compare with it.
BEYOND: Mapping[str, str] = {
    "": "draws whose difference, reflected about the observed difference,",
    "-studentized": "draws whose difference, with its deviation from the observed difference reflected and multiplied "
    "by the ratio of the observed standard error to that of the draw,",
    "-ar": "shuffles for which the mean difference of the units that they swap",
}
# What is compared with which distribution in tests without replicates.
CLOSED_FORM: Mapping[str, str] = {
    "t-test": "the mean difference in segment scores, divided by its standard error, is compared with Student's t "
    "distribution with S − 1 degrees of freedom for S segments",
    "anova": "the difference, divided by its standard error, is compared with Student's t distribution; the error and "
    "its degrees of freedom are those of a two-way analysis of variance of all systems by segments, on segment scores "
    "or, for metrics that are not their means, on jackknife pseudo-values",
    "wilcoxon": "the differences in segment scores other than 0 are ranked by absolute value, and the sum of the ranks "
    "of positive differences is compared with its exact distribution if there are at most 50 of them, or 13 with ties, "
    "and otherwise with the normal distribution",
    "sign-test": "the number of segments with a positive difference is compared with the binomial distribution, "
    "without the segments with equal scores",
}


def count_of(name: str, alternative: str) -> str:
    """What c is the number of, for a test with replicates and one count."""
    counted = _entry("test", name, COUNTED)
    return counted.two_sided if alternative == "two-sided" else counted.one_sided


def null_sentence(test: UsedTest, unit: str) -> str:
    """The null hypothesis of a test without a margin."""
    return f"The null hypothesis is that {_entry('test', test.name, NULLS).format(unit=unit)}."


def pvalue_sentence(test: UsedTest, formula: str = "({c} + 1)/(R + 1)", cited: str = "", more: str = "") -> str:
    """How p is computed. Of a test with replicates, ``formula`` is the share of the replicates that ``{c}`` counts.

    ``cited`` is the citation of the formula, and ``more`` defines what else is in it.
    """
    alternative = test.alternative
    if test.name in CLOSED_FORM:
        return f"For p, {CLOSED_FORM[test.name]}."
    if test.has_margin:
        return f"Here {_with_margin(test, formula.format(c='c'), cited)}{more}."
    if test.name != "bootstrap-both":
        share = _share(test.name, alternative, formula, "c")
        return f"Here p = {share}{cited}, where c is the number of {count_of(test.name, alternative)}{more}."
    parts = [
        f"{_share(name, alternative, formula, c)}, where {c} is the number of {count_of(name, alternative)}"
        for name, c in (("bootstrap", "c₁"), ("bootstrap-percentile", "c₂"))
    ]
    return f"Here p is the larger of two p-values{cited}: {'; and '.join(parts)}{more}."


def _share(name: str, alternative: str, formula: str, c: str) -> str:
    """The share of replicates, twice if it is that of the smaller tail."""
    share = formula.format(c=c)
    return (
        f"2{share}, but at most 1" if alternative == "two-sided" and _entry("test", name, COUNTED).tails == 2 else share
    )


def _with_margin(test: UsedTest, share: str, cited: str) -> str:
    values = _entry("test", test.name.removeprefix(test.alternative), BEYOND)
    if test.alternative == "equivalence":
        return (
            f"p is the larger p-value of the two tests, one for each end of the margin; each is {share}{cited}, where "
            f"c is the number of {values} lies at or beyond that end"
        )
    return f"p = {share}{cited}, where c is the number of {values} is a loss of at least the margin"


# How adjusted p-values are computed in a family of {m} tests of {k} systems; by name, or by name and test where that
# matters.
STEP_DOWN = (
    "(b + 1)/(R + 1), but not less than that of a more extreme difference, where b is the number of {replicates} in "
    "which the largest standardized difference, among this pair and those with less extreme differences, is at least "
    "as extreme as the observed one"
)
OF_RANKED = "The adjusted p-value of the j-th smallest of m = {m} p-values is "
ADJUSTED: Mapping[str, str] = {
    "bonferroni": "The adjusted p-value is m·p for m = {m} tests, but at most 1.",
    "holm": f"{OF_RANKED}(m − j + 1)·p, but at most 1 and not less than that of a smaller p.",
    "sidak": "The adjusted p-value is 1 − (1 − p)^m for m = {m} tests.",
    "hochberg": f"{OF_RANKED}(m − j + 1)·p, but not more than that of a larger p.",
    "hommel": "The adjusted p-value is the largest p of Simes' tests of all sets of null hypotheses that contain this "
    "one, of m = {m}.",
    "bh": f"{OF_RANKED}m·p/j, but not more than that of a larger p.",
    "by": f"{OF_RANKED}m·p/j·(1 + 1/2 + … + 1/m), but at most 1 and not more than that of a larger p.",
    "maxt": f"The adjusted p-value is {STEP_DOWN}.",
    "maxt bootstrap-both": f"The adjusted p-value is the larger of two, one for each of the two p-values; each is "
    f"{STEP_DOWN}.",
    "minp": "The adjusted p-value is (b + 1)/(R + 1), but not less than that of a smaller p, where b is the number of "
    "{replicates} in which the smallest p, among this pair and those with a larger p, is at most the observed one; the "
    "p of a pair in one of the {replicates} is its rank among all of them.",
    "tukey permutation": "The adjusted p-value is (b + 1)/(R + 1), where b is the number of {replicates} in which the "
    "range of the scores of all k = {k} systems is at least as large as the absolute observed difference.",
    "tukey": "For the adjusted p-value, √2 times the difference, divided by its standard error, is compared with the "
    "distribution of the studentized range of all k = {k} systems.",
    "scheffe": "For the adjusted p-value, the square of the difference, divided by its standard error and by k − 1 for "
    "k = {k} systems, is compared with the F distribution with k − 1 and the error's degrees of freedom.",
}


def adjusted_sentence(test: UsedTest, n_tests: int, n_systems: int) -> str:
    """How the adjusted p-values are computed, in a family of so many tests."""
    of_test = f"{test.adjustment} {test.name}"
    sentence = _entry("adjustment", of_test if of_test in ADJUSTED else f"{test.adjustment}", ADJUSTED)
    return sentence.format(m=f"{n_tests:,}", k=f"{n_systems:,}", replicates=test.replicates)


class Ends(NamedTuple):
    """The name of confidence intervals in the plural, and how their ends are computed.

    ``{alpha}`` is 1 minus the confidence level.
    """

    name: str
    ends: str


ENDS: Mapping[str, Ends] = {
    "percentile": Ends(
        "percentile intervals",
        "their ends are the k-th smallest and the k-th largest draw, where k is {alpha}·(R + 1)/2, rounded down",
    ),
    "koehn": Ends(
        "percentile intervals by Koehn's order statistics",
        "their ends are the smallest and the largest draw after {alpha}·R/2 draws, rounded down, are dropped at each "
        "end",
    ),
    "basic": Ends(
        "basic bootstrap intervals",
        "their ends are twice the observed value minus the k-th largest and minus the k-th smallest draw, where "
        "k is {alpha}·(R + 1)/2, rounded down",
    ),
    "normal": Ends(
        "normal intervals",
        "they are the observed value ± a normal quantile times the standard deviation of the draws",
    ),
    "bca": Ends(
        "bias-corrected and accelerated (BCa) intervals",
        "their ends are quantiles of the draws, at levels that correct for bias and skewness",
    ),
    "studentized": Ends(
        "studentized (bootstrap-t) intervals",
        "they extend from the observed value by its standard error times quantiles of the deviations of the draws, "
        "each divided by the standard error of its draw",
    ),
    "delta": Ends(
        "normal intervals",
        "they are the observed value ± a normal quantile times the standard error of the delta method",
    ),
    "jackknife": Ends(
        "normal intervals",
        "they are the observed value ± a normal quantile times the standard error of the jackknife",
    ),
    "ar-studentized": Ends(
        "inversions of the studentized test for differences, and percentile intervals for scores",
        "those of differences are the observed difference ± its standard error times the k-th largest "
        "absolute difference of R shuffles, each divided by its standard error, where k is {alpha}·(R + 1), rounded "
        "down; those of scores end at the k-th smallest and the k-th largest draw, where k is {alpha}·(R + 1)/2, "
        "rounded down",
    ),
    "bootstrap-kink": Ends(
        "inversions of the bootstrap test with least favourable lengths for differences, and percentile intervals for "
        "scores",
        "those of differences are the observed difference ± the k-th largest absolute deviation of R draws, at those "
        "lengths, among the ones compatible with the sample, for which it is largest, where k is 0.98·{alpha}·(R + 1), "
        "rounded down; those of scores end at the k-th smallest and the k-th largest draw, where k is "
        "{alpha}·(R + 1)/2, rounded down",
    ),
    "t": Ends(
        "Student's t intervals",
        "they are the observed mean of segment scores ± a quantile of Student's t distribution times its standard "
        "error",
    ),
}


def interval_phrases(name: str, level: float) -> tuple[str, str]:
    """The name of confidence intervals at a level, in the plural, and how their ends are computed."""
    found = _entry("interval", name, ENDS)
    return found.name, found.ends.format(alpha=number(round(1 - level, 12)))
