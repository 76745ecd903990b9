"""Parser of XML files of mteval and WMT.

Only the entities that XML defines are decoded. A file that declares entities is rejected, and no other file is read, so
that a malicious file can neither exhaust memory nor read local files.
"""

from __future__ import annotations

from ...errors import InputError, quoted, shortened
from ._translations import MtevalBuilder, Translations, WmtBuilder


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
