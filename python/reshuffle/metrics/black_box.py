"""``CorpusFunction``: a metric that is a Python function of whole corpora, so that no counts can be resampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import signature
from ..errors import InputError, quoted
from ..options.hints import with_hints
from ..validate import LARGEST_SCORE, check_flag, check_text, expected_score


@with_hints
@dataclass(frozen=True)
class CorpusFunction:
    """A corpus score computed by any Python function of the texts.

    There are no counts to sum, so the function is called again for every replicate. With k systems, R replicates and
    one baseline, that is 2·(k − 1)·R calls for a test by shuffling and k·R calls for the intervals. A function that
    takes one second needs eleven hours for 10,000 replicates of two systems, whereas counts per segment
    (:class:`FromCounts`) need milliseconds. Calls run one after another on one thread, because the function may not be
    thread-safe.

    Parameters
    ----------
    name : str
        Name of the metric in tables and signatures.
    function : callable
        ``function(hypotheses, references) -> float`` takes S hypotheses and a list of columns of S references, like
        sacreBLEU's ``corpus_score``. It receives new lists, in which segments are swapped, left out or repeated.
    higher_is_better : bool

    Examples
    --------
    >>> def words(hypotheses, references):
    ...     return sum(len(line.split()) for line in hypotheses) / len(hypotheses)
    >>> from reshuffle import compare
    >>> texts = {"a": ["a b", "c d e", "f"], "b": ["a", "c d", "f"]}
    >>> comparison = compare(["a", "b", "c"], texts, CorpusFunction("words", words), n_resamples=99)
    >>> comparison.comparisons[0].difference
    -0.6666666666666667
    """

    name: str
    function: Callable[[list[str], list[list[str | None]]], float]
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        check_text("the name of a metric", self.name)
        check_flag("higher_is_better", self.higher_is_better)
        if not callable(self.function):
            raise InputError(f"{self.name}: expected a function(hypotheses, references), got {quoted(self.function)}")

    decimals: ClassVar[None] = None
    is_sum: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False
    source: ClassVar[None] = None

    def evaluate(self, hypotheses: list[str], references: list[list[str | None]]) -> float:
        """Call the function.

        Raises
        ------
        InputError
            If it returns anything but a finite number, at most 1e75 in magnitude.
        """
        value = self.function(hypotheses, references)
        try:
            if isinstance(value, str | bytes) or np.ndim(value):  # float() accepts some of these
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.name}: the function returned {quoted(value)}, expected a number") from None
        if not abs(number) <= LARGEST_SCORE:
            raise InputError(f"{self.name}: the function returned {number}, expected {expected_score(number)}")
        return number

    def signature(self, n_references: str | None = None) -> str:
        """The name. A function has no options that the signature could show."""
        return signature.for_metric(self.name, n_references=n_references)

    segment_signature = signature
