"""What a file of mteval or WMT contains, built from the start and end tags that a parser reports.

Such a file holds documents of numbered segments. mteval's files group documents in sets, one for the source, the
references or the systems each. WMT's XML files since 2021 have the source, references and systems in every document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from ...errors import InputError, quoted, warn
from ..files import at_line
from .base import StrippedText

SETS = ("srcset", "refset", "tstset")
# Nesting depth of each element.
MTEVAL_LEVELS: Mapping[str, int] = {**dict.fromkeys(SETS, 0), "doc": 1, "seg": 2}
WMT_LEVELS: Mapping[str, int] = {"doc": 0, "src": 1, "ref": 1, "hyp": 1, "seg": 2}

# White space in Perl, and so in mteval: Python's \s also includes four separator characters.
SPACE = re.compile(r"[^\S\x1c-\x1f]+")


class Segment(NamedTuple):
    """The text of a segment, and the line of the file on which the segment begins."""

    text: str
    line: int


class Translations(NamedTuple):
    """The segments in a file, by name of the system or reference and then by (document id, segment id), in file order.

    ``references`` are the names of references; all other names are systems. ``added`` lists, for each incomplete
    reference, the segments that only other references have. They are in ``segments`` with an empty text.
    """

    segments: dict[str, dict[tuple[str, str], Segment]]
    references: tuple[str, ...]
    added: Mapping[str, list[tuple[str, str]]] = MappingProxyType({})


class Element(NamedTuple):
    """An element whose end tag has not been read yet."""

    tag: str
    attributes: Mapping[str, str]
    line: int


class MtevalBuilder:
    """Builds :class:`Translations` from the tags of one mteval file.

    ``name`` is the file's name in messages. ``names_in`` is the element whose attributes are searched first for the
    name of a system or reference: ``doc``, as in SGML, or ``set``, as in XML.
    """

    levels = MTEVAL_LEVELS
    parents = ("", "<refset> or <tstset>", "<doc>")  # required around an element, by its level

    def __init__(self, name: str, names_in: str) -> None:
        self.name = name
        self.names_in = names_in
        self.seen: set[str] = set()
        self.open_elements: list[Element] = []
        self.system = ""
        self.n_segments = 0
        self.systems: dict[str, dict[tuple[str, str], Segment]] = {}
        self.references: dict[str, None] = {}  # an ordered set
        self.unclosed: list[Element] = []

    def fail(self, line: int, message: str) -> NoReturn:
        """Raise :class:`InputError` for a line of the file."""
        raise at_line(self.name, line, message)

    def fail_unclosed(self, line: int, got: str) -> NoReturn:
        """Raise :class:`InputError` for something else than the end of the innermost open element."""
        inner = self.open_elements[-1]
        self.fail(line, f"expected </{inner.tag}> for the <{inner.tag}> of line {inner.line}, got {got}")

    def open(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        """Handle a start tag."""
        level = self.levels[tag]
        if len(self.open_elements) > level:
            self.fail_unclosed(line, f"<{tag}>")
        if len(self.open_elements) < level:
            self.fail(line, f"expected {self.parents[level]} around <{tag}>, got none")
        self.open_elements.append(Element(tag, attributes, line))
        self.seen.add(tag)
        if tag == "seg":
            self.required("id")
        else:
            self.open_container(tag)

    def open_container(self, tag: str) -> None:
        """Handle the start tag of a set or document."""
        if tag == "doc":
            self.n_segments = 0
            self.required("docid")
            if not self.is_source():
                self.system = self.system_of_document()
                if self.open_elements[0].tag == "refset":
                    self.references[self.system] = None

    def close(self, tag: str, text: str, line: int) -> None:
        """Handle an end tag. ``text`` is the text since the start tag."""
        if not self.open_elements:
            self.fail(line, f"expected <{tag}> first, got </{tag}>")
        inner = self.open_elements[-1]
        if inner.tag != tag:
            self.fail_unclosed(line, f"</{tag}>")
        if tag == "seg":
            self.n_segments += 1
            if not self.is_source():
                normalized = SPACE.sub(" ", text)
                is_stripped = normalized == normalized.strip(" ")
                self.add(Segment(normalized if is_stripped else StrippedText(normalized), inner.line))
        elif tag == "doc" and not self.n_segments:
            self.fail(inner.line, f"expected <seg> in the document {quoted(self.document())}, got none")
        self.open_elements.pop()

    def close_unclosed(self, level: int) -> None:
        """Close all open documents and sets at ``level`` or deeper, because SGML end tags are optional.

        sacreBLEU reads such files, since it looks at segments only. mteval-v13a.pl would merge documents or drop them.
        """
        while len(self.open_elements) > level and self.open_elements[-1].tag != "seg":
            inner = self.open_elements[-1]
            self.unclosed.append(inner)
            self.close(inner.tag, "", inner.line)

    def is_source(self) -> bool:
        """Whether the open element belongs to the source text."""
        return self.open_elements[0].tag == "srcset"

    def document(self) -> str:
        """The id of the open document."""
        return self.open_elements[1].attributes["docid"]

    def required(self, attribute: str) -> str:
        """An attribute of the innermost open element, or :class:`InputError` if it has none of that name."""
        element = self.open_elements[-1]
        if attribute not in element.attributes:
            self.fail(element.line, f'expected {attribute}="…" in <{element.tag}>, got none')
        return element.attributes[attribute]

    def system_of_document(self) -> str:
        """The name of the open document's system or reference, from an attribute of the document or of the set."""
        open_set, open_doc = self.open_elements
        wanted = "refid" if open_set.tag == "refset" else "sysid"
        places = (open_doc, open_set) if self.names_in == "doc" else (open_set, open_doc)
        for element in places:
            for attribute in (wanted, "sysid", "refid"):
                if attribute in element.attributes:
                    return element.attributes[attribute]
        where = f'{wanted}="…" in the <{open_set.tag}> of line {open_set.line}'
        return self.fail(open_doc.line, f'expected sysid="…" in <doc> or {where}')

    def add(self, segment: Segment) -> None:
        """Add the open segment to its system."""
        docid, key = self.document(), self.open_elements[2].attributes["id"]
        segments = self.systems.setdefault(self.system, {})
        earlier = segments.setdefault((docid, key), segment)
        if earlier is not segment:
            self.fail(
                segment.line,
                f"segment {quoted(key)} of the document {quoted(docid)} by {quoted(self.system)} occurs "
                f"twice: first in line {earlier.line}",
            )

    def finish(self, line: int) -> Translations:
        """The result at the end of the file, which is on ``line``."""
        if self.open_elements:
            self.fail_unclosed(line, "the end of the file")
        if not self.systems:
            self.fail_empty()
        if self.unclosed:
            first, more = self.unclosed[0], len(self.unclosed) - 1
            warn(
                f"{self.name}, line {first.line}: the <{first.tag}> is not closed by </{first.tag}>"
                f"{f', nor are {more:,} other elements' if more else ''}; "
                "it is closed where the next one starts or its parent ends"
            )
        return Translations(self.systems, tuple(self.references))

    def fail_empty(self) -> NoReturn:
        """Raise :class:`InputError` for a file without segments of a system or reference."""
        if "srcset" in self.seen and not {"refset", "tstset"} & self.seen:
            raise InputError(
                f"{self.name} contains the source text: expected <refset> or <tstset>, got <srcset>; name the file of "
                "the references or of a system instead"
            )
        wanted = "<doc> with <seg> in it" if {"refset", "tstset"} & self.seen else "<refset> or <tstset>"
        got = ", ".join(f"<{tag}>" for tag in SETS if tag in self.seen) or "none"
        raise InputError(f"{self.name}: expected {wanted}, got {got}")


