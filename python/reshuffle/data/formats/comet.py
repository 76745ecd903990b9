"""Input formats of COMET: the JSON files of ``--to_json``, and the lines that ``comet-score`` prints.

Facts from unbabel-comet 2.2.7, ``comet/cli``: the JSON of comet-score is an object with a list of segments for each
file of translations, and each segment is an object with the texts (``src``, ``mt``, ``ref``) and ``COMET``, its score.
That of comet-compare has results, and under ``translations`` an object with ``name``, ``mt`` and ``scores`` for each
file. The printed lines are the file, ``Segment`` with its number from 0, and the score in four decimals; then the score
of each system. Older versions add a variance to the line of a segment.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from ...errors import listed, quoted, shortened, unknown_name
from ..files import split_lines, uncompressed
from ._json_parts import after, next_entry, parts
from .base import Column, Format, Names, Source, choose, is_number, is_score, shown_json

# What the keys of scores are called by comet-score, MetricX and others, the first that a file has.
KEYS = ("COMET", "prediction", "predicted_score", "score", "bleurt")
SYSTEM, SEGMENT = "system", "segment"
# The key of the systems in files of comet-compare.
COMPARED = "translations"
BLANK = " \t\r\n"
LINE = re.compile(r"(.*)\tSegment (\d+)\tscore: (\S+)(?:\tvariance: \S+)?", re.ASCII)
OF_SYSTEM = re.compile(r"(?:.*\tscore: \S+|Predictions saved in: .*|\s*)", re.ASCII)


class Records(NamedTuple):
    """The segments of a JSON file, system by system.

    ``systems`` has the name of each system and its number of segments; the name is None for a list without systems.
    """

    systems: list[tuple[str | None, int]]
    segments: list[dict[str, Any]]
    lines: Sequence[int]

    @property
    def are_named(self) -> bool:
        """Whether the systems have names."""
        return self.systems[0][0] is not None


@dataclass(frozen=True)
class _Lines(Sequence[int]):
    """The line on which each segment begins. The text is only searched when one is asked for, for a message."""

    source: Source
    n: int
    compared: bool = False

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: Any) -> Any:
        return self.source.once(_lines_compared if self.compared else _lines)[index]


def _lines(source: Source) -> list[int]:
    return [line for _, _, line in parts(source, _as_object(source.text()), None)]


def read_records(source: Source) -> Records:
    """All segments of a JSON file.

    :class:`InputError` if the file is not JSON, or not lists of objects.
    """
    text = source.text()
    value = _parsed(source, text)
    compared = isinstance(value, dict) and isinstance(value.get(COMPARED), list)
    lists = _compared(source, value) if compared else value if isinstance(value, dict) else {None: value}
    for name, segments in lists.items():
        if not isinstance(segments, list) or not segments:
            got = "an empty list" if segments == [] else shown_json(segments)
            whose = "a list of segments" if name is None else f"a list of the segments of {quoted(name)}"
            by_id = json.dumps({"id": name, "score": segments}, ensure_ascii=False)
            hint = f"; scores by id are JSON lines such as {shortened(by_id)}" if name and is_score(segments) else ""
            if name == "results":  # of lm-eval and others
                hint = "; tests need a score for each segment, as in the samples of lm-eval (--log_samples)"
            source.fail(f"expected {whose}, as comet-score --to_json writes it, got {got}{hint}")
    found: list[dict[str, Any]] = list(chain.from_iterable(lists.values()))
    lines = _Lines(source, len(found), compared)
    if not found:
        source.fail("expected a list of segments for each system, got an empty object")
    for number, segment in enumerate(found):
        if not isinstance(segment, dict):
            name = [name for name, segments in lists.items() for _ in segments][number]
            raw = "-r " if isinstance(segment, str) else ""
            path = raw + shlex.quote(".[]" if name is None else f".[{json.dumps(name, ensure_ascii=False)}][]")
            files = "a text file" if len(lists) == 1 else "a text file for each system,"
            of_numbers = (
                f"; write {'texts' if raw else 'numbers'} alone as {files} with one on each line, as jq {path} does"
            )
            hint = of_numbers if raw or is_score(segment) else ""
            problem = f"expected an object with the score of a segment, got {shown_json(segment)}{hint}"
            source.fail(problem, lines[number])
    return Records([(name, len(segments)) for name, segments in lists.items()], found, lines)


def _compared(source: Source, value: dict[str, Any]) -> dict[str, Any]:
    """The file of comet-compare in the form of comet-score's."""
    lists: dict[str, Any] = {}
    for number, system in enumerate(value[COMPARED], 1):
        name, scores = (system.get(key) if isinstance(system, dict) else None for key in ("name", "scores"))
        if not isinstance(name, str) or not isinstance(scores, list) or name in lists:
            source.fail(f"expected another name and a list of scores in number {number} of {quoted(COMPARED)}")
        texts = {"src": value.get("source"), "mt": system.get("mt"), "ref": value.get("reference")}
        texts = {key: text for key, text in texts.items() if isinstance(text, list) and len(text) == len(scores)}
        keys = [*texts, KEYS[0]]
        lists[name] = [dict(zip(keys, row, strict=True)) for row in zip(*texts.values(), scores, strict=True)]
    return lists


def score_key(source: Source, keys: Sequence[str], segment: dict[str, Any]) -> str:
    """The key of the scores in objects like ``segment``: a known one, or the only one with a number, true or false."""
    known = next((key for key in KEYS if key in keys), None)
    if known is not None:
        return known
    scores = score_keys(segment)
    return choose(source, "key", None, scores or list(keys))


