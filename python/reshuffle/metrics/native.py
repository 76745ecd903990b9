"""Metrics that are counted and scored in Rust. :func:`reshuffle.metric` creates one from its name and options."""

from __future__ import annotations

import os
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, signature
from .._core import Progress
from ..data.columns import check_rows, named_columns, segment_list
from ..data.corpus import number_systems, reference_columns
from ..data.files import has_lone_surrogate
from ..data.formats.base import StrippedText
from ..documented import listing
from ..errors import SEGMENT_MESSAGE, Argument, InputError, Option, System, quoted, warn
from ..grouping import grouped
from ..lazy import lazy
from ..progress import AnyProgress, Step, reported
from ..types import Tokenizer
from ..validate import check_name, check_text
from .base import (
    Counts,
    InCore,
    Kink,
    Metric,
    Scores,
    core_details,
    counts_array,
    thread_count,
)
from .meteor import Files, read_files, warn_of_gaps
from .registry import metric_specs, spec_of, tokenizer_specs
from .tokenizers import EXTERNAL, LoadedTokenizer, for_language, load, model_takers

# Rough times to count a segment, in nanoseconds on one thread, for progress bars: of metrics that take longer or less
# than the others, of the others, and of a tokenizer in Python.
COUNT_NS = {"chrf": 11_000, "chrf++": 14_000, "ter": 30_000, "gtm": 2_000, "length": 1_000}
OTHERS_NS, TOKENIZE_NS = 3_500, 20_000

# A step that counts more metrics than this is not named after them.
NAMED_METRICS = 3

# Metrics whose counts follow from matches of n-grams of words.
TAKES_TOKENS = ("bleu", "sentbleu")

ROUGES = ("rouge1", "rouge2", "rougeL", "rougeLsum")

# Metrics that compare outputs with the source texts, too. The core gets these as the first references.
READS_SOURCES = ("sari",)

# Metrics that use files: what reads those that the options name or that are installed, and returns the other options
# and the files.
FILES: dict[str, Callable[[Mapping[str, Any]], tuple[dict[str, Any], list[Files]]]] = {"meteor": read_files}


# Columns of references.
References: TypeAlias = Sequence[Sequence[str | None]]


def _warn_of_characters(core: _core.Metric) -> None:
    """Warn that a word error rate of characters, which leaves out spaces, is no character error rate."""
    if dict(core.signature)["tok"] == "char":
        warn(
            "WER with {option}=char counts characters without spaces, so it is not the character error rate (CER) of "
            "jiwer and other tools, which count spaces too",
            option=Option("tokenize"),
        )


# The share of letters outside ASCII from which ROUGE warns, and the number of texts in which it counts them.
MANY_LETTERS, TEXTS_READ = 0.005, 1_000


def _warn_of_other_letters(references: References) -> None:
    """Warn that ROUGE drops letters outside a–z, if there are more than in a few names and loanwords."""
    text = "".join(line for column in references for line in column[:TEXTS_READ] if isinstance(line, str))
    # Deleting bytes is a hundred times faster than a regular expression.
    data = text.encode("utf-8", "surrogatepass")
    ascii_letters = len(data) - len(data.translate(None, string.ascii_letters.encode()))
    others = sum(map(str.isalpha, data.translate(None, bytes(range(128))).decode("utf-8", "surrogatepass")))
    if others > MANY_LETTERS * (others + ascii_letters):
        share = 100 * others / (others + ascii_letters)
        warn(
            f"ROUGE knows the letters a to z only: others, {share:.2g}% of those in the references, are dropped and "
            "separate words, as in rouge_score"
        )


# Metrics with a brevity penalty whose derivative jumps where hypotheses are as long as their references. That of NIST's
# penalty is continuous: it is 0 on both sides.
WITH_KINK = ("bleu",)

# Metrics of speech recognition, whose documents are speakers.
OF_SPEECH = ("asr-wer", "cer", "mer", "wil")

# What warns, when texts are counted, of metrics whose scores are easily taken for something else.
CAUTIONS: dict[str, Callable[[_core.Metric], None]] = {"meteor": warn_of_gaps, "wer": _warn_of_characters}

# The same where it depends on the references. A function that several metrics share warns once.
CAUTIONS_ON_TEXTS: dict[str, Callable[[References], None]] = dict.fromkeys(ROUGES, _warn_of_other_letters)


