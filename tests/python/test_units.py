"""Documents as units of resampling, and strata: draws and errors against slow twins, refusals, files and reports."""

import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

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
    SignificanceResult,
    _core,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    compare,
    design_effect,
    intraclass_correlation,
    metric,
    read_corpus,
    score,
    standard_error,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.data.reading import read_groups
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.intervals import INTERVALS
from reshuffle.metrics.base import Counts
from reshuffle.report import render
from reshuffle.resampling import CountSample, Replicates
from reshuffle.resampling.units import paired_influence
from reshuffle.settings import Resampling, Units
from reshuffle.types import BootstrapTest
from test_resampling import random_counts
from told import assert_raises, assert_refused
from unnamed import unnamed

BLEU = metric("bleu")
MEAN = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])
RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / totals[..., 1])

IDS = st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda ids: len(set(ids)) > 1)
OF_STRATA = st.lists(st.integers(0, 6), min_size=4, max_size=60).filter(lambda ids: len(set(ids)) < len(ids))


# --- Documents


def summed(rows: Counts, ids: Sequence[object]) -> Counts:
    """The summed rows of each document, added one by one."""
    documents: dict[object, Counts] = {}
    for row, id_ in zip(rows, ids, strict=True):
        documents[id_] = documents[id_] + row if id_ in documents else row
    return np.array(list(documents.values()))


TESTS_OF_COUNTS: list[tuple[Callable[..., SignificanceResult], dict[str, str]]] = [
    (approximate_randomization, {}),
    *((bootstrap_test, {"test": test}) for test in get_args(BootstrapTest)),
]


@given(st.integers(0, 1000), IDS, st.integers(0, 2**64 - 1))
def test_results_for_documents_equal_those_of_their_summed_counts(data_seed: int, ids: list[int], seed: int) -> None:
    a, b = random_counts(data_seed, 2, len(ids))
    x, y = summed(a, ids), summed(b, ids)
    options: dict[str, Any] = {"n_resamples": 30, "seed": seed}
    for test, more in TESTS_OF_COUNTS:
        expected = test(x, y, BLEU, keep_null_distribution=True, **options, **more)
        got = test(a, b, BLEU, documents=ids, keep_null_distribution=True, **options, **more)
        assert replace(expected, signature="") == replace(got, signature="")
        after = "|version:" if expected.seed is None else "|n:"  # signatures of exact tests have no n
        assert expected.signature.replace(after, f"|unit:document[{len(x)}]{after}") == got.signature
        np.testing.assert_array_equal(expected.null_distribution, got.null_distribution)
    by_hand = bootstrap_interval(x, BLEU, **options), bootstrap_interval(x, BLEU, b=y, **options)
    (pair,) = compare(metrics=FromCounts("m", {"b": y, "a": x}, BLEU), **options).comparisons
    options["documents"] = ids
    assert by_hand == (bootstrap_interval(a, BLEU, **options), bootstrap_interval(a, BLEU, b=b, **options))
    (of_documents,) = compare(metrics=FromCounts("m", {"b": b, "a": a}, BLEU), **options).comparisons
    assert of_documents.test.pvalue == pair.test.pvalue
    assert of_documents.confidence_interval == pair.confidence_interval


@given(IDS, st.randoms(use_true_random=False))
def test_results_do_not_depend_on_the_names_or_adjacency_of_documents(ids: list[int], random: Any) -> None:
    a, b = random_counts(3, 2, len(ids))
    expected = approximate_randomization(a, b, BLEU, documents=ids, n_resamples=99)
    # Any order of segments in which the documents begin in the same order.
    first = [ids.index(id_) for id_ in dict.fromkeys(ids)]
    others = [s for s in range(len(ids)) if s not in first]
    random.shuffle(others)
    order = first + others
    for names in (ids, [str(id_) for id_ in ids], [f"talk {id_ % 3}/{id_}" for id_ in ids], np.array(ids)):
        moved = [names[s] for s in order]
        assert expected == approximate_randomization(a[order], b[order], BLEU, documents=moved, n_resamples=99)
    mixed = [str(id_) if i % 2 else id_ for i, id_ in enumerate(ids)]
    assert expected == approximate_randomization(a, b, BLEU, documents=mixed, n_resamples=99)


