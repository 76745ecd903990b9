"""Progress of a job: its plan, and a bar in a terminal or a notebook."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from ._core import Progress
from .errors import InputError, quoted

if TYPE_CHECKING:
    from rich.console import Console

# In shorter runs the bar would only flicker.
BAR_DELAY_SECONDS = 0.3
# What the bar says before the first step.
BEFORE = "preparing"
# The bar shows the progress this often.
REFRESH_SECONDS = 0.1

# True for a bar, or an object that another thread reads; None and False for neither.
AnyProgress: TypeAlias = "Progress | bool | None"
# Name, cost, and the number of stages of this name: see Progress.plan.
Step: TypeAlias = tuple[str, float, int]


# For all calls that report nothing.
_NOTHING = contextlib.nullcontext()


class _Job:
    """Starts a new job on a progress, finishes it if the body succeeds, and shows its bar, if any."""

    def __init__(self, progress: Progress, bar: Bar | None = None) -> None:
        self.progress, self.bar = progress, bar

    def __enter__(self) -> Progress:
        self.progress.plan([])  # starts a new job; the body plans it
        if self.bar is not None:
            self.bar.start()
        return self.progress

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self.progress.finish()
        if self.bar is not None:
            self.bar.remove()


def reported(progress: AnyProgress) -> _Job | contextlib.nullcontext[None]:
    """A context manager for the body of a public function, with the ``progress`` of its caller.

    Its value is the Progress to pass on, or None. The body plans the steps of the job (:meth:`Progress.plan`).
    """
    if progress is None or progress is False:
        return _NOTHING
    if isinstance(progress, Progress):
        return _Job(progress)
    if progress is not True:
        raise InputError(f"progress must be True, False or a Progress, got {quoted(progress)}")
    if not can_show_bar():
        return _NOTHING
    watched = Progress()
    return _Job(watched, Bar(watched))


def can_show_bar() -> bool:
    """Whether standard error is a terminal, or this is a notebook that has the widgets of the bar."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    return in_notebook()


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter notebook that can show the bar."""
    ipython = sys.modules.get("IPython")  # a notebook has imported it
    shell = None if ipython is None else ipython.get_ipython()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return False
    from importlib.util import find_spec

    return find_spec("ipywidgets") is not None  # rich needs it and would warn


class Bar:
    """A bar that shows the progress from a thread of its own, once the job has taken a while.

    The body writes to the terminal by :meth:`say` only.
    """

    # That on the terminal, and its console.
    _shown: Console | None = None
    _lock = threading.Lock()

    @classmethod
    def say(cls, text: str) -> bool:
        """Write lines above the bar on the terminal; False if there is none, so that the caller may write."""
        with cls._lock:
            if cls._shown is not None:
                cls._shown.print(text, markup=False, highlight=False, soft_wrap=True)
            return cls._shown is not None

    @classmethod
    def _show(cls, console: Console | None) -> None:
        with cls._lock:
            cls._shown = console

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.finished: queue.SimpleQueue[None] = queue.SimpleQueue()  # safe to use in a signal handler
        self.watcher: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread. If none can be started, there is no bar."""
        watcher = threading.Thread(target=self._draw, name="reshuffle-bar", daemon=True)
        with contextlib.suppress(RuntimeError):
            watcher.start()
            self.watcher = watcher

    def remove(self, seconds: float | None = None) -> None:
        """Erase the bar, and wait until that is done, for at most ``seconds``. May be called twice."""
        self.finished.put(None)
        if self.watcher is not None:
            self.watcher.join(seconds)

    def _finished_within(self, seconds: float) -> bool:
        try:
            self.finished.get(timeout=seconds)
        except queue.Empty:
            return False
        return True

    def _draw(self) -> None:
        if self._finished_within(BAR_DELAY_SECONDS):
            return
        # If the terminal hangs up or memory runs out, the main thread reports it.
        with contextlib.suppress(OSError, MemoryError, ImportError):
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
            )
            # By default rich redirects standard output to standard error while the bar is shown.
            with Bars(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bars:
                task = bars.add_task(self.progress.step or BEFORE, total=1.0)
                Bar._show(bars.console)
                try:
                    while True:
                        bars.update(task, description=self.progress.step or BEFORE, completed=self.progress.fraction)
                        if self._finished_within(REFRESH_SECONDS):
                            return
                finally:
                    Bar._show(None)
