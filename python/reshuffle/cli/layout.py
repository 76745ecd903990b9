"""The options of reports: from command-line arguments to a :class:`~reshuffle.report.Layout`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from .. import types
from ..data.system_names import read_names
from ..errors import InputError
from ..options.declare import taken
from ..options.display import ComparisonDisplay, Display
from ..options.evaluations import NameMap
from ..report import PAPERS, Layout
from ..report.layout import check_names, check_triangle
from ..results import ComparedTexts, Comparison, SetComparison
from .output import Output, Reports

FORMATS_WITH_TEXTS = ("html", "json")
# Formats that show what has changed since an earlier result.
FORMATS_WITH_CHANGES = ("text", "markdown", "html")
# Formats that show them also without --pairs.
FORMATS_WITH_PARTS = ("html", "json")


@dataclass(frozen=True)
class ChosenLayout(Output):
    """The output of a command with display names."""

    names: NameMap | None = None

    @classmethod
    def chosen(cls, display: Display, reports: Reports, with_texts: bool = False) -> ChosenLayout:
        """Check the options, and read the names. ``with_texts`` says whether reports have texts.

        ``tables`` are those that need a file each: the format CSV has no place for several tables in one file.
        """
        names = None if display.names is None else read_names(display.names)
        reports.check_methods(display.methods)
        own: dict[str, Any] = {"names": None if names is None else names.names, "paper": False}
        tables: Sequence[str] = ()
        if isinstance(display, ComparisonDisplay):
            own |= _of_comparison(display, reports, with_texts)
            tables = get_args(types.Table)
        layout = taken(Layout, display, **own)
        files = [path for path in (display.names, getattr(display, "since", None)) if path is not None]
        return cls(reports, layout, tables, files, names)

    @property
    def needs_parts(self) -> bool:
        """Whether any report shows what the parts of formulas contribute, which takes as long as the draws."""
        return bool(self.layout.pairs) or bool({*FORMATS_WITH_PARTS} & {*self.reports.formats})

    def check(self, systems: Sequence[str], all_pairs: bool = False) -> None:
        """Raise :class:`InputError` if the layout does not suit the systems, before the tests are computed."""
        if self.layout.triangle:
            check_triangle(len(systems), all_pairs)
        if self.names is not None:
            check_names(self.names.names, systems, self.names.where)

    def check_texts(self, texts: Iterable[ComparedTexts]) -> None:
        """Raise :class:`InputError` if the texts are too large for the report, before the tests are computed."""
        if "html" in self.reports.formats:
            self.layout.check_texts(texts)


def _of_comparison(display: ComparisonDisplay, reports: Reports, with_texts: bool) -> dict[str, Any]:
    """The fields of the layout that are made from options, which are checked first."""
    if display.table is not None:
        reports.check("--table", ["csv"], ", or add --format csv")
    if display.columns is not None and reports.paper is None:
        reports.check("--columns", PAPERS, ", or add --format latex")
    if with_texts:
        reports.check("--include texts", FORMATS_WITH_TEXTS, ", or add --format html")
    if display.max_texts is not None and not ("html" in reports.formats and with_texts):
        raise InputError(
            "--max-texts limits the texts in HTML reports: add --include texts --format html, or leave out --max-texts"
        )
    if display.since is None:
        return {}
    reports.check("--since", FORMATS_WITH_CHANGES, ", or add --format html")
    return {"since": _earlier(display.since), "since_name": display.since}


def _earlier(path: str) -> Comparison | SetComparison:
    """The earlier result of ``--since``."""
    from ..data.saved import read_json  # most commands have no earlier result

    found = read_json(path)
    if not isinstance(found, Comparison | SetComparison):
        raise InputError(f"--since {path}: expected the result of compare or score, got that of another command")
    return found
