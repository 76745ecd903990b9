"""The calls of replaced functions, as text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from .patching import SeamReport


def seam_table(reports: Iterable[SeamReport]) -> str:
    """A table with a row for each replaced function, and below each row the reasons why the original was called.

    >>> reports = [
    ...     SeamReport("sacrebleu", "2.6.0", "Metric._cache_references", 2, {}),
    ...     SeamReport("sacrebleu", "2.6.0", "Metric._extract_corpus_statistics", 16, {"there are no references": 3}),
    ... ]
    >>> print(seam_table(reports))
    replaced by reshuffle.compat         calls  left to the original
    sacrebleu 2.6.0
      Metric._cache_references               2                     0
      Metric._extract_corpus_statistics     16                     3
        3: there are no references
    """
    rows: list[tuple[str, ...]] = [("replaced by reshuffle.compat", "calls", "left to the original")]
    for (host, version), group in groupby(reports, lambda report: (report.host, report.version)):
        rows.append((f"{host} {version}",))
        for report in group:
            rows.append((f"  {report.name}", f"{report.calls:,}", f"{sum(report.fallbacks.values()):,}"))
            rows.extend((f"    {number:,}: {reason}",) for reason, number in report.fallbacks.items())
    if len(rows) == 1:
        return "reshuffle.compat: nothing is patched"
    name, calls, fallbacks = (max(len(row[i]) for row in rows if len(row) == 3) for i in range(3))
    return "\n".join(
        f"{row[0]:<{name}}  {row[1]:>{calls}}  {row[2]:>{fallbacks}}" if len(row) == 3 else row[0] for row in rows
    )
