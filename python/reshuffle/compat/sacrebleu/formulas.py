"""sacreBLEU's formulas for arrays of summed counts, equal to its own methods to the last bit.

sacreBLEU scores one row at a time, and the arithmetic depends on the row. Sums of shuffles are 64-bit integers or
doubles. Sums of bootstrap draws are numpy's float32 scalars: under NumPy 2 their product with a Python number is a
float32, under NumPy 1 it is a double (NEP 50). For an array of rows, each function here returns the same values, in the
same dtype, as ``numpy.array([score of row for row in rows])`` with sacreBLEU's own method.

``math.log``, ``math.exp`` and ``sum`` are called for each row, as in sacreBLEU: numpy's logarithm can differ in the
last bit, and since Python 3.12 ``sum`` compensates for rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

from .counting import overrides

Sums: TypeAlias = NDArray[Any]
"""(R, K) summed counts, as int64, float64 or float32."""

Scores: TypeAlias = NDArray[Any]
"""(R,) scores, as float64 or float32."""

Formula: TypeAlias = Callable[[Sums], Scores]

# sacreBLEU's value for the logarithm of 0, which is an integer there, too.
LOG_OF_ZERO = -9999999999

# chrF's value for a ratio whose denominator is 0.
EPSILON = 1e-16

# Options beyond this could exceed the range of float32.
LARGEST_OPTION = 1e9


def formula_of(metric: Any, columns: int) -> Formula | None:
    """The formula of a metric with its current options, for rows with this number of sums.

    It replaces sacreBLEU's ``_compute_score_from_stats``. None if the metric overrides that method, or if the formulas
    here do not support its options.
    """
    if overrides(metric, "_compute_score_from_stats"):
        return None
    if isinstance(metric, BLEU) and not overrides(metric, "compute_bleu"):
        return _bleu_formula(metric, columns)
    if isinstance(metric, CHRF) and not overrides(metric, "_compute_f_score"):
        return _chrf_formula(metric, columns)
    if isinstance(metric, TER) and columns == 2:
        return ter
    return None


def _bleu_formula(metric: Any, columns: int) -> Formula | None:
    method, value, orders = metric.smooth_method, metric.smooth_value, metric.max_ngram_order
    if not (isinstance(orders, int) and 1 <= orders <= 64 and columns == 2 + 2 * orders):
        return None
    if method not in ("none", "floor", "add-k", "exp") or method not in BLEU.SMOOTH_DEFAULTS:
        return None
    if value is None:
        value = BLEU.SMOOTH_DEFAULTS[method]
    if method in ("floor", "add-k") and not _is_plain(value):
        return None
    return partial(bleu, smooth_method=method, smooth_value=value, effective_order=bool(metric.effective_order))


def _chrf_formula(metric: Any, columns: int) -> Formula | None:
    beta, order = metric.beta, metric.order
    if not (_is_plain(beta) and isinstance(order, int) and order >= 1 and columns == 3 * order):
        return None
    return partial(chrf, beta=beta, eps_smoothing=bool(metric.eps_smoothing))


def _is_plain(value: Any) -> bool:
    """Whether an option is a Python number ≥ 0 that numpy can multiply by a float32 without overflow."""
    return type(value) in (int, float) and 0 <= value <= LARGEST_OPTION


def bleu(
    sums: Sums, smooth_method: str = "none", smooth_value: float | None = None, effective_order: bool = False
) -> Scores:
    """BLEU of rows of hypothesis length, reference length, N counts of matches and N of n-grams, as ``compute_bleu``.

    In sacreBLEU, ``add-k`` adds to the rows in place. If the rows are integers, the sum is therefore truncated.
    """
    orders = (sums.shape[1] - 2) // 2
    dtype = _product_dtype(sums.dtype)
    precisions = np.zeros((orders, len(sums)), dtype)
    active = np.ones(len(sums), bool)
    effective = np.full(len(sums), orders)
    smoothing = np.ones(len(sums), dtype)
    for n in range(orders):
        correct, total = sums[:, 2 + n], sums[:, 2 + orders + n]
        if smooth_method == "add-k" and n > 0:
            correct, total = _added(correct, smooth_value), _added(total, smooth_value)
        active = active & (total != 0)
        if effective_order:
            effective[active] = n + 1
        found = active & (correct != 0)
        precisions[n][found] = 100.0 * correct[found].astype(dtype) / total[found].astype(dtype)
        missing = active & (correct == 0)
        if smooth_method == "exp" and missing.any():
            smoothing[missing] *= 2
            precisions[n][missing] = 100.0 / (smoothing[missing] * total[missing].astype(dtype))
        elif smooth_method == "floor" and smooth_value is not None:
            precisions[n][missing] = (100.0 * smooth_value) / total[missing].astype(dtype)
    scores = _brevity_penalties(sums) * _geometric_means(precisions, effective)
    scores[~(sums[:, 2 : 2 + orders] != 0).any(axis=1)] = 0.0
    return scores


def _product_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a scalar of this dtype times a Python float: float64, or float32 for float32 under NumPy 2."""
    if dtype != np.float32:
        return np.dtype(np.float64)
    product: np.dtype[Any] = np.asarray(np.float32(1) * 1.0).dtype
    return product


def _added(column: NDArray[Any], value: float | None) -> NDArray[Any]:
    """A column plus a Python number, as each of its scalars would be after ``column[i] += value``."""
    if column.dtype.kind == "f":
        return (column.astype(_product_dtype(column.dtype)) + value).astype(column.dtype)
    return (column + value).astype(column.dtype)


