"""The parts of the page that need no scripts: sentences, tables and settings."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ...results import Comparison, SetComparison
from ...results.schemas import COMPARISON, SETS
from ..cells import Table
from ..conclusions import conclusions, conclusions_of_sets
from ..layout import Layout
from ..margins import within_all
from ..methods import Methods
from ..notes import ci, counted, joined, notes, number
from ..sets import headed, notes_of_sets, set_tables, with_choice
from ..speakers import document_tables
from ..tables import pair_tables, system_tables
from ..votes import size_of

# Tables and sentences about an earlier result.
Since: TypeAlias = tuple[Sequence[Table], Sequence[str]]


@dataclass(frozen=True)
class Content:
    """What the template renders."""

    title: str
    facts: Sequence[tuple[str, str]]
    """The most important settings, as terms and values."""
    conclusions: Sequence[str]
    """Sentences."""
    tables: Sequence[Table]
    """The systems."""
    since: Sequence[Table]
    """What has changed since an earlier result, and sentences about it."""
    since_sentences: Sequence[str]
    pairs: Sequence[Table]
    """The tables of pairs that the layout asks for, shown if scripts are disabled; the scripts show every pair."""
    notes: Sequence[str]
    command: str | None
    methods: str
    bibtex: str
    signature: str
    version: str
    versions: Sequence[tuple[str, str]]
    """The versions of software and of the JSON schema, as terms and values."""


def content(comparison: Comparison, layout: Layout, since: Since) -> Content:
    """The content for a comparison on one test set, with display names."""
    return Content(
        title=_title(comparison),
        facts=[*sizes(comparison), *facts(comparison)],
        conclusions=[*conclusions(comparison, layout)],
        tables=[*system_tables(comparison, layout), *document_tables(comparison, layout)],
        since=since[0],
        since_sentences=since[1],
        pairs=[*pair_tables(comparison, layout)],
        notes=[*notes(comparison, replace(layout, pairs=True))],
        command=layout.command,
        methods=Methods.of_result(comparison).plain,
        bibtex=Methods.of_result(comparison).bibtex,
        signature=comparison.signature,
        version=comparison.version,
        versions=versions(comparison.version, COMPARISON),
    )


def content_of_sets(result: SetComparison, layout: Layout, since: Since) -> Content:
    """The same for several test sets."""
    first, *_ = result.sets.values()
    averages = [] if result.average is None else [result.average]
    chosen = with_choice(result, layout)
    return Content(
        title=f"{_title(first)} on {counted(len(result.sets), 'test set')}",
        facts=[("Test sets", f"{len(result.sets):,}"), *facts(first)],
        conclusions=[*(s for average in averages for s in conclusions(average, layout)), *conclusions_of_sets(result)],
        tables=[*(t for average in averages for t in system_tables(average, layout)), *set_tables(result, layout)],
        since=since[0],
        since_sentences=since[1],
        pairs=[
            *(table for average in averages for table in pair_tables(average, chosen)),
            *(headed(name, table) for name, each in result.sets.items() for table in pair_tables(each, chosen)),
        ],
        notes=[*notes_of_sets(result, replace(layout, pairs=True))],
        command=layout.command,
        methods=Methods.of_result(result).plain,
        bibtex=Methods.of_result(result).bibtex,
        signature=result.signature,
        version=result.version,
        versions=versions(result.version, SETS),
    )


def versions(version: str, schema: str) -> list[tuple[str, str]]:
    """The versions of reshuffle that computed the result, of the JSON schema, and of what wrote the page."""
    return [
        ("reshuffle", version),
        ("JSON", schema),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
    ]


def _title(comparison: Comparison) -> str:
    systems = counted(len(comparison.systems), "system")
    return f"{systems} under {joined(metric.name for metric in comparison.metrics)}"


def sizes(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What the test set is, as terms and values."""
    yield "Test set" if comparison.votes is None else "Votes", size_of(comparison)
    if comparison.n_references:
        yield "References", f"{comparison.n_references}"


def facts(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The most important settings, as terms and values."""
    test = comparison.test
    if comparison.baseline is not None:
        yield "Baseline", comparison.baseline
    if test is not None:
        yield "Test", test.title if test.has_margin else f"{test.title}, {test.alternative}"
        if test.has_margin:
            yield "Margin", within_all(comparison)
        if test.adjustment_title is not None:
            yield "Adjustment", test.adjustment_title
        yield "α", number(comparison.alpha or 0)
    if comparison.interval is not None and comparison.confidence_level is not None:
        yield ci(comparison.confidence_level), comparison.interval.title
    if comparison.n_resamples is not None:
        yield "Replicates", f"{comparison.n_resamples:,}"
    if comparison.seed is not None:
        yield "Seed", _seed(comparison.seed)


def _seed(seed: int) -> str:
    """The seed that the user chose, even if the seeds of the test sets were derived from it."""
    derivation: str = getattr(seed, "derivation", f"{seed}")
    return re.sub(r">test-set\[\d+\]$", "", derivation)
