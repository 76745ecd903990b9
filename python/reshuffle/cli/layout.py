"""The options that say how reports look: from command-line arguments to a :class:`~reshuffle.report.Layout`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from .. import types
from ..data.system_names import read_names
from ..errors import InputError
from ..options.declare import taken
from ..options.display import ComparisonDisplay, Display
from ..report import PAPERS, Layout
from ..results import Comparison, SetComparison
from .output import Output

FORMATS_WITH_TEXTS = ("html", "json")
# Formats that show what has changed since an earlier result.
FORMATS_WITH_CHANGES = ("text", "markdown", "html")


def displayed(output: Output, display: Display, with_texts: bool = False) -> Output:
    """The output with these options, which are checked, and with the names that a file has for the systems.

    ``with_texts`` says whether reports have texts. The format CSV has no place for several tables in one file, so each
    table of a comparison needs a file.
    """
    names = None if display.names is None else read_names(display.names)
    output.check_methods(display.methods)
    own: dict[str, Any] = {"names": names and names.names, "paper": False, "table": output.layout.table}
    tables: Sequence[str] = ()
    if isinstance(display, ComparisonDisplay):
        _check_formats(output, display, with_texts)
        tables = get_args(types.Table)
        if display.since is not None:
            own |= {"since": _earlier(display.since), "since_name": display.since}
    kept = [path for path in (display.names, getattr(display, "since", None)) if path is not None]
    return replace(output, layout=taken(Layout, display, **own), tables=tables, kept=kept, names=names)


def _check_formats(output: Output, display: ComparisonDisplay, with_texts: bool) -> None:
    """:class:`InputError` for an option that no report of the output shows."""
    if display.columns is not None and output.paper is None:
        output.check("--columns", PAPERS, ", or add --format latex")
    if with_texts:
        output.check("--include texts", FORMATS_WITH_TEXTS, ", or add --format html")
    if display.max_texts is not None and not ("html" in output.formats and with_texts):
        raise InputError(
            "--max-texts limits the texts in HTML reports: add --include texts --format html, or leave out --max-texts"
        )
    if display.since is not None:
        output.check("--since", FORMATS_WITH_CHANGES, ", or add --format html")


def _earlier(path: str) -> Comparison | SetComparison:
    """The earlier result of ``--since``."""
    from ..data.saved import read_json  # most commands have no earlier result

    found = read_json(path)
    if not isinstance(found, Comparison | SetComparison):
        raise InputError(f"--since {path}: expected the result of compare or score, got that of another command")
    return found
