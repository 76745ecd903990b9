"""Tables of scores whose header names the columns: DA, MQM, WMT's system scores, and segment scores of this package.

Formats that number the segments of each system by their rows are such tables, too: mt-metrics-eval and comet-score's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np

from ...errors import InputError, listed, quoted, warn
from ...options.evaluations import ReadScores
from ..files import at_line, uncompressed
from ..formats import format_of, jsonl
from ..formats.base import Column, is_score
from ..scores import (
    ROLES,
    SYSTEM,
    TABLES,
    Integers,
    Table,
    any_table,
    check_header,
    columns_of_scores,
    roles_of,
    table_in,
)
from .base import Cells, ScoreFormat, cells_of, integers

# All known headers of segments count from 1. WMT17's SID: the sources of all 560 segments of de-en are on these lines.
BASE = 1
# The system of a table that has no column of systems.
UNNAMED = "system"
# Formats that number the segments of each system by their rows, and the number of the first.
BY_ROWS = {"comet": 1, "comet-printed": 0, "mt-metrics-eval": 1, "text": 1}
# Endings of names of files of mt-metrics-eval.
OF_SEGMENTS, OF_SYSTEMS = ".seg.score", ".sys.score"


def names(table: Table, options: ReadScores) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    roles = _roles(table, options)
    check_header(table)
    if "metric" in roles:
        (column,) = _chosen(table, roles, options, [roles["metric"]])
        return list(dict.fromkeys(table.names_in(column, "the name of a metric"))), False
    if "score" in (options.columns or ()):
        return [roles["score"]], True
    wanted = roles.get("score"), options.metric
    taken = set(roles.values()).difference(wanted)
    others = [name for name in table.perhaps_scores() if name not in taken]
    found, problem = [], None
    for name in table.header:
        try:
            if name in wanted or (name in others and _is_numeric(table, name, options)):
                found.append(name)
        except InputError as error:  # some line has no such key
            problem = error
            is_json = table.format_name == "jsonl"
            if is_json and options.metric is None and is_score(table.source.once(jsonl.values)[0][name]):
                warn(f"{error}; the scores in {quoted(name)} are left out")
    if not found:
        hint = "name it with columns={'score': …} (--columns score=…)"
        wrong = f"expected a column of scores, got {listed(table.header)}: {hint}"
        raise problem or at_line(table.source.name, 1, wrong)
    if "score" in roles:
        found = [roles["score"], *(name for name in found if name != roles["score"])]
    return found, "score" in roles


def _is_numeric(table: Table, name: str, options: ReadScores) -> bool:
    """Whether a column has only numbers and missing scores. Warns of one that has mostly numbers, if all are read."""
    (column,) = table.columns([name])
    wrong = table.not_numbers(column)
    if not wrong:
        return bool(columns_of_scores(table, [name]))
    n_filled = len(column.lines) - sum(map(table.is_missing, column.lines))
    if options.metric is None and 2 * len(wrong) < n_filled:
        warn(
            f"{column.place(wrong[0] + 1)}: {quoted(column.lines[wrong[0]])} is not a number, so the column "
            f"{quoted(name)} is left out: missing scores are empty fields, NA, NaN, None or null"
        )
    return False


def _roles(table: Table, options: ReadScores) -> dict[str, str]:
    """The header of the column for each role."""
    if table.format_name in BY_ROWS:
        return {role: role for role in ("system", "segment") if role in table.header}
    roles = roles_of(table.header, columns=options.columns, file=table.source.name)
    # A file whose header has no known name may be something else, unless its extension says that it is a table.
    if not roles and (not table.header or format_of(table.source.file) not in TABLES):
        known = listed(sorted({name for each in ROLES.values() for name in each}))
        table.source.fail(
            f"expected a header with columns such as {known}, got {listed(table.header)}: name the columns with "
            "columns={'system': …, 'score': …} (--columns system=…,score=…)",
            1,
        )
    return roles


def _chosen(
    table: Table, roles: Mapping[str, str], options: ReadScores, names: Sequence[str | None], **metric: str
) -> list[Column]:
    """Columns, with the rows of the language pair, the test set and the metric."""
    wanted = {"language_pair": options.language_pair, "test_set": options.test_set}
    for role, name in wanted.items():
        if role not in roles and name is not None and table.format_name not in BY_ROWS:
            table.source.fail(f"there is no column of {role.replace('_', ' ')}s to choose {quoted(name)} from")
    return table.chosen(names, roles, wanted | metric)


def read(table: Table, metric: str, options: ReadScores) -> Cells:
    """See :class:`ScoreFormat`."""
    roles = _roles(table, options)
    score: str | None = metric if metric in table.header else None
    if "metric" in roles:
        if "score" not in roles:
            table.source.fail("expected a column SCORE: name it with columns={'score': …} (--columns score=…)", 1)
        score = roles["score"]
    by_role = [role for role in ("segment", "system") if role in roles]
    column, *others = _chosen(table, roles, options, [score, *(roles[role] for role in by_role)], metric=metric)
    found, lines = dict(zip(by_role, others, strict=True)), column.first_lines
    values = table.numbers(column, True)
    base, segment = 1, None
    if "segment" in found:
        base, segment = _segments(table, found["segment"], roles["segment"], options.segment_base)
    if "system" not in found:
        ids = table.ids([score]) if segment is None else None
        keys = ids if ids is not None and len(set(ids)) == len(ids) == len(values) else None
        rows = np.arange(len(values)) if segment is None else segment
        return Cells(metric, [UNNAMED], None, rows, values, lines, base, segment is None, keys)
    cells = cells_of(metric, table.names_in(found["system"], SYSTEM), segment, values, lines, base=base)
    return _by_rows(table, cells) if table.format_name in BY_ROWS else cells


def _by_rows(table: Table, cells: Cells) -> Cells:
    """The cells of a file that does not number the segments: it must have as many of each system."""
    assert cells.system is not None
    counts, ids = np.bincount(cells.system), cells.ids
    file = uncompressed(table.source.file)
    if table.format_name == "mt-metrics-eval" and counts.max() == 1 and not file.endswith(OF_SEGMENTS):
        return cells._replace(segment=None)
    if file.endswith(OF_SYSTEMS):
        twice = int(np.flatnonzero(counts > 1)[0])
        again = int(np.flatnonzero(cells.system == twice)[1])
        problem = f"expected one score of each system, got a second one of {quoted(ids[twice])}"
        table.source.fail(problem, cells.lines[again])
    if (counts != counts[0]).any():
        other = int(np.flatnonzero(counts != counts[0])[0])
        got = f"{quoted(ids[other])} has {counts[other]:,} scores, and {quoted(ids[0])} has {counts[0]:,}"
        table.source.fail(
            f"expected the same number of scores for each system, but {got}; a missing one is None or null"
        )
    return cells._replace(in_order=True)


def _segments(table: Table, column: Column, name: str, base: int | None) -> tuple[int, Integers]:
    """The number of the first segment, and the segments from 0."""

    def fail(row: int, problem: str) -> NoReturn:
        table.source.fail(problem, column.first_lines[row])

    if table.format_name in BY_ROWS:
        base = BY_ROWS[table.format_name]
    elif base is None and name.lower() not in ROLES["segment"]:
        table.source.fail(f"say with segment_base (--segment-base) whether {quoted(name)} counts from 0 or from 1")
    base, what = BASE if base is None else base, "the number of a segment"
    return base, integers(fail, name, table.names_in(column, what), what) - base


def names_of_file(table: Table, options: ReadScores) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: the name of the file without the endings of mt-metrics-eval."""
    name = Path(uncompressed(table.source.file)).name
    if table.format_name == "text":
        return [name], True
    endings = (OF_SEGMENTS, OF_SYSTEMS, ".score")
    return [next((name[: -len(ending)] for ending in endings if name.endswith(ending)), name)], True


def _recognizes(file: str, line: str) -> bool:
    names = {name.strip().lower() for name in (line.split("\t") if "\t" in line else line.replace(",", " ").split())}
    return bool(names & {name for known in ROLES.values() for name in known})


def _is_named(file: str, line: str) -> bool:
    return uncompressed(file).endswith(".score") or (len(line.split()) == 2 and not line.startswith("{"))


FORMAT = ScoreFormat("a table with the names of the columns in its first line", _recognizes, names, read, any_table)
JSONL = ScoreFormat(
    "an object with a system, a segment and scores on each line",
    lambda file, line: line.lstrip().startswith("{"),
    names,
    read,
    any_table,
)
NAMED = ScoreFormat(
    "a system and a score, separated by a tab, on each line",
    _is_named,
    names_of_file,
    read,
    partial(table_in, format_name="mt-metrics-eval"),
)
