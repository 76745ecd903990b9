"""The texts of a comparison, with segment scores."""

from __future__ import annotations

from collections.abc import Mapping

from ..documented import record


@record
class ComparedTexts:
    """The texts that were compared, which :class:`~reshuffle.Comparison` keeps only on request."""

    references: tuple[tuple[str | None, ...], ...]
    """The references of each segment; None stands for a missing one."""
    systems: Mapping[str, tuple[str, ...]]
    """The outputs, by system."""
    scores: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    """The score of each segment, by metric and system, as :func:`reshuffle.segment_scores` returns it; None for a
    missing score. Functions of texts (:class:`~reshuffle.CorpusFunction`) are left out, because they need not be
    defined on a single segment.
    """

    source: tuple[str | None, ...] | None = None
    """The source text of each segment, if it was given."""
    documents: tuple[str, ...] | None = None
    """The id of each segment's document, if documents were given."""

    @property
    def n_bytes(self) -> int:
        """The size of the references, the outputs and the source in UTF-8."""
        every = (*self.references, *self.systems.values(), self.source or ())
        return sum(_n_bytes(line) for lines in every for line in lines)


def _n_bytes(line: str | None) -> int:
    if line is None or line.isascii():
        return len(line or "")
    return len(line.encode("utf-8", "surrogatepass"))
