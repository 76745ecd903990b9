"""Batch MIRA, pairwise ranking (PRO) and expected sentence BLEU: optimizers for many features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError, quoted
from ..metrics.base import MetricLike
from ..progress import AnyProgress, reported
from .lists import NBest, additive

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights from some runs, which differ in their seeds. :func:`kbmira`, :func:`pro` and :func:`xbleu` make it.

    Attributes
    ----------
    weights : (runs, F) ndarray of float64
        The weights of the dense features, then those of the sparse ones.
    trace : (runs, T) ndarray of float64
        What is known of each run: see the function that made it.
    """

    weights: Floats
    trace: Floats


def _features(lists: NBest) -> tuple[NDArray[np.int64], Floats, Any]:
    """The features as the core takes them."""
    sparse = lists.sparse
    rows = None if sparse is None else (sparse.indptr, sparse.indices, sparse.values, len(sparse.names))
    return lists.offsets, lists.dense, rows


def starting_weights(lists: NBest, initial: ArrayLike | None) -> Floats:
    """Weights with which a search begins; 0 for those of sparse features if they are not given."""
    width, more = len(lists.names), 0 if lists.sparse is None else len(lists.sparse.names)
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


def kbmira(
    lists: NBest,
    counts: NDArray[np.int64],
    *,
    metric: MetricLike = "bleu",
    gains: ArrayLike | None = None,
    initial: ArrayLike | None = None,
    seeds: Sequence[int] = (12345,),
    epochs: int = 60,
    c: float = 0.01,
    decay: float = 0.999,
    background: Literal["hope", "model"] = "hope",
    safe_hope: bool = False,
    threads: int = 0,
    progress: AnyProgress = None,
) -> Learned:
    """Batch MIRA (Cherry & Foster 2012, N12-1047, Section 3.2).

    Sentences are visited in random order. For each, the hope has the largest sum of model score and gain, the fear the
    largest model score minus gain; ties go to the first. If the model does not prefer the hope by the difference of
    their gains, the weights move towards it, by at most ``c`` times the difference of features.

    Parameters
    ----------
    lists : NBest
    counts : (K, T) array of int64
        The counts of each entry, from :meth:`NBest.count`.
    metric : str or Metric
        The metric of these counts. The result is best under it. Without ``gains`` it has to be BLEU.
    gains : (K,) array, optional
        What each entry gains, larger is better: for example sentence BLEU times the length of the reference. By default
        the gain is BLEU of the entry together with a background of earlier entries, times the reference length of both,
        without smoothing and with equal weights of the orders.
    initial : array, optional
        The weights at the start; 0 by default.
    seeds : sequence of int
        One run for each seed, which decides the order of the sentences.
    epochs : int
        How often all sentences are visited.
    c : float
        The largest step.
    decay : float
        The factor by which the background shrinks after each sentence. It begins as one of each count.
    background : {'hope', 'model'}
        Which entry enters the background: the hope or the one that the model prefers.
    safe_hope : bool
        Where the hope's model score is more than five times its gain, scale the model scores down in the choice of the
        hope.
    threads : int
        The number of threads over runs; 0 for all cores. Results do not depend on it.
    progress : optional
        As for :func:`reshuffle.compare`.

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
    core = additive(metric).core
    worth = None if gains is None else _numbers("gains", gains, len(lists.dense))
    start, rows = starting_weights(lists, initial), np.ascontiguousarray(counts, dtype=np.int64)
    with reported(progress) as watched:
        weights, trace = _core.tune_mira(
            core, *_features(lists), rows, worth, initial=start, seeds=list(seeds), epochs=epochs, c=c, decay=decay,
            background=background, safe_hope=safe_hope, threads=threads, progress=watched,
        )  # fmt: skip
    return Learned(weights, trace)


def pro(
    lists: NBest,
    scores: ArrayLike,
    *,
    seeds: Sequence[int] = (12345,),
    samples: int | None = 5000,
    threshold: float = 0.05,
    kept: int | None = 50,
    penalty: float = 1.0,
    previous: ArrayLike | None = None,
    interpolation: float = 1.0,
    threads: int = 0,
    progress: AnyProgress = None,
) -> Learned:
    """Pairwise ranking: a classifier of which of two entries is better (Hopkins & May 2011, D11-1125).

    Of each sentence, random pairs of entries are drawn. Those whose scores differ enough are kept, at most ``kept``,
    with the largest differences. A logistic regression learns from the difference of features of each pair, in both
    orders.

    Parameters
    ----------
    lists : NBest
    scores : (K,) array
        The sentence score of each entry from 0 to 1, larger is better: for example
        ``lists.sentence_scores("sentbleu", references) / 100``, with any smoothing.
    seeds : sequence of int
        One run for each seed, which decides the pairs.
    samples : int or None
        How many pairs are drawn per sentence; None for all pairs.
    threshold : float
        The least difference of two scores.
    kept : int or None
        How many pairs are kept per sentence; None for all.
    penalty : float
        λ: the classifier minimises the sum of its log losses plus λ/2 times the sum of squared weights. It is
        scikit-learn's ``LogisticRegression(C=1/λ, fit_intercept=False)``.
    previous : array, optional
        Weights of the decode before, 0 by default.
    interpolation : float
        The part of the new weights in the result: new · part + previous · (1 − part). Hopkins & May use .1 between
        decodes.
    threads, progress
        As for :func:`kbmira`.

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
    if not 0 < interpolation <= 1:
        raise InputError(f"interpolation: expected a number above 0 and at most 1, got {quoted(interpolation)}")
    before, values = starting_weights(lists, previous), _numbers("scores", scores, len(lists.dense))
    with reported(progress) as watched:
        weights, trace = _core.tune_pro(
            *_features(lists), values, seeds=list(seeds), samples=samples, threshold=threshold, kept=kept,
            penalty=penalty, threads=threads, progress=watched,
        )  # fmt: skip
    if interpolation != 1:
        weights = interpolation * weights + (1 - interpolation) * before
    return Learned(weights, trace)


