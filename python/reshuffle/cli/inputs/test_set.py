"""A test set to read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from ...data.alignment import check_parses
from ...data.corpus import Corpus, read_corpus, system_names
from ...data.count_files import is_count_file, read_arrays
from ...data.file_names import check_order
from ...data.files import STDIN, display_name, read_bytes
from ...data.formats import format_of, usual_metric
from ...data.formats.base import Column, check_not_saved
from ...data.id_columns import PASSAGES, warn_of_passages, warn_of_repeated
from ...data.reading import PLURALS, Opened, are_same_groups, is_log, read_columns, read_groups, split_name, split_path
from ...data.score_columns import TABLES
from ...errors import Argument, InputError, MisreadWarning, counted, listed, quoted, unknown_name, warn
from ...metrics.native import OF_SPEECH, Named, NativeMetric, lacks_source
from ...metrics.precomputed import FromCounts, OwnTexts, SegmentScores, check_same_length
from ...metrics.stored import CountsFile, StoredCounts, open_counts
from ...names import is_metric
from ...options.declare import check_combined, refused
from ...options.declare import files_in as files_of
from ...options.files import SetFiles
from ...options.inputs import TestSet
from ...resampling.counting import OF_ANSWERS
from ...settings import Units
from ..metric_options import MetricChoice, metrics_of
from .counts import check_no_flags, chosen_counts, given_counts, name_and_formula
from .folders import files_in, is_folder, note_baseline, of_single_systems
from .given_files import ReadScores, wrong_number_of_files

if TYPE_CHECKING:
    from ...metrics.named import NamedMetric

OnTexts: TypeAlias = "NamedMetric | OwnTexts"


@dataclass(frozen=True)
class Input:
    """The files of a test set, of which all was checked that does not need their contents."""

    files: SetFiles
    systems: Mapping[str, str]
    """The file of each system, or its name in a file of counts."""
    metrics: Sequence[NamedMetric]
    """The metrics on texts."""
    counts: CountsFile | None = None
    """What takes the place of texts."""
    threads: int | None = None
    """For metrics on parses."""
    made: Sequence[str] = ()
    """Names of systems whose outputs are made by the command, and not read."""
    runs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """If the systems are runs: the names of those of each system."""
    given: SetFiles | None = None
    """The files with folders as the user named them."""

    @classmethod
    def checked(cls, files: SetFiles, least: int, default: str = "bleu", **others: Any) -> Input:
        """Check the files of at least so many systems. ``others`` are fields that do not follow from the files.

        ``default`` is the metric on texts if none is named; for BLEU, it is that of the format.
        """
        files = _with_directions(files)
        _check_options_of_scores(files)
        reference = files.references[0] if files.references else None
        in_file = reference is not None and is_count_file(reference)
        usual = default
        if default == "bleu" and reference is not None:
            usual = usual_metric(split_name(reference)[0], files.input_format)
        chosen = files.metrics or (() if in_file or reference is None else (MetricChoice(usual),))
        if reference is not None and in_file and not chosen:
            check_no_flags(reference, files.metric_options)
        metrics = metrics_of(chosen, files.metric_options)
        files = _with_ids_of_columns(files)
        if in_file:
            counts = chosen_counts(files, chosen, metrics, least)
            found = cls(files, {name: name for name in counts.systems}, [], counts, **others)
        else:
            if reference is None:
                _check_without_texts(files, chosen)
            given, files = files, _with_speakers(of_single_systems(files))
            found = cls(files, _systems(files), metrics, given=given, **others)
            # A single file of scores may hold several systems, which shows only when it is read.
            if reference is not None or len(found.systems) > 1:
                _check_number(list(found.systems.values()), files, least)
        found._check_scores()
        for metric in metrics if reference is not None and files.source is None and not in_file else ():
            if metric.reads_sources:
                raise lacks_source(metric.name)
        if files.parses:
            _check_parses(files, metrics)
        return found

    def _check_scores(self) -> None:
        """:class:`InputError` unless each metric of other programs has a file for each system, or one for all."""
        for metric, files in self.files.numbers.items():
            if isinstance(files, Mapping):
                for name in files:
                    if name not in self.names:
                        raise unknown_name("system", name, self.names).with_prefix(f"scores, {metric}: ")
                lacking = [name for name in self.names if name not in files]
                if lacking:
                    raise InputError(
                        f"scores, {metric}: expected a file for each system, got none for {listed(lacking)}"
                    )
            elif len(files) != len(self.systems) and (len(files) != 1 or metric in self.files.counts):
                option = "counts" if metric in self.files.counts else "scores"
                raise wrong_number_of_files(metric, files, self.names, self.runs, option)

    @property
    def paths(self) -> list[str]:
        """All files that will be read."""
        of_counts = self.counts is not None
        own = evolve(self.files, systems=(), references=self.files.references[: 1 if of_counts else None])
        return [*files_of(own), *(self.systems.values() if own.references and not of_counts else ())]

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.made or self.systems)

    def check_source(self) -> None:
        """Raise :class:`InputError` for a source text that no metric reads, where texts are not shown."""
        if self.files.source is not None and not any(m.reads_sources for m in self.metrics):
            raise InputError("--source is for reports of compare with texts, and for sari: leave it out")

    def note_baseline(
        self, name: str | None, otherwise: str = "--baseline chooses another", in_one: Sequence[str] = ()
    ) -> None:
        """Without a name, the first system is the baseline: say so if that may not have been chosen."""
        if name is None and self.given is not None:
            note_baseline(self.given, self.names, otherwise, in_one)

    def system(self, name: str | None) -> str | None:
        """The name of a system, from its name or its file."""
        if name is None or name in self.names:
            return name
        own = {file: own for own, file in self.systems.items()}.get(name, name)
        if own == name and Path(name).is_file():
            raise InputError(f"{display_name(name)} is not one of the systems ({listed(self.names)}): add it as a SYS")
        return own

    @property
    def known_metrics(self) -> list[NamedMetric | StoredCounts]:
        """The metrics on texts, or those of the file of counts."""
        return [*self.metrics, *(self.counts or ())]

    def read(self, outputs: Mapping[str, Sequence[str]] | None = None, *, stored_ids: bool = True) -> TestSet:
        """Read all files.

        ``outputs`` are those of the systems that the command made. ``stored_ids`` says whether documents and strata of
        a file of counts are used.
        """
        if self.counts is not None:
            return self._read_counts(self.counts, outputs, stored_ids)
        if self.files.references:
            return self._read_texts(outputs)
        scores = self._scores(groups=self._given_groups())
        documents, strata = scores.groups
        return TestSet(None, None, self._given(scores, scores.shown_ids), documents, strata)

    def _read_counts(
        self, counts: CountsFile, outputs: Mapping[str, Sequence[str]] | None, stored_ids: bool
    ) -> TestSet:
        """Read counts, after a check of all their bytes, and scores."""
        path = self.files.references[0]
        if outputs is not None:
            raise InputError(f"{path} has counts, but this command makes outputs: use texts")
        read_arrays(path)
        ids = self.ids(stored_ids)
        beside = Column(display_name(path), range(counts.n_segments), [])
        scores = self._scores(beside, beside.name)
        return TestSet(None, None, [*counts, *self._given(scores)], ids.documents, ids.strata)

    def _read_texts(self, outputs: Mapping[str, Sequence[str]] | None) -> TestSet:
        """Read texts, and scores of their segments."""
        files = self.files
        corpus = read_corpus(
            files.references,
            list(self.systems.values()),
            files.input_format,
            documents=files.documents,
            strata=files.strata,
            max_input=files.max_input,
            outputs=outputs,
            source=files.source,
        ).renamed(self.names)
        given = [m.with_sources(corpus.source) if isinstance(m, NativeMetric) else m for m in self.metrics]
        metrics: list[OnTexts] = list(given)
        if files.parses:
            metrics = [
                self._on_parses(m, corpus) if isinstance(m, NativeMetric) and m.reads_parses else m for m in given
            ]
        _check_kinds(metrics, corpus.sources)
        keyed = next((column for column in corpus.sources if column.keys is not None), corpus.sources[0])
        if files.documents is not None:
            if files.documents == files.references[0] and keyed.keys is not None:
                _warn_of_chapters(keyed)
        else:
            warn_of_repeated(keyed.name, keyed.keys)
            keys = {m.key for m in metrics if isinstance(m, Named)} if len(self.systems) > 1 else set()
            if not keys.isdisjoint(OF_SPEECH):
                _warn_of_speakers(keyed)
            if not keys.isdisjoint({*OF_SPEECH, *OF_ANSWERS}):
                file, _, rows = split_path(files.references[0])
                if not {each.lower() for each in _columns_of(files, file)}.isdisjoint(PASSAGES):
                    table = replace(Opened.read(file, files.input_format, files.max_input), rows=rows)
                    warn_of_passages(table.source.name, table.header, table.values, table.ids())
        scores = self._scores(keyed, "the texts")
        every, ids = [*metrics, *self._given(scores)], (corpus.documents, corpus.strata)
        return TestSet(corpus.references, corpus.systems, every, *ids, source=corpus.source)

    def _given(self, found: ReadScores, ids: Sequence[str] | None = None) -> list[SegmentScores | FromCounts]:
        """The metrics whose scores or counts were given. ``ids`` are those of segments without texts."""
        lower, missing = self.files.lower_is_better, self.files.missing
        for name, by_system in found.by_metric.items():
            check_same_length(name, by_system, "; if the files are of several tasks, name those of each in a manifest "
                              "(--manifest)")  # fmt: skip
        scores = [
            SegmentScores(name, scores, False if name in lower else None, missing, ids).without_segments(
                found.n_left_out
            )
            for name, scores in found.by_metric.items()
        ]
        return [*scores, *given_counts(self.files, self.systems, found.columns)]

    def _scores(self, beside: Column | None = None, what: str = "", groups: Sequence[Column | None] = ()) -> ReadScores:
        """The scores of other programs. See :meth:`~reshuffle.cli.inputs.score_files.ScoreFiles.read`."""
        files = self.files
        if not files.numbers:
            return ReadScores({}, [], None, groups=[], n_left_out=0)
        from .score_files import ScoreFiles  # texts alone should not wait for readers of scores

        first = files.systems or next(iter(files.numbers.values()), ())
        known = bool(files.references) or len(self.systems) > 1 or isinstance(first, Mapping)
        return ScoreFiles(files, self.systems, known, self.runs).read(beside, what, groups)

    def ids(self, stored: bool = True) -> Units:
        """The ids of documents and strata without texts: of ``--docs`` and ``--strata``, else of the file of counts."""
        given = Units(*(None if each is None else each.lines for each in self._given_groups()))
        if self.counts is None or not stored:
            return given
        documents = self.counts.documents if given.documents is None else given.documents
        return Units(documents, self.counts.strata if given.strata is None else given.strata)

    def _given_groups(self) -> tuple[Column | None, Column | None]:
        return self._groups("document", self.files.documents), self._groups("stratum", self.files.strata)

    def _groups(self, group: str, path: str | None) -> Column | None:
        """Ids without texts. ``--input-format`` applies to them only if they are in the same file as scores."""
        if path is None:
            return None
        if is_count_file(path):
            stored = open_counts(path)
            found = stored.documents if group == "document" else stored.strata
            if found is None:
                raise InputError(f"{display_name(path)} was counted without ids of {PLURALS[group]}")
            return Column(display_name(path), found.tolist(), [])
        file, name, chosen = split_path(path)
        given = [split_path(each) for files in self.files.numbers.values() for each in _in_order(files)]
        of_file = [rows for each, _, rows in given if each == file]
        input_format, limit = self.files.input_format if of_file else None, self.files.max_input
        groups = read_groups(group, path, input_format, max_input=limit)
        # The same rows as those of the scores: of a model, or of a run.
        rows = {",".join(f"{key}={value}" for key, value in each.items()) for each in of_file}
        if groups.keys is None and name is not None and not chosen and all(rows):
            own = [read_groups(group, f"{path},{each}", input_format, max_input=limit) for each in sorted(rows)]
            if own and all((each.lines, each.keys) == (own[0].lines, own[0].keys) for each in own):
                return own[0]
        for each in dict.fromkeys(each for each, *_ in given if name is not None and of_file and each != file):
            try:
                other = read_groups(group, f"{each}#{name}", input_format, max_input=limit)
            except InputError:  # without such a column
                continue
            if not are_same_groups(groups, other):
                warn(
                    f"{other.name} has other {PLURALS[group]} for some segments than {groups.name}, whose are used: if "
                    "they are right, write them into a file of their own, with a column 'id'",
                    MisreadWarning,
                )
        return groups

    def _on_parses(self, m: NativeMetric, corpus: Corpus) -> OwnTexts:
        """The metric on the parses, after checking that these are parses of the texts."""
        n, parses_of = len(corpus.references), self.files.parses
        if len(parses_of) != len(corpus.sources):  # one file may hold several references
            outputs = f"{len(self.systems)} {'runs' if self.runs else 'systems'}"
            problem = "{parses}: expected a file for each of {texts}, got {got}"
            texts = f"{counted(n, 'reference')} and {outputs}"
            raise refused(SetFiles, problem, texts=texts, got=len(parses_of))
        check_order(Argument("parses"), parses_of, [column.name for column in corpus.sources])
        parses = read_columns(parses_of, "conllu", max_input=self.files.max_input)
        for parsed, text in zip(parses, corpus.sources, strict=True):
            if text.format != "conllu":
                check_parses(parsed, text)
        # Where a reference is missing, its parse is missing too.
        references = [
            [None if line is None else parse for line, parse in zip(column, parsed.lines, strict=True)]
            for column, parsed in zip(corpus.references, parses[:n], strict=True)
        ]
        systems = dict(zip(corpus.systems, (parsed.lines for parsed in parses[n:]), strict=True))
        return OwnTexts(m, references, systems, self.threads)


def _with_ids_of_columns(files: SetFiles) -> SetFiles:
    """Files with ``FILE#NAME`` for ``--docs NAME`` and ``--strata NAME`` if NAME is in the first, or it is a log."""
    named = [file for each in files.numbers.values() for file in _in_order(each)]
    file = split_name(next(iter([*files.references, *named]), STDIN))[0]
    file = files_in(file)[0] if is_folder(file) else file
    found: dict[str, Any] = {"documents": files.documents, "strata": files.strata}
    for group, path in found.items():
        is_name = path is not None and split_name(path)[1] is None and not Path(path).exists()
        if is_name and (path in _columns_of(files, file) or (not files.references and is_log(file, files.max_input))):
            found[group] = f"{file}#{path}"
    return evolve(files, **found)


