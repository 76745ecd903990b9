"""Tests of equivalence and non-inferiority: their definitions, their intervals, what is refused, and every report."""

import json
import math
import re
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from browser import Browser
from budgets import budget
from known import ends, known
from margins import WITH_MARGIN, chosen
from pages import markup
from reshuffle import (
    Comparison,
    CorpusFunction,
    Equivalence,
    FromCounts,
    InputError,
    SegmentScores,
    approximate_randomization,
    compare,
    compare_sets,
    derive_seed,
    metric,
    read_json,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.intervals import standard_error
from reshuffle.options.inputs import TestSet
from reshuffle.report import FORMATS, Layout, render
from reshuffle.report.conclusions import conclusions
from reshuffle.study import testing
from reshuffle.study.experiments import Experiment, Population, Selection
from test_resampling import weights
from told import assert_raises, assert_refused, assert_told

SHOWS = ("equivalence", "non-inferiority")
FROM_DRAWS = ("", "-studentized")
VARIANTS = (*FROM_DRAWS, "-ar")


def ratings(a: Any, b: Any, **options: Any) -> SegmentScores:
    return SegmentScores("rating", {"b": b, "a": a}, **options)


def compared(scores: Any, test: str, margin: float, scheme: str = "auto", **options: Any) -> Comparison:
    own = {"margins": {"rating": margin}} | ({} if scheme == "auto" else {"scheme": scheme})
    return compare(metrics=scores, test=chosen(test, **own), **{"n_resamples": 199, **options})


def only(comparison: Comparison) -> Any:
    (pair,) = comparison.comparisons
    return pair


def some_scores(seed: int, n: int = 60, mean: float = 0.2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    b = np.round(rng.normal(size=n), 2)
    return np.round(b + rng.normal(mean, 1, n), 2), b


# --- Slow, obvious twins


def by_hand(variant: str, a: Any, b: Any, n_resamples: int, seed: int) -> Any:
    """The R values of a bootstrap variant."""
    d, n = a - b, len(a)
    draws = [np.repeat(d, weights(seed, r, n)) for r in range(n_resamples)]
    drawn_means = np.array([draw.mean() for draw in draws])
    if variant == "":
        return 2 * d.mean() - drawn_means
    errors = np.array([draw.std() / math.sqrt(n - 1) for draw in draws])
    return d.mean() - d.std(ddof=1) / math.sqrt(n) * (drawn_means - d.mean()) / errors


@pytest.mark.parametrize("variant", FROM_DRAWS)
def test_bootstrap_variants_equal_two_explicit_one_sided_tests(variant: str) -> None:
    a, b = some_scores(1)
    values = by_hand(variant, a, b, 59, 12345)
    for margin, lower_is_better in ((0.3, False), (0.5, True), (1.0, False)):
        scores = ratings(a, b, higher_is_better=not lower_is_better)
        below, above = ((1 + sum(sign * values >= margin)) / 60 for sign in (-1, 1))
        assert only(compared(scores, f"equivalence{variant}", margin, n_resamples=59)).test.pvalue == max(below, above)
        expected = above if lower_is_better else below
        assert only(compared(scores, f"non-inferiority{variant}", margin, n_resamples=59)).test.pvalue == expected


@pytest.mark.parametrize("margin", [0.25, 1.0])
def test_ar_equals_approximate_randomization_of_shifted_scores(margin: float) -> None:
    a, b = some_scores(2)
    options: dict[str, Any] = {"n_resamples": 199, "scheme": "iid"}
    below = approximate_randomization(a + margin, b, alternative="greater", **options).pvalue
    above = approximate_randomization(a - margin, b, alternative="less", **options).pvalue
    equivalence = only(compared(ratings(a, b), "equivalence-ar", margin)).test
    assert (equivalence.pvalue, equivalence.scheme) == (max(below, above), "iid")
    assert only(compared(ratings(a, b), "non-inferiority-ar", margin)).test.pvalue == below
    lower = ratings(a, b, higher_is_better=False)
    assert only(compared(lower, "non-inferiority-ar", margin)).test.pvalue == above


integers = st.integers(-4, 4)


@given(st.lists(st.tuples(integers, integers), min_size=2, max_size=7), st.integers(1, 12))
def test_ar_enumerates_all_patterns_of_shifted_scores(pairs: list[tuple[int, int]], quarters: int) -> None:
    """In exact arithmetic, with ties."""
    a, b = map(list, zip(*pairs, strict=True))
    margin = Fraction(quarters, 4)
    p = []
    for shift, sign in ((margin, 1), (-margin, -1)):
        shifted = [sign * (x - y + shift) for x, y in pairs]
        observed = sum(shifted)
        sums = [sum(s * d for s, d in zip(signs, shifted, strict=True)) for signs in product((1, -1), repeat=len(a))]
        p.append(Fraction(sum(t >= observed for t in sums), len(sums)))
    found = only(compared(ratings(a, b), "equivalence-ar", float(margin), scheme="exact")).test
    assert (found.pvalue, found.n_resamples) == (float(max(p)), 2 ** len(a))
    assert found.exceedances == max(p) * 2 ** len(a)
    assert only(compared(ratings(a, b), "non-inferiority-ar", float(margin), scheme="exact")).test.pvalue == float(p[0])


scores = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=6, max_size=12)


@pytest.mark.parametrize("variant", VARIANTS)
@given(scores, st.integers(1, 40), st.sampled_from([0.05, 0.1, 0.2]), st.booleans())
@settings(max_examples=budget(40))
def test_the_interval_is_within_the_margin_exactly_when_p_is_at_most_alpha(
    variant: str, pairs: list[tuple[int, int]], quarters: int, alpha: float, lower_is_better: bool
) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    margin, both = quarters / 4, ratings(a, b, higher_is_better=not lower_is_better)
    options: dict[str, Any] = {"alpha": alpha, "n_resamples": 60}
    pair = only(compared(both, f"equivalence{variant}", margin, **options))
    interval = pair.confidence_interval
    assert interval.confidence_level == pytest.approx(1 - 2 * alpha)
    assert interval.method == f"equivalence{variant}"
    assume(alpha * 61 >= 1)
    assert (-margin < interval.low and interval.high < margin) == (pair.test.pvalue <= alpha)
    one = only(compared(both, f"non-inferiority{variant}", margin, **options))
    assert ends(one) == ends(pair)
    inside = interval.high < margin if lower_is_better else -margin < interval.low
    assert inside == (one.test.pvalue <= alpha)


@pytest.mark.parametrize("test", WITH_MARGIN)
def test_results_are_the_same_bytes_for_any_number_of_threads(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import reshuffle.inference.margins as module

    a, b = some_scores(4, 150)
    one, three = (compared(ratings(a, b), test, 0.5, workers=threads) for threads in (1, 3))
    monkeypatch.setattr(module, "BATCH_CELLS", 64)
    assert one == three == compared(ratings(a, b), test, 0.5)
    assert render(one, "json") == render(three, "json")
    identical = only(compared(ratings(a, a), test, 0.01))
    assert (identical.test.pvalue, *ends(identical)) == (1 / 200, 0, 0)


def test_a_difference_on_the_margin_is_a_tie() -> None:
    # All differences are equal, so that every value is the margin itself.
    a = np.arange(12.0)
    for variant in VARIANTS:
        on, below = (only(compared(ratings(a + 0.1, a), f"equivalence{variant}", m)) for m in (0.1, 0.100001))
        assert (on.test.pvalue, below.test.pvalue) == (1, 1 / 200)
        assert on.confidence_interval.high == pytest.approx(0.1)


def test_infinitely_many_scores_per_unit_are_weighted_by_documents() -> None:
    a, b = some_scores(5, 60)
    documents = [i // 7 for i in range(60)]
    d, ids = a - b, np.array(documents)
    sums = np.array([[d[ids == k].sum(), (ids == k).sum()] for k in range(9)])
    masks = np.array(list(product((False, True), repeat=9)))[1:]
    means = np.array([sums[mask].sum(axis=0) for mask in masks])
    values = means[:, 0] / means[:, 1]
    expected = max((1 + np.sum(values <= -0.5 + 1e-12)) / 512, (1 + np.sum(values >= 0.5 - 1e-12)) / 512)
    pair = only(compared(ratings(a, b), "equivalence-ar", 0.5, documents=documents, n_resamples=600))
    assert (pair.test.pvalue, pair.test.scheme, pair.n_units) == (expected, "exact", 9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_missing_scores_leave_their_segments_out(variant: str) -> None:
    a, b = some_scores(6, 10)
    lacking = [*a[:-2], math.nan, a[-1]]
    both = SegmentScores("rating", {"b": b, "a": lacking}, missing="pairwise")
    pair = only(compared(both, f"equivalence{variant}", 0.8, n_resamples=2000))
    assert (pair.n_segments, pair.difference) == (9, pytest.approx(np.delete(a - b, 8).mean()))
    if variant == "-ar":
        alone = only(compared(ratings(np.delete(a, 8), np.delete(b, 8)), "equivalence-ar", 0.8, n_resamples=2000))
        assert (pair.test.pvalue, pair.test.scheme) == (alone.test.pvalue, "exact")


def test_strata_are_those_of_the_draws() -> None:
    a, b = some_scores(7, 60)
    strata = [i // 20 for i in range(60)]
    spread, stratified = (
        only(compared(ratings(a + np.repeat([0, 5, 9], 20), b), "equivalence", 9.0, strata=s)).confidence_interval
        for s in (None, strata)
    )
    assert stratified.high - stratified.low < (spread.high - spread.low) / 3


# --- Metrics, families and several test sets


def corpus() -> tuple[Any, dict[str, Any]]:
    found = demo_corpus()
    return found.references[0], {name: found.systems[name] for name in ("baseline", "tuned", "larger")}


@pytest.mark.parametrize(
    ("margins", "metrics"),
    [
        ({"BLEU": 4, "TER": 2}, ["bleu", "ter"]),
        ({"chrF2": 4, "Ter": 2}, ["chrf", "ter"]),
        ({"bleu": 4, "BLEU case:lc": 2}, [metric("bleu"), metric("bleu", lowercase=True)]),
    ],
)
def test_margins_have_the_names_of_metrics_that_users_type(margins: dict[str, float], metrics: Any) -> None:
    result = compare(*corpus(), metrics, test=Equivalence(margins), n_resamples=99)
    assert [pair.test.margin for pair in result.comparisons] == [4, 4, 2, 2]
    assert "|margin:4,2|" in result.signature
    assert "alternative:" not in result.signature
    assert [pair.test.signature.partition("|margin:")[2][0] for pair in result.comparisons] == list("4422")


def test_formulas_and_functions_of_texts_have_margins_where_the_test_supports_them() -> None:
    reference, systems = corpus()
    function = CorpusFunction("words", lambda hypotheses, _: sum(len(h.split()) for h in hypotheses) / len(hypotheses))
    result = compare(reference, systems, function, test="equivalence:words=3", n_resamples=49)
    assert {pair.test.pvalue for pair in result.comparisons} == {1 / 50}
    rng = np.random.default_rng(8)
    counts = FromCounts("F", {name: rng.integers(1, 9, (50, 2)) for name in "ab"}, lambda t: t[..., 0] / t[..., 1])
    pair = only(compare(metrics=counts, test="equivalence-studentized:f=1", n_resamples=199))
    a, b = (counts.counts[name] for name in "ba")
    error = standard_error(a, counts.score, b=b)
    interval = pair.confidence_interval
    assert interval.high - interval.low == pytest.approx(2 * 1.645 * error, rel=0.25)


def test_averages_over_test_sets_have_the_same_margin() -> None:
    found = demo_corpus()
    sets = {
        name: TestSet(found.references[0][part], {s: found.systems[s][part] for s in ("baseline", "tuned")})
        for name, part in {"news": slice(0, 200), "talks": slice(200, 400)}.items()
    }
    result = compare_sets(sets, test="equivalence:bleu=5", n_resamples=499)
    for comparison in (*result.sets.values(), known(result.average)):
        pair = only(comparison)
        low, high = ends(pair)
        assert (pair.test.margin, comparison.confidence_level) == (5, 0.9)
        assert (low > -5 and high < 5) == (pair.test.pvalue <= 0.05)
    text = " ".join(render(result, "text").split())
    assert "equivalent within ±5 BLEU" in text
    assert "better" not in text
    with pytest.raises(InputError, match=r"'equivalence-studentized' does not support averages .*: use test='equ"):
        compare_sets(sets, test="equivalence-studentized:bleu=5", n_resamples=99)


def test_studies_in_rust_have_the_p_of_each_simulated_test_set() -> None:
    bleu = metric("bleu")
    reference, systems = corpus()
    counts = bleu.suff_stats([reference], [systems["tuned"], systems["baseline"]])
    experiment = Experiment([Population("tuned, baseline", [bleu], [counts])], Selection(size=50), 4)
    tests = [name for name in WITH_MARGIN if not name.endswith("-ar")]
    found = testing.Testing(["bootstrap", *tests], n_resamples=99, margins={"BLEU": 3}).run(experiment, 5).pvalue
    for i, (a, b) in enumerate(experiment.data_set(simulation)[0] for simulation in range(5)):
        both = FromCounts("BLEU", {"b": b, "a": a}, bleu)
        for t, test in enumerate(tests, 1):
            options: dict[str, Any] = {"test": f"{test}:bleu=3", "n_resamples": 99, "interval": None}
            alone = compare(metrics=both, seed=experiment.seed_of(i), **options)
            assert found[t, 0, i] == only(alone).test.pvalue


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, (0.9, 0.05)), ({"alpha": 0.01}, (0.98, 0.01)), ({"confidence_level": 0.95}, (0.95, 0.025)),
     ({"confidence_level": 0.8, "alpha": 0.1}, (0.8, 0.1))],
)  # fmt: skip
def test_the_confidence_level_is_one_less_twice_alpha(options: dict[str, Any], expected: tuple[float, float]) -> None:
    result = compared(ratings(*some_scores(1)), "equivalence", 1, **options)
    assert (result.confidence_level, result.alpha) == expected
    without = compared(ratings(*some_scores(1)), "equivalence", 1, interval=None)
    assert only(without).confidence_interval is None


# --- Size at the margin, and power where there is no difference: docs/evidence/equivalence.md


SIMULATIONS, ALPHA = 400, 0.05
# Four standard errors of a simulated rate of α.
ERROR = 4 * math.sqrt(ALPHA * (1 - ALPHA) / SIMULATIONS)
MARGIN = 0.4  # four standard errors of the difference of 100 segments


@cache
def rates(difference: float, skewed: bool = False) -> dict[str, float]:
    """The share of simulated test sets with p ≤ α, where the differences of segments have this mean and variance 1."""
    rejected = dict.fromkeys(WITH_MARGIN, 0)
    for i in range(SIMULATIONS):
        rng = np.random.default_rng([17, skewed, i])
        b = rng.normal(size=100)
        d = rng.exponential(size=100) - 1 if skewed else rng.normal(size=100)
        both = ratings(np.round(b + d + difference, 4), np.round(b, 4))
        for test in WITH_MARGIN:
            pair = only(compared(both, test, MARGIN, seed=derive_seed(5, "simulation", i), interval=None))
            rejected[test] += pair.test.pvalue <= ALPHA
    return {test: n / SIMULATIONS for test, n in rejected.items()}


@pytest.mark.slow
@pytest.mark.parametrize("test", WITH_MARGIN)
def test_the_size_at_the_margin_is_nominal_for_normal_scores_and_the_power_that_of_theory(test: str) -> None:
    assert rates(-MARGIN)[test] == pytest.approx(ALPHA, abs=ERROR)
    if test.startswith("equivalence"):
        assert rates(MARGIN)[test] == pytest.approx(ALPHA, abs=ERROR)
    # P(|Z| < 4 − 1.645) and P(Z < 4 − 1.645), with slightly less for an estimated variance.
    assert rates(0.0)[test] == pytest.approx(0.9815 if test.startswith("equivalence") else 0.9907, abs=0.025)


@pytest.mark.slow
def test_studentized_draws_hold_their_level_for_skewed_scores_and_centred_ones_do_not() -> None:
    at_margin = rates(MARGIN, skewed=True)
    assert at_margin["equivalence-studentized"] == pytest.approx(ALPHA, abs=ERROR)
    assert at_margin["equivalence"] > 0.065
    assert at_margin["equivalence-ar"] > 0.055


RATED = ratings(*some_scores(1))


def test_what_cannot_be_combined_is_refused_in_one_sentence() -> None:
    assert_raises("python_errors_of_margins", globals())


def test_bad_margins_give_one_sentence_and_exit_code_2(run: Any, demo: Any) -> None:
    assert_refused("errors_of_margins", run)


# --- Reports


@cache
def result(test: str = "equivalence", margin: float = 5, **options: Any) -> Comparison:
    reference, systems = corpus()
    return compare(reference, systems, "bleu", test=f"{test}:bleu={margin}", **{"n_resamples": 199, **options})


CONCLUSIONS: list[dict[str, Any]] = [
    {},
    {"margin": 1},
    {"margin": 40},
    {"all_pairs": True, "margin": 6},
    {"all_pairs": True, "margin": 0.5},
    {"test": "non-inferiority"},
    {"test": "non-inferiority", "baseline": "larger", "margin": 1},
    {"test": "non-inferiority", "all_pairs": True, "margin": 1},
]


def test_conclusions_name_the_margin() -> None:
    told = {}
    for options in CONCLUSIONS:
        name = ", ".join(f"{key} {value}" for key, value in options.items()) or "equivalence, margin 5"
        told[name] = "\n".join(conclusions(result(**options), Layout()))
    assert_told("margins", told)


@pytest.mark.parametrize("all_pairs", [False, True])
@pytest.mark.parametrize("test", SHOWS)
@pytest.mark.parametrize("fmt", [name for name in FORMATS if name not in ("json", "csv")])
def test_no_report_calls_a_system_better_or_ranks_it(fmt: str, test: str, all_pairs: bool) -> None:
    text = render(result(test, all_pairs=all_pairs), fmt, Layout(pairs=True))
    if fmt == "html":
        text = markup(re.sub(r"(?s)<(script|style).*?</\1>", "", text))
        assert "Alternative" not in text
    words = " ".join(text.split())
    assert not re.search(r"\bbetter\b|\bRank\b|\bGroup\b|significan(?!ce)|[Mm]inimum detectable", words)
    claim = "equivalent within" if test == "equivalence" else "not worse by"
    assert claim in words.replace("\\pm", "±")
    assert "| **" not in text
    assert "textbf" not in text


def test_stars_and_intervals_agree_unless_p_is_adjusted() -> None:
    assert "star-and-interval" not in [caveat.kind for caveat in result().caveats]
    adjusted = [result(margin=m / 10, n_resamples=999) for m in range(40, 60)]
    (found, *_) = [each for each in adjusted if "star-and-interval" in {c.kind for c in each.caveats}]
    text = " ".join(render(found).split())
    assert re.search(r"of \d+ pairs is not significant, although the 9\d% CI is within the margin", text)


def test_json_keeps_the_margin() -> None:
    comparison = compared(ratings(*some_scores(1)), "equivalence", 0.5)
    document = render(comparison, "json")
    assert read_json(document) == comparison
    for wrong in (-1, None):
        damaged = json.loads(document)
        damaged["comparisons"][0]["test"]["margin"] = wrong
        with pytest.raises(InputError, match="margin"):
            read_json(json.dumps(damaged))


def margins_in(ax: Any) -> list[float]:
    """Where the lines of margins are in a figure."""
    return sorted(float(line.get_xdata()[0]) for line in ax.lines if line.get_linestyle() == "--")


def test_the_forest_plot_shows_the_margin_and_there_is_no_null_distribution() -> None:
    assert margins_in(result().plot.forest()) == [-5, 5]
    assert margins_in(result("non-inferiority").plot.forest()) == [-5]
    turned = result(all_pairs=True).plot.forest(baseline="larger")  # pairs of equivalence can be reversed
    assert margins_in(turned) == [-5, 5]


@pytest.mark.parametrize("test", SHOWS)
def test_the_page_names_the_margin_and_calls_no_system_better(browser: Browser, test: str) -> None:
    comparison = result(test, all_pairs=test == "equivalence")
    browser.open(render(comparison, "html"))
    text = " ".join(browser.run("return document.body.innerText").split())
    limit, claim = ("±5 BLEU", "equivalent within") if test == "equivalence" else ("5 BLEU or more", "not worse by")
    assert f"{claim} {limit} (adjusted p ≤ 0.05)" in text
    assert "Dashed: the margin." in text
    assert "differ significantly" not in text
    assert len(browser.all(".figure .margin")) == (2 if test == "equivalence" else 1)
    assert not browser.all(".figure .dot.better, .figure .dot.worse, .figure .whisker.better, .figure .whisker.worse")
    browser.all("#differences .choice text")[0].click()
    detail = " ".join(browser.run("return document.querySelector('#null').innerText").split())
    assert limit in detail
    assert "Tests with a margin have no null distribution of no difference." in detail
    assert not re.search(r"significantly|Alternative", detail)
