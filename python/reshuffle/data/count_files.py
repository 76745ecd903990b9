"""Files of counts: arrays that numpy can load, with a description of what they are.

``counts.npz`` is a ZIP file as :func:`numpy.savez` writes it, without compression, so that its arrays can be mapped
into memory where they are. ``reshuffle.json`` describes them. ``counts.npy`` has one array, and the description follows
it. Counts have the shape (systems, segments, columns) and as few bits as they need. This module reads and writes such
files; what the description means is known to :mod:`reshuffle.metrics.stored`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed, quoted
from .files import ARRAYS_AS_TEXT, display_name, reading

ENDINGS = (".npz", ".npy")
ABOUT = "reshuffle.json"
FORMAT, SCHEMA = "counts", 1
EXPECTED = "a file of counts, as 'reshuffle count' writes it"

# Arrays in ZIP files begin at multiples of this, so that they can be used where they are.
ALIGNMENT = 64
# The extra field that fills the gap: its number is that of Android's zipalign.
PADDING = 0xD935
# A ZIP file has the time of each member. Here it is always the same, so that the same counts give the same bytes.
NO_TIME = (1980, 1, 1, 0, 0, 0)
# Bytes that are copied or checked at a time.
PIECE = 1 << 22
# Blocks of counts stay in memory up to this size in bytes, and go to a temporary file beyond.
IN_MEMORY = 1 << 26

# What the libraries raise for files whose bytes were changed.
DAMAGES = (
    ValueError, LookupError, EOFError, ArithmeticError, TypeError, RuntimeError, SyntaxError, MemoryError, struct.error,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error
)  # fmt: skip

# NumPy's functions for the header of an array, whose types it does not declare.
NPY: Any = np.lib.format

WIDTHS = tuple(np.dtype(f"<i{size}") for size in (1, 2, 4, 8))


def is_count_file(path: str) -> bool:
    """Whether a file's ending is that of counts.

    >>> is_count_file("wmt.npz"), is_count_file("ref.txt"), is_count_file("wmt.npz.txt")
    (True, False, False)
    """
    return path.lower().endswith(ENDINGS)


def narrowest(counts: NDArray[np.int64]) -> np.dtype[Any]:
    """The smallest of 8, 16, 32 and 64 bits that hold all counts and their negatives.

    >>> narrowest(np.array([-127, 3])), narrowest(np.array([-128])), narrowest(np.array([1 << 20]))
    (dtype('int8'), dtype('int16'), dtype('int32'))
    """
    largest = max(int(counts.max()), -int(counts.min())) if counts.size else 0
    return next((width for width in WIDTHS if largest <= np.iinfo(width).max), WIDTHS[-1])


class Arrays(NamedTuple):
    """The description of a file of counts, its arrays, mapped into memory, and the checksum of each in the file."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    checksums: Mapping[str, int] = {}


class BlockSpool:
    """Counts that come in blocks of segments, (k, n, K) each, until they are written in the order of a file.

    They are kept in as few bits as each block needs, beyond 64 MB in a temporary file beside the target.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._opened: IO[bytes] | None = None
        self._blocks: list[tuple[int, np.dtype[Any], tuple[int, ...]]] = []

    @property
    def _file(self) -> IO[bytes]:
        if self._opened is None:  # not before there is something to keep, so that errors leave nothing to close
            self._opened = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=self._folder)  # noqa: SIM115 - see close
        return self._opened

    def append(self, counts: NDArray[np.int64]) -> None:
        """Add the counts of the next segments."""
        narrow = np.ascontiguousarray(counts, dtype=narrowest(counts))
        self._file.seek(0, os.SEEK_END)
        self._blocks.append((self._file.tell(), narrow.dtype, narrow.shape))
        self._file.write(narrow.tobytes())

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of all counts: (k, S, K)."""
        systems, _, columns = self._blocks[0][2]
        return systems, sum(shape[1] for _, _, shape in self._blocks), columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """The width that holds all counts."""
        return max((dtype for _, dtype, _ in self._blocks), key=lambda dtype: dtype.itemsize)

    def pieces(self) -> Iterator[bytes]:
        """All counts in the order system, segment, column, in the width that holds all of them."""
        dtype = self.dtype
        for system in range(self._blocks[0][2][0]):
            for start, own, (_, segments, columns) in self._blocks:
                size = segments * columns * own.itemsize
                self._file.seek(start + system * size)
                yield np.frombuffer(self._file.read(size), own).astype(dtype, copy=False).tobytes()

    def close(self) -> None:
        """Remove the temporary file."""
        if self._opened is not None:
            self._opened.close()


