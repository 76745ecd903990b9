"""Replicates of observed counts: shuffles and permutations for tests, bootstrap draws for intervals and tests."""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
