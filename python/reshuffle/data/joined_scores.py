"""Joining the scores of several files by the ids of their segments; and files that have those of several runs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar, get_args

import numpy as np

from ..documented import record
from ..errors import InputError, listed, quoted, shortened, warn
from ..results.lookup import first_names
from ..types import Unmatched
from ..validate import check_name
from .alignment import in_one_spelling
from .corpus import system_names
from .file_names import few
from .files import MAX_INPUT, STDIN, display_name
from .formats import LOGS
from .formats._samples import Samples
from .formats.base import Column, Others, Source, recognized
from .id_columns import ANSWERS, MODELS, PERHAPS_IDS, SEGMENT_IDS, are_numbers_of_rows, names_models, names_runs
from .reading import split_name
from .score_columns import TABLES, Table, column_of_runs, opened
from .score_tables import ScoreFile, ScoreTable, cells_of, of_system, on_segments, read_scores
from .scored_tables import UNNAMED
from .scores import check_once
from .unnamed_ids import with_unnamed_ids

K = TypeVar("K", bound=Hashable)

# What an option does with segments that some files lack.
LEAVES_OUT = "leaves out segments that are not in all"
# The number of a segment as an id; lm-evaluation-harness's ids also have a hash.
NUMBER = re.compile(r"(\d{1,18})(?: [0-9a-f]{12})?", re.ASCII)


@record(eq=False)
class JoinedScores:
    """Scores of several systems on the segments that all of them have, and what did not match."""

    table: ScoreTable
    """The systems' scores. Its segments are in the order of the first file."""
    unmatched: Mapping[str, tuple[str, ...]]
    """For each system that lacks some, the ids of the segments that other systems have and it lacks."""

    def __repr__(self) -> str:
        return f"<JoinedScores: {self.table.name}; {first_names(self.table.systems)}; {self.report}>"

    @property
    def report(self) -> str:
        """How many segments matched, and how many each system lacks, with examples."""
        ids = self.table.segment_ids
        n = self.table.n_segments if ids is None else len(ids)
        return _report(n or 0, self.unmatched)


def join_scores(
    scores: Mapping[str, ScoreTable | str | os.PathLike[str]]
    | Iterable[ScoreTable | str | os.PathLike[str]]
    | ScoreTable
    | str
    | os.PathLike[str],
    *,
    unmatched: Unmatched | str = "error",
    by_position: bool = False,
    **options: Any,
) -> JoinedScores:
    """Join the scores of systems from several files by the ids of the segments, such as logs of inspect_ai.

    Parameters
    ----------
    scores : mapping of str to ScoreTable or path, or iterable of these, or a path
        A mapping names the systems, and each of its files has one system. Otherwise the files name them, or are named
        like them.
    unmatched : {'error', 'drop'}
        What to do if a system lacks a segment that another one has: an error with the number of these segments and
        three of their ids, or a warning with the same text, and only segments that all systems have.
    by_position : bool
        For files without ids: the first segments of all files belong together, and so on. All must have as many.
    **options
        For :func:`read_scores`, such as ``metric``.

    Returns
    -------
    JoinedScores

    Raises
    ------
    InputError
        As :func:`read_scores`; if ids do not match; if two files have the same system; if a file has no ids and
        ``by_position`` is False, or if the numbers of segments differ and it is True.

    Examples
    --------
    >>> a = ScoreTable("F1", ("a",), segments=[[0.5, 1.0, 0.0]], segment_ids=("s1", "s2", "s3"))
    >>> b = ScoreTable("F1", ("b",), segments=[[1.0, 0.25]], segment_ids=("s3", "s1"))
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     joined = join_scores([a, b], unmatched="drop")
    >>> joined.table.segment_ids, joined.table.segments
    (('s1', 's3'), array([[0.5 , 0.  ],
           [0.25, 1.  ]]))
    >>> joined.report
    "2 segments are in all files; b lacks 1: 's2'"
    """
    check_name("treatment of unmatched segments", unmatched, get_args(Unmatched))
    rows: dict[str, ScoreTable] = {}
    columns: list[Column] = []
    named = isinstance(scores, Mapping)
    if isinstance(scores, str | os.PathLike | ScoreTable):
        scores = [scores]
    given = list(scores.items()) if isinstance(scores, Mapping) else [(None, each) for each in scores]
    paths = [os.fspath(each) for _, each in given if not isinstance(each, ScoreTable)]
    max_input = options.get("max_input", MAX_INPUT)
    of_file = dict(zip(paths, system_names(paths, max_input=max_input), strict=True))
    if not given:
        raise InputError("scores: expected at least one file, got none")
    for name, each in given:
        table = each if isinstance(each, ScoreTable) else read_scores(each, **options)
        if named and len(table.systems) != 1:
            got = f"{len(table.systems)} systems ({listed(table.systems)})"
            raise InputError(f"{table.source}: expected the scores of one system, {quoted(name)}, got {got}")
        if table.segments is None:
            raise InputError(f"{table.source}: expected scores of segments, got scores of systems")
        for own in table.systems:
            system = own if name is None else name
            if name is None and own == UNNAMED and not isinstance(each, ScoreTable):
                system = of_file[os.fspath(each)]
            if system in rows:
                raise InputError(
                    f"{table.source}: system {quoted(system)} is also in {rows[system].source}: name the systems, as "
                    "in join_scores({'a': FILE, 'b': FILE})"
                )
            rows[system] = of_system(table, own)
            others = None if isinstance(each, ScoreTable) else _others(os.fspath(each), table, max_input)
            n = range(table.n_segments or 0)
            columns.append(Column(table.source, n, n, keys=table.segment_ids, others=others))
    if not by_position:
        for (system, table), column in zip([*rows.items()], with_unnamed_ids(columns), strict=True):
            rows[system] = replace(table, segment_ids=None if column.keys is None else (*column.keys,))
    return _joined(rows, unmatched, by_position)


