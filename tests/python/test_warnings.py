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
from reshuffle import Corpus, InputError, InputWarning, compare, metric, read_corpus, score, segment_scores

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


def test_systems_that_are_references_or_other_systems_give_a_warning() -> None:
    message = "the output of system 'b' is identical to the reference: was the reference passed as a system?"
    for call in (compare, score, segment_scores):
        assert warnings_of(call, REFERENCE, {"a": OTHER, "b": list(REFERENCE)}) == [message]
    second = warnings_of(score, [OTHER, REFERENCE], {"b": list(REFERENCE)})
    assert second == ["the output of system 'b' is identical to reference 2: was the reference passed as a system?"]
    assert warnings_of(score, [[None, "x"], ["y", None]], {"b": REFERENCE}) == []
    # A single segment can well be equal to the reference.
    assert warnings_of(score, REFERENCE[:1], {"a": OTHER[:1], "b": REFERENCE[:1]}) == []
    message = "system 'Reference' is named like a reference: the reference comes first, then the systems"
    assert warnings_of(score, REFERENCE, {"a": OTHER, "Reference": ["x", "y"]}) == [message]
    systems = {"a": OTHER, "b": ["x", "y"], "c": list(OTHER), "d": ["x", "y"], "e": OTHER[:]}
    assert warnings_of(score, REFERENCE, systems) == [
        f"the outputs of systems {pair} are identical: was a file passed twice?"
        for pair in ("'a' and 'c'", "'b' and 'd'", "'a' and 'e'")
    ]


def test_outputs_of_numbers_give_a_warning_unless_the_references_are_labels() -> None:
    (message,) = warnings_of(score, REFERENCE, {"a": OTHER, "b": ["0.5", "1"]})
    assert message.startswith("the output of system 'b' has only numbers, which are compared as texts: for scores of")
    (message,) = warnings_of(compare, ["0.25", "0.75"], {"a": ["1", "0"], "b": ["0.5", "1"]})
    assert message.startswith("the outputs of 2 systems (a, b) have only numbers")
    assert warnings_of(score, ["1", "0"], {"a": ["0", "0"]}) == []


def test_outputs_that_fit_the_references_of_other_lines_give_a_warning() -> None:
    references = [" ".join(f"{word}{n}" for word in ("the", "cat", "sat", "on")) for n in range(50)]
    own = [line.replace("cat", "dog") for line in references]
    for lines, of, how in (([*own[1:], "end"], "next", "left out"), (["start", *own[:-1]], "previous", "added")):
        (message,) = warnings_of(score, references, {"a": lines})
        assert message == (
            f"the last outputs of system 'a' are like the references of the {of} lines: was a line {how} before them?"
        )
    assert warnings_of(score, references, {"a": own, "b": own[::-1], "c": ["no"] * 50}) == []


def test_an_empty_last_segment_of_only_one_text_gives_a_warning() -> None:
    message = "only system 'b' has an empty last segment: is it aligned with the other texts?"
    assert warnings_of(score, REFERENCE, {"a": OTHER, "b": ["x", " "]}) == [message]
    assert warnings_of(score, ["x", ""], {"a": OTHER}) == [message.replace("system 'b'", "the reference")]
    assert warnings_of(score, REFERENCE, {"a": ["x", ""], "b": ["y", ""]}) == []
    (empty,) = warnings_of(score, REFERENCE, {"a": OTHER, "b": ["", ""]})  # of which there is another warning
    assert empty.startswith("2 of 2 outputs of system 'b' are empty")
    assert warnings_of(score, [["x", None], ["y", "z"]], {"a": OTHER}) == []
    with pytest.raises(InputError, match="a has 2: remove the empty last line of a"):
        Corpus.from_texts(["x"], {"a": "y\n".split("\n")})


