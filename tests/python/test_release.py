"""What a release is made of: workflows, notices and metadata agree with the files that they name."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from reshuffle import toml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SETTINGS = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, MATURIN = SETTINGS["project"], SETTINGS["tool"]["maturin"]
CRATE = toml.loads((ROOT / "Cargo.toml").read_text("utf-8"))
LOCKED = toml.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
ALLOWED = toml.loads((ROOT / "deny.toml").read_text("utf-8"))["licenses"]["allow"]
# A crate in THIRD-PARTY.txt: its name, version and licences.
TITLE = re.compile(r"^([\w-]+) (\d[\w.+-]*) \((.+)\)$", re.MULTILINE)

if not WORKFLOWS:
    pytest.skip("not a checkout", allow_module_level=True)


def jobs(workflow: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    return found


def is_allowed(licence: str) -> bool:
    parts = re.split(r"\s+AND\s+(?![^(]*\))", licence)
    return all(any(choice in ALLOWED for choice in re.split(r"\s+OR\s+|/", part.strip("()"))) for part in parts)


def scripts(workflow: Path) -> list[str]:
    """What its steps run, also through a matrix."""
    found = [step["run"] for job in jobs(workflow).values() for step in job.get("steps", ()) if "run" in step]
    matrices = [job["strategy"]["matrix"] for job in jobs(workflow).values() if "strategy" in job]
    return found + [row["run"] for matrix in matrices for row in matrix.get("include", ()) if "run" in row]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_exists(workflow: Path) -> None:
    said = "\n".join(scripts(workflow))
    named = re.findall(r"(?<![\w./])(?:\.ci|tests|benches|docs)/[\w./-]+", said)
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", said)) <= PROJECT["optional-dependencies"].keys()
    needed = {
        job: [own] if isinstance(own := found.get("needs", []), str) else own for job, found in jobs(workflow).items()
    }
    assert {name for names in needed.values() for name in names} <= jobs(workflow).keys()


def test_actions_are_pinned_by_commit_and_alike_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for workflow in WORKFLOWS:
        for action, version in re.findall(r"uses: ([^@\s]+)@?(.*)", workflow.read_text("utf-8")):
            if action.startswith("./"):
                assert (ROOT / action.split()[0]).exists()
            else:
                assert re.fullmatch(r"[0-9a-f]{40} # v\d[\d.]*", version), (workflow.name, action, version)
                pins.setdefault(action, set()).add(version)
    assert len(pins) >= 5
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


def test_the_weekly_tier_is_what_the_schedule_runs() -> None:
    """Each command of the table, without the environment that a developer has."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (weekly,) = re.findall(r"^\| weekly \| .* \| (`.*`).* \|", text, re.MULTILINE)
    commands = [command.replace(".venv/bin/", "") for command in re.findall(r"`(.*?)`", weekly)]
    scheduled = {
        script.replace('"$GITHUB_RUN_NUMBER"', "N") for script in scripts(ROOT / ".github/workflows/scheduled.yml")
    }
    assert len(commands) == 4
    assert set(commands) <= scheduled
    for check in ("miri", "address"):
        assert f"    {check})\n" in (ROOT / ".ci/unsafe").read_text("utf-8")
        assert f".ci/unsafe {check}" in scheduled


