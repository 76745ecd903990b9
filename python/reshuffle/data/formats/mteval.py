"""Files of NIST's mteval (SGML or XML) and of WMT (XML): documents of numbered segments.

mteval's files are read as mteval-v13a.pl reads them, WMT's as sacreBLEU 2.6 does (``sacrebleu/dataset/wmt_xml.py``).

mteval's SGML is not valid XML. As in mteval-v13a.pl (mosesdecoder, ``scripts/generic``), tags are found by pattern, in
upper or lower case, and entities are left to the tokenizer. That script silently accepts a segment that is not closed
or occurs twice; here that is an error.

Of XML, only the entities that XML defines are decoded. A file that declares entities is rejected, and no other file is
read, so that a malicious file can neither exhaust memory nor read local files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from ...errors import InputError, quoted, shortened, warn
from ..files import uncompressed
from ._translations import MTEVAL_LEVELS, MtevalBuilder, Translations, WmtBuilder
from .base import Column, Format, Names, Source, choose

ENDINGS = (".sgm", ".sgml", ".xml")
TAG = re.compile(rf"<(/?)({'|'.join(MTEVAL_LEVELS)})(?=[\s>])\s*([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def read_sgml(text: str, name: str) -> Translations:
    """Parse an SGML file.

    Raises
    ------
    InputError
        If a segment is not closed, an element has no name, a segment occurs twice, or there are no segments. The
        message has file and line.

    Warns
    -----
    InputWarning
        If documents or sets are not closed.

    Examples
    --------
    >>> read_sgml('<tstset><DOC docid="d" sysid=a><seg id="1"> x &amp;\\n y </seg></DOC></tstset>', "a.sgm").segments
    {'a': {('d', '1'): Segment(text='x &amp; y', line=1)}}
    """
    builder = MtevalBuilder(name, names_in="doc")
    line, position, start = 1, 0, 0
    # No tag ends after the last >. Without this limit, matching many unfinished tags would take quadratic time.
    for found in TAG.finditer(text, 0, text.rfind(">") + 1):
        line += text.count("\n", position, found.start())
        position = found.start()
        tag = found[2].lower()
        if not found[1]:
            builder.close_unclosed(MTEVAL_LEVELS[tag])
        elif tag in (element.tag for element in builder.open_elements):
            builder.close_unclosed(MTEVAL_LEVELS[tag] + 1)
        if found[1]:
            builder.close(tag, text[start:position], line)
        else:
            start = found.end()
            attributes = {name.lower(): "".join(values) for name, *values in ATTRIBUTE.findall(found[3])}
            builder.open(tag, attributes, line)
    builder.close_unclosed(0)
    return builder.finish(line + text.count("\n", position, len(text) - 1))


def read_xml(data: bytes, name: str) -> Translations:
    """Parse an XML file of mteval or, if the outermost element is ``dataset``, of WMT.

    :class:`InputError` if a segment is not closed, an element has no name, a segment occurs twice, there are no
    segments, the XML is not well-formed, or the file declares entities.

    >>> xml = b'<mteval><refset refid="r"><doc docid="d"><seg id="1">x &amp; y</seg></doc></refset></mteval>'
    >>> read_xml(xml, "r.xml")
    Translations(segments={'r': {('d', '1'): Segment(text='x & y', line=1)}}, references=('r',), added=mappingproxy({}))
    >>> xml = b'<dataset><doc id="d"><ref translator="A"><seg id="1">x</seg></ref></doc></dataset>'
    >>> read_xml(xml, "wmt.xml").references
    ('A',)
    """
    from xml.parsers import expat

    builder = MtevalBuilder(name, names_in="set")
    text: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def outermost(tag: str, attributes: dict[str, str]) -> None:
        nonlocal builder
        if tag.lower() == "dataset":
            builder = WmtBuilder(name)
        parser.StartElementHandler = start
        start(tag, attributes)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.lower() in builder.levels:
            text.clear()
            lowered = {key.lower(): value for key, value in attributes.items()}
            builder.open(tag.lower(), lowered, parser.CurrentLineNumber)

    def end(tag: str) -> None:
        if tag.lower() in builder.levels:
            builder.close(tag.lower(), "".join(text), parser.CurrentLineNumber)

    def declared(entity: str, *_: object) -> None:
        builder.fail(parser.CurrentLineNumber, f"entity declarations are not supported, got one of {quoted(entity)}")

    def skipped(entity: str, *_: object) -> None:
        builder.fail(
            parser.CurrentLineNumber,
            f"the entity &{shortened(entity)}; is not defined in XML: write the character itself",
        )

    parser.StartElementHandler = outermost
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text.append
    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = skipped
    try:
        parser.Parse(data, True)
    except InputError:
        raise
    except expat.ExpatError as error:
        raise InputError(
            f"{name}, line {error.lineno}: expected well-formed XML, got: {expat.ErrorString(error.code)}"
        ) from None
    except (LookupError, ValueError) as error:  # an unknown encoding
        builder.fail(1, f"the encoding is not supported: {error}; convert the file to UTF-8 first")
    return builder.finish(parser.CurrentLineNumber)


@lru_cache(maxsize=1)  # a file is asked for its systems, its references, and then its texts
def _parsed(source: Source) -> Translations:
    """The content of a file, which is XML if its extension or its first line says so, else SGML."""
    ending = Path(uncompressed(source.file)).suffix.lower()
    declared = ending not in ENDINGS and source.data.lstrip().startswith(b"<?xml")
    if ending == ".xml" or declared:
        return read_xml(source.data, source.name)
    return read_sgml(source.text(), source.name)


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`."""
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


FORMAT = Format("mteval or WMT documents of segments", ENDINGS, read, references=references_of, systems=systems_of)
