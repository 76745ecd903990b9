"""Missing segment scores: each pair is compared on the segments that both systems have scores for.

The slow twin drops the other segments and compares the two systems alone.
"""

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from reshuffle import InputError, SegmentScores, Simultaneous, compare, score, segment_scores
from reshuffle.data.scores import read_numbers
from reshuffle.inference.hypotheses import Hypotheses
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.resampling import Replicates, Series
from reshuffle.resampling.counting import Data
from reshuffle.resampling.incomplete import IncompleteSample
from reshuffle.resampling.studentized import studentize
from reshuffle.settings import ComparisonSettings, Resampling
from step_down import step_down
from told import assert_raises, assert_refused, assert_told, beyond_the_first

Table = dict[str, list[float]]

nan = math.nan
NAMES = ("a", "b", "c", "d")


def ratings(table: Table, missing: str = "pairwise", name: str = "rating") -> SegmentScores:
    return SegmentScores(name, table, missing=missing)


def common(table: Table, *names: str) -> list[int]:
    """The segments for which all these systems have scores."""
    return [s for s in range(len(table[names[0]])) if not any(math.isnan(table[name][s]) for name in names)]


def dropped(table: Table, *names: str) -> Table:
    """These systems on the segments that all of them have scores for."""
    return {name: [table[name][s] for s in common(table, *names)] for name in names}


@st.composite
def tables(draw: Any, min_common: int = 2) -> Table:
    """Scores of three systems, of which some are missing; every pair has some segments in common."""
    n = draw(st.integers(min_common + 1, 9))
    value = st.one_of(st.integers(-4, 4).map(float), st.just(nan))
    table = {name: draw(st.lists(value, min_size=n, max_size=n)) for name in NAMES[:3]}
    for s in range(min_common):  # segments without missing scores
        for name in table:
            if math.isnan(table[name][s]):
                table[name][s] = draw(st.integers(-4, 4).map(float))
    return table


def random_table(n: int = 90, share: float = 0.3, systems: int = 3, seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(systems, n)) + 0.2 * np.arange(systems)[:, None]).round(1)
    values[rng.random(values.shape) < share] = nan
    return dict(zip(NAMES, values.tolist(), strict=False))


