"""Tables of scores whose header names the columns: DA, MQM, WMT's system scores, and segment scores of this package."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from ...errors import listed, quoted, warn
from ..formats.base import Source, is_score, number_in, shown_json
from ..formats.table import Rows, read_rows
from ..scores import MISSING_WORDS, ROLES, TEXTS, roles_of
from .base import Cells, Integers, ScoreFormat, ScoreOptions, cells_of, codes, integers, numbers, only
from .lm_eval_samples import objects

# All known headers of segments count from 1. WMT17's SID: the sources of all 560 segments of de-en are on these lines.
BASE = 1
# The system of a table that has no column of systems.
UNNAMED = "system"


def _rows(source: Source) -> Rows:
    """The table, from JSON lines if it begins with an object."""
    return _from_json(source) if source.data.lstrip(b"\xef\xbb\xbf \t").startswith(b"{") else read_rows(source)


def names(rows: Rows, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    roles = _roles(rows, options)
    if "metric" in roles:
        return list(dict.fromkeys(_chosen(rows, roles, options)[roles["metric"]])), False
    if "score" in options.columns:
        return [roles["score"]], True
    taken = set(roles.values()) - {roles.get("score")}
    others = [name for name in rows.header if name not in taken and name.lower() not in TEXTS]
    wanted = roles.get("score"), options.metric
    found = [name for name in others if name in wanted or _is_numeric(rows, name, options)]
    if not found:
        hint = "name it with columns={'score': …} (--columns score=…)"
        rows.fail(0, f"expected a column of scores, got {listed(rows.header)}: {hint}")
    if "score" in roles:
        found = [roles["score"], *(name for name in found if name != roles["score"])]
    return found, "score" in roles


def _is_numeric(rows: Rows, name: str, options: ScoreOptions) -> bool:
    """Whether a column has only numbers and missing scores. Warns of one that has mostly numbers, if all are read."""
    with contextlib.suppress(ValueError):  # nearly always, and much faster
        list(map(float, rows[name]))
        return True
    filled = [(at, field) for at, field in enumerate(rows[name]) if field.strip().lower() not in MISSING_WORDS]
    wrong = [(at, field) for at, field in filled if math.isnan(number_in(field))]
    if wrong and options.metric is None and 2 * len(wrong) < len(filled):
        at, field = wrong[0]
        warn(
            f"{rows.source.name}, line {rows.lines[at]}: {quoted(field)} is not a number, so the column {quoted(name)} "
            "is left out: missing scores are empty fields, NA, NaN, None or null"
        )
    return not wrong


def _roles(rows: Rows, options: ScoreOptions) -> dict[str, str]:
    """The header of the column for each role."""
    roles = roles_of(rows.header, columns=options.columns, file=rows.source.name)
    if not roles:
        known = listed(sorted({name for each in ROLES.values() for name in each}))
        rows.source.fail(
            f"expected a header with columns such as {known}, got {listed(rows.header)}: name the columns with "
            "columns={'system': …, 'score': …} (--columns system=…,score=…)",
            1,
        )
    return roles


def _chosen(rows: Rows, roles: dict[str, str], options: ScoreOptions) -> Rows:
    """The rows of the language pair and the test set."""
    for role, wanted, kind in (
        ("language_pair", options.language_pair, "language pair"),
        ("test_set", options.test_set, "test set"),
    ):
        if role in roles:
            known, (code,) = codes([rows[roles[role]]])
            rows = rows.where(code == known.index(only(rows.source, kind, role, wanted, known)))
        elif wanted is not None:
            rows.source.fail(f"there is no column of {kind}s to choose {quoted(wanted)} from")
    return rows


def read(rows: Rows, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`."""
    roles = _roles(rows, options)
    rows = _chosen(rows, roles, options)
    score = metric
    if "metric" in roles:
        known, (code,) = codes([rows[roles["metric"]]])
        rows = rows.where(code == known.index(only(rows.source, "metric", "metric", metric, known)))
        if "score" not in roles:
            rows.source.fail("expected a column SCORE: name it with columns={'score': …} (--columns score=…)", 1)
        score = roles["score"]
    values = numbers(rows, score, rows[score])
    base, segment = _segments(rows, roles.get("segment"), options.base)
    if "system" not in roles:
        rows_are_segments = np.arange(len(values)) if segment is None else segment
        return Cells(metric, [UNNAMED], None, rows_are_segments, values, rows.lines, base, segment is None)
    systems = rows[roles["system"]]
    if "" in systems:
        rows.fail(systems.index(""), "expected the name of a system, got an empty field")
    return cells_of(metric, systems, segment, values, rows.lines, base=base)


def _segments(rows: Rows, name: str | None, base: int | None) -> tuple[int, Integers | None]:
    """The number of the first segment, and the segments from 0."""
    if name is None:
        return 1, None
    if base is None and name.lower() not in ROLES["segment"]:
        rows.source.fail(f"say with segment_base (--segment-base) whether {quoted(name)} counts from 0 or from 1")
    base = BASE if base is None else base
    return base, integers(rows, name, rows[name], "the number of a segment") - base


def _from_json(source: Source) -> Rows:
    """Objects with the same keys, one on each line, as rows."""
    entries = objects(source)
    header = tuple(next((entry for _, entry in entries), {}))
    for number, entry in entries:
        if set(entry) != set(header):
            source.fail(f"expected an object with the keys {listed(header)}, got {listed(entry)}", number)
    if not header:
        source.fail("expected an object with a key for each column, got an empty one", 1)
    columns = [[_field(source, number, name, entry[name]) for number, entry in entries] for name in header]
    return Rows(header, columns, [number for number, _ in entries], source)


def _field(source: Source, number: int, name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or is_score(value):
        return str(int(value) if isinstance(value, bool) else value)
    return source.fail(f"expected a string or a number as {quoted(name)}, got {shown_json(value)}", number)


def _recognizes(file: str, line: str) -> bool:
    names = {name.strip().lower() for name in (line.split("\t") if "\t" in line else line.replace(",", " ").split())}
    return bool(names & {name for known in ROLES.values() for name in known})


FORMAT = ScoreFormat("a table with the names of the columns in its first line", _recognizes, names, read, _rows)
JSONL = ScoreFormat(
    "an object with a system, a segment and scores on each line",
    lambda file, line: line.lstrip().startswith("{"),
    names,
    read,
    _rows,
)
