"""Sentence-level BLEU: five sentences worked by hand, NLTK 3.10.4, and the weighted mean over sentences."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import metric, segment_scores
from texts import PLAIN

# Smoothings: the golden file's names, and ours.
WORKED: dict[str, dict[str, Any]] = {
    **{f"S{n}": {"smoothing": str(n)} for n in range(8)},
    "S6_mlprior": {"smoothing": "6", "smoothing_prior": "raw"},
    "S7_m5smoothed": {"smoothing": "7", "smoothing_extra": True},
}
# Our smoothings that are NLTK's methods: 0 to 3 in the strict reading, others with NLTK in their names.
NLTK = {"0": 0, "1": 1, "2": 2, "3": 3, "nltk-4": 4, "nltk-5": 5, "nltk-6": 6, "nltk-7": 7}

STRICT = {"smoothing_reading": "strict"}

SENTENCES = st.lists(st.sampled_from("abcd"), max_size=9) | PLAIN.map(str.split)


def scores(references: Sequence[Sequence[str]], hypotheses: Sequence[str], **options: Any) -> list[float]:
    """Scores in [0, 1] of tokenized sentences with one or several columns of references."""
    bleu = metric("sentbleu", tokenize="none", **options)
    table = segment_scores(references, [hypotheses], bleu)
    return [float(score) / 100 for score in table.scores["sentBLEU"][0]]


@pytest.fixture(scope="module")
def examples(golden: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((golden / "smoothing_examples.json").read_text(encoding="utf-8"))[
        "examples"
    ]
    assert len(loaded) == 5
    return loaded


@pytest.mark.parametrize("name", WORKED)
def test_sentences_worked_by_hand(examples: list[dict[str, Any]], name: str) -> None:
    expected = [example["smoothing"][name]["bleu"] for example in examples]
    got = scores([e["ref"] for e in examples], [e["hyp"] for e in examples], **WORKED[name])
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("smoothing", NLTK)
def test_sentences_scored_by_nltk(examples: list[dict[str, Any]], smoothing: str) -> None:
    # The file has nltk 3.10.4's numbers, or the message of its AssertionError. For any sentences: test_nltk.py.
    kept = [example["nltk_3.10.4"][f"method{NLTK[smoothing]}"] for example in examples]
    assert sum(isinstance(value, str) for value in kept) == (2 if smoothing == "nltk-6" else 0)
    got = scores([e["ref"] for e in examples], [e["hyp"] for e in examples], smoothing=smoothing, **STRICT)
    np.testing.assert_allclose(got, [0 if isinstance(v, str) else v for v in kept], rtol=0, atol=1e-9)


@cache
def counts(hypothesis: tuple[str, ...], reference: tuple[str, ...], order: int) -> tuple[int, int]:
    """Matches, and n-grams of the hypothesis, at least one."""
    grams = [[tuple(s[i : i + order]) for i in range(len(s) - order + 1)] for s in (hypothesis, reference)]
    return sum(min(grams[0].count(g), grams[1].count(g)) for g in set(grams[0])), max(len(grams[0]), 1)


@dataclass(frozen=True)
class Options:
    """Options of smoothings: Chen & Cherry's parameters, and how their formulas are read."""

    epsilon: float = 0.1
    k: float = 5.0
    alpha: float = 5.0
    floor: float | None = None
    raw: bool = False
    extra: bool = False
    strict: bool = False

    def of_metric(self) -> dict[str, Any]:
        return {
            "smoothing_epsilon": self.epsilon,
            "smoothing_k": self.k,
            "smoothing_alpha": self.alpha,
            "smoothing_floor": self.floor,
            "smoothing_prior": "raw" if self.raw else "smoothed",
            "smoothing_extra": self.extra,
            "smoothing_reading": "strict" if self.strict else "paper",
        }


OPTIONS = st.builds(
    Options,
    epsilon=st.sampled_from([0.1, 0.0, 0.5, 1e-9]),
    k=st.sampled_from([5.0, 0.5, 100.0]),
    alpha=st.sampled_from([5.0, 0.0, 0.25]),
    floor=st.sampled_from([None, 0.0, 1e-30, 1e-3]),
    raw=st.booleans(),
    extra=st.booleans(),
    strict=st.booleans(),
)


