"""Scores of queries from a run and relevance judgments, by ir_measures."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from ..errors import InputError, quoted, shortened
from .formats.base import Source
from .score_tables import ScoreTable

RUN = re.compile(r"\S+\s+Q0\s+\S+\s+\d+\s+\S+\s+\S+\s*", re.IGNORECASE)
QREL = re.compile(r"\S+\s+Q?0\s+\S+\s+-?\d+\s*", re.IGNORECASE)


def is_run(line: str) -> bool:
    """Whether this is a line of a run.

    >>> is_run("q1 Q0 d7 1 12.5 bm25"), is_run("q1 0 d7 1")
    (True, False)
    """
    return RUN.fullmatch(line) is not None


def is_qrel(line: str) -> bool:
    """Whether this is a line of relevance judgments.

    >>> is_qrel("q1 0 d7 1"), is_qrel("q1 Q0 d7 1 12.5 bm25")
    (True, False)
    """
    return QREL.fullmatch(line) is not None


def check_no_run(source: Source) -> None:
    """:class:`InputError` for a run where scores are expected."""
    # An archive is no text.
    if is_run(source.data.partition(b"\n")[0].decode("utf-8", "replace")):
        raise InputError(f"{source.name} is a run of a search engine, which has no scores of queries: add --qrels FILE")


def scores_of_run(run: Source, qrels: Source, measure: str) -> ScoreTable:
    """The score of each query under a measure such as ``nDCG@10``.

    Queries that are judged, but not in the run, have the score 0. Those that are not judged are left out.
    :class:`InputError` if ir_measures is not installed, does not know the measure or cannot read a file.
    """
    measures = imported_measures()
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


def imported_measures() -> Any:
    """The package of measures. :class:`InputError` if it is not installed."""
    try:
        import ir_measures
    except ImportError:
        raise InputError("--qrels needs the package ir_measures: pip install 'reshuffle[ir]'") from None
    return ir_measures
