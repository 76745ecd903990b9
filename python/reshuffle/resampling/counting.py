"""Checks texts and metrics, and counts them: from the arguments of public functions to samples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import category

import numpy as np

from ..data.columns import named_columns, segment_list
from ..data.corpus import Corpus, DocumentIds, Lines, References, Systems
from ..data.formats.base import MISSING_WORDS
from ..data.id_columns import warn_of_repeated
from ..errors import Argument, InputError, Option, counted, listed, quoted, unknown_name, warn
from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..metrics.given import PrecomputedCounts
from ..metrics.named import AnyMetric, Metrics, metric
from ..metrics.native import Named, NativeMetric, count_all, counting_steps, warn_of_scores
from ..metrics.precomputed import SegmentScores
from ..metrics.stored import StoredCounts
from ..names import is_metric, metric_key
from ..progress import Step
from ..results import ComparedTexts, UsedMetric, VoteFit
from ..settings import Resampling, Units
from .incomplete import IncompleteSample
from .samples import CountSample, Sample, TextSample
from .stored import StoredSample

if TYPE_CHECKING:
    from .._core import Progress


def _sample_of(m: AnyMetric, names: Sequence[str], corpus: Corpus | None) -> Sample:
    """The outputs of these systems under a metric that does not count their texts here."""
    if isinstance(m, CorpusFunction):
        texts = _texts(m, corpus)
        return TextSample(m, [texts.systems[name] for name in names], texts.references)
    if isinstance(m, StoredCounts):
        return StoredSample.from_stored(m.chosen(names))
    if isinstance(m, SegmentScores) and not m.is_complete:
        return IncompleteSample.from_scores(m, names)
    assert isinstance(m, PrecomputedCounts)
    return CountSample.from_counts(m, m.counts_of(names))


def _is_table(scores: object) -> bool:
    """Whether these are scores from files. Most comparisons do not need the readers, so they are not imported."""
    kind = type(scores)
    return kind.__module__.startswith("reshuffle.data.") and kind.__name__ in ("ScoreTable", "JoinedScores")


def _no_texts(scores: object) -> InputError:
    return InputError(f"a {type(scores).__name__} holds scores: write metrics=SegmentScores.from_table(scores)")


def _waits_for_texts(m: object) -> bool:
    return isinstance(m, Metric) and m.waits_for_texts


def _check_arguments(references: Any, systems: Any, numbers: str) -> None:
    """Raise :class:`InputError` for what is passed as references, but is something else: of these kinds, numbers."""
    if isinstance(references, Corpus):
        raise InputError("compare takes references and systems: write compare(corpus.references, corpus.systems)")
    if _is_table(references):
        raise _no_texts(references)
    if _are_swapped(references, systems):
        raise InputError(
            "references and systems are swapped: the references come first, then a mapping from the names of systems "
            "to their outputs"
        )
    if _are_names(systems) and named_columns("references", references) is not None:
        chosen = "frame[['a', 'b']]"
        if isinstance(references, Mapping):
            chosen = "{'a': frame['a'], 'b': frame['b']}"
        raise InputError(
            f"references is a whole table: pass its columns, as in compare(frame['ref'], {chosen}) for texts or "
            f"compare(metrics=SegmentScores('NAME', {chosen})) for scores"
        )
    first = references[0] if isinstance(references, list | tuple) and references else None
    dtype = np.dtype(type(first)) if isinstance(first, Real) else getattr(references, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind in [*numbers] and not (numbers == "f" and _are_whole(references)):
        raise InputError(
            "expected texts, got numbers: for scores write metrics=SegmentScores('NAME', {'a': scores, 'b': scores}); "
            "labels of classes are whole numbers or strings, with metrics='macro-f1' or 'accuracy'"
        )


def _are_whole(numbers: Iterable[Any]) -> bool:
    """Whether numbers are whole, as labels are that pandas made floats."""
    return all(isinstance(each, Real) and float(each).is_integer() for each in numbers)


def _are_outputs(metrics: Any, systems: Any) -> bool:
    """Whether a second list of outputs is in the place of metrics."""
    are_texts = [
        isinstance(each, list | tuple) and all(isinstance(line, str) for line in each) for each in (metrics, systems)
    ]
    return all(are_texts) and len(metrics) == len(systems) > 1 and not any(map(is_metric, metrics))


def _are_names(systems: Any) -> bool:
    """Whether there are no texts of systems, but at most what may be names of columns."""
    names = systems.values() if isinstance(systems, Mapping) else systems
    return isinstance(systems, str | None) or (
        isinstance(systems, list | tuple | Mapping) and bool(systems) and all(isinstance(each, str) for each in names)
    )


def _are_swapped(references: Any, systems: Any) -> bool:
    """Whether texts by name come first, and then a list of texts, or of lists of texts, instead of names of columns."""
    if not (isinstance(references, Mapping) and isinstance(systems, list | tuple) and systems):
        return False
    if not all(isinstance(lines, list | tuple) for lines in references.values()):
        return False
    return not any(isinstance(each, str) and each in references for each in systems)


def _no_metric(m: object) -> InputError:
    if _is_table(m):
        return _no_texts(m)
    if isinstance(m, Mapping) or (not isinstance(m, type) and named_columns("metrics", m) is not None):
        return InputError("scores of systems need a name to be a metric: write metrics=SegmentScores('NAME', scores)")
    if callable(m) and not isinstance(m, type):
        return InputError(
            "a function of texts needs a name to be a metric: write CorpusFunction('NAME', function), which calls "
            "function(hypotheses, references) for each replicate"
        )
    return InputError(
        "a metric is a name, reshuffle.metric(name), SegmentScores (for scores), CorpusFunction (for a function of "
        f"texts), FromCounts or OwnTexts, got {quoted(m)}"
    )


def _texts(m: AnyMetric, corpus: Corpus | None) -> Corpus:
    """The texts, or :class:`InputError` if there are none."""
    if corpus is None:
        raise _texts_missing([m.name])
    return corpus


def _texts_missing(metrics: Sequence[str]) -> InputError:
    return InputError(
        f"{', '.join(metrics)} needs texts: pass references and systems; for scores that you have, write "
        f"metrics=SegmentScores({metrics[0]!r}, {{'a': scores, 'b': scores}})"
    )


def labels_of(metrics: Sequence[Metric | CorpusFunction]) -> list[str]:
    """The name of each metric, with the options that differ where two metrics share a name."""
    parts = [m.signature().split("|")[1:] for m in metrics]
    labels = []
    for m, own in zip(metrics, parts, strict=True):
        rivals = [others for n, others in zip(metrics, parts, strict=True) if n.name == m.name]
        labels.append(" ".join([m.name, *(part for part in own if any(part not in others for others in rivals))]))
    return labels


def metrics_named(name: str, metrics: Sequence[Metric | CorpusFunction]) -> list[int]:
    """The indices of the metrics with a name, in any case: that of :func:`labels_of`, of reports, or of ``-m``.

    A label belongs to one metric; two metrics may share another name.

    >>> bleus = [metric("bleu"), metric("bleu", tokenize="intl"), metric("chrf", beta=3)]
    >>> [metrics_named(name, bleus) for name in ("bleu", "BLEU tok:intl", "chrF", "chrF3", "TER")]
    [[0, 1], [1], [2], [2], []]
    """
    folded = name.casefold()
    labels = [label.casefold() for label in labels_of(metrics)]
    if folded in labels:
        return [labels.index(folded)]
    return [
        i for i, m in enumerate(metrics) if folded in (m.name.casefold(), str(getattr(m, "key", m.name)).casefold())
    ]


def check_only(labels: Sequence[str], option: str, example: object) -> None:
    """:class:`InputError`, with an example, for a value without the name of a metric if there are several metrics."""
    if len(labels) > 1:
        raise InputError(
            f"one {option} for {len(labels)} metrics, {{metrics}}: say which metric it is of, as in {{argument}}",
            metrics=listed(labels),
            argument=Argument(option, {labels[0]: plain_number(f"{example}")}),
        )


def check_reachable(what: str, points: float, of_segments: Sequence[Scores], so: str) -> None:
    """:class:`InputError` for points by which scores from 0 to 1 cannot differ; a warning if other scores do not.

    ``of_segments`` are the scores of segments of each system, and ``so`` is what follows if they cannot.
    """
    ends = [end(each) for each in of_segments for end in (np.nanmin, np.nanmax)]
    low, high = min(ends, default=0), max(ends, default=0)
    if not 0 < high - low <= points:
        return
    if low >= 0 and high <= 1 <= points:
        raise InputError(
            f"{what} is {points:.12g}, but all scores of segments are from {low:g} to {high:g}, so {so}: give it "
            "on the scale of the scores, as 0.05 for 5 percentage points"
        )
    warn(
        f"{what} is {points:.12g}, and all scores of segments are between {low:g} and {high:g}: if no others are "
        f"possible, {so}"
    )


def plain_number(text: str) -> float | str:
    """A number as short as people write it, or text that is none.

    >>> plain_number("0.50"), plain_number("2e+00"), plain_number("2%")
    (0.5, 2, '2%')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Data:
    """The metrics to compute, and the texts; without texts if all metrics have precomputed counts."""

    corpus: Corpus | None
    metrics: Sequence[AnyMetric]
    names: tuple[str, ...]
    n_segments: int

    @classmethod
    def from_arguments(
        cls,
        references: References,
        systems: Systems,
        metrics: Metrics,
        *,
        documents: DocumentIds | None = None,
        source: Sequence[str | None] | None = None,
        warn_of_duplicates: bool = True,
    ) -> Data:
        """Check the arguments of a public function. :class:`InputError` if they cannot be used together.

        Metrics that are counted in Python count here. For those of spans, ``documents`` may be the sentences.
        """
        if _are_outputs(metrics, systems):
            raise InputError(
                "the third argument is metrics: pass all systems together, as in {'a': outputs, 'b': outputs}"
            )
        resolved: list[Any] = [
            m.with_sources(source) if isinstance(m, NativeMetric) else m for m in resolved_metrics(metrics)
        ]
        of_labels = all(isinstance(m, Named) and m.key in OF_LABELS for m in resolved)
        _check_arguments(references, systems, "f" if of_labels else "biuf")
        if references is not None and systems is not None:
            corpus = Corpus.from_texts(references, systems, labels=of_labels)
            corpus.check(duplicates=warn_of_duplicates)
            _check_detokenized(corpus, resolved)
            _check_transcripts(corpus, resolved)
            _check_labels(corpus, resolved)
            resolved = [m.of_texts(corpus, documents) if _waits_for_texts(m) else m for m in resolved]
            return cls(corpus, resolved, tuple(corpus.systems), corpus.n_segments)
        if references is not None or systems is not None:
            there, missing = ("references", "systems") if systems is None else ("systems", "references")
            raise InputError(f"{there} without {missing}: pass both, or metrics=SegmentScores('NAME', scores)")
        needy = [m.name for m in resolved if not isinstance(m, PrecomputedCounts)]
        if needy:
            raise _texts_missing(needy)
        data = cls(None, resolved, resolved[0].system_names, resolved[0].n_segments)
        if documents is None:
            warn_of_repeated(data.labels[0], data.segment_ids)
        return data

    @lazy
    def labels(self) -> list[str]:
        """The name of each metric, with the options that differ where two metrics share a name.

        >>> bleus = [metric("bleu"), metric("bleu", lowercase=True, tokenize="intl"), metric("chrf")]
        >>> Data.from_arguments(["a"], [["a"]], bleus).labels
        ['BLEU case:mixed tok:13a', 'BLEU case:lc tok:intl', 'chrF2']
        """
        return labels_of(self.metrics)

    def label_of(self, name: str) -> str:
        """The label of a metric, by any of its names (:func:`metrics_named`); of the first one that has it."""
        return self.labels[self.named(name, "metric")[0]]

    def named(self, name: str, noun: str) -> list[int]:
        """The indices of the metrics with a name (:func:`metrics_named`), of which ``noun`` is the role."""
        found = metrics_named(name, self.metrics)
        if found:
            return found
        keys = [str(getattr(m, "key", m.name)) for m in self.metrics]
        of_texts = [key for key, m in zip(keys, self.metrics, strict=True) if not isinstance(m, SegmentScores)]
        if not of_texts or not is_metric(name):
            raise unknown_name(noun, name, keys if len({*keys}) == len(keys) else self.labels)
        more = [*of_texts, metric_key(name)]
        raise InputError(
            "{name} is a {noun}, but is not compared: add it, as in {metrics}, or leave it out",
            noun=noun,
            name=quoted(name),
            metrics=Argument(
                f"metrics={more}", as_flag=f"-m {' '.join(more)}", as_key=f"the key 'metrics' with {json.dumps(more)}"
            ),
        )

    @property
    def segment_ids(self) -> Sequence[str] | None:
        """The ids of the segments, if there are only scores and these have ids."""
        if self.corpus is not None:
            return None
        found = (m.segment_ids for m in self.metrics if isinstance(m, PrecomputedCounts))
        return next((ids for ids in found if ids is not None), None)

    @property
    def reads_sources(self) -> bool:
        """Whether a metric compares outputs with the source texts."""
        return any(isinstance(m, NativeMetric) and m.reads_sources for m in self.metrics)

    @property
    def n_references(self) -> str | None:
        """The number of references per segment as signatures write it."""
        return None if self.corpus is None else self.corpus.n_references

    def used_metrics(self) -> tuple[UsedMetric, ...]:
        """The metrics as results describe them."""
        return tuple(
            UsedMetric(label, m.signature(self.n_references), m.higher_is_better, None, m.source)
            for label, m in zip(self.labels, self.metrics, strict=True)
        )

    @property
    def ratings(self) -> VoteFit | None:
        """The fit of votes, if the scores are ratings."""
        return None

    @property
    def most_references(self) -> int:
        """The largest number of references of a segment; 0 if there are only scores."""
        if self.corpus is None:
            return max(m.most_references for m in self.metrics if isinstance(m, PrecomputedCounts))
        return len(self.corpus.references)

    @property
    def uses_documents(self) -> bool:
        """Whether the counts of a metric depend on the documents."""
        return any(isinstance(m, Metric) and m.uses_documents for m in self.metrics)

    def texts(self, names: Sequence[str], units: Units) -> ComparedTexts:
        """The references, the outputs of these systems, and what is known of each segment, without scores.

        Raises :class:`InputError` if there are none, or if one is not a string, which metrics that do not read the
        texts have not checked.
        """
        if self.corpus is None:
            raise InputError(
                "{texts} needs texts, but there are only precomputed scores: give {corpus}, or leave it out",
                texts=Argument("include", ("texts",)),
                corpus=Argument("references and systems", as_flag="REF and SYS"),
            )
        references = tuple(zip(*self.corpus.references, strict=True))
        for column in self.corpus.references:
            _check_strings("a reference", column)
        systems = {name: tuple(self.corpus.systems[name]) for name in names}
        for name, output in systems.items():
            _check_strings(f"system {quoted(name)}", output, required=True)
        documents = None if units.documents is None else tuple(map(str, units.documents))
        return ComparedTexts(references, systems, {}, _source(units.source, len(references)), documents)

    def count(self, names: Sequence[str], resampling: Resampling) -> list[Sample]:
        """Count these systems by each metric. What metrics have in common is counted once."""
        counts = iter(self._native_counts(names, resampling))
        samples = [
            CountSample.from_counts(m, next(counts))
            if isinstance(m, NativeMetric)
            else _sample_of(m, names, self.corpus)
            for m in self.metrics
        ]
        for sample in samples:
            if sample.n_units != self.n_segments:
                other = samples[0].metric.name if self.corpus is None else "the texts"
                raise InputError(
                    f"{sample.metric.name} has {sample.n_units:,} segments, {other} {self.n_segments:,}: the numbers "
                    "must be equal"
                )
        return samples

    def count_alone(self, names: Sequence[str], resampling: Resampling) -> list[Sample]:
        """:meth:`count` whose steps, for reports of progress, are all of the job."""
        resampling.announce(self.counting_steps(len(names)))
        return self.count(names, resampling)

    def counting_steps(self, n_systems: int, of: str = "") -> list[Step]:
        """The steps of counting so many systems. ``of`` is added to their names."""
        native = {label: m for label, m in zip(self.labels, self.metrics, strict=True) if isinstance(m, NativeMetric)}
        return counting_steps(native, n_systems * self.n_segments, of)

    def _native_counts(self, names: Sequence[str], resampling: Resampling) -> list[Counts]:
        """The counts by each native metric, in their order."""
        native = [m for m in self.metrics if isinstance(m, NativeMetric)]
        if not native:
            return []
        texts = _texts(native[0], self.corpus)
        outputs = {name: texts.systems[name] for name in names}
        if resampling.executor is not None:
            return _count_elsewhere(native, outputs, texts.references, resampling)
        return count_all(native, outputs, texts.references, resampling.threads, resampling.progress)


