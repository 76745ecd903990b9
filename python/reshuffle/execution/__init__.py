"""How long jobs are computed: in this process, or in the workers of an executor, piece by piece.

Results do not depend on it: a job is a pure function of ranges of indices, and its pieces are joined by index.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
