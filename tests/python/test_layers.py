"""Allowed imports: docs/design/index.md gives the reasons, pyproject.toml the rules."""

from __future__ import annotations

import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reshuffle

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def test_imports_follow_the_layers() -> None:
    source = "from importlinter.cli import lint_imports_command as c; c()"
    command = [sys.executable, "-c", source, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kept, 0 broken" in done.stdout


def test_every_module_is_forbidden_to_drop_in_backends() -> None:
    """import-linter cannot see the compiled module, so the sources of the drop-ins are searched for it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (forbidden,) = [c["forbidden_modules"] for c in contracts if c.get("source_modules") == ["reshuffle.compat"]]
    modules = {f"reshuffle.{module.name}" for module in pkgutil.iter_modules(reshuffle.__path__)}
    assert modules - {"reshuffle.compat", "reshuffle._core"} == set(forbidden)
    sources = (ROOT / "python/reshuffle/compat").rglob("*.py")
    assert [
        source for source in sources if re.search(r"import .*\b_core\b|\b_core import", source.read_text("utf-8"))
    ] == []


def test_only_the_bindings_use_pyo3_and_numpy() -> None:
    for path in (ROOT / "rust/src").rglob("*.rs"):
        if "py" not in path.relative_to(ROOT / "rust/src").parts:
            code = [line.split("//")[0] for line in path.read_text().splitlines()]
            assert not any("pyo3" in line or "numpy::" in line for line in code), path


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo lists what is packaged")
def test_the_packaged_crate_contains_every_included_file() -> None:
    command = ["cargo", "package", "--list", "--allow-dirty", "--offline"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    packaged = {(ROOT / line).resolve() for line in done.stdout.splitlines()}
    named = {
        (source.parent / name).resolve()
        for source in packaged
        if source.suffix == ".rs"
        for name in re.findall(r'include(?:_str|_bytes)?!\("([^"]+)"\)', source.read_text())
    }
    assert ROOT / "tests/data/philox_known_answers.in" in named
    assert named <= packaged, named - packaged
