"""Reading columns of texts, and of ids of documents and strata, from paths ``FILE`` or ``FILE#NAME``."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..errors import Argument, InputError, listed, unknown_name
from ..types import InputFormat
from ..validate import check_name
from .files import MAX_INPUT, STDIN, at_line, check_stdin, has_lone_surrogate, read_bytes
from .formats import FORMATS, INPUT_FORMATS, LOGS, format_in, format_of
from .formats.base import Column, Format, Names, Others, Source, is_score, names_in, recognized, shown_json
from .id_columns import (
    MODELS,
    MOST,
    PARTS,
    PERHAPS_IDS,
    SEGMENT_IDS,
    VARIANTS,
    are_ids,
    are_numbered,
    are_numbers_of_rows,
    has_runs,
    names_models,
    names_runs,
)

# What reads scores of segments.
AS_SCORES = Argument("SegmentScores", as_flag="--scores NAME")


@dataclass(frozen=True)
class Opened:
    """A file that was read, and the name of its format. Columns are read when they are asked for."""

    source: Source
    format_name: str
    rows: Mapping[str, str] = field(default_factory=dict)
    """Columns, and their values in the rows that are read: by default all."""
    # The ids that have been read, by column.
    _ids: dict[str, list[str] | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def read(cls, file: str, input_format: InputFormat | str | None, max_input: int) -> Opened:
        """Read a file, whose extension gives the format if none is named."""
        if input_format is not None:
            check_name("input format", input_format, list(INPUT_FORMATS))
        name = input_format or format_of(file)
        source = Source.read(file, FORMATS[name].about, max_input)
        return cls(source, name if input_format else format_in(source))

    @property
    def file_format(self) -> Format:
        """What reads the file."""
        return FORMATS[self.format_name]

    @property
    def is_text(self) -> bool:
        """Whether values are texts, also those of numbers, and not values of JSON."""
        return self.file_format.numbers is not float

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns or keys; none of a file without names."""
        names = self.file_format.names
        return [] if names is None else [name for name in names(self.source) if name not in self.rows]

    def columns(self, names: Names) -> list[Column]:
        """The columns or keys of these names. None stands for the only one."""
        columns = self.file_format.read(self.source, [*names, *self.rows]) if names else []
        for at, value in enumerate(self.rows.values() if columns else (), len(names)):
            known = [*map(str, columns[at].lines)]
            if value not in known:
                raise InputError(f"{columns[at].name}: {unknown_name('value', value, dict.fromkeys(known))}")
            kept = [row for row, own in enumerate(known) if own == value]
            columns = [each.in_order(kept) for each in columns]
        return columns[: len(names)]

    def names_in(self, column: Column, what: str) -> list[str]:
        """A column of names or ids. ``what`` is expected in the error for other values."""
        return names_in(column, what, self.is_text)

    def id_column(self, taken: Names) -> str | None:
        """The column with the ids of segments, in a table of several columns. ``taken`` are other columns."""
        if len(self.header) < 2:
            return None
        lower = {name.lower(): name for name in reversed(self.header) if name not in taken}
        name = next((lower[each] for each in SEGMENT_IDS if each in lower), None) or self._perhaps_ids[0]
        return None if name in taken else name

    @cached_property
    def _perhaps_ids(self) -> tuple[str | None, list[str]]:
        """The first column that may have ids by its name, and has them by its values; and these. Or None, and none.

        In a table with a row for each model and question, and perhaps run, the ids are those of the questions.
        """
        lower = {name.lower(): name for name in reversed(self.header)}
        models = [*map(str, next((self.values(lower[each]) for each in MODELS if each in lower), ()))]
        for name in (lower[each] for each in PERHAPS_IDS if each in lower):
            values = self.values(name)
            if not {*map(type, values)} <= {str, int}:
                continue
            ids = self.with_parts([str(value).strip() for value in values], models)
            if are_ids(ids):
                return name, ids
            none = [""] * len(ids)
            run = next((each for each in self.header if names_runs(each) and each != name), "")
            runs = [*map(str, self.values(run))] if run else []
            if not models and not (len(runs) == len(ids) and has_runs(run, runs, zip(none, ids, strict=True))):
                runs = []
            n_pairs = len({*zip(models or none, runs or none, ids, strict=False)})
            if n_pairs == len(ids) and are_ids([*dict.fromkeys(ids)]):
                return name, ids
        return None, []

    def ids(self, taken: Names = ()) -> list[str] | None:
        """The ids of the rows of a table that has a column of them; else None. ``taken`` are other columns."""
        name = self.id_column(taken)
        if name is None:
            return None
        if name.lower() in PERHAPS_IDS:
            return self._perhaps_ids[1]
        if name not in self._ids:
            ids = [str(value).strip() for value in self.values(name)]
            self._ids[name] = self.with_parts(ids) if ids and all(ids) else None
        return self._ids[name]

    def with_parts(self, ids: list[str], systems: Sequence[str] = ()) -> list[str]:
        """The ids of the rows; if they are numbers that begin anew in each benchmark, together with its name.

        ``systems`` are those of the rows, if there are several. An id occurs once in each epoch, or with samples in
        rows without their numbers nearly always equally often.
        """
        named_parts = [name for name in self.header if name.lower() in PARTS]
        if not named_parts or len({*ids}) == len(ids):
            return ids
        models = systems or [""] * len(ids)
        # Columns that are not as long as the ids are those of a table of which rows were chosen.
        runs = {name: own for name in self.header if names_runs(name) and len(own := self.values(name)) == len(ids)}
        within = [models, *(own for name, own in runs.items() if has_runs(name, own, zip(models, ids, strict=True)))]
        if len({*zip(*within, ids, strict=True)}) == len(ids) or not are_numbered(ids):
            return ids
        each = [[*map(str, self.values(name))] for name in named_parts]
        each = [parts for parts in each if len(parts) == len(ids) and parts != ids]
        found = [ids]
        for parts in [*each, *([["/".join(row) for row in zip(*each, strict=True)]] if len(each) > 1 else [])]:
            named = [f"{own}/{number}" for own, number in zip(parts, ids, strict=True)]
            times = [*Counter(zip(*within, named, strict=True)).values()]
            if times.count(max(times)) >= MOST * len(times):
                found.append(named)
        return max(found, key=lambda own: len({*own}))

    def values(self, name: str) -> Sequence[Any]:
        """The values of a column; none if some line lacks it."""
        try:
            (column,) = self.columns([name])
        except InputError:
            return ()
        return column.lines

    def others(self, taken: Names = ()) -> Others | None:
        """The columns of a table without those in ``taken``; None if there are none."""
        names = [name for name in self.header if name not in taken]
        if not names or len(names) == len(self.header):
            return None
        rows = ",".join(f"{name}={value}" for name, value in self.rows.items())
        return Others(self.source.label(rows or None), names, self.values)

    def with_ids(self, name: str | None) -> str | None:
        """``name``; without one, in a file with ids, the first reference, which has all segments, else a system."""
        references, systems = self.file_format.references, self.file_format.systems
        if name is not None or references is None or systems is None:
            return name
        return next(iter([*filter(None, references(self.source)), *systems(self.source)]), None)

    def groups(self, group: str, column: Column) -> Column:
        """The ids of the segments' documents or strata, as strings. ``group`` is ``document`` or ``stratum``."""
        if column.format == "conllu":
            raise InputError(
                f"{column.name}: CoNLL-U has no ids of {PLURALS[group]}: use a text, TSV, JSON lines or mteval file"
            )
        if column.ids is not None and column.format != "speakers":
            column = replace(column, lines=[document for document, _ in column.ids])
        return replace(column, lines=self.names_in(column, f"the id of a {group}"))


