"""Other processes: what Python code prints in one, and processes that have to end."""

import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

SECONDS = 60


def python(source: str) -> str:
    """The output of Python code in a new process, which must succeed."""
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout


def wait_for_ends(processes: Iterable[Any]) -> None:
    """Wait until processes of psutil have ended. Those whose parent ended first may stay as zombies in a container."""
    running, end = list(processes), time.monotonic() + SECONDS
    while running := [each for each in running if not _has_ended(each)]:
        assert time.monotonic() < end, f"still running: {running}"
        time.sleep(0.05)


def _has_ended(process: Any) -> bool:
    import psutil

    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
