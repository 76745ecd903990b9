"""Writes THIRD-PARTY.txt: the licence notices of what is compiled into a wheel, on any platform.

``.ci/notices.py`` after a change of Cargo.lock; ``--library`` also takes those of Rust's standard library from the
toolchain, which otherwise stay as they are, so that other toolchains do not change the file; ``--check`` compares.
"""

import html
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
reshuffle is under the MIT licence (LICENSE). Its wheels also have code of the crates below and of Rust's standard
library, whose licences ask for these notices. Of licences to choose from, MIT is taken if it is one of them, else the
first.
"""
LINE = "=" * 80
FILE = ROOT / "THIRD-PARTY.txt"
LIBRARY = "The standard library of Rust "
# Crates that the standard library has on the platforms of wheels. Others are for its tests or for other platforms.
OF_LIBRARY = {"cfg-if", "foldhash", "gimli", "hashbrown", "libc", "rustc-demangle", "windows-link"}
OF_LIBRARY |= {"windows-sys", "windows-targets"}


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


def as_text(crates: dict[str, list[str]]) -> str:
    """Crates with the same text share it."""
    parts = sorted((titles, text) for text, titles in crates.items())
    return "".join("\n".join([LINE, *titles, LINE, "", text, "", ""]) for titles, text in parts)


def library() -> str:
    """The notices of the toolchain's standard library, which are a page in HTML."""
    root, version = (
        subprocess.run(["rustc", *asked], capture_output=True, check=True, text=True, cwd=ROOT).stdout.strip()
        for asked in (["--print", "sysroot"], ["--version"])
    )
    page = html.unescape((Path(root) / "share/doc/rust/COPYRIGHT-library.html").read_text("utf-8"))
    own, *crates = page.split("<h3>\U0001f4e6 ")
    found: dict[str, list[str]] = {}
    for crate in crates:
        name, release, licence = re.findall(r"^(.+?)-(\d\S*)</h3>.*?License:</b> (.*?)</p>", crate, re.DOTALL)[0]
        if name in OF_LIBRARY:
            kind = "mit" if "MIT" in licence else ".*?"
            (text,) = re.findall(rf"<code>(?i:license-?{kind})</code></summary>\s*<pre>\n(.*?)</pre>", crate, re.DOTALL)
            found.setdefault(textwrap.dedent(text).strip(), []).append(
                f"{LIBRARY.strip()}: {name} {release} ({chosen(licence)})"
            )
    mit = next(text for text in found if text.startswith("Copyright")).partition("\n\n")[2]
    lines = {}
    for place in own.split("<b>File/Directory:</b>")[1:]:
        (licence,) = re.findall(r"License:</b> (.*?)</p>", place)
        for holder in re.findall(r"Copyright:</b> (.*?)</p>", place):
            if chosen(licence) == "MIT":
                lines[f"Copyright (c) {holder}"] = None
            elif licence == "Unicode-3.0":  # with the text that unicode-normalization has
                lines[f"Copyright (c) {holder}, for tables: the UNICODE LICENSE V3 above"] = None
    whole = "\n".join([LINE, f"{LIBRARY}{version.split()[1]} (MIT AND Unicode-3.0)", LINE, "", *lines, "", mit, "", ""])
    return whole + as_text(found)


def main() -> None:
    """Write the file, or compare it."""
    crates: dict[str, list[str]] = {}
    for package in compiled_in():
        title = f"{package['name']} {package['version']} ({chosen(package['license'])})"
        for text in texts(package):
            crates.setdefault("\n".join(line.rstrip() for line in text.splitlines()), []).append(title)
    before = FILE.read_text("utf-8")
    rest = library() if "--library" in sys.argv else before[before.index(f"{LINE}\n{LIBRARY}") :]
    text = f"{HEAD}\n{as_text(crates)}{rest}"
    if "--check" not in sys.argv:
        FILE.write_text(text, "utf-8")
    elif text != before:
        sys.exit("THIRD-PARTY.txt is not of this Cargo.lock: run .ci/notices.py")


if __name__ == "__main__":
    main()
