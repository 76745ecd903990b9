"""What a file is, as the readers say, and the commands that take it: ``reshuffle doctor FILE``."""

from __future__ import annotations

import contextlib
import json
import math
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.corpus import MANY_IDS, first_words, system_names
from ..data.count_files import is_count_file
from ..data.file_names import few
from ..data.files import STDIN, read_bytes
from ..data.formats import (
    FORMATS,
    JUDGMENT_FORMATS,
    LOGS,
    SCORE_FORMATS,
    Column,
    Source,
    format_in,
    format_of,
    usual_metric,
)
from ..data.formats._samples import Samples
from ..data.formats.base import GRADES, MISSING_WORDS, WITH_NUL, ZIP, first_line, is_number, number_in, recognized
from ..data.history import runs_but_the_end, runs_in
from ..data.id_columns import FEWEST_GROUPS, GOLD, MODELS, PASSAGES, PERHAPS_IDS, names_runs
from ..data.joined_scores import open_log, problems_in
from ..data.manifest import Manifest
from ..data.reading import Opened, read_texts
from ..data.retrieval import is_qrel, is_run
from ..data.saved import is_saved, read_json
from ..data.score_columns import (
    TABLES,
    TRUTH,
    Numbers,
    Table,
    check_header,
    column_of_runs,
    columns_of_scores,
    has_labels,
    has_texts,
    has_verdicts,
    roles_of,
    table_of,
)
from ..data.score_tables import ScoreFile
from ..data.scores import UNNAMED, scores_in
from ..data.votes import has_votes, read_votes
from ..errors import InputError, InputWarning, counted, listed, quoted, shortened
from ..metrics.stored import open_counts
from ..options.files import SetFiles
from ..options.gate import GateKeys
from ..options.run_files import RunFiles
from ..report.checklist import TITLE
from ..report.paper import FACTS
from ..resampling.counting import LOWER, MOST_CLASSES, UPPER, style_of
from ..results.schemas import COMPARISON, schema_of
from ..tune.lists import read_nbest
from ..tune.weights import read_named_weights
from .inputs.folders import files_by_task, files_in, is_folder, task_of
from .inputs.sets import read_manifest

# What a reference is called.
REFERENCES = ("ref", "refs", "reference", "references")
# In place of other commands than those of the kind of a file.
OF_KIND = ("",)


@dataclass(frozen=True)
class Found:
    """What a reader says of a file, or why it cannot read one that looks like its kind."""

    kind: str = field(default="", kw_only=True)
    """By default that of the reader."""
    format: str = ""
    contents: str = ""
    commands: Sequence[str] = OF_KIND
    problem: str = ""
    watch: Sequence[str] = ()
    """What may be a mistake in the file, or in how it will be used."""


class Kind(NamedTuple):
    """What a file can be."""

    name: str
    read: Callable[[str], Found | None]
    """None if the file is something else; InputError if it looks like this kind and cannot be read."""
    commands: Sequence[str]
    """With FILE for its name, and other words in capitals for what the user has besides."""


def found_in(path: str) -> list[Found]:
    """What a file is. It can be both scores and a table: if only one of them can be read, also why the other cannot.

    :class:`InputError` if the file cannot be read, or looks like a kind of file and is damaged.
    """
    if path == STDIN:
        raise InputError("doctor reads a file several times: name a file, not standard input")
    _source.cache_clear()
    if known := _first(KINDS, path):
        return known
    table = table_of(_source(path))
    by_ending = table.format_name == format_in(_source(path))
    is_table = table.format_name in TABLES and recognized(table.source, LOGS) is None and bool(table.header)
    if is_table and (by_ending or _if_readable(SCORES, path)):
        return _in_table(path, table)
    try:
        return _first((SCORES, TEXTS), path)
    except InputError:
        # JSON may have scores under several keys.
        with contextlib.suppress(InputError):
            if by_ending and table.header:
                return _first((TABLE,), path)
        if _are_damaged_scores(_source(path)):
            raise
        return _first((TEXTS,), path)  # whose first line looks like that of scores


def _in_table(path: str, table: Table) -> list[Found]:
    """What a file is whose columns have names."""
    try:
        found = _first((TABLE,), path)
    except InputError:
        if scores := _if_readable(SCORES, path):  # where some lines lack keys of others
            return scores
        raise
    # Names of columns may also be separated by white space.
    system = roles_of(table.header if len(table.header) > 1 else table.header[0].split()).get("system")
    if system is None:
        return found
    try:
        scores = _first((SCORES,), path)
    except InputError as error:
        return [*found, Found(kind=SCORES.name, commands=(), problem=str(error.with_flags()))]
    # With a row for each system and segment, the names of systems are no texts.
    names = table.values(system)
    return scores if scores and 2 * len(set(names)) <= len(names) else [*scores, *found]


def _if_readable(kind: Kind, path: str) -> list[Found]:
    with contextlib.suppress(InputError):
        return _first((kind,), path)
    return []


