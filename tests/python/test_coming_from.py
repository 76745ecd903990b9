"""docs/coming-from: every command there runs, and the statements about other tools are true."""

import csv
import io
import json
import re
import shlex
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sacrebleu
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from nltk.translate.nist_score import corpus_nist
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, estimate_ci

from inputs import sgm
from meteor_files import write_meteor
from reshuffle import InputError, compare, metric, score, segment_scores
from reshuffle.cli.main import main
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.intervals import INTERVALS

FOLDER = Path(__file__).resolve().parents[2] / "docs/coming-from"
COMMANDS = [
    command
    for page in sorted(FOLDER.glob("*.md"))
    for command in re.findall(r"`(reshuffle [^`]+)`", page.read_text("utf-8"))
]
CORPUS = demo_corpus()
REFERENCE = [str(line) for line in CORPUS.references[0]]
HYPOTHESES = list(CORPUS.systems["tuned"])
OTHER = list(CORPUS.systems["larger"])
COMET = dict(zip(("a.txt", "b.txt"), np.random.default_rng(1).random((2, len(REFERENCE))).tolist(), strict=True))
TOKENS = [line.split() for line in HYPOTHESES], [[line.split()] for line in REFERENCE]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in {"ref": REFERENCE, "ref2": OTHER, "a": HYPOTHESES, "b": OTHER}.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    rows = zip(["one", *REFERENCE], ["two", *OTHER], strict=True)
    Path("refs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    for name, kind, lines in (("ref", "ref", REFERENCE), ("sys", "tst", HYPOTHESES)):
        of_document = {("d", str(i)): line for i, line in enumerate(lines, 1)}
        Path(f"{name}.sgm").write_text(sgm(of_document, kind, sysid=name), "utf-8")
    scored = {
        name: [
            {"src": source, "mt": line, "ref": line, "COMET": score}
            for source, line, score in zip(REFERENCE, lines, COMET[name], strict=True)
        ]
        for name, lines in {"a.txt": HYPOTHESES, "b.txt": OTHER}.items()
    }
    Path("comet.json").write_text(json.dumps(scored, indent=4), "utf-8")
    for name in "ab":  # logs of inspect_ai
        samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[i % 2]}}} for i in range(40)]
        with zipfile.ZipFile(f"{name}.eval", "w") as archive:
            archive.writestr("header.json", json.dumps({"version": 2, "eval": {"model": name}}))
            archive.writestr("summaries.json", json.dumps(samples))
    meteor = write_meteor(Path("meteor-1.5"))
    (meteor / "function/german.words").write_text("der\n", "utf-8")
    (meteor / "data/paraphrase-de.gz").write_text("0.5\nein Haus\ndas Haus\n", "utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(files: None, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command)[1:])
    assert stopped.value.code == 0, capsys.readouterr().err


def test_what_the_page_says_is_wrong_in_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    def paired(test: str, n: int, systems: Sequence[Sequence[str]]) -> list[float | None]:
        named = [(str(number), lines) for number, lines in enumerate(systems)]
        _, results = PairedTest(named, {"BLEU": BLEU()}, [REFERENCE], test_type=test, n_samples=n)()
        return [result.p_value for result in results["BLEU"]]

    assert paired("ar", 99, [HYPOTHESES, HYPOTHESES]) == [None, 0.01]
    assert compare(REFERENCE, {"a": HYPOTHESES, "b": HYPOTHESES}, test="ar").comparisons[0].test.pvalue == 1
    monkeypatch.setenv("SACREBLEU_SEED", "0")
    # Two runs may agree by chance, four do not.
    runs = [paired("ar", 299, [HYPOTHESES[:40], OTHER[:40]] * 2)[1::2] for _ in range(4)]
    assert any(each != runs[0] for each in runs)
    cut = BLEU().corpus_score(HYPOTHESES[:-1], [REFERENCE]).score
    assert cut == BLEU().corpus_score(HYPOTHESES[:-1], [REFERENCE[:-1]]).score
    with pytest.raises(InputError, match="they must match"):
        score(REFERENCE, {"a": HYPOTHESES[:-1]}, metric("bleu"))
    assert (np.array([[2**24], [1]], "float32").sum(0) == 2**24).all()


def test_every_flag_named_for_sacrebleu_exists() -> None:
    page = (FOLDER / "sacrebleu.md").read_text("utf-8")
    source = (Path(sacrebleu.__file__).parent / "sacrebleu.py").read_text("utf-8")
    theirs = [
        *(row.split("|")[1] for row in page.splitlines() if row.startswith("| ")),
        page.split("Not available:")[1],
    ]
    flags = {flag for text in theirs for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)}
    assert len(flags) > 25
    assert [flag for flag in sorted(flags) if f"'{flag}'" not in source and f'"{flag}"' not in source] == []


