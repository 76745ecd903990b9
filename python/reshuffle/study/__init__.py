"""Studies: how significance tests and metrics behave on real outputs, by simulation.

Each study is a function from texts, metrics and a plan to a :class:`~reshuffle.StudyResult`.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
