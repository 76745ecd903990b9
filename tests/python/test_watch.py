"""``watch``: tests while data arrive, beside their definitions and the published numbers."""

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from benches.simulations.sequential import nights
from budgets import budget
from gates import by_system
from known import ends, known
from reshuffle import InputWarning, SegmentScores, _core, watch
from reshuffle.inference import sequential
from reshuffle.metrics.base import Scores
from reshuffle.report import Layout
from reshuffle.report.checklist import as_checklist
from reshuffle.results.studies import SequentialVerdict, StudyResult
from told import assert_raises, assert_told, beyond_the_first

LARGEST_BET = 0.5


def log_wealth(values: Scores, mean: float) -> Scores:
    """The log wealth of bets against a mean after each value, one after the other."""
    larger, smaller = [np.log(0.5)], [np.log(0.5)]
    for n, x in enumerate(values):
        before = values[:n] - mean
        bet = before.sum() / (1 + (before**2).sum())
        with np.errstate(divide="ignore"):
            most = LARGEST_BET / (1 + np.float64(mean)), LARGEST_BET / (1 - np.float64(mean))
        larger.append(larger[-1] + np.log1p(min(max(bet, 0), most[0]) * (x - mean)))
        smaller.append(smaller[-1] + np.log1p(-min(max(-bet, 0), most[1]) * (x - mean)))
    return np.logaddexp(larger, smaller)[1:]


def scores(differences: Scores, name: str = "score") -> SegmentScores:
    """Two systems with scores of 0 to 1 and these differences."""
    return SegmentScores(name, {"old": np.maximum(-differences, 0), "new": np.maximum(differences, 0)})


def stream(seed: int, n: int, difference: float = 0.0, disagree: float = 0.2) -> Scores:
    """Differences of scores of 0 and 1."""
    shares = [(disagree - difference) / 2, 1 - disagree, (disagree + difference) / 2]
    return np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], size=n, p=shares)


def only(result: StudyResult) -> SequentialVerdict:
    verdict: SequentialVerdict
    (verdict,) = result.tables["verdicts"]
    return verdict


def invented(name: str) -> Scores:
    """Differences of 200 units without random numbers."""
    n = np.arange(1, 201)
    signs = np.sign(np.sin(n * n))
    if name == "ratings":
        return np.asarray(0.5 * np.sin(5 * n) + 0.2)
    return np.asarray(signs * (np.cos(3 * n) > 0.6) * np.where(n % 3 > 0, 1, signs))


# By confseq 0.0.11 (its Python sources, with numpy 2.4): the log of
#     betting_mart((x + 1) / 2, (mean + 1) / 2, lambdas_fn_positive=bets, lambdas_fn_negative=other, convex_comb=True)
# after 10, 50 and 200 units, then its largest value up to there. bets(x, m) is 2Σy/(1 + Σy²), at least 0, of
# y = 2(x − m) of the units before; other is the same of −y. confseq bounds bets, and mixes both sides.
BY_CONFSEQ = {
    ("answers", 0.0): ([-0.133531392, -0.526822027, 1.454518863], [0.223143551, 0.223143551, 3.549167671]),
    ("answers", -0.2): ([-0.328212639, 2.809191263, 23.168822253], [0.0, 3.494705736, 24.319550543]),
    ("answers", 0.3): ([0.817362968, 3.340360787, 11.505544179], [0.829917416, 3.418108628, 11.505544179]),
    ("ratings", 0.0): ([0.196706859, 2.874247986, 15.428509396], [0.196706859, 3.024727515, 15.428509396]),
    ("ratings", -0.2): ([1.084206971, 8.957992941, 40.313002986], [1.084206971, 9.012752016, 40.313002986]),
    ("ratings", 0.3): ([-0.065310745, 0.721197968, 5.751190093], [0.092734749, 0.759226258, 6.233374831]),
}  # fmt: skip
# By its betting_cs with the same bets, breaks=4000, running_intersection=True and convex_comb=True, times 2, minus 1.
SEQUENCES_BY_CONFSEQ = {
    "answers": [(-0.945, 0.789), (-0.1835, 0.285), (0.009, 0.2195)],
    "ratings": [(-0.46, 0.921), (0.001, 0.356), (0.1225, 0.279)],
}


