"""Reading files and standard input: decompression, decoding of UTF-8, and splitting into lines."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

from ..errors import Argument, InputError, counted, quoted, warn
from ..validate import MAX_INPUT as MAX_INPUT
from ..validate import check_integer

T = TypeVar("T")

STDIN = "-"

# Name, first bytes, extension and module. Compression is detected by content, so that it also works on standard input.
COMPRESSIONS = (
    ("gzip", b"\x1f\x8b", ".gz", "gzip"),
    ("bzip2", b"BZh", ".bz2", "bz2"),
    ("xz", b"\xfd7zXZ\x00", ".xz", "lzma"),
)


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes, none at the end."""

    def close(self) -> None:
        """Close it."""


# Bytes decompressed per call: enough to amortize the call, and little memory compared with a text.
CHUNK = 1 << 20


# Longer names of files are cut in messages.
LONGEST_NAME = 500


def display_name(path: str) -> str:
    """A path as text, with bytes that are not UTF-8 replaced."""
    return "standard input" if path == STDIN else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uncompressed(name: str) -> str:
    """A file name without the extension of a compression.

    >>> uncompressed("a.tsv.gz"), uncompressed("a.tsv")
    ('a.tsv', 'a.tsv')
    """
    return next((name[: -len(ending)] for _, _, ending, _ in COMPRESSIONS if name.lower().endswith(ending)), name)


def is_toml(path: str) -> bool:
    """Whether a file is TOML, by its name; other manifests are JSON."""
    return uncompressed(path).lower().endswith(".toml")


# The first bytes of an array in a file of NumPy, and what to do with one.
NUMPY = b"\x93NUMPY"
ARRAYS_AS_TEXT = (
    "write scores as text, a file for each system with one on each line, by numpy.savetxt, or counts as TSV with named "
    "columns, or compare arrays in Python"
)


def read_lines(path: str | os.PathLike[str], *, max_input: int = MAX_INPUT) -> list[str]:
    """Read the lines of a UTF-8 file, without their line ends; ``-`` is standard input.

    gzip, bzip2 and xz are recognized by their first bytes. Only LF and CRLF end a line: U+2028, U+0085, a lone CR and
    so on are part of the line. So is a byte order mark (U+FEFF), even at the start of the file.

    Parameters
    ----------
    path : str or path
    max_input : int, optional
        Largest allowed size in bytes of a compressed file after decompression, 4 GiB by default. Files that are not
        compressed may have any size.

    Raises
    ------
    InputError
        If the file cannot be read or decompressed, exceeds ``max_input``, is empty, or is not UTF-8, with line and
        byte.
    """
    path = os.fspath(path)
    name = display_name(path)
    return split_lines(decoded(read_bytes(path, "one segment per line", max_input), name))


def read_bytes(path: str, expected: str, max_input: int = MAX_INPUT) -> bytes:
    """The decompressed content of a file. ``expected`` describes it in the error for an empty file."""
    name = display_name(path)
    data = _decompressed(_bytes(path), name, check_integer("max_input", max_input, 1))
    if not data:
        raise InputError(f"{name} is empty: expected {expected}")
    if data.startswith(b"PAR1"):
        raise InputError(f"{name} is a Parquet file: convert it to CSV or JSON lines first, for example with pandas")
    if data.startswith(b"PK") and b"xl/workbook.xml" in data:
        raise InputError(f"{name} is a workbook of Excel: save its sheet as CSV first")
    if data.startswith(NUMPY):
        raise InputError(f"{name} is an array of NumPy: {ARRAYS_AS_TEXT}")
    return data


