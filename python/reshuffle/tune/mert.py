"""Minimum error rate training: weights under which the chosen entries have the best corpus score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError, quoted
from ..metrics.base import thread_count
from ..options.declare import called_with, chosen, options_of
from ..options.tuning import FitMert, Mert
from ..progress import reported
from .lists import additive
from .online import Learned, starting_weights

Floats = NDArray[np.float64]


@called_with(FitMert)
def mert(options: FitMert) -> Learned:
    """Minimum error rate training (Och 2003, P03-1021; Bertoldi et al. 2009, doi:10.2478/v10108-009-0003-2).

    From each start, search lines along all axes and some random directions, exactly: the corpus score is constant
    between the places where another entry becomes the best one of a sentence. Move to the middle of the best part of
    all lines, until no line has a better score. The best end of all starts wins.

    Returns
    -------
    Learned
        Weights of dense features, divided by the sum of their absolute values. ``trace`` has the score at the end of
        the search from each start; the given start is the first one.

    Raises
    ------
    InputError
        If an array does not fit the lists, a number is not finite or a setting is out of range.

    Notes
    -----
    A line takes about 2·K·F operations for K entries and F features, and a score for each corner.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("d.nbest").write_text("0 ||| a b ||| x= 1 y= 0\\n0 ||| a b c ||| x= 0 y= 1\\n")
    >>> lists = tune.read_nbest("d.nbest")
    >>> counts = lists.count("ter", ["a b c"])
    >>> found = tune.mert(lists, counts, metric="ter", initial=[1, 0.5], preset="cdec")
    >>> bool(found.weights[0, 1] > found.weights[0, 0]), found.trace.tolist()
    (True, [[0.0]])
    >>> Path("d.nbest").unlink()
    """
    lists, initial = options.lists, options.initial
    core, width = additive(options.metric).core, len(lists.names)
    start = starting_weights(lists, np.ones(width) if initial is None else initial)
    features, begin = lists.dense, start[:width]
    low, high = _limits(options.low, width, "low", -1.0), _limits(options.high, width, "high", 1.0)
    sparse = lists.sparse
    if sparse is not None and start[width:].any():
        rows = np.repeat(np.arange(len(lists)), np.diff(sparse.indptr))
        column = np.bincount(rows, sparse.values * start[width:][sparse.indices], minlength=len(lists))
        features = np.column_stack([features, column])
        begin, low, high = np.append(begin, 1.0), np.append(low, 0.0), np.append(high, 2.0)
    counts = np.ascontiguousarray(options.counts, dtype=np.int64)
    with reported(options.progress) as watched:
        weights, _, _, scores, _ = _core.tune_mert(
            lists.offsets, features, counts, core, start=begin.tolist(), low=low.tolist(), high=high.tolist(),
            seeds=list(options.seeds), threads=thread_count(options.threads), progress=watched,
            **chosen(options, *options_of(Mert)),
        )  # fmt: skip
    return Learned(_with_sparse(weights, start, width), scores[:, :, 1])


def _limits(values: ArrayLike | None, width: int, name: str, default: float) -> Floats:
    """A limit for each dense feature."""
    array = np.full(width, default) if values is None else np.asarray(values, dtype=np.float64)
    if array.shape != (width,):
        raise InputError(f"{name}: expected {width} numbers, one for each dense feature, got {quoted(values)}")
    return array


def _with_sparse(weights: Floats, start: Floats, width: int) -> Floats:
    """Weights of all features, from those of the dense ones and perhaps one for all sparse ones."""
    if len(start) == width:
        return weights
    part = weights[:, width:] if weights.shape[1] > width else np.zeros((len(weights), 1))
    return np.concatenate([weights[:, :width], part * start[width:]], axis=1)
