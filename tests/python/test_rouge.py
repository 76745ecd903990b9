"""ROUGE against rouge_score 0.1.2: its stored numbers, the package itself, and slow twins of what it computes."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from budgets import budget
from reshuffle import metric, score
from test_warnings import warnings_of
from texts import LINES

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]

# P, R and F of a text.
Scores = tuple[float, float, float]


def of_texts(name: str, references: Sequence[Sequence[str | None]], hypotheses: Sequence[str], **options: Any) -> Any:
    """P, R and F of every text: (S, 3). ``references`` are columns."""
    (rows,) = metric(name, **options).suff_stats(references, [hypotheses])
    assert (rows[:, 1] == 1).all()
    return rows[:, [2, 3, 0]] / 2**40


# --- Stored numbers


def texts_of(data: Path, key: str) -> tuple[list[list[str]], list[str]]:
    """The columns of references and the hypotheses of a set of stored numbers."""
    kind, system, _, reference = key.split("/")
    if kind == "turk":
        folder, prefix = data / "turkcorpus-simplification-8refs", "test.8turkers.tok."
        references = [f"turk.{i}" for i in range(8)] if reference == "8refs" else [reference]
        files = [*(folder / f"{prefix}{each}" for each in references), folder / "sys" / system]
        columns = [file.read_text("utf-8").splitlines() for file in files]
    else:
        files = [data / "compare-mt-ted-slk-en" / name for name in (reference, system)]
        lines = [file.read_text("utf-8").splitlines() for file in files]
        columns = [["\n".join(column[i : i + 5]) for i in range(0, 1000, 5)] for column in lines]
    return columns[:-1], columns[-1]


@pytest.mark.parametrize("name", TYPES)
def test_scores_equal_those_of_rouge_score(data: Path, golden: Path, name: str) -> None:
    known = json.loads((golden / "counts/rouge/rouge.json").read_text("utf-8"))
    at = known["types"].index(name)
    assert len(known["invented"]) >= 20
    texts = [[each["ref"] for each in known["invented"]]], [each["hyp"] for each in known["invented"]]
    for key, stemmer in (("plain", False), ("stemmer", True)):
        found = of_texts(name, *texts, stemmer=stemmer)
        np.testing.assert_allclose(found, [each[key][at] for each in known["invented"]], atol=2**-40)
    for key, expected in known["sets"].items():
        references, hypotheses = texts_of(data, key)
        found = of_texts(name, references, hypotheses, stemmer="stemmer=True" in key)
        np.testing.assert_allclose(found[: len(expected["rows"])], [row[at] for row in expected["rows"]], atol=2**-40)
        assert 100 * found[:, 2].mean() == pytest.approx(100 * expected["mean_f"][name], abs=1e-9)


def test_the_score_is_the_mean_of_f_and_details_are_those_of_precision_and_recall() -> None:
    m = metric("rouge1", stemmer=True)
    totals = m.suff_stats(["the cats sat", "a b"], [["The cat sat down", "c"]])[0].sum(axis=0)
    assert m.score(totals) == pytest.approx(100 * (6 / 7 + 0) / 2)
    assert m.details(totals) == pytest.approx({"precision": 37.5, "recall": 50.0})
    assert m.signature("1") == "ROUGE-1|nrefs:1|case:lc|tok:rouge|stem:porter"


def test_letters_that_are_dropped_give_a_warning() -> None:
    m = metric("rouge1"), metric("rougeL")
    references: list[list[str | None]] = [["Das Café schließt", None], ["x", "über"]]
    assert warnings_of(score, references, {"a": ["Das Café", "x"]}, m) == [
        "ROUGE knows the letters a to z only: others, 15% of those in the references, are dropped and separate words, "
        "as in rouge_score"
    ]
    assert warnings_of(score, ["the café — " + "and so on " * 40], {"a": ["东京"]}, m) == []


# --- A twin


def words_of(text: str, stemmer: bool) -> list[str]:
    """Runs of a–z and 0–9, after lower-casing."""
    words = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else " " for c in text.lower()).split()
    stem = PorterStemmer().stem
    return [stem(word) if stemmer and len(word) > 3 else word for word in words]


def subsequence(reference: list[str], hypothesis: list[str]) -> list[int]:
    """The places in the reference of the longest common subsequence that ROUGE finds."""
    table = [[0] * (len(hypothesis) + 1) for _ in range(len(reference) + 1)]
    for i, own in enumerate(reference):
        for j, other in enumerate(hypothesis):
            table[i + 1][j + 1] = table[i][j] + 1 if own == other else max(table[i][j + 1], table[i + 1][j])
    found, i, j = [], len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return found


def matched(name: str, reference: list[list[str]], hypothesis: list[list[str]]) -> tuple[int, int, int]:
    """What two texts, as lines of words, have in common, and what each could match."""
    own, other = [*chain(*reference)], [*chain(*hypothesis)]
    if name == "rougeLsum":
        union = [line[i] for line in reference for i in {i for text in hypothesis for i in subsequence(line, text)}]
        return (Counter(union) & Counter(other)).total(), len(other), len(own)
    if name == "rougeL":
        return len(subsequence(own, other)), len(other), len(own)
    n = int(name[-1])
    ngrams = [Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in (own, other)]
    return (ngrams[0] & ngrams[1]).total(), ngrams[1].total(), ngrams[0].total()


def twin(name: str, references: Sequence[str], hypothesis: str, stemmer: bool) -> Scores:
    """P, R and F against the best reference, of equal ones the first."""
    best = (-1.0, 0.0, 0.0)
    for reference in references:
        texts = [text.split("\n") if name == "rougeLsum" else [text] for text in (reference, hypothesis)]
        common, *possible = matched(name, *([words_of(line, stemmer) for line in lines] for lines in texts))
        precision, recall = (common / max(n, 1) for n in possible)
        f = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        best = max(best, (f, precision, recall), key=lambda each: each[0])
    return best[1], best[2], best[0]


WORDS = ["the", "cats", "Cat", "sat", "sitting", "2,000", "mat's", "émigré", "running", "\n", "\n\n", "."]
TEXT = st.one_of(st.lists(st.sampled_from(WORDS), max_size=90).map(" ".join), LINES, st.text(max_size=20))


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=budget(100))
@given(st.lists(st.lists(TEXT, min_size=2, max_size=4), min_size=1, max_size=3), st.booleans())
def test_scores_equal_a_twins(name: str, segments: list[list[str]], stemmer: bool) -> None:
    most = max(map(len, segments))
    references = [[s[c] if c < len(s) else None for s in segments] for c in range(1, most)]
    found = of_texts(name, references, [s[0] for s in segments], stemmer=stemmer)
    expected = [twin(name, segment[1:], segment[0], stemmer) for segment in segments]
    np.testing.assert_allclose(found, expected, atol=2**-40)


# --- Stems

BEGINNINGS = ["", "y", "b", "str", "sky", "syzyg", "abil", "rel", "controll", "hopp", "fal", "m3", "radic", "theo"]
SUFFIXES = """
    s es ies sses ied eed ed ing ating bling ized lled sted y ly ational tional enci anci izer bli alli entli eli ousli
    ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness
    al ance ence er ic able ible ant ement ment ent sion tion ion ou ism ate iti ous ive ize e ll yyed eyed
