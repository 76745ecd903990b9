"""Sizes of tests under the null hypotheses of studies, beside known figures: ``python -m pytest -m slow -s``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reshuffle import Corpus
from reshuffle.results.studies import Rate
from reshuffle.study import Documents, type1

pytestmark = pytest.mark.slow

CLOSE = ("KIT.4950", "RWTH-nmt-ensemble.4921")
LEVELS = (0.01, 0.05, 0.1)
SIMULATIONS = 4000
# Sizes of ar at .05 on segments of documents of 15, by their intraclass correlation: docs/evidence/size.md.
OF_DOCUMENTS = {0.02: 0.095, 0.05: 0.128, 0.1: 0.212, 0.2: 0.290}


def rates(corpus: Corpus, names: tuple[str, ...] = CLOSE, **arguments: Any) -> dict[tuple[str, str, float], Rate]:
    """The rates by test, null and level, which are printed, too."""
    systems = {name: corpus.systems[name] for name in names}
    study = type1(corpus.references, systems, **{"simulations": SIMULATIONS, "n_resamples": 399, **arguments})
    for rate in study.rates:
        low, high = rate.confidence_interval.low, rate.confidence_interval.high
        print(f"{rate.test}, {rate.metric}, {rate.null}, n = {rate.size}: {rate.rate:.4f} at {rate.alpha}", end=" ")
        print(f"(95 % interval {low:.3f} to {high:.3f}), {rate.verdict}")
    return {(rate.test, rate.null, rate.alpha): rate for rate in study.rates}


@pytest.mark.parametrize("sampling", ["replace", "subset", "fixed"])
@pytest.mark.parametrize("name", ["ter", "chrf"])
def test_ar_is_exact_however_test_sets_are_drawn(wmt17: Corpus, sampling: str, name: str) -> None:
    sizes = None if sampling == "fixed" else 100
    found = rates(wmt17, metrics=name, tests="ar", sizes=sizes, sampling=sampling, n_resamples=99)
    for alpha in LEVELS:
        error = (alpha * (1 - alpha) / SIMULATIONS) ** 0.5
        assert found["ar", "swap", alpha].rate == pytest.approx(alpha, abs=4 * error)


@pytest.mark.parametrize("icc", OF_DOCUMENTS)
def test_segments_of_documents_make_ar_liberal_and_documents_as_units_do_not(wmt17: Corpus, icc: float) -> None:
    found = rates(
        wmt17, null=[Documents(icc=icc), "documents-as-units"], tests="ar", sizes=600, alphas=0.05, n_resamples=199
    )
    assert found["ar", "documents", 0.05].rate == pytest.approx(OF_DOCUMENTS[icc], abs=0.035)
    assert 0.035 < found["ar", "documents-as-units", 0.05].rate < 0.065


def test_equal_scores_of_lengths_on_both_sides_of_the_reference_make_ar_liberal(wmt17: Corpus) -> None:
    """One system, and a copy that repeats random words, so that the brevity penalty bends between them.

    docs/evidence/size.md has larger sizes of ar, for copies that differ in little but their length.
    """
    rng = np.random.default_rng(7)
    lines = wmt17.systems["LIUM-NMT.4900"]
    longer = [" ".join(word for word in line.split() for _ in range(1 + (rng.random() < 0.06))) for line in lines]
    corpus = Corpus(wmt17.references, {"system": lines, "longer": longer})
    found = rates(
        corpus, ("system", "longer"), null="equal-score:equalize=drop-words", sizes=1000, alphas=0.05,
        tests=["ar", "ar-studentized", "bootstrap-percentile"], n_resamples=199, simulations=1000,
    )  # fmt: skip
    assert found["ar", "equal-score", 0.05].rate > 0.08
    for test in ("ar-studentized", "bootstrap-percentile"):
        assert found[test, "equal-score", 0.05].rate < 0.08


def test_noise_is_an_exact_null(wmt17: Corpus) -> None:
    found = rates(wmt17, null="noise", tests="ar", sizes=300, n_resamples=99)
    for alpha in LEVELS:
        error = (alpha * (1 - alpha) / SIMULATIONS) ** 0.5
        assert found["ar", "noise", alpha].rate == pytest.approx(alpha, abs=4 * error)