def score_keys(segment: dict[str, Any]) -> list[str]:
    """The keys of numbers; if there are none, those of true and false."""
    return [key for key in segment if is_number(segment[key])] or [key for key in segment if is_score(segment[key])]


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`. Systems follow each other."""
    records = source.once(read_records)
    return [Column(source.label(name), values_of(source, records, name), records.lines) for name in names]


def names_of(source: Source) -> list[str]:
    """``system`` and ``segment``, if the file names systems, and the keys of the first segment."""
    records = source.once(read_records)
    return [*([SYSTEM, SEGMENT] if records.are_named else []), *records.segments[0]]


def values_of(source: Source, records: Records, name: str | None) -> list[Any]:
    """The values of a key, those of the score if ``name`` is None; or systems or numbers of segments."""
    if records.are_named and name == SYSTEM:
        return [system for system, n in records.systems for _ in range(n)]
    if records.are_named and name == SEGMENT:
        return [number for _, n in records.systems for number in range(1, n + 1)]
    first = records.segments[0]
    key = score_key(source, list(first), first) if name is None else name
    try:
        return [segment[key] for segment in records.segments]
    except KeyError:
        number = next(number for number, segment in enumerate(records.segments) if key not in segment)
        source.fail(str(unknown_name("key", key, records.segments[number])), records.lines[number])


def _parsed(source: Source, text: str) -> Any:
    found: dict[str, Any] = {}
    is_object = _as_object(text) is text
    for key, value, line in parts(source, _as_object(text)):  # to notice a system that occurs twice
        if found and not is_object:
            source.fail("not valid JSON: Extra data", line)
        if key in found:
            source.fail(f"expected one list for each system, got a second one of {quoted(key)}", line)
        found[key] = value
    if is_object:
        return found
    if not isinstance(found[""], list):
        source.fail(f"expected an object with a list of segments for each system, got {shown_json(found[''])}")
    return found[""]


def _as_object(text: str) -> str:
    """The text of an object; of a list, that of an object with an empty key."""
    return text if text.lstrip(BLANK).startswith("{") else f'{{"": {text}}}'


def _lines_compared(source: Source) -> list[int]:
    """The lines of the scores in a valid file of comet-compare."""
    text, decoder, lines, counted = source.text(), json.JSONDecoder(), [1], 0
    # A quote within a text is escaped, so these are keys.
    for found in re.finditer(r'"scores"\s*:\s*\[', text):
        position = after(text, found.end())
        while text[position] != "]":
            lines.append(lines[-1] + text.count("\n", counted, position))
            counted = position
            _, position = decoder.raw_decode(text, position)
            position = next_entry(text, position)
    return lines[1:]


def is_printed(line: str) -> bool:
    """Whether a file that begins with this line has the output of ``comet-score``."""
    return LINE.fullmatch(line) is not None


def _printed_rows(source: Source) -> tuple[list[tuple[str, str, str]], list[int]]:
    """System, segment and score of each line, and its number."""
    rows, numbers = [], []
    next_segment: dict[str, int] = {}
    for number, line in enumerate(split_lines(source.text()), 1):
        found = LINE.fullmatch(line)
        if found is None:
            if OF_SYSTEM.fullmatch(line) is None:
                source.fail(f"expected a line as comet-score prints it, got {quoted(line)}", number)
            continue
        system, segment, score = found.groups()
        expected = next_segment.get(system, 0)
        if int(segment) != expected:
            source.fail(f"expected segment {expected} of {quoted(system)}, got segment {int(segment)}", number)
        next_segment[system] = expected + 1
        rows.append((system, segment, score))
        numbers.append(number)
    if not rows:
        source.fail("expected a line for each segment: comet-score prints them unless --only_system is set")
    return rows, numbers


def read_printed(source: Source, names: Names) -> list[Column]:
    """See :class:`Format`."""
    rows, numbers = _printed_rows(source)
    known = [SYSTEM, SEGMENT, KEYS[0]]
    columns = dict(zip(known, zip(*rows, strict=True), strict=True))
    for name in names:
        if name is not None and name not in known:
            source.fail(f"expected one of {listed(known)} after #, got {quoted(name)}")
    return [Column(source.label(name), list(columns[name or KEYS[0]]), numbers) for name in names]


def _is_json(file: str, line: str) -> bool:
    """JSON, but not JSON lines, whose first line is a whole object with several keys."""
    if not line.lstrip().startswith(("{", "[")):
        return False
    try:
        value = json.loads(line)
    except ValueError:
        return True
    except RecursionError:
        return False
    if not isinstance(value, dict):
        return isinstance(value, list)
    of_systems = [*value.values()]
    return (
        isinstance(value.get(COMPARED), list)
        or (len(value) < 2 and uncompressed(file).lower().endswith(".json"))
        or (all(isinstance(each, list) for each in of_systems) and isinstance(next(chain(*of_systems), 0), dict))
    )


FORMAT = Format(
    "a list of scored segments for each system, as --to_json of COMET writes it",
    (".json",),
    read,
    numbers=float,
    names=names_of,
    recognizes=_is_json,
)
PRINTED = Format(
    "the lines that comet-score prints",
    (),
    read_printed,
    numbers=str,
    names=lambda source: [SYSTEM, SEGMENT, KEYS[0]],
    recognizes=lambda file, line: is_printed(line),
)
