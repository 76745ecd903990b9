"""The report and the files of ``--metricsMATR``, in the layout of the scripts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from .documents import TestSet
from .scoring import ORDERS, Counted, Kind, Score, untokenized, words_of

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
LINE = "# ------------------------------------------------------------------------"
HEADER = "        " + "   ".join(f"{order}-gram" for order in range(1, ORDERS + 1))
UNDERLINE = "        " + "   ".join(["------"] * ORDERS)
# By the kind of score, and by system.
Scores = Mapping[str, Mapping[str, Score]]


def start(version: str, command: str) -> str:
    """The lines before anything is read."""
    return f"MT evaluation scorer began on {_now()}\n{_extra(version)}command line:  {command}\n"


def end(version: str) -> str:
    """The last line."""
    return f"{_extra(version)}MT evaluation scorer ended on {_now()}\n"


def _extra(version: str) -> str:
    """An empty line in version 14."""
    return "\n" if version == "14" else ""


def _now() -> str:
    now = datetime.now()
    return f"{now.year} {MONTHS[now.month - 1]} {now.day} at {now:%H:%M:%S}"


def evaluation(test_set: TestSet, counted: Counted) -> str:
    """Everything between the first and the last lines."""
    version = counted.options.version
    n_segments = sum(map(len, test_set.source.values()))
    first = "\n" if version == "14" else "  "
    lines = [
        f"{first}Evaluation of {test_set.source_language}-to-{test_set.target_language} translation using:",
        f'    src set "{test_set.set_id}" ({len(test_set.source)} docs, {n_segments} segs)',
        f'    ref set "{test_set.set_id}" ({len(test_set.references)} refs)',
        f'    tst set "{test_set.set_id}" ({len(test_set.systems)} systems)',
        "",
    ]
    matches = Matches(counted) if counted.options.detail >= 3 else None
    for system in range(len(counted.systems)):
        for kind in counted.kinds:
            lines += _details(test_set, counted, matches, system, kind)
    scores = {
        kind.name: {name: kind.score(system, counted.every_row(system)) for system, name in enumerate(counted.systems)}
        for kind in counted.kinds
    }
    return "\n".join([*lines, *_scores(counted.systems, scores), *_tables(version, scores)]) + "\n"


def _details(test_set: TestSet, counted: Counted, matches: Matches | None, system: int, kind: Kind) -> Iterator[str]:
    """Lines of n-grams, segments and documents, and of the lengths."""
    options, name = counted.options, counted.systems[system]
    for document, rows in counted.rows[system].items():
        segments = in_order(rows, options.version)
        if options.detail >= 2:
            numbers = [rows[segment] for segment in segments]
            scores = kind.segment_scores(system, numbers)
            words = counted.words(system, numbers)
            for segment, row, score, n in zip(segments, numbers, scores, words, strict=True):
                if matches is not None:
                    yield from _texts(test_set, matches, system, name, segment, row)
                yield (
                    f'  {kind.name} score using {kind.order}-grams = {score:.4f} for system "{name}" on segment '
                    f'{segment} of document "{document}" ({n} words)'
                )
        if options.detail >= 1:
            every = list(rows.values())
            of_document = kind.score(system, every).score
            yield (
                f'{kind.name} score using   {kind.order}-grams = {of_document:.4f} for system "{name}" on document '
                f'"{document}" ({len(every)} segments, {sum(counted.words(system, every))} words)'
            )
    if kind.name == "BLEU" and options.smoothing and options.version == "13a":
        yield _lengths(*counted.lengths[system, counted.every_row(system)].sum(axis=0).tolist())


def _texts(test_set: TestSet, matches: Matches, system: int, name: str, segment: str, row: int) -> Iterator[str]:
    for reference, words in zip(sorted(test_set.references), matches.references, strict=True):
        yield f"ref '{reference}', seg {segment}: {untokenized(' '.join(words[row]))}"
    yield f"sys '{name}', seg {segment}: {untokenized(' '.join(matches.systems[system][row]))}"
    yield from matches.lines(system, row)


def _lengths(hyp_len: int, ref_len: int) -> str:
    ratio = hyp_len / ref_len if ref_len else math.inf
    log = math.log(math.exp(min(0.0, 1 - ref_len / hyp_len))) if hyp_len else -math.inf
    return f"length ratio: {shown(ratio)} ({hyp_len}/{ref_len}), penalty (log): {shown(log)}"


def shown(number: float) -> str:
    """A number as Perl prints it."""
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    return f"{number + 0.0:.15g}"  # no minus before 0


def in_order(segments: dict[str, int], version: str) -> list[str]:
    """The ids of segments in the order of the report: by number, in version 14 by the numbers and letters in them."""
    return sorted(segments, key=_natural if version == "14" else _number)


def _number(text: str) -> float:
    found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.ASCII | re.IGNORECASE)
    return float(found[0]) if found else 0.0


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|[^\W\d_]+", text.lower(), re.ASCII)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _scores(systems: Sequence[str], scores: Scores) -> Iterator[str]:
    for name in systems:
        nist = f"NIST score = {scores['NIST'][name].score:.4f}  " if "NIST" in scores else "\n"
        bleu = f"BLEU score = {scores['BLEU'][name].score:.4f} " if "BLEU" in scores else ""
        yield f'{nist}{bleu}for system "{name}"'


def _tables(version: str, scores: Scores) -> Iterator[str]:
    extra, space = _extra(version), " " * (2 if version == "14" else 1)

    def rows(kind: str, cumulative: bool) -> Iterator[str]:
        for name, score in scores.get(kind, {}).items():
            numbers = score.cumulative if cumulative else score.individual
            yield f" {kind}:" + "".join(f"  {number:.4f} " for number in numbers) + f'{space}"{name}"'

    yield f"\n{LINE}\n\nIndividual N-gram scoring\n{HEADER}\n{UNDERLINE}"
    if "NIST" in scores:
        yield from rows("NIST", False)
        yield ""
    yield from rows("BLEU", False)
    yield f"\n{LINE}\n{extra}Cumulative N-gram scoring\n{HEADER}\n{UNDERLINE}"
    yield from rows("NIST", True)
    yield ""
    yield from rows("BLEU", True)


def files(test_set: TestSet, counted: Counted) -> dict[str, str]:
    """The files of ``--metricsMATR``: their names and contents."""
    written: dict[str, str] = {}
    for kind in counted.kinds:
        of_systems, of_documents, of_segments = [], [], []
        for system, name in enumerate(counted.systems):
            score = kind.score(system, counted.every_row(system)).score
            of_systems.append(f"{test_set.set_id}\t{name}\t{shown(score)}\n")
            for document, rows in counted.rows[system].items():
                score = kind.score(system, list(rows.values())).score
                of_documents.append(f"{test_set.set_id}\t{name}\t{document}\t{shown(score)}\n")
                segments = in_order(rows, counted.options.version)
                scores = kind.segment_scores(system, [rows[segment] for segment in segments])
                of_segments += [
                    f"{test_set.set_id}\t{name}\t{document}\t{segment}\t{shown(score)}\n"
                    for segment, score in zip(segments, scores, strict=True)
                ]
        for level, lines in (("sys", of_systems), ("doc", of_documents), ("seg", of_segments)):
            written[f"{kind.name}-{level}.scr"] = "".join(lines)
    return written


class Matches:
    """The n-grams that ``-d 3`` lists: the words of all texts, and the information of all n-grams of the references."""

    def __init__(self, counted: Counted) -> None:
        self.systems = [words_of(text, counted.options) for text in counted.texts]
        self.references = [words_of(text, counted.options) for text in counted.references]
        self.counts: Counter[str] = Counter()
        for column in self.references:
            for words in column:
                self.counts.update(_ngrams(words))
        self.n_words = sum(len(words) for column in self.references for words in column)

    def lines(self, system: int, row: int) -> list[str]:
        """A line for each n-gram of a segment that matches."""
        found = Counter(_ngrams(self.systems[system][row]))
        best: dict[str, int] = {}
        for column in self.references:
            for ngram, n in Counter(_ngrams(column[row])).items():
                best[ngram] = max(n, best.get(ngram, 0))
        return [
            f"{self._information(ngram):.2f} info for each of {min(n, best[ngram])} {_order(ngram)}-grams = "
            f"'{untokenized(ngram)}'"
            for ngram, n in found.items()
            if ngram in best
        ]

    def _information(self, ngram: str) -> float:
        context = ngram.rpartition(" ")[0]
        # The scripts take the context "0" for none.
        of_context = self.counts[context] if context not in ("", "0") else self.n_words
        return -math.log(self.counts[ngram] / of_context) / math.log(2)


def _order(ngram: str) -> int:
    # An empty word is not counted if it stands alone.
    return ngram.count(" ") + 1 if ngram else 0


def _ngrams(words: Sequence[str]) -> Iterator[str]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + ORDERS, len(words)) + 1):
            yield " ".join(words[start:end])
