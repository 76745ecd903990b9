"""Counts on disk: what they hold, that results are those of the texts, and that damaged files are refused."""

import gzip
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from known import ends, known
from reshuffle import CountsFile, CountsWriter, FromCounts, InputError, metric, open_counts, save_counts
from reshuffle import counts as counting
from reshuffle._core import Counts, Resampler, Sums
from reshuffle.data.blocks import TextBlocks
from reshuffle.data.count_files import narrowest, read_arrays, write_arrays
from reshuffle.data.demo import demo_corpus
from reshuffle.resampling.stored import StoredSample
from told import assert_raises, assert_refused
from unnamed import unnamed

CORPUS = demo_corpus()
METRICS = ("bleu", "chrf", "ter", "sentbleu")
DOCUMENTS = [f"talk {i // 8}" for i in range(CORPUS.n_segments)]
STRATA = ["news" if i < 200 else "talks" for i in range(CORPUS.n_segments)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> CountsFile:
    path = tmp_path_factory.mktemp("counts") / "demo.npz"
    save_counts(path, CORPUS.references, CORPUS.systems, METRICS, documents=DOCUMENTS, strata=STRATA)
    return open_counts(path)


# What a file holds.


def test_a_file_has_the_counts_and_what_they_are(stored: CountsFile) -> None:
    assert stored.systems == tuple(CORPUS.systems)
    assert (stored.n_segments, stored.n_references, stored.version) == (CORPUS.n_segments, "1", reshuffle.__version__)
    assert [known(ids).tolist() for ids in (stored.documents, stored.strata)] == [DOCUMENTS, STRATA]
    for name, found in zip(METRICS, stored, strict=True):
        expected = metric(name).suff_stats(CORPUS.references, CORPUS.systems)
        assert np.array_equal(found.array, expected)
        assert found.array.dtype == narrowest(expected)
        assert not found.array.flags.writeable
        assert found.counts["tuned"].dtype == np.int64
        assert np.array_equal(found.counts["tuned"], expected[1])
        assert found.signature() == metric(name).signature("1")
        assert found.segment_signature() == metric(name).segment_signature("1")
        assert (found.columns, found.key) == (metric(name).columns, name)
    with pytest.raises(KeyError):
        stored[0].counts["other"]


def test_numpy_reads_the_arrays_where_they_are(stored: CountsFile) -> None:
    with np.load(stored.path) as arrays:
        assert np.array_equal(arrays["BLEU"], stored[0].array)
        assert json.loads(arrays["reshuffle.json"])["systems"] == list(stored.systems)
        assert arrays["documents"].shape == (CORPUS.n_segments,)
    with zipfile.ZipFile(stored.path) as members:
        assert members.testzip() is None
    assert not any(found.array.__array_interface__["data"][0] % 64 for found in stored)


def test_npy_files_have_one_array(tmp_path: Path) -> None:
    save_counts(tmp_path / "a.npy", CORPUS.references, CORPUS.systems, "chrf")
    (found,) = open_counts(tmp_path / "a.npy")
    for mode in (None, "r"):
        assert np.array_equal(np.load(tmp_path / "a.npy", mmap_mode=mode), found.array)
    assert reshuffle.score(metrics=found) == reshuffle.score(CORPUS.references, CORPUS.systems, "chrf")
    with pytest.raises(InputError, match="got documents or strata"):
        save_counts(tmp_path / "b.npy", CORPUS.references, CORPUS.systems, "chrf", documents=DOCUMENTS)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def blocks(sizes: Sequence[int]) -> list[tuple[list[list[str | None]], dict[str, list[str]]]]:
    ends = np.cumsum(sizes).tolist()
    parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return [
        ([list(c[part]) for c in CORPUS.references], {n: list(lines[part]) for n, lines in CORPUS.systems.items()})
        for part in parts
    ]


@settings(max_examples=budget(8))
@given(st.lists(st.integers(1, 150), max_size=6))
def test_blocks_do_not_matter(sizes: list[int]) -> None:
    sizes = [size for size, end in zip(sizes, np.cumsum(sizes), strict=True) if end < CORPUS.n_segments]
    sizes.append(CORPUS.n_segments - sum(sizes))
    with tempfile.TemporaryDirectory() as folder:
        whole, parts = Path(folder) / "a.npz", Path(folder) / "b.npz"
        save_counts(whole, CORPUS.references, CORPUS.systems, ["bleu", "ter"], documents=DOCUMENTS, workers=1)
        with CountsWriter(parts, ["bleu", "ter"], documents=DOCUMENTS, workers=3) as writer:
            for references, systems in blocks(sizes):
                writer.add(references, systems)
        assert whole.read_bytes() == parts.read_bytes()


def test_a_large_spool_uses_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.data.count_files.IN_MEMORY", 100)
    monkeypatch.setattr(counting, "BLOCK", 64)
    save_counts(tmp_path / "a.npz", CORPUS.references, CORPUS.systems, METRICS)
    for name, found in zip(METRICS, open_counts(tmp_path / "a.npz"), strict=True):
        assert np.array_equal(found.array, metric(name).suff_stats(CORPUS.references, CORPUS.systems))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_what_cannot_be_counted_in_blocks_says_so(tmp_path: Path) -> None:
    first, second = blocks([100, 300])
    path = tmp_path / "a.npz"

    def write(metrics: Any, *parts: Any) -> None:
        with CountsWriter(path, metrics) as writer:
            for part in parts:
                writer.add(*part)

    some = [[*second[0][0]], [None, *second[0][0][1:]]]
    wrong: dict[str, Any] = {**second[1], "tuned": [*second[1]["tuned"][:2], None, *second[1]["tuned"][3:]]}
    assert_raises("python_errors_of_blocks", globals() | locals())
    assert not list(tmp_path.iterdir())


def test_given_counts_are_saved_with_their_formula(tmp_path: Path, stored: CountsFile) -> None:
    given = FromCounts(
        "mine", {"A": np.array([[3, 4], [5, 500]]), "B": np.array([[4, 4], [5, 5]])}, metric("length", tokenize="none")
    )
    save_counts(tmp_path / "a.npz", metrics=given)
    assert reshuffle.compare(metrics=open_counts(tmp_path / "a.npz")) == reshuffle.compare(metrics=given)
    save_counts(tmp_path / "b.npz", metrics=stored.chosen(["tuned", "baseline"]), documents=stored.documents)
    again = open_counts(tmp_path / "b.npz")
    assert again.systems == ("tuned", "baseline")
    assert reshuffle.compare(metrics=again) == reshuffle.compare(metrics=stored.chosen(["tuned", "baseline"]))
    with pytest.raises(InputError, match="mine cannot be saved: expected a metric of 'reshuffle explain'"):
        save_counts(
            tmp_path / "c.npz", metrics=FromCounts("mine", {"A": np.array([[3, 4]])}, lambda totals: totals[..., 0])
        )
    with pytest.raises(InputError, match="rating cannot be saved"):
        save_counts(tmp_path / "c.npz", metrics=reshuffle.SegmentScores("rating", {"A": [1, 2]}))


@pytest.mark.interop("MeCab", "ipadic")
def test_the_tokenizer_of_another_package_is_not_needed_to_read(tmp_path: Path) -> None:
    save_counts(
        tmp_path / "a.npz", ["今日は晴れ"], {"A": ["今日は雨"]}, metric("bleu", tokenize="ja-mecab", lowercase=True)
    )
    (found,) = open_counts(tmp_path / "a.npz")
    assert found.formula.options["tokenize"] == "none"
    expected = reshuffle.score(["今日は晴れ"], {"A": ["今日は雨"]}, metric("bleu", tokenize="ja-mecab", lowercase=True))
    assert reshuffle.score(metrics=found) == expected


# Results are those of texts.

COMPARISONS: list[dict[str, Any]] = [
    {},
    {"test": "ar", "all_pairs": True, "adjust": "maxt", "n_resamples": 199},
    {"test": "ar-studentized", "n_resamples": 199, "interval": "studentized"},
    {"test": "permutation", "n_resamples": 199, "baseline": "tuned"},
    {"interval": "bca", "strata": STRATA},
    {"interval": "delta"},
    {"interval": "jackknife", "documents": DOCUMENTS},
    {"documents": DOCUMENTS, "strata": STRATA, "n_resamples": 199, "test": "ar:scheme=subgroup"},
]


@pytest.mark.parametrize("options", COMPARISONS, ids=lambda options: "-".join(map(str, options)) or "defaults")
def test_comparisons_are_those_of_texts(stored: CountsFile, options: dict[str, Any]) -> None:
    options = {"n_resamples": 299, **options}
    expected = reshuffle.compare(CORPUS.references, CORPUS.systems, METRICS, **options)
    assert reshuffle.compare(metrics=stored, **options) == expected
    assert reshuffle.compare(metrics=stored, **options).render("json") == expected.render("json")


def test_other_functions_take_counts_too(stored: CountsFile) -> None:
    texts = CORPUS.references, CORPUS.systems
    table, expected = reshuffle.segment_scores(metrics=stored), reshuffle.segment_scores(*texts, METRICS)
    assert table.signature == expected.signature
    assert all(np.array_equal(table.scores[name], expected.scores[name]) for name in expected.scores)
    assert reshuffle.score(metrics=stored) == reshuffle.score(*texts, METRICS)
    pair: dict[str, Any] = {"system": "tuned", "baseline": "baseline", "threshold": 60}
    assert reshuffle.flips(metric=stored[1], **pair) == reshuffle.flips(*texts, "chrf", **pair)
    few: dict[str, Any] = {"simulations": 20, "n_resamples": 99}
    assert reshuffle.study.type1(metrics=stored[:2], **few) == reshuffle.study.type1(*texts, METRICS[:2], **few)
    runs = stored.chosen(["tuned", "larger", "rules"], ["A#0", "A#1", "B#0"])
    of_texts = {"A": [CORPUS.systems["tuned"], CORPUS.systems["larger"]], "B": [CORPUS.systems["rules"]]}
    found = reshuffle.compare_runs(None, {"A": 2, "B": 1}, runs, n_resamples=99)
    assert found == reshuffle.compare_runs(CORPUS.references, of_texts, METRICS, n_resamples=99)
    ratings = reshuffle.SegmentScores("rating", {n: np.arange(400) % (7 + i) for i, n in enumerate(CORPUS.systems)})
    beside = reshuffle.compare(metrics=[stored[0], ratings], n_resamples=99)
    assert beside == reshuffle.compare(*texts, ["bleu", ratings], n_resamples=99)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_the_core_reads_integers_of_any_width(dtype: str) -> None:
    rng = np.random.default_rng(5)
    counts = np.ascontiguousarray(rng.integers(-127, 128, (3, 500, 4)))
    narrow = counts.astype(dtype)
    for arrays in ([narrow], [narrow[i : i + 1] for i in range(3)], [narrow[::-1][2 - i : 3 - i] for i in range(3)]):
        held = Counts(arrays)
        assert np.array_equal(held.totals, counts.sum(axis=1))
        assert held.differing([(0, 1), (1, 1)], most=1000) == Counts([counts]).differing([(0, 1), (1, 1)], most=1000)
        for kind in ("shuffles", "draws", "permutations"):
            expected, found = (
                Resampler([(None, c)], kind=kind).run([Sums()], n=30)[0] for c in (Counts([counts]), held)
            )
            assert np.array_equal(expected.sums, found.sums)


def test_variances_in_pieces_are_those_of_all_segments_at_once(
    stored: CountsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[tuple[float, float]]:
        options: dict[str, Any] = {"interval": "delta", "n_resamples": 99, "test": "ar", "all_pairs": True}
        result = reshuffle.compare(metrics=stored, **options)
        return [ends(each) for each in (*result.scores, *result.comparisons)]

    whole = found()
    monkeypatch.setattr("reshuffle.resampling.linear.SEGMENTS", 150)
    np.testing.assert_allclose(found(), whole, rtol=1e-10)


def test_counts_travel_by_the_name_of_the_file(stored: CountsFile, tmp_path: Path) -> None:
    chosen = stored.chosen(["tuned", "baseline"], ["new", "old"])
    packed = pickle.dumps(chosen[1])
    assert len(packed) < 1000
    again = pickle.loads(packed)
    assert again.systems == ("new", "old")
    assert np.array_equal(again.array, chosen[1].array)
    sample = StoredSample.from_stored(chosen[1])
    assert len(pickle.dumps(sample)) < 2000
    assert np.array_equal(pickle.loads(pickle.dumps(sample)).totals, sample.totals)
    path = tmp_path / "other.npz"
    save_counts(path, CORPUS.references, CORPUS.systems, "bleu")
    packed = pickle.dumps(open_counts(path)[0])
    save_counts(path, CORPUS.references, CORPUS.systems, metric("bleu", lowercase=True))
    with pytest.raises(InputError, match="has other counts than when it was opened"):
        pickle.loads(packed)


def test_workers_read_counts_too(stored: CountsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of their file, and sent by value."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for options in ({"test": "ar", "all_pairs": True}, {"strata": STRATA, "baseline": "rules"}):
            own: dict[str, Any] = {"n_resamples": 1500, **options}
            expected = reshuffle.compare(metrics=stored[:2], **own)
            for most in (0, 1 << 26):
                monkeypatch.setattr("reshuffle.resampling.stored.SENT_BYTES", most)
                assert reshuffle.compare(metrics=stored[:2], workers=pool, **own) == expected


# Files that are damaged, or none of ours.


@cache
def small(ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        save_counts(path, ["a b c d", "e f"], {"A": ["a b c", "e"], "B": ["a b d", "f e"]}, "bleu")
        return path.read_bytes()


def contents(path: Path) -> tuple[Any, ...]:
    """All that a file says."""
    found = open_counts(path)
    metrics = [(each.name, each.signature(), each.array.tolist(), each.formula) for each in found]
    return found.systems, found.n_segments, found.n_references, found.documents, metrics


@settings(max_examples=budget(120))
@given(st.sampled_from(["a.npz", "a.npy"]), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_changes_nothing(name: str, place: float, change: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        content = bytearray(small(path.suffix))
        path.write_bytes(content)
        expected = contents(path)
        content[int(place * len(content))] ^= change
        path.write_bytes(content)
        try:
            found = contents(path)
        except InputError as error:
            message = str(error)
        else:
            message, same = str(path), found == expected
            assert same
        assert message.startswith(str(path))
        assert "\n" not in message


@settings(max_examples=budget(50))
@given(st.sampled_from(["a.npz", "a.npy"]), st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_off_is_refused(name: str, place: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        content = small(path.suffix)
        path.write_bytes(content[: int(place * len(content))])
        for check in (True, False):
            with pytest.raises(InputError, match=r"^.*a\.np[yz]"):
                open_counts(path, check=check)


def _zip(path: Path, about: object, method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as target:
        target.writestr("reshuffle.json", json.dumps(about))


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a file with another description, and right checksums."""
    about, arrays, _ = read_arrays(path)
    about = json.loads(json.dumps(about))
    change(about)
    other = path.with_name("changed.npz")
    with other.open("wb") as file:
        write_arrays(file, False, about, arrays)
    return other


def foreign(write: Callable[[Path], object], name: str = "foreign.npz") -> CountsFile:
    """What another program has written is opened."""
    path = Path(name)
    write(path)
    return open_counts(path)


@pytest.mark.usefixtures("here")
def test_foreign_files_and_descriptions_that_contradict_the_counts_are_refused() -> None:
    path = Path("a.npz")
    save_counts(path, CORPUS.references, CORPUS.systems, "bleu", documents=DOCUMENTS)
    assert_raises("python_errors_of_counts_files", globals() | {"path": path})


# The command line.


@pytest.fixture
def texts(demo: Path) -> list[str]:
    """The files of the demo, in the current directory."""
    (demo / "docs.txt").write_text("".join(f"{name}\n" for name in DOCUMENTS))
    (demo / "strata.txt").write_text("".join(f"{name}\n" for name in STRATA))
    return ["reference.txt", *(f"{name}.txt" for name in CORPUS.systems)]


COMMANDS: list[tuple[list[str], list[str], list[str]]] = [
    (["compare"], ["-n", "199", "--all-pairs"], ["--docs", "docs.txt", "--strata", "strata.txt"]),
    (["score"], ["--confidence", "0.9", "-n", "99"], ["--docs", "docs.txt"]),
    (["study", "type1"], ["-n", "19", "--simulations", "2"], ["--docs", "docs.txt"]),
    (["study", "sensitivity"], ["-n", "19", "--simulations", "2"], []),
    (["plan"], ["-n", "199", "--simulations", "20"], []),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[0]))
def test_commands_take_counts_in_place_of_texts(
    command: tuple[list[str], list[str], list[str]], texts: list[str], run: Callable[..., Any]
) -> None:
    name, options, ids = command
    metrics = ["-m", "bleu", "ter"]
    assert run("count", *texts, *metrics, *ids, "-o", "counts.npz") == (0, "", "")
    expected = run(*name, *texts, *metrics, *ids, *options, "--format", "json")
    found = run(*name, "counts.npz", *options, "--format", "json")
    assert (found.code, found.err) == (expected.code, expected.err) == (0, "")
    assert unnamed(found.out) == unnamed(expected.out)


def test_systems_and_metrics_are_chosen_by_name(texts: list[str], run: Callable[..., Any]) -> None:
    assert run("count", *texts, "-m", "bleu", "bleu:lowercase", "chrf", "-o", "counts.npz").code == 0
    pair, options = "reference.txt tuned.txt rules.txt", "-m chrf -n 99 --format json"
    for command in (
        f"flips {pair} -m chrf --threshold 50",
        f"compare {pair} -m bleu:lowercase -n 99 --format json",
        f"compare --set a {pair} --set b {pair} {options}",
        f"runs --refs reference.txt --baseline baseline.txt larger.txt --system new tuned.txt rules.txt {options}",
        # The baseline of a single run is a system of the file, too, if no other system has this name.
        f"runs --refs reference.txt --baseline baseline.txt --system new tuned.txt rules.txt {options}",
    ):
        of_counts = command.replace("reference.txt", "counts.npz").replace(".txt", "")
        expected, found = (run(*words.split()).out for words in (command, of_counts))
        assert found == expected or unnamed(found) == unnamed(expected)


def test_manifests_and_meta_take_counts(texts: list[str], run: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "below"
    assert run("demo", "--judgments", "--write", "below").code == 0
    files = ["reference.txt", *sorted(texts[1:])]  # in the order of a folder
    assert run("count", *files, "-m", "sentbleu", "chrf", "-o", "below/counts.npz").code == 0
    set_ = {"references": "counts.npz", "systems": ["tuned", "rules"]}
    (folder / "sets.json").write_text(json.dumps({"sets": {"a": set_, "b": {"references": "counts.npz"}}}))
    found = run("compare", "--manifest", "below/sets.json", "--missing-systems", "drop", "-n", "99")
    assert found.code == 0
    assert "average over 2 test sets" in found.out
    people = ["meta", "segments", "--judgments", "below/judgments.rank", "-n", "99", "--format", "json"]
    of_texts = ["--refs", "below/reference.txt", "--systems", "below/systems", "-m", "sentbleu", "chrf"]
    assert unnamed(run(*people, "--refs", "below/counts.npz").out) == unnamed(run(*people, *of_texts).out)


def test_wrong_uses_say_what_to_do(texts: list[str], run: Callable[..., Any], demo: Path) -> None:
    (demo / "short.txt").write_text("a\nb\n")
    (demo / "bytes.txt").write_bytes(b"a\n\xff\n" * 200)
    np.save(demo / "array.npy", np.zeros(3, np.uint8))
    assert run("count", *texts, "-o", "c.npz").code == 0
    assert_refused("errors_of_counts", run)
    assert not [path for path in demo.iterdir() if path.name.startswith((".", "d."))]
    assert run("count", "reference.txt", "tuned.txt", "-o", "reference.npz").code == 0


def test_texts_are_counted_block_by_block(
    texts: list[str], run: Callable[..., Any], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_counts("memory.npz", CORPUS.references, CORPUS.systems, ["bleu", "ter"])
    for name in texts:
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes().replace(b"\n", b"\r\n")))
    monkeypatch.setattr("reshuffle.data.blocks.BLOCK", 37)
    monkeypatch.setattr(TextBlocks.__init__, "__defaults__", (TextBlocks.__init__.__defaults__[0], 37))  # type: ignore[index]
    assert run("count", *(f"{name}.gz" for name in texts), "-m", "bleu", "ter", "-o", "blocks.npz").code == 0
    assert (demo / "blocks.npz").read_bytes() == (demo / "memory.npz").read_bytes()
    lines = (demo / "tuned.txt").read_bytes()
    (demo / "late.txt").write_bytes(lines[:-20] + b"\xff\n")
    (demo / "cut.gz").write_bytes((demo / "tuned.txt.gz").read_bytes()[:-300])
    byte = len((lines[:-20] + b"\xff\n").splitlines()[399])
    for words, message in (
        (("late.txt",), f"late.txt, line 400, byte {byte}: 0xff is not valid UTF-8"),
        (("cut.gz",), "cut.gz looks like gzip but cannot be decompressed"),
        (("tuned.txt.gz", "--max-input", "1K"), "is larger than 1 KiB when decompressed"),
    ):
        assert message in run("count", "reference.txt", *words, "-o", "d.npz").refusal()


def test_the_warnings_are_those_of_other_commands(texts: list[str], run: Callable[..., Any], demo: Path) -> None:
    lines = (demo / "tuned.txt").read_text().splitlines()
    (demo / "tokenized.txt").write_text("".join(f"{line.rstrip('.')} .\n" for line in lines))
    (demo / "copy.txt").write_text("".join(f"{line}\n" for line in lines))
    (demo / "mark.txt").write_text("\ufeff" + "".join(f"{line}\0\n" for line in [*lines[:-1], ""]))
    for files in (["tokenized.txt", "tuned.txt"], ["tuned.txt", "copy.txt"], ["reference.txt", "mark.txt"]):
        expected = run("score", "reference.txt", *files)
        assert expected.err
        assert run("count", "reference.txt", *files, "-o", "c.npz").err == expected.err


def test_other_formats_and_parses_are_counted_in_memory(texts: list[str], run: Callable[..., Any], demo: Path) -> None:
    table = zip(*[["ref", *CORPUS.references[0]], ["A", *CORPUS.systems["tuned"]]], strict=True)
    (demo / "all.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in table))
    assert run("count", "all.tsv#ref", "all.tsv#A", "-m", "nist", "-o", "c.npz").code == 0
    (found,) = open_counts("c.npz")
    assert np.array_equal(found.array, metric("nist").suff_stats(CORPUS.references, [CORPUS.systems["tuned"]]))
    word = "\t".join(["1", "yes", "_", "_", "_", "_", "0", "root", "_", "_"])
    for name in ("ref", "a", "b"):
        (demo / f"{name}.conllu").write_text(f"{word}\n\n" * 2)
        (demo / f"{name}.txt").write_text("yes\nyes\n")
    parses = ["-m", "length", "depf", "--parses", "ref.conllu", "a.conllu", "b.conllu"]
    assert run("count", "ref.txt", "a.txt", "b.txt", *parses, "-o", "p.npz").code == 0
    expected = run("score", "ref.txt", "a.txt", "b.txt", *parses, "--format", "json")
    assert unnamed(run("score", "p.npz", "--format", "json").out) == unnamed(expected.out)