def _columns_of(files: SetFiles, file: str) -> Sequence[str]:
    """The names of the columns of a file; none if it is no table."""
    is_table = (files.input_format or format_of(file)) in (*TABLES, "comet")
    if file == STDIN or not is_table or not Path(file).is_file():
        return ()
    opened = Opened.read(file, files.input_format, files.max_input)
    return opened.header if opened.format_name in TABLES else ()


def _in_order(files: Mapping[str, str] | Sequence[str]) -> Sequence[str]:
    """Files by the names of systems, or in a list, as a list."""
    return list(files.values()) if isinstance(files, Mapping) else files


def _systems(files: SetFiles) -> dict[str, str]:
    """The file of each system, by name. Without texts, the first scores name the systems."""
    given = files.systems if files.references else files.systems or next(iter(files.numbers.values()))
    if isinstance(given, Mapping):
        return dict(given)
    return dict(zip(system_names(given, max_input=files.max_input), given, strict=True))


def _warn_of_speakers(transcripts: Column) -> None:
    """Warn of ids that name a few speakers, if these are not the documents."""
    speakers = {document for document, _ in transcripts.ids or ()}
    if transcripts.keys is not None and 1 < len(speakers) <= len(transcripts.lines) // 2:
        warn(
            "{file}: the ids name {n:,} speakers, such as {first}, but utterances are taken as "
            "independent segments, which can make p too small: add {documents}",
            MisreadWarning,
            file=transcripts.name,
            n=len(speakers),
            first=quoted(next(document for document, _ in transcripts.ids or ())),
            documents=Argument("documents", (SPEAKER,)),
        )