@dataclass(frozen=True, eq=False)
class CountingJob:
    """Counts of systems, which are the items: see :class:`reshuffle.execution.Job`."""

    items: ClassVar[str] = "systems"

    metrics: Sequence[NativeMetric]
    systems: Mapping[str, Sequence[str]]
    references: Sequence[Sequence[str | None]]

    block: ClassVar[int] = 1

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> list[Counts]:
        """The counts of systems first, …, last − 1 by each metric. See :class:`reshuffle.execution.Job`."""
        chosen = dict(list(self.systems.items())[first:last])
        return count_all(self.metrics, chosen, self.references, threads, progress)


def _count_elsewhere(
    metrics: Sequence[NativeMetric],
    outputs: Mapping[str, Lines],
    references: Sequence[Sequence[str | None]],
    resampling: Resampling,
) -> list[Counts]:
    """The counts of systems by each metric, by the workers of an executor."""
    from ..execution import run_job

    warn_of_scores(metrics, references)  # the warnings of workers would be lost
    systems = {name: segment_list(name, lines) for name, lines in outputs.items()}
    job = CountingJob(metrics, systems, [list(column) for column in references])
    # A checkpoint keeps what takes long, and not what only an executor computes as a job.
    parts = run_job(job, len(systems), resampling.execution, stage="counting")
    return [np.concatenate(counts) for counts in zip(*parts, strict=True)]


