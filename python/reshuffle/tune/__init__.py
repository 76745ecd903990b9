"""Tuning and reranking on k-best lists: which weights of features choose the best hypotheses.

:func:`read_nbest` reads the lists of a decoder. A weight vector chooses one entry of each list, so its outputs are a
system that can be compared with others. :func:`tune` finds weights by an optimizer in :data:`OPTIMIZERS`, once for each
seed. :func:`oracle` finds the best and the worst entries there are, and :func:`mbr` those that agree best with their
lists.
"""

from ..lazy import lazy_names

# The public names are those of the stub beside this file.
__all__, __getattr__, __dir__ = lazy_names(__name__)