class TestBetting:
    @pytest.mark.parametrize(("name", "mean"), BY_CONFSEQ)
    def test_wealth_is_that_of_confseq(self, name: str, mean: float) -> None:
        for largest, expected in enumerate(BY_CONFSEQ[name, mean]):
            found = _core.betting_wealth(invented(name), np.array([mean]), [10, 50, 200], largest=bool(largest))
            np.testing.assert_allclose(found[0], expected, atol=2e-9)

    @pytest.mark.parametrize("name", SEQUENCES_BY_CONFSEQ)
    def test_the_confidence_sequence_is_that_of_confseq(self, name: str) -> None:
        ours = sequential.betting_interval(invented(name), 0.05, np.array([10, 50, 200]))
        for low, high, (least, most) in zip(*ours, SEQUENCES_BY_CONFSEQ[name], strict=True):
            # Ours is wider by the spacing of its candidates, theirs by that of its grid, .0005.
            assert (low <= least + 0.0005, high >= most - 0.0005) == (True, True)
            assert high - low <= 1.04 * (most - least) + 0.001

    @settings(max_examples=budget(60))
    @given(
        st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=150),
        st.lists(st.floats(-1, 1), min_size=1, max_size=10),
        st.integers(1, 150),
    )
    def test_the_core_bets_as_the_definition(self, values: list[float], means: list[float], look: int) -> None:
        array, looks = np.array(values), sorted({min(look, len(values)), len(values)})
        for largest in (True, False):
            found = _core.betting_wealth(array, np.array(means), looks, largest=largest, threads=2)
            wealth = [log_wealth(array, mean) for mean in means]
            expected = [[own[:n].max() if largest else own[n - 1] for n in looks] for own in wealth]
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    def test_the_interval_holds_every_mean_that_no_bet_refutes(self) -> None:
        grid, looks = np.linspace(-1, 1, 2001), np.array([50, 120, 300])
        for values in (stream(3, 300, 0.1), np.full(300, 0.3)):  # the latter have no variance
            wealth = _core.betting_wealth(values, grid, looks.tolist())
            for low, high, own in zip(*sequential.betting_interval(values, 0.05, looks), wealth.T, strict=True):
                inside = grid[own < -np.log(0.05)]
                assert low <= inside.min() <= inside.max() <= high
                # The spacing of the candidates costs little.
                assert high - low <= 1.06 * (inside.max() - inside.min()) + 0.002

    def test_the_verdict_and_the_interval_agree(self) -> None:
        for seed in range(8):
            result = watch(metrics=scores(stream(seed, 400, 0.1)), bounds=(0, 1))
            verdict = only(result)
            assert (known(verdict.pvalue) <= 0.05) == (verdict.decided_at is not None)
            assert (known(verdict.low) < 0 < known(verdict.high)) == (verdict.decided_at is None)


# By confseq 0.0.11, its C++: BetaBinomialMixture(v, .05, 1, 1, false).log_superMG(wins − losses, wins + losses) with
# v = 2(2 log 20 + log(1 + 2 log 20)), for which the mixture is beta(½, ½); g++ -std=c++14 with Boost 1.74.
SIGNS_BY_CONFSEQ = {
    (9, 1): 2.25088052983656,
    (30, 12): 1.88338899402908,
    (0, 6): 2.66982898828201,
    (100, 100): -2.87620003071051,
    (700, 610): -0.720834283484222,
    (5, 0): 2.0636931847117,
}


class TestSign:
    @pytest.mark.parametrize(("wins", "losses"), SIGNS_BY_CONFSEQ)
    def test_the_mixture_is_that_of_confseq(self, wins: int, losses: int) -> None:
        values = np.repeat([1.0, 0.0, -1.0], [wins, 3, losses])
        assert sequential.sign_wealth(values)[-1] == pytest.approx(SIGNS_BY_CONFSEQ[wins, losses], abs=1e-11)

    def test_p_is_valid_at_every_unit(self) -> None:
        result = watch(metrics=scores(stream(1, 500, 0.15)), method="sign")
        largest = np.maximum.accumulate(sequential.sign_wealth(stream(1, 500, 0.15)))
        assert only(result).pvalue == pytest.approx(np.exp(-largest[-1]))
        assert only(result).decided_at == int(np.argmax(largest >= np.log(20))) + 1