class Named(Metric):
    """A metric that :func:`reshuffle.metric` creates from a name and options."""

    key: str
    options: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash((self.key, *sorted(self.options.items())))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"metric({self.key!r}{options})"


@dataclass(frozen=True, repr=False)
class NativeMetric(Named, InCore):
    """A metric that is counted and scored in Rust. Create it with :func:`reshuffle.metric`."""

    key: str
    options: Mapping[str, Any]
    # The source of each segment, for metrics that read it.
    sources: Sequence[str | None] | None = field(default=None, repr=False)
    core: _core.Metric = field(init=False, repr=False, compare=False)
    # Values in the signature that replace those of the core, if another package tokenizes.
    _overrides: Mapping[str, str] = field(init=False, repr=False, compare=False)
    # Tokenizes a line with that package; None if the core tokenizes.
    _tokenize: Callable[[str], str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_name("metric", self.key, [spec.name for spec in metric_specs()])
        if self.sources is not None and (isinstance(self.sources, str) or not self.reads_sources):
            got = "a single string" if self.reads_sources else f"{self.key}, which does not read them"
            raise InputError(f"sources are texts for each segment, for {' and '.join(READS_SOURCES)}, got {got}")
        options: dict[str, Any] = {name: _hashable(value) for name, value in self.options.items()}
        vars(self)["options"] = dict(options)
        defaults = _check_option_names(self.key, options)
        language = options.pop("trg_lang", None)
        tokenize = options.pop("tokenize", None)
        if language is not None:
            tokenize = for_language(language, tokenize)
        if tokenize is not None:
            options["tokenize"] = tokenize
        tokenizer = _load_external(options.get("tokenize"), options.pop("tokenizer_model", None))
        if tokenizer is not None:
            options["tokenize"] = "none"
        options, files = FILES[self.key](options) if self.key in FILES else (options, [])
        core = _core.Metric(self.key, options, files)
        overrides: dict[str, str] = {}
        tokenize_line = None
        if tokenizer is not None:
            overrides["tok"] = tokenizer.signature
            lowercase = "lowercase" in defaults and bool(options.get("lowercase", defaults["lowercase"]))
            tokenize_line = partial(_tokenize_line, tokenizer, lowercase)
            if lowercase:
                # Lines are lowercased before they are tokenized. As in sacreBLEU, the tokens are left as they are.
                core = _core.Metric(self.key, {**options, "lowercase": False}, files)
                overrides["case"] = "lc"
        vars(self).update(core=core, _overrides=overrides, _tokenize=tokenize_line)
        vars(self).update(name=core.name, higher_is_better=core.higher_is_better, decimals=core.decimals)

    __hash__ = Named.__hash__

    @property
    def tokenizes(self) -> bool:
        """Whether the metric tokenizes, that is, has a tokenizer other than ``none``."""
        return self.option("tokenize") not in (None, "none")

    def option(self, name: str) -> Any:
        """The value of an option, as given or by default; None if the metric does not have it."""
        default = next((option.default for option in spec_of(self.key).options if option.name == name), None)
        return self.options.get(name, default)

    @property
    def other_tokenizer(self) -> bool:
        """Whether another package tokenizes."""
        return self._tokenize is not None

    @property
    def columns(self) -> list[str]:
        """Names of the K counts of a segment."""
        return self.core.columns

    @property
    def kink(self) -> Kink | None:
        if self.key not in WITH_KINK:
            return None
        return Kink(self.columns.index("hyp_len"), self.columns.index("ref_len"))

    @property
    def by_speaker(self) -> bool:
        return self.key in OF_SPEECH

    @property
    def reads_parses(self) -> bool:
        return spec_of(self.key).reads_parses

    @property
    def reads_sources(self) -> bool:
        """Whether the metric compares outputs with the source texts."""
        return self.key in READS_SOURCES

    def with_sources(self, sources: Sequence[str | None] | None) -> NativeMetric:
        """The same metric with the source texts, if it reads them and has none."""
        if sources is None or not self.reads_sources or self.sources is not None:
            return self
        return replace(self, sources=sources)

    @property
    def source(self) -> str:
        return spec_of(self.key).source

    def suff_stats(
        self,
        references: Sequence[Sequence[str | None]],
        systems: Mapping[str, Sequence[str]] | Sequence[Sequence[str]],
        *,
        workers: int | None = None,
        progress: AnyProgress = None,
    ) -> Counts:
        """Count all segments of all systems against the references, in one parallel call.

        Parameters
        ----------
        references : S references, or columns of S references each
            None marks a missing reference. Every segment needs at least one.
        systems : k sequences of S hypotheses, or mapping of str to S hypotheses
            Errors show the names of a mapping.
        workers : int, optional
            Number of threads. By default all cores. The counts do not depend on it.
        progress : bool or Progress, optional
            True shows a progress bar in a terminal or a notebook, if the count takes long. A
            :class:`reshuffle.Progress` reports its progress to another thread.

        Returns
        -------
        (k, S, K) ndarray of int64

        Raises
        ------
        InputError
            If numbers of segments differ, there is nothing to count, or a segment has no reference.

        Examples
        --------
        >>> from reshuffle import metric
        >>> metric("bleu").suff_stats([["a b d"]], [["a b c"]])
        array([[[3, 3, 2, 1, 0, 0, 3, 2, 1, 0]]])
        """
        check_rows("", {"references": references, "systems": systems})
        named = named_columns("systems", systems) or number_systems(segment_list("systems", systems))
        with reported(progress) as watched:
            if watched is not None:
                watched.plan(counting_steps({"": self}, sum(map(len, named.values()))))
            return self.counted(named, references, workers, watched)

    def counted(
        self,
        named: Mapping[str, Sequence[str]],
        references: Sequence[Sequence[str | None]],
        threads: int | None,
        progress: Progress | None,
    ) -> Counts:
        """The counts of systems with names, as a part of a job that has a plan: see :meth:`suff_stats`."""
        (counts,) = count_all([self], named, references, threads, progress)
        return counts

    def counted_unchecked(self, references: list[list[str | None]], systems: list[list[str]]) -> Counts:
        """The counts of lists of lines, if the core tokenizes them. Errors are those of the core."""
        (counts,) = _core.count([self.core], systems, references)
        return counts

    def counted_tokens(
        self,
        references: Sequence[Sequence[Sequence[str]]],
        hypotheses: Sequence[Sequence[str]],
        *,
        each_reference: bool = False,
    ) -> Counts:
        """Count texts that are split into tokens, which may contain anything, even white space.

        Parameters
        ----------
        references : list of S lists of references
            Each reference is a list of tokens. Segments may have different numbers of references.
        hypotheses : list of S hypotheses
            Each is a list of tokens. Tuples may be used for all lists. The tokens of a string are its characters.
        each_reference : bool, optional
            Count each hypothesis against each of its references alone.

        Returns
        -------
        (S, K) ndarray of int64
            With ``each_reference``, a row for each reference: all of the first segment, all of the second, and so on.

        Raises
        ------
        InputError
            If the metric is not ``bleu`` or ``sentbleu`` with ``tokenize="none"``, numbers of segments differ, there is
            nothing to count, or a segment has no reference.
        TypeError
            If a list is not a list or a tuple, or a token is not a string. Subclasses are not accepted.
        UnicodeError
            If a token has a lone surrogate.

        Notes
        -----
        Tokens are read and numbered by one thread, which takes more than half of the time. Their n-grams are counted in
        parallel.

        Examples
        --------
        >>> from reshuffle import metric
        >>> bleu = metric("bleu", tokenize="none", max_ngram_order=2)
        >>> bleu.counted_tokens([[["New York", "was", "big"]]], [["New York", "is", "big"]])
        array([[3, 3, 2, 0, 3, 2]])
        """
        options = self.options
        if self.key not in TAKES_TOKENS or options.get("tokenize") != "none" or options.get("lowercase"):
            known = " or ".join(TAKES_TOKENS)
            raise InputError(f"tokens can be counted by {known} with tokenize='none' and with case, not by {self!r}")
        return _core.count_tokens(self.core, hypotheses, references, each_reference=each_reference)

    @property
    def _reads(self) -> tuple[object, ...]:
        """What the core is given of a line. Metrics for which it is the same are counted in one pass."""
        return self.options.get("tokenize") == "mteval-intl", *self._overrides.items(), id(self.sources)

    def counted_lists(
        self, lists: _core.NBest, references: list[list[str | None]], threads: int | None, progress: Progress | None
    ) -> Counts:
        """The counts of each entry of k-best lists: (K, T). See :meth:`reshuffle.tune.NBest.count`."""
        try:
            texts, references = self._texts_of(lists, references, progress)
            return lists.count(self.core, references, texts=texts, threads=thread_count(threads), progress=progress)
        except (TypeError, UnicodeError) as error:
            raise _find_bad_line([], [], references, error) from None

    def utilities_of_lists(
        self, lists: _core.NBest, weights: Scores, threads: int | None, progress: Progress | None
    ) -> tuple[Scores, Scores]:
        """The weighted sum of each distinct hypothesis's scores against the others, and its score against itself.

        ``weights`` are those of the distinct hypotheses as pseudo-references. See :func:`reshuffle.tune.mbr`.
        """
        texts, _ = self._texts_of(lists, [], progress)
        return lists.utilities(self.core, weights, texts=texts, threads=thread_count(threads), progress=progress)

    def _texts_of(
        self, lists: _core.NBest, references: list[list[str | None]], progress: Progress | None
    ) -> tuple[list[str] | None, list[list[str | None]]]:
        """Hypotheses and references, tokenized if another package does it; without hypotheses if the core does."""
        warn_of_scores([self], references)
        if self._tokenize is None:
            return None, references
        (hypotheses,), references = _tokenized(self._tokenize, [lists.texts(None)], references, progress)
        return hypotheses, references

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """See :meth:`Metric.segment_scores`. BLEU ignores n-gram orders that are longer than the hypothesis.

        >>> from reshuffle import metric
        >>> metric("bleu").segment_scores([[2, 2, 2, 1, 0, 0, 2, 1, 0, 0]])
        array([100.])
        """
        counts = counts_array(counts, "counts")
        flat = np.ascontiguousarray(counts.reshape(-1, counts.shape[-1]))
        return np.asarray(self.core.segment_scores(flat).reshape(counts.shape[:-1]))

    def details(self, totals: Counts) -> Mapping[str, float]:
        """See :meth:`Metric.details`. Details that are counts are returned as int.

        >>> from reshuffle import metric
        >>> metric("length").details(np.array([3, 4]))
        {'hyp_len': 3, 'ref_len': 4}
        """
        return core_details(self.core, totals)

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`.

        >>> from reshuffle import metric
        >>> metric("bleu").signature("1")
        'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
        """
        return signature.for_metric(self.name, self._signature_options, n_references)

    @lazy
    def _signature_options(self) -> list[tuple[str, str]]:
        """Options that change a score, by their keys in signatures."""
        return self._override(self.core.signature)

    def segment_signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.segment_signature`.

        >>> from reshuffle import metric
        >>> metric("bleu").segment_signature("1")
        'BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp'
        """
        return signature.for_metric(self.name, self._override(self.core.segment_signature), n_references)

    def _override(self, options: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Options of a signature, with the values of a tokenizer from another package."""
        return [(name, self._overrides.get(name, value)) for name, value in options]


def count_all(
    metrics: Sequence[NativeMetric],
    named: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str | None]],
    threads: int | None,
    progress: Progress | None,
) -> list[Counts]:
    """The counts of systems with names by each metric: see :meth:`NativeMetric.counted`.

    Texts are passed to the core once, and it counts what metrics have in common once.
    """
    columns = [segment_list(name, column) for name, column in named.items()], reference_columns(references)
    counts: dict[int, Counts] = {}
    for group in _passes(metrics):
        chosen = [metrics[i] for i in group]
        counts.update(zip(group, _count_together(chosen, list(named), columns, threads, progress), strict=True))
    return [counts[i] for i in range(len(metrics))]


