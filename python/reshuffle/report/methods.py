"""The methods paragraph of a paper about a result, and the BibTeX entries of the papers that it cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import counted, printable
from ..results import Comparison, SetComparison, UsedInterval, UsedMetric, UsedTest
from ..results.sets import MAX_DROPPED
from ..types import Groups
from .computed import about_test, adjusted_sentence, alternative_phrase, count_of, interval_phrases, name_of
from .margins import has_margin, within_all
from .notes import is_of_few, values_of
from .sources import cited, entries_of, papers
from .systems import has_ranks, references_of, shows_best_alone, size_of
from .votes import ratings_phrase
from .wording import few, joined
from .words import Template, words

PHIPSON_SMYTH = "doi:10.2202/1544-6115.1585"
HEMERIK_GOEMAN = "doi:10.1007/s11749-017-0571-1"
MOGSTAD = "doi:10.1093/restud/rdad006"
PIEPHO = "doi:10.1198/1061860043515"
CARD = "2020.emnlp-main.745"

# The papers of the stopping rules.
STOPPING_RULES: Mapping[str, str] = {
    "besag-clifford": "doi:10.1093/biomet/78.2.301",
    "gandy": "doi:10.1198/jasa.2009.tm08368",
}


# Encloses a source, or the signature, in a paragraph. Printable texts have neither.
_MARK, _SIGNATURE = "\3", "\4"


def cite(source: str | None) -> str:
    """A citation in a sentence, which each format writes in its own way; nothing without a source."""
    return "" if source is None else f"{_MARK}{source}{_MARK}"


class Detail(str):
    """A sentence that a paper has in its appendix: how a number is computed, or what a table shows beside it."""

    __slots__ = ()


@dataclass(frozen=True)
class Methods:
    """The paragraph of a paper about a result, in no format yet: sentences with the sources between marks."""

    sentences: tuple[str, ...]

    @property
    def main(self) -> Methods:
        """What the text of a paper says."""
        return Methods((*(each for each in self.sentences if not isinstance(each, Detail)),))

    @property
    def details(self) -> Methods:
        """What the appendix says: the other sentences, with the signature."""
        return Methods((*(each for each in self.sentences if isinstance(each, Detail)),))

    def written(
        self, text: Callable[[str], str], citation: Callable[[str], str], signature: Callable[[str], str] = str
    ) -> str:
        """The paragraph, from its texts, the sources that are cited between them, and the signature."""
        parts = re.split(f"([{_MARK}{_SIGNATURE}])(.*?)\\1", " ".join(self.sentences), flags=re.DOTALL)
        writers = {_MARK: citation, _SIGNATURE: signature}
        others = (writers[mark](part) + text(after) for mark, part, after in zip(*[iter(parts[1:])] * 3, strict=True))
        return "".join([text(parts[0]), *others])

    @property
    def plain(self) -> str:
        """With citations in parentheses, by authors, year and id."""
        return self.written(str, lambda source: f" ({cited(source)})")

    @property
    def bibtex(self) -> str:
        """The entries of the papers, in the order in which they are cited."""
        sources = " ".join(self.sentences).split(_MARK)[1::2]
        names = (name for source in sources for name in entries_of(source))
        return "\n".join(papers()[name].bibtex for name in dict.fromkeys(names))


def signed_by(version: str, signature: str) -> str:
    """The last sentence of every paragraph."""
    means = (
        "Scores are means of the segments' scores (mean:segments in the signature), which were stored as whole "
        "multiples of the resolution. "
    )
    return Detail(
        f"{means if 'mean:segments|resolution:' in signature else ''}All numbers were computed with reshuffle "
        f"{version}; signature: {_SIGNATURE}{signature}{_SIGNATURE}."
    )


def of_differences(comparison: Comparison) -> str:
    """What the table of differences has, for a sentence that refers to it."""
    intervals = ["confidence intervals"] if comparison.interval is not None else []
    detectable = ["minimum detectable differences"] if comparison.detectable else []
    adjusted = ["adjusted p-values"] if comparison.family_size > 1 else []
    which = "the differences"
    if shows_best_alone(comparison):
        best = "the best system" + (" under each metric" if len(comparison.metrics) > 1 else "")
        which += f" from {best}" if comparison.is_reversible else f" between {best} and others"
    return f"{which} with {joined([*intervals, 'p-values', *adjusted, *detectable])}"


def comparison_sentences(
    result: Comparison | SetComparison, shown: Collection[Groups] = ("letters", "ranks")
) -> Iterator[str]:
    """What was scored and tested on one test set or on several, and how, and the version.

    ``shown``: whether the report has letters, ranks or both.
    """
    if isinstance(result, SetComparison):
        first = next(iter(result.sets.values()))
        yield _scored_on_sets(result, first)
        yield from _inferred(first, shown, on_all_sets(result))
        if result.average is not None:
            apart = ", and adjusted separately" if result.average.family_size > 1 else ""
            yield (
                f"The averages of the scores over the test sets were tested in the same way{apart}; each replicate of "
                "an average is the mean of independent replicates, one from each test set."
            )
    else:
        yield _scored(result)
        yield from _inferred(result, shown)
    yield signed_by(result.version, printable(result.signature))


def on_all_sets(result: SetComparison) -> Comparison:
    """The first test set with the tests of all of them, and with the units and replicates that all share."""
    first, *others = found = [*result.sets.values()]
    resampled = next((each for each in found if each.n_resamples is not None), first)
    return replace(
        first,
        comparisons=tuple(pair for each in found for pair in each.comparisons),
        unit=first.unit if all(each.unit == first.unit for each in others) else "resampling unit",
        averaged_over=tuple(result.sets),
        n_resamples=resampled.n_resamples,
        seed=resampled.seed,
    )


def _inferred(
    comparison: Comparison, shown: Collection[Groups], on_all_sets: Comparison | None = None
) -> Iterator[str]:
    """The sentences about tests, intervals and ranks. ``on_all_sets`` has the tests of all test sets."""
    if comparison.test is not None:
        tested = comparison if on_all_sets is None else on_all_sets
        about = {**_values(tested), "r": True, "baseline": comparison.baseline}
        yield _filled("tested", {**about, "n_compared": len(comparison.comparisons) // len(comparison.metrics)})
        about |= {**about_test(comparison.test, comparison.unit), "unit": comparison.unit}
        yield Detail(_filled("pvalue", about))
        if not comparison.test.has_margin:
            yield Detail(_filled("null_hypothesis", {**about, "of_votes": comparison.votes is not None}))
        yield from map(Detail, _other_tests(tested, comparison.test, comparison.family_size))
        apart = " on each test set" if on_all_sets is not None and comparison.test.n_sets == 1 else ""
        yield _filled("significant", {**_values(comparison), "on_each_set": apart})
        if comparison.family_size > 1:
            yield Detail(adjusted_sentence(comparison.test, comparison.family_size, len(comparison.systems)))
    if comparison.interval is not None and comparison.confidence_level is not None:
        yield from _intervals(comparison, comparison.interval, comparison.confidence_level)
    yield from map(Detail, _ranked(comparison, shown))


def _scored(comparison: Comparison) -> str:
    if (votes := comparison.votes) is None:
        return f"{_systems(comparison)} on a test set of {_size(comparison)}."
    values = {
        "systems_were": begun(len(comparison.systems), "system"),
        "size": size_of(comparison),
        "ratings": ratings_phrase(votes, cite(comparison.metrics[0].source)),
        "has_first": votes.first is not None,
        "prior": votes.prior,
    }
    return _filled("rated", values)


def _scored_on_sets(result: SetComparison, first: Comparison) -> str:
    sizes = joined(f"{name} ({_size(comparison)})" for name, comparison in result.sets.items())
    dropped = ""
    if result.dropped:
        be = "was" if len(result.dropped) == 1 else "were"
        dropped = f" {few(result.dropped, MAX_DROPPED)} {be} left out, because not every test set has them."
    return f"{_systems(first)} on {counted(len(result.sets), 'test set')}: {sizes}.{dropped}"


def _systems(comparison: Comparison) -> str:
    return f"{begun(len(comparison.systems), 'system')} scored by {metrics_phrase(comparison.metrics)}"


def metrics_phrase(metrics: Iterable[UsedMetric]) -> str:
    """The metrics, each with its paper."""
    return joined(f"{printable(metric.name)}{cite(metric.source)}" for metric in metrics)


_WORDS = ("", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


def begun(n: int, noun: str) -> str:
    """So many things and their verb as the start of a sentence, which is no numeral.

    >>> begun(1, "system"), begun(4, "system"), begun(18, "system")
    ('One system was', 'Four systems were', 'A total of 18 systems were')
    """
    of_n = counted(n, noun)
    words = f"{_WORDS[n]} {of_n.split(' ', 1)[1]}" if 0 < n < len(_WORDS) else f"A total of {of_n}"
    return f"{words} {'was' if n == 1 else 'were'}"


def _size(comparison: Comparison) -> str:
    size = size_of(comparison)
    if n := comparison.n_references:
        size += f" with {'one reference' if n == 1 else references_of(comparison)} each"
    return size


def in_caption(part: str, comparison: Comparison) -> str:
    """The test, adjustment or interval as captions have it, without citations: a part of ``words/methods.toml``."""
    return re.sub(f"{_MARK}.*?{_MARK}", "", _filled(part, _values(comparison)), flags=re.DOTALL)


def _filled(part: str, values: Mapping[str, Any]) -> str:
    return Template({**words("notes")["note"], **words("methods")["sentence"]}).filled(part, values)


def _values(comparison: Comparison) -> dict[str, Any]:
    """What the sentences about a result say, by name."""
    test, interval = comparison.test, comparison.interval
    values = {**values_of(comparison), "seed": "" if comparison.seed is None else _seed(comparison.seed)}
    if test is not None:
        values |= {
            "title": test.title,
            "test_named": name_of(test),
            "one_or_two_sided": alternative_phrase(test.alternative),
            "margins": within_all(comparison) if test.has_margin else "",
            "single_step": (test.adjustment_title or "").replace("step-down", "single-step"),
            "cited": cite(test.source),
            "cited_counting": cite(PHIPSON_SMYTH),
            "cited_subgroup": cite(HEMERIK_GOEMAN),
            "cited_rule": cite(STOPPING_RULES.get(values.get("rule", ""))),
            "cited_adjustment": cite(test.adjustment_source),
        }
    if interval is not None:
        values["cited_interval"] = cite(interval.source)
    return values


def _seed(seed: int) -> str:
    """The seed, or the seed from which the seeds of the test sets were derived."""
    original, *steps = getattr(seed, "derivation", str(seed)).split(">")
    if steps and steps[-1].startswith("test-set["):
        return f"seeds derived from {'>'.join([original, *steps[:-1]])}"
    return f"seed {'>'.join([original, *steps])}"


# What captions call the tests of pairs that differ in few units.
_FULL_NAMES = {"ar": "approximate randomization", "bootstrap-kink": "the bootstrap with least favourable lengths"}


def other_tests_phrase(comparison: Comparison, test: UsedTest) -> str:
    """The tests that some pairs have in place of the one just named."""
    parts = [f"; {name} for {metric}" for metric, name in _of_functions(comparison, test).items()]
    few = _of_few(comparison, test)
    if few:
        counts = joined(f"{_FULL_NAMES.get(name, name)} for {few.count(name):,}" for name in dict.fromkeys(few))
        where = f"where the systems differ in few {comparison.unit}s"
        parts = [f"; {counts} of {counted(len(comparison.comparisons), 'test')}, {where}", *parts]
    return "".join(parts)


def _of_few(comparison: Comparison, test: UsedTest) -> list[str]:
    """The tests of pairs that differ in few units, unless it is that of all."""
    return [p.test.test for p in comparison.comparisons if is_of_few(p, test)]


def _of_functions(comparison: Comparison, test: UsedTest) -> dict[str, str]:
    """The tests of metrics that are functions of texts, by metric, unless it is that of all."""
    others = [p for p in comparison.comparisons if p.test.test != test.name and "few-differing" not in p.caveats]
    return {p.metric: p.test.test for p in others}


def _other_tests(comparison: Comparison, test: UsedTest, family_size: int) -> Iterator[str]:
    """Sentences about the tests that pairs or metrics got instead."""
    few, values = _of_few(comparison, test), _values(comparison)
    values |= {"family_size": family_size, "is_higher": family_size > 1 and test.adjustment == "maxt"}
    for name in dict.fromkeys(few):
        yield _filled("few_units", {**values, "pairs": few.count(name), **_count(name, test)})
    at_kink = sum(c.values.get("at_kink", 0) for c in comparison.caveats if c.kind == "few-differing")
    if at_kink:
        yield _filled("at_kink", {**values, "pairs": at_kink})
    for metric, name in _of_functions(comparison, test).items():
        yield _filled("of_function", {"metric": metric, **_count(name, test)})


def _count(name: str, test: UsedTest) -> dict[str, str]:
    """The name of another test, and what c is the number of in it."""
    return {"test_name": name, "counted": count_of(name, test.alternative)}


def _intervals(comparison: Comparison, interval: UsedInterval, level: float) -> Iterator[str]:
    """The type of the confidence intervals, and how they are computed."""
    values = _values(comparison)
    values["interval_name"], values["ends"] = interval_phrases(interval.name, level)
    yield _filled("intervals", values)
    yield Detail(_filled("ends_of_intervals", values))
    if has_margin(comparison):
        yield _filled("inverse", values)
    elif interval.simultaneous:
        yield _filled("simultaneous_intervals", values)
        yield Detail(_filled("ends_of_simultaneous", {"single_step": "", **values}))


def _ranked(comparison: Comparison, shown: Collection[Groups]) -> Iterator[str]:
    values = {
        "cited_ranks": cite(MOGSTAD),
        "cited_letters": cite(PIEPHO),
        "cited_detectable": cite(CARD),
        "of_ranks": 1 - (comparison.alpha or 0),
    }
    if has_ranks(comparison):
        if "ranks" in shown:
            yield _filled("ranks" if comparison.rankings[0].simultaneous else "compatible_ranks", values)
        if "letters" in shown and any(ranking.groups is not None for ranking in comparison.rankings):
            yield _filled("letters", values)
    if comparison.detectable:
        yield _filled("detectable", {**values, "power": comparison.detectable[0].power})
