"""Optimizers of the weights of features: MERT, batch MIRA, pairwise ranking (PRO) and expected sentence BLEU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..documented import record
from ..errors import InputError, counted, quoted, warn
from ..metrics.base import thread_count
from ..options.declare import called_with, chosen, options_of
from ..options.tuning import FitKbmira, FitMert, FitPro, FitXbleu, Kbmira, Mert
from ..progress import reported
from .lists import NBest, additive

Floats = NDArray[np.float64]
# The most steps of Newton's method in a run of PRO. Few are needed, unless features differ much in size.
NEWTON_STEPS = 100


@record(eq=False)
class Learned:
    """Weights from some runs, which differ in their seeds: those of :func:`mert`, :func:`kbmira` and others."""

    weights: Floats
    """Shape (runs, F). The weights of the dense features, then those of the sparse ones."""
    trace: Floats
    """Shape (runs, T). What is known of each run: see the function that made it."""


def _features(lists: NBest) -> tuple[NDArray[np.int64], Floats, Any]:
    """The features as the core takes them."""
    sparse = lists.sparse
    return lists.offsets, lists.dense, None if sparse is None else sparse.rows


def starting_weights(lists: NBest, initial: ArrayLike | None) -> Floats:
    """Weights with which a search begins; 0 for those of sparse features if they are not given."""
    width, more = len(lists.names), len(lists.sparse_names)
    given = np.zeros(width) if initial is None else np.asarray(initial, dtype=np.float64)
    if given.shape not in ((width,), (width + more,)):
        wanted = f"{width} numbers" if not more else f"{width} or {width + more} numbers"
        raise InputError(f"initial: expected {wanted}, one per feature, got {quoted(initial)}")
    return np.ascontiguousarray(np.concatenate([given, np.zeros(width + more - len(given))]))


def _numbers(what: str, values: ArrayLike, n: int) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise InputError(f"{what}: expected {n} numbers, got an array of shape {array.shape}")
    return array


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
    low, high = (
        _numbers(name, np.full(width, default) if given is None else given, width)
        for name, given, default in (("low", options.low, -1.0), ("high", options.high, 1.0))
    )
    sparse = lists.sparse
    if sparse is not None and start[width:].any():
        features = np.column_stack([features, sparse.weighted(start[width:])])
        begin, low, high = np.append(begin, 1.0), np.append(low, 0.0), np.append(high, 2.0)
    counts = np.ascontiguousarray(options.counts, dtype=np.int64)
    with reported(options.progress) as watched:
        weights, _, _, scores, _ = _core.tune_mert(
            lists.offsets, features, counts, core, start=begin.tolist(), low=low.tolist(), high=high.tolist(),
            seeds=list(options.seeds), threads=thread_count(options.threads), progress=watched,
            **chosen(options, *options_of(Mert)),
        )  # fmt: skip
    return Learned(_with_sparse(weights, start, width), scores[:, :, 1])


def _with_sparse(weights: Floats, start: Floats, width: int) -> Floats:
    """Weights of all features, from those of the dense ones and perhaps one for all sparse ones."""
    if len(start) == width:
        return weights
    part = weights[:, width:] if weights.shape[1] > width else np.zeros((len(weights), 1))
    return np.concatenate([weights[:, :width], part * start[width:]], axis=1)


@called_with(FitKbmira)
def kbmira(options: FitKbmira) -> Learned:
    """Batch MIRA (Cherry & Foster 2012, N12-1047, Section 3.2).

    Sentences are visited in random order. For each, the hope has the largest sum of model score and gain, the fear the
    largest model score minus gain; ties go to the first. If the model does not prefer the hope by the difference of
    their gains, the weights move towards it, by at most ``c`` times the difference of features.

    Returns
    -------
    Learned
        Weights are the mean after all steps until the end of the epoch after which this mean has the best corpus score.
        ``trace`` has that score after each epoch.

    Raises
    ------
    InputError
        If an array does not fit the lists, a number is not finite or a setting is out of range.

    Notes
    -----
    A run takes a time in proportion to epochs times numbers in the lists: 60 epochs of 49,738 entries with 12 features
    take about a tenth of a second.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle.tune import read_nbest
    >>> _ = Path("a.nbest").write_text("0 ||| a b c d ||| x= 1 y= 0\\n0 ||| a b c d e ||| x= 0 y= 1\\n")
    >>> lists = read_nbest("a.nbest")
    >>> found = kbmira(lists, lists.count("bleu", ["a b c d e"]), epochs=2)
    >>> bool(found.weights[0, 1] > found.weights[0, 0]), found.trace.round(1).tolist()
    (True, [[100.0, 100.0]])
    >>> Path("a.nbest").unlink()
    """
    lists, gains = options.lists, options.gains
    core = additive(options.metric).core
    worth = None if gains is None else _numbers("gains", gains, len(lists.dense))
    start, rows = starting_weights(lists, options.initial), np.ascontiguousarray(options.counts, dtype=np.int64)
    with reported(options.progress) as watched:
        weights, trace = _core.tune_mira(
            core, *_features(lists), rows, worth, initial=start, seeds=list(options.seeds),
            threads=thread_count(options.threads), progress=watched, **chosen(options, *options_of(Kbmira)),
        )  # fmt: skip
    return Learned(weights, trace)


@called_with(FitPro)
def pro(options: FitPro) -> Learned:
    """Pairwise ranking: a classifier of which of two entries is better (Hopkins & May 2011, D11-1125).

    Of each sentence, random pairs of entries are drawn. Those whose scores differ enough are kept, at most ``kept``,
    with the largest differences. A logistic regression learns from the difference of features of each pair, in both
    orders.

    Returns
    -------
    Learned
        ``trace`` has the number of pairs, the loss with its penalty, the length of its gradient, and the steps of
        Newton's method.

    Raises
    ------
    InputError
        If there are no pairs, an array does not fit the lists, a number is not finite or a setting is out of range.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle.tune import read_nbest
    >>> _ = Path("b.nbest").write_text("0 ||| a b ||| x= 1\\n0 ||| a c ||| x= 0\\n")
    >>> found = pro(read_nbest("b.nbest"), [1, 0], samples=None)
    >>> found.weights.round(3).tolist(), float(found.trace[0, 0])
    ([[0.675]], 1.0)
    >>> Path("b.nbest").unlink()
    """
    lists, part = options.lists, options.interpolation
    before = starting_weights(lists, options.previous)
    values = _numbers("scores", options.scores, len(lists.dense))
    with reported(options.progress) as watched:
        weights, trace = _core.tune_pro(
            *_features(lists), values, seeds=list(options.seeds), samples=options.samples, threshold=options.threshold,
            kept=options.kept, penalty=options.penalty, iterations=NEWTON_STEPS, threads=thread_count(options.threads),
            progress=watched,
        )  # fmt: skip
    ended = int((trace[:, 3] >= NEWTON_STEPS).sum())
    if ended:
        warn(f"{counted(ended, 'run')} of PRO ended before the optimum, after {NEWTON_STEPS} steps: raise the penalty")
    if part != 1:
        weights = part * weights + (1 - part) * before
    return Learned(weights, trace)


def expected_score(
    lists: NBest,
    scores: ArrayLike,
    lengths: ArrayLike,
    weights: ArrayLike,
    *,
    penalty: float = 10.0,
    workers: int | None = None,
) -> tuple[float, Floats]:
    """The objective that :func:`xbleu` minimizes, and its derivative.

    Parameters
    ----------
    lists, scores, lengths, penalty, workers
        As for :func:`xbleu`.
    weights : (F,) array

    Returns
    -------
    float
    (F,) ndarray of float64

    Raises
    ------
    InputError
        As :func:`xbleu`.
    """
    values = _numbers("scores", scores, len(lists.dense))
    return _core.tune_xbleu_objective(
        *_features(lists), values, _numbers("lengths", lengths, len(lists.offsets) - 1),
        starting_weights(lists, weights), penalty=penalty, threads=thread_count(workers),
    )  # fmt: skip


@called_with(FitXbleu)
def xbleu(options: FitXbleu) -> Learned:
    """Expected sentence BLEU (Chen & Cherry 2014, W14-3346, Section 3.2).

    The objective is J(w) = λ‖w‖² − Σ_i v_i Σ_k p_ik b_ik: p_i is the softmax of the model scores of sentence i's
    entries, b_ik their sentence scores and v_i the length of the reference.

    Returns
    -------
    Learned
        The weights with the smallest objective at the start or after an epoch. ``trace`` has the objective at the start
        and after each epoch, or after the last iteration of L-BFGS.

    Raises
    ------
    InputError
        If an array does not fit the lists, a number is not finite or a setting is out of range.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle.tune import read_nbest
    >>> _ = Path("c.nbest").write_text("0 ||| a b ||| x= 1\\n0 ||| a c ||| x= 0\\n")
    >>> lists = read_nbest("c.nbest")
    >>> xbleu(lists, [1, 0], [2], penalty=0.1, method="lbfgs").weights.round(3).tolist()
    [[1.496]]
    >>> Path("c.nbest").unlink()
    """
    lists, threads = options.lists, thread_count(options.threads)
    start = starting_weights(lists, options.initial)
    values = _numbers("scores", options.scores, len(lists.dense))
    sizes = _numbers("lengths", options.lengths, len(lists.offsets) - 1)
    if options.method == "lbfgs":
        return _by_lbfgs(lists, values, sizes, start, options.penalty, 10 * options.epochs, threads)
    with reported(options.progress) as watched:
        weights, trace = _core.tune_xbleu(
            *_features(lists), values, sizes, initial=start, seeds=list(options.seeds), penalty=options.penalty,
            epochs=options.epochs, rate=options.rate, threads=threads, progress=watched,
        )  # fmt: skip
    return Learned(weights, trace)


def _by_lbfgs(
    lists: NBest, scores: Floats, lengths: Floats, start: Floats, penalty: float, iterations: int, threads: int
) -> Learned:
    from scipy.optimize import minimize

    features = _features(lists)

    def objective(weights: Floats) -> tuple[float, Floats]:
        if not np.isfinite(weights).all():
            raise InputError(
                "L-BFGS left the range of numbers: scale the scores, features or initial weights, which are too large"
            )
        return _core.tune_xbleu_objective(*features, scores, lengths, weights, penalty=penalty, threads=threads)

    first, _ = objective(start)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": 1e-12, "gtol": 1e-6},
    )  # fmt: skip
    best, reached = (found.x, float(found.fun)) if found.fun <= first else (start, first)
    return Learned(np.array([best]), np.array([[first, reached]]))
