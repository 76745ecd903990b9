"""Run a program as ``python`` would, in a process whose libraries have been patched."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

_HERE = str(Path(__file__).parent) + os.sep


def run_module(name: str, arguments: Sequence[str]) -> None:
    """``python -m name arguments``."""
    sys.argv[:] = ["-m", *arguments]  # as Python sets it while it imports the module's parent packages
    with _program_found():
        _without_our_frames(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), below_runpy=True)


def find_modules_of_script(path: str) -> None:
    """Search for modules as ``python path`` does: in the folder of the script, not in the current one."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):  # not with python -P and -I
        sys.path[0] = _absolute(path) if _is_container(path) else str(Path(path).resolve().parent)


def run_script(path: str, arguments: Sequence[str]) -> None:
    """``python path arguments``, for a file, or for a folder or zip file with a ``__main__.py``.

    :func:`find_modules_of_script` has to be called before.
    """
    sys.argv[:] = [path, *arguments]
    absolute = _absolute(path)
    if _is_container(path):
        if sys.path[0] == absolute:
            del sys.path[0]  # runpy inserts it
        with _program_found():
            _without_our_frames(lambda: runpy.run_path(absolute, run_name="__main__"))
        return
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        print(
            f"{sys.executable}: can't open file {absolute!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr
        )
        sys.exit(2)
    if b"\0" in source:  # compiled code
        _without_our_frames(lambda: runpy.run_path(absolute, run_name="__main__"))
        return
    program = ModuleType("__main__")
    loader = SourceFileLoader("__main__", absolute)
    vars(program).update(__file__=absolute, __builtins__=builtins, __loader__=loader, __cached__=None)
    sys.modules["__main__"] = program
    _without_our_frames(lambda: exec(compile(source, absolute, "exec", dont_inherit=True), vars(program)))


def run_function(function: Callable[[], Any], arguments: Sequence[str]) -> None:
    """Run a command whose script calls ``function``. ``arguments`` begin with the name of the command."""
    sys.argv[:] = arguments
    _without_our_frames(lambda: sys.exit(function()))


@contextmanager
def _program_found() -> Iterator[None]:
    """Exit if there is no such module, or a package or folder without ``__main__``."""
    try:
        yield
    except ImportError as error:
        # An error of the program, if any of its code has run.
        if _frames_of_program(error.__traceback__) is None:
            sys.exit(f"{sys.executable}: {error}")
        raise


def _absolute(path: str) -> str:
    # Not normalized, as in Python's own tracebacks.
    return path if Path(path).is_absolute() else f"{Path.cwd()}{os.sep}{path}"


def _is_container(path: str) -> bool:
    import zipfile  # slow to import, and not needed for modules

    return Path(path).is_dir() or zipfile.is_zipfile(path)


def _without_our_frames(program: Callable[[], object], *, below_runpy: bool = False) -> None:
    """Run the program. If it does not handle an error, the traceback shows only the program's own frames.

    ``below_runpy`` keeps the frames of runpy with which a traceback under ``python -m`` begins.
    """
    try:
        program()
    except SystemExit:
        raise
    except BaseException:
        # Python calls the hook to print the error. The program may have set its own, which is called with fewer frames.
        show = sys.excepthook

        def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> object:
            own = _frames_of_program(traceback)
            if below_runpy and traceback is not None and not _is_ours(traceback):
                last = traceback
                while last.tb_next is not None and not _is_ours(last.tb_next):
                    last = last.tb_next
                last.tb_next = own
                own = traceback
            return show(kind, error.with_traceback(own), own)

        sys.excepthook = excepthook
        raise


def _is_ours(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_code.co_filename.startswith(_HERE)


def _is_runpy(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_globals.get("__name__") == "runpy"


def _frames_of_program(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and (_is_ours(traceback) or _is_runpy(traceback)):
        traceback = traceback.tb_next
    return traceback
