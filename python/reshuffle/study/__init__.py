"""Studies: how significance tests and metrics behave on real outputs, by simulation."""

from __future__ import annotations

from .type1 import type1, type1_of
from .validation import validate

__all__ = ["type1", "type1_of", "validate"]
