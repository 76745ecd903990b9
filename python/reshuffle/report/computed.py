"""How p-values, adjusted p-values and confidence intervals are computed, in sentences of a methods section.

``words/methods.toml`` has an entry for every test, adjustment and interval of the registries. R is the number of
replicates, and c that of the replicates that p counts.
"""

from __future__ import annotations

from ..results import UsedTest
from .wording import number
from .words import Template, filled, words, words_of


def name_of(test: UsedTest) -> str:
    """The test as the object of a sentence.

    >>> name_of(UsedTest("sign-test", "sign test", "two-sided", None))
    'the sign test'
    """
    article = words("methods")["test"].get(test.name, {}).get("article", "")
    return f"{article} {test.title.replace(', ', ' with ', 1)}".lstrip()


def alternative_phrase(alternative: str) -> str:
    """Whether a test without a margin is two-sided or one-sided."""
    sides: str = words("methods")["alternative"].get(alternative, f"one-sided ({alternative})")
    return sides


def count_of(name: str, alternative: str) -> str:
    """What c is the number of, for a test with replicates and one count."""
    sides = words_of("methods", "test", name)
    found: str = sides["two-sided"] if alternative == "two-sided" else sides.get("one-sided", "")
    return found


def null_sentence(test: UsedTest, unit: str) -> str:
    """The null hypothesis of a test without a margin."""
    return f"The null hypothesis is that {filled(words_of('methods', 'test', test.name)['null'], {'unit': unit})}."


def pvalue_sentence(test: UsedTest, formula: str = "({c} + 1)/(R + 1)", cited: str = "", more: str = "") -> str:
    """How p is computed. Of a test with replicates, ``formula`` is the share of the replicates that ``{c}`` counts.

    ``cited`` is the citation of the formula, and ``more`` defines what else is in it.
    """
    alternative = test.alternative
    if test.has_margin:
        return f"{_with_margin(test, formula.format(c='c'), cited)}{more}."
    compared = words_of("methods", "test", test.name).get("compared")
    if compared is not None:
        return f"For p, {compared}."
    if test.name != "bootstrap-both":
        share = _share(test.name, alternative, formula, "c")
        return f"The p-value is {share}{cited}, where c is the number of {count_of(test.name, alternative)}{more}."
    parts = [
        f"{_share(name, alternative, formula, c)}, where {c} is the number of {count_of(name, alternative)}"
        for name, c in (("bootstrap", "c₁"), ("bootstrap-percentile", "c₂"))
    ]
    return f"The p-value is the larger of two p-values{cited}: {'; and '.join(parts)}{more}."


def _share(name: str, alternative: str, formula: str, c: str) -> str:
    """The share of replicates, twice if it is that of the smaller tail."""
    share = formula.format(c=c)
    tails = words_of("methods", "test", name).get("tails", 1)
    return f"2{share}, but at most 1" if alternative == "two-sided" and tails == 2 else share


def _with_margin(test: UsedTest, share: str, cited: str) -> str:
    values = words_of("methods", "margin", test.name.removeprefix(test.alternative))
    if test.alternative == "equivalence":
        return (
            f"The p-value is the larger one of those of two tests, one for each end of the margin; each is {share}"
            f"{cited}, where c is the number of {values} lies at or beyond that end"
        )
    return f"The p-value is {share}{cited}, where c is the number of {values} is a loss of at least the margin"


def adjusted_sentence(test: UsedTest, n_tests: int, n_systems: int) -> str:
    """How the adjusted p-values are computed, in a family of so many tests."""
    of_test = f"{test.adjustment} {test.name}"
    has_own = of_test in words("methods")["adjustment"]
    sentence: str = words_of("methods", "adjustment", of_test if has_own else f"{test.adjustment}")
    values = {"m": f"{n_tests:,}", "k": f"{n_systems:,}", "replicates": test.replicates}
    found = filled(sentence, values)
    scales = words("methods")["scale"].get(test.adjustment, {})
    if test.name not in scales:
        return found
    return f"{found} To standardize, {Template(scales).filled(test.name, values)}."


def interval_phrases(name: str, level: float) -> tuple[str, str]:
    """The name of confidence intervals at a level, in the plural, and how their ends are computed."""
    found = words_of("methods", "interval", name)
    return found["name"], filled(found["ends"], {"alpha": number(round(1 - level, 12))})
