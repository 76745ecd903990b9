"""Counts and scores: by hand, against sacreBLEU 2.6.0 on real systems, and on whatever hypothesis invents."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811

from reshuffle import InputError, metric, read_corpus, read_lines, score, tokenize
from texts import LINES, Columns, corpora

OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "tokenize": st.sampled_from(["13a", "none"]),
        "lowercase": st.booleans(),
        "max_ngram_order": st.integers(1, 6),
        "effective_order": st.booleans(),
    }
) | st.builds(dict)

# Long n-grams match: the same words with something else in between.
LONG = st.lists(st.sampled_from(["a", "a a a", "a " * 20, "b"]), max_size=5).map(" ".join)

SMOOTHING: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict, smooth_method=st.sampled_from(["none", "exp", "floor", "add-k"])),
    st.builds(dict, smooth_method=st.sampled_from(["floor", "add-k"]), smooth_value=st.sampled_from([0.01, 0.5, 1, 2])),
)


def sacrebleu_counts(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], **options: Any) -> Any:
    bleu = SacreBLEU(force=True, **options)
    counts = bleu._extract_corpus_statistics(hypotheses, references)
    return np.array(counts), bleu._aggregate_and_compute(counts).score


def assert_equal_to_sacrebleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], **options: Any
) -> None:
    ours = metric("bleu", **options)
    counts = ours.suff_stats([hypotheses], references)[0]
    expected_counts, expected_score = sacrebleu_counts(hypotheses, references, **options)
    np.testing.assert_array_equal(expected_counts, counts)
    assert expected_score == pytest.approx(float(ours.score(counts.sum(axis=0))), rel=1e-9, abs=1e-9)


def test_sacrebleu_is_the_release_that_we_reproduce() -> None:
    assert sacrebleu.__version__ == "2.6.0"


SETS = {
    "wmt17-en-de": ["ref.txt"],
    "wmt19-en-de": [
        "ref.txt",
        "ref-ar.txt",
        "ref-arp.txt",
        "ref-hqall.txt",
        "ref-hqp.txt",
        "ref-hqr.txt",
        "ref-wmtp.txt",
    ],
}


@pytest.mark.parametrize("name", SETS)
def test_counts_and_scores_equal_sacrebleus_on_every_system(data: Path, name: str) -> None:
    # sacrebleu 2.6.0, as `sacrebleu ref.txt … -i SYSTEM -m bleu`, through its API.
    systems = sorted(map(str, (data / name / "sys").iterdir()))
    corpus = read_corpus([str(data / name / ref) for ref in SETS[name]], systems)
    assert len(corpus.systems) in (16, 22)
    bleu = SacreBLEU(force=True, references=corpus.references)
    ours = metric("bleu")
    counts = ours.suff_stats(list(corpus.systems.values()), corpus.references)
    for hypotheses, rows in zip(corpus.systems.values(), counts, strict=True):
        expected = bleu._extract_corpus_statistics(hypotheses, None)
        np.testing.assert_array_equal(expected, rows)
        assert bleu._aggregate_and_compute(expected).score == pytest.approx(
            float(ours.score(rows.sum(axis=0))), abs=1e-9
        )


@pytest.mark.parametrize("options", [{}, {"lowercase": True}, {"tokenize": "none"}, {"smooth_method": "add-k"}])
@pytest.mark.parametrize("form", ["", ".detok"])
def test_ted_equals_sacrebleu_under_every_option(data: Path, form: str, options: dict[str, Any]) -> None:
    ted = data / "compare-mt-ted-slk-en"
    reference = read_lines(str(ted / f"ted.ref{form}.eng"))
    for system in ("sys1", "sys2"):
        assert_equal_to_sacrebleu(read_lines(str(ted / f"ted.{system}{form}.eng")), [reference], **options)


@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=4), OPTIONS, SMOOTHING)
def test_any_text_gives_sacrebleus_counts_and_score(
    segments: list[tuple[str, str]], options: dict[str, Any], smoothing: dict[str, Any]
) -> None:
    hypotheses, references = zip(*segments, strict=True)
    assert_equal_to_sacrebleu(hypotheses, [references], **options, **smoothing)


@given(corpora(), OPTIONS)
def test_any_references_give_sacrebleus_counts_and_score(
    corpus: tuple[list[str], Columns], options: dict[str, Any]
) -> None:
    assert_equal_to_sacrebleu(*corpus, **options)


@given(st.lists(st.integers(0, 30), min_size=10, max_size=10), st.booleans(), SMOOTHING)
def test_any_sums_give_sacrebleus_score(sums: list[int], effective_order: bool, smoothing: dict[str, Any]) -> None:
    totals = sorted(sums[6:], reverse=True)
    matches = [min(m, t) for m, t in zip(sums[2:6], totals, strict=True)]
    method, value = smoothing["smooth_method"], smoothing.get("smooth_value")
    expected = SacreBLEU.compute_bleu(
        matches[:],
        totals[:],
        *sums[:2],
        smooth_method=method,
        smooth_value=value,
        effective_order=effective_order,
    )
    ours = metric("bleu", effective_order=effective_order, **smoothing)
    assert expected.score == pytest.approx(float(ours.score(sums[:2] + matches + totals)), rel=1e-12)


@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=3), st.integers(15, 22), st.booleans(), SMOOTHING)
def test_long_orders_give_sacrebleus_counts_and_score(
    segments: list[tuple[str, str]], order: int, effective_order: bool, smoothing: dict[str, Any]
) -> None:
    hypotheses, references = zip(*segments, strict=True)
    options = {"tokenize": "none", "max_ngram_order": order, "effective_order": effective_order}
    assert_equal_to_sacrebleu(hypotheses, [references], **options, **smoothing)


def test_lower_case_of_mteval_is_that_of_ascii() -> None:
    # perl mteval-v13a.pl without -c: BLEU score = 0.5946 for this pair, by `tr/[A-Z]/[a-z]/`.
    def score_of(**options: Any) -> float:
        bleu = metric("bleu", lowercase=True, smooth_method="mteval", **options)
        return float(bleu.score(bleu.suff_stats([["ü B c d"]], [["Ü b c D"]])[0, 0]))

    assert score_of(mteval_quirks=True) == pytest.approx(59.46, abs=0.005)
    assert score_of() == score_of(mteval_quirks=True, tokenize="mteval-intl") == pytest.approx(100)
    assert metric("bleu", mteval_quirks=True).signature() == "BLEU|case:mixed|eff:no|tok:13a|smooth:exp|quirks:mteval"


@given(LINES)
def test_tokens_are_those_of_sacrebleu(line: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert tokenize([line]) == [Tokenizer13a()(line).split()]
    assert tokenize([line], "none") == [line.split()]


def test_tables_of_unicode_agree_on_what_python_knows() -> None:
    # 13a and `none` depend on white space only, lower-casing on letters known to both.
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    assert [len(tokens) for tokens in tokenize([f"a{c}b" for c in every], "none")] == [
        len(f"a{c}b".split()) for c in every
    ]
    known = [c for c in every if unicodedata.category(c) != "Cn"]
    lower = metric("bleu", lowercase=True, tokenize="none", max_ngram_order=1)
    counts = lower.suff_stats([known], [[c.lower() for c in known]])[0]
    unlike = [hex(ord(c)) for c, row in zip(known, counts, strict=True) if row[0] != row[2]]
    assert unlike == []


def test_an_empty_line_is_an_empty_reference_and_none_is_no_reference() -> None:
    bleu = metric("bleu")
    rows = bleu.suff_stats([["a b", "a b"]], [["a b", "a b"], ["", None]])[0]
    assert [row[1] for row in rows.tolist()] == [2, 2]
    rows = bleu.suff_stats([["a", "a"]], [["a b c", "a b c"], ["", None]])[0]
    assert [row[1] for row in rows.tolist()] == [0, 3]


def test_a_segment_without_any_reference_is_an_error() -> None:
    with pytest.raises(InputError, match="segment 2 has no reference"):
        metric("bleu").suff_stats([["a", "b"]], [["a", None], ["a", None]])


@pytest.mark.parametrize(
    ("systems", "references", "message"),
    [
        ([], [["a"]], "systems: expected at least one, got none"),
        ([["a"]], [], "references: expected at least one, got none"),
        ([["a", "b"]], [["a"]], "column 0 of hypotheses: expected 1, got 2"),
        ([["a", None]], [["a", "b"]], "system 1, segment 2: expected a string, got None"),
        ([["a", "\ud800"]], [["a", "b"]], "system 1, segment 2: not valid Unicode"),
        ([["a", "b"]], [["a", 7]], "reference 1, segment 2: expected a string, got 7"),
    ],
)
def test_texts_that_cannot_be_counted_are_refused(systems: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metric("bleu").suff_stats(systems, references)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("blue", {}, "unknown metric 'blue': did you mean 'bleu'"),
        ("bleu", {"tokenise": "13a"}, "unknown bleu option 'tokenise': did you mean 'tokenize'"),
        ("bleu", {"tokenize": "13b"}, "unknown tokenize '13b': did you mean '13a'"),
        ("bleu", {"max_ngram_order": 0}, "max_ngram_order must be a whole number from 1 to 100, got 0"),
        ("bleu", {"max_ngram_order": 10**30}, "max_ngram_order must be a whole number from 1 to 100"),
        ("bleu", {"smooth_value": float("nan")}, "bleu: smooth_value must be a number from 0 to 1000000, got NaN"),
        ("bleu", {"lowercase": "yes"}, "lowercase must be true or false"),
        ("bleu", {"lowercase": object()}, "lowercase must be a name, a number, numbers, true, false or None"),
    ],
)
def test_options_that_do_not_exist_are_refused_with_the_nearest(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        metric(name, **options)


def test_counts_are_the_same_for_any_number_of_threads(wmt17: Any) -> None:
    bleu = metric("bleu")
    outputs = list(wmt17.systems.values())[:4]
    expected = bleu.suff_stats(outputs, wmt17.references, threads=1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(expected, bleu.suff_stats(outputs, wmt17.references, threads=threads))


def test_errors_tell_the_names_of_systems() -> None:
    for bad, message in ((None, "expected a string, got None"), ("\ud800", "not valid Unicode")):
        with pytest.raises(InputError, match=f"^mine, segment 2: {message}"):
            score(["a", "b"], {"good": ["a", "b"], "mine": ["a", bad]})  # type: ignore[list-item]
        with pytest.raises(InputError, match=f"^system 2, segment 2: {message}"):
            score(["a", "b"], [["a", "b"], ["a", bad]])  # type: ignore[list-item]
    with pytest.raises(InputError, match="segment 2, mine, line 1: expected 10 columns"):
        score(["# a"] * 2, {"good": ["# b"] * 2, "mine": ["# c", "d"]}, "depf")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("Hello", "expected a sequence of lines, got a single string"),
        (3, "expected a sequence of lines, got 3"),
        (["a", None], "line 2: expected a string, got None"),
        (["\ud800"], "line 1: not valid Unicode"),
    ],
)
def test_only_lines_can_be_tokenized(lines: Any, message: str) -> None:
    for tokenizer in ("13a", "none"):
        with pytest.raises(InputError, match=message):
            tokenize(lines, tokenizer)
