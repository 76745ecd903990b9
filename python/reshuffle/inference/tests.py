"""The registry of significance tests.

To add a test, write a function from :class:`~reshuffle.inference.hypotheses.Observed` to
:class:`~reshuffle.inference.hypotheses.Outcome` in :mod:`reshuffle.inference.randomization`, ``bootstrap``,
``closed_form`` or a new module, and add an entry to :data:`TESTS`. :mod:`reshuffle.inference.plan` checks that a test
supports what is asked of it, and :mod:`reshuffle.inference.running` runs it.

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
from . import anova, best, bootstrap, closed_form, kink, margins, permutation, randomization, studentized
from .estimates import ANY, MEANS, SUMS
from .few_differing import FEW_DIFFERING, FOR_FEW
from .hypotheses import Observed, Outcome
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
class SignificanceTest:
    """An entry of the registry."""

    name: str
    """The name that users type, the name in reports, a description, and the paper."""
    title: str
    about: str
    source: str
    run: Callable[[Observed], Outcome]
    """A function from the observed data for the hypotheses about one test set to their outcomes."""
    alternatives: tuple[str, ...] = ALTERNATIVES
    """The alternatives that the test supports."""
    replicates: str | None = "shuffles"
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

    def smallest_numerator(self, alternative: str) -> int:
        """The smallest p is this number divided by R + 1."""
        return self.tails if alternative == "two-sided" else 1


# The variants of tests with a margin: the end of their names, how they work, the source of that, and their function.
VARIANTS_WITH_MARGIN: Sequence[tuple[str, str, str, str, Callable[[Observed], Outcome], str, str]] = (
    (
        "",
        "centred bootstrap",
        "from draws centred on the margin",
        "doi:10.1017/CBO9780511802843, 5.2",
        margins.from_centred_draws,
        "draws",
        ANY,
    ),
    (
        "-studentized",
        "studentized bootstrap",
        "from the same draws, with the deviation of each divided by its standard error",
        "doi:10.1214/aos/1176350933",
        margins.from_studentized_draws,
        "draws",
        SUMS,
    ),
    (
        "-ar",
        "approximate randomization of shifted scores",
        "from shuffles of scores shifted by it; for means of segment scores; exact if shifted scores are exchangeable",
        "W05-0908, Fig. 1; doi:10.1080/01621459.1969.10501057",
        margins.from_shuffles,
        "shuffles",
        MEANS,
    ),
)

TESTS: Mapping[str, SignificanceTest] = {
    test.name: test
    for test in (
        SignificanceTest(
            "ar",
            "approximate randomization",
            "swap the two systems' outputs of random segments; exact under exchangeability",
            "W05-0908, Fig. 1",
            randomization.approximate_randomization,
            step_down={"maxt": MAX_T_OF_SHUFFLES, "minp": MIN_P_OF_SHUFFLES},
            in_batches=True,
            needs_exchangeable=True,
        ),
        SignificanceTest(
            "ar-studentized",
            "studentized approximate randomization",
            "as ar, with each difference divided by its standard error; in large samples also valid for systems with "
            "equal scores that are not exchangeable, but not where outputs are about as long as their references",
            "doi:10.1214/13-AOS1090",
            studentized.studentized_randomization,
            step_down={"maxt": studentized.MAX_T, "minp": studentized.MIN_P},
            for_texts="ar",
            averages=False,
        ),
        SignificanceTest(
            "permutation",
            "permutation test of all systems",
            "permute the outputs of all systems in each segment; exact if all systems are exchangeable",
            "doi:10.1145/2094072.2094076",
            permutation.permutation_test,
            alternatives=("two-sided",),
            replicates="permutations",
            step_down={"tukey": permutation.TUKEY},
            needs_exchangeable=True,
            liberal_family=0.15,
            needs_all_systems=True,
        ),
        SignificanceTest(
            "bootstrap",
            "centred bootstrap",
            "draw segments with replacement, centre the differences on 0; tests whether expected scores are equal",
            "doi:10.2307/2532163",
            bootstrap.centred,
            in_batches=True,
            replicates="draws",
            step_down={"maxt": MAX_T_OF_CENTRED_DRAWS},
            best=best.of_centred_draws,
        ),
        SignificanceTest(
            "bootstrap-both",
            "centred and percentile bootstrap",
            "the larger p of bootstrap and bootstrap-percentile, each of which rejects too often, mostly in different "
            "cases; tests whether expected scores are equal",
            "doi:10.2307/2532163; doi:10.1017/CBO9780511802843, 5.3",
            bootstrap.both,
            in_batches=True,
            replicates="draws",
            tails=2,
            step_down={"maxt": MAX_T_OF_BOTH},
            best=best.of_both,
        ),
        SignificanceTest(
            "bootstrap-kink",
            "bootstrap with least favourable lengths",
            "as bootstrap, at those lengths compatible with the sample for which BLEU's brevity penalty gives the "
            "largest p; tests whether the scores of the populations are equal",
            "doi:10.3982/ECTA11011",
            kink.least_favourable,
            replicates="draws",
            for_texts="bootstrap",
            averages=False,
        ),
        SignificanceTest(
            "bootstrap-percentile",
            "percentile bootstrap",
            "p <= alpha exactly when the percentile interval of the difference excludes 0; smallest p 2/(n + 1)",
            "doi:10.1017/CBO9780511802843, 5.3",
            bootstrap.percentile,
            in_batches=True,
            replicates="draws",
            tails=2,
            step_down={"maxt": MAX_T_OF_PERCENTILES},
            best=best.of_percentiles,
        ),
        SignificanceTest(
            "bootstrap-shift",
            "bootstrap with shift",
            "as published, absolute value before centring; rejects about twice as often as it should",
            "W05-0908, Fig. 2",
            bootstrap.shift,
            in_batches=True,
            alternatives=("two-sided",),
            replicates="draws",
            liberal=0.11,
        ),
        SignificanceTest(
            "paired-bootstrap",
            "paired bootstrap",
            "the share of draws that the better system does not win; one-sided in the observed direction",
            "W04-3250, section 6",
            bootstrap.paired,
            in_batches=True,
            replicates="draws",
            liberal=0.10,
        ),
        SignificanceTest(
            "t-test",
            "paired t-test",
            "for means of segment scores; exact if their differences are normal",
            "doi:10.1093/biomet/6.1.1",
            closed_form.t_test,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
        SignificanceTest(
            "anova",
            "pairwise t-tests with the error pooled over all systems",
            "the error is that of a two-way analysis of variance, systems by segments; approximate unless the score is "
            "a mean of segment scores",
            "W05-0908, 4.4",
            anova.pooled_t_test,
            alternatives=("two-sided",),
            replicates=None,
            step_down={"tukey": anova.TUKEY, "scheffe": anova.SCHEFFE},
            needs_all_systems=True,
            approximate_unless_mean=True,
            averages=False,
            best=best.of_pooled_error,
        ),
        SignificanceTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            "for means of segment scores; tests whether their differences are symmetric about 0",
            "doi:10.2307/3001968",
            closed_form.wilcoxon,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
        SignificanceTest(
            "sign-test",
            "sign test",
            "for means of segment scores; tests whether both systems win equally many segments",
            "doi:10.1080/01621459.1946.10501898",
            closed_form.sign_test,
            replicates=None,
            kind=MEANS,
            averages=False,
        ),
        *(
            SignificanceTest(
                f"{shows}{suffix}",
                f"{title}, {how}",
                f"{claim}, {about}",
                f"{schuirmann}{source}",
                run,
                alternatives=(shows,),
                replicates=replicates,
                kind=kind,
                margin=shows,
                averages=kind == ANY,
            )
            for shows, title, claim, schuirmann in (
                (
                    "equivalence",
                    "two one-sided tests of equivalence",
                    "shows that two scores differ by less than a margin",
                    "doi:10.1007/BF01068419; ",
                ),
                (
                    "non-inferiority",
                    "test of non-inferiority",
                    "shows that a system is not worse by a margin or more",
                    "",
                ),
            )
            for suffix, how, about, source, run, replicates, kind in VARIANTS_WITH_MARGIN
        ),
    )
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