class WmtBuilder(MtevalBuilder):
    """Builds :class:`Translations` from the tags of one XML file of WMT.

    As in sacreBLEU, the segments of a document are those of its source, ordered by number. Documents of test suites are
    left out, and so are segments without any reference if the file has references.
    """

    levels = WMT_LEVELS
    parents = ("", "<doc>", "<src>, <ref> or <hyp>")

    def __init__(self, name: str) -> None:
        super().__init__(name, names_in="set")
        # Ordered sets of the segment numbers of each document, taken from its source if it has one.
        self.numbers: dict[str, dict[str, None]] = {}
        self.has_source: set[str] = set()
        self.n_testsuites = 0

    def open(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        """Handle a start tag."""
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

    def open_container(self, tag: str) -> None:
        """Handle the start tag of a document, or of its source, a reference or a system's output."""
        if tag == "doc":
            self.n_segments = 1  # some documents of WMT22 have no segments
            self.required("id")
            self.n_testsuites += self.is_testsuite()
        elif tag == "hyp":
            self.system = self.required("system")
        elif tag == "ref":
            # The only reference of a file need not have a name.
            self.system = self.open_elements[1].attributes.get("translator") or "ref"
            if not self.is_testsuite():
                self.references[self.system] = None

    def is_source(self) -> bool:
        """See :meth:`MtevalBuilder.is_source`."""
        return self.open_elements[1].tag == "src"

    def is_testsuite(self) -> bool:
        """Whether the open document belongs to a test suite."""
        return "testsuite" in self.open_elements[0].attributes

    def document(self) -> str:
        """See :meth:`MtevalBuilder.document`."""
        return self.open_elements[0].attributes["id"]

    def add(self, segment: Segment) -> None:
        """Add the open segment to its system, unless it belongs to a test suite."""
        if not self.is_testsuite():
            super().add(segment)

    def keys(self) -> Iterator[tuple[str, str]]:
        """(document id, segment id) of all segments: documents in file order, segments by number, as in sacreBLEU."""
        for document, numbers in self.numbers.items():
            ordered = sorted(numbers, key=int) if all(map(str.isdecimal, numbers)) else numbers
            yield from ((document, number) for number in ordered)

    def finish(self, line: int) -> Translations:
        """The result, without test suites and segments that have no reference."""
        found = super().finish(line)
        references = {name: found.segments[name] for name in found.references if name in found.segments}

        def first_reference(key: tuple[str, str]) -> Segment | None:
            """The first reference of a segment that is not blank."""
            candidates = (segments[key] for segments in references.values() if key in segments)
            return next((segment for segment in candidates if segment.text.strip()), None)

        by_key = {key: first_reference(key) for key in self.keys()}
        kept = {key: segment for key, segment in by_key.items() if segment is not None or not self.references}
        if not kept:
            self.fail_empty()
        unknown = [key for own in found.segments.values() for key in own if key not in by_key]
        if unknown:
            (document, number), more = unknown[0], len(unknown) - 1
            warn(
                f"{self.name}: segment {number!r} of the document {document!r} is not in the document's source "
                f"and is left out{f', as are {more:,} others' if more else ''}"
            )
        segments: dict[str, dict[tuple[str, str], Segment]] = {}
        added: dict[str, list[tuple[str, str]]] = {}
        for name, own in found.segments.items():
            missing = [key for key in kept if key not in own] if name in references else []
            if len(missing) == len(kept):  # this reference has none of the segments
                continue
            # A missing segment becomes an empty one, on the line of another reference.
            blank = {key: Segment("", segment.line) for key in missing if (segment := kept[key]) is not None}
            complete = {key: own.get(key) or blank[key] for key in kept if key in own or key in blank}
            if complete:
                segments[name] = complete
            if missing:
                added[name] = missing
        return Translations(segments, tuple(name for name in references if name in segments), added)

    def fail_empty(self) -> NoReturn:
        """See :meth:`MtevalBuilder.fail_empty`."""
        suites = f" outside {self.n_testsuites} test suites" if self.n_testsuites else ""
        raise InputError(f"{self.name}: expected <ref> or <hyp> with <seg> in it{suites}, got none")
