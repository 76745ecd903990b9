"""The pages of docs/papers: a list of papers, one or several pages for each, and one about the data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from .claims import Claim, Paper, Verdict, markdown_table
from .others import COMING

__all__ = ["pages"]

WIDTH = 140

INTRODUCTION = """
# The papers, run again

Each claim of the papers on which this package is based, checked on public data: the commands, our numbers beside the
published ones, what differs, and why. [State of the field](../field.md#what-the-papers-recommend) names the
recommendations that did not hold.

Except for Chen & Cherry 2014, the papers' own data are not public, so [other data](data.md) are used here: a claim
holds if the effect is there, even if the numbers differ. Each section ends with the rule that decides this; the
thresholds in it are ours. One script makes these pages from the results of the commands
([how](data.md#how-these-pages-are-made)). Simulations have a fixed seed, so the same version of reshuffle reproduces
them exactly.
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
        "index.md": [INTRODUCTION, counts(papers, results)],
        "data.md": [DATA, f"## {COMING.title}", COMING.about, RUNNING, dates(papers, results)],
    }
    for paper in papers:
        found |= of_paper(paper, results)
    return {
        name: "\n\n".join(reflowed(block) for part in parts for block in blocks(part)) + "\n"
        for name, parts in found.items()
    }


def of_paper(paper: Paper, results: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The parts of a paper's pages: a table of its claims first, then those that have no page of their own."""
    claims = [claim for claim in paper.claims if claim.name in results]
    found = {paper.page: [f"# {paper.title}", paper.about, overview(paper, claims, results)]}
    for part in paper.apart:
        begin = f"Claims of [{paper.title}]({paper.page}), where a table has all of them."
        found[paper.page_called(part)] = [f"# {paper.title}: {part}", begin]
    shown: dict[str, str] = {}  # code by the title of the first claim that has it
    for claim in claims:
        found[paper.page_of(claim)].append(section(claim, results[claim.name], shown))
    found[paper.page] += [paper.after] if paper.after else []
    return {page: [linked(text, page, claims, paper) for text in parts] for page, parts in found.items()}


def linked(text: str, page: str, claims: Sequence[Claim], paper: Paper) -> str:
    """Text on a page, whose links to claims lead to the pages that have them."""
    homes = {anchor(claim.title): paper.page_of(claim) for claim in claims}

    def link(found: re.Match[str]) -> str:
        home = homes.get(found[1], page)
        return found[0] if home == page else f"]({home}#{found[1]})"

    return re.sub(r"\]\(#([\w-]+)\)", link, text)


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


def overview(paper: Paper, claims: Sequence[Claim], results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of a paper's claims."""
    summaries = [(claim, claim.summary(results[claim.name]["figures"])) for claim in claims]
    rows = [
        [f"[{claim.title}](#{anchor(claim.title)})", found.theirs, found.ours, found.holds]
        for claim, found in summaries
    ]
    return markdown_table(["claim", "published", "here", "holds"], rows, 4)


def counts(papers: Sequence[Paper], results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of papers: how many of their claims hold."""
    rows = []
    for paper in papers:
        verdicts = [
            claim.summary(results[claim.name]["figures"]).holds for claim in paper.claims if claim.name in results
        ]
        rows.append([f"[{paper.title}]({paper.page})", *(str(verdicts.count(each)) for each in get_args(Verdict))])
    return markdown_table(["paper", "claims that hold", "in part", "do not"], rows)


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
