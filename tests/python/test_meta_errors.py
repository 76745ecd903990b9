"""The test ``t-both``: values without a system, a segment or an output, standard errors, and the size of the test."""

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.stats

from agreement import agreement
from benches.simulations.meta_size import rejected
from known import known
from meta_material import judged, random_matrices, random_votes, table, tau_by_loop
from reshuffle import InputError, InputWarning, _core, meta
from reshuffle.meta import JudgedSet, costs
from reshuffle.meta.jackknife import AveragedErrors, LeftOut, Variance, t_test, two_way, values_left_out, votes_left_out
from reshuffle.meta.values import matrix_values

Scores = np.ndarray[Any, np.dtype[np.float64]]


def material(seed: int, n: int = 5, s: int = 7) -> tuple[Scores, Scores]:
    """Three metrics and people, with ties, gaps, and a segment and a system without scores."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (n, s))
    cells = np.round(quality + rng.normal(0, 1, (3, n, s)), 1 if seed % 2 else 0)
    human = np.round(quality + rng.normal(0, 0.5, (n, s)), 1 if seed % 3 else 0)
    there = rng.random((n, s)) < 0.9
    there[:, 3] = there[2] = False
    return np.where(there, cells, np.nan), np.where(there, human, np.nan)


def twin(coefficient: str, grouping: str, cells: Scores, human: Scores) -> LeftOut:
    """Values computed again on all other scores. The threshold of ties is that of all scores."""
    epsilon = None
    if coefficient in ("acc23", "tau23"):
        epsilon, _ = _core.meta_calibrate(cells, human, grouping)

    def value(*without: np.ndarray[Any, Any]) -> Scores:
        gone = np.zeros(human.shape, dtype=np.bool_)
        for place in without:
            gone[tuple(place)] = True
        scores, people = np.where(gone, np.nan, cells), np.where(gone, np.nan, human)
        if epsilon is None:
            return matrix_values(coefficient, grouping, scores, people).value
        counts, _ = _core.meta_pair_counts(scores, people, grouping, epsilons=epsilon)
        pairs = counts.sum(axis=2)
        with np.errstate(invalid="ignore"):
            accuracy = np.nanmean((counts[:, :, 0] + counts[:, :, 4]) / pairs, axis=1)
        return np.asarray(2 * accuracy - 1 if coefficient == "tau23" else accuracy)

    there = np.argwhere(~np.isnan(human))
    systems = [value(*(place for place in there if place[0] == i)) for i in np.unique(there[:, 0])]
    segments = [value(*(place for place in there if place[1] == j)) for j in np.unique(there[:, 1])]
    return LeftOut(np.array(systems).T, np.array(segments).T, np.array([value(place) for place in there]).T)


@pytest.mark.parametrize("grouping", ["none", "sys", "item"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall-b", "kendall-c", "acc23", "tau23"])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_values_left_out_are_those_of_the_other_scores(seed: int, coefficient: str, grouping: str) -> None:
    cells, human = material(seed)
    found, expected = (each(coefficient, grouping, cells, human) for each in (values_left_out, twin))
    for name, own, other in zip(LeftOut._fields, found, expected, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9, err_msg=name)


def test_scores_that_only_one_cluster_has_are_lost_with_it() -> None:
    cells, human = material(1, 5, 7)
    cells[:, 1] = np.round(cells[:, 1])  # so that variant c has another number of different scores without system 1
    cells[0, 0] = 77
    human[:, 2] = 9
    human = np.where(np.isnan(cells[0]), np.nan, human)
    found, expected = (each("kendall-c", "none", cells, human) for each in (values_left_out, twin))
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)


@pytest.mark.parametrize("ties", ["half", "discordant", "ignore"])
def test_votes_left_out_are_those_of_the_other_votes(ties: str) -> None:
    sets = [random_votes(seed, s=9, m=3) for seed in (1, 2)]
    cells, votes = [], []
    for at, (tables, judgments) in enumerate(sets):
        scores = np.stack([each.segments for each in tables if each.segments is not None])
        scores[:, 1, at] = np.nan
        cells.append(scores)
        votes.append((judgments.segment, judgments.better, judgments.worse, judgments.votes))
    found = votes_left_out(cells, votes, ties)
    # The same votes as one test set, with systems and segments of their own.
    whole = np.full((3, 8, 18), np.nan)
    listed: list[tuple[int, int, int]] = []
    for at, (scores, (segment, better, worse, number)) in enumerate(zip(cells, votes, strict=True)):
        whole[:, 4 * at : 4 * at + 4, 9 * at : 9 * at + 9] = scores
        for j, a, b, n in zip(segment + 9 * at, better + 4 * at, worse + 4 * at, number, strict=True):
            if not np.isnan(whole[0, a, j] + whole[0, b, j]):
                listed += [(int(j), int(a), int(b))] * int(n)

    def tau(keep: Any) -> list[float]:
        return [tau_by_loop(own, [vote for vote in listed if keep(*vote)], ties) for own in whole]

    systems = sorted({each for vote in listed for each in vote[1:]})
    segments = sorted({vote[0] for vote in listed})
    outputs = sorted({(each, vote[0]) for vote in listed for each in vote[1:]})
    expected = LeftOut(
        np.array([tau(lambda j, a, b, i=i: i not in (a, b)) for i in systems]).T,
        np.array([tau(lambda j, a, b, s=s: j != s) for s in segments]).T,
        np.array([tau(lambda j, a, b, i=i, s=s: j != s or i not in (a, b)) for i, s in outputs]).T,
    )
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-12)


def test_the_variance_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(4)
    left = LeftOut(rng.normal(0, 1, (3, 6)), rng.normal(0, 0.5, (3, 40)), rng.normal(0, 0.05, (3, 240)))
    errors = known(two_way(left))
    for a, b in combinations(range(3), 2):
        parts = [(len(d) - 1) ** 2 / len(d) * d.var(ddof=1) for d in (each[a] - each[b] for each in left)]
        systems, segments, cells = parts
        found = errors.of(a, b)
        assert found.value == pytest.approx(segments + systems - cells)
        df = found.value**2 / (systems**2 / 5 + max(found.value - systems, 0) ** 2 / 39)
        assert found.df == pytest.approx(df)
    # Where systems add nothing, segments alone count; and with fewer segments than systems, it is the other way round.
    calm, d = known(two_way(left._replace(systems=left.systems / 1e3))), left.segments[0] - left.segments[1]
    assert calm.of(0, 1) == pytest.approx((39**2 / 40 * d.var(ddof=1), 39))
    turned = known(two_way(LeftOut(left.segments, left.systems, left.cells)))
    assert turned.of(0, 1) == pytest.approx(errors.of(0, 1))
    # Means over independent test sets.
    mean = AveragedErrors([errors, calm], np.array([[0, 1], [2, 0]]))
    first, second = errors.of(0, 2), calm.of(1, 0)
    total = (first.value + second.value) / 4
    df = total**2 / ((first.value / 4) ** 2 / first.df + (second.value / 4) ** 2 / second.df)
    assert mean.of(0, 1) == pytest.approx((total, df))


def test_p_is_that_of_students_distribution() -> None:
    found = t_test(0.3, Variance(0.01, 7.5))
    assert found.statistic == pytest.approx(3)
    assert found.pvalue == pytest.approx(2 * scipy.stats.t.sf(3, 7.5))
    assert t_test(0.0, Variance(0.0, 9)).pvalue == 1
    assert np.isnan(t_test(0.1, Variance(0.0, 9)).pvalue)
    assert np.isnan(t_test(0.1, Variance(np.nan, np.nan)).pvalue)


def test_the_default_is_t_both_with_holm() -> None:
    sets = {name: random_matrices(seed) for name, seed in (("x", 1), ("y", 2))}
    result = meta.segments(sets, groupings=["none", "sys", "item"], coefficients=["pearson", "acc23"], n_resamples=49)
    assert {each.test for each in result.comparisons} == {"t-both"}
    assert {each.test_set for each in result.comparisons} == {"x", "y", "average"}
    for each in result.comparisons:
        assert each.n_resamples is None
        assert each.confidence_interval is not None
        p = 2 * scipy.stats.t.sf(abs(known(each.statistic)), known(each.degrees_of_freedom))
        assert each.pvalue == pytest.approx(p)
    for place in {(each.test_set, each.grouping, each.coefficient) for each in result.comparisons}:
        family = [each for each in result.comparisons if (each.test_set, each.grouping, each.coefficient) == place]
        smallest = min(family, key=lambda each: each.pvalue)
        assert smallest.adjusted_pvalue == pytest.approx(min(1, 3 * smallest.pvalue))
    pair = [each for each in result.comparisons if (each.grouping, each.coefficient) == ("item", "pearson")]
    x, y, mean = (next(each for each in pair if each.test_set == name) for name in ("x", "y", "average"))
    assert mean.difference == pytest.approx((x.difference + y.difference) / 2)
    error = np.sqrt(sum((each.difference / each.statistic) ** 2 for each in (x, y) if each.statistic)) / 2
    assert mean.statistic == pytest.approx(mean.difference / error)
    with pytest.raises(InputError, match="'maxt' needs replicates, which the test 't-both' does not make: use 'holm'"):
        meta.segments(sets["x"], adjust="maxt", n_resamples=49)


def test_few_systems_have_another_test_or_none() -> None:
    rng = np.random.default_rng(1)
    human = table("h", rng.normal(0, 1, (3, 20)))
    few = JudgedSet.from_scores([table(name, rng.normal(0, 1, (3, 20))) for name in "xy"], human=human)
    (found,) = meta.segments(few, coefficients="pearson", n_resamples=99).comparisons
    assert found.test == "perm-both"
    result = meta.segments(few, coefficients="pearson", test="t-both", n_resamples=99)
    assert not result.comparisons
    votes = judged("abc", 20, [(j, 0, 1 + j % 2) for j in range(20)])
    tables = [table(name, rng.normal(0, 1, (3, 20))) for name in "xy"]
    (found,) = meta.segments(JudgedSet.from_scores(tables, judgments=votes), n_resamples=99).comparisons
    assert found.test == "perm-inputs"
    with pytest.raises(InputError, match="'t-both' is for segments: use 'williams'"):
        meta.systems(few, test="t-both")


def test_a_metric_that_favours_a_system_is_no_evidence() -> None:
    # Perm-both takes the two favours of the first metric, which happen to be for good systems, for agreement.
    cases = [rejected("and of systems", seed, ("t-both", "perm-both")) for seed in range(30)]
    share = {test: np.mean([case["`pearson`, none", test] for case in cases]) for test in ("t-both", "perm-both")}
    assert share["t-both"] <= 0.1
    assert share["perm-both"] >= 0.13


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["errors of cells", "and of segments", "and of systems", "and of both", "of both, 4 systems",
             "of both, 30 systems on 20 segments"]
)  # fmt: skip
def test_t_both_holds_its_level(case: str) -> None:
    n, valid = 1500, ("perm-both", "perm-inputs", "perm-systems") if case == "errors of cells" else ()
    cases = [rejected(case, seed, ("t-both", *valid)) for seed in range(n)]
    for key in cases[0]:
        # .07, and three standard errors.
        assert np.mean([each[key] for each in cases]) <= 0.07 + 3 * np.sqrt(0.07 * 0.93 / n), key


def test_what_takes_minutes_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    test_set = random_matrices(1)
    settings: dict[str, Any] = {"coefficients": "acc23", "groupings": "none", "n_resamples": 19}
    monkeypatch.setattr(costs, "SECONDS", 1e-9)
    with pytest.warns(InputWarning, match="acc23 with grouping 'none' will take about 0 minutes"):
        meta.segments(test_set, **settings)
    monkeypatch.setattr(costs, "SECONDS", 60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meta.segments(test_set, **settings)
    monkeypatch.setattr(costs, "MOST_PAIRS", 100)
    with pytest.raises(InputError, match=r"calibrates ties on 7,140 pairs of outputs.*at most 100"):
        meta.segments(test_set, **settings)
    # The t test needs no replicates.
    assert meta.segments(test_set, interval=None, **settings).comparisons


@pytest.mark.parametrize("grouping", ["none", "sys", "item"])
def test_draws_of_calibrated_ties_are_those_of_a_loop(grouping: str) -> None:
    cells, human = material(2, 4, 5)
    rng = np.random.default_rng(1)
    systems = rng.multinomial(4, [0.25] * 4, 130).astype(np.uint32)
    segments = rng.multinomial(5, [0.2] * 5, 130).astype(np.uint32)
    settings: dict[str, Any] = {"n": 130, "seed": 0, "copies": (systems, segments)}
    names = [(grouping, "acc23"), (grouping, "tau23")]
    found, tau = _core.meta_drawn(cells, human, names, "both", threads=1, **settings)
    np.testing.assert_array_equal(found, _core.meta_drawn(cells, human, names, "both", threads=2, **settings)[0])
    np.testing.assert_array_equal(tau, 2 * found - 1)
    for at in (0, 64, 129):
        copies = systems[at].tolist(), segments[at].tolist()
        expected = [agreement(own, human, (grouping, "acc23"), copies) for own in cells]
        np.testing.assert_allclose(found[:, at], expected, atol=1e-12)


def test_many_copies_leave_the_integers_without_a_difference() -> None:
    # Products of copies above 32,767 do not fit in a row of integers, and take the other way.
    cells, human = material(2, 4, 5)
    systems = np.full((2, 4), 300, dtype=np.uint32)
    segments = np.stack([np.full(5, 1), np.full(5, 300)]).astype(np.uint32)
    found = _core.meta_drawn(cells, human, [("none", "acc23")], "both", n=2, seed=0, copies=(systems, segments))
    np.testing.assert_array_equal(found[0, :, 0], found[0, :, 1])
