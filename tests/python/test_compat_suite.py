"""sacreBLEU's own tests pass when they are run with the pytest plugin, in every tested version."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from reshuffle.compat.hosts import HOSTS

# For each version: the hash of the source distribution, how many tests pass, and which tests are left out and why.
SUITES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "sacrebleu_suites.json").read_text("utf-8")
)
# A row of the table that the plugin prints with -v.
ROW = re.compile(r"^  (\S+) +([\d,]+) +([\d,]+)$", re.MULTILINE)

# The replaced PairedTest does not call the functions for single systems, and the tests print no table.
NOT_CALLED = {"_paired_ar_test", "_paired_bs_test", "_bootstrap_resample", "print_results_table"}

Fetch = Callable[[str], Path]


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
    return (
        pytestconfig.cache.mkdir("sacrebleu") if kept and pytestconfig.cache else tmp_path_factory.mktemp("sacrebleu")
    )


@pytest.fixture
def suite(cache: Path, tmp_path: Path) -> Fetch:
    """Unpacks the tests of a version, without the package, so that the installed one is tested."""

    def fetch(version: str) -> Path:
        archive = cache / f"sacrebleu-{version}.tar.gz"
        if not archive.exists():
            pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(cache), f"sacrebleu=={version}")
        assert SUITES[version]["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
        folder = tmp_path / "test"
        folder.mkdir()
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                file = tar.extractfile(member) if member.name.startswith(f"sacrebleu-{version}/test/") else None
                if file is not None:
                    (folder / Path(member.name).name).write_bytes(file.read())
        return tmp_path

    return fetch


def other_version(version: str, cache: Path) -> Path:
    """A folder to put on Python's path."""
    target = cache / version
    if not target.exists():
        pip("install", "--no-deps", "--target", str(target), f"sacrebleu=={version}")
    return target


def python(*arguments: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SACREBLEU")}
    environment |= {
        "SACREBLEU": str(cwd / "downloads"),
        "PYTHONIOENCODING": "utf-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, check=False, cwd=cwd, encoding="utf-8", env=environment
    )


def run_suite(version: str, suite: Fetch, path: Path | None = None) -> None:
    """Run the tests of a version, and check that all pass and that everything was computed by reshuffle."""
    of = SUITES[version].get("suite", version)
    folder = suite(of)
    deselected = [f"--deselect={name}" for name in SUITES[of]["deselected"]]
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "-v", *deselected]
    done = python("-m", "pytest", "-p", "reshuffle.compat.pytest_plugin", *options, "test", cwd=folder, path=path)
    report = done.stdout + done.stderr
    assert f"reshuffle.compat: sacrebleu {version}, p-values: exact-replay" in report
    assert re.search(rf"= {SUITES[of]['passed']} passed, \d+ deselected", report), report
    assert done.returncode == 0
    calls = {name: (int(number.replace(",", "")), left) for name, number, left in ROW.findall(report)}
    assert calls, report
    assert {name for name, (number, _) in calls.items() if number == 0} == NOT_CALLED
    assert {left for _, left in calls.values()} == {"0"}


def test_its_own_tests_pass(suite: Fetch) -> None:
    if sacrebleu.__version__ not in SUITES:
        pytest.fail(f"describe the tests of sacreBLEU {sacrebleu.__version__} in tests/data/sacrebleu_suites.json")
    run_suite(sacrebleu.__version__, suite)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.4.2", "2.5.1"])
def test_the_tests_of_other_versions_pass(version: str, suite: Fetch, cache: Path) -> None:
    run_suite(version, suite, other_version(version, cache))


def test_the_lowest_supported_version_is_tested() -> None:
    assert HOSTS["sacrebleu"].lowest in SUITES


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0.0", "2.4.1"])
def test_versions_that_are_not_supported_are_refused(version: str, cache: Path, tmp_path: Path) -> None:
    path = other_version(version, cache)
    refused = f"sacrebleu {version} is not supported: reshuffle.compat supports sacrebleu>=2.4.2,<2.7"
    (tmp_path / "script.py").write_text(
        "import sacrebleu; print(sacrebleu.corpus_bleu(['a b c d'], [['a b c d']]).score)", encoding="utf-8"
    )
    for command in (["reshuffle.compat", "--only", "sacrebleu", "script.py"], ["reshuffle.compat.sacrebleu", "-V"]):
        done = python("-m", *command, cwd=tmp_path, path=path)
        assert done.returncode == 2
        assert done.stderr.endswith(f"python -m {command[0]}: error: {refused}\n")
    # If it is not named, the program runs with sacreBLEU unpatched.
    done = python("-m", "reshuffle.compat", "-v", "script.py", cwd=tmp_path, path=path)
    assert done.returncode == 0
    assert done.stdout.startswith("100.0")
    assert f"not patched: {refused}\n" in done.stderr
    done = python("-c", "from reshuffle.compat.sacrebleu import BLEU", cwd=tmp_path, path=path)
    assert done.stderr.endswith(f"InputError: {refused}\n")
