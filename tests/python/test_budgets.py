"""Property tests try the same examples in every run, whatever ran before them in the same process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget


def examples() -> list[Any]:
    """The examples that a property test tries now."""
    seen: list[Any] = []

    @settings(max_examples=60, database=None)
    @given(st.text(), st.integers(), st.floats(allow_nan=False))
    def collect(text: str, whole: int, number: float) -> None:
        seen.append((text, whole, number))

    collect()
    return seen


@contextmanager
def weekly() -> Iterator[None]:
    settings.load_profile("weekly")
    yield
    settings.load_profile("default")


def test_examples_do_not_depend_on_what_has_been_imported() -> None:
    """A new process imports this module only; here pytest has imported others, and the package."""
    source = "import test_budgets as t; t.settings.load_profile('default'); print(ascii(t.examples()))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ascii(examples())
    assert len(done.stdout) > 1000
    assert [budget(whole) for whole in (100, 60, 20, 5)] == [10, 6, 3, 3]


def test_the_weekly_tier_tries_new_examples_and_all_of_the_budget() -> None:
    with weekly():
        assert examples() != examples()
        assert [budget(whole) for whole in (100, 60, 20, 5)] == [100, 60, 20, 5]
