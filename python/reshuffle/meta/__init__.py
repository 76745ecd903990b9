"""Do metrics agree with people? Coefficients of agreement, intervals, and tests between metrics.

A :class:`JudgedSet` has the scores of metrics, computed here or read from files, and human judgments of the same
outputs: votes between pairs of outputs, or scores. :func:`segments` compares them at segment level, :func:`systems` at
system level.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