QUICK = settings(max_examples=budget(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(tables(), st.sampled_from(["two-sided", "greater", "less"]), st.sampled_from(["ar", "ar-studentized"]))
def test_exact_tests_are_those_of_the_two_systems_alone(table: Table, alternative: str, test: str) -> None:
    options: Any = {"test": f"{test}:scheme=exact", "alternative": alternative, "interval": None}
    together = compare(metrics=ratings(table), all_pairs=True, **options)
    for pair in together.comparisons:
        names = pair.baseline, pair.system
        (alone,) = compare(metrics=ratings(dropped(table, *names), "error"), **options).comparisons
        assert (alone.difference, alone.test.pvalue) == (pair.difference, pair.test.pvalue)
        if test == "ar-studentized":
            assert alone.test.standard_error == pytest.approx(pair.test.standard_error, rel=1e-12, abs=1e-15)
        assert len(common(table, *names)) == pair.n_segments == pair.n_units
    for each in together.scores:
        assert len(common(table, each.system)) == each.n_segments
        assert np.mean(dropped(table, each.system)[each.system]) == pytest.approx(each.score)


@QUICK
@given(tables(3), st.sampled_from(["t-test", "wilcoxon", "sign-test"]), st.sampled_from(["t", "delta", "jackknife"]))
def test_closed_forms_are_those_of_the_two_systems_alone(table: Table, test: str, interval: str) -> None:
    options: Any = {"test": test, "interval": interval}
    for pair in compare(metrics=ratings(table), all_pairs=True, **options).comparisons:
        alone = compare(metrics=ratings(dropped(table, pair.baseline, pair.system), "error"), **options)
        (expected,) = alone.comparisons
        assert expected.test.pvalue == pair.test.pvalue
        check_ends(expected, pair)
    for each in compare(metrics=ratings(table), **options).scores:
        check_ends(score(metrics=ratings(dropped(table, each.system), "error"), interval=interval).scores[0], each)


def check_ends(expected: Any, actual: Any) -> None:
    ends = [[each.confidence_interval.low, each.confidence_interval.high] for each in (expected, actual)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("interval", ["delta", "jackknife"])
@pytest.mark.parametrize("units", [("documents",), ("strata",), ("documents", "strata")], ids="+".join)
def test_closed_forms_drop_documents_and_strata_without_scores(interval: str, units: tuple[str, ...]) -> None:
    table = random_table()
    table["a"][:6] = [nan] * 6  # no scores in the first two documents
    of_units = {"documents": [f"d{s // 3}" for s in range(90)], "strata": ["x" if s < 30 else "y" for s in range(90)]}
    ids: dict[str, Any] = {name: of_units[name] for name in units}
    options: Any = {"interval": interval, "test": "ar", "n_resamples": 9}
    for pair in compare(metrics=ratings(table), all_pairs=True, **options, **ids).comparisons:
        segments = common(table, pair.baseline, pair.system)
        of_pair: Any = {name: [values[s] for s in segments] for name, values in ids.items()}
        alone = compare(metrics=ratings(dropped(table, pair.baseline, pair.system), "error"), **options, **of_pair)
        (expected,) = alone.comparisons
        check_ends(expected, pair)
        assert (len(segments), alone.n_units) == (pair.n_segments, pair.n_units)
        for name in ("intraclass_correlation", "design_effect"):
            assert getattr(expected, name) == pytest.approx(getattr(pair, name))


@pytest.mark.parametrize("test", ["ar", "ar-studentized"])
def test_shuffles_are_those_of_the_differences_with_zeros(test: str) -> None:
    """A segment that one of the systems lacks adds nothing to the difference, and its flip is not used."""
    table = random_table()
    together = compare(
        metrics=ratings(table), test=f"{test}:scheme=iid", n_resamples=499, all_pairs=True, interval=None
    )
    for pair in together.comparisons:
        a, b = (np.array(table[name]) for name in (pair.system, pair.baseline))
        differences = np.where(np.isnan(a - b), 0, a - b).round(1)
        zeros = {"b": np.zeros(90).tolist(), "a": differences.tolist()}
        # The same shuffles of the same differences; for means z increases with the difference.
        expected = compare(metrics=ratings(zeros, "error"), test="ar:scheme=iid", n_resamples=499, interval=None)
        assert expected.comparisons[0].test.exceedances == pair.test.exceedances


def test_draws_divide_by_the_number_of_common_segments_drawn() -> None:
    """Documents of unequal size are the same ratio: a document with the pair's scores for each segment."""
    table = random_table(40)
    options: Any = {"test": "bootstrap-both", "n_resamples": 299}
    for pair in compare(metrics=ratings(table), all_pairs=True, **options).comparisons:
        a, b = (np.array(table[name]) for name in (pair.system, pair.baseline))
        present = ~np.isnan(a - b)
        tenths = {"b": np.rint(10 * np.where(present, b, 0)), "a": np.rint(10 * np.where(present, a, 0))}
        rows = {name: np.stack([each, present], axis=-1).astype(int) for name, each in tenths.items()}
        ratio = reshuffle.FromCounts("ratio", rows, lambda totals: totals[..., 0] / (10 * totals[..., 1]))
        (expected,) = compare(metrics=ratio, **options).comparisons
        assert expected.test.pvalue == pair.test.pvalue
        check_ends(expected, pair)


@pytest.mark.parametrize(
    "options",
    [
        {"test": "ar", "adjust": "maxt"},
        {"test": "bootstrap-both", "adjust": "maxt"},
        {"test": "ar-studentized", "adjust": "minp"},
        {"test": "ar:stopping=besag-clifford"},
        {"test": "ar:scheme=subgroup"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_other_metrics_in_the_same_comparison_keep_their_bytes(options: dict[str, Any]) -> None:
    whole = random_table(share=0)
    metrics = [ratings(whole, "error", "x"), ratings(random_table()), ratings(whole, "pairwise", "y")]

    def pvalues(*metrics: SegmentScores) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[Any]] = {}
        for pair in compare(metrics=metrics, all_pairs=True, n_resamples=300, **options).comparisons:
            found.setdefault(pair.metric, []).append((pair.test.pvalue, pair.test.adjusted_pvalue))
        return found

    together, alone = pvalues(*metrics), pvalues(metrics[0])
    assert alone["x"] == together["x"] == together["y"]
    incomplete = pvalues(metrics[1])["rating"]
    assert [p for p, _ in incomplete] == [p for p, _ in together["rating"]]


@pytest.mark.parametrize("test", ["ar", "ar-studentized", "bootstrap"])
def test_families_may_span_complete_and_incomplete_metrics(test: str) -> None:
    """Step-down maxT over both metrics, from the series of all pairs on the shared replicates."""
    metrics = [ratings(random_table(60, 0, seed=5), "error", "x"), ratings(random_table(60, 0.25))]
    data = Data.from_arguments(None, None, metrics)
    pairs = [(1, 0), (2, 0), (2, 1)]
    samples = [sample.for_pairs(pairs) for sample in data.count(data.names, Resampling())]
    replicates = Replicates(samples, Resampling(300, 1))
    hypotheses = Hypotheses.from_pairs(pairs, 2, family="all")
    plan = Plan.from_settings(ComparisonSettings(test=test, adjust="maxt"), *metrics)
    outcome = run_on_test_set(plan, replicates, hypotheses)
    if test == "bootstrap":
        rows = [sample.rows_of(pairs) for sample in samples]
        series = np.array([replicates.draws[m][a] - replicates.draws[m][b] for m in (0, 1) for a, b in rows[m]]).T
        z, observed = np.abs(series - outcome.statistic), np.abs(outcome.statistic)
        spreads = series.std(axis=0)
    elif test == "ar":
        series = np.concatenate([of_metric for (of_metric,) in map(series_of(replicates, pairs), samples)]).T
        z, observed, spreads = np.abs(series), np.abs(outcome.statistic), np.sqrt((series**2).mean(axis=0))
    else:
        studentized = [(m, studentize(s.with_counts(), p)) for m, s in enumerate(samples) for p in s.rows_of(pairs)]
        each = [series_of(replicates, [(0, 1)])(sample)[0][0] for _, sample in studentized]
        z, spreads = np.abs(np.array(each)).T, np.ones(6)
        observed = np.array([abs(sample.observed.value) for _, sample in studentized])
    assert outcome.adjusted is not None
    expected = step_down((z / spreads).T, observed / spreads)
    assert np.maximum(expected, outcome.pvalue).tolist() == pytest.approx(outcome.adjusted.tolist())
    minp = Plan.from_settings(ComparisonSettings(test="ar", adjust="minp"), *metrics)
    if test == "ar":
        adjusted = run_on_test_set(minp, replicates, hypotheses).adjusted
        assert adjusted is not None
        assert (adjusted >= outcome.pvalue).all()


@pytest.mark.parametrize("family", ["metric", "all"])
@pytest.mark.parametrize("test", ["ar-studentized", "bootstrap", "bootstrap-both"])
def test_simultaneous_intervals_that_exclude_0_have_a_star(test: str, family: str) -> None:
    metrics = [ratings(random_table(60, 0, seed=5), "error", "x"), ratings(random_table(60))]
    simultaneous = Simultaneous(scores="ar-studentized" if test == "ar-studentized" else "percentile")
    result = compare(metrics=metrics, test=test, family=family, all_pairs=True, interval=simultaneous, n_resamples=199)
    for pair in result.comparisons:
        interval = pair.confidence_interval
        assert interval is not None
        assert interval.low <= pair.difference <= interval.high
        assert interval.low <= 0 <= interval.high or pair.is_significant(0.05)
        segments = common(random_table(60), pair.system, pair.baseline)
        assert pair.n_segments == (60 if pair.metric == "x" else len(segments))


def series_of(replicates: Replicates, pairs: Any) -> Any:
    """The statistics of all shuffles of one sample: (1, pairs, R)."""
    return lambda sample: replicates.with_samples([sample]).run([Series()], pairs)[0]


def test_a_draw_without_scores_is_replaced_by_the_next_with_scores() -> None:
    table = {"a": [1.0, 3.0, *[nan] * 20], "b": [0.0, 1.0, *[nan] * 20]}
    sample = IncompleteSample.from_scores(ratings(table), ["a", "b"]).for_pairs([(1, 0)])
    replicates = Replicates([sample], Resampling(2000, 3))
    weights = np.array([reshuffle._core.draw_weights(3, r, 22) for r in range(2000)])[:, :2]
    has_scores = weights.sum(axis=1) > 0
    assert 0.08 < 1 - has_scores.mean() < 0.18  # (20/22)^22 = .12
    expected: list[float] = []
    for r in range(2000):
        while not has_scores[r % 2000]:
            r += 1
        drawn = weights[r % 2000]
        expected.append(float(drawn @ [1, 3] / drawn.sum()))
    assert expected == pytest.approx(replicates.draws[0][0].tolist())
    # The draws of a pair lie between the differences of its segments, never at 0 for lack of scores.
    difference = replicates.draws[0][0] - replicates.draws[0][1]
    assert (difference.min(), difference.max()) == (1, 2)
    without = next(seed for seed in range(99) if not reshuffle._core.draw_weights(seed, 0, 22)[:2].any())
    replicates = Replicates([sample], Resampling(1, without))
    with pytest.raises(InputError, match="rating: none of 1 draws has a segment with a score"):
        _ = replicates.draws
    result = compare(metrics=ratings(table), test="bootstrap-both", n_resamples=99)
    assert result.comparisons[0].n_segments == 2


def test_pairs_without_common_segments_and_lines_without_numbers_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {**FILES, "x.txt": "1\ninf\n", "x.jsonl": '1\n"None"\n', "y.txt": "1\nnone of\n"}.items():
        Path(name).write_text(text)
    assert_raises("python_errors_of_missing", globals())
    assert score(metrics=ratings({"a": [1, nan, nan]})).scores[0].n_segments == 1


def test_the_signature_says_what_missing_scores_mean() -> None:
    pairwise = SegmentScores("x", {"a": [1, nan]}, missing="pairwise")
    assert pairwise.signature() == "x|mean:segments|resolution:1|missing:pairwise"
    assert pairwise.signature() == pickle.loads(pickle.dumps(pairwise)).signature()


def test_segment_scores_show_missing_ones_as_missing() -> None:
    table = segment_scores(metrics=ratings({"a": [1, nan, 3], "b": [1.1, 2, nan]}))
    assert (
        table.render("tsv") == "segment\tsystem\trating\n1\ta\t1.0\n1\tb\t1.1\n2\ta\t\n2\tb\t2.0\n3\ta\t3.0\n3\tb\t\n"
    )
    lines = [json.loads(line) for line in table.render("jsonl").splitlines()]
    assert [line["rating"] for line in lines] == [1.0, 1.1, None, 2.0, 3.0, None]
    np.testing.assert_array_equal([1, nan, 3], table.system_scores("a"))
    documents = segment_scores(metrics=ratings({"a": [1, nan, nan]}), documents=["x", "x", "y"])
    np.testing.assert_array_equal([1, nan], documents.system_scores("a"))
    rounded = segment_scores(metrics=ratings({"a": [1 / 3, nan], "b": [0.1, 0.2]}))  # not a multiple of a power of ten
    np.testing.assert_array_equal([1 / 3, nan], rounded.system_scores("a"))


def test_what_reports_tell() -> None:
    long, few = random_table(60, 0), random_table(60, 0)
    long["a"][:30], few["a"][:56] = [nan] * 30, [nan] * 56
    results = {
        "each lacks one": compare(metrics=ratings({"a": [1, 2, 3, 4, nan], "b": [2, nan, 3, 5, 7]}), test="ar"),
        "the same ones": compare(metrics=ratings({"a": [1, 2, 4, nan, nan], "b": [2, 2, 3, nan, nan]}), test="t-test"),
        "one has more": compare(metrics=ratings({"a": [1, 2, 4, nan, nan], "b": [2, 2, 3, 5, nan]}), test="t-test"),
        "one has all": compare(metrics=ratings({"a": [1, 2, 4, nan, nan], "b": [2, 2, 3, 5, 6]}), test="t-test"),
        "pairs with few segments": compare(metrics=ratings(long), all_pairs=True, n_resamples=999),
        "pairs with very few segments": compare(metrics=ratings(few), all_pairs=True, test="ar", adjust="none"),
    }
    assert_told("missing", beyond_the_first({name: str(each) for name, each in results.items()}))
    assert "on a test set of 3 of 5 segments." in results["the same ones"].methods_sentence()


def test_caveats_count_the_segments_of_each_pair() -> None:
    table = random_table(60, 0)
    table["a"][:30] = [nan] * 30
    result = compare(metrics=ratings(table), all_pairs=True)
    assert ["small-sample" in pair.caveats for pair in result.comparisons] == [True, True, False]
    (small,) = score(metrics=ratings(table), interval="percentile").caveats
    assert (small.kind, small.values["units"]) == ("small-sample", 30)


FILES = {
    "a.txt": "1\nNone\n3\n4\nNaN\n",
    "b.tsv": "id\tx\n1\t2\n2\t1\n3\t\n4\tnull\n5\tNA\n",
    "c.jsonl": "1\n2\n null\n7.5\nNaN\n",
    "d.txt": "2\n3\n\nn/a\n6\n",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", [1, nan, 3, 4, nan]),
        ("b.tsv#x", [2, 1, nan, nan, nan]),
        ("c.jsonl", [1, 2, nan, 7.5, nan]),
        ("d.txt", [2, 3, nan, nan, 6]),
    ],
)
def test_files_may_lack_numbers(path: str, expected: list[float], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    np.testing.assert_array_equal(expected, read_numbers(tmp_path / path, missing="pairwise"))


def test_the_command_line_compares_pairwise(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    scores = ["--scores", "x", "a.txt", "d.txt", "--test", "ar", "--format", "csv"]
    assert_refused("errors_of_missing", run)
    Path("d.txt").write_text("2\n3\n7\nn/a\n6\n")
    done = run("compare", *scores, "--missing", "pairwise")
    table = {"a": [1, nan, 3, 4, nan], "d": [2, 3, 7, nan, 6]}
    assert (done.code, done.out) == (0, compare(metrics=ratings(table, name="x"), test="ar").render("csv"))
    # What score --segments writes is read back.
    segments = ["score", "--scores", "x", "a.txt", "d.txt", "--missing", "pairwise", "--segments"]
    assert run(*segments, "-o", "s.tsv").code == 0
    again = run("compare", "--scores", "x", "s.tsv#x", "--test", "ar", "--format", "csv", "--missing", "pairwise")
    assert (again.code, again.out) == (0, done.out)
