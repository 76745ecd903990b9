"""Caveats: inference finds their kinds and values, reports put them into words."""

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from counts import lengths, near_kink
from known import known
from pages import markup
from reshuffle import Comparison, SegmentScores, SignificanceResult, bootstrap_interval, bootstrap_test, compare, score
from reshuffle.inference import enough
from reshuffle.inference.caveats import _with
from reshuffle.inference.concentration import SEGMENTS_WITH_RARE
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.caveats import cautions, worded
from reshuffle.report.systems import pairs_of
from reshuffle.report.words import words as texts_of
from reshuffle.results import Caveat, SetComparison, clopper_pearson
from reshuffle.results.caveats import SMALL_SAMPLE
from told import assert_told

SEGMENTS = 60


def ratings(n: int = SEGMENTS, k: int = 2, apart: float = 0.0) -> SegmentScores:
    rng = np.random.default_rng(1)
    return SegmentScores("rating", {f"s{i}": np.round(rng.normal(50 + i * apart, 10, n), 3) for i in range(k)})


def compared(ratings_: SegmentScores | reshuffle.FromCounts, **options: Any) -> Comparison:
    return compare(metrics=ratings_, **{"test": "ar:scheme=iid", "n_resamples": 999, "interval": None, **options})


def apart_in(n: int, most: float = 1.0) -> SegmentScores:
    """Two systems that are equal in all but n of 300 segments, of which one differs by ``most``, the others by 1."""
    better = np.zeros(300)
    better[:n] = 1
    better[0] = most
    return SegmentScores("rating", {"a": np.zeros(300), "b": better})


LENGTH = reshuffle.CorpusFunction("length", lambda hypotheses, _: float(sum(map(len, hypotheses))))


