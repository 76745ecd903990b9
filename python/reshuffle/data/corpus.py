"""``Corpus``: the references and systems' outputs of one test set, from files or from memory.

Also here: names of systems.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ..documented import record
from ..errors import Argument, InputError, counted, listed, nearest, quoted, warn
from ..types import InputFormat
from .alignment import aligned
from .columns import BY_ID, Table, check_rows, named_columns, segment_list
from .files import MAX_INPUT, STDIN, display_name, read_bytes, uncompressed
from .formats.base import Column, Source, number_in
from .formats.transcripts import speaker_of
from .id_columns import names_models
from .reading import AS_SCORES, PLURALS, check_no_column, label_of, path_is, read_texts, split_name, split_rows
from .unnamed_ids import with_unnamed_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

Lines: TypeAlias = Sequence[str]
# What functions take: texts, and the ids of the segments' documents and strata.
References: TypeAlias = "Sequence[str | None] | Sequence[Sequence[str | None]] | Table | None"
Systems: TypeAlias = "Mapping[str, Lines] | Sequence[Lines] | Table | None"
DocumentIds: TypeAlias = "Sequence[str | int] | NDArray[Any]"
StratumIds: TypeAlias = DocumentIds
# A system of this name is probably an argument in the wrong place.
CALLED_REFERENCE = ("ref", "reference", "references")
# A warning says if a larger share of the outputs of a system is empty, and at least two are.
MOST_EMPTY = 0.01
# Fewer lines may begin with words of their own by chance.
MANY_IDS = 20
# The most texts of another length that an error names.
MAX_DIFFERENT = 4
# Samples of lm-evaluation-harness are called after the task and the time, and their folder after the model.
SAMPLES = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d-]+(\.\d+)?\.jsonl")
# Logs of inspect_ai are called after the time, the task and a random id.
LOG = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*\.(eval|json)")
# What HELM and Kaldi call the files of all systems, which are in folders of their own.
OF_ALL = ("per_instance_stats.json", "text")
T = TypeVar("T")


@record(slots=False)
class Corpus:
    """References and systems' outputs for the same segments.

    Raises
    ------
    InputError
        If there are no references or no systems, numbers of segments differ, or all references are empty.
    """

    references: Sequence[Sequence[str | None]]
    """At least one column. None marks a missing reference."""
    systems: Mapping[str, Lines]
    """The output of each system, at least one."""
    reference_names: Sequence[str] = ()
    """Names of the columns of references in messages."""
    sources: Sequence[Column] = field(default=(), repr=False, compare=False)
    """The files of the references and then of the systems, with the line on which each segment begins. Empty for texts
    in memory.
    """
    documents: Sequence[str] | None = field(default=None, repr=False)
    """The id of each segment's document, if they were read."""
    strata: Sequence[str] | None = field(default=None, repr=False)
    """The id of each segment's stratum, if they were read."""
    source: Sequence[str | None] | None = field(default=None, repr=False)
    """The source text of each segment, if it was read."""

    def __post_init__(self) -> None:
        if self.references and (self.references[0] is None or isinstance(self.references[0], str)):
            object.__setattr__(self, "references", reference_columns(self.references))
        for name, lines in self.systems.items():
            if isinstance(lines, str):
                raise InputError(f"{name}: expected a sequence of segments, got the single string {quoted(lines)}")
        if not self.references:
            raise InputError("no references: at least one column of references is needed")
        if not self.systems:
            raise InputError("no systems: at least one system's output is needed")
        n = len(self.references)
        names = self.reference_names or (["references"] if n == 1 else [f"references[{i}]" for i in range(n)])
        texts: list[Sequence[str | None]] = [*self.references, *self.systems.values()]
        files = [source.name for source in self.sources]
        labels = files if len(files) == len(texts) else [*names, *self.systems]
        columns = list(zip(labels, texts, strict=True))
        first_name, expected = columns[0][0], len(columns[0][1])
        if expected == 0:
            raise InputError(f"{first_name} is empty: at least one segment is needed")
        different = [f"{name} has {len(lines):,}" for name, lines in columns if len(lines) != expected]
        if different:
            self._check_orientation()
            others = ", ".join(different[:MAX_DIFFERENT])
            more = f" and {len(different) - MAX_DIFFERENT:,} others differ" if len(different) > MAX_DIFFERENT else ""
            hint = _hint_on_empty_ends(columns) or ": they must match segment by segment"
            raise InputError(f"{first_name} has {counted(expected, 'segment')}, {others}{more}{hint}")
        # What is not a string is reported with its place when the texts are counted.
        if not any(line and not (isinstance(line, str) and line.isspace()) for c in self.references for line in c):
            raise InputError(f"all references are empty: there is no text in {', '.join(names)}")

    def _check_orientation(self) -> None:
        """:class:`InputError` for lists of all texts of a segment in place of lists of all segments of a text."""
        columns, lengths = len(self.references), {len(lines) for lines in self.systems.values()}
        of_references = {len(column) for column in self.references}
        for what, n, others, own in (
            ("references", columns, lengths, of_references),
            ("systems", len(self.systems), of_references, lengths),
        ):
            if n > 1 and others == {n} and len(own) == 1 and not self.sources:
                raise InputError(
                    f"{what} has a list for each of {n:,} segments: expected a list for each text, with all of its "
                    f"segments; turn it around by [*zip(*{what})]"
                )

    def check(self, *, duplicates: bool = True) -> None:
        """Warn about texts that can be scored but were probably chosen by mistake.

        Without ``duplicates``, systems may have the same output.

        Warns
        -----
        InputWarning
            If a system's output is identical to a reference or to another system's output, or is called like a
            reference, if references are identical, if lines begin with ids, if more than 1% of a system's outputs are
            empty, if its last outputs are like the references of other lines, or if exactly one text has an empty last
            segment. Never for a single segment, where this is common.
        """
        if self.n_segments < 2:
            return
        several = len(self.references) > 1
        references = [(f"reference {i}" if several else "the reference", c) for i, c in enumerate(self.references, 1)]
        for at, (what, column) in enumerate(references):
            first = next((other for other, earlier in references[:at] if earlier == column), None)
            if first is not None:
                warn(f"{first} and {what} are identical, and the second adds nothing: was a file passed twice?")
        distinct: list[tuple[str, Sequence[str | None]]] = []
        for name, lines in self.systems.items():
            for what, column in references:
                if lines == column:
                    warn(f"the output of system {name!r} is identical to {what}: was the reference passed as a system?")
            same = next((other for other, column in distinct if column == lines), None)
            if same is None:
                distinct.append((name, lines))
            elif duplicates:
                warn(f"the outputs of systems {same!r} and {name!r} are identical: was a file passed twice?")
        for name, lines in self.systems.items():
            if name.casefold() in CALLED_REFERENCE and all(lines != column for _, column in references):
                warn(f"system {name!r} is named like a reference: the reference comes first, then the systems")
        labels = any(_are_numbers(column) and not any("." in (x or "") for x in column) for _, column in references)
        numbers = [name for name, lines in self.systems.items() if not labels and _are_numbers(lines)]
        if numbers:
            outputs = (
                f"the outputs of {len(numbers)} systems ({listed(numbers)}) have"
                if len(numbers) > 1
                else (f"the output of system {numbers[0]!r} has")
            )
            warn(
                "{outputs} only numbers, which are compared as texts: for scores of segments use {reader}",
                outputs=outputs,
                reader=AS_SCORES,
            )
        columns = [*references, *((f"system {name!r}", lines) for name, lines in self.systems.items())]
        if _begin_with_ids([column for _, column in columns]):
            ids, *others = ([(line or "").split(None, 1)[0] for line in column] for _, column in columns)
            same = "the same in all texts, which is scored as a word: to leave ids out"
            if any(own != ids for own in others):
                same = (
                    "and the texts have them in different orders, but are compared line by line: to match lines by id"
                )
            warn(
                "each line begins with an id, {same}, read the files with {option}",
                same=same,
                option=Argument("input_format", ("kaldi",)),
            )
        last_words = _last_words(self.references[0])
        for name, lines in self.systems.items():
            n_empty = lines.count("")
            of_references = max(column.count("") for _, column in references)
            if n_empty - of_references > max(1, MOST_EMPTY * self.n_segments):
                warn(f"{n_empty:,} of {self.n_segments:,} outputs of system {name!r} are empty: did it fail there?")
            shift = shifted(_last_words(lines), last_words)
            if shift:
                of, how = ("next", "left out") if shift > 0 else ("previous", "added")
                warn(
                    f"the last outputs of system {name!r} are like the references of the {of} lines: was a line {how} "
                    "before them?"
                )
        blank = [what for what, column in columns if _is_blank(column[-1]) and not all(map(_is_blank, column))]
        if len(blank) == 1:
            warn(f"only {blank[0]} has an empty last segment: is it aligned with the other texts?")

    def renamed(self, names: Sequence[str]) -> Corpus:
        """The same texts with other names for the systems, in their order."""
        if list(self.systems) == list(names):
            return self
        return replace(self, systems=dict(zip(names, self.systems.values(), strict=True)))

    def __repr__(self) -> str:
        n, k = len(self.references), len(self.systems)
        return f"<Corpus: {counted(self.n_segments, 'segment')}; {counted(n, 'reference')}; {counted(k, 'system')}>"

    @property
    def n_segments(self) -> int:
        """Number of segments, S."""
        return len(self.references[0])

    @property
    def n_references(self) -> str:
        """References per segment, for signatures: a number, or ``var`` if it varies."""
        return number_of_references(self.references)

    @classmethod
    def from_texts(
        cls,
        references: Sequence[str | None] | Sequence[Sequence[str | None]] | Table,
        systems: Mapping[str, Lines] | Sequence[Lines] | Table,
        labels: bool = False,
    ) -> Corpus:
        """A corpus from texts in memory: one or several columns of references, and systems with or without names.

        With ``labels``, whole numbers are texts, too.
        """
        for what, given in (("references", references), ("systems", systems)):
            if isinstance(given, str):
                raise InputError(
                    f"{what}: expected sequences of segments, got the single string {quoted(given)}; read_corpus reads "
                    "files"
                )
        check_rows("", {"references": references, "systems": systems})
        named = named_columns("systems", systems)
        if named is None:
            outputs = segment_list("systems", systems)
            if outputs and all(isinstance(each, str) for each in outputs):
                raise InputError(
                    "systems: expected the outputs of each system, got a list of strings, "
                    f"{quoted([*map(str, outputs)])}: for one system write {{'NAME': outputs}}"
                )
            named = number_systems(outputs)
        columns, texts = reference_columns(references), {name: segment_list(name, each) for name, each in named.items()}
        if labels:
            columns, texts = [*map(_as_texts, columns)], {name: _as_texts(each) for name, each in texts.items()}
        return cls(columns, texts)


