"""Counts and scores of a native metric beside those of a metric of sacreBLEU, and what sacreBLEU logs."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from reshuffle import metric


def assert_equal_to_sacrebleu(
    theirs: type[Any], hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], **options: Any
) -> None:
    """The metric of the same name and options has the same counts of segments, and the same corpus score."""
    ours, host = metric(theirs.__name__.lower(), **options), theirs(**options)
    counts = ours.suff_stats(references, [hypotheses])[0]
    expected = host._extract_corpus_statistics(hypotheses, references)
    np.testing.assert_array_equal(expected, counts)
    score = host._aggregate_and_compute(expected).score
    assert score == pytest.approx(float(ours.score(counts.sum(axis=0))), rel=1e-9, abs=1e-9)


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


@contextmanager
def host_log() -> Iterator[list[str]]:
    """The lines that sacreBLEU logs, and nobody else sees."""
    handler, logger = _Log(), logging.getLogger("sacrebleu")
    before = logger.propagate, logger.level
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.INFO)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.propagate = before[0]
        logger.setLevel(before[1])
