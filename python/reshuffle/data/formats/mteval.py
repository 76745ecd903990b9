"""The files of NIST's mteval and of WMT: translations in documents of numbered segments, as SGML or XML.

mteval's are read as mteval-v13a.pl does (mosesdecoder, ``scripts/generic``): SGML by looking for tags, without regard
to case and with entities left to the tokenizer; XML by a parser. What that script passes over in silence, a segment
that is not closed or comes twice, is an error here. WMT's XML since 2021 holds source, references and systems in each
document; it is read as sacreBLEU 2.6 does (``sacrebleu/dataset/wmt_xml.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from ...errors import IN_FILE, InputError, quoted, shortened, warn
from ..files import uncompressed
from .base import Column, FileFormat, Names, Source, choose

__all__ = ["Segment", "SpacedText", "Translations", "read_sgm", "read_xml"]

ENDINGS = (".sgm", ".sgml", ".xml")
SETS = ("srcset", "refset", "tstset")
LEVELS: Mapping[str, int] = {**dict.fromkeys(SETS, 0), "doc": 1, "seg": 2}
WMT_LEVELS: Mapping[str, int] = {"doc": 0, "src": 1, "ref": 1, "hyp": 1, "seg": 2}
PARENTS = ("", "<refset> or <tstset>", "<doc>")

# mteval takes what Perl takes for white space; Python's \s has four separators more.
SPACE = re.compile(r"[^\S\x1c-\x1f]+")
TAG = re.compile(rf"<(/?)({'|'.join(LEVELS)})(?=[\s>])\s*([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


class SpacedText(str):
    """The text of a segment without the white space that it has at its ends in the file.

    To metrics and callers this is a plain string. Only mteval's international tokenization treats ``2014.`` differently
    if a space follows, so it alone uses ``spaced``, the text with that white space.
    """

    __slots__ = ("spaced",)
    spaced: str

    def __new__(cls, spaced: str) -> SpacedText:
        """Takes the text with runs of white space replaced by single spaces."""
        made = super().__new__(cls, spaced.strip(" "))
        made.spaced = spaced
        return made

    def __reduce__(self) -> tuple[type[SpacedText], tuple[str]]:
        return SpacedText, (self.spaced,)


class Segment(NamedTuple):
    """The text of a segment, and the line of the file on which it begins."""

    text: str
    line: int


class Translations(NamedTuple):
    """What a file holds: name → (docid, seg id) → segment, all in the file's order; and which names are references.

    ``added``: by reference, the segments that it lacks in the file and other references have; their text is empty.
    """

    segments: dict[str, dict[tuple[str, str], Segment]]
    references: tuple[str, ...]
    added: Mapping[str, list[tuple[str, str]]] = MappingProxyType({})


class Element(NamedTuple):
    tag: str
    attributes: Mapping[str, str]
    line: int


class Sets:
    """Puts together what one file of mteval holds, element by element."""

    levels = LEVELS
    parents = PARENTS

    def __init__(self, name: str, first: str) -> None:
        self.name = name
        self.first = first
        self.seen: set[str] = set()
        self.open_elements: list[Element] = []
        self.system = ""
        self.n_segments = 0
        self.systems: dict[str, dict[tuple[str, str], Segment]] = {}
        self.references: dict[str, None] = {}  # in order
        self.unclosed: list[Element] = []

    def fail(self, line: int, message: str) -> NoReturn:
        raise InputError(IN_FILE, file=self.name, line=line, problem=message)

    def open(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        """A start tag."""
        level = self.levels[tag]
        if len(self.open_elements) > level:
            inner = self.open_elements[-1]
            self.fail(line, f"expected </{inner.tag}> for the <{inner.tag}> of line {inner.line}, got <{tag}>")
        if len(self.open_elements) < level:
            self.fail(line, f"expected {self.parents[level]} around <{tag}>, got none")
        self.open_elements.append(Element(tag, attributes, line))
        self.seen.add(tag)
        if tag == "seg":
            self.required("id")
        else:
            self.opened(tag)

    def opened(self, tag: str) -> None:
        """A start tag of a set or document."""
        if tag == "doc":
            self.n_segments = 0
            self.required("docid")
            if not self.is_source():
                self.system = self.system_of_document()
                if self.open_elements[0].tag == "refset":
                    self.references[self.system] = None

    def close(self, tag: str, text: str, line: int) -> None:
        """An end tag, with the text since the start tag."""
        if not self.open_elements:
            self.fail(line, f"expected <{tag}> first, got </{tag}>")
        inner = self.open_elements[-1]
        if inner.tag != tag:
            self.fail(line, f"expected </{inner.tag}> for the <{inner.tag}> of line {inner.line}, got </{tag}>")
        if tag == "seg":
            self.n_segments += 1
            if not self.is_source():
                spaced = SPACE.sub(" ", text)
                self.add(Segment(spaced if spaced == spaced.strip(" ") else SpacedText(spaced), inner.line))
        elif tag == "doc" and not self.n_segments:
            self.fail(inner.line, f"expected <seg> in the document {quoted(self.document())}, got none")
        self.open_elements.pop()

    def close_unclosed(self, level: int) -> None:
        """Close documents and sets down to a level of nesting, because SGML allows end tags to be left out.

        sacreBLEU reads only the segments of such files; mteval-v13a.pl would join documents or leave them out.
        """
        while len(self.open_elements) > level and self.open_elements[-1].tag != "seg":
            inner = self.open_elements[-1]
            self.unclosed.append(inner)
            self.close(inner.tag, "", inner.line)

    def is_source(self) -> bool:
        return self.open_elements[0].tag == "srcset"

    def document(self) -> str:
        return self.open_elements[1].attributes["docid"]

    def required(self, attribute: str) -> str:
        element = self.open_elements[-1]
        if attribute not in element.attributes:
            self.fail(element.line, f'expected {attribute}="…" in <{element.tag}>, got none')
        return element.attributes[attribute]

    def system_of_document(self) -> str:
        # SGML has named systems in their documents, XML in the set; mteval asks for the one or the other.
        of_set, of_doc = self.open_elements
        wanted = "refid" if of_set.tag == "refset" else "sysid"
        places = (of_doc, of_set) if self.first == "doc" else (of_set, of_doc)
        for element in places:
            for attribute in (wanted, "sysid", "refid"):
                if attribute in element.attributes:
                    return element.attributes[attribute]
        where = f'{wanted}="…" in the <{of_set.tag}> of line {of_set.line}'
        return self.fail(of_doc.line, f'expected sysid="…" in <doc> or {where}')

    def add(self, segment: Segment) -> None:
        docid, key = self.document(), self.open_elements[2].attributes["id"]
        segments = self.systems.setdefault(self.system, {})
        earlier = segments.setdefault((docid, key), segment)
        if earlier is not segment:
            self.fail(
                segment.line,
                f"segment {quoted(key)} of the document {quoted(docid)} by {quoted(self.system)} is given "
                f"twice: first in line {earlier.line}",
            )

    def finish(self, line: int) -> Translations:
        """Everything, once the file has ended."""
        if self.open_elements:
            inner = self.open_elements[-1]
            self.fail(line, f"expected </{inner.tag}> for the <{inner.tag}> of line {inner.line}, got the end")
        if not self.systems:
            self.fail_empty()
        if self.unclosed:
            first, more = self.unclosed[0], len(self.unclosed) - 1
            warn(
                f"{self.name}, line {first.line}: the <{first.tag}> is not closed by </{first.tag}>"
                f"{f', nor are {more:,} other elements' if more else ''}; "
                "it is taken to end where the next one starts or its parent ends"
            )
        return Translations(self.systems, tuple(self.references))

    def fail_empty(self) -> NoReturn:
        if "srcset" in self.seen and not {"refset", "tstset"} & self.seen:
            raise InputError(
                f"{self.name} holds the source text: expected <refset> or <tstset>, got <srcset>; give the file of "
                "the references or of a system"
            )
        wanted = "<doc> with <seg> in it" if {"refset", "tstset"} & self.seen else "<refset> or <tstset>"
        got = ", ".join(f"<{tag}>" for tag in SETS if tag in self.seen) or "none"
        raise InputError(f"{self.name}: expected {wanted}, got {got}")


class Dataset(Sets):
    """Collects one XML file of WMT: documents with the source, references and systems' outputs.

    Documents of test suites are left out. If the file has references, so are segments without any reference. The
    segments of a document are those of its source, ordered by number.
    """

    levels = WMT_LEVELS
    parents = ("", "<doc>", "<src>, <ref> or <hyp>")

    def __init__(self, name: str, first: str) -> None:
        super().__init__(name, first)
        # The numbers of each document's segments, in the file's order; documents whose numbers are those of the source.
        self.numbers: dict[str, dict[str, None]] = {}
        self.has_source: set[str] = set()
        self.n_testsuites = 0

    def open(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        """A start tag."""
        super().open(tag, attributes, line)
        if tag != "seg" or self.is_testsuite():
            return
        document = self.document()
        numbers = self.numbers.setdefault(document, {})
        if self.is_source() and document not in self.has_source:
            self.has_source.add(document)
            numbers.clear()
        if self.is_source() or document not in self.has_source:
            numbers[attributes["id"]] = None

    def opened(self, tag: str) -> None:
        """A start tag of a document, or of a text of it."""
        if tag == "doc":
            self.n_segments = 1  # some documents of WMT22 are empty
            self.required("id")
            self.n_testsuites += self.is_testsuite()
        elif tag == "hyp":
            self.system = self.required("system")
        elif tag == "ref":
            # A file with one reference need not say whose it is.
            self.system = self.open_elements[1].attributes.get("translator") or "ref"
            if not self.is_testsuite():
                self.references[self.system] = None

    def is_source(self) -> bool:
        return self.open_elements[1].tag == "src"

    def is_testsuite(self) -> bool:
        return "testsuite" in self.open_elements[0].attributes

    def document(self) -> str:
        return self.open_elements[0].attributes["id"]

    def add(self, segment: Segment) -> None:
        if not self.is_testsuite():
            super().add(segment)

    def keys(self) -> Iterator[tuple[str, str]]:
        """The segments of all documents: documents in the file's order, segments by number, as in sacreBLEU."""
        for document, numbers in self.numbers.items():
            ordered = sorted(numbers, key=int) if all(map(str.isdecimal, numbers)) else numbers
            yield from ((document, number) for number in ordered)

    def finish(self, line: int) -> Translations:
        """Everything but test suites and segments without reference."""
        found = super().finish(line)
        references = {name: found.segments[name] for name in found.references if name in found.segments}

        def first(key: tuple[str, str]) -> Segment | None:
            """A segment's first reference that is not blank."""
            there = (segments[key] for segments in references.values() if key in segments)
            return next((segment for segment in there if segment.text.strip()), None)

        by_key = {key: first(key) for key in self.keys()}
        kept = {key: segment for key, segment in by_key.items() if segment is not None or not self.references}
        if not kept:
            self.fail_empty()
        strange = [key for own in found.segments.values() for key in own if key not in by_key]
        if strange:
            (document, number), more = strange[0], len(strange) - 1
            warn(
                f"{self.name}: segment {number!r} of the document {document!r} is not in the document's source "
                f"and is left out{f', as are {more:,} others' if more else ''}"
            )
        segments: dict[str, dict[tuple[str, str], Segment]] = {}
        added: dict[str, list[tuple[str, str]]] = {}
        for name, own in found.segments.items():
            missing = [key for key in kept if key not in own] if name in references else []
            if len(missing) == len(kept):  # it translates only what is left out
                continue
            # An empty segment stands for a missing one; its line is that of the other reference.
            blank = {key: Segment("", segment.line) for key in missing if (segment := kept[key]) is not None}
            of_name = {key: own.get(key) or blank[key] for key in kept if key in own or key in blank}
            if of_name:
                segments[name] = of_name
            if missing:
                added[name] = missing
        return Translations(segments, tuple(name for name in references if name in segments), added)

    def fail_empty(self) -> NoReturn:
        suites = f" outside {self.n_testsuites} test suites" if self.n_testsuites else ""
        raise InputError(f"{self.name}: expected <ref> or <hyp> with <seg> in it{suites}, got none")


