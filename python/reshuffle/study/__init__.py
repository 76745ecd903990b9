"""Studies: how significance tests and metrics behave on real outputs, by simulation.

Each study is a function from texts, metrics and a plan to a :class:`~reshuffle.StudyResult`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..options.nulls import Documents, EqualScore, Margin, Noise, Replicate, Variants
    from .agreement import agreement
    from .design import plan
    from .exchange import exchange
    from .gate import gate
    from .multiplicity import multiplicity
    from .parametric_power import parametric_power
    from .power import power
    from .samples import samples
    from .sensitivity import sensitivity
    from .type1 import type1
    from .validation import validate

__all__ = [
    "Documents",
    "EqualScore",
    "Margin",
    "Noise",
    "Replicate",
    "Variants",
    "agreement",
    "exchange",
    "gate",
    "multiplicity",
    "parametric_power",
    "plan",
    "power",
    "samples",
    "sensitivity",
    "type1",
    "validate",
]

# The module of each public name. It is imported when the name is first used, as in the package itself.
_find = lazy_names(
    __name__,
    {
        ".options.nulls": ("Documents", "EqualScore", "Margin", "Noise", "Replicate", "Variants"),
        "agreement": ("agreement",),
        "design": ("plan",),
        "exchange": ("exchange",),
        "gate": ("gate",),
        "multiplicity": ("multiplicity",),
        "parametric_power": ("parametric_power",),
        "power": ("power",),
        "samples": ("samples",),
        "sensitivity": ("sensitivity",),
        "type1": ("type1",),
        "validation": ("validate",),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
