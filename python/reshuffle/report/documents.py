"""The document of each kind of result.

A new kind of result is a function here; every format follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial, singledispatch
from typing import Any

from ..results import Comparison, Flips, SegmentTable, SetComparison
from ..results.studies import StudyResult
from .captions import symbols, symbols_of_sets
from .cells import Table
from .conclusions import conclusions, conclusions_of_sets
from .document import Block, Document, Paragraph
from .flips import flips_document
from .layout import Layout
from .methods import Methods
from .notes import notes
from .page import page_of
from .segments import preview
from .sets import headed, notes_of_sets, set_tables, with_choice
from .tables import tables


@singledispatch
def document(result: Any, layout: Layout) -> Document:
    """What a result of any kind says."""
    raise TypeError(f"no report of {type(result).__name__}")


@document.register
def _(result: Comparison, layout: Layout) -> Document:
    shown = layout.apply(result)
    first, *others = _blocks(shown, layout)
    if layout.paper and not layout.wants_pairs:
        others = [block for block in others if isinstance(block, Paragraph)]
    return Document(
        [first, *others],
        [*notes(shown, layout)],
        shown.signature,
        Methods.of_result(shown) if layout.methods else None,
        partial(page_of, result, layout),
    )


@document.register
def _(result: SetComparison, layout: Layout) -> Document:
    """The averages, the scores on each test set, what was found, and on request the pairs."""
    shown = layout.apply_to_sets(result)
    chosen = with_choice(shown, layout)
    blocks = [] if shown.average is None else [*_blocks(shown.average, chosen)]
    if layout.paper and not layout.wants_pairs:
        blocks = [block for block in blocks if isinstance(block, Paragraph)]
    blocks += (table.explained(symbols_of_sets(shown, table)) for table in set_tables(shown, layout))
    blocks.append(Paragraph([*conclusions_of_sets(shown)]))
    if chosen.wants_pairs:
        blocks += (block for name, each in shown.sets.items() for block in _blocks(each, chosen, name))
    return Document(
        blocks,
        [*notes_of_sets(shown, chosen)],
        shown.signature,
        Methods.of_result(shown) if layout.methods else None,
        partial(page_of, result, layout),
    )


@document.register
def _(result: StudyResult, layout: Layout) -> Document:
    from .studies import study_document  # most commands have no study

    return study_document(result, layout)


@document.register
def _(result: Flips, layout: Layout) -> Document:
    return flips_document(result)


@document.register
def _(result: SegmentTable, layout: Layout) -> Document:
    return preview(result)


def _blocks(comparison: Comparison, layout: Layout, name: str = "") -> Iterator[Block]:
    """The systems, what was found, and further tables. ``name`` is that of the test set if there are several."""
    shown: Iterable[Table] = tables(comparison, layout)
    if layout.paper:
        shown = (table.explained(symbols(comparison, table)) for table in shown)
    first, *others = (headed(name, table) if name else table for table in shown)
    yield first
    yield Paragraph([*conclusions(comparison, layout)], name)
    yield from others
