"""Stopping rules for sequential Monte Carlo tests.

A new rule is a class here, an entry in :data:`STOPPING`, and limits in Rust. Shuffles are used in the order of their
numbers, and every pair stops independently under every metric. n is the number of shuffles used, c the number of
exceedances among them, and R the maximum number of shuffles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core, signature
from ..errors import InputError
from ..results import UsedStopping
from ..validate import MAX_RESAMPLES, check_integer, check_level, check_name, default_alpha


@dataclass(frozen=True)
class BesagClifford:
    """Stop at the h-th shuffle that reaches the observed difference (an exceedance).

    Tests with a large p stop early; small p-values are as precise as R allows.

    p = h/n if the n-th shuffle is the h-th exceedance, otherwise (c + 1)/(R + 1). Under the null hypothesis
    P(p ≤ α) ≤ α for every α, as without a stopping rule. The standard error of p after an early stop is about p/√h.
    Besag & Clifford 1991, doi:10.1093/biomet/78.2.301.

    Parameters
    ----------
    exceedances : int
        h, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[1], [0], [1], [1]]), np.array([[0], [1], [1], [0]])
    >>> from reshuffle import approximate_randomization
    >>> result = approximate_randomization(a, b, lambda t: t[..., 0] / 4, stopping=BesagClifford(10))
    >>> result.pvalue == 10 / result.n_resamples, result.n_resamples < 50
    (True, True)
    """

    name: ClassVar[str] = "besag-clifford"
    # Whether P(p ≤ α) ≤ α for every α under the null hypothesis.
    valid_at_all_levels: ClassVar[bool] = True

    exceedances: int = 20

    def __post_init__(self) -> None:
        check_integer("exceedances", self.exceedances, 1, MAX_RESAMPLES)

    @property
    def signature(self) -> str:
        """The rule's name and parameters in signatures."""
        return signature.for_stopping(self.name, self.exceedances)

    def at(self, alpha: float) -> BesagClifford:
        """The rule for tests at level ``alpha``: itself, as it does not depend on a level."""
        return self

    def core(self) -> _core.StoppingRule:
        """The rule's limits, computed in Rust."""
        return _core.StoppingRule.besag_clifford(self.exceedances)

    def includes_observed(self, stopped: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether p = c/n rather than (c + 1)/(n + 1): for tests that stopped (Besag & Clifford 1991, section 2)."""
        return stopped

    def used(self, max_resamples: int, stopped: Any) -> UsedStopping:
        """The rule in the record of a test or batch."""
        return UsedStopping(self.name, max_resamples, stopped, exceedances=self.exceedances)


@dataclass(frozen=True)
class Gandy:
    """Stop as soon as it is decided whether p ≤ ``alpha``, with a bounded probability of a wrong decision.

    For each test, the probability that the decision differs from that of infinitely many shuffles is at most ``risk``.
    A p far from the level needs a few hundred shuffles, and a p close to it very many. If R shuffles are used first,
    the test remains undecided. The estimate (c + 1)/(n + 1) lies on the side of the level that was decided. At other
    levels it does not bound the type-I error. Gandy 2009, doi:10.1198/jasa.2009.tm08368, with his spending sequence ε_n
    = ε·n/(1000 + n).

    Parameters
    ----------
    alpha : float, optional
        The default is that of the comparison, or .05 outside a comparison.
    risk : float
        ε, greater than 0 and at most ¼.

    Notes
    -----
    Cost: the shuffles, and about √n additions for the n-th shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[1], [0], [1], [1]]), np.array([[0], [1], [1], [0]])
    >>> from reshuffle import approximate_randomization
    >>> result = approximate_randomization(a, b, lambda t: t[..., 0] / 4, stopping=Gandy(alpha=0.01))
    >>> result.pvalue > 0.01, result.n_resamples < 20, result.stopping.stopped
    (True, True, True)
    """

    name: ClassVar[str] = "gandy"
    valid_at_all_levels: ClassVar[bool] = False

    alpha: float | None = None
    risk: float = 0.001

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_level("alpha", self.alpha)
        if check_level("risk", self.risk) > 0.25:
            raise InputError(f"risk must be at most 0.25, got {self.risk!r}")

    @property
    def signature(self) -> str:
        """The rule's name and parameters in signatures."""
        return signature.for_stopping(self.name, self._level, self.risk)

    def at(self, alpha: float) -> Gandy:
        """The rule for tests at level ``alpha``; :class:`InputError` if the rule has another one."""
        if self.alpha not in (None, alpha):
            raise InputError(
                f"Gandy has alpha = {self.alpha}, but the comparison has alpha = {alpha} (by default "
                "1 - confidence_level): leave out Gandy's alpha, or make both equal"
            )
        return Gandy(alpha, self.risk)

    @property
    def _level(self) -> float:
        """The level, or the default if there is none."""
        return default_alpha() if self.alpha is None else self.alpha

    def core(self) -> _core.StoppingRule:
        """The rule's limits, computed in Rust."""
        return _core.StoppingRule.gandy(self._level, self.risk)

    def includes_observed(self, stopped: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """False: p is always (c + 1)/(n + 1). (Gandy's own estimate c/n may be 0.)"""
        return np.zeros_like(stopped)

    def used(self, max_resamples: int, stopped: Any) -> UsedStopping:
        """The rule in the record of a test or batch."""
        return UsedStopping(self.name, max_resamples, stopped, level=self._level, risk=self.risk)


AnyRule: TypeAlias = BesagClifford | Gandy

STOPPING: Mapping[str, type[AnyRule]] = {rule.name: rule for rule in (BesagClifford, Gandy)}


def resolve(stopping: str | AnyRule | None) -> AnyRule | None:
    """A rule from its name, with the default parameters, or the rule itself."""
    if stopping is None or isinstance(stopping, BesagClifford | Gandy):
        return stopping
    check_name("stopping rule", stopping, list(STOPPING))
    return STOPPING[stopping]()
