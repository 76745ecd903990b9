"""How p-values, adjusted p-values and confidence intervals are computed, in sentences of a methods section.

``words/methods.toml`` has an entry for every test, adjustment and interval of the registries. R is the number of
replicates, and c that of the replicates that p counts.
"""

from __future__ import annotations

from typing import Any

from ..results import UsedTest
from ..results.verdicts import UNDIRECTED
from .wording import number
from .words import Template, filled, sentence, words, words_of


def name_of(test: UsedTest) -> str:
    """The test as the object of a sentence.

    >>> name_of(UsedTest("sign-test", "sign test", "two-sided", None))
    'the sign test'
    """
    article = words("methods")["test"].get(test.name, {}).get("article", "")
    return f"{article} {test.title.replace(', ', ' with ', 1)}".lstrip()


def alternative_phrase(alternative: str) -> str:
    """Whether a test without a margin is two-sided or one-sided.

    >>> alternative_phrase("two-sided"), alternative_phrase("one-sided")
    ('two-sided', 'one-sided in the observed direction')
    """
    sides: str = words("methods")["alternative"].get(alternative, f"one-sided ({alternative})")
    return sides


def count_of(name: str, alternative: str) -> str:
    """What c is the number of, for a test with replicates and one count."""
    sides = words_of("methods", "test", name)
    found: str = sides["two-sided"] if alternative in UNDIRECTED else sides.get("one-sided", "")
    return found


def about_test(test: UsedTest, unit: str) -> dict[str, Any]:
    """What sentences on the null hypothesis and on p say of a test."""
    if test.has_margin:
        return {"against_margin": words_of("methods", "margin", test.name.removeprefix(test.alternative))}
    own = words_of("methods", "test", test.name)
    values = {"null": filled(own["null"], {"unit": unit}), "compared": own.get("compared", "")}
    if test.name == "bootstrap-both":
        centred, percentile = (count_of(name, test.alternative) for name in ("bootstrap", "bootstrap-percentile"))
        return {**values, "of_centred": centred, "of_percentile": percentile}
    if values["compared"]:
        return values
    is_doubled = test.alternative == "two-sided" and own.get("tails", 1) == 2
    return {**values, "counted": count_of(test.name, test.alternative), "is_doubled": is_doubled}


def pvalue_sentence(test: UsedTest) -> str:
    """How p is computed from all replicates, without citations."""
    about = {**about_test(test, ""), "alternative": test.alternative, "has_margin": test.has_margin}
    return sentence("methods", "sentence", "of_p", **about, cited_counting="")


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
