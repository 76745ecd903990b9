"""Reading texts and ids of documents and strata: from paths, ``FILE`` or ``FILE#NAME``, to columns of segments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ..errors import InputError, quoted
from ..validate import check_name
from .files import MAX_INPUT, STDIN, read_bytes
from .formats import INPUT_FORMATS, format_of
from .formats.base import Column, FileFormat, Source, shown_json

__all__ = ["read_columns", "read_conllu", "read_documents", "read_strata", "read_texts", "split_name"]

# The format of a path, and the columns that were read from it.
Read: TypeAlias = tuple[FileFormat, list[Column]]


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
    """Read columns of segments from files in any of :data:`INPUT_FORMATS`; each file is read once.

    Parameters
    ----------
    paths : iterable of str
        ``FILE`` or ``FILE#NAME``, where NAME is a column of a TSV file, a key of JSON lines, or a system or reference
        of an mteval file; it may be left out if there is only one. ``-`` is standard input.
    input_format : str, optional
        A name in :data:`INPUT_FORMATS`, for all files. By default the ending tells, that of a compression left aside.
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


def _only(read: Read) -> tuple[FileFormat, Column]:
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
        check_name("input format", input_format, list(INPUT_FORMATS))
    split = [split_name(os.fspath(path)) for path in paths]
    given = {file for file, _ in split}
    split += [split_name(os.fspath(path)) for path in ids]
    if split.count((STDIN, None)) > 1:
        raise InputError("standard input (-) can supply only one text, unless -#NAME chooses columns of it")
    formats = {file: INPUT_FORMATS[(input_format if file in given else None) or format_of(file)] for file, _ in split}
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
            raise InputError(f"{column.place(segment)}: expected a string, got {shown_json(value)}")


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


def _ids(of: str, made: FileFormat, column: Column) -> Column:
    """The ids of the segments' documents or strata."""
    if column.format == "conllu":
        raise InputError(
            f"{column.name}: CoNLL-U holds no ids of {PLURALS[of]}; give them as text, TSV, JSON lines or mteval"
        )
    ids = column.lines if column.ids is None else [document for document, _ in column.ids]
    for segment, value in enumerate(ids, 1):
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            shown = quoted(value) if made.numbers is not float else shown_json(value)
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
