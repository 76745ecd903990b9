"""The scores of systems, documents and segments, from counts of reshuffle."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reshuffle import metric, tokenize

from .arguments import Options
from .documents import TestSet

ORDERS = 9
# Of the orders 1 to 9, those of which the cumulative score is the score.
BLEU_ORDER, NIST_ORDER = 4, 5
# The tokenizer 13a splits at these characters, as sacreBLEU does; Perl does not. They become code points that no text
# has.
HIDDEN = {ord(character): 0xFDD0 + number for number, character in enumerate("\x1c\x1d\x1e\x1f")}
SHOWN = {hidden: character for character, hidden in HIDDEN.items()}
# International tokenization keeps line ends and tabs, so that a text of an XML file that begins with one has an empty
# word there. It becomes this word, which no text has.
EMPTY = "\ufdd4"
EMPTY_WORD = re.compile(r"(?:\s|<skipped>)*?[\t\n\v\f\r\x85]")
# The counts of NIST hold information in multiples of this.
RESOLUTION = 2.0**-28


class Score(NamedTuple):
    """A score and the scores of the orders 1 to 9, each alone and cumulative."""

    score: float
    individual: list[float]
    cumulative: list[float]


@dataclass(frozen=True, eq=False)
class Kind:
    """NIST or BLEU.

    Attributes
    ----------
    order : int
        The cumulative score of this order is the score.
    counts : (N, S, K) array of int64
        Those of all segments of each system.
    formula : callable
        From the sums of some segments to scores.
    """

    name: str
    order: int
    counts: NDArray[np.int64]
    formula: Callable[[list[int]], Score]

    def score(self, system: int, rows: Sequence[int]) -> Score:
        """The scores of a system on some segments."""
        return self.formula(self.counts[system, rows].sum(axis=0).tolist())

    def segment_scores(self, system: int, rows: Sequence[int]) -> list[float]:
        """The score of each segment."""
        return [self.formula(row).score for row in self.counts[system, rows].tolist()]


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of all segments.

    Attributes
    ----------
    rows : list of dict of str to dict of str to int
        The row of each segment, by document, of each system. There are also rows of segments in references only.
    texts : dict of str to list of str
        The text of each row of a system, ready to be tokenized, and of each reference as ``references``.
    kinds : list of Kind
        Those that were asked for.
    lengths : (N, S, 2) array of int64
        The number of words of each segment, and of the reference that BLEU takes.
    """

    options: Options
    systems: list[str]
    rows: list[dict[str, dict[str, int]]]
    texts: list[list[str]]
    references: list[list[str]]
    kinds: list[Kind]
    lengths: NDArray[np.int64]

    def words(self, system: int, rows: Sequence[int]) -> list[int]:
        """The number of words of each segment."""
        words: list[int] = self.lengths[system, rows, 0].tolist()
        return words

    def every_row(self, system: int) -> list[int]:
        """The rows of a system."""
        return [row for rows in self.rows[system].values() for row in rows.values()]


def count(test_set: TestSet, options: Options) -> Counted:
    """Count all segments of all systems.

    The information of n-grams comes from all documents of the references, also from those without a source.
    """
    systems, references = sorted(test_set.systems), sorted(test_set.references)
    keys: dict[tuple[str, str], int] = {}
    for side in (test_set.systems, test_set.references):
        for name in sorted(side):
            for document, segments in side[name].items():
                if side is test_set.references or document in test_set.source:
                    for segment in segments:
                        keys.setdefault((document, segment), len(keys))

    def column(documents: dict[str, dict[str, str]]) -> list[str]:
        # A segment that a reference lacks is empty.
        lines = [documents.get(document, {}).get(segment, "") for document, segment in keys]
        return [prepared(line, options) for line in lines]

    texts = [column(test_set.systems[name]) for name in systems]
    columns = [column(test_set.references[name]) for name in references]
    shared: dict[str, Any] = {
        "tokenize": options.tokenizer,
        "lowercase": not options.keep_case,
        "mteval_quirks": True,
        "max_ngram_order": ORDERS,
    }
    nist = metric("nist", **shared).suff_stats(columns, texts)
    bleu = metric("bleu", smooth_method="mteval", **shared).suff_stats(columns, texts)
    if options.shortest:
        shortest = np.min([[len(words) for words in tokenize(c, options.tokenizer)] for c in columns], axis=0)
        bleu = np.array(bleu)
        bleu[:, :, 1] = shortest
    nist, bleu = _without_empty_words(nist, bleu, (texts, columns), options)
    rows: list[dict[str, dict[str, int]]] = [
        {
            document: {segment: keys[document, segment] for segment in test_set.systems[name][document]}
            for document in sorted(test_set.source)
        }
        for name in systems
    ]
    kinds = [
        Kind(name, order, counts, formula)
        for name, order, counts, formula, chosen in (
            ("NIST", NIST_ORDER, nist, _nist, options.nist),
            ("BLEU", BLEU_ORDER, bleu, _smoothed if options.smoothing else _unsmoothed, options.bleu),
        )
        if chosen
    ]
    return Counted(options, systems, rows, texts, columns, kinds, bleu[:, :, :2])