def _brevity_penalties(sums: Sums) -> NDArray[np.float64]:
    hypothesis, reference = sums[:, 0].astype(np.float64), sums[:, 1].astype(np.float64)
    penalties = np.ones(len(sums))
    short = hypothesis < reference
    penalties[short & (hypothesis <= 0)] = 0.0
    short &= hypothesis > 0
    penalties[short] = list(map(math.exp, (1 - reference[short] / hypothesis[short]).tolist()))
    return penalties


def _geometric_means(precisions: NDArray[Any], effective: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp of the mean logarithm of the first ``effective`` precisions of each column of (N, R)."""
    means = np.empty(precisions.shape[1])
    for n in np.unique(effective).tolist():
        rows = effective == n
        logs = [_logs(row[rows]) for row in precisions[:n]]
        # The sums may mix floats and integers (LOG_OF_ZERO), which are all small enough to be exact as doubles.
        sums = np.array(list(map(sum, zip(*logs, strict=True))), np.float64)
        means[rows] = list(map(math.exp, (sums / n).tolist()))
    return means


def _logs(values: NDArray[Any]) -> Sequence[float]:
    listed: list[float] = values.tolist()
    if values.all():
        return list(map(math.log, listed))
    return [math.log(value) if value else LOG_OF_ZERO for value in listed]


def chrf(sums: Sums, beta: float = 2, eps_smoothing: bool = False) -> Scores:
    """chrF of rows of (hypothesis, reference, match) counts for each order, as ``_compute_f_score``."""
    dtype = _product_dtype(sums.dtype)
    counts = sums if sums.dtype.kind == "f" else sums.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if eps_smoothing:
            return _mean_f_score(counts, beta**2, dtype)
        return _f_score_of_means(counts, beta**2, dtype)


def _orders(counts: Sums, dtype: np.dtype[Any]) -> list[tuple[Any, Any, Any, Any]]:
    """For each order, where hypotheses and references have n-grams, and precision and recall (ε where they have none).

    Ratios of float32 are float32 under both NumPy 1 and NumPy 2. They are converted to ``dtype`` afterwards.
    """
    result = []
    for i in range(0, counts.shape[1], 3):
        n_hyp, n_ref, n_match = counts[:, i], counts[:, i + 1], counts[:, i + 2]
        has_hyp, has_ref = n_hyp > 0, n_ref > 0
        precision = np.where(has_hyp, (n_match / n_hyp).astype(dtype), dtype.type(EPSILON))
        recall = np.where(has_ref, (n_match / n_ref).astype(dtype), dtype.type(EPSILON))
        result.append((has_hyp, has_ref, precision, recall))
    return result


def _f_score_of_means(counts: Sums, factor: float, dtype: np.dtype[Any]) -> Scores:
    """sacreBLEU's default: the F score of the mean precision and recall over orders with n-grams on both sides."""
    precision, recall, orders = (np.zeros(len(counts), dtype) for _ in range(3))
    for has_hyp, has_ref, order_precision, order_recall in _orders(counts, dtype):
        both = has_hyp & has_ref
        precision += np.where(both, order_precision, 0)
        recall += np.where(both, order_recall, 0)
        orders += both
    precision /= orders
    recall /= orders
    scores = (1 + factor) * precision * recall
    scores /= factor * precision + recall
    scores = 100 * scores
    # sacreBLEU returns the Python float 0.0 for these rows.
    return _mixed(scores, (orders > 0) & (precision + recall > 0), np.zeros(len(counts)))


def _mean_f_score(counts: Sums, factor: float, dtype: np.dtype[Any]) -> Scores:
    """The mean over orders of F scores, with ε for a ratio without denominator.

    In sacreBLEU, precision and recall of an order without n-grams are Python floats, so that the sum of a row is
    a double until its first term that is a float32.
    """
    doubles, singles = np.zeros(len(counts)), np.zeros(len(counts), dtype)
    is_single = np.zeros(len(counts), bool)
    both_missing = (1 + factor) * EPSILON * EPSILON / (factor * EPSILON + EPSILON)
    orders = _orders(counts, dtype)
    for has_hyp, has_ref, precision, recall in orders:
        # Products of two Python floats are rounded to float32 only when they meet one.
        weighted = np.where(has_hyp, factor * precision, dtype.type(factor * EPSILON))
        product = np.where(has_hyp, (1 + factor) * precision, dtype.type((1 + factor) * EPSILON))
        denominator = weighted + recall
        term = product * recall / denominator
        has_term = (has_hyp | has_ref) & (denominator > 0)
        python_term = np.where(has_hyp | has_ref, EPSILON, both_missing)
        before = np.where(is_single, singles, doubles.astype(dtype))
        singles = before + np.where(has_term, term, python_term.astype(dtype))
        doubles = doubles + python_term
        is_single = is_single | has_term
    return _mixed(100 * singles / len(orders), is_single, 100 * doubles / len(orders))


def ter(sums: Sums) -> Scores:
    """TER of rows of edits and reference length."""
    edits, length = sums[:, 0], sums[:, 1]
    if sums.dtype.kind != "f":
        edits, length = edits.astype(np.float64), length.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = 100 * (edits / length).astype(_product_dtype(sums.dtype))
    return _mixed(rates, length > 0, np.where(edits > 0, 100.0, 0.0))


def _mixed(scalars: NDArray[Any], chosen: NDArray[np.bool_], floats: NDArray[np.float64]) -> Scores:
    """The array that numpy makes of a list with its own scalars where ``chosen``, and Python floats elsewhere.

    It is float32 only if no element is a Python float.
    """
    if chosen.all() and len(chosen):
        return scalars
    return np.where(chosen, scalars.astype(np.float64), floats)
