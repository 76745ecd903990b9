"""Studies: how significance tests and metrics behave on real outputs, by simulation."""

from __future__ import annotations

from .samples import samples
from .validation import validate

__all__ = ["samples", "validate"]
