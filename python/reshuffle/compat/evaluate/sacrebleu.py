"""BLEU for ``evaluate``, with the results of its module ``sacrebleu``."""

from __future__ import annotations

from reshuffle.compat.evaluate import items

__all__ = ["Sacrebleu"]


class Sacrebleu(items.OfSacrebleu):
    """BLEU from sacreBLEU, counted by reshuffle.

    ``compute`` takes sacreBLEU's options, and ``n_resamples``, the number of bootstrap draws for ``standard_error``.

    Examples
    --------
    >>> result = Sacrebleu().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])
    >>> round(result["score"], 2), result["sys_len"], result["ref_len"]
    (53.73, 6, 6)
    """

    key = "bleu"
    name_of_score = "BLEU"
    options = ("smooth_method", "smooth_value", "force", "lowercase", "tokenize", "use_effective_order")
    results = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
