"""Methods that results share: reports, rows and data frames. They import :mod:`reshuffle.report` when called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import Format, Table


class Framed:
    """A result with one table of rows: :class:`~reshuffle.SegmentTable` and :class:`~reshuffle.Flips`."""

    __slots__ = ()

    def _columns(self) -> Any:
        """The columns of the table by name: values and types."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows of ``to_dicts`` as a ``pandas.DataFrame``.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        from ..report import as_pandas

        return as_pandas(self._columns())

    def to_polars(self) -> Any:
        """The rows of ``to_dicts`` as a ``polars.DataFrame``.

        Raises
        ------
        ModuleNotFoundError
            If polars is not installed.
        """
        from ..report import as_polars

        return as_polars(self._columns())


class Reported:
    """A comparison on one test set or on several: :class:`~reshuffle.Comparison`, :class:`~reshuffle.SetComparison`."""

    __slots__ = ()

    def __str__(self: Any) -> str:
        from ..report import Layout, Terminal, render

        return render(self, "text", Layout(Terminal.from_stdout())).rstrip("\n")

    def _repr_html_(self: Any) -> str:
        """The HTML report in a frame, which notebooks display."""
        from ..report import notebook_html

        return notebook_html(self)

    def render(
        self: Any,
        fmt: Format = "text",
        *,
        pairs: bool | None = None,
        triangle: bool = False,
        digits: int | None = None,
        names: Mapping[str, str] | None = None,
        table: str | None = None,
        max_texts: int | None = None,
    ) -> str:
        """A report as a string, ending in a newline.

        Parameters
        ----------
        fmt : str
            As ``--format`` of the command line; a name in :data:`reshuffle.report.FORMATS`.
        pairs : bool, optional
            Whether to show tables of all comparisons, with differences, intervals and p-values. By default they are
            shown if there are at most 12. With several test sets, each has tables of its own.
        triangle : bool
            Show the pairs as a triangular matrix of differences and stars, for at most 20 systems.
        digits : int, optional
            The decimals of scores and differences, from 0 to 15; chosen for each metric by default.
        names : mapping of str to str, optional
            Display names, by system. The formats json and csv keep the names of the input.
        table : str, optional
            For csv: ``systems`` or ``pairs``, the default if there are any.
        max_texts : int, optional
            For html: the largest size of the texts (``with_texts``), in bytes of UTF-8. 20,000,000 by default.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If there is no such format, an option is out of range, a display name is for an unknown system, or the texts
            are too large.

        Examples
        --------
        >>> from reshuffle import score
        >>> print(score(["the cat sat on the mat"], {"a": ["the cat sat on a mat"]}, "ter").render("markdown"))
        **TER, lower is better: 1 segment, 1 reference, 1 system**
        <BLANKLINE>
        | System | TER |
        | --- | ---: |
        | a | 16.67 |
        <BLANKLINE>
        - Signature: `TER|nrefs:1|...
        """
        from ..report import MAX_TEXTS, Layout, render

        layout = Layout(
            pairs=pairs,
            triangle=triangle,
            digits=digits,
            names={} if names is None else names,
            table=table,
            max_texts=MAX_TEXTS if max_texts is None else max_texts,
        )
        return render(self, fmt, layout)

    def methods_sentence(self: Any) -> str:
        """The methods paragraph for a paper: how the numbers were computed, with citations.

        It names the metrics, the test with its replicates and seed, the adjustment and its family, the level, the
        intervals, the version of reshuffle, and the signature. It says how p-values, adjusted p-values and the ends of
        intervals are computed. Papers are cited with ACL ids and DOIs; :meth:`bibtex`
        has their entries.

        Returns
        -------
        str

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> ratings = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
        >>> print(compare(metrics=ratings, test="t-test", interval="t").methods_sentence())  # doctest: +ELLIPSIS
        2 systems were scored by rating on a test set of 4 segments. The differences from a were tested by the paired
        t-test (Student, 1908, doi:10.1093/biomet/6.1.1), two-sided. For p, the mean difference in segment scores, ...
        """
        from ..report import methods_sentence

        return methods_sentence(self)

    def bibtex(self: Any) -> str:
        """The BibTeX entries of the papers that :meth:`methods_sentence` cites, in the same order.

        Returns
        -------
        str

        Examples
        --------
        >>> from reshuffle import score
        >>> print(score(["the cat"], {"a": ["a cat"]}, "ter").bibtex())  # doctest: +ELLIPSIS
        @inproceedings{snover-etal-2006-ter,
          author    = {Snover, Matthew and Dorr, Bonnie and Schwartz, Rich and Micciulla, Linnea and Makhoul, John},
          title     = {A Study of Translation Edit Rate with Targeted Human Annotation},
          ...
        """
        from ..report import bibtex

        return bibtex(self)

    def to_dicts(self: Any, table: Table | None = None) -> list[dict[str, Any]]:
        """The rows of a table as flat dicts.

        Parameters
        ----------
        table : {'systems', 'pairs'}, optional
            ``systems`` has a row for each metric and system, with its score, interval and ranks.
            ``pairs`` has a row for each metric and pair of systems, with the difference and its test. By default the
            pairs, or the systems if the result has only scores.

        Returns
        -------
        list of dict
            All have the same keys, the columns of the CSV (docs/guide/python.md#data-frames). The value is None where
            one does not apply, such as ranks unless all pairs were compared. With several test sets, the rows are those
            of each test set and then of the average, and the first key is ``test_set``, None for the average.

        Raises
        ------
        InputError
            If there is no such table.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> ratings = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
        >>> comparison = compare(metrics=ratings, test="ar")
        >>> [(row["system"], row["score"]) for row in comparison.to_dicts("systems")]
        [('a', 2.5), ('b', 3.25)]
        >>> [(row["system"], row["baseline"], row["difference"], row["pvalue"]) for row in comparison.to_dicts("pairs")]
        [('b', 'a', 0.75, 0.25)]
        """
        from ..report import as_dicts

        return as_dicts(self, table)

    def to_pandas(self: Any, table: Table | None = None) -> Any:
        """The rows of :meth:`to_dicts` as a ``pandas.DataFrame``.

        Missing values are NaN in columns of floats, ``pandas.NA`` in columns of integers (``Int64``, ``UInt64`` for
        seeds) and booleans, and what pandas uses for them in columns of strings.

        Raises
        ------
        InputError
            If there is no such table.
        ModuleNotFoundError
            If pandas is not installed.
        """
        from ..report import as_pandas, frame_columns

        return as_pandas(frame_columns(self, table))

    def to_polars(self: Any, table: Table | None = None) -> Any:
        """The rows of :meth:`to_dicts` as a ``polars.DataFrame``, where missing values are null.

        Raises
        ------
        InputError
            If there is no such table.
        ModuleNotFoundError
            If polars is not installed.
        """
        from ..report import as_polars, frame_columns

        return as_polars(frame_columns(self, table))
