"""Tables of scores: files whose columns or keys have numbers, such as segment scores from another program."""

from __future__ import annotations

import codecs
import contextlib
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, InputError, flag, listed, nearest, quoted, shortened, unknown_name, warn
from ..types import InputFormat, Missing
from ..validate import LARGEST_SCORE, check_name, expected_score
from .alignment import aligned
from .files import MAX_INPUT, display_name
from .formats import FORMATS, INPUT_FORMATS, format_of
from .formats.base import MISSING_WORDS, Column, Names, Source, choose, is_score, number_in, shown_json
from .formats.comet import KEYS, is_printed
from .formats.jsonl import has_key
from .formats.named import is_named
from .formats.table import ROLES
from .id_columns import MODELS, names_ids, warn_of_ids
from .reading import Opened, split_name

Numbers: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

TEXTS = ("source", "translation", "reference", "src", "mt", "ref", "hypothesis")
# The formats in which each column or key may be a system.
TABLES = ("tsv", "csv", "jsonl", "table")
# Formats of text that are recognized by their first line.
PRINTED = {"comet-printed": is_printed, "mt-metrics-eval": is_named}
# A score as a name: systems may be called 1 and 2, but not 0.134.
NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
# What separates fields. Files of people's scores with these endings may have white space instead.
SEPARATORS = {"tsv": "\t", "csv": ","}
# The most values of a label, such as right and wrong.
MAX_LABELS = 2
# How similar names have to be, so that one may be a mistyped other: comet and comet22 are not.
ALMOST_THE_SAME = 0.85
# What errors expect in columns of names.
SYSTEM, SEGMENT = "the name of a system", "the id of a segment"
# What graders and pandas write for right and wrong answers, in lower case.
TRUTH = {"true": 1.0, "false": 0.0}
# Numbers that are not written as such: 12.3%, 0,53.
ALMOST_NUMBER = re.compile(r"[-+]?\d[\d.,]*\s*%?")


