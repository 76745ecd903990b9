"""CSV: the rows of a comparison with every number in full."""

from __future__ import annotations

import csv
import io

from ..results import Comparison
from .layout import Layout
from .rows import as_dicts, column_names

__all__ = ["as_csv"]


def as_csv(comparison: Comparison, layout: Layout) -> str:
    """A row for each system that has no baseline, then a row for each comparison, metric by metric."""
    out = io.StringIO()
    writer = csv.DictWriter(out, column_names(comparison), lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_dicts(comparison))
    return out.getvalue()
