"""Texts: reading them from files, naming the systems, and checking that everything lines up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted, warn
from .alignment import aligned
from .files import MAX_INPUT, STDIN, display_name, uncompressed
from .formats.base import Column
from .reading import PLURALS, read_texts, split_name

__all__ = [
    "Corpus",
    "check_order",
    "listed_segments",
    "missing",
    "named_columns",
    "numbered",
    "read_corpus",
    "reference_columns",
    "system_names",
]

Lines: TypeAlias = Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True)
class Corpus:
    """Systems' outputs and references for the same segments.

    Attributes
    ----------
    systems : mapping of str to S hypotheses
        In order; at least one.
    references : columns of S references
        At least one. None stands for a reference that is missing.
    reference_names : tuple of str
        What to call the columns in messages.
    sources : tuple of Column
        Where references, then systems, were read from: files, and the line on which each segment begins. Empty for
        texts in memory.
    documents : sequence of S str, or None
        The id of each segment's document, if it was read.
    strata : sequence of S str, or None
        The same of its stratum.

    Raises
    ------
    InputError
        If nothing is given, lengths differ, or no reference holds any text.
    """

    systems: Mapping[str, Lines]
    references: Sequence[Sequence[str | None]]
    reference_names: Sequence[str] = ()
    sources: Sequence[Column] = field(default=(), repr=False, compare=False)
    documents: Sequence[str] | None = field(default=None, repr=False)
    strata: Sequence[str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.references and (self.references[0] is None or isinstance(self.references[0], str)):
            object.__setattr__(self, "references", reference_columns(self.references))
        for name, lines in self.systems.items():
            if isinstance(lines, str):
                raise InputError(f"{name}: expected a sequence of segments, got a single string")
        if not self.references:
            raise InputError("no references: at least one column of references is needed")
        if not self.systems:
            raise InputError("no systems: at least one system's output is needed")
        names = self.reference_names or [f"references[{i}]" for i in range(len(self.references))]
        columns: list[tuple[str, Sequence[str | None]]] = list(zip(names, self.references, strict=True))
        columns += self.systems.items()
        first_name, expected = columns[0][0], len(columns[0][1])
        if expected == 0:
            raise InputError(f"{first_name} is empty: at least one segment is needed")
        odd = [(name, len(lines)) for name, lines in columns if len(lines) != expected]
        if odd:
            others = ", ".join(f"{name} has {length:,}" for name, length in odd)
            hint = _empty_ends(columns)
            raise InputError(f"numbers of segments differ: {first_name} has {expected:,}, {others}{hint}")
        if not any(line and not line.isspace() for column in self.references for line in column):
            raise InputError(f"all references are empty: there is nothing to compare with in {', '.join(names)}")

    def check(self) -> None:
        """Warn of texts that can be compared but are probably not those that were meant.

        Warns
        -----
        InputWarning
            If a system is the same as a reference or as another system, or if the last segment of only one text is
            empty. There are no warnings for a single segment, where this is common.
        """
        if self.n_segments < 2:
            return
        references = [(_numbered_reference(i, len(self.references)), c) for i, c in enumerate(self.references, 1)]
        first: list[tuple[str, Sequence[str | None]]] = []
        for name, lines in self.systems.items():
            for what, column in references:
                if lines == column:
                    warn(
                        f"the output of the system {name!r} is the same as {what}: is the reference given as a system?"
                    )
            same = next((other for other, column in first if column == lines), None)
            if same is None:
                first.append((name, lines))
            else:
                warn(f"the outputs of the systems {same!r} and {name!r} are the same: is a file given twice?")
        columns = [*references, *((f"the system {name!r}", lines) for name, lines in self.systems.items())]
        blank = [what for what, column in columns if _is_blank(column[-1])]
        if len(blank) == 1:
            warn(f"only {blank[0]} has an empty last segment: is it aligned with the other texts?")

    @property
    def n_segments(self) -> int:
        """S."""
        return len(self.references[0])

    @property
    def n_references(self) -> str:
        """References per segment as signatures give them: a number, or ``var`` if segments differ."""
        if not any(None in column for column in self.references):
            return str(len(self.references))
        counts = {sum(line is not None for line in segment) for segment in zip(*self.references, strict=True)}
        return str(counts.pop()) if len(counts) == 1 else "var"

    @classmethod
    def of(
        cls,
        references: Sequence[str | None] | Sequence[Sequence[str | None]],
        systems: Mapping[str, Lines] | Sequence[Lines],
    ) -> Corpus:
        """From texts in memory: one column of references or several; systems with names or without."""
        if isinstance(references, str) or isinstance(systems, str):
            raise InputError("expected sequences of segments, got a single string")
        named = named_columns("systems", systems)
        if named is None:
            named = numbered(listed_segments("systems", systems))
        return cls(
            {name: listed_segments(name, lines) for name, lines in named.items()},
            reference_columns(references),
        )


def _is_blank(line: str | None) -> bool:
    return isinstance(line, str) and not line.strip()


def _numbered_reference(number: int, of: int) -> str:
    return "the reference" if of == 1 else f"reference {number}"


def _empty_ends(columns: Sequence[tuple[str, Sequence[str | None]]]) -> str:
    """A hint for columns whose lengths differ only by empty segments at the end; else an empty string."""
    shortest = min(len(lines) for _, lines in columns)
    longer = [(name, lines[shortest:]) for name, lines in columns if len(lines) > shortest]
    if not all(_is_blank(line) for _, end in longer for line in end):
        return ""
    names = ", ".join(name for name, _ in longer)
    if all(len(end) == 1 for _, end in longer):
        return f"; the difference is the empty last line of {names}: remove it"
    return f"; the difference is the empty lines at the end of {names}: remove them"


def numbered(systems: Iterable[T]) -> dict[str, T]:
    """Names for systems without any.

    >>> numbered([["a"], ["b"]])
    {'system 1': ['a'], 'system 2': ['b']}
    """
    return {f"system {number}": system for number, system in enumerate(systems, 1)}


def named_columns(what: str, values: Any) -> dict[str, Any] | None:
    """The columns of a mapping or a table by name; None for values without names.

    A table is a data frame of pandas or polars, a table of Arrow or a structured array of numpy. It is recognized by
    its attributes, so that none of these packages is imported.

    Raises
    ------
    InputError
        If two columns have the same name, or values are not computed yet, as in a lazy frame.

    Examples
    --------
    >>> named_columns("scores", np.array([(1, 2.5), (3, 4.5)], dtype=[("a", int), ("b", float)]))
    {'a': array([1, 3]), 'b': array([2.5, 4.5])}
    >>> named_columns("scores", [[1, 3], [2.5, 4.5]])
    """
    if hasattr(values, "collect") and not hasattr(values, "__len__"):
        raise InputError(
            f"{what}: expected values, got a {type(values).__name__} that has none yet: call collect() first"
        )
    names = list(values) if isinstance(values, Mapping) else _column_names(values)
    if names is None:
        return None
    shown = [str(name) for name in names]
    for name in shown:
        if shown.count(name) > 1:
            raise InputError(f"{what}: {shown.count(name)} columns are called {name!r}: each needs a name of its own")
    return {str(name): values[name] for name in names}


def _column_names(values: Any) -> list[Any] | None:
    dtype = getattr(values, "dtype", None)
    # Arrow's ``columns`` are the columns themselves; its names are ``column_names``.
    for names in (
        getattr(values, "column_names", None),
        getattr(values, "columns", None),
        getattr(dtype, "names", None),
    ):
        if names is not None and not callable(names):
            return list(names)
    return None


def missing(values: Any) -> NDArray[np.bool_] | None:
    """Which values are missing, in the shape of the values; None if values of this type cannot be missing.

    A value is missing if it is masked (numpy), null (polars, Arrow, pandas, where NaN is null too) or None.

    >>> missing(np.ma.masked_array([1, 2], mask=[False, True])), missing([1, None])
    (array([False,  True]), array([False,  True]))
    """
    names = _column_names(values)
    if names is not None:
        columns = [gone for gone in (missing(values[name]) for name in names) if gone is not None]
        return np.stack(columns, axis=-1) if columns else None
    if isinstance(values, np.ma.MaskedArray):
        return np.broadcast_to(np.asarray(values.mask, dtype=np.bool_), values.shape)
    for name in ("is_null", "isna"):  # of polars and Arrow, of pandas
        ask = getattr(values, name, None)
        if callable(ask):
            return np.asarray(ask(), dtype=np.bool_)
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object):
        return np.array([value is None or value is np.ma.masked for value in values], dtype=np.bool_)
    return None


def reference_columns(references: Any) -> list[Any]:
    """Columns of S references each; a flat list of S references is one column.

    >>> reference_columns(["a b", "c"]), reference_columns([["a b", "c"], ["a", None]])
    ([['a b', 'c']], [['a b', 'c'], ['a', None]])
    """
    named = named_columns("references", references)
    listed = listed_segments("references", references) if named is None else list(named.values())
    if listed and (listed[0] is None or isinstance(listed[0], str)):
        return [listed]
    return [listed_segments(f"references[{i}]", column) for i, column in enumerate(listed)]


def listed_segments(what: str, values: Any) -> list[Any]:
    """Anything that can be gone through, as a list: arrays, data frames' columns and generators are fine."""
    if isinstance(values, str):
        raise InputError(f"{what}: expected a sequence of segments, got a single string")
    try:
        if hasattr(values, "to_pylist"):  # Arrow's scalars are no strings
            return list(values.to_pylist())
        listed = list(values)
    except TypeError:
        raise InputError(f"{what}: expected a sequence of segments, got {quoted(values)}") from None
    gone = None if isinstance(values, list | tuple) else missing(values)
    if gone is None or gone.ndim != 1 or not gone.any():
        return listed
    return [None if is_missing else value for value, is_missing in zip(listed, gone, strict=True)]


