"""Studies: how significance tests and metrics behave on real outputs, by simulation.

Each study is a function from texts, metrics and a plan to a :class:`~reshuffle.StudyResult`.
"""

from ..lazy import lazy_names

# The public names are those of the stub beside this file.
__all__, __getattr__, __dir__ = lazy_names(__name__)
