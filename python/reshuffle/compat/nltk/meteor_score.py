"""The functions of ``nltk.translate.meteor_score``, with the same arguments and results, without repeated work.

NLTK's METEOR is that of 2007, with Porter's stemmer and the synonyms of WordNet. Nearly all of its time goes into stems
and synonyms, which are computed anew in every sentence. Here, those of a word are computed once. Stemmers other than
NLTK's own, and other sources of synonyms, are called as often as NLTK calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Any, cast

import nltk.translate.meteor_score as host
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import align_words, exact_match, stem_match, wordnetsyn_match

from ..patching import NotNative, Seam, rebound

__all__ = [
    "SEAM",
    "align_words",
    "exact_match",
    "meteor_score",
    "single_meteor_score",
    "stem_match",
    "wordnetsyn_match",
]

# Words whose stems and synonyms are kept. More than the vocabulary of most test sets.
KEPT_WORDS = 1 << 16

STEMMER, WORDNET = host.single_meteor_score.__defaults__[1:3]


def single_meteor_score(
    reference: Iterable[str],
    hypothesis: Iterable[str],
    preprocess: Callable[[str], str] = str.lower,
    stemmer: Any = STEMMER,
    wordnet: Any = WORDNET,
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> float:
    """METEOR of a sentence under one reference, from 0 to 1.

    Needs NLTK's data package ``wordnet``, unless all words of the hypothesis match a word or a stem.

    >>> round(single_meteor_score("the cat sat on the mat".split(), "the cats sat on the mat".split()), 4)
    0.9977
    """
    SEAM.count()
    try:
        words, words_of_reference = _words(hypothesis, reference, preprocess)
    except NotNative as reason:
        return cast(float, SEAM.leave(reason, reference, hypothesis, preprocess, stemmer, wordnet, alpha, beta, gamma))
    matches = _align(words, words_of_reference, stemmer, wordnet)
    try:
        precision, recall = len(matches) / len(words), len(matches) / len(words_of_reference)
        mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
        fragmentation = _chunks(matches) / len(matches)
    except ZeroDivisionError:
        return 0.0
    return cast(float, (1 - gamma * fragmentation**beta) * mean)


ABOUT = "METEOR of a sentence under its best reference, from 0 to 1."
meteor_score = rebound(host.meteor_score, __name__, ABOUT, single_meteor_score=single_meteor_score)


def _words(hypothesis: Any, reference: Any, preprocess: Any) -> tuple[list[str], list[str]]:
    if isinstance(hypothesis, str) or isinstance(reference, str):
        raise NotNative("a text is a string instead of tokens")
    return list(map(preprocess, hypothesis)), list(map(preprocess, reference))


Words = list[tuple[int, str]]
Matches = list[tuple[int, int]]


def _align(words: list[str], reference: list[str], stemmer: Any, wordnet: Any) -> Matches:
    """The positions of words that match, sorted: equal words, then words with equal stems, then synonyms.

    As in NLTK, synonyms are those of stems, because only the stems of the words that are left over are kept.
    """
    matches: Matches = []
    ours, theirs = _match_equal(list(enumerate(words)), list(enumerate(reference)), matches)
    stem = _stem(stemmer)
    ours, theirs = ([(i, stem(word)) for i, word in left] for left in (ours, theirs))
    ours, theirs = _match_equal(ours, theirs, matches)
    _match_synonyms(ours, theirs, matches, wordnet)
    matches.sort()
    return matches


def _positions(words: Words) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for j, word in words:
        positions.setdefault(word, []).append(j)
    return positions


# Words of the hypothesis are matched from the last to the first, each with the last free word of the reference.


def _match_equal(ours: Words, theirs: Words, matches: Matches) -> tuple[Words, Words]:
    """Match equal words. Returns the words that are left over."""
    positions, left = _positions(theirs), []
    for i, word in reversed(ours):
        found = positions.get(word)
        if found:
            matches.append((i, found.pop()))
        else:
            left.append((i, word))
    left.reverse()
    free = set(chain.from_iterable(positions.values()))
    return left, [pair for pair in theirs if pair[0] in free]


def _match_synonyms(ours: Words, theirs: Words, matches: Matches, wordnet: Any) -> None:
    positions = _positions(theirs)
    for i, word in reversed(ours):
        # Asked for each word, because NLTK loads WordNet for the first one, and the class of `wordnet` then changes.
        if type(wordnet) is WordNetCorpusReader and "synsets" not in vars(wordnet):
            names = _kept_names(WordNetCorpusReader.synsets, wordnet, word)
        else:
            names = _names(wordnet.synsets(word), word)
        shared = names.intersection(positions)
        if shared:
            best = max(shared, key=lambda name: positions[name][-1])
            matches.append((i, positions[best].pop()))
            if not positions[best]:
                del positions[best]


def _stem(stemmer: Any) -> Callable[[str], str]:
    if type(stemmer) is PorterStemmer and "stem" not in vars(stemmer):
        return partial(_porter, PorterStemmer.stem, stemmer.mode, stemmer)
    return cast(Callable[[str], str], stemmer.stem)


# The functions are keys of the caches, in case that a program replaces them.
@lru_cache(KEPT_WORDS)
def _porter(function: Any, mode: str, stemmer: Any, word: str) -> str:
    return cast(str, function(stemmer, word))


@lru_cache(KEPT_WORDS)
def _kept_names(function: Any, wordnet: Any, word: str) -> frozenset[str]:
    return _names(function(wordnet, word), word)


def _names(synsets: Iterable[Any], word: str) -> frozenset[str]:
    """The word and its synonyms of one word."""
    names = {lemma.name() for synset in synsets for lemma in synset.lemmas()}
    return frozenset(name for name in names if "_" not in name) | {word}


def _chunks(matches: Sequence[tuple[int, int]]) -> int:
    """The number of runs of matches that follow each other in both texts, at least 1."""
    return 1 + sum(after != (i + 1, j + 1) for (i, j), after in pairwise(matches))


SEAM = Seam.function(host.single_meteor_score, single_meteor_score)
