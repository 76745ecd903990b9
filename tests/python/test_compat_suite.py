"""The hosts' own tests pass when they are run with the pytest plugin, in every tested version."""

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
import sacrebleu

from nltk_files import write_nltk_data
from reshuffle.compat.hosts import HOSTS

# For each version: the hash of the source distribution, how many tests pass, and which tests are left out and why.
SUITES: dict[str, dict[str, dict[str, Any]]] = {
    host: json.loads((Path(__file__).parents[1] / f"data/{host}_suites.json").read_text("utf-8"))
    for host in ("sacrebleu", "nltk")
}
INSTALLED = {"sacrebleu": sacrebleu, "nltk": nltk}
# A row of the table that the plugin prints with -v.
ROW = re.compile(r"^  (\S+) +([\d,]+) +([\d,]+)$", re.MULTILINE)
# The replaced PairedTest does not call the functions for single systems, and the tests print no table.
NOT_CALLED = {"_paired_ar_test", "_paired_bs_test", "_bootstrap_resample", "print_results_table"}
# Files of NLTK's tests. Some of them import others from nltk.test.unit, which the installed package lacks.
NLTK_FILES = ("bleu.doctest", "meteor.doctest", "unit/")
NLTK_TESTS = [*NLTK_FILES[:2], *(f"unit/translate/test_{name}.py" for name in ("bleu", "meteor", "nist"))]
NLTK_MODULES = [f"translate/{name}_score.py" for name in ("bleu", "chrf", "gleu", "meteor", "nist")]
NLTK_CONFTEST = """
import pathlib
import nltk.test
nltk.test.__path__.append(str(pathlib.Path(__file__).parent))
"""


def pip(*arguments: str) -> None:
    """Run pip, or skip the test if it fails, because there may be no network."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        pytest.skip(f"pip {arguments[0]} failed, is there a network? {lines[-1] if lines else ''}")


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is kept from one run to the next, if pytest has a cache."""
    kept = pytestconfig.pluginmanager.hasplugin("cacheprovider")
    return pytestconfig.cache.mkdir("suites") if kept and pytestconfig.cache else tmp_path_factory.mktemp("suites")


def unpack(host: str, version: str, cache: Path, folder: Path) -> None:
    """Unpack the tests of a version, without the package, so that the installed one is tested."""
    archive = cache / f"{host}-{version}.tar.gz"
    if not archive.exists():
        pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(cache), f"{host}=={version}")
    assert SUITES[host][version]["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    start = f"{host}-{version}/" + ("test/" if host == "sacrebleu" else "nltk/test/")
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            name = member.name.removeprefix(start)
            wanted = name != member.name and (host == "sacrebleu" or name.startswith(NLTK_FILES))
            file = tar.extractfile(member) if wanted else None
            if file is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(file.read())
    if host == "nltk":
        (folder / "conftest.py").write_text(NLTK_CONFTEST, encoding="utf-8")


def other_version(host: str, version: str, cache: Path) -> Path:
    """A folder to put on Python's path."""
    target = cache / f"{host} {version}"
    if not target.exists():
        pip("install", "--no-deps", "--target", str(target), f"{host}=={version}")
    return target


def python(*arguments: str, cwd: Path, path: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SACREBLEU")}
    environment |= {
        "SACREBLEU": str(cwd / "downloads"), "PYTHONIOENCODING": "utf-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more
    }  # fmt: skip
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, check=False, cwd=cwd, encoding="utf-8", env=environment
    )


def run_suite(host: str, version: str, cache: Path, tmp_path: Path, path: Path | None = None) -> None:
    """Run the tests of a version, and check that all pass and that everything was computed by reshuffle."""
    of = SUITES[host][version].get("suite", version)
    suite = SUITES[host][of]
    folder = tmp_path / "test"
    folder.mkdir()
    unpack(host, of, cache, folder)
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "-v"]
    more: dict[str, str] = {}
    if host == "sacrebleu":
        cwd, tests = tmp_path, ["test"]
    else:
        where = Path(nltk.__file__).parent if path is None else path / "nltk"
        cwd, tests = folder, [*(str(where / name) for name in NLTK_MODULES), *NLTK_TESTS]
        options += ["--compat-only", "nltk", "--doctest-modules", "--doctest-glob=*.doctest"]
        options += ["-o", "doctest_optionflags=ELLIPSIS"]
        more = {"NLTK_DATA": str(write_nltk_data(tmp_path / "data"))}
    options += ["--rootdir", str(cwd), *(f"--deselect={name}" for name in suite["deselected"])]
    done = python("-m", "pytest", "-p", "reshuffle.compat.pytest_plugin", *options, *tests, cwd=cwd, path=path, **more)
    report = done.stdout + done.stderr
    assert f"reshuffle.compat: {host} {version}, p-values: exact-replay" in report, report
    assert re.search(rf"= {suite['passed']} passed, \d+ deselected", report), report
    assert done.returncode == 0
    calls = {name: (int(number.replace(",", "")), left) for name, number, left in ROW.findall(report)}
    assert calls, report
    assert {name for name, (n, _) in calls.items() if n == 0} == (NOT_CALLED if host == "sacrebleu" else set())
    expected = suite.get("fallbacks", dict.fromkeys(calls, "0"))
    assert {name: left for name, (_, left) in calls.items()} == expected


@pytest.mark.slow
@pytest.mark.parametrize("host", SUITES)
def test_its_own_tests_pass(host: str, cache: Path, tmp_path: Path) -> None:
    version = INSTALLED[host].__version__
    if version not in SUITES[host]:
        pytest.fail(f"describe the tests of {host} {version} in tests/data/{host}_suites.json")
    run_suite(host, version, cache, tmp_path)


OTHERS = [("sacrebleu", "2.4.2"), ("sacrebleu", "2.5.1")]
OTHERS += [("nltk", version) for version in SUITES["nltk"] if version != nltk.__version__]


@pytest.mark.slow
@pytest.mark.parametrize(("host", "version"), OTHERS)
def test_the_tests_of_other_versions_pass(host: str, version: str, cache: Path, tmp_path: Path) -> None:
    run_suite(host, version, cache, tmp_path, other_version(host, version, cache))


@pytest.mark.parametrize("host", SUITES)
def test_the_lowest_supported_version_and_the_installed_one_are_tested(host: str) -> None:
    assert {HOSTS[host].lowest, INSTALLED[host].__version__} <= set(SUITES[host])
