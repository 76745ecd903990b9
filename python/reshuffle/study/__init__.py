"""Studies: how significance tests and metrics behave on real outputs, by simulation."""

from __future__ import annotations

from .validation import validate

__all__ = ["validate"]
