"""``python -m reshuffle.compat.multeval``: the numbers and files of MultEval 0.5.1."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Outcome
from known import known
from programs import Program, program
from reshuffle import RunComparison, metric, read_json, tokenize
from reshuffle.compat.multeval import arguments, evaluation, main, nbest
from reshuffle.compat.multeval.java import as_double, fixed
from reshuffle.compat.multeval.metrics import counts_of, metrics_named
from reshuffle.compat.multeval.outputs import EMPTY_TOKEN, normalized, read_texts, with_split_tokens
from test_meteor import complete_jar, jar
from told import assert_refused, assert_told

__all__ = ["complete_jar", "jar"]  # fixtures

OPTIONS = arguments.parse(["eval", "--refs", "r", "--hyps-baseline", "b"])

SET = "multeval-newstest2010-optreps"
SYSTEMS = ["baseline", "sys1", "sys2"]
METRICS = ["--metrics", "bleu", "ter", "length"]

# MultEval 0.5.1, multeval.sh eval --refs ref.txt --hyps-baseline baseline/* --hyps-sys1 sys1/* --hyps-sys2 sys2/*
# --meteor.language en --verbosity 1: standard error. Runs 0, 1 and 2, their mean and standard deviation.
RUNS = {
    ("BLEU", "baseline"): ([18.538889, 18.464451, 18.577084], 18.526808, 0.057280),
    ("METEOR", "baseline"): ([29.330036, 29.255569, 29.340350], 29.308651, 0.046259),
    ("TER", "baseline"): ([65.519164, 65.890337, 65.560582], 65.656694, 0.203397),
    ("Length", "baseline"): ([107.466467, 107.684710, 107.482397], 107.544525, 0.121665),
    ("BLEU", "system 1"): ([18.986909, 18.474014, 18.979487], 18.813470, 0.294001),
    ("METEOR", "system 1"): ([30.304878, 30.191196, 30.375191], 30.290422, 0.092845),
    ("TER", "system 1"): ([64.177844, 65.339153, 64.932934], 64.816644, 0.589323),
    ("Length", "system 1"): ([106.864307, 108.145092, 108.092522], 107.700640, 0.724763),
}
# The same: MEDIAN_IDX of the baseline and of system 1.
MEDIANS = {"BLEU": (0, 2), "METEOR": (0, 0), "TER": (2, 2), "Length": (2, 2)}
# Bootstrap standard deviations, 20,000 draws in numpy: baseline and system 1.
S_SEL = {"BLEU": [0.2629, 0.2620], "METEOR": [0.1480, 0.1433], "TER": [0.3687, 0.3641], "Length": [0.3633, 0.3439]}
# The same command's table, without the column of METEOR, which is to the right of BLEU. Lines end in spaces.
TABLE = """\
n=3            BLEU (s_sel/s_opt/p)   TER (s_sel/s_opt/p)    Length (s_sel/s_opt/p)_
baseline       18.5 (0.3/0.1/-)       65.7 (0.4/0.2/-)       107.5 (0.4/0.1/-)     _
system 1       18.8 (0.3/0.3/0.00)    64.8 (0.4/0.6/0.00)    107.7 (0.3/0.7/0.09)  _
system 2       18.5 (0.3/0.1/0.00)    65.7 (0.4/0.2/0.00)    107.5 (0.4/0.1/0.00)  _
""".replace("_\n", " \n")
METEOR_COLUMN = [
    "METEOR (s_sel/s_opt/p) ",
    "29.3 (0.1/0.0/-)       ",
    "30.3 (0.1/0.1/0.00)    ",
    "29.3 (0.1/0.0/0.00)    ",
]
# p-values of MultEval in several starts, 10,000 shuffles without a seed. First those of the example.
PVALUES = {"BLEU": (0.0001, 0.0004), "TER": (0.0001, 0.0001), "Length": (0.088, 0.095)}

multeval = program(main)


def example(data: Path, systems: Sequence[str] = SYSTEMS) -> list[str]:
    folder = data / SET
    options = ["--refs", str(folder / "ref.txt")]
    for number, system in enumerate(systems):
        options.append(f"--hyps-sys{number}" if number else "--hyps-baseline")
        options += [str(folder / system / f"opt{run}.txt") for run in range(3)]
    return options


def results(err: str) -> dict[tuple[str, str, str], float]:
    """The lines ``RESULT: system: metric: name: number`` of standard error."""
    found = re.findall(r"^RESULT: (.*?): (.*?): (.*?): (\S+)$", err, re.MULTILINE)
    return {(system, name, key): float(value) for system, name, key, value in found}


def write_lines(path: str, lines: Sequence[str]) -> str:
    Path(path).write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


# Lines, tokens and numbers, against slow twins.

# Guava's CharMatcher.BREAKING_WHITESPACE, and what Java's \s and String.trim() mean.
BREAKING = {
    *"\t\n\v\f\r \u0085\u1680\u2028\u2029\u205f\u3000",
    *map(chr, [*range(0x2000, 0x2007), 0x2008, 0x2009, 0x200A]),
}
ASCII_SPACE = set(" \t\n\v\f\r")
PIECES = [*"ab.,", *sorted(BREAKING - {"\n"}), *"\u00a0\u2007\u202f\u200b\x00\x1c\x1f\ufeffé"]
RAW_LINES = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(
    st.characters(codec="utf-8", exclude_characters="\n"), max_size=8
)
FEW_WORDS = st.lists(st.sampled_from(["a", "b", "c", ".", "\u3000", ""]), max_size=9).map(" ".join)


def slow_line(line: str) -> str:
    return re.sub(f"[{''.join(ASCII_SPACE)}]+", " ", line.strip("".join(map(chr, range(33)))))


def slow_tokens(line: str) -> list[str]:
    return re.split(f"[{''.join(BREAKING)}]", line)


@given(st.lists(RAW_LINES, max_size=5))
def test_lines_and_tokens_equal_those_of_a_slow_twin(lines: list[str]) -> None:
    clean = normalized(lines)
    assert clean == [slow_line(line) for line in lines]
    assert normalized(clean) == clean
    split = tokenize(with_split_tokens(clean), "multi-bleu")
    assert [["" if token == EMPTY_TOKEN else token for token in tokens] for tokens in split] == [
        slow_tokens(line) for line in clean
    ]


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-4000, 4000).map(lambda n: n / 80), max_size=9), st.integers(1, 6))
def test_numbers_are_rounded_as_in_java(values: list[float], decimals: int) -> None:
    step = Decimal(1).scaleb(-decimals)
    slow = [str(Decimal(repr(value)).quantize(step, ROUND_HALF_UP)) for value in values]
    for found, expected in zip(fixed(values, decimals), slow, strict=True):
        assert found == expected or (float(found) == 0 and found.lstrip("-") == expected.lstrip("-"))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_in_full_are_javas(value: float) -> None:
    (text,) = as_double([value])
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    assert re.fullmatch(r"-?\d+\.\d+", mantissa)
    assert bool(exponent) == (value != 0 and not 1e-3 <= abs(value) < 1e7)
    assert not exponent or re.fullmatch(r"-?[1-9]\.\d+", mantissa)


def slow_bleu(hypothesis: str, references: Sequence[str]) -> list[int]:
    """Totals of orders 1 to 4, matches, and the length of the closest reference, the shorter of two."""
    tokens, others = slow_tokens(hypothesis), [slow_tokens(reference) for reference in references]
    totals, matches = [], []
    for n in range(1, 5):
        own, *of_others = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (tokens, *others)
        )
        totals.append(own.total())
        matches.append(sum(min(count, max(other[ngram] for other in of_others)) for ngram, count in own.items()))
    _, closest = min((abs(len(other) - len(tokens)), len(other)) for other in others)
    return [*totals, *matches, closest]


def slow_bleu_score(counts: Sequence[int]) -> list[float]:
    """BLEU in percent and the submetrics."""
    penalty = min(1.0, math.exp(1 - counts[8] / counts[0]))
    logarithm, zeros, cumulative = 0.0, 0, []
    for total, matches in zip(counts[:4], counts[4:8], strict=True):
        if total and not matches:
            zeros += 1
            logarithm += math.log(1 / (2**zeros * total))
        elif total:
            logarithm += math.log(matches / total)
        cumulative.append(penalty * math.exp(logarithm / 4))
    return [100 * cumulative[-1], *cumulative, penalty]


@given(st.lists(FEW_WORDS, min_size=1, max_size=4), st.integers(1, 3), st.data())
def test_counts_and_scores_equal_those_of_slow_twins(lines: list[str], n_references: int, draw: st.DataObject) -> None:
    references = [
        normalized(draw.draw(st.lists(FEW_WORDS, min_size=len(lines), max_size=len(lines))))
        for _ in range(n_references)
    ]
    lines = normalized(lines)
    bleu, ter, length = metrics_named(["bleu", "ter", "length"], OPTIONS)
    of_bleu, of_ter, of_length = (counts[0] for counts in counts_of([bleu, ter, length], [lines], references, 1))
    slow = [slow_bleu(line, of_segment) for line, *of_segment in zip(lines, *references, strict=True)]
    assert [[*row[6:], *row[2:6], row[1]] for row in of_bleu.tolist()] == slow
    assert of_length.tolist() == [[row[0], row[8]] for row in slow]
    rows = [*slow, [sum(column) for column in zip(*slow, strict=True)]]
    counts = np.concatenate([of_bleu, of_bleu.sum(axis=0, keepdims=True)])
    ours = np.column_stack([bleu.scores(counts), bleu.parts_of(counts)])
    np.testing.assert_allclose(ours, [slow_bleu_score(row) for row in rows], rtol=1e-12)
    np.testing.assert_allclose(length.scores(of_length), [100 * row[0] / row[8] for row in slow], rtol=1e-15)

    tercom = metric("ter", variant="tercom")
    single = np.array([tercom.suff_stats([column], [lines])[0] for column in references])
    edits, words = single[..., 0].min(axis=0), single[..., 1].sum(axis=0)
    assert of_ter.tolist() == [[int(e), int(w / n_references)] for e, w in zip(edits, words, strict=True)]


def test_punctuation_of_ter_has_the_inverse_meaning() -> None:
    def edits(punctuation: bool) -> list[int]:
        (ter,) = metrics_named(["ter"], argparse.Namespace(**{"ter.punctuation": punctuation}))
        return [int(x) for x in counts_of([ter], [["a b ."]], [["a b !"]], 1)[0][0, 0]]

    assert edits(False) == [1, 3]
    assert edits(True)[0] == 0


# The example of MultEval.


def check_scores(found: dict[tuple[str, str, str], float], names: Sequence[str]) -> None:
    for (name, system), (runs, mean, deviation) in RUNS.items():
        if name in names:
            assert [found[system, name, f"OptRun {run}"] for run in range(3)] == runs
            assert (found[system, name, "AVG"], found[system, name, "STDDEV"]) == (mean, deviation)
            assert (found[system, name, "MIN"], found[system, name, "MAX"]) == (min(runs), max(runs))
            median = MEDIANS[name][system == "system 1"]
            assert (found[system, name, "MEDIAN_IDX"], found[system, name, "MEDIAN"]) == (median, runs[median])


def test_the_table_and_all_numbers_are_those_of_multeval(data: Path, multeval: Program) -> None:
    _, out, err = multeval("eval", *example(data), *METRICS, "--verbosity", 1)
    assert out == TABLE
    found = results(err)
    check_scores(found, ["BLEU", "TER", "Length"])
    for name, (low, high) in PVALUES.items():  # three standard errors of 10,000 shuffles
        error = 3 * math.sqrt(high * (1 - high) / 10_000)
        assert low - error <= found["system 1", name, "P_VALUE"] <= high + error
    for name in ("BLEU", "TER", "Length"):
        ours = [found[system, name, "RESAMPLED_STDDEV_AVG"] for system in ("baseline", "system 1")]
        # Relative errors of standard deviations from 20,000 and 10,000 draws.
        np.testing.assert_allclose(ours, S_SEL[name], rtol=4 * math.sqrt(1 / 40_000 + 1 / 20_000))
        # System 2 is the baseline, so that no shuffle is more extreme than no difference.
        assert found["system 2", name, "P_VALUE"] == round(1 / 10_001, 6)
    assert "run 2 of system 2 and run 2 of baseline" in err
    assert err.count("note: p-values are those of MultEval's own test") == 1


@pytest.mark.slow
def test_meteor_is_that_of_multeval(data: Path, complete_jar: Path, multeval: Program) -> None:
    _, out, err = multeval(
        "eval", *example(data), "--meteor.language", "en", "--meteor.jar", complete_jar, "--verbosity", "1"
    )
    check_scores(results(err), list(MEDIANS))
    lines = TABLE.splitlines()
    assert out.splitlines() == [
        line[:38] + column + line[38:] for line, column in zip(lines, METEOR_COLUMN, strict=True)
    ]
    ours = [results(err)[system, "METEOR", "RESAMPLED_STDDEV_AVG"] for system in ("baseline", "system 1")]
    np.testing.assert_allclose(ours, S_SEL["METEOR"], rtol=4 * math.sqrt(1 / 40_000 + 1 / 20_000))


def test_options_of_meteor(data: Path, multeval: Program) -> None:
    """METEOR 1.5, -m 'exact stem' -w '1.0 0.6', without its files: the score of the first run of the baseline."""
    folder = data / SET
    _, _, err = multeval(
        *("eval", "--refs", folder / "ref.txt", "--hyps-baseline", folder / "baseline/opt0.txt"),
        *("--metrics", "meteor", "--meteor.language", "en", "--meteor.modules", "exact stem"),
        *("--meteor.weights", 1, 0.6, "--boot-samples", 2),
    )
    assert results(err)["baseline", "METEOR", "AVG"] == 25.881407


@pytest.mark.slow
def test_the_pvalues_in_the_documentation(data: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs/coming-from/multeval.md"
    shown = re.findall(r"^\| `(\w+)` \|.*?\| (\.\d+) \| (\.\d+) \| (\.\d+) \|$", page.read_text("utf-8"), re.MULTILINE)
    assert len(shown) == 7
    files = {f"--{system}": [str(data / SET / system / f"opt{run}.txt") for run in range(3)] for system in SYSTEMS[:2]}
    texts = read_texts([str(data / SET / "ref.txt")], files)
    metrics = metrics_named(["bleu", "ter", "length"], OPTIONS)
    done = evaluation.Evaluated.of(texts, metrics, None)
    options = {"test": [unit for unit, *_ in shown], "ar_shuffles": 10_000, "boot_samples": 10_000}
    result = evaluation.compared(done, argparse.Namespace(**options, seed=12345, threads=0))
    ours = {(each.exchange, each.metric): f"{each.pvalue:.4f}".lstrip("0") for each in result.comparisons}
    assert [(unit, *(ours[unit, name] for name in ("BLEU", "TER", "Length"))) for unit, *_ in shown] == shown


# Small files.

REFERENCE = ["the cat sat on the mat", "a dog barked", "it rained all day", "", "no more"]
OUTPUTS = {
    "b0": ["the cat sat on a mat", "a dog barks", "it rains all day", "", "no more"],
    "b1": ["cat on the mat", "the dog barked", "it rained", "a", "no"],
    "s0": ["the cat sat on the mat", "dog barked", "it rained all the day", "", "no more more"],
    "s1": ["the cat is on the mat", "a dog", "it rained all day", "", "more"],
}


@pytest.fixture
def small(multeval: Program) -> list[str]:
    """Files of two systems with two runs each, and the options that name them."""
    for name, lines in {"ref": REFERENCE, "ref2": list(OUTPUTS["b1"]), **OUTPUTS}.items():
        write_lines(name, lines)
    return ["eval", "--refs", "ref", "--hyps-baseline", "b0", "b1", "--hyps-sys1", "s0", "s1", *METRICS]


def instead(options: Sequence[str], name: str, *values: str) -> list[str]:
    """The options with other values of one of them, or with one more."""
    start = options.index(name) if name in options else len(options)
    stop = next((i for i in range(start + 1, len(options)) if options[i].startswith("--")), len(options))
    return [*options[:start], name, *values, *options[stop:]]


def test_one_run_gets_stars_and_footnotes(small: list[str], multeval: Program) -> None:
    options = ["eval", "--refs", "ref", "--hyps-baseline", "b0", "--hyps-sys1", "s0", "--metrics", "bleu"]
    _, out, err = multeval(*options, "--boot-samples", 50, "--latex", "t.tex")
    assert "RESULT: baseline: BLEU: STDDEV: NaN" in err
    alone = multeval(*options[:5], "--metrics", "bleu")
    assert "note:" not in alone.err
    latex = Path("t.tex").read_text("utf-8")
    assert_told("multeval.one", {"table": out, "LaTeX": latex, "one system": alone.out})


def test_the_median_of_two_runs_is_the_upper_one(small: list[str], multeval: Program) -> None:
    err = multeval(*small, "--verbosity", 1).err
    found = results(err)
    for system in ("baseline", "system 1"):
        for name in ("BLEU", "TER", "Length"):
            runs = [found[system, name, f"OptRun {run}"] for run in range(2)]
            assert found[system, name, "MEDIAN"] == max(runs)
            assert found[system, name, "MEDIAN_IDX"] == runs.index(max(runs))


def test_the_latex_table(small: list[str], multeval: Program) -> None:
    """The first eight lines are those of MultEval 0.5.1, and the numbers are those of the plain table."""
    told = {"table": multeval(*small, "--latex", "t.tex").out, "LaTeX": Path("t.tex").read_text("utf-8")}
    multeval(*small, "--latex", "t.tex", "--fullLatexDoc", "--test", "segment")
    assert_told("multeval", {**told, "document": Path("t.tex").read_text("utf-8")})


def test_segment_scores(small: list[str], multeval: Program) -> None:
    multeval(*small[:-3], "ter", "--sentLevelDir", "d")
    assert Path("d/sys1.opt1").read_text().splitlines()[1] == "1 ||| a dog barks ||| ter=33.33 |||"
    multeval(*instead(small, "--refs", "ref", "ref2"), "--sentLevelDir", "segments/scores")
    folder = Path("segments/scores")
    assert sorted(path.name for path in folder.iterdir()) == ["sys1.opt1", "sys1.opt2", "sys2.opt1", "sys2.opt2"]
    for file, output in {"sys1.opt1": "b0", "sys1.opt2": "b1", "sys2.opt1": "s0", "sys2.opt2": "s1"}.items():
        expected = []
        rows = zip(OUTPUTS[output], REFERENCE, OUTPUTS["b1"], strict=True)
        for number, (line, *references) in enumerate(rows):
            counts = slow_bleu(line, references)
            edits, words = metric("ter", variant="tercom").suff_stats([[each] for each in references], [[line]])[0, 0]
            ter = 100 * (edits // 2) / (words // 2) if words // 2 else 100.0 * (edits > 0)
            scores = fixed([slow_bleu_score(counts)[0], ter, 100 * counts[0] / counts[8]], 2)
            parts = fixed(slow_bleu_score(counts)[1:], 2)
            expected.append(
                f"{number} ||| {line} ||| bleu={scores[0]} ter={scores[1]} length={scores[2]} ||| "
                f"bleu1p={parts[0]} bleu2p={parts[1]} bleu3p={parts[2]} bleu4p={parts[3]} brevity={parts[4]}"
            )
        assert (folder / file).read_text("utf-8").splitlines() == expected


def test_segments_ranked_by_their_difference(small: list[str], multeval: Program) -> None:
    """One run each, so that the median runs are known; the numbers are worked out by hand."""
    options = ["--refs", "ref", "--hyps-baseline", "b0", "--hyps-sys1", "s0", "--metrics", "ter", "length"]
    multeval("eval", *options, "--rankDir", "rank")
    assert sorted(path.name for path in Path("rank").iterdir()) == ["sys2.sortedby.length", "sys2.sortedby.ter"]
    blocks = Path("rank/sys2.sortedby.ter").read_text("utf-8").split("\n\n")[:-1]
    # TER rises most where the system is worst: that segment comes first, and equal differences are in order.
    assert [block.split("\t")[0] for block in blocks] == ["SENT 4", "SENT 1", "SENT 2", "SENT 3", "SENT 0"]
    assert blocks[0] == (
        "SENT 4\tter: 0.0 -> 50.0 = 50.0\tlength: 100.0 -> 150.0 = 50.0\n"
        "ter-median-baseline: no more\nter-median-variant: no more more\nref1: no more"
    )
    assert blocks[4].startswith("SENT 0\tter: 16.7 -> 0.0 = -16.7\tlength: 100.0 -> 100.0 = 0.0\n")
    blocks = Path("rank/sys2.sortedby.length").read_text("utf-8").split("\n\n")[:-1]
    assert [block.split("\t")[0] for block in blocks] == ["SENT 4", "SENT 2", "SENT 0", "SENT 3", "SENT 1"]
    assert blocks[1].startswith("SENT 2\tlength: 100.0 -> 125.0 = 25.0\tter: 25.0 -> 25.0 = 0.0\n")


def test_seeds_threads_and_files(small: list[str], multeval: Program) -> None:
    first = multeval(*small, "--json", "a.json")
    assert first == multeval(*small, "--json", "b.json", "--threads", 1)
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert multeval(*small, "--seed", 7)[2] != first[2]
    result = read_json("a.json")
    assert isinstance(result, RunComparison)
    assert [system.outputs for system in result.systems] == [("b0", "b1"), ("s0", "s1")]
    assert {each.exchange for each in result.comparisons} == {"multeval"}
    plain = json.loads(Path("a.json").read_text())
    assert plain["systems"][1]["scores"]["TER"]["runs"] == list(result.systems[1].scores["TER"].runs)


def test_draws_and_shuffles_are_separate_numbers(small: list[str], multeval: Program) -> None:
    def numbers(*given: Any) -> tuple[dict[Any, float], dict[Any, float]]:
        found = results(multeval(*small, *given)[2])
        return (
            {key: value for key, value in found.items() if key[2] == "RESAMPLED_STDDEV_AVG"},
            {key: value for key, value in found.items() if key[2] == "P_VALUE"},
        )

    draws, pvalues = numbers("--boot-samples", 500, "--ar-shuffles", 500)
    assert numbers("--boot-samples", 500, "--ar-shuffles", 40)[0] == draws
    assert numbers("--boot-samples", 40, "--ar-shuffles", 500)[1] == pvalues
    out = multeval(*small, "--boot-samples", 1).out  # as scripts that need no deviation
    assert "(NaN/" in out


def test_reshuffles_own_tests(small: list[str], multeval: Program) -> None:
    own = {unit: multeval(*small, "--test", unit).err for unit in ("run", "segment", "pooled", "cell", "hierarchical")}
    for unit, err in own.items():
        assert f"note: p-values are those of --test {unit}" in err
        assert "MultEval's own test" not in err
    pvalues = {value for key, value in results(own["run"]).items() if key[2] == "P_VALUE"}
    assert min(pvalues) >= round(1 / 3, 6) - 1e-9  # six splits, of which two are as extreme as the best
    assert "--test hierarchical" in multeval(*small, "--test", "auto").err


def test_several_references_and_short_options(small: list[str], multeval: Program) -> None:
    long = multeval(*instead(small, "--refs", "ref", "ref2"), "--ar-shuffles", 50, "--boot-samples", 60)
    short = ["eval", "-R", "ref ref2", "-B", "b0", "b1", "-H1", "s0", "s1", "-o", "bleu,ter length", "-s", 50, "-b", 60]
    assert multeval(*short, "-D", "-t", 1, "-v", 0, "--bleu.verbosity", 1, "--ter.beamWidth", 20) == long


# N-best lists.

NBEST = """\
0 ||| a b c d ||| f: 1 2 ||| -1.5
0 ||| a b x d ||| f: 2 ||| -28.842
0|||a  b c d||| f: 3 ||| -3
1 ||| e f ||| g: 0 ||| -1
1 ||| e f g h ||| g: 1 ||| -2e1
"""


@pytest.fixture
def lists(multeval: Program) -> list[str]:
    write_lines("nbest", NBEST.splitlines())
    write_lines("ref", ["a b c d", "e f g h"])
    return ["nbest", "--nbest", "nbest", "--refs", "ref", "--metrics", "ter", "length"]


def test_nbest(lists: list[str], multeval: Program) -> None:
    """Worked out by hand. The decoder's score is printed as MultEval's single-precision number."""
    _, out, err = multeval(*lists, "--rankDir", "rank")
    scored = [
        "0 ||| a b c d ||| f: 1 2 ||| -1.500000 ||| origRank=0 terRank=0 lengthRank=0 ||| ter=0.0 length=100.0",
        "0 ||| a b x d ||| f: 2 ||| -28.841999 ||| origRank=1 terRank=2 lengthRank=2 ||| ter=25.0 length=100.0",
        "0 ||| a b c d ||| f: 3 ||| -3.000000 ||| origRank=2 terRank=1 lengthRank=1 ||| ter=0.0 length=100.0",
        "1 ||| e f ||| g: 0 ||| -1.000000 ||| origRank=0 terRank=1 lengthRank=1 ||| ter=50.0 length=50.0",
        "1 ||| e f g h ||| g: 1 ||| -20.000000 ||| origRank=1 terRank=0 lengthRank=0 ||| ter=0.0 length=100.0",
    ]
    assert out.splitlines() == scored
    order = [0, 2, 1, 4, 3]
    for name in ("ter", "length"):
        assert Path(f"rank/{name}.sorted").read_text("utf-8").splitlines() == [scored[line] for line in order]
    assert [line for line in err.splitlines() if "score:" in line] == [
        "TER topbest score: 25.00 ()",
        "TER oracle score: 0.00 ()",
        "TER worst-oracle score: 37.50 ()",
        "Length topbest score: 75.00 ()",
        "Length oracle score: 100.00 ()",
        "Length worst-oracle score: 75.00 ()",
    ]


def test_nbest_with_bleu(lists: list[str], multeval: Program) -> None:
    """By hand: the first hypotheses have 6 of 6 words, 4 of 4 pairs, 2 of 2 and 1 of 1; c = 6, r = 8."""
    _, out, err = multeval(*lists, "--metrics", "bleu")
    penalty = math.exp(1 - 8 / 6)
    assert f"BLEU topbest score: {100 * penalty:.2f} (bleu1p={penalty:.2f}; bleu2p={penalty:.2f}; " in err
    assert f"brevity={penalty:.2f})" in err
    values = dict(re.findall(r"(\w+)=(\S+)", out.splitlines()[1]))
    # a b x d: 3 of 4 words, 1 of 3 pairs, 0 of 2 and 0 of 1.
    expected = [0.75, 0.75 / 3, 0.75 / 3 / 4, 0.75 / 3 / 4 / 4]
    for n, product in enumerate(expected, 1):
        assert float(values[f"bleu{n}p"]) == pytest.approx(product**0.25, rel=1e-12)
    assert float(values["bleu"]) == pytest.approx(100 * expected[3] ** 0.25, rel=1e-12)


def slow_ranks(scores: Sequence[Sequence[float]], segments: Sequence[int], signs: Sequence[int]) -> list[list[int]]:
    """The rank of each line by each metric, by stable sorts one after the other."""
    ranks = [[0] * len(signs) for _ in segments]
    for segment in set(segments):
        lines = [line for line, own in enumerate(segments) if own == segment]
        for number in range(len(signs)):
            lines.sort(key=lambda line: signs[number] * scores[number][line])
            for rank, line in enumerate(lines):
                ranks[line][number] = rank
    return ranks


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5), min_size=1, max_size=4)
)
def test_ranks_equal_those_of_a_slow_twin(groups: list[list[tuple[int, int]]]) -> None:
    segments = [number for number, group in enumerate(groups) for _ in group]
    scores = [np.array([float(pair[k]) for group in groups for pair in group]) for k in range(2)]
    metrics = metrics_named(["ter", "bleu"], OPTIONS)
    n = len(segments)
    hypotheses = nbest.Hypotheses(segments, [""] * n, [""] * n, [0.0] * n)
    found = map(hypotheses.ranks, nbest.ranked(scores, hypotheses, metrics))
    assert np.column_stack([*found]).tolist() == slow_ranks([own.tolist() for own in scores], segments, [1, -1])


def test_errors_are_one_sentence(small: list[str], multeval: Program) -> None:
    write_lines("short", ["a"])
    for name in ("folder", "mine"):
        Path(name).mkdir()
    for name in ("sys1.opt1", "sys2.sortedby.bleu"):
        write_lines(f"mine/{name}", ["mine"])
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    def refused(*given_options: str) -> Outcome:
        """The options of the small files and these; some errors come after the results."""
        done = multeval(*instead(small, *given_options), code=2)
        lines = done.err.splitlines(keepends=True)
        errors = [line for line in lines if not line.startswith(("RESULT", "note", "multeval: warning"))]
        return done._replace(err="".join(errors))

    assert_refused("errors_of_multeval", refused, "multeval")
    assert before == {path: path.read_bytes() for path in before}


def test_errors_in_lists(lists: list[str], multeval: Program) -> None:
    assert_refused("errors_of_lists", lambda: multeval(*lists, code=2), "multeval")


def test_scores_of_the_decoder_that_are_not_finite(lists: list[str], multeval: Program) -> None:
    """Java prints them in this way. 1e39 is too large for single precision."""
    write_lines("nbest", [f"{i // 3} ||| a ||| f ||| {score}" for i, score in enumerate("-inf 1e39 nan 0 1 2".split())])
    _, out, err = multeval(*lists)
    assert "warning" not in err
    assert [line.split(" ||| ")[3] for line in out.splitlines()[:3]] == ["-Infinity", "Infinity", "NaN"]


def test_advice_names_the_options_of_the_command(
    small: list[str], multeval: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reshuffle.metrics.meteor.find_wordnet", lambda: None)
    err = multeval(*instead(small, "--metrics", "meteor"), "--meteor.language", "en").err
    (warning,) = [line for line in err.splitlines() if line.startswith("multeval: warning: METEOR")]
    assert "name METEOR's jar (--meteor.jar), or leave" in warning
    given = known(re.search(r"\((--meteor\.modules=.*)\)", warning))
    assert (
        "warning: METEOR"
        not in multeval(*instead(small, "--metrics", "meteor"), "--meteor.language", "en", given[1]).err
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux")  # noqa: PTH110
def test_outputs_that_are_no_files_or_full(small: list[str], multeval: Program) -> None:
    """Devices hold no earlier output, and reading some of them would never end."""
    few = ["--boot-samples", "5", "--ar-shuffles", "5"]
    err = multeval(*small, *few, "--latex", "/dev/full", code=2).err
    assert err.splitlines()[-1] == "multeval: error: cannot write /dev/full: No space left on device"
    command = [sys.executable, "-m", "reshuffle.compat.multeval", *small, *few, "--latex", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("\\begin{table}")
    full = "standard output cannot be written: No space left on device"
    for redirection, problem in ((">/dev/full", full), (">&-", "standard output is closed")):
        shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command[:-2]]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"multeval: error: {problem}")


def test_memory_that_runs_out(small: list[str], multeval: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(evaluation, "read_texts", full)
    _, out, err = multeval(*small, code=3)
    assert out == ""
    assert err.startswith("multeval: error: not enough memory")


def test_earlier_outputs_are_replaced(small: list[str], lists: list[str], multeval: Program) -> None:
    for name, lines in OUTPUTS.items():
        write_lines(name, lines)
    options = [*lists, "--rankDir", "rank"]
    for _ in range(2):
        multeval(*options)
    write_lines("ref", REFERENCE)
    files = ["--latex", "t.tex", "--json", "r.json", "--rankDir", "rank", "--sentLevelDir", "rank"]
    for more in ([], [], ["--fullLatexDoc", "true"], []):
        multeval(*small, *files, *more)
