"""NIST and mteval's BLEU: against mteval-v13a.pl on real systems, and a slow twin on generated texts."""

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from budgets import budget
from reshuffle import metric, read_lines, tokenize
from texts import PLAIN, Columns, corpora, references_of

TED = "compare-mt-ted-slk-en"
SYSTEMS = ("sys1", "sys2")

# perl mteval-v13a.pl [-c] [--international-tokenization] -d 2 -r ted.ref.sgm -s ted.src.sgm -t ted.tst.sgm, on the
# detokenized files wrapped as SGML. For each output file: our options, and (NIST, BLEU) of both systems.
RUNS: dict[str, tuple[dict[str, Any], list[tuple[float, float]]]] = {
    "c": ({"tokenize": "13a"}, [(6.4110, 0.2171), (6.2778, 0.2305)]),
    "lc": ({"tokenize": "13a", "lowercase": True}, [(6.5097, 0.2225), (6.3540, 0.2359)]),
    "cinternationaltokenization": ({"tokenize": "mteval-intl"}, [(6.5075, 0.2345), (6.4095, 0.2492)]),
}
PRINTED = 0.50001e-4  # rounding error of numbers printed to four decimals


def ted(data: Path, name: str) -> list[str]:
    return read_lines(str(data / TED / f"ted.{name}.detok.eng"))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_number_equals_the_perl_scripts(data: Path, golden: Path, run: str, system: str) -> None:
    options, scores = RUNS[run]
    log = (golden / "mteval" / f"out.v13a.ted.{run}.txt").read_text(encoding="utf-8")
    hypotheses, reference = ted(data, system), ted(data, "ref")
    nist = metric("nist", mteval_quirks=True, **options)
    bleu = metric("bleu", smooth_method="mteval", **options)
    for ours, name, order, unit, total in zip(
        (nist, bleu), ("NIST", "BLEU"), (5, 4), (1, 0.01), scores[SYSTEMS.index(system)], strict=True
    ):
        rows = ours.suff_stats([reference], [hypotheses])[0]
        found = re.findall(
            rf'  {name} score using {order}-grams = (\S+) for system "{system}" on segment (\d+) .* \((\d+) words\)',
            log,
        )
        assert [int(number) for _, number, _ in found] == list(range(1, 2446))
        words = [len(tokens) for tokens in tokenize(hypotheses, options["tokenize"])]
        assert [int(count) for _, _, count in found] == words == rows[:, ours.columns.index("hyp_len")].tolist()
        np.testing.assert_allclose(
            unit * ours.segment_scores(rows), [float(score) for score, _, _ in found], rtol=0, atol=PRINTED
        )
        whole = unit * float(ours.score(rows.sum(axis=0)))
        assert whole == pytest.approx(total, abs=PRINTED)
        of_document = re.search(
            rf'\n{name} score using   {order}-grams = (\S+) for system "{system}" on document .*, (\d+) words\)', log
        )
        assert of_document is not None
        assert float(of_document[1]) == pytest.approx(whole, abs=PRINTED)
        assert int(of_document[2]) == sum(words)
    # Lengths, their ratio, and the logarithm of the brevity penalty, to all digits; one line for each system.
    lengths = re.findall(r"length ratio: (\S+) \((\d+)/(\d+)\), penalty \(log\): (\S+)", log)[SYSTEMS.index(system)]
    details = bleu.details(bleu.suff_stats([reference], [hypotheses])[0].sum(axis=0))
    assert [details["hyp_len"], details["ref_len"]] == [float(lengths[1]), float(lengths[2])]
    assert details["ratio"] == pytest.approx(float(lengths[0]), rel=1e-13)
    assert math.log(details["bp"]) == pytest.approx(float(lengths[3]), rel=1e-12)


