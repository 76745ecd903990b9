"""Changes one token of the package at a time, and runs the default tests: ``.venv/bin/python .ci/mutants.py 30``.

A mutant that no test notices is a line that no test holds, unless it means the same. The working copy is left alone.
"""

import argparse
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SWAPS = {
    "<": "<=",
    ">": ">=",
    "==": "!=",
    "+": "-",
    "*": "/",
    "and": "or",
    "True": "False",
    "min": "max",
    "is": "is not",
}
SWAPS |= {new: old for old, new in SWAPS.items() if new != "is not"} | {"not": "not not", "if": "if not"}


class Mutant(NamedTuple):
    """One token of a file, and what takes its place."""

    file: Path
    line: int
    column: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}: {self.old} -> {self.new}"

    def apply(self, folder: Path) -> None:
        """Write the mutant into a copy of the repository."""
        lines = (ROOT / self.file).read_text("utf-8").splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.column] + self.new + line[self.column + len(self.old) :]
        (folder / self.file).write_text("".join(lines), "utf-8")


def mutants(file: Path) -> list[Mutant]:
    """All mutants of a file that can be compiled."""
    text = (ROOT / file).read_text("utf-8")
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        old, (line, column) = token.string, token.start
        if token.type == tokenize.NUMBER and old.isdigit():
            new = str(int(old) + 1)
        elif token.type in (tokenize.OP, tokenize.NAME) and old in SWAPS:
            new = SWAPS[old]
        else:
            continue
        found.append(Mutant(file, line, column, old, new))
    return found


def tests(mutant: Mutant) -> list[str]:
    """The files of tests, those first that name the module of the mutant."""
    files = sorted((ROOT / "tests/python").glob("test_*.py"))
    return [
        str(file.relative_to(ROOT))
        for file in sorted(files, key=lambda file: mutant.file.stem not in file.read_text("utf-8"))
    ]


def passes(files: list[str], folder: Path, seconds: float | None = None) -> bool:
    """Whether the default tests pass in a copy of the repository, in this time if there is a limit."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
    environment = os.environ | {"PYTHONPATH": str(folder / "python")}
    tests = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return tests.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(tests.pid, signal.SIGKILL)  # with its workers, of which one is in an endless loop
        tests.wait()
        return False


def is_killed(mutant: Mutant, folder: Path, seconds: float) -> bool:
    """Whether a test fails or does not end, or the mutant cannot be compiled."""
    mutant.apply(folder)
    try:
        compile((folder / mutant.file).read_text("utf-8"), mutant.file, "exec")
        return not passes(tests(mutant), folder, seconds)
    except SyntaxError:
        return True
    finally:
        shutil.copy(ROOT / mutant.file, folder / mutant.file)


def main() -> int:
    """Print which mutants survive. That some do is not an error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, help="number of mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="seed of the drawing (default: 1)")
    parser.add_argument("--only", default="**/*.py", metavar="GLOB", help="files in python/reshuffle (default: all)")
    given = parser.parse_args()
    files = sorted(path.relative_to(ROOT) for path in (ROOT / "python/reshuffle").glob(given.only))
    every = [mutant for file in files for mutant in mutants(file)]
    survivors = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for file in listed.splitlines():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, folder / file)
        import reshuffle._core  # the built one, wherever it is installed

        shutil.copy(reshuffle._core.__file__, folder / "python/reshuffle")
        start = time.monotonic()
        if not passes([], folder):
            parser.error("the tests fail without any mutant: run them first")
        limit = 60 + 2 * (time.monotonic() - start)
        for mutant in random.Random(given.seed).sample(every, min(given.n, len(every))):
            killed = is_killed(mutant, folder, limit)
            print(f"{'killed' if killed else 'SURVIVED'}  {mutant.name}", flush=True)
            if not killed:
                survivors.append(mutant)
    print(f"{len(survivors)} of {min(given.n, len(every))} survived")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
