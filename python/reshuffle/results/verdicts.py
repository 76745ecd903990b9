"""What a test says about a system: whether it is better or worse than what it was compared with."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Verdict: TypeAlias = Literal["better", "worse", "no significant difference"]

# What every report calls it.
NO_DIFFERENCE: Literal["no significant difference"] = "no significant difference"


class Tested:
    """A record of a test, with ``pvalue`` and ``adjusted_pvalue``."""

    __slots__ = ()

    pvalue: Any
    adjusted_pvalue: Any

    @property
    def final_pvalue(self) -> Any:
        """The p-value that decides: adjusted, if there is an adjustment."""
        return self.pvalue if self.adjusted_pvalue is None else self.adjusted_pvalue

    def is_significant(self, alpha: float) -> bool:
        """Whether p, adjusted if there is an adjustment, is at most ``alpha``: what a star marks in reports.

        For a test with a margin: whether equivalence or non-inferiority is shown. False where nothing was tested.
        """
        p = self.final_pvalue
        return p is not None and bool(p <= alpha)


# Alternatives of tests that find differences of either sign: ``one-sided`` is in the direction of the observed one.
UNDIRECTED = ("two-sided", "one-sided")


def sought_by(alternative: str, higher_is_better: bool) -> Literal["better", "worse"] | None:
    """What a one-sided test can show of a system; None for other tests.

    >>> sought_by("greater", False), sought_by("better", False), sought_by("two-sided", True)
    ('worse', 'better', None)
    """
    if alternative in ("greater", "less"):
        return "better" if (alternative == "greater") == higher_is_better else "worse"
    return alternative if alternative in ("better", "worse") else None  # type: ignore[return-value]


def verdict(difference: float, significant: bool, higher_is_better: bool, alternative: str = "two-sided") -> Verdict:
    """The verdict of a test of differences. Every report takes it from here.

    A one-sided test can only show a difference in its direction. Tests that do not compare the scores themselves, such
    as the sign test, may find a difference between systems with equal scores, of which neither is then the better one.

    >>> verdict(-2.0, True, True), verdict(-2.0, True, False), verdict(-2.0, False, True)
    ('worse', 'better', 'no significant difference')
    """
    sought = sought_by(alternative, higher_is_better)
    if not significant or (sought is None and difference == 0):
        return NO_DIFFERENCE
    return sought or ("better" if (difference > 0) == higher_is_better else "worse")