def expected_score(
    lists: NBest, scores: ArrayLike, lengths: ArrayLike, weights: ArrayLike, *, penalty: float = 10.0, threads: int = 0
) -> tuple[float, Floats]:
    """The objective that :func:`xbleu` minimises, and its derivative.

    Parameters
    ----------
    lists, scores, lengths, penalty, threads
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
        starting_weights(lists, weights),
        penalty=penalty, threads=threads,
    )  # fmt: skip


def xbleu(
    lists: NBest,
    scores: ArrayLike,
    lengths: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    method: Literal["sgd", "lbfgs"] = "sgd",
    seeds: Sequence[int] = (12345,),
    penalty: float = 10.0,
    epochs: int = 30,
    rate: float = 0.1,
    threads: int = 0,
    progress: AnyProgress = None,
) -> Learned:
    """Expected sentence BLEU (Chen & Cherry 2014, W14-3346, Section 3.2).

    The objective is J(w) = λ‖w‖² − Σ_i v_i Σ_k p_ik b_ik: p_i is the softmax of the model scores of sentence i's
    entries, b_ik their sentence scores and v_i the length of the reference.

    Parameters
    ----------
    lists : NBest
    scores : (K,) array
        The sentence score of each entry, as for :func:`pro`.
    lengths : (N,) array
        The length of each sentence's reference in words; the mean length if there are several.
    initial : array, optional
        The weights at the start; 0 by default.
    method : {'sgd', 'lbfgs'}
        Stochastic gradient descent, or L-BFGS-B of SciPy, which uses no random numbers: it returns one run.
    seeds : sequence of int
        One run of stochastic gradient descent for each seed, which decides the order of the sentences.
    penalty : float
        λ. The paper has 10.
    epochs : int
        How often stochastic gradient descent visits all sentences, or the most iterations of L-BFGS in tens.
    rate : float
        η₀: the rate of step t, from 0, is η₀/(1 + t/N). It must be below N/2λ. The paper does not name its own.
    threads, progress
        As for :func:`kbmira`. L-BFGS reports no progress.

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
    if method not in ("sgd", "lbfgs"):
        raise InputError(f"method: expected sgd or lbfgs, got {quoted(method)}")
    start, values = starting_weights(lists, initial), _numbers("scores", scores, len(lists.dense))
    sizes = _numbers("lengths", lengths, len(lists.offsets) - 1)
    if method == "lbfgs":
        return _by_lbfgs(lists, values, sizes, start, penalty, 10 * epochs, threads)
    with reported(progress) as watched:
        weights, trace = _core.tune_xbleu(
            *_features(lists), values, sizes, initial=start, seeds=list(seeds), penalty=penalty, epochs=epochs,
            rate=rate, threads=threads, progress=watched,
        )  # fmt: skip
    return Learned(weights, trace)


def _by_lbfgs(
    lists: NBest, scores: Floats, lengths: Floats, start: Floats, penalty: float, iterations: int, threads: int
) -> Learned:
    from scipy.optimize import minimize

    features = _features(lists)

    def objective(weights: Floats) -> tuple[float, Floats]:
        return _core.tune_xbleu_objective(*features, scores, lengths, weights, penalty=penalty, threads=threads)

    first, _ = objective(start)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": 1e-12, "gtol": 1e-6},
    )  # fmt: skip
    best, reached = (found.x, float(found.fun)) if found.fun <= first else (start, first)
    return Learned(np.array([best]), np.array([[first, reached]]))