def test_sums_of_large_documents_of_full_precision_scores_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    scores = {"a": rng.random(3000), "b": rng.random(3000)}
    ids = [0] * 300 + [1 + i // 5 for i in range(2700)]  # 541 documents of 5 segments, one of 300
    result = compare(metrics=SegmentScores("COMET", scores), documents=ids, test="ar", n_resamples=50)
    assert result.scores[0].score == pytest.approx(scores["a"].mean(), rel=1e-12)


# --- What segments of a document have in common


def textbook_icc(values: Sequence[float], ids: Sequence[object]) -> float:
    """The intraclass correlation by the analysis of variance, step by step."""
    groups: dict[object, list[float]] = {}
    for value, id_ in zip(values, ids, strict=True):
        groups.setdefault(id_, []).append(value)
    n, d = len(values), len(groups)
    grand = sum(values) / n
    ssb = sum(len(g) * (sum(g) / len(g) - grand) ** 2 for g in groups.values())
    ssw = sum((value - sum(g) / len(g)) ** 2 for g in groups.values() for value in g)
    msb, msw = ssb / (d - 1), ssw / (n - d)
    n0 = (n - sum(len(g) ** 2 for g in groups.values()) / n) / (d - 1)
    return (msb - msw) / (msb + (n0 - 1) * msw)


@given(IDS.filter(lambda ids: len(set(ids)) < len(ids)), st.integers(0, 1000), st.floats(-1e6, 1e6))
def test_the_intraclass_correlation_equals_the_textbook_formula(ids: list[int], seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(size=len(ids)) + shift
    expected = textbook_icc(values.tolist(), ids)
    got = intraclass_correlation(values, ids)
    assert expected == pytest.approx(got, abs=1e-6)
    assert intraclass_correlation(3 * values - 1, ids) == pytest.approx(got, abs=1e-6)
    # From the F statistic of SciPy's analysis of variance: MSB/MSW.
    sizes = np.unique(ids, return_counts=True)[1]
    n0 = (len(ids) - (sizes**2).sum() / len(ids)) / (len(sizes) - 1)
    f = scipy.stats.f_oneway(*(values[np.array(ids) == id_] for id_ in set(ids))).statistic
    assert got == pytest.approx((f - 1) / (f + n0 - 1), abs=1e-6)
    weighted = (sizes**2).sum() / sizes.sum()
    assert design_effect(values, ids) == pytest.approx(max(1 + (weighted - 1) * got, 0))


@pytest.mark.parametrize(
    ("values", "ids", "correlation", "effect"),
    [
        ([5, 6, 7], [1, 2, 3], math.nan, 1),
        ([0.1] * 4, [1, 1, 2, 2], math.nan, math.nan),
        ([0.1, 0.1, 0.3, 0.3], [1, 1, 2, 2], 1, 2),
        ([-1, 1, 1, -1], [1, 1, 2, 2], -1, 0),  # opposite values in every document: as negative as possible
        ([-1, 1] * 4, [1] * 2 + [2] * 6, -0.5, 0),  # 1 + 4 * -0.5 would be a negative variance
    ],
    ids=["of one segment each", "the same everywhere", "the same in each", "opposite", "a negative variance"],
)
def test_the_intraclass_correlation_of_extreme_data(
    values: list[float], ids: list[int], correlation: float, effect: float
) -> None:
    found = intraclass_correlation(values, ids), design_effect(values, ids)
    assert found == pytest.approx((correlation, effect), nan_ok=True)


def test_paired_differences_are_jackknife_influences() -> None:
    counts = random_counts(7, 2, 40)
    sample = CountSample.from_counts(BLEU, counts)
    without = np.array([BLEU.score(np.delete(counts, s, axis=1).sum(axis=1)) for s in range(40)])
    expected = 39 * (BLEU.score(counts.sum(axis=1)) - without)
    got = paired_influence(sample.scores, sample.leave_one_out, 0, 1)
    np.testing.assert_allclose(expected[:, 0] - expected[:, 1], got, rtol=0, atol=1e-9)
    ids = [i // 6 for i in range(40)]
    result = compare(metrics=FromCounts("m", {"b": counts[1], "a": counts[0]}, "bleu"), documents=ids, n_resamples=9)
    assert result.comparisons[0].intraclass_correlation == pytest.approx(textbook_icc(got.tolist(), ids))


def test_differences_due_to_rounding_are_0() -> None:
    scores = np.random.default_rng(9).random(50)
    shifted = {"a": np.round(scores, 3), "b": np.round(scores, 3) + 1}
    pair = compare(metrics=SegmentScores("m", shifted), documents=[i // 5 for i in range(50)], n_resamples=9)
    assert (pair.comparisons[0].intraclass_correlation, pair.comparisons[0].design_effect) == (None, None)


# --- Strata


def members(ids: Any) -> list[list[int]]:
    """The segments of each stratum, strata in the order of their first segments."""
    return [[s for s, id_ in enumerate(ids) if id_ == name] for name in dict.fromkeys(ids)]


def slow_draw(seed: int, replicate: int, ids: list[int]) -> list[int]:
    """The segments of a draw, stratum after stratum, with the core's weights for the sizes of the strata."""
    groups = members(ids)
    weights = iter(_core.draw_weights(seed, replicate, len(ids), strata=[len(g) for g in groups]).tolist())
    return [s for group in groups for s in group for _ in range(next(weights))]


@given(st.integers(0, 1000), OF_STRATA, st.integers(0, 2**64 - 1))
def test_draws_within_strata_equal_those_of_a_slow_twin(data_seed: int, ids: list[int], seed: int) -> None:
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


@given(st.integers(0, 1000), OF_STRATA, st.integers(0, 2**64 - 1))
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


@given(OF_STRATA)
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


def textbook_error(values: Any, ids: Any) -> float:
    """The standard error of the mean of a stratified sample: the root of Σ_h (S_h/S)² s_h²/S_h."""
    values = np.asarray(values, dtype=float)
    parts = [values[group] for group in members(ids) if len(group) > 1]
    return math.sqrt(sum(len(part) * part.var(ddof=1) for part in parts)) / len(values)


@given(OF_STRATA, st.integers(0, 1000))
def test_both_standard_errors_of_a_mean_are_the_textbook_ones(ids: list[int], seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(-50, 50, (2, len(ids)))
    for method in ("delta", "jackknife"):
        of_score = standard_error(as_counts(a), MEAN, strata=ids, method=method)
        assert textbook_error(a, ids) == pytest.approx(of_score, rel=1e-9, abs=1e-12)
        of_difference = standard_error(as_counts(a), MEAN, b=as_counts(b), strata=ids, method=method)
        assert textbook_error(a - b, ids) == pytest.approx(of_difference, rel=1e-9, abs=1e-12)


def test_standard_errors_of_a_ratio_equal_slow_twins() -> None:
    # Errors and lengths of two systems in strata that differ in both, in random order.
    rng = np.random.default_rng(11)
    ids, n = rng.permutation(np.repeat(np.arange(5), [40, 7, 2, 1, 25])), 75
    lengths = rng.integers(5, 40, n) + 20 * ids
    shares = np.array([0.3, 0.4])[:, None] + 0.1 * ids
    counts = np.stack([np.stack([rng.binomial(lengths, share), lengths], axis=-1) for share in shares])
    totals = counts.sum(axis=1)
    slopes = [100 * rows[:, 0] / y - 100 * x * rows[:, 1] / y**2 for rows, (x, y) in zip(counts, totals, strict=True)]
    left_out = [RATIO.score(total - rows) * (n - 1) / n for rows, total in zip(counts, totals, strict=True)]
    for other, sign in ((None, 0), (counts[1], 1)):
        for method, (own, of_other) in {"delta": slopes, "jackknife": left_out}.items():
            values = own - sign * of_other
            groups = [values[group] for group in members(ids) if len(group) > 1]
            variance = sum(len(group) / (len(group) - 1) * sum((group - group.mean()) ** 2) for group in groups)
            got = standard_error(counts[0], RATIO, b=other, strata=ids.tolist(), method=method)
            assert math.sqrt(variance) == pytest.approx(got, rel=1e-5)


@pytest.mark.parametrize("of_pair", [False, True])
def test_the_acceleration_of_bca_adds_the_moments_of_the_strata(of_pair: bool) -> None:
    rng = np.random.default_rng(3)
    ids = rng.permutation(np.repeat(np.arange(3), [40, 30, 20])).tolist()
    a, b = rng.geometric(0.2, 90) + 30 * np.array(ids), rng.geometric(0.3, 90)
    values = (a - b if of_pair else a).astype(float)
    sample = CountSample.from_arrays(MEAN, as_counts(a), as_counts(b), Units(strata=ids))
    replicates = Replicates([sample], Resampling(4999, 2))
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


TEXTS: dict[str, Any] = {"references": ["x", "y", "z"], "systems": [["x", "y", "y"], ["y", "x", "z"]]}
COUNTS = random_counts(1, 2, 5)[0]
RATING = SegmentScores("rating", {"a": [1, 2, 4, 5], "b": [2, 2, 3, 3]})


def test_what_documents_and_strata_are_not_for_is_refused() -> None:
    assert_raises("python_errors_of_units", globals())
    with pytest.raises(InputError, match="values: expected a number for each segment: could not convert"):
        intraclass_correlation(["a", "b", "c"], [1, 2, 2])


def test_results_have_the_unit_the_strata_and_the_intraclass_correlation() -> None:
    corpus = demo_corpus()
    talks = [i // 8 for i in range(400)]
    strata = [talk % 5 for talk in talks]
    units: dict[str, Any] = {"documents": talks, "n_resamples": 99}
    result = compare(corpus.references, corpus.systems, test="bootstrap", strata=strata, **units)
    assert "|strata:5|unit:document[50]|n:99|" in result.signature
    document = json.loads(render(result, "json"))
    assert [document[key] for key in ("n_segments", "unit", "n_units", "n_strata")] == [400, "document", 50, 5]
    for row, got, pair in zip(result.to_dicts(), document["comparisons"], result.comparisons, strict=True):
        assert (row["unit"], row["n_units"], row["n_strata"]) == ("document", 50, 5)
        for name in ("intraclass_correlation", "design_effect"):
            assert row[name] == got[name] == getattr(pair, name)
    # An interval without draws has no seed, and is still within strata.
    delta = compare(corpus.references, corpus.systems, interval="delta", strata=strata, **units)
    assert "|strata:5|" in delta.signature
    assert "strat" not in render(compare(corpus.references, corpus.systems, **units))
    scores = score(corpus.references, corpus.systems, confidence_level=0.9, **units)
    assert "|interval:percentile[0.9]|unit:document[50]|n:99|" in scores.signature


# --- Files and the command line


@pytest.fixture
def demo(demo: Path) -> Path:
    """The demo's files in the current directory, with ids of documents in every format, and of strata."""
    ids = [i * i % 23 for i in range(400)]
    Path("docs.txt").write_text("".join(f"{id_}\n" for id_ in ids))
    Path("docs.tsv").write_text("id\tdoc\n" + "".join(f"{i}\t{id_}\n" for i, id_ in enumerate(ids)))
    Path("docs.jsonl").write_text("".join(json.dumps({"doc": id_, "i": i}) + "\n" for i, id_ in enumerate(ids)))
    Path("bare.jsonl").write_text("".join(f'"{id_}"\n' for id_ in ids))
    segments = "".join(f'<DOC docid="{id_}" sysid="x"><seg id="{i}">x</seg></DOC>\n' for i, id_ in enumerate(ids))
    Path("docs.sgm").write_text(f"<tstset>\n{segments}</tstset>\n")
    Path("strata.txt").write_text("".join(f"{i * i % 7}\n" for i in range(400)))
    return demo


COMPARE = ("compare", "reference.txt", "baseline.txt", "tuned.txt", "-n", "200")


def test_every_file_format_of_ids_gives_the_comparison_of_the_api(demo: Path, run: Any) -> None:
    documents, strata = [str(i * i % 23) for i in range(400)], [str(i * i % 7) for i in range(400)]
    corpus = read_corpus(["reference.txt"], ["baseline.txt", "tuned.txt"])

    def same(words: Sequence[str], call: Callable[..., Any], **options: Any) -> None:
        result = call(corpus.references, corpus.systems, **options)
        assert unnamed(run(*words, "--format", "json").out) == render(result, "json")

    options: dict[str, Any] = {"n_resamples": 200, "include": "parts"}
    for path in ("docs.txt", "docs.tsv#doc", "docs.jsonl#doc", "bare.jsonl", "docs.sgm"):
        same([*COMPARE, "--docs", path], compare, documents=documents, **options)
        assert documents == read_groups("document", path).lines
        assert documents == read_corpus(["reference.txt"], ["tuned.txt"], documents=path).documents
    assert strata == read_corpus(["reference.txt"], ["tuned.txt"], strata="strata.txt").strata
    same([*COMPARE, "--strata", "strata.txt"], compare, strata=strata, **options)
    scores = ["score", *COMPARE[1:]]
    of_draws: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 200, "documents": documents}
    same([*scores, "--confidence", "0.9", "--docs", "docs.txt"], score, **of_draws)
    same([*scores, "--interval", "delta", "--strata", "strata.txt"], score, interval="delta", strata=strata)


def test_ids_can_be_in_the_table_of_the_texts_or_in_standard_input(
    demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("reference", "baseline", "tuned", "docs")
    columns = [Path(f"{name}.txt").read_text("utf-8").splitlines() for name in names]
    table = "".join("\t".join(row) + "\n" for row in [names, *zip(*columns, strict=True)])
    Path("all.tsv").write_text(table, "utf-8")
    expected = run(*COMPARE, "--docs", "docs.txt").out
    named = [f"all.tsv#{name}" for name in names[:3]]
    piped = [*(f"-#{name}" for name in names[:3]), "--docs", "-#docs", "--input-format", "tsv"]
    for args, standard_input in (
        ([*named, "--docs", "all.tsv#docs"], b""),
        (piped, table.encode()),
        ([*COMPARE[1:4], "--docs", "-"], Path("docs.txt").read_bytes()),
        # --input-format applies to the texts only.
        ([*named, "--input-format", "tsv", "--docs", "docs.txt"], b""),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(standard_input)))
        assert expected == run("compare", "-n", "200", *args).out


def test_documents_of_an_mteval_file_can_have_any_order(demo: Path, run: Any) -> None:
    ids = Path("docs.txt").read_text().split()
    keys = [f'docid="{id_}"><seg id="{i}">' for i, id_ in enumerate(ids)]

    def write(kind: str, name: str, lines: Sequence[str], order: slice = slice(None)) -> None:
        segments = [f'<doc sysid="{name}" {key}{line}</seg></doc>\n' for key, line in zip(keys, lines, strict=True)]
        Path(f"{name}.sgm").write_text(f"<{kind}set>{''.join(segments[order])}</{kind}set>", "utf-8")

    for kind, name in (("ref", "reference"), ("tst", "baseline"), ("tst", "tuned")):
        write(kind, name, Path(f"{name}.txt").read_text("utf-8").splitlines())
    write("ref", "backwards", ["x"] * 400, slice(None, None, -1))
    write("ref", "fewer", ["x"] * 400, slice(0, -1))
    expected = run(*COMPARE, "--docs", "docs.txt").out
    files = ("reference.sgm", "baseline.sgm", "tuned.sgm", "-n", "200")
    for path in ("reference.sgm", "backwards.sgm", "docs.txt"):
        assert expected == run("compare", *files, "--docs", path).out
    lacks = f"fewer.sgm lacks segment '399' of the document '{ids[-1]}', which is in reference.sgm, line 400"
    assert lacks in run("compare", *files, "--docs", "fewer.sgm").refusal()


def test_invalid_files_of_ids_are_refused_with_file_and_line(demo: Path, run: Any) -> None:
    ids = Path("docs.txt").read_text().splitlines()
    for name, content in {
        "short.txt": "1\n2\n3\n",
        "one.txt": "x\n" * 400,
        "gap.txt": "\n".join([*ids[:6], "", *ids[7:], ""]),
        "null.jsonl": '{"doc": 1}\n{"doc": null}\n',
        "real.jsonl": '{"doc": 1}\n{"doc": 1.5}\n',
        "empty.txt": "",
        "p.conllu": "# nothing\n\n",
    }.items():
        Path(name).write_text(content)
    assert_refused("errors_of_units", run)


def test_scores_of_segments_are_summed_over_documents(demo: Path, run: Any) -> None:
    outcome = run("score", "reference.txt", "tuned.txt", "--docs", "docs.txt", "--segments")
    assert (outcome.code, outcome.out.startswith("document\tsystem\tBLEU\n")) == (0, True)
