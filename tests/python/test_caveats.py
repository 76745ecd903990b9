"""Caveats: inference finds their kinds and values, reports put them into words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reshuffle import Caveat, Comparison, SegmentScores, compare, score
from reshuffle.inference.caveats import caveats
from reshuffle.report import render
from reshuffle.report.notes import CAVEATS, worded

SEGMENTS = 60


def ratings(n: int = SEGMENTS, k: int = 2, apart: float = 0.0) -> SegmentScores:
    rng = np.random.default_rng(1)
    return SegmentScores("rating", {f"s{i}": np.round(rng.normal(50 + i * apart, 10, n), 3) for i in range(k)})


def compared(ratings_: SegmentScores, **options: Any) -> Comparison:
    return compare(metrics=ratings_, interval=None, **{"test": "ar", "scheme": "iid", "n_resamples": 999, **options})


CASES: dict[str, tuple[Comparison, dict[str, Any]]] = {
    "undecided": (
        compared(ratings(apart=30.0), scheme="auto", stopping="gandy", n_resamples=9),
        {"undecided": 1, "tests": 1, "n_resamples": 9},
    ),
    "dependence": (compared(ratings(), documents=[i // 6 for i in range(SEGMENTS)]), {"metric": "rating"}),
    "many-tests": (compared(ratings(k=3), all_pairs=True), {"tests": 3, "alpha": 0.05, "probability": 1 - 0.95**3}),
    "few-units": (
        compared(ratings(4), alternative="greater"),
        {"units": 4, "unit": "segment", "smallest": 1 / 16, "by_chance": True, "alpha": 0.05},
    ),
    "few-replicates": (compared(ratings(), n_resamples=9), {"n_resamples": 9, "smallest": 0.1, "alpha": 0.05}),
    "near-alpha": (compared(ratings(), alpha=compared(ratings()).comparisons[0].test.pvalue), {"near": 1, "tests": 1}),
}


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_of_caveat_is_found_with_its_values_and_shown(kind: str) -> None:
    comparison, values = CASES[kind]
    (caveat,) = (caveat for caveat in comparison.caveats if caveat.kind == kind)
    for name, value in values.items():
        assert caveat.values[name] == (pytest.approx(value) if isinstance(value, float) else value)
    for fmt in ("text", "markdown", "latex"):
        report = " ".join(render(comparison, fmt).replace("% ", "").split())
        assert worded(caveat).replace("% ", "") in report
    assert worded(caveat).endswith(".")


def test_all_kinds_of_caveats_are_tested_and_documented() -> None:
    assert set(CASES) == set(CAVEATS)
    assert all(f"``{kind}``" in (Caveat.__doc__ or "") for kind in CAVEATS)


def test_an_unproblematic_comparison_has_no_caveats() -> None:
    assert compared(ratings(apart=30.0)).caveats == ()
    assert score(metrics=ratings(), interval="t").caveats == ()
    assert compared(ratings(4), scheme="exact").caveats[0].kind == "few-units"
    assert compared(ratings(), test="t-test", scheme="auto").caveats == ()
    # An adjustment accounts for the number of tests.
    assert compared(ratings(k=3, apart=30.0), all_pairs=True, adjust="holm").caveats == ()


def test_caveats_depend_on_the_results_only() -> None:
    for comparison, _ in CASES.values():
        assert caveats(replace(comparison, caveats=())) == comparison.caveats


def test_ranges_cover_all_pairs_under_a_metric() -> None:
    comparison = compared(ratings(k=4), all_pairs=True, documents=[i // 6 for i in range(SEGMENTS)])
    (caveat,) = (caveat for caveat in comparison.caveats if caveat.kind == "dependence")
    correlations = [pair.intraclass_correlation for pair in comparison.comparisons if pair.intraclass_correlation]
    assert caveat.values["correlations"] == (min(correlations), max(correlations))
    assert len(correlations) == 6