def _source(source: Sequence[str | None] | None, n_segments: int) -> tuple[str | None, ...] | None:
    """The source text, checked; :class:`InputError` unless there is one for each segment."""
    if source is None:
        return None
    if isinstance(source, str) or len(source) != n_segments:
        got = "a single string" if isinstance(source, str) else f"{len(source):,}"
        raise InputError(f"source: expected a text for each of {n_segments:,} segments, got {got}")
    _check_strings("the source", source)
    return tuple(source)


def _check_strings(what: str, lines: Iterable[object], required: bool = False) -> None:
    """:class:`InputError` for a line that is not a string, unless it is None and that is allowed."""
    for segment, line in enumerate(lines, 1):
        if not isinstance(line, str) and (required or line is not None):
            raise InputError(f"{what}, segment {segment:,}: expected a string, got {quoted(line)}")


def resolved_metrics(metrics: Metrics) -> list[Any]:
    """The metrics as objects. :class:`InputError` if two of them cannot be distinguished by name or options."""
    chosen = list(metrics) if isinstance(metrics, Sequence) and not isinstance(metrics, str) else [metrics]
    resolved: list[Any] = [metric(m) if isinstance(m, str) else m for m in chosen]
    if not resolved:
        raise InputError("no metrics: expected at least one")
    for m in resolved:
        if not isinstance(m, NativeMetric | PrecomputedCounts | CorpusFunction) and not _waits_for_texts(m):
            raise _no_metric(m)
    signatures = [m.signature() for m in resolved]
    twice = next((each for each in signatures if signatures.count(each) > 1), None)
    if twice is not None:
        raise InputError(f"the same metric is chosen twice, with the same options: {twice}")
    for m in resolved:
        # Metrics of the registry that have the same name differ in their options.
        is_ours = isinstance(m, NativeMetric | StoredCounts) or _waits_for_texts(m)
        if not is_ours and [n.name for n in resolved].count(m.name) > 1:
            raise InputError(f"two metrics are called {m.name}: rename the one that is not built in")
    return resolved


