"""The records of ``oracle``: how good and how bad the entries of k-best lists can be."""

from __future__ import annotations

from ...documented import record
from .base import StudyTypes
from .plan import Plan


@record
class ListScore:
    """The corpus score of one entry of each list."""

    choice: str
    """``topbest``: the entry that the decoder or the weights prefer. ``sentence-oracle`` and ``sentence-worst``: the
    entries with the best and the worst sentence scores. ``oracle`` and ``worst``: the entries with the best and the
    worst corpus score that were found.
    """
    score: float
    """The corpus score."""
    gain: float
    """The score minus that of ``topbest``."""


@record
class ChosenEntry:
    """The entry of a sentence in a choice."""

    choice: str
    """As in :class:`ListScore`."""
    sentence: int
    """The id of the sentence in the lists."""
    entry: int
    """Its place in the list of the sentence, from 1."""
    score: float
    """The sentence score."""
    output: str


@record
class OracleSearch:
    """A search for the best or the worst corpus score."""

    choice: str
    """``oracle`` or ``worst``."""
    start: str
    """Where it began: ``topbest``, ``sentence-oracle`` or ``sentence-worst``, or ``greedy N``, a choice that was made
    sentence by sentence in random order.
    """
    initial: float
    """The corpus scores at the start and at the end."""
    final: float


@record(kw_only=True, eq=False)
class OraclePlan(Plan):
    """How the best and worst entries were searched for: the options of :func:`reshuffle.tune.oracle`."""

    metric: str
    topbest: str
    """Which entry of a list is the 1-best one: ``first entry``, or that with the highest ``model score``."""
    sentences: int
    entries: int
    random_starts: int
    seed: int


STUDY = StudyTypes([OraclePlan], scores=ListScore, searches=OracleSearch, entries=ChosenEntry)
