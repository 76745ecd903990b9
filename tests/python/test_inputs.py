"""File formats: valid files are read completely in every format; errors of malformed files name the line."""

from __future__ import annotations

import bz2
import contextlib
import copy
import gzip
import io
import json
import lzma
import pickle
import re
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

import reshuffle
from reshuffle import InputError, InputWarning, SegmentScores, metric, read_corpus, read_lines, score
from reshuffle.data.corpus import system_names
from reshuffle.data.files import parse_size
from reshuffle.data.formats import INPUT_FORMATS, format_of
from reshuffle.data.formats.base import Column
from reshuffle.data.reading import read_columns, read_conllu, read_documents, split_name
from reshuffle.data.scores import read_numbers

ANY = st.text(st.characters(exclude_categories=["Cs"]))
FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"))
# Characters that XML allows; runs of white space are collapsed on reading, so another test covers them.
WORD = st.text(st.characters(min_codepoint=0x21, exclude_categories=["Cs", "Cc", "Z", "Cn"]), min_size=1)
WORDS = st.lists(WORD, max_size=5).map(" ".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def put(name: str, content: str | bytes) -> str:
    """Write a file of the current directory."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def segments(path: str, input_format: str | None = None) -> list[Any]:
    return list(read_columns([path], input_format)[0].lines)


def token(number: int, form: str, head: int = 0) -> str:
    """A line of CoNLL-U."""
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\troot\t_\t_"


def sgm(segments: dict[tuple[str, str], str], kind: str = "tst", **attributes: str) -> str:
    """An SGML file in WMT's layout: names of systems are in the documents."""
    of_documents = "".join(f' {k}="{v}"' for k, v in attributes.items())
    parts = [f'<{kind}set setid="test" srclang="en" trglang="de">']
    for document in dict.fromkeys(d for d, _ in segments):
        parts.append(f'<doc docid="{document}" genre="news"{of_documents}>\n<hl>')
        parts += [f'<seg id="{number}">{text}</seg>' for (d, number), text in segments.items() if d == document]
        parts.append("</hl>\n</doc>")
    return "\n".join([*parts, f"</{kind}set>", ""])


def xml(systems: dict[str, dict[tuple[str, str], str]], kind: str = "tst") -> str:
    """An XML file that declares NIST's DTD, at an address that nothing serves."""
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE mteval SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<mteval>",
    ]
    for system, of_system in systems.items():
        attribute = "sysid" if kind == "tst" else "refid"
        parts.append(f"<{kind}set setid='t' srclang='x' trglang='y' {attribute}={quoteattr(system)}>")
        for document in dict.fromkeys(d for d, _ in of_system):
            parts.append(f"<doc docid={quoteattr(document)}><p>")
            parts += [f"<seg id='{n}'>{escape(t)}</seg>" for (d, n), t in of_system.items() if d == document]
            parts.append("</p></doc>")
        parts.append(f"</{kind}set>")
    return "\n".join([*parts, "</mteval>"])


KEYS = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "x")]


