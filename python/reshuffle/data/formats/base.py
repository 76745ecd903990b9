"""What all input formats share: the file to read, the columns to return, the entry in the registry, recognition."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from ...documented import record
from ...errors import Argument, InputError, listed, quoted, shortened, unknown_name
from ..files import MAX_INPUT, at_line, decoded, display_name, read_bytes, warn_of_nul

T = TypeVar("T")

# What a ZIP file begins with, and what all files that may have NUL begin with: also UTF-16, which XML allows.
ZIP = b"PK\x03\x04"
WITH_NUL = (b"\xff\xfe", b"\xfe\xff", ZIP)
# The starts of the JSON of a result, and of files of counts; what .npy files of counts have at the end.
SAVED = re.compile(rb'\s*\{\s*"schema":\s*"reshuffle\.')
COUNTS = re.compile(rb"(\x93NUMPY)|" + ZIP + rb".{26}reshuffle\.json", re.DOTALL)
CHECKSUM = re.compile(rb"\n[0-9a-f]{8}\n")
# How files of text and tables mark a missing score, in lower case. WMT's have None.
MISSING_WORDS = ("", "nan", "-nan", "na", "n/a", "none", "null")
# The numbers of inspect_ai's grades and words.
WORDS: Mapping[str, float] = {
    "C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0,
}  # fmt: skip
# What others write for right and wrong answers, in lower case; they may be texts in other columns.
GRADES = {word.lower(): number for word, number in WORDS.items()} | {
    "y": 1.0, "correct": 1.0, "right": 1.0, "pass": 1.0, "passed": 1.0,
    "incorrect": 0.0, "wrong": 0.0, "fail": 0.0, "failed": 0.0,
}  # fmt: skip


class Others(NamedTuple):
    """The columns of a table that were not asked for."""

    file: str
    header: Sequence[str]
    values: Callable[[str], Sequence[Any]]
    """The values of a column; none if some line lacks it."""


@record
class Column:
    """The segments of a file, or of one column, key or system in it."""

    name: str
    """``FILE`` or ``FILE#NAME``, as the user typed it."""
    lines: Sequence[Any]
    """The text of each segment; None for a missing segment, such as null in JSON."""
    first_lines: Sequence[int]
    """The line of the file on which each segment begins, from 1."""
    ids: Sequence[tuple[str, str]] | None = None
    """The document and number of each segment, in formats that have them."""
    format: str = "text"
    """``conllu`` for parses, ``speakers`` for lines that are documents themselves, ``text`` for all other formats."""
    keys: Sequence[str] | None = field(default=None, repr=False)
    """The id of each segment as one text, of transcripts and of tables with a column of ids."""
    others: Others | None = field(default=None, repr=False, compare=False)
    """What else a table without known ids has."""

    def place(self, segment: int) -> str:
        """File and line of a segment, which counts from 1, for error messages.

        >>> Column("a.conllu", ["1\\tYes…", "# text = No\\n1\\tNo…"], [1, 3]).place(2)
        'a.conllu, line 3'
        """
        return f"{self.name}, line {self.first_lines[segment - 1]}"

    def fail(self, segment: int, problem: str) -> NoReturn:
        """Raise :class:`InputError` for a segment, which counts from 1."""
        raise at_line(self.name, self.first_lines[segment - 1], problem)

    def in_order(self, order: Sequence[int]) -> Column:
        """These segments, which count from 0, in this order."""
        return replace(
            self,
            lines=[self.lines[at] for at in order],
            first_lines=[self.first_lines[at] for at in order],
            ids=None if self.ids is None else [self.ids[at] for at in order],
            keys=None if self.keys is None else [self.keys[at] for at in order],
        )


class StrippedText(str):
    """The text of a segment in an mteval file, without white space at its ends.

    Metrics and callers see a plain string. Only mteval's international tokenization depends on white space at the ends,
    as it splits ``2014.`` differently if a space follows. It uses ``unstripped``, the text with single spaces there.
    """

    __slots__ = ("unstripped",)
    unstripped: str

    def __new__(cls, unstripped: str) -> StrippedText:
        """``unstripped`` must have no white space but single spaces."""
        text = super().__new__(cls, unstripped.strip(" "))
        text.unstripped = unstripped
        return text

    def __reduce__(self) -> tuple[type[StrippedText], tuple[str]]:
        return StrippedText, (self.unstripped,)