def read_sgm(text: str, name: str) -> Translations:
    """What an SGML file holds.

    Raises
    ------
    InputError
        If a segment is not closed, an element has no name or comes twice, or there are no segments; with file and line.

    Warns
    -----
    InputWarning
        If documents or sets are not closed.

    Examples
    --------
    >>> read_sgm('<tstset><DOC docid="d" sysid=a><seg id="1"> x &amp;\\n y </seg></DOC></tstset>', "a.sgm").segments
    {'a': {('d', '1'): Segment(text='x &amp; y', line=1)}}
    """
    sets = Sets(name, first="doc")
    line, position, start = 1, 0, 0
    # Behind the last > no tag ends: each of many that do not would be looked for up to the end.
    for found in TAG.finditer(text, 0, text.rfind(">") + 1):
        line += text.count("\n", position, found.start())
        position = found.start()
        tag = found[2].lower()
        if not found[1]:
            sets.close_unclosed(LEVELS[tag])
        elif tag in (element.tag for element in sets.open_elements):
            sets.close_unclosed(LEVELS[tag] + 1)
        if found[1]:
            sets.close(tag, text[start:position], line)
        else:
            start = found.end()
            sets.open(tag, _attributes(found[3]), line)
    sets.close_unclosed(0)
    return sets.finish(line + text.count("\n", position, len(text) - 1))


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): double or single or bare for name, double, single, bare in ATTRIBUTE.findall(text)}


