"""BLEU between 0 and 1 for ``evaluate``, with the results of its module ``bleu``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import evaluate
import numpy as np

from reshuffle import NativeMetric, metric
from reshuffle.compat.evaluate.items import References, by_segment, info
from reshuffle.compat.harness import Counted

__all__ = ["Bleu"]


class Bleu(evaluate.Metric):  # type: ignore[misc] # evaluate's types are unknown
    """BLEU with the length of the shortest reference.

    ``compute`` takes ``tokenizer`` (a function from a text to a list of tokens, by default sacreBLEU's 13a),
    ``max_order``, ``smooth`` (add one to the matches and n-grams of all orders), and ``n_resamples``, the number of
    bootstrap draws for ``standard_error``, which is that of BLEU without smoothing and with the length of the closest
    reference.

    Examples
    --------
    >>> result = Bleu().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])
    >>> round(result["bleu"], 4), result["length_ratio"]
    (0.5373, 1.0)
    """

    def _info(self) -> Any:
        return info("BLEU between 0 and 1, counted by reshuffle", "https://aclanthology.org/P02-1040/")

    def _compute(
        self,
        predictions: Sequence[str],
        references: References,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        max_order: int = 4,
        smooth: bool = False,
        n_resamples: int = 0,
    ) -> dict[str, Any]:
        counted, shortest = _counted(predictions, by_segment(references), tokenizer, max_order)
        length, _, *ngrams = counted.counts.sum(axis=0).tolist()
        matches, totals = ngrams[:max_order], ngrams[max_order:]
        precisions = [_precision(m, t, smooth) for m, t in zip(matches, totals, strict=True)]
        mean = math.exp(sum(math.log(p) / max_order for p in precisions)) if min(precisions) > 0 else 0.0
        ratio = length / shortest if shortest else math.inf
        penalty = 1.0 if ratio > 1.0 else (math.exp(1 - 1 / ratio) if ratio else 0.0)
        return {
            "bleu": mean * penalty,
            "precisions": precisions,
            "brevity_penalty": penalty,
            "length_ratio": ratio,
            "translation_length": length,
            "reference_length": shortest,
            **({"standard_error": counted.bootstrap_error(n_resamples) / 100} if n_resamples else {}),
        }


def _counted(
    predictions: Sequence[str],
    references: list[list[str]],
    tokenizer: Callable[[str], Sequence[str]] | None,
    max_order: int,
) -> tuple[Counted, int]:
    """The counts, and the sum over segments of the length of the shortest reference."""
    options: dict[str, Any] = {"max_ngram_order": max_order, "smooth_method": "none"}
    if tokenizer is None:
        bleu = metric("bleu", **options)
        return Counted.from_groups(bleu, predictions, references), _shortest(bleu, references)
    bleu = metric("bleu", tokenize="none", **options)
    hypotheses = [list(tokenizer(text)) for text in predictions]
    tokens = [[list(tokenizer(text)) for text in items] for items in references]
    counts = bleu.counted_tokens(tokens, hypotheses)
    return Counted(bleu, counts), sum(min(map(len, items)) for items in tokens)


def _shortest(bleu: NativeMetric, references: list[list[str]]) -> int:
    """The sum over segments of the length of the shortest reference."""
    every = [reference for items in references for reference in items]
    (counts,) = bleu.suff_stats([every], [every])
    starts = np.cumsum([0, *(len(items) for items in references[:-1])])
    return int(np.minimum.reduceat(counts[:, 1], starts).sum())


def _precision(matches: int, total: int, smooth: bool) -> float:
    """The precision of an order: 0 if there are no n-grams."""
    if smooth:
        return (matches + 1) / (total + 1)
    return matches / total if total else 0.0
