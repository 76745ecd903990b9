"""``reshuffle show``: reports of a saved result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from attrs import evolve

from .. import types
from ..data.saved import read_json
from ..errors import InputError
from ..options.declare import options_of
from ..options.display import ComparisonDisplay, ShownSet
from ..report import TABLES
from ..report.studies import report_of
from ..report.studies.rows import tables_of
from ..results import Comparison, Flips, Gate, SetComparison
from ..results.studies import StudyResult
from ..validate import check_name
from .declared import check_unused, taken_options
from .layout import displayed
from .output import Output, destination

OF_PAIRS = ("pairs", "triangle")


def show(source: str, options: dict[str, Any]) -> None:
    """Read a result, and write the reports that the options ask for."""
    output = Output.from_options(options, get_args(types.GateFormat))
    display = taken_options(ComparisonDisplay, options)
    test_set = taken_options(ShownSet, options).test_set
    result = read_json(source)
    result = result if test_set is None else on_set(result, test_set)
    tables = _tables(result)
    if output.layout.table is not None:
        if not tables:
            raise InputError("--table is for results with several tables: leave it out")
        check_name("table", output.layout.table, tables)
    is_brief = isinstance(result, Gate) or (isinstance(result, StudyResult) and report_of(result.study).brief)
    if output.layout.full and not is_brief:
        raise InputError("--full is for results of 'reshuffle runs' and 'reshuffle gate': leave it out")
    if output.paper is not None and isinstance(result, Flips | Gate):
        raise InputError("--paper is for comparisons, scores and studies: leave it out")
    if isinstance(result, StudyResult | Flips | Gate):
        is_study = isinstance(result, StudyResult)
        others_only = [name for name in options_of(ComparisonDisplay) if name != "methods" or not is_study]
        check_unused(display, others_only, "is for comparisons and scores of systems")
        output.check_methods(display.methods)
        output = replace(output, layout=evolve(output.layout, methods=display.methods))
    else:
        output = _displayed(output, result, display)
    # Empty: sentences name flags, but the command that computed the result is not known.
    layout = evolve(output.layout, command="")
    tables = tables if len(tables) > 1 else []
    with destination(replace(output, layout=layout, tables=tables, kept=[source, *output.kept]), []) as write:
        write(result)


def on_set(result: Any, test_set: str) -> Comparison:
    """The comparison on a test set."""
    if isinstance(result, Comparison):
        raise InputError(f"the result has a single test set, without a name: leave out --set {test_set}")
    if not isinstance(result, SetComparison):
        raise InputError("--set is for comparisons on several test sets: leave it out")
    check_name("test set", test_set, result.sets)
    return result.sets[test_set]


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


def _displayed(output: Output, result: Comparison | SetComparison, display: ComparisonDisplay) -> Output:
    """The output of comparisons and scores, after a check that the result has what its options ask for."""
    parts = _parts(result)
    first, texts = parts[0], [part.texts for part in parts if part.texts is not None]
    if not first.comparisons:
        check_unused(display, OF_PAIRS, "is for comparisons, but the result has only scores")
    if not texts:
        check_unused(display, ("max_texts",), "is for texts, but the result has none")
    elif display.max_texts is not None:
        output.check("--max-texts", ["html"], ", or add --format html")
    output = displayed(output, display, with_texts=display.max_texts is not None)
    dropped = result.dropped if isinstance(result, SetComparison) else ()
    output.check_systems([*first.systems, *dropped], first.baseline is None, compared=len(first.systems))
    output.check_texts(texts)
    return output