def _others(path: str, table: ScoreTable, max_input: int) -> Others | None:
    """The other columns of a table whose ids are only the numbers of rows."""
    if table.segment_ids is None or not are_numbers_of_rows(table.segment_ids) or split_name(path)[0] == STDIN:
        return None
    found, name = opened(path, max_input=max_input)
    # Those of logs are no columns, and segments that were sorted by their numbers are in another order.
    is_other = open_log(found.source) is not None or found.ids() != [*table.segment_ids]
    return None if is_other else found.others([name or table.name])


def _joined(rows: Mapping[str, ScoreTable], unmatched: str, by_position: bool) -> JoinedScores:
    lacking: dict[str, tuple[str, ...]] = {}
    if by_position:
        _check_sizes(rows)
    else:
        rows, lacking = join(rows, unmatched, f"; unmatched='drop' {LEAVES_OUT}")
        names = {table.name for table in rows.values()}
        if len(names) > 1:
            raise InputError(f"expected scores of one metric, got {listed(sorted(names))}: choose one with metric=")
    first = next(iter(rows.values()))
    ids = None if by_position else first.segment_ids
    source = ", ".join(dict.fromkeys(table.source for table in rows.values()))
    matrix = np.concatenate([*map(cells_of, rows.values())])
    table = ScoreTable(first.name, tuple(rows), matrix, None, first.higher_is_better, -1, source, ids)
    return JoinedScores(table, lacking)


