"""METEOR 1.5, slowly and obviously: the oracle of the native metric in property-based tests.

Denkowski & Lavie (2014), Meteor Universal: Language Specific Translation Evaluation for Any Target Language
(W14-3348), written from a description of the tool's behaviour and checked against its output. Resources are plain
Python objects, so that a test can invent them. A sentence is a list of words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

BEAM = 40
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Resources:
    """What the modules know of a language. A module without its resource finds nothing."""

    function_words: Collection[str] = ()
    stem: Callable[[str], str] | None = None
    synsets: Callable[[str], Collection[object]] | None = None
    paraphrases: Mapping[Phrase, Sequence[Phrase]] = field(default_factory=dict)


class Parameters(NamedTuple):
    """The four parameters of the score, and the weights of the modules."""

    alpha: float = 0.85
    beta: float = 0.20
    gamma: float = 0.60
    delta: float = 0.75
    weights: tuple[float, ...] = (1.0, 0.6, 0.8, 0.6)
    modules: tuple[int, ...] = (EXACT, STEM, SYNONYM, PARAPHRASE)


class Match(NamedTuple):
    """Words of the reference and of the hypothesis that a module takes for equal."""

    module: int
    start: int
    length: int
    hyp_start: int
    hyp_length: int

    @property
    def words(self) -> range:
        return range(self.start, self.start + self.length)

    @property
    def hyp_words(self) -> range:
        return range(self.hyp_start, self.hyp_start + self.hyp_length)


def find_matches(hyp: Sequence[str], ref: Sequence[str], resources: Resources, modules: Collection[int]) -> list[Match]:
    """All matches of all modules, module by module."""
    if list(hyp) == list(ref):
        modules = {EXACT} & set(modules)
    found: list[Match] = []
    for module, equal in [(EXACT, str.__eq__), (STEM, same_stem(resources)), (SYNONYM, synonymous(resources))]:
        if module in modules:
            for j, r in enumerate(ref):
                for i, h in enumerate(hyp):
                    if equal(h, r):
                        found.append(Match(module, j, 1, i, 1))
    if PARAPHRASE in modules:
        for j, length, i, other in paraphrased(ref, hyp, resources.paraphrases):
            found.append(Match(PARAPHRASE, j, length, i, other))
        for i, length, j, other in paraphrased(hyp, ref, resources.paraphrases):
            found.append(Match(PARAPHRASE, j, other, i, length))
    return found


def same_stem(resources: Resources) -> Callable[[str, str], bool]:
    stem = resources.stem
    return lambda h, r: stem is not None and h != r and stem(h) == stem(r)


def synonymous(resources: Resources) -> Callable[[str, str], bool]:
    synsets = resources.synsets
    return lambda h, r: synsets is not None and h != r and not set(synsets(h)).isdisjoint(synsets(r))


def paraphrased(
    one: Sequence[str], other: Sequence[str], paraphrases: Mapping[Phrase, Sequence[Phrase]]
) -> list[tuple[int, int, int, int]]:
    """Start and length of each key in one sentence, and of each occurrence of its paraphrases in the other."""
    found = []
    for start in range(len(one)):
        for length in range(1, len(one) - start + 1):
            for phrase in paraphrases.get(tuple(one[start : start + length]), ()):
                for place in range(len(other) - len(phrase) + 1):
                    if tuple(other[place : place + len(phrase)]) == phrase:
                        found.append((start, length, place, len(phrase)))
    return found


@dataclass
class State:
    """A partial alignment of the reference's words so far."""

    used: set[int] = field(default_factory=set)
    hyp_used: set[int] = field(default_factory=set)
    matched: int = 0
    hyp_matched: int = 0
    chunks: int = 0
    end: int | None = None
    distance: int = 0
    applied: tuple[Match, ...] = ()

    def copy(self) -> State:
        twin = copy(self)
        twin.used, twin.hyp_used = set(self.used), set(self.hyp_used)
        return twin

    def apply(self, match: Match) -> None:
        weight = 1 if match.module == EXACT else 0.5
        self.matched = int(self.matched + weight * match.length)
        self.hyp_matched = int(self.hyp_matched + weight * match.hyp_length)
        self.used |= set(match.words)
        self.hyp_used |= set(match.hyp_words)
        if self.end is not None and match.hyp_start != self.end:
            self.chunks += 1
        self.end = match.hyp_start + match.hyp_length
        self.applied = (*self.applied, match)

    def close(self) -> None:
        if self.end is not None:
            self.chunks += 1
            self.end = None

    def order(self) -> tuple[int, int, int]:
        return -(self.matched + self.hyp_matched), self.chunks, self.distance


def fixed_matches(matches: Sequence[Match]) -> dict[int, Match]:
    """By reference start: matches that nothing competes with."""
    covers = [position for match in matches for position in match.words]
    hyp_covers = [position for match in matches for position in match.hyp_words]
    fixed = {}
    for match in matches:
        alone = sum(other.start == match.start for other in matches) == 1
        covered = [covers.count(j) for j in match.words] + [hyp_covers.count(i) for i in match.hyp_words]
        if alone and set(covered) == {1}:
            fixed[match.start] = match
    return fixed


