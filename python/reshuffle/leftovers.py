"""What this process would leave behind if a signal ended it at once: unfinished files, folders, programs it started.

Only the command line handles signals, by ending the process from within the handler (:mod:`reshuffle.cli.process`). So
what has to be undone is noted here while it exists, by whoever makes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

_undo: list[Callable[[], object]] = []


@contextlib.contextmanager
def leftover(undo: Callable[[], object]) -> Iterator[None]:
    """Have :func:`undo_all` call ``undo`` during the body, which cleans up itself however it ends."""
    _undo.append(undo)
    try:
        yield
    finally:
        _undo.remove(undo)


def undo_all() -> None:
    """Undo everything, the newest first."""
    while _undo:
        with contextlib.suppress(Exception):
            _undo.pop()()
