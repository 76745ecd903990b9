"""When a test needs no more shuffles. A new rule is a class here, an entry in :data:`STOPPING`, and its limits in Rust.

Shuffles are looked at in order of their numbers, and each pair stops under each metric at its own. n is how many were
looked at, c the exceedances among them, R how many there are at most.
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
from ..settings import default_alpha
from ..validate import MAX_RESAMPLES, check_integer, check_level, check_name

__all__ = ["STOPPING", "AnyRule", "BesagClifford", "Gandy"]


@dataclass(frozen=True)
class BesagClifford:
    """Stop at the h-th exceedance: large p need few shuffles, small ones are as exact as R allows.

    p = h/n if the n-th shuffle is the h-th exceedance, else (c + 1)/(R + 1). Under the null p is at most α with a
    probability of at most α, for any α, as without stopping. The standard error of a p that stopped early is about
    p/√h. Besag & Clifford 1991, doi:10.1093/biomet/78.2.301.

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
    # Is its p, under the null, at most α with a probability of at most α, whatever α is?
    valid_at_all_levels: ClassVar[bool] = True

    exceedances: int = 20

    def __post_init__(self) -> None:
        check_integer("exceedances", self.exceedances, 1, MAX_RESAMPLES)

    @property
    def signature(self) -> str:
        """As signatures name it."""
        return signature.for_stopping(self.name, self.exceedances)

    def at(self, alpha: float) -> BesagClifford:
        """The rule for tests at this level: it serves all of them."""
        return self

    def core(self) -> _core.StoppingRule:
        """Its limits."""
        return _core.StoppingRule.besag_clifford(self.exceedances)

    def includes_observed(self, by_rule: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where p = c/n, by whether the rule stopped a test: Besag & Clifford 1991, section 2."""
        return by_rule

    def used(self, cap: int, by_rule: Any) -> UsedStopping:
        """The record of a test, or of those of a batch."""
        return UsedStopping(self.name, cap, by_rule, exceedances=self.exceedances)


@dataclass(frozen=True)
class Gandy:
    """Stop as soon as it is decided on which side of a level p lies, with a bounded risk of deciding wrongly.

    Whatever the p of infinitely many shuffles is, the probability that the other side of the level is decided for is at
    most ``risk``, for each test. A p far from the level needs some hundred shuffles, one close to it very many; if R is
    reached first, nothing is decided. p = (c + 1)/(n + 1) lies on the side decided for. It is an estimate: at other
    levels it does not bound errors of the first kind. Gandy 2009, doi:10.1198/jasa.2009.tm08368, with his spending
    sequence ε_n = ε·n/(1000 + n).

    Parameters
    ----------
    level : float, optional
        α. By default that of a comparison, and .05 where there is none.
    risk : float
        ε, more than 0, at most ¼.

    Notes
    -----
    Cost: besides the shuffles about √n additions for the n-th.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[1], [0], [1], [1]]), np.array([[0], [1], [1], [0]])
    >>> from reshuffle import approximate_randomization
    >>> result = approximate_randomization(a, b, lambda t: t[..., 0] / 4, stopping=Gandy(level=0.01))
    >>> result.pvalue > 0.01, result.n_resamples < 20, result.stopping.stopped
    (True, True, True)
    """

    name: ClassVar[str] = "gandy"
    valid_at_all_levels: ClassVar[bool] = False

    level: float | None = None
    risk: float = 0.001

    def __post_init__(self) -> None:
        if self.level is not None:
            check_level("level", self.level)
        if check_level("risk", self.risk) > 0.25:
            raise InputError(f"risk must be at most 0.25, got {self.risk!r}")

    @property
    def signature(self) -> str:
        """As signatures name it."""
        return signature.for_stopping(self.name, self._level, self.risk)

    def at(self, alpha: float) -> Gandy:
        """The rule for tests at this level."""
        if self.level not in (None, alpha):
            raise InputError(
                f"Gandy decides at level {self.level}, the comparison at alpha = {alpha}, by default "
                "1 - confidence_level: leave it out, or make them agree"
            )
        return Gandy(alpha, self.risk)

    @property
    def _level(self) -> float:
        """The level of tests for which none was given."""
        return default_alpha() if self.level is None else self.level

    def core(self) -> _core.StoppingRule:
        """Its limits."""
        return _core.StoppingRule.gandy(self._level, self.risk)

    def includes_observed(self, by_rule: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Nowhere: Gandy estimates p by c/n, which may be 0; here the observed arrangement counts, as everywhere."""
        return np.zeros_like(by_rule)

    def used(self, cap: int, by_rule: Any) -> UsedStopping:
        """The record of a test, or of those of a batch."""
        return UsedStopping(self.name, cap, by_rule, level=self._level, risk=self.risk)


AnyRule: TypeAlias = BesagClifford | Gandy

STOPPING: Mapping[str, type[AnyRule]] = {rule.name: rule for rule in (BesagClifford, Gandy)}


def resolve(stopping: str | AnyRule | None) -> AnyRule | None:
    """A rule by its name or as it is."""
    if stopping is None or isinstance(stopping, BesagClifford | Gandy):
        return stopping
    check_name("stopping rule", stopping, list(STOPPING))
    return STOPPING[stopping]()
