"""Labels, signatures and levels in results, and the notes below the tables of reports."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import numpy as np
import pytest

from reshuffle import Comparison, SegmentScores, approximate_randomization, compare, metric, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report import Layout, render

TEXTS = demo_corpus()
REFERENCES = [list(TEXTS.references[0][:60])]
SYSTEMS = {name: list(lines[:60]) for name, lines in TEXTS.systems.items()}
TWO = {name: SYSTEMS[name] for name in ("baseline", "larger")}


def test_scores_pairs_and_tests_use_the_same_name_for_a_metric() -> None:
    bleus: list[Any] = [metric("bleu"), metric("bleu", lowercase=True), "ter"]
    result = compare(REFERENCES, TWO, bleus, n_resamples=99)
    named = [
        (m.name, pair.metric, pair.test.metric) for m, pair in zip(result.metrics, result.comparisons, strict=True)
    ]
    assert named == [(label, label, label) for label in ("BLEU case:mixed", "BLEU case:lc", "TER")]


@pytest.mark.parametrize("test", ["ar", "bootstrap-both"])
def test_signatures_of_pairs_have_the_number_of_references(test: str) -> None:
    for columns in (1, 2):
        (pair,) = compare(REFERENCES * columns, TWO, test=test, n_resamples=99).comparisons
        assert pair.test.signature.startswith(f"BLEU|nrefs:{columns}|case:mixed|")


def test_the_signature_of_an_exact_test_has_no_seed() -> None:
    a, b = metric("ter").suff_stats(REFERENCES, TWO)
    for scheme, rows in (("exact", a), ("auto", a), ("exact", np.concatenate([b[:5], a[5:]]))):
        result = approximate_randomization(rows, b, "ter", scheme=scheme)
        assert (result.scheme, result.seed) == ("exact", None)
        assert not {"n", "seed", "rng"} & {part.split(":")[0] for part in result.signature.split("|")}
        assert "scheme:exact[2^" in result.signature
    by_documents = approximate_randomization(a, b, "ter", documents=[i // 6 for i in range(60)])
    assert "|unit:document[10]|version:" in by_documents.signature
    shuffled = approximate_randomization(a, b, "ter", scheme="iid")
    assert shuffled.seed == 12345
    assert "|n:10000|seed:12345|rng:" in shuffled.signature


def test_a_comparison_with_exact_tests_alone_has_a_seed_if_intervals_are_drawn() -> None:
    exact = compare(REFERENCES, TWO, "ter", test="ar", interval="delta")
    assert (exact.n_resamples, exact.seed) == (None, None)
    assert "seed:" not in exact.signature
    drawn = compare(REFERENCES, TWO, "ter", test="ar", n_resamples=999)
    assert (drawn.n_resamples, drawn.seed) == (999, 12345)
    assert "|n:999|seed:12345|" in drawn.signature
    # The limit set by few units is reported with and without draws.
    three = [["a b c d"] * 3, ["b c d e"] * 3]
    few = compare([["a b c d", "b c d e", "c d e f"]], three, test="ar", interval="delta")
    assert (
        "3 segments can be swapped in only 8 ways, too few for significance at 0.05: p cannot be below 0.25."
        in " ".join(render(few).split())
    )


def test_keys_of_a_signature_are_unambiguous() -> None:
    rating = SegmentScores("rating", {"a": [0.5, 1, 2, 1], "b": [1.5, 2, 0, 0]})
    signature = compare(metrics=rating, documents=[1, 1, 2, 3], test="ar:scheme=iid", n_resamples=99).signature
    assert "rating|mean:segments|resolution:10^-1|" in signature
    assert "|unit:document[3]|" in signature
    keys = [part.split(":")[0] for part in signature.split("|")]
    assert len(set(keys)) == len(keys)
    assert not {"units", "level"} & set(keys)


def test_only_tests_and_intervals_have_a_level() -> None:
    assert score(REFERENCES, TWO).alpha is None
    assert score(REFERENCES, TWO, interval="delta").alpha == 0.05
    assert compare(REFERENCES, TWO, n_resamples=99, confidence_level=0.9).alpha == 0.1
    assert compare(REFERENCES, TWO, n_resamples=99, interval=None).alpha == 0.05


def test_reports_name_the_method_of_exact_tests() -> None:
    close = {"same but one": [SYSTEMS["larger"][0], *SYSTEMS["baseline"][1:]]}
    for systems, words, methods in (
        (TWO, "† exact, by convolution, two-sided", ["convolution"]),
        ({"baseline": SYSTEMS["baseline"]} | close, "† exact, by enumeration of all shuffles, two-sided", ["patterns"]),
        (TWO | close, "exact, 1 by enumeration of all shuffles and 1 by convolution", ["convolution", "patterns"]),
    ):
        result = compare(REFERENCES, systems, "ter", test="ar", interval=None, adjust="none")
        assert methods == [pair.test.exact_by for pair in result.comparisons]
        for fmt in ("text", "markdown", "latex"):
            assert words in " ".join(render(result, fmt).split()), fmt
    mixed = compare(REFERENCES, TWO, ["bleu", "ter"], test="ar", n_resamples=4999)
    assert "4,999 shuffles († 1 of 2 tests exact, by convolution), two-sided" in render(mixed)
    assert [pair.test.exact_by for pair in mixed.comparisons] == [None, "convolution"]


def test_without_intervals_no_report_mentions_them() -> None:
    result, usual = (
        compare(REFERENCES, SYSTEMS, ["bleu", "ter"], test="ar", n_resamples=99, interval=i) for i in (None, "basic")
    )
    assert result.interval is None
    records: list[Any] = [*result.scores, *result.comparisons]
    assert {record.confidence_interval for record in records} == {None}
    assert [p.test for p in usual.comparisons] == [p.test for p in result.comparisons]
    assert "interval" not in result.signature
    for fmt in ("text", "markdown", "latex"):
        report = render(result, fmt)
        assert "nterval" not in report, fmt
        assert "CI" not in report, fmt
        assert "* adjusted p ≤ 0.05" in report
        assert report.count("*") > 1
    assert {pair["confidence_interval"] for pair in json.loads(render(result, "json"))["comparisons"]} == {None}
    assert render(result, "csv").splitlines()[0] == render(usual, "csv").splitlines()[0]


def many(systems: int, **options: object) -> Comparison:
    ratings = np.random.default_rng(1).integers(0, 5, (systems, 12))
    scores = SegmentScores("rating", {f"s{i}": row for i, row in enumerate(ratings)})
    defaults: dict[str, object] = {"test": "sign-test", "interval": None, "all_pairs": True}
    return compare(metrics=scores, **(defaults | options))  # type: ignore[arg-type]


def test_a_probability_close_to_1_is_not_rounded_to_1() -> None:
    # 1 − .95^105 = .9954 (W05-0908, section 4.4); 1 − .95^190 = .99994.
    fifteen, twenty = (" ".join(render(many(systems, adjust="none")).split()) for systems in (15, 20))
    assert "with probability 0.995; a level of 0.000488 for each test would make that probability 0.05." in fifteen
    assert "with probability above 0.999; a level of 0.000269 for each test would make that probability 0.05." in twenty


def test_large_numbers_have_commas_and_levels_all_their_digits() -> None:
    result = many(60, test="t-test", confidence_level=0.9999, adjust="none")
    text = " ".join(render(result, "text", Layout(pairs=True)).split())
    assert "rating: 1,770 pairs" in text
    assert "at least one p ≤ 0.0001 with probability 0.162; a level of 5.64e-08 for each test would" in text
    header = render(score(metrics=SegmentScores("x", [[1, 2, 3]]), interval="t", confidence_level=0.9999))
    assert "99.99% CI" in header
    adjusted = " ".join(render(many(60, test="ar", n_resamples=99, adjust="holm")).split())
    assert "Holm over 1,770 pairs; family-wise" in adjusted


def test_small_scores_are_not_shown_as_0() -> None:
    table = render(score(metrics=SegmentScores("x", {"a": [0.00012, 0.00014], "b": [0.00020, 0.00018]})))
    assert re.findall(r"0\.000\d+", table) == ["0.000190", "0.000130"]


def test_p_values_of_0_and_below_the_smallest_float_are_distinguished_in_json() -> None:
    equal = compare(metrics=SegmentScores("x", {"a": [1, 2, 3], "b": [2, 3, 4]}), test="t-test", interval="t")
    many_ones = compare(metrics=SegmentScores("x", {"a": [0] * 1100, "b": [1] * 1100}), test="ar", interval="t")
    for comparison, p, cell in (
        (equal, 0.0, " <0.0001*"),
        (many_ones, sys.float_info.min, " <0.0001†*"),  # 2/2^1100
    ):
        assert cell in render(comparison)
        assert json.loads(render(comparison, "json"))["comparisons"][0]["test"]["pvalue"] == p
