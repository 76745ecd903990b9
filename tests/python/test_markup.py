"""SGML and XML of mteval and WMT: what is read, against mteval-v13a.pl and sacreBLEU, and what is refused."""

import copy
import io
import pickle
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from inputs import KEYS, put, segments, sgm, xml
from reshuffle import InputError, InputWarning, metric, read_corpus, score
from reshuffle.data.reading import read_columns
from told import assert_raises

# Characters that XML allows; runs of white space are collapsed on reading, so another test covers them.
WORD = st.text(st.characters(min_codepoint=0x21, exclude_categories=["Cs", "Cc", "Z", "Cn"]), min_size=1)
WORDS = st.lists(WORD, max_size=5).map(" ".join)


pytestmark = pytest.mark.usefixtures("here")


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
        expected = m.suff_stats(corpus.references, {"sys": ["in the year 2008."]})
        np.testing.assert_array_equal(expected, m.suff_stats(corpus.references, corpus.systems))
        np.testing.assert_array_equal(expected, m.suff_stats(corpus.references, plain))


def test_files_name_their_systems_and_xml_is_recognized_by_its_ending_or_its_declaration() -> None:
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


def test_segments_that_a_reference_or_the_source_lacks_give_a_warning() -> None:
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
    text = wmt({name: {("d", "1"): "x"} for name in ("ref:A", "s")})
    path = put("strange.xml", re.sub("<hyp .*?>", r'\g<0><seg id="7">z</seg>', text))
    with pytest.warns(InputWarning, match=r"strange\.xml: segment '7' of the document 'd' is not in the document's"):
        assert read_corpus([path], [f"{path}#s"]).systems["s"] == ["x"]


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


def unmatched(change: Callable[[dict[tuple[str, str], str]], object]) -> None:
    """Read a reference, and a system whose segments have been changed."""
    texts = dict.fromkeys(KEYS, "x")
    ref = put("ref.sgm", sgm(texts, "ref", sysid="r"))
    change(texts)
    read_corpus([ref], [put("hyp.sgm", sgm(texts, sysid="h"))])


DOCUMENT = f"<tstset sysid='a'>\n<doc docid='d'>{SEG}</doc></tstset>"


def test_malformed_files_are_refused_with_their_line() -> None:
    """The first of WMT's layout, then SGML and XML of mteval."""
    assert_raises("python_errors_of_markup", globals())
