"""The progress bar of the commands, which is also erased when a signal ends the process."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from .._core import Progress
from ..progress import Bar
from .process import cleanup

# How long Ctrl-C waits for the bar to be erased.
REMOVAL_SECONDS = 0.2


@contextlib.contextmanager
def progress_bar(progress: Progress | None = None) -> Iterator[Progress]:
    """Show a progress bar while the body runs, if that takes long and standard error is a terminal.

    The bar disappears when the body ends, also after an error or a signal. The body must not write to the terminal.
    """
    progress = progress or Progress()
    if sys.stderr is None or not sys.stderr.isatty():
        yield progress
        return
    bar = Bar(progress)
    bar.start()
    # With a timeout: in a signal handler, the bar's thread may wait for an import of the interrupted main thread.
    with cleanup(lambda: bar.remove(REMOVAL_SECONDS)):
        try:
            yield progress
            progress.finish()
        finally:
            bar.remove()
