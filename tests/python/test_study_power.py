"""Power: studies of power and sensitivity, plans of test sets, and the closed forms behind them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.stats import norm

import reshuffle
from known import known
from reshuffle import InputError, InputWarning, SegmentScores, compare, human, metric
from reshuffle.execution import Execution
from reshuffle.inference.power import (
    critical_value,
    detectable_factor,
    normal_errors,
    normal_power,
    required_units,
    t_detectable,
    t_power,
    t_required_units,
)
from reshuffle.resampling.counting import Data
from reshuffle.results.studies import PowerRate, StudyResult
from reshuffle.settings import Resampling, Units
from reshuffle.study import parametric_power, plan, power, sensitivity
from reshuffle.study.calibration import effect_for
from reshuffle.study.material import Material, MeasuredPair
from reshuffle.study.parametric import CARD_BLEU, SwapEffects, SwapTests, effects_of_swaps
from reshuffle.study.power import simulated_mixture
from reshuffle.study.sensitivity import paired_difference
from reshuffle.study.settings import StudySettings
from texts import translations

UNITS = 200


def normal_scores(difference: float = 0.25, units: int = UNITS, seed: int = 4) -> SegmentScores:
    """Two systems whose differences have this mean and the standard deviation 1, exactly."""
    rng = np.random.default_rng(seed)
    base, contributions = rng.normal(size=(2, units))
    contributions = (contributions - contributions.mean()) / contributions.std(ddof=1) + difference
    return SegmentScores("quality", {"old": base, "new": base + contributions})


def texts(units: int = 60) -> tuple[list[str], dict[str, list[str]]]:
    """References and outputs of three systems that repeat them with more or fewer errors."""
    references, outputs = translations(units, 0.5, 0.65, 0.75)
    return references, dict(zip(("poor", "good", "best"), outputs.values(), strict=True))


def of(study: StudyResult, table: str = "power", **values: Any) -> list[Any]:
    """The records of a table with these values."""
    return [r for r in study.tables[table] if all(getattr(r, name) == value for name, value in values.items())]


def test_simulated_power_agrees_with_closed_forms() -> None:
    """The t-test's power in closed form, and type-M and type-S errors of a normal estimate."""
    tests, n = ("ar", "t-test", "bootstrap"), 500
    study = power(
        metrics=normal_scores(), tests=tests, effects=(0.1, 0.3, 0.5), alphas=(0.05, 0.2), simulations=n,
        n_resamples=199, sizes=100,
    )  # fmt: skip
    assert len(study.tables["power"]) == 3 * 3 * 2
    for found in study.tables["power"]:
        deviation = math.sqrt((1 + (1 - 4 * found.effect**2) * 0.25**2) * (UNITS - 1) / UNITS)
        expected = t_power(2 * found.effect * 0.25 / deviation, 100, found.alpha)
        error = math.sqrt(expected * (1 - expected) / n)
        assert found.rate == pytest.approx(expected, abs=4.5 * error), found
        assert found.approximation == pytest.approx(expected, abs=0.01)
        assert found.confidence_interval.low < found.rate < found.confidence_interval.high
        assert found.difference == pytest.approx(2 * found.effect * 0.25)
        assert found.mean_difference == pytest.approx(found.difference, abs=4 * 0.1 / math.sqrt(n))
        errors = normal_errors(found.difference / (deviation / 10), found.alpha)
        significant = n * found.rate
        assert found.type_m == pytest.approx(errors.type_m, abs=3 * errors.type_m / math.sqrt(significant))
        spread = math.sqrt(errors.type_s * (1 - errors.type_s) / significant)
        assert found.type_s == pytest.approx(errors.type_s, abs=4 * spread + 1 / significant)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_true_differences_go_from_0_to_that_of_the_pair(name: str) -> None:
    references, systems = texts(300)
    chosen = metric(name)
    counts = chosen.suff_stats(references, [systems["good"], systems["poor"]])
    measured = MeasuredPair(name, "good", "poor", chosen.higher_is_better, chosen, counts)
    (pair,) = compare(references, {k: systems[k] for k in ("poor", "good")}, name, test="ar", n_resamples=9).comparisons
    found = [measured.difference(eta) for eta in (0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    assert found[0] == 0
    assert found[5] == pytest.approx(pair.difference)
    assert list(np.sign(pair.difference) * np.diff(found) > 0) == [True] * 5
    # The slow twin: the difference on a large test set in which each unit was swapped or not.
    rng = np.random.default_rng(8)
    units = rng.integers(300, size=200_000)
    kept = rng.random(len(units)) < 0.8
    a, b = (np.where(kept[:, None], counts[i, units], counts[1 - i, units]).sum(axis=0) for i in (0, 1))
    assert found[3] == pytest.approx(float(chosen.score(a) - chosen.score(b)), abs=0.03 * abs(pair.difference))


def test_the_real_pair_is_the_mixture_without_swaps() -> None:
    study = power(
        metrics=normal_scores(), models=("eta", "real", "parametric"), effects=0.5, tests=("t-test", "ar"),
        alphas=0.05, simulations=100, n_resamples=99,
    )  # fmt: skip
    eta, real = of(study, model="eta"), of(study, model="real")
    assert [replace(r, model="eta") for r in real] == eta
    (fitted,) = of(study, model="parametric")
    assert fitted.test == "ar"
    assert fitted.approximation == pytest.approx(eta[0].approximation, abs=0.06)
    (fit,) = study.tables["fits"]
    assert (fit.system, fit.baseline, fit.p_zero, fit.units) == ("new", "old", 0, UNITS)
    # The scale of effects −2d of normal differences d is their mean absolute deviation.
    assert fit.b_zero == pytest.approx(2 * math.sqrt(2 / math.pi), rel=0.1)
    assert list(study.truths) == ["eta", "real", "parametric"]


def test_size_adjusted_power_makes_tests_comparable() -> None:
    settings: dict[str, Any] = {"tests": ("ar", "bootstrap-shift"), "alphas": 0.1, "simulations": 400, "sizes": 100}
    study = power(metrics=normal_scores(), effects=(0, 0.3), size_adjusted=True, n_resamples=99, **settings)
    assert all(r.rate <= 0.1 for r in of(study, effect=0.0))
    ar, shift = of(study, effect=0.3)
    assert shift.level < 0.06 < ar.level  # the shift test rejects too often
    assert abs(shift.rate - ar.rate) < 0.06


def test_cells_do_not_depend_on_the_rest_of_the_plan_or_on_threads() -> None:
    settings: dict[str, Any] = {"metrics": normal_scores(), "tests": "ar", "simulations": 40, "n_resamples": 49}
    whole = power(effects=(0, 0.2, 0.5), sizes=(50, 100), models=("parametric", "eta"), workers=3, **settings)
    for model in ("eta", "parametric"):
        part = power(effects=0.2, sizes=100, models=model, workers=1, **settings)
        assert list(part.tables["power"]) == of(whole, model=model, effect=0.2, size=100)


def test_the_model_alone_needs_no_data() -> None:
    study = parametric_power((0, 1.0), (500, 2000), alphas=(0.01, 0.05), simulations=60, n_resamples=99)
    assert len(study.tables["power"]) == len(study.rates) == 8
    at_one: list[PowerRate] = of(study, difference=1.0, alpha=0.05)
    assert [(r.size, round(r.approximation or 0, 2)) for r in at_one] == [(500, 0.26), (2000, 0.75)]
    assert at_one[0].type_m > 1.5 > at_one[1].type_m > 1  # type: ignore[operator]
    assert {r.null for r in study.rates} == {"parametric=0", "parametric=1"}
    adjusted = parametric_power((0.0, 1.0), 500, size_adjusted=True, alphas=0.05, simulations=60, n_resamples=99)
    assert adjusted.tables["power"][0].rate <= 0.05


def test_systems_that_are_the_same_have_no_power() -> None:
    same = SegmentScores("quality", {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    (found,) = power(metrics=same, effects=0.5, tests="ar", alphas=0.05, simulations=5).tables["power"]
    assert (found.rate, found.difference, found.type_m, found.approximation) == (0, 0, None, None)


# Plans.

NUMBERS: dict[str, Any] = {"simulations": 400, "n_resamples": 99}


FIELDS = ("difference", "low", "high", "power", "level")


def test_a_plan_at_the_size_of_the_data_agrees_with_compare() -> None:
    references, systems = texts()
    for arguments in ({}, {"all_pairs": True}, {"baseline": "good"}, {"alternative": "greater"}):
        compared = compare(references, systems, ["bleu", "chrf"], n_resamples=99, **arguments)
        planned = plan(references, systems, ["bleu", "chrf"], sizes=60, simulate=False, **arguments)
        for one, other in zip(compared.detectable, planned.tables["detectable"], strict=True):
            assert one.metric == other.metric
            found, expected = ([getattr(each, field) for field in FIELDS] for each in (one, other))
            assert found == pytest.approx(expected, rel=1e-12)


def test_plans_are_consistent() -> None:
    """The needed size detects the difference, one unit less does not; power at that size is the wanted one."""
    references, systems = texts()
    closed = partial(plan, simulate=False)
    differences: dict[str, Any] = {"bleu": [2.0, 5.0], "TER": 3.0}
    planned = closed(references, systems, ["bleu", "ter"], difference=differences, power=[0.5, 0.9])
    assert list(planned.tables) == ["detectable", "planned", "needed", "errors"]
    needed = planned.tables["needed"]
    assert [(n.metric, n.difference, n.power) for n in needed] == [
        ("BLEU", 2, 0.5), ("BLEU", 2, 0.9), ("BLEU", 5, 0.5), ("BLEU", 5, 0.9), ("TER", 3, 0.5), ("TER", 3, 0.9)
    ]  # fmt: skip
    for each in needed:
        assert each.low < each.size < each.high
        sizes = [each.size - 1, each.size]
        again = closed(references, systems, ["bleu", "ter"], difference={each.metric: each.difference}, sizes=sizes)
        below, at = of(again, "planned")
        assert below.power < each.power <= at.power + 1e-3
        assert at.low < at.power < at.high
        above, detected = of(
            closed(references, systems, each.metric.lower(), power=each.power, sizes=sizes), "detectable"
        )
        assert detected.difference <= each.difference < above.difference
    assert {e.size for e in planned.tables["errors"]} == {60}
    assert planned.plan["family_size"] == 2
    assert planned.plan["difference"] == {"BLEU": [2.0, 5.0], "TER": [3.0]}


def test_means_are_also_planned_for_the_t_test() -> None:
    planned = plan(metrics=normal_scores(), difference={"QUALITY": 0.25}, sizes=[20, 100], simulate=False)
    power_of_t = {p.size: p.power for p in of(planned, "planned", method="t-test")}
    assert power_of_t == pytest.approx({n: t_power(0.25, n, 0.05) for n in (20, 100)})
    # R: power.t.test(delta = .25, power = .8, type = "one.sample") has 127.5.
    assert [each.size for each in planned.tables["needed"]] == [126, 128]
    assert of(planned, "detectable", size=20, method="t-test")[0].difference > 0.626
    assert of(planned, "planned", method="normal", size=20)[0].type_m > 1
    documents = [i // 2 for i in range(UNITS)]
    of_documents = plan(metrics=normal_scores(), documents=documents, simulate=False)
    assert {d.method for d in of(of_documents, "detectable")} == {"normal"}


def test_simulated_plans_have_the_planned_power() -> None:
    """With skewed scores, the z-test is too optimistic; the plan for a test is not."""
    rng = np.random.default_rng(1)
    skewed = SegmentScores("quality", {"a": np.zeros(300), "b": rng.lognormal(sigma=1.2, size=300)})
    options: dict[str, Any] = {"tests": "ar", "n_resamples": 199}
    planned = plan(metrics=skewed, sizes=[60], simulations=2000, **options)
    (detectable,) = planned.tables["detectable"]
    assert (detectable.method, detectable.size) == ("ar", 60)
    (closed,) = of(plan(metrics=skewed, sizes=[60], simulate=False), "detectable", method="normal")
    (again,) = plan(metrics=skewed, sizes=[60], simulations=2000, seed=2, **options).tables["detectable"]
    assert again.difference == pytest.approx(detectable.difference, rel=0.03)
    (of_pair,) = Material.from_data(Data.from_arguments(None, None, skewed), Units(), Resampling(), []).measured((1, 0))

    def simulated(difference: float) -> float:
        """The power, for a difference of as many standard errors of the mixture as this one has of the pair."""
        settings = StudySettings(simulations=2000, alphas=(0.05,), seed=3, **options)
        wider = of_pair.mixture_error(effect_for(of_pair, difference), 1) / of_pair.unit_error
        eta = effect_for(of_pair, difference * wider)
        (cell,) = simulated_mixture([of_pair], 60, eta, settings)
        return float((cell.pvalues <= 0.05).mean())

    assert simulated(detectable.difference) == pytest.approx(0.8, abs=0.025)
    assert abs(simulated(closed.difference) - 0.8) > 0.03


def test_efficiency_is_that_of_the_simulated_power() -> None:
    """The definition: the effect with which a z-test has the power, relative to the true one, over both rounds."""
    planned = plan(metrics=normal_scores(0.5), difference={"quality": 0.3}, sizes=80, tests="ar", **NUMBERS)
    (rate, of_size) = planned.tables["simulated"]
    assert (rate.size, rate.simulations) == (80, 400)
    (error,) = planned.tables["errors"]
    of_unit = error.standard_error * math.sqrt(UNITS)
    (detectable,), (power,) = planned.tables["detectable"], planned.tables["planned"]
    efficiency = detectable_factor(0.05) * of_unit / math.sqrt(80) / detectable.difference
    of_mixture = math.sqrt(of_unit**2 + 0.5**2 - rate.difference**2)  # its contributions d are ±d with this mean
    last = (norm.ppf(rate.rate) + critical_value(0.05)) / (rate.difference * math.sqrt(80) / of_mixture)
    assert efficiency == pytest.approx(last, rel=0.05)  # the first round counts for a fifth
    assert power.power == pytest.approx(normal_power(efficiency * 0.3 * math.sqrt(80) / of_unit, 0.05))
    (needed,) = planned.tables["needed"]
    assert needed.size == pytest.approx(of_size.size, rel=0.25)
    assert (power.method, needed.method) == ("ar", "ar")


def test_the_difference_of_a_pilot_does_not_change_what_is_detectable() -> None:
    """It adds to the variance of a mixture, but not to that of the systems that are planned for."""
    plans = (plan(metrics=normal_scores(each), sizes=80, tests="ar", **NUMBERS) for each in (0.35, 2.0))
    near, far = (each.tables["detectable"][0].difference for each in plans)
    assert far == pytest.approx(near, rel=0.1)  # the mixture of the second has 2.1 times the standard error


@pytest.mark.parametrize("eta", [0, 0.3])
def test_the_standard_error_of_a_mixture_is_that_of_its_samples(eta: float) -> None:
    references, systems = texts(300)
    bleu = metric("bleu")
    counts = bleu.suff_stats(references, [systems["best"], systems["poor"]])
    measured = MeasuredPair("BLEU", "best", "poor", True, bleu, counts)
    rng, differences = np.random.default_rng(5), []
    for _ in range(2000):
        units, kept = rng.integers(300, size=300), rng.random(300) < 0.5 + eta
        a, b = (np.where(kept[:, None], counts[i, units], counts[1 - i, units]).sum(axis=0) for i in (0, 1))
        differences.append(float(bleu.score(a) - bleu.score(b)))
    assert measured.mixture_error(eta, 300) == pytest.approx(np.std(differences), rel=0.06)
    assert measured.unit_error / math.sqrt(300) < 0.8 * np.std(differences)


def test_what_no_pair_can_show_is_planned_in_closed_form() -> None:
    planned = plan(metrics=normal_scores(0.01), sizes=(50, 150), **NUMBERS)
    assert "simulated" not in planned.tables
    assert {each.method for each in planned.tables["detectable"]} == {"normal"}
    assert not planned.truths
    assert "Not simulated, because no pair differs enough" in " ".join(str(planned).split())
    repeated = plan(metrics=normal_scores(0.15), sizes=50, **NUMBERS)
    (found,) = repeated.tables["simulated"]
    assert UNITS < found.size <= 4 * UNITS
    assert "larger test sets were simulated, in which segments repeat" in repeated.truths["simulated"]
    assert {each.method for each in repeated.tables["detectable"]} == {"bootstrap-both"}


def test_one_sided_plans_are_simulated_in_their_direction() -> None:
    for alternative in ("greater", "less"):
        planned = plan(
            metrics=normal_scores(0.5), difference={"quality": 0.3}, sizes=100, tests="ar", alternative=alternative,
            **NUMBERS,
        )  # fmt: skip
        for found in planned.tables["simulated"]:
            assert (found.difference > 0) == (alternative == "greater")
            assert found.rate == pytest.approx(found.approximation, abs=0.1)
        assert of(planned, "planned", method="ar")[0].type_m is None


def test_differences_that_scores_can_hardly_reach_are_warned_of() -> None:
    with pytest.warns(InputWarning, match=r"the difference of quality is 100, and all .* between -"):
        plan(metrics=normal_scores(), difference={"quality": 100}, simulate=False)
    ratings = SegmentScores("people", {"a": [1, 5, None] * 30, "b": [2, 4, None] * 30}, missing="pairwise")
    judge = SegmentScores("judge", {"a": range(90), "b": range(90, 0, -1)})
    with pytest.warns(InputWarning, match=r"is 9, and all scores .* between 1 and 5: if .* no number of labels is"):
        human(metrics=[ratings, judge], difference=9)


def test_plans_need_sizes_at_which_a_test_can_reject() -> None:
    options: dict[str, Any] = {"tests": "ar", "simulations": 200, "n_resamples": 199}
    with pytest.raises(InputError, match="quality: on test sets of 4, ar hardly ever rejects at alpha 0"):
        plan(metrics=normal_scores(3.0), sizes=[4, 40], **options)
    assert plan(metrics=normal_scores(3.0), sizes=[7, 40], **options)


# Sensitivity.


def test_sensitivity_of_metrics() -> None:
    references, systems = texts()
    study = sensitivity(
        references, systems, ["bleu", "nist", "chrf"], tests=("ar", "bootstrap"), effects=(0, 0.5), sizes=30,
        alphas=0.05, simulations=60, n_resamples=99,
    )  # fmt: skip
    compared = compare(references, systems, ["bleu", "nist", "chrf"], test="ar", interval="delta")
    scores = {(s.metric, s.system): s for s in compared.scores}
    for own in study.tables["scored"]:
        expected = scores[own.metric, own.system]
        assert own.score == pytest.approx(expected.score)
        interval = known(expected.confidence_interval)
        assert own.standard_error == pytest.approx((interval.high - interval.low) / 2 / 1.959964, rel=1e-6)
    pairs = {(p.metric, p.system): p for p in compared.comparisons}
    for found in of(study, "tested", test="ar"):
        assert (found.pvalue, found.n_resamples) == (pairs[found.metric, found.system].test.pvalue, 10_000)
        assert found.difference == pytest.approx(pairs[found.metric, found.system].difference)
    for system in ("good", "best"):
        ranked = sorted(of(study, "sensitivity", system=system), key=lambda s: s.rank)
        assert [s.rank for s in ranked] == [1, 2, 3]
        assert [s.standardized for s in ranked] == sorted((s.standardized for s in ranked), reverse=True)
        assert all(s.standardized == pytest.approx(abs(s.difference) / s.standard_error) for s in ranked)
    assert len(study.tables["contrasts"]) == 2 * 2 * 2 * 3
    for contrast in study.tables["contrasts"]:
        at = {"test": contrast.test, "system": contrast.system, "effect": contrast.effect}
        one, other = (of(study, **at, metric=name)[0].rate for name in (contrast.metric, contrast.other))
        assert contrast.difference == pytest.approx(one - other)
        assert contrast.confidence_interval.low < contrast.confidence_interval.high
    assert all(r.rate <= 0.05 for r in of(study, effect=0.0))


def test_the_published_example_of_the_paired_interval() -> None:
    """``ci.prop.ps(.05, 12, 4, 26, 6)`` in the documentation of the R package statpsych, by D. Bonett."""
    found = paired_difference(26, 4, 48)
    assert (found.low, found.high) == pytest.approx((0.2548067, 0.6251933), abs=1e-7)
    assert paired_difference(50, 0, 50).high <= 1


def test_a_metric_under_which_no_system_differs_has_no_rank() -> None:
    pairs = SegmentScores("one", {"a": [1.0, 2.0], "b": [1.0, 2.0]}), SegmentScores("two", {"a": [1, 2], "b": [2, 4]})
    study = sensitivity(metrics=pairs, tests="ar", effects=0.5, alphas=0.5, simulations=4, n_resamples=9)
    assert [(s.standardized is None, s.rank) for s in study.tables["sensitivity"]] == [(True, None), (False, 1)]


# --- Closed forms against published figures and other formulas, and simulated power against them


ALTERNATIVES = ("two-sided", "greater", "less")


def test_published_design_errors() -> None:
    """The text of Gelman & Carlin 2014 (doi:10.1177/1745691614551642), pages 644 to 646."""
    usual = normal_errors(2.8, 0.05)
    assert (round(usual.power, 2), f"{usual.type_s:.1e}") == (0.8, "1.2e-06")
    assert usual.type_m == pytest.approx(1.12, abs=0.01)
    powers = [normal_power(effect, 0.05) for effect in (2, 1, 0.65)]
    assert powers == pytest.approx([0.5, 0.17, 0.10], abs=0.02)
    # Beauty and sex ratios: true differences of .1, .3 and 1, with a standard error of 3.28.
    published = {0.1: (0.46, 77), 0.3: (0.40, 25), 1.0: (0.19, 8)}
    for difference, (type_s, type_m) in published.items():
        found = normal_errors(difference / 3.28, 0.05)
        assert found.type_s == pytest.approx(type_s, abs=0.015)
        assert found.type_m == pytest.approx(type_m, abs=0.5, rel=0.03)  # they simulate it
    for difference, right, wrong in [(0.1, 0.027, 0.023), (1.0, 0.049, 0.011)]:
        found = normal_errors(difference / 3.28, 0.05)
        assert found.power * (1 - found.type_s) == pytest.approx(right, abs=0.001)
        assert found.power * found.type_s == pytest.approx(wrong, abs=0.001)


@given(st.floats(0.05, 4), st.sampled_from([0.01, 0.05, 0.2]))
def test_design_errors_are_integrals_over_the_tails(effect: float, level: float) -> None:
    z, law = critical_value(level), stats.norm(effect)
    right, wrong = law.sf(z), law.cdf(-z)
    size = law.expect(abs, lb=z) + law.expect(abs, ub=-z)
    found = normal_errors(effect, level)
    assert found.power == pytest.approx(right + wrong, rel=1e-9)
    assert found.power == pytest.approx(normal_power(effect, level), rel=1e-12)
    assert found.type_s == pytest.approx(wrong / (right + wrong), rel=1e-6)
    assert found.type_m == pytest.approx(size / (right + wrong) / effect, rel=1e-6)


def test_design_errors_without_an_effect() -> None:
    found = normal_errors(0.0, 0.05)
    assert found.power == pytest.approx(0.05)
    assert (found.type_m, found.type_s) == (math.inf, 0.5)
    impossible = normal_errors(0.0, 5e-324)
    assert impossible.power == 0
    assert math.isnan(impossible.type_m)


@given(st.floats(-40, 40), st.integers(2, 400), st.sampled_from([0.001, 0.05, 0.3]), st.sampled_from(ALTERNATIVES))
def test_power_of_the_t_test_is_that_of_the_noncentral_t(effect: float, n: int, level: float, alternative: str) -> None:
    """Where the estimated standard deviation is s, t is beyond its limit if a normal number is beyond limit·s."""
    tail = level / 2 if alternative == "two-sided" else level
    limit, root = stats.t.isf(tail, n - 1), math.sqrt(n - 1)

    def beyond(sign: int) -> float:
        def integrand(s: float) -> float:
            normal = math.erfc((limit * s - sign * effect) / math.sqrt(2)) / 2
            return float(normal * math.exp(log_density + (n - 2) * math.log(s) - (n - 1) * s * s / 2)) if s else 0.0

        log_density = math.log(2) + (n - 1) / 2 * math.log((n - 1) / 2) - math.lgamma((n - 1) / 2)
        ends, steep = (0, 1 + 12 / root), [abs(effect) / limit, 1.0]
        points = [x for x in steep if 0 < x < ends[1]]
        return float(integrate.quad(integrand, *ends, points=points, limit=500, epsabs=1e-11)[0])

    above, below = beyond(1), beyond(-1)
    expected = {"two-sided": above + below, "greater": above, "less": below}[alternative]
    assert t_power(effect / math.sqrt(n), n, level, alternative) == pytest.approx(expected, abs=1e-6)


def test_published_sample_sizes_of_the_t_test() -> None:
    """The paired t-test at .05, two-sided, with power .8: the example of G*Power's and Cohen's small to large d."""
    assert [t_required_units(effect, 0.05, 0.8) for effect in (0.2, 0.5, 0.8)] == [199, 34, 15]


@given(st.floats(0.05, 3), st.sampled_from([0.01, 0.05]), st.floats(0.3, 0.99), st.sampled_from(ALTERNATIVES))
def test_needed_sizes_are_the_smallest(effect: float, level: float, power: float, alternative: str) -> None:
    signed = -effect if alternative == "less" else effect
    n = known(t_required_units(signed, level, power, alternative))
    assert t_power(signed, n, level, alternative) >= power
    assert n == 2 or t_power(signed, n - 1, level, alternative) < power
    units = known(required_units(effect, 1.0, 1, level, power, alternative))
    factor = detectable_factor(level, power, alternative)
    assert factor / math.sqrt(units) <= effect * (1 + 1e-9)
    assert units == 2 or factor / math.sqrt(units - 1) > effect
    # The t-test needs about z²/2 units more than a test with known variance: Guenther 1981, doi:10.2307/2683363.
    assert units - 1 <= n <= units + critical_value(level, alternative) ** 2 / 2 + 4


def test_extreme_plans() -> None:
    assert required_units(1e-9, 1.0, 1, 0.05, 0.8) is None
    assert t_required_units(1e-9, 0.05, 0.8) is None
    assert required_units(1.0, 0.5, 10, 0.5, 0.3) == 2  # rejected more often than that without any difference
    assert t_detectable(10, 0.5, 0.3) == 0
    assert math.isinf(critical_value(5e-324))
    with pytest.raises(reshuffle.InputError, match="at least 2 units, got 1"):
        t_power(1.0, 1, 0.05)


# The model of Card et al. 2020.


def test_the_notebook_of_card_et_al() -> None:
    """Its printed results, from 500 trials, are: mean 1.026, power .756, type-M 1.200, type-S .000.

    Source: BLEU.ipynb in notebooks_for_power_calculations of github.com/dallascard/NLP-power-analysis. The abstract of
    2020.emnlp-main.745 has "approximately 75% power" for one BLEU point on 2,000 sentences.
    """
    found = SwapTests(CARD_BLEU, 1.0, 2000, 12345, 199, "two-sided").results(300, Execution(threads=2))
    rejected = found["pvalue"] <= 0.05
    significant = found["difference"][rejected]
    assert found["difference"].mean() == pytest.approx(1.026, abs=4 * 0.38 * math.sqrt(1 / 300 + 1 / 500))
    assert rejected.mean() == pytest.approx(0.756, abs=4 * 0.43 * math.sqrt(1 / 300 + 1 / 500))
    assert np.abs(significant).mean() == pytest.approx(1.200, abs=0.08)
    assert (significant > 0).all()
    approximated = normal_power(1.0 / CARD_BLEU.standard_error(1.0, 2000), 0.05)
    assert approximated == pytest.approx(0.75, abs=0.005)


def test_drawn_effects_have_the_distribution_of_the_model() -> None:
    model, n = SwapEffects(0.3, 20.0), 200_000
    effects = model.draw(2.0, n, 7)
    others = effects[effects != 0]
    assert np.mean(effects == 0) == pytest.approx(0.3, abs=0.005)
    law = stats.laplace(-2 * 2.0 / (n * 0.7), 20.0 / n)
    assert stats.kstest(others, law.cdf).pvalue > 0.01
    # The observed difference is minus half the sum of the effects.
    assert -effects.sum() / 2 == pytest.approx(2.0, abs=5 * model.standard_error(2.0, n))
    sums = [-model.draw(2.0, 50, seed).sum() / 2 for seed in range(4000)]
    assert np.std(sums) == pytest.approx(model.standard_error(2.0, 50), rel=0.05)
    # The same random numbers for every size.
    assert model.draw(2.0, 50, 3) == pytest.approx(model.draw(2.0, 60, 3)[:50] * 60 / 50, rel=1e-12)


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_effects_of_swaps_are_differences_of_scores(name: str) -> None:
    """The slow twin: swap one unit, and score both systems again."""
    rng = np.random.default_rng(3)
    words = ["the", "cat", "sat", "on", "a", "mat", "dog"]
    texts = [[" ".join(rng.choice(words, rng.integers(4, 9))) for _ in range(12)] for _ in range(3)]
    texts[2][4] = texts[1][4]
    chosen = metric(name)
    counts = chosen.suff_stats(texts[0], texts[1:])
    effects = effects_of_swaps(chosen, counts)
    for unit, effect in enumerate(effects):
        swapped = counts.copy()
        swapped[:, unit] = counts[::-1, unit]
        (x, y), (a, b) = (chosen.score(own.sum(axis=1)) for own in (swapped, counts))
        assert effect == pytest.approx((x - y) - (a - b), abs=1e-9)
    assert effects[4] == 0


def test_a_fit_finds_the_parameters_again() -> None:
    rng = np.random.default_rng(5)
    n, model = 5000, SwapEffects(0.25, 18.0)
    contributions = -n / 2 * model.draw(0.4, n, 9)
    base = rng.normal(size=n)
    scores = SegmentScores("quality", {"a": base + contributions, "b": base})
    counts = scores.counts_of(["a", "b"])
    fitted = known(SwapEffects.fitted(scores, counts))
    assert fitted.p_zero == pytest.approx(0.25, abs=0.03)
    assert fitted.b_zero == pytest.approx(18.0, rel=0.05)
    assert SwapEffects.fitted(scores, counts[[0, 0]]) is None


@pytest.mark.parametrize(("p_zero", "b_zero"), [(1.0, 1.0), (-0.1, 1.0), (0.5, 0.0), (0.5, math.inf), (math.nan, 1.0)])
def test_parameters_out_of_range(p_zero: float, b_zero: float) -> None:
    with pytest.raises(reshuffle.InputError, match=r"^(p_zero|b_zero) must be"):
        SwapEffects(p_zero, b_zero)