def system_names(paths: Sequence[str]) -> list[str]:
    """Short names for files: the stem; where stems clash the file name; where names clash the folders too.

    Of ``FILE#NAME`` the name comes first, then, if the file is asked for one name only, its stem, then both.

    >>> system_names(["out/online-A.0.txt.gz", "b/sys.txt", "c/sys.txt", "-"])
    ['online-A.0', 'b/sys.txt', 'c/sys.txt', 'stdin']
    >>> system_names(["a.txt", "a.tok", "b.txt", "b.txt"])
    ['a.txt', 'a.tok', 'b', 'b#2']
    >>> system_names(["data.tsv#online-A", "data.tsv#online-B"]), system_names(["a.jsonl#mt", "b.jsonl#mt"])
    (['online-A', 'online-B'], ['a', 'b'])
    """
    split = [split_name(path) for path in paths]
    names_in: dict[str, set[str | None]] = {}
    for file, name in split:
        names_in.setdefault(file, set()).add(name)
    longer = [_ever_longer_names(file, name, alone=len(names_in[file]) == 1) for file, name in split]
    length = [0] * len(paths)
    while True:
        names = [choices[i] for choices, i in zip(longer, length, strict=True)]
        # A file that is named twice is not told apart by a longer name.
        paths_of = {name: {path for path, n in zip(paths, names, strict=True) if n == name} for name in names}
        clashing = [i for i, n in enumerate(names) if len(paths_of[n]) > 1 and length[i] + 1 < len(longer[i])]
        if not clashing:
            break
        for i in clashing:
            length[i] += 1
    unique: list[str] = []
    for name in names:
        candidates = [name, *(f"{name}#{i}" for i in range(2, len(names) + 2))]
        unique.append(next(c for c in candidates if c not in unique))
    return unique


