"""Warnings about texts that can be compared but are probably wrong, in Python and on the command line."""

import logging
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811

import reshuffle
from reshuffle import Comparison, Corpus, InputError, InputWarning, compare, metric, read_corpus, score
from told import assert_warned

REFERENCE = ["the cat sat on the mat", "a dog barked"]
OTHER = ["a cat sat", "dogs bark"]


def warnings_of(call: Any, *args: Any, **kwargs: Any) -> list[str]:
    """The messages of the warnings of a call; each must point to the line that called reshuffle."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    assert all(issubclass(w.category, InputWarning) for w in caught)
    assert {w.filename for w in caught} <= {__file__}
    return [str(w.message) for w in caught]


FOUR_WORDS = [" ".join(f"{word}{n}" for word in ("the", "cat", "sat", "on")) for n in range(50)]
OUTPUTS = [line.replace("cat", "dog") for line in FOUR_WORDS]
LINES = [f"text {n}" for n in range(200)]
LABELS, YES = ["yes", "no"] * 30, ["yes", "yes"] * 30
ANSWERS = [f"answer{n}" for n in range(60)]
SPACED = ["yes", "no", "not sure"] * 30
TAGS = [" ".join("O B-PER I-PER"[: 2 + 12 * (i % 2)].split() + ["O"] * (i % 15 + 2)) for i in range(90)]
TAGGED = [tags.replace("I", "B") for tags in TAGS]
PERIODS, NOUNS = [*["x ."] * 99, "y .", "z"], ["w w"] * 101
HALVES = {"a": [0.5, 1.0], "b": [1.0, 1.0]}


def of_documents(ids: Any, n: int = 40) -> Comparison:
    """A comparison of so many segments, with the ids of their documents."""
    segments = [f"segment {i}" for i in range(n)]
    systems = {name: [f"{name} {line}" for line in segments] for name in "ab"}
    return compare(segments, systems, documents=ids, n_resamples=99)


def test_what_is_probably_wrong_is_warned_of_and_what_may_well_be_right_is_not() -> None:
    assert_warned("warnings", globals())


def test_what_is_worse_than_a_warning_is_refused() -> None:
    with pytest.raises(InputError, match="a has 2: remove the empty last line of a"):
        Corpus.from_texts(["x"], {"a": "y\n".split("\n")})
    for gold, own in (("1", "1.0"), ("1.0", "1")):
        for other in ("", "null"):
            with pytest.raises(
                InputError, match=rf"the labels of a are numbers like '{own}', and those of the references"
            ):
                score([gold, "2"] * 30, {"a": [own, other] * 30}, "accuracy")
    floats: Any = [1.0, 0.0] * 30  # as pandas has them beside missing values
    assert score(floats, {"a": [1, 1] * 30, "b": floats[::-1]}, "accuracy").score("b").score == 0


@pytest.mark.usefixtures("here")
def test_truth_values_are_the_same_labels_in_memory_and_in_json() -> None:
    gold: Any = [True, False, True, True]
    own: Any = [True, True, False, True]
    for name, labels in (("gold", gold), ("a", own)):
        Path(f"{name}.jsonl").write_text("".join(f'{{"label": {str(label).lower()}}}\n' for label in labels))
    corpus = read_corpus(["gold.jsonl"], ["a.jsonl"])
    m = metric("micro-f1", without="true")
    in_files = score(corpus.references, corpus.systems, m).score("a").score
    kinds: list[Any] = [list, np.array]
    for kind in kinds:
        assert score(kind(gold), {"a": kind(own)}, m).score("a").score == in_files
    assert in_files == score(["true", "false", "true", "true"], {"a": corpus.systems["a"]}, m).score("a").score == 0


# Files.


def test_a_byte_order_mark_and_nul_give_a_warning_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref.txt").write_bytes(b"x\ny\n")
    Path("bom.txt").write_bytes(b"\xef\xbb\xbfa\nb\n")
    Path("nul.txt").write_bytes(b"a\nb\0\n")
    assert warnings_of(read_corpus, ["ref.txt"], ["bom.txt", "nul.txt"]) == [
        "bom.txt begins with a byte order mark (U+FEFF), which is counted as part of the first word, as in sacreBLEU"
        ": to avoid this, save the file without it",
        "nul.txt, line 2 contains a NUL character (U+0000): is the file UTF-8 text?",
    ]
    # UTF-16 without a byte order mark: only the NUL characters show it.
    Path("utf16.tsv").write_bytes("a\tb\nx\ty\n".encode("utf-16-le")[:-1])
    with pytest.raises(InputError, match="utf16"), pytest.warns(InputWarning, match="utf16.tsv, line 1 contains a NUL"):
        read_corpus(["utf16.tsv#a"], ["utf16.tsv#b"])
    # No warning for U+FEFF elsewhere, or in a format that allows a byte order mark.
    Path("in.txt").write_bytes(b"a\xef\xbb\xbf\n\xef\xbb\xbfb\n")
    Path("bom.tsv").write_bytes(b"\xef\xbb\xbfa\nx\ny\n")
    assert warnings_of(read_corpus, ["ref.txt"], ["in.txt", "bom.tsv"]) == []
    # XML says itself that it is UTF-16.
    body = "<m><tstset sysid='s'><doc docid='d'><seg id='1'>é</seg></doc></tstset></m>"
    text = f"<?xml version='1.0' encoding='utf-16'?>{body}"
    path = tmp_path / "s.xml"
    path.write_bytes(text.encode("utf-16"))
    assert warnings_of(read_corpus, [str(path)], [str(path)]) == []


# Tokenized text.

PERIOD = st.sampled_from(["x .", "x.", "x . ", ".", " .", "x .y"])


@given(st.lists(PERIOD, min_size=90, max_size=140))
def test_tokenized_text_gives_a_warning_if_sacrebleu_warns(lines: list[str]) -> None:
    # sacreBLEU 2.6.0: BLEU().corpus_score logs this from 100 hypotheses that end in " ." on.
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("sacrebleu")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    try:
        SacreBLEU().corpus_score(lines, [["x."] * len(lines)])
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    ours = [m for m in warnings_of(score, ["x."] * len(lines), {"a": lines}) if "end in ' .'" in m]
    assert bool(ours) == any("That's 100 lines that end in a tokenized period" in m for m in logged)


def test_flags_of_the_command_line_are_named_in_warnings(demo: Path, run: Any) -> None:
    scored = run("score", "reference.txt", "tuned.txt", "-m", "wer:tokenize=char", "wer:tokenize=char,lowercase")
    assert scored.err.startswith("reshuffle: warning: WER with --tokenize=char counts characters without spaces, so")
    assert scored.err.count("\n") == 1
    Path("x.csv").write_text("a,b\n" + "1,2\n2,2\n" * 30)
    command = ("compare", "--scores", "WER", "x.csv", "-n", "99")
    assert "add --lower-is-better WER; if" in run(*command).err
    assert run(*command, "--lower-is-better", "WER").err == ""
    for line in (None, 1, b"x ."):
        with pytest.raises(InputError, match="b, segment 2: expected a string"):
            score(NOUNS, {"a": PERIODS, "b": ["x", cast(str, line), *PERIODS[2:]]})


# On the command line.


def test_the_command_line_prints_a_line_per_warning_and_continues(demo: Path, run: Any) -> None:
    again = Path("again.txt")
    again.write_bytes(b"\xef\xbb\xbf" + Path("tuned.txt").read_bytes())
    plain = run("score", "reference.txt", "tuned.txt", "rules.txt")
    assert (plain.code, plain.err) == (0, "")
    Path("copy.txt").write_bytes(Path("tuned.txt").read_bytes())
    warned = run("compare", "reference.txt", "tuned.txt", "copy.txt", "again.txt", "-n", "99")
    assert warned.code == 0
    assert warned.out.startswith("BLEU: 400 segments")
    assert warned.err.splitlines() == [
        "reshuffle: warning: again.txt begins with a byte order mark (U+FEFF), which is counted as part of the first "
        "word, as in sacreBLEU: to avoid this, save the file without it",
        "reshuffle: warning: the outputs of systems 'tuned' and 'copy' are identical: was a file passed twice?",
    ]
    # Files with the same problem share a warning.
    for name in ("x", "y", "z"):
        Path(f"{name}.txt").write_bytes(b"\xef\xbb\xbf" + name.encode() + Path("tuned.txt").read_bytes())
    first, others = run("score", "reference.txt", "x.txt", "y.txt", "z.txt").err.splitlines()
    assert first.startswith("reshuffle: warning: x.txt begins with a byte order mark")
    assert others == "reshuffle: warning: what is said of x.txt holds for 2 more files: y.txt, z.txt"


def test_a_file_that_is_named_twice_among_others_counts_once(demo: Path, run: Any) -> None:
    once = run("compare", "reference.txt", "baseline.txt", "rules.txt", "tuned.txt", "-n", "99")
    for copy in ("baseline.txt", "./baseline.txt"):
        twice = run("compare", "reference.txt", "baseline.txt", copy, "rules.txt", "tuned.txt", "-n", "99")
        assert twice.out == once.out


def test_pythonwarnings_applies_to_the_command_line(demo: Path) -> None:
    Path("copy.txt").write_bytes(Path("reference.txt").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "reshuffle", "score", "reference.txt", "copy.txt"],
        env={"PYTHONWARNINGS": "error::UserWarning", "PYTHONPATH": str(Path(reshuffle.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("reshuffle: error: the output of system")