def test_a_wheel_is_tried_with_tests_that_exist() -> None:
    (parts,) = re.findall(r"^parts=\((.*?)\)", (ROOT / ".ci/try_wheel").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(parts.split()) > 20
    assert [part for part in parts.split() if not (ROOT / f"tests/python/test_{part}.py").exists()] == []


def test_a_source_distribution_has_every_file_of_the_repository() -> None:
    """What pyproject.toml includes, beside what maturin takes by itself: package, crate, lock, licences."""
    if not (ROOT / ".git").exists():
        pytest.skip("no repository to list")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    own = ("python/", *(path.lstrip("/") for path in CRATE["package"]["include"]))
    by_itself = {"Cargo.lock", *PROJECT["license-files"]}
    included = {path.relative_to(ROOT).as_posix() for each in MATURIN["include"] for path in ROOT.glob(each["path"])}
    assert [name for name in listed if name and not name.startswith(own) and name not in included | by_itself] == []


def test_supported_versions_are_the_same_everywhere() -> None:
    said = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={said[0]}"
    assert f"abi3-py{said[0].replace('.', '')}" in CRATE["dependencies"]["pyo3"]["features"]
    tested = set(re.findall(r'"(3\.\d+)"', (ROOT / ".github/workflows/ci.yml").read_text("utf-8")))
    assert tested >= set(said)
    rust = CRATE["package"]["rust-version"]
    assert f"Python {said[0]} or later and a [Rust toolchain](https://rustup.rs) ({rust} or later)" in (
        ROOT / "README.md"
    ).read_text("utf-8")


def test_notices_are_of_the_locked_crates_and_their_licences_allowed() -> None:
    """``.ci/run`` makes the file again and compares; this notices a crate that was updated without it."""
    text = (ROOT / "THIRD-PARTY.txt").read_text("utf-8")
    crates = TITLE.findall(text)
    locked = {(package["name"], package["version"]) for package in LOCKED}
    assert {(name, version) for name, version, _ in crates} <= locked
    linked = {name for name, _, _ in crates}
    assert linked >= CRATE["dependencies"].keys()
    assert linked.isdisjoint(CRATE["dev-dependencies"].keys() - CRATE["dependencies"].keys())
    assert {licence for _, _, licences in crates for licence in licences.split(" AND ")} <= set(ALLOWED)
    assert "THIRD-PARTY.txt" in PROJECT["license-files"]
    _, _, library = text.partition("\nThe standard library of Rust ")
    assert "Copyright (c) The Rust Project Developers" in library
    assert re.search(r"^The standard library of Rust: libc \d.* \(MIT\)$", library, re.MULTILINE)


def test_versions_are_the_same_everywhere() -> None:
    """CITATION.cff, the conda recipe and pages are in test_trust.py and test_words.py."""
    version = CRATE["package"]["version"]
    kernels = toml.loads((ROOT / "benches/kernels/Cargo.lock").read_text("utf-8"))["package"]
    locked, of_kernels = ({package["name"]: package["version"] for package in each} for each in (LOCKED, kernels))
    assert locked["reshuffle"] == of_kernels["reshuffle"] == version
    assert f'__version__ = "{version}"' in (ROOT / "python/reshuffle/__init__.py").read_text("utf-8")
    # The benchmarks measure what the wheels contain.
    direct = CRATE["dependencies"].keys() & of_kernels.keys()
    assert direct
    assert {name: of_kernels[name] for name in direct} == {name: locked[name] for name in direct}


def test_every_crate_keeps_the_rules_of_deny_toml() -> None:
    """Those of licences, as far as a crate's metadata says them, versions and sources; ``cargo deny`` reads more."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline", "--all-features"]
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if re.search("failed to download|no matching package named", done.stderr):
        pytest.skip("cargo has to have the crates of all platforms")
    assert done.returncode == 0, done.stderr  # such as a Cargo.lock that is not that of Cargo.toml
    packages = json.loads(done.stdout)["packages"]
    refused = {package["name"]: package["license"] for package in packages if not is_allowed(package["license"])}
    assert refused == {}
    assert [licence for licence in ALLOWED if not any(licence in package["license"] for package in packages)] == []
    assert len({package["name"] for package in packages}) == len(packages), "two versions of a crate"
    assert {package["source"] for package in packages if package["source"]} == {
        "registry+https://github.com/rust-lang/crates.io-index"
    }


# --- The tiers of tests: ``.ci/slow.py`` knows which slow tests belong to which files


spec = importlib.util.spec_from_file_location("slow", ROOT / ".ci/slow.py")
assert spec is not None
assert spec.loader is not None
slow = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slow)


def test_every_slow_test_belongs_to_a_room_and_a_change_runs_it() -> None:
    folder = Path(__file__).parent
    marked = {
        path.name
        for path in folder.glob("test_*.py")
        if path != Path(__file__) and re.search(r"mark\.slow\b|@CHARACTERS", path.read_text("utf-8"))
    }
    names = [name for names in slow.ROOMS.values() for name in names]
    named = {path.name for name in names for path in folder.glob(f"test_{name}.py")}
    assert marked - named == set(), "name them in .ci/slow.py"
    own = "tests/python/test_words.py"
    tuning = ("test_mert.py", "test_oracle.py", *(path.name for path in folder.glob("test_tune*.py")))
    expected = sorted([own, *(f"tests/python/{name}" for name in tuning)])
    assert slow.tests([Path("rust/src/tune/mira.rs"), Path(own)]) == expected
    assert slow.tests([Path("README.md")]) == []