@pytest.mark.parametrize("n", [1000, 999, 300, 39])
def test_the_interval_koehn_has_the_half_width_that_sacrebleu_prints(n: int) -> None:
    """sacrebleu 2.6.0, ``significance.estimate_ci``: what ``--confidence`` computes from its draws."""
    draws = np.random.default_rng(n).normal(30, 1, n)
    estimate: Any = SimpleNamespace(draws=draws)
    low, high = INTERVALS["koehn"].ends(estimate, 0.95)
    _, half_width = estimate_ci(draws)
    assert half_width == (high - low) / 2
    assert "--interval koehn" in row_of("sacrebleu", "`--confidence`")


def row_of(page: str, theirs: str) -> str:
    """The first command in the row that begins with these arguments of the other tool."""
    rows = (FOLDER / f"{page}.md").read_text("utf-8").splitlines()
    (row,) = (row for row in rows if row.startswith(f"| {theirs}"))
    return str(re.findall(r"`(reshuffle [^`]+)`", row)[0])


def output_of(command: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command)[1:])
    out, err = capsys.readouterr()
    assert stopped.value.code == 0, err
    return list(csv.DictReader(io.StringIO(out), delimiter="\t" if "--segments" in command else ","))


# Where mteval differs from sacreBLEU: Ü is not lower-cased, pairs after the word 0, spaces (a carriage return is one)
# at the ends of segments, segments of fewer than four words.
MTEVAL = {
    "ref": [
        ["Ü b c d zero", "age 0 to 14 b", " in the year 2008 . "],
        ["Yes it is so", " -5 degrees , the cat sat on the mat"],
    ],
    "sys": [
        ["ü b c d zero", "age 0 to 14 c", " in the year 2008. "],
        ["yes it is", "-5 degrees , the Cat sat on the mat\r"],
    ],
}

# perl mteval-v13a.pl -r ref.sgm -s src.sgm -t sys.sgm -d 2 [options] (mosesdecoder, scripts/generic; perl 5.36): NIST
# and BLEU of the system, of documents and of segments.
Printed = list[tuple[float, float]]
PRINTED: dict[str, tuple[Printed, Printed, Printed]] = {
    "`-r ref.sgm -s src.sgm -t sys.sgm -c`": (
        [(4.2662, 0.6546)],
        [(4.6101, 0.7823), (3.7965, 0.5137)],
        [(3.8959, 0.6687), (5.0477, 0.6687), (4.8866, 1.0000), (2.2609, 0.4578), (4.1191, 0.5969)],
    ),
    "without `-c`": (
        [(4.6920, 0.8547)],
        [(4.6101, 0.7823), (4.7307, 0.9200)],
        [(3.8959, 0.6687), (5.0477, 0.6687), (4.8866, 1.0000), (3.3913, 0.7165), (4.8514, 1.0000)],
    ),
    "`-c --no-smoothing`": (
        [(4.2662, 0.6546)],
        [(4.6101, 0.7823), (3.7965, 0.5137)],
        [(3.8959, 0.6687), (5.0477, 0.6687), (4.8866, 1.0000), (2.2609, 0.0000), (4.1191, 0.5969)],
    ),
    "`-c --international-tokenization`": (
        [(4.0671, 0.5733)],
        [(4.6582, 0.7823), (3.2006, 0.3466)],
        [(3.9364, 0.6687), (5.1009, 0.6687), (4.9372, 1.0000), (2.2847, 0.4578), (3.4586, 0.3863)],
    ),
    "`-c --international-tokenization` --lowercase": (
        [(4.6658, 0.8236)],
        [(4.9820, 0.8922), (4.0764, 0.7455)],
        [(4.9080, 1.0000), (5.1009, 0.6687), (4.9372, 1.0000), (3.4270, 0.7165), (4.1628, 0.7726)],
    ),
}


@pytest.fixture
def mteval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, name in (("ref", "ref"), ("tst", "sys")):
        documents = zip(("one", "two"), MTEVAL[name], strict=True)
        segments = {(id_, str(i)): line for id_, lines in documents for i, line in enumerate(lines, 1)}
        Path(f"{name}.sgm").write_text(sgm(segments, kind, sysid=name), "utf-8", newline="")


@pytest.mark.parametrize("run", PRINTED)
def test_the_commands_reproduce_the_scores_of_mteval(
    mteval: None, capsys: pytest.CaptureFixture[str], run: str
) -> None:
    row, *more = run.split(" --lowercase")
    command = row_of("mteval-moses", row) + " --lowercase" * len(more)
    of_system, of_documents, of_segments = PRINTED[run]
    of_system_here = {line["metric"]: float(line["score"]) for line in output_of(f"{command} --format csv", capsys)}
    assert (of_system_here["NIST"], of_system_here["BLEU"] / 100) == pytest.approx(of_system[0], abs=0.50001e-4)
    for options, unit, expected in (
        ("--segments --docs ref.sgm", "document", of_documents),
        ("--segments", "segment", of_segments),
    ):
        table = output_of(f"{command} {options}", capsys)
        assert [line[unit] for line in table] == (["one", "two"] if unit == "document" else list("12345"))
        here = [(float(line["NIST"]), float(line["BLEU"]) / 100) for line in table]
        np.testing.assert_allclose(here, expected, rtol=0, atol=0.50001e-4)


