"""The registry of exchange units: what is exchanged between systems with several runs each.

To add one, write a function from the data, the pairs and the statistic to the statistics of all replicates
(:mod:`reshuffle.resampling.run_exchange`), and add an entry to :data:`EXCHANGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..resampling.run_exchange import Exchanged, exchange_segments
from ..resampling.runs import RunData
from ..resampling.samples import Pairs

__all__ = ["EXCHANGES", "ExchangeUnit"]


@dataclass(frozen=True)
class ExchangeUnit:
    """An entry of the registry.

    Attributes
    ----------
    name : str
        The name that users type.
    about : str
        What is exchanged, in words.
    null : str
        The null hypothesis, in words.
    caveat : str
        What the test does not take into account, as a sentence, or empty.
    source : str
        The ACL id or DOI of the paper.
    run : callable
        From the data, the pairs and the statistic to the statistics of all replicates.
    needs_runs : int
        The smallest number of runs of each system.
    equal_runs : bool
        Whether both systems must have the same number of runs.
    ties : {'>=', '>'}
        ``>`` if replicates exactly as extreme as the difference do not count, as in MultEval.
    statistics : tuple of str
        The statistics that it supports.
    """

    name: str
    about: str
    null: str
    caveat: str
    source: str
    run: Callable[[RunData, Pairs, str], Exchanged]
    needs_runs: int = 1
    equal_runs: bool = False
    ties: str = ">="
    statistics: tuple[str, ...] = ("pooled", "mean")


EXCHANGES: Mapping[str, ExchangeUnit] = {
    unit.name: unit
    for unit in (
        ExchangeUnit(
            "segment",
            "one coin for each segment swaps all outputs of one system with all outputs of the other",
            "for each segment, the outputs of one system could as well be the other's",
            "It ignores that other runs of the same configurations would differ.",
            "W05-0908, Fig. 1",
            exchange_segments,
        ),
    )
}
