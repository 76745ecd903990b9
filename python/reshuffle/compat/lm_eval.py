"""Standard errors for lm-evaluation-harness (``lm_eval``), from counts instead of texts.

The harness scores the texts of every bootstrap draw anew, so it makes at most 100 draws for BLEU, chrF and TER. The
functions of this module have the same names and arguments as its own. They count the texts once and resample the
counts, so that 100,000 draws take less time than counting. Other metrics are left to the harness.

``reshuffle.compat.install(only=("lm_eval",))`` makes the harness itself use them. It then reports standard errors from
100,000 draws, which differ from its own. Therefore ``install()`` patches it only if it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from reshuffle import InputError, metric

from .harness import Counted
from .patching import Seam, logger

__all__ = ["bootstrap_stderr", "count", "stderr_for_metric"]

Aggregation = Callable[[Sequence[Any]], float]

# The aggregations of lm_eval.api.metrics that compute a score of sacreBLEU, and the metric that has the same counts.
METRICS = {
    "bleu": partial(metric, "bleu"),
    "chrf": partial(metric, "chrf"),
    "chrfpp": partial(metric, "chrf", word_order=2),
    "ter": partial(metric, "ter"),
}
# For metrics of texts, the harness asks for at most CAP draws, whatever its user chose. The user's default is DRAWS.
CAP, DRAWS = 100, 100_000


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
    original = bootstrap_seam().original
    if metric_of(f) is None:
        return float(original(f, xs, iters))
    try:
        return count(f, xs).bootstrap_error(iters)
    except InputError as error:
        logger.warning("%s: lm_eval computes the standard error: %s", f.__name__, error)
        return float(original(f, xs, iters))


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


def count(f: Aggregation, xs: Iterable[Any]) -> Counted:
    """Count the items of a task.

    The counts can be passed to the functions of reshuffle, for example to :func:`reshuffle.bootstrap_interval`.

    Parameters
    ----------
    f : callable
        ``bleu``, ``chrf``, ``chrfpp`` or ``ter`` of ``lm_eval.api.metrics``.
    xs : iterable of (references, prediction)

    Returns
    -------
    Counted
        ``metric`` and ``counts``, an (S, K) ndarray of int64.

    Raises
    ------
    InputError
        If ``f`` is another function, the numbers of references differ, or items are not texts.

    Examples
    --------
    >>> from lm_eval.api.metrics import bleu
    >>> metric, counts = count(bleu, [("the cat sat on the mat", "the cat sat on a mat")])
    >>> counts
    array([[6, 6, 5, 3, 2, 1, 6, 5, 4, 3]])
    >>> round(float(metric.score(counts.sum(axis=0))), 2)
    53.73
    """
    make = metric_of(f)
    if make is None:
        name = getattr(f, "__name__", repr(f))
        raise InputError(f"only {', '.join(METRICS)} of lm_eval.api.metrics have counts, got {name}")
    try:
        pairs = [(references, prediction) for references, prediction, *_ in xs]
        segments = [[references] if isinstance(references, str) else list(references) for references, _ in pairs]
    except (TypeError, ValueError):
        raise InputError("items must be pairs of references and a prediction") from None
    return Counted.from_items(make(), [_only(prediction) for _, prediction in pairs], segments)


def _only(prediction: Any) -> Any:
    """The text of a prediction, which some tasks wrap in a list."""
    if isinstance(prediction, (list, tuple)) and len(prediction) == 1:
        return prediction[0]
    return prediction


def metric_of(f: Aggregation) -> partial[Any] | None:
    """The function that creates the metric that an aggregation of the harness computes, or None."""
    from lm_eval.api import metrics as host

    return next((make for name, make in METRICS.items() if getattr(host, name, None) is f), None)


# What :func:`reshuffle.compat.install` replaces. The harness is imported only then, and when it is called.


def patched(f: Aggregation, xs: Sequence[Any], iters: int) -> float:
    """The standard error from counts if possible, otherwise the harness's own."""
    bootstrap_seam().count()
    try:
        return count(f, xs).bootstrap_error(DRAWS if iters == CAP else iters)
    except InputError as error:
        return float(bootstrap_seam().leave(error, f, xs, iters))


@cache
def bootstrap_seam() -> Seam:
    """The seam of the harness's function."""
    from lm_eval.api import metrics as host

    return Seam.function(host.bootstrap_stderr, patched)


def __getattr__(name: str) -> Any:
    if name == "SEAMS":
        return [bootstrap_seam()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