@pytest.mark.parametrize("theirs", ["`-c -d 1`", "`-c -d 2`"])
def test_the_rows_of_documents_and_segments_equal_those_of_mteval(
    mteval: None, capsys: pytest.CaptureFixture[str], theirs: str
) -> None:
    _, of_documents, of_segments = PRINTED["`-r ref.sgm -s src.sgm -t sys.sgm -c`"]
    table = output_of(row_of("mteval-moses", theirs), capsys)
    here = [(float(line["NIST"]), float(line["BLEU"]) / 100) for line in table]
    np.testing.assert_allclose(here, of_documents if "1" in theirs else of_segments, rtol=0, atol=0.50001e-4)


# A no-break space or a line separator within words, U+001C and a vertical tab between them, capitals outside ASCII.
MOSES = {
    "ref": ["Die Prüfung kostet 5\u00a0000 Euro , Überraschung", "a b c\u2028d e f\u00a0", "A\vb c d e f"],
    "ref2": ["die Prüfung kostet 5 000 Euro", "a b c d e f", "x"],
    "a": ["Die Prüfung kostet 5\u00a0000 euro , überraschung", "A b c d e f\u00a0", "a b c\x1cd e f"],
}


@pytest.mark.parametrize(
    ("theirs", "more", "expected"),
    [
        # perl multi-bleu.perl [-lc] ref.txt < a.txt (mosesdecoder, scripts/generic; perl 5.36), or with two references.
        ("`multi-bleu.perl ref.txt < a.txt`", "", 24.78),
        ("`multi-bleu.perl -lc ref.txt < a.txt`", "", 47.72),
        ("`ref.txt0`, `ref.txt1`", "", 38.88),
        ("`ref.txt0`, `ref.txt1`", " --lowercase", 65.54),
    ],
)
def test_the_commands_reproduce_the_scores_of_multi_bleu(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    theirs: str,
    more: str,
    expected: float,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in MOSES.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    (line,) = output_of(row_of("mteval-moses", theirs) + more + " --format csv", capsys)
    assert float(line["score"]) == pytest.approx(expected, abs=0.50001e-2)
    # sacreBLEU tokenizes differently.
    (line,) = output_of("reshuffle score ref.txt a.txt --tokenize none --smooth-method none --format csv", capsys)
    assert float(line["score"]) == pytest.approx(66.71, abs=0.50001e-2)


def test_the_options_for_nltk_reproduce_its_scores() -> None:
    hypotheses, references = TOKENS
    # Two references, and a sentence too short for 4-grams.
    of_columns = {"references": [[*REFERENCE, "a b c"], [*OTHER, "a"]], "systems": [[*HYPOTHESES, "a b c"]]}
    names = {"score": score, "segment_scores": segment_scores, "metric": metric, **of_columns}
    by_segment = [[line.split() for line in of] for of in zip(*of_columns["references"], strict=True)]
    lines = [line.split() for line in of_columns["systems"][0]]

    def of_row(theirs: str) -> Any:
        rows = (FOLDER / "nltk.md").read_text("utf-8").splitlines()
        (row,) = (row for row in rows if row.startswith(f"| `{theirs}"))
        return eval(row.split("| `")[2].split("`")[0], names)

    theirs = "corpus_bleu(references, hypotheses)"
    assert of_row(theirs).scores[0].score == pytest.approx(100 * corpus_bleu(by_segment, lines), rel=1e-12)
    theirs = "corpus_nist(references, hypotheses)"
    assert of_row(theirs).scores[0].score == pytest.approx(corpus_nist(by_segment, lines), rel=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about each order without a match
        expected = [100 * float(sentence_bleu(r, h)) for r, h in zip(by_segment, lines, strict=True)]
    got = of_row("sentence_bleu(references, hypothesis)").scores["BLEU"][0]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    for ours, method in [*((n, n) for n in "123"), *((f"nltk-{n}", n) for n in "4567")]:
        smoothing = getattr(SmoothingFunction(), f"method{method}")
        expected = [
            100 * sentence_bleu(r, h, smoothing_function=smoothing)
            for r, h in zip(references[:50], hypotheses[:50], strict=True)
        ]
        of_sentences = metric("sentbleu", tokenize="none", smoothing=ours)
        got = segment_scores(REFERENCE[:50], [HYPOTHESES[:50]], of_sentences).scores["sentBLEU"][0]
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    chrf = segment_scores(REFERENCE, [HYPOTHESES], metric("chrf", beta=3, eps_smoothing=True)).scores["chrF3"][0]
    expected = [100 * sentence_chrf(r, h) for r, h in zip(REFERENCE, HYPOTHESES, strict=True)]
    np.testing.assert_allclose(chrf, expected, rtol=1e-9)
    assert chrf.mean() == pytest.approx(100 * corpus_chrf(REFERENCE, HYPOTHESES), rel=1e-9)
