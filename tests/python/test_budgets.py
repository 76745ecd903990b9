"""Property tests try the same examples in every run, whatever ran before them in the same process."""

import os
import subprocess
import sys
from pathlib import Path

# Strings and numbers of a module that Hypothesis takes for the user's own code.
OWN = "STRINGS = [" + ", ".join(f'"{i}-{i}"' for i in range(200)) + "]\nNUMBERS = [" + "7123, " * 5 + "61234, 7.125]\n"

EXAMPLES = """
import sys
import budgets
from hypothesis import given, settings, strategies as st
settings.load_profile(sys.argv[1])
if sys.argv[2]:
    import own

seen = []

@settings(max_examples=60, database=None)
@given(st.text(), st.integers(), st.floats(allow_nan=False))
def collect(text, whole, number):
    seen.append((text, whole, number))

collect()
print(ascii(seen))
print(*map(budgets.budget, (100, 60, 20, 5)))
"""


def examples(folder: Path, profile: str, imports: bool) -> tuple[str, str]:
    """The examples that a new process tries, perhaps after it has imported a module of constants; and four budgets."""
    program = folder / "program.py"
    program.write_text(EXAMPLES, "utf-8")
    (folder / "own.py").write_text(OWN, "utf-8")
    path = os.pathsep.join([str(Path(__file__).parent), str(folder)])
    command = [sys.executable, str(program), profile, "yes" if imports else ""]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen, budgets = done.stdout.splitlines()
    return seen, budgets


def test_examples_do_not_depend_on_what_has_been_imported(tmp_path: Path) -> None:
    (alone, budgets), (after, _) = (examples(tmp_path, "default", imports) for imports in (False, True))
    assert alone == after
    assert len(alone) > 1000
    assert budgets == "10 6 3 3"


def test_the_weekly_tier_tries_new_examples_and_all_of_the_budget(tmp_path: Path) -> None:
    (one, budgets), (other, _) = (examples(tmp_path, "weekly", False) for _ in range(2))
    assert one != other
    assert budgets == "100 60 20 5"