def split_name(path: str) -> tuple[str, str | None]:
    """Split ``FILE#NAME`` into file and name. FILE is the longest part before a ``#`` that exists.

    If none exists, FILE is ``-`` or the shortest part with the extension of a format other than plain text.

    >>> split_name("scores.tsv#online-A"), split_name("-#mt"), split_name("C#.txt")
    (('scores.tsv', 'online-A'), ('-', 'mt'), ('C#.txt', None))
    """
    if "#" not in path or path_is(path):
        return path, None
    cuts = [i for i, character in enumerate(path) if character == "#" and i > 0]
    for i in reversed(cuts):
        if path_is(path[:i]) and not Path(path[:i]).is_dir():
            return path[:i], path[i + 1 :]
    for i in cuts:
        if path[:i] == STDIN or format_of(path[:i]) != "text":
            return path[:i], path[i + 1 :]
    return path, None


def split_rows(name: str | None) -> tuple[str | None, dict[str, str]]:
    """Split what follows ``#`` into the name of a column and the values of columns that choose rows.

    >>> split_rows("match,epoch=2"), split_rows("model=a,lang=de"), split_rows("exact_match,strict-match")
    (('match', {'epoch': '2'}), (None, {'model': 'a', 'lang': 'de'}), ('exact_match,strict-match', {}))
    """
    parts, rows = [] if name is None else name.split(","), dict[str, str]()
    while (
        parts
        and (found := re.fullmatch(r"(\w+)=(.+)", parts[-1]))
        and (names_models(found[1]) or found[1].lower() in (*PARTS, *VARIANTS) or names_runs(found[1]))
    ):
        rows = {found[1]: found[2], **rows}
        parts.pop()
    return ",".join(parts) or None, rows


