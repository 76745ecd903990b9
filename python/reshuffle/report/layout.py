"""What a report shows, and where: the options of all formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .terminal import Terminal

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """The options of a report.

    Attributes
    ----------
    terminal : Terminal
        Matters to text only.
    pairs : bool
        Show a table of all pairs, with differences, intervals and p-values.
    triangle : bool
        Show the pairs as a triangular matrix of differences and stars.
    digits : int or None
        The decimals of scores and differences; None to choose them for each metric.
    names : mapping of str to str
        What to call some systems in the report.
    table : str or None
        For formats that hold one table per file: ``systems`` or ``pairs``.
    """

    terminal: Terminal = field(default_factory=Terminal)
    pairs: bool = False
    triangle: bool = False
    digits: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None

    def name(self, system: str) -> str:
        """The name of a system in the report."""
        return self.names.get(system, system)
