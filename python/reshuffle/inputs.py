"""Formats of files: from what people have to columns of segments.

A new format is a function here and an entry in :data:`INPUTS`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

from . import _core
from .errors import IN_FILE, InputError, check_name, listed, quoted, shortened, unknown_name, warn
from .files import MAX_INPUT, STDIN, decoded, display_name, read_bytes, split_lines, uncompressed
from .mteval import Translations, read_sgm, read_xml

__all__ = [
    "INPUTS",
    "Column",
    "Input",
    "Source",
    "read_columns",
    "read_conllu",
    "read_documents",
    "read_numbers",
    "read_scores",
    "read_strata",
]


@dataclass(frozen=True, slots=True)
class Column:
    """The segments of one file, or of one column, key or system in it.

    Attributes
    ----------
    name : str
        ``FILE`` or ``FILE#NAME``, as it was asked for.
    lines : sequence of S str
        None stands for a segment that is missing, as JSON's null.
    first_lines : sequence of S int
        On which line of the file each segment begins, from 1.
    ids : sequence of S (str, str), or None
        Document and number of each segment, where the format has them.
    format : str
        ``conllu`` for parses, ``text`` for everything else.
    """

    name: str
    lines: Sequence[Any]
    first_lines: Sequence[int]
    ids: Sequence[tuple[str, str]] | None = None
    format: str = "text"

    def place(self, segment: int, line: int = 1) -> str:
        """Where to look for a line of a segment, both from 1.

        >>> Column("a.conllu", ["1\\tYes…", "# text = No\\n1\\tNo…"], [1, 3]).place(2, 2)
        'a.conllu, line 4'
        """
        return f"{self.name}, line {self.first_lines[segment - 1] + line - 1}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been read and decompressed, for a format to make columns of."""

    file: str
    data: bytes

    def __post_init__(self) -> None:
        nul = self.data.find(b"\0")
        if nul >= 0 and not self.data.startswith((b"\xff\xfe", b"\xfe\xff")):  # XML may be UTF-16
            line = self.data.count(b"\n", 0, nul) + 1
            warn(f"{self.name}, line {line} contains a NUL character (U+0000): is the file UTF-8 text?")

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return display_name(self.file)

    def label(self, name: str | None) -> str:
        """A column's name in messages."""
        return self.name if name is None else display_name(f"{self.name}#{name}")

    def text(self) -> str:
        """The whole of it. A byte order mark is not text where a format says what a file begins with."""
        text = decoded(self.data, self.name).removeprefix("\ufeff")
        if not text:
            raise InputError(f"{self.name} is empty: expected more than a byte order mark")
        return text

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        """Raise :class:`InputError` for a line of the file."""
        if line is None:
            raise InputError("{file}: {problem}", file=self.name, problem=message)
        raise InputError(IN_FILE, file=self.name, line=line, problem=message)


Names = Sequence["str | None"]
T = TypeVar("T")


def _text(source: Source, names: Names) -> list[Column]:
    for name in names:
        if name is not None:
            source.fail(f"plain text has no columns that #{display_name(name)} could choose from")
    text = decoded(source.data, source.name)
    if text.startswith("\ufeff"):
        warn(
            f"{source.name} begins with a byte order mark (U+FEFF), which is counted as part of the first word, as in "
            "sacreBLEU: save the file without it"
        )
    lines = split_lines(text)
    return [Column(source.name, lines, range(1, len(lines) + 1)) for _ in names]


def _translations(source: Source) -> Translations:
    ending = Path(uncompressed(source.file)).suffix.lower()
    declared = ending not in INPUTS["mteval"].endings and source.data.lstrip().startswith(b"<?xml")
    if ending == ".xml" or declared:
        return read_xml(source.data, source.name)
    return read_sgm(source.text(), source.name)


