"""Cases of speech recognition: counts of edits beside jiwer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benches.data import OTHER, Texts
from reshuffle import metric

from ..agreement import DisagreementError
from ..race import Contender, Race, call
from ..rivals import ONE_THREAD, RESHUFFLE, name, unless_missing

__all__ = ["speech"]

TARGET = 50


def same_sums(expected: Any, *others: Any) -> None:
    """Check that the sums of substitutions, deletions, insertions and hits are equal."""
    for counts in others:
        if counts[0].sum(axis=0).tolist() != expected:
            raise DisagreementError(f"counts differ: {expected} and {counts[0].sum(axis=0).tolist()}")


def speech(texts: Texts) -> list[Race]:
    """Counting the edits of one system, from its lines and one reference, of words and of characters."""
    reference, lines = texts.references[0], texts.systems[OTHER]

    def race(what: str, function: str, ours: str) -> Race:
        def theirs() -> list[int]:
            found = getattr(import_module("jiwer"), function)(reference, lines)
            return [found.substitutions, found.deletions, found.insertions, found.hits]

        def counted(threads: int | None) -> Any:
            return lambda: metric(ours).suff_stats([reference], [lines], workers=threads)

        contenders = [
            unless_missing("jiwer", "jiwer", Contender(name("jiwer"), call(theirs))),
            Contender(RESHUFFLE, call(counted(None)), target=TARGET),
            Contender(ONE_THREAD, call(counted(1))),
        ]
        return Race(what, contenders, same_sums)

    return [race("words", "process_words", "asr-wer"), race("characters", "process_characters", "cer")]
