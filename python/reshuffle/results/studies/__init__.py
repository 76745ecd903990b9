"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
