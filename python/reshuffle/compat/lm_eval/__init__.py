"""Standard errors for lm-evaluation-harness (``lm_eval``), from counts instead of texts.

The harness scores the texts of every bootstrap draw anew, so it makes at most 100 draws for BLEU, chrF and TER. The
functions of this module have the same names and arguments as its own. They count the texts once and resample the
counts, so that 100,000 draws take less time than counting. Other metrics are left to the harness.

``reshuffle.compat.install(only=("lm_eval",))`` makes the harness itself use them. It then reports standard errors from
100,000 draws, which differ from its own. Therefore ``install()`` patches it only if it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reshuffle import InputError

from ..patching import logger
from .counting import Aggregation, count, metric_of

__all__ = ["bootstrap_stderr", "count", "stderr_for_metric"]


def bootstrap_stderr(f: Aggregation, xs: Sequence[Any], iters: int) -> float:
    """Bootstrap standard error of ``f(xs)``, to be used instead of ``lm_eval.api.metrics.bootstrap_stderr``.

    Parameters
    ----------
    f : callable
        An aggregation of the harness. ``lm_eval.api.metrics.bleu``, ``chrf``, ``chrfpp`` and ``ter`` are computed from
        counts, all others by the harness.
    xs : sequence of (references, prediction)
        The items of the task. ``references`` is a string or a list of strings.
    iters : int
        The number of bootstrap draws. Unlike in the harness, it need not be a multiple of 1,000.

    Returns
    -------
    float
        The standard deviation of the scores of the draws, with denominator ``iters`` − 1, as in the harness. The draws
        are not those of the harness.

    Raises
    ------
    ImportError
        If lm_eval is not installed. All other errors are raised by the harness.

    Notes
    -----
    If the items cannot be counted, for example because their numbers of references differ, the harness computes the
    standard error, and the logger ``reshuffle.compat`` warns with the reason.
    """
    from .seams import BOOTSTRAP

    if metric_of(f) is None:
        return float(BOOTSTRAP.original(f, xs, iters))
    try:
        return count(f, xs).bootstrap_error(iters)
    except InputError as error:
        logger.warning("%s: lm_eval computes the standard error: %s", f.__name__, error)
        return float(BOOTSTRAP.original(f, xs, iters))


def stderr_for_metric(metric: Aggregation, bootstrap_iters: int) -> Callable[[Sequence[Any]], float] | None:
    """A function from items to the standard error of ``metric``, as ``lm_eval.api.metrics.stderr_for_metric``.

    Parameters
    ----------
    metric : callable
        An aggregation of the harness.
    bootstrap_iters : int
        The number of bootstrap draws.

    Returns
    -------
    callable or None
        None if ``bootstrap_iters`` is not positive, or if the harness has no standard error for the metric.

    Examples
    --------
    >>> from lm_eval.api.metrics import bypass_agg, mean
    >>> round(stderr_for_metric(mean, 1000)([0.0, 1.0, 1.0, 0.0]), 4)  # computed by the harness
    0.2887
    >>> stderr_for_metric(bypass_agg, 1000) is None
    True
    """
    from lm_eval.api import metrics as host

    if bootstrap_iters > 0 and metric_of(metric) is not None:
        return partial(bootstrap_stderr, metric, iters=bootstrap_iters)
    theirs: Callable[[Sequence[Any]], float] | None = host.stderr_for_metric(metric, bootstrap_iters)
    return theirs
