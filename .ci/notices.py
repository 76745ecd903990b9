"""Prints the licence notices of the Rust crates that are compiled into a wheel, on any platform: THIRD-PARTY.txt.

``.ci/notices.py > THIRD-PARTY.txt`` after a change of Cargo.lock; ``.ci/run`` compares.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
reshuffle is under the MIT licence (LICENSE). Its wheels also have code of the crates below, whose licences ask for
these notices. Of licences to choose from, MIT is taken if it is one of them, else the first.

Wheels also have parts of the standard library of Rust (MIT or Apache-2.0). Its notices are in COPYRIGHT-library.html,
which comes with every Rust toolchain.
"""
LINE = "=" * 80


def compiled_in() -> list[dict[str, Any]]:
    """The crates that are linked, without procedural macros and what only these and build scripts need."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--features=python"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    root, seen = found["resolve"]["root"], set()
    waiting = [root]
    while waiting:
        current = waiting.pop()
        if current in seen or any("proc-macro" in target["kind"] for target in packages[current]["targets"]):
            continue
        seen.add(current)
        linked = (d["pkg"] for d in nodes[current]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"]))
        waiting.extend(linked)
    return sorted((packages[one] for one in seen - {root}), key=lambda package: (package["name"], package["version"]))


def chosen(licence: str) -> str:
    """An expression without choices: of the parts of each OR, MIT or else the first."""
    expression = licence.replace("/", " OR ")
    parts = [part.strip().strip("()") for part in re.split(r"\s+AND\s+(?![^(]*\))", expression)]
    choices = [re.split(r"\s+OR\s+", part) for part in parts]
    return " AND ".join("MIT" if "MIT" in own else own[0] for own in choices)


def texts(package: dict[str, Any]) -> list[str]:
    """The texts of the chosen licences in the crate's folder."""
    files = sorted(
        path
        for path in Path(package["manifest_path"]).parent.iterdir()
        if re.match(r"(?i)licen[cs]e|copying|notice|unlicense", path.name) and path.is_file()
    )
    # Files for one of several licences are named after it; others hold for the whole crate.
    other = re.compile("(?i)apache|unlicense|zlib|^copying$" if "MIT" in chosen(package["license"]) else "(?!)")
    named = [path for path in files if not other.search(path.name)]
    if not named:
        sys.exit(f"{package['name']}: no text of its licence ({package['license']}) in its folder")
    return [path.read_text("utf-8").strip("\n") for path in named]


def main() -> None:
    """Crates with the same text share it."""
    crates: dict[str, list[str]] = {}
    for package in compiled_in():
        title = f"{package['name']} {package['version']} ({chosen(package['license'])})"
        for text in texts(package):
            crates.setdefault("\n".join(line.rstrip() for line in text.splitlines()), []).append(title)
    print(HEAD)
    for text, titles in sorted(crates.items(), key=lambda item: item[1]):
        print(LINE, *titles, LINE, "", text, "", sep="\n")


if __name__ == "__main__":
    main()
