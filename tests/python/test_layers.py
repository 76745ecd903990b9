"""Imports run one way: docs/design.md says why, pyproject.toml says which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_imports_run_one_way() -> None:
    source = "from importlinter.cli import lint_imports_command as c; c()"
    command = [sys.executable, "-c", source, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kept, 0 broken" in done.stdout


def test_importing_the_package_imports_no_heavy_library() -> None:
    heavy = {"scipy", "rich", "click", "matplotlib", "sacrebleu"}
    source = "import sys, reshuffle; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(done.stdout.split())


def test_only_the_border_names_pyo3_or_numpy() -> None:
    for path in (ROOT / "rust/src").rglob("*.rs"):
        if "py" not in path.relative_to(ROOT / "rust/src").parts:
            code = [line.split("//")[0] for line in path.read_text().splitlines()]
            assert not any("pyo3" in line or "numpy::" in line for line in code), path