""".split()
IRREGULAR = (
    "sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed"
)


def made_up(pairs: bool) -> Iterator[str]:
    """Words with every suffix, or with every pair of them."""
    yield from IRREGULAR.split()
    for beginning in BEGINNINGS:
        for suffix in SUFFIXES:
            yield from (beginning + suffix + other for other in (SUFFIXES if pairs else [""]))


@pytest.mark.parametrize("pairs", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_words_have_a_common_stem_if_those_of_nltk_are_equal(pairs: bool) -> None:
    stem = PorterStemmer().stem
    by_stem: dict[str, list[str]] = {}
    for word in {word for word in made_up(pairs) if len(word) > 3}:
        by_stem.setdefault(stem(word), []).append(word)
    groups = list(by_stem.values())
    same = [(words[0], word) for words in groups for word in words]
    assert (of_texts("rouge1", [[a for a, _ in same]], [b for _, b in same], stemmer=True) == 1).all()
    # Two stems differ in a bit of their numbers, and so are on different sides of a text for one of the bits.
    for bit in range(len(groups).bit_length()):
        sides = [" ".join(words[0] for i, words in enumerate(groups) if i >> bit & 1 == side) for side in (0, 1)]
        assert of_texts("rouge1", [sides[:1]], sides[1:], stemmer=True).max() == 0