def _as_texts(labels: Sequence[Any]) -> list[Any]:
    """Columns of whole numbers and truth values as labels (``2``, ``true``); other columns as they are."""
    # pandas has floats in a column from which missing values were removed.
    are_whole = all(
        isinstance(label, Integral | np.bool_) or (isinstance(label, Real) and float(label).is_integer())
        for label in labels
    )
    if not are_whole:
        return [*labels]
    return [label_of(bool(label) if isinstance(label, np.bool_) else label) for label in labels]


def first_words(lines: Sequence[str | None]) -> set[str]:
    """The first word of each segment, if all have one of their own, as ids are; else nothing."""
    found: set[str] = set()
    for number, line in enumerate(lines, 1):
        words = line.split(None, 1) if isinstance(line, str) else []
        found.update(words[:1])
        if len(found) < number:
            return set()
    return found


def _begin_with_ids(columns: Sequence[Sequence[str | None]]) -> bool:
    """Whether segments begin with ids: the same in all texts, in any order, while what follows is not the same."""
    ids = first_words(columns[0])
    if len(ids) < MANY_IDS or any(first_words(column) != ids for column in columns[1:]):
        return False
    return len({tuple(sorted(line or "" for line in column)) for column in columns}) > 1


def _by_id(ids: Column, texts: Column) -> Column:
    """Lines of an id of the transcripts and its speaker, where no name such as ``utt2spk`` tells so, by ids."""
    if texts.keys is None or ids.keys is not None or first_words(ids.lines) != {*texts.keys}:
        return ids
    rows = [line.split(None, 1) for line in ids.lines]
    if not all(row[1:] for row in rows):
        return ids
    keys = [row[0] for row in rows]
    return replace(ids, lines=[row[1] for row in rows], ids=[*map(speaker_of, keys)], keys=keys, format="speakers")