def warn_of_scores(metrics: Sequence[NativeMetric], references: References) -> None:
    """Warn of metrics whose scores are easily taken for something else, such as METEOR's without files it can use."""
    for m in metrics:
        if m.key in CAUTIONS:
            CAUTIONS[m.key](m.core)
    for caution in dict.fromkeys(CAUTIONS_ON_TEXTS[m.key] for m in metrics if m.key in CAUTIONS_ON_TEXTS):
        caution(references)


def block_step(metrics: Sequence[NativeMetric]) -> Step:
    """The only step of counting block by block."""
    return f"counting{_named([m.name for m in metrics])}", 1.0, 1


def _named(labels: Sequence[str]) -> str:
    """The metrics of a step, after a space."""
    own = ", ".join(labels) if len(labels) <= NAMED_METRICS else f"{len(labels)} metrics"
    return f"{' ' if own else ''}{own}"


def counting_steps(metrics: Mapping[str, NativeMetric], n: int, of: str = "") -> list[Step]:
    """The steps in which these metrics, by label, count n segments, with their rough costs in nanoseconds.

    ``of`` is added to their names.
    """
    labels, steps = list(metrics), []
    for group in _passes(list(metrics.values())):
        chosen = [metrics[labels[i]] for i in group]
        name = f"{_named([labels[i] for i in group])}{of}"
        if chosen[0]._tokenize is not None:
            steps.append((f"tokenizing{name}", float(n * TOKENIZE_NS), 1))
        # Variants of a metric over the same words have most of the cost in common.
        variants = {(m.key, m.options.get("tokenize"), m.options.get("lowercase")) for m in chosen}
        steps.append((f"counting{name}", float(n * sum(COUNT_NS.get(key, OTHERS_NS) for key, *_ in variants)), 1))
    return steps


