"""Columns of values as dicts, CSV and data frames. pandas and polars are imported only here."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

# By name, the values and their pandas type, which is None for strings. ``Int64``, ``UInt64`` and ``boolean`` may have
# missing values. pandas would otherwise turn integers with missing values into float64, which cannot hold every seed.
Columns: TypeAlias = Mapping[str, tuple[Sequence[Any], str | None]]

# By the name of a column, its pandas type, and the attribute of a record that it has, which may be one of an attribute.
Fields: TypeAlias = Mapping[str, tuple[str | None, str]]

POLARS_TYPES: Mapping[str | None, str] = {
    None: "String",
    "float64": "Float64",
    "int64": "Int64",
    "Int64": "Int64",
    "UInt64": "UInt64",
    "boolean": "Boolean",
}


def columns_from(fields: Fields, records: Sequence[Any]) -> Columns:
    """The columns of some records; None where an attribute on the way is None.

    >>> from types import SimpleNamespace
    >>> columns_from({"low": ("Int64", "ends.start")}, [SimpleNamespace(ends=range(2, 5)), SimpleNamespace(ends=None)])
    {'low': ([2, None], 'Int64')}
    """
    found = {}
    for name, (dtype, path) in fields.items():
        values = records
        for attribute in path.split("."):
            values = [None if value is None else getattr(value, attribute) for value in values]
        found[name] = (values, dtype)
    return found


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """A dict for each row, with None for missing values."""
    rows = zip(*(_listed(values) for values, _ in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _listed(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a column. NaN in an array is a missing value, as in arrays of segment scores."""
    if not isinstance(values, np.ndarray):
        return values
    return [None if value != value else value for value in values.tolist()]


def as_csv(columns: Columns) -> str:
    """CSV: a header, and a line for each row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values for values, _ in columns.values()), strict=True))
    return out.getvalue()


def as_pandas(columns: Columns) -> Any:
    """A ``pandas.DataFrame``."""
    pandas = imported("pandas")
    return pandas.DataFrame({name: pandas.Series(values, dtype=dtype) for name, (values, dtype) in columns.items()})


def as_polars(columns: Columns) -> Any:
    """A ``polars.DataFrame``. NaN in an array is a missing value, as in :func:`rows_of`."""
    polars = imported("polars")
    return polars.DataFrame(
        [
            polars.Series(
                name, values, dtype=getattr(polars, POLARS_TYPES[dtype]), nan_to_null=isinstance(values, np.ndarray)
            )
            for name, (values, dtype) in columns.items()
        ]
    )


def imported(package: str) -> Any:
    """pandas or polars. :class:`ModuleNotFoundError` if it is not installed."""
    try:
        return import_module(package)
    except ImportError:
        message = f"to_{package} needs {package}: pip install {package}; to_dicts works without it"
        raise ModuleNotFoundError(message, name=package) from None
