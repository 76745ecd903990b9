"""BLEU for ``evaluate``, with the results of its module ``sacrebleu``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaluate

from reshuffle import metric
from reshuffle.compat.evaluate.items import References, columns, error, info

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
        from reshuffle.compat import sacrebleu as drop_in

        texts = columns(references)
        options = {"smooth_method": smooth_method, "smooth_value": smooth_value, "lowercase": lowercase}
        bleu = drop_in.BLEU(force=force, effective_order=use_effective_order, tokenize=tokenize, **options)
        score = bleu.corpus_score(predictions, texts)
        options |= {"effective_order": use_effective_order, "tokenize": tokenize}
        given = {name: value for name, value in options.items() if value is not None}
        return {
            "score": score.score,
            "counts": score.counts,
            "totals": score.totals,
            "precisions": score.precisions,
            "bp": score.bp,
            "sys_len": score.sys_len,
            "ref_len": score.ref_len,
            **error(metric("bleu", **given), predictions, texts, n_resamples),
        }