def test_empty_outputs_give_a_warning_unless_they_are_few_or_the_references_are_empty() -> None:
    lines = [f"text {n}" for n in range(200)]
    for n, warns in ((2, False), (3, True)):
        message = f"{n} of 200 outputs of system 'b' are empty: did it fail there?"
        assert (
            warnings_of(score, lines, {"a": ["x", *lines[1:]], "b": ["", "", ""][:n] + lines[n:]}) == [message] * warns
        )
    assert warnings_of(score, ["", "", *lines[2:]], {"a": ["", "", "x", *lines[3:]]}) == []
    (message,) = warnings_of(score, ["", *lines[1:]], {"a": ["", "", "", "", *lines[4:]]})
    assert message.startswith("4 of 200 outputs of system 'a' are empty")


def test_labels_of_classes_give_a_warning_under_bleu() -> None:
    labels, outputs = ["yes", "no"] * 30, ["yes", "yes"] * 30
    (message,) = warnings_of(score, labels, {"a": outputs})
    assert message.startswith("the references have one word on each line, but BLEU counts sequences of up to four")
    assert message.endswith(
        "compare labels of classes with metrics='accuracy' or 'macro-f1', short answers with metrics='exact' or 'f1'"
    )
    assert warnings_of(score, labels, {"a": outputs}, ["accuracy", "chrf"]) == []
    assert warnings_of(score, [*labels[:-1], "not sure"], {"a": outputs}) == []
    for of_others in (metric("bleu", tokenize="char"), metric("bleu", max_ngram_order=1)):
        assert warnings_of(score, labels, {"a": outputs}, of_others) == []
    for chosen in (metric("bleu"), metric("bleu", tokenize="zh")):  # sentences without spaces
        assert warnings_of(score, ["今天天气很好"] * 60, {"a": ["今天天气好"] * 60}, chosen) == []


def test_labels_of_classes_give_a_warning_under_the_f1_of_answers_and_where_no_output_is_one_of_them() -> None:
    labels, outputs = ["yes", "no"] * 30, ["yes", "yes"] * 30
    (message,) = warnings_of(score, labels, {"a": outputs}, "f1")
    assert message.startswith("the references look like labels of classes, but f1 compares the words of answers,")
    assert warnings_of(score, labels, {"a": outputs}, ["f1", "macro-f1"]) == []
    answers = [f"answer{n}" for n in range(60)]
    assert warnings_of(score, answers, {"a": answers[::-1]}, "f1") == []
    assert len(warnings_of(score, ["是", "否"] * 30, {"a": ["yes"] * 60}, "mcc")) == 1
    (message,) = warnings_of(score, labels, {"a": ["Yes"] * 60, "b": outputs}, "mcc")
    assert message == (
        "none of the labels of a (such as 'Yes') occurs in the references (such as 'yes'): labels must be equal "
        "character by character"
    )
    assert warnings_of(score, [labels, ["yes", "Yes"] * 30], {"a": ["Yes"] * 60}, "accuracy") == []
    assert warnings_of(score, labels, {"a": outputs}, metric("micro-f1", without="no")) == []
    (message,) = warnings_of(score, labels, {"a": outputs}, metric("micro-f1", without="non"))
    assert message == "micro-F1 leaves out 'non' (its option 'without'), but no reference or output is that"


def test_labels_that_are_written_in_another_way_are_no_mistakes() -> None:
    labels = ["yes", "no", "not sure"] * 30
    other = ["Yes", "no", "not  sure"] * 30
    (message,) = warnings_of(score, labels, {"a": other, "b": ["yes", "yes", "no"] * 30}, "accuracy")
    assert message == (
        "a has labels that no reference has, and that differ from one in case or spaces only: 'Yes' for 'yes', "
        "'not  sure' for 'not sure'; they are wrong on 60 lines: write labels alike"
    )
    assert warnings_of(score, labels, {"a": ["yes", "maybe", "no"] * 30}, "accuracy") == []
    for gold, own in (("1", "1.0"), ("1.0", "1")):
        with pytest.raises(InputError, match=rf"the labels of a are numbers like '{own}', and those of the references"):
            score([gold, "2"] * 30, {"a": [own, ""] * 30}, "accuracy")
        with pytest.raises(InputError, match=rf"the labels of a are numbers like '{own}', and those of the references"):
            score([gold, "2"] * 30, {"a": [own, "null"] * 30}, "accuracy")
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


