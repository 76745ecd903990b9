"""Meta-evaluation: tests, intervals, averages and rankings of metrics; bad input."""

from typing import Any

import numpy as np
import pytest

import reshuffle
from agreement import swaps
from known import ends, known
from meta_material import QUIET, Scores, judged, random_matrices, random_votes, table, tau_by_loop, value
from reshuffle import FromCounts, compare, compare_sets, meta, metric
from reshuffle.meta import JudgedSet, Judgments, ScoreTable
from reshuffle.meta.coefficients import COEFFICIENTS
from reshuffle.meta.samples import matrix_sample
from reshuffle.meta.values import ALL_TIED, matrix_values
from reshuffle.resampling import Batch
from texts import translations
from told import assert_raises


def as_metric(tables: list[ScoreTable], judgments: Judgments, ties: str = "half") -> FromCounts:
    """Metrics as systems under a metric of counts: numerators and denominators of τ, by a loop over votes."""
    counts = {}
    for each in tables:
        assert each.segments is not None
        rows = np.zeros((judgments.n_segments, 2), dtype=np.int64)
        for segment, better, worse, votes in zip(
            judgments.segment, judgments.better, judgments.worse, judgments.votes, strict=True
        ):
            sign = np.sign(each.segments[better, segment] - each.segments[worse, segment])
            rows[segment] += votes * np.array([sign if sign or ties == "half" else -1, 1], dtype=np.int64)
        counts[each.name] = rows[rows[:, 1] > 0]
    return FromCounts("tau", counts, lambda totals: totals[..., 0] / totals[..., 1])


@pytest.mark.parametrize("ties", ["half", "discordant"])
def test_tests_and_intervals_of_tau_are_those_of_compare(ties: str) -> None:
    tables, judgments = random_votes(1)
    result = meta.segments(
        JudgedSet.from_scores(tables, judgments=judgments), ties=ties, test="perm-inputs", n_resamples=999, seed=5
    )
    settings: dict[str, Any] = {"all_pairs": True, "n_resamples": 999, "seed": 5}
    expected = compare(metrics=as_metric(tables, judgments, ties), test="ar:scheme=iid", **settings)
    for record in expected.scores:
        found = value(result, record.system)
        assert found.value == pytest.approx(record.score)
        assert ends(found) == pytest.approx(ends(record))
    pairs = {(each.system, each.baseline): each for each in expected.comparisons}
    for each in result.comparisons:
        pair = pairs[each.metric_b, each.metric_a]
        assert each.difference == pytest.approx(-pair.difference)
        assert (each.pvalue, each.adjusted_pvalue) == (pair.test.pvalue, pair.test.adjusted_pvalue)
        assert (each.exceedances, each.n_resamples) == (pair.test.exceedances, 999)
        assert ends(each)[0] == pytest.approx(-ends(pair)[1])
    (ranking,) = expected.rankings
    found_ranks = {each.metric: (each.rank, each.letters, each.cluster) for each in result.groups}
    assert found_ranks == {each.system: (each.position, each.letters, each.cluster) for each in ranking.systems}


def test_averages_of_tau_are_those_of_compare_sets() -> None:
    both = {f"set{at}": random_votes(at, s=40 + 10 * at) for at in (1, 2)}
    sets = {name: JudgedSet.from_scores(tables, judgments=judgments) for name, (tables, judgments) in both.items()}
    result = meta.segments(sets, test="perm-inputs", n_resamples=499)
    data = {name: reshuffle.TestSet(metrics=as_metric(*own)) for name, own in both.items()}
    expected = compare_sets(data, test="ar:scheme=iid", all_pairs=True, n_resamples=499)
    for name, comparison in {**expected.sets, "average": expected.average}.items():
        pairs = {(each.system, each.baseline): each for each in known(comparison).comparisons}
        own = [each for each in result.comparisons if each.test_set == name]
        assert len(own) == len(pairs) == 6
        for each in own:
            pair = pairs[each.metric_b, each.metric_a]
            assert (each.pvalue, each.adjusted_pvalue) == (pair.test.pvalue, pair.test.adjusted_pvalue)
        for record in known(comparison).scores:
            assert value(result, record.system, test_set=name).value == pytest.approx(record.score)


