"""The options of reports: from command-line arguments to a :class:`~reshuffle.report.Layout`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..data.names import DisplayNames, read_names
from ..report import Layout
from ..report.layout import MAX_DIGITS, check_names, check_triangle
from ..validate import check_integer

__all__ = ["ChosenLayout"]


@dataclass(frozen=True)
class ChosenLayout:
    """The layout that the options ask for, and the file with the names of systems."""

    layout: Layout
    names: DisplayNames | None
    files: Sequence[str]

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> ChosenLayout:
        """Check the options, read the names, and remove the options used here from ``options``."""
        path, digits = options.pop("names"), options.pop("digits")
        if digits is not None:
            check_integer("--digits", digits, 0, MAX_DIGITS)
        names = None if path is None else read_names(path)
        layout = Layout(
            pairs=options.pop("pairs", None),
            triangle=options.pop("triangle", False),
            digits=digits,
            names={} if names is None else names.names,
        )
        return cls(layout, names, [] if path is None else [path])

    def check(self, systems: Sequence[str], all_pairs: bool = False) -> None:
        """Raise :class:`InputError` if the layout does not suit the systems, before the tests are computed."""
        if self.layout.triangle:
            check_triangle(len(systems), all_pairs)
        if self.names is not None:
            check_names(self.names.names, systems, self.names.where)
