"""Sentences about the results of the tests: which systems are better, and the minimum detectable difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..errors import counted
from ..grouping import grouped
from ..results import (
    NO_DIFFERENCE,
    Comparison,
    PairedDifference,
    Ranking,
    SetComparison,
    UsedMetric,
    Verdict,
    sought_by,
)
from .caveats import MAX_PAIRS, doubt
from .cells import decimals_apart, under
from .layout import Layout
from .margins import has_margin, is_significant, margin_statement
from .systems import has_ranks, pairs_of, sorted_systems
from .votes import vote_conclusions
from .wording import MAX_NAMED, Nameless, are, few, joined, named, percent

AVERAGE = "On average, "
CANDIDATES = "Candidates are not significantly worse than any other system."
# More candidates for the best system are counted.
MAX_CANDIDATES = 10


def conclusions(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """The sentences below the table of systems: of the tests, if there are any, and of votes."""
    if comparison.comparisons:
        yield from _of_tests(comparison, layout)
    if comparison.votes is not None:
        yield from vote_conclusions(comparison.votes)


def _of_tests(comparison: Comparison, layout: Layout) -> Iterator[str]:
    average = AVERAGE if comparison.averaged_over else ""
    if has_margin(comparison):
        for metric in comparison.metrics:  # each statement names the metric, as the unit of the margin
            said = statement(comparison, metric)
            yield f"{average}{said if average else _capitalized(said)}{doubts(comparison, metric)}."
        return
    tested = {metric.name: (comparison, metric) for metric in comparison.metrics}
    candidates = _numbers_of_candidates(comparison)
    some = f"{average}candidates" if average else "Candidates"
    counts = f"{some} for the best system: {candidates}."
    found = counts if candidates else _found(tested, "by" if comparison.votes else "under", "metric", average)
    # The set that agrees with the ranks, letters and bold type beside it, and holds at once with them. Results have the
    # smaller one of multiple comparisons with the best, too, which holds for one system at a time.
    has_candidates = has_ranks(comparison) and any(map(_has_candidates, comparison.rankings))
    yield f"{found} {CANDIDATES}" if has_candidates else found
    if comparison.detectable:
        yield detectable_sentence(comparison, layout)


def conclusions_of_sets(result: SetComparison) -> Iterator[str]:
    """A sentence for each metric about all test sets."""
    first, *_ = result.sets.values()
    for metric in first.metrics if first.comparisons else ():
        tested = {name: (comparison, metric) for name, comparison in result.sets.items()}
        yield _found(tested, "on", "test set", f"{metric.name}: ")


def _found(tested: Mapping[str, tuple[Comparison, UsedMetric]], preposition: str, noun: str, start: str = "") -> str:
    """What is found under several metrics or on several test sets, of which ``noun`` is the kind."""
    first, _ = next(iter(tested.values()))
    order = _order(first)
    statements = {name: (statement(*each, order), doubts(*each)) for name, each in tested.items()}
    if first.baseline is None or has_margin(first) or len(first.systems) - 1 <= MAX_NAMED:
        return one_sentence(statements, preposition, start)
    relations = {name: _relations(*each, order) for name, each in tested.items()}
    others = {each for of in relations.values() for each in of.values()} - DECIDED
    if len({text for text, _ in statements.values()}) == 1 or len(others) > 1:
        return one_sentence(statements, preposition, start)
    doubtful = grouped((doubt[2:-1], name) for name, (_, doubt) in statements.items() if doubt)
    found = across(relations, first.baseline, preposition, noun)
    more = (f" {preposition.capitalize()} {joined(names)}: {doubt}." for doubt, names in doubtful.items())
    return f"{start}{found}.{''.join(more)}"


def statement(comparison: Comparison, metric: UsedMetric, order: Sequence[str] = ()) -> str:
    """Which systems are better under a metric. They are named in this order, if one is given."""
    if has_margin(comparison):
        return margin_statement(comparison, metric)
    rankings = under(metric.name, comparison.rankings)
    if comparison.baseline is None and rankings:
        return _top(rankings[0], order)
    if comparison.baseline is None:  # as in one-sided tests
        pairs = under(metric.name, comparison.comparisons)
        return number_of_pairs([is_significant(comparison, pair) for pair in pairs])
    return against_baseline(_relations(comparison, metric, order), comparison.baseline)


def _relations(comparison: Comparison, metric: UsedMetric, order: Sequence[str]) -> dict[str, str]:
    """How each system differs from the baseline under a metric (:func:`relation`)."""
    found = {
        pair.system: relation(comparison.verdict(pair), pair.test.alternative, metric)
        for pair in under(metric.name, comparison.comparisons)
    }
    return {system: found[system] for system in order if system in found} | found


def doubts(comparison: Comparison, metric: UsedMetric) -> str:
    """In parentheses, why the test may not hold its level for significant differences under a metric; or nothing."""
    own = (caveat for caveat in comparison.caveats if caveat.values.get("metric") in (None, metric.name))
    phrases = {caveat.kind: phrase for caveat in own if (phrase := doubt(caveat, comparison.unit))}
    if not phrases:  # the pairs may be many
        return ""
    pairs = pairs_of(comparison, metric)
    found = [pair for pair in pairs if is_significant(comparison, pair)]
    if comparison.baseline is None:
        for ranking in under(metric.name, comparison.rankings):
            found = _of_the_best(comparison, ranking, found)
        pairs = found
    said = dict.fromkeys(_of_some(comparison, phrase, kind, found, pairs) for kind, phrase in phrases.items())
    shown = "; ".join(filter(None, said))
    return f" ({shown})" if shown else ""


def _of_the_best(comparison: Comparison, ranking: Ranking, found: Sequence[PairedDifference]) -> list[PairedDifference]:
    """The significant differences that a sentence about the best systems (:func:`_top`) rests on.

    They are those from the best systems and, for a system that none of these is better than, those from the systems
    that are better.
    """
    best = {*ranking.best}
    worse = [pair.baseline if comparison.verdict(pair) == "better" else pair.system for pair in found]
    of_best = [bool(best & {pair.system, pair.baseline}) for pair in found]
    beaten = {system for system, is_own in zip(worse, of_best, strict=True) if is_own}
    return [pair for pair, system, is_own in zip(found, worse, of_best, strict=True) if is_own or system not in beaten]


def _of_some(
    comparison: Comparison, phrase: str, kind: str, found: Sequence[PairedDifference], pairs: Sequence[PairedDifference]
) -> str:
    """Why some of the significant differences may be none; empty if none is.

    They are named unless the same holds for all ``pairs`` that the sentence speaks of, which may end with others.
    """
    doubtful = [pair for pair in found if kind in pair.caveats]
    if not doubtful or all(kind in pair.caveats for pair in pairs):
        return phrase if doubtful else ""
    several = len({pair.baseline for pair in comparison.comparisons}) > 1
    names = [f"{pair.system} − {pair.baseline}" if several else pair.system for pair in doubtful]
    return f"{named(names, 'pair', MAX_PAIRS if several else MAX_NAMED)}: {phrase}"


def one_sentence(statements: Mapping[str, tuple[str, str]], preposition: str, start: str = "") -> str:
    """One sentence of the statements, with the metrics or test sets for which each holds, and then its doubts.

    Where there are several, the metrics of each come first, so that they are not read as those of its last part alone.

    >>> equal, better = ("a and b differ", ""), ("a is better than b", " (p is unreliable)")
    >>> one_sentence({"BLEU": better, "chrF": better, "TER": equal}, "under")
    'Under BLEU and chrF, a is better than b (p is unreliable); under TER, a and b differ.'
    >>> one_sentence({"BLEU": better, "chrF": better}, "under", "Here ")
    'Here a is better than b under BLEU and chrF (p is unreliable).'
    """
    where = grouped((text, name) for name, text in statements.items())
    if len(where) > 1:
        parts = (f"{preposition} {joined(names)}, {text}{doubt}" for (text, doubt), names in where.items())
        sentence = "; ".join(parts)
        return f"{start}{sentence if start else sentence[0].upper() + sentence[1:]}."
    (((text, doubt), names),) = where.items()
    return f"{start}{text if start == AVERAGE else _capitalized(text)} {preposition} {joined(names)}{doubt}."


def _capitalized(text: str) -> str:
    """A statement as the start of a sentence, unless it begins with the name of a system, which keeps its case."""
    return f"{text[0].upper()}{text[1:]}" if isinstance(text, Nameless) else text


def _order(comparison: Comparison) -> Sequence[str]:
    """The systems as in the table, by the first metric: one order, so that equal sets read alike."""
    ranked = [each.system for ranking in comparison.rankings[:1] for each in ranking.systems]
    return ranked or sorted_systems(comparison)


def _top(ranking: Ranking, order: Sequence[str]) -> str:
    """Which system is the best, or which systems may be the best."""
    top, n_systems = ranking.systems[0], len(ranking.systems)
    best = sorted(ranking.best, key=order.index) if {*ranking.best} <= {*order} else ranking.best
    if top.rank_high == 1:
        others = "" if n_systems == 2 else "all others"
        return f"{top.system} is significantly better than {others or ranking.systems[1].system}"
    if len(ranking.best) == n_systems:
        if n_systems == 2:
            return f"{joined(best)} show no significant difference"
        return Nameless("no system is significantly better than another")
    if len(ranking.best) == 1:
        it = "is the only candidate for the best system, but not significantly better than all others"
        return f"{ranking.best[0]} {it}"
    if _has_candidates(ranking):
        return f"{named(best, 'system', MAX_CANDIDATES)} are candidates for the best system"
    rest = [each.system for each in ranking.systems if each.system not in ranking.best]
    others = rest[0] if len(rest) == 1 else "all others"
    return f"{joined(best)} are significantly better than {others}, with {NO_DIFFERENCE} between them"


def _has_candidates(ranking: Ranking) -> bool:
    """Whether the best systems are called candidates: they are not all, and not a few that are better than the rest."""
    n_best = len(ranking.best)
    apart = all(each.rank_high <= n_best for each in ranking.systems if each.system in ranking.best)
    return n_best < len(ranking.systems) and not (apart and n_best <= MAX_NAMED)


def _numbers_of_candidates(comparison: Comparison) -> str | None:
    """The numbers under each metric, if there are several metrics and under each too many candidates to name."""
    best = {ranking.metric: ranking.best for ranking in comparison.rankings}
    many = all(MAX_CANDIDATES < len(systems) < len(comparison.systems) for systems in best.values())
    if not has_ranks(comparison) or not many or not 1 < len(best) == len(comparison.metrics):
        return None
    return ", ".join(f"{len(names):,} under {metric}" for metric, names in best.items())


# How a system may differ from the baseline, and the wording once the sentence has named the baseline.
RELATIONS = {
    "significantly better than": "significantly better",
    "significantly worse than": "significantly worse",
    f"{NO_DIFFERENCE} from": f"{NO_DIFFERENCE} from it",
    "not shown to be better than": "not shown to be better",
    "not shown to be worse than": "not shown to be worse",
}
DECIDED = {"significantly better than", "significantly worse than"}


def against_baseline(relations: Mapping[str, str], baseline: str) -> str:
    """How the systems differ from the baseline: each is in a relation to it (:func:`relation`).

    >>> against_baseline({"b": "significantly better than", "c": "no significant difference from"}, "a")
    'b is significantly better than a, and c shows no significant difference from it'
    """
    groups: dict[str, list[str]] = {each: [] for each in RELATIONS}
    for system, each in relations.items():
        groups[each].append(system)
    (first, systems), *others = ((each, systems) for each, systems in groups.items() if systems)
    every = not others and len(systems) > MAX_NAMED
    subject = f"all {len(systems):,} other systems {_verb(first, 2)}" if every else _some(first, systems)
    counts = len(systems) > MAX_NAMED
    # In a third group, "it" could be a system of the second.
    than = (RELATIONS[each] if at == 0 else f"{each} {baseline}" for at, (each, _) in enumerate(others))
    more = (f"{_some(each, own, counts)} {words}" for (each, own), words in zip(others, than, strict=True))
    *phrases, last = f"{subject} {first} {baseline}", *more
    if every:
        return Nameless(last)
    return f"{', '.join(phrases)}, and {last}" if phrases else last


def across(relations: Mapping[str, Mapping[str, str]], baseline: str, preposition: str, noun: str) -> str:
    """How the systems differ from the baseline under several metrics, or on several test sets.

    >>> better, equal = "significantly better than", "no significant difference from"
    >>> across({"BLEU": {"b": better, "c": better}, "chrF": {"b": better, "c": equal}}, "a", "under", "metric")
    'b is significantly better than a under both metrics, and c under BLEU only'
    """
    groups: dict[str, dict[tuple[str, ...], list[str]]] = {each: {} for each in RELATIONS}
    for system in next(iter(relations.values())):
        for each, names in grouped((of[system], name) for name, of in relations.items()).items():
            if each in DECIDED or len(names) == len(relations):
                groups[each].setdefault(tuple(names), []).append(system)
    all_of_them = f"both {noun}s" if len(relations) == 2 else f"all {len(relations):,} {noun}s"
    phrases: list[str] = []
    for each, found in groups.items():
        parts: list[str] = []
        for places, own in sorted(found.items(), key=lambda item: -len(item[0])):
            some = f"{len(own):,}" if len(own) > MAX_NAMED else joined(own)
            if not parts:
                some = f"{_some(each, own, bool(phrases))} {RELATIONS[each] if phrases else f'{each} {baseline}'}"
            where = all_of_them if each in DECIDED else f"any {noun}"
            where = where if len(places) == len(relations) else f"{joined(places)} only"
            parts.append(f"{some} {preposition} {where}")
        if parts:
            *others, last = parts
            phrases.append(f"{', '.join(others)}, and {last}" if others else last)
    return "; ".join(phrases)


def relation(verdict: Verdict, alternative: str, metric: UsedMetric) -> str:
    """What a test shows about a system and the baseline. A one-sided one can only show a difference in its direction.

    >>> ter = UsedMetric("TER", "TER", higher_is_better=False)
    >>> relation("better", "better", ter), relation(NO_DIFFERENCE, "two-sided", ter)
    ('significantly better than', 'no significant difference from')
    >>> relation(NO_DIFFERENCE, "less", ter)
    'not shown to be better than'
    """
    if verdict != NO_DIFFERENCE:
        return f"significantly {verdict} than"
    sought = sought_by(alternative, metric.higher_is_better)
    return f"{NO_DIFFERENCE} from" if sought is None else f"not shown to be {sought} than"


def _some(relation: str, systems: list[str], counted_before: bool = False) -> str:
    """The systems as a subject with its verb; as a number alone if the sentence has said of what."""
    some = f"{len(systems):,}" if counted_before and len(systems) > MAX_NAMED else named(systems, "system")
    return f"{some} {_verb(relation, len(systems))}"


def _verb(relation: str, n: int) -> str:
    """The verb of so many systems before a relation."""
    return ("shows" if n == 1 else "show") if relation.startswith(NO_DIFFERENCE) else are(n)


def number_of_pairs(significant: Sequence[bool]) -> str:
    """How many pairs without a ranking differ."""
    return f"{sum(significant):,} of {counted(len(significant), 'pair')} differ significantly"


def detectable_sentence(comparison: Comparison, layout: Layout) -> str:
    """The minimum detectable difference under each metric."""
    decimals = {metric.name: layout.decimals(comparison, metric.name) for metric in comparison.metrics}
    if layout.digits is None:
        for each in comparison.detectable:
            decimals[each.metric] = decimals_apart(decimals[each.metric], each.difference)
    differences = ", ".join(
        f"{each.metric} {each.difference:.{decimals[each.metric]}f}" for each in comparison.detectable
    )
    power = percent(comparison.detectable[0].power)
    if len(comparison.detectable) == 1:
        (each,) = comparison.detectable
        low, high = (f"{value:.{decimals[each.metric]}f}" for value in (each.low, each.high))
        differences += f" (range {low} to {high})" if low != high else ""
    median = "" if all(each.low == each.high for each in comparison.detectable) else ", median pair"
    left_out = dict.fromkeys(pair for each in comparison.detectable for pair in each.left_out)
    names = [f"{layout.name(system)} − {layout.name(baseline)}" for system, baseline in left_out]
    without = f"; without {few(names)}, which differ too little" if names else ""
    return f"Minimum detectable difference ({power} power{median}): {differences}{without}."
