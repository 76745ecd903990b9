"""Documents of segments from SGML and XML files, as the scripts read them.

The scripts look for tags by pattern, and do not parse SGML. So a tag may be anything that begins with its name, and the
value of an attribute without quotes reaches up to the next quote, in version 13a.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reshuffle import InputError

from ..commands import PERL_SPACE, read_bytes, read_utf8

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SPACES = re.compile(f"{PERL_SPACE}+")
# Documents: the text of each segment by its id, by the name of the document.
Documents = dict[str, dict[str, str]]


@dataclass(frozen=True)
class TestSet:
    """Source, references and translations.

    ``references`` and ``systems`` have the documents of each by name, and ``source`` those of the source. Names of
    documents and of systems are in the order of the file.
    """

    __test__ = False  # not a class of tests

    set_id: str
    source_language: str
    target_language: str
    source: Documents
    references: Mapping[str, Documents]
    systems: Mapping[str, Documents]


@dataclass
class _Reader:
    """Reads files one after the other, and checks that languages agree."""

    version: str
    source_language: str | None = None
    target_language: str | None = None
    ids: list[str | None] = field(default_factory=list)

    def source(self, file: str) -> Documents:
        if _is_xml(file):
            return self._source_xml(file)
        found = next(_spans("SrcSet", read_utf8(file)), None)
        if found is None:
            raise InputError(f"{file}: there is no tag <srcset>: is it the source?")
        tag, span = found
        self.ids.append(self._attribute("SetID", tag, file))
        self.source_language = self._attribute("SrcLang", tag, file)
        documents: Documents = {}
        for doc_tag, text in _spans("Doc", span):
            name = self._attribute("DocID", doc_tag, file)
            if name in documents:
                raise InputError(f"{file}: the document {name!r} occurs twice")
            documents[name] = self._segments(text, name, file, False)
        if not documents:
            raise InputError(f"{file}: there are no documents (<doc>)")
        return documents

    def translations(self, kind: str, file: str) -> dict[str, Documents]:
        if _is_xml(file):
            return self._translations_xml(file)
        systems: dict[str, Documents] = {}
        set_id = None
        for tag, span in _spans(kind, read_utf8(file)):
            set_id = self._attribute("SetID", tag, file)
            self._check_languages(
                self._attribute("SrcLang", tag, file), self._attribute("TrgLang", tag, file), file, True
            )
            for doc_tag, text in _spans("Doc", span):
                system = self._attribute("SysID", doc_tag, file)
                name = self._attribute("DocID", doc_tag, file)
                if name in ("", "0"):
                    raise InputError(f"{file}: a document needs a name other than {name!r} (docid)")
                if name in systems.setdefault(system, {}):
                    raise InputError(f"{file}: the document {name!r} of {system!r} occurs twice")
                systems[system][name] = self._segments(text, name, file, True)
        self.ids.append(set_id)
        return systems

    def _segments(self, text: str, document: str, file: str, strict: bool) -> dict[str, str]:
        segments = {}
        for tag, span in _spans("Seg", SPACES.sub(" ", text)):
            number = self._attribute("id", tag, file)
            if strict and number in ("", "0"):
                raise InputError(f"{file}: a segment of the document {document!r} needs an id other than {number!r}")
            segments[number] = span
        if not segments:
            raise InputError(f"{file}: there are no segments (<seg>) in the document {document!r}")
        return segments

    def _attribute(self, name: str, tag: str, file: str) -> str:
        quote = '"?' if self.version == "13a" else '"'
        found = re.search(f'{name}{PERL_SPACE}*={PERL_SPACE}*{quote}([^"]*){quote}', tag, re.IGNORECASE)
        if found is None:
            raise InputError(f"{file}: expected the attribute {name.lower()} in a tag, got {tag.strip()!r}")
        return found[1]

    def _check_languages(self, source: str, target: str, file: str, same_target: bool) -> None:
        if source != self.source_language:
            raise InputError(f"{file}: the source language is {source!r}, but that of -s is {self.source_language!r}")
        if same_target and self.target_language not in (None, target):
            raise InputError(
                f"{file}: the target language is {target!r}, but {self.target_language!r} in the files before"
            )
        self.target_language = target

    def _source_xml(self, file: str) -> Documents:
        root = _parsed(file)
        found = root.find("srcset")
        if found is None:
            raise InputError(f"{file}: there is no element srcset: is it the source?")
        self.ids.append(_required(found, "setid", file))
        self.source_language = _required(found, "srclang", file)
        return self._documents_xml(found, file)

    def _translations_xml(self, file: str) -> dict[str, Documents]:
        root = _parsed(file)
        systems: dict[str, Documents] = {}
        set_id = None
        for kind, key in (("refset", "refid"), ("tstset", "sysid")):
            for found in root.findall(kind):
                set_id = _required(found, "setid", file)
                source, target = _required(found, "srclang", file), _required(found, "trglang", file)
                # Version 13a and 14 overwrite the target language instead of comparing it.
                self._check_languages(source, self.target_language or target, file, False)
                documents = systems.setdefault(_required(found, key, file), {})
                for name, segments in self._documents_xml(found, file).items():
                    documents.setdefault(name, {}).update(segments)
        self.ids.append(set_id)
        return systems

    def _documents_xml(self, root: Element, file: str) -> Documents:
        documents: Documents = {}
        for found in root.iter("doc"):
            segments = documents.setdefault(_required(found, "docid", file), {})
            for segment in found.iter("seg"):
                number = segment.get("id")
                if number is None or (self.version == "13a" and number in ("", "0")):
                    raise InputError(f"{file}: a segment needs an id, got {number!r}")
                text = "".join(segment.itertext())
                segments[number] = text if text.strip() else ""
        return documents


def read_set(source: str, references: str, translations: str, version: str) -> TestSet:
    """Read and check the three files.

    Raises
    ------
    InputError
        If a file cannot be read, a tag or an attribute is missing, or sets, languages, documents or numbers of segments
        do not agree.
    """
    reader = _Reader(version)
    documents = reader.source(source)
    of_references = reader.translations("RefSet", references)
    of_systems = reader.translations("TstSet", translations)
    for file, set_id, kind in zip((references, translations), reader.ids[1:], ("refset", "tstset"), strict=True):
        if set_id is None:
            raise InputError(f"{file}: there is no <{kind}>")
        if set_id != reader.ids[0]:
            raise InputError(f"{file}: the set is {set_id!r}, but {reader.ids[0]!r} in {source}")
    for name in sorted(documents):
        for kind, file, given in (("system", translations, of_systems), ("reference", references, of_references)):
            for system in sorted(given):
                if name not in given[system]:
                    raise InputError(f"{file}: the {kind} {system!r} lacks the document {name!r}")
                n, expected = len(given[system][name]), len(documents[name])
                if n != expected:
                    raise InputError(
                        f"{file}: the document {name!r} of {system!r} has {n:,} segments, but {expected:,} in {source}"
                    )
    languages = str(reader.source_language), str(reader.target_language)
    return TestSet(str(reader.ids[0]), *languages, documents, of_references, of_systems)


def _is_xml(file: str) -> bool:
    return file.lower().endswith(".xml")


def _spans(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The attributes and the content of each element."""
    start = re.compile(f"<{name}{PERL_SPACE}*([^>]*)>", re.IGNORECASE)
    end = re.compile(f"</{name}{PERL_SPACE}*>", re.IGNORECASE)
    position = 0
    while True:
        opened = start.search(text, position)
        closed = end.search(text, opened.end()) if opened else None
        if opened is None or closed is None:
            return
        yield opened[1], text[opened.end() : closed.start()]
        position = closed.end()


