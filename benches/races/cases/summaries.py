"""Cases of summaries: ROUGE beside the Python package that papers use. SARI's EASSE is on no package index."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module

import numpy as np

from benches.data import OTHER, Texts
from reshuffle import metric

from ..agreement import DisagreementError
from ..race import Contender, Race, call
from ..rivals import ONE_THREAD, name, unless_missing

__all__ = ["summaries"]

TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
# Segments of a document, and the factor that counting should be faster.
LINES, TARGET = 5, 50


def same_scores(expected: dict[str, float], *others: dict[str, float]) -> None:
    """Check that the means of F are those of rouge_score."""
    for actual in others:
        if not np.allclose([actual[each] for each in expected], [*expected.values()], rtol=0, atol=1e-8):
            raise DisagreementError(f"scores differ: {expected} and {actual}")


def ours(references: list[str], hypotheses: list[str], stemmer: bool) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        found = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the texts are German
            for each in TYPES:
                m = metric(each, stemmer=stemmer)
                found[each] = float(m.score(m.suff_stats(references, [hypotheses], workers=1)[0].sum(axis=0)))
        return found

    return run


def theirs(references: list[str], hypotheses: list[str], stemmer: bool) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        scorer = import_module("rouge_score.rouge_scorer").RougeScorer(TYPES, use_stemmer=stemmer)
        scores = [scorer.score(r, h) for r, h in zip(references, hypotheses, strict=True)]
        return {each: 100 * float(np.mean([score[each].fmeasure for score in scores])) for each in TYPES}

    return run


def summaries(texts: Texts) -> list[Race]:
    """Shows how fast four kinds of ROUGE are counted, with and without stems, on documents of five lines."""

    def documents(lines: list[str]) -> list[str]:
        return ["\n".join(lines[i : i + LINES]) for i in range(0, len(lines), LINES)]

    references, hypotheses = documents(list(texts.references[0])), documents(list(texts.systems[OTHER]))
    races = []
    for stemmer in (False, True):
        given = references, hypotheses, stemmer
        contenders = [
            unless_missing(
                "rouge_score", "rouge_score", Contender(name("rouge-score"), call(theirs(*given)), at_most=2)
            ),
            Contender(ONE_THREAD, call(ours(*given)), target=TARGET),
        ]
        what = f"ROUGE-1, 2, L and Lsum of {len(references):,} documents{', stemmed' if stemmer else ''}"
        races.append(Race(what, contenders, same_scores))
    return races
