"""Scores as ``--scores`` reads them: a number for each segment of one system or of several."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from ..errors import (
    Argument,
    InputError,
    InputWarning,
    MisreadWarning,
    listed,
    nearest,
    quoted,
    shortened,
    unknown_name,
    warn,
)
from ..types import InputFormat, Missing
from ..validate import check_name
from .files import MAX_INPUT, display_name
from .formats.base import Column, choose
from .formats.comet import KEYS
from .formats.jsonl import has_key
from .formats.table import ROLES
from .id_columns import names_models, names_runs, warn_of_ids, warn_of_lost, warn_of_runs, warn_of_transposed
from .score_columns import (
    SEGMENT,
    SYSTEM,
    TABLES,
    Numbers,
    Table,
    check_header,
    codes,
    column_of_runs,
    columns_of_scores,
    has_flags,
    has_labels,
    has_texts,
    opened,
)
from .score_tables import ScoreTable, cells_of, means_by, on_segments

# The system of a file that names none.
UNNAMED = ""
# How similar names have to be, so that one may be a mistyped other: comet and comet22 are not.
ALMOST_THE_SAME = 0.85


def read_numbers(
    path: str | os.PathLike[str],
    input_format: InputFormat | str | None = None,
    *,
    max_input: int = MAX_INPUT,
    missing: Missing | str = "error",
) -> list[float]:
    """Read the numbers of one system: lines of text, a column of a TSV file, or a key of JSON lines.

    Parameters
    ----------
    path : str
        ``FILE`` or ``FILE#NAME``, as for :func:`read_columns`.
    input_format : str, optional
        ``text``, ``tsv``, ``csv``, ``jsonl``, ``comet``, ``meeteval``, ``comet-printed`` or ``mt-metrics-eval``. By
        default the file's extension determines the format, and the last two are recognized by their first line.
    max_input : int, optional
        As for :func:`read_columns`.
    missing : {'error', 'pairwise'}
        As for :class:`reshuffle.SegmentScores`. With ``pairwise``, missing numbers are NaN. They are empty lines or
        fields, and ``NaN``, ``NA``, ``N/A``, ``None`` and ``null`` in upper or lower case; in JSON, null and NaN.

    Returns
    -------
    list of S float

    Raises
    ------
    InputError
        As :func:`read_columns`; for a value that is not a finite number; if the file has several systems.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("comet.jsonl").write_text('{"id": 1, "score": 0.875}\\n{"id": 2, "score": -1}\\n')
    >>> read_numbers("comet.jsonl#score")
    [0.875, -1.0]
    >>> Path("comet.jsonl").unlink()
    """
    table, name = opened(path, input_format, max_input)
    found = scores_in(table, name, missing=missing, several=False)
    if found.systems != (UNNAMED,):
        raise not_one_system(os.fspath(path), found.systems)
    numbers: list[float] = cells_of(found)[0].tolist()
    return numbers


def not_one_system(file: str, systems: Collection[Any]) -> InputError:
    """The error for a file with the scores of several systems in place of one."""
    return InputError(
        f"{display_name(file)} has the scores of {len(systems)} systems ({listed(map(str, systems))}), expected one "
        "system; --scores NAME accepts such a file only on its own"
    )


def scores_in(
    table: Table,
    name: str | None,
    *,
    missing: str = "error",
    metric: str | None = None,
    several: bool = True,
    systems: Collection[str] = (),
    others: Collection[str] = (),
) -> ScoreTable:
    """The scores in a file that has been opened, of one system or several, and the ids of segments if it has them.

    Files with columns or keys of systems and segments have several systems: ``reshuffle score --segments`` writes
    them, and MetricX copies ``segment_id`` and ``system_id`` from its input. So do tables with a column for each
    system, and files of ``comet-score`` (``--to_json``, or what it prints) and mt-metrics-eval. Segments with numbers
    are in the order of the numbers.

    Parameters
    ----------
    name : str, optional
        The column or key of the scores.
    metric : str, optional
        What the metric is called: without ``name``, a column of this name has the scores.
    several : bool
        Whether columns may be systems.
    systems, others : collection of str
        Names of columns that are systems, and of columns that are not.
    """
    check_name("missing", missing, get_args(Missing))
    source, known, may_be_missing = table.source, table.header, missing == "pairwise"
    roles, ids = table.roles(), table.id_column(())
    if "system" in roles and ids:
        roles.setdefault("segment", ids)
    is_table = table.format_name in TABLES and name is None
    if is_table and not {*known} <= {*systems}:
        check_header(table)
    if "system" in roles and "segment" in roles and name not in (roles["system"], roles["segment"]):
        return _long(table, roles, name, metric, may_be_missing)
    if is_table and "system" in roles and len(known) > 1:
        source.fail(
            f"expected a column of segments beside the systems in {quoted(roles['system'])}, such as 'segment', got "
            f"{listed(known)}; if it has no systems, choose the scores as in '{source.name}#{known[-1]}'"
        )
    single = None if any(key in systems for key in known) else _score_key(known, roles, metric)
    numbers = [] if single in (None, metric) else columns_of_scores(table.beginning, known)
    if numbers and single not in numbers:  # such as the text of a prediction, beside whether it is correct
        single = None
    if is_table and several and single is None and len(known) > 1:
        left_out = {*(key for role, key in roles.items() if role != "score"), *others}
        found = _wide(table, left_out, others, roles.get("segment"), may_be_missing)
        if not systems:
            by_name = dict(zip(found.systems, cells_of(found), strict=True))
            warn_of_ids(source.name, by_name, lambda names: " ".join(f"'{source.name}#{name}'" for name in names[:2]))
        return found
    key = name
    if name is None and len(known) > 1:
        if metric is not None and table.format_name == "jsonl" and single is None and has_key(table.source, metric):
            table.columns([metric])  # the error of the first line, which lacks it
        left = table.perhaps_scores()
        key = left[0] if single is None and len(left) == 1 else single
        if key is None:
            kind = "key" if table.format_name == "jsonl" else "column"
            choose(source, kind, None, known, columns_of_scores(table, left))
    if name is None:
        _check_meant(table, known[0] if key is None and known else key, metric, table.perhaps_scores())
    (column,) = table.columns([key])
    own_ids = table.ids([key])
    if own_ids is None:
        warn_of_runs(source.name, [each for each in known if each not in (key, *others)], table.values)
    return _means(table, {UNNAMED: table.numbers(column, may_be_missing)}, own_ids, others)


def _table(by_system: Mapping[str, Numbers], ids: Sequence[str] | None) -> ScoreTable:
    return ScoreTable(
        "", tuple(by_system), np.array([*by_system.values()]), segment_ids=None if ids is None else (*ids,)
    )


def _means(
    table: Table, by_system: Mapping[str, Numbers], ids: Sequence[str] | None, others: Collection[str]
) -> ScoreTable:
    """The scores of each row, or if a column numbers runs of the segments, the means of these.

    Not if ids of segments are those of documents, among ``others``, which keep the rows of an id together.
    """
    if ids is None or table.id_column(()) in others or not len({*ids}) < len(ids) == len(column_of_runs(table)[1]):
        return _table(by_system, ids)
    names, (segment,) = codes([ids])
    warn_of_lost(table.source.name, np.bincount(segment)[None], "runs")
    means = {system: means_by(segment, numbers, len(names))[0] for system, numbers in by_system.items()}
    return replace(_in_order_of_numbers(_table(means, names)), n_ratings=len(ids) * len(by_system))


def _score_key(known: Sequence[str], roles: Mapping[str, str], metric: str | None) -> str | None:
    """The column of the scores: called like the metric, or else the only one with a name that is usual for scores."""
    if metric is not None and metric in known:
        return metric
    usual = [key for key in KEYS if key in known]
    if not usual and "score" in roles:
        return roles["score"]
    return usual[0] if len(usual) == 1 else None


def _check_meant(table: Table, key: str | None, metric: str | None, names: Collection[str]) -> None:
    """Warn if the scores in ``key`` are not called like the metric, and something else may be meant: names are free.

    :class:`InputError` if another of ``names``, the columns or keys that may have scores, is called nearly like it.
    """
    if key is None or metric is None:
        return
    short, long = sorted(("".join(filter(str.isalnum, each.casefold())) for each in (key, metric)), key=len)
    if short == long.rstrip("0123456789") or short == long:  # chrf and chrF2, but not rouge1 and rouge2
        return
    source, others = table.source, columns_of_scores(table.beginning, [name for name in names if name != key])
    near = nearest(metric, [key, *others], n=2, cutoff=ALMOST_THE_SAME)
    if near and near[0] != key:
        raise InputError(
            f"{source.name}: {unknown_name('column of scores', metric, [key, *others])}; to use this name for another "
            f"column, write {source.name}#{key}"
        )
    category: type[InputWarning] = MisreadWarning
    if near:
        doubt = f": is the name mistyped? If not, write FILE#{key}"
    elif others:
        category, doubt = InputWarning, f"; to choose another ({listed(others)}), write FILE#{others[0]}"
    elif key in KEYS or key.lower() in ROLES["score"] or has_labels(table, *table.columns([key])):
        return
    else:
        doubt = f": if that is meant, write FILE#{key}"
    taken = f"no scores are called {quoted(metric)}, so {quoted(key)} is read{doubt}"
    warn("{file}: {taken}", category, file=source.name, taken=taken)


def _long(
    table: Table, roles: Mapping[str, str], name: str | None, metric: str | None, may_be_missing: bool
) -> ScoreTable:
    """The scores in a table with systems and segments: the rows of one metric."""
    wanted: dict[str, str | None] = {
        role: None for role in ("metric", "language_pair", "test_set") if role in roles and roles[role] != name
    }
    if "metric" in wanted and name not in table.header:
        wanted["metric"], name = name or metric, None
    if name is None:
        taken = {roles[role] for role in ("system", "segment", *wanted)}
        left = [key for key in table.header if key not in taken and (key == metric or not names_runs(key))]
        # Words for right and wrong are scores if their column is chosen.
        left = [metric] if metric in left else columns_of_scores(table.beginning, left) or left
        key = _score_key(left, roles, metric)
        name = choose(table.source, "column", None, left) if key is None else key
        _check_meant(table, name, metric, left)
    scores, segments, systems = table.chosen([name, roles["segment"], roles["system"]], roles, wanted, False)
    return _by_system(table, table.numbers(scores, may_be_missing), segments, systems)


def _wide(
    table: Table, left_out: Collection[str], others: Collection[str], segment: str | None, may_be_missing: bool
) -> ScoreTable:
    """The columns that have numbers and are not known as something else, in the order of the segments.

    Among ``left_out`` are ``others``, as for :func:`scores_in`.
    """
    known = table.header
    name, runs = table.source.name, [column_of_runs(table)[0]]
    if table.ids() is None:
        runs = warn_of_runs(name, known, table.values)
    keys = [key for key in table.perhaps_scores() if key not in left_out and key not in runs]
    *columns, segments = table.columns([*keys, known[0] if segment is None else segment])
    ids = table.ids(keys)
    if segment is not None:
        ids = named = table.with_parts(table.names_in(segments, SEGMENT))
        if runs == [""]:
            check_once(ids, segments, lambda row: shortened(named[row]))
    found = [(key, column) for key, column in zip(keys, columns, strict=True) if not has_texts(table, column)]
    if not found:
        table.source.fail(f"expected a column of scores, got {listed(known)}")
    # Beside numbers, true and false are flags of the segments.
    found = [(key, column) for key, column in found if not has_flags(table, column)] or found
    warn_of_transposed(name, len(found), len(segments.lines), "column", "if each row is a system, transpose the table")
    scores = _means(table, {key: table.numbers(column, may_be_missing) for key, column in found}, ids, others)
    return scores if segment is None else _in_order_of_numbers(scores)


def _in_order_of_numbers(scores: ScoreTable) -> ScoreTable:
    """With the segments in the order of their ids, if these are numbers."""
    ids = scores.segment_ids or ()
    if not all(map(str.isdecimal, ids)):
        return scores
    return on_segments(scores, sorted(range(len(ids)), key=lambda at: int(ids[at])))


def check_once(keys: Sequence[Any], segments: Column, shown: Callable[[int], str], advice: str = "") -> None:
    """:class:`InputError` for the first row that has the key of another row. ``shown`` is its name."""
    if len(set(keys)) < len(keys):
        first = {key: row for row, key in reversed([*enumerate(keys)])}
        row = next(row for row, key in enumerate(keys) if first[key] != row)
        segments.fail(row + 1, f"segment {shown(row)} occurs twice{advice}")


def _by_system(table: Table, numbers: Numbers, segments: Column, systems: Column) -> ScoreTable:
    """Scores of each system, with segments in the order of the first system; the means of its runs."""
    named = table.names_in(systems, SYSTEM)
    names, (system,) = codes([named])
    ids, (segment,) = codes([table.with_parts(table.names_in(segments, SEGMENT), named)])
    cell = system * len(ids) + segment
    means, counts = means_by(cell, numbers, len(names) * len(ids))
    are_runs = counts.max() > 1 and len(column_of_runs(table, systems.lines)[1]) == len(cell)
    if not are_runs:
        check_once(
            cell.tolist(),
            segments,
            lambda row: f"{shortened(ids[segment[row]])} of system {quoted(names[system[row]])}",
            ": if there are several raters, write a file for each, for 'reshuffle human'; if there are several runs, "
            "number them in a column 'run'",
        )
    if not counts.all():
        i, j = divmod(int(np.flatnonzero(counts == 0)[0]), len(ids))
        (place, _, key), having = systems.name.rpartition("#"), names[system[segment == j].min()]
        problem = f"system {quoted(names[i])} lacks segment {shortened(ids[j])}, which {quoted(having)} has"
        hint = ": to leave out such segments, name each system as {file}#{key}=NAME, and add {unmatched}"
        hint = hint if names_models(key) else ""
        unmatched = Argument("unmatched", ("drop",))
        raise InputError("{file}: {problem}" + hint, file=place, problem=problem, key=key, unmatched=unmatched)
    warn_of_lost(table.source.name, counts.reshape(len(names), -1), "runs")
    found = _table(dict(zip(names, means.reshape(len(names), -1), strict=True)), ids)
    order = segment[system == 0]
    found = _in_order_of_numbers(on_segments(found, np.unique(order) if are_runs else order))
    return replace(found, n_ratings=len(cell)) if are_runs else found
