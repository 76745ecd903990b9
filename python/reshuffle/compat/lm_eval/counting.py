"""The counts of a task's items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from reshuffle import InputError, metric

from ..harness import Counted

Aggregation = Callable[[Sequence[Any]], float]

# The aggregations of lm_eval.api.metrics that compute a score of sacreBLEU, and the metric that has the same counts.
METRICS = {
    "bleu": partial(metric, "bleu"),
    "chrf": partial(metric, "chrf"),
    "chrfpp": partial(metric, "chrf", word_order=2),
    "ter": partial(metric, "ter"),
}


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
