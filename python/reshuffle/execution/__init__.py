"""How long jobs are computed: in this process, or in the workers of an executor, piece by piece.

Results do not depend on it: a job is a pure function of ranges of indices, and its pieces are joined by index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .base import AnyExecutor, Execution, Job
    from .executors import check_executor, opened
    from .items import ItemJob
    from .jobs import run_job

__all__ = ["AnyExecutor", "Execution", "ItemJob", "Job", "check_executor", "opened", "run_job"]

_MODULES = {
    "base": ("AnyExecutor", "Execution", "Job"),
    "executors": ("check_executor", "opened"),
    "items": ("ItemJob",),
    "jobs": ("run_job",),
}

__getattr__ = lazy_names(__name__, _MODULES)