def _without_empty_words(
    nist: NDArray[np.int64], bleu: NDArray[np.int64], texts: tuple[list[list[str]], list[list[str]]], options: Options
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The counts without matches of empty words, which the scripts take for n-grams of order 0, and for no context."""
    number = sum(line.startswith(EMPTY) for column in texts[1] for line in column)
    if not number:
        return nist, bleu
    systems, columns = ([words_of(column, options) for column in several] for several in texts)
    nist, bleu = np.array(nist), np.array(bleu)
    n_words = sum(len(words) for column in columns for words in column)
    information = round(math.log2(n_words / number) / RESOLUTION)
    for system, lines in enumerate(systems):
        for row, words in enumerate(lines):
            references = [column[row] for column in columns if column[row][:1] == [""]]
            if words[:1] == [""] and references:
                bleu[system, row, 2] -= 1
                nist[system, row, 0] -= information
                nist[system, row, 1] += information * (words[:2] in (each[:2] for each in references if each[1:]))
    return nist, bleu


def words_of(lines: Sequence[str], options: Options) -> list[list[str]]:
    """The words of prepared texts."""
    found = tokenize(lines, options.tokenizer)
    lower = str if options.keep_case else _lower if options.international else _lower_ascii
    return [["" if word == EMPTY else lower(word) for word in words] for words in found]


def untokenized(text: str) -> str:
    """A text as it was before it was tokenized."""
    return text if text.isascii() else text.translate(SHOWN)


def _lower(word: str) -> str:
    # By character, as in Perl: no final sigma.
    return word.lower() if word.isascii() else "".join(map(str.lower, word))


def _lower_ascii(word: str) -> str:
    return word.lower() if word.isascii() else "".join(each.lower() if each.isascii() else each for each in word)


def prepared(text: str, options: Options) -> str:
    """A text before it is tokenized: lines joined, and spaces around characters outside ASCII (``-e``)."""
    if not options.international:
        return text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ").translate(HIDDEN)
    empty = f"{EMPTY} " if EMPTY_WORD.match(text) else ""
    if options.version == "14":
        text = text.replace("\u2028", " ")
    if options.split_non_ascii and not text.isascii():
        if not options.keep_case:
            text = text.replace("\u0130", "i\u0307")  # two characters in lower case
        text = "".join(each if each.isascii() else f" {each} " for each in text)
    return empty + text


def _smoothed(sums: Sequence[int]) -> Score:
    """BLEU with precisions of 1/(2^k·total) for the k-th order without a match."""
    ref_len, matches, totals = sums[1], sums[2 : 2 + ORDERS], sums[2 + ORDERS :]
    penalty = math.exp(min(0.0, 1 - ref_len / totals[0])) if totals[0] else 0.0
    individual, cumulative = [], []
    smooth, total_log = 1, 0.0
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), 1):
        if total == 0:
            log = 0.0
        elif match == 0:
            smooth *= 2
            log = math.log(1 / (smooth * total))
        else:
            log = math.log(match / total)
        individual.append(math.exp(log))
        total_log += log
        cumulative.append(math.exp(total_log / order) * penalty)
    return Score(cumulative[BLEU_ORDER - 1], individual, cumulative)


def _unsmoothed(sums: Sequence[int]) -> Score:
    ref_len, matches, totals = sums[1], sums[2 : 2 + ORDERS], sums[2 + ORDERS :]
    individual, cumulative = [0.0] * ORDERS, [0.0] * ORDERS
    total_log = 0.0
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), 1):
        if match:
            log = math.log(match / total)
            total_log += log
            individual[order - 1] = math.exp(log)
            cumulative[order - 1] = math.exp(total_log / order + min(0.0, 1 - ref_len / totals[0]))
    return Score(cumulative[BLEU_ORDER - 1], individual, cumulative)


def _nist(sums: Sequence[int]) -> Score:
    information, totals, (hyp_len, ref_len) = sums[:ORDERS], sums[ORDERS : 2 * ORDERS], sums[2 * ORDERS :]
    gains = [gain * RESOLUTION / max(total, 1) for gain, total in zip(information, totals, strict=True)]
    ratio = hyp_len / ref_len if ref_len > 0 else 1.0
    log = min(0.0, float(np.log(ratio))) if ratio else -math.inf
    penalty = float(np.exp(math.log(0.5) / math.log(1.5) ** 2 * (log * log)))
    cumulative = [gain * penalty for gain in accumulate(gains)]
    return Score(cumulative[NIST_ORDER - 1], [gain * penalty for gain in gains], cumulative)