def test_means_of_groups_are_averaged_as_the_papers_do() -> None:
    sets = [
        JudgedSet.from_scores(tables, judgments=own, name=f"s{at}")
        for at, (tables, own) in enumerate(random_votes(at, s=30) for at in range(4))
    ]
    result = meta.segments(sets, average={"2012": ["s0", "s1"], "2013": ["s2"]}, **QUIET)
    single = [value(result, "m1", test_set=f"s{at}").value for at in range(4)]
    means = {name: value(result, "m1", test_set=name).value for name in ("2012", "2013", "average")}
    assert means["2012"] == pytest.approx((single[0] + single[1]) / 2)
    assert means["2013"] == pytest.approx(single[2])
    assert means["average"] == pytest.approx((means["2012"] + single[2] + single[3]) / 3)


def test_pooled_tau_is_that_of_all_votes() -> None:
    both = [random_votes(at, s=30) for at in (1, 2)]
    sets = [JudgedSet.from_scores(tables, judgments=own, name=f"s{at}") for at, (tables, own) in enumerate(both)]
    result = meta.segments(sets, pooled=True, average=False, n_resamples=99)
    assert {each.test_set for each in result.results} == {"s0", "s1", "pooled"}
    assert {each.test_set for each in result.comparisons} == {"s0", "s1", "pooled"}
    for name in ("m0", "m3"):
        parts = [value(result, name, test_set=f"s{at}") for at in (0, 1)]
        pooled = value(result, name, test_set="pooled")
        total = sum(part.n for part in parts)
        assert pooled.n == total
        assert pooled.value == pytest.approx(sum(part.value * part.n for part in parts) / total)
        assert ends(pooled)[0] < pooled.value < ends(pooled)[1]


def test_metrics_without_some_scores_are_compared_on_common_votes() -> None:
    tables, judgments = random_votes(4, m=2)
    known(tables[0].segments)[:, :20] = np.nan
    result = meta.segments(JudgedSet.from_scores(tables, judgments=judgments), n_resamples=199)
    late = judgments.segment >= 20
    rows = np.stack([judgments.segment, judgments.better, judgments.worse], axis=1)
    fewer = judged("abcd", 60, rows[late])
    on_common = meta.segments(JudgedSet.from_scores(tables, judgments=fewer), n_resamples=199)
    assert value(result, "m0").value == value(on_common, "m0").value
    assert value(result, "m1").value != value(on_common, "m1").value
    assert value(result, "m1").n == judgments.n_votes
    (pair,), (expected,) = result.comparisons, on_common.comparisons
    assert (pair.difference, pair.n) == (expected.difference, int(late.sum()))


ALL = [name for name, each in COEFFICIENTS.items() if "segment" in each.levels and name not in ("tau", "darr")]


@pytest.mark.parametrize(
    "test", ["perm-both", "perm-inputs", "perm-systems", "boot-both", "boot-inputs", "boot-systems"]
)
def test_every_coefficient_has_tests_and_intervals(test: str) -> None:
    settings: dict[str, Any] = {"test": test, "n_resamples": 99}
    of_systems = meta.systems(random_matrices(5), **settings).comparisons
    assert [each.test for each in of_systems] == [test] * 3 * 4
    settings |= {"coefficients": ALL, "groupings": ["none", "item"]}
    result = meta.segments(random_matrices(1), **settings)
    assert result == meta.segments(random_matrices(1), workers=1, **settings)
    assert len(result.results) == len(result.comparisons) == 3 * 2 * len(ALL)
    assert all(ends(each)[0] <= ends(each)[1] for each in result.results)
    for pair in result.comparisons:
        a, b = (
            value(result, n, grouping=pair.grouping, coefficient=pair.coefficient)
            for n in (pair.metric_a, pair.metric_b)
        )
        assert pair.difference == pytest.approx(a.value - b.value, abs=1e-11)
        assert 0 < pair.pvalue <= known(pair.adjusted_pvalue) <= 1
    # The best metric is better than the worst.
    worst = next(p for p in result.comparisons if (p.metric_a, p.metric_b, p.coefficient) == ("m0", "m2", "pearson"))
    assert worst.pvalue <= 0.05


