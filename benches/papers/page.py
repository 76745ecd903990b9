"""The pages of docs/papers: a table of all claims, a page for each paper, and one about the data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from .claims import Claim, Paper, markdown_table
from .others import COMING

__all__ = ["pages"]

WIDTH = 140

INTRODUCTION = """
# The papers, run again

Each claim of the papers on which this package is based, checked on public data: the commands, our numbers beside the
published ones, what differs, and why. The tests and studies are those of [the
statistics pages](../statistics/choosing.md) and of
`reshuffle study`.

One script makes these pages from the results of these commands ([how](data.md#how-these-pages-are-made)); the published
numbers are quoted from the papers. Simulations have a fixed seed, so the same version of reshuffle reproduces them
exactly. Except for Chen & Cherry 2014, the papers' own data are not public, so other data are used here: a claim
holds if the effect is there, even if the numbers differ. Each section ends with the rule by which the script decides
that; the thresholds in it are ours.
"""

DATA = """
# The data

Commands run in a folder in which each test set has a folder of its own: `ref.txt` is its reference, `sys/NAME.txt`
the output of a system, one segment per line. The texts are public; they are not part of this package.

| folder | test set |
|---|---|
| `wmt17-en-de` | WMT17 news task, English–German: 16 systems, 3,004 segments |
| `wmt19-en-de` | WMT19 news task, English–German: 22 systems, 1,997 segments |
| `wmt13-fr-en` | WMT13 translation task, French–English: 19 systems, 3,000 segments, with rankings by people |
| `wmt13-cs-en`, `wmt13-de-en` | the same, Czech– and German–English: 12 and 23 systems |
| `wmt12-fr-en`, `wmt12-es-en` | WMT12 translation task, into English: 15 and 12 systems, 3,003 segments |
| `wmt12-cs-en`, `wmt12-de-en` | the same, Czech– and German–English: 6 and 16 systems |
| `wmt12-en-cs`, `wmt12-en-de`, `wmt12-en-es`, `wmt12-en-fr` | the same, out of English: 13, 15, 11 and 15 systems |
| `wmt12-judgments` | rankings by people of all outputs of WMT12 |
| `wmt08-cz-en`, `wmt08-de-en`, `wmt08-fr-en` | WMT08 translation task, news: 3, 13 and 14 systems, 2,051 segments |
| `wmt08-judgments` | rankings by people of outputs of WMT08 |
| `wmt17-da-seg` | WMT17 metrics task: 435 to 560 outputs of each of seven pairs, with direct assessment |
| `wmt21-en-de` | WMT21 news task, English–German: 20 systems, 1,002 segments, three references, MQM of 527 segments |
| `rerank-newstest2012-ru-en` | newstest2012, Russian–English, 400 segments: 31 rerankings of 100-best lists |
| `multeval-newstest2010-optreps` | newstest2010, into English, 2,489 segments: three runs of each system |
| `kbest-wmt11-de-en` | WMT11 translation task, German–English, 499 segments: 100-best lists with 12 features |
| `depparse-wmt13-en-fr-derived` | WMT13, English–French: six systems and the reference with parses, 500 segments |

The rerankings are from the software of a course (*dreamt*, by Lopez, Post and Dyer, 2012–2015). The parses were made
for this comparison, by one parser for all.
"""

RUNNING = """
## How these pages are made

`python -m benches.papers` writes these pages and their figures from `docs/papers/results.json`.
`python -m benches.papers --rerun NAME` (or `--rerun all`) runs the commands again and saves their results with the
date. Commands are shown as they are run, without `--format json`, which is added. The environment variable
`RESHUFFLE_DATA` names the folder with the test sets.
"""


def pages(papers: Sequence[Paper], results: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The Markdown of all pages, by their names."""
    found = {
        "index.md": [INTRODUCTION, overview(papers, results)],
        "data.md": [DATA, f"## {COMING.title}", COMING.about, RUNNING, dates(papers, results)],
    }
    found |= {paper.page: of_paper(paper, results) for paper in papers}
    return {
        name: "\n\n".join(reflowed(block) for part in parts for block in blocks(part)) + "\n"
        for name, parts in found.items()
    }


def of_paper(paper: Paper, results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The parts of a paper's page."""
    parts = [f"# {paper.title}", paper.about]
    shown: dict[str, str] = {}  # code by the title of the first claim that has it
    parts += [section(claim, results[claim.name], shown) for claim in paper.claims if claim.name in results]
    return [*parts, paper.after] if paper.after else parts


def blocks(text: str) -> list[str]:
    """Paragraphs, lists, tables and code blocks."""
    return re.findall(r"```.*?^```$|\S.*?(?=\n\n|\Z)", text.strip(), re.DOTALL | re.MULTILINE)


def reflowed(block: str) -> str:
    """A paragraph or list with long lines; code, tables, headings and figures stay as they are."""
    if block.startswith(("```", "|", "#", "![")):
        return block
    items = re.split(r"\n(?=- )", block)
    return "\n".join(filled(item, "  " if item.startswith("- ") else "") for item in items)


def filled(text: str, indent: str) -> str:
    """Text in lines of the page's width."""
    return textwrap.fill(
        " ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent
    )


def overview(papers: Sequence[Paper], results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of all claims."""
    rows = []
    for paper in papers:
        for claim in paper.claims:
            if claim.name in results:
                found = claim.summary(results[claim.name]["figures"])
                rows.append(
                    [
                        f"[{claim.title}]({paper.page}#{anchor(claim.title)})",
                        paper.title,
                        found.theirs,
                        found.ours,
                        found.holds,
                    ]
                )
    return markdown_table(["claim", "paper", "published", "here", "holds"], rows, 5)


def anchor(title: str) -> str:
    """The anchor that GitHub gives to a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in "_- ")
    return kept.replace(" ", "-")


def section(claim: Claim, result: Mapping[str, Any], shown: dict[str, str]) -> str:
    """One claim: what the paper says, the commands, the figures, the verdict. Code that was shown before is a link."""
    parts = [f"## {claim.title}", claim.paper.strip()]
    shell = claim.prepare.strip().splitlines()
    shell += [wrapped(command) for command in claim.commands]
    code = "\n".join(shell)
    if code in shown:
        commands = "commands are those" if len(claim.commands) > 1 else "command is that"
        parts.append(f"The {commands} of [{shown[code]}](#{anchor(shown[code])}).")
    elif shell:
        parts.append(f"```sh\n{code}\n```")
        shown[code] = claim.title
    if claim.python in shown:
        parts.append(f"The program is that of [{shown[claim.python]}](#{anchor(shown[claim.python])}).")
    elif claim.python:
        shown[claim.python] = claim.title
        parts.append(f"```python\n{claim.python.strip()}\n```")
    parts.append(claim.show(result["figures"]).strip())
    if claim.plot is not None:
        parts.append(f"![{claim.caption}]({claim.figure.name})")
    found = claim.summary(result["figures"])
    parts.append(f"**Holds: {found.holds}.** Yes if {found.rule}")
    return "\n\n".join(parts)


def wrapped(command: str) -> str:
    """A long command on several lines, none of which ends with an option that has a value."""
    lines: list[str] = []
    for unit in re.findall(r"-\S+ [^-\s]\S*|\S+", command):
        if lines and len(lines[-1]) + len(unit) + 1 <= WIDTH - 2:
            lines[-1] += f" {unit}"
        else:
            lines.append(f"  {unit}" if lines else unit)
    return " \\\n".join(lines)


def dates(papers: Sequence[Paper], results: Mapping[str, Mapping[str, Any]]) -> str:
    """When each claim was run, and how long its commands took."""
    rows = [
        [
            f"`{claim.name}`",
            results[claim.name]["date"],
            results[claim.name]["version"],
            f"{results[claim.name]['seconds']:.1f}",
        ]
        for paper in papers
        for claim in paper.claims
        if claim.name in results
    ]
    return markdown_table(["claim", "date", "version", "seconds"], rows, 3)
