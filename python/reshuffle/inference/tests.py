"""The registry of significance tests.

To add a test, write a function from :class:`~reshuffle.inference.hypotheses.Observed` to
:class:`~reshuffle.inference.hypotheses.Outcome` in :mod:`reshuffle.inference.randomization`, ``bootstrap``,
``closed_form`` or a new module, and add it to :data:`RUN`, and what users know of it to methods.toml.
:mod:`reshuffle.inference.plan` checks that a test supports what is asked of it, and :mod:`reshuffle.inference.running`
runs it.

In all tests t is score(a) − score(b). In tests with replicates, a replicate counts if it is at least as extreme as t,
and p = (c + 1)/(R + 1) for c such replicates of R (Noreen 1989; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585), or
twice that for a test that doubles the smaller tail. So p is never 0, and it is 1 for identical systems. Tests of means
of segment scores have a p-value in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..metrics.base import Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import Replicates
from . import anova, best, bootstrap, closed_form, kink, margins, randomization, studentized
from .estimates import ANY
from .few_differing import FEW_DIFFERING, FOR_FEW
from .hypotheses import Observed, Outcome
from .methods import METHODS, Method
from .multiplicity import ADJUSTMENTS
from .step_down import (
    MAX_T_OF_BOTH,
    MAX_T_OF_CENTRED_DRAWS,
    MAX_T_OF_PERCENTILES,
    MAX_T_OF_SHUFFLES,
    MIN_P_OF_SHUFFLES,
    StepDown,
)

ALTERNATIVES = ("two-sided", "better", "worse", "greater", "less")

# Adjustments that users choose: those of the registry, and two that are resolved to one of them or to none.
ADJUSTMENT_CHOICES: Mapping[str, str] = {
    "auto": "the default: maxt, or tukey for anova and permutation; holm for other tests without maxt, with the "
    "schemes exact and subgroup, with besag-clifford, and for one pair under several metrics; none for a single "
    "comparison and with gandy",
    "none": "p is not adjusted; the report has the chance of any false star, and a level for each test that limits it",
    **{adjustment.name: f"{adjustment.title}: {adjustment.about}" for adjustment in ADJUSTMENTS.values()},
}


@dataclass(frozen=True)
class SignificanceTest(Method):
    """An entry of the registry."""

    run: Callable[[Observed], Outcome]
    """A function from the observed data for the hypotheses about one test set to their outcomes."""
    alternatives: Sequence[str] = ALTERNATIVES
    """The alternatives that the test supports."""
    observed_direction: bool = False
    """Whether it is one-sided in the observed direction, if no direction is asked for."""
    replicates: str | None = None
    """The kind of its replicates; None for tests in closed form."""
    kind: str = ANY
    """The kind of metric that it needs: ``ANY``, ``SUMS`` or ``MEANS`` (:mod:`reshuffle.inference.estimates`)."""
    tails: int = 1
    """2 if its two-sided p is, or may be, twice the share of the smaller tail. Its smallest two-sided p is ``tails``/(R
    + 1).
    """
    step_down: Mapping[str, StepDown] = field(default_factory=dict)
    """The adjustments that only some tests support, by name, its default first. All tests support adjustments of
    p-values.
    """
    for_texts: str | None = None
    """The test that functions of texts get instead, if it needs counts."""
    in_batches: bool = False
    """Whether the core makes the replicates of a batch of problems in one call."""
    needs_exchangeable: bool = False
    """Whether it rejects at the wrong rate if the outputs of a unit are not exchangeable."""
    liberal: float | None = None
    """The share of true null hypotheses that it rejects at .05, if that is far more than .05."""
    liberal_family: float | None = None
    """For a test that needs all systems of a family to be exchangeable, a family-wise error rate at .05 measured where
    their variances differ.
    """
    needs_all_systems: bool = False
    """Whether it needs the scores of all systems on each segment, even to compare two."""
    approximate_unless_mean: bool = False
    """Whether it uses jackknife pseudo-values for scores that are not means of segment scores, so that it is
    approximate for them.
    """
    margin: str | None = None
    """What it shows, if its null hypothesis is a difference of at least a margin (:mod:`reshuffle.inference.margins`).
    It has no other alternative.
    """
    averages: bool = True
    """Whether it can compare averages over test sets, because it only counts replicates of differences."""
    best: Callable[[Replicates, int], Scores] | None = None
    """Hsu's multiple comparisons with the best: from the replicates and the index of a metric to the p-value of each
    system (:mod:`reshuffle.inference.best`).
    """

    @property
    def adjustments_with_bands(self) -> list[str]:
        """The names of the adjustments that have simultaneous intervals."""
        return [name for name, step_down in self.step_down.items() if step_down.has_bands]

    def name_for(self, metric: Metric | CorpusFunction) -> str:
        """The name of the test that is used for a metric."""
        return self.for_texts if self.for_texts is not None and isinstance(metric, CorpusFunction) else self.name

    def carried_out(self, alternative: str) -> str:
        """The alternative that results have, for the one that was asked for."""
        return "one-sided" if self.observed_direction and alternative == "two-sided" else alternative

    def smallest_numerator(self, alternative: str) -> int:
        """The smallest p is this number divided by R + 1."""
        return self.tails if alternative == "two-sided" else 1


RUN: Mapping[str, Callable[[Observed], Outcome]] = {
    "ar": randomization.approximate_randomization,
    "ar-studentized": studentized.studentized_randomization,
    "permutation": randomization.permutation_test,
    "bootstrap": bootstrap.centred,
    "bootstrap-both": bootstrap.both,
    "bootstrap-kink": kink.least_favourable,
    "bootstrap-percentile": bootstrap.percentile,
    "bootstrap-shift": bootstrap.shift,
    "paired-bootstrap": bootstrap.paired,
    "t-test": closed_form.t_test,
    "anova": anova.pooled_t_test,
    "wilcoxon": closed_form.wilcoxon,
    "sign-test": closed_form.sign_test,
    "equivalence": margins.from_centred_draws,
    "equivalence-studentized": margins.from_studentized_draws,
    "equivalence-ar": margins.from_shuffles,
    "non-inferiority": margins.from_centred_draws,
    "non-inferiority-studentized": margins.from_studentized_draws,
    "non-inferiority-ar": margins.from_shuffles,
}
STEP_DOWN: Mapping[str, Mapping[str, StepDown]] = {
    "ar": {"maxt": MAX_T_OF_SHUFFLES, "minp": MIN_P_OF_SHUFFLES},
    "ar-studentized": {"maxt": studentized.MAX_T, "minp": studentized.MIN_P},
    "permutation": {"tukey": randomization.TUKEY},
    "bootstrap": {"maxt": MAX_T_OF_CENTRED_DRAWS},
    "bootstrap-both": {"maxt": MAX_T_OF_BOTH},
    "bootstrap-percentile": {"maxt": MAX_T_OF_PERCENTILES},
    "anova": {"tukey": anova.TUKEY, "scheffe": anova.SCHEFFE},
}
BEST: Mapping[str, Callable[[Replicates, int], Scores]] = {
    "bootstrap": best.of_centred_draws,
    "bootstrap-both": best.of_both,
    "bootstrap-percentile": best.of_percentiles,
    "anova": best.of_pooled_error,
}
TESTS: Mapping[str, SignificanceTest] = {
    name: SignificanceTest(name, **entry, run=RUN[name], step_down=STEP_DOWN.get(name, {}), best=BEST.get(name))
    for name, entry in METHODS["test"].items()
}

# The test that ``auto`` stands for, except for pairs that differ in few units.
DEFAULT = "bootstrap-both"

# Tests that users choose: ``auto``, and those of the registry.
TEST_CHOICES: Mapping[str, str] = {
    "auto": f"the default: {DEFAULT}, but {FOR_FEW} for pairs of systems that differ in fewer than {FEW_DIFFERING} "
    f"segments or documents, and the larger p of {FOR_FEW} and {kink.FOR_POPULATIONS} for such pairs near the kink of "
    "a brevity penalty",
    **{test.name: f"{test.title}: {test.about}" for test in TESTS.values()},
}

# What notes recommend if a test needs exchangeable outputs or is liberal: where the score is smooth, and near a kink.
INSTEAD = {False: "ar-studentized", True: "bootstrap-both"}