def _warn_of_chapters(transcripts: Column) -> None:
    """Warn if speakers seem to have chapters, as in LibriSpeech: the ids SPEAKER-CHAPTER-UTTERANCE."""
    parts = [document.partition("-") for document, _ in transcripts.ids or ()]
    speakers, chapters = {speaker for speaker, _, _ in parts}, {*parts}
    if all(hyphen for _, hyphen, _ in parts) and 1 < len(speakers) < len(chapters):
        speaker, _, chapter = parts[0]
        warn(
            "{file}: {documents} {speaker} takes the parts of ids before the last hyphen, {n:,} such as {first}; the "
            "parts before the first hyphen are {fewer:,}, such as {own}: if these are the speakers, give {documents} a "
            "file utt2spk, with an id and its speaker on each line",
            MisreadWarning,
            file=transcripts.name,
            documents=Argument("documents"),
            speaker=SPEAKER,
            n=len(chapters),
            first=quoted(f"{speaker}-{chapter}"),
            fewer=len(speakers),
            own=quoted(speaker),
        )


# In place of a file of documents: the speakers are in the ids of the transcripts.
SPEAKER = "speaker"


def _with_speakers(files: SetFiles) -> SetFiles:
    """The same files, with the transcripts in place of the word ``speaker``."""
    if files.documents != SPEAKER or not files.references or Path(SPEAKER).exists():
        return files
    reference = files.references[0]
    if (files.input_format or format_of(split_name(reference)[0])) not in ("trn", "kaldi"):
        raise InputError(
            "{documents} {speaker}: {file} has no utterance ids: use .trn files, {kaldi}, or a file or column with the "
            "speaker of each segment, as in {documents} FILE#{speaker}",
            documents=Argument("documents"),
            speaker=SPEAKER,
            file=display_name(reference),
            kaldi=Argument("input_format", ("kaldi",)),
        )
    return evolve(files, documents=reference)


