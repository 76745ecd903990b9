"""Tables and columns of other packages as columns of segments, without importing the packages.

A table is a pandas or polars data frame, an Arrow table, a structured numpy array, a mapping from names to columns, or
an object that offers one of the protocols ``__arrow_c_stream__`` and ``__dataframe__``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted

# Packages whose tables have columns by name: ``table[name]``.
BY_NAME = {"numpy", "pandas", "polars", "pyarrow"}
# Tables of other packages are converted by the first of these functions that is installed.
CONVERTERS = (
    ("__arrow_c_stream__", "pyarrow", "table"),
    ("__arrow_c_stream__", "polars", "DataFrame"),
    ("__dataframe__", "pyarrow.interchange", "from_dataframe"),
    ("__dataframe__", "polars", "from_dataframe"),
    ("__dataframe__", "pandas.api.interchange", "from_dataframe"),
)


# Most arguments are of these types, and to look for their index would only take time.
WITHOUT_INDEX = (np.ndarray, type(None), str)


class Table(Protocol):
    """What type checkers accept as a table."""

    def __getitem__(self, name: str, /) -> Any: ...


def named_columns(what: str, values: Any) -> dict[str, Any] | None:
    """The columns of a table, by name; None if the columns have no names.

    :class:`InputError` if two columns have the same name, or for a lazy frame, which is not evaluated yet.

    >>> named_columns("scores", np.array([(1, 2.5), (3, 4.5)], dtype=[("a", int), ("b", float)]))
    {'a': array([1, 3]), 'b': array([2.5, 4.5])}
    >>> named_columns("scores", [[1, 3], [2.5, 4.5]])
    """
    opened = _opened(values, what)
    if opened is None:
        return None
    table, names = opened
    shown = [str(name) for name in names]
    for name in shown:
        if shown.count(name) > 1:
            raise InputError(f"{what}: {shown.count(name)} columns are called {name!r}: each needs a different name")
    return {str(name): table[name] for name in names}


def check_rows(where: str, arguments: Mapping[str, Any]) -> None:
    """Raise :class:`InputError` if columns of pandas that belong together have different indexes.

    Rows are matched by position, so nothing else would show that a column is in another order. Arguments may be
    columns, tables, precomputed metrics, and mappings and lists of these; ``where`` begins the message.
    """
    (first, index), *others = [*_indexes(arguments)] or [("", None)]
    for name, other in others:
        if index is other or len(index) != len(other) or index.equals(other):
            continue
        row = next((row for row, (a, b) in enumerate(zip(index, other, strict=True), 1) if a != b), 1)
        if index.is_unique and other.is_unique and set(index) == set(other):
            raise InputError(
                f"{where}{first} and {name} have the same index labels in another order: sort both by "
                ".sort_index(); or, if they belong together row by row, drop the indexes by .reset_index(drop=True)"
            )
        labels = f"{quoted(index[row - 1])} and {quoted(other[row - 1])}"
        raise InputError(
            f"{where}{first} and {name} have different indexes ({labels} in row {row:,}): if they belong "
            "together row by row, drop the indexes by .reset_index(drop=True); otherwise take the rows of both by the "
            "same labels, as in column.loc[labels]"
        )


def index_of(values: Any) -> Any:
    """The index of the rows of columns or tables of pandas, for :func:`check_rows`; None for other values."""
    return next((index for _, index in _indexes({"": values})), None)


def _indexes(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The indexes of the columns of pandas in some arguments, with their names."""
    for name, value in arguments.items():
        if type(value) in WITHOUT_INDEX:
            continue
        index = getattr(value, "index", None)
        if callable(getattr(index, "equals", None)):
            yield str(name), index
        elif isinstance(value, Mapping):
            yield from _indexes({quoted(str(key)): each for key, each in value.items()})
        elif isinstance(value, list | tuple) and value and not isinstance(value[0], str | int | float | None):
            yield from _indexes({f"{name}[{i}]": each for i, each in enumerate(value)})


