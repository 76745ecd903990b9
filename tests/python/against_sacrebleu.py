"""Counts and scores of a native metric beside those of a metric of sacreBLEU."""

from collections.abc import Sequence
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
