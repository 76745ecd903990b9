"""docs/coming-from.md: every command in it runs, and what it says of other tools is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from nltk.translate.nist_score import corpus_nist

from reshuffle import metric, score, segment_scores
from reshuffle.cli import main
from reshuffle.demo import demo_corpus

PAGE = Path(__file__).resolve().parents[2] / "docs/coming-from.md"
COMMANDS = re.findall(r"`(reshuffle [^`]+)`", PAGE.read_text("utf-8"))
CORPUS = demo_corpus()
REFERENCE = [str(line) for line in CORPUS.references[0]]
HYPOTHESES = list(CORPUS.systems["tuned"])
TOKENS = [line.split() for line in HYPOTHESES], [[line.split()] for line in REFERENCE]


def set_of(kind: str, name: str, lines: list[str]) -> str:
    segments = "".join(f'<seg id="{i}">{line}</seg>\n' for i, line in enumerate(lines, 1))
    return f'<{kind}><doc docid="d" sysid="{name}">{segments}</doc></{kind}>\n'


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    other = list(CORPUS.systems["larger"])
    for name, lines in {"ref": REFERENCE, "ref2": other, "a": HYPOTHESES, "b": other}.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    rows = zip(["one", *REFERENCE], ["two", *other], strict=True)
    Path("refs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    Path("ref.sgm").write_text(set_of("refset", "ref", REFERENCE), "utf-8")
    Path("sys.sgm").write_text(set_of("tstset", "sys", HYPOTHESES), "utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(files: None, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command)[1:])
    assert stopped.value.code == 0, capsys.readouterr().err


def test_every_flag_of_sacrebleu_is_one() -> None:
    section = PAGE.read_text("utf-8").split("## sacreBLEU")[1].split("\n## ")[0]
    source = (Path(sacrebleu.__file__).parent / "sacrebleu.py").read_text("utf-8")
    theirs = [
        *(row.split("|")[1] for row in section.splitlines() if row.startswith("| ")),
        section.split("Not here:")[1],
    ]
    flags = {flag for text in theirs for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)}
    assert len(flags) > 25
    assert [flag for flag in sorted(flags) if f"'{flag}'" not in source and f'"{flag}"' not in source] == []


def test_scores_of_nltk_are_those_the_page_says() -> None:
    hypotheses, references = TOKENS
    bleu = metric("bleu", tokenize="none", smooth_method="none")
    (of_bleu,) = score(REFERENCE, [HYPOTHESES], bleu).scores
    assert of_bleu.score == pytest.approx(100 * corpus_bleu(references, hypotheses), rel=1e-12)
    (of_nist,) = score(REFERENCE, [HYPOTHESES], metric("nist", tokenize="none")).scores
    assert of_nist.score == pytest.approx(corpus_nist(references, hypotheses), rel=1e-9)
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
