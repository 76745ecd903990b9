"""What a comparison says to the questions of ACL's Responsible NLP checklist, as plain text."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from ..errors import printable
from ..results import Comparison, SetComparison
from .layout import Layout
from .page.content import facts, sizes
from .sets import AVERAGE, headed
from .systems import of_one_metric
from .terminal import PROSE_WIDTH, Terminal
from .text import table_as_text

TITLE = "Facts for the Responsible NLP checklist of ACL"

# One of the questions is whether scores are those of a single run.
RUNS = (
    "Each system has a single output: intervals and tests reflect the sampling of the test set, not variation between "
    "training runs."
)


def as_checklist(result: Comparison | SetComparison, layout: Layout, entries: str) -> str:
    """The facts, in sections with the numbers of the questions. ``entries`` is the file of the BibTeX entries."""
    shown = layout.apply(result) if isinstance(result, Comparison) else layout.apply_to_sets(result)
    sets = {"": shown} if isinstance(shown, Comparison) else shown.sets
    first = next(iter(sets.values()))
    metrics = [f"{metric.name}: {metric.signature}" for metric in first.metrics]
    sections: Mapping[str, Iterable[str]] = {
        TITLE: [f"Computed by reshuffle {shown.version}. Questions that a comparison cannot answer are left out."],
        "B1 Cited artifacts": [f"The papers of the metrics, the test and the intervals: {entries}"],
        "B2 Licenses": ["reshuffle: MIT"],
        "B6 Statistics of the data": [*_data(sets), f"Systems: {', '.join(first.systems)}"],
        "C2 Experimental setup": [f"{term}: {value}" for term, value in facts(first)],
        "C3 Descriptive statistics": [RUNS],
        "C4 Packages and their parameters": [*metrics, f"Signature: {shown.signature}", *_versions()],
    }
    written = {title: f"{title}\n\n{_wrapped(lines)}\n" for title, lines in sections.items()}
    written["C3 Descriptive statistics"] += "".join(f"\n{table}" for table in _scores(shown, sets, layout))
    return "\n".join(written.values())


def _wrapped(lines: Iterable[str]) -> str:
    """Lines of text; signatures can be copied because they stay on one line."""
    shown = map(printable, lines)
    return "\n".join(line if "|" in line else textwrap.fill(line, PROSE_WIDTH) for line in shown)


def _data(sets: Mapping[str, Comparison]) -> Iterator[str]:
    for name, comparison in sets.items():
        for term, value in sizes(comparison):
            yield f"{term}{f' of {name}' if name else ''}: {value}"


def _scores(shown: Comparison | SetComparison, sets: Mapping[str, Comparison], layout: Layout) -> Iterator[str]:
    """Tables of one metric each, because these have room for the intervals."""
    average = None if isinstance(shown, Comparison) else shown.average
    for name, comparison in {**({} if average is None else {AVERAGE: average}), **sets}.items():
        for metric in comparison.metrics:
            table = of_one_metric(comparison, metric, layout)
            yield table_as_text(headed(name, table) if name else table, Terminal())


def _versions() -> Iterator[str]:
    """The packages that wrote the files; the first line of the text has the version that computed the result."""
    from importlib.metadata import version  # slow to import

    yield f"Python {platform.python_version()}"
    yield from (f"{package} {version(package)}" for package in ("numpy", "scipy", "matplotlib"))