# The threshold of sacreBLEU 2.6.0 (sacrebleu/metrics/base.py).
TOKENIZED_PERIODS = 100
_ends_tokenized = methodcaller("endswith", " .")


def _check_detokenized(corpus: Corpus, metrics: Sequence[AnyMetric]) -> None:
    """Warn about outputs that seem to be tokenized already, if a metric tokenizes them again."""
    tokenizing = [m for m in metrics if isinstance(m, NativeMetric) and m.tokenizes]
    if not tokenizing:
        return
    found = []
    for name, lines in corpus.systems.items():
        try:
            n = sum(map(_ends_tokenized, lines))
        except (AttributeError, TypeError):  # not strings: counting will raise the error
            return
        if n >= TOKENIZED_PERIODS:
            found.append((name, n))
    if found:
        warn_of_tokenized(found, tokenizing[0].name)


# Fewer lines may look like transcripts or labels by chance. So many are looked at.
TRANSCRIPTS, LINES_READ = 50, 1_000
# Apart from words, spaces and these characters, transcripts have nothing.
NOT_IN_TRANSCRIPTS = re.compile(r"[^\w\s'’-]")
# The largest share of lines with punctuation or both cases in transcripts, and the smallest in written texts.
FEW_WRITTEN, MANY_WRITTEN = 0.01, 0.2
# What lines are like.
WRITTEN = "punctuation or both cases"
LOWER, UPPER = "lower case only, without punctuation", "capitals only, without punctuation"


