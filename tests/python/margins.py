"""Tests with options, and margins for tests that run every test of the registry."""

from typing import Any

from reshuffle.inference.tests import TESTS
from reshuffle.options.choices import TESTS_WITH_OPTIONS

# The tests whose null hypothesis is that two systems do not differ.
OF_DIFFERENCES = [name for name, test in TESTS.items() if test.margin is None]
WITH_MARGIN = [name for name, test in TESTS.items() if test.margin is not None]


def chosen(test: str, **options: Any) -> Any:
    """The test with these options, as functions take it; without options, its name."""
    return TESTS_WITH_OPTIONS[test](**options) if options else test


def with_margins(test: str, *metrics: str, margin: float = 1.0) -> Any:
    """The test with this margin for each of these metrics, if it needs margins."""
    return chosen(test, margins=dict.fromkeys(metrics, margin)) if test in WITH_MARGIN else test
