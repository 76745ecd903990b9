"""Convert arrays and tensors of other packages to numpy arrays, by protocol, without importing the packages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .columns import missing, named_columns, segment_list

# The protocols by which other packages expose their arrays. PyTorch's tensors also need detach() and cpu().
PROTOCOLS = ("__array__", "__dlpack__", "__array_interface__")


def holds_array(values: Any, what: str = "values") -> bool:
    """Whether an object is an array, a tensor, a table or a column, and not a plain sequence of Python objects.

    ``what`` names it in the error about a lazy frame.

    >>> holds_array(np.zeros(2)), holds_array([0, 0])
    (True, False)
    """
    return any(hasattr(values, name) for name in PROTOCOLS) or named_columns(what, values) is not None


def as_array(values: Any, what: str) -> NDArray[Any]:
    """``values`` as a numpy array, without a copy if their package allows it. ``what`` names them in errors.

    Accepts numpy arrays, lists and tuples (also of arrays), tables and columns of pandas, polars and Arrow, tensors of
    PyTorch (which are detached, and copied to main memory from other devices), and objects with ``__array__`` or
    ``__dlpack__``. Missing values, that is null values of columns and masked elements of arrays, become NaN.

    :class:`InputError` if rows differ in length, or the package refuses the conversion.

    >>> as_array({"hits": [1, 0], "all": [1, 1]}, "counts")
    array([[1, 1],
           [0, 1]])
    """
    if type(values) is np.ndarray and values.dtype.kind in "biuf":
        return values
    try:
        array = _converted(values, what)
        # Python numbers in an array of objects, such as pandas' nullable integers, become an array of numbers.
        return np.asarray(array.tolist()) if array.dtype == object and array.size else np.asarray(array)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        if isinstance(error, InputError):
            raise
        is_sequence = isinstance(values, list | tuple)
        problem = "" if is_sequence else f", and a {type(values).__name__} cannot be read as one"
        raise InputError(f"{what} must be an array of numbers{problem}: {error}") from None


def _converted(values: Any, what: str) -> NDArray[Any]:
    if isinstance(values, list | tuple):
        innermost: Any = values
        while isinstance(innermost, list | tuple) and innermost:
            innermost = innermost[0]
        if isinstance(innermost, int | float | str | np.generic | None) or not holds_array(innermost, what):
            return np.asarray(values)
        return np.stack([as_array(value, what) for value in values])
    columns = named_columns(what, values)
    if columns is not None:
        if not columns:
            raise InputError(f"{what} must be an array of numbers, got a table without columns")
        return np.stack([as_array(column, f"{what}, column {name!r}") for name, column in columns.items()], axis=-1)
    lacking = None if type(values) is np.ndarray else missing(values)
    if lacking is None or not lacking.any():
        return values if isinstance(values, np.ndarray) else _from_protocol(_in_main_memory(values))
    if isinstance(values, np.ndarray):  # a masked array
        return np.where(lacking, np.nan, np.asarray(values))
    return np.array([np.nan if lacks else x for x, lacks in zip(segment_list(what, values), lacking, strict=True)])


def _in_main_memory(values: Any) -> Any:
    """A tensor, detached and in main memory; other objects unchanged."""
    for name in ("detach", "cpu"):
        method = getattr(values, name, None)
        if callable(method):
            values = method()
    return values


def _from_protocol(values: Any) -> NDArray[Any]:
    if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    try:
        return np.asarray(values)
    except TypeError:
        widened = getattr(values, "double", None)  # PyTorch's bfloat16 has no counterpart in numpy
        if not callable(widened):
            raise
        return np.asarray(widened())
