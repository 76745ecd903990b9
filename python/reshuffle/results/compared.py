"""What comparisons on one test set and on several have in common: their reports, and the options of these."""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from attrs import field, frozen

from .. import types
from ..errors import InputError, quoted
from ..options.declare import Check, Kind, called_with, taken
from ..options.display import Shown
from ..validate import check_text
from .reported import Cited, reports


def _check_names(shown: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise InputError(f"{shown} must be a dict of names by system, got {quoted(value)}")


def _given_names(names: Mapping[str, str] | None) -> Mapping[str, str]:
    return {} if names is None else names


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Displayed(Shown):
    """What reports of results show, as Python has it."""

    names: Annotated[Mapping[str, str], Check(_check_names), Kind("mapping of str to str, optional")] = field(
        factory=dict, converter=_given_names
    )
    """Display names, by system; those of other systems are ignored. The formats json and csv keep the names of the
    input.
    """
    table: str | None = None
    """For csv: ``systems`` or ``pairs``, the default if there are any."""
    since: Annotated["Compared | None", Kind("Comparison or SetComparison, optional")] = None
    """For text, markdown and html: an earlier result, to show which scores and verdicts have changed since then."""


@frozen(slots=False, eq=False, repr=False)
class Render(Displayed):
    """:meth:`reshuffle.Comparison.render`."""

    # The kind of result decides which formats it has.
    fmt: Annotated[types.AnyFormat | str | None, Check(check_text), Kind("str, optional")] = field(default=None)
    """As ``--format`` of the command line. By default text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Cited):
    """A comparison on one test set or on several: :class:`~reshuffle.Comparison`, :class:`~reshuffle.SetComparison`."""

    display_names: Mapping[str, str] | None = None
    """Display names by system, from ``--names``, for reports that set no others; None for results from Python."""

    def _repr_html_(self) -> str:
        """The HTML report in a frame, which notebooks display."""
        page: str = reports().notebook_html(self)
        return page

    @called_with(Render)
    def render(self, options: Render) -> str:
        """A report as a string, ending in a newline.

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
        report = reports()
        text: str = report.render(self, options.fmt, taken(report.Layout, options))
        return text

    def paper(
        self,
        directory: str | PathLike[str],
        *,
        digits: int | None = None,
        names: Mapping[str, str] | None = None,
        groups: types.Groups | None = None,
        columns: int | None = None,
    ) -> list[Path]:
        """Write what a paper needs to a folder, and return the files.

        These are, in LaTeX and in Typst, the table (``table.tex``), the differences with intervals and p-values
        (``differences.tex``, if there are tests), the methods paragraph (``methods.tex``), how p-values and intervals
        are computed and the signature (``appendix.tex``), and figures with captions (``figures.tex``); the BibTeX
        entries of all that papers may cite (``references.bib``), figures as PDF, and facts for the Responsible NLP
        checklist of ACL (``checklist.txt``): the test set, the test and its replicates, seeds, scores with their
        intervals, and versions. The same result gives the same files.

        The figures are ``forest``, and ``matrix`` if all pairs were compared, else ``ranking``; of all pairs of over
        six systems, ``ranking`` and ``matrix``; without tests, those of scores. With several metrics, there is only the
        first of these, with a panel for each. With several test sets, the figures show the averages.

        Parameters
        ----------
        directory : path
            Made if it does not exist. An earlier paper in it is replaced, but no other file.
        digits, names, groups, columns
            As for :meth:`render`.

        Returns
        -------
        list of pathlib.Path

        Raises
        ------
        InputError
            If an option is out of range, if the folder has one of the files from elsewhere, or if it cannot be written.
        ModuleNotFoundError
            If matplotlib is not installed.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> ratings = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
        >>> compare(metrics=ratings, test="ar").paper("paper")  # doctest: +SKIP
        [PosixPath('paper/table.tex'), PosixPath('paper/differences.tex'), ...]
        """
        report = reports()
        layout = report.Layout(digits=digits, names=names, groups=groups, columns=columns)
        files: list[Path] = report.write_paper(self, Path(directory), layout)
        return files
