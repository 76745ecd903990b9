"""Strata: draws, standard errors and intervals within them against slow twins; refusals; files and reports."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from counts import as_counts
from reshuffle import (
    CorpusFunction,
    Formula,
    FromCounts,
    InputError,
    SegmentScores,
    _core,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    compare,
    metric,
    read_corpus,
    score,
    standard_error,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.intervals import INTERVALS
from reshuffle.metrics.base import Counts
from reshuffle.report import render
from reshuffle.resampling import CountSample, Replicates
from reshuffle.settings import Units
from test_resampling import random_counts
from unnamed import unnamed

BLEU = metric("bleu")
MEAN = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])
RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / totals[..., 1])

IDS = st.lists(st.integers(0, 6), min_size=4, max_size=60).filter(lambda ids: len(set(ids)) < len(ids))
FROM_DRAWS = ["percentile", "koehn", "basic", "normal", "bca"]


def members(ids: Any) -> list[list[int]]:
    """The segments of each stratum, strata in the order of their first segments."""
    return [[s for s, id_ in enumerate(ids) if id_ == name] for name in dict.fromkeys(ids)]


def slow_draw(seed: int, replicate: int, ids: list[int]) -> list[int]:
    """The segments of a draw, stratum after stratum, with the core's weights for the sizes of the strata."""
    groups = members(ids)
    weights = iter(_core.draw_weights(seed, replicate, len(ids), strata=[len(g) for g in groups]).tolist())
    return [s for group in groups for s in group for _ in range(next(weights))]


# --- Draws


@given(st.integers(0, 1000), IDS, st.integers(0, 2**64 - 1))
def test_draws_equal_those_of_a_slow_twin(data_seed: int, ids: list[int], seed: int) -> None:
    a, b = random_counts(data_seed, 2, len(ids))
    drawn = [slow_draw(seed, r, ids) for r in range(5)]
    for draw in drawn:
        assert sorted(ids) == sorted(ids[s] for s in draw), "every stratum keeps its size"
    expected = np.array([float(BLEU.score(a[d].sum(axis=0)) - BLEU.score(b[d].sum(axis=0))) for d in drawn])
    for m in (BLEU, Formula("again", BLEU.score)):
        options: dict[str, Any] = {"n_resamples": 5, "seed": seed, "strata": ids}
        result = bootstrap_test(a, b, m, **options, keep_null_distribution=True)
        np.testing.assert_array_equal(expected - result.statistic, result.null_distribution)
        interval = bootstrap_interval(a, m, b=b, **options)
        assert (expected.min(), expected.max()) == (interval.low, interval.high)


@given(st.integers(0, 1000), IDS, st.integers(0, 2**64 - 1))
def test_draws_of_documents_equal_draws_of_their_summed_counts(data_seed: int, ids: list[int], seed: int) -> None:
    # Documents of one to three segments that are not adjacent.
    times = np.random.default_rng(data_seed).integers(1, 4, len(ids))
    documents = [d for turn in range(3) for d in range(len(ids)) if turn < times[d]]
    a, b = random_counts(data_seed, 2, len(documents))
    x, y = (np.array([rows[np.array(documents) == d].sum(axis=0) for d in range(len(ids))]) for rows in (a, b))
    options: dict[str, Any] = {"n_resamples": 9, "seed": seed, "keep_null_distribution": True}
    expected = bootstrap_test(x, y, BLEU, strata=ids, **options)
    got = bootstrap_test(a, b, BLEU, documents=documents, strata=[ids[d] for d in documents], **options)
    assert replace(expected, signature="") == replace(got, signature="")
    np.testing.assert_array_equal(expected.null_distribution, got.null_distribution)
    n = len(set(ids))
    assert f"|unit:document[{len(ids)}]|n:9|" in got.signature
    assert f"|strata:{n}|" in got.signature
    for method in ("delta", "jackknife", "bootstrap"):
        more: dict[str, Any] = {"method": method, "n_resamples": 9}
        of_sums = standard_error(x, BLEU, b=y, strata=ids, **more)
        of_segments = standard_error(a, BLEU, b=b, documents=documents, strata=[ids[d] for d in documents], **more)
        assert of_sums == of_segments


