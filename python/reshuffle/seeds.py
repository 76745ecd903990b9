"""Seeds for the parts of a study, derived from the seed of the study."""

from __future__ import annotations

from typing import Any, get_args

from . import _core
from .types import SeedKind
from .validate import MAX_SEED, check_integer, check_name


class DerivedSeed(int):
    """An integer seed that also records how it was derived, for signatures.

    ``derivation`` is the original seed and each step: ``12345>simulation[7]>test-set[0]``.
    """

    derivation: str

    def __new__(cls, value: int, derivation: str) -> DerivedSeed:
        """The seed ``value``, shown in signatures as ``derivation``."""
        seed = super().__new__(cls, value)
        seed.derivation = derivation
        return seed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self), self.derivation)


def derive_seed(seed: int, kind: SeedKind | str, index: int) -> DerivedSeed:
    """Derive an independent seed for one test set, simulation, optimizer run or restart of a study.

    The same seed gives the same replicates everywhere, so parts of a study that must be independent need different
    seeds. ``seed + index`` is not enough: the seeds of test sets would coincide with the seeds of simulations. Here the
    new seed is the output of the random number generator with key ``seed`` at a counter that encodes ``kind`` and
    ``index``. Seeds of different kinds or indices, and seeds derived from them in turn, give independent replicates.
    Signatures show the derivation: ``seed:12345>simulation[7]``.

    Parameters
    ----------
    seed : int
        0 to 2⁶⁴ − 1, or a seed that was itself derived.
    kind : {'test-set', 'simulation', 'run', 'restart'}
    index : int
        Number of the test set, simulation …, 0 to 2⁶⁴ − 1.

    Returns
    -------
    DerivedSeed
        An integer, accepted by every ``seed=`` argument of this package.

    Raises
    ------
    InputError
        If the kind is unknown or a number is out of range.

    Notes
    -----
    The generator is Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405), as for all random numbers in this
    package. Cost: one of its blocks.

    Examples
    --------
    >>> from reshuffle import approximate_randomization
    >>> seed = derive_seed(derive_seed(12345, "simulation", 7), "test-set", 0)
    >>> result = approximate_randomization([0.8, 0.7, 0.9], [0.7, 0.8, 0.6], scheme="iid", seed=seed)
    >>> result.seed == seed, "|seed:12345>simulation[7]>test-set[0]|" in result.signature
    (True, True)
    """
    seed = check_integer("seed", seed, 0, MAX_SEED)
    check_name("kind of seed", kind, get_args(SeedKind))
    value = _core.derive(int(seed), kind, check_integer("index", index, 0, MAX_SEED))
    return DerivedSeed(value, f"{format_seed(seed)}>{kind}[{int(index)}]")


def format_seed(seed: int) -> str:
    """The seed as signatures show it: its derivation, or the number.

    >>> format_seed(7), format_seed(DerivedSeed(99, "7>run[1]"))
    ('7', '7>run[1]')
    """
    return seed.derivation if isinstance(seed, DerivedSeed) else str(seed)
