"""Tests, intervals and standard errors from user-supplied replicates, which is called a replay."""

from __future__ import annotations

from .._core import Progress
from ..errors import InputError
from ..options.arrays import OfArrays
from ..resampling import CountSample, Replicates
from ..resampling.supplied import Supplied, SuppliedReplicates
from ..settings import Resampling


def supplied_in(options: OfArrays, name: str) -> Supplied | None:
    """The replicates of the option ``masks`` or ``indices``, or None if that is None.

    Raises :class:`InputError` if it cannot be combined with one of the other options.
    """
    blocks, ties = getattr(options, name), getattr(options, "ties", ">=")
    if blocks is None:
        if ties != ">=":
            raise InputError(
                f"ties={ties!r} makes p too small, because replicates as extreme as the observed difference do not "
                f"count. It is only for reproducing p-values of other programs from their {name}: pass these as "
                f"{name}, or leave ties out"
            )
        return None
    for argument in ("n_resamples", "seed"):
        if getattr(options, argument) is not None:
            raise InputError(
                f"{name} and {argument} were both passed: {name} already define the replicates, so leave out {argument}"
            )
    for argument in ("documents", "strata"):
        if getattr(options, argument) is not None:
            hint = f"{name} already define the segments of each replicate, leave {argument} out"
            if argument == "documents":
                hint += f", or pass counts that are summed over documents, with {name} of documents"
            raise InputError(f"{name} and {argument} were both passed: {hint}")
    return Supplied(name, blocks)


def resampling_of(options: OfArrays, progress: Progress | None) -> Resampling:
    """The number of replicates, their seed, and what computes them. ``progress`` watches it."""
    n = 10_000 if options.n_resamples is None else options.n_resamples
    return Resampling(n, options.seed, options.threads, progress)


def replicates_of(samples: list[CountSample], resampling: Resampling, replay: Supplied | None) -> Replicates:
    """The replicates of samples: those of the user, which are all read here, if there are any."""
    return Replicates(samples, resampling) if replay is None else SuppliedReplicates(samples, replay, resampling)