def test_sentences_of_tags_are_no_labels() -> None:
    tags = [" ".join("O B-PER I-PER"[: 2 + 12 * (i % 2)].split() + ["O"] * (i % 15 + 2)) for i in range(90)]
    for name in ("accuracy", "exact"):
        (message,) = warnings_of(score, tags, {"a": [tag.replace("I", "B") for tag in tags]}, name)
        assert message.startswith(f"each line has the tags of a sentence, and {name} counts a line as one label, which")
        assert message.endswith("write one on each line, and the sentence of each as documents")
    assert warnings_of(score, tags, {"a": [f"{tag} O" for tag in tags]}, "accuracy") == []
    assert warnings_of(score, tags, {"a": [tag.replace("I", "B") for tag in tags]}, "span-f1") == []


def test_ids_that_are_probably_not_those_of_documents_give_a_warning() -> None:
    segments = [f"segment {n}" for n in range(40)]
    systems = {name: [f"{name} {line}" for line in segments] for name in "ab"}

    def of(documents: Any, n: int = 40) -> list[str]:
        some = {name: lines[:n] for name, lines in systems.items()}
        return warnings_of(compare, segments[:n], some, documents=documents, n_resamples=99)

    texts = "the ids of documents look like texts: was the source or another text passed in their place?"
    assert of([f"a sentence of the source {n}" for n in range(40)]) == [texts]
    assert of([f"a sentence of the source {n // 2 if n < 10 else n}" for n in range(40)]) == [texts]
    (message,) = of([min(n, 37) for n in range(40)])
    assert message.startswith("38 documents of 40 segments: nearly every segment is a document of its own; were")
    assert of([min(n, 35) for n in range(40)]) == []
    assert of([f"A Tale of {n // 2} Cities" for n in range(40)]) == []
    assert of(range(19), 19) == []  # so few segments may well be of as many documents


