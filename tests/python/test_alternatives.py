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


def upside_down(make: Any = scores) -> tuple[list[Any], list[Any]]:
    """Two metrics, and the same with the second one negated, so that lower is better."""
    return [make("x", FIRST), make("y", SECOND)], [make("x", FIRST), make("y", SECOND, -1)]


def pvalues(result: reshuffle.Comparison) -> list[tuple[float, float | None]]:
    return [(pair.test.pvalue, pair.test.adjusted_pvalue) for pair in result.comparisons]


TESTS = [
    {"test": "ar:scheme=iid"},
    {"test": "ar:scheme=iid", "adjust": "minp", "family": "all"},
    {"test": "ar:scheme=subgroup", "adjust": "holm"},
    {"test": "ar:stopping=besag-clifford", "adjust": "holm"},
    {"test": "ar:scheme=exact", "adjust": "none"},
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


@pytest.mark.parametrize(("alternative", "side"), [("better", "greater"), ("worse", "less")])
@pytest.mark.parametrize("options", TESTS, ids=lambda options: "-".join(options.values()))
def test_a_metric_upside_down_has_the_same_p(options: dict[str, Any], alternative: str, side: str) -> None:
    of_means = options["test"] in ("t-test", "wilcoxon", "sign-test")
    for make in (scores,) if of_means else (scores, counts):
        given = {"baseline": "b", "n_resamples": 127, "seed": 3, **options}
        upright, mixed = upside_down(make)
        expected = compare(metrics=upright, alternative=side, **given)
        found = compare(metrics=mixed, alternative=alternative, **given)
        assert pvalues(expected) == pvalues(found)
        assert {"greater", "less"} == {pair.test.alternative for pair in found.comparisons}
        assert alternative == known(found.test).alternative


def test_whole_runs_are_tested_in_the_direction_of_each_metric() -> None:
    options: dict[str, Any] = {"exchange": ["segment", "hierarchical"], "n_resamples": 99}
    corpus, runs = demo_corpus(), demo_runs(3)
    both = reshuffle.compare_runs(corpus.references, runs, ["bleu", "ter"], alternative="better", **options)
    bleu, ter = (
        reshuffle.compare_runs(corpus.references, runs, metric, alternative=side, **options).comparisons
        for metric, side in (("bleu", "greater"), ("ter", "less"))
    )
    assert [*bleu, *ter] == list(both.comparisons)
    shown = " ".join(str(both).split())
    assert "nder TER, larger is significantly better than baseline, and tuned is not shown to be better." in shown


@pytest.mark.parametrize("scheme", ["iid", "orbit", "subgroup"])
def test_studies_test_in_the_direction_of_each_metric(scheme: str) -> None:
    options: dict[str, Any] = {"simulations": 30, "n_resamples": 39, "alphas": 0.2, "sampling": "fixed"}
    options["tests"] = (f"ar:scheme={scheme}", "bootstrap")
    upright, mixed = upside_down()
    expected = study.type1(metrics=upright, alternative="greater", **options)
    found = study.type1(metrics=mixed, alternative="better", **options)
    assert [rate.rate for rate in expected.tables["rates"]] == [rate.rate for rate in found.tables["rates"]]


def test_batches_have_the_direction_of_their_metric() -> None:
    ter = reshuffle.metric("ter")
    corpus = demo_corpus()
    a, _, b, *_ = ter.suff_stats(corpus.references, list(corpus.systems.values()))
    options: dict[str, Any] = {"metric": ter, "n_resamples": 99}
    batch = reshuffle.approximate_randomization(np.stack([a, a]), np.stack([b, b]), alternative="worse", **options)
    one = reshuffle.approximate_randomization(a, b, alternative="greater", **options)
    assert [one.pvalue, one.pvalue] == batch.pvalue.tolist()
    assert (one.alternative, "alternative:worse" in batch.signature) == (batch.alternative, True)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("tested", [compare, study.type1, study.power, study.sensitivity])
def test_one_direction_of_scores_is_refused_if_it_is_better_under_some_metrics_only(
    tested: Any, alternative: str
) -> None:
    _, mixed = upside_down()
    with pytest.raises(InputError, match=f"'{alternative}' is .* under .* use 'better' or 'worse', which follow each"):
        tested(metrics=mixed, alternative=alternative)