# Writing and reading back.


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(FIELD, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_any_table_is_read_back(rows: list[list[str]]) -> None:
    names = [f"column {i}" for i in range(len(rows[0]))]
    for end in ("\n", "\r\n"):
        path = put("any.tsv", "".join("\t".join(row) + end for row in [names, *rows]))
        columns = read_columns([f"{path}#{name}" for name in names])
        assert [list(column) for column in zip(*rows, strict=True)] == [list(c.lines) for c in columns]
        assert all(list(c.first_lines) == list(range(2, len(rows) + 2)) for c in columns)


@given(st.lists(st.tuples(ANY, st.none() | ANY), min_size=1, max_size=5), st.booleans())
def test_any_json_lines_are_read_back(rows: list[tuple[str, str | None]], ascii_only: bool) -> None:
    text = "".join(json.dumps({"x": 1, "a": a, "b": b}, ensure_ascii=ascii_only) + "\n" for a, b in rows)
    one, two = read_columns([f"{put('any.jsonl', text)}#{key}" for key in "ab"])
    assert [a for a, _ in rows] == one.lines
    assert [b for _, b in rows] == two.lines
    bare = "".join(json.dumps(b, ensure_ascii=ascii_only) + "\n" for _, b in rows)
    assert [b for _, b in rows] == segments(put("bare.ndjson", bare))


@given(st.lists(WORDS, min_size=4, max_size=4), st.lists(WORDS, min_size=4, max_size=4))
def test_any_segments_are_read_back_from_xml(one: list[str], two: list[str]) -> None:
    both = {name: dict(zip(KEYS, texts, strict=True)) for name, texts in (("A & <B>", one), ("C", two))}
    a, b = read_columns([f"{put('any.xml', xml(both))}#{name}" for name in both])
    assert (one, two) == (a.lines, b.lines)
    assert a.ids == KEYS


@given(st.lists(WORDS, min_size=4, max_size=4))
def test_any_segments_are_read_back_from_sgm_with_their_entities(texts: list[str]) -> None:
    texts = [escape(text) for text in texts]
    path = put("any.sgm", sgm(dict(zip(KEYS, texts, strict=True)), sysid="x"))
    assert texts == segments(path)
    assert texts == [text for *_, text in by_mteval(Path(path).read_text("utf-8"))]


@given(st.lists(st.tuples(FIELD, st.lists(FIELD.filter(bool), max_size=3)), min_size=1, max_size=4))
def test_any_sentences_are_read_back(sentences: list[tuple[str, list[str]]]) -> None:
    blocks = [[f"#{comment}", *(token(i, form) for i, form in enumerate(forms, 1))] for comment, forms in sentences]
    path = put("any.conllu", "".join("\n".join(lines) + "\n\n" for lines in blocks))
    assert ["\n".join(lines) for lines in blocks] == read_conllu(path)


def by_mteval(data: str, kind: str = "tst") -> list[tuple[str, str, str, str]]:
    """(system, docid, seg id, text) by the expressions and in the order of mteval-v13a.pl's get_MT_data."""

    def spans(name: str, data: str) -> list[tuple[str, str]]:
        return re.findall(rf"<{name}\s*([^>]*)>(.*?)</{name}\s*>", data, re.DOTALL | re.IGNORECASE)

    def attribute(name: str, tag: str) -> str:
        found = re.search(rf'{name}\s*=\s*"?([^"]*)"?', tag, re.DOTALL | re.IGNORECASE)
        assert found
        return found[1]

    return [
        (attribute("SysID", tag), attribute("DocID", tag), attribute("id", seg), text.strip())
        for _, of_set in spans(f"{kind}set", data)
        for tag, of_doc in spans("Doc", of_set)
        for seg, text in spans("Seg", re.sub(r"[\s\n\r]+", " ", of_doc))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<tstset>" + "<seg " * 100_000,
        "<tstset>" + "<doc " + "x" * 100_000 + ">",
        "<tstset>" + "<doc " + "x=" * 100_000 + ">",
        "<tstset>" + "<doc x=" + " " * 100_000 + ">",
        "<tstset>" + "<doc " + "x='" * 100_000 + ">",
    ],
    ids=["tags", "name", "values", "spaces", "quotes"],
)
def test_sgm_is_read_in_linear_time(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(InputError, match=r"bad\.sgm"):
        segments(put("bad.sgm", text))
    assert time.process_time() - begun < 1


def test_sgm_is_read_as_mteval_reads_it() -> None:
    text = (
        '<!DOCTYPE tstset SYSTEM \'x\'>\n<TSTSET\n  SetID="s" SrcLang="any">\n'
        '<DOC sysid = "one" docid="d&amp;1">\n<SEG ID="1">  A\tb &amp; c\n\n  d\u00a0\u3000e </SEG >\n<p>'
        "<seg id=2></seg></p></DOC >"
        '<Doc DOCID="d2" SYSID="one" genre="nw"><hl>'
        '<seg id=" 7 "> <skipped> 3 < 4 > 2 -\nx</seg></hl></dOC>\n</tstset>\n'
        '<tstset setid="s"><doc docid="d2" sysid="two"><seg id="1">z</seg></doc></tstset>\n'
    )
    path = put("wild.sgm", text)
    one, two = read_columns([f"{path}#one", f"{path}#two"])
    assert one.lines == ["A b &amp; c d e", "", "<skipped> 3 < 4 > 2 - x"]
    assert one.ids == [("d&amp;1", "1"), ("d&amp;1", "2"), ("d2", " 7 ")]
    assert (two.lines, two.ids) == (["z"], [("d2", "1")])
    assert one.first_lines == [5, 8, 8]
    read = [("one", *key, line) for key, line in zip(one.ids or [], one.lines, strict=True)]
    by_script = [(system, doc, "2" if seg == "2" else seg, t) for system, doc, seg, t in by_mteval(text)]
    assert [*read, ("two", "d2", "1", "z")] == by_script


def test_white_space_in_a_segment_is_what_perl_splits_at() -> None:
    path = put("space.xml", xml({"a": {("d", "1"): "\u2028 x\u00a0\t\u3000 y\u200bz \u0085"}}))
    assert segments(path) == ["x y\u200bz"]
    path = put("space.sgm", sgm({("d", "1"): "\u2028 x\x1fy \x0b\u0085"}, sysid="a"))
    assert segments(path) == ["x\x1fy"]


@pytest.mark.parametrize("end", [" ", "\r", "\n ", "\u00a0"])
def test_only_mtevals_international_tokenization_depends_on_white_space_at_the_ends_of_a_segment(end: str) -> None:
    # perl mteval-v13a.pl -c --international-tokenization: NIST score = 2.3219 BLEU score = 1.0000 for this pair, as
    # `\p{P}` before a space is split off.
    reference = put("ref.sgm", sgm({("d", "1"): "in the year 2008 ."}, "ref", sysid="ref"))
    system = put("sys.sgm", sgm({("d", "1"): f"in the year 2008.{end}"}, sysid="sys"))
    corpus = read_corpus([reference], [system])
    assert corpus.systems == {"sys": ["in the year 2008."]}
    for texts in (corpus, pickle.loads(pickle.dumps(corpus)), copy.deepcopy(corpus)):
        got = score(texts.references, texts.systems, metric("nist", tokenize="mteval-intl")).scores[0].score
        assert got == pytest.approx(2.3219, abs=0.50001e-4)
    plain = {name: [str(line) for line in lines] for name, lines in corpus.systems.items()}
    for m in (
        metric("nist"),
        metric("bleu", tokenize="intl", max_ngram_order=2),
        metric("bleu", tokenize="zh", max_ngram_order=2),
        metric("chrf", whitespace=True),
        metric("ter"),
    ):
        expected = m.suff_stats({"sys": ["in the year 2008."]}, corpus.references)
        np.testing.assert_array_equal(expected, m.suff_stats(corpus.systems, corpus.references))
        np.testing.assert_array_equal(expected, m.suff_stats(plain, corpus.references))


def test_mteval_documents_or_sets_name_their_systems() -> None:
    seg = '<seg id="1">x</seg>'
    for text, name in [
        (f'<refset refid="R"><doc docid="d">{seg}</doc></refset>', "R"),
        (f'<refset><doc docid="d" sysid="ref">{seg}</doc></refset>', "ref"),
        (f"<tstset sysid='S'><doc docid='d'>{seg}</doc></tstset>", "S"),
        (f"<tstset sysid='S'><doc docid='d' sysid=T>{seg}</doc></tstset>", "T"),
        (f"<srcset><doc docid='d'>{seg}</doc></srcset><tstset sysid=S><doc docid='d'>{seg}</doc></tstset>", "S"),
    ]:
        assert segments(f"{put('names.sgm', text)}#{name}") == ["x"]
    text = f"<m><tstset sysid='S'><doc docid='d' sysid='T'>{seg}</doc></tstset></m>"
    assert segments(f"{put('names.xml', text)}#S") == ["x"]


def test_xml_is_recognized_by_its_ending_or_its_declaration() -> None:
    document = xml({"a": {("d", "1"): "x & y"}})
    for name in ("known.xml", "KNOWN.XML", "unknown"):
        assert segments(put(name, document), "mteval") == ["x & y"]
    assert segments(put("not.sgm", document)) == ["x &amp; y"]
    latin = document.replace("UTF-8", "ISO-8859-1").replace(">x &amp;", ">é &amp;").encode("latin-1")
    assert segments(put("latin.xml", latin)) == ["é & y"]


def test_mteval_files_are_matched_by_document_and_segment() -> None:
    texts = {key: f"ref {' '.join(key)}" for key in KEYS}
    other = {key: f"hyp {' '.join(key)}" for key in reversed(KEYS)}
    ref, hyp = put("ref.sgm", sgm(texts, "ref", sysid="r")), put("hyp.xml", xml({"h": other}))
    corpus = read_corpus([ref], [hyp])
    assert corpus.systems["hyp"] == ["hyp a 1", "hyp a 2", "hyp b 1", "hyp b x"]
    assert [1 + Path(hyp).read_text().split("\n").index(f"<seg id='{n}'>hyp {d} {n}</seg>") for d, n in KEYS] == list(
        corpus.sources[1].first_lines
    )
    assert corpus.sources[1].ids == KEYS
    # A plain file has no ids: its lines are in the order of the first file that has ids.
    assert read_corpus([put("r.txt", "1\n2\n3\n4\n"), ref], [hyp]).systems["hyp"] == [
        "hyp a 1",
        "hyp a 2",
        "hyp b 1",
        "hyp b x",
    ]


def test_all_references_of_a_file_are_used() -> None:
    both = {"r1": dict.fromkeys(KEYS, "one"), "r2": dict.fromkeys(KEYS, "two")}
    ref, hyp = put("refs.xml", xml(both, "ref")), put("hyp.sgm", sgm(dict.fromkeys(KEYS, "x"), sysid="h"))
    corpus = read_corpus([ref], [hyp])
    assert [set(column) for column in corpus.references] == [{"one"}, {"two"}]
    assert list(corpus.reference_names) == ["refs.xml#r1", "refs.xml#r2"]
    assert list(corpus.systems) == ["hyp"]
    (one,) = read_corpus([f"{ref}#r2"], [hyp]).references
    assert set(one) == {"two"}
    plain = put("plain.txt", "three\n" * 4)
    assert [c[0] for c in read_corpus([ref, plain], [hyp]).references] == ["one", "two", "three"]
    with pytest.raises(InputError, match=r"expected one reference, got 2 \(r1, r2\): choose one as in 'refs.xml#r1'"):
        segments(ref)
    with pytest.raises(InputError, match="unknown reference 'r3'"):
        read_corpus([f"{ref}#r3"], [hyp])


def wmt(texts: dict[str, dict[tuple[str, str], str]], extra: str = "") -> str:
    """An XML file in WMT's layout since 2021; ``ref:A`` is a reference by translator A, ``ref`` one without a name."""
    parts = ['<?xml version="1.0" encoding="utf-8"?>', '<dataset id="test"><collection id="general">']
    for document in dict.fromkeys(d for segments_of_name in texts.values() for d, _ in segments_of_name):
        parts.append(f'<doc origlang="en" id="{document}">\n<src lang="en"><p>')
        numbers = dict.fromkeys(n for segments_of_name in texts.values() for d, n in segments_of_name if d == document)
        parts += [*(f'<seg id="{n}">source</seg>' for n in numbers), "</p></src>"]
        for name, segments_of_name in texts.items():
            kind, _, translator = name.partition(":")
            if kind == "ref":
                parts.append(f'<ref lang="de"{f" translator={quoteattr(translator)}" if translator else ""}><p>')
            else:
                parts.append(f'<hyp system="{name}" language="de"><p>')
            parts += [f'<seg id="{n}">{escape(t)}</seg>' for (d, n), t in segments_of_name.items() if d == document]
            parts.append("</p></ref>" if kind == "ref" else "</p></hyp>")
        parts.append("</doc>")
    return "\n".join([*parts, f"{extra}</collection></dataset>"])


def test_references_and_systems_are_read_from_wmt_xml() -> None:
    texts = {
        name: {key: f"{name} & {' '.join(key)}" for key in KEYS} for name in ("ref:A", "ref:B", "online-A", "online-B")
    }
    suite = (
        '<doc id="suite" testsuite="x"><src><seg id="1">a</seg></src><hyp system="online-A"><seg id="1">b</seg></hyp>'
    )
    path = put("wmt.xml", wmt(texts, f"{suite}</doc>"))
    corpus = read_corpus([path], [f"{path}#online-B", f"{path}#online-A"])
    assert corpus.references == [list(texts["ref:A"].values()), list(texts["ref:B"].values())]
    # The document of the test suite has no reference and is left out.
    assert dict(corpus.systems) == {name: list(texts[name].values()) for name in ("online-B", "online-A")}
    assert corpus.sources[0].ids == KEYS
    assert read_corpus([f"{path}#B"], [f"{path}#online-A"]).references == [list(texts["ref:B"].values())]
    with pytest.raises(InputError, match=r"expected one system, got 2 \(online-A, online-B\): choose one as in"):
        read_corpus([path], [path])
    with pytest.raises(InputError, match="unknown system 'online-C'"):
        read_corpus([path], [f"{path}#online-C"])
    alone = put("alone.xml", wmt({"ref": texts["ref:A"], "mt": texts["online-A"]}))
    corpus = read_corpus([alone], [alone])
    assert (corpus.references, dict(corpus.systems)) == (
        [list(texts["ref:A"].values())],
        {"alone": list(texts["online-A"].values())},
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<dataset/>", "x.xml: expected <ref> or <hyp> with <seg> in it, got none"),
        ("<dataset><doc>", 'x.xml, line 1: expected id="…" in <doc>, got none'),
        ('<dataset><doc id="d">\n<hyp>', 'x.xml, line 2: expected system="…" in <hyp>, got none'),
        ('<dataset><doc id="d">\n<seg id="1">', "x.xml, line 2: expected <src>, <ref> or <hyp> around <seg>, got none"),
        ('<dataset><doc id="d"><ref><seg>', 'x.xml, line 1: expected id="…" in <seg>, got none'),
        (
            '<dataset><doc id="d"><ref></ref></doc></dataset>',
            "x.xml: expected <ref> or <hyp> with <seg> in it, got none",
        ),
        (
            '<dataset><doc id="d" testsuite=""><ref><seg id="1">x</seg></ref></doc></dataset>',
            "x.xml: expected <ref> or <hyp> with <seg> in it outside 1 test suites, got none",
        ),
        (
            '<dataset><doc id="d"><ref><seg id="1"/></ref><hyp system="a"><seg id="1">x</seg></hyp></doc></dataset>',
            "x.xml: expected <ref> or <hyp> with <seg> in it, got none",
        ),
        (
            '<dataset><doc id="d"><hyp system="a"><seg id="1">x</seg>\n<seg id="1">y</seg></hyp></doc></dataset>',
            "x.xml, line 2: segment '1' of the document 'd' by 'a' occurs twice: first in line 1",
        ),
    ],
)
def test_malformed_wmt_xml_is_refused(content: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        segments(put("x.xml", content))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop(KEYS[3]), "hyp.sgm lacks segment 'x' of the document 'b', which is in ref.sgm, line 11"),
        (
            lambda t: [t.pop(KEYS[2]), t.pop(KEYS[3])],
            r"hyp.sgm lacks the document 'b', which is in ref.sgm, line 10 \(2 segments are missing\)",
        ),
        (lambda t: t.update({("c", "1"): "z"}), "ref.sgm lacks the document 'c', which is in hyp.sgm, line 16"),
        (
            lambda t: t.update({("a", "3"): "z"}),
            "ref.sgm lacks segment '3' of the document 'a', which is in hyp.sgm, line 6",
        ),
    ],
)
def test_mteval_files_that_do_not_match_are_refused(change: Any, message: str) -> None:
    texts = dict.fromkeys(KEYS, "x")
    ref = put("ref.sgm", sgm(texts, "ref", sysid="r"))
    change(texts)
    with pytest.raises(InputError, match=message):
        read_corpus([ref], [put("hyp.sgm", sgm(texts, sysid="h"))])


