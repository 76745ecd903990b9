"""The columns of files of scores: which has the systems, which the segments, and which have numbers."""

from __future__ import annotations

import codecs
import contextlib
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, InputError, InputNote, flag, listed, quoted, unknown_name, warn
from ..validate import LARGEST_SCORE, expected_score
from .files import MAX_INPUT, display_name
from .formats import INPUT_FORMATS, format_in
from .formats.base import GRADES, MISSING_WORDS, Column, Names, Source, is_score, number_in, shown_json
from .formats.comet import is_printed
from .formats.named import is_named
from .formats.table import ROLES
from .id_columns import ANSWERS, MODELS, PERHAPS_IDS, RUNS, SEGMENT_IDS, has_runs, names_ids, names_runs
from .reading import Opened, split_path

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
ENDINGS = {"\t": "rename it to .tsv", ",": "rename it to .csv"}
# The most values of a label, such as right and wrong.
MAX_LABELS = 2
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
            found.pop("test_set", None)  # which is one of the benchmarks of a question, and not of those of WMT
        return found

    def chosen(
        self, names: Names, roles: Mapping[str, str], wanted: Mapping[str, str | None], has_options: bool = True
    ) -> list[Column]:
        """The columns of these names, with the rows of one language pair, one test set and one metric.

        ``wanted`` has the role of each that is chosen, and its name, or None for the only one. ``has_options`` says
        whether options with the names of the roles choose. Without a column of segments,
        the first one has the ids of rows.
        """
        by_role = [role for role in wanted if role in roles]
        columns = self.columns([*names, *(roles[role] for role in by_role)])
        if "segment" not in roles:
            columns[0] = replace(columns[0], keys=self.ids(names))
        for at, role in enumerate(by_role, len(names)):
            kind, option = role.replace("_", " "), role if has_options else None
            known, (code,) = codes([self.names_in(columns[at], f"the name of a {kind}")])
            is_wanted = code == known.index(only(self.source, kind, option, wanted[role], known))
            if not is_wanted.all():
                columns = [column.in_order(np.flatnonzero(is_wanted).tolist()) for column in columns]
        return columns[: len(names)]

    @cached_property
    def id_columns(self) -> list[str]:
        """The columns with ids, of segments or of documents."""
        own = self.id_column(())
        return [name for name in self.header if names_ids(name) or name == own]

    def perhaps_scores(self) -> list[str]:
        """The columns or keys without ids and texts, by their names."""
        return [name for name in self.header if name not in self.id_columns and name.lower() not in TEXTS]

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
        others = (column.lines[row] for row in np.flatnonzero(np.isnan(numbers)).tolist())
        # In a file whose columns have no names, words are texts.
        if self.format_name in TABLES and not all(map(self.is_missing, others)) and has_verdicts(self, column):
            numbers = np.array([GRADES.get(_verdict(value), math.nan) for value in column.lines])
            words = {str(value).strip() for value in column.lines if not self.is_missing(value)}
            shown = listed(sorted(f"{quoted(word)} as {GRADES[word.lower()]:g}" for word in words))
            warn("{file}: words are read as numbers: {words}", InputNote, file=column.name, words=shown)
        for row in np.flatnonzero(~(np.abs(numbers) <= LARGEST_SCORE)).tolist():
            value = column.lines[row]
            is_missing = self.is_missing(value)
            if is_missing and may_be_missing:
                continue
            shown = quoted(value) if self.is_text else shown_json(value)
            problem = f"expected {expected_score(numbers[row])}, got {shown}"
            if self.is_text and re.fullmatch(r"[+-]?\d+,\d+", str(value).strip()):
                problem += ": write decimals with a point"
            has_words = self.format_name in TABLES and any(_verdict(each) in GRADES for each in column.lines)
            if not self.is_text and isinstance(value, str) and math.isfinite(number_in(value)):
                problem += ": write it without quotes"
            elif isinstance(value, str) and has_words:
                problem += ": write right answers as 1 or true, and all others as 0 or false"
            elif isinstance(value, dict):
                key = column.name.partition("#")[2] or self.header[0]
                problem += f": scores must be at the top level of the line; jq -c '. + .{key}' copies them there"
            elif isinstance(value, list):
                problem += (
                    ": for several answers to an item, write their mean, or a file per answer for 'reshuffle runs'"
                )
            if not is_missing:
                column.fail(row + 1, problem)
            problem, pairwise = f"{column.place(row + 1)}: {problem}", Argument("missing", ("pairwise",))
            raise InputError("{problem}; with {missing} it counts as missing", problem=problem, missing=pairwise)
        return numbers


def opened(
    path: str | os.PathLike[str], input_format: str | None = None, max_input: int = MAX_INPUT
) -> tuple[Table, str | None]:
    """The table of ``FILE`` or ``FILE#NAME``, and NAME."""
    file, name, rows = split_path(os.fspath(path))
    found = Opened.read(file, input_format, max_input)
    if found.file_format.numbers is None:
        with_numbers = ", ".join(name for name, each in INPUT_FORMATS.items() if each.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: scores cannot be read from the format {found.format_name}; these "
            f"formats have numbers: {with_numbers}"
        )
    if input_format is None:
        return replace(table_of(found.source), rows=rows), name
    return Table(found.source, "numbers" if found.format_name == "text" else found.format_name, rows), name


