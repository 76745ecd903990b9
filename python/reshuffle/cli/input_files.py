"""The files that results are read from: their digests, and whether they are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..data.files import CHUNK, STDIN, display_name, opened
from ..data.reading import path_is, split_name
from ..errors import counted
from ..results import InputFile


def input_files(paths: Iterable[str]) -> tuple[InputFile, ...]:
    """The files of paths ``FILE`` and ``FILE#NAME``, each once, but not those that can be read only once."""
    files = dict.fromkeys(file for file, _ in map(split_name, paths) if file != STDIN)
    return tuple(_read(file) for file in files if path_is(file, Path.is_file))


def files_here(saved: Iterable[InputFile]) -> list[InputFile | None]:
    """The files of the same names in the current folder; None where there is none."""
    return [_read(file.name) if path_is(file.name, Path.is_file) else None for file in saved]


def changes(saved: Sequence[InputFile], now: Sequence[InputFile | None]) -> list[str]:
    """What differs about each file that is not the one that a result was read from, if there are as many."""
    both = zip(saved, now, strict=True) if len(saved) == len(now) else ()
    return [_change(file, each) for file, each in both if each is None or each.sha256 != file.sha256]


def other_files(saved: Sequence[InputFile], now: Sequence[InputFile]) -> list[str]:
    """The files that only one of two results was read from, if their numbers differ."""
    names, own = [file.name for file in saved], [file.name for file in now]
    if not saved or len(saved) == len(now):
        return []
    return [f"{name}: not read any more" for name in names if name not in own] + [
        f"{name}: not read before" for name in own if name not in names
    ]


def _change(saved: InputFile, now: InputFile | None) -> str:
    if now is None:
        return f"{saved.name}: no such file here"
    is_same = Path(saved.name).name == Path(now.name).name
    what = "has changed since" if is_same else f"in place of {saved.name}"
    return f"{now.name} {what}: {_shown(now)}; was {_shown(saved)}"


def _read(file: str) -> InputFile:
    path, digest, size = Path(file), hashlib.sha256(), 0

    def read() -> None:
        nonlocal size
        with path.open("rb", buffering=0) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)

    opened(file, read)
    return InputFile(display_name(path.name if path.is_absolute() else file), size, digest.hexdigest())


def _shown(file: InputFile) -> str:
    return f"{counted(file.size, 'byte')}, SHA-256 {file.sha256[:16]}…"
