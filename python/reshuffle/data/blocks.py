"""Plain texts of the same segments, read block by block, so that they may be larger than memory."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ..errors import InputError, first_three
from .count_files import is_count_file
from .files import (
    MAX_INPUT,
    STDIN,
    Limit,
    compression_of,
    decoded,
    decompressing,
    display_name,
    opened,
    read_bytes,
    split_lines,
    warn_of_mark,
    warn_of_nul,
)
from .formats import format_of
from .formats.base import check_not_saved
from .reading import split_name

# Segments that are read at a time.
BLOCK = 1 << 16


def can_be_read_in_blocks(paths: Sequence[str], input_format: str | None) -> bool:
    """Whether all files are plain texts.

    >>> can_be_read_in_blocks(["a.txt", "-"], None), can_be_read_in_blocks(["a.txt", "b.tsv#mt"], None)
    (True, False)
    """
    split = [split_name(path) for path in paths]
    return all(name is None and (input_format or format_of(file)) == "text" for file, name in split)


class TextBlocks:
    """Files of plain text, one segment per line: an iterable of blocks, each with the lines of every file.

    Iterating raises :class:`InputError` as :func:`reshuffle.read_lines`, and if files differ in their number of lines.
    """

    def __init__(self, paths: Sequence[str], max_input: int = MAX_INPUT, size: int = BLOCK) -> None:
        self._columns: list[_Column] = []
        self._size = size
        try:
            for path in paths:
                if is_count_file(path):
                    check_not_saved(path, read_bytes(path, "one segment per line", max_input))
                self._columns.append(_Column(path, max_input))
        except BaseException:
            self.close()
            raise

    @property
    def total(self) -> int:
        """The bytes of all files; 0 for what has no size."""
        return sum(column.total for column in self._columns)

    @property
    def done(self) -> int:
        """The bytes that were read so far."""
        return sum(column.done for column in self._columns)

    def __iter__(self) -> Iterator[list[list[str]]]:
        try:
            while True:
                block = [column.read(self._size) for column in self._columns]
                if len({len(lines) for lines in block}) > 1:
                    raise self._different()
                if not block[0]:
                    return
                yield block
        finally:
            self.close()

    def close(self) -> None:
        """Close all files."""
        for column in self._columns:
            column.close()

    def _different(self) -> InputError:
        """The error for files of different lengths, after counting the rest of their lines."""
        for column in self._columns:
            while column.read(self._size):
                pass
        first, *_ = self._columns
        others = first_three([f"{c.name} has {c.lines:,}" for c in self._columns if c.lines != first.lines])
        s = "s" * (first.lines != 1)
        return InputError(f"{first.name} has {first.lines:,} segment{s}, {others}: they must match segment by segment")


class _Column:
    """The lines of one file."""

    def __init__(self, path: str, max_input: int) -> None:
        self.name, self.lines = display_name(path), 0
        self._path, self._has_nul = path, False
        self._raw: io.BufferedReader[Any] = self._opened()
        self._compression, module = compression_of(self._raw.peek(8))
        self._stream: IO[bytes] = self._raw
        if self._compression:
            self._stream = Limit(self.name, max_input).lines_of(module.open(self._raw))
        self.total = 0 if path == STDIN else Path(path).stat().st_size

    def _opened(self) -> io.BufferedReader[Any]:
        if self._path == STDIN:
            if sys.stdin is None:
                raise InputError("standard input is closed: there is nothing to read from -")
            return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
        return opened(self._path, lambda: Path(self._path).open("rb"))

    @property
    def done(self) -> int:
        """The bytes of the file that were read so far."""
        return 0 if self._path == STDIN or self._raw.closed else self._raw.tell()

    def read(self, size: int) -> list[str]:
        """The next lines; fewer only at the end."""
        with decompressing(self.name, self._compression):
            lines = list(islice(self._stream, size))
        data = b"".join(lines)
        if not self.lines and not data:
            raise InputError(f"{self.name} is empty: expected one segment per line")
        nul = -1 if self._has_nul else data.find(b"\0")
        if nul >= 0:
            self._has_nul = True
            warn_of_nul(self.name, self.lines + data.count(b"\n", 0, nul) + 1)
        if not self.lines and data.startswith(b"\xef\xbb\xbf"):
            warn_of_mark(self.name)
        text = decoded(data, self.name, self.lines)
        self.lines += len(lines)
        return split_lines(text) if text else []

    def close(self) -> None:
        """Close the file; not standard input itself."""
        self._stream.close()
        self._raw.close()
