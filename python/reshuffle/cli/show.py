"""``reshuffle show``: reports of a saved result."""

from __future__ import annotations

from typing import Any, get_args

from attrs import evolve

from .. import types
from ..data.saved import read_json
from ..errors import InputError
from ..options.declare import options_of
from ..options.display import ComparisonDisplay
from ..report import TABLES
from ..report.studies.registry import report_of
from ..report.studies.rows import tables_of
from ..results import Comparison, Flips, Gate, SetComparison
from ..results.studies import StudyResult
from ..validate import check_name
from .declared import check_unused, taken_options
from .layout import ChosenLayout
from .output import Output, Reports, chosen_output, destination

OF_PAIRS = ("pairs", "triangle")


def show(source: str, options: dict[str, Any]) -> None:
    """Read a result, and write the reports that the options ask for."""
    output = chosen_output(options, formats=get_args(types.GateFormat))
    reports, layout = output.reports, output.layout
    display = taken_options(ComparisonDisplay, options)
    result = read_json(source)
    tables = _tables(result)
    if layout.table is not None:
        if not tables:
            raise InputError("--table is for results with several tables: leave it out")
        check_name("table", layout.table, tables)
    is_brief = isinstance(result, Gate) or (isinstance(result, StudyResult) and report_of(result).brief)
    if layout.full and not is_brief:
        raise InputError("--full is for results of 'reshuffle runs' and 'reshuffle gate': leave it out")
    others = [source]
    if reports.paper is not None and isinstance(result, Flips | Gate):
        raise InputError("--paper is for comparisons, scores and studies: leave it out")
    if isinstance(result, StudyResult | Flips | Gate):
        is_study = isinstance(result, StudyResult)
        others_only = [name for name in options_of(ComparisonDisplay) if name != "methods" or not is_study]
        check_unused(display, others_only, "is for comparisons and scores of systems")
        reports.check_methods(display.methods)
        layout = evolve(layout, methods=display.methods)
    else:
        chosen = _chosen(result, display, reports)
        layout, others = evolve(chosen.layout, table=layout.table), [source, *chosen.files]
    # Empty: sentences name flags, but the command that computed the result is not known.
    layout = evolve(layout, command="")
    with destination(Output(reports, layout, tables if len(tables) > 1 else (), others), []) as write:
        write(result)


def _tables(result: Comparison | SetComparison | StudyResult | Flips | Gate) -> list[str]:
    """The tables that CSV may have."""
    if isinstance(result, Flips | Gate):
        return []
    if isinstance(result, StudyResult):
        return tables_of(result)
    return list(TABLES) if _parts(result)[0].comparisons else ["systems"]


def _parts(result: Comparison | SetComparison) -> list[Comparison]:
    """The comparison on each test set. All have the same systems and pairs."""
    return [*result.sets.values()] if isinstance(result, SetComparison) else [result]


def _chosen(result: Comparison | SetComparison, display: ComparisonDisplay, reports: Reports) -> ChosenLayout:
    """The layout of comparisons and scores, after a check that the result has what its options ask for."""
    parts = _parts(result)
    first, texts = parts[0], [part.texts for part in parts if part.texts is not None]
    if not first.comparisons:
        check_unused(display, OF_PAIRS, "is for comparisons, but the result has only scores")
    if not texts:
        check_unused(display, ("max_texts",), "is for texts, but the result has none")
    elif display.max_texts is not None:
        reports.check("--max-texts", ["html"], ", or add --format html")
    chosen = ChosenLayout.chosen(display, reports, with_texts=display.max_texts is not None)
    dropped = result.dropped if isinstance(result, SetComparison) else ()
    chosen.check([*first.systems, *dropped], all_pairs=first.baseline is None)
    chosen.check_texts(texts)
    return chosen