def style_of(lines: Sequence[str | None]) -> str | None:
    """What most lines are like; None if that is not clear, or in a script without cases."""
    cased = [line for line in lines[:LINES_READ] if isinstance(line, str) and line.upper() != line.lower()]
    if len(cased) < TRANSCRIPTS:
        return None
    bare = [line for line in cased if not NOT_IN_TRANSCRIPTS.search(line)]
    in_case = {LOWER: sum(map(str.islower, bare)), UPPER: sum(map(str.isupper, bare))}
    written = 1 - sum(in_case.values()) / len(cased)
    if written >= MANY_WRITTEN:
        return WRITTEN
    return max(in_case, key=in_case.__getitem__) if written <= FEW_WRITTEN else None


# With more different words in LINES_READ lines, these are answers and not labels of classes.
MOST_CLASSES = 20
# The metrics of labels.
OF_LABELS = ("accuracy", "micro-f1", "macro-f1", "mcc", "kappa")
# Those of labels and of short answers.
OF_ANSWERS = (*OF_LABELS, "exact", "f1")
# Tokenizers of BLEU that split lines where there are spaces.
SPACED = ("13a", "intl", "mteval-intl", "multi-bleu", "none")


def _check_labels(corpus: Corpus, metrics: Sequence[AnyMetric]) -> None:
    """Warn of BLEU on single words, such as labels of classes: it is 0 without sequences of four words.

    Also of the F1 of words on labels, where it is the accuracy, and of systems whose labels no reference has.
    """
    named = {m.key: m for m in metrics if isinstance(m, Named)}
    lines = [line for line in corpus.references[0][:LINES_READ] if isinstance(line, str)]
    if len(lines) < TRANSCRIPTS:
        return
    # Letters without case are those of Chinese, Japanese, Thai and others, where a sentence may have no spaces.
    are_words = all(len(line.split()) < 2 and "Lo" not in map(category, line) for line in lines) and any(lines)
    bleu = next((m for m in metrics if isinstance(m, NativeMetric) and _is_of_words(m)), None)
    if bleu is not None and are_words:
        warn(
            "the references have one word on each line, but {bleu} counts sequences of up to four words: compare "
            "labels of classes with {labels}, short answers with {answers}",
            bleu=bleu.name,
            labels=Argument("metrics", ("accuracy", "macro-f1")),
            answers=Argument("metrics", ("exact", "f1")),
        )
    if "f1" in named and are_words and len(set(lines)) <= MOST_CLASSES and not named.keys() & {"macro-f1", "micro-f1"}:
        warn(
            "the references look like labels of classes, but f1 compares the words of answers, and is the accuracy for "
            "labels: use macro-f1, the mean of F1 over the classes, or micro-f1, which can leave out the negative "
            "class (its option 'without')"
        )
    whole = [named[key].name for key in (*OF_LABELS, "exact") if key in named]
    if whole and _are_tags(corpus, lines):
        warn(
            f"each line has the tags of a sentence, and {listed(whole)} {'counts' if len(whole) < 2 else 'count'} a "
            "line as one label, which is right only if all its tags are: compare names and other spans with {spans}; "
            "for the tags of words, write one on each line, and the sentence of each as {documents}",
            spans=Argument("metrics", ("span-f1",)),
            documents=Argument("documents"),
        )
    if not named.keys().isdisjoint(OF_LABELS):
        known = {line for references in corpus.references for line in references}
        _check_spelling(corpus, {line for line in known if line is not None})
        unknown = [name for name, own in corpus.systems.items() if known.isdisjoint(own)]
        if unknown:
            warn(
                f"none of the labels of {listed(unknown)} (such as {quoted(corpus.systems[unknown[0]][0])}) occurs in "
                f"the references (such as {quoted(lines[0])}): labels must be equal character by character"
            )
        for m in named.values():
            left_out = m.options.get("without") if m.key in OF_LABELS else None
            if left_out is not None and not any(left_out in own for own in (known, *corpus.systems.values())):
                warn(
                    f"{m.name} leaves out the label {quoted(left_out)} (its option 'without'), but no reference or "
                    "output has it: is it misspelled?"
                )


