"""Property tests try the same examples in every run, whatever ran before them in the same process."""

import os
import subprocess
import sys
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


def in_new_process(profile: str, expression: str) -> str:
    """What an expression about this module is in a process that has imported no other."""
    source = f"import test_budgets as t; t.settings.load_profile({profile!r}); print(ascii({expression}))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", source]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_examples_do_not_depend_on_what_has_been_imported() -> None:
    alone = in_new_process("default", "t.examples()")
    assert alone == ascii(examples())  # pytest has imported other tests, and the package
    assert len(alone) > 1000
    assert [budget(whole) for whole in (100, 60, 20, 5)] == [10, 6, 3, 3]


def test_the_weekly_tier_tries_new_examples_and_all_of_the_budget() -> None:
    found = in_new_process("weekly", "(t.examples() != t.examples(), *map(t.budget, (100, 60, 20, 5)))")
    assert found == "(True, 100, 60, 20, 5)"
