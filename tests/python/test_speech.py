"""Error rates of speech recognition: against jiwer's and meeteval's numbers, a slow twin, and jiwer itself."""

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from inputs import put
from reshuffle import Comparison, InputWarning, compare, metric, read_json, score
from reshuffle.data.corpus import read_corpus
from reshuffle.data.reading import read_columns
from test_warnings import warnings_of
from told import assert_raises, assert_refused

RATES = {"wer": "asr-wer", "mer": "mer", "wil": "wil"}
WORD_METRICS = ("asr-wer", "mer", "wil")


def counts(name: str, references: Sequence[str], hypotheses: Sequence[str], **options: Any) -> list[list[int]]:
    rows: list[list[int]] = metric(name, **options).suff_stats([references], [hypotheses])[0].tolist()
    return rows


def rate(name: str, row: Sequence[int]) -> float:
    """As a fraction, which other tools print."""
    return float(metric(name).score(row)) / 100


# Twins.


def words(line: str) -> list[str]:
    return [word for word in re.sub(r"\s\s+", " ", line).strip().split(" ") if word]


def kinds_of_edits(reference: Sequence[str], hypothesis: Sequence[str]) -> list[int]:
    """Substitutions, deletions, insertions and hits by the whole matrix, traced back as rapidfuzz does."""
    hits = 0
    for at, cut in ((0, slice(1, None)), (-1, slice(None, -1))):
        while reference and hypothesis and reference[at] == hypothesis[at]:
            reference, hypothesis, hits = reference[cut], hypothesis[cut], hits + 1
    n, m = len(reference), len(hypothesis)
    d = [[i + j for j in range(n + 1)] for i in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            differ = hypothesis[i - 1] != reference[j - 1]
            d[i][j] = min(d[i - 1][j - 1] + differ, d[i - 1][j] + 1, d[i][j - 1] + 1)
    i, j, found = m, n, [0, 0, 0, hits]
    while i or j:
        if j and d[i][j] == d[i][j - 1] + 1:
            found[1] += 1
            j -= 1
        elif not j or (i and d[i - 1][j] + 1 == d[i - 1][j - 1]):
            found[2] += 1
            i -= 1
        else:
            found[3 if hypothesis[i - 1] == reference[j - 1] else 0] += 1
            i, j = i - 1, j - 1
    return found


LINES = st.text("ab éÜ\t\u00a0.'", max_size=80)


@settings(max_examples=budget(300))
@given(LINES, LINES)
def test_counts_are_those_of_the_whole_matrix(reference: str, hypothesis: str) -> None:
    for name in WORD_METRICS:
        assert counts(name, [reference], [hypothesis]) == [kinds_of_edits(words(reference), words(hypothesis))]
    assert counts("cer", [reference], [hypothesis]) == [kinds_of_edits(reference.strip(), hypothesis.strip())]


@settings(max_examples=budget(200))
@given(LINES, LINES, st.booleans(), st.booleans(), st.sampled_from([None, "NFC", "NFKC"]))
def test_normalization_is_done_before_lines_are_split(
    reference: str, hypothesis: str, lowercase: bool, no_punct: bool, form: Literal["NFC", "NFKC"] | None
) -> None:
    def normal(line: str) -> str:
        line = line if form is None else unicodedata.normalize(form, line)
        line = line.lower() if lowercase else line
        if no_punct:
            bare = "".join(c for c in line if not unicodedata.category(c).startswith("P"))
            line = " ".join(words(bare))
        return line.strip()

    options = {"lowercase": lowercase, "no_punct": no_punct, "unicode": form}
    for name in ("asr-wer", "cer"):
        expected = counts(name, [normal(reference)], [normal(hypothesis)])
        assert counts(name, [reference], [hypothesis], **options) == expected


def test_long_texts_are_counted_as_short_ones() -> None:
    rng = np.random.default_rng(3)
    for length in (63, 64, 65, 127, 128, 200, 700):
        reference, hypothesis = (["abcd"[i] for i in rng.integers(0, 4, n)] for n in (length, length + 3))
        expected = [kinds_of_edits(reference, hypothesis)]
        assert counts("asr-wer", [" ".join(reference)], [" ".join(hypothesis)]) == expected
        assert counts("cer", ["".join(reference)], ["".join(hypothesis)]) == expected


# Numbers of other tools.


def test_every_line_equals_jiwers(golden: Path) -> None:
    known = json.loads((golden / "counts/speech/invented.json").read_text("utf-8"))
    references, hypotheses = ([line[key] for line in known["lines"]] for key in ("ref", "hyp"))
    for name in WORD_METRICS:
        assert counts(name, references, hypotheses) == [line["words"] for line in known["lines"]]
    assert counts("cer", references, hypotheses) == [line["characters"] for line in known["lines"]]
    for line in known["lines"]:
        for key, name in RATES.items():
            assert rate(name, line["words"]) == pytest.approx(line[key], rel=1e-14, abs=1e-15), line
        assert rate("wil", line["words"]) == pytest.approx(1 - line["wip"], rel=1e-14, abs=1e-15)
        assert rate("cer", line["characters"]) == pytest.approx(line["cer"], rel=1e-14)
    _check_corpus(known["corpus"], references, hypotheses)


def _check_corpus(known: Any, references: Sequence[str], hypotheses: Sequence[str]) -> None:
    for key, name in RATES.items():
        total = np.sum(counts(name, references, hypotheses), axis=0).tolist()
        assert total == known["words"]
        assert rate(name, total) == pytest.approx(known[key], rel=1e-14)
    total = np.sum(counts("cer", references, hypotheses), axis=0).tolist()
    assert total == known["characters"]
    assert rate("cer", total) == pytest.approx(known["cer"], rel=1e-14)


def test_real_outputs_equal_jiwers(golden: Path, data: Path) -> None:
    known = json.loads((golden / "counts/speech/data.json").read_text("utf-8"))["sets"]
    assert len(known) == 8
    for name, each in known.items():
        folder, _, file = name.removesuffix(" all").partition("/")
        lines = []
        for wanted in (each["ref"], file):
            (path,) = (p for p in (data / folder).rglob(Path(wanted).name) if p.is_file())
            lines.append(path.read_text("utf-8").split("\n")[: each["lines"]])
        if "words" in each:
            assert counts("asr-wer", *lines) == each["words"], name
            assert counts("cer", *lines) == each["characters"], name
        _check_corpus(each["corpus"], *lines)


OTHERWISE = re.compile(r"[\[\]<>\t\n\r\x0b\x0c]|n't|'[a-z]|can't|let's|i'm", re.IGNORECASE)


def test_lower_case_is_that_of_jiwers_standardizing_transform(golden: Path) -> None:
    known = json.loads((golden / "counts/speech/invented.json").read_text("utf-8"))["lines"]
    lines = [line for line in known if not OTHERWISE.search(line["ref"] + line["hyp"])]
    assert len(lines) > 30
    references, hypotheses = ([line[key] for line in lines] for key in ("ref", "hyp"))
    expected = [line["words_standardize"] for line in lines]
    assert counts("asr-wer", references, hypotheses, lowercase=True) == expected


def test_sums_of_edits_are_those_of_sclite(golden: Path, data: Path) -> None:
    """Its weights are 4, 3 and 3, so the split, and rarely the sum, may differ."""
    known = json.loads((golden / "counts/speech/sclite.json").read_text("utf-8"))["segments"]
    lines = []
    for name in ("ted.ref.eng", "ted.sys1.eng"):
        (path,) = (p for p in (data / "compare-mt-ted-slk-en").rglob(name) if p.is_file())
        own = path.read_text("utf-8").split("\n")[: len(known)]
        lines.append([" ".join(re.sub(r"[^a-z0-9' ]", " ", line.lower()).split()) for line in own])
    ours = np.array(counts("asr-wer", *lines))
    theirs = np.array(list(known.values()))
    assert ((ours[:, 0] + ours[:, 1] + ours[:, 3]) == theirs[:, :3].sum(axis=1)).all()
    edits = ours[:, :3].sum(axis=1), theirs[:, 1:].sum(axis=1)
    assert (edits[0] <= edits[1]).all()
    assert edits[0].sum() >= 0.99 * edits[1].sum()


@pytest.mark.slow
def test_random_lines_are_counted_as_by_jiwer() -> None:
    jiwer = pytest.importorskip("jiwer", reason="jiwer is not installed")
    rng = np.random.default_rng(11)
    alphabet = list("abcd  .é\t")
    for _ in range(3000):
        reference, hypothesis = ("".join(rng.choice(alphabet, rng.integers(0, 90))) for _ in range(2))
        for process, name in ((jiwer.process_words, "asr-wer"), (jiwer.process_characters, "cer")):
            found = process(reference, hypothesis)
            expected = [found.substitutions, found.deletions, found.insertions, found.hits]
            assert counts(name, [reference], [hypothesis]) == [expected], (reference, hypothesis)


# Files.


@pytest.mark.usefixtures("here")
def test_transcripts_are_joined_by_their_ids() -> None:
    put("ref.trn", ";; made up\nshe left (at nine) (anna-b-0001)\n(ben-0001) \n")
    Path("hyp.trn").write_text("oh (ben-0001)\nshe left (anna-b-0001)\n", "utf-8")
    Path("text").write_text("ben-0001\nanna-b-0001\tshe  left\n", "utf-8")
    (reference,) = read_columns(["ref.trn"])
    assert (reference.lines, reference.first_lines) == (["she left (at nine)", ""], [2, 3])
    assert reference.ids == [("anna-b", "0001"), ("ben", "0001")]
    with pytest.warns(InputWarning, match=r"deletable.trn, line 2: '\(there\)' is counted as a word .*without -D"):
        read_columns([put("deletable.trn", "(at nine) (a-1)\nhello (there) world (a-2)\n")])
    (kaldi,) = read_columns(["text"], "kaldi")
    assert (kaldi.lines, kaldi.ids) == (["", "she  left"], [("ben", "0001"), ("anna-b", "0001")])
    Path("utt2spk").write_text("ben-0001 Ben\nanna-b-0001 Ann\n", "utf-8")
    for name in ("utt2gender", "speakers.txt"):
        Path(name).write_text(Path("utt2spk").read_text("utf-8"), "utf-8")
        assert read_corpus(["ref.trn"], ["hyp.trn"], strata=name).strata == ["Ann", "Ben"]
    assert read_corpus(["text"], ["text"], "kaldi", documents="utt2spk").documents == ["Ben", "Ann"]
    assert read_corpus(["ref.trn"], ["hyp.trn"], documents="utt2spk").documents == ["Ann", "Ben"]
    assert read_corpus(["ref.trn"], ["ref.trn"], documents="ref.trn").documents == ["anna-b", "ben"]


@pytest.mark.usefixtures("here")
def test_files_that_speech_does_not_read_are_refused_with_what_to_write(run: Any) -> None:
    put("plain.txt", "a\nb\n")
    assert_refused("errors_of_speech", run)


@pytest.mark.usefixtures("here")
def test_wrong_lines_and_names_of_speakers_are_refused() -> None:
    assert_raises("python_errors_of_speech", globals())


def put_transcripts() -> None:
    """Transcripts of two systems, the second with other order of lines."""
    rng = np.random.default_rng(5)
    references: list[str] = []
    outputs: tuple[list[str], list[str]] = ([], [])
    for key in (f"s{speaker}-{utterance}" for speaker in range(8) for utterance in range(6)):
        own = [f"w{i}" for i in rng.integers(0, 30, 10)]
        references.append(f"{' '.join(own)} ({key})")
        for system, rate_of_edits in zip(outputs, (0.3, 0.2), strict=True):
            said = [word if rng.random() > rate_of_edits else "x" for word in own if rng.random() > 0.05]
            system.append(f"{' '.join(said)} ({key})")
    for name, lines in (("ref", references), ("a", outputs[0]), ("b", outputs[1][::-1])):
        put(f"{name}.trn", "\n".join(lines) + "\n")


@pytest.mark.usefixtures("here")
def test_speakers_are_units_and_have_the_scores_of_their_lines(run: Any) -> None:
    put_transcripts()
    files = ("ref.trn", "a.trn", "b.trn")
    options = ("-m", "asr-wer", "cer", "--docs", "speaker")
    shown = run("compare", *files, *options)
    assert (shown.code, shown.err) == (0, "")
    assert "unit:document[8]" in shown.out
    assert run("compare", *files, *options[:-1], "ref.trn").out == shown.out
    result = read_json(run("compare", *files, *options, "--format", "json").out)
    assert isinstance(result, Comparison)
    rows = [each for each in result.document_scores if each.metric == "WER"]
    assert [(each.document, each.system) for each in rows[:3]] == [("s0", "a"), ("s0", "b"), ("s1", "a")]
    columns = dict(zip(("ref", "a", "b"), read_columns(files), strict=True))
    texts = {name: dict(zip(column.ids or (), column.lines, strict=True)) for name, column in columns.items()}
    for each in rows:
        keys = [key for key in texts["ref"] if key[0] == each.document]
        own = counts("asr-wer", [texts["ref"][key] for key in keys], [texts[each.system][key] for key in keys])
        total = np.sum(own, axis=0).tolist()
        assert (list(each.details.values()), each.n_segments) == (total, 6)
        assert each.score == pytest.approx(100 * sum(total[:3]) / (total[0] + total[1] + total[3]), rel=1e-12)
    # In Kaldi's file of speakers ids are in any order, and without -m the rate of errors is that of transcripts.
    put("utt2spk.test", "".join(f"{key}-{i} {key}\n" for i in range(6) for key in (f"s{n}" for n in range(8))))
    by_speaker = run("compare", *files, "--docs", "utt2spk.test").out
    assert by_speaker == run("compare", *files, "-m", "asr-wer", "--docs", "speaker").out
    assert "by document" in run("compare", *files, *options, "--format", "markdown").out
    assert run("compare", *files, "-m", "asr-wer").err == (
        "reshuffle: warning: ref.trn: the ids name 8 speakers, such as 's0', but utterances are taken as independent "
        "segments, which can make p too small: add --docs speaker\n"
    )
    # In a table, a column says the same.
    lines = [(*key, texts["ref"][key], texts["a"][key], texts["b"][key]) for key in texts["ref"]]
    put("t.csv", "speaker,number,ref,a,b\n" + "".join(",".join(row) + "\n" for row in lines))
    said = "t.csv: segments with the same 'speaker' (8 values) are taken as independent"
    for name, docs, is_said in (
        ("asr-wer", (), True),
        ("bleu", (), False),
        ("asr-wer", ("--docs", "speaker"), False),
        ("exact", (), True),
    ):
        told = run("compare", "t.csv#ref", "t.csv#a", "t.csv#b", "-m", name, "-n", "99", *docs).err
        assert (said in told) == is_said
    # As in LibriSpeech, speakers with several chapters.
    chapters = "".join(f"a ({speaker}-{chapter}-{i})\n" for speaker in "ab" for chapter in "12" for i in range(3))
    put("chapters.trn", chapters)
    found = run("compare", "chapters.trn", "chapters.trn", "chapters.trn", "--docs", "speaker", "-n", "10").err
    assert "4 such as 'a-1'; the parts before the first hyphen are 2, such as 'a': if these are the speakers" in found
    put("one.trn", chapters.replace("(b", "(a-b"))
    assert "hyphen" not in run("compare", "one.trn", "one.trn", "one.trn", "--docs", "speaker", "-n", "10").err
    assert run("score", "ref.trn", "a.trn", "-m", "asr-wer").err == run("compare", *files, "-m", "bleu").err == ""


@pytest.mark.usefixtures("here")
def test_errors_of_recordings_equal_meetevals(golden: Path, run: Any) -> None:
    known = json.loads((golden / "counts/speech/cpwer.json").read_text("utf-8"))["sessions"]
    sessions: dict[str, list[tuple[str, Any]]] = {
        name: [(f"session{i:02}", each) for i, each in enumerate(own)] for name, own in known.items()
    }
    first, second = sessions
    Path("a.json").write_text(json.dumps(dict(sessions[first]), indent=2), "utf-8")
    Path("b.json").write_text(json.dumps(dict(reversed(sessions[second]))), "utf-8")
    command = ("compare", "--counts", "cpWER:100*errors/length", "a.json", "b.json", "--lower-is-better", "cpWER")
    shown = run(*command, "--input-format", "meeteval", "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    result = read_json(shown.out)
    assert isinstance(result, Comparison)
    assert result.n_segments == 40
    for name, system in ((first, "a"), (second, "b")):
        total = [sum(each[key] for each in known[name]) for key in ("errors", "length")]
        assert result.score(system).score == pytest.approx(100 * total[0] / total[1], rel=1e-12)
    # Pairs are recordings, whatever the order in the files.
    differing = sum(a["errors"] != b["errors"] for a, b in zip(known[first], known[second], strict=True))
    influence = result.pair("b").influence
    assert influence is not None
    assert influence.differing == differing
    Path("b.json").write_text(json.dumps({"other": sessions[second][0][1], **dict(sessions[second][1:])}), "utf-8")
    assert "lacks the document 'session00'" in run(*command, "--input-format", "meeteval").err


# Reports.


def test_the_kinds_of_edits_are_the_parts_of_a_difference() -> None:
    references = ["a b c d", "e f g h", "i j k l"] * 4
    systems = {"x": ["a c d e", "e f g h", "i j x l"] * 4, "y": ["a b c d", "e f h", "q j k l m"] * 4}
    result = compare(references, systems, metrics=["asr-wer", "cer", "mer"], include="parts", baseline="x")
    for pair in result.comparisons:
        assert [each.part for each in pair.contributions or ()] == ["substitutions", "deletions", "insertions"]
        rates = []
        for system in ("y", "x"):
            found = result.score(system, pair.metric).details
            length = sum(found.values()) - (0 if pair.metric == "MER" else found["insertions"])
            rates.append([100 * found[part] / length for part in ("substitutions", "deletions", "insertions")])
        expected = [a - b for a, b in zip(*rates, strict=True)]
        assert [each.difference for each in pair.contributions or ()] == pytest.approx(expected, abs=1e-9)


BARE = [f"we don't say{'s' * (i % 3)} it" for i in range(60)]
WRITTEN = [f"{line.capitalize()}." for line in BARE]
MARKED = [f"{line} 50%" if i == 7 else line for i, line in enumerate(BARE)]


@pytest.mark.parametrize(
    ("lines", "metrics", "warns"),
    [
        (BARE, ["wer"], True),
        ([line.upper() for line in BARE], ["wer"], True),
        (BARE, ["asr-wer", "wer"], False),
        (BARE, ["ter"], False),
        ([*BARE, "Yes"], ["wer"], False),
        ([*BARE, "yes."], ["wer"], False),
        (BARE[:40], ["wer"], False),
    ],
)
def test_wer_of_transcripts_warns(lines: list[str], metrics: list[str], warns: bool) -> None:
    found = warnings_of(compare, lines, {"a": lines[::-1], "b": [*lines[1:], "x"]}, metrics=metrics, interval=None)
    assert any("asr-wer counts the word error rate of speech" in each for each in found) == warns


@pytest.mark.parametrize(
    ("references", "outputs", "chosen", "warning"),
    [
        (
            WRITTEN,
            BARE,
            "asr-wer",
            "the references have punctuation or both cases, but the outputs of a{b} have lower case only, without "
            "punctuation: asr-wer with lowercase and no_punct compares the words alone",
        ),
        ([line.upper() for line in BARE], BARE, "asr-wer", "the references have capitals only, without punctuation"),
        (
            BARE,
            WRITTEN,
            "cer",
            "the references have lower case only, without punctuation, but the outputs of a{b} have",
        ),
        # A few lines with a mark, texts in a script without cases, and too few lines say nothing.
        (MARKED, BARE, "asr-wer", None),
        (BARE, MARKED, "asr-wer", None),
        (["你好吗"] * 60, ["你 B 好"] * 60, "cer", None),
        (WRITTEN[:40], BARE[:40], "cer", None),
        (WRITTEN, WRITTEN, "asr-wer", None),
        (WRITTEN, BARE, metric("asr-wer", lowercase=True, no_punct=True), None),
        (WRITTEN, BARE, "ter", None),
    ],
)
def test_transcripts_beside_texts_with_punctuation_and_capitals_warn(
    references: list[str], outputs: list[str], chosen: Any, warning: str | None
) -> None:
    found = warnings_of(score, references, {"a{b}": outputs[::-1]}, metrics=chosen)
    assert [each[: len(warning or "")] for each in found] == ([] if warning is None else [warning])


NUMBERED = [f"{i} is a number" for i in range(30)]
SAID = ["no no", "yes", "well then", "no"] * 8


def with_ids(**changed: str) -> list[str]:
    return [f"u{i:04} {changed.get(f'at{i}', SAID[i])}" for i in range(30)]


@pytest.mark.parametrize(
    ("references", "systems", "warns"),
    [
        (with_ids(), [with_ids(at3="oh"), with_ids(at5="oh", at7="")], True),
        (with_ids(), [with_ids(at3="oh"), with_ids()[::-1]], True),
        (
            [line.replace(" ", "\t") for line in with_ids()],
            [[line.replace(" ", "\t") for line in with_ids(at3="")]],
            True,
        ),
        (with_ids(), [with_ids(at3="oh"), [f"v{line}" for line in with_ids()]], False),
        (NUMBERED, [NUMBERED], False),  # all right
        (NUMBERED, [NUMBERED[::-1]], False),
        ([*NUMBERED[:15], *NUMBERED[:15]], [NUMBERED], False),
        (["", *NUMBERED[1:]], [["", *NUMBERED[1:]]], False),
    ],
)
def test_ids_that_are_scored_as_words_warn(references: list[str], systems: list[list[str]], warns: bool) -> None:
    found = warnings_of(score, references, dict(zip("ab", systems, strict=False)), metrics="asr-wer")
    said = "different orders" if systems[-1] == with_ids()[::-1] else "the same in all texts"
    assert any("each line begins with an id" in each and said in each for each in found) == warns


def test_signatures_name_what_changes_a_score() -> None:
    assert metric("asr-wer").signature("1") == "WER|nrefs:1|case:mixed|tok:jiwer"
    options = {"lowercase": True, "no_punct": True, "unicode": "NFKC"}
    assert metric("cer", **options).signature("1") == "CER|nrefs:1|case:lc|punct:no|unicode:NFKC|tok:characters"
    assert metric("wer").signature("1") == "WER|nrefs:1|case:mixed|tok:13a"


@pytest.mark.usefixtures("here")
def test_transcripts_in_other_orders_beside_plain_lines_are_refused(run: Any) -> None:
    put("ref.trn", "a b (s-1)\nc d (s-2)\n")
    put("a.trn", "c d (s-2)\na b (s-1)\n")
    put("b.txt", "a b\nc x\n")
    message = "ref.trn and a.trn have the same ids in different orders, and b.txt has no ids"
    assert message in run("compare", "ref.trn", "a.trn", "b.txt").refusal()
