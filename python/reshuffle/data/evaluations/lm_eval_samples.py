"""Samples of lm-evaluation-harness, as ``--log_samples`` writes them: ``samples_TASK_DATE.jsonl``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import LINE_MESSAGE, InputError, listed, quoted
from ..files import split_lines
from ..formats.base import Source, shown_json
from ._joined import Record, joined_cells
from .base import Cells, ScoreFormat, ScoreOptions

# Keys of a sample that are no metrics. Releases before 0.4.6 do not list the metrics.
OTHERS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
# So many characters of a hash tell documents apart.
HASH = 12


def objects(source: Source, unique: bool = False) -> list[tuple[int, dict[str, Any]]]:
    """The object on each line, and its line. Empty lines at the end are ignored.

    With ``unique``, a key that occurs twice in an object is an error. It takes more time.
    """
    found = []
    hook = _unique if unique else None
    lines = split_lines(source.text())
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line, object_pairs_hook=hook)
        except _TwiceError as error:
            source.fail(f"the key {quoted(str(error))} occurs twice in one object", number)
        except (ValueError, RecursionError) as error:
            source.fail(f"expected a JSON object, got {quoted(line)} ({error})", number)
        if not isinstance(value, dict):
            source.fail(f"expected a JSON object, got {shown_json(value)}", number)
        found.append((number, value))
    return found


class _TwiceError(Exception):
    """A key that occurs twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1))
    return found


class Samples(NamedTuple):
    """Each sample with its line."""

    source: Source
    samples: list[tuple[int, dict[str, Any]]]


def names(file: Samples, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`: METRIC,FILTER, as in the harness, or METRIC if there is one filter."""
    source, samples = file
    filters = dict.fromkeys(_filter(sample) for _, sample in samples)
    found: dict[str, None] = {}
    others = []
    for _, sample in samples:
        for name in _metrics(sample):
            full = name if len(filters) == 1 else f"{name},{_filter(sample)}"
            if isinstance(sample[name], list | dict | str):  # texts, from which a score of the corpus is computed
                others.append(full)
                if not isinstance(sample[name], str):
                    continue
            found.setdefault(full)
    if not found:
        source.fail(
            f"no metric has a number for each sample, only {listed(dict.fromkeys(others)) or 'none'}: for metrics of "
            "the whole corpus, such as bleu, the harness writes texts, which reshuffle compare counts"
        )
    return list(found), False


def read(file: Samples, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`. The system is the folder of the file, as the harness names it after the model."""
    source, samples = file
    filters = dict.fromkeys(_filter(sample) for _, sample in samples)
    system = Path(source.file).resolve().parent.name or Path(source.file).stem
    records = []
    for line, sample in samples:
        name = metric
        if len(filters) > 1:
            name, _, wanted = metric.rpartition(",")
            if _filter(sample) != wanted:
                continue
        records.append(Record(system, _id(source, sample, line), _number(source, sample, name, line), line))
    return joined_cells(metric, records)


def _samples(source: Source) -> Samples:
    samples = objects(source)
    for line, sample in samples:
        missing = [key for key in ("doc_id", "filtered_resps") if key not in sample]
        if missing:
            source.fail(f"expected a sample of lm-evaluation-harness, which has the key {quoted(missing[0])}", line)
    return Samples(source, samples)


def _filter(sample: dict[str, Any]) -> str:
    return str(sample.get("filter", "none"))


def _metrics(sample: dict[str, Any]) -> list[str]:
    listed_names = sample.get("metrics")
    if isinstance(listed_names, list):
        return [name for name in listed_names if isinstance(name, str) and name in sample]
    return [name for name in sample if name not in OTHERS]


def _id(source: Source, sample: dict[str, Any], line: int) -> str:
    """The number of the document, with the beginning of its hash: another document has the same number elsewhere."""
    number, digest = sample["doc_id"], sample.get("doc_hash")
    if isinstance(number, bool) or not isinstance(number, int | str):
        source.fail(f"expected a number as 'doc_id', got {shown_json(number)}", line)
    return f"{number} {digest[:HASH]}" if isinstance(digest, str) else str(number)


def _number(source: Source, sample: dict[str, Any], name: str, line: int) -> float:
    value = sample.get(name)
    if value is None:
        return math.nan
    try:
        number = float(value) if isinstance(value, int | float) else math.inf
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        problem = f"expected a finite number as {quoted(name)}, got {shown_json(value)}"
        raise InputError(LINE_MESSAGE, file=source.name, line=line, problem=problem)
    return number


def _recognises(file: str, line: str) -> bool:
    return line.lstrip().startswith("{") and all(key in line for key in ('"doc_id"', '"filtered_resps"'))


FORMAT = ScoreFormat("a sample of lm-evaluation-harness on each line", _recognises, names, read, _samples)