def _with_directions(files: SetFiles) -> SetFiles:
    """The files with the metrics of ``--lower-is-better`` as ``--scores`` and ``--counts`` write them, in any case."""
    names = {name.casefold(): name for name in (*files.scores, *(given.partition(":")[0] for given in files.counts))}
    return evolve(files, lower_is_better=tuple(names.get(each.casefold(), each) for each in files.lower_is_better))


def _check_options_of_scores(files: SetFiles) -> None:
    """:class:`InputError` for options that need ``--scores``, or whose scores have no files."""
    for option, own in (("--scores", files.scores), ("--counts", files.counts)):
        for metric, each in own.items():
            if not each:
                before = [*files.references, *(files.systems if not isinstance(files.systems, Mapping) else ())]
                hint = f"; without texts, write {option} {shlex.join([metric, *before])}" if len(before) == 2 else ""
                raise InputError(f"{option} {metric}: expected a file for each system after the name, got none{hint}")
    counted = [name_and_formula(given)[0] for given in files.counts]
    for name in files.lower_is_better:
        known = [*files.scores, *counted]
        if not known:
            lower = Argument("lower_is_better")
            if is_metric(name):
                raise InputError(
                    "{option} {name}: for metrics on texts this is known: leave it out", option=lower, name=name
                )
            raise InputError(
                "{option}: there are no scores {name}: add {scores} or {counts}",
                option=lower,
                name=name,
                scores=Argument("scores", as_flag=f"--scores {name} FILE...", as_key=f"'{name}' to the key 'scores'"),
                counts=Argument(
                    "counts", as_flag=f"--counts {name}:FORMULA FILE...", as_key=f"'{name}:FORMULA' to 'counts'"
                ),
            )
        if name not in known:
            raise unknown_name(Argument("lower_is_better"), name, known)
    check_combined(files)