@pytest.mark.parametrize("system", SYSTEMS)
def test_information_and_scores_equal_an_independent_implementation(data: Path, golden: Path, system: str) -> None:
    # An implementation in Python that prints the format of mteval-v13a.pl -c, with ten decimals for each segment.
    expected = json.loads((golden / "mteval" / "nist_ted_c.json").read_text(encoding="utf-8"))[system]
    hypotheses, reference = ted(data, system), ted(data, "ref")
    nist = metric("nist", mteval_quirks=True)
    rows = nist.suff_stats([reference], [hypotheses])[0]
    columns = {name: i for i, name in enumerate(nist.columns)}
    segments = expected["segments"]
    # The information of each n-gram is rounded to a multiple of 2^-28.
    np.testing.assert_allclose(rows[:, :5] / 2**28, [s["info"] for s in segments], rtol=0, atol=2e-7)
    assert rows[:, 5:10].tolist() == [s["hyp"] for s in segments]
    assert rows[:, columns["ref_len"]].tolist() == [s["ref_words"] for s in segments]
    np.testing.assert_allclose(nist.segment_scores(rows), [s["NIST"] for s in segments], rtol=0, atol=1e-8)
    totals = rows.sum(axis=0)
    np.testing.assert_allclose(totals[:5] / 2**28, expected["info"], rtol=1e-9)
    assert totals[5:10].tolist() == expected["hyp"]
    assert totals[columns["ref_len"]] == expected["ref_words"]
    assert float(nist.score(totals)) == pytest.approx(expected["NIST"], abs=1e-8)

    bleu = metric("bleu", smooth_method="mteval")
    rows = bleu.suff_stats([reference], [hypotheses])[0]
    assert rows[:, 2:6].tolist() == [s["match"][:4] for s in segments]
    np.testing.assert_allclose(bleu.segment_scores(rows) / 100, [s["BLEU"] for s in segments], rtol=0, atol=1e-12)
    assert float(bleu.score(rows.sum(axis=0))) / 100 == pytest.approx(expected["BLEU"], abs=1e-12)


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


