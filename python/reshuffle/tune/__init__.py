"""Tuning and reranking on k-best lists: which weights of features choose the best hypotheses.

:func:`read_nbest` reads the lists of a decoder. A weight vector chooses one entry of each list, so its outputs are a
system that can be compared with others. :func:`tune` finds weights by an optimizer in :data:`OPTIMIZERS`, once for each
seed. :func:`oracle` finds the best and the worst entries there are, and :func:`mbr` those that agree best with their
lists.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