@dataclass(frozen=True)
class Table(Opened):
    """A file with columns or keys of scores."""

    def roles(self, columns: Mapping[str, str] | None = None, without_ids: bool = False) -> dict[str, str]:
        """The column for each role: that of ``columns``, or one with a known header, or one that names models.

        A column of models names the systems if ids repeat: it has a row for each model and question. In a file without
        ids it does so only if ``without_ids`` is true and not all its values are numbers. Otherwise it says something
        about each segment, such as who answered, or has scores.
        """
        found = roles_of(self.header, columns=columns, file=self.source.name)
        models = next((key for key in self.header if key.lower() in MODELS), None)
        if "system" in found or models is None:
            return found
        names, ids = {*map(str, self.values(models))}, self.id_column(())
        if ids is None:
            are_scores = all(NUMBER.fullmatch(name) or name.lower() in MISSING_WORDS for name in names)
            are_systems = without_ids and not are_scores
        else:
            segments = [*map(str, self.values(ids))]
            are_systems = len(set(segments)) < len(segments)
        if are_systems and len(names) > 1:
            found["system"] = models
        return found

    def chosen(
        self, names: Names, roles: Mapping[str, str], wanted: Mapping[str, str | None], has_options: bool = True
    ) -> list[Column]:
        """The columns of these names, with the rows of one language pair, one test set and one metric.

        ``wanted`` has the role of each that is chosen, and its name, or None for the only one. ``has_options`` says
        whether options with the names of the roles choose.
        """
        by_role = [role for role in wanted if role in roles]
        columns = self.columns([*names, *(roles[role] for role in by_role)])
        for at, role in enumerate(by_role, len(names)):
            kind, option = role.replace("_", " "), role if has_options else None
            known, (code,) = codes([self.names_in(columns[at], f"the name of a {kind}")])
            is_wanted = code == known.index(only(self.source, kind, option, wanted[role], known))
            if not is_wanted.all():
                columns = [column.in_order(np.flatnonzero(is_wanted).tolist()) for column in columns]
        return columns[: len(names)]

    def perhaps_scores(self) -> list[str]:
        """The columns or keys without ids and texts, by their names."""
        ids = self.id_column(())
        return [name for name in self.header if name != ids and not names_ids(name) and name.lower() not in TEXTS]

    @property
    def beginning(self) -> Table:
        """The same table with its first rows."""
        return replace(self, source=replace(self.source, data=b"\n".join(self.source.data.split(b"\n", 2)[:2])))

    def floats(self, column: Column) -> Numbers:
        """A column of any values: NaN for those that are no numbers, and infinity for those beyond all floats."""
        lines = column.lines
        # float() accepts 1_000, which no other program writes, and texts in JSON.
        is_plain = "_" not in "".join(lines) if self.is_text else {*map(type, lines)} <= {float, int, bool}
        if is_plain:  # nearly always, and much faster
            with contextlib.suppress(ValueError, OverflowError):  # some field is no number, or too large
                return np.array([*map(float, lines)])
        return np.array([*map(_score_in if self.is_text else _to_float, lines)])

    def is_missing(self, value: object) -> bool:
        """Whether a value that is not a finite number stands for a missing one."""
        if self.is_text:
            return isinstance(value, str) and value.strip().lower() in MISSING_WORDS
        return value is None or (isinstance(value, float) and math.isnan(value))

    def not_numbers(self, column: Column) -> list[int]:
        """The rows of a column that have neither a number nor a missing one."""
        rows = np.flatnonzero(np.isnan(self.floats(column))).tolist()
        return [row for row in rows if not self.is_missing(column.lines[row])]

    def numbers(self, column: Column, may_be_missing: bool) -> Numbers:
        """A column of numbers, with NaN for missing ones if there may be any; else :class:`InputError`."""
        numbers = self.floats(column)
        for row in np.flatnonzero(~(np.abs(numbers) <= LARGEST_SCORE)).tolist():
            value = column.lines[row]
            is_missing = self.is_missing(value)
            if is_missing and may_be_missing:
                continue
            shown = quoted(value) if self.is_text else shown_json(value)
            problem = f"expected {expected_score(numbers[row])}, got {shown}"
            if isinstance(value, dict):
                key = column.name.partition("#")[2] or self.header[0]
                problem += f": a score must be a key of the line itself; jq -c '. + .{key}' copies those of the object"
            elif isinstance(value, list):
                problem += (
                    ": for several answers to an item, write their mean, or a file per answer for 'reshuffle runs'"
                )
            if not is_missing:
                column.fail(row + 1, problem)
            problem, pairwise = f"{column.place(row + 1)}: {problem}", Argument("missing", ("pairwise",))
            raise InputError("{problem}; with {missing} it is a missing score", problem=problem, missing=pairwise)
        return numbers


class Scores(NamedTuple):
    """The scores in a file, (N, S), of systems whose names are None if the file has none, and the ids of segments."""

    systems: Sequence[str | None]
    values: Numbers
    ids: Sequence[str] | None


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
    if list(found.systems) != [None]:
        raise not_one_system(os.fspath(path), found.systems)
    numbers: list[float] = found.values[0].tolist()
    return numbers


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
        table, _ = opened(path, input_format, max_input)
        if table.file_format.names is None:
            expected = f"a table with names of columns ({', '.join(TABLES[:3])})"
            # A text without names of columns is opened as one of numbers, which these lines are not.
            got = FORMATS["text" if table.format_name == "numbers" else table.format_name].about
            table.source.fail(f"expected {expected}, got {got}")
        names = used(os.fspath(path), table.header)
        keys = table.ids(names)
        places.append((table, names, len(columns)))
        columns += [replace(column, keys=keys) for column in table.columns(names)]
    columns = aligned(columns)
    return [
        {name: table.numbers(columns[at], False).tolist() for at, name in enumerate(names, first)}
        for table, names, first in places
    ]