@given(IDS)
def test_results_do_not_depend_on_the_names_or_adjacency_of_strata(ids: list[int]) -> None:
    a, b = random_counts(3, 2, len(ids))
    options: dict[str, Any] = {"n_resamples": 19}
    expected = bootstrap_test(a, b, BLEU, strata=ids, **options)
    for names in ([str(id_) for id_ in ids], [f"part {id_ % 3}/{id_}" for id_ in ids], np.array(ids)):
        assert expected == bootstrap_test(a, b, BLEU, strata=names, **options)
    # Draws do not change if the strata are made adjacent, in the order in which they are drawn.
    order = [s for group in members(ids) for s in group]
    moved = [ids[s] for s in order]
    assert expected == bootstrap_test(a[order], b[order], BLEU, strata=moved, **options)


def test_strata_do_not_change_shuffles() -> None:
    corpus = demo_corpus()
    strata = [i % 7 for i in range(400)]
    without, within = (
        compare(corpus.references, corpus.systems, test="ar", strata=s, n_resamples=200) for s in (None, strata)
    )
    assert [pair.test for pair in without.comparisons] == [pair.test for pair in within.comparisons]
    assert [pair.confidence_interval for pair in without.comparisons] != [
        pair.confidence_interval for pair in within.comparisons
    ]