def _ever_longer_names(file: str, name: str | None, alone: bool) -> list[str]:
    if file == STDIN:
        of_file = ["stdin"]
    else:
        shown = Path(display_name(file))
        stem = Path(uncompressed(shown.name)).stem
        of_file = [stem or shown.name, *(str(Path(*shown.parts[-d:])) for d in range(1, len(shown.parts) + 1))]
    if name is None:
        return of_file
    named = display_name(name)
    return [*([named] if named else []), *of_file[: int(alone)], *(f"{longer}#{named}" for longer in of_file)]


def check_order(option: str, files: Sequence[str], texts: Sequence[str]) -> None:
    """Raise :class:`InputError` if the name of a file matches another text than the one in the same position.

    Files are assigned to texts by position, and their names need not be related. The name of a file matches a text if
    both have a NAME, or a file name up to one of its dots, that no other file and no other text has.

    Examples
    --------
    >>> check_order("--scores COMET", ["comet.tsv#a", "comet.tsv#b"], ["out/a.txt", "out/b.txt"])
    >>> check_order("--scores COMET", ["b.comet", "a.comet"], ["out/a.txt", "out/b.txt"])
    Traceback (most recent call last):
    reshuffle.errors.InputError: --scores COMET: b.comet is in the position of out/a.txt but named like out/b.txt: ...
    """
    called = [_called(path) for path in files]
    names = [_called(path) for path in texts]
    for sets in (called, names):  # a name that several share matches none of them
        common = {name for name in set().union(*sets) if sum(name in each for each in sets) > 1}
        for each in sets:
            each -= common
    # For each text the file that is named like it, or None.
    like = [next((f for f, of_file in enumerate(called) if of_file & of_text), None) for of_text in names]
    for place, of_file in enumerate(called):
        if of_file & names[place]:
            continue
        other = next((t for t, f in enumerate(like) if f == place), None)
        if other is not None:
            shown = display_name(files[place]), display_name(texts[place]), display_name(texts[other])
            fix = "put the files in the same order"
            if None not in like and len(set(like)) == len(files):
                fix += f": {' '.join(display_name(files[f]) for f in like if f is not None)}"
            raise InputError(f"{option}: {shown[0]} is in the position of {shown[1]} but named like {shown[2]}: {fix}")


