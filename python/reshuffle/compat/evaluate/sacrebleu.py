"""BLEU for ``evaluate``, with the results of its module ``sacrebleu``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaluate

from reshuffle.compat.evaluate.items import References, info, scored

__all__ = ["Sacrebleu"]


class Sacrebleu(evaluate.Metric):  # type: ignore[misc] # evaluate's types are unknown
    """BLEU from sacreBLEU, counted by reshuffle.

    ``compute`` takes sacreBLEU's options, and ``n_resamples``, the number of bootstrap draws for ``standard_error``.

    Examples
    --------
    >>> result = Sacrebleu().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])
    >>> round(result["score"], 2), result["sys_len"], result["ref_len"]
    (53.73, 6, 6)
    """

    def _info(self) -> Any:
        return info("BLEU, counted by reshuffle", "https://github.com/mjpost/sacrebleu")

    def _compute(
        self,
        predictions: Sequence[str],
        references: References,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        force: bool = False,
        lowercase: bool = False,
        tokenize: str | None = None,
        use_effective_order: bool = False,
        n_resamples: int = 0,
    ) -> dict[str, Any]:
        options = {
            "smooth_method": smooth_method,
            "smooth_value": smooth_value,
            "lowercase": lowercase,
            "tokenize": tokenize,
            "effective_order": use_effective_order,
        }
        names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        return scored("bleu", options, (predictions, references), names, n_resamples, force=force)
