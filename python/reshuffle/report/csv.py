"""The columns of a table of any result, which data frames have, too, and CSV."""

from __future__ import annotations

import csv
import io
from functools import singledispatch
from typing import Any

from ..results import Comparison, Flips, Gate, SegmentTable, SetComparison
from ..results.studies import StudyResult
from .flips import flip_columns
from .frames import Columns
from .gate import gate_columns
from .layout import Layout
from .rows import comparison_columns, set_columns
from .segments import segment_columns


@singledispatch
def columns_of(result: Any, table: str | None = None) -> Columns:
    """The columns of a table of a result: for None its main table, or the only one."""
    raise TypeError(f"no tables of {type(result).__name__}")


@columns_of.register
def _(result: StudyResult, table: str | None = None) -> Columns:
    from .studies.rows import study_columns  # most runs have no study

    return study_columns(result, table)


columns_of.register(Comparison, comparison_columns)
columns_of.register(SetComparison, set_columns)
columns_of.register(Flips, flip_columns)
columns_of.register(Gate, gate_columns)
columns_of.register(SegmentTable, segment_columns)


def as_csv(result: Any, layout: Layout) -> str:
    """A header and a row for each record of the table that the layout names, by default the main one."""
    columns = columns_of(result, layout.table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values for values, _ in columns.values()), strict=True))
    return out.getvalue()