def join(
    rows: Mapping[K, ScoreTable], unmatched: str, hint: str
) -> tuple[dict[K, ScoreTable], dict[K, tuple[str, ...]]]:
    """Each row, a table of one system, on the common segments; the ids that each lacks. ``hint`` ends an error."""
    where: dict[K, dict[str, int]] = {}
    spelled = in_one_spelling([table.segment_ids or () for table in rows.values()])
    for (key, table), ids in zip(rows.items(), spelled, strict=True):
        if table.segment_ids is None:
            raise InputError(
                f"{table.source}: expected ids of segments, as in logs of inspect_ai or lm-evaluation-harness, got "
                "scores without ids; by_position=True joins files by the positions of segments"
            )
        where[key] = {name: i for i, name in enumerate(ids)}
        if len(where[key]) < len(table.segment_ids):
            twice = next(name for name, n in Counter(table.segment_ids).items() if n > 1)
            raise InputError(
                f"{table.source}: the id {quoted(twice)} occurs twice, so segments cannot be matched by ids"
            )
    known = list(dict.fromkeys(name for each in where.values() for name in each))
    lacking = {key: tuple(name for name in known if name not in each) for key, each in where.items()}
    lacking = {key: names for key, names in lacking.items() if names}
    common = tuple(name for name in known if all(name in each for each in where.values()))
    if lacking:
        report = _report(len(common), lacking)
        if unmatched == "error" or not common:
            raise InputError(f"the ids of segments do not match: {report}{hint if common else ''}")
        warn(f"the ids of segments do not match: {report}")
    joined = {key: on_segments(table, [where[key][name] for name in common]) for key, table in rows.items()}
    return joined, lacking


def _check_sizes(rows: Mapping[str, ScoreTable]) -> None:
    first_name, first = next(iter(rows.items()))
    for name, table in rows.items():
        if table.n_segments != first.n_segments:
            raise InputError(
                f"by_position: {table.source} has {table.n_segments:,} segments of {quoted(name)}, and {first.source} "
                f"has {first.n_segments:,} of {quoted(first_name)}: expected as many"
            )


def _report(n: int, lacking: Mapping[Any, Sequence[str]]) -> str:
    parts = [f"{n:,} segment{'s are' if n != 1 else ' is'} in all files"]
    for key, names in lacking.items():
        parts.append(f"{key if isinstance(key, str) else ' of '.join(key)} lacks {len(names):,}: {few(names)}")
    return "; ".join(parts)


def open_log(source: Source) -> ScoreFile | None:
    """The log in a file that has been read; None if the file is no log whose segments have ids."""
    name = recognized(source, LOGS)
    return None if name is None else ScoreFile.of(source, name)


def paths_of_runs(path: str, max_input: int) -> list[str]:
    """``FILE#epoch=1``, ``FILE#epoch=2`` … of a log or table that has several scores of each segment; else the path.

    The rows of a table are of several runs if a column says so by its name, and no run has two of a segment. Columns
    like ``generation`` only count if each of their values has the same segments.
    """
    table, _ = opened(path, None, max_input)
    log = recognized(table.source, LOGS)
    column, found = "epoch", list[str]()
    if log is not None and not table.rows:  # no epoch is chosen
        found = [str(each.epoch) for each in ScoreFile.of(table.source, log).samples]
    elif log is None and table.format_name in TABLES:
        column, found = column_of_runs(table)
    runs = [*dict.fromkeys(found)]
    if len(runs) < 2:
        return [path]
    file, name = split_name(path)
    before = "" if name is None else f"{name},"
    return [f"{file}#{before}{column}={run}" for run in runs]


def paths_of_models(path: str, max_input: int) -> list[str]:
    """``FILE#model=a``, ``FILE#model=b`` … of a table with several scores of each model on each segment; or none.

    As a shell reads them.
    """
    table, name = opened(path, None, max_input)
    if name is not None or recognized(table.source, LOGS) is not None:
        return []
    system = table.roles().get("system")
    if system is None or not names_models(system):
        return []
    models = table.values(system)
    found = column_of_runs(table, models)[1]
    return [f"{quote(path)}#{system}={quote(model)}" for model in dict.fromkeys(map(str, models))] if found else []


# Columns that say of a sample whether it passes.
PASSED = ("passed", "correct", "pass", "resolved")


