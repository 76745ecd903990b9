"""Input formats of transcripts whose lines have ids: sclite's ``.trn``, and the files ``text`` of Kaldi."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...errors import quoted, warn
from ..files import split_lines
from .base import Column, Format, Names, Source, check_unnamed

# The id of a segment, and its text; None for a line without an id.
Split = Callable[[str], "tuple[str, str] | None"]
# Takes a file, its texts and the numbers of their lines.
Check = Callable[[Source, Sequence[str], Sequence[int]], None]


def speaker_of(utterance: str) -> tuple[str, str]:
    """The speaker (the part before the last hyphen, or without one the last underscore) and the rest.

    An id without either is a speaker of its own.

    >>> speaker_of("anna-noisy_0-0012"), speaker_of("anna_0012"), speaker_of("0012")
    (('anna-noisy_0', '0012'), ('anna', '0012'), ('0012', ''))
    """
    speaker, hyphen, rest = utterance.rpartition("-" if "-" in utterance else "_")
    return (speaker, rest) if hyphen else (utterance, "")


def of_trn(line: str) -> tuple[str, str] | None:
    """The id in parentheses at the end of a line, and the text before it.

    >>> of_trn("no (well) yes (anna-1) "), of_trn("(anna-2)"), of_trn("no id")
    (('anna-1', 'no (well) yes'), ('anna-2', ''), None)
    """
    found = re.fullmatch(r"(.*)\(([^()\s]+)\)\s*", line)
    return found and (found[2], found[1].rstrip())


def check_marks(source: Source, texts: Sequence[str], first_lines: Sequence[int]) -> None:
    """:class:`InputError` for sclite's alternations, which are no one text; a warning for its deletable words.

    As in sclite, marks begin a word: ``a{b}`` and ``(at nine)`` are words like others.
    """
    in_parentheses: list[tuple[str, int]] = []
    for text, number in zip(texts, first_lines, strict=True):
        if "{" in text and (found := re.search(r"(?<!\S)\{[^}]*\}?", text)):
            source.fail(
                f"{quoted(found[0])} is an alternation: sclite scores its best alternative, but reshuffle does not "
                "read it; replace it by one alternative, without braces (by nothing for @), in all files alike",
                number,
            )
        if "(" in text:
            in_parentheses += [(word, number) for word in text.split() if re.fullmatch(r"\(.+\)", word)]
    if in_parentheses:
        word, number = in_parentheses[0]
        warn(
            f"{source.name}, line {number}: {quoted(word)} is counted as a word with its parentheses, as by sclite "
            "without -D: if they mean that a word may be missing, remove the parentheses or the word, in all files "
            "alike"
        )


def of_kaldi(line: str) -> tuple[str, str] | None:
    """The first word of a line, and the text after it.

    >>> of_kaldi("anna-1 no yes"), of_kaldi("anna-2"), of_kaldi(" no")
    (('anna-1', 'no yes'), ('anna-2', ''), None)
    """
    found = re.fullmatch(r"(\S+)(?:\s+(.*))?", line)
    return found and (found[1], (found[2] or "").rstrip())


def reader(
    split: Split, expected: str, comment: str | None = None, kind: str = "text", check: Check = lambda *_: None
) -> Callable[[Source, Names], list[Column]]:
    """The function of :class:`Format` for a format. Lines that begin with ``comment`` are left out."""

    def read(source: Source, names: Names) -> list[Column]:
        check_unnamed(source, names, "transcripts have")
        texts: list[str] = []
        first_lines: dict[str, int] = {}
        for number, line in enumerate(split_lines(source.text()), 1):
            if comment is not None and line.startswith(comment):
                continue
            found = split(line)
            if found is None:
                source.fail(f"expected {expected}, got {quoted(line)}", number)
            utterance, text = found
            if utterance in first_lines:
                source.fail(f"the id {quoted(utterance)} is also on line {first_lines[utterance]}", number)
            first_lines[utterance] = number
            texts.append(text)
        check(source, texts, [*first_lines.values()])
        ids = [speaker_of(utterance) for utterance in first_lines]
        return [Column(source.name, texts, [*first_lines.values()], ids, kind, [*first_lines]) for _ in names]

    return read


TRN = Format(
    "a transcript and its id in parentheses on each line, as sclite reads them",
    (".trn",),
    reader(of_trn, "a transcript and its id, as in 'she left (anna-0001)'", ";;", check=check_marks),
    metric="asr-wer",
)
KALDI = Format(
    "an id and its transcript on each line, as in Kaldi's file text",
    (),
    reader(of_kaldi, "an id at the start of the line"),
    metric="asr-wer",
)
UTT2SPK = Format(
    "for --docs and --strata: an id and its speaker on each line, as in Kaldi's file utt2spk",
    ("utt2spk", ".utt2spk"),
    reader(of_kaldi, "an id at the start of the line", kind="speakers"),
)
