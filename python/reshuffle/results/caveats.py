"""Warnings about the numbers of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..documented import record


@record
class Caveat:
    """A warning about the p-values or intervals of a result. :mod:`reshuffle.report` formulates the sentences."""

    kind: str
    """One of these:

    - ``liberal``: the test rejects true null hypotheses far more often than its level says;
    - ``all-exchangeable``: the test assumes that the outputs of all systems are exchangeable; a family-wise error
      rate measured where their variances differ, and tests to use instead with the adjustment ``maxt``;
    - ``approximate``: under a metric whose score is not a mean of segment scores, the test is computed on jackknife
      pseudo-values and is approximate;
    - ``undecided``: tests with a stopping rule used all their shuffles without a decision;
    - ``other-test``: a metric is a function of texts, which the chosen test does not support, so another test was
      used for it;
    - ``dependence``: the correlation of segments within documents under a metric, and the design effect;
    - ``not-exchangeable``: some differences under a metric have the wrong spread over shuffles, because the
      systems' outputs are not exchangeable; the worst pair, and a test to use instead, if one is reliable there;
    - ``near-kink``: under a metric with a brevity penalty, lengths are so near those of the references that a
      difference of expected scores need not be one of the populations; the worst pair, how many standard errors its
      lengths are from those of the references, the bias of its difference in standard errors, the share of the
      difference that the penalty makes, whether this limits the test or the interval, the test if it is one by
      shuffles (``swaps``), and the one to use instead;
    - ``not-ranked``: there is no ranking under a metric, because scores are missing and pairs of systems were
      compared on different segments;
    - ``not-adjusted``: p-values are not adjusted although there are several tests, because the stopping rule only
      estimates p;
    - ``many-tests``: p-values are not adjusted; the probability of at least one false positive, and the level for
      each test that would keep this probability at α;
    - ``few-units``: there are too few segments or documents for any p ≤ α;
    - ``few-replicates``: there are too few replicates for any p, or adjusted p, to be at most α;
    - ``near-alpha``: for some p-values, or adjusted p-values, the Monte Carlo error leaves open whether p ≤ α;
    - ``auto-limit``: ``auto`` used its maximum number of replicates, which is not enough;
    - ``small-sample``: there are too few segments or documents, or judges who vote, for a bootstrap test or an interval
      from draws;
    - ``few-differing``: two systems differ in so few segments or documents that bootstrap tests are unreliable; so
      they are tested by ``ar`` (``by_default``), or should be; near the kink of a brevity penalty by
      ``bootstrap-kink`` as well, and the larger p counts (``at_kink`` pairs);
    - ``skewed``: a significant difference rests on few segments or documents, and their influences are so skewed
      that tests may reject too often; the effective number of those that differ, and how many would be enough;
    - ``rare-segments``: there is a significant difference, but so few segments that a rare kind of segment may be
      missing;
    - ``few-draws``: there are too few draws for precise ends of the intervals;
    - ``star-and-interval``: for some differences of a family, the star and the interval disagree; the reasons.
    """
    values: Mapping[str, Any]
    """The numbers, names and truth values in the sentence, by name. A pair is the minimum and maximum over the pairs of
    systems. ``pairs`` and ``tests`` are the numbers of pairs to which the caveat applies and of all pairs;
    ``few-units`` and ``small-sample`` have them only if scores are missing.
    """