def split_path(path: str) -> tuple[str, str | None, dict[str, str]]:
    """Split ``FILE#NAME,COLUMN=VALUE`` into file, name of a column, and the values that choose rows."""
    file, name = split_name(path)
    return file, *split_rows(name)


def path_is(path: str, test: Callable[[Path], bool] = Path.exists) -> bool:
    """Whether a word is a path of which a test is true. One that cannot be a path is not."""
    try:
        return bool(path) and test(Path(path))  # an empty one would be the current folder
    except (OSError, ValueError):  # the name is too long, or contains a NUL
        return False


def read_columns(
    paths: Iterable[str | os.PathLike[str]],
    input_format: InputFormat | str | None = None,
    *,
    max_input: int = MAX_INPUT,
) -> list[Column]:
    """Read columns of segments from files in any of :data:`INPUT_FORMATS`. Each file is read once.

    Parameters
    ----------
    paths : iterable of str
        ``FILE`` or ``FILE#NAME``, where NAME is a column of a TSV file, a key of JSON lines, or a system or reference
        of an mteval file. NAME may be left out if there is only one. ``-`` is standard input.
    input_format : str, optional
        A name in :data:`INPUT_FORMATS`, for all files. By default each file's extension determines its format, ignoring
        that of a compression.
    max_input : int, optional
        Largest allowed size in bytes of a decompressed file, 4 GiB by default; see :func:`reshuffle.read_lines`.

    Returns
    -------
    list of Column
        In the order of the paths.

    Raises
    ------
    InputError
        If a file cannot be read or violates its format, with file and line; if a name does not exist, with the most
        similar one that does.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("example.tsv").write_text("source\\tmt\\nja\\tyes\\nnein\\tno\\n")
    >>> read_columns(["example.tsv#mt"])
    [Column(name='example.tsv#mt', lines=['yes', 'no'], first_lines=range(2, 4), ids=None, format='text')]
    >>> Path("example.tsv").unlink()
    """
    return read_texts([], list(paths), input_format, max_input=max_input)[1]


# Groups of segments that have ids, singular and plural.
PLURALS = {"document": "documents", "stratum": "strata"}


def read_texts(
    references: Sequence[str | os.PathLike[str]],
    systems: Sequence[str | os.PathLike[str]],
    input_format: InputFormat | str | None = None,
    ids: Mapping[str, str | os.PathLike[str]] | None = None,
    max_input: int = MAX_INPUT,
) -> tuple[list[Column], list[Column], dict[str, Column]]:
    """Columns of references, columns of systems, and columns of ids by group. See :func:`read_columns`.

    ``ids`` maps ``document`` and ``stratum`` to paths. A path of references without a NAME gives all references of its
    file, which may be several columns; lists in JSON are several references, too.
    """
    ids = ids or {}
    read = _read_paths([*references, *systems], input_format, len(references), list(ids.values()), max_input)
    texts, read_ids = read[: len(read) - len(ids)], read[len(read) - len(ids) :]
    n = len(references)
    texts[:n] = [(each, [one for column in columns for one in _references(column)]) for each, columns in texts[:n]]
    id_columns = {group: own.groups(group, column) for group, (own, (column,)) in zip(ids, read_ids, strict=True)}
    texts = [(own, columns if own.is_text else [*map(_as_strings, columns)]) for own, columns in texts]
    ref_columns, sys_columns = ([c for _, columns in part for c in columns] for part in (texts[:n], texts[n:]))
    return ref_columns, sys_columns, id_columns


