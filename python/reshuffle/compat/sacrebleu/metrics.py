"""sacreBLEU's metrics, counted by reshuffle: the drop-in for ``sacrebleu.metrics``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU as _BLEU
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.metrics.chrf import CHRF as _CHRF
from sacrebleu.metrics.chrf import CHRFScore
from sacrebleu.metrics.ter import TER as _TER
from sacrebleu.metrics.ter import TERScore

from .seams import CACHE, EXTRACT, summed
from .significance import _bootstrap_resample

__all__ = ["BLEU", "CHRF", "METRICS", "TER", "BLEUScore", "CHRFScore", "TERScore"]


class _Counted:
    """The methods that reshuffle replaces, whether or not sacreBLEU is patched."""

    _extract_corpus_statistics = EXTRACT.replacement
    _cache_references = CACHE.replacement

    def corpus_score(
        self: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None, n_bootstrap: int = 1
    ) -> Any:
        """As in sacreBLEU. See ``sacrebleu.metrics.base.Metric.corpus_score``."""
        self._check_corpus_score_args(hypotheses, references)
        rows = self._extract_corpus_statistics(hypotheses, references)
        score = self._aggregate_and_compute(rows)
        if n_bootstrap > 1:
            self.n_bootstrap = n_bootstrap
            self.seed, scores = _bootstrap_resample(rows, self, n_bootstrap)
            score.estimate_ci(scores)
        return score

    def _aggregate_and_compute(self: Any, stats: Sequence[Sequence[Any]]) -> Any:
        return self._compute_score_from_stats(summed(stats))


class BLEU(_Counted, _BLEU):  # type: ignore[misc] # sacreBLEU's types are unknown
    """sacreBLEU's BLEU, with the same options, scores and signatures, counted by reshuffle.

    Examples
    --------
    >>> bleu = BLEU(effective_order=True)
    >>> bleu.corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
    BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    """


class CHRF(_Counted, _CHRF):  # type: ignore[misc]
    """sacreBLEU's chrF and chrF++, with the same options, scores and signatures, counted by reshuffle.

    Examples
    --------
    >>> CHRF(word_order=2).corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
    chrF2++ = 67.44
    """


class TER(_Counted, _TER):  # type: ignore[misc]
    """sacreBLEU's TER, with the same options, scores and signatures, counted by reshuffle.

    Examples
    --------
    >>> TER().corpus_score(["the cat sat on a mat"], [["the cat sat on the mat"]])
    TER = 16.67
    """


METRICS: dict[str, Any] = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
