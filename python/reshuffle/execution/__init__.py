"""How long jobs are computed: in this process, or in the workers of an executor, piece by piece.

Results do not depend on it: a job is a pure function of ranges of indices, and its pieces are joined by index.
"""

from ..lazy import lazy_names

# The public names are those of the stub beside this file.
__all__, __getattr__, __dir__ = lazy_names(__name__)
