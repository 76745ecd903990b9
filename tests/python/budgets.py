"""How many examples property tests try: a part of their budget by default, all of it in the nightly tier."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

__all__ = ["budget"]

# No deadline: the first example of a test pays for imports.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHARE, LEAST = 0.3, 10
# CI must not fail by chance, so the default tries the same examples in every run. The budget of tests that name none is
# Hypothesis' own of 100.
settings.register_profile("default", COMMON, derandomize=True, max_examples=round(SHARE * 100))
settings.register_profile("nightly", COMMON, derandomize=False, max_examples=100, print_blob=True)


def budget(whole: int) -> int:
    """The number of examples of a test whose whole budget this is: ``@settings(max_examples=budget(60))``."""
    default = settings.default
    assert default is not None
    return min(whole, max(LEAST, round(SHARE * whole))) if default.derandomize else whole
