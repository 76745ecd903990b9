"""Labels, signatures and levels in results, and the notes below the tables of reports."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reshuffle
from counts import near_kink
from reshuffle import Comparison, InputError, SegmentScores, approximate_randomization, compare, metric, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report import Layout, render
from reshuffle.report.notes import notes
from reshuffle.report.wording import spelled
from told import assert_told

TEXTS = demo_corpus()
REFERENCES = [list(TEXTS.references[0][:60])]
SYSTEMS = {name: list(lines[:60]) for name, lines in TEXTS.systems.items()}
TWO = {name: SYSTEMS[name] for name in ("baseline", "larger")}


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
    assert (shuffled.seed, "|n:10000|seed:12345|rng:" in shuffled.signature) == (12345, True)
    # A comparison with exact tests alone has a seed if intervals are drawn.
    for options, expected in (({"interval": "delta"}, (None, None, False)), ({"n_resamples": 999}, (999, 12345, True))):
        exact = compare(REFERENCES, TWO, "ter", test="ar", **options)
        assert (exact.n_resamples, exact.seed, "seed:" in exact.signature) == expected


def test_keys_of_a_signature_are_unambiguous_and_metrics_have_one_name() -> None:
    rating = SegmentScores("rating", {"a": [0.5, 1, 2, 1], "b": [1.5, 2, 0, 0]})
    signature = compare(metrics=rating, documents=[1, 1, 2, 3], test="ar:scheme=iid", n_resamples=99).signature
    assert "rating|mean:segments|resolution:10^-1|" in signature
    assert "|unit:document[3]|" in signature
    keys = [part.split(":")[0] for part in signature.split("|")]
    assert len(set(keys)) == len(keys)
    assert not {"units", "level"} & set(keys)
    bleus: list[Any] = [metric("bleu"), metric("bleu", lowercase=True), "ter"]
    result = compare(REFERENCES, TWO, bleus, n_resamples=99)
    named = [
        (m.name, pair.metric, pair.test.metric) for m, pair in zip(result.metrics, result.comparisons, strict=True)
    ]
    assert named == [(label, label, label) for label in ("BLEU case:mixed", "BLEU case:lc", "TER")]


def test_alpha_defaults_to_one_minus_the_confidence_level() -> None:
    def compared(**options: Any) -> Comparison:
        return compare(REFERENCES, SYSTEMS, "ter", n_resamples=99, interval="delta", **options)

    assert (compared().alpha, compared(confidence_level=0.9).alpha, score(REFERENCES, TWO).alpha) == (0.05, 0.1, None)
    comparison = compared(alpha=0.2)
    assert (comparison.alpha, comparison.confidence_level) == (0.2, 0.95)
    assert comparison.experimentwise_error == reshuffle.experimentwise_error(0.2, 3)
    intervals = [[pair.confidence_interval for pair in each.comparisons] for each in (comparison, compared())]
    assert intervals[0] == intervals[1]
    assert "* adjusted p ≤ 0.2" in render(comparison)
    for alpha in (0, 1, 5, "x"):
        with pytest.raises(InputError, match=r"alpha must (lie|be a number) strictly between 0 and 1"):
            compared(alpha=alpha)


CLOSE = {"same but one": [SYSTEMS["larger"][0], *SYSTEMS["baseline"][1:]]}


def by_ar(systems: Any, metrics: Any = "ter", **options: Any) -> Comparison:
    return compare(REFERENCES, systems, metrics, **{"test": "ar", "n_resamples": 4999, "adjust": "none", **options})


def drawn(metrics: Any, **options: Any) -> Comparison:
    return compare(REFERENCES, SYSTEMS, metrics, all_pairs=True, interval="simultaneous", n_resamples=999, **options)


def many(systems: int, **options: object) -> Comparison:
    ratings = np.random.default_rng(1).integers(0, 5, (systems, 12))
    scores = SegmentScores("rating", {f"s{i}": row for i, row in enumerate(ratings)})
    defaults: dict[str, object] = {"test": "sign-test", "interval": None, "all_pairs": True}
    return compare(metrics=scores, **(defaults | options))  # type: ignore[arg-type]


DOCUMENTS = [i // 6 for i in range(60)]
RATED = SegmentScores("rating", {"a": [3] * 40, "b": [2] * 40, "c": [2, 4] * 20})
CASES: dict[str, Callable[[], Comparison]] = {
    "exact, by convolution": lambda: by_ar(TWO, interval=None),
    "exact, by enumeration": lambda: by_ar({"baseline": SYSTEMS["baseline"]} | CLOSE, interval=None),
    "exact, by both": lambda: by_ar(TWO | CLOSE, interval=None),
    "shuffles of one metric, another is exact": lambda: by_ar(TWO, ["bleu", "ter"]),
    "enumeration and shuffles": lambda: by_ar(TWO | CLOSE, "bleu", n_resamples=1000),
    "exact without a number of shuffles": lambda: compare(metrics=RATED, test="ar:scheme=exact", interval="t"),
    "a subgroup": lambda: by_ar(TWO, "bleu", test="ar:scheme=subgroup", n_resamples=1000),
    "few segments": lambda: compare(
        [["a b c d", "b c d e", "c d e f"]], [["a b c d"] * 3, ["b c d e"] * 3], test="ar", interval="delta"
    ),
    # 1 − .95^105 = .9954 (W05-0908, section 4.4); 1 − .95^190 = .99994.
    "15 systems": lambda: many(15, adjust="none"),
    "20 systems": lambda: many(20, adjust="none"),
    "1,770 pairs": lambda: many(60, test="t-test", confidence_level=0.9999, adjust="none"),
    "1,770 adjusted pairs": lambda: many(60, test="ar", n_resamples=99, adjust="holm"),
    "documents": lambda: by_ar(SYSTEMS, ["bleu", "ter"], documents=DOCUMENTS, adjust=None, n_resamples=99),
    "strata": lambda: by_ar(SYSTEMS, test="bootstrap", strata=[i % 5 for i in range(60)]),
    "documents in strata": lambda: by_ar(
        TWO, documents=DOCUMENTS, strata=[i % 5 for i in DOCUMENTS], interval="delta", adjust=None
    ),
    "Besag and Clifford": lambda: by_ar(
        SYSTEMS, "bleu", test="ar:stopping=besag-clifford", n_resamples=2000, adjust="holm"
    ),
    "two metrics": lambda: by_ar(SYSTEMS, ["bleu", "ter"], adjust="auto", n_resamples=999),
    "a family of two metrics": lambda: by_ar(SYSTEMS, ["bleu", "ter"], adjust="holm", family="all", n_resamples=999),
    "false discovery rate": lambda: by_ar(SYSTEMS, ["bleu", "ter"], adjust="bh", alpha=0.6, n_resamples=999),
    "one pair under two metrics": lambda: by_ar(TWO, ["bleu", "chrf"], adjust="maxt", n_resamples=999),
    "Gandy without adjustment": lambda: by_ar(SYSTEMS, "bleu", test="ar:stopping=gandy", adjust="auto"),
    "simultaneous": lambda: drawn("bleu"),
    "simultaneous under each of two metrics": lambda: drawn(["bleu", "ter"]),
    "simultaneous over two metrics": lambda: drawn(["bleu", "ter"], family="all"),
    "near the kink": lambda: compare(metrics=near_kink(), n_resamples=999),
    "near the kink, swaps": lambda: compare(metrics=near_kink(), test="ar", n_resamples=999),
    "near the kink, without its interval": lambda: compare(
        metrics=near_kink(), test="bootstrap-kink", interval="percentile", n_resamples=999
    ),
    "Gandy": lambda: by_ar(SYSTEMS, "bleu", test="ar:stopping=gandy", n_resamples=2000, confidence_level=0.9),
}


def test_titles_and_notes() -> None:
    told = {}
    for name, make in CASES.items():
        result = make()
        own = [spelled(note, for_command=False) for note in notes(result, Layout(pairs=True))]
        told[name] = "\n".join([render(result).splitlines()[0], *own])
    assert_told("comparisons", told)


def test_without_intervals_no_report_mentions_them_and_levels_have_all_digits() -> None:
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
    # Levels have all their digits, and small scores are not shown as 0.
    few = SegmentScores("x", {"a": [0.00012, 0.00014], "b": [0.00020, 0.00018]})
    shown = render(score(metrics=few, interval="t", confidence_level=0.9999))
    assert "99.99% CI" in shown
    assert re.findall(r" (0\.000\d+) ", shown) == ["0.000190", "0.000130"]
    assert {pair["confidence_interval"] for pair in json.loads(render(result, "json"))["comparisons"]} == {None}
    assert render(result, "csv").splitlines()[0] == render(usual, "csv").splitlines()[0]
