"""Adjustments for multiple tests compared with statsmodels, SciPy and R.

The comparisons with statsmodels and R are slow tests, which are skipped where the other package is not installed:
``python -m pytest -m slow tests/python/test_other_adjustments.py``. They last passed with statsmodels 0.15.0
(``pip install statsmodels``), and with R 4.2.2, multtest 2.54.0 and multcomp 1.4-22 of Debian 12
(``apt-get install r-base-core r-bioc-multtest r-cran-multcomp``).
"""

import itertools
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from known import known
from reshuffle import SegmentScores, compare
from reshuffle.inference.hypotheses import Hypotheses
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.resampling import CountSample, Replicates
from reshuffle.settings import ComparisonSettings, Resampling

Values = NDArray[np.float64]

# The names of adjustments of p-values in statsmodels, p.adjust of R and multtest.
NAMES = {
    "bonferroni": ("bonferroni", "bonferroni", "Bonferroni"),
    "holm": ("holm", "holm", "Holm"),
    "sidak": ("sidak", None, "SidakSS"),
    "hochberg": ("simes-hochberg", "hochberg", "Hochberg"),
    "hommel": ("hommel", "hommel", None),
    "bh": ("fdr_bh", "BH", "BH"),
    "by": ("fdr_by", "BY", "BY"),
}
RNG = np.random.default_rng(1979)
# p-values of families: random, with ties, as Monte Carlo tests have them, and extreme.
FAMILIES = [
    *(RNG.random(m) for m in (2, 3, 10, 45)),
    *(RNG.beta(0.3, 2, size=m) for m in (5, 28, 120)),
    *((RNG.binomial(99, RNG.random(m) ** 3) + 1) / 100 for m in (6, 10, 120)),
    *map(np.array, ([0.5], [1.0], [1.0] * 4, [0.01] * 4, [0.0, 0.2, 1.0], [0.0, 0.0, 0.0])),
    *map(np.array, ([1e-300, 1e-16, 0.04, 0.04, 1.0], [1e-307, 0.999999999, 1.0], [0.05, 0.025, 0.0125, 0.05])),
]


