"""chrF for ``evaluate``, with the results of its module ``chrf``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaluate

from reshuffle.compat.evaluate.items import References, info, scored

__all__ = ["Chrf"]


class Chrf(evaluate.Metric):  # type: ignore[misc] # evaluate's types are unknown
    """chrF and chrF++ from sacreBLEU, counted by reshuffle.

    ``compute`` takes sacreBLEU's options, and ``n_resamples``, the number of bootstrap draws for ``standard_error``.

    Examples
    --------
    >>> result = Chrf().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])
    >>> round(result["score"], 2), result["word_order"]
    (65.98, 0)
    """

    def _info(self) -> Any:
        return info("chrF, counted by reshuffle", "https://github.com/mjpost/sacrebleu")

    def _compute(
        self,
        predictions: Sequence[str],
        references: References,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        n_resamples: int = 0,
    ) -> dict[str, Any]:
        options = {
            "char_order": char_order,
            "word_order": word_order,
            "beta": beta,
            "lowercase": lowercase,
            "whitespace": whitespace,
            "eps_smoothing": eps_smoothing,
        }
        names = ("score", "char_order", "word_order", "beta")
        return scored("chrf", options, (predictions, references), names, n_resamples)