def decoded(data: bytes, name: str, lines: int = 0) -> str:
    """Decode UTF-8 after so many lines of a file, or raise :class:`InputError` with line and byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError(
                f"{name} is UTF-16 text, by its first two bytes: convert the file to UTF-8 first, such as by iconv -f "
                "UTF-16 -t UTF-8"
            ) from None
        line = lines + data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        of_file = "" if lines or line == 1 else f" (byte {error.start + 1} of the file)"
        raise InputError(
            f"{name}, line {line}, byte {column}: 0x{data[error.start]:02x} is not valid UTF-8; "
            f"convert the file to UTF-8 first{of_file}"
        ) from None


def warn_of_nul(name: str, line: int) -> None:
    """Warn of a character that texts do not have."""
    warn(f"{name}, line {line} contains a NUL character (U+0000): is the file UTF-8 text?")


def warn_of_mark(name: str) -> None:
    """Warn of a byte order mark at the beginning of a text."""
    warn(
        "{file} begins with a byte order mark (U+FEFF), which is counted as part of the first word, as in sacreBLEU: "
        "to avoid this, save the file without it",
        file=name,
    )


def has_lone_surrogate(text: str) -> bool:
    """Whether the text contains half of a surrogate pair, which UTF-8 cannot encode.

    >>> has_lone_surrogate("café"), has_lone_surrogate("caf\\ud800")
    (False, True)
    """
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def check_stdin(uses: int) -> None:
    """Raise :class:`InputError` if standard input is named more than once."""
    if uses > 1:
        raise InputError("standard input (-) can supply only one text, unless -#NAME chooses columns of it")


def split_lines(text: str) -> list[str]:
    """Split at LF and CRLF and nowhere else. The last line need not have a line end."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def first_bytes(path: str) -> bytes:
    """The first bytes of a file, which show its compression; none of standard input. Errors as :func:`read_bytes`."""
    if path == STDIN:
        return b""

    def first() -> bytes:
        with Path(path).open("rb") as file:
            return file.read(8)

    return opened(path, first)


def _bytes(path: str) -> bytes:
    if path == STDIN and sys.stdin is None:
        raise InputError("standard input is closed: there is nothing to read from -")
    return opened(path, lambda: sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes())


def opened(path: str, read: Callable[[], T]) -> T:
    """What ``read`` returns. Its errors become :class:`InputError`."""
    name = display_name(path)
    if not path:
        raise InputError("expected a file name, got an empty one: was a variable of the shell not set?")
    if len(name) > LONGEST_NAME:  # a text in its place
        name = f"{quoted(name)} (a name of {len(name):,} characters)"
    try:
        with reading(name):
            return read()
    except InputError:
        raise
    except ValueError as error:  # the name contains a NUL
        raise InputError(f"{quoted(name)} cannot be read: {error}") from None


# In larger folders, only so many names are compared with that of a missing file.
MOST_NAMES = 2000


def _similar(path: object) -> str:
    """The end of the message for a missing file: the most similar one in its folder, or that this is missing, too."""
    import difflib

    if not isinstance(path, str | os.PathLike):
        return ""
    missing = Path(os.fsdecode(path))
    try:
        names = [file.name for file in islice(missing.parent.iterdir(), MOST_NAMES)]
    except FileNotFoundError:
        return f": there is no folder {missing.parent}"
    except OSError:  # the folder cannot be listed
        return ""
    nearest = difflib.get_close_matches(missing.name, names, n=1, cutoff=0.75)
    return f": did you mean {missing.with_name(nearest[0])}?" if nearest else ""


