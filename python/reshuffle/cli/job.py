"""From command-line arguments to texts, metrics and settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..data.alignment import check_parses
from ..data.corpus import Corpus, read_corpus, system_names
from ..data.count_files import is_count_file, read_arrays
from ..data.file_names import check_order
from ..data.files import STDIN, check_stdin, display_name
from ..data.formats.base import Column
from ..data.reading import read_columns, read_groups, split_name
from ..errors import InputError, Option
from ..metrics.native import NativeMetric, metric
from ..metrics.precomputed import OwnTexts, PrecomputedCounts, SegmentScores
from ..metrics.stored import CountsFile, StoredCounts, open_counts
from ..settings import Resampling, Units
from ..validate import check_name
from .command import name_and_words
from .metric_options import MetricChoice, flag, flags
from .score_files import Groups, ScoreFiles, wrong_number_of_files
from .stored import check_no_flags, chosen_counts

# The command-line names of settings, for error messages.
FLAGS = {
    "n_resamples": "-n",
    "seed": "--seed",
    "threads": "--threads",
    "confidence_level": "--confidence",
    "alpha": "--alpha",
}


@dataclass(frozen=True)
class Job:
    """The checked arguments of ``compare`` or ``score``: files, metrics and resampling options.

    ``outputs`` says in messages what the systems are, and ``aliases`` has other names of theirs in files of scores.
    ``made`` has the outputs of systems that are not read from files, and ``in_order`` the metrics whose files of scores
    are in the order of the systems. ``counts`` takes the place of the texts if the reference is a file of counts;
    ``stored_ids`` says whether its documents and strata are used.
    """

    reference: str | None
    refs: Sequence[str]
    systems: Sequence[str]
    parses: Sequence[str]
    metrics: Sequence[NativeMetric]
    scores: Mapping[str, Sequence[str]]
    lower_is_better: Sequence[str]
    missing: str
    documents: str | None
    strata: str | None
    input_format: str | None
    max_input: int
    resampling: Resampling
    own_names: Sequence[str] = ()
    outputs: str = "systems"
    aliases: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unmatched: str = "error"
    by_position: bool = False
    in_order: Collection[str] = ()
    counts: CountsFile | None = None
    stored_ids: bool = True

    @classmethod
    def from_arguments(
        cls,
        reference: str | None,
        systems: Sequence[str],
        options: dict[str, Any],
        min_systems: int,
        names: Sequence[str] = (),
    ) -> Job:
        """Check all that can be checked before files are read, and remove the options used here from ``options``.

        ``names`` are those of the systems, if they are not called after their files.
        """
        refs, parses, lower = options.pop("refs"), options.pop("parses"), options.pop("lower_is_better")
        scores: dict[str, list[str]] = {}
        for given in options.pop("scores"):
            name, files = name_and_words("--scores", given, "files")
            if not files:
                raise InputError(f"--scores {name}: expected a file for each system after the name, got none")
            if name in scores:
                raise InputError(f"--scores {name} is used twice: choose different names")
            scores[name] = files
        for name in lower:
            if not scores:
                raise InputError(f"--lower-is-better {name} needs --scores {name}")
            check_name("--lower-is-better", name, list(scores))
        missing = options.pop("missing")
        if missing != "error" and not scores:
            raise InputError(f"--missing {missing} needs --scores: other metrics have no missing scores")
        unmatched = options.pop("unmatched", "error")
        if unmatched != "error" and not scores:
            raise InputError(f"--unmatched {unmatched} needs --scores: texts are matched by position")
        by_position = options.pop("by_position", False)
        if by_position and not scores:
            raise InputError("--by-position needs --scores: texts are always matched by position")
        in_file = reference is not None and is_count_file(reference)
        chosen = options.pop("metrics") or ([MetricChoice("bleu")] if reference is not None and not in_file else [])
        if in_file and not chosen:
            check_no_flags(str(reference), options)
        metrics = metrics_of(chosen, options)
        resampling = resampling_of(options)
        counts = None
        if reference is not None and in_file:
            for given, flag_of in ((refs, "--refs"), (parses, "--parses")):
                if given:
                    raise InputError(f"{flag_of} is for texts, and {reference} has counts: leave it out")
            counts = chosen_counts(reference, systems, names, chosen, metrics, min_systems)
            systems, names, metrics = counts.systems, counts.systems, []
        if reference is None:
            if refs:
                raise InputError("no REF: --refs takes all files up to the next option, so put it last")
            if metrics:
                raise InputError(f"-m {chosen[0].name} needs texts: add REF and SYS; external scores need no -m")
            if not scores:
                raise InputError("no reference and no systems: add REF and SYS, or external scores with --scores")
            systems = next(iter(scores.values()))
        # A single file of scores may hold several systems, which shows only when it is read.
        if counts is None and (reference is not None or len(systems) > 1):
            _check_systems(systems, refs, min_systems)
        for name, files in scores.items():
            if len(files) not in (1, len(systems)):
                raise wrong_number_of_files(name, files, systems)
        if parses:
            _check_parses(reference, metrics)
        return cls(
            reference=reference,
            refs=refs,
            systems=systems,
            parses=parses,
            metrics=metrics,
            scores=scores,
            lower_is_better=lower,
            missing=missing,
            documents=options.pop("documents"),
            strata=options.pop("strata"),
            input_format=options.pop("input_format"),
            max_input=options.pop("max_input"),
            resampling=resampling,
            own_names=names,
            unmatched=unmatched,
            by_position=by_position,
            counts=counts,
        )

    @property
    def files(self) -> list[str]:
        """All files that will be read."""
        texts = [] if self.reference is None else [self.reference]
        if self.counts is None and texts:
            texts += [*self.refs, *self.systems]
        ids = [path for path in (self.documents, self.strata) if path is not None]
        return [*texts, *self.parses, *self._score_files, *ids]

    @property
    def _score_files(self) -> list[str]:
        return [file for files in self.scores.values() for file in files]

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.own_names) or system_names(self.systems)

    def system(self, name: str | None) -> str | None:
        """The name of a system, from its name or its file."""
        if name is None or name in self.names:
            return name
        return dict(zip(self.systems, self.names, strict=not self.own_names)).get(name, name)

    def read(self) -> tuple[tuple[Any, Any, list[NativeMetric | PrecomputedCounts]], Units]:
        """Read all files. Returns (references, systems, metrics), the first two None without texts, and the ids."""
        check_stdin(self.files.count(STDIN))
        texts: tuple[Any, Any] = (None, None)
        metrics: list[NativeMetric | PrecomputedCounts] = list(self.metrics)
        if self.counts is not None:
            metrics, units = self._read_counts(), self.ids()
        elif self.reference is not None:
            references = [self.reference, *self.refs]
            corpus = read_corpus(
                references,
                self.systems,
                self.input_format,
                documents=self.documents,
                strata=self.strata,
                max_input=self.max_input,
                outputs=self.made,
            ).renamed(self.names)
            texts, units = (corpus.references, corpus.systems), Units(corpus.documents, corpus.strata)
            if self.parses:
                metrics = [self._on_parses(m, corpus) if m.reads_parses else m for m in self.metrics]
            self._check_kinds(metrics, corpus.sources)
        found = self._scores().read()
        if self.counts is not None:
            found = found.in_order(display_name(str(self.reference)), self.counts.n_segments)
        elif self.reference is not None:
            found = found.in_order("the texts", corpus.n_segments)
        else:
            found, *ids = found.with_groups(*self._given_groups())
            units = Units(*ids)
        given = [
            SegmentScores(name, scores, name not in self.lower_is_better, self.missing)
            for name, scores in found.scores.items()
        ]
        return (*texts, [*metrics, *given]), units

    @property
    def known_metrics(self) -> list[NativeMetric | StoredCounts]:
        """The metrics on texts, or those of the file of counts."""
        return [*self.metrics, *(self.counts or ())]

    def ids(self) -> Units:
        """The ids of documents and strata without texts: of ``--docs`` and ``--strata``, else of the file of counts."""
        given = Units(*(None if each is None else each.values for each in self._given_groups()))
        if self.counts is None or not self.stored_ids:
            return given
        documents = self.counts.documents if given.documents is None else given.documents
        return Units(documents, self.counts.strata if given.strata is None else given.strata)

    def _read_counts(self) -> list[NativeMetric | PrecomputedCounts]:
        """The metrics of the file of counts, after a check of all its bytes."""
        if self.made:
            raise InputError(f"{self.reference} has counts, but this command makes outputs: use texts")
        read_arrays(str(self.reference))
        return list(self.counts or ())

    def _given_groups(self) -> tuple[Groups | None, Groups | None]:
        return self._groups("document", self.documents), self._groups("stratum", self.strata)

    def _groups(self, group: str, path: str | None) -> Groups | None:
        """Ids without texts. ``--input-format`` applies to them only if they are in the same file as scores."""
        if path is None:
            return None
        if is_count_file(path):
            stored = open_counts(path)
            name, found = ("documents", stored.documents) if group == "document" else ("strata", stored.strata)
            if found is None:
                raise InputError(f"{display_name(path)} was counted without ids of {name}")
            return Groups(path, found.tolist(), None)
        has_scores = split_name(path)[0] in {split_name(file)[0] for file in self._score_files}
        input_format = self.input_format if has_scores else None
        return Groups(path, *read_groups(group, path, input_format, max_input=self.max_input))

    def _scores(self) -> ScoreFiles:
        return ScoreFiles(
            files=self.scores,
            systems=self.systems,
            names=self.names,
            has_systems=self.reference is not None or len(self.systems) > 1 or bool(self.own_names),
            in_order=self.in_order,
            not_scores=[path for path in (self.documents, self.strata) if path is not None],
            aliases=self.aliases,
            outputs=self.outputs,
            by_position=self.by_position,
            # With texts, --input-format is the format of the texts, and the extension gives that of a file of scores.
            input_format=self.input_format if self.reference is None else None,
            max_input=self.max_input,
            missing=self.missing,
            unmatched=self.unmatched,
        )

    def _on_parses(self, m: NativeMetric, corpus: Corpus) -> OwnTexts:
        """The metric on the parses, after checking that these are parses of the texts."""
        n = len(corpus.references)
        if len(self.parses) != len(corpus.sources):  # one file may hold several references
            raise InputError(
                f"--parses: expected a file for each of {n} references and {len(self.systems)} {self.outputs}, "
                f"got {len(self.parses)}"
            )
        check_order("--parses", self.parses, [column.name for column in corpus.sources])
        parses = read_columns(self.parses, "conllu", max_input=self.max_input)
        for parsed, text in zip(parses, corpus.sources, strict=True):
            if text.format != "conllu":
                check_parses(parsed, text)
        # Where a reference is missing, its parse is missing too.
        references = [
            [None if line is None else parse for line, parse in zip(column, parsed.lines, strict=True)]
            for column, parsed in zip(corpus.references, parses[:n], strict=True)
        ]
        systems = dict(zip(corpus.systems, (parsed.lines for parsed in parses[n:]), strict=True))
        return OwnTexts(m, references, systems, self.resampling.threads)

    def _check_kinds(self, metrics: Sequence[NativeMetric | PrecomputedCounts], columns: Sequence[Column]) -> None:
        """Check that every column is what the metrics read: texts or parses."""
        for m in metrics:
            for column in columns:
                if m.reads_parses is not None and m.reads_parses != (column.format == "conllu"):
                    wanted, got = ("parses in CoNLL-U", "text") if m.reads_parses else ("text", "parses in CoNLL-U")
                    hint = ", and --parses adds parses to texts" if m.reads_parses else ""
                    raise InputError(
                        f"{m.name} reads {wanted}, but {column.name} contains {got}; the extension or --input-format "
                        f"gives the format{hint}"
                    )


def _check_parses(reference: str | None, metrics: Sequence[NativeMetric]) -> None:
    if reference is None:
        raise InputError("no REF: --parses takes all files up to the next option, so put it last")
    if not any(m.reads_parses for m in metrics):
        raise InputError(
            f"--parses does not apply to {', '.join(m.key for m in metrics)}: add -m depf, or leave it out"
        )


def metrics_of(chosen: Sequence[MetricChoice], options: dict[str, Any]) -> list[NativeMetric]:
    """The metrics with their options: those after a metric's name take precedence over flags.

    Takes the flags out of ``options`` and gives each metric those that it has.
    """
    owners = {each.option.name: each.metrics for each in flags()}
    names = [choice.name for choice in chosen]
    values = {option: options.pop(option) for option in owners}
    values = {option: value for option, value in values.items() if value is not None}
    for option in values:
        if not set(owners[option]).intersection(names):
            raise InputError(f"{flag(option)} does not apply to {', '.join(names) or 'external scores'}: leave it out")
    return [
        _metric(choice.name, {o: v for o, v in values.items() if choice.name in owners[o]} | choice.options)
        for choice in chosen
    ]


def _metric(name: str, options: dict[str, Any]) -> NativeMetric:
    try:
        return metric(name, **options)
    except InputError as error:
        raise error.with_names(Option, flag) from None


def resampling_of(options: dict[str, Any]) -> Resampling:
    """Check the numbers before any file is read, and remove them from ``options``."""
    given = Resampling(*(options.pop(name) for name in ("n_resamples", "seed", "threads")))
    given.check(FLAGS)
    return given


def _check_systems(systems: Sequence[str], refs: Sequence[str], min_systems: int) -> None:
    if len(systems) >= min_systems:
        return
    wanted = "expected at least one system after REF" if min_systems == 1 else "expected at least two systems after REF"
    hint = "; --refs takes all files up to the next option, so put it last" if refs else ""
    raise InputError(f"{wanted}, got {', '.join(map(display_name, systems)) or 'none'}{hint}")
