"""The results of studies: tables of frozen records, with the plan that produced them."""

from __future__ import annotations

from .base import Rate, StudyResult

__all__ = ["Rate", "StudyResult"]
