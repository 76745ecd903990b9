"""The n-grams that hypotheses have in common with their references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..documented import documented
from ..errors import InputError

# As of the other metrics of n-grams.
MOST_ORDERS = 100


@documented
class CommonNgrams(NamedTuple):
    """The result of :func:`common_ngrams`, for P references and M n-grams."""

    numbers: NDArray[np.int64]
    """Shape (order, P). For each order and each reference, the number of different n-grams that the hypothesis has in
    common with it.
    """
    matches: NDArray[np.int64]
    """Shape (M,). For each of these n-grams, how often it matches: the smaller of its numbers in hypothesis and
    reference. First come those of order 1 of the first reference, in the order in which the hypothesis has them, then
    those of order 1 of the second reference, and so on.
    """
    rows: NDArray[np.int64]
    """Shape (M,). For each of these n-grams, the row of its frequencies."""
    frequencies: NDArray[np.int64]
    """Shape (F, 2). How often an n-gram occurs in all references of all segments, and how often it occurs there without
    its last token. For single tokens, the latter is the number of all tokens. The rows are different.
    """


def common_ngrams(
    references: Sequence[Sequence[Sequence[str]]], hypotheses: Sequence[Sequence[str]], order: int = 4
) -> CommonNgrams:
    """Find the n-grams that hypotheses have in common with each of their references, and how frequent these are.

    Parameters
    ----------
    references : list of S lists of references
        Each reference is a list of tokens. Segments may have different numbers of references.
    hypotheses : list of S hypotheses
        Each is a list of tokens. Tuples may be used for all lists. The tokens of a string are its characters.
    order : int, optional
        The length of the longest n-grams.

    Returns
    -------
    CommonNgrams
        References are numbered through all segments.

    Raises
    ------
    InputError
        If numbers of segments differ, or ``order`` is not from 1 to 100.
    TypeError
        If a list is not a list or a tuple, or a token is not a string. Subclasses are not accepted.
    UnicodeError
        If a token has a lone surrogate.

    Notes
    -----
    Takes time in proportion to the number of tokens times the order.

    Examples
    --------
    >>> found = common_ngrams([[["a", "b", "a"]]], [["a", "b", "a", "c"]], order=2)
    >>> found.numbers  # the tokens a and b, and the bigrams a b and b a
    array([[2],
           [2]])
    >>> found.matches
    array([2, 1, 1, 1])
    >>> found.frequencies[found.rows]  # a is 2 of 3 tokens; after a, b follows once
    array([[2, 3],
           [1, 3],
           [1, 2],
           [1, 1]])
    """
    if not 1 <= order <= MOST_ORDERS:
        raise InputError(f"order must be from 1 to {MOST_ORDERS}, got {order}")
    return CommonNgrams(*_core.common_ngrams(hypotheses, references, order))
