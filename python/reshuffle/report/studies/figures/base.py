"""What all figures of studies have: they are made from records of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import Self

from ...plots.style import COLUMN, FONT_SIZE


class StudyFigure:
    """The base of dataclasses that draw records of a study (:class:`~reshuffle.report.plots.style.Drawing`)."""

    @classmethod
    def from_study(cls, study: Any, records: Sequence[Any]) -> Self:
        """The figure of some records. Most figures need no more than these."""
        return cls(records)  # type: ignore[call-arg]  # the first field of subclasses


class ColumnFigure(StudyFigure):
    """A figure as wide as a column of a paper, in its size of type."""

    HEIGHT: ClassVar[float] = 2.1
    """In inches."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return COLUMN, self.HEIGHT

    @property
    def font_size(self) -> float:
        """In points."""
        return FONT_SIZE