def problems_in(metric: str, table: Table, log: ScoreFile | None, name: str | None) -> ScoreFile | None:
    """The problems of ``pass@k`` in a file that has no such scores, with their numbers of samples and of correct ones.

    They are the epochs of a log, in a score that is 0 or 1, or a table with ids and the columns n and c, or with a row
    for each sample and a column ``passed``. None for other files.
    """
    from .formats.code_results import in_rows

    if not re.fullmatch(r"pass@\d+", metric) or metric in (table.header if log is None else log.names):
        return None
    source = table.source
    if log is not None:
        content = log.content
        if not isinstance(content, Samples) or len({each.segment for each in content.found}) == len(content.found):
            return None
        score = log.chosen(name)
        rows = ((each.line, each.system, each.segment, 1.0, content.value(each, score)) for each in content.found)
        return ScoreFile(source, log.format_name, in_rows(source, rows))
    lower = {each.lower(): each for each in table.header}
    known = [lower[each] for each in PASSED if each in lower] if name is None else [name]
    passed = next((each for each in known if each in table.header), None)
    if name is None and "n" in lower and "c" in lower:
        numbers = [lower["n"], lower["c"]]
    elif passed is not None:
        numbers = [passed]
    else:
        return None
    keys = [lower[each] for each in (*SEGMENT_IDS, *PERHAPS_IDS) if each in lower and each not in ("sample", "n")]
    models = [lower[each] for each in MODELS if each in lower]
    if not keys:
        return None
    ids, *of_systems = ([*map(str, table.values(each))] for each in (keys[0], *models[:1]))
    systems = of_systems[0] if of_systems else [Path(source.file).stem] * len(ids)
    ids = table.with_parts(ids, systems)
    if len(numbers) == 1 and len({*zip(systems, ids, strict=True)}) == len(ids):  # a score of each problem
        return None
    columns = table.columns(numbers)
    runs = [[*map(str, table.values(each))] for each in table.header if names_runs(each) in ANSWERS]
    runs = [each for each in runs if len({*each}) > 1 and len(each) == len(ids) and all(map(str.isdecimal, each))]
    if runs or len(numbers) > 1:
        anew = ": if several benchmarks number their problems anew, name them in a column 'benchmark'"
        check_once([*zip(systems, ids, *runs, strict=True)], columns[0], lambda row: shortened(ids[row]), anew)
    *ones, c = (table.numbers(column, True).tolist() for column in columns)
    n = ones[0] if ones else [1.0] * len(ids)
    found = zip(columns[0].first_lines, systems, ids, n, c, strict=True)
    return ScoreFile(source, table.format_name, in_rows(source, found))


def segment_order(ids: Sequence[str], log: str, what: str, n_segments: int | None = None) -> list[int]:
    """The order in which samples are segments 1, 2 …, if their ids are the numbers of the segments, from 0 or 1.

    :class:`InputError` if they are not, with the number of such ids and three of them.

    >>> segment_order(["2", "1", "3"], "a.eval", "texts"), segment_order(["1 0123456789ab", "0 00123456789a"], "s", "x")
    ([1, 0, 2], [1, 0])
    >>> segment_order(["1", "intro"], "a.eval", "texts")
    Traceback (most recent call last):
    reshuffle.errors.InputError: a.eval is a log, whose samples belong to the segments of texts only if ...
    """
    numbers = [int(found[1]) if (found := NUMBER.fullmatch(name)) else -1 for name in ids]
    n = len(ids) if n_segments is None else n_segments
    base = 0 if 0 in numbers else 1
    where = {number: at for at, number in enumerate(numbers)}
    others = [name for name, number in zip(ids, numbers, strict=True) if not base <= number < base + n]
    lacking = [str(number) for number in range(base, base + n) if number not in where]
    got = f"{len(others):,} of {len(ids):,} ids are not: {few(others)}"
    if not others:
        got = f"{len(lacking):,} of {n:,} segments have none: {few(lacking)}"
        if not lacking and len(where) < len(ids):
            twice = [name for at, name in enumerate(ids) if where[numbers[at]] != at]
            got = f"{len(twice):,} ids have the number of another: {few(twice)}"
        elif not lacking:
            return [where[number] for number in range(base, base + n)]
    raise InputError(
        f"{display_name(log)} is a log, whose samples belong to the segments of {what} only if their ids are the "
        f"numbers of the segments, from 0 or 1, but {got}"
    )
