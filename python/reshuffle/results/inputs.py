"""The files that a result was read from."""

from __future__ import annotations

from ..documented import record


@record
class InputFile:
    """A file that the command line read, as it was then."""

    name: str
    """As it was given; absolute paths without the folder that all share, so that results do not depend on it; ``-`` is
    standard input or a pipe.
    """
    size: int | None
    """In bytes; None, like ``sha256``, for what can be read only once."""
    sha256: str | None
    """The SHA-256 digest of its bytes, in hexadecimal digits, as ``sha256sum`` prints it."""