def chen_cherry(hypothesis: tuple[str, ...], reference: tuple[str, ...], smoothing: int, options: Options) -> float:
    """W14-3346, section 2.2, one smoothing after the other; what it leaves open follows docs/counting.md."""
    if not hypothesis:
        return 0.0
    matched, possible = zip(*(counts(hypothesis, reference, n) for n in range(1, 6)), strict=True)
    if matched[0] == 0 and (options.strict or smoothing in (0, 2, 6)):
        return 0.0
    m = [float(x) for x in matched]
    ngrams = [max(len(hypothesis) - n, 1 if options.strict else 0) for n in range(5)]
    if smoothing in (1, 3, 4, 7):
        nothing = [n for n in range(5) if m[n] == 0]
        for i, n in enumerate(nothing, 1):
            if smoothing == 1:
                m[n] = options.epsilon
            elif smoothing == 3:
                m[n] = 1 / 2**i
            elif n < 4 or options.extra:
                pseudo = (math.log(len(hypothesis)) / options.k) ** i
                m[n] = min(1.0, pseudo) if options.strict else pseudo
    if smoothing == 2:
        p = [m[0] / possible[0], *((m[n] + 1) / (ngrams[n] + 1) for n in (1, 2, 3))]
    elif smoothing in (5, 7):
        below, p = m[0] + 1, []
        for n in range(4):
            below = (below + m[n] + m[n + 1]) / 3
            p.append(below / possible[n])
    elif smoothing == 6:
        least = options.floor if options.floor is not None else 0.0 if options.strict else 1e-30
        p = [max(least, m[n] / possible[n]) for n in range(4)]
        plain = p[:]
        for n in (2, 3):
            q = plain if options.raw else p
            prior = q[n - 1] ** 2 / q[n - 2] if q[n - 2] else 0.0
            denominator = ngrams[n] + options.alpha
            p[n] = max(least, (m[n] + options.alpha * prior) / denominator if denominator else 0.0)
    else:
        p = [m[n] / possible[n] for n in range(4)]
    penalty = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
    return float(penalty * math.exp(math.fsum(math.log(x) for x in p) / 4)) if min(p) > 0 else 0.0


@settings(max_examples=budget(400))
@given(
    st.lists(st.tuples(SENTENCES, SENTENCES.filter(bool)), min_size=1, max_size=4),
    st.integers(0, 7),
    st.just(Options()) | OPTIONS,
)
def test_the_corpus_score_is_the_mean_weighted_by_length(
    segments: list[tuple[list[str], list[str]]], smoothing: int, options: Options
) -> None:
    # W14-3346, Eq. 13: sum(len(R_i) BLEU_i) / sum(len(R_i)).
    expected = [chen_cherry(tuple(h), tuple(r), smoothing, options) for h, r in segments]
    bleu = metric("sentbleu", tokenize="none", smoothing=str(smoothing), **options.of_metric())
    rows = bleu.suff_stats([[" ".join(r) for _, r in segments]], [[" ".join(h) for h, _ in segments]])[0]
    got = bleu.segment_scores(rows) / 100
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)
    # Also tiny scores have six digits, so that they rank sentences.
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=0)
    weights = [len(reference) for _, reference in segments]
    mean = math.fsum(w * x for w, x in zip(weights, expected, strict=True)) / sum(weights)
    assert float(bleu.score(rows.sum(axis=0))) / 100 == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("reading", ["paper", "strict"])
def test_pseudo_counts_of_long_sentences_exceed_1_unless_strict(reading: str) -> None:
    # ln 200 > 5: by the paper's formula an order without a match can score higher than one with a match.
    k = math.log(200) / 5 if reading == "paper" else 1.0
    words = [f"w{i}" for i in range(200)]
    hypothesis, reference = " ".join(words), " ".join([words[0], *(w + "x" for w in words[1:])])
    score = (1 / 200 * k / 199 * k**2 / 198 * k**3 / 197) ** 0.25
    got = scores([reference], [hypothesis], smoothing="4", smoothing_reading=reading)
    assert got == [pytest.approx(score, abs=1e-9)]


def test_scores_exceed_1_in_nltk_only() -> None:
    sentence = ["good morning to you all"]
    for smoothing, perfect in (("5", 1), ("7", 1), ("nltk-5", 1.1167470964), ("nltk-7", 1.1167470964)):
        # The counts are divided by those of the sentence itself, so our score is at most 1 for any neighbouring orders.
        (score,) = scores(sentence, sentence, smoothing=smoothing)
        assert score == pytest.approx(perfect, abs=1e-9) if smoothing.startswith("nltk") else score <= 1