def _mteval(source: Source, names: Names) -> list[Column]:
    found = _translations(source)

    def column(name: str | None) -> Column:
        known = list(found.segments)
        if name is None:  # of references and systems in one file it is the systems that are asked for one by one
            known = [system for system in known if system not in found.references] or known
        kind = "reference" if set(known) <= set(found.references) else "system"
        choice = _choice(source, kind, name, known)
        chosen = found.segments[choice]
        if choice in found.added:
            (document, number), n = found.added[choice][0], len(found.added[choice])
            warn(
                f"{source.label(choice)} lacks {n:,} of {len(chosen):,} segments that other references have (first: "
                f"segment {number!r} of the document {document!r}): they are treated as empty, as in sacreBLEU"
            )
        return Column(
            source.label(name), [s.text for s in chosen.values()], [s.line for s in chosen.values()], list(chosen)
        )

    return [column(name) for name in names]


def _mteval_references(source: Source) -> Names:
    """The references in a file by their names; none is named if that is all there is."""
    found = _translations(source)
    return found.references if found.references and len(found.segments) > 1 else [None]


def _tsv(source: Source, names: Names) -> list[Column]:
    lines = split_lines(source.text())
    header, rows = lines[0].split("\t"), lines[1:]
    if not rows:
        source.fail(f"expected a row for each segment after the header {quoted(lines[0])}, got none")
    for number, row in enumerate(rows, 2):
        if row.count("\t") != len(header) - 1:
            fields = f"{len(header)} field{'s' * (len(header) != 1)} as in the header"
            source.fail(f"expected {fields}, got {row.count(chr(9)) + 1}", number)

    chosen = [_choice(source, "column", name, header) for name in names]
    for name in chosen:
        if header.count(name) > 1:
            source.fail(f"the header names the column {quoted(name)} {header.count(name)} times")
    # One more than are asked for, so that there are always several and the getter gives a tuple.
    pick = itemgetter(0, *map(header.index, chosen))
    columns = list(zip(*(pick(row.split("\t")) for row in rows), strict=True))[1:]
    return [
        Column(source.label(name), list(fields), range(2, len(rows) + 2))
        for name, fields in zip(names, columns, strict=True)
    ]


def _header(source: Source) -> list[str]:
    return split_lines(source.text())[0].split("\t")


def _jsonl(source: Source, names: Names) -> list[Column]:
    lines = split_lines(source.text())
    first = _json(source, lines[0], 1)
    # Lines need not be objects if no key was asked for: a line is then the value itself.
    bare = not isinstance(first, dict)
    keys = [None if bare and name is None else _key(source, name, first) for name in names]
    columns: list[list[Any]] = [[] for _ in names]
    for number, line in enumerate(lines, 1):
        value = _json(source, line, number)
        for key, column in zip(keys, columns, strict=True):
            if key is None:
                column.append(value)
            elif not isinstance(value, dict):
                source.fail(f"expected an object with the key {quoted(key)}, got {_shown(value)}", number)
            elif key not in value:
                source.fail(str(unknown_name("key", key, value)), number)
            else:
                column.append(value[key])
    return [
        Column(source.label(name), column, range(1, len(lines) + 1))
        for name, column in zip(names, columns, strict=True)
    ]


def _keys(source: Source) -> list[str]:
    first = _json(source, split_lines(source.text())[0], 1)
    return list(first) if isinstance(first, dict) else []


def _key(source: Source, name: str | None, first: Any) -> str:
    if not isinstance(first, dict):
        source.fail(f"expected an object with the key {quoted(name)}, got {_shown(first)}", 1)
    return _choice(source, "key", name, list(first))


