"""From the arguments of a command line to texts and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.alignment import check_parses
from ..data.corpus import Corpus, check_order, read_corpus, system_names
from ..data.files import STDIN, display_name
from ..data.formats.base import Column
from ..data.reading import read_columns, read_documents, read_strata, split_name
from ..data.scores import read_numbers, read_scores
from ..errors import InputError, Option
from ..metrics.native import NativeMetric, metric
from ..metrics.precomputed import GivenCounts, OwnTexts, SegmentScores
from ..metrics.registry import metric_specs
from ..settings import Resampling, Units
from ..validate import check_name
from .options import flag, flags, known_case

__all__ = ["CALLED", "Job"]

# What the command line calls the options of the records.
CALLED = {
    "n_resamples": "-n",
    "seed": "--seed",
    "threads": "--threads",
    "confidence_level": "--confidence",
    "alpha": "--alpha",
}


@dataclass(frozen=True)
class Job:
    """What the command line asks to be scored: files of texts and parses, metrics, files of scores."""

    reference: str | None
    refs: Sequence[str]
    systems: Sequence[str]
    parses: Sequence[str]
    metrics: Sequence[NativeMetric]
    scores: Mapping[str, Sequence[str]]
    lower_is_better: Sequence[str]
    documents: str | None
    strata: str | None
    input_format: str | None
    max_input: int
    resampling: Resampling

    @classmethod
    def of(cls, reference: str | None, systems: Sequence[str], options: dict[str, Any], at_least: int) -> Job:
        """Check all that can be checked before a file is read; takes what it uses out of ``options``."""
        refs, parses, lower = options.pop("refs"), options.pop("parses"), options.pop("lower_is_better")
        scores: dict[str, list[str]] = {}
        for given in options.pop("scores"):
            name, *files = given.split("\0")
            if not name:
                raise InputError("--scores takes a name and files, got an empty name")
            if not files:
                raise InputError(f"--scores {name}: expected a name and a file for each system, got the name alone")
            if name in scores:
                raise InputError(f"--scores {name} is given twice")
            scores[name] = files
        for name in lower:
            if not scores:
                raise InputError(f"--lower-is-better {name} is about --scores {name}, and no --scores are given")
            check_name("scores", name, list(scores))
        names = options.pop("metrics") or (["bleu"] if reference is not None else [])
        metrics = _metrics(names, options)
        resampling = _resampling(options)
        if reference is None:
            if refs:
                raise InputError("no REF: --refs takes every file up to the next option, so put it last")
            if metrics:
                raise InputError(f"-m {names[0]} needs texts: give REF and SYS; scores from elsewhere need no -m")
            if not scores:
                raise InputError("no reference and no systems: give REF and SYS, or scores from elsewhere by --scores")
            systems = next(iter(scores.values()))
        # One file of scores alone may hold those of several systems; only reading it tells.
        if reference is not None or len(systems) > 1:
            _check_systems(systems, refs, at_least)
        for name, files in scores.items():
            if len(files) not in (1, len(systems)):
                raise _wrong_number_of_files(name, files, systems)
        if parses:
            _check_parses(reference, metrics)
        ids = options.pop("documents"), options.pop("strata")
        reading = options.pop("input_format"), options.pop("max_input")
        return cls(reference, refs, systems, parses, metrics, scores, lower, *ids, *reading, resampling=resampling)

    @property
    def files(self) -> list[str]:
        """Everything that will be read."""
        texts = [] if self.reference is None else [self.reference, *self.refs, *self.systems]
        ids = [path for path in (self.documents, self.strata) if path is not None]
        return [*texts, *self.parses, *self._score_files, *ids]

    @property
    def _score_files(self) -> list[str]:
        return [file for files in self.scores.values() for file in files]

    @property
    def names(self) -> list[str]:
        """What the systems are called."""
        return system_names(self.systems)

    def system(self, name: str | None) -> str | None:
        """A system by its name or file."""
        if name is None or name in self.names:
            return name
        return dict(zip(self.systems, self.names, strict=True)).get(name, name)

    def read(self) -> tuple[tuple[Any, Any, list[NativeMetric | GivenCounts]], Units]:
        """References and systems, None without texts, and metrics; the ids of documents and of strata."""
        if self.files.count(STDIN) > 1:
            raise InputError("standard input (-) can be read only once")
        texts: tuple[Any, Any] = (None, None)
        metrics: list[NativeMetric | GivenCounts] = list(self.metrics)
        if self.reference is not None:
            references = [self.reference, *self.refs]
            corpus = read_corpus(
                references,
                self.systems,
                self.input_format,
                documents=self.documents,
                strata=self.strata,
                max_input=self.max_input,
            )
            texts, documents, strata = (corpus.references, corpus.systems), corpus.documents, corpus.strata
            if self.parses:
                metrics = [self._on_parses(m, corpus) if m.reads_parses else m for m in self.metrics]
            self._check_kinds(metrics, corpus.sources)
        else:
            documents, strata = self._ids(read_documents, self.documents), self._ids(read_strata, self.strata)
        given = [
            SegmentScores(name, self._scores(name, files), higher_is_better=name not in self.lower_is_better)
            for name, files in self.scores.items()
        ]
        return (*texts, [*metrics, *given]), Units(documents, strata)

    def _ids(self, read: Callable[..., Sequence[str]], path: str | None) -> Sequence[str] | None:
        """Ids beside scores from elsewhere; the format given is theirs if they stand in the same file."""
        if path is None:
            return None
        is_of_scores = split_name(path)[0] in {split_name(file)[0] for file in self._score_files}
        return read(path, self.input_format if is_of_scores else None, max_input=self.max_input)

    def _on_parses(self, m: NativeMetric, corpus: Corpus) -> OwnTexts:
        """A metric on the parses, if these are parses of the texts."""
        n = len(corpus.references)
        if len(self.parses) != len(corpus.sources):  # a file of references may hold several
            raise InputError(
                f"--parses: expected a file for each of {n} references and {len(self.systems)} systems, "
                f"got {len(self.parses)}"
            )
        check_order("--parses", self.parses, [column.name for column in corpus.sources])
        parses = read_columns(self.parses, "conllu", max_input=self.max_input)
        for parsed, text in zip(parses, corpus.sources, strict=True):
            if text.format != "conllu":
                check_parses(parsed, text)
        # The parse of a reference that is missing is missing, too.
        references = [
            [None if line is None else parse for line, parse in zip(column, parsed.lines, strict=True)]
            for column, parsed in zip(corpus.references, parses[:n], strict=True)
        ]
        systems = dict(zip(corpus.systems, (parsed.lines for parsed in parses[n:]), strict=True))
        return OwnTexts(m, references, systems, self.resampling.threads)

    def _scores(self, name: str, files: Sequence[str]) -> dict[str, list[float]]:
        """Scores of segments by system: from a file for each, or from one that names the systems itself."""
        # --input-format is about texts where there are any; numbers beside them are told by their endings.
        input_format = self.input_format if self.reference is None else None
        if len(files) > 1:
            check_order(f"--scores {name}", files, self.systems)
            columns = [read_numbers(file, input_format, max_input=self.max_input) for file in files]
            return dict(zip(self.names, columns, strict=True))
        by_system = read_scores(files[0], input_format, max_input=self.max_input)
        if None not in by_system:
            return {str(system): scores for system, scores in by_system.items()}
        if len(self.systems) > 1:
            raise _wrong_number_of_files(name, files, self.systems)
        return {self.names[0]: by_system[None]}

    def _check_kinds(self, metrics: Sequence[NativeMetric | GivenCounts], columns: Sequence[Column]) -> None:
        for m in metrics:
            for column in columns:
                if m.reads_parses is not None and m.reads_parses != (column.format == "conllu"):
                    wanted, came = ("parses in CoNLL-U", "text") if m.reads_parses else ("text", "parses in CoNLL-U")
                    hint = "; --parses gives it parses beside texts" if m.reads_parses else ""
                    raise InputError(
                        f"{m.name} reads {wanted}, but {column.name} holds {came}; formats are told by the ending or "
                        f"by --input-format{hint}"
                    )


def _check_parses(reference: str | None, metrics: Sequence[NativeMetric]) -> None:
    if reference is None:
        raise InputError("no REF: --parses takes every file up to the next option, so put it last")
    if not any(m.reads_parses for m in metrics):
        raise InputError(f"--parses means nothing to {', '.join(m.key for m in metrics)}: add -m depf, or leave it out")


def _wrong_number_of_files(name: str, files: Sequence[str], systems: Sequence[str]) -> InputError:
    return InputError(
        f"--scores {name}: expected a file for each of {len(systems)} systems, got {len(files)}; it takes "
        "every file up to the next option, so put it last"
    )


def _metrics(names: Sequence[str], options: dict[str, Any]) -> list[NativeMetric]:
    """Takes the metrics' own options out of ``options`` and gives each metric those that it has."""
    takers = {made.option.name: made.metrics for made in flags()}
    known = [spec.name for spec in metric_specs()]
    names = [known_case(name, known) for name in names]
    for name in names:
        check_name("metric", name, known)
    given = {option: options.pop(option) for option in takers}
    given = {option: value for option, value in given.items() if value is not None}
    for option in given:
        if not set(takers[option]).intersection(names):
            raise InputError(
                f"{flag(option)} means nothing to {', '.join(names) or 'scores from elsewhere'}: leave it out"
            )
    return [_metric(name, {o: v for o, v in given.items() if name in takers[o]}) for name in names]


def _metric(name: str, options: dict[str, Any]) -> NativeMetric:
    try:
        return metric(name, **options)
    except InputError as error:
        raise error.worded(Option, flag) from None


def _resampling(options: dict[str, Any]) -> Resampling:
    """Takes its numbers out of ``options``, before any file is read: a mistyped one should not cost a wait."""
    given = Resampling(*(options.pop(name) for name in ("n_resamples", "seed", "threads")))
    given.check(CALLED)
    return given


def _check_systems(systems: Sequence[str], refs: Sequence[str], at_least: int) -> None:
    if len(systems) >= at_least:
        return
    wanted = "no system: give the output of at least one" if at_least == 1 else "expected at least two systems"
    hint = "; --refs takes every file up to the next option, so put it last" if refs else ""
    raise InputError(f"{wanted}, got {', '.join(map(display_name, systems)) or 'none'}{hint}")