class TestPlanned:
    # Constants of the first designs, for K looks and α = .05, two-sided: Jennison & Turnbull 2000, Tables 2.1 and 2.3.
    @pytest.mark.parametrize(
        ("looks", "pocock", "obrien_fleming"), [(2, 2.178, 1.977), (5, 2.413, 2.040), (10, 2.555, 2.087)]
    )
    def test_published_boundaries_have_their_level(self, looks: int, pocock: float, obrien_fleming: float) -> None:
        shares = np.arange(1, looks + 1) / looks
        for limits in (np.full(looks, pocock), obrien_fleming / np.sqrt(shares)):
            crossed = sequential.stopping(limits.tolist(), shares.tolist(), 0.0)
            assert crossed.sum() == pytest.approx(0.05, abs=1.5e-4)

    # How much larger the largest sample is than that of one test with power .8: the same book, Tables 2.2 and 2.4.
    @pytest.mark.parametrize(("looks", "limits", "larger"), [(5, [2.413] * 5, 1.229), (10, [2.555] * 10, 1.301)])
    def test_published_sizes(self, looks: int, limits: list[float], larger: float) -> None:
        shares = [look / looks for look in range(1, looks + 1)]
        drift = sequential.drift_for(limits, shares, 0.8)
        assert (drift / 2.80158) ** 2 == pytest.approx(larger, abs=1.5e-3)

    def test_a_plan_has_its_power(self) -> None:
        rng = np.random.default_rng(0)
        pilot = scores(stream(1, 4000, 0.03))
        planned = reshuffle.study.plan(metrics=pilot, difference={"score": 0.05}, looks=4, simulate=False)
        for each in planned.tables["sequential"]:
            options: dict[str, Any] = {"method": each.method, "looks": 4, "planned": each.size}
            samples = [scores(stream(seed, each.size, 0.05)) for seed in rng.integers(1 << 30, size=120)]
            found = [only(watch(metrics=sample, **options)) for sample in samples]
            assert np.mean([one.verdict == "better" for one in found]) == pytest.approx(0.8, abs=0.12)
            stops = [one.units if one.decided_at is None else one.decided_at for one in found]
            assert np.mean(stops) == pytest.approx(each.expected, rel=0.12)

    def test_boundaries_spend_what_they_should(self) -> None:
        shares = np.array([0.1, 0.35, 0.5, 1.0])
        limits = sequential.boundaries("pocock", tuple(shares.tolist()), 0.1)
        steps = np.diff(shares, prepend=0)
        walks = np.cumsum(np.random.default_rng(5).normal(size=(400_000, 4)) * np.sqrt(steps), axis=1) / np.sqrt(shares)
        crossed = np.maximum.accumulate(np.abs(walks) >= limits, axis=1).mean(axis=0)
        np.testing.assert_allclose(crossed, sequential.spent("pocock", shares, 0.1), atol=0.002)

    def test_looks_are_those_that_were_planned(self) -> None:
        early, later = (watch(metrics=scores(stream(2, n)), method="pocock", looks=4, planned=1000) for n in (100, 700))
        assert [look.units for look in later.tables["looks"]] == [250, 500]
        assert (only(early).verdict, only(early).low, only(early).pvalue) == ("undecided", None, None)