def _are_tags(corpus: Corpus, lines: Sequence[str]) -> bool:
    """Whether the first lines are sequences of tags, of which there are few, as many in all outputs."""
    sizes = [len(line.split()) for line in lines]
    tags = {tag for line in lines for tag in line.split()}
    if (
        len(set(lines)) <= MOST_CLASSES
        or len(tags) > MOST_CLASSES * 10
        or sum(sizes) < max(2 * len(lines), len(tags) * 5)
    ):
        return False
    columns = [*corpus.references, *corpus.systems.values()]
    return all(
        isinstance(line, str) and len(line.split()) == size
        for column in columns
        for line, size in zip(column[:LINES_READ], sizes, strict=False)
    )


def _check_spelling(corpus: Corpus, known: Set[str]) -> None:
    """Warn of labels of a system that differ from those of the references in case or spaces only.

    :class:`InputError` if all of them differ as 1 and 1.0 do.
    """
    if len(known) > MOST_CLASSES * 10:  # texts
        return
    plain = {_plain(label): label for label in known}
    for name, own in corpus.systems.items():
        labels = {label for label in own if isinstance(label, str)}
        unknown = sorted(labels - known)
        numbers = {label: other for label in unknown if (other := _as_whole(label, known)) is not None}
        if numbers and all(label.strip().lower() in MISSING_WORDS for label in labels - numbers.keys()):
            label, other = next(iter(numbers.items()))
            raise InputError(
                f"the labels of {name} are numbers like {quoted(label)}, and those of the references like "
                f"{quoted(other)}, so none is right: write both alike; pandas writes whole numbers as 1.0 in a column "
                "with a missing value, and as 1 after .astype('Int64')"
            )
        near = [(label, plain[_plain(label)]) for label in unknown if _plain(label) in plain]
        if near and labels & known:
            shown = listed(f"{quoted(label)} for {quoted(other)}" for label, other in near)
            n = sum(own.count(label) for label, _ in near)
            warn(
                f"{name} spells some labels differently from the references, in case or spaces: {shown}; they count as "
                f"wrong on {counted(n, 'line')}: spell them alike"
            )


