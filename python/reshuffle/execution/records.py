"""A file of records that only grows, is written by one process at a time, and survives that this process is killed.

It begins with a line that names its format. A record is

    length of the content (8 bytes, little-endian) · digest (16 bytes) · content

where the digest is BLAKE2b of the length and the content. Records that are written together are written with one call,
so a process that is killed has written all or none of the bytes that it handed over, or on some file systems the first
of them. What follows the last good record is damaged; it is overwritten with the next record.

At most once per second the operating system is asked to put what was written on the disk. This matters only if the
machine fails.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InputError, shortened

MAGIC = b"reshuffle checkpoint 2\n"
# What all versions of the format begin with.
FAMILY = b"reshuffle checkpoint "

LENGTH = struct.Struct("<Q")
DIGEST_BYTES = 16
PREFIX = LENGTH.size + DIGEST_BYTES

# The file is put on the disk at most this often.
SYNC_SECONDS = 1.0

# Where Windows locks a byte: far behind the end, because nobody else could read a locked byte.
LOCKED_BYTE = 1 << 40

# The files that this process has open, by device and inode. Locks of files do not keep out other threads.
_OPEN: set[tuple[int, int]] = set()
_OPEN_LOCK = threading.Lock()


class RecordFile:
    """An open and locked file: see :meth:`open`. Its methods can be called from several threads."""

    def __init__(self, path: str, descriptor: int, is_new: bool) -> None:
        self.path = path
        self.end = 0  # where the last good record ends; 0 if there is not even the first line
        self._descriptor: int | None = descriptor
        self._is_new = is_new
        self._identity = _identity(descriptor)
        self._lock = threading.Lock()
        self._synced: float | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RecordFile:
        """Open a file, or make it.

        :class:`InputError` if it is not one of ours, if somebody else writes it, or if it cannot be read and written.
        """
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(name, str) or not name:
            raise InputError(f"the checkpoint must be the name of a file, got {shortened(repr(path))}")
        with _errors(name, "opened"):
            is_new = not Path(name).exists()
            if not is_new:
                _check_existing(name)
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(name, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        file = cls(name, descriptor, is_new)
        try:
            file._check_first_line()
        except BaseException:
            file.close()
            raise
        return file

    def _check_first_line(self) -> None:
        found = self._at(0, min(self.size, len(MAGIC)))
        if found == MAGIC:
            self.end = len(MAGIC)
        elif MAGIC.startswith(found):  # an empty file, or one that was cut
            self.end = 0
        elif found.startswith(FAMILY):
            raise InputError(
                f"{self.path} is a checkpoint in the format of another version of reshuffle: finish the study with "
                "that version, or delete the file"
            )
        else:
            raise InputError(f"{self.path} is not a checkpoint of reshuffle: give the name of one, or of a new file")

    @property
    def size(self) -> int:
        """The number of bytes in the file, good or not."""
        return os.fstat(self._opened).st_size

    def scan(self) -> Iterator[tuple[int, bytes]]:
        """The good records from the beginning: where the content is, and the content. It sets :attr:`end`."""
        while self.end and (record := self._record(self.end)) is not None:
            at = self.end + PREFIX
            self.end = at + len(record)
            yield at, record

    def _record(self, at: int) -> bytes | None:
        """The content of the record at ``at``; None if there is none, or if it is cut or damaged."""
        prefix = self._at(at, PREFIX)
        if len(prefix) < PREFIX:
            return None
        (length,) = LENGTH.unpack_from(prefix)
        if length > self.size - at - PREFIX:
            return None
        content = self._at(at + PREFIX, length)
        return content if _prefix(content) == prefix else None

    def back(self, end: int) -> None:
        """Take what begins at ``end`` for damaged."""
        self.end = end

    def content(self, at: int, length: int) -> bytes:
        """``length`` bytes of the file."""
        content = self._at(at, length)
        if len(content) < length:
            raise InputError(f"{self.path} has become shorter while it was in use: run again with the same file")
        return content

    def append(self, contents: Sequence[bytes]) -> list[int]:
        """Write records after the last good one, and return where their contents are.

        :class:`InputError` if that fails. Then the file ends as before.
        """
        with self._lock:
            data = b"" if self.end else MAGIC
            places = []
            for content in contents:
                data += _prefix(content)
                places.append(self.end + len(data))
                data += content
            with _errors(self.path, "written"):
                if self.size > self.end:
                    os.ftruncate(self._opened, self.end)
                try:
                    self._write(data)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(self._opened, self.end)
                    raise
                self.end += len(data)
                self._sync()
        return places

    def close(self) -> None:
        """Put everything on the disk, and close the file; remove it if it is new and empty. May be called twice."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        unused = False
        with contextlib.suppress(OSError):
            if self._synced is not None:
                os.fsync(descriptor)
            elif self._is_new:
                unused = os.fstat(descriptor).st_size == 0
            if unused and os.name != "nt":  # while nobody else can lock it
                Path(self.path).unlink()
        os.close(descriptor)  # this also ends the lock
        with contextlib.suppress(OSError):
            if unused and os.name == "nt":  # which does not remove open files
                Path(self.path).unlink()
        with _OPEN_LOCK:
            _OPEN.discard(self._identity)

    @property
    def _opened(self) -> int:
        if self._descriptor is None:
            raise ValueError(f"{self.path} is closed")
        return self._descriptor

    def _at(self, at: int, length: int) -> bytes:
        """At most ``length`` bytes, fewer only at the end of the file."""
        with self._lock, _errors(self.path, "read"):
            os.lseek(self._opened, at, os.SEEK_SET)
            pieces, missing = [], length
            while missing and (piece := os.read(self._opened, missing)):
                pieces.append(piece)
                missing -= len(piece)
        return b"".join(pieces)

    def _write(self, data: bytes) -> None:
        os.lseek(self._opened, self.end, os.SEEK_SET)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._opened, rest) :]

    def _sync(self) -> None:
        now = time.monotonic()
        if self._synced is None or now - self._synced >= SYNC_SECONDS:
            os.fsync(self._opened)
            if self._synced is None and self._is_new:
                _sync_directory(self.path)
            self._synced = time.monotonic()


