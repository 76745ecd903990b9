"""chrF and chrF++ against sacreBLEU 2.6.0: scores and signatures. Counts of any texts: test_compat_counting.py."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from against_sacrebleu import assert_equal_to_sacrebleu
from reshuffle import metric
from texts import Columns, corpora, lines_of

OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "char_order": st.integers(1, 7),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([1, 2, 3]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    },
)

# Words with punctuation at either end, which chrF++ splits off.
PUNCTUATED = lines_of(st.sampled_from(["(hi)", "hi", "hi!", '"', '""', "a,b", "...", "'s", "hi.", "¿hi", "(", "-a-"]))


@given(corpora(PUNCTUATED, max_references=2), OPTIONS)
def test_segment_scores_equal_sacrebleus_sentence_scores(
    corpus: tuple[list[str], Columns], options: dict[str, Any]
) -> None:
    hypotheses, columns = corpus
    chrf = CHRF(**options)
    expected = [
        chrf.sentence_score(hypothesis, [line for line in references if line is not None]).score
        for hypothesis, references in zip(hypotheses, zip(*columns, strict=True), strict=True)
    ]
    ours = metric("chrf", **options)
    got = ours.segment_scores(ours.suff_stats(columns, [hypotheses])[0])
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@given(st.data(), OPTIONS)
def test_scores_of_any_sums_equal_sacrebleu(data: st.DataObject, options: dict[str, Any]) -> None:
    ours = metric("chrf", **options)
    # For each order: n-grams of the hypothesis, of the reference, and shared. Both texts may lack an order.
    total = st.integers(0, 40) | st.just(0) | st.integers(0, 10**9)
    sums: list[int] = []
    for _ in range(len(ours.columns) // 3):
        hypothesis, reference = data.draw(total), data.draw(total)
        sums += [hypothesis, reference, data.draw(st.integers(0, min(hypothesis, reference)))]
    expected = CHRF(**options)._compute_f_score(sums)
    assert expected == pytest.approx(float(ours.score(sums)), rel=1e-12, abs=1e-12)


@given(OPTIONS)
def test_signatures_equal_sacrebleus(options: dict[str, Any]) -> None:
    chrf = CHRF(**options)
    score = chrf.corpus_score(["a"], [["a"], ["b"]])
    ours = metric("chrf", **options)
    name, *parts = ours.signature("2").split("|")
    assert name == score.name == ours.name
    # The last part is the version, which reports show once for all metrics.
    assert "|".join(parts) == chrf.get_signature().format().rsplit("|", 1)[0]


def test_chrf_plus_plus_is_chrf_with_words_and_word_pairs() -> None:
    plus, plain = metric("chrf++"), metric("chrf", word_order=2)
    assert plus.signature("1") == plain.signature("1") == "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no"
    texts = (["(hi) there, world!"], [["(hi) their world!!"]])
    np.testing.assert_array_equal(plus.suff_stats(texts[1], [texts[0]]), plain.suff_stats(texts[1], [texts[0]]))


def test_white_space_is_whatever_python_splits_at() -> None:
    every = [chr(c) for c in range(0x3100)]  # no white space is above U+3000
    rows = metric("chrf", char_order=1).suff_stats([["a"] * len(every)], [[f"a{c}" for c in every]])[0]
    assert [len("".join(f"a{c}".split())) for c in every] == rows[:, 0].tolist()


def test_among_equally_good_references_the_first_is_used() -> None:
    chrf = metric("chrf", char_order=1, beta=1)
    # 1 of 1 and 1 of 2, or the reverse: F is 2/3 for both.
    rows = chrf.suff_stats([["a"], ["b"]], [["ab"]])[0]
    assert rows.tolist() == [[2, 1, 1]]
    assert_equal_to_sacrebleu(CHRF, ["ab"], [["a"], ["ba"], ["ab"]], char_order=1)


# Around the numbers of bits that encode a character: 64 bits have room for 16 of 4 bits, 6 of 10 and 5 of 12.
@pytest.mark.parametrize(
    ("alphabet", "order"),
    [(1, 16), (2, 11), (15, 16), (16, 16), (17, 16), (63, 11), (64, 11), (255, 7), (1023, 6), (1024, 6), (1024, 7),
     (1100, 1), (5000, 5), (5000, 6)],
)  # fmt: skip
def test_counts_equal_sacrebleu_for_any_number_of_distinct_characters(alphabet: int, order: int) -> None:
    # The bits that encode a character of the reference, times the order, exceed 64 in some of these cases.
    rng = np.random.default_rng(alphabet)

    def line(length: int) -> str:
        every = np.arange(alphabet) if length >= alphabet else rng.integers(0, alphabet, length)
        numbers = np.concatenate([every, rng.integers(0, alphabet, length)])
        return "".join(chr(0x4E00 + number) for number in rng.permutation(numbers))

    first, second = line(alphabet), line(30)
    hypotheses = [first[3:] + second, second + "x" + first[::-1], "x" * 20 + second]
    assert_equal_to_sacrebleu(CHRF, hypotheses, [[first + second] * 3, [second, first, second + "x"]], char_order=order)