@st.composite
def wmt_files(draw: st.DrawFn) -> str:
    """Documents of WMT with test suites, empty documents, incomplete references, and segments in any order."""
    translators = draw(st.sampled_from([["A"], ["A", "B"], ["B", "", "A"]]))
    text = st.sampled_from(["", "x", "y z", "a & b", "Ä"])
    parts = ['<dataset id="t">']
    for document in range(draw(st.integers(1, 4))):
        # The first document is not a test suite: reshuffle refuses a file of test suites only, as it has no references.
        testsuite = draw(st.sampled_from(["", "", ' testsuite="s"', ' testsuite=""'][: 4 if document else 1]))
        parts.append(f'<doc id="d{document}" origlang="en"{testsuite}>')
        numbers = draw(st.permutations([1, 2, 10, 3]))[: draw(st.integers(0, 4))]

        def part(tag: str, numbers: list[int]) -> str:
            segments = "".join(f'<seg id="{n}">{escape(draw(text))}</seg>' for n in numbers)
            return f"<{tag}>{f'<p>{segments}</p>' if segments else '<p/>'}</{tag.split()[0]}>"

        parts.append(part('src lang="en"', numbers))
        for translator in translators:
            if draw(st.booleans()) or document == 0:
                name = f' translator="{translator}"' if translator else ""
                own = [n for n in draw(st.permutations(numbers)) if draw(st.integers(0, 3))]
                parts.append(part(f'ref lang="de"{name}', own))
        parts += [part(f'hyp system="{system}" lang="de"', draw(st.permutations(numbers))) for system in ("s", "t")]
        parts.append("</doc>")
    return "\n".join([*parts, "</dataset>"])