def _called(path: str) -> set[str]:
    """The names of a path: NAME of ``FILE#NAME``, and the file name up to any of its dots."""
    file, name = split_name(path)
    stem = "" if file == STDIN else uncompressed(Path(file).name)
    dots = [i for i, character in enumerate(stem) if character == "." and i > 0]
    return {called for called in (name, stem, *(stem[:i] for i in dots)) if called}


def read_corpus(
    references: Sequence[str],
    systems: Sequence[str],
    input_format: str | None = None,
    *,
    documents: str | None = None,
    strata: str | None = None,
    max_input: int = MAX_INPUT,
) -> Corpus:
    """Read files and check that they line up.

    Parameters
    ----------
    references, systems : sequences of str
        ``FILE`` or ``FILE#NAME``, as for :func:`reshuffle.data.reading.read_columns`. Segments of mteval files are
        brought into the order of the first file.
    input_format : str, optional
        A name in :data:`reshuffle.data.formats.INPUT_FORMATS`, for all files; by default the ending of each tells.
    documents : str, optional
        ``FILE`` or ``FILE#NAME`` with the id of each segment's document, as for
        :func:`reshuffle.data.reading.read_documents`; an mteval file knows them. The extension tells its format
        unless it is one of the files above.
    strata : str, optional
        The same with the id of its stratum.
    max_input : int, optional
        Largest size in bytes of a decompressed file, 4 GiB by default; see :func:`reshuffle.read_lines`.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        As :func:`reshuffle.data.reading.read_columns` and :func:`reshuffle.data.reading.read_documents`; if numbers of
        segments differ, with the number of each; if a segment of one mteval file is missing in another; if a system's
        segment is null; if standard input is named twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("all.tsv").write_text("ref\\ta\\tb\\nyes\\tyes\\tyep\\nno\\tno\\tno\\n")
    >>> read_corpus(["all.tsv#ref"], ["all.tsv#a", "all.tsv#b"]).systems
    {'a': ['yes', 'no'], 'b': ['yep', 'no']}
    >>> Path("all.tsv").unlink()
    """
    given = {of: path for of, path in zip(PLURALS, (documents, strata), strict=True) if path is not None}
    of_references, of_systems, named = read_texts(references, systems, input_format, given, max_input)
    n, m = len(of_references), len(of_references) + len(of_systems)
    columns = aligned([*of_references, *of_systems, *named.values()])
    ids = dict(zip(named, columns[m:], strict=True))
    columns = columns[:m]
    for of, column in ids.items():
        if len(column.lines) != len(columns[0].lines):
            raise InputError(
                f"{column.name} has {of} ids for {len(column.lines):,} segments, but {columns[0].name} has "
                f"{len(columns[0].lines):,} segments: expected an id for each"
            )
    of_references, of_systems = columns[:n], columns[n:]
    for column in of_systems:
        if None in column.lines:
            segment = column.lines.index(None) + 1
            raise InputError(f"{column.place(segment)}: expected a string, got null: only references may be missing")
    return Corpus(
        dict(zip(system_names(systems), (column.lines for column in of_systems), strict=True)),
        [column.lines for column in of_references],
        tuple(column.name for column in of_references),
        tuple(columns),
        *(ids[of].lines if of in ids else None for of in PLURALS),
    )
