"""Seeds for parts of a study, derived from one seed."""

from __future__ import annotations

from typing import Any

from . import _core
from .validate import MAX_SEED, check_integer

__all__ = ["DerivedSeed", "derive_seed"]


class DerivedSeed(int):
    """A seed that knows what it was derived for. It is the integer that it was derived to in all else."""

    told: str  # as signatures name it

    def __new__(cls, value: int, told: str) -> DerivedSeed:
        """The integer, and how signatures name it."""
        made = super().__new__(cls, value)
        made.told = told
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self), self.told)


def derive_seed(seed: int, kind: str, index: int) -> DerivedSeed:
    """A seed for one of many test sets, simulations, optimizer runs or restarts, from the seed of all of them.

    Replicates of one seed are the same wherever it is used, so parts of a study that are to be independent need seeds
    of their own. ``seed + index`` would do for one kind of part, but seeds of test sets would meet those of simulations
    there. Here a block of the generator whose key is ``seed``, at a place given by ``kind`` and ``index``, is the new
    seed: seeds of different kinds, of different indices and of seeds derived from them have nothing to do with one
    another. Signatures name what was derived: ``seed:12345>simulation[7]``.

    Parameters
    ----------
    seed : int
        0 to 2⁶⁴ − 1; a derived one may be derived from again.
    kind : {'test-set', 'simulation', 'run', 'restart'}
    index : int
        Which of them, 0 to 2⁶⁴ − 1.

    Returns
    -------
    DerivedSeed
        An integer, for any ``seed=`` of this package.

    Raises
    ------
    InputError
        For an unknown kind, or a number out of range.

    Notes
    -----
    Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405), as all random numbers here. Cost: one block.

    Examples
    --------
    >>> from reshuffle import approximate_randomization
    >>> seed = derive_seed(derive_seed(12345, "simulation", 7), "test-set", 0)
    >>> result = approximate_randomization([0.8, 0.7, 0.9], [0.7, 0.8, 0.6], scheme="iid", seed=seed)
    >>> result.seed == seed, "|seed:12345>simulation[7]>test-set[0]|" in result.signature
    (True, True)
    """
    seed = check_integer("seed", seed, 0, MAX_SEED)
    value = _core.derive(int(seed), kind, check_integer("index", index, 0, MAX_SEED))
    return DerivedSeed(value, f"{told(seed)}>{kind}[{int(index)}]")


def told(seed: int) -> str:
    """A seed as signatures name it.

    >>> told(7), told(DerivedSeed(99, "7>run[1]"))
    ('7', '7>run[1]')
    """
    return seed.told if isinstance(seed, DerivedSeed) else str(seed)