# Deeper files are no sets of documents.
DEPTH = 100


def _parsed(file: str) -> Element:
    """The outermost element. A file that declares entities is rejected: it could exhaust memory."""
    from xml.etree.ElementTree import TreeBuilder
    from xml.parsers import expat

    builder = TreeBuilder()
    open_elements: list[Element] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        open_elements.append(builder.start(tag, attributes))
        if len(open_elements) >= DEPTH:
            raise InputError(f"{file}, line {parser.CurrentLineNumber}: more than {DEPTH} nested elements")

    def end(tag: str) -> None:
        open_elements.pop()
        builder.end(tag)

    def declared(entity: str, *_: object) -> None:
        raise InputError(f"{file}, line {parser.CurrentLineNumber}: entity declarations are not supported")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = declared
    data = read_bytes(file)
    try:
        parser.Parse(data, True)
    except InputError:  # of a handler
        raise
    except expat.ExpatError as error:
        raise InputError(f"{file}, line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:  # of the encoding that the file declares
        raise InputError(f"{file}: the text cannot be decoded: {error}") from None
    return builder.close()


def _required(element: Element, name: str, file: str) -> str:
    value = element.get(name, "")
    if value in ("", "0"):
        raise InputError(f"{file}: the element {element.tag} needs the attribute {name}")
    return value
