"""What :func:`reshuffle.compat.install` replaces in lm-evaluation-harness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval.api import metrics as host

from reshuffle import InputError

from ..patching import Seam
from .counting import Aggregation, count

# For metrics of texts, the harness asks for at most CAP draws, whatever its user chose. The user's default is DRAWS.
CAP, DRAWS = 100, 100_000


def patched(f: Aggregation, xs: Sequence[Any], iters: int) -> float:
    """The standard error from counts if possible, otherwise the harness's own."""
    BOOTSTRAP.count()
    try:
        counted = count(f, xs)
        return counted.bootstrap_error(DRAWS if iters == CAP else iters)
    except InputError as error:
        return float(BOOTSTRAP.leave(error, f, xs, iters))


BOOTSTRAP = Seam.function(host.bootstrap_stderr, patched)
SEAMS = [BOOTSTRAP]
