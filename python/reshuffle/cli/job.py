"""What every command does that computes a result: open the files of its reports, compute, and write them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from attrs import evolve

from .._core import Progress
from ..execution import AnyWorkers
from ..progress import Bar
from ..settings import Resampling
from .output import Output, Result, Writer, destination
from .process import cleanup

R = TypeVar("R", bound=Result)
# How long Ctrl-C waits for the bar to be erased.
REMOVAL_SECONDS = 0.2


@dataclass(frozen=True)
class Job:
    """A command whose reports have been opened, and what its computation is given."""

    write: Writer
    workers: AnyWorkers
    progress: Progress

    @property
    def given(self) -> dict[str, Any]:
        """The keyword arguments of a public function."""
        return {"workers": self.workers, "progress": self.progress}

    def resampling(self, options: Any) -> Resampling:
        """The same for functions that take a record, with the options of a command."""
        return Resampling.from_options(evolve(options, workers=self.workers), self.progress)

    def report(self, compute: Callable[[], R]) -> R:
        """Compute a result under a progress bar, and write the reports of it."""
        with progress_bar(self.progress):
            result = compute()
        self.write(result)
        return result


@contextlib.contextmanager
def started(output: Output, inputs: Sequence[str], workers: Any = None) -> Iterator[Job]:
    """A job that reads these files. If the body fails, all files of reports are left as they were."""
    with destination(output, inputs) as write, _opened(workers) as opened:
        yield Job(write, opened, Progress())


@contextlib.contextmanager
def _opened(workers: Any) -> Iterator[AnyWorkers]:
    """The named executor while the body runs; others as they are. After a signal its processes end by themselves."""
    if workers is None or isinstance(workers, int):
        yield workers
        return
    from ..execution.transport import remove_files

    with workers.opened() as executor, cleanup(remove_files):
        yield executor


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
