"""The executor that ``--executor`` names, while a command runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..execution import AnyExecutor
from .process import cleanup


@contextlib.contextmanager
def chosen_executor(name: str | None, threads: int | None) -> Iterator[AnyExecutor]:
    """The executor while the body runs, or None for threads. After a signal its processes end by themselves."""
    from ..execution import opened

    with opened(name, threads) as executor:
        if executor is None:
            yield None
            return
        from ..execution.transport import remove_files

        with cleanup(remove_files):
            yield executor
