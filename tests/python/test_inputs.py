"""Tables, JSON lines, CoNLL-U, numbers and names of files: valid files are read completely, malformed ones refused."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reshuffle
from inputs import put, segments, sgm, xml
from reshuffle import InputError, SegmentScores, metric, read_corpus, read_lines, read_scores
from reshuffle.data.blocks import TextBlocks
from reshuffle.data.corpus import system_names
from reshuffle.data.files import parse_size
from reshuffle.data.formats import INPUT_FORMATS, format_of
from reshuffle.data.reading import read_columns, read_groups, split_name
from reshuffle.data.scores import read_numbers
from reshuffle.validate import LARGEST_SCORE

ANY = st.text(st.characters(exclude_categories=["Cs"]))
FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"))

pytestmark = pytest.mark.usefixtures("here")


def token(number: int, form: str, head: int = 0) -> str:
    """A line of CoNLL-U."""
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\troot\t_\t_"


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


@given(st.lists(st.tuples(FIELD, st.lists(FIELD.filter(bool), max_size=3)), min_size=1, max_size=4))
def test_any_sentences_are_read_back(sentences: list[tuple[str, list[str]]]) -> None:
    blocks = [[f"#{comment}", *(token(i, form) for i, form in enumerate(forms, 1))] for comment, forms in sentences]
    path = put("any.conllu", "".join("\n".join(lines) + "\n\n" for lines in blocks))
    assert ["\n".join(lines) for lines in blocks] == segments(path)


# Tables, JSON lines, CoNLL-U.


def test_a_byte_order_mark_is_skipped_except_in_plain_text() -> None:
    put("bom.tsv", "\ufeffa\tb\n\ufeffx\ty\n")
    assert segments("bom.tsv#a") == ["\ufeffx"]
    assert segments(put("bom.jsonl", '\ufeff"x"\n')) == ["x"]
    assert segments(put("bom.conllu", "\ufeff# x\n\n")) == ["# x"]
    assert segments(put("bom.txt", "\ufeffx\n")) == ["\ufeffx"]


def test_a_single_column_or_key_need_not_be_named() -> None:
    assert segments(put("one.tsv", 'a\nx\n"a "" b\n')) == ["x", '"a "" b']
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
    assert [f"# newdoc\n{a}", "# text =", f"{b}\n{c}"] == column.lines == segments(path)
    assert column.first_lines == [1, 4, 6]
    assert column.place(3) == "a.conllu, line 6"
    assert segments(put("end.conllu", f"{a}\n\n{b}")) == [a, b]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\r\n\r\n\r\n", "\n" * 9])
def test_sentences_may_have_any_number_of_empty_lines_at_the_end(end: str) -> None:
    first = token(1, "A")
    path = put("end.conllu", f"{first}\n\n# b{end}")
    assert segments(path) == [first, "# b"]
    assert read_columns([path])[0].first_lines == [1, 3]


BAD: dict[str, tuple[str, str, str | bytes, str]] = {
    "fields": ("x.tsv", "#a", "a\tb\nx\ty\nx\n", "x.tsv, line 3: expected 2 fields as in the header, got 1"),
    "no rows": ("x.tsv", "#a", "a\tb\n", r"x.tsv: expected rows after the header 'a\tb', got none"),
    "column": ("x.tsv", "#reff", "ref\tb\nx\ty\n", "x.tsv: unknown column 'reff': did you mean 'ref'? Known: ref, b"),
    "columns": ("x.tsv", "", "a\tb\nx\ty\n", "x.tsv: expected one column, got 2 (a, b): choose one as in 'x.tsv#a'"),
    "column twice": ("x.tsv", "#a", "a\ta\nx\ty\n", "x.tsv: 2 columns in the header are called 'a': expected one"),
    "empty table": ("x.tsv", "#a", "", "x.tsv is empty: expected the names of the columns"),
    "bad UTF-8": ("x.tsv", "#a", b"a\n\xff\n", "x.tsv, line 2, byte 1: 0xff is not valid UTF-8"),
    "no JSON": ("x.jsonl", "#a", '{"a": "x"}\n{"a": x}\n', "x.jsonl, line 2: expected a JSON value, got '{\"a\": x}'"),
    "blank line": ("x.jsonl", "#a", '{"a": "x"}\n\n{"a": "x"}\n', "x.jsonl, line 2: expected a JSON value, got an"),
    "no object": ("x.jsonl", "#a", '{"a": "x"}\n["a"]\n', "x.jsonl, line 2: expected an object with the key 'a', got"),
    "bare and key": ("x.jsonl", "#a", '"x"\n', "x.jsonl, line 1: expected an object with the key 'a', got the string"),
    "keys": ("x.jsonl", "", '{"a": "x", "b": "y"}\n', "x.jsonl: expected one key, got 2 (a, b): choose one as in"),
    "key": ("x.jsonl", "#reff", '{"ref": "x"}\n', "x.jsonl: unknown key 'reff': did you mean 'ref'?"),
    "key later": (
        "x.jsonl",
        "#a",
        '{"a": "x"}\n{"b": "y"}\n',
        "x.jsonl, line 2: expected the key 'a', which line 1 has, got b",
    ),
    "number": ("x.jsonl", "#a", '{"a": 1.5}\n', "x.jsonl#a, line 1: expected a string, got the number 1.5"),
    "surrogate": ("x.jsonl", "", '"\\ud800"\n', "x.jsonl, line 1: not valid Unicode: it contains a lone surrogate"),
    "deep": ("x.jsonl", "", "[" * 100_000, "x.jsonl, line 1: the JSON value cannot be read: "),
    "system": ("x.xml", "#onlineA", xml({"online-A": {("d", "1"): "x"}}), "x.xml: unknown system 'onlineA': did you"),
    "text": ("x.txt", "#a", "x\n", "x.txt: plain text has no named columns, got #a: leave it out"),
    "parse": ("x.conllu", "#a", "# x\n\n", "x.conllu: CoNLL-U has no named columns, got #a: leave it out"),
    "tag by name": ("x.conll", "#ner", "w O\n", "x.conll: columns of CoNLL files are numbered from 1, as in #4"),
    "no tag": ("x.conll", "", "w O\n\nw\n", "x.conll, line 3: expected a word and its tags, got 'w'"),
    "no column": ("x.conll", "#3", "w NN O\nw NN\n", "x.conll, line 2: expected a tag in column 3, got 'w NN'"),
    "no sentence": ("x.conll", "", "-DOCSTART- O\n \n", "x.conll: expected sentences, found only empty lines"),
    "no end": ("x.conllu", "", "# x\n\n1\tA\n", "x.conllu, line 3: expected 10 columns of CoNLL-U, separated by tabs"),
    "two blanks": ("x.conllu", "", "# x\n\n\n# y\n\n", "x.conllu, line 3: expected a sentence, got an empty line"),
    "blanks alone": ("x.conllu", "", "\n\n\n", "x.conllu, line 1: expected a sentence, got an empty line"),
    "mark alone": ("x.conllu", "", "\ufeff", "x.conllu is empty: it contains nothing but a byte order mark"),
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


@given(st.lists(st.floats(-LARGEST_SCORE, LARGEST_SCORE), min_size=1))
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
        ("x.txt", "0\n1e308\n", "x.txt, line 2: expected a number of at most 1e+75 in magnitude, got '1e308'"),
        ("x.txt", "1_000\n", "x.txt, line 1: expected a finite number, got '1_000'"),
        ("x.tsv", "a\n1\nx\n", "x.tsv, line 3: expected a finite number, got 'x'"),
        ("x.jsonl", "1\nNaN\n", "x.jsonl, line 2: expected a finite number, got the number NaN"),
        ("x.jsonl", "1" + "0" * 400 + "\n", "x.jsonl, line 1: expected a finite number, got the number 1000"),
        ("x.jsonl", '1\n"1"\n', 'x.jsonl, line 2: expected a finite number, got the string "1": write it without'),
        ("x.sgm", "1\n", "x.sgm: scores cannot be read from the format mteval; these formats have numbers: text"),
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
    for files, expected in (
        ("a.sgm a.SGML.bz2 a.xml.gz", "mteval"),
        ("a.tsv.xz", "tsv"),
        ("a.csv", "csv"),
        ("a.b.ndjson", "jsonl"),
        ("tsv a.tsv.txt a - .gz a.conl", "text"),
    ):
        assert {format_of(name) for name in files.split()} == {expected}
    path = put("table.tsv", "a\tb\nx\ty\n")
    assert segments(path, "text") == ["a\tb", "x\ty"]
    Path(path).rename("table")
    assert segments("table#b", "tsv") == ["y"]
    with pytest.raises(InputError, match="unknown input format 'TSV': did you mean 'tsv'"):
        segments("table", "TSV")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_and_standard_input_are_read_in_every_format(
    compress: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "text": "x\n",
        "tsv": "a\nx\n",
        "csv": "a\nx\n",
        "jsonl": '{"a": "x"}\n',
        "mteval": sgm({("d", "1"): "x"}, sysid="a"),
        "conllu": "#x\n\n",
        "conll": "w x\n",
        "comet": '[{"a": "x"}]',
        "comet-printed": "f\tSegment 0\tscore: x\n",
        "mt-metrics-eval": "f\tx\n",
        "table": "a\nx\n",
        "trn": "x (a-1)\n",
        "kaldi": "a-1 x\n",
        "utt2spk": "a-1 x\n",
        "meeteval": '{"r": {"errors": "x", "length": 2, "a": "x"}}',
    }
    nameless = ("text", "conllu", "conll", "comet-printed", "mt-metrics-eval", "trn", "kaldi", "utt2spk")
    assert list(INPUT_FORMATS) == sorted(files, key=list(INPUT_FORMATS).index)
    for name, content in files.items():
        data = compress(content.encode())
        expected = ["#x" if name == "conllu" else "x"]
        assert segments(put("compressed", data), name) == expected
        for path in ["-", "-#a"][: 1 if name in nameless else 2]:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
            assert segments(path, name) == expected


def test_sentences_of_conll(folder: Path) -> None:
    text = "-DOCSTART- -X- O O\n\nEU NNP B-ORG\nrejects VBZ O\n\n\nNo DT O\r\n\t\n-DOCSTART- -X- O O\nYes UH O\n"
    last, second = read_columns([put("x.conll", text), "x.conll#2"])
    assert (last.lines, second.lines) == (["B-ORG O", "O", "O"], ["NNP VBZ", "DT", "UH"])
    assert (list(last.first_lines), last.place(2)) == ([3, 7, 10], "x.conll, line 7")
    documents = read_groups("document", "x.conll")
    assert (documents.lines, documents.keys) == (["1", "1", "2"], None)
    (alone,) = read_columns([put("y.iob", "# id 7 domain=en\na\tB-X\nb c\tI-X\n\n# NN\n")])
    assert (alone.lines, alone.ids) == (["B-X I-X", "NN"], None)


def test_a_number_sign_in_the_name_of_an_existing_file_does_not_start_a_column(folder: Path) -> None:
    for name in ("x#1.txt", "t", "t#a", "c#.tsv", "c#.tsv#d"):
        put(name, "x\n")
    (folder / "dir").mkdir(exist_ok=True)
    for path, column in (
        ("t", "b"), ("t#a", "b"), ("c#.tsv", "e#f"), ("missing.tsv.gz", "a#b"), ("-", ""),
    ):  # fmt: skip
        assert split_name(f"{path}#{column}") == (path, column)
    files = ("x#1.txt", "t#a", "c#.tsv#d")
    for path in (*files, "missing#1", "#", "#a.tsv", "dir#a", "a\0#b", "x" * 5000 + "#y", "missing"):
        assert split_name(path) == (path, None)
    with pytest.raises(InputError, match=r"missing\.tsv: no such file"):
        segments("missing.tsv#a")


def test_a_folder_that_cannot_be_listed_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InputError, match=r"missing\.txt: no such file$"):
        segments("missing.txt")


@given(
    st.lists(st.sampled_from("a.tsv#a b.tsv#a a.tsv#b x/a.tsv#a a a.txt /x/a.gz a#2 -#a - a.tsv#".split()), max_size=8)
)
def test_names_of_systems_are_unique(paths: Sequence[str]) -> None:
    assert len(set(system_names(paths))) == len(paths)


LONG = "x" * 400_000


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("a.tsv", LONG),
        (f"a.tsv#{LONG}", f"{LONG}\t{LONG}\n1\t2\n"),
        ("a.tsv#d", "\t".join(f"c{i}" for i in range(100_000)) + "\n"),
        ("a.jsonl", LONG),
        ("a.jsonl", json.dumps({LONG: 1}) + "\n2\n"),
        ("a.conllu", LONG),
        ("a.conllu", f"1\tx\t_\t_\t_\t_\t{LONG}\t_\t_\t_\n\n"),
        ("a.sgm", f'<refset><doc docid="d" sysid="a"><seg id="{LONG}">a</seg><seg id="{LONG}">b</seg></doc>'),
        ("a.xml", f"<mteval><seg>&{LONG};</seg></mteval>"),
    ],
    ids=lambda value: value[:9],
)
def test_errors_shorten_long_quotations_from_files(asked: str, content: str) -> None:
    put(asked.partition("#")[0], content)
    with pytest.raises(InputError) as error:
        read_columns([asked])
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    "call",
    [
        lambda: read_numbers(put("a", LONG)),
        lambda: metric("bleu").suff_stats([["a"]], [["\ud800" + LONG]]),
        lambda: metric("bleu").suff_stats([["a"]], [[LONG.encode()]]),  # type: ignore[list-item]
        lambda: metric(LONG),
        lambda: reshuffle.compare(["a", "b"], [["a", "b"]] * 2, documents=LONG),
        lambda: reshuffle.score(["a"], {"a": ["a"]}, SegmentScores("m", {"b": [1.0], LONG: [1.0]})),
    ],
)
def test_errors_shorten_long_quotations_of_arguments(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert len(str(error.value)) < 1000


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", COMPRESSED)
def test_the_decompressed_size_is_limited(tmp_path: Path, ending: str) -> None:
    parts = [b"one\n" * 1000, b"two\n" * 1000, b"three\n"]
    path, plain = tmp_path / f"a.txt.{ending}", tmp_path / "a.txt"
    path.write_bytes(b"".join(map(COMPRESSED[ending], parts)))  # several members or streams
    plain.write_bytes(b"".join(parts))
    size = sum(map(len, parts))
    # max_input does not limit files that are not compressed.
    assert read_lines(plain, max_input=1) == read_lines(path) == read_lines(path, max_input=size)
    for read in (
        partial(read_lines, path),
        partial(read_columns, [path]),
        partial(read_columns, [path], "conllu"),
        partial(read_corpus, [str(path)], [str(path)]),
        partial(read_numbers, path),
        partial(read_groups, "document", str(path)),
    ):
        with pytest.raises(InputError, match=r"is larger than 8,005 bytes when decompressed: .*max_input"):
            read(max_input=size - 1)
    with pytest.raises(InputError, match="max_input must be a whole number of at least 1, got 0"):
        read_lines(path, max_input=0)


def test_a_decompression_bomb_is_refused_without_decompressing_all_of_it(tmp_path: Path) -> None:
    import tracemalloc

    path, log = tmp_path / "bomb.gz", tmp_path / "bomb.eval"
    path.write_bytes(gzip.compress(b"\0" * (1 << 23)) * 16)  # 128 kB that grow to 128 MiB, without a line end
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (1 << 25))
    for read in (
        lambda: read_lines(path, max_input=1 << 22),
        lambda: list(TextBlocks([str(path)], max_input=1 << 22)),
        lambda: read_scores(log, max_input=1 << 22),
    ):
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match="is larger than 4 MiB when"):
                read()
            assert tracemalloc.get_traced_memory()[1] < 1 << 24
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
    with pytest.raises(InputError, match="expected a size of at least 1 byte, such as 500M, 4GiB or 100000, got"):
        parse_size(text)
