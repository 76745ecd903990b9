"""Scores of queries from a run and relevance judgments, by ir_measures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import InputError, quoted, shortened
from .formats.base import Source
from .score_tables import ScoreTable


def scores_of_run(run: Source, qrels: Source, measure: str) -> ScoreTable:
    """The score of each query under a measure such as ``nDCG@10``.

    Queries that are judged, but not in the run, have the score 0. Those that are not judged are left out.
    :class:`InputError` if ir_measures is not installed, does not know the measure or cannot read a file.
    """
    measures = _ir_measures()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of names that it uses in ast
            parsed = measures.parse_measure(measure)
    except (ValueError, NameError, SyntaxError, TypeError, KeyError) as error:
        raise InputError(
            f"--scores {measure}: ir_measures knows no such measure ({shortened(str(error), 80)}); with --qrels, "
            "expected one such as nDCG@10, AP, RR or P@5"
        ) from None
    judged = _read(measures.read_trec_qrels, qrels, "relevance judgments: query, 0, document and grade on each line")
    ranked = _read(measures.read_trec_run, run, "a run: query, Q0, document, rank, score and name on each line")
    scores: dict[str, float] = dict.fromkeys((each.query_id for each in judged), 0.0)
    for found in measures.iter_calc([parsed], judged, ranked):
        if found.query_id in scores:
            scores[found.query_id] = float(found.value)
    if not {each.query_id for each in ranked} & scores.keys():
        raise InputError(f"{run.name}: no query of the run is judged in {qrels.name}")
    values = np.array([[*scores.values()]])
    return ScoreTable(measure, (run.name,), values, None, True, -1, run.name, tuple(scores))


def _read(reader: Any, source: Source, expected: str) -> list[Any]:
    text = source.text()
    try:
        found = list(reader(text if text.endswith("\n") else f"{text}\n"))
    except (ValueError, IndexError, TypeError):
        line = next((line for line in text.splitlines() if line.strip()), "")
        raise InputError(f"{source.name}: expected {expected}, got a file that begins with {quoted(line)}") from None
    if not found:
        source.fail(f"expected {expected}, got an empty file")
    return found


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError:
        raise InputError("--qrels needs the package ir_measures: pip install 'reshuffle[ir]'") from None
    return ir_measures
