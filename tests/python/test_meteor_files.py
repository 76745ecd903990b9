"""METEOR's files: an installed WordNet is found, missing modules are named, and signatures have digests."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from meteor_files import JAR, PARAPHRASES, write_meteor, write_wordnet
from reshuffle import InputError, InputWarning, metric
from reshuffle.cli.main import run
from reshuffle.metrics import meteor
from reshuffle.metrics.meteor import find_wordnet, with_wordnet


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
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in write_wordnet(tmp_path / "unpacked").iterdir():
            archive.write(path, f"wordnet/{path.name}")
    assert find_wordnet() == zipped
    in_zip = entries(modules=["exact", "synonym"])["synonyms"]
    for where in (home / "nltk_data/corpora/wordnet", named / "corpora/wordnet", tmp_path / "own"):
        folder = write_wordnet(where)
        if where.name == "own":
            monkeypatch.setenv("WNSEARCHDIR", str(folder))
        assert find_wordnet() == folder
        assert entries(modules=["exact", "synonym"])["synonyms"] == in_zip == entries(wordnet=folder)["synonyms"]


@pytest.mark.parametrize(
    "options",
    [
        {"meteor_jar": "meteor"},
        {"wordnet": "dict"},
        {"language": "de"},
        {"task": "universal"},
        {"modules": ["exact", "stem"]},
        {"modules": "exact"},
    ],
)
def test_an_installed_wordnet_is_used_only_where_it_is_needed(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meteor, "find_wordnet", lambda: Path("installed"))
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
        match="without its modules synonym and paraphrase, because no WordNet and .*meteor_jar.*modules=exact,stem",
    ):
        plain.suff_stats([["a"]], [["a"]])
    with pytest.warns(InputWarning, match="no table of paraphrases was found"):
        metric("meteor", language="de").suff_stats([["a"]], [["a"]])
    with pytest.warns(InputWarning, match="task adq has parameters for English only: .* language de"):
        metric("meteor", language="de", task="adq", modules=["exact"]).suff_stats([["a"]], [["a"]])


def test_advice_has_the_options_of_the_command_line(
    nowhere: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a"
    path.write_text("a\n", "utf-8")
    assert run(["score", str(path), str(path), "-m", "meteor"]) == 0
    assert "METEOR's jar (--meteor-jar), or leave the modules out on purpose (--modules=" in capfd.readouterr().err
    assert run(["score", str(path), str(path), "-m", "meteor", "--modules=exact,stem"]) == 0
    assert "METEOR" not in capfd.readouterr().err


@pytest.mark.filterwarnings("error::reshuffle.InputWarning")
@pytest.mark.parametrize("options", [{"modules": ["exact", "stem"]}, {"meteor_jar": "all"}, {"language": "da"}])
def test_nothing_is_said_if_nothing_is_missing(nowhere: None, folder: Path, options: dict[str, Any]) -> None:
    options = {name: folder if value == "all" else value for name, value in options.items()}
    metric("meteor", **options).suff_stats([["a"]], [["a"]])


@pytest.mark.parametrize(("module", "file"), [("synonym", "wordnet"), ("paraphrase", "paraphrases")])
def test_a_module_that_was_named_needs_its_file(nowhere: None, module: str, file: str) -> None:
    with pytest.raises(InputError, match=file):
        metric("meteor", modules=["exact", module])


def test_signatures_have_the_digests_of_the_files_in_use(folder: Path) -> None:
    found = entries(meteor_jar=folder, normalized=True)
    digest = hashlib.sha256(PARAPHRASES.encode()).hexdigest()[:8]
    assert found["paraphrases"] == f"[{digest}]"
    assert found["modules"] == "exact+stem+synonym+paraphrase"
    assert set(entries(meteor_jar=folder)) == set(found) - {"prefixes"}
    assert "paraphrases" not in entries(meteor_jar=folder, modules=["exact", "stem"])
    # A jar with the same files has the same digests.
    with zipfile.ZipFile(folder.parent / "meteor-1.5.jar", "w") as archive:
        for name, text in JAR.items():
            archive.writestr(name, text)
    table = folder / "data/paraphrase-en.gz"
    assert entries(meteor_jar=folder.parent / "meteor-1.5.jar", paraphrases=table, normalized=True) == found
    # Each file changes its own digest.
    for name, key in zip(JAR, ["function", "prefixes", "synonyms", "synonyms"], strict=True):
        path = folder / name
        before = path.read_text("utf-8")
        path.write_text(f"{before}more\n3\n", "utf-8")
        changed = entries(meteor_jar=folder, normalized=True)
        assert {name for name, value in changed.items() if found[name] != value} == {key}
        path.write_text(before, "utf-8")


def test_paths_may_be_path_objects_and_survive_pickling(folder: Path) -> None:
    before = metric("meteor", meteor_jar=folder)
    after = pickle.loads(pickle.dumps(before))
    assert after == before == metric("meteor", meteor_jar=str(folder))
    assert after.signature() == before.signature()


def test_damaged_files_are_named_with_the_line(folder: Path) -> None:
    table = folder / "table"
    table.write_text("0.5\na\nb\n0.5\na\n", "utf-8")
    with pytest.raises(InputError, match="table, line 5: expected a paraphrase after this line, got the end") as caught:
        metric("meteor", meteor_jar=folder, paraphrases=table).suff_stats([["a"]], [["a"]])
    assert (caught.value.fields["file"], caught.value.fields["line"]) == (str(table), 5)
    (folder / "synonym/english.synsets").write_text("a\n1\nb\nx\n", "utf-8")
    with pytest.raises(InputError, match=r'english.synsets, line 4: expected the offset of a synonym set, .* got "x"'):
        metric("meteor", meteor_jar=folder).suff_stats([["a"]], [["a"]])


@pytest.mark.parametrize("option", ["meteor_jar", "wordnet", "paraphrases"])
def test_paths_without_files_are_refused(option: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"meteor: {option} must be .*, got {tmp_path}/none, which ") as caught:
        metric("meteor", **{option: tmp_path / "none"})
    assert caught.value.fields["option"] == option


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
        metric("meteor", **options, english_function_words=english).suff_stats([["das in und the"]], [["in the ."]])[
            0, 0
        ]
        for english in (False, True)
    ]
    # Words, function words of both sides; content and function words that match.
    assert [row[:8].tolist() for row in counts] == [[4, 3, 3, 2, 1, 1, 1, 1], [4, 3, 2, 3, 0, 0, 2, 2]]
    assert entries(**options, english_function_words=True)["function-lang"] == "en"
    assert "function-lang" not in entries(**options)
    assert "function-lang" not in entries(modules=["exact"], english_function_words=True)
