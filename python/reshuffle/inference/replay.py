"""Tests, intervals and standard errors from user-supplied replicates, which is called a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..resampling import CountSample
from ..resampling.supplied import Supplied, SuppliedReplicates
from ..settings import Resampling, Units
from ..validate import check_name

# The tie rules: with ">=", a replicate exactly as extreme as the observed difference counts; with ">", it does not.
TIES = (">=", ">")


@dataclass(frozen=True, eq=False)
class Replay:
    """A user's masks or indices, before the number of segments is known.

    ``name`` is the argument that holds the ``blocks``: ``masks`` or ``indices``.
    """

    name: str
    blocks: Any

    @classmethod
    def from_arguments(
        cls, name: str, blocks: Any, n_resamples: object, seed: object, units: Units, ties: str = ">="
    ) -> Replay | None:
        """From the argument ``masks`` or ``indices``, or None if that is None.

        Raises :class:`InputError` if it cannot be combined with one of the other arguments.
        """
        check_name("tie rule", ties, TIES)
        if blocks is None:
            if ties != ">=":
                raise InputError(
                    f"ties={ties!r} counts only replicates that are strictly more extreme than the observed "
                    f"difference, which makes p too small. It is for reproducing the p-values of other programs from "
                    f"their {name}: pass {name}, or leave ties out"
                )
            return None
        for argument, value in (("n_resamples", n_resamples), ("seed", seed)):
            if value is not None:
                raise InputError(
                    f"{name} and {argument} were both passed: {name} already define the replicates, leave one out"
                )
        for argument, ids in (("documents", units.documents), ("strata", units.strata)):
            if ids is not None:
                hint = f"{name} already define the segments of each replicate, leave {argument} out"
                if argument == "documents":
                    hint += f", or pass counts that are summed over documents, with {name} of documents"
                raise InputError(f"{name} and {argument} were both passed: {hint}")
        return cls(name, blocks)

    def replicates(self, samples: list[CountSample], resampling: Resampling) -> SuppliedReplicates:
        """The replicates of these samples. Reads all masks or indices."""
        supplied = Supplied.from_arguments(
            **{"masks": None, "indices": None, self.name: self.blocks}, n_units=samples[0].n_units
        )
        return SuppliedReplicates(samples, supplied, threads=resampling.threads, progress=resampling.progress)


def resampling_settings(n_resamples: Any, seed: Any, threads: int | None, progress: Any) -> Resampling:
    """The settings from arguments, of which None stands for the default."""
    number = {} if n_resamples is None else {"n_resamples": n_resamples}
    return Resampling(seed=seed, threads=threads, progress=progress, **number)
