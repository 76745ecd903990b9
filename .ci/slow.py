"""Runs the slow tests of what a change touches: ``.venv/bin/python .ci/slow.py [BASE] [options of pytest]``.

BASE is the commit before the change, by default ``origin/main``. Files that are not committed count, too.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The files of each room, and the tests that are slow because of it. tests/python/test_release.py checks both.
ROOMS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("rust/src/text", "python/reshuffle/metrics/tokenizers.py"): (
        "tokenizers",
        "ter",
        "compat_counting",
        "rouge",
        "speech",
    ),
    ("rust/src/metric", "python/reshuffle/metrics"): (
        "ter",
        "meteor",
        "rouge",
        "speech",
        "counts",
        "compat_suite",
        "compat_nltk*",
    ),
    ("rust/src/resample", "rust/src/stream.rs", "python/reshuffle/resampling", "python/reshuffle/inference"): (
        "calibration",
        "margins",
        "few_differing",
        "kink",
        "resampling",
        "parts",
        "*coverage",
        "other_adjustments",
        "significance",
        "sets",
        "several_sets",
        "runtime",
        "run_sizes",
        "type1",
    ),
    ("python/reshuffle/gate.py", "python/reshuffle/inference/gate.py"): ("gate",),
    ("python/reshuffle/watch.py", "python/reshuffle/inference/sequential.py"): ("watch",),
    ("python/reshuffle/runs.py", "python/reshuffle/inference/run*"): ("run_*", "compat_multeval"),
    ("rust/src/study", "python/reshuffle/study", "python/reshuffle/options"): (
        "study_*",
        "type1",
        "words",
    ),
    ("rust/src/meta", "python/reshuffle/meta"): ("meta*", "human"),
    ("rust/src/tune", "python/reshuffle/tune"): ("tune*", "mert", "oracle"),
    ("python/reshuffle/execution",): ("resume", "runtime", "progress", "parts", "executors"),
    ("python/reshuffle/report",): ("text", "paper", "plots", "page_figures", "gallery"),
    ("python/reshuffle/compat",): ("compat_*",),
    ("benches/papers", "docs/papers"): ("papers_page",),
}


def touched(base: str) -> list[Path]:
    """The files that differ from the common ancestor with a commit, and new ones."""

    def lines(*command: str) -> list[str]:
        return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
            "\n"
        )

    ancestor = lines("merge-base", base, "HEAD")[0]
    changed = [*lines("diff", "--name-only", ancestor), *lines("ls-files", "--others", "--exclude-standard")]
    return [Path(name) for name in changed if name]


def tests(files: list[Path]) -> list[str]:
    """The files of tests for some changed files: those of their rooms, and those that changed themselves."""
    found = {ROOT / file for file in files if file.match("tests/python/test_*.py") and (ROOT / file).exists()}
    for room, names in ROOMS.items():
        if any(file.match(part) or parent.match(part) for part in room for file in files for parent in file.parents):
            found.update(file for name in names for file in (ROOT / "tests/python").glob(f"test_{name}.py"))
    return sorted(str(file.relative_to(ROOT)) for file in found)


def main() -> int:
    """The exit code of pytest."""
    arguments = sys.argv[1:]
    base = arguments.pop(0) if arguments and not arguments[0].startswith("-") else "origin/main"
    chosen = tests(touched(base))
    if not chosen:
        print("no slow tests: the change touches none of the rooms that have some")
        return 0
    print(*chosen, sep="\n", flush=True)
    code = subprocess.run([sys.executable, "-m", "pytest", "-m", "slow", *arguments, *chosen], cwd=ROOT).returncode
    return 0 if code == 5 else code  # 5: no slow tests in these files


if __name__ == "__main__":
    raise SystemExit(main())
