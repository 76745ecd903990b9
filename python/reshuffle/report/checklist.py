"""What a result says to the questions of ACL's Responsible NLP checklist, as plain text."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import counted, printable
from ..results import Comparison, SetComparison, UsedMetric
from ..results.studies import RunComparison, StudyResult
from .caveats import cautions
from .cells import Table
from .layout import Layout, by_name, sets_of
from .page.content import facts, sizes
from .sets import headed
from .systems import of_one_metric
from .terminal import PROSE_WIDTH, Terminal
from .text import table_as_text

TITLE = "Facts for the Responsible NLP checklist of ACL"

# One of the questions is whether scores are those of a single run.
RUNS = (
    "Each system has a single output: intervals and tests reflect the sampling of the test set, not variation between "
    "training runs."
)
SEVERAL_RUNS = "Scores are means of several runs of each system; s_test is their standard deviation."


def as_checklist(result: Comparison | SetComparison | StudyResult, layout: Layout, entries: str) -> str:
    """The facts, in sections with the numbers of the questions. ``entries`` is the file of the BibTeX entries."""
    said = _of_study(result, layout) if isinstance(result, StudyResult) else _of_comparison(result, layout)
    files = [
        f"File {file.name}: {file.size:,} bytes, SHA-256 {file.sha256}"
        for file in result.inputs
        if file.size is not None
    ]
    metrics = [f"{metric.name}: {metric.signature}" for metric in said.metrics]
    sections: Mapping[str, Iterable[str]] = {
        TITLE: [f"Computed by reshuffle {result.version}. Questions that a result cannot answer are left out."],
        "B1 Cited artifacts": [f"The papers of the metrics, the test and the intervals: {entries}"],
        "B2 Licenses": ["reshuffle: MIT"],
        "B6 Statistics of the data": [*said.data, *files],
        "C2 Experimental setup": [f"{term}: {value}" for term, value in said.setup],
        "C3 Descriptive statistics": [said.runs, *said.cautions],
        "C4 Packages and their parameters": [*metrics, f"Signature: {result.signature}", *_versions()],
    }
    written = {title: f"{title}\n\n{_wrapped(lines)}\n" for title, lines in sections.items() if lines}
    written["C3 Descriptive statistics"] += "".join(f"\n{table_as_text(each, Terminal())}" for each in said.tables)
    return "\n".join(written.values())


class _Facts(NamedTuple):
    """What a kind of result says to the questions."""

    metrics: Sequence[UsedMetric]
    data: Sequence[str]
    setup: Sequence[tuple[str, str]]
    runs: str
    tables: Sequence[Table]
    cautions: Sequence[str] = ()
    """What limits the verdicts, as one paragraph."""


def _of_comparison(result: Comparison | SetComparison, layout: Layout) -> _Facts:
    shown = layout.apply(result)
    sets = sets_of(shown)
    first = next(iter(sets.values()))
    data = [*_data(sets), f"Systems: {', '.join(first.systems)}"]
    said = " ".join(cautions(shown, layout))
    about = [f"Cautions: {said}"] if said else []
    return _Facts(first.metrics, data, [*facts(first)], RUNS, [*_scores(shown, layout)], about)


def _of_study(study: StudyResult, layout: Layout) -> _Facts:
    from .studies import report_of
    from .studies.documents import study_document
    from .studies.page import study_facts

    systems, units = study.plan.get("systems"), study.plan.get("units")
    data = [f"Test set: {counted(units, str(study.plan.get('unit', 'segment')))}"] if isinstance(units, int) else []
    if isinstance(study, RunComparison):
        systems = [f"{name} ({counted(n, 'run')})" for name, n in study.plan.systems.items()]
    if isinstance(systems, list):
        data.append(f"Systems: {', '.join(systems)}")
    said = SEVERAL_RUNS if isinstance(study, RunComparison) else report_of(study.study).intervals
    return _Facts(study.metrics, data, [*study_facts(study)], said, study_document(study, layout).tables)


def _wrapped(lines: Iterable[str]) -> str:
    """Lines of text; signatures can be copied because they stay on one line."""
    shown = map(printable, lines)
    return "\n".join(line if "|" in line else textwrap.fill(line, PROSE_WIDTH) for line in shown)


def _data(sets: Mapping[str, Comparison]) -> Iterator[str]:
    for name, comparison in sets.items():
        for term, value in sizes(comparison):
            yield f"{term}{f' of {name}' if name else ''}: {value}"


def _scores(shown: Comparison | SetComparison, layout: Layout) -> Iterator[Table]:
    """Tables of one metric each, because these have room for the intervals."""
    for name, comparison in by_name(shown).items():
        for metric in comparison.metrics:
            yield headed(name, of_one_metric(comparison, metric, layout))


def _versions() -> Iterator[str]:
    """The packages that wrote the files; the first line of the text has the version that computed the result."""
    from importlib.metadata import version  # slow to import

    yield f"Python {platform.python_version()}"
    yield from (f"{package} {version(package)}" for package in ("numpy", "scipy", "matplotlib"))
