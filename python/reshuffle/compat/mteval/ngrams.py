"""The n-grams that ``-d 3`` lists, with their information."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from .scoring import ORDERS, Counted, untokenized, words_of


class Matches:
    """The words of all texts, and the information of all n-grams of the references."""

    def __init__(self, counted: Counted) -> None:
        self.systems = [words_of(text, counted.options) for text in counted.texts]
        self.references = [words_of(text, counted.options) for text in counted.references]
        self.counts: Counter[str] = Counter()
        for column in self.references:
            for words in column:
                self.counts.update(_ngrams(words))
        self.n_words = sum(len(words) for column in self.references for words in column)

    def lines(self, system: int, row: int) -> list[str]:
        """A line for each n-gram of a segment that matches."""
        found = Counter(_ngrams(self.systems[system][row]))
        best: dict[str, int] = {}
        for column in self.references:
            for ngram, n in Counter(_ngrams(column[row])).items():
                best[ngram] = max(n, best.get(ngram, 0))
        return [
            f"{self._information(ngram):.2f} info for each of {min(n, best[ngram])} {_order(ngram)}-grams = "
            f"'{untokenized(ngram)}'"
            for ngram, n in found.items()
            if ngram in best
        ]

    def _information(self, ngram: str) -> float:
        context = ngram.rpartition(" ")[0]
        # The scripts take the context "0" for none.
        of_context = self.counts[context] if context not in ("", "0") else self.n_words
        return -math.log(self.counts[ngram] / of_context) / math.log(2)


def _order(ngram: str) -> int:
    # An empty word is not counted if it stands alone.
    return ngram.count(" ") + 1 if ngram else 0


def _ngrams(words: Sequence[str]) -> Iterator[str]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + ORDERS, len(words)) + 1):
            yield " ".join(words[start:end])