class TestAsymptotic:
    def test_p_is_the_level_at_which_the_interval_excludes_0(self) -> None:
        result = watch(metrics=scores(stream(4, 900, 0.08)), method="asymptotic", first_look=100)
        for look in result.tables["looks"]:
            r2 = sequential.tuned_for(100, 0.05)
            errors, units = np.array([look.difference / look.z]), np.array([look.units])
            p = sequential.asymptotic_pvalues(np.array([look.z]), units, r2)[0]
            assert look.pvalue <= p + 1e-15
            radius = sequential.asymptotic_radii(errors, units, p, r2)[0]
            assert radius == pytest.approx(abs(look.difference), rel=1e-9)

    def test_errors_are_those_of_the_delta_method(self) -> None:
        references = ["the cat sat on the mat", "a dog barked at the moon tonight", "it rained all day long"] * 40
        systems = {"a": [line[3:] for line in references], "b": [line[:-4] for line in references]}
        for look in watch(references, systems, ["bleu"], method="asymptotic", first_look=30).tables["looks"]:
            first = {name: lines[: look.units] for name, lines in systems.items()}
            compared = reshuffle.compare(references[: look.units], first, "bleu", interval="delta", n_resamples=99)
            low, high = ends(compared.comparisons[0])
            assert look.difference == pytest.approx((low + high) / 2)
            assert abs(look.difference / look.z) == pytest.approx((high - low) / (2 * 1.959963984540054), rel=1e-6)

    def test_identical_systems_are_never_decided(self) -> None:
        same = SegmentScores("score", {"a": np.arange(600) % 7, "b": np.arange(600) % 7})
        verdict = only(watch(metrics=same, method="asymptotic"))
        assert (verdict.verdict, verdict.pvalue, verdict.difference) == ("undecided", 1.0, 0.0)
        assert (verdict.low, verdict.high) == (-np.inf, np.inf)


METHODS: dict[str, dict[str, Any]] = {
    "betting": {"bounds": (0, 1)},
    "sign": {"method": "sign"},
    "asymptotic": {"method": "asymptotic", "first_look": 100},
    "obrien-fleming": {"method": "obrien-fleming", "planned": 1500},
    "pocock": {"method": "pocock", "planned": 1500},
}


@pytest.mark.parametrize("name", METHODS)
class TestEveryMethod:
    def test_better_and_worse(self, name: str) -> None:
        differences = stream(7, 1500, 0.15)
        higher, turned = scores(differences), scores(-differences)
        lower = SegmentScores("errors", higher.scores, higher_is_better=False)
        found = [only(watch(metrics=each, **METHODS[name])).verdict for each in (higher, turned, lower)]
        assert found == ["better", "worse", "worse"]

    def test_what_comes_later_does_not_change_what_was_decided(self, name: str) -> None:
        differences = stream(11, 1500, 0.15)
        whole = only(watch(metrics=scores(differences), **METHODS[name]))
        assert whole.decided_at is not None
        if name != "asymptotic":  # whose looks depend on the number of units
            first = (scores(differences[: whole.decided_at - more]) for more in (1, 0))
            before, at = (only(watch(metrics=each, **METHODS[name])) for each in first)
            assert (before.decided_at, at.decided_at) == (None, whole.decided_at)

    def test_json_and_csv(self, name: str) -> None:
        result = watch(metrics=scores(stream(1, 600, 0.1)), **METHODS[name])
        assert reshuffle.read_json(result.render("json")) == result
        assert result.render("csv").startswith("metric,system,baseline,verdict,")
        assert len(result.to_dicts("looks")) == len(result.tables["looks"])

    def test_the_error_rate_is_shared(self, name: str) -> None:
        pair = scores(stream(5, 1500, 0.1))
        both = SegmentScores("score", {**by_system(pair), "b": np.zeros(1500)})
        first = watch(metrics=both, **METHODS[name]).tables["verdicts"][0]
        alone = only(watch(metrics=pair, alpha=0.025, **METHODS[name]))
        assert (first.decided_at, first.low, first.pvalue) == (alone.decided_at, alone.low, alone.pvalue)

    @pytest.mark.slow
    def test_size(self, name: str) -> None:
        level = 0.05 if name in ("betting", "sign") else 0.055
        options = METHODS[name] | ({"first_look": 500} if name == "asymptotic" else {})
        decided = [only(watch(metrics=scores(stream(i, 1500)), **options)).decided_at for i in range(2000)]
        share = np.mean([each is not None for each in decided])
        assert share <= level + 3 * np.sqrt(0.05 * 0.95 / 2000)


