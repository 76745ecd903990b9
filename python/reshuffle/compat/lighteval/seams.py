"""What :func:`reshuffle.compat.install` replaces in lighteval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lighteval.metrics.utils import stderr as host

from reshuffle import InputError

from ..patching import Seam
from .counting import Aggregation, from_counts, from_draws


def patched(metric: Aggregation, population: Sequence[Any], number_experiments: int) -> float:
    """The standard error from counts if possible, otherwise lighteval's own times √R."""
    BOOTSTRAP.count()
    try:
        return from_counts(metric, population, number_experiments)
    except InputError as error:
        BOOTSTRAP.fall_back(str(error))
        return from_draws(BOOTSTRAP.original, metric, population, number_experiments)


BOOTSTRAP = Seam.function(host.bootstrap_stderr, patched)
SEAMS = [BOOTSTRAP]
