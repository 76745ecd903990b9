"""GTM: against the tool on real systems, and a slow twin on generated texts."""

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import InputError, metric, read_lines
from reshuffle.metrics.base import Counts
from texts import LINES, PLAIN, Columns, corpora, references_of

# Steps per word of all three columns.
WORD = 9 * math.lcm(*range(1, 23))

MULTEVAL, TURK = "multeval-newstest2010-optreps", "turkcorpus-simplification-8refs"
TOTALS = {
    "multeval-baseline.opt0.e1": 0.5741467347487235,
    "multeval-baseline.opt0.e2": 0.22516193457026124,
    "multeval-baseline.opt0.e3": 0.18100755007806552,
    "multeval-sys1.opt0.e1": 0.5824868894245208,
    "multeval-sys1.opt0.e2": 0.2277045628034331,
    "multeval-sys1.opt0.e3": 0.18304512155157499,
    "turkcorpus-moses-2refs.e1": 0.8332928395404533,
    "turkcorpus-moses-2refs.e2": 0.4352721007608832,
    "turkcorpus-moses-8refs.e1": 0.8948581854370542,
    "turkcorpus-moses-8refs.e1.5": 0.6021234126767956,
    "turkcorpus-moses-8refs.e2": 0.5176635066457287,
}


def texts_of(data: Path, run: str) -> tuple[list[str], list[list[str]]]:
    name = run.partition(".e")[0]
    if name.startswith("multeval"):
        system, number = name.removeprefix("multeval-").split(".")
        paths = [data / MULTEVAL / system / f"{number}.txt", data / MULTEVAL / "ref.txt"]
    else:
        columns = int(name.removeprefix("turkcorpus-moses-").removesuffix("refs"))
        paths = [data / TURK / "sys/moses.test.output.1rerank"]
        paths += [data / TURK / f"test.8turkers.tok.turk.{column}" for column in range(columns)]
    hypotheses, *references = (read_lines(str(path)) for path in paths)
    return hypotheses, references


@pytest.mark.parametrize("run", TOTALS)
def test_every_number_equals_the_tools(data: Path, golden: Path, run: str) -> None:
    # GTM 1.4, with the exponent in the name of the file; it reports the first segments and the totals of all.
    lines = (golden / "gtm" / f"{run}.tsv").read_text("utf-8").splitlines()
    *segments, total = (line.split("\t") for line in lines[1:])
    exponent = float(run.partition(".e")[2])
    gtm = metric("gtm", exponent=exponent)
    hypotheses, references = texts_of(data, run)
    counts = gtm.suff_stats(references, [hypotheses])[0]
    expected = np.array([[float(x) for x in row] for row in segments])
    rows = counts[: len(segments)]
    assert expected[:, 0].tolist() == list(range(1, len(segments) + 1))
    words = rows / WORD
    np.testing.assert_allclose(words[:, 0] ** exponent, expected[:, 1], rtol=1e-9 * exponent)
    np.testing.assert_allclose(words, expected[:, [2, 4, 3]], rtol=1e-9)
    np.testing.assert_allclose(gtm.segment_scores(rows) / 100, expected[:, 5], rtol=1e-9)
    totals = counts.sum(axis=0)
    np.testing.assert_allclose(totals / WORD, [float(total[i]) for i in (2, 4, 3)], rtol=1e-9)
    assert float(total[5]) == TOTALS[run]
    assert gtm.score(totals) / 100 == pytest.approx(TOTALS[run], rel=1e-9)


def words(text: str) -> list[str]:
    return re.findall(r"[^\t-\r ]+", text)


def test_only_white_space_of_ascii_separates_words() -> None:
    # GTM 1.4 keeps a no-break space within a word, as Java's split("\\s+") does.
    text = "1\xa0000 \u202fx\u3000 \x1c\x1fy \x00 z\x00z\tp\nq\x0br\x0cs\rt"
    assert row(text, [text]).tolist() == [10 * WORD] * 3
    assert row("1\xa0000", ["1 000"]).tolist() == [0, WORD, 2 * WORD]