@contextlib.contextmanager
def reading(name: str, expected: str = "a file") -> Iterator[None]:
    """Turn errors of the system while a file is read into :class:`InputError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file{_similar(error.filename)}") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: expected {expected}") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None


def compression_of(start: bytes) -> tuple[str, Any]:
    """The name and the module of the compression of a file that begins so; without one, an empty name."""
    found = ((name, module) for name, magic, _, module in COMPRESSIONS if start.startswith(magic))
    name, module = next(found, ("", ""))
    return name, import_module(module) if module else None


@contextlib.contextmanager
def decompressing(name: str, compression: str) -> Iterator[None]:
    """Turn errors while a file is decompressed into :class:`InputError`."""
    import lzma
    import zlib

    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        if not compression:
            raise InputError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        raise InputError(f"{name} looks like {compression} but cannot be decompressed: {error}") from None


def _decompressed(data: bytes, name: str, max_input: int) -> bytes:
    compression, module = compression_of(data)
    if not compression:
        return data
    with decompressing(name, compression), module.open(io.BytesIO(data)) as stream:
        return Limit(name, max_input).read(stream)


def at_line(file: str, line: int | None, problem: str, **fields: Any) -> InputError:
    """The error for a line of a file, or for the file. If there are fields, ``problem`` is their template.

    >>> str(at_line("a.tsv", 3, "say with {base} where {name} begins", base=Argument("segment_base"), name="'n'"))
    "a.tsv, line 3: say with segment_base where 'n' begins"
    """
    place = {"file": file} if line is None else {"file": file, "line": line}
    template = ("{file}: " if line is None else "{file}, line {line}: ") + (problem if fields else "{problem}")
    return InputError(template, **place, **(fields or {"problem": problem}))


def unique_keys(pairs: Sequence[tuple[str, Any]], fail: Callable[[str], NoReturn]) -> dict[str, Any]:
    """An object of JSON from its entries. ``fail`` is called with a key that stands twice: one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        fail(quoted(key))
    return found


def unique_json(text: str, file: str, what: str, twice: str, hint: str = "") -> Any:
    """A JSON value of ``what``, in which no object has a key twice.

    ``twice`` says what is wrong with such a key, and ``hint`` what text that is no JSON may be.
    """

    def fail(key: str) -> NoReturn:
        raise InputError(f"{file}: {twice.format(key)}")

    try:
        return json.loads(text, object_pairs_hook=lambda pairs: unique_keys(pairs, fail))
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{file} is nested too deeply for {what}") from None
    except ValueError as error:  # not only JSONDecodeError: a number may have too many digits
        raise InputError(f"{file} is not valid JSON: {error}{hint}") from None


class Limit:
    """How many bytes a file may still have after decompression: some megabytes can decompress to terabytes."""

    def __init__(self, name: str, max_input: int) -> None:
        self.name, self.max_input = name, max_input
        self.left = max_input

    def take(self, size: int) -> None:
        """Count bytes that were decompressed. :class:`InputError` if they exceed the limit."""
        self.left -= size
        if self.left < 0:
            raise InputError(
                "{file} is larger than {size} when decompressed: if that is intended, raise the limit with {max_input}",
                file=self.name,
                size=shown_size(self.max_input),
                max_input=Argument("max_input"),
            )

    def read(self, stream: Readable) -> bytes:
        """The rest of a decompressed stream."""
        whole = io.BytesIO()
        while chunk := stream.read(CHUNK):
            self.take(len(chunk))
            whole.write(chunk)
        return whole.getvalue()

    def lines_of(self, stream: Readable) -> io.BufferedReader[Any]:
        """A decompressed stream that raises at the limit, also within a line."""
        return io.BufferedReader(_Counted(stream, self), CHUNK)


class _Counted(io.RawIOBase):
    """A decompressed stream of which a limit counts the bytes."""

    def __init__(self, stream: Readable, limit: Limit) -> None:
        self._stream, self._limit = stream, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(min(len(buffer), CHUNK))
        self._limit.take(len(chunk))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


UNITS = ("", "K", "M", "G", "T")


def parse_size(text: str) -> int:
    """Parse a number of bytes. K and KiB, M and MiB … are powers of 1024; KB, MB … are powers of 1000.

    :class:`InputError` if the text is not a size of at least one byte.

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
    """Format a number of bytes, in KiB, MiB … if it is a multiple of these.

    >>> shown_size(4 << 30), shown_size(1_000_000), shown_size(1)
    ('4 GiB', '1,000,000 bytes', '1 byte')
    """
    power = max(power for power in range(len(UNITS)) if size % 1024**power == 0)
    if power:
        return f"{size >> 10 * power:,} {UNITS[power]}iB"
    return counted(size, "byte")
