"""TER for ``evaluate``, with the results of its module ``ter``."""

from __future__ import annotations

from reshuffle.compat.evaluate import items

__all__ = ["Ter"]


class Ter(items.OfSacrebleu):
    """TER from sacreBLEU, counted by reshuffle.

    ``compute`` takes the options of evaluate's module, and ``n_resamples``, the number of bootstrap draws for
    ``standard_error``.

    Examples
    --------
    >>> Ter().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])["num_edits"]
    1
    """

    key = "ter"
    name_of_score = "TER"
    options = ("normalized", "ignore_punct", "support_zh_ja_chars", "case_sensitive")
    results = ("score", "num_edits", "ref_length")