def _check_without_texts(files: SetFiles, chosen: Sequence[MetricChoice]) -> None:
    """:class:`InputError` unless there are scores, and nothing that needs texts."""
    if chosen:
        raise needs_texts(chosen[0].name, Argument("references and systems", as_flag="REF and SYS"))
    if not files.numbers:
        raise InputError("no reference and no systems: add REF and SYS, or external scores with --scores or --counts")


def needs_texts(metric: str, texts: Argument, others: object = "external scores") -> InputError:
    """The error for a metric on texts where there are none. ``others`` are what has scores without one."""
    return InputError(
        "{metric} needs texts: add {texts}; {others} need no {metrics}",
        metric=Argument("metrics", (metric,), as_flag="-m"),
        texts=texts,
        others=others,
        metrics=Argument("metrics", as_flag="-m"),
    )


def _check_number(systems: Sequence[str], files: SetFiles, least: int) -> None:
    if len(systems) >= least:
        return
    for file in [*files.references, *systems]:
        path, _ = split_name(file)
        if path != STDIN and not Path(path).is_dir():
            check_not_saved(path, read_bytes(path, "one segment per line"))
    wanted = "at least one system" if least == 1 else "at least two systems"
    hint = "; the first file is the reference, and scores of segments follow --scores NAME"
    if len(files.references) == 2:
        first, reference = map(display_name, files.references)
        hint = f"; the first file, {first}, is the reference: if {reference} is, write it first, without an option"
    elif len(files.references) > 2:
        hint = "; --refs takes all files up to the next option, so put it last"
    elif not systems and files.references and len(columns := _columns_of(files, files.references[0])) > 1:
        table = display_name(files.references[0])
        hint = f"; {table} is a table: write REF and each SYS as {table}#NAME, where NAME is one of its columns: "
        hint += listed(columns)
    elif not systems and files.references and Path(files.references[0]).suffix in (".toml", ".json"):
        file = display_name(files.references[0])
        hint = f"; if {file} is a manifest of test sets, write --manifest {file}; if it has scores of several systems, "
        hint += f"--scores NAME {file}"
    elif least == 1:
        hint = "; - is standard input"
    elif len(systems) == 1:
        both = shlex.join([*files.references, *systems])
        hint = (
            f"; the first file is the reference: for scores of segments write --scores NAME {both}; 'reshuffle score' "
        )
        hint += "scores a single system"
    raise InputError(
        "expected {wanted}, got {systems}{hint}",
        wanted=Argument(wanted, as_flag=f"{wanted} after REF"),
        systems=", ".join(map(display_name, systems)) or "none",
        hint=Argument("", as_flag=hint),
    )