def column_of_runs(table: Table, systems: Sequence[Any] = ()) -> tuple[str, list[str]]:
    """The column that says to which run each row belongs, and its values; none if there is no such column.

    Columns such as "generation" may also have the texts of answers, so their values have to be like those of runs.
    ``systems`` are those of the rows, if there are several.
    """
    lower = {name.lower(): name for name in reversed(table.header)}
    known = {name: kind for name in table.header if (kind := names_runs(name))}
    for column in sorted(known, key=lambda name: [*RUNS, *ANSWERS].index(known[name])):
        own = [*map(str, table.values(column))]
        models = systems or [""] * len(own)
        for key in (lower[name] for name in (*SEGMENT_IDS, *PERHAPS_IDS) if name in lower):
            if key == column:
                continue
            ids = table.with_parts([*map(str, table.values(key))], systems)
            cells = [*zip(models, ids, strict=False)]
            is_unique = len(ids) == len(own) == len({*zip(cells, own, strict=False)}) > len({*cells})
            if is_unique and has_runs(column, own, cells):
                return column, own
    return "", []


def any_table(source: Source) -> Table:
    """The table in a file of any name: JSON lines if it begins with an object."""
    return Table(source, "jsonl" if _begins_as_json(source) else "table")


def _begins_as_json(source: Source) -> bool:
    return source.data.lstrip(codecs.BOM_UTF8 + b" \t").startswith(b"{")


def table_of(source: Source) -> Table:
    """The table in a file, whose extension gives the format unless the first line shows another."""
    format_name = format_in(source)
    line = source.data.partition(b"\n")[0].decode("utf-8", "replace").removesuffix("\r")
    is_text = format_name == "text"
    may_be_table = is_text or SEPARATORS.get(format_name, "") not in line
    if may_be_table and {"system", "segment"} <= set(roles_of(line.replace(",", " ").split())):
        return Table(source, "table")
    if is_text and _begins_as_json(source):
        return Table(source, "jsonl")
    found = (name for name, is_first in PRINTED.items() if is_first(line))
    return Table(source, next(found, "numbers") if is_text else format_name)


def check_header(table: Table) -> None:
    """Warn of a header of numbers, which may be scores; :class:`InputError` if they are not whole, or if it is not
    split at what separates its names.
    """
    shown = listed(table.header)
    own = SEPARATORS.get(table.format_name)
    other = re.search(r"[;,\t]\S", shown.replace(own, " ")) if own and len(table.header) == 1 else None
    if other:
        between = "tabs" if own == "\t" else "commas"
        expected = f"expected fields separated by {between}, as the ending of the file says, got {shown}"
        by_pandas = "convert it, as with pandas: read_csv(FILE, sep=';', decimal=',').to_csv(NEW, index=False)"
        table.source.fail(f"{expected}: {ENDINGS.get(other[0][0], by_pandas)}", 1)
    if not table.header or not all(map(NUMBER.fullmatch, table.header)):
        return
    if any("." in each for each in table.header):
        table.source.fail(f"expected a header with the names of the columns, got the numbers {shown}", 1)
    warn(
        f"{table.source.name}: line 1 ({shown}) is read as the header; if it has scores, add a line with names above it"
    )


def columns_of_scores(table: Table, names: Sequence[str]) -> list[str]:
    """Those of the columns or keys that have numbers, or true and false; none if they cannot be read.

    Those of right and wrong answers come first, then those that are called like scores.
    """
    try:
        columns = table.columns(names)
    except InputError:  # of another line
        return []
    floats = {name: table.floats(column) for name, column in zip(names, columns, strict=True)}
    values = {name: {*own[~np.isnan(own)].tolist()} for name, own in floats.items()}

    def is_later(name: str) -> tuple[bool, bool]:
        are_answers = 0 in values[name] and len(values[name]) <= MAX_LABELS
        return not are_answers, name.lower() not in ROLES["score"]

    return sorted(filter(values.get, values), key=is_later)


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
        choice: Argument | str = f"'{source.file}#{known[0]}'"
        if option is not None:
            choice = Argument(option, (known[0],), flag(option))
        hint = ": choose one, as in {choice}" if option is not None or kind == "metric" else ""
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


def has_texts(table: Table, column: Column) -> bool:
    """Whether a column has no numbers, nor what was meant as numbers, which is an error and not left out."""
    if not np.isnan(table.floats(column)).all():
        return False
    present = (value for value in column.lines if not table.is_missing(value))
    first = next(present, "")
    return not all(ALMOST_NUMBER.fullmatch(str(value).strip()) for value in chain([first], present))


def with_scores(file: str, name: str) -> bool:
    """Whether a word is a file with scores in a column or key of this name."""
    if not Path(file).is_file():
        return False
    try:
        table, _ = opened(file)
        return name in table.header and bool(columns_of_scores(table, [name]))
    except InputError:
        return False


def has_flags(table: Table, column: Column) -> bool:
    """Whether a column has only true and false, or nothing."""
    return all(str(value).strip().lower() in TRUTH or table.is_missing(value) for value in column.lines)


def has_verdicts(table: Table, column: Column) -> bool:
    """Whether a column has only words for right and wrong answers, or nothing."""
    words = {_verdict(value) for value in column.lines if not table.is_missing(value)}
    return bool(words) and words <= GRADES.keys()


def has_labels(table: Table, column: Column) -> bool:
    """Whether a column has at most two values, such as right and wrong."""
    return len({*table.floats(column).tolist()}) <= MAX_LABELS


def _verdict(value: object) -> str:
    return str(value).strip().lower()


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
