"""The result of one significance test, or of a batch of them."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import InputError
from ..validate import check_integer
from .caveats import Caveat
from .intervals import (
    ConfidenceInterval,
    Flag,
    OptionalReal,
    OptionalText,
    OptionalWhole,
    Real,
    Whole,
    clopper_pearson,
    may_lie_across,
    robbins,
)
from .reported import Worded
from .verdicts import Tested

# The schemes whose p-values have no interval: they are exact, or their replicates are not independent.
WITHOUT_INTERVAL = ("exact", "subgroup", "replay")


@record
class UsedStopping:
    """The stopping rule of a test, and whether it stopped the shuffles."""

    rule: str
    """A name in :data:`reshuffle.resampling.stopping.STOPPING`."""
    max_resamples: int
    """R, the maximum number of shuffles."""
    stopped: Flag
    """False if all R shuffles were used. For ``gandy`` the test is then undecided."""
    exceedances: int | None = None
    """h of ``besag-clifford``."""
    level: float | None = None
    """α and ε of ``gandy``."""
    risk: float | None = None


@record
class SignificanceResult(Worded, Tested):
    """The result of one test of a pair of systems under one metric, or of a batch of such tests.

    ``print(result)`` shows it in words. For a batch, ``statistic``, ``pvalue``, ``exceedances``, ``n_resamples``,
    ``wins``, ``ties``, ``scheme`` and, if each problem had its own, ``seed`` are arrays of shape (batch,), with −1
    where a single test has None; :meth:`problem` returns the result of one problem.
    """

    test: str
    """A name in :data:`reshuffle.inference.tests.TESTS`."""
    metric: str
    """The name of the metric; in a comparison, with the options that distinguish it from others of the same name."""
    statistic: Real
    """score(a) − score(b), in the metric's units."""
    pvalue: Real
    """Probability, under the null hypothesis, of a difference at least as extreme as ``statistic``. From replicates
    (exceedances + 1)/(n_resamples + 1), or exceedances/n_resamples if ``scheme`` is ``subgroup`` or ``exact`` or
    ``besag-clifford`` stopped the shuffles; times ``tails``, but at most 1.
    """
    alternative: str
    """``two-sided``, ``greater`` (a scores higher than b) or ``less``, which ``better`` and ``worse`` mean under the
    metric; or ``one-sided`` in the observed direction (``paired-bootstrap``); see also ``margin``.
    """
    exceedances: OptionalWhole
    """The number of replicates at least as extreme as the observed difference, or more extreme if the signature has
    ``ties:>``. Where ``tails`` is 2, the number in the smaller tail: draws ≤ 0 or draws ≥ 0, whichever are fewer. None
    for tests without replicates and for exact tests by convolution, which do not enumerate patterns.
    """
    n_resamples: OptionalWhole
    """The number of replicates, R; if a rule stopped them, the number used. None where ``exceedances`` is None."""
    seed: OptionalWhole
    """The seed of the replicates. None for tests without replicates, for exact tests, which use no random numbers, and
    for user-supplied replicates.
    """
    signature: str
    """Metric, test, seed, generator and version, to be reported with the p-value."""
    wins: OptionalWhole = None
    """For bootstrap tests: the number of draws in which a scores higher than b, and in which they are equal."""
    ties: OptionalWhole = None
    adjusted_pvalue: float | None = None
    """The p-value adjusted for all tests of its family (:attr:`UsedTest.family`), if there is an adjustment."""
    scheme: OptionalText = None
    """How the null distribution was obtained: ``iid`` (Monte Carlo), ``subgroup`` or ``exact``; see
    :func:`reshuffle.approximate_randomization`. ``replay`` for user-supplied masks or indices. Otherwise None for tests
    without shuffles.
    """
    stopping: UsedStopping | None = None
    """The stopping rule of the shuffles, if there was one."""
    tails: Whole = 1
    """2 if p is twice the share of the smaller tail, so that p is at least 2/(n_resamples + 1): for the
    two-sided ``bootstrap-percentile``, and for the two-sided ``bootstrap-both`` where ``bootstrap-percentile`` has the
    larger p. Else 1.
    """
    standard_error: OptionalReal = None
    """The standard error that the test divides ``statistic`` by: for ``ar-studentized`` by the delta
    method (None for functions of texts), for ``anova`` √(2·MSE/S), the same for all pairs under a metric. None for
    other tests.
    """
    null_distribution: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """The statistic of each of the R replicates, if requested. For ``ar-studentized``, the studentized difference; or
    the difference itself, if shuffles have the same order by both (means of segments).
    """
    null_probabilities: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """The probabilities of the values of ``null_distribution``; None if they are equally likely."""
    caveats: tuple[Caveat, ...] = ()
    """Warnings about the test itself; those of a comparison are in :attr:`Comparison.caveats`."""
    margin: float | None = None
    """For tests of equivalence and non-inferiority, the margin in the metric's units. ``alternative`` is then
    ``equivalence`` (the difference is smaller than the margin) or ``non-inferiority`` (a is not worse than b by the
    margin or more), and ``exceedances`` is the number of replicates that p counts, those of the larger p of two
    one-sided tests.
    """
    names: tuple[str, str] = field(default=("a", "b"), repr=False, compare=False)
    """What ``print`` calls a and b: the system and its baseline, in a comparison."""

    DERIVED: ClassVar[tuple[str, ...]] = ("exact_by", "pvalue_interval")

    def __repr__(self) -> str:
        if np.ndim(self.pvalue):
            return f"<SignificanceResult: {self.test}, {self.metric}, a batch of {len(self.pvalue)}>"
        return (
            f"<SignificanceResult: {self.test}, {self.metric}, {self.alternative}; statistic={self.statistic:.6g}, "
            f"pvalue={self.pvalue:.6g}, n_resamples={self.n_resamples}, seed={self.seed}>"
        )

    def problem(self, number: int) -> SignificanceResult:
        """The result of one problem of a batch: that of a separate test, except for the signature.

        Parameters
        ----------
        number : int
            The index of the problem, from 0.

        Returns
        -------
        SignificanceResult

        Raises
        ------
        InputError
            If this is not the result of a batch, or the batch has no problem of that number.

        Examples
        --------
        >>> from reshuffle import approximate_randomization
        >>> result = approximate_randomization([[0.81, 0.84], [0.7, 0.9]], [[0.75, 0.8], [0.8, 0.85]])
        >>> result.pvalue, result.problem(0).pvalue
        (array([0.5, 1. ]), 0.5)
        """
        statistics, pvalues = np.asarray(self.statistic), np.asarray(self.pvalue)
        if not pvalues.ndim:
            raise InputError("this is the result of a single test: problem() is for the result of a batch")
        check_integer("number", number, 0, len(pvalues) - 1)

        def one(values: Any) -> Any:
            """The value of this problem as a Python scalar, or the value that all problems share; None for −1."""
            value = values[number].item() if getattr(values, "shape", ()) else values
            return None if value == -1 else value

        stopping = self.stopping
        return replace(
            self,
            statistic=statistics[number].item(),
            signature=f"{self.signature}|problem:{number}",
            pvalue=pvalues[number].item(),
            stopping=None if stopping is None else replace(stopping, stopped=one(stopping.stopped)),
            standard_error=None if self.standard_error is None else self.standard_error[number].item(),
            **{
                name: one(getattr(self, name))
                for name in ("exceedances", "n_resamples", "seed", "wins", "ties", "scheme", "tails")
            },
        )

    @property
    def reversed(self) -> SignificanceResult:
        """The result for b and a, if the test can be reversed: see :attr:`PairedDifference.reversed`."""
        wins, null = self.wins, self.null_distribution
        if wins is not None and self.ties is not None and self.n_resamples is not None:
            wins = self.n_resamples - wins - self.ties
        return replace(
            self, statistic=0.0 - self.statistic, wins=wins, null_distribution=None if null is None else 0.0 - null
        )

    def _check_single(self) -> None:
        if getattr(self.pvalue, "shape", ()):
            raise InputError("this is the result of a batch: choose one of its problems, as in result.problem(0)")

    @property
    def exact_by(self) -> str | None:
        """How an exact test computed p; None for tests that are not exact.

        ``patterns``: by enumeration of all patterns of swaps; ``convolution``: by convolution of the null distribution.
        """
        self._check_single()
        if self.scheme != "exact":
            return None
        return "convolution" if self.n_resamples is None else "patterns"

    @property
    def pvalue_interval(self) -> ConfidenceInterval | None:
        """95% interval for the exact p-value, which infinitely many replicates would give.

        Clopper–Pearson, or Robbins' if ``gandy`` stopped the shuffles. None for exact p-values, for tests without
        replicates, for ``subgroup``, whose shuffles are dependent, so that exceedances are not binomial, and for
        ``replay``, whose replicates may be dependent.

        Where ``tails`` is 2, its ends are twice those for the smaller tail, at most 1. Its coverage is at least 95%
        although the draws decide which tail is the smaller one: if they choose the wrong tail and the interval misses
        p, that of the right tail would have missed p, too.
        """
        self._check_single()
        if self.scheme in WITHOUT_INTERVAL or self.exceedances is None or self.n_resamples is None:
            return None
        if self.stopping is None:
            interval = clopper_pearson(self.exceedances, self.n_resamples)
            low, high = (min(self.tails * end, 1.0) for end in (interval.low, interval.high))
            return replace(interval, low=low, high=high)
        if self.stopping.rule == "gandy":
            return robbins(self.exceedances, self.n_resamples)
        return clopper_pearson(self.exceedances, self.n_resamples, stopped=self.stopping.stopped)

    def may_lie_across(self, level: float) -> bool:
        """Whether :attr:`pvalue_interval` contains ``level``: more replicates could move p to its other side."""
        self._check_single()
        interval_is_simple = self.stopping is None and self.scheme not in WITHOUT_INTERVAL
        if interval_is_simple and self.exceedances is not None and self.n_resamples is not None:
            return may_lie_across(self.exceedances, self.n_resamples, level / self.tails)
        interval = self.pvalue_interval
        return interval is not None and interval.low < level < interval.high
