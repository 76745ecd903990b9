"""Results: frozen records that carry everything needed to repeat them.

Nothing here resamples. Methods that display or convert a result import :mod:`reshuffle.report` when they are called.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