@pytest.mark.parametrize("test", ["perm-both", "perm-systems"])
def test_votes_are_counted_again_when_outputs_or_systems_are_swapped(test: str) -> None:
    tables, judgments = random_votes(5)
    scores = [(own - own.mean()) / own.std() for own in (known(each.segments) for each in tables[:2])]
    test_set = JudgedSet.from_scores(tables[:2], judgments=judgments)
    result = meta.segments(test_set, test=test, n_resamples=59)
    assert result.results == meta.segments(test_set, test="perm-inputs", n_resamples=59).results
    (pair,) = result.comparisons
    columns = (judgments.segment, judgments.better, judgments.worse, judgments.votes)
    votes = [row[:3] for row in np.stack(columns, axis=1).tolist() for _ in range(row[3])]
    differences = []
    for r in range(59):
        swap = swaps(12345, r, test.removeprefix("perm-"), scores[0].shape)
        both = np.where(swap, scores[1], scores[0]), np.where(swap, scores[0], scores[1])
        differences.append(tau_by_loop(both[0], votes, "half") - tau_by_loop(both[1], votes, "half"))
    assert pair.exceedances == sum(abs(d) >= abs(pair.difference) - 1e-10 for d in differences)


def test_scores_by_people_may_be_columns() -> None:
    rng = np.random.default_rng(8)
    quality, gap = rng.normal(0, 1, (4, 20)), np.where(rng.random((4, 20)) < 0.1, np.nan, 0)
    people, metric = quality + gap, quality + rng.normal(0, 1, (4, 20))
    tables = table("DA", people, higher=False), table("m", metric)
    columns = [
        reshuffle.SegmentScores(each.name, dict(zip(each.systems, own, strict=True)), each.higher_is_better, "pairwise")
        for each, own in zip(tables, (people, metric), strict=True)
    ]
    one, other = (JudgedSet.from_scores(m, human=h) for h, m in (tables, columns))
    assert known(one.human).higher_is_better is known(other.human).higher_is_better is False
    assert meta.segments(one, n_resamples=49).results == meta.segments(other, n_resamples=49).results
    assert repr(other) == "<JudgedSet: m; 4 systems (a, b, c, d); 20 segments>"


def test_identical_metrics_have_p_1_on_matrices() -> None:
    test_set = random_matrices(2, m=1)
    own = known(test_set.metrics[0].segments)
    both = [table("x", own), table("y", 3 * own + 1), table("z", -own, higher=False)]
    result = meta.segments(JudgedSet.from_scores(both, human=known(test_set.human)), coefficients=ALL, n_resamples=49)
    assert {(pair.pvalue, abs(pair.difference) < 1e-9) for pair in result.comparisons} == {(1.0, True)}


def test_shuffles_without_a_value_count_as_extreme() -> None:
    # Swapping both cells of a metric with those of the other leaves equal scores in many shuffles.
    cells = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    sample = matrix_sample("pearson", cells, np.array([[0.0, 1.0]]), "none", np.array([1.0, -1.0]), "both", "inputs")
    batch = Batch(1, 0, 64, 1)
    (statistics,) = sample.shuffle_statistics([(0, 1)], batch)
    assert set(statistics) == {-2.0, 2.0}
    flips = [batch.flips(r, 2)[:2].tolist() for r in batch.numbers]
    # Undefined where only one of the cells is swapped: both metrics are then constant.
    assert [statistic == 2 for statistic in statistics] == [flip != [1, 1] for flip in flips]


