"""What each kind of result is: a document for the formats that people read, and columns for programs.

A new kind of result is a function for each of them here; every format follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

from ..results import Comparison, Flips, Gate, SegmentTable, SetComparison
from ..results.studies import StudyResult
from ..types import Groups
from .captions import symbols, symbols_of_sets
from .cells import Table
from .conclusions import conclusions, conclusions_of_sets
from .document import Block, Document, Paragraph
from .flips import flip_columns, flips_document
from .formulas import names_in
from .frames import Columns
from .gate import gate_columns, gate_document
from .layout import Layout
from .methods import Methods, comparison_sentences
from .notes import notes
from .page import page_of
from .rows import comparison_columns
from .segments import preview, segment_columns
from .sets import headed, set_tables, with_choice
from .since import since_sentences, since_tables
from .tables import tables


@singledispatch
def document(result: Any, layout: Layout) -> Document:
    """What a result of any kind says."""
    raise TypeError(f"no report of {type(result).__name__}")


@document.register
def _(result: Comparison, layout: Layout) -> Document:
    shown = layout.apply(result)
    first, *others = _blocks(shown, layout)
    return _document(result, shown, layout, [first, *_as_wanted(others, layout)])


@document.register
def _(result: SetComparison, layout: Layout) -> Document:
    """The averages, the scores on each test set, what was found, and on request the pairs."""
    shown = layout.apply(result)
    chosen = with_choice(shown, layout)
    blocks = [] if shown.average is None else _as_wanted(_blocks(shown.average, chosen), layout)
    blocks += (table.explained(*symbols_of_sets(shown, table)) for table in set_tables(shown, layout))
    blocks.append(Paragraph([*conclusions_of_sets(shown)]))
    if chosen.wants_pairs:
        blocks += (block for name, each in shown.sets.items() for block in _blocks(each, chosen, name))
    return _document(result, shown, layout, blocks)


@document.register
def _(result: StudyResult, layout: Layout) -> Document:
    from .studies import study_document  # most commands have no study

    return study_document(result, layout)


document.register(Flips, flips_document)
document.register(Gate, gate_document)
document.register(SegmentTable, preview)


@singledispatch
def columns_of(result: Any, table: str | None = None) -> Columns:
    """The columns of a table of a result: for None its main table, or the only one."""
    raise TypeError(f"no tables of {type(result).__name__}")


@columns_of.register
def _(result: StudyResult, table: str | None = None) -> Columns:
    from .studies.rows import study_columns  # most runs have no study

    return study_columns(result, table)


columns_of.register(Comparison, comparison_columns)
columns_of.register(SetComparison, comparison_columns)
columns_of.register(Flips, flip_columns)
columns_of.register(Gate, gate_columns)
columns_of.register(SegmentTable, segment_columns)


def paper_document(result: Any, layout: Layout) -> Document:
    """The same for a paper, in which the symbols of mathematics are told from names."""
    return replace(document(result, layout), names=names_in(result, layout.names))


def _document(
    result: Comparison | SetComparison, shown: Comparison | SetComparison, layout: Layout, blocks: Sequence[Block]
) -> Document:
    """``shown`` is the result with the display names."""
    sentences = [*notes(shown, with_choice(shown, layout))]
    methods = methods_of(shown, layout) if layout.methods else None
    if layout.since is not None and not layout.paper:
        blocks = [*blocks, Paragraph([*since_sentences(result, layout)]), *since_tables(result, layout)]
    return Document(blocks, sentences, shown.signature, methods, partial(page_of, result, layout))


def methods_of(
    result: Comparison | SetComparison | StudyResult, layout: Layout | None = None, groups: Collection[Groups] = ()
) -> Methods:
    """The methods paragraph of a paper about a result; of a report, without what its layout leaves out.

    ``groups``: which of letters and ranks figures have beside the tables of the report.
    """
    if isinstance(result, StudyResult):
        from .studies.documents import study_sentences  # most commands have no study

        return Methods(tuple(study_sentences(result)))
    if layout is None or not layout.paper:
        return Methods(tuple(comparison_sentences(result)))
    kinds: tuple[Groups, ...] = ("letters", "ranks")
    shown = [kind for kind in kinds if kind in groups or layout.shows_group(kind, len(result.metrics))]
    return Methods(tuple(comparison_sentences(result, shown)))


def _as_wanted(blocks: Iterable[Block], layout: Layout) -> list[Block]:
    """The blocks; in a paper that has its table of systems already, without tables that nobody asked for."""
    left_out = layout.paper and not layout.wants_pairs
    return [block for block in blocks if not left_out or isinstance(block, Paragraph)]


def _blocks(comparison: Comparison, layout: Layout, name: str = "") -> Iterator[Block]:
    """The systems, what was found, and further tables. ``name`` is that of the test set if there are several."""
    shown: Iterable[Table] = tables(comparison, layout)
    if layout.paper:
        shown = (table.explained(*symbols(comparison, table)) for table in shown)
    first, *others = (headed(name, table) for table in shown)
    yield first
    yield Paragraph([*conclusions(comparison, layout)], name)
    yield from others