def test_functions_of_texts_get_the_same_draws_as_counts() -> None:
    corpus = demo_corpus()
    references = [list(corpus.references[0][:30])]
    systems = {name: list(lines[:30]) for name, lines in corpus.systems.items() if name in ("tuned", "larger")}
    strata = [i * i % 5 for i in range(30)]
    documents = [i // 2 for i in range(30)]

    def ratio(hypotheses: list[str], columns: list[list[str | None]]) -> float:
        return sum(map(len, hypotheses)) / sum(len(line or "") for line in columns[0])

    lengths = {
        name: np.array([[len(line), len(r or "")] for line, r in zip(lines, references[0], strict=True)])
        for name, lines in systems.items()
    }
    counts = FromCounts("length", lengths, lambda totals: totals[..., 0] / totals[..., 1])
    of_documents = [strata[d] for d in documents]
    cases: list[dict[str, Any]] = [{"strata": strata}, {"documents": documents, "strata": of_documents}]
    for units in cases:
        for test, interval in (*(("bootstrap", name) for name in (*FROM_DRAWS, "jackknife")), ("ar", "percentile")):
            ours, native = (
                compare(references, systems, m, test=test, interval=interval, n_resamples=40, **units)
                for m in (CorpusFunction("function", ratio), counts)
            )
            for one, other in zip(ours.comparisons, native.comparisons, strict=True):
                assert one.test.exceedances == other.test.exceedances
                assert one.confidence_interval == other.confidence_interval


def test_drawn_texts_keep_their_order() -> None:
    seen = []

    def look(hypotheses: list[str], references: list[list[str | None]]) -> float:
        seen.append(hypotheses)
        return 0.0

    lines = list("abcdefgh")
    score(lines, [lines], CorpusFunction("look", look), strata=[1, 2] * 4, interval="percentile", n_resamples=9)
    assert len(seen) == 10
    assert all(hypotheses == sorted(hypotheses) for hypotheses in seen)
    assert {sum(h in "aceg" for h in hypotheses) for hypotheses in seen} == {4}


# --- Standard errors


def textbook_error(values: Any, ids: Any) -> float:
    """The standard error of the mean of a stratified sample: the root of Σ_h (S_h/S)² s_h²/S_h."""
    values = np.asarray(values, dtype=float)
    parts = [values[group] for group in members(ids) if len(group) > 1]
    return math.sqrt(sum(len(part) * part.var(ddof=1) for part in parts)) / len(values)


@given(IDS, st.integers(0, 1000))
def test_both_standard_errors_of_a_mean_are_the_textbook_ones(ids: list[int], seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(-50, 50, (2, len(ids)))
    for method in ("delta", "jackknife"):
        of_score = standard_error(as_counts(a), MEAN, strata=ids, method=method)
        assert textbook_error(a, ids) == pytest.approx(of_score, rel=1e-9, abs=1e-12)
        of_difference = standard_error(as_counts(a), MEAN, b=as_counts(b), strata=ids, method=method)
        assert textbook_error(a - b, ids) == pytest.approx(of_difference, rel=1e-9, abs=1e-12)


def ratio_counts(sizes: list[int]) -> tuple[Counts, list[int]]:
    """Errors and lengths of two systems in strata that differ in both, in random order."""
    rng = np.random.default_rng(11)
    ids = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    kinds = ids % 6
    lengths = rng.integers(5, 40, len(ids)) + 20 * kinds
    shares = np.array([0.3, 0.4])[:, None] + 0.1 * kinds
    return np.stack([np.stack([rng.binomial(lengths, share), lengths], axis=-1) for share in shares]), ids.tolist()


def test_standard_errors_of_a_ratio_equal_slow_twins() -> None:
    counts, ids = ratio_counts([40, 7, 2, 1, 25])
    n = len(ids)
    slopes, left_out = [], []
    for rows in counts:
        x, y = rows.sum(axis=0)
        slopes.append(100 * rows[:, 0] / y - 100 * x * rows[:, 1] / y**2)
        left_out.append([100 * (x - row[0]) / (y - row[1]) for row in rows])
    for other, sign in ((None, 0), (counts[1], 1)):
        linear = slopes[0] - sign * slopes[1]
        without = np.array(left_out[0]) - sign * np.array(left_out[1])
        variances = [0.0, 0.0]
        for group in members(ids):
            for i, values in enumerate((linear, (n - 1) / n * without)):
                if len(group) > 1:
                    deviations = [values[s] - values[group].mean() for s in group]
                    variances[i] += len(group) / (len(group) - 1) * sum(d**2 for d in deviations)
        for method, variance in zip(("delta", "jackknife"), variances, strict=True):
            got = standard_error(counts[0], RATIO, b=other, strata=ids, method=method)
            assert math.sqrt(variance) == pytest.approx(got, rel=1e-5)


# --- Intervals


@pytest.mark.parametrize("of_pair", [False, True])
def test_the_acceleration_of_bca_adds_the_moments_of_the_strata(of_pair: bool) -> None:
    rng = np.random.default_rng(3)
    ids = rng.permutation(np.repeat(np.arange(3), [40, 30, 20])).tolist()
    a, b = rng.geometric(0.2, 90) + 30 * np.array(ids), rng.geometric(0.3, 90)
    values = (a - b if of_pair else a).astype(float)
    replicates = Replicates(
        [CountSample.from_arrays(MEAN, as_counts(a), as_counts(b), Units(strata=ids))], n_resamples=4999, seed=2
    )
    estimate = Estimate(replicates, 0, 0, 1 if of_pair else None)
    # The second and third central moments of a draw's sum are the sums of those of the strata.
    parts = [values[group] for group in members(ids)]
    second = sum(len(part) * scipy.stats.moment(part, 2) for part in parts)
    third = sum(len(part) * scipy.stats.moment(part, 3) for part in parts)
    acceleration = third / second**1.5 / 6
    draws = estimate.draws
    bias = scipy.stats.norm.ppf(((draws < estimate.value).mean() + (draws <= estimate.value).mean()) / 2)
    ends = []
    for share in (0.05, 0.95):
        z = bias + scipy.stats.norm.ppf(share)
        moved = scipy.stats.norm.cdf(bias + z / (1 - acceleration * z))
        ends.append(np.sort(draws)[int(4999 * moved) if share < 0.5 else 4998 - int(4999 * (1 - moved))])
    interval = INTERVALS["bca"].confidence_interval(estimate, 0.9)
    assert (interval.low, interval.high) == tuple(ends)
    pooled = scipy.stats.skew(values) / 90**0.5 / 6
    assert abs(pooled - acceleration) > 0.005, "else the strata would not matter here"


# --- What strata are not for


def texts() -> dict[str, Any]:
    return {"references": ["x", "y", "z"], "systems": [["x", "y", "y"], ["y", "x", "z"]]}


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "strata: expected an id for each of 3 segments, got 2"),
        (
            [1, 2, 3],
            "strata: each of 3 strata has only one segment, so there is nothing to draw: at least one stratum needs 2 "
            "segments",
        ),
    ],
)
def test_invalid_ids_are_refused_with_a_message(ids: Any, message: str) -> None:
    a, b = random_counts(1, 2, 3)
    calls: list[Callable[[], object]] = [
        lambda: compare(**texts(), strata=ids),
        lambda: score(**texts(), strata=ids, confidence_level=0.9),
        lambda: bootstrap_test(a, b, BLEU, strata=ids),
        lambda: bootstrap_interval(a, BLEU, strata=ids),
        lambda: standard_error(a, BLEU, strata=ids),
    ]
    for call in calls:
        with pytest.raises(InputError) as refused:
            call()
        assert str(refused.value) == message