def _first(kinds: Iterable[Kind], path: str) -> list[Found]:
    """What the first of these readers that knows a file says of it."""
    for kind in kinds:
        said = kind.read(path)
        if said is not None:
            commands = kind.commands if said.commands is OF_KIND else said.commands
            own = [each.replace("FILE", shlex.quote(path)) for each in commands]
            return [replace(said, kind=said.kind or kind.name, commands=own)]
    return []


def _are_damaged_scores(source: Source) -> bool:
    """Whether what cannot be read as scores is no texts either: JSON, an archive, or numbers at the ends of lines."""
    if re.match(ZIP + rb'|\s*(\{|\[\s*[\[{"])', source.data):
        return True
    ends = [line.split()[-1] for line in source.text().splitlines()[1:] if line.strip()]
    numbers = [end for end in ends if end.lower() in MISSING_WORDS or not math.isnan(number_in(end))]
    return bool(ends) and 2 * len(numbers) >= len(ends)


@lru_cache(maxsize=1)
def _source(path: str) -> Source:
    """The file, which several readers look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # of characters that texts should not have; texts are read again
        source = Source(path, read_bytes(path, "texts, scores or a result"))
    start = source.data[:1000]
    # Archives and UTF-16 are recognized later.
    if start.startswith(b"%PDF") or (b"\0" in start and not start.startswith(WITH_NUL)):
        raise InputError(f"{source.name}: expected text, got a binary file")
    return source


def _folder(path: str) -> Found | None:
    if not is_folder(path):
        return None
    files = files_in(path)
    holds = f"{counted(len(files), 'file')}: {listed(system_names(files))}"
    if any(map(task_of, files)):  # beside which others are left out
        tasks = files_by_task(path)
        files, holds = [*tasks.values()], f"{counted(len(tasks), 'task')} of lm-eval: {listed(tasks)}"
    if any(Path(file).name == FACTS and _source(file).text().startswith(TITLE) for file in files):
        return Found("folder", holds, (), kind="a paper written by --paper")
    scores = _scores_in_folder(files)
    if scores is not None:
        return replace(scores, contents=f"{holds}; {scores.contents}")
    texts = [file for file in files if _is_text(file)]
    others = [Path(file).name for file in files if file not in texts]
    holds += f"; not text: {listed(others)}" if others else ""
    if not texts:
        return Found("folder", holds, (), kind="files that are not text")
    reference = called_reference(texts)
    systems = [file for file in texts if file not in reference]
    holds += "; to compare every pair add --all-pairs" if len(systems) > 2 else ""
    named = [_with_column(file) for file in (*reference, *systems)]
    if not reference and not others and named == texts:
        return Found("folder", holds)
    # A folder stands for all of its files, and the reference is no system.
    return Found("folder", holds, [f"reshuffle compare {shlex.join(named if reference else ['REF', *named])}"])


def called_reference(files: Iterable[str], names: Sequence[str] = REFERENCES) -> list[str]:
    """The file that is called like a reference, if it is the only one."""
    references = [file for file in files if Path(file).stem.casefold() in names]
    return references if len(references) == 1 else []


def _with_column(file: str) -> str:
    """A file of texts; with the name of the column of a table that has them, if it is the only one."""
    if FORMATS[format_of(file)].names is None:  # not read again
        return file
    with contextlib.suppress(InputError):
        columns = Columns(file)
        return f"{file}#{columns.texts[0]}" if len(columns.texts) == 1 < len(columns.all) else file
    return file


def _is_text(path: str) -> bool:
    with contextlib.suppress(InputError):
        return bool(_source(path).name)
    return False


def _scores_in_folder(files: Sequence[str]) -> Found | None:
    """What a folder holds whose files have scores; None if one of the first has texts of systems, or no scores."""
    seen: list[tuple[str, Found]] = []
    for file in files[:FIRST_FILES]:
        with contextlib.suppress(InputError):
            seen += [(file, each) for each in found_in(file)[:1]]
    with_scores = [(file, each) for file, each in seen if each.commands and each.commands[0].startswith(BY_SCORES)]
    if not with_scores or len(with_scores) < len([each for _, each in seen if each.kind in (TABLE.name, TEXTS.name)]):
        return None
    named = {file: shlex.split(each.commands[0])[3] for file, each in with_scores}
    watch: list[str] = []
    file, first = with_scores[0]
    command, shown = first.commands[0], shlex.quote(file)
    about = f"in {task_of(file) or Path(file).name}: {first.contents}"
    # Files of logs are named by what is in them; a folder that has texts, too, cannot be named for its scores.
    beside_texts = any(each.kind == TEXTS.name for _, each in seen)
    if len(files) == 1 or beside_texts or (first.kind != TABLE.name and "systems" in first.contents):
        commands = [command]
    elif not task_of(file) and len({_segments(each) for each, _ in with_scores}) == 1:
        commands = [command.replace(f" {shown} OTHER", " FILE"), command]
    elif len({*named.values()}) > 1:
        commands = ["reshuffle compare --manifest MANIFEST", "reshuffle gate --manifest MANIFEST --margin MARGIN"]
        keys = [re.sub(r".*[^\w-].*", lambda m: json.dumps(m[0]), task_of(own) or Path(own).stem) for own in named]
        lines = (
            f"sets.{key}.scores.accuracy.SYSTEM = {json.dumps(f'{own}#{metric}')}"
            for key, (own, metric) in zip(keys, named.items(), strict=True)
        )
        watch = [
            "tasks with different metrics need a manifest (TOML) with these lines for each system, in place of SYSTEM: "
            + "; ".join(lines)
        ]
    else:  # files of test sets
        both = command.replace(f" {shown} OTHER", " FILE OTHER")
        commands = [both, gated(both)]
    return Found(kind="scores", format="folder", contents=about, commands=commands, watch=watch)


def _segments(path: str) -> object:
    """What the segments of a file of scores have in common with those of other systems: their ids, or their number."""
    source = _source(path)
    log = open_log(source)
    ids = Opened(source, format_of(path)).ids() if log is None else [sample.segment for sample in log.samples]
    return frozenset(ids or ()) or source.data.count(b"\n")


def _counts(path: str) -> Found | None:
    if not is_count_file(path):
        return None
    found = open_counts(path, check=False)
    metrics = f"{counted(found.n_segments, 'segment')}; {listed([metric.name for metric in found])}"
    return Found(f"reshuffle {found.version}", f"{metrics}; systems {listed(found.systems)}")


def _result(path: str) -> Found | None:
    data = _source(path).data
    if not is_saved(data):
        return None
    result = read_json(path)
    schema = schema_of(result)
    figure = ("reshuffle plot FILE forest -o forest.pdf",) if schema == COMPARISON else ()
    holds = [getattr(result, "study", "")]
    is_page = not data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if is_page and not data.rstrip().endswith(b"</html>"):
        holds.append(
            "the whole result, but the page is cut off: write it again with reshuffle show FILE -o report.html"
        )
    return Found(schema, "; ".join(filter(None, holds)).replace("FILE", shlex.quote(path)), (*SHOWN, *figure))


def _history(path: str) -> Found | None:
    source = _source(path)
    lines = source.data.split(b"\n")
    if not runs_in(lines)[0]:
        return None
    runs, problem = runs_but_the_end(lines, source.name)
    end = f"; line {len(runs) + 1} is damaged: {problem}" if problem else ""
    return Found("JSON lines", f"{counted(len(runs), 'run')}{end}")


def _lists(path: str) -> Found | None:
    if " ||| " not in first_line(_source(path)):
        return None
    lists = read_nbest(path)
    size = f"{counted(len(lists.offsets) - 1, 'sentence')}, {int(lists.offsets[-1]):,} entries"
    return Found("id ||| hypothesis ||| features", f"{size}; features {listed(lists.names)}")


def _judgments(path: str) -> Found | None:
    source = _source(path)
    name = recognized(source, JUDGMENT_FORMATS)
    if name is None:
        return None
    try:
        votes = JUDGMENT_FORMATS[name].votes(source, None, None)
    except InputError as error:
        return _by_language_pair(error, name, VOTES)
    n_ties = int((votes.sign == 0).sum())
    n_votes = len(votes.sign) - n_ties
    return Found(name, f"{counted(n_votes, 'vote')}, {counted(n_ties, 'tie')}; systems {listed(votes.ids)}")


def _by_language_pair(error: InputError, format_name: str, commands: Sequence[str]) -> Found:
    """A file of several language pairs, with the commands for the first one. Another error is raised again."""
    if error.fields.get("kind") != "language pair" or not error.fields.get("known"):
        raise error
    pairs: Sequence[str] = error.fields["known"]
    chosen = f"--language-pair {shlex.quote(pairs[0])}"
    contents = f"{counted(len(pairs), 'language pair')}: {listed(pairs)}"
    return Found(format_name, contents, [f"{each} {chosen}" for each in commands])


def _weights(path: str) -> Found | None:
    if _source(path).data.startswith(ZIP):
        return None
    text = _source(path).text()
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    if text.lstrip().startswith("{"):
        values = _json_object(text).values()
        are_weights = bool(values) and all(map(is_number, values))
        return _named_weights(path, "JSON: the weight of each name") if are_weights else None
    if "[weight]" in lines:
        return _named_weights(path, "moses.ini: names and weights in the section [weight]")
    if lines and re.match(r"[^\s=]+=\s*[-+]?\.?\d", lines[0]):
        return _named_weights(path, "name= value ...")
    # Scores of systems look alike, but have a tab; short texts may, too.
    if lines and all(re.fullmatch(r"[^\s\d.+-]\S* [-+]?\.?\d\S*", line) for line in lines):
        with contextlib.suppress(InputError):
            return _named_weights(path, "name value")
    return None


def _json_object(text: str) -> Mapping[str, Any]:
    """The object that a text is; empty if it is something else."""
    if text.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            found: dict[str, Any] = json.loads(text)
            return found
    return {}


def _named_weights(path: str, about: str) -> Found:
    weights = read_named_weights(path)
    return Found(about, f"{counted(len(weights), 'weight')}: {listed(list(weights))}")


def _battles(path: str) -> Found | None:
    if not has_votes(_source(path)):
        return None
    votes = read_votes(path)
    return Found("winners of pairs", f"{counted(len(votes.outcome), 'vote')}; systems {listed(votes.systems)}")


def _queries(is_line: Callable[[str], bool]) -> Callable[[str], Found | None]:
    def read(path: str) -> Found | None:
        source = _source(path)
        return Found("TREC", counted(source.data.count(b"\n"), "line")) if is_line(first_line(source)) else None

    return read


def _manifest(keys: set[str], holds: Callable[[Manifest], str]) -> Callable[[str], Found | None]:
    """A reader of manifests that have one of these keys. ``holds`` says what is in one, and checks it."""

    def read(path: str) -> Found | None:
        if not keys & _keys(path).keys():
            return None
        return Found("manifest", holds(read_manifest(path, "a manifest")))

    return read


def _keys_of_gate(manifest: Manifest) -> str:
    manifest.values(GateKeys)  # checks them
    return listed(manifest.table)


def _keys(path: str) -> Mapping[str, Any]:
    """The keys of a manifest. Other JSON has other keys, or is no object."""
    ending = Path(path).suffix.lower()
    with contextlib.suppress(*([InputError] if ending == ".json" else [])):
        return read_manifest(path, "a manifest").table if ending in (".toml", ".json") else {}
    return {}


def _scores(path: str) -> Found | None:
    source = _source(path)
    name = recognized(source, SCORE_FORMATS)
    if name is None:
        return None
    about = FORMATS[name].about
    several = "reshuffle meta systems --human FILE --refs REF --systems FOLDER"
    try:
        file = ScoreFile.of(source, name)
        metrics = file.names
        cells = file.content.cells(metrics[0])
    except InputError as error:
        if name == "jsonl":  # any object could be the first
            return None
        return _by_language_pair(error, f"{name}, by language pair: {about}", [several])
    systems = cells.ids if cells.system is not None else []
    unnamed = metrics == [Path(source.name).name]  # where a file does not name its metric
    few_metrics = {metric: file.content.cells(metric).values for metric in metrics[:MOST_SPANS]}
    named = _spans(few_metrics) if len(metrics) <= MOST_SPANS else listed(metrics)
    of = f": {_span(cells.values)}" if unnamed else f" of {'each of ' * (len(metrics) > 1)}{named}"
    holds = counted(len(cells.values), "score") + of
    n_segments = len(cells.keys or ())
    has_epochs = name == "inspect" and n_segments < len(cells.values)
    holds += f"; {counted(n_segments, 'segment')}, in several epochs" if has_epochs else ""
    holds += f"; systems {listed(systems)}" if systems and systems != system_names([path]) else ""
    samples = file.content if isinstance(file.content, Samples) else None
    fields = [name for name in samples.header if _is_shared(samples.values(name))] if samples else []
    holds += f"; for --docs {listed(fields)}" if fields else ""
    key = "METRIC" if unnamed else metrics[0]
    lacks = bool(np.isnan(cells.values).any())
    commands = _with_scores(key, "FILE OTHER", lacks)
    commands += [_with_labels("FILE", "BASELINE", "NEW")] if name == "numbers" and _are_labels(cells.values) else []
    commands += [of_runs(key)] if has_epochs else []
    if len(systems) > 1:
        if not (compared := _n_systems(source, metrics[0]) > 1):
            holds += "; no column of segments, such as 'segment', which compare needs"
        several = several.replace("systems", "segments", 1) if compared else several
        commands = [*(_with_scores(key, "FILE", lacks) if compared else []), several]
    return Found(f"{name}: {about}", holds, commands)


def _is_shared(values: Sequence[Any], least: int = 2) -> bool:
    """Whether values may be names of ``least`` groups or more: each is that of two segments or more, on average."""
    return least <= len({*map(str, values)}) <= len(values) // 2


def _are_labels(values: Sequence[Any] | Numbers, least: int = 2) -> bool:
    """Whether texts or numbers may be labels of ``least`` classes: single words, or whole numbers, that occur often."""
    known = {*(values.tolist() if isinstance(values, np.ndarray) else map(str, values))}
    are_short = all(each.is_integer() if isinstance(each, float) else len(each.split()) == 1 for each in known)
    return are_short and least <= len(known) <= min(MOST_CLASSES, len(values) // 2)


def _with_labels(*columns: str) -> str:
    """The command for columns of labels: those of the reference, and of two systems or more."""
    return f"reshuffle compare {' '.join(columns)} -m accuracy macro-f1"


def _with_scores(name: str, files: str, lacks: bool) -> list[str]:
    """The commands for files of scores, some of which are missing if ``lacks``."""
    compared = f"{BY_SCORES} {shlex.quote(name)} {files}"
    if not lacks:
        return [compared]
    labels = [f"reshuffle human --scores LABELS {files} --scores METRIC OTHER"] if files == "FILE" else []
    return [f"{compared} --missing pairwise", *labels]


def gated(compared: str) -> str:
    """The command of a gate for the files of another one."""
    return f"{compared.replace('compare', 'gate', 1)} --margin MARGIN"


def of_runs(score: str, files: Sequence[str] = ("FILE", "OTHER")) -> str:
    """The command for files of several runs, whose first is that of the baseline."""
    baseline, *systems = files
    return f"reshuffle runs --scores {shlex.quote(score)} --baseline {baseline} --system {' --system '.join(systems)}"


def _n_systems(source: Source, metric: str | None = None) -> int:
    """How many systems have scores in a file on its own, as ``--scores`` reads it."""
    with warnings.catch_warnings(), contextlib.suppress(InputError):
        warnings.simplefilter("ignore", InputWarning)
        found = scores_in(table_of(source), None, missing="pairwise", metric=metric)
        return 0 if found.systems == (UNNAMED,) else len(found.systems)
    return 0


def _texts(path: str) -> Found:
    name = format_in(_source(path))
    text_format, source = FORMATS[name], _source(path)
    about = f"{name}: {text_format.about}"
    keys = list(_json_object(source.text())) if name == "text" else []
    if keys:
        raise InputError(f"{source.name}: expected a file that reshuffle reads, got JSON with the keys {listed(keys)}")
    systems = text_format.systems(source) if text_format.systems is not None else []
    references, _, _ = read_texts([f"{path}#{systems[0]}" if systems else path], [])
    lines = references[0].lines
    empty = sum(not (line or "").strip() for line in lines)  # in JSON, null is a missing reference
    size = counted(len(lines), "segment") + (f", {empty:,} of them empty" if empty else "")
    if 10 * empty > len(lines):
        size += ": does it have one segment on each line, as outputs do, or is it prose or a program?"
    if name == "text" and len(first_words(lines)) >= MANY_IDS:
        size += ": if the first word of each line is an id, add --input-format kaldi"
    if systems:
        named = [] if text_format.references is None else [each for each in text_format.references(source) if each]
        size += f"; references {listed(named)}" if named else ""
        own = "reshuffle compare FILE FILE" if named else "reshuffle compare REF FILE"
        return Found(about, f"{size}; systems {listed(systems)}", (own,))
    usual = [_with_labels("FILE", "BASELINE", "NEW")] if name == "text" and _are_labels(lines) else OF_KIND
    tags = "conll" if usual_metric(path) == "span-f1" else name
    return Found(about, size, OF_FORMAT.get(tags, usual))


class Columns:
    """The columns of a table, and what they hold besides ids. Each is read once."""

    def __init__(self, path: str) -> None:
        self.table = table = table_of(_source(path))
        check_header(table)
        self.all: Mapping[str, Column] = dict(zip(table.header, table.columns(table.header), strict=True))
        self.texts: list[str] = []
        self.numbers: dict[str, Numbers] = {}
        self.damaged: dict[str, str] = {}
        """Numbers, but for some cell: what is wrong with it."""
        for name, column in self.all.items():
            if name in table.id_columns:
                continue
            floats = table.floats(column)
            unknown = np.flatnonzero(np.isnan(floats)).tolist()
            row = next((row for row in unknown if not table.is_missing(column.lines[row])), None)
            if row is None:
                self.numbers[name] = floats
            elif has_texts(table, column):
                self.texts.append(name)
            else:
                self.damaged[name] = _damage(name, column, row)
        self.verdicts = [
            name for name in self.texts if has_verdicts(table, self.all[name]) and _pass_and_fail(self.words(name))
        ]
        self.lacks = any(np.isnan(floats).any() for floats in self.numbers.values()) or any(
            any(map(table.is_missing, self.all[name].lines)) for name in self.verdicts
        )

    def words(self, name: str) -> list[str]:
        """The values of a column that are not missing, as texts, each once."""
        present = (value for value in self.all[name].lines if not self.table.is_missing(value))
        return [*dict.fromkeys(str(value).strip() for value in present)]

    def of_own_format(self) -> list[str]:
        """The columns of texts that commands can read: they go by the ending of the file."""
        return self.texts if self.table.format_name == format_in(self.table.source) else []


def _pass_and_fail(words: Iterable[str]) -> bool:
    return {GRADES.get(word.lower()) for word in words} >= {0.0, 1.0}


def _damage(name: str, column: Column, row: int) -> str:
    cell = column.lines[row]
    if any(math.isnan(number_in(str(line))) for line in column.lines):
        return f"numbers in {name}, but {quoted(str(cell))} in segment {row + 1:,}"
    return f"{name} has numbers in quotes: write them without, not as {json.dumps(cell)}"


def _table(path: str) -> Found:
    """What the columns of a table hold: texts, labels and ids, or numbers, perhaps with some cell that is none."""
    columns = Columns(path)
    table, ids = columns.table, columns.table.id_columns
    size, factors, repeated = _size(table, len(next(iter(columns.all.values())).lines))
    # pandas writes its index without a header.
    with_ids = [name for name in ids if name or len(ids) == 1]
    groups = [name for name in with_ids if name != table.id_column(()) and _is_shared(columns.all[name].lines)]
    own_ids = [name or "the first column" for name in with_ids if name not in (*groups, *factors)]
    texts = [name for name in columns.texts if name not in (*columns.verdicts, *factors)]
    spans = {name: floats for name, floats in columns.numbers.items() if name not in factors}
    by_kind = (("ids", own_ids), ("groups", groups), ("texts", texts))
    holds = [f"{what} in {listed(own)}" for what, own in by_kind if own]
    holds += [f"{' or '.join(columns.words(name))} in {name}" for name in columns.verdicts]
    holds += [f"numbers in {_spans(spans)}"] if spans else []
    commands = _of_columns(columns, [*spans] or [*columns.damaged])
    watch = [problem for name in texts if (problem := _no_score(columns, name, has_commands=bool(commands)))]
    if not commands and not watch:
        own = OF_TEXTS if len(columns.texts) == 1 else ("reshuffle compare REF BASELINE NEW --docs FILE",)
        commands = [each.replace("FILE", _in("FILE", [*columns.texts, *ids][0])) for each in own]
    if any("--scores" in each and " --docs FILE" in each for each in commands[:1]):
        watch.append(
            "--docs keeps the rows of an id together; if they come from several runs, number the runs in a column 'run'"
        )
    watch += [f"{repeated}; if these are duplicates, remove them"] if repeated else []
    return Found(table.format_name, "; ".join([size, *holds, *columns.damaged.values()]), commands, watch=watch)


def _no_score(columns: Columns, name: str, has_commands: bool) -> str:
    """Why a column is not one of scores that seems to be: passed and failed among few other words, or objects.

    Yes, true, C and the like may be labels there.
    """
    words = columns.words(name)
    are_verdicts = len(words) <= MOST_CLASSES and _pass_and_fail(
        word for word in words if len(word) > 3 and word.lower() not in TRUTH
    )
    if are_verdicts or (not has_commands and isinstance(columns.all[name].lines[0], dict)):
        try:
            columns.table.numbers(columns.all[name], may_be_missing=True)
        except InputError as error:
            return str(error)
    return ""


def _of_columns(columns: Columns, numbers: Sequence[str]) -> list[str]:
    """The commands that take columns of labels, of texts or of ``numbers``, the likely ones first."""
    table, own, verdicts = columns.table, columns.of_own_format(), columns.verdicts
    groups = [name for name in own if name.lower() in PASSAGES and _is_shared(columns.all[name].lines, FEWEST_GROUPS)]
    docs = [f"--docs {_in('FILE', name)}" for name in groups[:1]]
    labels = _labels(columns, [name for name in own if name not in groups], numbers)
    if labels:
        files = {1: ["FILE", "BASELINE", "NEW"], 2: ["FILE", "FILE", "OTHER"]}.get(len(labels), ["FILE"] * len(labels))
        named = [_in(file, name) for file, name in zip(files, [*labels, *labels[-1:] * 2], strict=False)]
        texts, has_reference = [" ".join([_with_labels(*named), *docs])], True
    else:
        texts, has_reference = _of_texts(columns, docs)
    scores = _of_numbers(columns, [name for name in numbers if name not in labels])
    if scores and not has_reference and table.roles().get("system", "").lower() in MODELS:
        texts = []
    # Without a reference, texts beside scores are what was asked and answered; a line of JSON has one answer.
    first, then = (texts, scores) if has_reference and table.format_name != "jsonl" else (scores, texts)
    # Beside times and the like, words are the scores.
    if verdicts and not columns.damaged and not any(has_labels(table, columns.all[name]) for name in columns.numbers):
        if not labels:
            first = [*_of_numbers(columns, verdicts[:1]), *first]
        elif len(verdicts) > 1 and not any(name.lower() in GOLD for name in verdicts):
            first = [f"{BY_SCORES} METRIC {' '.join(_in('FILE', name) for name in verdicts)}", *first]
    return [*first, *then]


def _labels(columns: Columns, texts: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """The columns of labels of the same classes: of several systems, or one that is called like a reference."""
    if any(name.lower() in GOLD for name in numbers):
        labels = [name for name in numbers if name in columns.numbers and _are_labels(columns.numbers[name])]
    else:
        labels = [name for name in texts if _are_labels(columns.all[name].lines)]
    labels = [name for name in labels if not {*columns.words(name)}.isdisjoint(columns.words(labels[0]))]
    return labels if len(labels) > 1 or any(name.lower() in GOLD for name in labels) else []


def _of_texts(columns: Columns, docs: Sequence[str]) -> tuple[list[str], bool]:
    """The commands for columns of texts, and whether one is called like a reference."""
    own = columns.of_own_format()
    may_be = [name for name in own if name not in columns.verdicts and name.lower() not in (*MODELS, *PERHAPS_IDS)]
    outputs = [name for name in may_be if not _are_labels(columns.all[name].lines, 1)]
    names = outputs if len(outputs) > 1 else may_be
    if len(names) < 2:
        return [], False
    references = [name for name in names if name.lower() in REFERENCES]
    systems = [name for name in names if name not in references and name.lower() not in (*ASKED, *PASSAGES)]
    if len(references) != 1 or not systems:
        return [*(COLUMNS if len(names) > 2 else OF_TWO_COLUMNS)], False
    is_bare = style_of(columns.all[references[0]].lines) in (LOWER, UPPER)
    is_speech = is_bare and not {name.lower() for name in columns.table.header}.isdisjoint(OF_UTTERANCES)
    options = [*(["-m asr-wer"] if is_speech else []), *docs]
    reference, *texts = (_in("FILE", name) for name in (*references, *systems))
    other = [] if len(systems) > 1 else [_in("OTHER", systems[0])]
    compared, scored = [reference, *texts, *other, *options], [reference, texts[-1], *options]
    return [f"reshuffle compare {' '.join(compared)}", f"reshuffle score {' '.join(scored)}"], True


def _size(table: Table, n: int) -> tuple[str, Sequence[str], str]:
    """How many rows a table has, and of what; the columns that it names; and what is said of few ids that repeat."""
    system, key, ids = table.roles().get("system", ""), table.id_column(()), table.ids()
    models = [*map(str, table.values(system))] if system else []
    run, runs = column_of_runs(table, models)
    times = Counter(ids or ())
    if key is None or len(times) in (0, n):
        return counted(n, "segment"), (), ""
    shown = f"{counted(n, 'row')}: {counted(len(times), 'id')} in {key}"
    factors = {name: len({*values}) for name, values in ((system, models), (run, runs)) if values}
    if factors:
        is_crossed = math.prod([len(times), *factors.values()]) == n
        crossed = [f"{counted(size, 'value')} of {name}" for name, size in factors.items()]
        return (" × " if is_crossed else ", ").join([shown, *crossed]), (key, *factors), ""
    if 2 * len(times) <= n:
        each = f"{n / len(times):.3g} times" + ("" if len({*times.values()}) == 1 else " on average")
        return f"{shown}, each {each}", (key,), ""
    twice = [name for name, often in times.items() if often > 1]
    are = "is" if len(twice) == 1 else "are"
    return shown, (key,), f"{counted(len(twice), 'id')} {are} in several rows: {few(twice)}"


def _spans(columns: Mapping[str, Numbers]) -> str:
    """Columns of numbers, with the least and the greatest of each, or of all if there are many."""
    if len(columns) > MOST_SPANS:
        return f"{listed(columns)} ({_span(np.concatenate([*columns.values()]))})"
    return ", ".join(f"{shortened(name)} ({_span(numbers)})" for name, numbers in columns.items())


def _span(numbers: Numbers) -> str:
    known = numbers[~np.isnan(numbers)] + 0.0  # no -0
    missing = f"{len(numbers) - len(known):,} missing" if len(known) < len(numbers) else ""
    if not len(known):
        return missing
    values = np.unique(known)
    between = " or " if {*values.tolist()} == {0, 1} else " to "
    span = between.join(f"{each:.4g}" for each in dict.fromkeys((values[0], values[-1])))
    return ", ".join(filter(None, (span, f"mean {known.mean():.4g}" if len(values) > 1 else "", missing)))


def _of_numbers(columns: Columns, names: Sequence[str]) -> list[str]:
    """The commands that take columns of numbers: scores of systems, or of one."""
    if not names:
        return []
    table, lacks = columns.table, columns.lacks
    scores = [name for name in names if not _number_runs(name)] or names
    best = (columns_of_scores(table, scores) or scores)[0]
    system = table.roles().get("system", "")
    models = table.values(system) if system else ()
    run, _ = column_of_runs(table, models)
    ids = [] if run or models else table.ids() or []
    n_ids = len({*ids})
    # Answers are not code, and a few repeated rows are not samples.
    if not run and "correct" not in map(str.lower, table.header) and not len(ids) > n_ids > len(ids) / 2:
        with contextlib.suppress(InputError):  # n and c may be other numbers
            if problems := problems_in("pass@1", table, None, None):
                several = len(problems.table("pass@1").systems) > 1
                return _with_scores("pass@1", "FILE" if several else "FILE OTHER", lacks)
    if system.lower() in MODELS:
        two = [f"FILE#{system}={shlex.quote(str(model))}" for model in dict.fromkeys(models)][:2]
        return _with_scores(best, "FILE", lacks) + ([of_runs(best, two)] if run else [])
    one = _with_scores(best, "FILE OTHER", lacks)
    if 0 < 2 * n_ids <= len(ids):  # several rows of each id belong together
        return [f"{each} --docs {_in('FILE', table.id_column(()) or '')}" for each in one]
    if run:
        return [*one, of_runs(best)]
    if not len(scores) == len(names) > 1 or _n_systems(table.source) < 2:
        return one
    every = _with_scores("METRIC", "FILE", lacks)
    return [*one, *every] if table.format_name == "jsonl" else [*every, *one]


def _number_runs(name: str) -> bool:
    """Whether numbers are those of runs and of answers, which are no scores."""
    return name.lower() in ("step", "fold") or names_runs(name) is not None


def _in(file: str, name: str) -> str:
    """A column of a file, as commands name it."""
    return f"{file}#{shlex.quote(name)}"


VOTES = ("reshuffle votes FILE", "reshuffle meta segments --judgments FILE --refs REF --systems FOLDER")
OF_TEXTS = ("reshuffle compare FILE BASELINE NEW", "reshuffle compare REF FILE NEW", "reshuffle score REF FILE")
SHOWN = ("reshuffle show FILE", "reshuffle verify FILE")
COLUMNS = ("reshuffle compare FILE#REF FILE#BASELINE FILE#NEW", "reshuffle score FILE#REF FILE#NEW")
OF_TWO_COLUMNS = ("reshuffle compare FILE#REF FILE#SYSTEM OTHER#SYSTEM", "reshuffle score FILE#REF FILE#SYSTEM")
OF_FORMAT: Mapping[str, Sequence[str]] = {
    "conllu": ("reshuffle compare FILE BASELINE NEW -m depf", "reshuffle compare REF FILE NEW -m depf"),
    "conll": ("reshuffle compare FILE BASELINE NEW -m span-f1", "reshuffle compare REF FILE NEW -m span-f1"),
    "trn": ("reshuffle compare FILE BASELINE NEW -m asr-wer --docs speaker", "reshuffle score REF FILE -m asr-wer"),
    "utt2spk": ("reshuffle compare REF BASELINE NEW -m asr-wer --input-format kaldi --docs FILE",),
}
BY_SCORES = "reshuffle compare --scores"
# Texts that are no outputs.
ASKED = ("source", "src", "input", "question", "prompt", "instruction", "context", "passage")
# Columns found beside transcripts of speech.
OF_UTTERANCES = ("speaker", "speaker_id", "utt_id", "utterance_id", "audio", "wav")
# More columns of numbers are described together.
MOST_SPANS = 6
# So many files show what a folder holds.
FIRST_FILES = 3
KINDS: Sequence[Kind] = (
    Kind("outputs of systems", _folder, ("reshuffle compare REF FILE",)),
    Kind("counts", _counts, ("reshuffle compare FILE", "reshuffle score FILE")),
    Kind("a saved result", _result, SHOWN),
    Kind("the history of a gate", _history, ("reshuffle gate BASE NEW --ref REF --history FILE",)),
    Kind("k-best lists", _lists, ("reshuffle tune mert --nbest FILE --refs REF", "reshuffle mbr --nbest FILE")),
    Kind(
        "weights of features",
        _weights,
        ("reshuffle tune mert --nbest LISTS --refs REF --init FILE", "reshuffle mbr --nbest LISTS --model FILE"),
    ),
    Kind("votes of people", _judgments, VOTES),
    Kind("votes of people", _battles, ("reshuffle votes FILE",)),
    Kind(
        "a run of a search engine",
        _queries(is_run),
        ("reshuffle compare --scores nDCG@10 FILE OTHER --qrels QRELS",),
    ),
    Kind("relevance judgments", _queries(is_qrel), ("reshuffle compare --scores nDCG@10 RUN OTHER --qrels FILE",)),
    Kind("test sets", _manifest({"sets"}, lambda m: listed(m.sets(SetFiles))), ("reshuffle compare --manifest FILE",)),
    Kind(
        "runs of systems",
        _manifest({"systems"}, lambda m: f"systems {listed(m.values(RunFiles)['systems'])}"),
        ("reshuffle runs --manifest FILE",),
    ),
    Kind(
        "what a gate allows",
        _manifest({"margin", "rule"}, _keys_of_gate),
        ("reshuffle gate BASELINE NEW --config FILE",),
    ),
)
SCORES = Kind("scores", _scores, ("reshuffle compare --scores METRIC FILE OTHER",))
TABLE = Kind("a table", _table, COLUMNS)
TEXTS = Kind("texts", _texts, OF_TEXTS)
