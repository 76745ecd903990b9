"""Warnings about the numbers of a result, and their kinds: when each applies, what its values say, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..documented import record


@record
class Caveat:
    """A warning about the p-values or intervals of a result. :mod:`reshuffle.report` formulates the sentences."""

    kind: str
    """A name in :data:`reshuffle.results.caveat_kinds.CAVEAT_KINDS`, which says when each kind applies, and what to
    do.
    """
    values: Mapping[str, Any]
    """The numbers, names and truth values in the sentence, by name. A pair is the minimum and maximum over the pairs of
    systems. ``pairs`` and ``tests`` are the numbers of pairs to which the caveat applies and of all pairs;
    ``few-units`` and ``small-sample`` have them only if scores are missing.
    """


class CaveatKind(NamedTuple):
    """A kind of caveats, as ``reshuffle explain`` describes it."""

    about: str
    """When it applies."""
    advice: str
    """What to do."""
    values: str = ""
    """What the values of the caveat are, where its sentence has more than names and sizes."""


# Bootstrap tests and intervals from draws are unreliable with fewer resampling units
# (docs/evidence/size.md#small-samples).
SMALL_SAMPLE = 40
MORE = "Increase -n, or use -n auto"

# In the order in which reports have them, and docs/statistics/notes.md.
CAVEAT_KINDS: Mapping[str, CaveatKind] = {
    "identical": CaveatKind(
        "systems that were compared have the same outputs, or the same scores everywhere",
        "Check whether a file was passed twice.",
        "how many pairs, and the first of them",
    ),
    "liberal": CaveatKind(
        "the test rejects true null hypotheses far more often than its level says",
        "Use --test bootstrap-both, the default.",
    ),
    "all-exchangeable": CaveatKind(
        "the test assumes that the outputs of all systems are exchangeable",
        "Use --adjust maxt with one of the tests that the note names.",
        "a family-wise error rate measured where variances differ, and tests to use instead",
    ),
    "approximate": CaveatKind(
        "under a metric whose score is not a mean of segment scores, the test is computed on jackknife pseudo-values "
        "and is approximate",
        "Use a test of pairs, such as the default, with --adjust maxt.",
    ),
    "undecided": CaveatKind(
        "tests with a stopping rule used all their shuffles without a decision",
        "Increase -n: these tests need more shuffles.",
    ),
    "other-test": CaveatKind(
        "a metric is a function of texts, which the chosen test does not support, so another test was used for it",
        "Report the test that was used. The chosen one needs a metric with counts.",
    ),
    "dependence": CaveatKind(
        "with documents: how much their segments resemble each other under a metric",
        "Nothing: p and intervals take it into account. If the design effect is far above 1, more documents help more "
        "than longer ones.",
        "the correlation of segments within documents, and the design effect",
    ),
    "not-exchangeable": CaveatKind(
        "some differences under a metric have the wrong spread over shuffles, because the systems' outputs are not "
        "exchangeable",
        "Use the test that the note names. If it names none, do not rely on p of these pairs alone.",
        "the worst pair, and a test to use instead, if one is reliable there",
    ),
    "near-kink": CaveatKind(
        "under a metric with a brevity penalty, lengths are so near those of the references that a difference of "
        "expected scores need not mean a difference of the populations",
        "Compare such a pair alone, with --test bootstrap-kink and --interval bootstrap-kink. Metrics without a "
        "brevity penalty, such as chrF, have no kink.",
        "the worst pair, how many standard errors its lengths are from those of the references, the bias of its "
        "difference in standard errors, the share of the difference that the penalty makes, whether this limits the "
        "test or the interval, the test if it is one by shuffles (swaps), and the one to use instead",
    ),
    "not-ranked": CaveatKind(
        "there is no ranking under a metric, because scores are missing and pairs of systems were compared on "
        "different segments",
        "Score all systems on the same segments, or read the tests of pairs (--pairs).",
    ),
    "not-adjusted": CaveatKind(
        "p-values are not adjusted although there are several tests, because the stopping rule only estimates p",
        "For adjusted p use the stopping rule that the note names.",
    ),
    "many-tests": CaveatKind(
        "p-values are not adjusted although there are several tests",
        "Leave --adjust none out, or compare each p with the level in the note.",
        "the probability of at least one false positive, and the level for each test that would keep it at α",
    ),
    "few-units": CaveatKind(
        "there are too few segments or documents for any p ≤ α",
        "Collect more of them: on these no difference can be significant. If p is adjusted, fewer systems help, too.",
    ),
    "few-replicates": CaveatKind("there are too few replicates for any p, or adjusted p, to be at most α", f"{MORE}."),
    "near-alpha": CaveatKind(
        "for some p-values, or adjusted p-values, the Monte Carlo error leaves open whether p ≤ α",
        f"{MORE}: with another seed these stars may come or go.",
    ),
    "auto-limit": CaveatKind(
        "auto used its maximum number of replicates, which is not enough",
        "Give the number with -n, or compare fewer systems or metrics at once.",
    ),
    "small-sample": CaveatKind(
        "there are too few segments or documents, or judges who vote, for a bootstrap test or an interval from draws",
        "Use the test that the note names, and collect more of them for the intervals.",
    ),
    "few-differing": CaveatKind(
        "two systems differ in so few segments or documents that bootstrap tests are unreliable",
        "Nothing if the note says that p is that of ar; else use --test ar. 'reshuffle flips' shows the segments (with "
        "--threshold for scores other than 0 and 1).",
        "whether they are tested by ar (by_default); near the kink of a brevity penalty they are tested by "
        "bootstrap-kink as well, and the larger p counts (at_kink pairs)",
    ),
    "skewed": CaveatKind(
        "a significant difference rests so unevenly on the segments or documents that tests may reject too often",
        "Look at the segments with the largest differences (in HTML with --include texts), and compare on more of "
        "them before you rely on p.",
        "the effective number of those that differ, and how many would be enough",
    ),
    "rare-segments": CaveatKind(
        "there is a significant difference, but so few segments that a rare kind of segment may be missing",
        "Make sure that the test set has all kinds of segments that matter: p says nothing about others.",
    ),
    "few-draws": CaveatKind(
        "there are too few draws for precise ends of the intervals",
        f"{MORE}. --interval delta needs no draws.",
    ),
    "star-and-interval": CaveatKind(
        "for some differences of a family, the star and the interval disagree",
        "Choose before you look whether p or the interval decides, and report both. Where p is adjusted, --interval "
        "simultaneous gives intervals for the whole family.",
        "the reasons",
    ),
}
# Those of tests of systems with several runs.
RUN_CAVEAT_KINDS: Mapping[str, CaveatKind] = {
    "no-spread": CaveatKind(
        "all runs of each system have the same score, so the runs say nothing about how much others differ",
        "Make sure that the files are not copies of one run, or add runs.",
    ),
    "unequal-spreads": CaveatKind(
        "with these numbers of runs, the test rejects too often if the runs of one system vary more than those of the "
        "other",
        "Make the same number of runs of each system.",
    ),
    "skewed-runs": CaveatKind(
        "the runs of one system have a large share of the variance, so the test may reject too often if their scores "
        "are skewed",
        "Make more runs of each system.",
    ),
}