def listed(hypothesis: str, references: list[str], exponent: float) -> tuple[float, int, Fraction]:
    """The definition: sorts all runs of all lengths. The sum of n^e, the hypothesis' and the references' length."""
    text = words(hypothesis)
    split = [words(reference) for reference in references]
    joined = [word for reference in split for word in (None, *reference)]
    mean = Fraction(sum(map(len, split)), len(split))
    hits = {(i, j) for i, word in enumerate(text) for j, other in enumerate(joined) if word == other}
    runs = []
    for i, j in hits:
        n = 1
        while (i + n - 1, j + n - 1) in hits:
            runs.append((n, i * len(joined) + j, i, j))
            n += 1
    left, total = min(Fraction(len(text)), mean), 0.0
    rows: set[int] = set()
    columns: set[int] = set()
    for n, _, i, j in sorted(runs, reverse=True):
        length = min(Fraction(n), left)
        mine, theirs = (set(range(start, start + math.ceil(length))) for start in (i, j))
        if length > 0 and not (mine & rows or theirs & columns):
            rows |= mine
            columns |= theirs
            left -= length
            total += float(length) ** exponent
    return total, len(text), mean


EXPONENTS = st.sampled_from([0.5, 1, 1.5, 2, 3, 10])
# Pieces of one sentence, so that long runs match, and few words, so that many do.
PIECES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 6)).map(lambda cut: " ".join("abcdefghij"[cut[0] :][: cut[1]])),
    max_size=4,
).map(" ".join)
TEXTS = PIECES | PLAIN | LINES


@given(corpora(TEXTS), EXPONENTS)
def test_counts_equal_those_of_the_sorted_list_of_runs(corpus: tuple[list[str], Columns], exponent: float) -> None:
    hypotheses, columns = corpus
    counts = metric("gtm", exponent=exponent).suff_stats(columns, [hypotheses])[0]
    for hypothesis, references, (matched, length, reference) in zip(
        hypotheses, references_of(columns), counts.tolist(), strict=True
    ):
        total, expected_length, mean = listed(hypothesis, references, exponent)
        assert (expected_length * WORD, mean * WORD) == (length, reference)
        assert matched / WORD == pytest.approx(total ** (1 / exponent), rel=1e-12, abs=1 / WORD)


def row(hypothesis: str, references: list[str], **options: Any) -> Counts:
    rows = metric("gtm", **options).suff_stats([[reference] for reference in references], [[hypothesis]])[0]
    total: Counts = rows.sum(axis=0)
    return total


def test_empty_texts_score_0() -> None:
    for hypothesis, reference in (("", ""), ("a", ""), ("", "a"), (" \t", "a")):
        for exponent in (1, 2):
            gtm = metric("gtm", exponent=exponent)
            assert gtm.score(row(hypothesis, [reference], exponent=exponent)) == 0


def test_case_and_exponent_are_in_the_signature_and_components_in_words() -> None:
    assert metric("gtm").signature("1") == "GTM|nrefs:1|case:mixed|exp:1.0"
    gtm = metric("gtm", exponent=2, lowercase=True)
    assert gtm.signature("2") == "GTM|nrefs:2|case:lc|exp:2.0"
    counts = gtm.suff_stats([["the cat on the mat"]], [["The Cat sat"]])[0, 0]
    assert dict(gtm.details(counts)) == pytest.approx(
        {"precision": 200 / 3, "recall": 40, "match": 2, "hyp_len": 3, "ref_len": 5}
    )


def test_a_matching_that_no_count_can_hold_is_refused() -> None:
    words = [f"w{i}" for i in range(100)]
    with pytest.raises(InputError, match="the counts of column 0 are too large"):
        row(" ".join(words), [" ".join(reversed(words))], exponent=0.1)


def test_a_word_repeated_thousands_of_times_is_matched_in_the_memory_of_its_repetitions() -> None:
    # A list of all runs would have 10^11 entries.
    many = "a " * 8_000
    assert (row(many, [many + "b"], exponent=2) / WORD).tolist() == [8_000, 8_000, 8_001]
