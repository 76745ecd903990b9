"""The report of ``bootstrap-hypothesis-difference-significance.pl``: BLEU and NIST of two outputs, and a shifted test.

The script's NIST is not NIST's: it counts each n-gram once per segment, and has orders 1 to 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, metric

from ..commands import PERL_SPACE, read_utf8, say

ORDERS = 4
SPACES = re.compile(f"{PERL_SPACE}+")
# The empty word at the beginning of a line that begins with white space; no text has this code point.
EMPTY = "\ufdd0"
# Draws at once.
BLOCK = 100

Array = NDArray[np.float64]
Formula = Callable[[Array], Array]


def significance(hypotheses: Sequence[str], references: Sequence[str], n_resamples: int, seed: int) -> str:
    """The report on two outputs.

    Raises :class:`InputError` if a file cannot be read, or numbers of lines differ.
    """
    files = [*hypotheses, *references]
    texts = [_words(file) for file in files]
    n = len(texts[0])
    for file, text in zip(files, texts, strict=True):
        if len(text) != n:
            raise InputError(f"{file} has {len(text):,} lines, but {files[0]} has {n:,}: they must match line by line")
    if not n:
        raise InputError(f"{files[0]} is empty")
    say(
        "moses: note: p is the script's, which rejects too often; reshuffle compare --test bootstrap-both rejects "
        "about half as often"
    )
    systems, columns = texts[:2], texts[2:]
    of_bleu = _bleu_counts(systems, columns)
    of_nist = _nist_counts(systems, columns)
    draws = {"BLEU": [], "NIST": []}  # type: dict[str, list[Array]]
    formulas: dict[str, tuple[Array, Formula]] = {"BLEU": (of_bleu, bleu), "NIST": (of_nist, nist)}
    for weights in _draws(n, n_resamples, seed):
        for name, (counts, formula) in formulas.items():
            draws[name].append(formula(weights @ counts))  # (2, block, K) to (2, block)
    return "".join(
        _report(name, formula(counts.sum(axis=1)), np.concatenate(draws[name], axis=1))
        for name, (counts, formula) in formulas.items()
    )


def _draws(n: int, n_resamples: int, seed: int) -> Iterator[Array]:
    """How often each segment is in each draw, in blocks of draws: (block, S)."""
    random = np.random.default_rng(seed)
    for start in range(0, n_resamples, BLOCK):
        size = min(BLOCK, n_resamples - start)
        chosen = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(chosen.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _report(name: str, scores: Array, draws: Array) -> str:
    real = abs(scores[1] - scores[0])
    differences = np.abs(draws[1] - draws[0])
    n = draws.shape[1]
    p = int((differences - differences.mean() >= real).sum()) / n
    lines = [f"\n---=== {name} score ===---"]
    for number, (score, of_system) in enumerate(zip(scores.tolist(), np.sort(draws, axis=1).tolist(), strict=True), 1):
        low, high = of_system[n // 40], of_system[n - n // 40 - 1]
        half = 0.5 * (high - low)
        # The script writes "hypothesis 1" for both scores.
        lines.append(f"actual score of hypothesis 1: {score:.15g}")
        lines.append(f"95% confidence interval for hypothesis {number} score: {low + half:.15g} +- {half:.15g}\n-----")
    lines.append(
        "Assuming that essentially the same system generated the two hypothesis translations (null-hypothesis),"
    )
    lines.append(f"the probability of actually getting them (p-value) is: {p:.15g}.")
    return "".join(f"{line}\n" for line in lines)


def bleu(sums: Array) -> Array:
    """BLEU from 0 to 1 of summed counts (…, 10): hyp_len, ref_len, matches, totals."""
    hyp_len, ref_len = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(totals > 0, matches / np.maximum(totals, 1), 0)
        penalty = np.where(hyp_len < ref_len, np.exp(1 - ref_len / np.maximum(hyp_len, 1)), 1.0)
        scores: Array = penalty * np.exp(np.log(precisions).sum(axis=-1) / ORDERS)
    return scores


def nist(sums: Array) -> Array:
    """The script's NIST of summed counts (…, 10): hyp_len, mean length of references, information, n-grams."""
    hyp_len, ref_len = sums[..., 0], sums[..., 1]
    information, totals = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(ref_len > 0, hyp_len / ref_len, 1.0)
        exponent = math.log(0.5) * np.log(ratio) ** 2 / math.log(2 / 3) ** 2
        penalty = np.where(hyp_len > ref_len, 1.0, np.exp(exponent))
    scores: Array = (information / np.maximum(totals, 1)).sum(axis=-1) * penalty
    return scores


