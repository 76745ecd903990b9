"""chrF for ``evaluate``, with the results of its module ``chrf``."""

from __future__ import annotations

from reshuffle.compat.evaluate import items

__all__ = ["Chrf"]


class Chrf(items.OfSacrebleu):
    """chrF and chrF++ from sacreBLEU, counted by reshuffle.

    ``compute`` takes sacreBLEU's options, and ``n_resamples``, the number of bootstrap draws for ``standard_error``.

    Examples
    --------
    >>> result = Chrf().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])
    >>> round(result["score"], 2), result["word_order"]
    (65.98, 0)
    """

    key = "chrf"
    name_of_score = "chrF"
    options = ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing")
    results = ("score", "char_order", "word_order", "beta")