def test_gaps_of_a_metric_restrict_comparisons_and_not_values() -> None:
    test_set = random_matrices(3, m=2)
    first, second = (known(m.segments) for m in test_set.metrics)
    holes = first.copy()
    holes[:, 3:9] = np.nan

    def evaluated(first: Scores, second: Scores, **settings: Any) -> meta.MetaEvaluation:
        own = JudgedSet.from_scores([table("m0", first), table("m1", second)], human=known(test_set.human))
        return meta.segments(own, coefficients="pearson", **settings)

    result, full = evaluated(holes, second, n_resamples=99), evaluated(first, second, **QUIET)
    common = evaluated(holes, np.where(np.isnan(holes), np.nan, second), **QUIET)
    assert value(result, "m1").value == value(full, "m1").value != value(common, "m1").value
    (pair,) = result.comparisons
    assert pair.difference == pytest.approx(value(common, "m0").value - value(common, "m1").value)
    assert pair.n == value(common, "m0").n


def texts(n: int = 5, s: int = 40) -> tuple[list[str], dict[str, list[str]]]:
    """References and outputs with more and more words replaced."""
    references, outputs = translations(s, 0.9, 0.8, 0.7, 0.6, 0.5)
    return references, dict(zip("abcde"[:n], outputs.values(), strict=False))


@pytest.mark.parametrize("from_votes", [False, True])
def test_systems_are_scored_on_the_judged_segments_unless_all_are_wanted(from_votes: bool) -> None:
    """As a test set that consists of the judged segments, with scores given as a whole where there are any."""
    references, systems = texts()
    names, few = tuple("abcde"), [1, 2, 5, 8, 9, 13, 21, 34]

    def test_set(lines: list[int], judged_lines: list[int]) -> JudgedSet:
        at = np.full((5, len(lines)), np.nan)
        at[:, judged_lines] = -np.arange(8) - np.array([[0.0], [3.0], [2.0], [4.0], [9.0]])
        at[2, judged_lines[3:]] = np.nan  # one judged output is enough for the segment
        votes = judged("abcde", len(lines), [(j, a, a + 1) for j in judged_lines for a in range(4)]).net()
        every = np.add.outer(np.arange(5.0), np.arange(40.0) ** 2 % 7)
        every[4, :20] = 0
        return JudgedSet.from_texts(
            [references[i] for i in lines],
            {name: [output[i] for i in lines] for name, output in systems.items()},
            ["bleu", "ter"],
            **({"judgments": votes} if from_votes else {"human": ScoreTable("MQM", names, at)}),
            scores=[
                ScoreTable("mean", names, every[:, lines]),
                ScoreTable("given", names, every[:, lines], np.array([5.0, 1.0, 2.0, 3.0, 4.0])),
            ],
        )

    options: dict[str, Any] = {"coefficients": ["pearson", "accuracy", "soft-accuracy"], "n_resamples": 99}
    whole = test_set(list(range(40)), few)
    on_few = meta.systems(test_set(few, list(range(8))), **options)
    result = meta.systems(whole, **options)
    assert result.results == on_few.results
    assert (result.comparisons, result.groups, result.systems) == (on_few.comparisons, on_few.groups, on_few.systems)
    assert result.human == on_few.human
    assert {(each.metric, each.segments, each.judged_segments) for each in result.results} == {
        ("BLEU", 8, 8), ("TER", 8, 8), ("mean", 8, 8), ("given", None, 8)
    }  # fmt: skip
    assert (result.plan["segments"], result.plan["judged_segments"]) == ({"": 40}, {"": 8})
    assert "Pearson's r: 5 systems, 8 judged of 40 segments" in " ".join(result.render("text").split())

    everything = meta.systems(whole, scored_segments="all", **options)
    counts = metric("bleu").suff_stats(references, systems)
    scores = {each.system: each.score for each in everything.systems if each.metric == "BLEU"}
    assert list(scores.values()) == pytest.approx(metric("bleu").score(counts.sum(axis=1)).tolist())
    assert {(each.metric, each.segments, each.judged_segments) for each in everything.results} == {
        ("BLEU", 40, 8), ("TER", 40, 8), ("mean", 40, 8), ("given", None, 8)
    }  # fmt: skip
    shown = " ".join(everything.render("text").split())
    assert "5 systems, 40 segments, 8 of them judged" in shown
    assert "On segments that people did not judge, systems may be better or worse" in shown


