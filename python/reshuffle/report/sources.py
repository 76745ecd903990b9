"""The papers that reports cite, by the ids that registries and results name them with.

To add one, write its entry into ``papers.bib``. A test checks that every source of a test, adjustment, interval or
metric is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import InputError, quoted


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: how texts cite it, its BibTeX key, and its BibTeX entry."""

    cited: str
    key: str
    bibtex: str


@cache
def papers() -> Mapping[str, Paper]:
    """The papers by id."""
    found = {}
    for block in (Path(__file__).parent / "papers.bib").read_text("utf-8").split("\n\n"):
        above, _, entry = block.rstrip("\n").partition("\n@")
        if entry:
            name, _, citation = above.rpartition(": ")
            key = entry[entry.index("{") + 1 : entry.index(",")]
            found[name] = Paper(citation, key, f"@{entry}\n")
    return found


def every_entry() -> str:
    """All entries, for files beside papers: an article that reads several papers needs the entries of one of them."""
    return "\n".join(paper.bibtex for paper in papers().values())


def entries_of(source: str) -> list[str]:
    """The ids of the papers in a source of a registry, which may name several, and places in them.

    >>> entries_of("W05-0908, Fig. 1"), entries_of("Westfall & Young 1993; doi:10.1007/BF02595811")
    (['W05-0908'], ['Westfall & Young 1993', 'doi:10.1007/BF02595811'])
    """
    found = []
    for part in source.split("; "):
        ids = [key for key in papers() if part == key or part.startswith(f"{key}, ")]
        if not ids:
            raise InputError(f"the source {quoted(part)} is not one that this version of reshuffle can cite")
        found += ids
    return found


def cited(source: str) -> str:
    """The papers in a source, as in the text of a paper, with their ids.

    >>> cited("W05-0908, Fig. 1")
    'Riezler and Maxwell, 2005, W05-0908'
    """
    # Names instead of ids have spaces, and say no more than the citation.
    ids = {name: "" if " " in name else f", {name}" for name in entries_of(source)}
    return "; ".join(f"{papers()[name].cited}{shown}" for name, shown in ids.items())


def keys_of(source: str) -> list[str]:
    """The BibTeX keys of the papers in a source."""
    return [papers()[name].key for name in entries_of(source)]