def test_a_document_must_lie_in_one_stratum() -> None:
    a = random_counts(1, 2, 5)[0]
    with pytest.raises(InputError) as refused:
        standard_error(a, BLEU, documents=["u", "v", "v", "u", "w"], strata=["n", "t", "t", "t", "n"])
    assert str(refused.value) == (
        "strata: segments 1 and 4 belong to one document, but to the strata 'n' and 't': a document must lie in one "
        "stratum"
    )
    with pytest.raises(InputError, match=r"each of 2 strata has only one document, .* needs 2 documents"):
        standard_error(a, BLEU, documents=["u", "u", "v", "v", "v"], strata=["n", "n", "t", "t", "t"])


@pytest.mark.parametrize("test", ["t-test", "wilcoxon", "sign-test"])
def test_tests_and_intervals_that_cannot_use_strata_refuse_them(test: str) -> None:
    rating = SegmentScores("rating", {"a": [1, 2, 4, 5], "b": [2, 2, 3, 3]})
    strata = [1, 1, 2, 2]
    refused = (
        "rating: t intervals and t, Wilcoxon and sign tests treat segments as independent; with strata use "
        "'bootstrap-both' or 'ar', and an interval from draws"
    )
    with pytest.raises(InputError) as error:
        compare(metrics=rating, test=test, strata=strata)
    assert str(error.value) == refused
    with pytest.raises(InputError) as error:
        score(metrics=rating, interval="t", strata=strata)
    assert str(error.value) == refused
    with pytest.raises(InputError, match="the studentized interval does not support strata: use bca or percentile"):
        score(metrics=rating, interval="studentized", strata=strata)


def test_too_many_strata_are_refused() -> None:
    ids = np.minimum(np.arange(65_540), 65_536)
    with pytest.raises(InputError, match="the number of strata must be at most 65536, got 65537"):
        bootstrap_interval(as_counts(ids % 7), MEAN, strata=ids, n_resamples=1)


def test_strata_without_intervals_are_refused() -> None:
    with pytest.raises(InputError, match="strata without intervals: only intervals depend on them; leave strata out"):
        score(["x", "y"], [["x", "z"]], strata=[1, 1])


# --- Reports


def test_results_have_the_number_of_strata() -> None:
    corpus = demo_corpus()
    options: dict[str, Any] = {"strata": [i % 5 for i in range(400)], "n_resamples": 99}
    result = compare(corpus.references, corpus.systems, test="bootstrap", **options)
    assert "|strata:5|n:99|" in result.signature
    assert json.loads(render(result, "json"))["n_strata"] == 5
    assert {row["n_strata"] for row in csv.DictReader(io.StringIO(render(result, "csv")))} == {"5"}
    # Shuffles do not depend on strata, and an interval without draws has no seed.
    talks = [i % 50 for i in range(400)]
    by_talk = compare(corpus.references, corpus.systems, test="ar", interval="delta", documents=talks, **options)
    without = compare(corpus.references, corpus.systems, test="ar", documents=talks, n_resamples=99)
    assert [pair.test for pair in by_talk.comparisons] == [pair.test for pair in without.comparisons]
    assert "|strata:5|" in by_talk.signature
    assert "strat" not in render(without)