class TestEValues:
    def test_they_are_the_wealth_after_all_units(self) -> None:
        values = stream(2, 300, 0.1)
        assert only(watch(metrics=scores(values), bounds=(0, 1))).log_evalue == pytest.approx(log_wealth(values, 0)[-1])
        sign = only(watch(metrics=scores(values), method="sign"))
        assert sign.log_evalue == pytest.approx(sequential.sign_wealth(values)[-1])
        assert only(watch(metrics=scores(values), first_look=50)).log_evalue is None

    @pytest.mark.parametrize("wealth", [sequential.sign_wealth, lambda x: log_wealth(x, 0.0)])
    def test_their_mean_is_1_at_most_if_nothing_differs(self, wealth: Callable[[Scores], Scores]) -> None:
        # All 3^5 streams of five units, of which a third are wins and a third are losses.
        every = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 5), axis=-1).reshape(-1, 5)
        assert np.mean([np.exp(wealth(values)[-1]) for values in every]) == pytest.approx(1.0, abs=1e-12)

    def test_their_mean_over_metrics_is_in_the_report(self) -> None:
        metrics = [scores(stream(seed, 500, effect), f"m{seed}") for seed, effect in ((1, 0.07), (2, 0))]
        result = watch(metrics=metrics, bounds=(0, 1))
        mean = np.mean([np.exp(each.log_evalue) for each in result.tables["verdicts"]])
        assert 1 < mean < 1000
        assert f"e-values tests whether there is any difference at all: p = {1 / mean:.4f}." in str(result)


def e_bh(logs: Scores, alpha: float) -> set[int]:
    """Wang & Ramdas 2022: the largest k for which the k-th largest e-value is m/(αk) or more."""
    order, m = np.argsort(-logs), len(logs)
    most = max((k for k in range(1, m + 1) if np.exp(logs[order[k - 1]]) >= m / (alpha * k)), default=0)
    return set(order[:most].tolist())


class TestEBH:
    def test_verdicts_are_those_of_the_definition(self) -> None:
        decided = set()
        for seed in range(6):
            effects = [0.0, 0.0, 0.06, 0.08, 0.1, 0.12]
            metrics = [scores(stream(10 * seed + m, 700, effect), f"m{m}") for m, effect in enumerate(effects)]
            result = watch(metrics=metrics, bounds=(0, 1), adjust="e-bh")
            verdicts = result.tables["verdicts"]
            found = {m for m, each in enumerate(verdicts) if each.verdict != "undecided"}
            assert found == e_bh(np.array([each.log_evalue for each in verdicts]), 0.05)
            assert {each.decided_at for each in verdicts} <= {None, 700}
            decided.add(len(found))
            for each, metric in zip(verdicts, metrics, strict=True):
                alone = only(watch(metrics=metric, bounds=(0, 1)))
                assert (each.low, each.high, each.pvalue) == (alone.low, alone.high, alone.pvalue)
        assert len(decided) > 2

    @pytest.mark.slow
    def test_the_share_of_wrong_verdicts(self) -> None:
        # Half of 20 metrics differ; all share noise. The share is looked at when most is decided.
        rng, wrong = np.random.default_rng(3), []
        for _ in range(400):
            shared = rng.random(800)
            logs = []
            for m in range(20):
                u = np.where(rng.random(800) < 0.5, shared, rng.random(800))
                effect = 0.08 if m < 10 else 0.0
                logs.append(sequential.sign_wealth((u > 0.9 - effect / 2).astype(float) - (u < 0.1 - effect / 2)))
            at = max(range(99, 800, 100), key=lambda n: len(e_bh(np.array([own[n] for own in logs]), 0.05)))
            found = e_bh(np.array([own[at] for own in logs]), 0.05)
            wrong.append(sum(m >= 10 for m in found) / max(1, len(found)))
        assert np.mean(wrong) <= 0.05 + 3 * np.std(wrong) / np.sqrt(len(wrong))


# What the calls in python_errors_of_watch.txt are about.
FOUR = SegmentScores("score", {"a": [0, 0, 1, 0], "b": [0, 1, 1, 0]})
LACKING = SegmentScores("score", {"a": [0, 1, None], "b": [1, 1, 0]}, missing="pairwise")


def test_bad_options() -> None:
    assert_raises("python_errors_of_watch", globals())