def _json(source: Source, line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        got = f"{quoted(line)} ({error.msg}, character {error.pos + 1})" if line.strip() else "an empty line"
        source.fail(f"expected a JSON value, got {got}", number)
    except (ValueError, RecursionError) as error:  # thousands of digits, thousands of brackets
        source.fail(f"expected a JSON value, got one that cannot be read: {error}", number)


def _shown(value: object) -> str:
    """A JSON value in an error: its kind, and itself as far as it is short."""
    if value is None:
        return "null"
    kinds = {bool: "", str: "the string ", int: "the number ", float: "the number ", list: "a list", dict: "an object"}
    shown = "" if isinstance(value, list | dict) else json.dumps(value, ensure_ascii=False)
    return kinds[type(value)] + shortened(shown)


def _conllu(source: Source, names: Names) -> list[Column]:
    for name in names:
        if name is not None:
            source.fail(f"CoNLL-U has no columns of segments that #{display_name(name)} could choose from")
    lines = split_lines(source.text())
    if lines[-1]:  # the end of the file ends the last sentence too
        lines.append("")
    while len(lines) > 1 and not lines[-1] and not lines[-2]:  # more than one at the end of the file
        lines.pop()
    blocks: list[str] = []
    first_lines: list[int] = []
    start = 0
    for number, line in enumerate(lines):
        if line:
            continue
        if number == start:
            source.fail(
                "expected a sentence, got an empty line; a segment without words is a comment alone", number + 1
            )
        blocks.append("\n".join(lines[start:number]))
        first_lines.append(start + 1)
        start = number + 1
    broken = _core.broken_parse(blocks)
    if broken is not None:
        block, line_of_block, expected, got = broken
        source.fail(f"expected {expected}, got {shortened(got)}", first_lines[block] + line_of_block - 1)
    return [Column(source.name, blocks, first_lines, format="conllu") for _ in names]


def _choice(source: Source, kind: str, name: str | None, known: Sequence[str]) -> str:
    """The name itself if there is such a one, or the only one there is if none was asked for."""
    if name is None:
        if len(known) != 1:
            hint = f": choose one as in '{source.file}#{shortened(known[0])}'" if known else ""
            shown = f" ({listed(known)})" if known else ""
            raise InputError(display_name(f"{source.name}: expected one {kind}, got {len(known)}{shown}{hint}"))
        return known[0]
    if name not in known:
        raise InputError(f"{source.name}: {unknown_name(kind, display_name(name), known)}")
    return name


@dataclass(frozen=True, slots=True)
class Input:
    """A format.

    Attributes
    ----------
    about : str
        What a file holds, in words.
    endings : tuple of str
        What the names of such files end in.
    read : function
        From a source and the names asked for (None where none was) to a column for each. Values that are not text are
        left as they are.
    numbers : type or None
        What a number is read from: str, float for values that are numbers already, None if there are none.
    """

    about: str
    endings: tuple[str, ...]
    read: Callable[[Source, Names], list[Column]]
    numbers: type | None = None
    names: Callable[[Source], list[str]] | None = None
    references: Callable[[Source], Names] | None = None


# What a path gives: its format, and its columns.
Read: TypeAlias = tuple[Input, list[Column]]

INPUTS: Mapping[str, Input] = {
    "text": Input("one segment per line", (), _text, str),
    "mteval": Input("sets of documents of segments", (".sgm", ".sgml", ".xml"), _mteval, references=_mteval_references),
    "tsv": Input("a line with the names of the columns, then a line for each segment", (".tsv",), _tsv, str, _header),
    "jsonl": Input("one JSON value per line", (".jsonl", ".ndjson"), _jsonl, float, _keys),
    "conllu": Input("sentences, each with an empty line after it", (".conllu",), _conllu),
}


def format_of(file: str) -> str:
    """The format that a file's ending tells; ``text`` if it tells none.

    >>> format_of("newstest.SGM.gz"), format_of("out/online-A.0"), format_of("-")
    ('mteval', 'text', 'text')
    """
    ending = Path(uncompressed(file)).suffix.lower()
    return next((name for name, made in INPUTS.items() if ending in made.endings), "text")


def split_name(path: str) -> tuple[str, str | None]:
    """``FILE#NAME`` as file and name. What exists is a file, as far as it goes; else the ending tells.

    >>> split_name("scores.tsv#online-A"), split_name("-#mt"), split_name("C#.txt")
    (('scores.tsv', 'online-A'), ('-', 'mt'), ('C#.txt', None))
    """
    if "#" not in path or _is_there(path):
        return path, None
    cuts = [i for i, character in enumerate(path) if character == "#" and i > 0]
    for i in reversed(cuts):
        if _is_there(path[:i]) and not Path(path[:i]).is_dir():
            return path[:i], path[i + 1 :]
    for i in cuts:
        if path[:i] == STDIN or format_of(path[:i]) != "text":
            return path[:i], path[i + 1 :]
    return path, None


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name too long, a NUL in it
        return False


def read_columns(
    paths: Iterable[str | os.PathLike[str]], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> list[Column]:
    """Read columns of segments from files in any of :data:`INPUTS`; each file is read once.

    Parameters
    ----------
    paths : iterable of str
        ``FILE`` or ``FILE#NAME``, where NAME is a column of a TSV file, a key of JSON lines, or a system or reference
        of an mteval file; it may be left out if there is only one. ``-`` is standard input.
    input_format : str, optional
        A name in :data:`INPUTS`, for all files. By default the ending tells, that of a compression left aside.
    max_input : int, optional
        Largest size in bytes of a decompressed file, 4 GiB by default; see :func:`reshuffle.read_lines`.

    Returns
    -------
    list of Column
        In the order of the paths.

    Raises
    ------
    InputError
        If a file cannot be read or is not what its format wants, with the file and line; if a name does not exist,
        with the nearest that does.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("example.tsv").write_text("source\\tmt\\nja\\tyes\\nnein\\tno\\n")
    >>> read_columns(["example.tsv#mt"])
    [Column(name='example.tsv#mt', lines=['yes', 'no'], first_lines=range(2, 4), ids=None, format='text')]
    >>> Path("example.tsv").unlink()
    """
    return read_texts([], list(paths), input_format, max_input=max_input)[1]


# What segments may belong to, by the name of one and of several.
PLURALS = {"document": "documents", "stratum": "strata"}


def read_texts(
    references: Sequence[str | os.PathLike[str]],
    systems: Sequence[str | os.PathLike[str]],
    input_format: str | None = None,
    ids: Mapping[str, str | os.PathLike[str]] | None = None,
    max_input: int = MAX_INPUT,
) -> tuple[list[Column], list[Column], dict[str, Column]]:
    """Columns of references and of systems, as :func:`read_columns` reads them; and ids of what segments belong to.

    ``ids`` are paths by what they name, in :data:`PLURALS`. Of a file with several references all are read if
    none is named: a reference may be several columns.
    """
    ids = ids or {}
    read = _read([*references, *systems], input_format, len(references), list(ids.values()), max_input)
    read, of_ids = read[: len(read) - len(ids)], read[len(read) - len(ids) :]
    named = {of: _ids(of, *_only(each)) for of, each in zip(ids, of_ids, strict=True)}
    for made, columns in read:
        for column in columns if made.numbers is float else ():
            _check_strings(column)
    n = len(references)
    of_references, of_systems = ([c for _, columns in part for c in columns] for part in (read[:n], read[n:]))
    return of_references, of_systems, named


def _only(read: Read) -> tuple[Input, Column]:
    made, (column,) = read
    return made, column


def _read(
    paths: Iterable[str | os.PathLike[str]],
    input_format: str | None,
    n_references: int = 0,
    ids: Sequence[str | os.PathLike[str]] = (),
    max_input: int = MAX_INPUT,
) -> list[Read]:
    """The columns of each path, which are one but for references; these come first, and ids last.

    A file of ids is not of the format given unless it is one of the paths.
    """
    if input_format is not None:
        check_name("input format", input_format, list(INPUTS))
    split = [split_name(os.fspath(path)) for path in paths]
    given = {file for file, _ in split}
    split += [split_name(os.fspath(path)) for path in ids]
    if split.count((STDIN, None)) > 1:
        raise InputError("standard input (-) can be read only once")
    formats = {file: INPUTS[(input_format if file in given else None) or format_of(file)] for file, _ in split}
    read: list[Read] = [(formats[file], []) for file, _ in split]
    for file, made in formats.items():
        source = Source(file, read_bytes(file, made.about, max_input))
        wanted: list[tuple[int, str | None]] = []
        for i, (of, name) in enumerate(split):
            if of == file:
                find = made.references if name is None and i < n_references else None
                wanted += [(i, each) for each in (find(source) if find else [name])]
        for (i, _), column in zip(wanted, made.read(source, [name for _, name in wanted]), strict=True):
            read[i][1].append(column)
    return read


def _check_strings(column: Column) -> None:
    for segment, value in enumerate(column.lines, 1):
        if isinstance(value, str):
            if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
                raise InputError(f"{column.place(segment)}: not valid Unicode, it holds half of a surrogate pair")
        elif value is not None:
            raise InputError(f"{column.place(segment)}: expected a string, got {_shown(value)}")


def read_numbers(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> list[float]:
    """Read a column of numbers: lines of text, a column of a TSV file, or a key of JSON lines.

    Parameters
    ----------
    path : str
        ``FILE`` or ``FILE#NAME``, as for :func:`read_columns`.
    input_format : str, optional
        ``text``, ``tsv`` or ``jsonl``; by default the ending tells.
    max_input : int, optional
        As for :func:`read_columns`.

    Returns
    -------
    list of S float

    Raises
    ------
    InputError
        As :func:`read_columns`, and for what is not a finite number or is of several systems.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("comet.jsonl").write_text('{"id": 1, "score": 0.875}\\n{"id": 2, "score": -1}\\n')
    >>> read_numbers("comet.jsonl#score")
    [0.875, -1.0]
    >>> Path("comet.jsonl").unlink()
    """
    by_system = read_scores(path, input_format, max_input=max_input)
    if list(by_system) != [None]:
        raise InputError(
            f"{display_name(os.fspath(path))} holds the scores of {len(by_system)} systems "
            f"({listed(map(str, by_system))}), expected those of one; --scores NAME takes such a file alone"
        )
    return by_system[None]


def read_scores(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> dict[str | None, list[float]]:
    """Numbers by system, if the file has the columns or keys ``segment`` and ``system``; else all of them under None.

    That is the layout of ``reshuffle score --segments``.

    Raises
    ------
    InputError
        As :func:`read_columns`; for what is not a finite number; if a segment is missing for a system, or comes twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("long.tsv").write_text("segment\\tsystem\\tBLEU\\n1\\ta\\t20\\n1\\tb\\t30\\n")
    >>> read_scores("long.tsv#BLEU")
    {'a': [20.0], 'b': [30.0]}
    >>> Path("long.tsv").unlink()
    """
    if input_format is not None:
        check_name("input format", input_format, list(INPUTS))
    file, name = split_name(os.fspath(path))
    used = input_format or format_of(file)
    made = INPUTS[used]
    if made.numbers is None:
        with_numbers = ", ".join(name for name, made in INPUTS.items() if made.numbers is not None)
        raise InputError(
            f"{display_name(os.fspath(path))}: files of the format {used} hold no numbers; these do: {with_numbers}"
        )
    source = Source(file, read_bytes(file, made.about, max_input))
    by_system = made.names is not None and {"segment", "system"} <= set(made.names(source))
    column, *keys = made.read(source, [name, "segment", "system"] if by_system else [name])
    numbers = _finite(column, _parsed if made.numbers is str else _converted)
    return _by_system(numbers, *keys) if by_system else {None: numbers}


def _finite(column: Column, convert: Callable[[Any], float]) -> list[float]:
    numbers = [convert(value) for value in column.lines]
    for segment, number in enumerate(numbers, 1):
        if not math.isfinite(number):
            value = column.lines[segment - 1]
            shown = quoted(value) if isinstance(value, str) and convert is _parsed else _shown(value)
            raise InputError(f"{column.place(segment)}: expected a finite number, got {shown}")
    return numbers


def _by_system(numbers: Sequence[float], segments: Column, systems: Column) -> dict[str | None, list[float]]:
    """Segments are in the order of the first system."""
    found: dict[str | None, dict[str, float]] = {}
    for row, (number, segment, system) in enumerate(zip(numbers, segments.lines, systems.lines, strict=True), 1):
        if not isinstance(system, str):
            raise InputError(f"{systems.place(row)}: expected a string, got {_shown(system)}")
        scores = found.setdefault(system, {})
        if str(segment) in scores:
            raise InputError(
                f"{segments.place(row)}: segment {shortened(str(segment))} of the system {quoted(system)} "
                "is given twice"
            )
        scores[str(segment)] = number
    first = next(iter(found))
    for system in found:
        for having, lacking in ((first, system), (system, first)):
            missing = next((segment for segment in found[having] if segment not in found[lacking]), None)
            if missing is not None:
                place = segments.name.removesuffix("#segment")
                raise InputError(
                    f"{place}: the system {quoted(lacking)} lacks segment {shortened(missing)}, which "
                    f"{quoted(having)} has"
                )
    return {system: [scores[segment] for segment in found[first]] for system, scores in found.items()}


def _parsed(text: str) -> float:
    """NaN for what is no number; float() alone would take 1_000."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _converted(value: object) -> float:
    try:
        return math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        return math.inf


def read_documents(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> list[str]:
    """Read the id of each segment's document.

    Lines of text, a column of a TSV file, a key of JSON lines, or the documents of an mteval file.

    Parameters
    ----------
    path : str
        ``FILE`` or ``FILE#NAME``, as for :func:`read_columns`.
    input_format : str, optional
        ``text``, ``tsv``, ``jsonl`` or ``mteval``; by default the ending tells.
    max_input : int, optional
        As for :func:`read_columns`.

    Returns
    -------
    list of S str

    Raises
    ------
    InputError
        As :func:`read_columns`, and for an id that is empty or neither string nor integer.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("talks.tsv").write_text("talk\\ttext\\n7\\tHello.\\n7\\tBye.\\n8\\tHello.\\n")
    >>> read_documents("talks.tsv#talk")
    ['7', '7', '8']
    >>> Path("talks.tsv").unlink()
    """
    return list(_ids("document", *_only(_read([path], input_format, max_input=max_input)[0])).lines)


def read_strata(
    path: str | os.PathLike[str], input_format: str | None = None, *, max_input: int = MAX_INPUT
) -> list[str]:
    """Read the id of each segment's stratum, in any form in which :func:`read_documents` reads those of documents.

    Parameters
    ----------
    path, input_format, max_input
        As for :func:`read_documents`. The strata of an mteval file are its documents.

    Returns
    -------
    list of S str

    Raises
    ------
    InputError
        As :func:`read_documents`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("parts.txt").write_text("news\\nnews\\ntalks\\n")
    >>> read_strata("parts.txt")
    ['news', 'news', 'talks']
    >>> Path("parts.txt").unlink()
    """
    return list(_ids("stratum", *_only(_read([path], input_format, max_input=max_input)[0])).lines)


def _ids(of: str, made: Input, column: Column) -> Column:
    """The ids of the segments' documents or strata."""
    if column.format == "conllu":
        raise InputError(
            f"{column.name}: CoNLL-U holds no ids of {PLURALS[of]}; give them as text, TSV, JSON lines or mteval"
        )
    ids = column.lines if column.ids is None else [document for document, _ in column.ids]
    for segment, value in enumerate(ids, 1):
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            shown = quoted(value) if made.numbers is not float else _shown(value)
            raise InputError(f"{column.place(segment)}: expected the id of a {of}, got {shown}")
    return replace(column, lines=[str(value) for value in ids])


def read_conllu(path: str | os.PathLike[str], *, max_input: int = MAX_INPUT) -> list[str]:
    """The sentences of a CoNLL-U file as one string each: their lines, comments among them, joined by LF.

    One sentence is one segment. :func:`read_columns` tells on which line of the file each begins.

    Raises
    ------
    InputError
        If the file cannot be read or is not CoNLL-U, with the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> word = "\\t".join("1 Yes yes INTJ _ _ 0 root _ _".split())
    >>> _ = Path("a.conllu").write_text(f"# text =\\n\\n# text = Yes\\n{word}\\n\\n")
    >>> [sentence.count("\\n") for sentence in read_conllu("a.conllu")]
    [0, 1]
    >>> Path("a.conllu").unlink()
    """
    return list(read_columns([path], "conllu", max_input=max_input)[0].lines)


def check_parses(parses: Column, texts: Column) -> None:
    """Raise :class:`InputError` unless the words of every parse are those of the text, white space left aside.

    Examples
    --------
    >>> parses = Column("a.conllu", ["1-2\\tdu\\t…\\n1\\tde\\t…\\n2\\tle\\t…\\n3\\tpain\\t…"], [1], format="conllu")
    >>> check_parses(parses, Column("a.txt", ["du pain"], [1]))
    >>> check_parses(parses, Column("a.txt", ["du vin"], [1]))
    Traceback (most recent call last):
    reshuffle.errors.InputError: a.conllu, line 1: segment 1 is not that of a.txt, line 1: expected 'vin', got 'pain'
    """
    if len(parses.lines) != len(texts.lines):
        raise InputError(
            f"{parses.name} has {len(parses.lines):,} sentences, {texts.name} {len(texts.lines):,} segments: "
            "every segment needs a sentence, if only a comment"
        )
    for segment, (parse, text) in enumerate(zip(parses.lines, texts.lines, strict=True), 1):
        if text is None:
            continue
        got, expected = _text_of(parse), "".join(text.split())
        if got != expected:
            same = next(i for i, (a, b) in enumerate(zip(got + "\0", expected + "\1", strict=False)) if a != b)
            shown = [repr(words[same : same + 20]) if words[same:] else "the end" for words in (expected, got)]
            raise InputError(
                f"{parses.place(segment)}: segment {segment} is not that of {texts.place(segment)}: "
                f"expected {shown[0]}, got {shown[1]}"
            )


def _text_of(parse: str) -> str:
    """The text that was parsed, without white space: multiword tokens in the place of their words, no empty nodes."""
    forms: list[str] = []
    covered = 0
    for line in parse.split("\n"):
        if line.startswith("#"):
            continue
        number, form = line.split("\t", 2)[:2]
        start, _, end = number.partition("-")
        if end.isdecimal():
            covered = int(end)
            forms.append(form)
        elif start.isdecimal() and int(start) > covered:
            forms.append(form)
    return "".join("".join(forms).split())


def aligned(columns: Sequence[Column]) -> list[Column]:
    """Columns with ids, in the order of the first that has any; others are left as they are.

    Raises
    ------
    InputError
        If a segment of one is missing in another.

    Examples
    --------
    >>> one = Column("ref.sgm", ["x", "y"], [1, 2], [("d", "1"), ("d", "2")])
    >>> two = Column("sys.sgm", ["Y", "X"], [1, 2], [("d", "2"), ("d", "1")])
    >>> aligned([one, two])[1].lines
    ['X', 'Y']
    """
    first = next((column for column in columns if column.ids is not None), None)
    return [column if first is None or column is first else _aligned(first, column) for column in columns]


def _aligned(first: Column, column: Column) -> Column:
    if column.ids is None or first.ids is None or column.ids == first.ids:
        return column
    index = {key: i for i, key in enumerate(column.ids)}
    _check_same(first, column, first.ids, index)
    _check_same(column, first, column.ids, set(first.ids))
    order = [index[key] for key in first.ids]
    return Column(
        column.name, [column.lines[i] for i in order], [column.first_lines[i] for i in order], list(first.ids)
    )


def _check_same(
    having: Column, lacking: Column, ids: Sequence[tuple[str, str]], known: Iterable[tuple[str, str]]
) -> None:
    there = known if isinstance(known, dict | set) else set(known)
    missing = [(segment, key) for segment, key in enumerate(ids, 1) if key not in there]
    if not missing:
        return
    segment, (document, number) = missing[0]
    if all(other != document for other, _ in there):
        what = f"the document {quoted(document)}"
    else:
        what = f"segment {quoted(number)} of the document {quoted(document)}"
    more = f" ({len(missing):,} segments are missing)" if len(missing) > 1 else ""
    raise InputError(f"{lacking.name} lacks {what}, which {having.place(segment)} has{more}")