def _check_not_kaldi(group: str, ids: Column, texts: Sequence[Column]) -> None:
    """:class:`InputError` for texts that begin with the ids of Kaldi's ``utt2spk`` and were not read as Kaldi's."""
    known = {*(ids.keys or ())} if ids.format == "speakers" else set()
    for text in texts:
        if known and text.keys is None and known >= (first_words(text.lines) or {""}):
            raise InputError(
                "the lines of {file} begin with the ids of {groups} {ids}, which would be scored as words: add {kaldi}",
                file=text.name,
                groups=Argument(PLURALS[group]),
                ids=ids.name,
                kaldi=Argument("input_format", ("kaldi",)),
            )


# How many of the last segments tell whether lines are shifted, and how many words they have on average.
LAST_LINES, FEWEST_WORDS = 60, 4


def _last_words(lines: Sequence[str | None]) -> list[set[str]]:
    # What is no text is refused later.
    return [{*line.split()} if isinstance(line, str) else set() for line in lines[-LAST_LINES:]]


def shifted(outputs: Sequence[Set[str]], references: Sequence[Set[str]]) -> int:
    """1 if the words of the last outputs are those of the next references, -1 if they are those of the previous ones.

    They are if they share a fifth of their words with these, and twice as many as with their own. Else 0.

    >>> references = [{f"{letter}{n}" for letter in "abcd"} for n in range(30)]
    >>> [shifted(words, references) for words in (references, [*references[1:], set()], [set(), *references[:-1]])]
    [0, 1, -1]
    """
    middle, n_words = outputs[1:-1], sum(map(len, outputs[1:-1]))
    if len(middle) < MANY_IDS or n_words < FEWEST_WORDS * len(middle):
        return 0
    own, after, before = (
        sum(len(words & others) for words, others in zip(middle, references[start:], strict=False))
        for start in (1, 2, 0)
    )
    if max(after, before) <= max(2 * own, n_words / 5):
        return 0
    return 1 if after > before else -1