def test_no_limit_is_shown_as_0() -> None:
    result = watch(metrics=scores(stream(7, 1500, 0.15)), bounds=(0, 1))
    looks = result.tables["looks"]
    first = next(each for each in looks if each.units == only(result).decided_at)
    assert 0 < first.low < 0.05  # shown at this look, so just above 0
    assert not re.search(r"[+-]0\.0+ to|to [+-]0\.0+\s", str(result))


DRIFTING = np.concatenate([stream(1, 1000, 0.3, 0.6), stream(2, 3000, -0.5, 0.6)])


@pytest.mark.parametrize("options", [METHODS["asymptotic"], {"method": "pocock", "planned": 4000}])
def test_a_difference_that_drifts_is_in_its_interval(options: dict[str, Any]) -> None:
    verdict = only(watch(metrics=scores(DRIFTING), **options))
    assert known(verdict.low) <= verdict.difference <= known(verdict.high)


def test_a_verdict_stands_though_its_sequence_contains_0_again() -> None:
    values = np.concatenate([stream(1, 800, 0.2), -stream(2, 800, 0.2)])
    again, before = (str(watch(metrics=scores(each), first_look=100)) for each in (values, values[:800]))
    assert "new is better than old" in again
    assert ("contains 0 again, but the verdict stands" in again, "again" in before) == (True, False)


def test_before_the_first_look_reports_say_that_nothing_is_tested() -> None:
    report = str(watch(metrics=scores(stream(1, 100))))
    assert ("Not tested yet under score: new and old." in report, "Not decided" in report) == (True, False)


def test_what_reports_tell() -> None:
    three = [scores(stream(m, 700, 0.1), f"m{m}") for m in range(3)]
    results = {
        "betting": watch(metrics=scores(stream(7, 400, 0.15)), bounds=(0, 1)),
        "e-BH": watch(metrics=three, method="sign", adjust="e-bh"),
        "planned looks": watch(metrics=scores(stream(2, 700)), method="pocock", looks=4, planned=1000),
        "documents": watch(metrics=scores(stream(9, 600, 0.2)), documents=np.arange(600) // 10, first_look=20),
        "a difference that drifts": watch(metrics=scores(DRIFTING), bounds=(0, 1)),
    }
    methods = {name: each.methods_sentence().partition(" All numbers")[0] for name, each in results.items()}
    told = {name: f"{each}\n\n{methods[name]}" for name, each in results.items()}
    assert_told("watch", beyond_the_first(told))


def test_e_values_of_nights_multiply_only_if_segments_are_new() -> None:
    new, same = (float(nights(share, 200)[1]) for share in (1, 0))
    assert new <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert same > 0.1


def test_the_checklist_of_a_paper_claims_no_simulation() -> None:
    # Of a metric whose long name the page has to break.
    metric = scores(stream(1, 100), "mean_squared_error_of_logits_" * 5)
    result = watch(metrics=metric, bounds=(0, 1))
    facts = " ".join(as_checklist(result, Layout(), "references.bib").split())
    assert "are confidence sequences for the sampling of the units" in facts
    assert "Monte Carlo" not in facts
    assert result.render("html").startswith("<!DOCTYPE html>")


def test_the_command(tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, values in by_system(scores(stream(7, 1500, 0.15))).items():
        Path(f"{name}.txt").write_text("\n".join(f"{value:g}" for value in values), encoding="utf-8")
    words = "watch --scores accuracy old.txt new.txt".split()
    shown = run(*words, "--bounds", "0", "1", "-o", "-", "-o", "watch.json")
    assert "new is better than old under accuracy, shown after" in shown.out
    assert run("show", "watch.json").out == shown.out
    assert run(*words, "--bounds", "-1", "1").code == 0
    assert "--source is for" in run(*words, "--method", "sign", "--source", "watch.json").err
    assert run("plot", "watch.json", "course", "-o", "course.svg").code == 0


def test_scores_in_a_small_part_of_the_bounds_are_warned_of() -> None:
    differences = stream(1, 400, 0.1)
    with pytest.warns(
        InputWarning, match="all scores are between 0 and 1, a small part of the bounds 0 and 100, which"
    ):
        watch(metrics=scores(differences), bounds=(0, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watch(metrics=scores(differences), bounds=(0, 1))
        watch(metrics=scores(np.zeros(40)), bounds=(0, 1))  # scores that are all the same say nothing
