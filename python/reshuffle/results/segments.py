"""The scores of all segments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import counted
from ..validate import check_name
from .comparison import UsedMetric
from .lookup import first_names, metric_name
from .reported import Reported


@record(eq=False)
class SegmentTable(Reported):
    """The score of every segment, or of every document, of every system: the result of :func:`segment_scores`.

    ``print(table)`` shows the first rows, and a notebook shows them as HTML.

    Examples
    --------
    >>> from reshuffle import segment_scores
    >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
    >>> print(table)
    2 segments, 1 system
    <BLANKLINE>
    Segment  System    BLEU
    ───────────────────────
    1        a        53.73
    2        a       100.00
    <BLANKLINE>
    Signature: BLEU|nrefs:1|case:mixed|eff:yes|...
    >>> table.to_dicts()[1]
    {'segment': 2, 'system': 'a', 'BLEU': 100.0}
    """

    systems: tuple[str, ...]
    """In the order of the input."""
    metrics: tuple[UsedMetric, ...]
    scores: Mapping[str, NDArray[np.float64]]
    """By the metric's name, (k, S): a row for each of k systems, a column for each of S segments."""
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""
    documents: tuple[str, ...] | None = None
    """The D ids of the documents if the scores are those of documents, else None."""
    segment_ids: tuple[str, ...] | None = None
    """The S ids of the segments if they have ids, as in logs; else they are numbered from 1."""

    def __repr__(self) -> str:
        unit = "segment" if self.documents is None else "document"
        return (
            f"<SegmentTable: {first_names(self.scores)}; {counted(len(self.systems), 'system')} "
            f"({first_names(self.systems)}); {counted(self.n_segments, unit)}>"
        )

    @property
    def n_segments(self) -> int:
        """S, or D if the scores are those of documents."""
        return int(next(iter(self.scores.values())).shape[1])

    def system_scores(self, system: str, metric: str | None = None) -> NDArray[np.float64]:
        """The (S,) scores of a system under a metric.

        Parameters
        ----------
        system : str
        metric : str, optional
            A name in ``scores``, in upper or lower case. May be left out if there is only one.

        Returns
        -------
        (S,) ndarray

        Raises
        ------
        InputError
            If there is no such system or metric.

        Examples
        --------
        >>> from reshuffle import segment_scores
        >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
        >>> table.system_scores("a").round(2)
        array([ 53.73, 100.  ])
        """
        check_name("system", system, self.systems)
        name = metric_name(metric, list(self.scores))
        scores: NDArray[np.float64] = self.scores[name][self.systems.index(system)]
        return scores
