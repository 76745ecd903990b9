"""Reading columns of numbers, such as segment scores from another program."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from ..errors import Argument, InputError, listed, nearest, quoted, shortened, unknown_name, warn
from ..types import InputFormat, Missing
from ..validate import LARGEST_SCORE, check_name, expected_score
from .alignment import aligned
from .files import MAX_INPUT, STDIN, display_name, uncompressed
from .formats import INPUT_FORMATS, format_of
from .formats.base import Column, FileFormat, Source, choose, is_score, number_in, shown_json
from .formats.comet import KEYS, is_printed
from .formats.named import is_named
from .id_columns import names_ids, warn_of_ids
from .reading import row_ids, split_name

# Headers, in lower case, by the role of the column.
ROLES = {
    "system": ("system", "sys", "system_id", "systemid", "mt_system"),
    "segment": ("segment", "seg_id", "sid", "segment_id", "segid"),
    "score": ("human", "human_score", "mqm_avg_score", "score", "mqm", "da", "rating", "prediction"),
    "language_pair": ("lp", "language_pair", "lang_pair", "langpair"),
    "test_set": ("testset", "test_set", "data", "dataset"),
    "metric": ("metric",),
}
TEXTS = ("source", "translation", "reference", "src", "mt", "ref", "hypothesis")
# The formats in which each column or key may be a system.
TABLES = ("tsv", "csv", "jsonl", "table")
# Formats of text that are recognized by their first line.
PRINTED = {"comet-printed": is_printed, "mt-metrics-eval": is_named}
# A line of trec_eval: a measure, perhaps spaces, a query and a value.
OF_TREC_EVAL = re.compile(rb"[^\s\t]+ *\t[^\s\t]+\t-?[0-9.]+(?:e-?[0-9]+)?\r?(?:\n|$)")
# A score as a name: systems may be called 1 and 2, but not 0.134.
NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
# What separates fields. Files of people's scores with these endings may have white space instead.
SEPARATORS = {"tsv": "\t", "csv": ","}
# The most values of a label, such as right and wrong.
MAX_LABELS = 2
# How similar names have to be, so that one may be a mistyped other: comet and comet22 are not.
ALMOST_THE_SAME = 0.85
# How files of text and tables mark a missing score, in lower case. WMT's have None.
MISSING_WORDS = ("", "nan", "-nan", "na", "n/a", "none", "null")


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
    by_system, _ = scores_in(*opened(path, input_format, max_input), missing=missing, several=False)
    if list(by_system) != [None]:
        raise not_one_system(os.fspath(path), by_system)
    return by_system[None]


def not_one_system(file: str, systems: Collection[Any]) -> InputError:
    """The error for a file with the scores of several systems in place of one."""
    return InputError(
        f"{display_name(file)} has the scores of {len(systems)} systems ({listed(map(str, systems))}), expected one "
        "system; --scores NAME accepts such a file only on its own"
    )


def read_count_tables(
    paths: Sequence[str | os.PathLike[str]],
    used: Callable[[str, Sequence[str]], Sequence[str]],
    input_format: InputFormat | str | None = None,
    *,
    max_input: int = MAX_INPUT,
    beside: Sequence[Column] = (),
) -> list[dict[str, list[float]]]:
    """Read the columns of tables that ``used`` chooses from a path and the names of its columns. All have numbers.

    Where rows have ids, they are sorted into the order of the first file that has them, which may be one of ``beside``.

    >>> from pathlib import Path
    >>> _ = Path("a.tsv").write_text("id\\tedits\\tchars\\nu1\\t3\\t12\\nu2\\t0\\t8\\n")
    >>> read_count_tables(["a.tsv"], lambda path, names: names[1:])
    [{'edits': [3.0, 0.0], 'chars': [12.0, 8.0]}]
    >>> Path("a.tsv").unlink()
    """
    columns, places = [*beside], []
    for path in paths:
        source, _, format_name = opened(path, input_format, max_input)
        file_format = INPUT_FORMATS[format_name]
        if file_format.names is None:
            source.fail(f"expected a table with names of columns ({', '.join(TABLES[:3])}), got {file_format.about}")
        names = used(os.fspath(path), file_format.names(source))
        keys = row_ids(file_format, source, names)
        places.append((range(len(columns), len(columns) + len(names)), names, file_format.numbers is str))
        columns += [replace(column, keys=keys) for column in file_format.read(source, names)]
    columns = aligned(columns)
    return [
        {
            name: _finite(columns[at], number_in if is_text else _to_float, False)
            for at, name in zip(place, names, strict=True)
        }
        for place, names, is_text in places
    ]


def opened(
    path: str | os.PathLike[str], input_format: str | None = None, max_input: int = MAX_INPUT
) -> tuple[Source, str | None, str]:
    """The file of ``FILE`` or ``FILE#NAME``, NAME, and the format."""
    if input_format is not None:
        check_name("input format", input_format, list(INPUT_FORMATS))
    file, name = split_name(os.fspath(path))
    format_name = input_format or format_of(file)
    if INPUT_FORMATS[format_name].numbers is None:
        with_numbers = ", ".join(name for name, each in INPUT_FORMATS.items() if each.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: scores cannot be read from the format {format_name}; these formats have "
            f"numbers: {with_numbers}"
        )
    source = Source.read(file, INPUT_FORMATS[format_name].about, max_input)
    return source, name, format_name if input_format else sniffed(source, format_name)


