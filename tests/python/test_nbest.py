"""K-best lists: every form of features against a slow reader, real files and what Moses makes of them, wrong files."""

import importlib
import io
import itertools
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from known import known
from reshuffle import InputError, metric
from reshuffle.tune import LinearModel, NBest, Sparse, read_nbest, read_weights, template_features, weights_by_name
from told import assert_raises


class Entry(NamedTuple):
    """A line, with its features by name. Features that are 0 are left out."""

    id: int
    text: str
    features: dict[str, float]
    total: float | None


def slow_entry(line: str) -> Entry:
    """Read a line the obvious way."""
    columns = [column.strip(" \t") for column in line.split("|||")]
    features: dict[str, float] = {}
    label, values = "F", list[float]()
    groups = [(label, values)]
    for token in columns[2].split():
        if token.endswith(("=", ":")):
            groups.append((token[:-1], []))
        elif "=" in token:
            name, value = token.rsplit("=", 1)
            features[name] = float(value)
        else:
            groups[-1][1].append(float(token))
    for name, values in groups:
        names = [name] if len(values) == 1 and name != "F" else [f"{name}_{i}" for i in range(len(values))]
        # Without a label, a single value is called F_0; with the label F it is called F.
        if name == "F" and len(values) == 1 and re.search(r"\bF[=:]", columns[2]):
            names = ["F"]
        features |= dict(zip(names, values, strict=True))
    total = float(columns[3]) if len(columns) > 3 and columns[3] else None
    return Entry(int(columns[0]), columns[1], {n: v for n, v in features.items() if v != 0}, total)


def entries(lists: NBest, step: int = 1) -> list[Entry]:
    """The entries of lists that were read, or some of them."""
    found = []
    texts, names = lists.texts(), lists.names
    for sentence, sentence_id in enumerate(lists.ids.tolist()):
        for k in range(lists.offsets[sentence], lists.offsets[sentence + 1]):
            if k % step:
                continue
            features = dict(zip(names, lists.dense[k].tolist(), strict=True))
            if lists.sparse is not None:
                for i in range(lists.sparse.indptr[k], lists.sparse.indptr[k + 1]):
                    features[lists.sparse.names[lists.sparse.indices[i]]] = float(lists.sparse.values[i])
            total = None if lists.totals is None else float(lists.totals[k])
            text = texts[lists.text_of[k]]
            found.append(Entry(sentence_id, text, {n: v for n, v in features.items() if v != 0}, total))
    return found


def in_memory(text: str | bytes, name: str = "lists") -> NBest:
    """Lists from text."""
    from reshuffle import _core

    return NBest(_core.NBest.parse(text.encode() if isinstance(text, str) else text, name), name)


WORDS = st.sampled_from(["a", "b c", "", "d é", "=", "x= 1", "a|b", "\u2028", "1"])
VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300, 123456.789, 3e300])
FEATURES = ("lm", "tm", "d")


@st.composite
def _files(draw: st.DrawFn) -> list[str]:
    """Lines of a file in one of the forms, with its traps."""
    style = draw(st.sampled_from(["labels", "colons", "pairs", "columns"]))
    widths = {name: draw(st.integers(1, 3)) for name in draw(st.sets(st.sampled_from(FEATURES), min_size=1))}
    n_columns = draw(st.integers(0, 3))
    separator = draw(st.sampled_from([" ||| ", "||| ", " |||", "|||", "  |||  "]))
    ids = sorted(draw(st.lists(st.integers(0, 3), min_size=1, max_size=8)))
    lines = []
    for sentence in ids:
        if style == "columns":
            features = [repr(draw(VALUES)) for _ in range(4)]
        elif style == "pairs":
            names = draw(st.permutations([*FEATURES, "s_1", "s_x"]))
            features = [f"{name}={draw(VALUES)!r}" for name in names[: draw(st.integers(0, 5))]]
        else:
            mark = "=" if style == "labels" else ":"
            groups = [f"{name}{mark} " + " ".join(repr(draw(VALUES)) for _ in range(n)) for name, n in widths.items()]
            sparse = draw(st.sets(st.sampled_from(["s_1", "s_x", "_"])))
            features = draw(st.permutations([*groups, *(f"{name}{mark} {draw(VALUES)!r}" for name in sorted(sparse))]))
        further = ["-1.5", "0-1=0-1", "0-0"][:n_columns]
        lines.append(separator.join([str(sentence), draw(WORDS), " ".join(features), *further]))
    return lines


