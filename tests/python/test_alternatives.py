"""``better`` and ``worse``: one-sided tests in the direction of each metric."""

from typing import Any

import numpy as np
import pytest

import reshuffle
from known import known
from reshuffle import FromCounts, InputError, SegmentScores, compare, study
from reshuffle.data.demo import demo_corpus, demo_runs

SEGMENTS = 24
RNG = np.random.default_rng(5)
FIRST = {name: RNG.integers(0, 9, SEGMENTS) + bonus for name, bonus in {"a": 0, "b": 1, "c": 2}.items()}
SECOND = {name: RNG.integers(0, 9, SEGMENTS) + bonus for name, bonus in {"a": 1, "b": 2, "c": 0}.items()}


def scores(name: str, values: dict[str, Any], sign: int = 1) -> SegmentScores:
    return SegmentScores(name, {system: sign * each for system, each in values.items()}, higher_is_better=sign > 0)


def counts(name: str, values: dict[str, Any], sign: int = 1) -> FromCounts:
    """The sum of the scores, by a function in Python."""
    tables = {system: each[:, None] for system, each in values.items()}
    return FromCounts(name, tables, lambda totals: sign * totals[..., 0] / SEGMENTS, higher_is_better=sign > 0)


def upside_down(make: Any) -> tuple[list[Any], list[Any]]:
    """Two metrics, and the same with the second one negated, so that lower is better."""
    return [make("x", FIRST), make("y", SECOND)], [make("x", FIRST), make("y", SECOND, -1)]


def pvalues(result: reshuffle.Comparison) -> list[tuple[float, float | None]]:
    return [(pair.test.pvalue, pair.test.adjusted_pvalue) for pair in result.comparisons]


TESTS = [
    {"test": "ar:scheme=iid"},
    {"test": "ar:scheme=iid", "adjust": "minp", "family": "all"},
    {"test": "ar:scheme=subgroup", "adjust": "holm"},
    {"test": "ar:stopping=besag-clifford", "adjust": "holm"},
    {"test": "ar:scheme=exact", "adjust": "none", "systems": "ab"},
    {"test": "ar-studentized", "family": "all"},
    {"test": "ar-studentized", "adjust": "minp"},
    {"test": "bootstrap-both", "family": "all"},
    {"test": "bootstrap"},
    {"test": "bootstrap-percentile"},
    {"test": "paired-bootstrap"},
    {"test": "t-test"},
    {"test": "wilcoxon"},
    {"test": "sign-test"},
]


@pytest.mark.parametrize("alternative", ["better", "worse"])
@pytest.mark.parametrize("options", TESTS, ids=lambda options: "-".join(options.values()))
@pytest.mark.parametrize("make", [scores, counts])
def test_a_metric_upside_down_has_the_same_p(make: Any, options: dict[str, Any], alternative: str) -> None:
    if make is counts and options["test"] in ("t-test", "wilcoxon", "sign-test"):
        pytest.skip("for means of segment scores only")
    options = {"n_resamples": 127, "seed": 3, **options}
    given = {"baseline": "b", **{key: value for key, value in options.items() if key != "systems"}}
    upright, mixed = upside_down(make)
    expected = compare(metrics=upright, alternative={"better": "greater", "worse": "less"}[alternative], **given)
    found = compare(metrics=mixed, alternative=alternative, **given)
    assert pvalues(expected) == pvalues(found)
    assert {"greater", "less"} == {pair.test.alternative for pair in found.comparisons}
    assert alternative == known(found.test).alternative


def test_whole_runs_are_tested_in_the_direction_of_each_metric() -> None:
    options: dict[str, Any] = {"exchange": ["segment", "hierarchical"], "n_resamples": 99}
    corpus, runs = demo_corpus(), demo_runs(3)
    both = reshuffle.compare_runs(corpus.references, runs, ["bleu", "ter"], alternative="better", **options)
    one = {
        metric: reshuffle.compare_runs(corpus.references, runs, metric, alternative=side, **options)
        for metric, side in (("bleu", "greater"), ("ter", "less"))
    }
    assert [*one["bleu"].comparisons, *one["ter"].comparisons] == list(both.comparisons)
    shown = " ".join(str(both).split())
    assert "nder TER, larger is significantly better than baseline, and tuned is not shown to be better." in shown


@pytest.mark.parametrize("scheme", ["iid", "orbit", "subgroup"])
def test_studies_test_in_the_direction_of_each_metric(scheme: str) -> None:
    options: dict[str, Any] = {"simulations": 30, "n_resamples": 39, "alphas": 0.2, "sampling": "fixed"}
    options["tests"] = (f"ar:scheme={scheme}", "bootstrap")
    upright, mixed = upside_down(scores)
    expected = study.type1(metrics=upright, alternative="greater", **options)
    found = study.type1(metrics=mixed, alternative="better", **options)
    assert [rate.rate for rate in expected.tables["rates"]] == [rate.rate for rate in found.tables["rates"]]


def test_batches_have_the_direction_of_their_metric() -> None:
    ter = reshuffle.metric("ter")
    corpus = demo_corpus()
    a, b = (ter.suff_stats(corpus.references, list(corpus.systems.values()))[i] for i in (0, 2))
    options: dict[str, Any] = {"metric": ter, "n_resamples": 99}
    batch = reshuffle.approximate_randomization(np.stack([a, a]), np.stack([b, b]), alternative="worse", **options)
    one = reshuffle.approximate_randomization(a, b, alternative="greater", **options)
    assert [one.pvalue, one.pvalue] == batch.pvalue.tolist()
    assert (one.alternative, "alternative:worse" in batch.signature) == (batch.alternative, True)


@pytest.mark.parametrize(
    ("metric", "what"), [(None, "segment scores do"), (lambda totals: totals[..., 0], "a function of counts does")]
)
def test_what_has_no_direction_is_refused(metric: Any, what: str) -> None:
    a, b = (each[:, None] if metric else each.astype(float) for each in (FIRST["a"], FIRST["b"]))
    message = f"alternative 'better': {what} not say whether higher is better: use 'greater' or 'less'"
    for test in (reshuffle.approximate_randomization, reshuffle.bootstrap_test):
        with pytest.raises(InputError, match=message):
            test(a, b, metric, alternative="better")


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("tested", [compare, study.type1, study.power, study.sensitivity])
def test_one_direction_of_scores_is_refused_if_it_is_better_under_some_metrics_only(
    tested: Any, alternative: str
) -> None:
    _, mixed = upside_down(scores)
    with pytest.raises(InputError, match=f"'{alternative}' is .* under .* use 'better' or 'worse', which follow each"):
        tested(metrics=mixed, alternative=alternative)