def _prefix(content: bytes) -> bytes:
    """The length and the digest before the content of a record."""
    length = LENGTH.pack(len(content))
    digest = hashlib.blake2b(length, digest_size=DIGEST_BYTES)
    digest.update(content)
    return length + digest.digest()


@contextlib.contextmanager
def _errors(path: str, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"the checkpoint {path} cannot be {done}: {error.strerror or error}") from None


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _check_existing(path: str) -> None:
    """:class:`InputError` if a path is that of a folder or a device, or of a file that this process has open.

    This comes before the file is opened, because closing it again would end the lock.
    """
    status = Path(path).stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a file: expected the name of a file for the checkpoint")
    with _OPEN_LOCK:
        if (status.st_dev, status.st_ino) in _OPEN:
            raise _busy(path)


def _busy(path: str) -> InputError:
    return InputError(f"{path} is in use by another study: wait for it, end it, or give another file")


def _lock(path: str, descriptor: int) -> None:
    """Keep other writers out until the file is closed. The lock ends with the process, however it ends.

    A process that was forked does not hold it. File systems without locks keep nobody out.
    """
    try:
        _lock_in_system(descriptor)
    except (BlockingIOError, PermissionError):
        raise _busy(path) from None
    except OSError:
        pass  # this file system has no locks
    with _OPEN_LOCK:
        _OPEN.add(_identity(descriptor))


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock_in_system(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _sync_directory(path: str) -> None:
        """Windows cannot do that."""

else:
    import fcntl

    def _lock_in_system(descriptor: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _sync_directory(path: str) -> None:
        """Put the name of a new file on the disk."""
        with contextlib.suppress(OSError):
            descriptor = os.open(Path(path).absolute().parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
