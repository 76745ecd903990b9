"""Allowed imports: docs/design/index.md gives the reasons, pyproject.toml the rules."""

from __future__ import annotations

import ast
import graphlib
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from itertools import pairwise
from pathlib import Path

import pytest

import reshuffle
from reshuffle import toml

ROOT = Path(__file__).resolve().parents[2]


def test_imports_follow_the_layers() -> None:
    source = "from importlinter.cli import lint_imports_command as c; c()"
    command = [sys.executable, "-c", source, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kept, 0 broken" in done.stdout


def statements_in(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a tree. Expressions, which are most of it, are not searched: they import nothing."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield node
            yield from statements_in(node)


def imports_in(source: Path, package: str) -> Iterator[tuple[str, str, int]]:
    """The module, the name and the line of every import in a file: at its top, for type checkers and in functions."""
    for node in statements_in(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from ((module, each.name, node.lineno) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "", node.lineno) for each in node.names)


def circle_of(package: Path) -> list[str]:
    """A circle of imports in a package, import by import; empty if there is none.

    Names of packages that import them on first use stand for the modules that the stubs of these packages name.
    """

    def name_of(source: Path) -> str:
        return ".".join(source.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")

    files = {name_of(path): path for path in package.rglob("*.py")}
    stubs = {name_of(path): path for path in package.rglob("__init__.pyi")}
    on_first_use = {
        (name, each): module
        for name, path in stubs.items()
        for module, each, _ in imports_in(path, name)
        if module != name
    }

    def module_of(module: str, name: str) -> str:
        if f"{module}.{name}" in files:
            return f"{module}.{name}"
        return module_of(on_first_use[module, name], name) if (module, name) in on_first_use else module

    lines: dict[str, dict[str, int]] = {name: {} for name in files}
    for name, path in files.items():
        for module, each, line in imports_in(path, name if path.stem == "__init__" else name.rpartition(".")[0]):
            imported = module_of(module, each)
            if imported in files and imported != name:
                lines[name][imported] = line
    try:
        graphlib.TopologicalSorter(lines).prepare()
    except graphlib.CycleError as error:
        return [f"{name}, line {lines[name][each]}, imports {each}" for each, name in pairwise(error.args[1])]
    return []


def test_no_imports_of_any_kind_make_a_circle() -> None:
    assert circle_of(ROOT / "python/reshuffle") == []


def test_circles_are_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "lazy").mkdir(parents=True)
    (package / "low.py").write_text("if TYPE_CHECKING:\n    from .lazy import Name\n")
    (package / "lazy/__init__.py").write_text("")
    (package / "lazy/__init__.pyi").write_text("from .high import Name as Name\n")
    (package / "lazy/high.py").write_text("def function():\n    import package.low\n")
    assert sorted(circle_of(package)) == [
        "package.lazy.high, line 2, imports package.low",
        "package.low, line 2, imports package.lazy.high",
    ]
    (package / "low.py").write_text("")
    assert circle_of(package) == []


def test_every_module_is_forbidden_to_drop_in_backends() -> None:
    """import-linter cannot see the compiled module, so the sources of the drop-ins are searched for it."""
    contracts = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
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
