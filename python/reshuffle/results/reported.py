"""Methods that all results have: reports, rows and data frames. They need :mod:`reshuffle.report`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from .. import types
from ..documented import record
from ..errors import either


def reports() -> Any:
    """The package that writes reports. It imports the results, so these import it when it is needed, and only here."""
    return import_module("reshuffle.report")


@record
class InputFile:
    """A file that the command line read, as it was then."""

    name: str
    """As it was given; absolute paths without the folder that all share, so that results do not depend on it; ``-`` is
    standard input or a pipe.
    """
    size: int | None
    """In bytes; None, like ``sha256``, for what can be read only once."""
    sha256: str | None
    """The SHA-256 digest of its bytes, in hexadecimal digits, as ``sha256sum`` prints it."""


class Worded:
    """A record that ``print`` shows in words."""

    __slots__ = ()

    def __str__(self) -> str:
        text: str = reports().in_words(self)
        return text

    def _repr_html_(self) -> str:
        """The same words in a notebook."""
        fragment: str = reports().lines_as_fragment(str(self).split("\n"))
        return fragment


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A result of any kind."""

    inputs: tuple[InputFile, ...] = ()
    """The files that the command line read, without standard input and pipes; empty for results of Python."""

    def __str__(self) -> str:
        report = reports()
        layout = report.Layout(report.Terminal.from_stdout()).named(self)
        text: str = report.as_text(report.document(self, layout), layout)
        return text.rstrip("\n")

    if not TYPE_CHECKING:  # for pandas.DataFrame(result), which says nothing else, and for loops

        def __iter__(self) -> Any:
            raise TypeError(f"{type(self).__name__!r} object is not iterable: use to_pandas() or to_dicts()")

        def __getitem__(self, key: object) -> Any:
            lookups = [f"{name}(system)" for name in ("score", "pair", "system_scores") if hasattr(type(self), name)]
            raise TypeError(f"{type(self).__name__!r} object has no keys: use {either([*lookups, 'to_dicts()'])}")

    def _repr_html_(self) -> str:
        """The tables and sentences of the text report, which notebooks display."""
        report = reports()
        fragment: str = report.as_fragment(report.document(self, report.Layout(full=True)))
        return fragment

    def render(self, fmt: types.AnyFormat | None = None, *, table: str | None = None) -> str:
        """A report as a string, ending in a newline.

        Parameters
        ----------
        fmt : str
            As ``--format`` of the command line: by default text, for scores of segments tsv.
        table : str, optional
            For csv: as for :meth:`to_dicts`.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If there is no such format or table, or the format cannot hold one of the names.
        """
        return self._rendered(fmt, table=table)

    def _rendered(self, fmt: types.AnyFormat | None, **layout: Any) -> str:
        report = reports()
        text: str = report.render(self, fmt, report.Layout(**layout))
        return text

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write a report to a file, in the format that its ending names.

        JSON holds everything: :func:`reshuffle.read_json` returns an equal result.

        Parameters
        ----------
        path : path
            ``.json``, ``.csv``, ``.html``, ``.md``, ``.tex``, ``.typ`` or ``.txt``; ``.xml`` for gates; ``.tsv`` or
            ``.jsonl`` for scores of segments. An earlier file of this name is replaced.
        **options
            As for :meth:`render`.

        Raises
        ------
        InputError
            If no format has the ending, if the file cannot be written, or as for :meth:`render`.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare, read_json
        >>> comparison = compare(metrics=SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]}), test="ar")
        >>> comparison.save("result.json")  # doctest: +SKIP
        >>> read_json("result.json") == comparison  # doctest: +SKIP
        True
        """
        reports().save(self, fspath(path), options)

    def to_dicts(self, table: str | None = None) -> list[dict[str, Any]]:
        """The rows of a table as flat dicts.

        Parameters
        ----------
        table : str, optional
            For a comparison, also of runs, ``systems`` has a row for each metric and system, with its score, interval
            and ranks, and ``pairs`` a row for each metric and pair of systems, with the difference and its test: the
            default, unless the result has only scores. A name in ``tables`` of a study, the first by default. Other
            results have one table.

        Returns
        -------
        list of dict
            All have the same keys, the columns of the CSV (docs/guide/python.md#results-as-data-frames). The value is
            None where one does not apply, such as ranks unless all pairs were compared. With several test sets, the
            rows are those of each test set and then of the average, and the first key is ``test_set``, ``average`` for
            the average.

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
        report = reports()
        rows: list[dict[str, Any]] = report.rows_of(report.columns_of(self, table))
        return rows

    def to_pandas(self, table: str | None = None) -> Any:
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
        report = reports()
        return report.as_pandas(report.columns_of(self, table))

    def to_polars(self, table: str | None = None) -> Any:
        """The rows of :meth:`to_dicts` as a ``polars.DataFrame``, where missing values are null.

        Raises
        ------
        InputError
            If there is no such table.
        ModuleNotFoundError
            If polars is not installed.
        """
        report = reports()
        return report.as_polars(report.columns_of(self, table))


class Cited(Reported):
    """A result of which papers report."""

    __slots__ = ()

    def methods_sentence(self) -> str:
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
        Two systems were scored by rating on a test set of 4 segments. The differences from a were tested by the paired
        t-test (Student, 1908, doi:10.1093/biomet/6.1.1), two-sided. For p, the mean difference in segment scores, ...
        """
        sentence: str = reports().methods_of(self).plain
        return sentence

    def bibtex(self) -> str:
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
        entries: str = reports().methods_of(self).bibtex
        return entries
