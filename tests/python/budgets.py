"""How many examples property tests try: a part of their budget by default, all of it in the weekly tier."""

import importlib
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

__all__ = ["budget"]

# No deadline: the first example of a test pays for imports.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHARE, LEAST = 0.1, 3
# CI must not fail by chance, so the default tries the same examples in every run. The budget of tests that name none is
# Hypothesis' own of 100.
settings.register_profile("default", COMMON, derandomize=True, max_examples=round(SHARE * 100))
settings.register_profile("weekly", COMMON, derandomize=False, max_examples=100, print_blob=True)


def budget(whole: int) -> int:
    """The number of examples of a test whose whole budget this is: ``@settings(max_examples=budget(60))``."""
    default = settings.default
    assert default is not None
    return min(whole, max(LEAST, round(SHARE * whole))) if default.derandomize else whole


def without_constants_of_modules() -> None:
    """Keep the examples of the default profile independent of what else has been imported.

    Hypothesis also draws numbers and strings that it finds in the source of the modules imported so far, even with
    ``derandomize``. So examples would depend on the tests that ran before in the same process, on how reshuffle is
    installed, and on every literal in it. The weekly tier keeps these constants.
    """
    try:
        providers: Any = importlib.import_module("hypothesis.internal.conjecture.providers")
        found: Callable[[], Any] = providers._get_local_constants
    except (ImportError, AttributeError):
        return  # earlier releases look at no modules; test_budgets.py fails if only the name has changed

    none = type(providers.GLOBAL_CONSTANTS)()

    def constants() -> Any:
        default = settings.default
        return none if default is not None and default.derandomize else found()

    providers._get_local_constants = constants


without_constants_of_modules()
