"""Counts, scores, masks and indices may be arrays of any package; none of the packages is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from counts import bleu_counts
from reshuffle import (
    FromCounts,
    InputError,
    SegmentScores,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    design_effect,
    metric,
    resampled_sums,
    score,
    standard_error,
)
from reshuffle.data.arrays import as_array

# These have no types, or other ones than numpy's.
pd: Any = pytest.importorskip("pandas")
BLEU = metric("bleu")


class Tensor:
    """Behaves as a PyTorch tensor: it cannot be converted while it has a gradient or is on another device."""

    def __init__(self, values: Any, grad: bool = True, device: str = "cuda", bfloat16: bool = False) -> None:
        self.values, self.grad, self.device, self.bfloat16 = np.asarray(values), grad, device, bfloat16

    def detach(self) -> Tensor:
        return Tensor(self.values, False, self.device, self.bfloat16)

    def cpu(self) -> Tensor:
        return Tensor(self.values, self.grad, "cpu", self.bfloat16)

    def double(self) -> Tensor:
        return Tensor(self.values.astype(np.float64), self.grad, self.device)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
        if self.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Tensor:
        return Tensor(self.values[at], self.grad, self.device, self.bfloat16)


class DLPack:
    """An array whose only protocol is ``__dlpack__``."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __dlpack__(self, **how: Any) -> Any:
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class Array:
    """An array whose only protocol is ``__array__``, like those of JAX."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


def frame(values: Any) -> Any:
    """A column, or a frame of columns, of a package that names its columns."""
    columns = np.asarray(values)
    return {f"column {i}": column.tolist() for i, column in enumerate(columns.T)} if columns.ndim == 2 else columns


def masked(values: Any, mask: Any = False) -> Any:
    array: Any = np.ma.masked_array  # numpy's stubs have no types for it
    return array(values, mask=mask)


def torch(values: Any) -> Any:
    tensors = pytest.importorskip("torch")
    tensor = tensors.tensor(np.asarray(values))
    return tensor.requires_grad_() if tensor.is_floating_point() else tensor


def jax(values: Any) -> Any:
    return pytest.importorskip("jax.numpy").asarray(np.asarray(values))


def table(column: Any, frame: Any, dtype: Any = None) -> Callable[[Any], Any]:
    """A column or a frame of columns, by the constructors of a package."""
    options = {} if dtype is None else {"dtype": dtype}
    return lambda values: (frame if np.ndim(values) == 2 else column)(np.asarray(values), **options)


def nullable(values: Any) -> Any:
    return table(pd.Series, pd.DataFrame, "Float64" if np.asarray(values).dtype.kind == "f" else "Int64")(values)


def polars(values: Any) -> Any:
    import polars as pl

    return table(pl.Series, pl.DataFrame)(values)


def arrow(values: Any) -> Any:
    import pyarrow as pa

    columns = np.asarray(values)
    if columns.ndim == 1:
        return pa.chunked_array([columns[:2], columns[2:]])
    return pa.table({f"c{i}": column for i, column in enumerate(columns.T)})


MAKERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda values: np.asarray(values).tolist(),
    "tuple of arrays": lambda values: tuple(np.asarray(values)),
    "Fortran order": np.asfortranarray,
    "masked array": masked,
    "tensor": Tensor,
    "list of tensors": lambda values: [Tensor(row) for row in np.asarray(values)],
    "DLPack": DLPack,
    "array protocol": Array,
    "columns": frame,
    "objects": lambda values: np.asarray(values).astype(object),
    "torch": torch,
    "jax": jax,
    "pandas": table(pd.Series, pd.DataFrame),
    "nullable pandas": nullable,
    "polars": polars,
    "arrow": arrow,
}
INTEROP = {"polars": pytest.mark.interop("polars"), "arrow": pytest.mark.interop("pyarrow")}
of_every_package = pytest.mark.parametrize(
    "make", [pytest.param(make, id=name, marks=INTEROP.get(name, ())) for name, make in MAKERS.items()]
)


@of_every_package
def test_counts_of_every_package_are_read(make: Callable[[Any], Any]) -> None:
    a, b = bleu_counts(2, 2, 30, 0.02)
    x, y = make(a), make(b)
    test = approximate_randomization(a, b, BLEU, n_resamples=200)
    assert test == approximate_randomization(x, y, BLEU, n_resamples=200)
    assert test == approximate_randomization(x, b, BLEU, n_resamples=200)
    assert bootstrap_test(a, b, BLEU, n_resamples=200) == bootstrap_test(x, y, BLEU, n_resamples=200)
    assert bootstrap_interval(a, BLEU, b=b, n_resamples=200) == bootstrap_interval(x, BLEU, b=y, n_resamples=200)
    assert standard_error(a, BLEU) == standard_error(x, BLEU)
    assert BLEU.score(a.sum(axis=0)[None]) == BLEU.score(make(a.sum(axis=0)[None]))
    expected = score(metrics=FromCounts("counts", {"a": a, "b": b}, BLEU)).scores
    assert expected == score(metrics=FromCounts("counts", {"a": x, "b": y}, BLEU)).scores


@of_every_package
@pytest.mark.parametrize("type_", [np.float64, np.float32])
def test_scores_of_every_package_are_read(make: Callable[[Any], Any], type_: Any) -> None:
    a, b = np.random.default_rng(1).random((2, 30)).astype(np.float32).astype(type_)  # JAX has no doubles by default
    x, y = make(a), make(b)
    test = approximate_randomization(a, b, n_resamples=200)
    assert test == approximate_randomization(x, y, n_resamples=200)
    assert bootstrap_interval(a, interval="t") == bootstrap_interval(x, interval="t")
    assert standard_error(a) == standard_error(x)
    expected = score(metrics=SegmentScores("score", {"a": a, "b": b})).scores
    assert expected == score(metrics=SegmentScores("score", {"a": x, "b": y})).scores
    documents = [i // 3 for i in range(30)]
    assert design_effect(a, documents) == design_effect(x, documents)


@of_every_package
def test_masks_and_indices_of_every_package_are_read(make: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, size=(12, 4))
    masks, indices = rng.integers(2, size=(20, 12), dtype=bool), rng.integers(0, 12, size=(20, 5))
    expected = masks.astype(int) @ counts
    if make is not MAKERS["DLPack"]:  # numpy 1 does not exchange booleans
        np.testing.assert_array_equal(expected, resampled_sums(make(counts), masks=make(masks)))
    np.testing.assert_array_equal(expected, resampled_sums(make(counts), masks=make(masks.astype(np.uint8))))
    np.testing.assert_array_equal(expected, resampled_sums(counts, masks=iter([make(masks * 1)])))
    np.testing.assert_array_equal(counts[indices].sum(axis=1), resampled_sums(counts, indices=make(indices)))
    blocks = [make(indices[:3]), make(indices[3:])]
    np.testing.assert_array_equal(counts[indices].sum(axis=1), resampled_sums(counts, indices=blocks))


@pytest.mark.parametrize(
    "make", [np.array, list, Tensor, DLPack, Array, torch, jax], ids=lambda make: getattr(make, "__name__", "")
)
def test_batches_of_every_package_are_read(make: Callable[[Any], Any]) -> None:
    a, b = bleu_counts(2, 6, 30, 0.02).reshape(2, 3, 30, 10)
    expected = approximate_randomization(a, b, BLEU, n_resamples=200)
    got = approximate_randomization(make(a), make(b), BLEU, n_resamples=200)
    assert expected.pvalue.tolist() == got.pvalue.tolist()
    scores = a[..., 0] / 8
    assert standard_error(scores).tolist() == standard_error(make(scores)).tolist()
    arrays: Any = a
    of_systems = score(metrics=FromCounts("counts", arrays, BLEU)).scores
    assert of_systems == score(metrics=FromCounts("counts", make(a), BLEU)).scores
    of_systems = score(metrics=SegmentScores("score", scores)).scores
    assert of_systems == score(metrics=SegmentScores("score", make(scores))).scores
    masks = np.ones((2, 30), dtype=np.uint8)
    np.testing.assert_array_equal(resampled_sums(a, masks=masks), resampled_sums(make(a), masks=masks))


@pytest.mark.parametrize("make", [np.array, Tensor, Array, masked, torch, jax], ids=lambda make: make.__name__)
def test_formulas_may_return_arrays_of_every_package(make: Callable[[Any], Any]) -> None:
    a, b = np.random.default_rng(1).integers(1, 9, (2, 30, 3))

    def formula(totals: Any) -> Any:
        return make(totals[..., 0] / 1024)

    expected = approximate_randomization(a, b, lambda totals: totals[..., 0] / 1024, n_resamples=200)
    assert expected.pvalue == approximate_randomization(a, b, formula, n_resamples=200).pvalue


def test_masked_scores_of_a_formula_are_refused() -> None:
    with pytest.raises(InputError, match="did not return a finite number for the totals"):
        standard_error(np.ones((30, 1), int), lambda totals: masked(totals[..., 0] / 2, True))


def test_tensors_without_a_counterpart_in_numpy_are_widened() -> None:
    scores = np.array([0.5, 0.25, 0.75, 0.125])
    assert standard_error(scores) == standard_error(Tensor(scores, bfloat16=True))


def test_arrays_are_not_copied() -> None:
    a = np.arange(6).reshape(3, 2)
    assert as_array(a, "a") is a
    for make in (Tensor, Array):
        assert np.shares_memory(a, as_array(make(a), "a"))


class Refuses(Array):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (Refuses([[1]]), "a must be an array of numbers, and a Refuses cannot be read as one: Implicit conversion"),
        ([[1, 2], [3]], "a must be an array of numbers: "),
        ([Tensor([1, 2]), Tensor([3])], "a must be an array of numbers: "),
        (masked([[1, 2]], [[True, False]]), "a must be whole numbers, got nan"),
        (np.array([[1, None]], dtype=object), "a must be integers, got object"),
        (np.array([["1", "2"]]), "a must be integers, got <U1"),
        ({}, "a must be an array of numbers, got a table without columns"),
        ({"x": [1, 2], "y": [3]}, "a must be an array of numbers"),
        (iter([[1, 2]]), "a must have 2 dimensions, got shape ()"),
        (None, "a must have 2 dimensions, got shape ()"),
        ("counts", "a must have 2 dimensions, got shape ()"),
    ],
)
def test_values_that_are_no_counts_are_refused(values: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        approximate_randomization(values, values, BLEU)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("make", [list, np.array, lambda values: np.array(values, dtype=object)])
def test_complex_scores_are_refused(make: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match="score, system a: expected a number for every segment: they are complex"):
        standard_error(make([0.5, 1j, 2]))
