"""Reports of SWE-bench: lists of the instances that were resolved, and of the others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..formats.base import Source
from ._joined import Record, joined_cells
from .base import Cells, ScoreFormat, ScoreOptions

# The lists of swebench 5.0, which together have the whole data set.
LISTS = ("completed_ids", "incomplete_ids", "empty_patch_ids", "submitted_ids", "unresolved_ids", "error_ids")
RESOLVED = "resolved"
BEGINNING = re.compile(r'\s*\{\s*"total_instances"\s*:\s*\d+\s*,\s*"submitted_instances"')


def names(resolved: tuple[Source, Mapping[str, bool]], options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    return [RESOLVED], True


def read(report: tuple[Source, Mapping[str, bool]], metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`. Instances without a patch or with an error are not resolved."""
    source, resolved = report
    system = Path(source.file).name.partition(".")[0]
    return joined_cells(metric, [Record(system, name, float(value), 1) for name, value in resolved.items()])


def _report(source: Source) -> tuple[Source, Mapping[str, bool]]:
    try:
        document: Any = json.loads(source.text())
        resolved = {str(name) for name in document["resolved_ids"]}
        every = {str(name) for each in LISTS for name in document.get(each, ())} | resolved
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail("expected a report of SWE-bench, with a list of ids as 'resolved_ids'")
    if not every:
        source.fail("the report of SWE-bench has no instances")
    return source, {name: name in resolved for name in sorted(every)}


FORMAT = ScoreFormat(
    "a report of SWE-bench", lambda file, line: BEGINNING.match(line) is not None, names, read, _report
)
