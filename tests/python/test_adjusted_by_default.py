"""Several comparisons: what ``adjust="auto"`` stands for, which tests are a family, and what reports say about it."""

from html import unescape
from typing import Any

import numpy as np
import pytest

from known import known
from margins import chosen, with_margins
from pages import markup
from reshuffle import Comparison, InputError, SegmentScores, compare
from reshuffle.inference.multiplicity import ADJUSTMENTS, holm
from reshuffle.inference.tests import TESTS
from reshuffle.report import render
from reshuffle.resampling.schemes import SCHEMES
from reshuffle.resampling.stopping import STOPPING
from told import assert_raises

UNITS = 60
# How far the systems are apart under each metric; "easy" has many stars, "noisy" has few.
METRICS = {"easy": 4.0, "noisy": 1.5}


def scores(name: str, k: int, n: int = UNITS) -> SegmentScores:
    rng = np.random.default_rng(sum(map(ord, name)))
    values = {f"s{i}": np.round(rng.normal(50 + i * METRICS[name], 10, n), 1) for i in range(k)}
    return SegmentScores(name, values)


def compared(k: int = 3, metrics: tuple[str, ...] = ("easy",), n: int = UNITS, **options: Any) -> Comparison:
    """All pairs of k systems under these metrics."""
    defaults = {"test": "ar", "n_resamples": 199, "interval": None, "all_pairs": True}
    return compare(metrics=[scores(name, k, n) for name in metrics], **{**defaults, **options})


def adjustment(comparison: Comparison) -> str | None:
    return known(comparison.test).adjustment


def pvalues(comparison: Comparison) -> list[float]:
    return [pair.test.pvalue for pair in comparison.comparisons]


def adjusted(comparison: Comparison) -> list[Any]:
    return [pair.test.adjusted_pvalue for pair in comparison.comparisons]


def kinds(comparison: Comparison) -> list[str]:
    """The kinds of the caveats, but for one that every star has on so few segments."""
    return [caveat.kind for caveat in comparison.caveats if caveat.kind != "rare-segments"]


def words(comparison: Comparison, fmt: str = "text") -> str:
    return " ".join(unescape(markup(render(comparison, fmt))).split())


# --- What ``auto`` stands for


@pytest.mark.parametrize("test", TESTS)
def test_auto_is_the_own_max_t_of_the_test_or_holm(test: str) -> None:
    expected = next(iter(TESTS[test].step_down), "holm")
    chosen: dict[str, Any] = {"test": with_margins(test, "easy")}
    several = compared(**chosen)
    assert adjustment(several) == expected
    assert several == compared(**chosen, adjust=expected)
    assert adjusted(several) != [None] * 3
    for raw, p in zip(pvalues(several), adjusted(several), strict=True):
        assert raw <= p <= 1
    single = compared(2, **chosen)
    assert single == compared(2, **chosen, adjust="none")
    assert (adjustment(single), adjusted(single)) == (None, [None])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "maxt"),
        ({"test": "ar:scheme=iid"}, "maxt"),
        ({"test": "ar:scheme=subgroup"}, "holm"),
        ({"test": "ar:scheme=exact", "n": 10}, "holm"),
        ({"test": "ar:stopping=besag-clifford"}, "holm"),
        ({"test": "ar:stopping=besag-clifford,scheme=iid"}, "holm"),
        ({"test": "ar:stopping=gandy"}, None),
        ({"k": 2, "metrics": ("easy", "noisy")}, "holm"),
        ({"k": 2, "metrics": ("easy", "noisy"), "family": "all", "test": "ar:stopping=besag-clifford"}, "holm"),
        ({"k": 2, "metrics": ("easy", "noisy"), "family": "all"}, "maxt"),
        ({"k": 2, "metrics": ("easy", "noisy"), "test": "ar:stopping=gandy"}, None),
        ({"k": 2, "family": "all"}, None),
        ({"k": 3, "all_pairs": False}, "maxt"),
    ],
)
def test_auto_depends_on_the_scheme_the_rule_and_the_number_of_comparisons(
    options: dict[str, Any], expected: str | None
) -> None:
    comparison = compared(**options)
    assert adjustment(comparison) == expected
    # A signature names no adjustment of families of one test, which changes nothing.
    assert ("|adjust:" in comparison.signature) == (comparison.family_size > 1 and expected is not None)
    assert f"|adjust:{expected}|" in comparison.signature or comparison.family_size == 1 or expected is None
    if options.get("family") != "all":
        assert [(p, q) for p, q in zip(pvalues(comparison), adjusted(comparison), strict=True)] == [
            (pair.test.pvalue, pair.test.adjusted_pvalue)
            for pair in compared(**{**options, "adjust": expected}).comparisons
        ]


