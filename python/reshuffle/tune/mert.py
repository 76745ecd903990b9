"""Minimum error rate training: weights under which the chosen entries have the best corpus score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError, quoted
from ..metrics.base import MetricLike
from ..progress import AnyProgress, reported
from ..types import MertPreset
from .lists import NBest, additive
from .online import Learned, starting_weights

Floats = NDArray[np.float64]


def mert(
    lists: NBest,
    counts: NDArray[np.int64],
    *,
    metric: MetricLike = "bleu",
    initial: ArrayLike | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    seeds: Sequence[int] = (12345,),
    preset: MertPreset | Literal["moses", "cdec", "both"] = "both",
    restarts: int | None = None,
    random_directions: int | None = None,
    max_steps: int = 1000,
    margin: float = 0.1,
    min_width: float = 1e-9,
    threads: int = 0,
    progress: AnyProgress = None,
) -> Learned:
    """Minimum error rate training (Och 2003, P03-1021; Bertoldi et al. 2009, doi:10.2478/v10108-009-0003-2).

    From each start, search lines along all axes and some random directions, exactly: the corpus score is constant
    between the places where another entry becomes the best one of a sentence. Move to the middle of the best part of
    all lines, until no line has a better score. The best end of all starts wins.

    Parameters
    ----------
    lists : NBest
    counts : (K, T) array of int64
        The counts of each entry, from :meth:`NBest.count`.
    metric : str or Metric
        The metric of these counts. Error rates are minimised.
    initial : array, optional
        The weights of one start. By default that of each dense feature is 1. Weights of sparse features are not
        searched: they keep their proportions to each other, as one more feature, and are 0 if they are not given.
    low, high : (F,) arrays, optional
        Restarts are drawn uniformly between these weights; -1 and 1 by default.
    seeds : sequence of int
        One run for each seed, which decides restarts and directions.
    preset : {'both', 'moses', 'cdec'}
        ``moses``: 20 random restarts; ``cdec``: 5 random directions, whose elements are drawn between -1 and 1 before
        they are scaled to length 1; ``both`` has both.
    restarts, random_directions : int, optional
        Replace the numbers of the preset.
    max_steps : int
        The most steps from a start.
    margin : float
        How far outside the last corner of a line to go, if the best part has no end.
    min_width : float
        Narrower parts are not chosen.
    threads : int
        The number of threads; 0 for all cores. Results do not depend on it.
    progress : optional
        As for :func:`reshuffle.compare`.

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
    core, width = additive(metric).core, len(lists.names)
    start = starting_weights(lists, np.ones(width) if initial is None else initial)
    features, begin = lists.dense, start[:width]
    ranges = [_limits(limit, width, name, at) for limit, name, at in ((low, "low", -1.0), (high, "high", 1.0))]
    sparse = lists.sparse
    if sparse is not None and start[width:].any():
        rows = np.repeat(np.arange(len(lists)), np.diff(sparse.indptr))
        column = np.bincount(rows, sparse.values * start[width:][sparse.indices], minlength=len(lists))
        features = np.column_stack([features, column])
        begin = np.append(begin, 1.0)
        ranges = [np.append(limit, at) for limit, at in zip(ranges, (0.0, 2.0), strict=True)]
    with reported(progress) as watched:
        weights, _, _, scores, _ = _core.tune_mert(
            lists.offsets, features, np.ascontiguousarray(counts, dtype=np.int64), core, start=begin.tolist(),
            low=ranges[0].tolist(), high=ranges[1].tolist(), seeds=list(seeds), preset=preset, restarts=restarts,
            random_directions=random_directions, margin=margin, min_width=min_width, max_steps=max_steps,
            threads=threads, progress=watched,
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