def sniffed(source: Source, format_name: str) -> str:
    """``format_name``, or another format that the first line shows."""
    line = source.data.partition(b"\n")[0].decode("utf-8", "replace").removesuffix("\r")
    is_text = format_name == "text"
    may_be_table = is_text or SEPARATORS.get(format_name, "") not in line
    if may_be_table and {"system", "segment"} <= set(roles_of(line.replace(",", " ").split())):
        return "table"
    found = (name for name, is_first in PRINTED.items() if is_first(line))
    return next(found, format_name) if is_text else format_name


def scores_in(
    source: Source,
    name: str | None,
    format_name: str,
    *,
    missing: str = "error",
    metric: str | None = None,
    several: bool = True,
    systems: Collection[str] = (),
    others: Collection[str] = (),
) -> tuple[dict[str | None, list[float]], Sequence[str] | None]:
    """The scores in a file that has been read, by system if the file has several systems; else under None.

    Files with columns or keys of systems and segments have several systems: ``reshuffle score --segments`` writes
    them, and MetricX copies ``segment_id`` and ``system_id`` from its input. So do tables with a column for each
    system, and files of ``comet-score`` (``--to_json``, or what it prints) and mt-metrics-eval. Segments with numbers
    are in the order of the numbers. With the scores come the ids of the segments, or None.

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
    file_format = INPUT_FORMATS[format_name]
    known = [] if file_format.names is None else file_format.names(source)
    roles = roles_of(known)
    is_table = format_name in TABLES and name is None
    if is_table and known and all(map(NUMBER.fullmatch, known)) and not {*known} <= {*systems}:
        if any("." in each for each in known):
            source.fail(f"expected a header with the names of the columns, got the numbers {listed(known)}", 1)
        warn(
            f"{source.name}: line 1 ({listed(known)}) is read as the header; if it has scores, add a line with names "
            "above it"
        )

    def numbers_of(column: Column) -> list[float]:
        return _finite(column, number_in if file_format.numbers is str else _to_float, missing == "pairwise")

    if "system" in roles and "segment" in roles and name not in (roles["system"], roles["segment"]):
        column, segments, of_system = _long(source, file_format, roles, known, name, metric)
        return _by_system(numbers_of(column), segments, of_system)
    if is_table and "system" in roles and len(known) > 1:
        source.fail(
            f"expected a column of segments beside the systems in {quoted(roles['system'])}, such as 'segment', got "
            f"{listed(known)}; if it has no systems, choose the scores as in '{source.name}#{known[-1]}'"
        )
    single = None if any(key in systems for key in known) else _score_key(known, roles, metric)
    if is_table and several and single is None and len(known) > 1:
        left_out = {*(key for role, key in roles.items() if role != "score"), *others}
        columns = dict(_wide(source, file_format, known, left_out, roles.get("segment")))
        numbers: dict[str | None, list[float]] = {key: numbers_of(column) for key, column in columns.items()}
        if not systems:
            warn_of_ids(source.name, numbers, lambda names: " ".join(f"'{source.name}#{name}'" for name in names[:2]))
        return numbers, next(iter(columns.values())).keys
    key = name
    if name is None and len(known) > 1:
        left = [each for each in known if not names_ids(each) and each.lower() not in TEXTS]
        key = left[0] if single is None and len(left) == 1 else single
        if key is None:
            kind = "key" if format_name == "jsonl" else "column"
            choose(source, kind, None, known, columns_of_scores(source, file_format, left))
    if name is None:
        _warn_of_near_name(source, known[0] if key is None and known else key, metric)
    (column,) = file_format.read(source, [key])
    return {None: numbers_of(column)}, row_ids(file_format, source, [key])


def columns_of_scores(source: Source, file_format: FileFormat, names: Sequence[str]) -> list[str]:
    """Those of the columns or keys that have numbers, or true and false; none if they cannot be read.

    Those with two values, such as whether an answer is right, come first.
    """
    try:
        columns = file_format.read(source, names)
    except InputError:  # of another line
        return []
    convert = number_in if file_format.numbers is str else _to_float
    values = {name: {*map(convert, column.lines)} for name, column in zip(names, columns, strict=True)}
    found = [name for name, own in values.items() if any(not math.isnan(value) for value in own)]
    return sorted(found, key=lambda name: len(values[name]) > MAX_LABELS)


def with_scores(file: str, name: str) -> bool:
    """Whether a word is a file with scores in a column or key of this name."""
    if not Path(file).is_file():
        return False
    try:
        source, _, format_name = opened(file)
        file_format = INPUT_FORMATS[format_name]
        known = [] if file_format.names is None else file_format.names(source)
        return name in known and bool(columns_of_scores(source, file_format, [name]))
    except InputError:
        return False


def may_be_log(source: Source) -> bool:
    """Whether a file may be a log of a harness, by its extension, or has what ``trec_eval -q`` prints."""
    if source.file != STDIN and Path(uncompressed(source.file)).suffix.lower() in (".eval", ".json", ".jsonl"):
        return True
    return OF_TREC_EVAL.match(source.data[:1000]) is not None


def roles_of(
    known: Sequence[str],
    roles: Mapping[str, Sequence[str]] = ROLES,
    columns: Mapping[str, str] | None = None,
    file: str = "",
) -> dict[str, str]:
    """The column or key for each role, ignoring case, or that of ``columns``; :class:`InputError` for unknown ones."""
    named = dict(columns or {})
    for role, name in named.items():
        if role not in roles:
            raise InputError(f"columns: {unknown_name('role', role, roles)}")
        if name not in known:
            raise InputError(f"{file}: {unknown_name('column', name, known)}")
    by_name = {key.lower(): key for key in reversed(known) if key not in named.values()}
    found = {role: next((by_name[key] for key in keys if key in by_name), None) for role, keys in roles.items()}
    return {role: key for role, key in found.items() if key is not None} | named


def _score_key(known: Sequence[str], roles: dict[str, str], metric: str | None) -> str | None:
    """The column of the scores: called like the metric, or else the only one with a name that is usual for scores."""
    if metric is not None and metric in known:
        return metric
    usual = [key for key in KEYS if key in known]
    if not usual and "score" in roles:
        return roles["score"]
    return usual[0] if len(usual) == 1 else None


def _warn_of_near_name(source: Source, key: str | None, metric: str | None) -> None:
    """Warn if the only column or key of scores is called nearly like the metric: other names are free."""
    if key is None or metric is None or key.casefold() == metric.casefold():
        return
    if nearest(metric, [key], n=2, cutoff=ALMOST_THE_SAME):
        warn(f"{source.name}: the scores of {quoted(metric)} are called {quoted(key)} there: is the name mistyped?")


def _long(
    source: Source,
    file_format: FileFormat,
    roles: dict[str, str],
    known: Sequence[str],
    name: str | None,
    metric: str | None,
) -> list[Column]:
    """The columns of scores, segments and systems, with the rows of one metric."""
    by_role = [role for role in ("metric", "language_pair", "test_set") if role in roles and roles[role] != name]
    of_metric = None
    if "metric" in by_role and name not in known:
        of_metric, name = name or metric, None
    if name is None:
        taken = {roles[role] for role in ("system", "segment", *by_role)}
        left = [key for key in known if key not in taken]
        key = _score_key(left, roles, metric)
        name = left[0] if key is None and len(left) == 1 else key
        _warn_of_near_name(source, name, metric)
    wanted = [name, roles["segment"], roles["system"], *(roles[role] for role in by_role)]
    columns = file_format.read(source, wanted)
    for role, column in zip(by_role, columns[3:], strict=True):
        values = list(dict.fromkeys(map(str, column.lines)))
        kind = role.replace("_", " ")
        if role != "metric" and len(values) > 1:
            source.fail(f"expected the scores of one {kind}, got {len(values):,} ({listed(values)})")
        if role == "metric":
            value = of_metric if of_metric in values or len(values) > 1 else None
            value = choose(source, kind, value, values)
            rows = [i for i, each in enumerate(column.lines) if str(each) == value]
            columns = [each.in_order(rows) for each in columns]
    return columns[:3]


def _wide(
    source: Source, file_format: FileFormat, known: Sequence[str], left_out: Collection[str], segment: str | None
) -> Iterator[tuple[str, Column]]:
    """The columns that have numbers and are not known as something else, in the order of the segments."""
    keys = [key for key in known if key not in left_out and not names_ids(key) and key.lower() not in TEXTS]
    *columns, segments = file_format.read(source, [*keys, known[0] if segment is None else segment])
    order: Sequence[int] = range(len(segments.lines))
    ids = row_ids(file_format, source, keys)
    if segment is not None:
        ids = list(map(str, segments.lines))
        if len(set(ids)) < len(ids):
            row = next(row for row, each in enumerate(ids) if each in ids[:row])
            raise InputError(f"{segments.place(row + 1)}: segment {shortened(ids[row])} occurs twice")
        if all(each.isdecimal() for each in ids):
            order = sorted(order, key=lambda row: int(ids[row]))
    convert = number_in if file_format.numbers is str else _to_float
    found = [
        (key, replace(column, keys=ids).in_order(order))
        for key, column in zip(keys, columns, strict=True)
        if any(not math.isnan(convert(value)) for value in column.lines)
    ]
    if not found:
        source.fail(f"expected a column of scores, got {listed(known)}")
    # Beside numbers, true and false are flags of the segments.
    yield from [(key, column) for key, column in found if not _has_flags(column)] or found


def _has_flags(column: Column) -> bool:
    return all(value is None or isinstance(value, bool) for value in column.lines)


def _finite(column: Column, convert: Callable[[Any], float], may_be_missing: bool) -> list[float]:
    """The numbers of a column, with NaN for missing ones if there may be any."""
    numbers = [convert(value) for value in column.lines]
    for segment, number in enumerate(numbers, 1):
        if not abs(number) <= LARGEST_SCORE:
            value = column.lines[segment - 1]
            is_missing = _is_missing(value, convert is number_in)
            if is_missing and may_be_missing:
                continue
            shown = quoted(value) if isinstance(value, str) and convert is number_in else shown_json(value)
            problem = f"{column.place(segment)}: expected {expected_score(number)}, got {shown}"
            if not is_missing:
                raise InputError(problem)
            pairwise = Argument("missing", ("pairwise",))
            raise InputError("{problem}; with {missing} it is a missing score", problem=problem, missing=pairwise)
    return numbers


def _is_missing(value: object, is_text: bool) -> bool:
    """Whether a value that is not a finite number stands for a missing one."""
    if is_text:
        return isinstance(value, str) and value.strip().lower() in MISSING_WORDS
    return value is None or (isinstance(value, float) and math.isnan(value))


def _by_system(
    numbers: Sequence[float], segments: Column, systems: Column
) -> tuple[dict[str | None, list[float]], list[str]]:
    """Scores of each system, with segments in the order of the first system, and the ids of the segments."""
    found: dict[str | None, dict[str, float]] = {}
    for row, (number, segment, system) in enumerate(zip(numbers, segments.lines, systems.lines, strict=True), 1):
        if not isinstance(system, str):
            raise InputError(f"{systems.place(row)}: expected a string, got {shown_json(system)}")
        scores = found.setdefault(system, {})
        if str(segment) in scores:
            raise InputError(
                f"{segments.place(row)}: segment {shortened(str(segment))} of system {quoted(system)} occurs twice"
            )
        scores[str(segment)] = number
    first = next(iter(found))
    order = list(found[first])
    if all(segment.isdecimal() for segment in order):
        order.sort(key=int)
    for system in found:
        for having, lacking in ((first, system), (system, first)):
            missing = next((segment for segment in found[having] if segment not in found[lacking]), None)
            if missing is not None:
                place = segments.name.rpartition("#")[0]
                raise InputError(
                    f"{place}: system {quoted(lacking)} lacks segment {shortened(missing)}, which {quoted(having)} has"
                )
    return {system: [scores[segment] for segment in order] for system, scores in found.items()}, order


def _to_float(value: Any) -> float:
    """A JSON value as a float; NaN if it is no score, infinity if it is too large."""
    try:
        return float(value) if is_score(value) else math.nan
    except OverflowError:
        return math.inf