def check_not_saved(file: str, data: bytes) -> None:
    """:class:`InputError` for a file that begins as a result or a file of counts does, where data are expected."""
    name = display_name(file)
    if SAVED.match(data):
        show = Argument(f"reshuffle.read_json({name!r})", as_flag=f"'reshuffle show {name}'")
        raise InputError("{file} is a saved result: {show} shows it", file=name, show=show)
    counts = COUNTS.match(data)
    if counts and (counts[1] is None or CHECKSUM.fullmatch(data, len(data) - 10)):
        compare = Argument(
            f"compare(metrics=open_counts({name!r}))",
            as_flag=f"'reshuffle compare {name}', optionally with names of its systems after it",
        )
        raise InputError(
            "{file} has counts of texts ({count}), which stand in place of the reference and the outputs: write "
            "{compare}",
            file=name,
            count=Argument("save_counts", as_flag="'reshuffle count'"),
            compare=compare,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been read and decompressed."""

    file: str
    data: bytes
    max_input: int = MAX_INPUT  # for what is compressed within the file
    _parsed: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def read(cls, file: str, expected: str, max_input: int = MAX_INPUT) -> Source:
        """Read a file. Errors as :func:`~reshuffle.data.files.read_bytes` and :func:`check_not_saved`."""
        data = read_bytes(file, expected, max_input)
        check_not_saved(file, data)
        return cls(file, data, max_input)

    def __post_init__(self) -> None:
        nul = self.data.find(b"\0")
        if nul >= 0 and not self.data.startswith(WITH_NUL):
            warn_of_nul(self.name, self.data.count(b"\n", 0, nul) + 1)

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return display_name(self.file)

    def label(self, name: str | None) -> str:
        """A column's name in messages."""
        return self.name if name is None else display_name(f"{self.name}#{name}")

    def text(self) -> str:
        """The content as text, without a byte order mark."""
        text = decoded(self.data, self.name).removeprefix("\ufeff")
        if not text:
            raise InputError(f"{self.name} is empty: it contains nothing but a byte order mark")
        return text

    def once(self, parse: Callable[[Source], T]) -> T:
        """What a function returns for this file. It is called once, as several readers look at a file."""
        if parse not in self._parsed:
            self._parsed[parse] = parse(self)
        found: T = self._parsed[parse]
        return found

    def fail(self, message: str, line: int | None = None, **fields: Any) -> NoReturn:
        """Raise the error of :func:`~reshuffle.data.files.at_line`."""
        raise at_line(self.name, line, message, **fields)


# Names of the columns, keys or systems to read. None stands for the only one in the file.
Names: TypeAlias = Sequence["str | None"]


def shown_json(value: object) -> str:
    """A JSON value for error messages: its type and the truncated value."""
    if value is None:
        return "null"
    kinds = {bool: "", str: "the string ", int: "the number ", float: "the number ", list: "a list", dict: "an object"}
    shown = "" if isinstance(value, list | dict) else json.dumps(value, ensure_ascii=False)
    return kinds[type(value)] + shortened(shown)


def is_number(value: object) -> bool:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_score(value: object) -> bool:
    """Whether a JSON value is a score: a number, or true or false, which are 1 and 0."""
    return isinstance(value, int | float)


def is_finite(value: object) -> bool:
    """Whether a JSON value is a number that a float can have."""
    try:
        return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond all floats
        return False


def number_in(text: str) -> float:
    """A text as a float; NaN if it is not a number.

    >>> number_in(" 1e3"), number_in("1_000"), number_in("")
    (1000.0, nan, nan)
    """
    try:  # float() accepts 1_000, which no other program writes
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def names_in(column: Column, what: str, is_text: bool = True) -> list[str]:
    """A column of ids or names, which are texts or whole numbers. ``what`` is expected in the error for other values.

    >>> names_in(Column("a.jsonl#doc", ["talk", 7], [1, 2]), "the id of a document", False)
    ['talk', '7']
    """
    found = list(map(str, column.lines))
    if {*map(type, column.lines)} <= {str, int} and all(map(str.strip, found)):  # nearly always, and faster
        return found
    for segment, value in enumerate(column.lines, 1):
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            shown = quoted(value) if is_text else shown_json(value)
            key = column.name.partition("#")[2]
            hint = f": jq -c '. + .{key}' copies its keys to the line" if isinstance(value, dict) and key else ""
            column.fail(segment, f"expected {what}, got {shown}{hint}")
    return found


def check_unnamed(source: Source, names: Names, have: str) -> None:
    """:class:`InputError` for a name of a column, in formats without names. ``have`` is what has none."""
    for name in names:
        if name is not None:
            source.fail(f"{have} no named columns, got #{display_name(name)}: leave it out")


def choose(source: Source, kind: str, name: str | None, known: Sequence[str], fit: Sequence[str] = ()) -> str:
    """``name`` if it is known, or the only known name if ``name`` is None; otherwise :class:`InputError`.

    ``fit`` are known names that hold what is read: one of them is the example, if there are any.
    """
    if name is None:
        if len(known) != 1:
            example = next((each for each in fit or known if not each.lower().endswith("id")), None)
            hint = f": choose one as in '{source.file}#{shortened(example or known[0])}'" if known else ""
            shown = f" ({listed(known)})" if known else ""
            raise InputError(display_name(f"{source.name}: expected one {kind}, got {len(known)}{shown}{hint}"))
        return known[0]
    if name not in known:
        raise InputError(f"{source.name}: {unknown_name(kind, display_name(name), known)}")
    return name


@record
class Format:
    """A format of files. Each has texts or numbers in columns (``read``), samples of a log, or votes."""

    about: str
    """Short description of the content of a file."""
    endings: tuple[str, ...] = ()
    """File extensions, in lower case."""
    read: Callable[[Source, Names], list[Column]] = lambda source, names: []
    """Takes the file and the names of columns, and returns the columns. Values that are not strings are not converted.
    """
    numbers: type | None = None
    """How the format represents numbers: str if as text, float if as numbers, None if it has no numbers."""
    names: Callable[[Source], list[str]] | None = None
    """Returns the names of all columns, for formats with several."""
    references: Callable[[Source], Names] | None = None
    """Returns the names of all references, for formats in which one file can contain several."""
    systems: Callable[[Source], list[str]] | None = None
    """The same for systems."""
    recognizes: Callable[[str, str], bool] = lambda file, line: False
    """Whether a file of this name that begins with this line has the format."""
    samples: Callable[[Source], Any] | None = None
    """Returns the :class:`~reshuffle.data.formats._samples.Samples` of a log."""
    votes: Callable[[Source, str | None, int | None], Any] = lambda source, language_pair, base: None
    """Takes the file, the language pair or task (None for the only one) and the number of the first segment (None for
    the format's own), and returns :class:`~reshuffle.data.evaluations.Votes`.
    """
    metric: str = "bleu"
    """The metric of texts if none is named."""
    judge: str | None = None
    """The column of the people, if each row is a ranking by one of them."""


# How formats are recognized that the extension does not tell: by the name of a file, and by its beginning.

# The lines that are looked at if the first has only a bracket, and the most bytes of them.
LINES, BYTES = 4, 2000


def recognized(source: Source, formats: Mapping[str, Format]) -> str | None:
    """The name of the first of these formats that a file has, by its own name and its beginning; None for no one."""
    first = beginning(source)
    return next((name for name, each in formats.items() if each.recognizes(source.file, first)), None)


def beginning(source: Source) -> str:
    """The first line of a file, or more if the line has only a bracket."""
    line = first_line(source)
    if line.strip() not in ("{", "["):
        return line
    return b"\n".join(source.data[:BYTES].split(b"\n", LINES)[:LINES]).decode("utf-8", "replace")


def first_line(source: Source) -> str:
    """The first line of a file, as text; of a ZIP file only what it begins with. The rest is not decoded."""
    if source.data.startswith(ZIP):
        return ZIP.decode()
    line = source.data.partition(b"\n")[0]
    return Source.text(replace(source, data=line)).removesuffix("\r") if line.strip() else ""


def begins(pattern: str) -> Callable[[str, str], bool]:
    """Recognizes files that begin as a regular expression says."""
    return lambda file, line: re.match(pattern, line) is not None


def has_keys(*keys: str) -> Callable[[str, str], bool]:
    """Recognizes JSON lines whose first object has these keys."""
    return lambda file, line: line.lstrip().startswith("{") and all(f'"{key}"' in line for key in keys)


def any_of(*recognizers: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Recognizes what one of these does."""
    return lambda file, line: any(each(file, line) for each in recognizers)
