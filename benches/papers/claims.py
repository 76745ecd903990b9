"""Claims of papers that commands of this package can check: how they are run, and where their results are kept.

A claim has the commands that check it, a function that extracts figures from their JSON, and functions that put the
figures beside those of the paper. Figures are kept in ``docs/papers/results.json`` with the date of the run, so that
the pages can be made without running anything.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

from benches.machine import markdown_table
from reshuffle import __version__

__all__ = [
    "PAGES",
    "RESULTS",
    "WMT17",
    "Claim",
    "Figures",
    "Paper",
    "Summary",
    "Verdict",
    "markdown_table",
    "number",
    "read_results",
    "rejected",
    "rows_of",
    "run",
    "share",
    "write_results",
]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/papers"
RESULTS = PAGES / "results.json"

# The main test set: its reference and all systems.
WMT17 = "wmt17-en-de/ref.txt wmt17-en-de/sys/*.txt"

# What is extracted from the output of a claim's commands: any JSON.
Figures: TypeAlias = Any
Verdict: TypeAlias = Literal["yes", "in part", "no"]


@dataclass(frozen=True)
class Summary:
    """The row of a claim in the table of all claims: whether it holds, and its figures in a few words.

    ``rule`` says by which figures of the page a claim holds, in words that continue "Yes if".
    """

    holds: Verdict
    theirs: str
    ours: str
    rule: str


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    name : str
        The name that ``--rerun`` takes.
    title : str
        The claim, in a few words.
    paper : str
        What the paper reports and where, as Markdown.
    extract : callable
        From the parsed JSON of all commands, and then of the Python program, to the figures that are kept.
    summary : callable
        From figures to the row in the table of all claims.
    show : callable
        From figures to Markdown: our figures beside those of the paper, what differs, and why.
    commands : tuple of str
        Command lines of reshuffle; ``--format json`` is added when they are run.
    prepare : str
        Shell commands that are run before, such as those that cut files.
    python : str
        A program that prints JSON.
    plot : callable or None
        Draws the claim's figure to a file.
    caption : str
        The text that describes the figure.
    """

    name: str
    title: str
    paper: str
    extract: Callable[[Sequence[Any]], Figures]
    summary: Callable[[Figures], Summary]
    show: Callable[[Figures], str]
    commands: tuple[str, ...] = ()
    prepare: str = ""
    python: str = ""
    plot: Callable[[Figures, Path], None] | None = None
    caption: str = ""

    @property
    def figure(self) -> Path:
        """The file of the figure."""
        return RESULTS.parent / f"{self.name}.svg"

    @property
    def code(self) -> dict[str, Any]:
        """What is run, to find results of other commands than today's."""
        return {"prepare": self.prepare, "commands": list(self.commands), "python": self.python}


@dataclass(frozen=True)
class Paper:
    """The claims of a paper.

    ``after`` is Markdown below its claims. ``apart`` names the claims that have a page of their
    own, by its title.
    """

    title: str
    about: str
    claims: tuple[Claim, ...]
    after: str = ""
    apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """The name of the page: ``clark-2011.md`` for Clark et al. 2011."""
        return self.page_called("")

    def page_called(self, part: str) -> str:
        """The name of the page of the claims that are apart: ``clark-2011-the-test.md``."""
        words = re.findall(r"\w+", f"{self.title} {part}".lower())
        return "-".join(word for word in words if word not in {"et", "al"}) + ".md"

    def page_of(self, claim: Claim) -> str:
        """The name of the page that has the claim."""
        return self.page_called(next((part for part, names in self.apart.items() if claim.name in names), ""))


# Running.


def run(claim: Claim, data: Path, cache: dict[str, tuple[str, float]] | None = None) -> dict[str, Any]:
    """Run a claim's commands in a folder with links to the test sets; return the entry of the file of results.

    Outputs of commands and programs of several claims are taken from the cache and added to it.
    """
    known = {} if cache is None else cache
    with tempfile.TemporaryDirectory() as folder:
        for path in data.iterdir():
            if path.is_dir():
                (Path(folder) / path.name).symlink_to(path)
        if claim.prepare and any(claim.prepare + command not in known for command in claim.commands):
            _output(["bash", "-euo", "pipefail", "-c", claim.prepare], folder)
        for command in claim.commands:
            if claim.prepare + command not in known:
                known[claim.prepare + command] = _timed(["bash", "-c", f"{command} --format json"], folder)
        outputs = [known[claim.prepare + command] for command in claim.commands]
        if claim.python:
            if claim.python not in known:
                known[claim.python] = _timed([sys.executable, "-c", claim.python], folder)
            outputs.append(known[claim.python])
        figures = _rounded(claim.extract([json.loads(output) for output, _ in outputs]))
    entry = {
        "date": date.today().isoformat(),
        "version": __version__,
        "seconds": round(sum(seconds for _, seconds in outputs), 1),
    }
    return {**entry, **claim.code, "figures": figures}


def _timed(command: Sequence[str], folder: str) -> tuple[str, float]:
    """The standard output of a command, and how long it took in seconds."""
    start = perf_counter()
    output = _output(command, folder)
    return output, perf_counter() - start


def _output(command: Sequence[str], folder: str) -> str:
    """The standard output of a command, with this interpreter's ``reshuffle`` first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", env={**os.environ, "PATH": path}, check=False
    )
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode} of: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def _rounded(value: Any) -> Any:
    """The same JSON with floats of six significant digits: more would be Monte Carlo error."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value


def read_results() -> dict[str, dict[str, Any]]:
    """The kept results by claim."""
    if not RESULTS.is_file():
        return {}
    results: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))
    return results


def write_results(results: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all results, one line for each claim's figures, so that changes are easy to review."""
    RESULTS.parent.mkdir(exist_ok=True)
    entries = []
    for name in sorted(results):
        lines = [
            f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in results[name].items()
        ]
        entries.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    RESULTS.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def rows_of(output: Mapping[str, Any], table: str, **fields: object) -> list[dict[str, Any]]:
    """The records of a study's table in which these fields have these values."""
    return [row for row in output[table] if all(row[name] == value for name, value in fields.items())]


# Formats.


def number(value: float | None, digits: int = 3) -> str:
    """A number below 1 without its leading zero, as the papers print probabilities; – for None."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def pvalue(value: float) -> str:
    """A p-value with two significant digits."""
    if value < 0.00015:
        return "<.0002"
    return number(value, 3 if value >= 0.01 else 4)


def share(value: float | None) -> str:
    """A share as a percentage without decimals; – for None."""
    return "–" if value is None else f"{100 * value:.0f}%"


def rejected(rate: Mapping[str, Any]) -> str:
    """A rejection rate with its 95% interval, from a record of a study's ``rates``."""
    interval = rate["confidence_interval"]
    return f"{number(rate['rate'])} ({number(interval['low'])}–{number(interval['high'])})"
