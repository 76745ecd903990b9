"""What a study tells the formats about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ...results.studies import StudyResult
from ..cells import Table

if TYPE_CHECKING:
    from ..plots.style import Drawing

# A table, and the sentences that explain its symbols: they follow the title in a caption for a paper, and are notes
# below the table elsewhere.
Explained: TypeAlias = tuple[Table, str]
Sentences: TypeAlias = Callable[[StudyResult], Iterator[str]]


def _none(study: StudyResult) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Figure:
    """A figure of some records of a study.

    Attributes
    ----------
    about : str
        What it shows, as a caption.
    table : str
        The table of the records.
    by : sequence of str
        The fields in which all records of one figure agree. They are the options of the figure: ``metric`` is a
        keyword of ``result.plot.NAME`` and ``--metric`` of ``reshuffle plot``, and may be left out where the result has
        only one.
    draw : callable
        From the result and the records to a drawing. It imports the drawing, and matplotlib with it, in its body.
    over : str, optional
        The field on the x axis. HTML pages have the figure only if the records differ in it.
    flat : callable, optional
        From the records of the table to those of the figure, where these are fewer or have other fields.
    needs : str, optional
        What a result without records for the figure lacks; by default the table.
    among : sequence of str
        Fields in which records of one figure may differ. They are options, too, which choose some of the records.
    """

    about: str
    table: str
    by: Sequence[str]
    draw: Callable[[StudyResult, Sequence[Any]], Drawing]
    over: str | None = None
    flat: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    needs: str | None = None
    among: Sequence[str] = ()

    def records(self, study: StudyResult) -> Sequence[Any]:
        """All records of figures of this kind."""
        records: Sequence[Any] = study.tables.get(self.table, ())
        return records if self.flat is None else self.flat(records)


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
    figures : mapping of str to Figure
        By name: ``result.plot.NAME`` and ``reshuffle plot RESULT NAME``.
    paper : function, optional
        Like ``tables``, for the formats for papers, if these should have other tables.
    truths : str
        The heading of the truths in a page.
    truth : str
        What stands before the name of a truth in a note.
    """

    title: Callable[[StudyResult], str]
    tables: Callable[[StudyResult], Iterator[Explained]]
    conclusions: Sentences = _none
    notes: Sentences = _none
    figures: Mapping[str, Figure] = field(default_factory=dict)
    paper: Callable[[StudyResult], Iterator[Explained]] | None = None
    truths: str = "What was true"
    truth: str = ""

    def truths_of(self, study: StudyResult) -> list[str]:
        """The truths of a result as notes."""
        return [f"{self.truth}{name}: {truth}" for name, truth in study.truths.items()]