def _words(file: str) -> list[list[str]]:
    """The words of each line. Space at the beginning of a line makes an empty word before it."""
    lines = read_utf8(file).split("\n")
    if not lines[-1]:
        lines.pop()
    return [_split(line) for line in lines]


def _split(line: str) -> list[str]:
    words = SPACES.split(line)
    if not words[-1]:
        words.pop()
    if words and not words[0]:
        words[0] = EMPTY
    return words if words != [EMPTY] else []


def _bleu_counts(systems: Sequence[list[list[str]]], columns: Sequence[list[list[str]]]) -> Array:
    """Counts of BLEU: (2, S, 10)."""
    # Words have no space, and this tokenizer splits at ASCII space only.
    joined = [[" ".join(words) for words in text] for text in [*systems, *columns]]
    native = metric("bleu", tokenize="multi-bleu", smooth_method="none")
    counts: Array = native.suff_stats(joined[2:], joined[:2]).astype(np.float64)
    return counts


def _nist_counts(systems: Sequence[list[list[str]]], columns: Sequence[list[list[str]]]) -> Array:
    """Counts of the script's NIST: (2, S, 10)."""
    texts = [*systems, *columns]
    n = len(systems[0])
    lengths = np.array([[len(words) for words in text] for text in texts])
    known: dict[str, int] = {EMPTY: 0}
    flat = np.array(
        [known.setdefault(word, len(known)) for text in texts for words in text for word in words], dtype=np.int64
    )
    segment = np.repeat(np.tile(np.arange(n), len(texts)), lengths.ravel())
    text = np.repeat(np.arange(len(texts)), lengths.sum(axis=1))
    of_reference = text >= 2
    # Words in all references, with empty words counted twice: the script keeps both numbers under the same key.
    n_words = int(of_reference.sum()) + int((of_reference & (flat == 0)).sum())
    counts = np.zeros((2, n, 2 + 2 * ORDERS))
    counts[:, :, 0] = lengths[:2]
    counts[:, :, 1] = lengths[2:].mean(axis=0)
    grams: NDArray[Any] = flat
    start: NDArray[Any] = np.arange(len(flat))
    before = np.array([n_words], dtype=np.float64)  # how often what an n-gram begins with is in the references
    prefix = np.zeros(len(known), dtype=np.int64)
    n_grams = len(known)
    for order in range(1, ORDERS + 1):
        occurrences = np.bincount(grams[of_reference[start]], minlength=n_grams).astype(np.float64)
        if order == 1:
            occurrences[0] = n_words
        with np.errstate(divide="ignore", invalid="ignore"):
            information = np.log(before[prefix] / occurrences) / math.log(2)
        _add_order(counts, order, (grams, segment[start], text[start]), information, n_grams)
        following = start + order
        inside = following < len(flat)
        inside[inside] &= (segment[following[inside]] == segment[start[inside]]) & (
            text[following[inside]] == text[start[inside]]
        )
        pairs = grams[inside] * len(known) + flat[following[inside]]
        distinct, grams = np.unique(pairs, return_inverse=True)
        start, before, prefix, n_grams = start[inside], occurrences, distinct // len(known), len(distinct)
    return counts


def _add_order(counts: Array, order: int, of: tuple[Any, Any, Any], information: Array, n_grams: int) -> None:
    """Add the information of matching n-grams, and the number of n-grams, each once per segment."""
    grams, segment, text = of
    cells = segment * max(n_grams, 1) + grams
    in_references = np.unique(cells[text >= 2])
    for system in range(2):
        own = np.unique(cells[text == system])
        where = own // max(n_grams, 1)
        matching = np.isin(own, in_references)
        gained = information[own[matching] % max(n_grams, 1)]
        n = counts.shape[1]
        counts[system, :, 1 + order] = np.bincount(where[matching], weights=gained, minlength=n)
        counts[system, :, 1 + ORDERS + order] = np.bincount(where, minlength=n)