def adjusted(name: str, pvalues: Values) -> Values:
    of_pvalues = known(ADJUSTMENTS[name].of_pvalues)
    return of_pvalues(pvalues)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_false_discovery_rates_are_those_of_scipy(method: Literal["bh", "by"]) -> None:
    if not hasattr(scipy.stats, "false_discovery_control"):
        pytest.skip("needs SciPy 1.11")
    for pvalues in FAMILIES:
        expected = scipy.stats.false_discovery_control(pvalues, method=method)
        np.testing.assert_allclose(adjusted(method, pvalues), expected, rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_adjustments_of_p_values_are_those_of_statsmodels(name: str) -> None:
    """``statsmodels.stats.multitest.multipletests(pvalues, method=…)[1]``."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for pvalues in FAMILIES:
        with np.errstate(divide="ignore"):  # statsmodels, for the logarithm of 1 − p if p is 1
            expected = multitest.multipletests(pvalues, method=NAMES[name][0])[1]
        np.testing.assert_allclose(adjusted(name, pvalues), expected, rtol=1e-12, atol=0)


# R.


def run_r(script: str, *inputs: Sequence[float] | Values, package: str | None = None) -> list[Values]:
    """Run a script in R. The inputs are its vectors ``x[[1]]`` …; returns an array for each call of ``out``."""
    if not _has_r(package):
        pytest.skip("R is not installed" if package is None else f"R or its package {package} is not installed")
    lines = [" ".join(repr(float(value)) for value in values) for values in inputs]
    setup = [
        'x <- lapply(readLines("stdin"), function(line) scan(text = line, quiet = TRUE))',
        'out <- function(values) cat("OUT", formatC(as.numeric(values), digits = 17, format = "g"), "\\n")',
        "" if package is None else f"suppressPackageStartupMessages(library({package}))",
    ]
    command = ["Rscript", "--vanilla", "-e", "\n".join([*setup, script])]
    given = "\n".join(lines) + "\n"
    finished = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    found = [line.split()[1:] for line in finished.stdout.splitlines() if line.startswith("OUT")]
    return [np.array(words, dtype=float) for words in found]


@cache
def _has_r(package: str | None) -> bool:
    if shutil.which("Rscript") is None:
        return False
    check = f"quit(status = !requireNamespace('{package or 'stats'}', quietly = TRUE))"
    return subprocess.run(["Rscript", "--vanilla", "-e", check], capture_output=True, check=False).returncode == 0


# ``p.adjust(p, method)`` of the package stats, and ``multtest::mt.rawp2adjp(p, proc)``, whose p-values are ascending.
# 1 − (1 − p)^m in multtest is not exact for small p, hence an absolute tolerance.
OF_P_VALUES = {
    None: (1, "for (p in x) for (method in c({names})) out(p.adjust(p, method))", 0),
    "multtest": (2, """
for (p in x) {{
  found <- mt.rawp2adjp(p, c({names}))
  sorted <- found$adjp[order(found$index), , drop = FALSE]
  for (column in 2:ncol(sorted)) out(sorted[, column])
}}""", 1e-15),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("package", OF_P_VALUES)
def test_adjustments_of_p_values_are_those_of_r(package: str | None) -> None:
    at, script, tolerance = OF_P_VALUES[package]
    names = {name: of[at] for name, of in NAMES.items() if of[at] is not None}
    families = [pvalues for pvalues in FAMILIES if len(pvalues) > 1]
    found = run_r(script.format(names=str(list(names.values()))[1:-1]), *families, package=package)
    expected = iter(found)
    for pvalues, name in itertools.product(families, names):
        tolerated = tolerance * len(pvalues)
        np.testing.assert_allclose(adjusted(name, pvalues), next(expected), rtol=1e-12, atol=tolerated)
    assert not [*expected]


# Step-down adjustments on all 2^S swaps, which R enumerates with B = 0.

SEGMENTS = 10


def segment_scores(seed: int, n_systems: int = 4, effect: float = 0.5) -> Values:
    """(k, S) scores of systems, each a little better than the one before, in thousandths."""
    rng = np.random.default_rng(seed)
    of_segments = rng.normal(size=SEGMENTS)
    shift = effect * np.arange(n_systems)[:, None]
    spread = np.linspace(0.5, 1.5, n_systems)[:, None]
    return np.round(of_segments + shift + spread * rng.normal(size=(n_systems, SEGMENTS)), 3)


PAIRS = [(a, b) for a in range(4) for b in range(a)]


def on_all_swaps(scores: Values, test: str, adjust: str) -> tuple[Values, Values]:
    """The p-values and the adjusted ones of all pairs: shares of all 2^S swaps, (pairs,) each."""
    metric = SegmentScores("score", list(scores))
    sample = CountSample.from_counts(metric, metric.counts_of(list(metric.counts)))
    swaps = 2**SEGMENTS
    codes = np.left_shift(1, np.arange(SEGMENTS)).astype(np.uint64)  # swap g swaps the segments of its bits
    replicates = Replicates([sample], Resampling(swaps, 1)).with_codes(codes, swaps)
    plan = Plan.from_settings(ComparisonSettings(test=test, scheme="iid", adjust=adjust))
    outcome = run_on_test_set(plan, replicates, Hypotheses.from_pairs(PAIRS))
    # The swaps include the observed outputs, so the Monte Carlo formula (c + 1)/(R + 1) counts these twice.
    shares = [(p * (swaps + 1) - 1) / swaps for p in (outcome.pvalue, known(outcome.adjusted))]
    return shares[0], shares[1]


@pytest.mark.slow
@pytest.mark.parametrize("adjust", ["maxt", "minp"])
def test_step_down_adjustments_are_those_of_multtest_on_all_swaps(adjust: str) -> None:
    """``multtest::mt.maxT`` or ``mt.minP(X, c(0, 1, 0, 1, …), test = "pairt", side = "abs", B = 0)``.

    A row of X is a pair of systems, with the scores of both for each segment. A permutation swaps the scores of the
    same segments in all rows. The statistic is the paired t, which orders swaps as that of ``ar-studentized`` does.
    """
    function = {"maxt": "mt.maxT", "minp": "mt.minP"}[adjust]
    script = f"""
for (row in x) {{
  values <- matrix(row, nrow = {len(PAIRS)}, byrow = TRUE)
  labels <- rep(c(0, 1), {SEGMENTS})
  capture.output(found <- {function}(values, labels, test = "pairt", side = "abs", B = 0))
  found <- found[order(found$index), ]
  out(found$rawp)
  out(found$adjp)
}}"""
    families = [segment_scores(seed, effect=effect) for seed, effect in enumerate((0, 0.3, 0.6, 1.2))]
    rows = [np.concatenate([np.stack([s[a], s[b]], axis=1).ravel() for a, b in PAIRS]) for s in families]
    results = iter(run_r(script, *rows, package="multtest"))
    for scores in families:
        p, adjusted_p = on_all_swaps(scores, "ar-studentized", adjust)
        np.testing.assert_allclose(p, next(results), rtol=1e-12)
        np.testing.assert_allclose(adjusted_p, next(results), rtol=1e-12)


# Analysis of variance.

OF_ANOVA = """
scores <- matrix(x[[1]], nrow = x[[2]][1], byrow = TRUE)
k <- nrow(scores); n <- ncol(scores)
data <- data.frame(
  score = as.vector(t(scores)),
  system = factor(rep(sprintf("s%02d", 1:k), each = n)),
  segment = factor(rep(1:n, k))
)
fit <- aov(score ~ system + segment, data)
"""


def by_anova(scores: Values, adjust: str) -> tuple[Values, Values]:
    """The p-values and the adjusted ones of all pairs (i, j), i < j, in lexicographic order, by ``anova``."""
    names = [f"s{system:02}" for system in range(len(scores))]
    metric = SegmentScores("score", dict(zip(names, scores, strict=True)))
    comparison = compare(metrics=metric, test="anova", adjust=adjust, all_pairs=True, interval=None)
    tests = {frozenset((pair.system, pair.baseline)): pair.test for pair in comparison.comparisons}
    ordered = [tests[frozenset((a, b))] for i, a in enumerate(names) for b in names[i + 1 :]]
    return np.array([test.pvalue for test in ordered]), np.array([test.adjusted_pvalue for test in ordered])


# What R computes after ``aov``, of how many systems, and the tolerances: its ptukey is accurate to about ten digits
# after the point, and multcomp integrates the multivariate t distribution by a quasi-Monte Carlo method.
BY_AOV = {
    "TukeyHSD": ("tukey", None, (3, 4, 6), 1e-6, 1e-9, 'out(TukeyHSD(fit, "system")$system[, "p adj"])'),
    "glht": ("tukey", "multcomp", (3, 5), 0, 2e-4, """
set.seed(1)
tukey <- glht(fit, linfct = mcp(system = "Tukey"))
out(summary(tukey, adjusted("single-step", abseps = 1e-5, maxpts = 1e6))$test$pvalues)
out(summary(tukey, adjusted("none"))$test$pvalues)
"""),
    "pf": ("scheffe", None, (3, 5), 1e-9, 0, """
mse <- sum(residuals(fit)^2) / fit$df.residual
means <- rowMeans(scores)
pairs <- combn(k, 2)
t <- (means[pairs[1, ]] - means[pairs[2, ]]) / sqrt(2 * mse / n)
out(pf(t^2 / (k - 1), k - 1, fit$df.residual, lower.tail = FALSE))
"""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_AOV)
def test_adjustments_of_anova_are_those_of_r(name: str) -> None:
    """Of ``aov(score ~ system + segment)``; p-values without adjustment are those of multcomp."""
    adjust, package, sizes, relative, absolute, script = BY_AOV[name]
    for seed, k in enumerate(sizes):
        scores = segment_scores(seed, k, effect=0.4)
        expected, *raw = run_r(OF_ANOVA + script, scores.ravel(), [k], package=package)
        p, adjusted_p = by_anova(scores, adjust)
        np.testing.assert_allclose(adjusted_p, expected, rtol=relative, atol=absolute)
        for each in raw:
            np.testing.assert_allclose(p, each, rtol=1e-9)