def _references(column: Column) -> list[Column]:
    """A column for each reference, if segments have lists of references. An empty list is an empty reference."""
    if not any(isinstance(value, list) for value in column.lines):
        return [column]
    lists = [value or [""] if isinstance(value, list) else [value] for value in column.lines]
    return [replace(column, lines=list(row)) for row in zip_longest(*lists)]


def _read_paths(
    paths: Iterable[str | os.PathLike[str]],
    input_format: InputFormat | str | None,
    n_references: int = 0,
    ids: Sequence[str | os.PathLike[str]] = (),
    max_input: int = MAX_INPUT,
) -> list[tuple[Opened, list[Column]]]:
    """The columns of each path, then those of each path of ids.

    The first ``n_references`` paths may have several columns, all others have one. ``input_format`` applies to a file
    of ids only if the file is also one of ``paths``.
    """
    split = [split_name(os.fspath(path)) for path in paths]
    text_files, n_texts = {file for file, _ in split}, len(split)
    split += [split_name(os.fspath(path)) for path in ids]
    check_stdin(split.count((STDIN, None)))
    read: dict[int, tuple[Opened, list[Column]]] = {}
    for file in dict.fromkeys(file for file, _ in split):
        opened = Opened.read(file, input_format if file in text_files else None, max_input)
        list_references = opened.file_format.references
        wanted: dict[tuple[tuple[str, str], ...], list[tuple[int, str | None]]] = {}  # by rows: path, name of a column
        for i, (path_file, given) in enumerate(split):
            if path_file != file:
                continue
            read[i] = opened, []
            name, rows = (given, {}) if given in opened.header else split_rows(given)
            if not {*rows} <= {*opened.header}:
                name, rows = given, {}
            own = wanted.setdefault((*rows.items(),), [])
            if list_references is not None and name is None and i < n_references:
                own += [(i, each) for each in list_references(opened.source)]
            else:
                own.append((i, opened.with_ids(name) if i >= n_texts else name))
        for i, of_rows, column in _of_rows(opened, wanted):
            read[i] = of_rows, [*read[i][1], column]
    return [read[i] for i in range(len(split))]


def _of_rows(
    opened: Opened, wanted: Mapping[tuple[tuple[str, str], ...], Sequence[tuple[int, str | None]]]
) -> Iterator[tuple[int, Opened, Column]]:
    """The columns of a file by the index of a path.

    ``wanted`` has these and the names of columns, by the rows that are read. Columns for which none are chosen, such as
    references, have the rows of the first system whose are.
    """
    chosen = [rows for rows in wanted if rows]
    for rows, named in wanted.items():
        names = [name for _, name in named]
        each = [replace(opened, rows=dict(own)) for own in ([rows] if rows else chosen or [()])]
        own, keys = each[0], each[0].ids(names)
        columns = own.columns(names)
        if keys is None and any(
            [a.lines for a in columns] != [b.lines for b in one.columns(names)] for one in each[1:]
        ):
            value = ",".join(f"{column}={name}" for column, name in chosen[0])
            opened.source.fail(
                f"the rows of {value} and others differ in {listed(map(str, names))}: add a column 'id', or sort the "
                "rows of all alike"
            )
        others = own.others(names) if are_numbers_of_rows(keys) else None
        for (i, _), column in zip(named, columns, strict=True):
            found = column if keys is None else replace(column, keys=keys)
            yield i, own, found if column.keys is not None or others is None else replace(found, others=others)


def systems_in(path: str, input_format: str | None = None, max_input: int = MAX_INPUT) -> list[str]:
    """``FILE#NAME`` of every system in a file that may have several, and has no NAME; else the path.

    :class:`InputError` as :func:`read_columns`.
    """
    file, name = split_name(path)
    file_format = INPUT_FORMATS.get(input_format or format_of(file))
    if name is not None or file == STDIN or file_format is None or file_format.systems is None:
        return [path]
    names = file_format.systems(Opened.read(file, input_format, max_input).source)
    return [f"{file}#{each}" for each in names] if len(names) > 1 else [path]


def label_of(value: Any) -> str:
    """A truth value as in JSON, or a whole number without decimals, as a label.

    >>> label_of(True), label_of(1), label_of(2.0)
    ('true', '1', '2')
    """
    return json.dumps(value if isinstance(value, bool) else int(value))