def test_documents_are_warned_of_by_commands_too(demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    texts = ["reference.txt", "tuned.txt", "larger.txt"]
    for command in (
        ["compare", *texts],
        ["score", *texts, "--confidence", "0.95"],
        ["runs", "--refs", texts[0], "--baseline", texts[1], "--system", texts[2]],
    ):
        outcome = run(*command, "--docs", "reference.txt", "-n", "99")
        assert outcome.code == 0
        assert outcome.err.count("reshuffle: warning: ") == 1
        assert "the ids of documents look like texts" in outcome.err


@pytest.mark.parametrize(
    ("lengths", "hint"),
    [
        (("x\ny\n", "a\nb\n\n"), ": remove the empty last line of sys.txt"),
        (("x\ny\n\n", "a\nb\n"), ": remove the empty last line of ref.txt"),
        (("x\ny\n", "a\nb\n\n \n"), ": remove the empty lines at the end of sys.txt"),
        (("x\ny\n", "a\n\nc\n"), ": they must match segment by segment"),
        (("x\n", "a\nb\n\n"), ": they must match segment by segment"),
    ],
)
def test_the_error_names_an_empty_last_line_that_makes_lengths_differ(
    tmp_path: Path, lengths: tuple[str, str], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("ref.txt", "sys.txt"), lengths, strict=True):
        Path(name).write_text(text)
    with pytest.raises(InputError) as raised:
        read_corpus(["ref.txt"], ["sys.txt"])
    n, m = (text.count("\n") for text in lengths)
    assert str(raised.value) == f"ref.txt has {n} segment{'s' * (n != 1)}, sys.txt has {m}{hint}"


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
    ours = [m for m in warnings_of(score, ["x."] * len(lines), {"a": lines}) if "tokenized period" in m]
    assert bool(ours) == any("That's 100 lines that end in a tokenized period" in m for m in logged)


def test_tokenized_text_gives_a_warning_only_with_metrics_that_tokenize() -> None:
    lines = ["x ."] * 99 + ["y .", "z"]
    reference = ["w w"] * 101
    message = (
        "100 segments of 'a' end in a tokenized period (' .'), but BLEU tokenizes texts itself: detokenize them, or "
        "turn its tokenizer off (tokenize 'none')"
    )
    assert warnings_of(score, reference, {"a": lines, "b": ["v"] * 101}) == [message]
    (of_all,) = (m for m in warnings_of(score, reference, {"a": lines, "b#1": ["y .", *lines[1:]]}) if "period" in m)
    assert of_all.startswith("100 segments of 'a', and many of 1 other output, end in a tokenized period")
    assert warnings_of(score, reference, {"a": lines}, ["chrf", "ter", metric("bleu", tokenize="none")]) == []
    assert warnings_of(score, reference, {"a": lines}, ["ter", "nist"]) == [message.replace("BLEU", "NIST")]
    assert warnings_of(score, reference[1:], {"a": lines[1:]}) == []
    for line in (None, 1, b"x ."):
        with pytest.raises(InputError, match="b, segment 2: expected a string"):
            score(reference, {"a": lines, "b": ["x", cast(str, line), *lines[2:]]})


def test_a_word_error_rate_of_characters_warns_that_it_is_no_character_error_rate(demo: Path, run: Any) -> None:
    message = (
        "WER with {}=char counts characters without spaces, so it is not the character error rate (CER) of jiwer and "
        "other tools, which count spaces too"
    )
    wer = metric("wer", tokenize="char")
    assert warnings_of(score, REFERENCE, {"a": OTHER, "b": ["x", "y"]}, [wer, "wer"]) == [message.format("tokenize")]
    others = ["wer", *(metric(name, tokenize="char") for name in ("bleu", "per"))]
    assert warnings_of(score, REFERENCE, {"a": OTHER}, others) == []
    scored = run("score", "reference.txt", "tuned.txt", "-m", "wer:tokenize=char", "wer:tokenize=char,lowercase")
    assert scored.err == f"reshuffle: warning: {message.format('--tokenize')}\n"


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
    for copy, said in (("baseline.txt", "is named twice"), ("./baseline.txt", "is the same file as baseline.txt")):
        twice = run("compare", "reference.txt", "baseline.txt", copy, "rules.txt", "tuned.txt", "-n", "99")
        assert twice.out == once.out
        assert twice.err == f"reshuffle: warning: {copy} {said}: the copy is left out\n"
    # A file and its copy alone are two systems.
    alone = run("compare", "reference.txt", "baseline.txt", "baseline.txt", "-n", "99")
    assert "baseline#2" in alone.out
    assert "identical: was a file passed twice?" in alone.err
    for name in "ab":
        Path(f"{name}.scores").write_text("1\n0\n" * 30)
    scored = run("compare", "--scores", "x", "a.scores", "b.scores", "a.scores", "-n", "99")
    assert "a.scores is named twice: the copy is left out" in scored.err
    # Scores are in the order of the texts here, so no text is left out.
    texts = ["reference.txt", "baseline.txt", "rules.txt", "baseline.txt"]
    Path("s.txt").write_text("1\n" * 400)
    both = run("compare", *texts, "--scores", "x", "s.txt", "s.txt", "s.txt", "--by-position", "-n", "99")
    assert "baseline#2" in both.out


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


def test_scores_called_like_an_error_give_a_warning_unless_their_direction_is_given(tmp_path: Path, run: Any) -> None:
    scores = {"a": [0.5, 1.0], "b": [1.0, 1.0]}
    said = "latency_ms: higher scores count as better; for an error or a loss add higher_is_better=False; if"
    (message,) = warnings_of(reshuffle.SegmentScores, "latency_ms", scores)
    assert message.startswith(said)
    counts = {name: {"edits": [1, 2], "words": [9, 9]} for name in "ab"}
    assert warnings_of(reshuffle.FromCounts, "WER", counts, "edits / words")[0].startswith("WER: higher scores count")
    assert warnings_of(reshuffle.SegmentScores, "WER", scores, higher_is_better=True) == []
    assert warnings_of(reshuffle.SegmentScores, "1-WER", scores) == []
    assert warnings_of(reshuffle.SegmentScores, "TER", {"a": [-0.5, 0], "b": [0, -1.0]}) == []  # negated
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n2,2\n" * 30)
    command = ("compare", "--scores", "WER", str(tmp_path / "x.csv"), "-n", "99")
    assert "add --lower-is-better WER; if" in run(*command).err
    assert run(*command, "--lower-is-better", "WER").err == ""