def _are_numbers(lines: Sequence[str | None]) -> bool:
    """Whether a text is a list of numbers, as no output of a system is unless references are numbers, too."""
    return all(isinstance(line, str) and not math.isnan(number_in(line)) for line in lines)


def _is_blank(line: str | None) -> bool:
    return isinstance(line, str) and not line.strip()


def number_of_references(references: Sequence[Sequence[str | None]]) -> str:
    """References per segment, for signatures: a number, or ``var`` if it varies.

    >>> number_of_references([["a", "b"], ["c", None]])
    'var'
    """
    if not any(None in column for column in references):
        return str(len(references))
    counts = {sum(line is not None for line in segment) for segment in zip(*references, strict=True)}
    return str(counts.pop()) if len(counts) == 1 else "var"


def _hint_on_empty_ends(columns: Sequence[tuple[str, Sequence[str | None]]]) -> str:
    """A hint if the lengths of columns differ only by empty segments at the end, otherwise an empty string."""
    shortest = min(len(lines) for _, lines in columns)
    longer = [(name, lines[shortest:]) for name, lines in columns if len(lines) > shortest]
    if not all(_is_blank(line) for _, end in longer for line in end):
        return ""
    names = listed(name for name, _ in longer)
    if all(len(end) == 1 for _, end in longer):
        return f": remove the empty last line of {names}"
    return f": remove the empty lines at the end of {names}"


def number_systems(systems: Iterable[T]) -> dict[str, T]:
    """Default names for systems.

    >>> number_systems([["a"], ["b"]])
    {'system 1': ['a'], 'system 2': ['b']}
    """
    return {f"system {number}": system for number, system in enumerate(systems, 1)}


def reference_columns(references: Any) -> list[Any]:
    """Columns of S references each. A flat list of S references is one column.

    >>> reference_columns(["a b", "c"]), reference_columns([["a b", "c"], ["a", None]])
    ([['a b', 'c']], [['a b', 'c'], ['a', None]])
    """
    named = named_columns("references", references)
    if named is not None and any(isinstance(column, str) for column in named.values()):
        raise InputError(f"references: {BY_ID}")
    columns = segment_list("references", references) if named is None else list(named.values())
    if columns and isinstance(columns[0], str | Real | np.bool_ | None):
        return [columns]
    return [segment_list(f"references[{i}]", column) for i, column in enumerate(columns)]