def align(matches: Sequence[Match], ref_length: int) -> State:
    """The alignment that METEOR's beam search finds."""
    fixed = fixed_matches(matches)
    first = State()
    for match in fixed.values():
        first.used |= set(match.words)
        first.hyp_used |= set(match.hyp_words)
    states = [first]
    for j in range(ref_length):
        states = sorted(states, key=State.order)[:BEAM]
        following: list[State] = []
        for state in states:
            if state.applied and j in state.applied[-1].words:
                following.append(state)
            elif j in fixed:
                state.apply(fixed[j])
                following.append(state)
            elif j not in state.used:
                for match in matches:
                    if match.start != j or state.used & set(match.words) or state.hyp_used & set(match.hyp_words):
                        continue
                    child = state.copy()
                    child.apply(match)
                    following.append(child)
                    # METEOR adds the distance to the parent, so it counts for the states after this one.
                    state.distance += abs(match.start - match.hyp_start)
                state.close()
                following.append(state)
        states = following
    # Once more sorted and cut, then the last chunks close, then sorted again: the order before decides ties after.
    states = sorted(states, key=State.order)[:BEAM]
    for state in states:
        state.close()
    return sorted(states, key=State.order)[0]


def pair_counts(hyp: Sequence[str], ref: Sequence[str], resources: Resources, modules: Collection[int]) -> list[int]:
    """The 23 counts of a hypothesis and one reference."""
    state = align(find_matches(hyp, ref, resources, modules), len(ref))

    def function(words: Sequence[str]) -> int:
        return sum(word.lower() in resources.function_words for word in words)

    counts = [len(hyp), len(ref), function(hyp), function(ref)]
    for module in range(4):
        matches = [match for match in state.applied if match.module == module]
        hyp_words = [hyp[i] for match in matches for i in match.hyp_words]
        ref_words = [ref[j] for match in matches for j in match.words]
        of_function = function(hyp_words), function(ref_words)
        counts += [len(hyp_words) - of_function[0], len(ref_words) - of_function[1], *of_function]
    hyp_matched = sum(match.hyp_length for match in state.applied)
    ref_matched = sum(match.length for match in state.applied)
    return [*counts, state.chunks, hyp_matched, ref_matched]


def score(counts: Sequence[int], parameters: Parameters) -> float:
    """The score of 23 counts, of a segment or summed, from 0 to 1."""
    hyp_length, ref_length, hyp_function, ref_function = counts[:4]
    chunks, hyp_matched, ref_matched = counts[20:]
    alpha, beta, gamma, delta = parameters[:4]
    hyp_sum = ref_sum = 0.0
    # In METEOR's order of additions, which decides whether scores of several references are equal.
    for kind, share in ((0, delta), (2, 1 - delta)):
        for module, weight in enumerate(parameters.weights):
            hyp_sum += counts[4 + 4 * module + kind] * weight * share
            ref_sum += counts[5 + 4 * module + kind] * weight * share
    hyp_whole = delta * (hyp_length - hyp_function) + (1 - delta) * hyp_function
    ref_whole = delta * (ref_length - ref_function) + (1 - delta) * ref_function
    if hyp_sum == 0 or ref_sum == 0:
        return 0.0
    precision, recall = hyp_sum / hyp_whole, ref_sum / ref_whole
    mean = 1 / ((1 - alpha) / precision + alpha / recall)
    perfect = chunks == 1 and hyp_matched == hyp_length and ref_matched == ref_length
    fragmentation = 0.0 if perfect else chunks / ((hyp_matched + ref_matched) / 2)
    return float(mean * (1 - gamma * fragmentation**beta))


def segment_counts(
    hyp: Sequence[str], refs: Sequence[Sequence[str]], resources: Resources, parameters: Parameters
) -> list[int]:
    """The counts with the reference that gives the best score, the first of several."""
    every = [pair_counts(hyp, ref, resources, parameters.modules) for ref in refs]
    return max(every, key=lambda counts: score(counts, parameters))


def without_perfect_chunk(counts: Sequence[int]) -> list[int]:
    """Counts to be summed: no chunk where all words of both sides match in one."""
    hyp_length, ref_length, chunks, hyp_matched, ref_matched = *counts[:2], *counts[20:]
    perfect = chunks == 1 and hyp_matched == hyp_length and ref_matched == ref_length
    return [*counts[:20], 0 if perfect else chunks, hyp_matched, ref_matched]


# In this order: WordNet's rules of nouns, verbs and adjectives. The first that gives a known word counts.
RULES = "s/ ses/s xes/x zes/z ches/ch shes/sh men/man ies/y s/ ies/y es/e es/ ed/e ed/ ing/e ing/ er/ est/ er/e est/e"
ENDINGS = [rule.split("/") for rule in RULES.split()]


def synsets_of(
    word: str, synsets: Mapping[str, Collection[object]], exceptions: Mapping[str, Sequence[str]]
) -> set[object]:
    """The synonym sets of a word and of its base forms. ``exceptions`` has the bases of irregular forms."""
    bases = list(exceptions.get(word, ()))
    if not bases and len(word) > 2 and not word.endswith("ss"):
        regular = (word.removesuffix(ending) + base for ending, base in ENDINGS if word.endswith(ending))
        bases = [base for base in regular if base in synsets][:1]
    return set[object]().union(*(synsets.get(known, ()) for known in (word, *bases)))


def total(rows: Sequence[Sequence[int]]) -> list[int]:
    """The counts of a corpus."""
    return [sum(column) for column in zip(*map(without_perfect_chunk, rows), strict=True)]
