"""``python -m reshuffle.compat.moses``: against runs of Moses' scripts, a plain loop, and bad input."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inputs import put
from programs import Program, copies, program
from reshuffle.compat import moses
from reshuffle.compat.moses.significance import bleu, nist
from reshuffle.compat.moses.significance import significance as report
from told import assert_refused

# perl multi-bleu.perl ARGUMENTS < STDIN (mosesdecoder, scripts/generic) and
# perl bootstrap-hypothesis-difference-significance.pl ARGUMENTS (scripts/analysis), perl 5.36.
FILES = Path(__file__).parents[1] / "data/moses"
RUNS: list[dict[str, Any]] = json.loads((FILES / "runs.json").read_text("utf-8"))
BLEU = [run for run in RUNS if run["script"] == "multi-bleu"]
TESTS = [run for run in RUNS if run["script"] != "multi-bleu"]


files, ran = copies(FILES), program(moses.main)


@pytest.mark.parametrize("run", BLEU)
@pytest.mark.parametrize("ending", ["", ".perl"])
def test_the_line_of_multi_bleu(files: None, ran: Program, run: dict[str, Any], ending: str) -> None:
    stdin = Path(run["stdin"]).read_bytes()
    _, out, err = ran("multi-bleu" + ending, *run["arguments"], stdin=stdin)
    assert out == run["output"]
    assert ("takes 9,999 words as the length of each missing one" in err) == (run["arguments"] == ["ref1"])


def shape(text: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?(e-\d+)?", "#", text)


@pytest.mark.parametrize("run", TESTS)
def test_the_report_of_the_bootstrap_script(files: None, ran: Program, run: dict[str, Any]) -> None:
    _, out, err = ran(f"{run['script']}.pl", *run["arguments"], "-n", "4000")
    assert "rejects too often" in err
    assert shape(out) == shape(run["output"])
    for line, theirs in zip(out.splitlines(), run["output"].splitlines(), strict=True):
        if line.startswith("actual"):
            assert float(line.rpartition(" ")[2]) == pytest.approx(float(theirs.rpartition(" ")[2]), abs=1e-12)
        elif line.startswith("the prob"):
            ours, p = (float(each.rstrip(".").rpartition(" ")[2]) for each in (line, theirs))
            assert ours == pytest.approx(p, abs=5 * math.sqrt(max(p, 0.01) / 1000))
    again = ran(run["script"], *run["arguments"], "-n", "4000", "--seed", "12345").out
    other = ran(run["script"], *run["arguments"], "-n", "4000", "--seed", "2").out
    assert out == again != other


LINES = st.lists(st.sampled_from(["", " ", "a", " a", "a b", "b a b", "a b a b a", "c a b a b", "\u00a0a"]), min_size=1)


def ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def words_of(line: str) -> list[str]:
    """As Perl splits a line with its line end."""
    words = re.split(r"\s+", line + "\n")
    while words and not words[-1]:
        words.pop()
    return words


def twin(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
    """BLEU and the script's NIST, in plain loops."""
    hyp = [words_of(line) for line in hypotheses]
    refs = [[words_of(line) for line in column] for column in references]
    known: Counter[str] = Counter()
    for words in chain(*refs):
        known[""] += len(words)
        for n in range(1, 5):
            known.update(" ".join(ngram) for ngram in ngrams(words, n).elements())
    sums = np.zeros((2, 10))
    for i, words in enumerate(hyp):
        lengths = [len(column[i]) for column in refs]
        sums[:, 0] += len(words)
        sums[0, 1] += min(lengths, key=lambda length: (abs(length - len(words)), length))
        sums[1, 1] += sum(lengths) / len(lengths)
        for n in range(1, 5):
            best: Counter[tuple[str, ...]] = Counter()
            for column in refs:
                best |= ngrams(column[i], n)
            own = ngrams(words, n)
            sums[0, 1 + n] += (own & best).total()
            sums[0, 5 + n] += own.total()
            sums[1, 5 + n] += len(own)
            for ngram in own.keys() & best.keys():
                sums[1, 1 + n] += math.log2(known[" ".join(ngram[:-1])] / known[" ".join(ngram)])
    return float(bleu(sums[0])), float(nist(sums[1]))


@given(LINES, LINES, st.lists(LINES, min_size=1, max_size=3))
def test_scores_equal_a_plain_loop(first: list[str], second: list[str], references: list[list[str]]) -> None:
    n = min(map(len, [first, second, *references]))
    texts = [lines[:n] for lines in (first, second, *references)]
    assume(any(words_of(line) for column in texts[2:] for line in column))
    with TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"text{i}") for i in range(len(texts))]
        for path, lines in zip(paths, texts, strict=True):
            Path(path).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        out = report(paths[:2], paths[2:], 1, 1)
    found = [float(score) for score in re.findall(r"actual score of hypothesis 1: (\S+)", out)]
    expected = [twin(lines, texts[2:]) for lines in texts[:2]]
    np.testing.assert_allclose(found, [pair[i] for i in (0, 1) for pair in expected], rtol=1e-9, atol=1e-12)


# Of references, lines of standard input, and what the line has. 9,999 words are as far as the script looks.
@pytest.mark.parametrize(
    ("reference", "stdin", "code", "shown"),
    [
        ("\n\n", "a\n", 1, "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)\n"),
        ("\n\n", "", 1, "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)\n"),
        ("a b\n", "\n", 0, "BLEU = 0.00, 0.0/0.0/0.0/0.0 (BP=0.000, ratio=0.000, hyp_len=0, ref_len=2)\n"),
        ("a " * 10_004 + "\n", "a " * 4 + "\n", 0, "hyp_len=4, ref_len=9999)"),
        ("a " * 10_004 + "\n", "a " * 5 + "\n", 0, "hyp_len=5, ref_len=9999)"),
        ("a " * 10_004 + "\n", "a " * 6 + "\n", 0, "hyp_len=6, ref_len=10004)"),
    ],
)
def test_multi_bleu_of_nothing_and_of_references_far_away(
    here: None, ran: Program, reference: str, stdin: str, code: int, shown: str
) -> None:
    put("ref", reference)
    assert shown in ran("multi-bleu", "ref", stdin=stdin.encode(), code=code).out


def test_bad_input(files: None, ran: Program) -> None:
    assert_refused("errors_of_moses", partial(ran, code=2), "moses")
