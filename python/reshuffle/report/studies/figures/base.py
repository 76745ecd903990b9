"""What all figures of studies have: they are made from records of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from ...plots.style import COLUMN, FONT_SIZE

R = TypeVar("R")


@dataclass(frozen=True)
class StudyFigure(Generic[R]):
    """The base of classes that draw records of a study (:class:`~reshuffle.report.plots.style.Drawing`)."""

    study: Any
    records: Sequence[R]


class ColumnFigure(StudyFigure[R]):
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