def opened(
    path: str | os.PathLike[str], input_format: str | None = None, max_input: int = MAX_INPUT
) -> tuple[Table, str | None]:
    """The table of ``FILE`` or ``FILE#NAME``, and NAME."""
    file, name = split_name(os.fspath(path))
    found = Opened.read(file, input_format, max_input)
    if found.file_format.numbers is None:
        with_numbers = ", ".join(name for name, each in INPUT_FORMATS.items() if each.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: scores cannot be read from the format {found.format_name}; these "
            f"formats have numbers: {with_numbers}"
        )
    if input_format is None:
        return table_of(found.source), name
    return Table(found.source, "numbers" if found.format_name == "text" else found.format_name), name


def any_table(source: Source) -> Table:
    """The table in a file of any name: JSON lines if it begins with an object."""
    return Table(source, "jsonl" if _begins_as_json(source) else "table")


def _begins_as_json(source: Source) -> bool:
    return source.data.lstrip(codecs.BOM_UTF8 + b" \t").startswith(b"{")


def table_of(source: Source) -> Table:
    """The table in a file, whose extension gives the format unless the first line shows another."""
    format_name = format_of(source.file)
    line = source.data.partition(b"\n")[0].decode("utf-8", "replace").removesuffix("\r")
    is_text = format_name == "text"
    may_be_table = is_text or SEPARATORS.get(format_name, "") not in line
    if may_be_table and {"system", "segment"} <= set(roles_of(line.replace(",", " ").split())):
        return Table(source, "table")
    if is_text and _begins_as_json(source):
        return Table(source, "jsonl")
    found = (name for name, is_first in PRINTED.items() if is_first(line))
    return Table(source, next(found, "numbers") if is_text else format_name)


