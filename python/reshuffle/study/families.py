"""Families of systems with equal scores, for studies of multiple tests: all their null hypotheses are true."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..metrics.base import Counts
from ..seeds import DerivedSeed, derive_seed
from .equal_scores import check_difference, made_worse
from .null_data import EQUALIZE, Request


@dataclass(frozen=True, eq=False)
class FamilyPopulation:
    """k systems with equal scores under one or more metrics."""

    metrics: Sequence[int]
    """Their indices."""
    counts: Sequence[Counts]
    """Shape (k, U, K). For each metric."""
    permuted: bool
    """Whether the outputs of each unit are permuted in every simulation, which makes the systems exchangeable."""

    def data_set(self, seed: DerivedSeed, sampling: str, size: int, k: int) -> list[Counts]:
        """A simulated test set of the first k systems, (k, n, K) for each metric: a pure function of the seed.

        The units are chosen as by :meth:`reshuffle.study.experiments.Experiment.units`. Permutations have a seed of
        their own, because tests that permute have those of the simulation's seed.
        """
        chosen = self._units(seed, sampling, size)
        if not self.permuted:
            return [np.ascontiguousarray(counts[:k, chosen]) for counts in self.counts]
        systems = _core.permutations(derive_seed(seed, "test-set", 0), 0, k, len(chosen)).astype(np.intp).T
        return [np.ascontiguousarray(counts[systems, chosen]) for counts in self.counts]

    def _units(self, seed: DerivedSeed, sampling: str, size: int) -> NDArray[np.intp]:
        n_units = self.counts[0].shape[1]
        if sampling == "replace":
            return _core.stream_indices(seed, 0, n_units, size, purpose="selection").astype(np.intp)
        if sampling == "subset":
            keys = _core.stream_values(seed, "selection", 0, n_units)
            return np.sort(np.argsort(keys, kind="stable")[:size])
        return np.arange(n_units)


@dataclass(frozen=True, eq=False)
class Families:
    """The populations of one kind of family, each for some of the metrics, and what is true in them, in words."""

    populations: Sequence[FamilyPopulation]
    truth: str


def _of_equal_variances(request: Request, k: int) -> Families:
    """The first k systems, whose outputs are permuted in each unit."""
    material = request.material
    counts = [material.by_unit(of_metric[:k]) for of_metric in material.counts]
    truth = (
        f"In each {material.unit}, the outputs of the systems were permuted at random. So all systems are "
        "exchangeable: their scores, their variances and all correlations are equal, and every null hypothesis is true."
    )
    return Families([FamilyPopulation(range(len(material.metrics)), counts, True)], truth)


def _of_unequal_variances(request: Request, k: int) -> Families:
    """k systems that were made as bad as the worst of them, under each metric. A worse one provides segments."""
    material, how = request.material, request.options.equalize
    populations, abouts = [], []
    for m, metric in enumerate(material.metrics):
        scores = metric.score(material.counts[m].sum(axis=1))
        best_first = np.argsort(-scores if metric.higher_is_better else scores, kind="stable").tolist()
        # The worst system of all provides the segments.
        source = best_first[-1] if how == "mix" else None
        members = [system for system in range(len(material.names)) if system != source][:k]
        if len(members) < k:
            raise InputError(
                f"{len(members) + 1:,} systems make families of at most {len(members):,} with equal scores, because "
                f"segments of the worst replace those of the others: ask for fewer systems than {k:,}, add a worse "
                "one, or use equalize 'drop-words'"
            )
        worst = max(members, key=best_first.index)
        target = float(scores[worst])
        family = [material.counts[m][worst]] * k
        shares = []
        for index, system in enumerate(members):
            if system == worst or float(scores[system]) == target:
                family[index] = material.counts[m][system]
                continue
            family[index], about = made_worse(request, m, system, target, m * len(material.names) + system)
            pair = np.stack([family[index], material.counts[m][worst]])
            error = abs(float(np.subtract(*metric.score(pair.sum(axis=1)))))
            check_difference(request, m, (system, worst), pair, error)
            shares.append(about)
        populations.append(FamilyPopulation([m], [material.by_unit(np.stack(family))], False))
        abouts.append(f"{material.data.labels[m]}: {'; '.join(shares[:3])}{'; …' if len(shares) > 3 else ''}")
    truth = (
        f"The scores of all systems are equal on the whole pool, from which test sets were drawn: {EQUALIZE[how]}, "
        f"until all are as bad as the worst ({'. '.join(abouts)}). Variances and correlations differ, so the systems "
        "are not exchangeable, but every null hypothesis about equal scores is true."
    )
    return Families(populations, truth)


# Kinds of families with true null hypotheses: functions from a request and the number of systems.
VARIANCES: Mapping[str, Callable[[Request, int], Families]] = {
    "equal": _of_equal_variances,
    "unequal": _of_unequal_variances,
}
