"""CSV: the rows of a comparison with every number in full."""

from __future__ import annotations

import csv
import io

from ..results import Comparison, SetComparison
from .frames import Columns
from .layout import Layout
from .rows import frame_columns


def as_csv(result: Comparison | SetComparison, layout: Layout) -> str:
    """The table that the layout names; by default the pairs, or the systems if there are only scores."""
    return csv_of(frame_columns(result, layout.table))


def csv_of(columns: Columns) -> str:
    """A header and a row for each record."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values for values, _ in columns.values()), strict=True))
    return out.getvalue()
