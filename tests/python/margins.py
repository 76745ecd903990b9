"""Margins for tests that run every test of the registry."""

from __future__ import annotations

from typing import Any

from reshuffle.inference.tests import TESTS

# The tests whose null hypothesis is that two systems do not differ.
OF_DIFFERENCES = [name for name, test in TESTS.items() if test.margin is None]
WITH_MARGIN = [name for name, test in TESTS.items() if test.margin is not None]


def margins(test: str, *metrics: str, margin: float = 1.0) -> dict[str, Any]:
    """The argument for the margins of these metrics, if the test needs any."""
    return {"margins": dict.fromkeys(metrics, margin)} if test in WITH_MARGIN else {}
