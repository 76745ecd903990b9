"""Formats of judgments and of scores, one module each. To add one, write a module and list its format here."""

from __future__ import annotations

from collections.abc import Mapping

from . import (
    code_results,
    comet,
    helm,
    inspect_logs,
    lm_eval_samples,
    pearmut,
    rank,
    rnk,
    swe_bench,
    tables,
    trec_eval,
)
from .base import JudgmentFormat, ScoreFormat

__all__ = ["JUDGMENT_FORMATS", "SCORE_FORMATS"]

JUDGMENT_FORMATS: Mapping[str, JudgmentFormat] = {"rank": rank.FORMAT, "rnk": rnk.RNK, "rnk-2008": rnk.RNK_2008}

SCORE_FORMATS: Mapping[str, ScoreFormat] = {
    "inspect": inspect_logs.FORMAT,
    "lm-eval": lm_eval_samples.FORMAT,
    "pearmut": pearmut.FORMAT,
    "human-eval": code_results.HUMAN_EVAL,
    "evalplus": code_results.EVALPLUS,
    "swe-bench": swe_bench.FORMAT,
    "helm": helm.FORMAT,
    "comet": comet.FORMAT,
    "comet-printed": comet.PRINTED,
    "numbers": comet.NUMBERS,
    "table": tables.FORMAT,
    "mt-metrics-eval": tables.NAMED,
    "jsonl": tables.JSONL,
    "trec-eval": trec_eval.FORMAT,
}
