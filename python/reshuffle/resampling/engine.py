"""The core's reductions and prepared samples, as they will be: over the functions that it has today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Progress
from ..metrics import Counts, Scores


class Reduction:
    def __init__(self, **given: Any) -> None:
        self.given = given

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        raise NotImplementedError


class Tally(Reduction):
    def __init__(self, pairs: Any, alternative: str, thresholds: Scores) -> None:
        self._with = (pairs, alternative, thresholds)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        self.counts = _core.shuffle_tally(resampler.native, *self._with, **how)


class SequentialTally(Reduction):
    def __init__(self, pairs: Any, alternative: str, thresholds: Scores, rule: _core.StoppingRule) -> None:
        self._with = (pairs, alternative, thresholds, rule)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        how.pop("codes")
        self.shuffles, self.exceedances, self.stopped = _core.shuffle_until(resampler.native, *self._with, **how)


class Spread(Reduction):
    def __init__(self, pairs: Any) -> None:
        self._with = (pairs,)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        how.pop("codes")
        self.values = _core.shuffle_spreads(resampler.native, *self._with, **how)


class MaxT(Reduction):
    def __init__(self, pairs: Any, alternative: str, scales: Scores, thresholds: Scores) -> None:
        self._with = (pairs, alternative, scales, thresholds)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        how.pop("codes")
        self.counts = _core.shuffle_max_t(resampler.native, *self._with, **how)


class MinP(Reduction):
    def __init__(self, pairs: Any, alternative: str, thresholds: Scores, ranks: NDArray[np.uint64]) -> None:
        self._with = (pairs, alternative, thresholds, ranks)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        how.pop("codes")
        self.counts = _core.shuffle_min_p(resampler.native, *self._with, **how)


class Series(Reduction):
    def __init__(self, pairs: Any) -> None:
        self._with = (pairs,)

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        self.statistics = _core.shuffle_statistics(resampler.native, *self._with, **how)


class Draws(Reduction):
    def __init__(self) -> None:
        pass

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        how.pop("codes")
        self.scores = _core.draw_scores(resampler.native, strata=resampler.strata, **how)


class Sums(Reduction):
    sums: Counts

    def __init__(self) -> None:
        pass

    def run(self, resampler: Resampler, how: dict[str, Any]) -> None:
        counts = [counts for _, counts in resampler.samples]
        if resampler.kind == "draws":
            how.pop("codes")
            self.sums = _core.draw_sums(counts, strata=resampler.strata, first=resampler.first, **how)
        else:
            self.sums = _core.shuffle_sums(counts, first=resampler.first, **how)


class Resampler:
    def __init__(
        self,
        samples: Sequence[tuple[_core.Metric | None, Counts]],
        *,
        kind: str = "shuffles",
        strata: Sequence[int] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.samples, self.kind, self.strata = samples, kind, strata
        self.native: Any = samples
        self.first = 0

    def run(
        self,
        reductions: Sequence[Any],
        *,
        n: int,
        seed: int = 0,
        first: int = 0,
        codes: NDArray[np.uint64] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[Any]:
        self.first = first
        for reduction in reductions:
            reduction.run(self, {"n": n, "seed": seed, "codes": codes, "threads": threads, "progress": progress})
        return list(reductions)