# An array to write: blocks of counts, or one that is in memory.
Writable = BlockSpool | NDArray[Any]


def write_arrays(file: IO[bytes], npy: bool, about: Mapping[str, Any], arrays: Mapping[str, Writable]) -> None:
    """Write a file of counts: an ``.npy`` with the only array, or an ``.npz``. Memory: some megabytes.

    The file need not allow seeking.
    """
    described = {"format": FORMAT, "schema": SCHEMA, **about}
    if npy:
        (array,) = arrays.values()
        check = 0
        for piece in chain([_header(array)], _pieces(array), [b"\n" + _json(described)]):
            check = zlib.crc32(piece, check)
            file.write(piece)
        file.write(_check_line(check))
        return
    counted = _Counted(file)
    with zipfile.ZipFile(cast(Any, counted), "w", zipfile.ZIP_STORED, allowZip64=True) as target:
        target.writestr(zipfile.ZipInfo(ABOUT, NO_TIME), _json(described))
        for name, array in arrays.items():
            with target.open(_member(f"{name}.npy", counted.tell()), "w", force_zip64=True) as member:
                member.write(_header(array))
                for piece in _pieces(array):
                    member.write(piece)


class _Counted:
    """A file that is written from its beginning to its end, and how many bytes it has."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._size = file, 0

    def write(self, content: bytes) -> int:
        self._file.write(content)
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation("not seekable")

    def flush(self) -> None:
        self._file.flush()


def _check_line(check: int) -> bytes:
    """The last line of an ``.npy`` file: the checksum of all other bytes."""
    return f"{check:08x}\n".encode()


def _json(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, indent=1).encode() + b"\n"


def _header(array: Writable) -> bytes:
    """The header of an ``.npy`` file, whose length is a multiple of 64."""
    header = io.BytesIO()
    described = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    NPY.write_array_header_1_0(header, described)
    return header.getvalue()


def _pieces(array: Writable) -> Iterator[bytes]:
    if isinstance(array, BlockSpool):
        yield from array.pieces()
        return
    numbers = np.ascontiguousarray(array).reshape(-1)
    step = max(1, PIECE // array.dtype.itemsize)
    for first in range(0, len(numbers), step):
        yield numbers[first : first + step].tobytes()


def _member(name: str, offset: int) -> zipfile.ZipInfo:
    """A member whose data begin at a multiple of 64, if its header begins at ``offset``."""
    member = zipfile.ZipInfo(name, NO_TIME)
    # 30 bytes of header, and 20 of an extra field with sizes of 64 bits, which Python adds.
    begin = offset + 30 + len(name.encode()) + 20 + 4
    member.extra = struct.pack("<HH", PADDING, -begin % ALIGNMENT) + bytes(-begin % ALIGNMENT)
    return member


def read_arrays(path: str | os.PathLike[str], check: bool = True) -> Arrays:
    """Map the arrays of a file of counts into memory.

    Parameters
    ----------
    path : str or path
    check : bool, optional
        Compare the bytes with their checksums. This reads the whole file once.

    Raises
    ------
    InputError
        If the file cannot be read, is no file of counts, is damaged, or has a schema that this version does not know.
    """
    path = os.fspath(path)
    name = display_name(path)
    with _problems(name), Path(path).open("rb") as file:
        start = file.read(6)
        if start.startswith(b"PK"):
            return _read_npz(file, path, name, check)
        if start == b"\x93NUMPY":
            return _read_npy(file, path, name, check)
    raise InputError(f"{name}: expected {EXPECTED}, got " + (quoted(start) if start else "an empty file"))


@contextlib.contextmanager
def _problems(name: str) -> Iterator[None]:
    """Turn what goes wrong while a file is read into :class:`InputError`."""
    with reading(name, EXPECTED):
        try:
            yield
        except InputError:
            raise
        except DAMAGES as error:
            raise InputError(f"{name} is damaged or cut off ({error}): count the texts again") from None


def _described(content: bytes, name: str) -> Mapping[str, Any]:
    """The description, after a check of its format and version."""
    about = json.loads(content)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{name}: expected {EXPECTED}, got another JSON description")
    if about.get("schema") != SCHEMA:
        raise InputError(
            f"{name} has version {quoted(about.get('schema'))} of the format of counts, and this version of reshuffle "
            f"reads {SCHEMA}: update reshuffle, or count the texts again"
        )
    return about


def _read_npz(file: IO[bytes], path: str, name: str, check: bool) -> Arrays:
    with zipfile.ZipFile(file) as members:
        names = members.namelist()
        if ABOUT not in names:
            hint = f"; {ARRAYS_AS_TEXT}" if names and all(each.endswith(".npy") for each in names) else ""
            known = listed(names) or "none"
            raise InputError(f"{name}: expected {EXPECTED}, got a ZIP file without {ABOUT}: {known}{hint}")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members.infolist()):
            raise InputError(f"{name} is compressed, and counts are mapped into memory: count the texts again")
        about = _described(members.read(ABOUT), name)
        arrays, checksums = {}, {}
        for member in members.infolist():
            if member.filename == ABOUT:
                continue
            file.seek(member.header_offset + 26)
            start = member.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
            file.seek(start)
            array = _mapped(file, path)
            end = start + member.file_size
            if file.tell() + array.nbytes != end:
                raise ValueError(f"{member.filename} has the wrong length")
            if check and _checksum(file, start, end) != member.CRC:
                raise ValueError(f"the checksum of {member.filename} is wrong")
            arrays[member.filename.removesuffix(".npy")] = array
            checksums[member.filename.removesuffix(".npy")] = member.CRC
    return Arrays(about, arrays, checksums)


def _read_npy(file: IO[bytes], path: str, name: str, check: bool) -> Arrays:
    length = len(_check_line(0))
    file.seek(-length, os.SEEK_END)
    if not re.fullmatch(rb"[0-9a-f]{8}\n", file.read()):
        raise InputError(
            f"{name}: expected {EXPECTED}, got an array that does not say what its columns are: count the texts "
            f"again, or save your own counts with reshuffle.save_counts; {ARRAYS_AS_TEXT}"
        )
    file.seek(0)
    array = _mapped(file, path)
    file.seek(file.tell() + array.nbytes)
    trailer = file.read()
    if check and trailer[-length:] != _check_line(_checksum(file, 0, file.tell() - length)):
        raise ValueError("the checksum is wrong")
    about = _described(trailer[:-length], name)
    only = str(about.get("metrics", [{}])[0].get("array"))
    return Arrays(about, {only: array}, {only: int(trailer[-length:], 16)})


def _mapped(file: IO[bytes], path: str) -> NDArray[Any]:
    """The array whose header begins here, mapped into memory. The file is left where its numbers begin."""
    version = NPY.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the format npy")
    read = NPY.read_array_header_1_0 if version == (1, 0) else NPY.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if fortran or dtype not in WIDTHS:
        raise ValueError(f"numbers of type {dtype} in {'Fortran' if fortran else 'C'} order")
    start = file.tell()
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if os.fstat(file.fileno()).st_size < start + size:
        raise ValueError(f"{size:,} bytes of counts expected")
    if size == 0:
        return np.zeros(shape, dtype)
    # A plain array that keeps the mapping: numpy's own class would survive in everything computed from it.
    array = np.asarray(np.memmap(path, dtype, "r", start, shape))
    return array if start % dtype.itemsize == 0 else array.copy()


def _checksum(file: IO[bytes], start: int, end: int) -> int:
    here = file.tell()
    file.seek(start)
    check, left = 0, end - start
    while left > 0:
        piece = file.read(min(PIECE, left))
        if not piece:
            break
        check, left = zlib.crc32(piece, check), left - len(piece)
    file.seek(here)
    return check


def codes_of(index: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """Numbers of documents or strata in as few bits as they need."""
    numbers = np.asarray(index, dtype=np.int64)
    return numbers.astype(narrowest(numbers))