def message(**options: Any) -> str | None:
    """The error of a comparison, or None."""
    try:
        compared(**options)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("k", "family"), [(2, "metric"), (3, "all")])
@pytest.mark.parametrize("test", TESTS)
def test_auto_is_never_the_reason_of_an_error(test: str, k: int, family: str) -> None:
    every = [with_margins(test, "easy")]
    if test in ("ar", "ar-studentized"):
        every = [chosen(test, scheme=scheme, stopping=rule) for scheme in SCHEMES for rule in (None, *STOPPING)]
    for each in every:
        options: dict[str, Any] = {"k": k, "n": 8, "test": each, "n_resamples": 9}
        assert message(**options, family=family) == message(**options, adjust="none")


def test_without_an_adjustment_stars_depend_on_p() -> None:
    options: dict[str, Any] = {"k": 6, "metrics": ("noisy",), "test": "ar:scheme=iid"}
    plain = compared(**options, adjust="none")
    assert plain == compared(**options, adjust=None)
    assert adjusted(plain) == [None] * 15
    assert [pair.is_significant(0.05) for pair in plain.comparisons] == [p <= 0.05 for p in pvalues(plain)]
    default = compared(**options)
    assert [pair.is_significant(0.05) for pair in default.comparisons] == [p <= 0.05 for p in adjusted(default)]
    assert sum(p <= 0.05 for p in pvalues(plain)) > sum(p <= 0.05 for p in adjusted(default))
    assert "adjust" not in plain.signature
    for fmt in ("text", "markdown", "latex", "html"):
        assert "adjusted p" in words(default, fmt)
        assert "adjusted p" not in words(plain, fmt)
    assert "significant: adjusted p ≤ 0.05" in words(default)
    assert "significant: p ≤ 0.05" in words(plain)


# --- Families


@pytest.mark.parametrize("name", [name for name, a in ADJUSTMENTS.items() if a.of_pvalues is not None])
def test_a_family_is_the_pairs_under_a_metric_or_all_tests(name: str) -> None:
    of_pvalues = known(ADJUSTMENTS[name].of_pvalues)
    by_metric, together = (compared(metrics=("easy", "noisy"), adjust=name, family=f) for f in ("metric", "all"))
    p = np.array(pvalues(by_metric))
    assert pvalues(together) == p.tolist()
    assert adjusted(by_metric) == [*of_pvalues(p[:3]), *of_pvalues(p[3:])]
    assert adjusted(together) == of_pvalues(p).tolist()
    assert (by_metric.family_size, together.family_size) == (3, 6)
    assert f"|adjust:{name}|family:all|" in together.signature
    assert all(f"|adjust:{name}|family:all|" in pair.test.signature for pair in together.comparisons)
    assert "family" not in by_metric.signature


def test_a_family_of_all_metrics_counts_in_auto_and_in_notes() -> None:
    options: dict[str, Any] = {"metrics": ("easy", "noisy"), "adjust": "holm"}
    many: dict[str, Any] = {**options, "test": "ar:scheme=iid", "n_resamples": "auto"}
    assert compared(**many, family="all", alpha=0.01).n_resamples == 11_999
    assert compared(**many, alpha=0.001).n_resamples == 59_999
    # The smallest adjusted p is 3/100 over a metric, and 6/100 over both.
    assert "few-replicates" not in kinds(compared(**options, n_resamples=99))
    few = compared(**options, n_resamples=99, family="all")
    (caveat,) = (c for c in few.caveats if c.kind == "few-replicates")
    assert (caveat.values["family"], caveat.values["smallest"], caveat.values["enough"]) == (6, 0.06, 2399)
    assert all("few-replicates" in pair.caveats for pair in few.comparisons)
    # 2/2^7 for two sides, times 3 or 6.
    exact: dict[str, Any] = {**options, "n": 7, "test": "ar:scheme=exact"}
    assert "few-units" not in kinds(compared(**exact))
    (caveat,) = (c for c in compared(**exact, family="all").caveats if c.kind == "few-units")
    assert caveat.values["smallest"] == pytest.approx(6 / 2**6)


def test_impossible_families_and_adjustments_are_refused() -> None:
    assert_raises("python_errors_of_adjusted_by_default", globals())


# --- What reports say


@pytest.mark.parametrize("adjust", ["auto", "holm", "maxt"])
def test_where_every_family_has_one_test_tables_have_no_second_p(adjust: str) -> None:
    comparison = compared(2, ("easy", "noisy"), adjust=adjust)
    assert adjusted(comparison) == pvalues(comparison)
    for fmt in ("text", "markdown", "latex", "html"):
        assert "adjusted p" not in words(comparison, fmt)
    together = compared(2, ("easy", "noisy"), adjust="holm", family="all")
    assert "adjusted p" in words(together)
    assert adjusted(together) == holm(np.array(pvalues(together))).tolist()