def test_intervals_of_native_metrics_draw_corpus_scores() -> None:
    references, systems = texts()
    human = ScoreTable("DA", tuple("abcde"), None, np.array([80.0, 79.0, 70.0, 71.0, 60.0]))
    test_set = JudgedSet.from_texts(references, systems, ["bleu", "ter"], human=human)
    result = meta.systems(test_set, coefficients=["pearson", "accuracy"], n_resamples=99, seed=3)
    bleu, ter = metric("bleu"), metric("ter")
    for name, m, sign in (("BLEU", bleu, 1), ("TER", ter, -1)):
        counts = m.suff_stats(references, systems)
        scores = sign * m.score(counts.sum(axis=1))
        found = value(result, name, coefficient="pearson")
        people = known(human.system_scores)
        assert found.value == pytest.approx(np.corrcoef(scores, people)[0, 1])
        draws = []
        for r in range(99):
            weights = reshuffle._core.draw_weights(3, r, 40)
            drawn = sign * m.score((counts * np.asarray(weights)[None, :, None]).sum(axis=1))
            draws.append(np.corrcoef(drawn, people)[0, 1])
        assert ends(found) == pytest.approx((sorted(draws)[1], sorted(draws)[-2]))
    chosen = {(each.test, each.coefficient) for each in result.comparisons}
    assert chosen == {("williams", "pearson"), ("perm-systems", "accuracy")}
    assert {(each.metric, each.system) for each in result.systems} == {(m, s) for m in ("BLEU", "TER") for s in "abcde"}


@pytest.mark.parametrize("kind", ["wins", "expected-wins", "wins-or-ties"])
def test_human_scores_from_votes_are_drawn_with_the_segments(kind: str) -> None:
    tables, judgments = random_votes(9, n=4)
    test_set = JudgedSet.from_scores(tables, judgments=judgments)
    options: dict[str, Any] = {"coefficients": "pearson", "test": None, "n_resamples": 99}
    result = meta.systems(test_set, human_scores=kind, scored_segments="all", **options)
    expected = meta.human_scores(judgments, kind)
    assert [each.score for each in result.human] == pytest.approx(expected.tolist())
    assert result.plan["human_scores"] == kind
    drawn = []
    own = known(tables[0].segments)
    for r in range(99):
        weights = np.asarray(reshuffle._core.draw_weights(12345, r, 60))
        rows = np.stack([judgments.segment, judgments.better, judgments.worse], axis=1)
        votes = judged("abcd", 60, np.repeat(rows, judgments.votes * weights[judgments.segment], axis=0))
        drawn.append(np.corrcoef(meta.human_scores(votes, kind), own @ weights)[0, 1])
    assert ends(value(result, "m0")) == pytest.approx((sorted(drawn)[1], sorted(drawn)[-2]))