@given(_files(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_files_in_every_form_are_read_as_by_a_slow_reader(lines: list[str], end: str, ends: bool) -> None:
    lists = in_memory(end.join(lines) + end * ends)
    assert entries(lists) == [slow_entry(line) for line in lines]
    columns = [re.split(r" *\|\|\| *", line) for line in lines]
    rows = np.arange(len(lists))
    assert lists.hypotheses(rows) == [row[1].strip(" ") for row in columns]
    assert lists.alignments(rows) == ([row[4] for row in columns] if len(columns[0]) > 4 else None)


def _truth(path: Path) -> list[list[list[str]]]:
    """What Moses prints for the runs 1 to r, for each r: the blocks of features, and then those of counts."""
    blocks: list[list[str]] = []
    for line in path.read_text().splitlines():
        text = line.partition("=")[2].strip()
        if "_BEGIN_" in text:
            blocks.append([])
        elif text and "_END_" not in text:
            blocks[-1].append(text)
    return [blocks[i : i + 20] for i in range(0, len(blocks), 20)]


def test_joined_lists_and_counts_are_those_of_moses(data: Path) -> None:
    """``truth`` is printed by Moses, for one to five runs. It drops entries with equal features and counts."""
    folder = data / "moses-nbest/extractor-regtest"
    references = (folder / "data/reference").read_text().splitlines()
    runs = [read_nbest(folder / f"data/nbest.{i}") for i in range(1, 6)]
    bleu = metric("bleu", tokenize="none")
    for r, blocks in enumerate(_truth(folder / "truth/results.txt")):
        joined = runs[0].merged(*runs[1 : r + 1])
        counts = joined.count(bleu, references)
        matches_and_totals = counts[:, [2, 6, 3, 7, 4, 8, 5, 9, 1]]
        assert joined.n_sentences == 10
        for sentence in range(10):
            rows = slice(joined.offsets[sentence], joined.offsets[sentence + 1])
            ours = {
                (*features.astype(np.float32).tolist(), *row)
                for features, row in zip(joined.dense[rows], matches_and_totals[rows].tolist(), strict=True)
            }
            theirs = {
                (*np.array(features.split(), dtype=np.float32).tolist(), *map(int, row.split()))
                for features, row in zip(blocks[sentence], blocks[10 + sentence], strict=True)
            }
            assert ours == theirs
            # Some entries differ in their hypotheses only. We keep them.
            assert rows.stop - rows.start >= len(blocks[sentence])


@pytest.mark.parametrize("threads", [1, 2])
def test_entries_are_counted_as_a_system_is(data: Path, threads: int) -> None:
    folder = data / "moses-nbest/scorer"
    lists = read_nbest(folder / "nbest.out")
    references = (folder / "reference.txt").read_text().splitlines()[:100]
    rows = lists.offsets[:-1] + np.arange(100) % 90
    system = lists.hypotheses(rows)
    for name in ("bleu", "ter", "chrf", "nist", "sentbleu", "wer", "gtm", "length"):
        found = metric(name)
        counts = lists.count(found, references, workers=threads)
        np.testing.assert_array_equal(counts[rows], found.suff_stats(references, [system])[0])
        scores = lists.sentence_scores(found, references, workers=threads)
        np.testing.assert_array_equal(scores, found.segment_scores(counts))


def test_tokenizers_of_other_packages_read_each_hypothesis() -> None:
    lists = in_memory("0 ||| ab ||| 1\n0 ||| ab ||| 2\n0 ||| c ||| 3\n")
    split = metric("bleu", tokenize="none")
    object.__setattr__(split, "_tokenize", " ".join)
    assert lists.count(split, ["a b"])[:, :2].tolist() == [[2, 2], [2, 2], [1, 2]]


def test_dense_features_are_those_that_were_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "pairs.nbest"
    path.write_text("0 ||| a ||| lm=1 s_a=2 s_b=3\n0 ||| b ||| s_b=4\n")
    lists = read_nbest(path, dense=["s_b", "new", "lm"])
    assert (lists.names, lists.dense.tolist()) == (["s_b", "new", "lm"], [[3, 0, 1], [4, 0, 0]])
    sparse = known(lists.sparse)
    assert (sparse.names, sparse.values.tolist(), sparse.indptr.tolist()) == (["s_a"], [2], [0, 1, 1])
    many = " ".join(f"f{i}=1 s_{i}=1" for i in range(40))
    path.write_text(f"0 ||| a ||| {many}\n")
    assert [name[0] for name in read_nbest(path).names] == ["f"] * 40
    path.write_text("0 ||| a ||| lm= 1 tm= 2 3 s_a= 4\n0 ||| a ||| lm= 1 tm= 2 3\n")
    lists = read_nbest(path, dense=["tm_1", "s_a", "lm", "tm_0"])
    assert (lists.dense.tolist(), lists.sparse) == ([[3, 4, 1, 2], [3, 0, 1, 2]], None)


def test_lists_that_leave_out_zeros_are_joined_over_all_features() -> None:
    first, second = (
        in_memory("0 ||| a ||| lm=1\n2 ||| b ||| lm=2\n"),
        in_memory("0 ||| a ||| tm=1 lm=1\n1 ||| a ||| \n"),
    )
    joined = first.merged(second)
    assert (joined.names, joined.ids.tolist()) == (["lm", "tm"], [0, 1, 2])
    assert joined.dense.tolist() == [[1, 0], [1, 1], [0, 0], [2, 0]]


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_compressed_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    content = importlib.import_module(module).compress(b"0 ||| a ||| 1 2\n")
    (tmp_path / "a").write_bytes(content)
    assert entries(read_nbest(tmp_path / "a")) == [Entry(0, "a", {"F_0": 1, "F_1": 2}, None)]
    with pytest.raises(InputError, match=r"9 bytes when decompressed.* max_input"):
        read_nbest(tmp_path / "a", max_input=9)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_nbest("-").dense.tolist() == [[1, 2]]


ADDED = Sparse(np.array([0, 1, 3, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0]), ["p", "q"])


def test_features_are_added_to_lists() -> None:
    lists = in_memory("0 ||| a b ||| lm= 1 s_x= 2\n0 ||| a c ||| lm= 2\n1 ||| d ||| lm= 0 s_y= 1\n")
    more = lists.with_features(ADDED)
    sparse = known(more.sparse)
    assert sparse.names == ["s_x", "s_y", "p", "q"]
    rows = [dict(zip(sparse.indices[a:b].tolist(), sparse.values[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(sparse.indptr)]  # fmt: skip
    assert rows == [{0: 2, 3: 5}, {2: 6, 3: 7}, {1: 1}]
    assert known(lists.sparse).names == ["s_x", "s_y"]
    some = known(more.selected([1, 2]).sparse)
    assert (some.indptr.tolist(), some.values.tolist()) == ([0, 2, 3], [6, 7, 1])


def test_added_features_count_once() -> None:
    lists = in_memory("0 ||| a b ||| lm= 1\n0 ||| a c ||| lm= 2\n")
    made = template_features(lists, ["ngram:1"])
    model = LinearModel({"lm": 1.0, "ngram:1=b": 1.5, "ngram:1=c": 0.25})
    assert model.scores(lists.with_features(made)).tolist() == model.scores(lists).tolist() == [2.5, 2.25]


# --- Files with the weights of features, in each form, and wrong ones


NAMES = ["lm", "tm_0", "tm_1"]


@pytest.mark.parametrize(
    "text",
    [
        "0.5 -1 2e-1\n",
        "# start\n\n0.5 -1 .2\n",
        "lm 0.5\ntm_1 0.2\ntm_0 -1\ns_a 7\n",
        "lm= 0.5\ntm= -1 0.2\ns_a= 7\n",
        "lm: 0.5 tm: -1 0.2 s_a: 7\n",
        "tm_0=-1 lm=0.5\ntm_1=0.2 other=3 s_a=7\n",
        "[feature]\nLM name=lm\n[weight]\n# chosen\ns_a= 7\nlm= 0.5\ntm= -1 0.2\n[other]\nlm= 3\n",
        '{"lm": 0.5,\n "tm_0": -1, "tm_1": 0.2, "s_a": 7}\n',
    ],
)
def test_weights_are_put_into_the_order_of_the_features(tmp_path: Path, text: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    weights = read_weights(path, NAMES, ["s_b", "s_a"])
    assert weights.dense.tolist() == [0.5, -1, 0.2]
    assert weights.sparse.tolist() == ([0, 7] if "s_a" in text else [0, 0])
    assert weights.low is weights.high is None
    assert weights_by_name({"a": 1, "b": 2.5}, ["b"], ["a"]).dense.tolist() == [2.5]


def test_limits_of_random_weights(data: Path) -> None:
    folder = data / "kbest-wmt11-de-en"
    weights = read_weights(folder / "init.opt", read_nbest(folder / "dev.nbest.gz").names)
    assert weights.dense.tolist() == [0.01, 0.4, -1, -10, -0.2, -0.2, -0.2, -0.1, -0.1, -0.1, -0.1, -0.8]
    assert (set(known(weights.low).tolist()), set(known(weights.high).tolist())) == ({-1}, {1})


@pytest.mark.usefixtures("here")
def test_wrong_lists_weights_and_uses_are_explained() -> None:
    def read(content: str | bytes, name: str = "wrong.nbest") -> object:
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return read_weights(name, NAMES) if name == "weights" else read_nbest(name)

    read("0 ||| a ||| lm= 1 tm= 2 3\n", "named.nbest")
    lists = in_memory("1 ||| a ||| 1\n1 ||| a ||| 2\n2 ||| b ||| 1\n2 ||| b ||| 1\n")
    assert_raises("python_errors_of_nbest", globals() | {"read": read, "lists": lists})