def _check_parses(files: SetFiles, metrics: Sequence[NamedMetric]) -> None:
    if not files.references:
        flags = "--parses takes all files up to the next option, so put it after REF and SYS, or leave it out"
        advice = Argument("leave out parses, or add references and systems", as_flag=flags)
        raise InputError("no texts: {advice}", advice=advice)
    if not any(m.reads_parses for m in metrics):
        depf, own = Argument("metrics", ("depf",), "-m"), ", ".join(m.key for m in metrics)
        raise refused(SetFiles, "{parses} does not apply to {own}: add {depf}, or leave it out", own=own, depf=depf)


def _check_kinds(metrics: Sequence[OnTexts], columns: Sequence[Column]) -> None:
    """Check that every column is what the metrics read: texts or parses."""
    for m in metrics:
        for column in columns:
            if m.reads_parses is not None and m.reads_parses != (column.format == "conllu"):
                wanted, got = ("parses in CoNLL-U", "text") if m.reads_parses else ("text", "parses in CoNLL-U")
                hint = ", and {parses} adds parses to texts" if m.reads_parses else ""
                raise InputError(
                    "{metric} reads {wanted}, but {file} contains {got}; the extension or {input_format} gives the "
                    "format" + hint,
                    metric=m.name,
                    wanted=wanted,
                    file=column.name,
                    got=got,
                    input_format=Argument("input_format"),
                    parses=Argument("parses"),
                )