def _as_strings(column: Column) -> Column:
    """Values from JSON: integers, true and false are labels; :class:`InputError` for other ones than valid strings."""
    if {*map(type, column.lines)} <= {int, bool}:
        return replace(column, lines=[*map(label_of, column.lines)])
    for segment, value in enumerate(column.lines, 1):
        if isinstance(value, str):
            if has_lone_surrogate(value):
                column.fail(segment, "not valid Unicode: it contains a lone surrogate")
        elif value is not None:
            hint = "; for numbers use {reader}" if is_score(value) else ""
            got = {"got": shown_json(value), "reader": AS_SCORES}
            raise at_line(column.name, column.first_lines[segment - 1], f"expected a string, got {{got}}{hint}", **got)
    return column


def check_no_column(path: str, hint: str = "") -> None:
    """:class:`InputError` for a name of no file that may be that of a column. ``hint`` is the end of its message."""
    if path.isidentifier() and not path_is(path):
        raise InputError(f"{path}: no such file; " + (hint or f"for a column write FILE#{path}"))


def is_log(file: str, max_input: int) -> bool:
    """Whether a file is a log of a harness."""
    return (
        file != STDIN
        and path_is(file, Path.is_file)
        and recognized(Source(file, read_bytes(file, FORMATS["text"].about, max_input), max_input), LOGS) is not None
    )


def are_same_groups(one: Column, other: Column) -> bool:
    """Whether two files have the segments that are in both in the same documents or strata, whatever their names.

    >>> talks = Column("a", ["x", "x", "y"], [], keys=["1", "2", "3"])
    >>> [are_same_groups(talks, replace(talks, lines=each)) for each in (["7", "7", "8"], ["7", "8", "8"])]
    [True, False]
    """
    if one.keys is None and other.keys is None and sorted(one.lines) == sorted(other.lines):
        return True  # the order may be another
    first, second = (dict(zip(each.keys or range(len(each.lines)), each.lines, strict=True)) for each in (one, other))
    pairs = {(first[key], second[key]) for key in first.keys() & second.keys()}
    return len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


def read_groups(group: str, path: str, input_format: str | None = None, *, max_input: int = MAX_INPUT) -> Column:
    """The ids of the segments' documents or strata, with those of the segments as ``keys`` if the file has them.

    ``group`` is ``document`` or ``stratum``. The path is ``FILE`` or ``FILE#NAME``: lines of text, a column of a TSV
    file, a key of JSON lines, a field of the samples of a log, an mteval file, whose documents are also its strata, or
    transcripts with ids (``trn``, ``kaldi``), whose speakers are.

    :class:`InputError` as :func:`read_columns`, and for an id that is empty, or neither a string nor an integer.

    >>> from pathlib import Path
    >>> _ = Path("talks.tsv").write_text("talk\\tid\\n7\\ta\\n7\\tb\\n8\\tc\\n")
    >>> talks = read_groups("document", "talks.tsv#talk")
    >>> talks.lines, talks.keys
    (['7', '7', '8'], ['a', 'b', 'c'])
    >>> Path("talks.tsv").unlink()
    """
    check_no_column(path)
    file, name, rows = split_path(path)
    opened = replace(Opened.read(file, input_format, max_input), rows=rows)
    log = None if input_format or name is None else recognized(opened.source, LOGS)
    samples = None if log is None else FORMATS[log].samples
    if samples is not None and (opened.format_name != "jsonl" or name not in opened.header):
        return opened.groups(group, samples(opened.source).column(name))
    if opened.format_name == "comet":
        wanted = "documents" if group == "document" else "strata"
        raise InputError(
            f"{opened.source.name}: expected the {wanted} of segments as text, TSV, CSV or JSON lines, got JSON: of a "
            f"log name a field of its samples, as in {opened.source.file}#NAME; else write a table with a column 'id' "
            f"and one of {wanted}"
        )
    key = None if name is None else opened.id_column([name])
    column, *segments = opened.columns([opened.with_ids(name), *([] if key is None else [key])])
    keys = [str(value) for value in segments[0].lines] if segments else column.keys
    others = opened.others([name]) if keys is None else None
    return replace(opened.groups(group, column), keys=keys, others=others)