def system_names(paths: Sequence[str], *, max_input: int = MAX_INPUT, with_numbers: bool = False) -> list[str]:
    """The shortest names that distinguish files: the stem, else the file name, else the file name with folders.

    Samples of lm-evaluation-harness, and files that have one name for all systems, are called like their folder. Logs
    that inspect_ai named are called like the model in them.
    ``FILE#NAME`` is called NAME; else by the file's stem, if no other NAME of the file is used; else by both.
    ``with_numbers``: an ending that is a number stays in the name (``new.1``).

    >>> system_names(["out/online-A.0.txt.gz", "b/sys.txt", "c/sys.txt", "-"])
    ['online-A.0', 'b/sys.txt', 'c/sys.txt', 'stdin']
    >>> system_names(["a.txt", "a.tok", "b.txt", "b.txt"])
    ['a.txt', 'a.tok', 'b', 'b#2']
    >>> system_names(["data.tsv#online-A", "data.tsv#online-B"]), system_names(["a.jsonl#mt", "b.jsonl#mt"])
    (['online-A', 'online-B'], ['a', 'b'])
    >>> system_names(["run/org__a/samples_gsm8k_2026-11-01T10-00-00.12.jsonl", "b.txt"])
    ['org__a', 'b']
    >>> system_names(["out/new.1", "a/old.txt", "b/old.txt"], with_numbers=True)
    ['new.1', 'a/old.txt', 'b/old.txt']
    >>> system_names(["a/new.1", "b/new.1"], with_numbers=True)
    ['a/new.1', 'b/new.1']
    """
    split = [split_name(path) for path in paths]
    names_in: dict[str, set[str | None]] = {}
    for file, name in split:
        names_in.setdefault(file, set()).add(name)
    candidates = [
        _candidate_names(file, name, len(names_in[file]) == 1, max_input=max_input, with_numbers=with_numbers)
        for file, name in split
    ]
    chosen = [0] * len(paths)
    while True:
        names = [longer[i] for longer, i in zip(candidates, chosen, strict=True)]
        # The same path twice is not a clash, because a longer name would not distinguish them either.
        paths_of = {name: {path for path, n in zip(paths, names, strict=True) if n == name} for name in names}
        clashing = [i for i, n in enumerate(names) if len(paths_of[n]) > 1 and chosen[i] + 1 < len(candidates[i])]
        if not clashing:
            break
        for i in clashing:
            chosen[i] += 1
    unique: list[str] = []
    for name in names:
        numbered = [name, *(f"{name}#{i}" for i in range(2, len(names) + 2))]
        unique.append(next(n for n in numbered if n not in unique))
    return unique


def _candidate_names(file: str, name: str | None, only_name: bool, *, max_input: int, with_numbers: bool) -> list[str]:
    """Possible names of a system, the shortest first. ``only_name``: no other NAME of the file is used."""
    if file == STDIN:
        file_names = ["stdin"]
    else:
        shown = Path(display_name(file))
        stem = shown.name if with_numbers and shown.suffix[1:].isdecimal() else Path(uncompressed(shown.name)).stem
        file_names = [stem or shown.name, *(str(Path(*shown.parts[-d:])) for d in range(1, len(shown.parts) + 1))]
        if shown.parent.name and (shown.name in OF_ALL or SAMPLES.fullmatch(shown.name)):
            file_names.insert(0, shown.parent.name)
        if LOG.fullmatch(shown.name) and path_is(file, Path.is_file):
            from .formats.inspect_logs import model_of  # the names of other files need no reader

            log = Source(file, read_bytes(file, "a log of inspect_ai", max_input), max_input)
            model = display_name(model_of(log) or "")
            file_names = [*filter(None, dict.fromkeys([model.rpartition("/")[2], model])), *file_names]
    if name is None:
        return file_names
    own, rows = split_rows(name)
    models = [value for column, value in rows.items() if names_models(column)]
    first = [display_name(each) for each in (*models[:1], own) if each]
    return [*first, *file_names[: int(only_name)], *(f"{file}#{display_name(name)}" for file in file_names)]


