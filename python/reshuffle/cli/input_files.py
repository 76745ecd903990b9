"""The files that results are read from: their digests, and whether they are still the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..data.files import CHUNK, STDIN, display_name, opened
from ..data.reading import path_is, split_name
from ..errors import counted
from ..results import InputFile


def input_files(paths: Iterable[str]) -> tuple[InputFile, ...]:
    """The files of paths ``FILE`` and ``FILE#NAME``, each once."""
    files = dict.fromkeys(file for file, _ in map(split_name, paths))
    once = {file for file in files if file == STDIN or path_is(file, Path.is_fifo)}
    there = {file for file in files if path_is(file, Path.is_file)}
    folders = [str(Path(file).parent) for file in there if Path(file).is_absolute()]
    if len(folders) < len(there):  # beside others, which are in the current folder
        folders = [str(Path.cwd())]
    try:
        common = os.path.commonpath(folders) if folders else None
    except ValueError:  # on several drives
        common = None
    return tuple(
        InputFile(STDIN, None, None) if file in once else _read(file, common)
        for file in files
        if file in once or file in there
    )


def files_here(saved: Iterable[InputFile]) -> list[InputFile | None]:
    """The files of the same names in the current folder; None where there is none."""
    return [_read(file.name) if path_is(file.name, Path.is_file) else None for file in saved]


def unknown_files(saved: Sequence[InputFile]) -> dict[str, str]:
    """The names that do not tell which file was read, and why."""
    names = [file.name for file in saved]
    return {
        file.name: "standard input or a pipe" if file.sha256 is None else "the name of several files"
        for file in saved
        if file.sha256 is None or names.count(file.name) > 1
    }


def changes(saved: Sequence[InputFile], now: Sequence[InputFile | None]) -> list[str]:
    """What differs about each file that is not the one that a result was read from, if there are as many."""
    both = zip(saved, now, strict=True) if len(saved) == len(now) else ()
    return [_change(file, each) for file, each in both if each is None or each.sha256 != file.sha256]


def other_files(saved: Sequence[InputFile], now: Sequence[InputFile]) -> list[str]:
    """The files that only one of two results was read from, if their numbers differ."""
    if not saved or len(saved) == len(now):
        return []

    names, own = {file.name for file in saved}, {file.name for file in now}
    before, after = [file for file in saved if file.name not in own], [file for file in now if file.name not in names]
    # The common folder of absolute paths is another one with other files.
    moved = {file.sha256 for file in before} & {file.sha256 for file in after}
    return [f"{file.name}: not read any more" for file in before if file.sha256 not in moved] + [
        f"{file.name}: not read before" for file in after if file.sha256 not in moved
    ]


def _change(saved: InputFile, now: InputFile | None) -> str:
    if now is None:
        return f"{saved.name}: no such file here"
    is_same = Path(saved.name).name == Path(now.name).name
    what = "has changed since" if is_same else f"in place of {saved.name}"
    return f"{now.name} {what}: {_shown(now)}; was {_shown(saved)}"


def _read(file: str, common: str | None = None) -> InputFile:
    """The digest of a file. Absolute paths are named from ``common``, a folder."""
    path, digest, size = Path(file), hashlib.sha256(), 0

    def read() -> None:
        nonlocal size
        with path.open("rb", buffering=0) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)

    opened(file, read)
    if path.is_absolute():
        file = path.name if common is None else Path(os.path.relpath(file, common)).as_posix()
    return InputFile(display_name(file), size, digest.hexdigest())


def _shown(file: InputFile) -> str:
    if file.size is None or file.sha256 is None:
        return "standard input or a pipe"
    return f"{counted(file.size, 'byte')}, SHA-256 {file.sha256[:16]}…"
