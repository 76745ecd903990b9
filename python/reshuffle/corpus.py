"""Texts: reading them from files, naming the systems, and checking that everything lines up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from .errors import InputError, quoted
from .files import MAX_INPUT, STDIN, display_name, uncompressed
from .inputs import PLURALS, Column, aligned, read_texts, split_name

__all__ = ["Corpus", "numbered", "read_corpus", "system_names"]

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
        if not self.references:
            raise InputError("no references: at least one column of references is needed")
        if not self.systems:
            raise InputError("no systems: at least one system's output is needed")
        names = self.reference_names or [f"references[{i}]" for i in range(len(self.references))]
        columns: list[tuple[str, int]] = [(n, len(c)) for n, c in zip(names, self.references, strict=True)]
        columns += [(name, len(lines)) for name, lines in self.systems.items()]
        first_name, expected = columns[0]
        if expected == 0:
            raise InputError(f"{first_name} is empty: at least one segment is needed")
        odd = [(name, length) for name, length in columns if length != expected]
        if odd:
            others = ", ".join(f"{name} has {length:,}" for name, length in odd)
            raise InputError(f"numbers of segments differ: {first_name} has {expected:,}, {others}")
        if not any(line and not line.isspace() for column in self.references for line in column):
            raise InputError(f"all references are empty: there is nothing to compare with in {', '.join(names)}")

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
        columns = _listed("references", references)
        if columns and (columns[0] is None or isinstance(columns[0], str)):
            columns = [columns]
        if not isinstance(systems, Mapping):
            systems = numbered(_listed("systems", systems))
        return cls(
            {str(name): _listed(str(name), lines) for name, lines in systems.items()},
            [_listed(f"references[{i}]", column) for i, column in enumerate(columns)],
        )


def numbered(systems: Iterable[T]) -> dict[str, T]:
    """Names for systems without any.

    >>> numbered([["a"], ["b"]])
    {'system 1': ['a'], 'system 2': ['b']}
    """
    return {f"system {number}": system for number, system in enumerate(systems, 1)}


def _listed(what: str, values: Any) -> list[Any]:
    """Anything that can be gone through, as a list: arrays, data frames' columns and generators are fine."""
    if isinstance(values, str):
        raise InputError(f"{what}: expected a sequence of segments, got a single string")
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{what}: expected a sequence of segments, got {quoted(values)}") from None


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
        ``FILE`` or ``FILE#NAME``, as for :func:`reshuffle.inputs.read_columns`. Segments of mteval files are brought
        into the order of the first one.
    input_format : str, optional
        A name in :data:`reshuffle.inputs.INPUTS`, for all files; by default the ending of each tells.
    documents : str, optional
        ``FILE`` or ``FILE#NAME`` with the id of each segment's document, as for
        :func:`reshuffle.inputs.read_documents`; an mteval file knows them. The ending tells its format unless it is one
        of the files above.
    strata : str, optional
        The same with the id of its stratum.
    max_input : int, optional
        Bytes that a compressed file may grow to, 4 GiB by default; see :func:`reshuffle.read_lines`.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        As :func:`reshuffle.inputs.read_columns` and :func:`reshuffle.inputs.read_documents`; if numbers of segments
        differ, with the number of each; if a segment of one mteval file is missing in another; if a system's segment is
        null; if standard input is named twice.

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
                f"{column.name} has the {PLURALS[of]} of {len(column.lines):,} segments, {columns[0].name} has "
                f"{len(columns[0].lines):,}: expected an id for each segment"
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
