"""Reports of SWE-bench: lists of the instances that were resolved, and of the others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..formats.base import Source
from ._samples import Sample, Samples, names, read
from .base import ScoreFormat

# The lists of swebench 5.0, which together have the whole data set.
LISTS = ("completed_ids", "incomplete_ids", "empty_patch_ids", "submitted_ids", "unresolved_ids", "error_ids")
RESOLVED = "resolved"
BEGINNING = re.compile(r'\s*\{\s*"total_instances"\s*:\s*\d+\s*,\s*"submitted_instances"')


def _report(source: Source) -> Samples:
    """Instances without a patch or with an error are not resolved."""
    try:
        document: Any = json.loads(source.text())
        resolved = {str(name) for name in document["resolved_ids"]}
        every = {str(name) for each in LISTS for name in document.get(each, ())} | resolved
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail("expected a report of SWE-bench, with a list of ids as 'resolved_ids'")
    if not every:
        source.fail("the report of SWE-bench has no instances")
    system = Path(source.file).name.partition(".")[0]
    return Samples(source, [Sample(system, name, {RESOLVED: float(name in resolved)}) for name in sorted(every)])


FORMAT = ScoreFormat(
    "a report of SWE-bench", lambda file, line: BEGINNING.match(line) is not None, names, read, _report
)
