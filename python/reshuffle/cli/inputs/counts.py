"""Files of counts in place of references, and those of ``--counts``: tables whose columns a formula scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.alignment import aligned
from ...data.files import display_name
from ...data.formats import FORMATS
from ...data.formats.base import Column
from ...data.id_columns import are_numbers_of_rows
from ...data.score_columns import TABLES, Table, opened
from ...data.unnamed_ids import with_unnamed_ids
from ...errors import Argument, InputError, flag, listed, unknown_name
from ...metrics.expression import Expression
from ...metrics.precomputed import FromCounts
from ...metrics.stored import CountsFile, open_counts
from ...options.files import SetFiles
from ..metric_options import MetricChoice
from .given_files import of_metric, ordered_files

if TYPE_CHECKING:
    from ...metrics.named import NamedMetric


def check_no_flags(path: str, metric_options: Mapping[str, Any]) -> None:
    """Raise :class:`InputError` for options of metrics without a metric, if the metrics are those of a file."""
    for name in metric_options:
        raise InputError(
            f"{flag(name)}: the texts of {path} were counted before: leave it out, or choose the metric that was "
            "counted so with -m"
        )


def names_in_counts(path: str, systems: Mapping[str, str] | Sequence[str], folder: Path) -> Any:
    """The names of systems in a file of counts that a manifest or a command names: all of them if there are none.

    Where texts are expected, they were taken for files in ``folder``.
    """
    if not systems:
        return open_counts(path, check=False).systems

    def name(given: str) -> str:
        return str(Path(given).relative_to(folder)) if Path(given).is_relative_to(folder) else given

    if isinstance(systems, Mapping):
        return {shown: name(given) for shown, given in systems.items()}
    return tuple(map(name, systems))


def chosen_counts(
    files: SetFiles, chosen: Sequence[MetricChoice], metrics: Sequence[NamedMetric], least: int
) -> CountsFile:
    """The counts of the systems, by default all, under these metrics, by default all. Expects ``least`` systems.

    ``metrics`` are those of ``chosen``. Only the description of the file is read.
    """
    path = files.references[0]
    for given, name in ((files.references[1:], "--refs"), (files.parses, "--parses")):
        if given:
            raise InputError(f"{name} is for texts, and {path} has counts: leave it out")
    counts = open_counts(path, check=False)
    renamed = tuple(files.systems) if isinstance(files.systems, Mapping) else None
    systems = tuple(files.systems.values() if isinstance(files.systems, Mapping) else files.systems)
    repeated = [name for i, name in enumerate(systems) if name in systems[:i]]
    if repeated:
        raise InputError(f"{path}: system {repeated[0]} is named twice")
    if systems:
        counts = counts.chosen(systems, renamed)
    if len(counts.systems) < least:
        wanted = "at least one system" if least == 1 else "at least two systems"
        raise InputError(f"{path}: expected {wanted} after it, or none for all, got {listed(counts.systems) or 'none'}")
    return _under(path, counts, chosen, metrics) if chosen else counts


def _under(path: str, counts: CountsFile, chosen: Sequence[MetricChoice], metrics: Sequence[NamedMetric]) -> CountsFile:
    """The counts under some of their metrics."""
    found = []
    for choice, m in zip(chosen, metrics, strict=True):
        same = [each for each in counts if each.formula.signature() == m.signature() and each.key == m.key]
        if not same and not choice.options and m.options == {}:
            same = [each for each in counts if each.key == choice.name]
        if not same:
            error = unknown_name(f"metric in {path}:", m.signature(), [each.signature() for each in counts])
            raise InputError(f"{error}; 'reshuffle count' counts others")
        found += same
    return replace(counts, metrics=tuple(dict.fromkeys(found)))


def name_and_formula(given: str) -> tuple[str, str]:
    """The parts of NAME:FORMULA; :class:`InputError` if one is missing."""
    name, _, formula = given.partition(":")
    if not name.strip() or not formula.strip():
        raise InputError(
            "{counts}: expected a name and a formula of columns, such as 'CER:100 * edits / chars'",
            counts=Argument(f"counts, {given}", as_flag=f"--counts {given}"),
        )
    return name.strip(), formula


def given_counts(files: SetFiles, systems: Mapping[str, str], beside: Sequence[Column]) -> list[FromCounts]:
    """The metrics of ``--counts``. ``systems`` has the file of each system, by name.

    ``beside``: columns of other files of the same segments, whose ids set the order of rows.
    """
    # With texts, --input-format is their format.
    found, input_format = [], None if files.references else files.input_format
    for given, own in files.counts.items():
        name, formula = name_and_formula(given)
        columns, used = [*beside], []
        for path in ordered_files(of_metric("counts", name), own, systems, files.by_position):
            table = _table(path, input_format, files.max_input)
            names = _used(name, formula, path, table.header)
            keys = table.ids(names)
            used.append((table, names))
            others = table.others(names) if are_numbers_of_rows(keys) else None
            columns += [replace(column, keys=keys, others=others) for column in table.columns(names)]
        of_tables = iter(aligned(with_unnamed_ids(columns))[len(beside) :])
        counts = [{name: table.numbers(next(of_tables), False).tolist() for name in names} for table, names in used]
        tables = dict(zip(systems, counts, strict=True))
        found.append(FromCounts(name, tables, formula, False if name in files.lower_is_better else None))
    return found


def _table(path: str, input_format: str | None, max_input: int) -> Table:
    """The table in a file; :class:`InputError` if its columns have no names."""
    table, _ = opened(path, input_format, max_input)
    if table.file_format.names is None:
        # A text without names of columns is opened as one of numbers, which these lines are not.
        got = FORMATS["text" if table.format_name == "numbers" else table.format_name].about
        table.source.fail(f"expected a table with names of columns ({', '.join(TABLES[:3])}), got {got}")
    return table


def _used(name: str, formula: str, path: str, names: Sequence[str]) -> list[str]:
    """The columns of a file that a formula uses, from the names of all."""
    try:
        columns = Expression(name, formula, tuple(names)).columns
    except InputError as error:
        raise InputError(f"{display_name(path)}: {error}") from None
    # Without any, the first one has the number of segments.
    return [column for column in columns if column in names] or list(names[:1])