def _plain(label: str) -> str:
    """A label without spaces, in lower case."""
    return "".join(label.split()).casefold()


def _as_whole(label: str, known: Set[str]) -> str | None:
    """The known label that is the same whole number, written as 1 for 1.0 or the other way; None if there is none."""
    if re.fullmatch(r"-?\d+\.0+", label):
        other = label.partition(".")[0]
    elif re.fullmatch(r"-?\d+", label):
        other = f"{label}.0"
    else:
        return None
    return other if other in known else None


def _is_of_words(metric: NativeMetric) -> bool:
    """Whether it is BLEU, and counts sequences of words."""
    own = metric.options
    return (
        metric.key in ("bleu", "sentbleu")
        and not metric.other_tokenizer
        and own.get("tokenize", "13a") in SPACED
        and own.get("max_ngram_order", 4) > 1
    )


def _check_transcripts(corpus: Corpus, metrics: Sequence[AnyMetric]) -> None:
    """Warn of word error rates that are probably meant otherwise: of machine translation on what seem to be transcripts
    of speech, or with another style in the references than in the outputs.
    """
    native = [m for m in metrics if isinstance(m, NativeMetric)]
    keys, plain = [m.key for m in native], [m for m in native if m.by_speaker and not m.options]
    if not (plain or "wer" in keys):
        return
    expected = style_of(corpus.references[0])
    if expected in (LOWER, UPPER) and "wer" in keys and "asr-wer" not in keys:
        warn(
            "the references have no punctuation and only one case, like transcripts of speech, but WER tokenizes "
            "texts: asr-wer counts the word error rate of speech recognition, as jiwer does"
        )
    if not plain or expected is None:
        return
    styles = {name: style_of(lines) for name, lines in corpus.systems.items()}
    other = [name for name, style in styles.items() if style not in (expected, None)]
    if other:
        warn(
            "the references have {expected}, but the outputs of {systems} have {style}: {metric} with {lowercase} and "
            "{no_punct} compares the words alone",
            expected=expected,
            systems=listed([name for name in other if styles[name] == styles[other[0]]]),
            style=styles[other[0]],
            metric=plain[0].key,
            lowercase=Option("lowercase"),
            no_punct=Option("no_punct"),
        )


def warn_of_tokenized(found: Sequence[tuple[str, int]], metric_name: str) -> None:
    """Warn about systems that have many segments, each given with their number, that seem to be tokenized already."""
    (name, n), others = found[0], len(found) - 1
    also = f", and many of {counted(others, 'other output')}," if others else ""
    warn(
        f"{n:,} segments of {name!r}{also} end in ' .', so they seem to be tokenized, and {metric_name} would tokenize "
        "them again: detokenize them, or turn its tokenizer off (tokenize 'none')"
    )
