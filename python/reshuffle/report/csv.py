"""CSV: the rows of a table with every number in full."""

from __future__ import annotations

import csv
import io
from typing import Any

from .layout import Layout
from .rows import columns_of


def as_csv(result: Any, layout: Layout) -> str:
    """A header and a row for each record of the table that the layout names, by default the main one."""
    columns = columns_of(result, layout.table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values for values, _ in columns.values()), strict=True))
    return out.getvalue()
