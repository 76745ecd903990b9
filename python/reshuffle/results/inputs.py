"""The files that a result was read from."""

from __future__ import annotations

from ..documented import record


@record
class InputFile:
    """A file that the command line read, as it was then."""

    name: str
    """As it was given. Of an absolute path only the last part, so that results do not depend on where files are."""
    size: int
    """In bytes."""
    sha256: str
    """The SHA-256 digest of its bytes, in hexadecimal digits, as ``sha256sum`` prints it."""
