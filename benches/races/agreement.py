"""Checks that contenders get the same results; times are only meaningful if they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benches.data import Array


class DisagreementError(Exception):
    """Contenders got different results, so their times cannot be compared."""


class Outcome(NamedTuple):
    """The result of a test of two systems."""

    difference: float
    pvalue: float
    n_resamples: int


def nothing(*_: object) -> None:
    """The check of a race without anything to compare."""


def same_counts(expected: Sequence[Any], *others: Array) -> None:
    """Check that both have the same integers for every system that both have counted."""
    for actual in others:
        if not np.array_equal(np.asarray(expected), actual[: len(expected)]):
            raise DisagreementError("counts differ")


def same_scores(expected: Any, actual: Any, tolerance: float = 1e-9) -> None:
    """Check that scores are equal except for the order of floating-point operations."""
    if not np.allclose(expected, actual, rtol=0, atol=tolerance):
        difference = np.abs(np.asarray(expected) - np.asarray(actual)).max()
        raise DisagreementError(f"scores differ by up to {difference}: {expected} and {actual}")


def same_pvalues(p: float, n: int, q: float, m: int) -> None:
    """Check that two estimates of a p-value, from n and m replicates, are within five standard errors of each other."""
    pooled = (p * n + q * m) / (n + m)
    if abs(p - q) > 5 * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m)):
        raise DisagreementError(f"p-values differ by more than Monte Carlo error: {p} and {q}")


def same_outcomes(expected: Outcome, *others: Outcome) -> None:
    """Check for the same difference of scores and, within Monte Carlo error, the same p-value."""
    for actual in others:
        same_scores(expected.difference, actual.difference)
        same_pvalues(expected.pvalue, expected.n_resamples, actual.pvalue, actual.n_resamples)
