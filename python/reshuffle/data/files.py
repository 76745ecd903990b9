"""Files as bytes, text and lines: compression, UTF-8, what ends a line, and standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ..errors import InputError, quoted
from ..validate import check_integer

__all__ = ["read_lines"]

STDIN = "-"

# By content rather than by ending, so that standard input may be compressed too.
COMPRESSIONS: tuple[tuple[str, bytes, str, Callable[[IO[bytes]], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]], ...] = (
    ("gzip", b"\x1f\x8b", ".gz", lambda packed: gzip.GzipFile(fileobj=packed)),
    ("bzip2", b"BZh", ".bz2", bz2.BZ2File),
    ("xz", b"\xfd7zXZ\x00", ".xz", lzma.LZMAFile),
)

MAX_INPUT = 4 << 30
"""Largest size in bytes of a compressed file after decompression, unless the caller says otherwise."""

# Bytes decompressed per call: many enough that the call costs little, few beside the size of a text.
CHUNK = 1 << 20


def display_name(path: str) -> str:
    """A path as it can be printed, whatever bytes it holds."""
    return "standard input" if path == STDIN else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed(name: str) -> str:
    """The name of a file without the ending of a compression.

    >>> uncompressed("a.tsv.gz"), uncompressed("a.tsv")
    ('a.tsv', 'a.tsv')
    """
    return next((name[: -len(ending)] for _, _, ending, _ in COMPRESSIONS if name.lower().endswith(ending)), name)


def read_lines(path: str | os.PathLike[str], *, max_input: int = MAX_INPUT) -> list[str]:
    """The lines of a UTF-8 file, without their ends; ``-`` is standard input.

    gzip, bzip2 and xz are recognised by their first bytes. A line ends at LF or CRLF and nowhere else: U+2028, U+0085,
    a lone CR and the like are characters of the line, and so is U+FEFF, wherever it stands.

    Parameters
    ----------
    path : str or path
    max_input : int, optional
        Largest size in bytes of a compressed file after decompression, 4 GiB by default. Other files may have any size.

    Raises
    ------
    InputError
        If the file cannot be read or decompressed, grows beyond ``max_input``, is empty, or is not UTF-8; with the line
        and byte.
    """
    path = os.fspath(path)
    name = display_name(path)
    return split_lines(decoded(read_bytes(path, "one segment per line", max_input), name))


def read_bytes(path: str, expected: str, max_input: int = MAX_INPUT) -> bytes:
    """A file's content, decompressed to at most ``max_input`` bytes; ``expected`` is for the error if it is empty."""
    name = display_name(path)
    data = _decompressed(_bytes(path), name, check_integer("max_input", max_input, 1))
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


def _decompressed(data: bytes, name: str, max_input: int) -> bytes:
    for what, magic, _, opened in COMPRESSIONS:
        if data.startswith(magic):
            try:
                with opened(io.BytesIO(data)) as stream:
                    return _limited(stream, name, max_input)
            except InputError:
                raise
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise InputError(f"{name} looks like {what} but cannot be decompressed: {error}") from None
    return data


def _limited(stream: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile, name: str, max_input: int) -> bytes:
    """The whole stream, or an error as soon as it passes the limit: a few megabytes may decompress to terabytes."""
    whole = io.BytesIO()
    while chunk := stream.read(CHUNK):
        if whole.tell() + len(chunk) > max_input:
            raise InputError(
                f"{name} is larger than {shown_size(max_input)} when decompressed: if that is intended, raise the "
                "limit with max_input (--max-input)"
            )
        whole.write(chunk)
    return whole.getvalue()


UNITS = ("", "K", "M", "G", "T")


def parse_size(text: str) -> int:
    """A number of bytes: K and KiB, M and MiB … are powers of 1024, KB, MB … powers of 1000.

    Raises
    ------
    InputError
        If the text is not a size, or less than a byte.

    Examples
    --------
    >>> parse_size("4GiB") == parse_size("4g") == 4 * 1024**3, parse_size("1.5 MB"), parse_size("123")
    (True, 1500000, 123)
    """
    from fractions import Fraction

    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?) ?([kmgt]?)(i?b)?", text.strip(), re.IGNORECASE | re.ASCII)
    if found and (found[2] or (found[3] or "b").lower() == "b"):
        base = 1000 if found[2] and (found[3] or "").lower() == "b" else 1024
        size = int(Fraction(found[1]) * base ** UNITS.index(found[2].upper()))
        if size >= 1:
            return size
    raise InputError(f"expected a size of at least 1 byte, such as 500M, 4GiB or 100000, got {quoted(text)}")


def shown_size(size: int) -> str:
    """A number of bytes in the largest binary unit that divides it.

    >>> shown_size(4 << 30), shown_size(1_000_000), shown_size(1)
    ('4 GiB', '1,000,000 bytes', '1 byte')
    """
    power = max(power for power in range(len(UNITS)) if size % 1024**power == 0)
    if power:
        return f"{size >> 10 * power:,} {UNITS[power]}iB"
    return f"{size:,} byte{'s' * (size != 1)}"