@pytest.mark.parametrize("name", ["perm-systems", "boot-systems"])
def test_swapped_and_drawn_systems_keep_their_scores(name: str) -> None:
    """Differences are those of the values, also of corpus scores and of metrics that have no scores of segments."""
    references, outputs = translations(15, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
    systems = dict(zip("abcdef", outputs.values(), strict=True))
    given = ScoreTable("given", tuple("abcdef"), None, np.array([5.0, 4.0, 4.5, 3.0, 1.0, 2.0]), True)
    human = ScoreTable("h", tuple("abcdef"), None, np.array([9.0, 8.5, 6.0, 5.0, 5.5, 2.0]), True)
    test_set = JudgedSet.from_texts(references, systems, ["bleu", "ter"], human=human, scores=given)
    interval = name if name.startswith("boot") else None
    result = meta.systems(test_set, test=name, interval=interval, n_resamples=63)
    assert len(result.comparisons) == 4 * 3
    for pair in result.comparisons:
        a, b = (value(result, each, coefficient=pair.coefficient).value for each in (pair.metric_a, pair.metric_b))
        assert pair.difference == pytest.approx(a - b, abs=1e-11)
        assert pair.test == name
    scores = {m.label: m.sign * m.system_scores for m in test_set.metrics}
    scaled = {label: (own - own.mean()) / own.std() for label, own in scores.items()}
    people = known(human.system_scores)
    if interval is None:  # the same swaps as a loop
        differences = []
        for r in range(63):
            word = int(reshuffle._core.stream_values(12345, "shuffle", r, 1)[0])
            swap = np.array([bool(word >> i & 1) for i in range(6)])
            x, y = scaled["BLEU"], scaled["given"]
            swapped = np.where(swap, y, x), np.where(swap, x, y)
            differences.append(np.subtract(*(np.corrcoef(own, people)[0, 1] for own in swapped)))
        pair = next(each for each in result.comparisons if (each.metric_a, each.metric_b) == ("BLEU", "given"))
        assert pair.exceedances == sum(abs(d) >= abs(pair.difference) - 1e-10 for d in differences)
    else:
        every: list[Any] = [*result.results, *result.comparisons]
        assert all(each.confidence_interval is not None for each in every)


# What the calls in python_errors_of_meta.txt are about.
SCORES = table("m", [[1.0, 2.0, 3.0], [2.0, 1.0, 5.0], [0.0, 1.0, 1.0]])
HUMAN = table("h", [[1.0, 2.0, 3.0], [2.0, 1.0, 5.0], [1.0, 0.0, 2.0]])
FOUR = [ScoreTable(name, tuple("abcd"), None, np.arange(4.0) ** k) for k, name in ((1, "x"), (2, "y"), (3, "h"))]
of_scores, nothing = JudgedSet.from_scores, np.ones((2, 1))


def _votes(*votes: tuple[int, int, int], n_segments: int = 3, systems: str = "abc") -> Judgments:
    return judged(systems, n_segments, votes)


def _set(metrics: Any = SCORES, **human: Any) -> JudgedSet:
    return of_scores(metrics, **(human or {"human": HUMAN}))


def test_bad_input_is_explained() -> None:
    assert_raises("python_errors_of_meta", globals())


def test_systems_that_no_one_judged_are_left_out() -> None:
    references, outputs = texts(4, 6)
    judgments = _votes((0, 0, 1), (1, 2, 1), n_segments=6, systems="bcd")
    test_set = JudgedSet.from_texts(references, outputs, judgments=judgments, name="x")
    assert test_set.systems == ("b", "c", "d")
    assert test_set.left_out == ("a",)
    assert meta.segments(test_set, **QUIET).plan["left_out"] == {"x": ["a"]}


def test_judgments_follow_the_order_of_the_outputs() -> None:
    references, outputs = texts(4, 6)
    votes = judged("dcba", 6, [(0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 2, 1), (2, 3, 0), (3, 1, 2)])
    for judgments in (votes, votes.net()):
        own = known(JudgedSet.from_texts(references, outputs, judgments=judgments).judgments)
        assert own.systems == ("a", "b", "c", "d")
        for kind in meta.HUMAN_SCORES:
            expected = dict(zip("dcba", meta.human_scores(votes, kind).tolist(), strict=True))
            assert dict(zip(own.systems, meta.human_scores(own, kind).tolist(), strict=True)) == expected


def test_a_threshold_that_ties_nearly_all_pairs_is_named() -> None:
    """The first metric favours some systems, which people do not, so that only ties are right."""
    human = np.zeros((4, 50))
    human[0, :2] = 1
    found = matrix_values("acc23", "item", np.stack([np.arange(4)[:, None] - human, human]), human)
    assert (found.value.tolist(), found.reason) == (pytest.approx([0.98, 1.0]), (ALL_TIED, None))