@given(wmt_files())
def test_wmt_xml_is_read_as_by_sacrebleu(text: str) -> None:
    fields = WMTXMLDataset._unwrap_wmt21_or_later(io.BytesIO(text.encode()))
    path = put("any-wmt.xml", text)
    references = {name: lines for name, lines in fields.items() if name.startswith("ref") and any(lines)}
    if not references:
        with pytest.raises(InputError, match="expected <ref> or <hyp> with <seg> in it"):
            read_columns([f"{path}#s"])
        return
    systems = [f"{path}#s", f"{path}#t"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        corpus = read_corpus([f"{path}#{name.removeprefix('ref:')}" for name in references], systems)
    assert corpus.references == list(references.values())
    assert dict(corpus.systems) == {"s": fields["s"], "t": fields["t"]}
    assert [document for document, _ in corpus.sources[0].ids or ()] == fields["docid"]


def test_test_suites_are_left_out_even_if_they_have_references() -> None:
    news = {name: {("news", "1"): f"{name} news"} for name in ("ref:A", "ref:B", "s")}
    segments = "<{0}><seg id='1'>suite</seg></{1}>".format
    suite = "".join(
        segments(start, start.split()[0])
        for start in ("src", "ref translator='A'", "hyp system='s'", "ref translator='C'")
    )
    path = put("suites.xml", wmt(news, f"<doc id='suite' testsuite='x'>{suite}</doc>"))
    corpus = read_corpus([path], [f"{path}#s"])
    # A translator of the test suite only is not a reference.
    assert corpus.references == [["ref:A news"], ["ref:B news"]]
    assert dict(corpus.systems) == {"s": ["s news"]}


def test_an_empty_wmt_document_has_no_segments() -> None:
    texts = {name: {("d", "1"): "x"} for name in ("ref:A", "s")}
    empty = "<doc id='e'><src><p/></src><ref translator='A'><p/></ref><hyp system='s'><p/></hyp></doc>"
    path = put("empty.xml", wmt(texts, empty))
    assert read_corpus([path], [f"{path}#s"]).n_segments == 1


def test_missing_segments_of_a_reference_are_empty_with_a_warning() -> None:
    texts = {name: {key: f"{name} {key[1]}" for key in KEYS} for name in ("ref:A", "ref:B", "s")}
    del texts["ref:B"][KEYS[1]], texts["ref:B"][KEYS[2]], texts["ref:A"][KEYS[3]], texts["ref:B"][KEYS[3]]
    path = put("partly.xml", wmt(texts))
    expected = (
        r"partly\.xml#B lacks 2 of 3 segments that other references have \(first: segment '2' of the document 'a'\): "
        "they are treated as empty, as in sacreBLEU"
    )
    with pytest.warns(InputWarning, match=expected):
        corpus = read_corpus([path], [f"{path}#s"])
    # A segment without any reference is left out.
    assert corpus.references == [["ref:A 1", "ref:A 2", "ref:A 1"], ["ref:B 1", "", ""]]
    assert corpus.systems["s"] == ["s 1", "s 2", "s 1"]
    # There is no warning if only reference A is used.
    assert read_corpus([f"{path}#A"], [f"{path}#s"]).n_segments == 3


def test_segments_missing_from_the_source_are_left_out_with_a_warning() -> None:
    text = wmt({name: {("d", "1"): "x"} for name in ("ref:A", "s")})
    path = put("strange.xml", re.sub("<hyp .*?>", r'\g<0><seg id="7">z</seg>', text))
    with pytest.warns(
        InputWarning, match=r"strange\.xml: segment '7' of the document 'd' is not in the document's source and is left"
    ):
        assert read_corpus([path], [f"{path}#s"]).systems["s"] == ["x"]


def test_a_source_file_is_refused_as_a_reference() -> None:
    source = put("news-src.sgm", f"<srcset><doc docid='d' sysid='ref' origlang='en'>{SEG}</doc></srcset>")
    for format_ in (None, "mteval"):
        with pytest.raises(InputError) as raised:
            segments(source, format_)
        assert str(raised.value) == (
            "news-src.sgm contains the source text: expected <refset> or <tstset>, got <srcset>; name the file of the "
            "references or of a system instead"
        )


# The layout of 2008 to 2020: the reference's documents have a sysid, headlines are <hl>, & is not escaped.
WMT14 = """<refset trglang="en" setid="newstest2014" srclang="any">
<doc sysid="ref" docid="1-bbc" genre="news" origlang="de">
<hl>
<seg id="1">R&D at AT&T &amp; others</seg>
</hl>
<p>
<seg id="2">3 < 4 & "quotes"</seg>
</p>
</doc>
<doc sysid="ref" docid="2-spiegel" genre="news" origlang="en">
<p>
<seg id="1"> Two\u00a0words </seg>
</p>
</doc>
</refset>
"""


def test_wmt14_sgm_is_read_as_by_sacrebleu(tmp_path: Path) -> None:
    path = put("newstest2014-deen-ref.en.sgm", WMT14)
    FakeSGMLDataset("x")._convert_format(path, str(tmp_path / "out"))
    by_sacrebleu = (tmp_path / "out").read_text("utf-8").splitlines()
    assert by_sacrebleu == segments(path)


@pytest.mark.parametrize("missing", ["</doc>", "</refset>", "</doc>|</refset>"])
def test_documents_and_sets_that_are_not_closed_are_read_with_a_warning(missing: str) -> None:
    expected = read_columns([put("closed.sgm", WMT14)])[0]
    text = re.sub(missing, "", WMT14)
    first, n = (2, missing.count("|") + 2) if "doc" in missing else (1, 1)
    others = f", nor are {n - 1} other elements" if n > 1 else ""
    tag = "doc" if "doc" in missing else "refset"
    message = f"open.sgm, line {first}: the <{tag}> is not closed by </{tag}>{others}; it is closed where the"
    with pytest.warns(InputWarning, match=message):
        (column,) = read_columns([put("open.sgm", text)])
    assert (column.lines, column.ids, column.first_lines) == (expected.lines, expected.ids, expected.first_lines)
    # One set after another, and a set without a name.
    with pytest.warns(InputWarning):
        both = read_columns([put("open.sgm", text + WMT14.replace("ref", "tst")) + "#tst"])[0]
    assert both.lines == expected.lines


SEG = '<seg id="1">x</seg>'
MALFORMED = {
    "nothing": ("text\nonly\n", "expected <refset> or <tstset>, got none"),
    "source": (f"<srcset><doc docid='d'>{SEG}</doc></srcset>", "expected <refset> or <tstset>, got <srcset>"),
    "no documents": ("<tstset>\n</tstset>", "expected <doc> with <seg> in it, got <tstset>"),
    "no segments": (
        "<tstset>\n<doc docid='d' sysid='a'>\n</doc></tstset>",
        "line 2: expected <seg> in the document 'd'",
    ),
    "no docid": (f"<tstset>\n<doc sysid='a'>{SEG}</doc></tstset>", 'line 2: expected docid="…" in <doc>, got none'),
    "no id": ("<tstset>\n<doc docid='d' sysid='a'><seg>", 'line 2: expected id="…" in <seg>, got none'),
    "no sysid": (
        "<tstset>\n<doc docid='d'>",
        'line 2: expected sysid="…" in <doc> or sysid="…" in the <tstset> of line 1',
    ),
    "no refid": ("<refset>\n<doc docid='d'>", 'expected sysid="…" in <doc> or refid="…" in the <refset> of line 1'),
    "no document": (f"<tstset>\n{SEG}", "line 2: expected <doc> around <seg>, got none"),
    "no set": (f"\n\n<doc docid='d' sysid='a'>{SEG}", "line 3: expected <refset> or <tstset> around <doc>, got none"),
    "open segment": (
        "<tstset>\n<doc docid='d' sysid='a'>\n<seg id='1'>x\n<seg id='2'>y</seg>",
        "line 4: expected </seg> for the <seg> of line 3, got <seg>",
    ),
    "open last segment": (
        "<tstset>\n<doc docid='d' sysid='a'>\n<seg id='1'>x\n</doc></tstset>",
        "line 4: expected </seg> for the <seg> of line 3, got </doc>",
    ),
    "closed as another": (
        f"<tstset>\n<doc docid='d' sysid='a'>{SEG}</doc>\n</refset>",
        "line 3: expected </tstset> for the <tstset> of line 1, got </refset>",
    ),
    "closed before": ("</seg>", "line 1: expected <seg> first, got </seg>"),
    "twice": (
        f"<tstset>\n<doc docid='d' sysid='a'>\n{SEG}\n{SEG}</doc></tstset>",
        "line 4: segment '1' of the document 'd' by 'a' occurs twice: first in line 3",
    ),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_sgm_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        segments(put("bad.sgm", text))
    assert str(raised.value).startswith("bad.sgm")
    assert message in str(raised.value)


DOCUMENT = f"<tstset sysid='a'>\n<doc docid='d'>{SEG}</doc></tstset>"
MALFORMED_XML = {
    "not closed": (f"<m>{DOCUMENT[:-20]}", "line 2: expected well-formed XML, got: "),
    "mismatched": ("<m>\n<a></b></m>", "line 2: expected well-formed XML, got: mismatched tag"),
    "no XML": ("text", "line 1: expected well-formed XML, got: syntax error"),
    "no docid": (DOCUMENT.replace("docid='d'", ""), 'line 2: expected docid="…" in <doc>, got none'),
    "no sysid": (DOCUMENT.replace("sysid='a'", ""), 'line 2: expected sysid="…" in <doc> or sysid="…" in the <tstset>'),
    "entities": (
        f'<!DOCTYPE m [\n<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>{DOCUMENT.replace("x", "&b;")}',
        "line 2: entity declarations are not supported, got one of 'a'",
    ),
    "external entity": (
        f'<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]>{DOCUMENT.replace("x", "&a;")}',
        "line 1: entity declarations are not supported, got one of 'a'",
    ),
    "skipped entity": (
        f'<!DOCTYPE m SYSTEM "m.dtd">{DOCUMENT.replace("x", "&nbsp;")}',
        "line 2: the entity &nbsp; is not defined in XML: write the character itself",
    ),
    "unknown entity": (DOCUMENT.replace("x", "&nbsp;"), "line 2: expected well-formed XML, got: undefined entity"),
    "encoding": (f'<?xml version="1.0" encoding="klingon"?>{DOCUMENT}', "line 1: "),
    "wide encoding": (f'<?xml version="1.0" encoding="gbk"?>{DOCUMENT}', "line 1: the encoding is not supported"),
    "bad UTF-8": (DOCUMENT.encode().replace(b"x", b"\xff"), "line 2: expected well-formed XML, got: not well-formed"),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED_XML.values(), ids=MALFORMED_XML.keys())
def test_malformed_xml_is_refused_with_its_line(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as raised:
        segments(put("bad.xml", text))
    assert str(raised.value).startswith("bad.xml")
    assert message in str(raised.value)


# Tables, JSON lines, CoNLL-U.


def test_quotes_in_a_table_are_plain_text() -> None:
    put("quotes.tsv", 'a\tb\n"\tx\n"a "" b\ty\n\t"\n')
    assert segments("quotes.tsv#a") == ['"', '"a "" b', ""]


def test_a_byte_order_mark_is_skipped_except_in_plain_text() -> None:
    put("bom.tsv", "\ufeffa\tb\n\ufeffx\ty\n")
    assert segments("bom.tsv#a") == ["\ufeffx"]
    assert segments(put("bom.jsonl", '\ufeff"x"\n')) == ["x"]
    assert read_conllu(put("bom.conllu", "\ufeff# x\n\n")) == ["# x"]
    assert segments(put("bom.txt", "\ufeffx\n")) == ["\ufeffx"]


def test_a_single_column_or_key_need_not_be_named() -> None:
    assert segments(put("one.tsv", "a\nx\n\n")) == ["x", ""]
    assert segments(put("one.jsonl", '{"a": "x"}\n{"b": 1, "a": "y"}')) == ["x", "y"]


def test_json_null_is_a_missing_reference_and_is_refused_in_a_system() -> None:
    path = put("null.jsonl", '{"r": null, "s": "x", "t": "z"}\n{"r": "y", "s": "y", "t": null}\n')
    corpus = read_corpus([f"{path}#r", f"{path}#t"], [f"{path}#s"])
    assert corpus.references == [[None, "y"], ["z", None]]
    with pytest.raises(InputError, match=r"null\.jsonl#r, line 1: expected a string, got null: only references may be"):
        read_corpus([f"{path}#t"], [f"{path}#r"])


def test_parses_keep_the_line_numbers_of_their_sentences() -> None:
    a, b, c = token(1, "A"), token(1, "B"), token(2, "C")
    path = put("a.conllu", f"# newdoc\n{a}\n\n# text =\n\n{b}\r\n{c}\r\n\r\n")
    (column,) = read_columns([path])
    assert [f"# newdoc\n{a}", "# text =", f"{b}\n{c}"] == column.lines == read_conllu(path)
    assert column.first_lines == [1, 4, 6]
    assert column.place(3, 2) == "a.conllu, line 7"
    assert read_conllu(put("end.conllu", f"{a}\n\n{b}")) == [a, b]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\r\n\r\n\r\n", "\n" * 9])
def test_sentences_may_have_any_number_of_empty_lines_at_the_end(end: str) -> None:
    first = token(1, "A")
    path = put("end.conllu", f"{first}\n\n# b{end}")
    assert read_conllu(path) == [first, "# b"]
    assert read_columns([path])[0].first_lines == [1, 3]


def test_real_conllu_files_have_one_block_per_sentence(data: Path) -> None:
    folder = data / "depparse-wmt13-en-fr-derived"
    corpus = read_corpus([str(folder / "ref.conllu")], sorted(map(str, (folder / "sys").glob("*.conllu"))))
    assert (corpus.n_segments, len(corpus.systems)) == (500, 6)
    for source in corpus.sources:
        lines = read_lines(source.name)
        assert all(lines[n - 1].startswith("# sent_id = ") for n in source.first_lines)
        assert all(lines[n - 2] == "" for n in list(source.first_lines)[1:])
    assert len(read_conllu(data / "conll18-en_pud/gold.conllu")) == 1000
    with pytest.raises(InputError, match=r"gold.conllu has 1,000 segments, .*HUJI.conllu has 1,032"):
        read_corpus([str(data / "conll18-en_pud/gold.conllu")], [str(data / "conll18-en_pud/HUJI.conllu")])


BAD: dict[str, tuple[str, str, str | bytes, str]] = {
    "fields": ("x.tsv", "#a", "a\tb\nx\ty\nx\n", "x.tsv, line 3: expected 2 fields as in the header, got 1"),
    "field": ("x.tsv", "", "a\nx\ty\n", "x.tsv, line 2: expected 1 field as in the header, got 2"),
    "blank row": ("x.tsv", "#a", "a\tb\nx\ty\n\n", "x.tsv, line 3: expected 2 fields as in the header, got 1"),
    "no rows": ("x.tsv", "#a", "a\tb\n", r"x.tsv: expected a row for each segment after the header 'a\tb', got none"),
    "column": ("x.tsv", "#reff", "ref\tb\nx\ty\n", "x.tsv: unknown column 'reff': did you mean 'ref'? Known: ref, b"),
    "columns": ("x.tsv", "", "a\tb\nx\ty\n", "x.tsv: expected one column, got 2 (a, b): choose one as in 'x.tsv#a'"),
    "column twice": ("x.tsv", "#a", "a\ta\nx\ty\n", "x.tsv: 2 columns in the header are called 'a': expected one"),
    "empty table": ("x.tsv", "#a", "", "x.tsv is empty: expected a header line with the names of the columns"),
    "bad UTF-8": ("x.tsv", "#a", b"a\n\xff\n", "x.tsv, line 2, byte 1: 0xff is not valid UTF-8"),
    "no JSON": (
        "x.jsonl",
        "#a",
        '{"a": "x"}\n{"a": x}\n',
        "x.jsonl, line 2: expected a JSON value, got '{\"a\": x}' (Exp",
    ),
    "blank line": (
        "x.jsonl",
        "#a",
        '{"a": "x"}\n\n{"a": "x"}\n',
        "x.jsonl, line 2: expected a JSON value, got an empty",
    ),
    "blank first": ("x.jsonl", "", '\n"x"\n', "x.jsonl, line 1: expected a JSON value, got an empty line"),
    "no object": (
        "x.jsonl",
        "#a",
        '{"a": "x"}\n["a"]\n',
        "x.jsonl, line 2: expected an object with the key 'a', got a list",
    ),
    "bare and key": (
        "x.jsonl",
        "#a",
        '"x"\n',
        "x.jsonl, line 1: expected an object with the key 'a', got the string \"x\"",
    ),
    "bare, then not": ("x.jsonl", "", '"x"\n{"a": 1}\n', "x.jsonl, line 2: expected a string, got an object"),
    "keys": (
        "x.jsonl",
        "",
        '{"a": "x", "b": "y"}\n',
        "x.jsonl: expected one key, got 2 (a, b): choose one as in 'x.jsonl#a'",
    ),
    "no keys": ("x.jsonl", "", "{}\n", "x.jsonl: expected one key, got 0"),
    "key": ("x.jsonl", "#reff", '{"ref": "x"}\n', "x.jsonl: unknown key 'reff': did you mean 'ref'? Known: ref"),
    "key later": ("x.jsonl", "#a", '{"a": "x"}\n{"b": "y"}\n', "x.jsonl, line 2: unknown key 'a'; known: b"),
    "number": ("x.jsonl", "#a", '{"a": 1.5}\n', "x.jsonl#a, line 1: expected a string, got the number 1.5"),
    "boolean": ("x.jsonl", "#a", '{"a": true}\n', "x.jsonl#a, line 1: expected a string, got true"),
    "list": ("x.jsonl", "#a", '{"a": ["x"]}\n', "x.jsonl#a, line 1: expected a string, got a list"),
    "surrogate": (
        "x.jsonl",
        "",
        '"\\ud800"\n',
        "x.jsonl, line 1: not valid Unicode, it contains a lone surrogate",
    ),
    "deep": ("x.jsonl", "", "[" * 100_000, "x.jsonl, line 1: the JSON value cannot be read: "),
    "long": ("x.jsonl", "", "9" * 5000, "x.jsonl, line 1: the JSON value cannot be read: "),
    "systems": (
        "x.xml",
        "",
        xml({"a": {("d", "1"): "x"}, "b": {("d", "1"): "y"}}),
        "x.xml: expected one system, got 2 (a, b): choose one as in 'x.xml#a'",
    ),
    "system": (
        "x.xml",
        "#onlineA",
        xml({"online-A": {("d", "1"): "x"}}),
        "x.xml: unknown system 'onlineA': did you mean 'on",
    ),
    "text": ("x.txt", "#a", "x\n", "x.txt: plain text has no named columns, got #a: leave it out"),
    "parse": ("x.conllu", "#a", "# x\n\n", "x.conllu: CoNLL-U has no named columns, got #a: leave it out"),
    "no end": (
        "x.conllu",
        "",
        "# x\n\n1\tA\n",
        "x.conllu, line 3: expected 10 columns of CoNLL-U, separated by tabs, got 2",
    ),
    "no parse": (
        "x.conllu",
        "",
        "# x\n\n# y\n1\tA\n\n",
        "x.conllu, line 4: expected 10 columns of CoNLL-U, separated by tabs, got 2",
    ),
    "two blanks": ("x.conllu", "", "# x\n\n\n# y\n\n", "x.conllu, line 3: expected a sentence, got an empty line"),
    "blanks alone": ("x.conllu", "", "\n\n\n", "x.conllu, line 1: expected a sentence, got an empty line"),
    "blank before": ("x.conllu", "", "\n# y\n\n", "x.conllu, line 1: expected a sentence, got an empty line"),
    "mark alone": ("x.conllu", "", "\ufeff", "x.conllu is empty: it contains nothing but a byte order mark"),
    "mark in a table": ("x.tsv", "#a", "\ufeff", "x.tsv is empty: it contains nothing but a byte order mark"),
    "mark in JSON": ("x.jsonl", "", "\ufeff", "x.jsonl is empty: it contains nothing but a byte order mark"),
    "circle": (
        "x.conllu",
        "",
        f"{token(1, 'A')}\n\n# y\n{token(1, 'A', 2)}\n{token(2, 'B', 1)}\n\n",
        "x.conllu, line 4: expected HEADs that lead to a root (HEAD 0), got a circle back to word 1",
    ),
    "empty": ("x.conllu", "", "", "x.conllu is empty: expected sentences, each followed by an empty line"),
}


@pytest.mark.parametrize(("file", "name", "content", "message"), BAD.values(), ids=BAD.keys())
def test_malformed_files_are_refused_with_a_message_that_says_what_was_expected(
    file: str, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        segments(put(file, content) + name)
    assert message in str(raised.value)


@given(
    st.sampled_from(sorted(INPUT_FORMATS)), st.binary(max_size=40) | ANY.map(str.encode), st.sampled_from(["", "#a"])
)
def test_arbitrary_files_raise_only_input_errors(input_format: str, content: bytes, name: str) -> None:
    structures = [
        b"",
        b"\xef\xbb\xbf",
        b"a\tb\n",
        b'{"a": ',
        b"<tstset sysid='a'><doc docid='d'><seg id='1'>",
        b"<?xml version='1.0'?><m>",
    ]
    for structure in structures:
        path = put("nonsense", structure + content) + name
        for read in (read_columns, lambda paths, input_format: read_numbers(paths[0], input_format)):
            with contextlib.suppress(InputError):
                read([path], input_format)


# Numbers.


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_any_numbers_are_read_back(numbers: list[float]) -> None:
    text = put("numbers.txt", "".join(f"{x!r}\n" for x in numbers))
    table = put("numbers.tsv", "id\tscore\n" + "".join(f"{i}\t{x!r}\n" for i, x in enumerate(numbers)))
    objects = put("numbers.jsonl", "".join(json.dumps({"id": "x", "score": x}) + "\n" for x in numbers))
    bare = put("bare.jsonl", "".join(json.dumps(x) + "\n" for x in numbers))
    for path in (text, f"{table}#score", f"{objects}#score", bare):
        assert list(map(repr, numbers)) == list(map(repr, read_numbers(path)))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("x.txt", "1\nnan\n", "x.txt, line 2: expected a finite number, got 'nan'"),
        ("x.txt", "1\n-inf\n", "x.txt, line 2: expected a finite number, got '-inf'"),
        ("x.txt", "1\n1e999\n", "x.txt, line 2: expected a finite number, got '1e999'"),
        ("x.txt", "1_000\n", "x.txt, line 1: expected a finite number, got '1_000'"),
        ("x.txt", "0,5\n", "x.txt, line 1: expected a finite number, got '0,5'"),
        ("x.txt", "1\n\n", "x.txt, line 2: expected a finite number, got ''"),
        ("x.tsv", "a\n1\nx\n", "x.tsv, line 3: expected a finite number, got 'x'"),
        ("x.jsonl", "1\nNaN\n", "x.jsonl, line 2: expected a finite number, got the number NaN"),
        ("x.jsonl", "1\n1e999\n", "x.jsonl, line 2: expected a finite number, got the number Infinity"),
        ("x.jsonl", "1" + "0" * 400 + "\n", "x.jsonl, line 1: expected a finite number, got the number 1000"),
        ("x.jsonl", '1\n"1"\n', 'x.jsonl, line 2: expected a finite number, got the string "1"'),
        ("x.jsonl", "1\ntrue\n", "x.jsonl, line 2: expected a finite number, got true"),
        ("x.jsonl", "1\nnull\n", "x.jsonl, line 2: expected a finite number, got null"),
        ("x.jsonl", "1\n[1]\n", "x.jsonl, line 2: expected a finite number, got a list"),
        (
            "x.sgm",
            "1\n",
            "x.sgm: scores cannot be read from the format mteval; these formats have numbers: text, tsv, jsonl",
        ),
    ],
)
def test_anything_but_a_finite_number_is_refused(file: str, content: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_numbers(put(file, content))
    assert message in str(raised.value)
    with pytest.raises(InputError, match="unknown input format 'tvs': did you mean 'tsv'"):
        read_numbers("x", "tvs")


# Choice of format, standard input, names of columns and systems.


def test_the_file_ending_determines_the_format_unless_it_is_named() -> None:
    endings = {
        "a.sgm": "mteval",
        "a.SGML.bz2": "mteval",
        "a.xml.gz": "mteval",
        "a.tsv.xz": "tsv",
        "a.b.ndjson": "jsonl",
    }
    assert list(endings.values()) == [format_of(name) for name in endings]
    assert {"text"} == {format_of(name) for name in ("tsv", "a.tsv.txt", "a", "-", ".gz", "a.conll")}
    path = put("table.tsv", "a\tb\nx\ty\n")
    assert segments(path, "text") == ["a\tb", "x\ty"]
    put("table", "a\tb\nx\ty\n")
    assert segments("table#b", "tsv") == ["y"]
    with pytest.raises(InputError, match="unknown input format 'TSV': did you mean 'tsv'"):
        segments(path, "TSV")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_and_standard_input_are_read_in_every_format(
    compress: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "text": "x\n",
        "tsv": "a\nx\n",
        "jsonl": '{"a": "x"}\n',
        "mteval": sgm({("d", "1"): "x"}, sysid="a"),
        "conllu": "#x\n\n",
    }
    assert list(INPUT_FORMATS) == sorted(files, key=list(INPUT_FORMATS).index)
    for name, content in files.items():
        data = compress(content.encode())
        expected = ["#x" if name == "conllu" else "x"]
        assert segments(put("compressed", data), name) == expected
        for path in ["-", "-#a"][: 1 if name in ("text", "conllu") else 2]:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
            assert segments(path, name) == expected


def test_several_columns_can_be_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"r\ta\tb\n1\t2\t3\n")))
    corpus = read_corpus(["-#r"], ["-#a", "-#b"], "tsv")
    assert (corpus.references, corpus.systems) == ([["1"]], {"a": ["2"], "b": ["3"]})
    assert list(corpus.reference_names) == ["standard input#r"]
    with pytest.raises(InputError, match="only once"):
        read_corpus(["-"], ["-"], "tsv")