def read_xml(data: bytes, name: str) -> Translations:
    """What an XML file holds, mteval's or, if the outermost element is ``dataset``, WMT's.

    The parser decodes entities of XML; a file that declares others is refused, and nothing outside the file is read.

    Raises
    ------
    InputError
        As :func:`read_sgm`, and for what is not well-formed.

    Examples
    --------
    >>> xml = b'<mteval><refset refid="r"><doc docid="d"><seg id="1">x &amp; y</seg></doc></refset></mteval>'
    >>> read_xml(xml, "r.xml")
    Translations(segments={'r': {('d', '1'): Segment(text='x & y', line=1)}}, references=('r',), added=mappingproxy({}))
    >>> xml = b'<dataset><doc id="d"><ref translator="A"><seg id="1">x</seg></ref></doc></dataset>'
    >>> read_xml(xml, "wmt.xml").references
    ('A',)
    """
    from xml.parsers import expat

    sets = Sets(name, first="set")
    text: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def outermost(tag: str, attributes: dict[str, str]) -> None:
        nonlocal sets
        if tag.lower() == "dataset":
            sets = Dataset(name, first="set")
        parser.StartElementHandler = start
        start(tag, attributes)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.lower() in sets.levels:
            text.clear()
            lowered = {key.lower(): value for key, value in attributes.items()}
            sets.open(tag.lower(), lowered, parser.CurrentLineNumber)

    def end(tag: str) -> None:
        if tag.lower() in sets.levels:
            sets.close(tag.lower(), "".join(text), parser.CurrentLineNumber)

    def declared(entity: str, *_: object) -> None:
        sets.fail(parser.CurrentLineNumber, f"expected no declarations of entities, got one of {quoted(entity)}")

    def skipped(entity: str, *_: object) -> None:
        sets.fail(
            parser.CurrentLineNumber, f"the entity &{shortened(entity)}; is not one of XML: write the character itself"
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
    except (LookupError, ValueError) as error:  # an encoding that the parser does not know
        sets.fail(1, f"the encoding cannot be read: {error}; convert the file to UTF-8 first")
    return sets.finish(parser.CurrentLineNumber)


def _translations(source: Source) -> Translations:
    ending = Path(uncompressed(source.file)).suffix.lower()
    declared = ending not in ENDINGS and source.data.lstrip().startswith(b"<?xml")
    if ending == ".xml" or declared:
        return read_xml(source.data, source.name)
    return read_sgm(source.text(), source.name)


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    found = _translations(source)

    def column(name: str | None) -> Column:
        known = list(found.segments)
        if name is None:  # of references and systems in one file it is the systems that are asked for one by one
            known = [system for system in known if system not in found.references] or known
        kind = "reference" if set(known) <= set(found.references) else "system"
        choice = choose(source, kind, name, known)
        chosen = found.segments[choice]
        if choice in found.added:
            (document, number), n = found.added[choice][0], len(found.added[choice])
            warn(
                f"{source.label(choice)} lacks {n:,} of {len(chosen):,} segments that other references have (first: "
                f"segment {number!r} of the document {document!r}): they are treated as empty, as in sacreBLEU"
            )
        return Column(
            source.label(name), [s.text for s in chosen.values()], [s.line for s in chosen.values()], list(chosen)
        )

    return [column(name) for name in names]


def references_of(source: Source) -> Names:
    """The references in a file by their names; none is named if that is all there is."""
    found = _translations(source)
    return found.references if found.references and len(found.segments) > 1 else [None]


FORMAT = FileFormat("mteval or WMT documents of segments", ENDINGS, read, references=references_of)
