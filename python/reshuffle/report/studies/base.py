"""What a study tells the formats about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ...results.studies import StudyResult
from ..cells import Table

if TYPE_CHECKING:
    from ..plots.style import Drawing

__all__ = ["Explained", "Figure", "Sentences", "StudyReport"]

# A table, and the sentences that explain its symbols: they follow the title in a caption for a paper, and are notes
# below the table elsewhere.
Explained: TypeAlias = tuple[Table, str]
Sentences: TypeAlias = Callable[[StudyResult], Iterator[str]]
# Makes the drawing of a figure from a result and the values that records must have, such as ``metric="BLEU"``.
Figure: TypeAlias = "Callable[[StudyResult, Mapping[str, Any]], Drawing]"


def _none(study: StudyResult) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class StudyReport:
    """How the results of a study are shown.

    Attributes
    ----------
    title : function
        From a result to the title of its page.
    tables : function
        From a result to its tables, the most important one first, each with the sentences that explain its symbols
        (or an empty string).
    conclusions, notes : function
        From a result to sentences: what was found, which text shows below the first table, and how it was computed,
        which it shows at the end. The truths of the result are notes already.
    figures : mapping of str to function
        The figures by name. Each function imports its drawing, and matplotlib with it, in its body.
    """

    title: Callable[[StudyResult], str]
    tables: Callable[[StudyResult], Iterator[Explained]]
    conclusions: Sentences = _none
    notes: Sentences = _none
    figures: Mapping[str, Figure] = field(default_factory=dict)
