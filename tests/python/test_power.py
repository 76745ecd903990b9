"""Power: closed forms against published figures and other formulas, and simulated power against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import reshuffle
from known import known
from reshuffle import SegmentScores, metric
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
from reshuffle.study.parametric import CARD_BLEU, SwapEffects, SwapTests, effects_of_swaps

ALTERNATIVES = ("two-sided", "greater", "less")


# Closed forms.


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
