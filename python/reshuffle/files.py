"""Files as bytes, text and lines: compression, UTF-8, what ends a line, and standard input."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

from .errors import InputError, quoted

__all__ = ["read_lines"]

STDIN = "-"

# By content rather than by ending, so that standard input may be compressed too.
COMPRESSIONS: tuple[tuple[str, bytes, str, Callable[[bytes], bytes]], ...] = (
    ("gzip", b"\x1f\x8b", ".gz", gzip.decompress),
    ("bzip2", b"BZh", ".bz2", bz2.decompress),
    ("xz", b"\xfd7zXZ\x00", ".xz", lzma.decompress),
)


def display_name(path: str) -> str:
    """A path as it can be printed, whatever bytes it holds."""
    return "standard input" if path == STDIN else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed(name: str) -> str:
    """The name of a file without the ending of a compression.

    >>> uncompressed("a.tsv.gz"), uncompressed("a.tsv")
    ('a.tsv', 'a.tsv')
    """
    return next((name[: -len(ending)] for _, _, ending, _ in COMPRESSIONS if name.lower().endswith(ending)), name)


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a UTF-8 file, without their ends; ``-`` is standard input.

    gzip, bzip2 and xz are recognised by their first bytes. A line ends at LF or CRLF and nowhere else: U+2028, U+0085,
    a lone CR and the like are characters of the line, and so is U+FEFF, wherever it stands.

    Raises
    ------
    InputError
        If the file cannot be read or decompressed, is empty, or is not UTF-8; with the line and byte.
    """
    path = os.fspath(path)
    name = display_name(path)
    return split_lines(decoded(read_bytes(path, "one segment per line"), name))


def read_bytes(path: str, expected: str) -> bytes:
    """What a file holds, decompressed; ``expected`` says in words what it should hold."""
    name = display_name(path)
    data = _decompressed(_bytes(path), name)
    if not data:
        raise InputError(f"{name} is empty: expected {expected}")
    return data


def decoded(data: bytes, name: str) -> str:
    """UTF-8 as text, or an error that tells the line and the byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{name}, line {line}, byte {column}: 0x{data[error.start]:02x} is not valid UTF-8; "
            f"convert the file to UTF-8 first (byte {error.start + 1} of the file)"
        ) from None


def split_lines(text: str) -> list[str]:
    """The lines of a text, which end at LF or CRLF and nowhere else; the last one may lack its end."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _bytes(path: str) -> bytes:
    name = display_name(path)
    if not path:
        raise InputError("expected the name of a file, got an empty one")
    if path == STDIN and sys.stdin is None:
        raise InputError("standard input is closed: there is nothing to read from -")
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a directory: expected a file") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{quoted(name)} cannot be read: {error}") from None


def _decompressed(data: bytes, name: str) -> bytes:
    for what, magic, _, decompress in COMPRESSIONS:
        if data.startswith(magic):
            try:
                return decompress(data)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise InputError(f"{name} looks like {what} but cannot be decompressed: {error}") from None
    return data
