"""Files of NIST's mteval (SGML or XML) and of WMT (XML): documents of numbered segments.

mteval's files are read as mteval-v13a.pl reads them, WMT's as sacreBLEU 2.6 does (``sacrebleu/dataset/wmt_xml.py``).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ...errors import warn
from ..files import uncompressed
from ._sgml import read_sgml
from ._translations import Translations
from ._xml import read_xml
from .base import Column, FileFormat, Names, Source, choose

ENDINGS = (".sgm", ".sgml", ".xml")


@lru_cache(maxsize=1)  # a file is asked for its systems, its references, and then its texts
def _parsed(source: Source) -> Translations:
    """The content of a file, which is XML if its extension or its first line says so, else SGML."""
    ending = Path(uncompressed(source.file)).suffix.lower()
    declared = ending not in ENDINGS and source.data.lstrip().startswith(b"<?xml")
    if ending == ".xml" or declared:
        return read_xml(source.data, source.name)
    return read_sgml(source.text(), source.name)


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    translations = _parsed(source)

    def column(name: str | None) -> Column:
        known = list(translations.segments)
        if name is None:  # it stands for a system if there is one; references_of lists references by name
            known = systems_of(source) or known
        kind = "reference" if set(known) <= set(translations.references) else "system"
        choice = choose(source, kind, name, known)
        chosen = translations.segments[choice]
        if choice in translations.added:
            (document, number), n = translations.added[choice][0], len(translations.added[choice])
            warn(
                f"{source.label(choice)} lacks {n:,} of {len(chosen):,} segments that other references have (first: "
                f"segment {number!r} of the document {document!r}): they are treated as empty, as in sacreBLEU"
            )
        return Column(
            source.label(name), [s.text for s in chosen.values()], [s.line for s in chosen.values()], list(chosen)
        )

    return [column(name) for name in names]


def references_of(source: Source) -> Names:
    """Names of all references in a file; None for a reference that is the only text in it."""
    translations = _parsed(source)
    return translations.references if translations.references and len(translations.segments) > 1 else [None]


def systems_of(source: Source) -> list[str]:
    """Names of all systems in a file."""
    translations = _parsed(source)
    return [name for name in translations.segments if name not in translations.references]


FORMAT = FileFormat("mteval or WMT documents of segments", ENDINGS, read, references=references_of, systems=systems_of)
