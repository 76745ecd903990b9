"""Do metrics agree with people? Coefficients of agreement, intervals, and tests between metrics.

A :class:`JudgedSet` has the scores of metrics, computed here or read from files, and human judgments of the same
outputs: votes between pairs of outputs, or scores. :func:`segments` compares them at segment level, :func:`systems` at
system level.
"""

from ..lazy import lazy_names

# The public names are those of the stub beside this file.
__all__, __getattr__, __dir__ = lazy_names(__name__)
