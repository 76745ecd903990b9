"""The records of ``mbr``: what minimum Bayes risk decoding chooses from lists."""

from __future__ import annotations

from ...documented import record
from .base import StudyTypes
from .plan import Plan


@record
class MbrChoice:
    """The entry with the best expected utility of a sentence."""

    sentence: int
    """The id of the sentence in the lists."""
    entry: int
    """Its place in the list of the sentence, from 1. Of equal ones, the first."""
    utility: float
    """Its expected utility: the mean of its scores against the entries of the list, by their probabilities. NaN if
    there is no other entry, and the entry itself does not count.
    """
    topbest: int
    """The place of the entry that the decoder or the weights prefer."""
    topbest_utility: float
    """The expected utility of that one."""
    entries: int
    """The length of the list, and the number of its distinct hypotheses."""
    distinct: int
    output: str


@record
class MbrScore:
    """A corpus score against references."""

    choice: str
    """``topbest`` or ``mbr``."""
    metric: str
    score: float


@record(kw_only=True, eq=False)
class MbrPlan(Plan):
    """How entries were chosen by their expected utility: the options of :func:`reshuffle.tune.mbr`."""

    utility: str
    """The name of the metric."""
    probabilities: str
    """``softmax`` of the model scores, or ``uniform``."""
    scale: float | None
    """None for uniform probabilities."""
    exclude_self: bool
    sentences: int
    entries: int


STUDY = StudyTypes([MbrPlan], choices=MbrChoice, scores=MbrScore)
