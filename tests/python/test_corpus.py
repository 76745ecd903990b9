"""Reading texts: ends of lines, names of systems, and what is refused."""

import bz2
import gzip
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import Corpus, InputError, read_corpus, read_json, read_lines
from reshuffle.data.corpus import system_names
from reshuffle.data.file_names import check_order
from told import assert_raises


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_lines_end_at_lf_or_crlf_and_nowhere_else_and_the_last_needs_no_end(tmp_path: Path) -> None:
    odd = "\ufeffa\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh\ufeff"
    for end in ("\n", "\r\n"):
        path = write(tmp_path / "text", f"{odd}{end}{end}second{end}".encode())
        assert read_lines(path) == [odd, "", "second"]
    assert read_lines(write(tmp_path / "a", b"one\ntwo")) == ["one", "two"]
    assert read_lines(write(tmp_path / "b", b"one\n\n")) == ["one", ""]
    assert read_lines(write(tmp_path / "c", b"\n")) == [""]


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), min_size=1))
def test_any_lines_survive_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("any") / "text"
    assert read_lines(write(path, "".join(f"{line}\n" for line in lines).encode())) == lines


def test_systems_that_were_not_read_from_files_are_called_by_their_own_names(tmp_path: Path) -> None:
    ref = write(tmp_path / "ref.txt", b"a\nb\n")
    corpus = read_corpus([ref], [ref])
    with pytest.raises(InputError, match=r"^.*ref\.txt has 2 segments, x has 1: they must match segment by segment$"):
        replace(corpus, systems={**corpus.systems, "x": ["a"]})


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ("x/online-A.0.txt x/KIT.4950.txt", "online-A.0 KIT.4950"),
        ("run1/out.txt run2/out.txt", "run1/out.txt run2/out.txt"),
        ("a/b/out c/b/out d", "a/b/out c/b/out d"),
        ("a a a#2", "a a#2 a#2#2"),
        ("/x/a.txt /x/a.txt /y/b.txt", "a a#2 b"),
        ("/a.txt /x/a.txt", "/a.txt x/a.txt"),
        ("news:2010.gz .hidden -", "news:2010 .hidden stdin"),
        ("caf\udce9.txt", "caf\ufffd"),
        # By columns, if these are unambiguous.
        ("data.tsv#a data.tsv#b", "a b"),
        ("a.jsonl#mt b.jsonl#mt", "a b"),
        ("a.jsonl#mt", "mt"),
        ("a.jsonl#mt a.jsonl#pe b.jsonl#mt b.jsonl#pe", "a#mt a#pe b#mt b#pe"),
        ("x/a.jsonl#mt y/a.jsonl#mt", "x/a.jsonl#mt y/a.jsonl#mt"),
        ("a.txt data.tsv#a", "a.txt data"),
        ("-#a -", "a stdin"),
        ("data.tsv#a data.tsv#a", "a a#2"),
        ("data.tsv.gz#x#y", "x#y"),
        ("data.tsv#", "data"),
    ],
)
def test_systems_are_named_by_the_shortest_unambiguous_part_of_their_paths(paths: str, names: str) -> None:
    assert system_names(paths.split()) == names.split()


def test_texts_in_memory_may_be_any_sequences_or_iterators(tmp_path: Path) -> None:
    assert Corpus.from_texts(np.array(["a", "b"]), (np.array([c, c]) for c in "xy")).n_segments == 2  # type: ignore[arg-type]
    assert Corpus.from_texts((c for c in "ab"), {"x": ("a", "b")}).n_segments == 2  # type: ignore[arg-type]
    (tmp_path / "text").write_text("a\n")
    assert read_lines(tmp_path / "text") == ["a"]
    assert Corpus.from_texts(["a", None], {"x": ["a", "b"]}).n_references == "var"
    assert Corpus.from_texts([["a", "b"], ["a", "b"]], [["a", "b"]]).n_references == "2"
    assert Corpus.from_texts([["a", None], [None, "b"]], [["a", "b"]]).n_references == "1"
    assert list(Corpus.from_texts(["a"], [["a"], ["b"]]).systems) == ["system 1", "system 2"]


@pytest.mark.usefixtures("here")
def test_unreadable_files_and_texts_that_do_not_match_segment_by_segment_are_refused() -> None:
    names = {"read": lambda content: read_lines(write(Path("text"), content)), "gzip": gzip, "bz2": bz2, "lzma": lzma}
    assert_raises("python_errors_of_corpus", globals() | names)
    assert Corpus.from_texts(["", "a"], {"a": ["x", "y"]}).n_segments == 2


def test_a_text_in_place_of_a_name_is_cut_in_the_message() -> None:
    for call in (read_lines, read_json):
        with pytest.raises(InputError) as caught:
            call("a long text " * 10_000)
        assert "'a long text a long text a long text a lo…' (a name of 120,000 characters)" in str(caught.value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("files", "texts"),
    [
        ("comet.tsv#x comet.tsv#y", "a.txt b.txt"),
        ("1.da 2.da", "a.txt b.txt"),
        ("a/da.txt b/da.txt", "a/mt.txt b/mt.txt"),  # folders are ignored
        ("a.da a.da", "a.txt b.txt"),
        ("- b.da", "a.txt b.txt"),
        ("all.tsv#a_da all.tsv#b_da", "all.tsv#a all.tsv#b"),
        ("en-de.a.da en-de.b.da", "en-de.a.txt en-de.b.txt"),
        # named like the systems, in their order
        ("a.tsv b.tsv", "a.txt b.txt"),
        ("comet.tsv#a comet.tsv#b", "a.txt b.txt"),
        ("a.jsonl#comet b.jsonl#comet", "a.jsonl#mt b.jsonl#mt"),
        ("s.tsv#a s.tsv#b", "all.tsv#a all.tsv#b"),
        ("a.comet b.comet.gz", "x/a.out y/b.out"),
        ("a.v1.da a.v2.da", "a.v1.txt a.v2.txt"),
        ("other.da b.da", "a.txt b.txt"),
    ],
)
def test_files_with_other_names_or_in_the_same_order_are_matched_by_position(files: str, texts: str) -> None:
    check_order("--scores x", files.split(), texts.split())


def test_files_of_scores_belong_to_the_systems_named_like_them(demo: Path, run: Any) -> None:
    for name, score in (("tuned", b"1\n"), ("rules", b"2\n")):
        write(demo / f"{name}.da", score * 399 + b"3\n")
    compare = ("compare", "reference.txt", "tuned.txt", "rules.txt", "-n", "99", "--format", "csv", "--scores", "DA")
    expected = run(*compare, "tuned.da", "rules.da")
    assert expected.code == 0
    assert run(*compare, "rules.da", "tuned.da") == expected
    other = run(*compare, "rules.da", "tuned.da", "--by-position")
    assert (other.code, other.out == expected.out) == (0, False)


def test_a_corpus_is_shown_in_a_line() -> None:
    corpus = Corpus.from_texts([["a"] * 1000, ["b"] * 1000], {"x": ["c"] * 1000, "y": ["d"] * 1000})
    assert repr(corpus) == "<Corpus: 1,000 segments; 2 references; 2 systems>"
