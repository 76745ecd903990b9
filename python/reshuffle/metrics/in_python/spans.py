"""F1 of spans from tags in BIO, as by seqeval: names, chunks, arguments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from ...errors import Argument, InputError, quoted
from ..registry import option
from .base import Found, Options, Spec, Texts
from .labels import by_class, macro_details, macro_formula, micro_details, micro_formula

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A span: its first and last token in the sentence, and its type. A placed span: the line where it begins, and the same.
Span = tuple[int, int, str]
Placed = tuple[int, int, int, str]
# The letters that begin tags; in mode strict only the first three.
LETTERS = "OBIES"
MODE = option(
    "mode",
    "as in seqeval: default also takes E- and S-, and lets a span begin with I-; strict is its mode='strict' with "
    "scheme=IOB2, where a span begins with B- only",
    "choice",
    ["default", "strict"],
    "default",
)
AVERAGE = option(
    "average",
    "micro for all spans together, macro for the mean over their types",
    "choice",
    ["micro", "macro"],
    "micro",
)


def spans_of(tags: Sequence[str], strict: bool = False) -> list[Span]:
    """The spans of a sentence. :class:`ValueError` for what is not a tag.

    >>> spans_of(["B-PER", "I-PER", "O", "I-LOC"]), spans_of(["B-PER", "I-PER", "O", "I-LOC"], strict=True)
    ([(0, 1, 'PER'), (3, 3, 'LOC')], [(0, 1, 'PER')])
    """
    found: list[Span] = []
    open_at, open_type, before = -1, "", "O"
    for at, tag in enumerate([*tags, "O"]):
        letter, _, kind = tag.partition("-")
        if letter not in LETTERS[: 3 if strict else 5] or len(letter) != 1:
            raise ValueError(tag)
        if letter in "IE" and before in "BI" and open_at >= 0 and kind == open_type:
            before = letter
            continue
        if open_at >= 0:
            found.append((open_at, at - 1, open_type))
        begins = letter == "B" if strict else letter != "O"
        open_at, open_type, before = (at if begins else -1), kind, letter
    return found


def _sentences(texts: Texts) -> list[range] | None:
    """The lines of each sentence, where each document is one; None if each line is a sentence."""
    if any(" " in line.strip() or "\t" in line.strip() for line in texts.only_reference):
        return None
    if texts.documents is None:
        raise InputError(
            "{metric}: each line has one tag: name the sentences with {documents}, or put the tags of a sentence on "
            "one line, with spaces between them",
            metric=texts.metric,
            documents=Argument("documents"),
        )
    sizes = [len([*group]) for _, group in groupby(texts.documents)]
    ends = [*accumulate(sizes)]
    return [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _count(texts: Texts, options: Options) -> Found:
    """Correct, predicted and gold spans, on the line where they begin; of each type for the macro average."""
    import numpy as np

    strict, is_macro = options["mode"] == "strict", options["average"] == "macro"
    sentences, gold = _sentences(texts), texts.only_reference
    lengths = [len(line.split()) for line in gold]
    for name, lines in texts.systems.items():
        for at, (line, length) in enumerate(zip(lines, lengths, strict=True)):
            if len(line.split()) != length:
                texts.fail(name, at, f"expected {length} tags as in the reference, got {len(line.split())}")
    expected = _spans(texts, "the reference", gold, sentences, strict)
    outputs = {name: _spans(texts, name, lines, sentences, strict) for name, lines in texts.systems.items()}
    types = sorted({kind for spans in (expected, *outputs.values()) for _, _, _, kind in spans})
    if is_macro:
        texts.check_labels(types)
    place = {kind: i if is_macro else 0 for i, kind in enumerate(types)}
    shape = len(lengths), max(len(types), 1) if is_macro else 1, 3

    def counts(output: set[Placed]) -> NDArray[np.int64]:
        found = np.zeros(shape, dtype=np.int64)
        for what, spans in enumerate((output & expected, output, expected)):
            at = np.array([(line, place[kind]) for line, _, _, kind in spans], dtype=np.int64).reshape(-1, 2)
            np.add.at(found[:, :, what], (at[:, 0], at[:, 1]), 1)
        return found.reshape(shape[0], -1)

    columns = by_class(types or ["none"]) if is_macro else ["correct", "predicted", "gold"]
    return Found(columns, {name: counts(own) for name, own in outputs.items()})


def _spans(
    texts: Texts, what: str, lines: Sequence[str], sentences: Sequence[range] | None, strict: bool
) -> set[Placed]:
    """Every span, after the line where it begins."""
    found: set[Placed] = set()
    for own in sentences or (range(at, at + 1) for at in range(len(lines))):
        tags = lines[own.start].split() if sentences is None else [lines[at].strip() for at in own]
        try:
            spans = spans_of(tags, strict)
        except ValueError as error:
            wanted = "O, B-TYPE or I-TYPE" if strict else "O, or B-, I-, E- or S- and a type"
            at = own.start if sentences is None else own[tags.index(str(error))]
            texts.fail(what, at, f"expected a tag ({wanted}), got {quoted(str(error))}")
        found.update((own.start if sentences is None else own[span[0]], *span) for span in spans)
    return found


def _formula(columns: Sequence[str], options: Options) -> str:
    return (macro_formula if options["average"] == "macro" else micro_formula)(columns, options)


def _details(columns: Sequence[str], totals: Sequence[int]) -> dict[str, float]:
    return (micro_details if columns[0] == "correct" else macro_details)(columns, totals)


SPAN_F1 = Spec(
    "span-f1",
    "F1 of spans (names, chunks) from BIO tags: a sentence per line, or a tag per line and sentences as --docs",
    "W03-0419",
    [MODE, AVERAGE],
    shown="span-F1",
    counts="correct, predicted, gold; of each type for the macro average",
    count=_count,
    formula=_formula,
    details=_details,
    uses_documents=True,
)