@listing(Tokenizer)
def tokenize(
    lines: Iterable[str], tokenizer: Tokenizer | str = "13a", *, tokenizer_model: str | os.PathLike[str] | None = None
) -> list[list[str]]:
    """Split lines into tokens.

    Parameters
    ----------
    lines : iterable of str
    tokenizer : str
        {names}.
    tokenizer_model : path, optional
        A model, for tokenizers that take one.

    Raises
    ------
    InputError
        If the tokenizer is unknown, or if ``lines`` is not an iterable of strings.

    Examples
    --------
    >>> tokenize(["Hello, world."])
    [['Hello', ',', 'world', '.']]
    """
    check_name("tokenizer", tokenizer, [spec.name for spec in tokenizer_specs()])
    external = _load_external(tokenizer, tokenizer_model)
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        what = f"a single string: write [{quoted(lines)}]" if isinstance(lines, str) else quoted(lines)
        raise InputError(f"expected a sequence of lines, got {what}")
    lines = list(lines)
    for number, line in enumerate(lines, 1):
        problem = _string_problem(line)
        if problem is not None:
            raise InputError(f"line {number}: {problem}")
    if external is None:
        return _core.tokenize(lines, tokenizer)
    return [external(line).split() for line in lines]


def _check_option_names(key: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a metric's options. Raises :class:`InputError` for an unknown option or tokenizer.

    The core checks the values, but does not know the tokenizers of other packages.
    """
    known = {option.name: option for option in spec_of(key).options}
    for option in options:
        check_name(f"{key} option", option, list(known))
        if isinstance(options[option], str):
            check_text(option, options[option])
        if option == "tokenize" and isinstance(options[option], str):
            check_name(Option(option), options[option], known[option].choices)
    return {option.name: option.default for option in known.values()}


def _hashable(value: object) -> object:
    """Lists and one-dimensional arrays as tuples, paths as strings; other values unchanged."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    return tuple(value) if isinstance(value, list) else value


def _load_external(name: object, model: object) -> LoadedTokenizer | None:
    """The tokenizer of another package, or None if ``name`` is not one of these."""
    tokenizer = EXTERNAL.get(name) if isinstance(name, str) else None
    if model is not None and (tokenizer is None or not tokenizer.takes_model):
        raise InputError(
            "{option} applies only if {other} is {takers}: leave it out",
            option=Option("tokenizer_model"),
            other=Option("tokenize"),
            takers=model_takers(),
        )
    return None if tokenizer is None else load(tokenizer.name, model)


def _tokenize_line(tokenizer: LoadedTokenizer, lowercase: bool, line: str) -> str:
    """The tokens of a line with spaces between them. As in sacreBLEU, its end is stripped after lowercasing."""
    return tokenizer((line.lower() if lowercase else line).rstrip())


def _passes(metrics: Sequence[NativeMetric]) -> list[list[int]]:
    """The numbers of the metrics that are counted in one pass."""
    return list(grouped((m._reads, number) for number, m in enumerate(metrics)).values())


def _count_together(
    metrics: Sequence[NativeMetric],
    names: Sequence[str],
    columns: tuple[list[list[str]], list[list[str | None]]],
    threads: int | None,
    progress: Progress | None,
) -> list[Counts]:
    """The counts by each metric of a pass."""
    warn_of_scores(metrics, columns[1])
    first, texts = metrics[0], columns
    if first.reads_sources:
        texts = columns[0], [_sources(first, columns[1]), *columns[1]]
    if first.options.get("tokenize") == "mteval-intl":
        texts = _unstripped(texts[0]), _unstripped(texts[1])
    try:
        tokenized = texts if first._tokenize is None else _tokenized(first._tokenize, *texts, progress)
        cores = [m.core for m in metrics]
        return _core.count(cores, *tokenized, threads=thread_count(threads), progress=progress)
    except InputError as error:  # from the core, which knows systems by number only
        raise error.with_names(System, lambda system: names[system - 1]) from None
    except (TypeError, UnicodeError) as error:
        raise _find_bad_line(names, *texts, error) from None


def lacks_source(name: str) -> InputError:
    """The error for a metric that compares outputs with the source, without one."""
    return InputError(f"{name} needs the source of each segment: add {{source}}", source=Argument("source"))


def _sources(m: NativeMetric, references: References) -> list[str | None]:
    """The source texts. :class:`InputError` unless each segment has one, and a reference."""
    if m.sources is None:
        raise lacks_source(m.name)
    if len(m.sources) != len(references[0]):
        raise InputError(f"{m.name}: {len(m.sources):,} source texts for {len(references[0]):,} segments")
    for segment, (source, *own) in enumerate(zip(m.sources, *references, strict=True), 1):
        if source is None or all(line is None for line in own):
            raise InputError(f"{m.name}: segment {segment:,} has no {'source' if source is None else 'reference'}")
    return list(m.sources)


def _tokenized(
    tokenize_line: Callable[[str], str],
    systems: list[list[str]],
    references: list[list[str | None]],
    progress: Progress | None,
) -> tuple[list[list[str]], list[list[str | None]]]:
    """All columns with spaces between tokens. Each distinct line is tokenized once."""
    columns: list[Sequence[str | None]] = [*systems, *references]
    distinct = {line for column in columns for line in column if line is not None}
    tokens: dict[str, str] = {}
    if progress is not None:
        progress.begin("tokenizing", len(distinct))
    for done, line in enumerate(distinct, 1):
        if not isinstance(line, str):
            raise TypeError(line)  # suff_stats then looks for the line's place
        line.encode()  # raises UnicodeError here, before the tokenizer can raise an exception of its own
        tokens[line] = tokenize_line(line)
        if progress is not None:
            progress.update(done)
    # Missing lines stay missing. The core raises an error where that is not allowed.
    return (
        [[tokens.get(line, line) for line in column] for column in systems],
        [[None if line is None else tokens[line] for line in column] for column in references],
    )


L = TypeVar("L", str, "str | None")


def _unstripped(columns: list[list[L]]) -> list[list[L]]:
    """The columns with the white space that lines from mteval files had at their ends."""
    return [[line.unstripped if isinstance(line, StrippedText) else line for line in column] for column in columns]


def _find_bad_line(
    names: Sequence[str], systems: list[list[str]], references: list[list[str | None]], error: Exception
) -> InputError:
    """The error for the line that made the core raise ``error``."""
    columns: list[tuple[str, Sequence[object]]] = list(zip(names, systems, strict=True))
    columns += [(f"reference {number}", column) for number, column in enumerate(references, 1)]
    for index, (what, column) in enumerate(columns):
        for segment, line in enumerate(column, 1):
            if line is None and index >= len(names):
                continue
            problem = _string_problem(line)
            if problem is not None:
                return InputError(SEGMENT_MESSAGE, what=what, segment=segment, problem=problem)
    return InputError(str(error))


def _string_problem(line: object) -> str | None:
    """Why the core cannot take ``line``, or None if it can."""
    if not isinstance(line, str):
        return f"expected a string, got {quoted(line)}"
    if has_lone_surrogate(line):
        return f"not valid Unicode, it contains a lone surrogate: {quoted(line)}"
    return None
