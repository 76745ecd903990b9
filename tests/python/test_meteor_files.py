"""METEOR's files: an installed WordNet is found, missing modules are named, and signatures have digests."""

import hashlib
import os
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meteor_files import JAR, PARAPHRASES, write_meteor, write_wordnet, write_zip
from reshuffle import InputError, InputWarning, metric
from reshuffle.metrics import meteor
from reshuffle.metrics.in_python import every_spec
from reshuffle.metrics.meteor import find_wordnet, with_wordnet
from told import assert_raises


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_meteor(tmp_path / "meteor")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which WordNet is not installed."""
    monkeypatch.setattr(meteor, "find_wordnet", lambda: None)


def entries(**options: Any) -> dict[str, str]:
    return dict(metric("meteor", **options).core.signature)


def test_wordnet_is_found_where_debian_and_nltk_put_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, named = tmp_path / "home", tmp_path / "named"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NLTK_DATA", str(named))
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    real = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: tmp_path in path.parents and real(path))
    assert find_wordnet() is None
    (tmp_path / "prefix/share/nltk_data/corpora").mkdir(parents=True)
    zipped = tmp_path / "prefix/share/nltk_data/corpora/wordnet.zip"
    unpacked = write_wordnet(tmp_path / "unpacked")
    write_zip(zipped, {f"wordnet/{path.name}": path.read_text("utf-8") for path in unpacked.iterdir()})
    assert find_wordnet() == zipped
    in_zip = entries(modules=["exact", "synonym"])["synonyms"]
    for where in (home / "nltk_data/corpora/wordnet", named / "corpora/wordnet", tmp_path / "own"):
        folder = write_wordnet(where)
        if where.name == "own":
            monkeypatch.setenv("WNSEARCHDIR", str(folder))
        assert find_wordnet() == folder
        assert entries(modules=["exact", "synonym"])["synonyms"] == in_zip == entries(wordnet=folder)["synonyms"]


def test_an_installed_wordnet_is_used_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meteor, "find_wordnet", lambda: Path("installed"))
    given: list[dict[str, Any]] = [
        {"meteor_jar": "meteor"}, {"wordnet": "dict"}, {"language": "de"}, {"task": "universal"},
        {"modules": ["exact", "stem"]}, {"modules": "exact"},
    ]  # fmt: skip
    for options in given:
        assert with_wordnet(options) == options
    assert with_wordnet({"language": "en"}) == {"language": "en", "wordnet": "installed"}
    assert with_wordnet({"modules": ("synonym",)})["wordnet"] == "installed"


def test_what_is_missing_is_said_when_texts_are_counted(nowhere: None, folder: Path) -> None:
    plain = metric("meteor")
    assert plain.signature("1").endswith(
        "|modules:exact+stem|weights:1,0.6|params:0.85,0.2,0.6,0.75|missing:synonym+paraphrase"
    )
    with pytest.warns(
        InputWarning,
        match=r"without its modules synonym and paraphrase, because no .*meteor_jar.*modules=\['exact', 'stem'\]",
    ):
        plain.suff_stats([["a"]], [["a"]])
    with pytest.warns(InputWarning, match="no table of paraphrases was found"):
        metric("meteor", language="de").suff_stats([["a"]], [["a"]])
    with pytest.warns(InputWarning, match="task adq has parameters for English only: .* language de"):
        metric("meteor", language="de", task="adq", modules=["exact"]).suff_stats([["a"]], [["a"]])


@pytest.mark.filterwarnings("error::reshuffle.InputWarning")
@pytest.mark.parametrize("options", [{"modules": ["exact", "stem"]}, {"meteor_jar": "all"}, {"language": "da"}])
def test_nothing_is_said_if_nothing_is_missing(nowhere: None, folder: Path, options: dict[str, Any]) -> None:
    options = {name: folder if value == "all" else value for name, value in options.items()}
    metric("meteor", **options).suff_stats([["a"]], [["a"]])


def test_signatures_have_the_digests_of_the_files_in_use(folder: Path) -> None:
    found = entries(meteor_jar=folder, normalized=True)
    digest = hashlib.sha256(PARAPHRASES.encode()).hexdigest()[:8]
    assert found["paraphrases"] == f"[{digest}]"
    assert found["modules"] == "exact+stem+synonym+paraphrase"
    assert set(entries(meteor_jar=folder)) == set(found) - {"prefixes"}
    assert "paraphrases" not in entries(meteor_jar=folder, modules=["exact", "stem"])
    # Each file changes its own digest.
    for name, key in zip(JAR, ["function", "prefixes", "synonyms", "synonyms"], strict=True):
        path = folder / name
        before = path.read_text("utf-8")
        path.write_text(f"{before}more\n3\n", "utf-8")
        changed = entries(meteor_jar=folder, normalized=True)
        assert {name for name, value in changed.items() if found[name] != value} == {key}
        path.write_text(before, "utf-8")


def test_meteors_files_are_found_in_its_jar_and_in_folders(folder: Path, tmp_path: Path) -> None:
    expected = entries(meteor_jar=folder, normalized=True)
    packed = write_zip(tmp_path / "packed/meteor-1.5.jar", {**JAR, **{f"far/down/{name}": "x\n" for name in JAR}})
    deep = write_zip(tmp_path / "deep/any.zip", {f"top/{name}": text for name, text in JAR.items()})
    below = tmp_path / "below"
    write_meteor(below / "resources")
    for place, jar in [(packed.parent, packed), (packed.parent, packed.parent), (deep.parent, deep), (below, below)]:
        table = place / "data/paraphrase-en.gz"
        table.parent.mkdir(exist_ok=True)
        table.write_text(PARAPHRASES, "utf-8")
        assert expected == entries(meteor_jar=jar, normalized=True)


def test_a_jar_without_synonyms_or_prefixes_is_used_for_the_rest(tmp_path: Path) -> None:
    found = entries(meteor_jar=write_zip(tmp_path / "new.jar", {"function/english.words": "the\n"}), normalized=True)
    files = {"function", "prefixes", "synonyms", "paraphrases", "missing"}
    assert found.keys() & files == {"function", "missing"}


def test_every_language_has_files_and_both_codes_of_one_have_the_same(tmp_path: Path) -> None:
    for name in ("function/other.words", *(f"function/{name}.words" for name in meteor.LANGUAGES.values())):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n", "utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/paraphrase-cz.gz").write_text(PARAPHRASES, "utf-8")
    (spec,) = (spec for spec in every_spec() if spec.name == "meteor")
    codes = next(option.choices for option in spec.options if option.name == "language")
    digests = {code: entries(meteor_jar=tmp_path, language=code)["function"] for code in codes}
    assert len(meteor.LANGUAGES) == len(set(digests.values()))
    assert digests["cz"] == digests["cs"]
    assert "paraphrases" in entries(meteor_jar=tmp_path, language="cs")


def test_files_are_read_again_only_if_they_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = write_zip(folder.parent / "meteor-1.5.jar", JAR)
    before = entries(meteor_jar=jar)
    with monkeypatch.context() as without:
        without.delattr(zipfile.ZipFile, "getinfo")
        assert before == entries(meteor_jar=jar)
    write_zip(jar, {**JAR, "function/english.words": "the\n"})
    assert before["function"] != entries(meteor_jar=jar)["function"]


def test_archives_that_are_damaged_or_expand_too_far_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meteor, "LARGEST", 1000)
    jar, name = tmp_path / "x.jar", "function/english.words"

    def problem(change: Callable[[bytes], bytes] = lambda content: content, text: str = "the\n" * 100) -> str:
        jar.write_bytes(change(write_zip(jar, {name: text}, method).read_bytes()))
        with pytest.raises(InputError, match=f"{name}: expected ") as caught:
            metric("meteor", meteor_jar=jar)
        return str(caught.value)

    method = zipfile.ZIP_DEFLATED
    assert "expected at most 1000 bytes, got 1001" in problem(text="x" * 1001)
    # The first byte of compressed data is after a header of 30 bytes and the name.
    damaged = len(name) + 31
    assert "decompressing" in problem(lambda content: content[:damaged] + b"\xff" + content[damaged + 1 :])
    # The size in both headers is a lie.
    assert "Bad CRC-32" in problem(lambda content: content.replace(struct.pack("<I", 400), struct.pack("<I", 40)))
    method = zipfile.ZIP_BZIP2
    assert "a compression other than deflate" in problem()


def test_paths_without_files_are_refused(nowhere: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_meteor(Path("meteor"))
    Path("empty").mkdir()
    Path("text").write_text("the\n", "utf-8")
    write_zip(Path("two/meteor-1.jar"), {"function/german.words": ""})
    write_zip(Path("two/meteor-2.jar"), {})
    write_zip(Path("empty.zip"), {})
    (write_wordnet(Path("wordnet")) / "adv.exc").unlink()

    def meteor(**options: Any) -> object:
        try:
            return metric("meteor", **options)
        except InputError as error:
            raise InputError(f"{error} (option: {error.fields.get('option')})") from None

    assert_raises("python_errors_of_meteor_files", {"meteor": meteor})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("option", ["meteor_jar", "wordnet", "paraphrases"])
def test_named_pipes_are_refused_without_waiting_for_a_writer(tmp_path: Path, option: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=rf"{option} must be .*pipe, which is (neither|not) a file"):
        metric("meteor", **{option: pipe})


def test_function_words_are_the_languages_or_english() -> None:
    options = {"language": "de", "modules": ["exact"]}
    counts = [
        metric("meteor", **options, english_function_words=english).suff_stats([["in the ."]], [["das in und the"]])[
            0, 0
        ]
        for english in (False, True)
    ]
    # Words, function words of both sides; content and function words that match.
    assert [row[:8].tolist() for row in counts] == [[4, 3, 3, 2, 1, 1, 1, 1], [4, 3, 2, 3, 0, 0, 2, 2]]
    assert entries(**options, english_function_words=True)["function-lang"] == "en"
    assert "function-lang" not in entries(**options)
    assert "function-lang" not in entries(modules=["exact"], english_function_words=True)