def _opened(values: Any, what: str = "references") -> tuple[Any, list[Any]] | None:
    """A table with columns by name, and their names; None if ``values`` is not a table."""
    if isinstance(values, Mapping):
        return values, list(values)
    # Most arguments; the tests below would only take time.
    if isinstance(values, list | tuple | str) or (type(values) is np.ndarray and values.dtype.names is None):
        return None
    if hasattr(values, "collect") and not hasattr(values, "__len__"):
        raise InputError(
            f"{what}: expected values, got a {type(values).__name__}, which is not evaluated yet: call collect() first"
        )
    if not any(base.__module__.partition(".")[0] in BY_NAME for base in type(values).__mro__):
        values = _converted(what, values)
    names = _column_names(values)
    return None if names is None else (values, names)


def _converted(what: str, values: Any) -> Any:
    """A table of another package, converted by one of :data:`CONVERTERS`; other values as they are."""
    protocols = [protocol for protocol in ("__arrow_c_stream__", "__dataframe__") if hasattr(values, protocol)]
    for protocol, module, function in CONVERTERS:
        if protocol in protocols:
            try:
                convert = getattr(import_module(module), function)
            except ImportError:
                continue
            try:
                return convert(values)
            except (TypeError, ValueError, NotImplementedError):  # a single column, for example
                return values
    if protocols and _column_names(values) is None:
        raise InputError(f"{what}: to read a {type(values).__name__}, install pyarrow, polars or pandas")
    return values


def _column_names(values: Any) -> list[Any] | None:
    dtype = getattr(values, "dtype", None)
    # Arrow first: its names are ``column_names``, and its ``columns`` are the columns themselves.
    for names in (
        getattr(values, "column_names", None),
        getattr(values, "columns", None),
        getattr(dtype, "names", None),
    ):
        if names is not None and not callable(names):
            return list(names)
    return None


def missing(values: Any) -> NDArray[np.bool_] | None:
    """A mask of the missing values, in the shape of ``values``; None if values of this type cannot be missing.

    A value is missing if it is masked (numpy), null (polars, Arrow, pandas, where NaN is also null) or None.

    >>> missing(np.ma.masked_array([1, 2], mask=[False, True])), missing([1, None])
    (array([False,  True]), array([False,  True]))
    """
    names = _column_names(values)
    if names is not None:
        columns = [mask for mask in (missing(values[name]) for name in names) if mask is not None]
        return np.stack(columns, axis=-1) if columns else None
    # Without the module, whose import takes 10 ms, there are no masked arrays.
    masked_arrays = sys.modules.get("numpy.ma")
    if masked_arrays is not None and isinstance(values, masked_arrays.MaskedArray):
        return np.broadcast_to(np.asarray(values.mask, dtype=np.bool_), values.shape)
    for name in ("is_null", "isna"):  # polars and Arrow; pandas
        method = getattr(values, name, None)
        if callable(method):
            return np.asarray(method(), dtype=np.bool_)
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object):
        masked = None if masked_arrays is None else masked_arrays.masked
        return np.array([value is None or value is masked for value in values], dtype=np.bool_)
    return None


# Its keys would be taken for the texts, and the order of two dicts may differ.
BY_ID = (
    "expected a sequence of segments, got a dict: for texts by id, write [texts[id] for id in ids], with the same ids "
    "for the references and all systems"
)


def segment_list(what: str, values: Any) -> list[Any]:
    """Any iterable of segments as a list, with None for missing ones: array, column of a data frame, generator …"""
    if isinstance(values, bytes):
        raise InputError(f"{what}: expected texts, got bytes, {quoted(values)}: decode them, as by .decode()")
    if isinstance(values, str):
        raise InputError(f"{what}: expected a sequence of segments, got the single string {quoted(values)}")
    if isinstance(values, set | frozenset):
        raise InputError(f"{what}: expected a sequence of segments, got a set, which has no order and no duplicates")
    if isinstance(values, Mapping):
        raise InputError(f"{what}: {BY_ID}")
    try:
        if hasattr(values, "to_pylist"):  # iterating over Arrow gives its own scalars instead of strings
            return list(values.to_pylist())
        segments = list(values)
    except TypeError:
        raise InputError(f"{what}: expected a sequence of segments, got {quoted(values)}") from None
    mask = None if isinstance(values, list | tuple) else missing(values)
    if mask is None or mask.ndim != 1 or not mask.any():
        return segments
    return [None if is_missing else value for value, is_missing in zip(segments, mask, strict=True)]