def test_a_number_sign_in_the_name_of_an_existing_file_does_not_start_a_column(folder: Path) -> None:
    for name in ("x#1.txt", "t", "t#a", "c#.tsv", "c#.tsv#d"):
        put(name, "x\n")
    (folder / "dir").mkdir(exist_ok=True)
    assert split_name("x#1.txt") == ("x#1.txt", None)
    assert split_name("t#a") == ("t#a", None)
    assert split_name("t#b") == ("t", "b")
    assert split_name("t#a#b") == ("t#a", "b")
    assert split_name("c#.tsv#d") == ("c#.tsv#d", None)
    assert split_name("c#.tsv#e#f") == ("c#.tsv", "e#f")
    assert split_name("missing.tsv.gz#a#b") == ("missing.tsv.gz", "a#b")
    assert split_name("-#") == ("-", "")
    for path in ("missing#1", "#", "#a.tsv", "dir#a", "a\0#b", "x" * 5000 + "#y", "missing"):
        assert (path, None) == split_name(path)
    with pytest.raises(InputError, match=r"missing\.tsv: no such file"):
        segments("missing.tsv#a")


def test_systems_are_named_by_their_columns_if_these_are_unambiguous() -> None:
    assert system_names(["data.tsv#a", "data.tsv#b"]) == ["a", "b"]
    assert system_names(["a.jsonl#mt", "b.jsonl#mt"]) == ["a", "b"]
    assert system_names(["a.jsonl#mt"]) == ["mt"]
    assert system_names(["a.jsonl#mt", "a.jsonl#pe", "b.jsonl#mt", "b.jsonl#pe"]) == ["a#mt", "a#pe", "b#mt", "b#pe"]
    assert system_names(["x/a.jsonl#mt", "y/a.jsonl#mt"]) == ["x/a.jsonl#mt", "y/a.jsonl#mt"]
    assert system_names(["a.txt", "data.tsv#a"]) == ["a.txt", "data"]
    assert system_names(["-#a", "-"]) == ["a", "stdin"]
    assert system_names(["data.tsv#a", "data.tsv#a"]) == ["a", "a#2"]
    assert system_names(["data.tsv.gz#x#y"]) == ["x#y"]
    assert system_names(["data.tsv#"]) == ["data"]