class Twin:
    """A slow, obvious implementation of NIST; the information of n-grams comes from all references."""

    def __init__(self, references: Sequence[Sequence[Sequence[str]]], order: int = 5, mteval: bool = False) -> None:
        self.order, self.mteval = order, mteval
        every = [tokens for segment in references for tokens in segment]
        self.words = sum(map(len, every))
        self.counts: Counter[tuple[str, ...]] = Counter()
        for tokens, n in itertools.product(every, range(1, order + 1)):
            self.counts += ngrams(tokens, n)

    def information(self, ngram: tuple[str, ...]) -> float:
        prefix = ngram[:-1]
        # Perl: `if ($mgram)`, and "0" is false.
        whole = self.words if not prefix or (self.mteval and prefix == ("0",)) else self.counts[prefix]
        return -math.log2(self.counts[ngram] / whole)

    def row(self, hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> list[float | Fraction]:
        gains: list[float | Fraction] = []
        for n in range(1, self.order + 1):
            clipped: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                clipped |= ngrams(reference, n)
            gains.append(math.fsum(self.information(g) * m for g, m in (ngrams(hypothesis, n) & clipped).items()))
        possible = [max(len(hypothesis) - n + 1, 0) for n in range(1, self.order + 1)]
        return [*gains, *possible, len(hypothesis), Fraction(sum(map(len, references)), len(references))]

    def score(self, rows: Sequence[Sequence[float | Fraction]]) -> float:
        totals = [sum(column) for column in zip(*rows, strict=True)]
        gains = sum(float(g) / max(int(n), 1) for g, n in zip(totals, totals[self.order : -2], strict=False))
        ratio = float(totals[-2] / totals[-1]) if totals[-1] else 1.0
        if ratio >= 1:
            return gains
        return gains * math.exp(math.log(0.5) * (math.log(ratio) / math.log(1.5)) ** 2) if ratio else 0.0


@settings(max_examples=budget(300))
@given(corpora(PLAIN, max_segments=4), st.integers(1, 7), st.booleans())
def test_rows_and_scores_with_any_references_equal_the_slow_twin(
    corpus: tuple[list[str], Columns], order: int, mteval: bool
) -> None:
    hypotheses, columns = corpus
    references = [[line.split() for line in segment] for segment in references_of(columns)]
    twin = Twin(references, order, mteval)
    expected = [twin.row(h.split(), r) for h, r in zip(hypotheses, references, strict=True)]

    nist = metric("nist", tokenize="none", max_ngram_order=order, mteval_quirks=mteval)
    rows = nist.suff_stats(columns, [hypotheses])[0]
    # Lengths are integers in steps of one over the least common multiple of the numbers of references.
    units = int(np.lcm.reduce([len(segment) for segment in references]))
    np.testing.assert_allclose(rows[:, :order] / 2**28, [[float(x) for x in r[:order]] for r in expected], atol=1e-6)
    assert rows[:, order:-2].tolist() == [row[order:-2] for row in expected]
    assert rows[:, -2:].tolist() == [[x * units for x in row[-2:]] for row in expected]
    for row, segment in zip(expected, nist.segment_scores(rows), strict=True):
        assert twin.score([row]) == pytest.approx(segment, abs=1e-6)
    assert twin.score(expected) == pytest.approx(float(nist.score(rows.sum(axis=0))), abs=1e-6)


@given(corpora(max_segments=2, max_references=2), st.sampled_from(["13a", "mteval-intl", "none"]), st.booleans())
def test_lower_casing_is_limited_to_ascii_without_international_tokenization(
    corpus: tuple[list[str], Columns], tokenizer: str, mteval: bool
) -> None:
    # perl mteval-v13a.pl: `tr/[A-Z]/[a-z]/` in tokenization(), `lc` in tokenization_international().
    def lower(line: str) -> str:
        if mteval and tokenizer != "mteval-intl":
            return line.translate({c: c + 32 for c in range(65, 91)})
        return line.lower()

    hypotheses, columns = corpus
    lowered = [[line if line is None else lower(line) for line in column] for column in columns]
    options: dict[str, Any] = {"tokenize": tokenizer, "mteval_quirks": mteval}
    np.testing.assert_array_equal(
        metric("nist", lowercase=True, **options).suff_stats(columns, [hypotheses]),
        metric("nist", **options).suff_stats(lowered, [[lower(line) for line in hypotheses]]),
    )


def test_the_perl_script_gives_a_pair_after_the_word_0_the_information_of_a_single_word() -> None:
    reference = "0 a 0 b"
    standard, mteval = (metric("nist", mteval_quirks=quirks) for quirks in (False, True))
    rows = [m.suff_stats([[reference]], [[reference]])[0, 0, :5] / 2**28 for m in (standard, mteval)]
    # Words: 0 twice of 4, a and b once: 1 + 2 + 1 + 2 bits. Pairs: after 0, one of 2 is 1 bit, once of 4 is 2.
    np.testing.assert_array_equal(rows, [[6, 2, 0, 0, 0], [6, 4, 0, 0, 0]])
    # No other digit is false in Perl.
    one, other = (m.suff_stats([["1 a"]], [["1 a"]]) for m in (standard, mteval))
    np.testing.assert_array_equal(one, other)


def test_an_empty_reference_is_scored_although_the_perl_script_stops() -> None:
    nist = metric("nist", mteval_quirks=True)
    rows = nist.suff_stats([["", "c d", ""]], [["a b", "c d", ""]])[0]
    assert rows[:, -2:].tolist() == [[2, 0], [2, 2], [0, 0]]
    # Nothing can match and there is no brevity penalty: the score is 0, not an error.
    assert nist.segment_scores(rows).tolist() == [0, 1, 0]
    assert float(nist.score(rows.sum(axis=0))) == 0.5
    assert float(nist.score(nist.suff_stats([[""]], [["a"]])[0, 0])) == 0


@given(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=5))
def test_nltk_agrees_with_one_reference_if_it_returns_a_number(segments: list[tuple[str, str]]) -> None:
    # nltk 3.10.4, nltk.translate.nist_score.corpus_nist. It divides by 0 if no hypothesis has five words or if all
    # references are empty.
    hypotheses, references = ([line.split() for line in column] for column in zip(*segments, strict=True))
    assume(max(map(len, hypotheses)) >= 5)
    assume(any(references))
    expected = corpus_nist([[tokens] for tokens in references], hypotheses)
    nist = metric("nist", tokenize="none")
    rows = nist.suff_stats([[r for _, r in segments]], [[h for h, _ in segments]])[0]
    assert expected == pytest.approx(float(nist.score(rows.sum(axis=0))), abs=1e-7)


def test_nltk_differs_because_it_picks_one_reference_for_each_order() -> None:
    # The example of nltk 3.10.4's sentence_nist. For each order, NLTK picks the reference with the highest gain and
    # uses its length as the reference length. mteval-v13a clips by the largest count in any reference, so n-grams of
    # all references match, and takes their mean length.
    hypothesis = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    theirs = corpus_nist([[line.split() for line in references]], [hypothesis.split()])
    nist = metric("nist", tokenize="none")
    (row,) = nist.suff_stats([[line] for line in references], [[hypothesis]])[0]
    tokens = [line.split() for line in references]
    twin = Twin([tokens])
    assert theirs == pytest.approx(3.3709, abs=1e-4)
    assert float(nist.score(row)) == pytest.approx(twin.score([twin.row(hypothesis.split(), tokens)]), abs=1e-7)
    assert float(nist.score(row)) == pytest.approx(5.0379, abs=1e-4)
