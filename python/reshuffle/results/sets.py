"""The result of a comparison on several test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import unknown_name
from ..types import Table
from .comparison import Comparison
from .lookup import first_names

__all__ = ["SetComparison"]


@dataclass(frozen=True, slots=True)
class SetComparison:
    """The result of :func:`reshuffle.compare_sets`: a comparison on each test set, and one of average scores over them.

    Attributes
    ----------
    sets : mapping of str to Comparison
        The comparison on each test set, by its name, in the order of the input.
    average : Comparison or None
        The comparison of average scores over the test sets, with tests and intervals of their own. None with
        ``average=False``.
    dropped : tuple of str
        The systems that were left out because they are not in every test set.
    signature : str
        One line with everything needed to repeat the result on the same texts.
    version : str
        The version of reshuffle.
    """

    sets: Mapping[str, Comparison]
    average: Comparison | None
    dropped: tuple[str, ...]
    signature: str
    version: str

    def __repr__(self) -> str:
        averaged = "" if self.average is None else " and their average"
        return f"<SetComparison: {len(self.sets)} test sets ({first_names(self.sets)}){averaged}>"

    def __str__(self) -> str:
        from ..report import Layout, Terminal, render

        return render(self, "text", Layout(Terminal.from_stdout())).rstrip("\n")

    def _repr_html_(self) -> str:
        """The tables, notes and caveats as HTML, for notebooks."""
        return self.render("html")

    def render(
        self,
        fmt: str = "text",
        *,
        pairs: bool | None = None,
        triangle: bool = False,
        digits: int | None = None,
        names: Mapping[str, str] | None = None,
    ) -> str:
        """A report as a string, ending in a newline.

        Parameters
        ----------
        fmt : str
            A name in :data:`reshuffle.report.SET_FORMATS`. ``csv`` is the table of pairs.
        pairs, triangle, digits, names
            As for :meth:`Comparison.render`. With ``pairs`` or ``triangle`` the report has tables of each test set.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If there is no such format, if an option is out of range, or if a display name is for an unknown system.
        """
        from ..report import Layout, render

        layout = Layout(pairs=pairs, triangle=triangle, digits=digits, names={} if names is None else names)
        return render(self, fmt, layout)

    def __getitem__(self, test_set: str) -> Comparison:
        """The comparison on a test set, by name.

        Raises
        ------
        InputError
            If there is no such test set.
        """
        if test_set not in self.sets:
            raise unknown_name("test set", test_set, self.sets)
        return self.sets[test_set]

    def methods_sentence(self) -> str:
        """A paragraph for a paper, as :meth:`Comparison.methods_sentence`."""
        from ..report import methods_sentence

        return methods_sentence(self)

    def bibtex(self) -> str:
        """The BibTeX entries of the papers that :meth:`methods_sentence` cites."""
        from ..report import bibtex

        return bibtex(self)

    def to_dicts(self, table: Table | None = None) -> list[dict[str, Any]]:
        """The rows of :meth:`Comparison.to_dicts` for every test set, and then for the average over them.

        The first column is ``test_set``, the name of the test set; None for the average.

        Raises
        ------
        InputError
            If there is no such table.
        """
        from ..report import as_dicts

        return as_dicts(self, table)

    def to_pandas(self, table: Table | None = None) -> Any:
        """The rows of :meth:`to_dicts` as a ``pandas.DataFrame``: see :meth:`Comparison.to_pandas`."""
        from ..report import as_pandas, frame_columns

        return as_pandas(frame_columns(self, table))

    def to_polars(self, table: Table | None = None) -> Any:
        """The rows of :meth:`to_dicts` as a ``polars.DataFrame``: see :meth:`Comparison.to_polars`."""
        from ..report import as_polars, frame_columns

        return as_polars(frame_columns(self, table))
