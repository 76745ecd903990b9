"""NLTK's own tests of scores, and the examples in its modules, pass when they are run with the pytest plugin."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import nltk
import pytest

from nltk_files import write_nltk_data
from reshuffle.compat.hosts import HOSTS
from test_compat_suite import ROW, pip

# For each version: the hash of the source distribution, how many tests pass, and which tests are left out and why.
SUITES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "nltk_suites.json").read_text("utf-8")
)
MODULES = [f"{name}_score" for name in ("bleu", "chrf", "gleu", "meteor", "nist")]
# Files of the distribution's nltk/test. Some of them import others from nltk.test.unit, which the installed package
# lacks.
FILES = ("bleu.doctest", "meteor.doctest", "unit/")
SCORED = ["bleu.doctest", "meteor.doctest", *(f"unit/translate/test_{name}.py" for name in ("bleu", "meteor", "nist"))]
CONFTEST = """
import pathlib
import nltk.test
nltk.test.__path__.append(str(pathlib.Path(__file__).parent))
"""


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is kept from one run to the next, if pytest has a cache."""
    kept = pytestconfig.pluginmanager.hasplugin("cacheprovider")
    return pytestconfig.cache.mkdir("nltk") if kept and pytestconfig.cache else tmp_path_factory.mktemp("nltk")


def unpack(version: str, cache: Path, folder: Path) -> None:
    """Unpack the tests of a version, without the package, so that the installed one is tested."""
    archive = cache / f"nltk-{version}.tar.gz"
    if not archive.exists():
        pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(cache), f"nltk=={version}")
    assert SUITES[version]["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    start = f"nltk-{version}/nltk/test/"
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            name = member.name.removeprefix(start)
            file = tar.extractfile(member) if name != member.name and name.startswith(FILES) else None
            if file is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(file.read())
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")


def run_suite(version: str, cache: Path, tmp_path: Path, path: Path | None = None) -> None:
    """Run the tests and the examples of a version, and check that all pass and that everything was computed here."""
    folder = tmp_path / "suite"
    folder.mkdir()
    unpack(version, cache, folder)
    deselected = [f"--deselect={name}" for name in SUITES[version]["deselected"]]
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "-v", *deselected]
    options += ["--doctest-modules", "--doctest-glob=*.doctest", "-o", "doctest_optionflags=ELLIPSIS"]
    where = Path(nltk.__file__).parent if path is None else path / "nltk"
    modules = [str(where / "translate" / f"{name}.py") for name in MODULES]
    command = ["-m", "pytest", "-p", "reshuffle.compat.pytest_plugin", "--compat-only", "nltk", *options]
    environment = {
        **os.environ,
        "NLTK_DATA": str(write_nltk_data(tmp_path / "data")),
        "PYTHONIOENCODING": "utf-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **({"PYTHONPATH": str(path)} if path else {}),
    }
    done = subprocess.run(
        [sys.executable, *command, *modules, *SCORED],
        capture_output=True,
        check=False,
        cwd=folder,
        encoding="utf-8",
        env=environment,
    )
    report = done.stdout + done.stderr
    assert f"reshuffle.compat: nltk {version}, p-values: exact-replay" in report, report
    assert re.search(rf"= {SUITES[version]['passed']} passed, \d+ deselected", report), report
    assert done.returncode == 0
    calls = {name: (int(number.replace(",", "")), left) for name, number, left in ROW.findall(report)}
    assert {name: left for name, (_, left) in calls.items()} == SUITES[version]["fallbacks"]
    assert all(number > 0 for number, _ in calls.values())


def test_its_own_tests_pass(cache: Path, tmp_path: Path) -> None:
    if nltk.__version__ not in SUITES:
        pytest.fail(f"describe the tests of NLTK {nltk.__version__} in tests/data/nltk_suites.json")
    run_suite(nltk.__version__, cache, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("version", [version for version in SUITES if version != nltk.__version__])
def test_the_tests_of_other_versions_pass(version: str, cache: Path, tmp_path: Path) -> None:
    path = cache / version
    if not path.exists():
        pip("install", "--no-deps", "--target", str(path), f"nltk=={version}")
    run_suite(version, cache, tmp_path, path)


def test_the_lowest_supported_version_is_tested() -> None:
    assert HOSTS["nltk"].lowest in SUITES