def read_corpus(
    references: Sequence[str],
    systems: Sequence[str],
    input_format: InputFormat | str | None = None,
    *,
    documents: str | None = None,
    strata: str | None = None,
    max_input: int = MAX_INPUT,
    outputs: Mapping[str, Sequence[str]] | None = None,
    source: str | None = None,
) -> Corpus:
    """Read references and systems' outputs from files, and check that they have the same segments.

    Parameters
    ----------
    references, systems : sequences of str
        ``FILE`` or ``FILE#NAME``, as for :func:`reshuffle.data.reading.read_columns`. Segments of mteval files are
        sorted into the order of the first one.
    input_format : str, optional
        A name in :data:`reshuffle.data.formats.INPUT_FORMATS`, for all files. By default each file's extension
        determines its format.
    documents : str, optional
        ``FILE`` or ``FILE#NAME`` with the id of each segment's document, as for
        :func:`reshuffle.data.reading.read_groups`. It may be an mteval file, or one of the files above. In all other
        cases its extension determines its format.
    strata : str, optional
        The same for the ids of strata.
    max_input : int, optional
        Largest allowed size in bytes of a decompressed file, 4 GiB by default; see :func:`reshuffle.read_lines`.
    outputs : mapping of str to S str, optional
        More systems, whose output is not in a file.
    source : str, optional
        ``FILE`` or ``FILE#NAME`` with the source text of each segment.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        As :func:`reshuffle.data.reading.read_columns` and :func:`reshuffle.data.reading.read_groups`; if numbers of
        segments differ; if a segment of one mteval file is missing in another; if a segment of a system is null; if
        standard input is named twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("all.tsv").write_text("ref\\ta\\tb\\nyes\\tyes\\tyep\\nno\\tno\\tno\\n")
    >>> read_corpus(["all.tsv#ref"], ["all.tsv#a", "all.tsv#b"]).systems
    {'a': ['yes', 'no'], 'b': ['yep', 'no']}
    >>> Path("all.tsv").unlink()
    """
    for what, files in (("references", references), ("systems", systems)):
        if isinstance(files, str | Mapping):
            got = f"the single string {quoted(files)}: write [{quoted(files)}]" if isinstance(files, str) else "a dict"
            raise InputError(f"{what}: expected a list of names of files, got {got}")
    id_paths = {group: path for group, path in zip(PLURALS, (documents, strata), strict=True) if path is not None}
    for group, path in id_paths.items():
        name, first = os.fspath(path), os.fspath(references[0])
        if name == "speaker" and not path_is(name):
            raise InputError(
                "speaker: no such file; for the speakers in the ids of {file}, name that file ({argument}) instead",
                file=first,
                argument=Argument(PLURALS[group], (first,)),
            )
        in_column = f"for a column write FILE#{name}"
        check_no_column(name, in_column + ("; did you mean 'speaker'?" if nearest(name, ["speaker"]) else ""))
    given = [*systems, *([] if source is None else [source])]
    ref_columns, sys_columns, id_columns = read_texts(references, given, input_format, id_paths, max_input)
    sources = {} if source is None else {"source": sys_columns.pop()}
    made = {} if outputs is None else outputs
    sys_columns += [Column(name, lines, list(range(1, len(lines) + 1))) for name, lines in made.items()]
    n, m = len(ref_columns), len(ref_columns) + len(sys_columns)
    id_columns = {group: _by_id(column, ref_columns[0]) for group, column in id_columns.items()}
    for group, column in id_columns.items():
        _check_not_kaldi(group, column, [*ref_columns, *sys_columns])
    columns = aligned(with_unnamed_ids([*ref_columns, *sys_columns, *id_columns.values(), *sources.values()]))
    others = dict(zip((*id_columns, *sources), columns[m:], strict=True))
    columns = columns[:m]
    for kind, column in others.items():
        if len(column.lines) != len(columns[0].lines):
            what, each = ("texts", "a text") if kind in sources else (f"{kind} ids", "an id")
            raise InputError(
                f"{column.name} has {what} for {len(column.lines):,} segments, but {columns[0].name} has "
                f"{len(columns[0].lines):,}: expected {each} for each segment"
            )
    ref_columns, sys_columns = columns[:n], columns[n:]
    keys = ref_columns[0].keys
    for column in sys_columns:
        if None in column.lines:
            column.fail(column.lines.index(None) + 1, "expected a string, got null: only references may be missing")
        if keys and column.keys is None and first_words(column.lines) == {*keys}:
            raise InputError(
                f"the lines of {column.name} begin with the ids of {ref_columns[0].name}, which would be scored as "
                "words: write both in one format, such as TRANSCRIPT (ID) in files *.trn"
            )
    return Corpus(
        [column.lines for column in ref_columns],
        dict(
            zip(
                [*system_names(systems, max_input=max_input), *made],
                (column.lines for column in sys_columns),
                strict=True,
            )
        ),
        tuple(column.name for column in ref_columns),
        tuple(columns),
        *(others[kind].lines if kind in others else None for kind in (*PLURALS, "source")),
    )
