"""Reading members of ZIP files, also those compressed with Zstandard, which Python reads from 3.14."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile
import zlib
from importlib import import_module
from typing import Any

from ...errors import InputError
from ..files import Limit, Readable
from .base import ZIP, Source

# ZIP's number of Zstandard, and the bytes of a local header before the name.
ZSTANDARD = 93
HEADER = 30


READ_BY_PYTHON = hasattr(zipfile, "ZIP_ZSTANDARD")


def read_by_package() -> Any:
    """The package that reads Zstandard where Python does not. :class:`InputError` if it is not installed."""
    try:
        return import_module("zstandard")
    except ImportError:
        raise InputError(
            "Zstandard, which Python reads from 3.14: install the package zstandard "
            "(pip install 'reshuffle[inspect]'), or convert the log with 'inspect log convert --to json'"
        ) from None


class Archive:
    """A ZIP file that has been read."""

    def __init__(self, source: Source) -> None:
        """Raises :class:`InputError` if the directory at the end of the file cannot be read."""
        self.source = source
        self._limit = Limit(source.name, source.max_input)
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(source.data))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            source.fail(f"expected a ZIP file, as inspect_ai writes it: {error}; is it complete?")
        # If a member was written again, the last one counts.
        self.members = {info.filename: info for info in self.archive.infolist()}

    def text(self, name: str) -> str:
        """The content of a member as text."""
        info = self.members[name]
        try:
            with contextlib.closing(self._opened(info)) as stream:
                return self._limit.read(stream).decode("utf-8")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, UnicodeDecodeError, NotImplementedError) as error:
            self.source.fail(f"{name} cannot be read: {error}")

    def _opened(self, info: zipfile.ZipInfo) -> Readable:
        if info.compress_type != ZSTANDARD or READ_BY_PYTHON:
            return self.archive.open(info)
        data = self.source.data
        header = data[info.header_offset : info.header_offset + HEADER]
        if len(header) < HEADER or not header.startswith(ZIP):
            self.source.fail(f"{info.filename} cannot be read: its header is damaged")
        start = info.header_offset + HEADER + sum(struct.unpack("<HH", header[26:]))
        try:
            zstandard = read_by_package()
        except InputError as error:
            self.source.fail(f"is compressed with {error}")
        raw = io.BytesIO(data[start : start + info.compress_size])
        stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return _Errors(stream, zstandard.ZstdError)


class _Errors:
    """A stream whose errors are OSErrors."""

    def __init__(self, stream: Readable, error: type[Exception]) -> None:
        self.stream, self.error = stream, error
        self.close = stream.close

    def read(self, size: int) -> bytes:
        try:
            return self.stream.read(size)
        except self.error as error:
            raise OSError(str(error)) from None
