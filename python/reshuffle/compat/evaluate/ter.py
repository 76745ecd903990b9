"""TER for ``evaluate``, with the results of its module ``ter``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaluate

from reshuffle.compat.evaluate.items import References, info, scored

__all__ = ["Ter"]


class Ter(evaluate.Metric):  # type: ignore[misc] # evaluate's types are unknown
    """TER from sacreBLEU, counted by reshuffle.

    ``compute`` takes the options of evaluate's module, and ``n_resamples``, the number of bootstrap draws for
    ``standard_error``.

    Examples
    --------
    >>> Ter().compute(predictions=["the cat sat on a mat"], references=["the cat sat on the mat"])["num_edits"]
    1
    """

    def _info(self) -> Any:
        return info("TER, counted by reshuffle", "https://github.com/mjpost/sacrebleu")

    def _compute(
        self,
        predictions: Sequence[str],
        references: References,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
        n_resamples: int = 0,
    ) -> dict[str, Any]:
        options = {
            "normalized": normalized,
            "no_punct": ignore_punct,
            "asian_support": support_zh_ja_chars,
            "case_sensitive": case_sensitive,
        }
        names = ("score", "num_edits", "ref_length")
        return scored("ter", options, (predictions, references), names, n_resamples)