# --- Files and the command line


@pytest.fixture
def demo(demo: Path) -> Path:
    """The demo's files in the current directory, with ids of strata and documents. test_units.py has other formats."""
    ids = [i * i % 7 for i in range(400)]
    Path("strata.txt").write_text("".join(f"{id_}\n" for id_ in ids))
    rows = (f"{i % 50}\t{id_}\t{id_}.{i % 50}\n" for i, id_ in enumerate(ids))
    Path("ids.tsv").write_text("n\tstratum\tdoc\n" + "".join(rows))
    return demo


COMPARE = ("compare", "reference.txt", "baseline.txt", "tuned.txt", "-n", "200")
STRATA_OF_DOCUMENTS = ("--strata", "ids.tsv#stratum", "--docs", "ids.tsv#doc")


def test_ids_in_files_give_the_results_of_the_api(demo: Path, run: Any) -> None:
    ids = [str(i * i % 7) for i in range(400)]
    documents = [f"{id_}.{i % 50}" for i, id_ in enumerate(ids)]
    corpus = read_corpus(["reference.txt"], ["baseline.txt", "tuned.txt"], strata="strata.txt")
    assert ids == corpus.strata
    both: dict[str, Any] = {"strata": ids, "n_resamples": 200, "include": "parts"}
    of_api: list[dict[str, Any]] = [both, {**both, "documents": documents}]
    for options, own in zip((("--strata", "strata.txt"), STRATA_OF_DOCUMENTS), of_api, strict=True):
        expected = render(compare(corpus.references, corpus.systems, **own), "json")
        assert expected == unnamed(run(*COMPARE, *options, "--format", "json").out)
    interval = score(corpus.references, corpus.systems, interval="delta", strata=ids)
    command = ("score", *COMPARE[1:4], "--interval", "delta", "--format", "json")
    assert render(interval, "json") == unnamed(run(*command, "--strata", "strata.txt").out)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--strata", "short.txt"], "short.txt has stratum ids for 3 segments, but reference.txt has 400"),
        (["--strata", "strata.txt", "--docs", "ids.tsv#n"], "segments 1 and 51 belong to one document, but to"),
        (["--strata", "alone.txt"], "strata: each of 400 strata has only one segment"),
        (["--strata", "-", "--docs", "-"], "standard input (-) can supply only one text"),
        (["--strata", "strata.txt", "-o", "./strata.txt"], "./strata.txt is also an input"),
        (["--strata", "strata.txt", "--interval", "studentized"], "the studentized interval does not support strata"),
    ],
)
def test_invalid_files_of_ids_are_refused_with_file_and_line(
    demo: Path, run: Any, args: list[str], message: str
) -> None:
    for name, content in {"short.txt": "1\n2\n3\n", "alone.txt": "".join(f"{i}\n" for i in range(400))}.items():
        Path(name).write_text(content)
    assert message in run(*COMPARE, *args).refusal()


def test_strata_without_intervals_are_refused_before_files_are_read(run: Any) -> None:
    refusal = run("score", "no.txt", "none.txt", "--strata", "nowhere.txt").refusal()
    assert "--strata without --confidence or --interval: only intervals depend on strata; leave it out\n" in refusal


def test_strata_are_for_studentized_randomization_only() -> None:
    with pytest.raises(
        InputError, match=r"strata: shuffles do not depend on them, .* leave them out, or pass test='ar-studentized'"
    ):
        approximate_randomization([0.1, 0.2], [0.3, 0.4], strata=[1, 1])