@given(
    st.lists(st.sampled_from(["a.tsv#a", "b.tsv#a", "a.tsv#b", "x/a.tsv#a", "a.txt", "-#a", "-", "a.tsv#"]), max_size=8)
)
def test_names_of_systems_from_columns_are_unique(paths: Sequence[str]) -> None:
    assert len(set(system_names(paths))) == len(paths)


def test_files_of_different_formats_must_have_equal_numbers_of_segments() -> None:
    ref, system = put("ref.txt", "a\nb\n"), put("out.tsv", "id\tmt\n1\ta\n")
    with pytest.raises(
        InputError, match=r"ref\.txt has 2 segments, out\.tsv#mt has 1: they must match segment by segment"
    ):
        read_corpus([ref], [f"{system}#mt"])
    with pytest.raises(InputError, match=r"ref\.txt has 2 segments, out\.tsv#id has 1"):
        read_corpus([ref, f"{system}#id"], [f"{system}#mt"])


def test_a_column_knows_the_line_of_a_segment() -> None:
    assert Column("f", ["x", "y"], range(2, 4)).place(2) == "f, line 3"


LONG = "x" * 4_000_000


@pytest.mark.parametrize(
    ("name", "content", "asked"),
    [
        ("a.tsv", LONG, "a.tsv"),
        ("a.tsv", f"{LONG}\t{LONG}\n1\t2\n", f"a.tsv#{'x' * 4_000_000}"),
        ("a.tsv", f"{LONG}\tb\n1\t2\n", "a.tsv"),
        ("a.tsv", "\t".join(f"c{i}" for i in range(100_000)) + "\n", "a.tsv#d"),
        ("a.jsonl", LONG, "a.jsonl"),
        ("a.jsonl", json.dumps({LONG: 1}) + "\n2\n", "a.jsonl"),
        ("a.jsonl", json.dumps({LONG: 1, "b": 2}), "a.jsonl#c"),
        ("a.conllu", LONG, "a.conllu"),
        ("a.conllu", LONG + "\tx" * 9, "a.conllu"),
        ("a.conllu", f"1\tx\t_\t_\t_\t_\t{LONG}\t_\t_\t_\n\n", "a.conllu"),
        ("a.sgm", f'<refset><doc docid="{LONG}"></doc></refset>', "a.sgm"),
        ("a.sgm", f'<refset><doc docid="d" sysid="a"><seg id="{LONG}">a</seg><seg id="{LONG}">b</seg></doc>', "a.sgm"),
        ("a.xml", f"<mteval><seg>&{LONG};</seg></mteval>", "a.xml"),
    ],
)
def test_errors_shorten_long_quotations_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as error:
        read_columns([asked])
    assert len(str(error.value)) < 1000


