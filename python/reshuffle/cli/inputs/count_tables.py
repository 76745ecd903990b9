"""Files of ``--counts``: tables whose columns a formula scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ...data.files import display_name
from ...data.formats.base import Column
from ...data.scores import read_count_tables
from ...errors import InputError
from ...metrics.expression import Expression
from ...metrics.precomputed import FromCounts
from ...options.files import SetFiles
from .score_files import ordered_files


def name_and_formula(given: str) -> tuple[str, str]:
    """The parts of NAME:FORMULA; :class:`InputError` if one is missing."""
    name, _, formula = given.partition(":")
    if not name.strip() or not formula.strip():
        raise InputError(
            f"--counts {given}: expected NAME:FORMULA before the files, such as CER:'100 * edits / chars', with names "
            "of their columns"
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
        ordered = ordered_files(f"--counts {name}", own, systems, files.by_position)
        used = partial(_used, name, formula)
        read = read_count_tables(ordered, used, input_format, max_input=files.max_input, beside=beside)
        tables = dict(zip(systems, read, strict=True))
        found.append(FromCounts(name, tables, formula, False if name in files.lower_is_better else None))
    return found


def _used(name: str, formula: str, path: str, names: Sequence[str]) -> list[str]:
    """The columns of a file that a formula uses, from the names of all."""
    try:
        columns = Expression(name, formula, tuple(names)).columns
    except InputError as error:
        raise InputError(f"{display_name(path)}: {error}") from None
    # Without any, the first one has the number of segments.
    return [column for column in columns if column in names] or list(names[:1])
