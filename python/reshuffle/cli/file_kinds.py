"""What a file is, as the readers say, and the commands that take it: ``reshuffle doctor FILE``."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..data.corpus import system_names
from ..data.count_files import is_count_file
from ..data.evaluations import JUDGMENT_FORMATS, SCORE_FORMATS
from ..data.evaluations.base import ScoreOptions, first_line
from ..data.evaluations.tables import JSONL
from ..data.files import STDIN
from ..data.formats import INPUT_FORMATS, Column, Source, format_of
from ..data.history import runs_in
from ..data.reading import read_texts
from ..data.retrieval import is_qrel, is_run
from ..data.saved import ELEMENT, read_json
from ..data.score_tables import recognised
from ..data.scores import MISSING_WORDS
from ..data.votes import ROLES, read_votes
from ..errors import InputError, listed
from ..metrics.stored import open_counts
from ..options.files import SetFiles
from ..options.run_files import RunFiles
from ..results.schemas import COMPARISON, schema_of
from ..tune.lists import read_nbest
from .inputs.folders import files_in, is_folder
from .inputs.sets import read_manifest


class Said(NamedTuple):
    """What a reader says of a file: its format, and what is in it."""

    format: str
    contents: str
    commands: Sequence[str] = ()
    """If this format has others than its kind."""


@dataclass(frozen=True)
class Kind:
    """What a file can be."""

    name: str
    read: Callable[[str], Said | None]
    """None if the file is something else; InputError if it looks like this kind and cannot be read."""
    commands: Sequence[str]
    """With FILE for its name, and other words in capitals for what the user has besides."""


@dataclass(frozen=True)
class Found:
    """What one reader says, or why it cannot read a file that looks like this kind."""

    kind: str
    format: str = ""
    contents: str = ""
    commands: Sequence[str] = ()
    problem: str = ""


def found_in(path: str) -> list[Found]:
    """What a file is. It can be both scores and texts; if only one of these can be read, the problem of the other.

    :class:`InputError` if the file cannot be read.
    """
    if path == STDIN:
        raise InputError("doctor reads a file several times: name a file, not standard input")
    _source.cache_clear()
    for kind in KINDS:
        found = _found(kind, path)
        if found is not None:
            return [found]
    try:
        scores = _found(SCORES, path)
    except InputError as error:
        scores = Found(SCORES.name, problem=str(error))
    if scores is not None and scores.format and not scores.format.startswith(AS_COLUMNS):
        return [scores]
    try:
        texts = _found(TEXTS, path)
    except InputError:
        if scores is None or scores.problem:
            raise
        texts = None
    both = [each for each in (scores, texts) if each is not None]
    return sorted(both, key=lambda each: bool(each.problem))


def _found(kind: Kind, path: str) -> Found | None:
    said = kind.read(path)
    if said is None:
        return None
    commands = [_with(path, command) for command in said.commands or kind.commands]
    return Found(kind.name, said.format, said.contents, commands)


def _with(path: str, command: str) -> str:
    return command.replace("FILE", shlex.quote(path))


def _n(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@lru_cache(maxsize=1)
def _source(path: str) -> Source:
    """The file, which several readers look at."""
    return Source.read(path, "texts, scores or a result")


def _folder(path: str) -> Said | None:
    if not is_folder(path):
        return None
    files = files_in(path)
    return Said("folder", f"{_n(len(files), 'file')}: {listed(system_names(files))}")


def _counts(path: str) -> Said | None:
    if not is_count_file(path):
        return None
    found = open_counts(path, check=False)
    metrics = f"{_n(found.n_segments, 'segment')}; {listed([metric.name for metric in found])}"
    return Said(f"reshuffle {found.version}", f"{metrics}; systems {listed(found.systems)}")


def _result(path: str) -> Said | None:
    head = _source(path).data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not re.match(rb'\{\s*"schema":', head) and not (head.startswith(b"<") and ELEMENT.encode() in head):
        return None
    result = read_json(path)
    schema = schema_of(result)
    figure = ("reshuffle plot FILE forest -o forest.pdf",) if schema == COMPARISON else ()
    return Said(schema, getattr(result, "study", ""), (*SHOWN, *figure))


def _history(path: str) -> Said | None:
    runs, problem = runs_in(_source(path).data.split(b"\n"))
    end = f"; line {len(runs) + 1} is damaged: {problem}" if problem else ""
    return Said("JSON lines", f"{_n(len(runs), 'run')}{end}") if runs else None


def _lists(path: str) -> Said | None:
    if " ||| " not in first_line(_source(path)):
        return None
    lists = read_nbest(path)
    size = f"{_n(len(lists.offsets) - 1, 'sentence')}, {int(lists.offsets[-1]):,} entries"
    return Said("id ||| hypothesis ||| features", f"{size}; features {listed(lists.names)}")


def _judgments(path: str) -> Said | None:
    source = _source(path)
    first = first_line(source)
    name = next((name for name, each in JUDGMENT_FORMATS.items() if each.recognises(first)), None)
    if name is None:
        return None
    votes = JUDGMENT_FORMATS[name].read(source, None, None)
    return Said(name, f"{_n(len(votes.better), 'vote')}, {_n(len(votes.tied), 'tie')}; systems {listed(votes.ids)}")


def _battles(path: str) -> Said | None:
    if not any(role in first_line(_source(path)).lower() for role in ROLES["winner"]):
        return None
    try:
        votes = read_votes(path)
    except InputError:  # the word was another one
        return None
    return Said("winners of pairs", f"{_n(len(votes.outcome), 'vote')}; systems {listed(votes.systems)}")


def _queries(is_line: Callable[[str], bool]) -> Callable[[str], Said | None]:
    def read(path: str) -> Said | None:
        source = _source(path)
        return Said("TREC", _n(source.data.count(b"\n"), "line")) if is_line(first_line(source)) else None

    return read


def _test_sets(path: str) -> Said | None:
    if "sets" not in _keys(path):
        return None
    return Said("manifest", listed(read_manifest(path, "test sets").sets(SetFiles)))


def _runs(path: str) -> Said | None:
    if "systems" not in _keys(path):
        return None
    return Said("manifest", f"systems {listed(read_manifest(path, 'runs').values(RunFiles)['systems'])}")


def _keys(path: str) -> Mapping[str, Any]:
    """The keys of a manifest. Other JSON has other keys, or is no object."""
    if Path(path).suffix.lower() == ".toml":
        return read_manifest(path, "a manifest").table
    with contextlib.suppress(InputError):
        return read_manifest(path, "a manifest").table if Path(path).suffix.lower() == ".json" else {}
    return {}


def _scores(path: str) -> Said | None:
    source = _source(path)
    name = recognised(source)
    if name is None:
        return None
    score_format = SCORE_FORMATS[name]
    try:
        parsed = score_format.parse(source)
        metrics, _ = score_format.names(parsed, ScoreOptions())
        cells = score_format.read(parsed, metrics[0], ScoreOptions(metrics[0]))
    except InputError:
        if score_format is JSONL or _has_only_numbers(path):  # any object could be the first
            return None
        raise
    systems = cells.ids if cells.system is not None else []
    unnamed = metrics == [source.name]  # where a file does not name its metric
    one = f"reshuffle compare --scores {'METRIC' if unnamed else shlex.quote(metrics[0])} FILE OTHER"
    several = "reshuffle meta systems --human FILE --refs REF --systems FOLDER"
    holds = _n(len(cells.values), "score") + ("" if unnamed else f" of each of {listed(metrics)}")
    return Said(
        f"{name}: {score_format.about}",
        f"{holds}; systems {listed(systems)}" if systems else holds,
        (several,) if len(systems) > 1 else (one,),
    )


def _texts(path: str) -> Said | None:
    name = format_of(path)
    text_format, source = INPUT_FORMATS[name], _source(path)
    about = f"{name}: {text_format.about}"
    columns = text_format.names(source) if text_format.names is not None else []
    if columns:
        return _table(about, columns, text_format.read(source, columns))
    systems = text_format.systems(source) if text_format.systems is not None else []
    references, _, _ = read_texts([f"{path}#{systems[0]}" if systems else path], [])
    size = _n(len(references[0].lines), "segment")
    if systems:
        return Said(about, f"{size}; systems {listed(systems)}", ("reshuffle compare REF FILE",))
    return Said(about, size, OF_FORMAT.get(name, ()))


def _has_only_numbers(path: str) -> bool:
    """Whether a file is a table with a column of scores for each system."""
    text_format, source = INPUT_FORMATS[format_of(path)], _source(path)
    columns = text_format.names(source) if text_format.names is not None else []
    return bool(columns) and all(all(map(_is_number, each.lines)) for each in text_format.read(source, columns))


def _table(about: str, names: Sequence[str], columns: Sequence[Column]) -> Said:
    """What a table of columns holds: texts, labels and ids, and numbers."""
    numbers = [name for name, column in zip(names, columns, strict=True) if all(map(_is_number, column.lines))]
    others = [name for name in names if name not in numbers]
    holds = [f"{what} in {listed(own)}" for what, own in (("texts", others), ("numbers", numbers)) if own]
    commands = (*(COLUMNS if len(others) > 1 else ()), *(NUMBERS if numbers else ()))
    return Said(about, "; ".join([_n(len(columns[0].lines), "segment"), *holds]), commands)


def _is_number(value: object) -> bool:
    if isinstance(value, str) and value.strip().lower() in MISSING_WORDS:
        return True
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


# Formats of scores that can also be columns of texts.
AS_COLUMNS = ("table:", "jsonl:")
SHOWN = ("reshuffle show FILE", "reshuffle verify FILE COMMAND")
COLUMNS = ("reshuffle compare FILE#REF FILE#BASELINE FILE#NEW", "reshuffle score FILE#REF FILE#NEW")
OF_FORMAT: Mapping[str, Sequence[str]] = {
    "conllu": ("reshuffle compare FILE BASELINE NEW -m depf", "reshuffle compare REF FILE NEW -m depf"),
    "trn": ("reshuffle compare FILE BASELINE NEW -m asr-wer --docs speaker", "reshuffle score REF FILE -m asr-wer"),
}
NUMBERS = (
    "reshuffle compare --scores METRIC FILE",
    "reshuffle compare --scores METRIC FILE#COLUMN OTHER#COLUMN",
    "reshuffle compare --counts METRIC:FORMULA FILE OTHER",
)
KINDS: Sequence[Kind] = (
    Kind("outputs of systems", _folder, ("reshuffle compare REF FILE", "reshuffle compare REF FILE --all-pairs")),
    Kind("counts", _counts, ("reshuffle compare FILE", "reshuffle score FILE")),
    Kind("a saved result", _result, SHOWN),
    Kind("the history of a gate", _history, ("reshuffle gate BASE NEW --ref REF --history FILE",)),
    Kind("k-best lists", _lists, ("reshuffle tune mert --nbest FILE --refs REF", "reshuffle mbr --nbest FILE")),
    Kind(
        "votes of people",
        _judgments,
        ("reshuffle votes FILE", "reshuffle meta segments --judgments FILE --refs REF --systems FOLDER"),
    ),
    Kind("votes of people", _battles, ("reshuffle votes FILE",)),
    Kind(
        "a run of a search engine",
        _queries(is_run),
        ("reshuffle compare --scores nDCG@10 FILE OTHER --qrels QRELS",),
    ),
    Kind("relevance judgments", _queries(is_qrel), ("reshuffle compare --scores nDCG@10 RUN OTHER --qrels FILE",)),
    Kind("test sets", _test_sets, ("reshuffle compare --manifest FILE",)),
    Kind("runs of systems", _runs, ("reshuffle runs --manifest FILE",)),
)
SCORES = Kind("scores", _scores, ("reshuffle compare --scores METRIC FILE OTHER",))
TEXTS = Kind(
    "texts",
    _texts,
    ("reshuffle compare FILE BASELINE NEW", "reshuffle compare REF FILE NEW", "reshuffle score REF FILE"),
)