CASES: dict[str, Callable[[], Comparison]] = {
    "liberal": lambda: compared(ratings(apart=30.0), test="bootstrap-shift"),
    "all-exchangeable": lambda: compared(ratings(k=3), test="permutation"),
    "approximate": lambda: compared(lengths(), test="anova"),
    "undecided": lambda: compared(ratings(apart=30.0), test="ar:stopping=gandy", n_resamples=9),
    "other-test": lambda: compare(
        ["a b", "c d"], {"x": ["a b", "c"], "y": ["a", "c"]}, LENGTH, test="ar-studentized", interval=None
    ),
    "dependence": lambda: compared(ratings(), documents=[i // 6 for i in range(SEGMENTS)]),
    "identical": lambda: compared(SegmentScores("m", dict.fromkeys("ab", [1.0, 2.0, 4.0] * 20))),
    "not-exchangeable": lambda: compared(lengths()),
    "near-kink": lambda: compared(near_kink(), test="bootstrap"),
    "not-ranked": lambda: compared(incomplete(), all_pairs=True),
    "not-adjusted": lambda: compared(ratings(k=3, apart=30.0), all_pairs=True, test="ar:stopping=gandy"),
    "many-tests": lambda: compared(ratings(k=3), all_pairs=True, adjust="none"),
    "few-units": lambda: compared(ratings(4), alternative="greater"),
    "few-replicates": lambda: compared(ratings(), n_resamples=9),
    "near-alpha": lambda: compared(ratings(), alpha=compared(ratings()).comparisons[0].test.pvalue),
    "auto-limit": lambda: compared(ratings(), n_resamples="auto", alpha=1e-5),
    "small-sample": lambda: compared(ratings(20), test="bootstrap"),
    "few-differing": lambda: compared(apart_in(5), test="bootstrap-both"),
    "skewed": lambda: compared(apart_in(40, 300.0), test="ar"),
    "rare-segments": lambda: compared(ratings(apart=30.0)),
    "few-draws": lambda: compared(ratings(), n_resamples=100, interval="percentile"),
    "star-and-interval": lambda: compared(ratings(apart=4.0), alternative="less", interval="delta"),
}


def incomplete() -> SegmentScores:
    """Scores of which each system lacks one, on a segment of its own."""
    scores = {f"s{i}": [math.nan if s == i else s % 7 + i for s in range(SEGMENTS)] for i in range(3)}
    return SegmentScores("rating", scores, missing="pairwise")


@cache
def case(kind: str) -> Comparison:
    return CASES[kind]()


def shown(value: Any) -> str:
    """A value with as many digits as all machines agree on."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(map(shown, value)) if isinstance(value, tuple) else str(value)


def test_each_kind_of_caveat_has_its_values_and_its_sentence_and_is_documented() -> None:
    told = {}
    for kind in CASES:
        (caveat,) = (caveat for caveat in case(kind).caveats if caveat.kind == kind)
        told[kind] = "\n".join([worded(caveat), *(f"  {name}: {shown(each)}" for name, each in caveat.values.items())])
    assert_told("caveats", told)
    assert set(CASES) == set(texts_of("caveats")["caveat"])
    page = (Path(__file__).parents[2] / "docs/statistics/notes.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == set(CASES)


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_of_caveat_is_shown(kind: str) -> None:
    comparison = case(kind)
    (caveat,) = (caveat for caveat in comparison.caveats if caveat.kind == kind)
    for fmt in ("text", "markdown", "latex"):
        report = " ".join(render(comparison, fmt).replace("% ", "").split())
        assert worded(caveat).replace("% ", "") in report
    assert len(worded(caveat)) <= 200  # two lines
    written = {"kind": kind, "values": json.loads(json.dumps(caveat.values))}
    assert written in json.loads(render(comparison, "json"))["caveats"]


def test_an_unproblematic_comparison_has_no_caveats() -> None:
    large = ratings(SEGMENTS_WITH_RARE, apart=30.0)
    assert compared(large).caveats == ()
    assert compared(large, interval="percentile", test="ar").caveats == ()
    assert compared(large, interval="normal", test="ar", n_resamples=400).caveats == ()
    assert score(metrics=ratings(), interval="t").caveats == ()
    assert score(metrics=ratings(), interval="percentile").caveats == ()
    assert compared(ratings(4), test="ar:scheme=exact").caveats[0].kind == "few-units"
    assert compared(ratings(), test="t-test").caveats == ()
    # An adjustment accounts for the number of tests.
    large = ratings(SEGMENTS_WITH_RARE, k=3, apart=30.0)
    assert compared(large, all_pairs=True, adjust="holm").caveats == ()
    assert compared(large, all_pairs=True).caveats == ()


def kinds(comparison: Comparison) -> list[str]:
    return [caveat.kind for caveat in comparison.caveats]


# --- Tests that reject too often


@pytest.mark.parametrize(
    ("test", "share"), [("bootstrap", None), ("bootstrap-shift", "11%"), ("paired-bootstrap", "10%")]
)
def test_a_single_result_of_a_liberal_test_says_so(test: str, share: str | None) -> None:
    rng = np.random.default_rng(1)
    one = bootstrap_test(*rng.normal(size=(2, 50)), test=test, n_resamples=99)
    batch = bootstrap_test(*rng.normal(size=(2, 3, 50)), test=test, n_resamples=99)
    for result in (one, batch, batch.problem(1)):
        assert [caveat.kind for caveat in result.caveats] == ([] if share is None else ["liberal"])
        assert (f"rejects about {share} of true" in str(result)) == (share is not None)
    assert ("one-sided in the observed direction" in str(one)) == (test == "paired-bootstrap")


# --- The number of replicates


def sixteen(**options: Any) -> Comparison:
    """All 120 pairs of 16 systems, which differ as clearly as possible."""
    return compared(ratings(SEGMENTS_WITH_RARE, k=16, apart=1000.0), all_pairs=True, **options)


def stars(comparison: Comparison) -> int:
    return sum(pair.is_significant(0.05) for pair in comparison.comparisons)


@pytest.mark.parametrize("adjust", ["holm", "bonferroni"])
def test_too_few_shuffles_for_any_star_after_adjustment_are_reported_with_a_number_that_is_enough(adjust: str) -> None:
    few = sixteen(adjust=adjust, n_resamples=2000)
    assert (stars(few), kinds(few)) == (0, ["few-replicates"])
    values = few.caveats[0].values
    assert values["smallest"] == pytest.approx(120 / 2001)
    assert (values["n_resamples"], values["family"], values["enough"]) == (2000, 120, 47_999)
    assert "adjusted p cannot be below 0.06" in str(few)
    assert "to at least 47,999, or use auto." in " ".join(str(few).split())
    just_enough = sixteen(adjust=adjust, n_resamples=2399)
    assert (stars(just_enough), kinds(just_enough)) == (120, ["near-alpha"])
    for name, n in ((adjust, values["enough"]), ("maxt", 2000)):  # adjustments by shuffles have no such limit
        more = sixteen(adjust=name, n_resamples=n)
        assert (stars(more), kinds(more)) == (120, [])


def test_exact_tests_have_no_such_limit_and_do_not_count() -> None:
    mixed = compare(
        metrics=SegmentScores(
            "m", {"a": [0.0] * 60, "b": [1.0] * 4 + [0.0] * 56, "c": np.random.default_rng(1).normal(9, 1, 60)}
        ),
        all_pairs=True,
        test="ar",
        adjust="holm",
        n_resamples=20,
        interval=None,
    )
    schemes = [pair.test.scheme for pair in mixed.comparisons]
    assert set(schemes) == {"exact", "iid"}
    of_pairs = [("few-replicates" in pair.caveats) for pair in mixed.comparisons]
    assert of_pairs == [scheme == "iid" for scheme in schemes]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 10_000),
        ({"test": "bootstrap-both"}, 10_000),
        ({"test": "bootstrap-both", "alpha": 0.001}, 39_999),
        ({"test": "bootstrap-both", "adjust": "holm"}, 95_999),
        ({"test": "bootstrap-both", "adjust": "holm", "alternative": "less"}, 47_999),
        ({"adjust": "holm"}, 47_999),
        ({"adjust": "bonferroni", "alpha": 0.1}, 23_999),
        ({"adjust": "minp"}, 47_999),
        ({"adjust": "none"}, 10_000),
        ({"test": "bootstrap-shift"}, 47_999),  # by Holm's method, as in the next
        ({"test": "ar:stopping=besag-clifford"}, 47_999),
        ({"test": "ar:stopping=gandy"}, 10_000),
        ({"adjust": "maxt", "alpha": 0.001}, 19_999),
        ({"test": "bootstrap-percentile", "adjust": "holm"}, 95_999),
        ({"test": "bootstrap-both", "adjust": "maxt", "alpha": 0.001}, 39_999),
        ({"test": "t-test", "adjust": "holm", "interval": "percentile"}, 10_000),
        ({"test": "t-test", "interval": "percentile", "confidence_level": 0.999}, 39_999),
        ({"interval": "normal", "confidence_level": 0.999}, 19_999),
        ({"test": "ar:scheme=exact", "adjust": "holm", "interval": "percentile"}, 10_000),
    ],
)
def test_auto_chooses_the_number_that_the_comparison_needs(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], expected: int
) -> None:
    """With a twentieth of the usual numbers, to be fast."""
    monkeypatch.setattr(enough, "BEYOND", 1)
    monkeypatch.setattr(enough, "SMALLEST", 500)
    expected = 500 if expected == 10_000 else (expected + 1) // 20 - 1
    own = ratings(24, 16) if options.get("test") != "ar:scheme=exact" else ratings(8, 16)
    options = {"test": "ar", "interval": None, **options}
    comparison = compare(metrics=own, all_pairs=True, **options, n_resamples="auto")
    assert comparison.n_resamples == expected
    assert f"|n:{expected}|" in comparison.signature
    assert json.loads(comparison.render("json"))["n_resamples"] == expected
    assert compare(metrics=own, all_pairs=True, **options, n_resamples=expected) == comparison


def test_auto_is_for_functions_that_know_the_level() -> None:
    values = np.random.default_rng(1).normal(size=50)
    assert bootstrap_interval(values, n_resamples="auto") == bootstrap_interval(values)
    level: dict[str, Any] = {"confidence_level": 0.999}
    auto = bootstrap_interval(values, n_resamples="auto", **level)
    assert auto == bootstrap_interval(values, n_resamples=39_999, **level)
    assert score(metrics=ratings(), n_resamples="auto", **level).n_resamples == 39_999
    with pytest.raises(reshuffle.InputError, match="n_resamples must be a whole number of at least 1, got 'auto'"):
        bootstrap_test(values, values, n_resamples="auto")  # type: ignore[arg-type]


# --- Stars that Monte Carlo error leaves open


def result(exceedances: int, n: int, adjusted: float | None = None) -> SignificanceResult:
    p = (exceedances + 1) / (n + 1)
    return SignificanceResult(
        "ar", "m", 1.0, p, "two-sided", exceedances, n, 1, "", adjusted_pvalue=adjusted, scheme="iid"
    )


COUNTS = st.lists(st.integers(0, 60), min_size=1, max_size=12)


@settings(max_examples=budget(200))
@given(
    COUNTS,
    st.sampled_from([name for name, adjustment in ADJUSTMENTS.items() if adjustment.of_pvalues is not None]),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_an_adjusted_p_is_open_if_the_adjusted_intervals_contain_alpha(
    counts: list[int], name: str, alpha: float
) -> None:
    adjust = known(ADJUSTMENTS[name].of_pvalues)
    tests = [result(c, 999) for c in counts]
    ends = [clopper_pearson(c, 999) for c in counts]
    low, high = (adjust(np.array([getattr(end, side) for end in ends])) for side in ("low", "high"))
    expected = {i for i in range(len(counts)) if low[i] < alpha < high[i]}
    assert set(ADJUSTMENTS[name].undecided(tests, alpha)) == expected


@given(st.integers(0, 200), st.integers(0, 60), st.sampled_from([0.01, 0.05, 0.2]))
def test_adjusted_p_values_from_shuffles_have_intervals_of_their_own(own: int, c: int, alpha: float) -> None:
    by_max_t = [result(c, 999, (own + 1) / 1000)]
    interval = clopper_pearson(own, 999)
    assert bool(ADJUSTMENTS["maxt"].undecided(by_max_t, alpha)) == (interval.low < alpha < interval.high)
    # Between 1 and m times p.
    by_min_p = [result(c, 999, min(1, (c + 1 + own) / 1000))]
    factor = by_min_p[0].adjusted_pvalue / by_min_p[0].pvalue
    raw = clopper_pearson(c, 999)
    if all(not math.isclose(end, alpha / factor, rel_tol=1e-9) for end in (raw.low, raw.high)):
        assert bool(ADJUSTMENTS["minp"].undecided(by_min_p, alpha)) == (raw.low * factor < alpha < raw.high * factor)


def test_open_stars_are_named_with_a_number_of_replicates_that_decides() -> None:
    pair = compared(ratings()).comparisons[0]
    for share, deciding in ((1.01, 2000), (1.001, 200_000), (1.0, None)):
        on_alpha = compared(ratings(), alpha=pair.test.pvalue / share)
        found = on_alpha.caveats
        assert [caveat.values["enough"] for caveat in found if caveat.kind == "near-alpha"] == [deciding]
    assert "if p stays the same, even millions of replicates do not decide" in " ".join(str(on_alpha).split())
    # p = 2·26/1,001 = 0.0519, whose share of draws, 2·25/1,000, is on the level.
    test = replace(pair.test, n_resamples=1000, exceedances=25, tails=2, pvalue=52 / 1001)
    more = _with(test, 200_000)
    assert more.exceedances == 5_194  # (c + 1)/200,001 = 26/1,001
    assert (test.may_lie_across(0.05), more.may_lie_across(0.05)) == (True, False)
    noisy = compared(ratings(k=6, apart=3.0), all_pairs=True, n_resamples=100)
    text = " ".join(str(noisy).split())
    # Named as in the rows of the table: the better system first.
    names = [f"{p.system} − {p.baseline}" for p in pairs_of(noisy, noisy.metrics[0]) if "near-alpha" in p.caveats]
    rows = re.findall(r"^(\S+) +(\S+) +[+-][\d.]+ ", noisy.render("text", pairs=True), re.M)
    assert {*names} <= {f"{system} − {baseline}" for system, baseline in rows}
    assert f"For 4 of 15 tests ({', '.join(names[:3])} and 1 more), Monte" in text
    assert "if p stays the same, about 1,000 replicates (n_resamples) would decide." in text


def test_what_caveats_count_is_added_up_over_metrics_and_test_sets() -> None:
    of = {"metric": "rating", "tests": 3, "confidence_level": 0.95, "starred": 0}
    reasons = ("adjustment", "few")
    found = [Caveat("star-and-interval", {"pairs": n, "reasons": reasons[:n], **of}) for n in (1, 2)]
    near = [Caveat("near-alpha", {"near": 1, "tests": 3, "alpha": 0.05, "adjusted": True, "enough": n}) for n in (9, 7)]
    plain = compare(metrics=ratings(k=3), all_pairs=True, n_resamples=99)
    first, other = plain.comparisons[0], plain.comparisons[1:]
    marked = (replace(first, caveats=("near-alpha",)), *other)
    sets = {
        name: replace(plain, caveats=caveats, comparisons=marked)
        for name, caveats in zip("ab", zip(found, near, strict=True), strict=True)
    }
    (pair,) = {f"{p.system} − {p.baseline}" for p in pairs_of(sets["a"], plain.metrics[0]) if "near-alpha" in p.caveats}
    result = SetComparison(sets=sets, average=None, dropped=(), signature="", version="")
    assert [*cautions(result, Layout(pairs=True))] == [
        "3 of 6 tests are not significant, although the 95% CI excludes 0, because p is adjusted "
        "and the interval is not, or because the replicates are too few for this level.",
        f"For 2 of 6 tests ({pair} (a) and {pair} (b)), Monte Carlo error leaves open whether adjusted "
        "p ≤ 0.05 (95% Clopper-Pearson interval); if p stays the same, about 9 replicates (n_resamples) would "
        "decide.",
    ]


# --- Intervals


@pytest.mark.parametrize("name", [name for name, interval in INTERVALS.items() if interval.inverts is None])
def test_intervals_from_too_few_draws_are_reported(name: str) -> None:
    interval = INTERVALS[name]
    enough = interval.enough_draws(0.95)
    assert (enough is None) == (not interval.draws)
    for n in (2, 100, *([] if enough is None else [enough - 1, enough])):
        comparison = score(metrics=ratings(), interval=name, n_resamples=n)
        assert ("few-draws" in kinds(comparison)) == (enough is not None and n < enough)
        assert comparison.caveats == () or f"{n:,} draws are too few for precise ends" in str(comparison)


@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("n", [SMALL_SAMPLE - 1, SMALL_SAMPLE])
def test_small_samples_are_reported_for_draws_only(n: int, documents: bool) -> None:
    ids = [i // 3 for i in range(3 * n)] if documents else None
    own = ratings(3 * n if documents else n)
    unit = "document" if documents else "segment"
    for test, interval in (("bootstrap", None), ("ar", "percentile"), ("ar", "delta"), ("bootstrap", "bca")):
        comparison = compared(own, test=test, interval=interval, documents=ids, n_resamples=2000)
        found = [c.values for c in comparison.caveats if c.kind == "small-sample"]
        of_test, of_interval = test == "bootstrap", interval in ("percentile", "bca")
        expected = {"units": n, "unit": unit, "enough": 40, "test": of_test, "interval": of_interval}
        assert found == ([expected] if n < SMALL_SAMPLE and (of_test or of_interval) else [])
        for words, shown in (("tests reject too often (use ar)", of_test), ("draws are too narrow", of_interval)):
            assert (words in " ".join(str(comparison).split())) == (shown and bool(found))


# --- Stars and intervals that disagree


def disagreement(apart: float, **options: Any) -> dict[str, Any]:
    comparison = compared(ratings(k=3, apart=apart), **{"all_pairs": True, "interval": "delta", **options})
    (caveat,) = (c for c in comparison.caveats if c.kind == "star-and-interval")
    for pair in comparison.comparisons:
        interval = known(pair.confidence_interval)
        agree = pair.is_significant(comparison.alpha or 0) == (interval.low > 0 or interval.high < 0)
        assert ("star-and-interval" in pair.caveats) == (not agree)
    return dict(caveat.values)


def test_the_note_says_why_star_and_interval_disagree() -> None:
    raw = {p.system + p.baseline: p.test.pvalue for p in compared(ratings(k=3, apart=4.0), all_pairs=True).comparisons}
    alpha = sorted(raw.values())[1] * 1.01
    level = {"alpha": alpha, "confidence_level": 1 - alpha}
    assert disagreement(4, adjust="bonferroni", **level)["reasons"] == ("adjustment",)
    assert disagreement(4, alternative="less")["reasons"] == ("alternative",)
    assert disagreement(3, alpha=0.2)["reasons"] == ("level",)
    assert disagreement(4, alpha=0.2, alternative="less")["reasons"] == ("level", "alternative")
    # Too few replicates explain disagreements by themselves.
    few = compared(ratings(apart=30.0), n_resamples=9, interval="percentile")
    assert kinds(few) == ["few-replicates", "few-draws"]


def test_tests_and_intervals_by_different_methods_may_disagree() -> None:
    """The sign test asks about signs, the interval about the mean, which one segment dominates."""
    scores = np.ones(60)
    scores[0] = -400
    own = SegmentScores("rating", {"a": np.zeros(60), "b": scores})
    comparison = compared(own, test="sign-test", interval="delta")
    (caveat,) = comparison.caveats
    assert (caveat.kind, caveat.values["reasons"], caveat.values["starred"]) == ("star-and-interval", ("method",), 1)
    said = "although the 95% CI contains 0, because test and interval are computed by different methods."
    assert f"rating: the difference is significant, {said}" in " ".join(str(comparison).split())
    # The default test does not always reject what its half and the interval exclude.
    rng = np.random.default_rng(0)
    skewed = np.round(rng.exponential(1, 60) ** 2 - rng.exponential(1, 60), 3)
    own = SegmentScores("rating", {"a": np.zeros(60), "b": skewed})
    p = {
        test: compare(metrics=own, test=test, n_resamples=999).comparisons[0].test.pvalue
        for test in ("bootstrap", "bootstrap-both", "bootstrap-percentile")
    }
    assert p["bootstrap-percentile"] <= 0.05 < p["bootstrap"] == p["bootstrap-both"]
    comparison = compare(metrics=own, n_resamples=999)
    (caveat,) = comparison.caveats
    assert (caveat.kind, caveat.values["reasons"], caveat.values["starred"]) == ("star-and-interval", ("half",), 0)
    said = "p is the larger one of two bootstraps, and the interval is that of one: rely on p."
    assert said in " ".join(str(comparison).split())
    assert kinds(compare(metrics=own, test="bootstrap-percentile", n_resamples=999)) == ["skewed"]


# --- Exact p-values in tables


def test_exact_p_values_are_marked_in_their_rows() -> None:
    own = SegmentScores(
        "m", {"a": [0.0] * 60, "b": [1.0] * 6 + [0.0] * 54, "c": np.random.default_rng(1).normal(0, 1, 60)}
    )
    mixed = compare(metrics=own, all_pairs=True, test="ar", n_resamples=99, interval=None, adjust="none")
    marks = [pair.test.scheme == "exact" for pair in mixed.comparisons]
    assert (True in marks, False in marks) == (True, True)
    for fmt, mark in (("text", "†"), ("markdown", "†"), ("latex", r"\textdagger{}"), ("html", "†")):
        lines = markup(render(mixed, fmt, Layout(Terminal(100), pairs=True))).splitlines()
        for pair, marked in zip(mixed.comparisons, marks, strict=True):
            (row,) = (
                line
                for line in lines
                if f"{pair.test.pvalue:.4f}" in line and pair.system in line and pair.baseline in line
            )
            assert (mark in row) == marked
    assert "(† 1 of 3 tests exact, by enumeration of all shuffles)" in " ".join(str(mixed).split())
    assert "†" not in str(compared(ratings()))


def test_p_values_below_a_ten_thousandth_are_printed_as_that() -> None:
    own = ratings(apart=30.0)
    tiny = [
        compared(own, test="t-test"),
        compared(own, n_resamples=100_000),
        compared(SegmentScores("m", {"a": [0] * 60, "b": [1] * 60}), test="ar:scheme=exact"),
        compared(SegmentScores("m", {"a": [0] * 1100, "b": [1] * 1100}), test="ar:scheme=exact"),  # 2/2^1100
        compared(SegmentScores("m", {"a": [1, 2, 3], "b": [2, 3, 4]}), test="t-test"),  # 0
    ]
    assert [comparison.comparisons[0].test.pvalue for comparison in tiny[3:]] == [sys.float_info.min, 0]
    for comparison in tiny:
        p = comparison.comparisons[0].test.pvalue
        assert p < 1e-4
        for fmt in ("text", "markdown", "latex", "html"):
            cell = {"latex": "$<$0.0001", "html": "&lt;0.0001"}.get(fmt, "<0.0001")
            assert cell in markup(render(comparison, fmt))
        assert json.loads(render(comparison, "json"))["comparisons"][0]["test"]["pvalue"] == p
        assert comparison.to_dicts()[0]["pvalue"] == p
        assert "p < 0.0001 (" in str(comparison.comparisons[0].test)


def test_a_sentence_covers_all_pairs_and_metrics_with_the_same_caveat() -> None:
    few = {name: [float(i % 3 + (j if i < 12 else 0)) for i in range(50)] for j, name in enumerate("ab")}
    fewer = {name: [float(i % 3 + (j if i < 9 else 0)) for i in range(50)] for j, name in enumerate("ab")}
    metrics = [SegmentScores("m1", few), SegmentScores("m2", fewer), SegmentScores("m3", few)]
    result = compare(metrics=metrics, n_resamples=999)
    shown = " ".join(result.render("text").split())
    assert shown.count("m1, m3: b and a differ in 12 of 50 segments") == 1
    assert shown.count("m2: b and a differ in 9 of 50 segments") == 1
    assert shown.count("differ in 12 of 50") == 1
    comparison = compared(ratings(k=4), all_pairs=True, documents=[i // 6 for i in range(SEGMENTS)])
    (caveat,) = (caveat for caveat in comparison.caveats if caveat.kind == "dependence")
    correlations = [pair.intraclass_correlation for pair in comparison.comparisons if pair.intraclass_correlation]
    assert caveat.values["correlations"] == (min(correlations), max(correlations))
    assert len(correlations) == 6


@pytest.mark.parametrize(("tests", "which"), [(2, "both pairs"), (3, "all 3 pairs"), (4, "3 of 4 pairs")])
def test_all_pairs_are_not_counted_twice(tests: int, which: str) -> None:
    caveat = case("few-differing").caveats[0]
    values = {**caveat.values, "pairs": min(tests, 3), "tests": tests}
    assert f": {which} differ in few segments" in worded(replace(caveat, values=values))
