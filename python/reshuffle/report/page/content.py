"""The parts of the page that need no scripts: sentences, tables and settings."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from attrs import evolve

from ...errors import counted
from ...results import Comparison, SetComparison
from ...results.schemas import schema_of
from ..caveats import cautions
from ..cells import Table
from ..conclusions import conclusions, conclusions_of_sets
from ..layout import Layout, by_name, sets_of
from ..margins import sides, within_all
from ..methods import Methods, comparison_sentences
from ..notes import explanations
from ..sets import headed, set_tables, with_choice
from ..since import since_sentences, since_tables
from ..systems import references_of, size_of
from ..tables import document_tables, pair_tables, system_tables
from ..wording import ci, joined, named, number

# How many notes are above the figures. Those that need care come first.
MOST_UNFOLDED = 3

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Content:
    """What the templates render of any result."""

    title: str
    heading: str = ""
    """What the conclusions and the tables below it are about, if it is not the whole result."""
    facts: Sequence[tuple[str, str]]
    """The most important settings, as terms and values."""
    conclusions: Sequence[str]
    """Sentences."""
    tables: Sequence[Table]
    cautions: Sequence[str] = ()
    """Caveats, which are above the other notes."""
    notes: Sequence[str]
    command: str | None
    signature: str
    version: str
    schema: str
    """That of the JSON in the page."""

    @property
    def unfolded(self) -> list[str]:
        """The first notes."""
        return [*self.cautions, *self.notes][:MOST_UNFOLDED]

    @property
    def folded(self) -> list[str]:
        """The other notes."""
        return [*self.cautions, *self.notes][MOST_UNFOLDED:]

    @property
    def folded_title(self) -> str:
        """What the other notes are: ``2 more cautions and 7 more notes``."""
        cautions = max(len(self.cautions) - MOST_UNFOLDED, 0)
        others = len(self.folded) - cautions
        return joined(counted(n, kind) for n, kind in ((cautions, "more caution"), (others, "more note")) if n)

    @property
    def versions(self) -> list[tuple[str, str]]:
        """The versions of reshuffle that computed the result, of the JSON schema, and of what wrote the page."""
        return [
            ("reshuffle", self.version),
            ("JSON", self.schema),
            ("Python", platform.python_version()),
            ("NumPy", np.__version__),
        ]


@dataclass(frozen=True, kw_only=True)
class ComparisonContent(Content):
    """The same of a comparison."""

    conclusions_of_sets: Sequence[str]
    """Sentences about each test set, if ``conclusions`` are about the average."""
    of_sets: Sequence[Table]
    """Scores on each test set: a table for each metric."""
    since: Sequence[Table]
    """What has changed since an earlier result, and sentences about it."""
    since_sentences: Sequence[str]
    pairs: Sequence[Table]
    """The tables of pairs that the layout asks for, shown if scripts are disabled; the scripts show every pair."""
    methods: str
    bibtex: str


def content(result: Comparison | SetComparison, shown: Comparison | SetComparison, layout: Layout) -> ComparisonContent:
    """The content for a comparison on one test set or on several. ``shown`` is the result with the display names."""
    whole = shown if isinstance(shown, Comparison) else shown.average
    first, *_ = sets_of(shown).values()
    title, settings, heading = _title(first), [*facts(first)], ""
    found, tables = [], []
    if whole is not None:
        found = [*conclusions(whole, layout)]
        tables = [*system_tables(whole, layout), *document_tables(whole, layout, every=True)]
    found_on_sets: list[str] = []
    of_sets: list[Table] = []
    if isinstance(shown, Comparison):
        settings = [*sizes(shown), *settings]
    else:
        title += f" on {named([*shown.sets], 'test set')}"
        settings = [("Test sets", f"{len(shown.sets):,}"), *settings]
        if whole is not None and len(shown.sets) > 1:
            heading = f"Average over {counted(len(shown.sets), 'test set')}"
        found_on_sets, of_sets = [*conclusions_of_sets(shown)], [*set_tables(shown, layout)]
        if whole is None:
            found, found_on_sets = found_on_sets, []
    chosen = with_choice(shown, layout)
    every = by_name(shown, "").items()
    with_pairs = evolve(layout, pairs=True)
    methods = Methods(tuple(comparison_sentences(shown)))
    return ComparisonContent(
        title=title,
        heading=heading,
        facts=settings,
        conclusions=found,
        tables=[*map(letters_first, tables)],
        conclusions_of_sets=found_on_sets,
        of_sets=of_sets,
        since=[*since_tables(result, layout)],
        since_sentences=[*since_sentences(result, layout)],
        pairs=[headed(name, table) for name, each in every for table in pair_tables(each, chosen)],
        cautions=[*cautions(shown, with_pairs, accounted=False)],
        notes=[*explanations(shown, with_pairs), *cautions(shown, with_pairs, accounted=True)],
        command=layout.command,
        methods=methods.plain,
        bibtex=methods.bibtex,
        signature=shown.signature,
        version=shown.version,
        schema=schema_of(shown),
    )


def letters_first(table: Table) -> Table:
    """The table with letters directly after the scores that they belong to, instead of after intervals and ranks."""
    places = [*range(len(table.header))]
    for column, heading in enumerate(table.header):
        if heading == "Group":
            score = max(start for start in (table.n_names, *table.breaks) if start < column)
            places.insert(score + 1, places.pop(column))

    def moved(row: Sequence[T]) -> list[T]:
        return [row[place] for place in places]

    bold = [tuple(moved(each)) for each in table.bold]
    return replace(table, header=moved(table.header), rows=[*map(moved, table.rows)], bold=bold)


def _title(comparison: Comparison) -> str:
    systems = counted(len(comparison.systems), "system")
    if comparison.votes is not None:
        return f"Ratings of {systems} by votes"
    return f"{systems} under {joined(metric.name for metric in comparison.metrics)}"


def sizes(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What the test set is, as terms and values."""
    yield "Test set" if comparison.votes is None else "Votes", size_of(comparison)
    if comparison.n_references:
        yield "References", references_of(comparison).rpartition(" ")[0]


def facts(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The most important settings, as terms and values."""
    test = comparison.test
    if comparison.baseline is not None:
        yield "Baseline", comparison.baseline
    if test is not None:
        yield "Test", test.title if test.has_margin else f"{test.title}, {sides(comparison, test)}"
        if test.has_margin:
            yield "Margin", within_all(comparison)
        if test.adjustment_title is not None and comparison.family_size > 1:
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
