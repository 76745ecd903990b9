"""Studies: how significance tests and metrics behave on real outputs, by simulation.

Each study is a function from texts, metrics and a plan to a :class:`~reshuffle.StudyResult`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .samples import SampleSettings, samples, samples_of
    from .type1 import type1, type1_of
    from .validation import ValidationSettings, validate, validate_of

__all__ = [
    "SampleSettings",
    "ValidationSettings",
    "samples",
    "samples_of",
    "type1",
    "type1_of",
    "validate",
    "validate_of",
]

# The module of each public name. It is imported when the name is first used, as in the package itself.
_find = lazy_names(
    __name__,
    {
        "samples": ("SampleSettings", "samples", "samples_of"),
        "type1": ("type1", "type1_of"),
        "validation": ("ValidationSettings", "validate", "validate_of"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