def test_errors_shorten_long_quotations_of_arguments(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(LONG)
    calls: list[Callable[[], object]] = [
        lambda: read_numbers(path),
        lambda: metric("bleu").suff_stats([["\ud800" + LONG]], [["a"]]),
        lambda: metric("bleu").suff_stats([[LONG.encode()]], [["a"]]),  # type: ignore[list-item]
        lambda: metric(LONG),
        lambda: reshuffle.compare(["a", "b"], [["a", "b"]] * 2, documents=LONG),
        lambda: reshuffle.score(["a"], {"a": ["a"]}, SegmentScores("m", {"b": [1.0], LONG: [1.0]})),
    ]
    for call in calls:
        with pytest.raises(InputError) as error:
            call()
        assert len(str(error.value)) < 1000


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", COMPRESSED)
def test_the_decompressed_size_is_limited(tmp_path: Path, ending: str) -> None:
    compress = COMPRESSED[ending]
    parts = [b"one\n" * 1000, b"two\n" * 1000, b"three\n"]
    path = tmp_path / f"a.txt.{ending}"
    path.write_bytes(b"".join(map(compress, parts)))  # several members or streams
    size = sum(map(len, parts))
    expected = b"".join(parts).decode().splitlines()
    assert expected == read_lines(path) == read_lines(path, max_input=size)
    for read in (
        lambda: read_lines(path, max_input=size - 1),
        lambda: read_columns([path], max_input=size - 1),
        lambda: read_corpus([str(path)], [str(path)], max_input=size - 1),
        lambda: read_numbers(path, max_input=size - 1),
        lambda: read_documents(path, max_input=size - 1),
        lambda: read_conllu(path, max_input=size - 1),
    ):
        with pytest.raises(InputError, match=r"is larger than 8,005 bytes when decompressed: .*--max-input"):
            read()
    with pytest.raises(InputError, match="max_input must be a whole number of at least 1, got 0"):
        read_lines(path, max_input=0)
    # max_input does not limit files that are not compressed.
    plain = tmp_path / "a.txt"
    plain.write_bytes(b"".join(parts))
    assert expected == read_lines(plain, max_input=1)


def test_a_decompression_bomb_is_refused_without_decompressing_all_of_it(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\0" * (1 << 26)) * 16)  # a megabyte that grows to a gigabyte
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="is larger than 16 MiB when"):
            read_lines(path, max_input=1 << 24)
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()


@given(st.integers(1, 999), st.sampled_from("KMGT"))
def test_sizes_can_have_decimal_and_binary_units(number: int, unit: str) -> None:
    power = "KMGT".index(unit) + 1
    for text in (f"{number}{unit}", f"{number} {unit.lower()}", f"{number}{unit}iB", f"{number}.0{unit}ib"):
        assert parse_size(text) == number * 1024**power
    assert parse_size(f"{number}{unit}B") == number * 1000**power
    assert parse_size(f"{number}") == parse_size(f"{number}B") == number


@pytest.mark.parametrize("text", ["", "0", "-1", "0.1", "many", "4 G i B", "1e9", "5iB", "4PiB", "nan", "1_000", "٣"])
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a number of bytes of at least 1 such as 500M, 4GiB or 100000, got"):
        parse_size(text)