def scores_in(
    table: Table,
    name: str | None,
    *,
    missing: str = "error",
    metric: str | None = None,
    several: bool = True,
    systems: Collection[str] = (),
    others: Collection[str] = (),
) -> Scores:
    """The scores in a file that has been opened, of one system or several.

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
    if is_table and several and single is None and len(known) > 1:
        left_out = {*(key for role, key in roles.items() if role != "score"), *others}
        found = _wide(table, left_out, roles.get("segment"), may_be_missing)
        if not systems:
            by_name = dict(zip(found.systems, found.values, strict=True))
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
    return Scores([None], table.numbers(column, may_be_missing)[None], table.ids([key]))


def check_header(table: Table) -> None:
    """Warn of a header of numbers, which may be scores; :class:`InputError` if they are not whole, or if it is not
    split at what separates its names.
    """
    shown = listed(table.header)
    own = SEPARATORS.get(table.format_name)
    if own and len(table.header) == 1 and re.search(r"[;,\t]\S", shown.replace(own, " ")):
        between = "tabs" if own == "\t" else "commas"
        table.source.fail(f"expected fields separated by {between}, as the ending of the file says, got {shown}", 1)
    if not table.header or not all(map(NUMBER.fullmatch, table.header)):
        return
    if any("." in each for each in table.header):
        table.source.fail(f"expected a header with the names of the columns, got the numbers {shown}", 1)
    warn(
        f"{table.source.name}: line 1 ({shown}) is read as the header; if it has scores, add a line with names above it"
    )


def columns_of_scores(table: Table, names: Sequence[str]) -> list[str]:
    """Those of the columns or keys that have numbers, or true and false; none if they cannot be read.

    Those with two values, such as whether an answer is right, come first.
    """
    try:
        columns = table.columns(names)
    except InputError:  # of another line
        return []
    values = {name: table.floats(column) for name, column in zip(names, columns, strict=True)}
    found = [name for name, own in values.items() if not np.isnan(own).all()]
    return sorted(found, key=lambda name: len({*values[name].tolist()}) > MAX_LABELS)


def with_scores(file: str, name: str) -> bool:
    """Whether a word is a file with scores in a column or key of this name."""
    if not Path(file).is_file():
        return False
    try:
        table, _ = opened(file)
        return name in table.header and bool(columns_of_scores(table, [name]))
    except InputError:
        return False


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
    if key is None or metric is None or key.casefold() == metric.casefold():
        return
    source, others = table.source, columns_of_scores(table.beginning, [name for name in names if name != key])
    near = nearest(metric, [key, *others], n=2, cutoff=ALMOST_THE_SAME)
    if near and near[0] != key:
        raise InputError(
            f"{source.name}: {unknown_name('column of scores', metric, [key, *others])}; to use this name for another "
            f"column, write {source.name}#{key}"
        )
    doubt = ": is the name mistyped?" if near else ""
    if others:
        doubt = f"; to choose another ({listed(others)}), write FILE#{others[0]}"
    elif not near and (key in KEYS or key.lower() in ROLES["score"] or _has_labels(table, key)):
        return
    called = f"the scores of {quoted(metric)} are called {quoted(key)} there{doubt}"
    warn("{file}: {called}", file=source.name, called=called)


def _has_labels(table: Table, key: str) -> bool:
    """Whether a column has at most two values, such as right and wrong."""
    return len({*table.floats(*table.columns([key])).tolist()}) <= MAX_LABELS


def codes(columns: Iterable[Sequence[str]]) -> tuple[list[str], list[Integers]]:
    """The distinct strings of several columns, in the order of their occurrence, and each column as indices."""
    known: dict[str, int] = {}
    columns = list(columns)
    for column in columns:
        for name in dict.fromkeys(column):
            known.setdefault(name, len(known))
    find = known.__getitem__
    return list(known), [np.array(list(map(find, column)), dtype=np.int64) for column in columns]


def only(source: Source, kind: str, option: str | None, wanted: str | None, known: Sequence[str]) -> str:
    """``wanted`` if it is known, ignoring case, or the only known name if ``wanted`` is None; else InputError.

    ``option`` chooses one. Without such an option, the only known name may be another than is wanted.
    """
    if len(known) == 1 and (wanted is None or option is None):
        return known[0]
    if wanted is None:
        how: str = "as in"
        choice: Argument | str = f"'{source.file}#{known[0]}'"
        if option is not None:
            how, choice = "with", Argument(option, (known[0],), flag(option))
        hint = f": choose one {how} {{choice}}" if option is not None or kind == "metric" else ""
        source.fail(
            "expected one {kind}, got {n} ({names})" + hint,
            kind=kind,
            known=tuple(known),  # for programs
            n=len(known),
            names=listed(known),
            choice=choice,
        )
    exact = [name for name in known if name == wanted] or [name for name in known if name.lower() == wanted.lower()]
    if not exact:
        raise InputError(f"{source.name}: {unknown_name(kind, wanted, known)}")
    return exact[0]


def _long(table: Table, roles: Mapping[str, str], name: str | None, metric: str | None, may_be_missing: bool) -> Scores:
    """The scores in a table with systems and segments: the rows of one metric."""
    wanted: dict[str, str | None] = {
        role: None for role in ("metric", "language_pair", "test_set") if role in roles and roles[role] != name
    }
    if "metric" in wanted and name not in table.header:
        wanted["metric"], name = name or metric, None
    if name is None:
        taken = {roles[role] for role in ("system", "segment", *wanted)}
        left = [key for key in table.header if key not in taken]
        left = columns_of_scores(table.beginning, left) or left
        key = _score_key(left, roles, metric)
        name = choose(table.source, "column", None, left) if key is None else key
        _check_meant(table, name, metric, left)
    scores, segments, systems = table.chosen([name, roles["segment"], roles["system"]], roles, wanted, False)
    return _by_system(table, table.numbers(scores, may_be_missing), segments, systems)


def _wide(table: Table, left_out: Collection[str], segment: str | None, may_be_missing: bool) -> Scores:
    """The columns that have numbers and are not known as something else, in the order of the segments."""
    known = table.header
    keys = [key for key in table.perhaps_scores() if key not in left_out]
    *columns, segments = table.columns([*keys, known[0] if segment is None else segment])
    rows: Sequence[int] = range(len(segments.lines))
    ids = table.ids(keys)
    if segment is not None:
        ids = table.names_in(segments, SEGMENT)
        _check_once(ids, segments, lambda row: shortened(ids[row]))
        rows = in_order_of_numbers(ids)
    found = [(key, column) for key, column in zip(keys, columns, strict=True) if not has_texts(table, column)]
    if not found:
        table.source.fail(f"expected a column of scores, got {listed(known)}")
    # Beside numbers, true and false are flags of the segments.
    found = [(key, column) for key, column in found if not _has_flags(table, column)] or found
    values = np.array([table.numbers(column, may_be_missing) for _, column in found])[:, rows]
    return Scores([key for key, _ in found], values, None if ids is None else [ids[row] for row in rows])


def has_texts(table: Table, column: Column) -> bool:
    """Whether a column has no numbers, nor what was meant as numbers, which is an error and not left out."""
    if not np.isnan(table.floats(column)).all():
        return False
    present = (value for value in column.lines if not table.is_missing(value))
    first = next(present, "")
    return not all(ALMOST_NUMBER.fullmatch(str(value).strip()) for value in chain([first], present))


def _has_flags(table: Table, column: Column) -> bool:
    return all(str(value).strip().lower() in TRUTH or table.is_missing(value) for value in column.lines)


def in_order_of_numbers(ids: Sequence[str]) -> Sequence[int]:
    """The order of segments whose ids are numbers: that of the numbers; else as they are."""
    rows = range(len(ids))
    return sorted(rows, key=lambda row: int(ids[row])) if all(map(str.isdecimal, ids)) else rows


def _check_once(keys: Sequence[Any], segments: Column, shown: Callable[[int], str], advice: str = "") -> None:
    """:class:`InputError` for the first row that has the key of another row. ``shown`` is its name."""
    if len(set(keys)) < len(keys):
        first = {key: row for row, key in reversed([*enumerate(keys)])}
        row = next(row for row, key in enumerate(keys) if first[key] != row)
        segments.fail(row + 1, f"segment {shown(row)} occurs twice{advice}")


def _by_system(table: Table, numbers: Numbers, segments: Column, systems: Column) -> Scores:
    """Scores of each system, with segments in the order of the first system, and the ids of the segments."""
    names, (system,) = codes([table.names_in(systems, SYSTEM)])
    ids, (segment,) = codes([table.names_in(segments, SEGMENT)])
    cell = system * len(ids) + segment
    _check_once(
        cell.tolist(),
        segments,
        lambda row: f"{shortened(ids[segment[row]])} of system {quoted(names[system[row]])}",
        ": write each of several runs or raters into a file of its own, for 'reshuffle runs' or 'reshuffle human'",
    )
    values = np.full((len(names), len(ids)), np.nan)
    values[system, segment] = numbers
    has = np.zeros(values.shape, dtype=bool)
    has[system, segment] = True
    if not has.all():
        i, j = np.argwhere(~has)[0]
        place, having = segments.name.rpartition("#")[0], names[int(has[:, j].argmax())]
        raise InputError(
            f"{place}: system {quoted(names[i])} lacks segment {shortened(ids[j])}, which {quoted(having)} has"
        )
    own = segment[system == 0]
    order = own[in_order_of_numbers([ids[at] for at in own])]
    return Scores(names, values[:, order], [ids[at] for at in order])


def _score_in(text: str) -> float:
    """A field as a float; NaN if it is no score."""
    truth = TRUTH.get(text.strip().lower())
    return number_in(text) if truth is None else truth  # each text that is no number costs an exception


def _to_float(value: Any) -> float:
    """A JSON value as a float; NaN if it is no score, infinity if it is too large."""
    try:
        return float(value) if is_score(value) else math.nan
    except OverflowError:
        return math.inf
