"""The compiled core: counts, replicates, scores and tallies. The public API is :mod:`reshuffle`.

Arrays must be C-contiguous and have the annotated dtype, and no other thread may change them during a call. Long calls
release the interpreter and raise the exception of a signal handler (``KeyboardInterrupt``) within about 0.1 s.
``threads=0`` means one thread per core. Errors are :class:`reshuffle.InputError`, or ``MemoryError`` if there is not
enough memory.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "GENERATOR",
    "LARGEST_SUM",
    "UNICODE_VERSION",
    "VERSION",
    "Counts",
    "Cross",
    "Draws",
    "Experiment",
    "Feed",
    "Histograms",
    "MaxT",
    "Metric",
    "MetricSpec",
    "MinP",
    "Moments",
    "NBest",
    "OptionSpec",
    "PairCounts",
    "PermutedTally",
    "Progress",
    "Reduction",
    "Resampler",
    "SequentialTally",
    "Series",
    "Spread",
    "StoppingRule",
    "Studentized",
    "Sums",
    "Tally",
    "TokenizerSpec",
    "betting_wealth",
    "broken_parse",
    "common_ngrams",
    "count",
    "count_tokens",
    "derive",
    "draw_many",
    "draw_weights",
    "histograms",
    "load_numpy",
    "meta_calibrate",
    "meta_cell_counts",
    "meta_drawn",
    "meta_pair_counts",
    "meta_permuted",
    "meta_permuted_votes",
    "meta_soft_drawn",
    "meta_soft_permuted",
    "meta_soft_pvalues",
    "meta_soft_values",
    "meta_votes",
    "metrics",
    "permutations",
    "read_comet",
    "shuffle_many",
    "simd",
    "stream_indices",
    "stream_values",
    "subset_sum_distribution",
    "threads",
    "tokenize",
    "tokenizers",
    "tune_l1",
    "tune_line_search",
    "tune_mert",
    "tune_mira",
    "tune_oracle",
    "tune_pro",
    "tune_templates",
    "tune_xbleu",
    "tune_xbleu_objective",
    "votes_drawn",
    "votes_fit",
    "votes_groups",
]

GENERATOR: Final[str]
"""The name of the random number generator in signatures."""

LARGEST_SUM: Final[int]
"""The largest sum of counts over segments, in absolute value; a power of two. Larger sums are refused, so that 64-bit
integers never overflow."""

UNICODE_VERSION: Final[str]
"""The version of Unicode that defines the character classes of ``intl`` and ``mteval-intl``."""

VERSION: Final[str]
"""The version of the package."""

@final
class Progress:
    """The progress of a long call, which another thread may read.

    A call resets it, so that one object may serve several calls in turn.

    >>> from reshuffle import Progress, compare
    >>> progress = Progress()
    >>> _ = compare(["a b", "c d"], [["a b", "c"], ["a", "c d"]], progress=progress)
    >>> progress.stage, progress.done == progress.total, progress.fraction
    ('shuffling', True, 1.0)

    """

    def __new__(cls) -> Progress: ...
    def begin(self, stage: str, total: int) -> None:
        """Start a stage. Long calls of the core do this automatically. A stage of 0 items is preparation."""

    def update(self, done: int) -> None:
        """Set how many segments or replicates are done."""

    def plan(self, steps: Sequence[tuple[str, float, int]]) -> None:
        """Start a new job, and divide it into steps: name, cost in any unit, and number of stages.

        The stages of a step begin one after the other and have equal shares of it. The name of a step is the name of
        its stages, optionally followed by a space and more text, as in ``counting BLEU``. ``fraction`` jumps over steps
        that are skipped, and does not change during stages that were not planned.
        """

    def finish(self) -> None:
        """Report that the job is done."""

    @property
    def fraction(self) -> float:
        """The share of the job that is done, from 0 to 1, by costs estimated in advance. It never decreases."""

    @property
    def step(self) -> str:
        """The current step of the plan, or the stage if it was not planned."""

    @property
    def stage(self) -> str:
        """The current stage: ``tokenizing``, ``counting``, ``shuffling``, ``drawing``, ``permuting``, ``adjusting`` or
        ``calibrating``.

        Empty before the first.
        """

    @property
    def total(self) -> int:
        """The number of segments or replicates of the stage."""

    @property
    def done(self) -> int:
        """The number of segments or replicates of the stage that are done."""

@final
class Metric:
    """A metric with its options. Wrapped by :class:`reshuffle.NativeMetric`."""

    def __new__(
        cls,
        name: str,
        option_values: dict[str, bool | int | float | str | None],
        files: Sequence[tuple[str, str, Sequence[tuple[str, bytes]]]] = ...,
    ) -> Metric:
        """``files``: purpose, digest, and the names and contents of the files that serve this purpose."""

    @staticmethod
    def mean(name: str, scale: float, higher_is_better: bool) -> Metric:
        """A mean over segments. A row is a score in multiples of 1/scale, and 1."""

    @staticmethod
    def expression(name: str, text: str, columns: Sequence[tuple[str, float]], higher_is_better: bool) -> Metric:
        """A formula of some of these columns, with names and scales: sums are in multiples of 1/scale.

        Its :attr:`columns` are those that it uses.
        """

    @property
    def name(self) -> str:
        """The name in tables and signatures."""

    @property
    def columns(self) -> list[str]:
        """The names of the K counts of a segment."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is better."""

    @property
    def decimals(self) -> int | None:
        """The exact decimals of a score if counts are real numbers in fixed point; None if scores are exact."""

    @property
    def signature(self) -> list[tuple[str, str]]:
        """The options that change a score."""

    @property
    def segment_signature(self) -> list[tuple[str, str]]:
        """The options that change a segment score."""

    def scores(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of (R, K) summed counts: (R,)."""

    def segment_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each segment, from (S, K) counts: (S,)."""

    def gradients(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """The derivatives of the scores of (R, K) summed counts with respect to each sum: (R, K)."""

    def divides_by_zero(self, totals: NDArray[np.int64]) -> bool:
        """Whether the score of (K,) summed counts comes from a division by 0 in a formula as text."""

    def details(self, totals: NDArray[np.int64]) -> list[tuple[str, float]]:
        """The components of the score of (K,) summed counts, by name."""

def count(
    metrics: Sequence[Metric],
    systems: Sequence[Sequence[str]],
    references: Sequence[Sequence[str | None]],
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> list[NDArray[np.int64]]:
    """Count k systems of S segments by each metric: (k, S, K). What metrics have in common is counted once."""

def count_tokens(
    metric: Metric,
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    *,
    each_reference: bool = False,
    threads: int = 0,
) -> NDArray[np.int64]:
    """Count a system of S segments, given as lists of tokens: (S, K). Only for metrics that count n-gram matches.

    With ``each_reference``, a row for each reference, segment by segment.
    """

def common_ngrams(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], order: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The n-grams that each hypothesis and each of its references have in common: see :mod:`reshuffle.metrics.ngrams`.

    Returns their numbers, (order, P) for P references, and for each n-gram how often it matches and the row of its
    frequencies; then the frequencies.
    """

def read_comet(file: bytes) -> tuple[list[str], list[list[float]], dict[str, list[list[str]]]] | None:
    """Read a file of ``comet-score --to_json``: the N systems, S scores of each, and texts.

    Texts are lists of S strings for each system under the keys ``src``, ``mt`` and ``ref``, as far as the file has
    them; a list that is equal to that of the system before is the same object. None if the file has another form or a
    fault.
    """

@final
class NBest:
    """K-best lists of N sentences with K entries in all. Wrapped by :class:`reshuffle.tune.NBest`.

    Its arrays are views of the lists, which cannot be changed.
    """

    @staticmethod
    def read(path: str, name: str, *, dense: Sequence[str] | None = None, max_input: int) -> NBest:
        """Read a file, which may be compressed by gzip. Messages call it ``name``.

        ``dense`` are the dense features; a compressed file may have ``max_input`` bytes after decompression.
        """

    @staticmethod
    def parse(content: bytes, name: str, *, dense: Sequence[str] | None = None) -> NBest:
        """Read lists from the content of a file."""

    @staticmethod
    def of_texts(lists: Sequence[Sequence[str]]) -> NBest:
        """Lists of texts without features, with the ids 0, 1 … None may be empty."""

    @staticmethod
    def merged(lists: Sequence[NBest]) -> NBest:
        """Join lists of several decodes, without entries that have text and features of an earlier one."""

    def selected(self, entries: NDArray[np.int64]) -> NBest:
        """The lists of some entries, which are in increasing order."""

    def __len__(self) -> int:
        """The number K of entries."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """The id of each sentence, in increasing order: (N,)."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first entry of each sentence, and K: (N + 1,)."""

    @property
    def text_offsets(self) -> NDArray[np.int64]:
        """The first distinct hypothesis of each sentence, and their number: (N + 1,)."""

    @property
    def text_of(self) -> NDArray[np.int32]:
        """Which distinct hypothesis each entry has: (K,)."""

    @property
    def names(self) -> list[str]:
        """The F dense features."""

    @property
    def dense(self) -> NDArray[np.float64]:
        """The dense features of each entry: (K, F)."""

    @property
    def sparse_names(self) -> list[str]:
        """The sparse features."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """The first sparse value of each entry, and their number: (K + 1,)."""

    @property
    def indices(self) -> NDArray[np.int32]:
        """The features of sparse values, in increasing order within an entry."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Sparse values, none of which is 0."""

    @property
    def totals(self) -> NDArray[np.float64] | None:
        """The decoder's score of each entry, if the file has one: (K,)."""

    @property
    def n_columns(self) -> int:
        """The number of columns after the decoder's score, at most 2."""

    @property
    def varies(self) -> tuple[bool, bool]:
        """Whether the entries of some sentence differ in features, and in hypotheses."""

    def texts(self, numbers: NDArray[np.int64] | None) -> list[str]:
        """Distinct hypotheses; all of them by default."""

    def hypotheses(self, rows: NDArray[np.int64]) -> list[str]:
        """The hypotheses of entries."""

    def column(self, column: int, rows: NDArray[np.int64]) -> list[str]:
        """A column after the decoder's score, of entries; empty where a line lacks it."""

    def count(
        self,
        metric: Metric,
        references: Sequence[Sequence[str | None]],
        *,
        texts: Sequence[str] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> NDArray[np.int64]:
        """The counts of each entry: (K, T). ``texts`` replaces the distinct hypotheses, for example tokenized."""

    def utilities(
        self,
        metric: Metric,
        weights: NDArray[np.float64],
        *,
        texts: Sequence[str] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The agreement of each distinct hypothesis with the others of its sentence, and its score against itself.

        The agreement of hypothesis i is Σ_j weights[j]·u(i, j) over all distinct hypotheses j of its sentence but i,
        where u is the segment score of i with j as its only reference. ``texts`` is as for :meth:`count`.
        """

@final
class Studentized:
    """The studentized formula of a pair of systems. See :mod:`reshuffle.resampling.studentized` for the matrices."""

    def __new__(
        cls,
        metric: Metric,
        *,
        scale: float,
        projection: NDArray[np.float64],
        basis: NDArray[np.float64],
        contribution_squares: NDArray[np.float64],
        term_squares: NDArray[np.float64],
        stratum_terms: NDArray[np.float64],
        stratum_factors: NDArray[np.float64],
    ) -> Studentized: ...
    @property
    def metric(self) -> Metric:
        """The metric of rows that have the metric's counts and then the cross columns."""

    def parts(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[float, float, float]:
        """The difference of two systems' scores, its variance, and the sum of the squares that this is computed from.

        ``x`` and ``y`` are summed rows. The last two values are those of the difference times ``scale``.
        """

@final
class PairCounts:
    """The differences and sums of the (S, K) counts of two systems: what studentized statistics are prepared from."""

    def __new__(cls, a: NDArray[np.int64], b: NDArray[np.int64]) -> PairCounts: ...
    @property
    def probes(self) -> NDArray[np.int64]:
        """The totals at which :meth:`cross` needs the gradient: (n, K).

        First the mean totals, then these with the total of each differing column as large as swaps can make it, then as
        small.
        """

    def cross(
        self, gradients: NDArray[np.float64], *, sizes: Sequence[int], strata: NDArray[np.uint32] | None = None
    ) -> Cross:
        """The constants and cross columns, from the gradients at the probes, or only at the first of them.

        ``sizes`` are the numbers of units of the strata, and ``strata``, (S,), is the stratum of each unit if there are
        several.
        """

@final
class Cross:
    """The constants of two systems, and their cross columns. See :mod:`reshuffle.resampling.studentized`.

    There are m directions, p terms and n strata.
    """

    @property
    def constants(
        self,
    ) -> tuple[
        float,
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
    ]:
        """The fields of :class:`reshuffle.resampling.studentized.Constants`, in their order."""

    @property
    def follows_difference(self) -> bool:
        """Whether the variance of a shuffle depends only on its difference, and the statistic increases with it."""

    @property
    def contributions(self) -> NDArray[np.int64]:
        """The contributions of the units along each direction: (m, S)."""

    @property
    def terms(self) -> NDArray[np.int64]:
        """The columns that the sums of both systems' counts are reduced to: (p, S)."""

    def rows(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """The (S, K) counts of both systems, followed by the cross columns: (2, S, K + m·(p + n)).

        The second system has zeros in the cross columns. After swaps, the sum of the first system less that of the
        second is therefore Σ σ·e·w.
        """

@final
class OptionSpec:
    """The registry's description of an option."""

    @property
    def name(self) -> str:
        """The argument's name."""

    @property
    def about(self) -> str:
        """A one-line description."""

    @property
    def kind(self) -> str:
        """``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``choices`` or ``path``."""

    @property
    def minimum(self) -> float | None:
        """The smallest value, for a number."""

    @property
    def maximum(self) -> float | None:
        """The largest value, for a number."""

    @property
    def choices(self) -> list[str]:
        """The valid names, for a choice."""

    @property
    def default(self) -> bool | int | float | str | None:
        """The default value."""

@final
class MetricSpec:
    """The registry's description of a metric."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def about(self) -> str:
        """A one-line description."""

    @property
    def source(self) -> str:
        """Where it was defined: ACL id or DOI."""

    @property
    def reads_parses(self) -> bool:
        """Whether it reads parses in CoNLL-U instead of text."""

    @property
    def options(self) -> list[OptionSpec]:
        """Its options."""

@final
class TokenizerSpec:
    """The registry's description of a tokenizer."""

    @property
    def name(self) -> str:
        """The name in options and signatures."""

    @property
    def about(self) -> str:
        """A one-line description."""

def metrics() -> list[MetricSpec]:
    """All metrics, in the order of listings."""

def tokenizers() -> list[TokenizerSpec]:
    """All tokenizers, in the order of listings."""

def broken_parse(blocks: Sequence[str]) -> tuple[int, int, str, str] | None:
    """The first block that is not valid CoNLL-U: its index, its line (from 1), what was expected, what was found."""

def tokenize(lines: Sequence[str], tokenizer: str) -> list[list[str]]:
    """The tokens of each line."""

@final
class StoppingRule:
    """A rule for when a test needs no more shuffles. Wrapped by :mod:`reshuffle.stopping`."""

    @staticmethod
    def besag_clifford(exceedances: int) -> StoppingRule:
        """Stop at the h-th exceedance."""

    @staticmethod
    def gandy(level: float, risk: float) -> StoppingRule:
        """Stop once it is decided, with an error probability of at most ε, whether p lies above or below α."""

    def limits(self, n: int) -> NDArray[np.int64]:
        """The limits after each of n shuffles: (n, 2). Exceedances at or beyond a limit stop the test."""

_Reduction = TypeVar("_Reduction", bound=Reduction)

@disjoint_base
class Reduction:
    """A quantity computed from the replicates: a specification or, after a run, the result.

    :meth:`Resampler.run` takes specifications and returns results as new objects. Attributes of a specification raise
    :class:`reshuffle.InputError`.
    """

    @property
    def replicates(self) -> tuple[int, int]:
        """The number of the first replicate, and that of the last plus 1."""

    def merge(self, later: Self) -> Self:
        """Merge with the result for the replicates that follow these, under the same specification.

        If the two ranges meet at a multiple of 64, the result has the same bytes as one run over all replicates.
        Otherwise sums of floats may differ in their last bits.
        """

    def state(self) -> NDArray[np.uint64]:
        """What has been computed, without the specification, as one array that another process can merge.

        The numbers have no meaning of their own. Not for :class:`MinP` and :class:`SequentialTally`, which cannot be
        computed in parts by several processes.
        """

    def with_state(self, words: NDArray[np.uint64]) -> Self:
        """The result with this state, for a specification equal to the one that has computed it.

        Raises :class:`reshuffle.InputError` for words that are no such state.
        """

@final
class Feed:
    """Reductions of one metric that Python scores: they read its values block by block, in the order of the replicates.

    They all read the statistics of equally many pairs, or the scores of ``systems`` systems, in ``n`` replicates from
    the ``first`` one on. Not for :class:`MinP` and :class:`Sums`.
    """

    def __new__(cls, reductions: Sequence[Reduction], systems: int, *, n: int, first: int = 0) -> Feed: ...
    @property
    def active(self) -> list[int]:
        """The series (pairs or systems) of which any reduction needs more values: not of tests that have stopped."""

    def update(self, values: NDArray[np.float64], series: Sequence[int]) -> None:
        """Add the values of these series in the next replicates, one row for each.

        After ``KeyboardInterrupt`` some of the replicates may have been added.
        """

    def results(self) -> list[Any]:
        """The results, as :meth:`Resampler.run` returns them. Nothing can be added afterwards."""

@final
class Tally(Reduction):
    """The number of shuffles that reach each threshold. ``thresholds`` have shape (metrics, pairs).

    ``alternative`` is one for all metrics, or a list with that of each, here and for other reductions.
    """

    def __new__(
        cls, pairs: Sequence[tuple[int, int]], alternative: str | Sequence[str], thresholds: NDArray[np.float64]
    ) -> Tally: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class PermutedTally(Reduction):
    """The number of permutations in which two systems, or all, differ by a threshold. Only for permutations.

    ``thresholds`` have shape (metrics, pairs).
    """

    def __new__(cls, pairs: Sequence[tuple[int, int]], thresholds: NDArray[np.float64]) -> PermutedTally: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """Where |score(x) − score(y)| reaches the threshold of the pair: (metrics, pairs)."""

    @property
    def range_counts(self) -> NDArray[np.uint64]:
        """Where the range of the scores of all systems reaches the threshold of the pair: (metrics, pairs)."""

@final
class SequentialTally(Reduction):
    """As :class:`Tally`, but each test ends when a rule stops it.

    A result that does not begin with shuffle 0 stores a bit for every test and shuffle. It has no outcomes until the
    results before it have been merged with it.
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str | Sequence[str],
        thresholds: NDArray[np.float64],
        rule: StoppingRule,
        histograms: bool = False,
    ) -> SequentialTally: ...
    @property
    def outcomes(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
        """The shuffles examined, how many reach the threshold, and whether the rule stopped: (metrics, pairs)."""

    @property
    def histograms(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]] | None:
        """The histograms of the shuffles that each test used, as those of :class:`Histograms`; None without them.

        Tallies with histograms cannot be merged.
        """

@final
class Histograms(Reduction):
    """Histograms of score(x) − score(y), with 64 bins.

    ``of`` is the kind of replicates: ``shuffles``, ``half of shuffles`` (one of each pair of shuffles that swap
    complementary segments, so each statistic t also counts as −t), or ``permutations``. Infinite and undefined
    statistics are left out.
    """

    def __new__(cls, pairs: Sequence[tuple[int, int]], of: str = "shuffles") -> Histograms: ...
    @property
    def histograms(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """The lower end of the first bin and the width of the bins, (tests, 2), and the counts: (tests, 64).

        Tests are metric by metric, pair by pair. If all statistics are equal, the width is 0 and the first bin has all
        of them. The lower end is NaN for a test without finite statistics.
        """

@final
class Spread(Reduction):
    """The root mean square of score(x) − score(y) over the shuffles."""

    def __new__(cls, pairs: Sequence[tuple[int, int]]) -> Spread: ...
    @property
    def values(self) -> NDArray[np.float64]:
        """The root mean squares: (metrics, pairs)."""

@final
class MaxT(Reduction):
    """Step-down maxT: shuffles in which the test, or a less extreme one of its family, reaches its threshold.

    Statistics are multiplied by ``scales`` to make them comparable. All arrays have shape (metrics, pairs). Metrics
    with equal numbers in ``families`` are one family.
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str | Sequence[str],
        scales: NDArray[np.float64],
        thresholds: NDArray[np.float64],
        families: Sequence[int],
    ) -> MaxT: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class MinP(Reduction):
    """Step-down minP: shuffles in which the test, or a less significant one of its family, has its rank or better.

    All arrays have shape (metrics, pairs). ``thresholds`` are how extreme the observed statistics are, less the
    ``tolerances`` for rounding errors; shuffles at most two tolerances above the threshold are ties. The rank of the
    observed statistic is c + 1. Metrics with equal numbers in ``families`` are one family. Ranks are among all
    shuffles, so this takes separate passes and cannot be merged; merge :class:`Series` instead.
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str | Sequence[str],
        thresholds: NDArray[np.float64],
        tolerances: NDArray[np.float64],
        ranks: NDArray[np.uint64],
        families: Sequence[int],
    ) -> MinP: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class Series(Reduction):
    """The statistic score(x) − score(y) of every shuffle."""

    def __new__(cls, pairs: Sequence[tuple[int, int]]) -> Series: ...
    @property
    def statistics(self) -> NDArray[np.float64]:
        """The statistics: (metrics, pairs, R). A read-only view."""

@final
class Draws(Reduction):
    """The score of every system on every draw."""

    def __new__(cls) -> Draws: ...
    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores: (systems of all metrics, R). A read-only view."""

@final
class Moments(Reduction):
    """Means and standard deviations of the systems' scores over the draws."""

    def __new__(cls) -> Moments: ...
    @property
    def means(self) -> NDArray[np.float64]:
        """The means: (systems of all metrics,)."""

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviations, with divisor R − 1: (systems of all metrics,)."""

@final
class Sums(Reduction):
    """The sums of counts of every replicate, for callers that score them."""

    def __new__(cls) -> Sums: ...
    @property
    def sums(self) -> NDArray[np.int64]:
        """The sums: (R, cells), where cells are the k × K of each sample in turn. A read-only view.

        For shuffles, sums are over the swapped segments, minus the sums of the first system.
        """

@final
class Counts:
    """Counts of systems, checked once. Keeps a reference to the arrays, which must not be changed.

    For n problems of k systems each, ``arrays`` are k arrays of shape (n, S, K), one for each system. The k systems of
    a single problem may also be one array of shape (k, S, K). Systems are numbered problem by problem.
    """

    def __new__(cls, arrays: Sequence[NDArray[np.int64]]) -> Counts: ...
    def __len__(self) -> int:
        """The number of systems of all problems."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """The sums over all segments: (systems, K)."""

    def differing(self, pairs: Sequence[tuple[int, int]], *, most: int) -> list[tuple[int, int | None, int]]:
        """Where pairs of systems differ: (segments, column, span) for each pair.

        ``segments`` is the number of segments in which the two systems differ; for a pair that differs in several
        columns, counting stops after ``most`` + 1. ``column`` is the only column that differs, or None. ``span`` is the
        sum of the absolute differences in that column, divided by their greatest common divisor.
        """

@final
class Experiment:
    """Simulated test sets from populations of two systems, and whole tests on them. Keeps no Python object.

    A population is a list of samples, one for each metric, and the group of each unit or None, (U,). Samples are pairs
    of a metric, or None, and the counts of the two systems; scores need metrics. Simulation i uses population i mod P.
    ``sampling`` is replace, subset or fixed, ``size`` the number of units or groups to draw, or None for all, and
    ``swapped`` the probability of a swap in multiples of 2^-32. Results do not depend on the number of threads, and
    those of a range of simulations consist of those of its parts.
    """

    def __new__(
        cls,
        populations: Sequence[tuple[Sequence[tuple[Metric | None, Counts]], NDArray[np.uint32] | None]],
        *,
        sampling: str,
        size: int | None,
        swapped: int,
        seed: int,
        threads: int = 0,
    ) -> Experiment: ...
    def units(self, simulation: int) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """The units of a simulated test set, and in which of them the two systems are swapped: (n,) each."""

    def scores(self, *, n: int, first: int = 0, threads: int = 0) -> NDArray[np.float64]:
        """The scores of both systems on the simulated test sets first, …, first + n − 1: (metrics, n, 2)."""

    def error_parts(self, *, n: int, first: int = 0, threads: int = 0) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What the standard errors of the observed differences are computed from: (metrics, n, 3) and (metrics, n).

        The numbers are ``scale`` of the constants and the last two of :meth:`Studentized.parts`. The booleans say where
        shuffles have the same order by the difference, so that it is not studentized.
        """

    def exceedances(
        self,
        alternative: str | Sequence[str],
        thresholds: NDArray[np.float64],
        *,
        n_resamples: int,
        scheme: str = "iid",
        studentized: bool = False,
        first: int = 0,
        threads: int = 0,
    ) -> NDArray[np.uint64]:
        """How many shuffles of each simulated test set reach its threshold: (metrics, n) for (metrics, n) thresholds.

        ``scheme`` is iid, or subgroup for a group of ``n_resamples`` shuffles, a power of two, from random codes. With
        ``studentized``, differences are divided by their standard errors, except where :meth:`error_parts` says that
        they are not.
        """

    def sequential(
        self,
        alternative: str | Sequence[str],
        thresholds: NDArray[np.float64],
        rule: StoppingRule,
        *,
        n_resamples: int,
        studentized: bool = False,
        first: int = 0,
        threads: int = 0,
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
        """Independent shuffles of each simulated test set until a rule stops its test: (metrics, n) each.

        The shuffles examined, the exceedances among them, and whether the rule stopped the test.
        """

    def draws(
        self,
        *,
        n_resamples: int,
        n: int,
        first: int = 0,
        weight_sets: int | None = None,
        threads: int = 0,
    ) -> NDArray[np.float64]:
        """The scores of both systems on draws of each simulated test set: (metrics, n, 2, R).

        With ``weight_sets`` W, simulation i has the draws of the seed of simulation i mod W.
        """

@final
class Resampler:
    """Counts of k systems under one or several metrics, packed once for any number of runs. Keeps no Python object.

    ``samples`` are metrics and their counts; without a metric only :class:`Sums` can be run. ``kind`` is ``shuffles``,
    ``draws`` or ``permutations``. ``strata`` are the sizes of consecutive groups of segments; a draw takes as many
    segments from each group as it has.
    """

    def __new__(
        cls,
        samples: Sequence[tuple[Metric | None, Counts]],
        *,
        kind: str = "shuffles",
        strata: Sequence[int] | None = None,
        threads: int = 0,
    ) -> Resampler: ...
    def run(
        self,
        reductions: Sequence[_Reduction],
        *,
        n: int,
        seed: int = 0,
        first: int = 0,
        masks: NDArray[np.bool_] | None = None,
        codes: NDArray[np.uint64] | None = None,
        indices: NDArray[np.uint32] | None = None,
        exchange: tuple[str, int] | tuple[str, int, int] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[_Reduction]:
        """Run the reductions on n replicates from number ``first`` on, all in one pass.

        ``masks``, an (R, S) array of the segments to swap, or ``indices``, an (R, width) array of the segments to draw,
        replace ``n`` and ``seed``. ``codes``, (S,), replace the seed: replicate g swaps the segments whose code has an
        odd number of bits in common with g.

        ``exchange`` is how the outputs of two systems with several runs each are exchanged within a segment:
        ``("pooled", n, m)`` for systems with n and m runs, or ``("multeval", n)`` for two with n. The units of the
        Resampler are then in the order group of 64 segments, row, segment; units without a segment have zeros.
        :mod:`reshuffle.resampling.run_exchange` brings rows into that order. Let L be :func:`permutations` of the
        replicate in S segments, with as many systems as there are labels.

        - ``pooled``: n + m labels and rows. Row l is the l-th output, those of the first system before those of the
          second. It is swapped in segment s if one of l and L[s, l] is below n and the other is not.
        - ``multeval``: n labels and 2n rows. Coin j of segment s is bit s % 64 of value (s // 64)·n + j of
          :func:`stream_values` for ``shuffle``. Row L[s, j] is swapped if coin j is 1; row n + j, if coin L[s, j] is.
        """

    @property
    def totals(self) -> list[NDArray[np.int64]]:
        """The sums over all segments: (k, K) for each sample."""

    @property
    def scores(self) -> list[NDArray[np.float64]] | None:
        """The scores of these sums: (k,) for each sample; None if one has no metric."""

def shuffle_many(
    metric: Metric,
    counts: Counts,
    alternative: str,
    thresholds: NDArray[np.float64],
    *,
    n: int,
    seeds: NDArray[np.uint64],
    scheme: str = "iid",
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.uint64]:
    """The number of n shuffles of two systems that reach the threshold, for each problem of a batch: (batch,).

    ``counts`` are two arrays of shape (batch, S, K); ``thresholds`` and ``seeds`` have shape (batch,). The result of a
    problem is that of a :class:`Tally` with its seed; with the scheme subgroup, with random codes from its seed.
    """

def histograms(
    scores: NDArray[np.float64],
    systems: Sequence[int],
    minus: Sequence[int] | None,
    centres: NDArray[np.float64],
    *,
    threads: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """The histograms of score(x) − score(y) − centre on R replicates, as :attr:`Histograms.histograms`: (n, …).

    ``scores`` has shape (k, R), ``systems`` and ``minus`` are the n systems x and y, and ``centres`` has shape (n,).
    ``minus=None`` is for the scores of single systems.
    """

def draw_many(
    metric: Metric,
    counts: Counts,
    *,
    n: int,
    seeds: NDArray[np.uint64],
    strata: Sequence[int] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """The scores of k systems on n draws, for each problem of a batch: (batch, k, n).

    ``counts`` are k arrays of shape (batch, S, K); ``seeds`` have shape (batch,). The result of a problem is that of
    :class:`Draws` with its seed.
    """

def meta_permuted(
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    statistics: Sequence[tuple[str, str]],
    unit: str,
    pairs: NDArray[np.int64],
    *,
    n: int,
    seed: int,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """The differences value(A') − value(B') of metrics whose scores are swapped at random: (statistics, P, n).

    ``scores`` has shape (M, N, S) for M metrics, N systems and S segments, ``human`` (N, S), and ``pairs`` (P, 2). NaN
    is a gap; a cell is used if all metrics and people have it. Scores are swapped as they are: the caller standardizes
    them. A statistic is a grouping and a coefficient. Groupings: ``none`` (all cells), ``sys`` and ``item`` (the mean
    over systems or segments for which the coefficient is defined), ``system`` (the means of systems). Coefficients:
    ``pearson``, ``spearman``, ``kendall-b``, ``kendall-c``, ``accuracy`` (of the pairs that people order, the share
    that the metric orders alike), and, not for ``system``, ``acc23`` and ``tau23``, whose ties are calibrated in each
    replicate. NaN where a value is undefined.

    ``unit`` is ``both`` (cell (i, s) is swapped if bit i·S + s of the replicate's stream ``shuffle`` is set),
    ``inputs`` (segment s, by bit s) or ``systems`` (system i, by bit i).

    Takes O(cells) per metric and replicate for Pearson's r and system scores. Other coefficients take, per pair and
    replicate, O(n log n) for a group of n cells, for few cells less; the calibration O(pairs of cells), of which there
    may be 2²⁴. Groups are sorted again for every call and 4,096 replicates, so batches should not be small.
    """

def meta_permuted_votes(
    scores: NDArray[np.float64],
    segment: NDArray[np.int64],
    better: NDArray[np.int64],
    worse: NDArray[np.int64],
    votes: NDArray[np.int64],
    ties: str,
    unit: str,
    pairs: NDArray[np.int64],
    *,
    n: int,
    seed: int,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """As :func:`meta_permuted` for Kendall's τ from people's votes: (P, n).

    Vote j says ``votes[j]`` times that on segment ``segment[j]`` the system ``better[j]`` is better than ``worse[j]``;
    it is left out if a metric has not scored both. ``ties`` is ``half``, ``denominator`` (the same), ``discordant`` or
    ``ignore``.
    """

def meta_drawn(
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    statistics: Sequence[tuple[str, str]],
    unit: str,
    *,
    n: int,
    seed: int,
    first: int = 0,
    copies: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """The coefficients of each metric on systems and segments drawn with replacement: (statistics, M, n).

    Arguments as for :func:`meta_permuted`, except that each metric's cells are those that it and people have. ``unit``
    is ``both``, ``inputs`` or ``systems``: what is drawn. All S segments of the matrix are drawn from, by
    :func:`draw_weights`; systems by N :func:`stream_indices` for ``selection``. ``copies``, of shapes (first + n, N)
    and (first + n, S), replace them.

    A cell has as many copies as its system times its segment. Copies of one cell are not compared with each other, as
    pairs; for variant c they count as points. The mean over groups counts a group as often as its system or segment is
    drawn. NaN where a value is undefined, as in a draw of equal scores.
    """

def derive(seed: int, kind: str, index: int) -> int:
    """A seed for the ``index``-th test set, simulation, run or restart.

    ``kind`` is ``test-set``, ``simulation``, ``run`` or ``restart``. Derived seeds may be derived from again.
    """

def betting_wealth(
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    looks: Sequence[int],
    *,
    largest: bool = True,
    threads: int = 0,
) -> NDArray[np.float64]:
    """The log wealth at each look of bets against each mean, or the ``largest`` one up to it: (means, looks).

    Values and means are in [−1, 1]; looks are numbers of values, increasing from 1. Takes a division and some ten
    multiplications for each value and mean. See :mod:`reshuffle.inference.sequential`.
    """

def votes_fit(
    systems: int, pairs: NDArray[np.uint32], cells: NDArray[np.float64], position: bool
) -> NDArray[np.float64] | None:
    """Strengths, the logarithm of the parameter of ties, and the advantage of the first: (systems + 2,).

    ``cells`` has the votes for the first, the ties and the votes for the second of each pair, (3P,). None if no fit is
    finite, and NaN if there is one, but Newton's method did not find it. See :mod:`reshuffle.resampling.votes`.
    """

def votes_groups(systems: int, pairs: NDArray[np.uint32], cells: NDArray[np.float64]) -> list[int]:
    """The smallest system of each system's group: a way of wins and ties leads from each to each of its group."""

def votes_drawn(
    systems: int,
    pairs: NDArray[np.uint32],
    position: bool,
    starts: NDArray[np.uint64],
    cells: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    start: NDArray[np.float64],
    added: NDArray[np.float64],
    always: bool,
    *,
    n: int,
    seed: int,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The fits of draws, (n, systems + 2), and which of them had no finite fit without the votes ``added``.

    Unit u has ``counts[i]`` votes in the cell ``cells[i]``, for i from ``starts[u]`` to ``starts[u + 1]`` − 1. The
    votes ``added`` are ``always`` added, or only to draws without a finite fit. ``start`` is the fit of all votes.
    """

def subset_sum_distribution(steps: NDArray[np.uint64], *, progress: Progress | None = None) -> NDArray[np.float64]:
    """The distribution of the sum of a random subset of steps, each included with probability ½: (Σ + 1,).

    Element j is the probability that the sum is j; Σ is the sum of all n steps. Takes less than n·Σ/2 additions on one
    thread. Each step adds a relative error of at most 2⁻⁵³.
    """

def permutations(seed: int, replicate: int, systems: int, segments: int) -> NDArray[np.uint16]:
    """The permutation of k systems in each of S segments: (S, k). Position i has the output of system ``[s, i]``."""

def draw_weights(
    seed: int, replicate: int, segments: int, *, strata: Sequence[int] | None = None
) -> NDArray[np.uint32]:
    """How often a draw takes each of S segments: (S,). Sums to S, and within each of the ``strata`` to its size."""

def load_numpy() -> None:
    """Load what makes and takes arrays, which the first array would load otherwise.

    That runs Python code. If a signal handler raised an exception there (``KeyboardInterrupt``), the first call would
    panic.
    """

def simd() -> str:
    """The vector instructions in use: ``portable``, ``avx2`` or ``avx512``. All give the same results.

    The best that the processor supports, or the choice of the environment variable ``RESHUFFLE_SIMD`` at the first long
    call. If the variable is invalid, this function and all long calls raise :class:`reshuffle.InputError`.
    """

def threads() -> int:
    """The number of threads that ``threads=0`` stands for: as many as the scheduler and control groups allow."""

def meta_votes(
    scores: NDArray[np.float64],
    segment: NDArray[np.int64],
    better: NDArray[np.int64],
    worse: NDArray[np.int64],
    votes: NDArray[np.int64],
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """The votes of people that metrics agree with: (metrics, segments, 4).

    ``scores`` has the shape (metrics, systems, segments), higher is better, and NaN is a gap. Each of the J judgments
    has a segment, the system that people found better, the worse one (all counted from 0), and how many votes it has.
    The columns of the result sum the votes with which the metric agrees, disagrees, has a tie, and has no score for one
    of the outputs.
    """

def meta_pair_counts(
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    grouping: str,
    *,
    epsilons: NDArray[np.float64] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of pairs of outputs, (metrics, groups, 5), and sizes of groups, (metrics, groups, 3).

    ``scores`` has the shape (metrics, systems, segments) and ``human`` (systems, segments); NaN is a gap. The groups
    are all cells (``none``), the segments of each system (``sys``) or the systems on each segment (``item``). Pairs are
    formed within a group from the cells that the metric and people have scored. The five counts are pairs that are
    concordant, discordant, tied only in the metric, tied only by people, and tied in both. A metric has a tie if its
    scores differ by at most its ``epsilon`` (0 by default). The sizes are the number of cells, and of different scores
    of the metric and of people.

    Long groups take O(n log n) time for n cells.
    """

def meta_cell_counts(
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    grouping: str,
    epsilons: NDArray[np.float64],
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """The counts of :func:`meta_pair_counts` of the pairs that each cell forms with the others of its group.

    Shape (metrics, systems * segments, 5); 0 for gaps. Takes n² comparisons for a group of n cells.
    """

def meta_calibrate(
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    grouping: str,
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Tie calibration: ε of each metric, (metrics,), and the counts of :func:`meta_pair_counts` with it.

    Of 0 and all differences of two scores of a metric within a group, ε is the one with the highest accuracy: the share
    of pairs that are concordant or tied in both, averaged over the groups with at least one pair. Among equals it is
    the smallest; NaN if there is no pair. The same ε is best for 2 · accuracy − 1 (τ23). Source: 2023.emnlp-main.798,
    section 4.

    All pairs are used, in O(P) time for P pairs and memory for the cells only. Accuracies are compared exactly if all
    groups have equally many pairs, and otherwise to about 100 binary places.
    """

def stream_values(seed: int, purpose: str, replicate: int, n: int) -> NDArray[np.uint64]:
    """The first n random 64-bit values of a replicate; ``purpose`` is ``shuffle``, ``draw``, ``code``, ``permutation``,
    ``selection``, ``assignment``, ``visit`` or ``pairs``.

    For ``shuffle``, segment u is swapped if bit u % 64 of value u // 64 is set. For ``code``, value u of replicate 0 is
    the code of segment u.
    """

def stream_indices(seed: int, replicate: int, bound: int, n: int, *, purpose: str = "draw") -> NDArray[np.uint32]:
    """The first n uniform indices below ``bound`` from the stream of a draw, by Lemire's method with 32 bits each."""

def meta_soft_drawn(
    people: tuple[Metric, NDArray[np.int64], bool, bool],
    metrics: Sequence[tuple[Metric, NDArray[np.int64], bool, bool]],
    unit: str,
    *,
    n: int,
    seed: int,
    permutations: int,
    inner_seed: int,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """The soft pairwise accuracies of metrics on draws ``first`` to ``first + n - 1``: (metrics, n).

    People and metrics are a formula each, the counts of N systems on S segments, (N, S, K), whether lower scores are
    better, and whether a score is a ratio of two counts, not defined where the second sums to 0. ``unit`` is what is
    drawn with replacement: ``inputs`` (segments), ``systems`` or ``both``. Every draw computes p-values of all pairs of
    systems from the same permutations: drawn segment number s, counted from 0 in ascending order, is swapped in
    permutation k if bit s of the shuffle k of ``inner_seed`` is set. Pairs of copies of a system are left out. NaN
    where a system has no score, or all drawn systems are the same. Source: 2024.wmt-1.118.

    A draw takes N·S·K·(permutations + 256)/8 additions for each metric, and permutations·N² scores.
    """

def meta_soft_pvalues(
    people: tuple[Metric, NDArray[np.int64], bool, bool],
    metrics: Sequence[tuple[Metric, NDArray[np.int64], bool, bool]],
    segments: NDArray[np.uint32],
    *,
    permutations: int,
    inner_seed: int,
    threads: int = 0,
) -> NDArray[np.float64]:
    """One-sided p-values that the first system of a pair is better: people and metrics in rows, pairs x < y in columns.

    People and metrics as for :func:`meta_soft_drawn`. Of the metrics' segments only these count; people's counts are
    those of these segments. Number s of them is swapped in permutation k if bit s of the shuffle k of ``inner_seed`` is
    set. p = (c + 1)/(permutations + 1), ties included. NaN where a system has no score.

    Takes N·S·K·(permutations + 256)/8 additions for each metric, and permutations·N² scores for formulas other than the
    mean of scores that all systems have.
    """

def meta_soft_values(
    scores: NDArray[np.float64],
    people: NDArray[np.float64],
    segments: NDArray[np.uint32],
    *,
    permutations: int,
    inner_seed: int,
    threads: int = 0,
) -> NDArray[np.float64]:
    """The soft pairwise accuracies of metrics by means of their scores: (metrics,).

    ``scores`` has the shape (metrics, N, S), higher is better, and must not have gaps on the ``segments`` that are
    used. ``people`` are p-values of all pairs x < y of systems, (N·(N − 1)/2,), with the alternative that x is better.
    """

def meta_soft_permuted(
    scores: NDArray[np.float64],
    people: NDArray[np.float64],
    segments: NDArray[np.uint32],
    unit: str,
    pairs: NDArray[np.int64],
    *,
    n: int,
    seed: int,
    permutations: int,
    inner_seed: int,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Differences between the soft pairwise accuracies of pairs of metrics after swaps of their scores: (pairs, n).

    Arguments as for :func:`meta_soft_values`. Replicate r swaps cells (``both``), segments (``inputs``) or systems by
    the bits of the shuffle r of ``seed``, as :func:`meta_permuted` does, and computes all p-values again with the same
    inner permutations.
    """

def tune_line_search(
    offsets: NDArray[np.int64],
    features: NDArray[np.float64],
    counts: NDArray[np.int64],
    metric: Metric,
    weights: NDArray[np.float64],
    directions: NDArray[np.float64],
    *,
    margin: float = 0.1,
    min_width: float = 1e-9,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """The best part of each line ``weights + x * direction``: positions, scores, intervals, corners, scores at 0.

    List i holds the entries ``offsets[i]`` to ``offsets[i + 1] - 1``. ``features`` has a row of F numbers for every
    entry, ``counts`` a row of counts of the metric, ``directions`` a row of F numbers for each of D lines. The weights
    pick the entry of largest feature score from every list, and the metric's score changes only where another entry
    is picked from some list: at *corners*, the places x where two neighbours of an upper envelope cross. The first of
    several equal entries wins, also in the scores at 0.

    The best part is the interval between two neighbouring corners with the best score that is wider than ``min_width``.
    Of equally good ones it is the one that contains 0, otherwise the first. Its position is 0 if it contains 0,
    otherwise its midpoint, or ``margin`` outside the last corner if it has only one end. Its ends do not belong to it:
    where 0 is one of them, two entries are equally good at 0, and the position is inside the interval. Positions,
    scores and scores at 0 have the shape (D,), the intervals (D, 2); the numbers of different corners (D,) are
    integers. Weights need not be normalized. Other tools differ at the edges: Moses goes 1000 to the left of the first
    corner, and takes corners that are less than 1e-4 apart for one.

    A line takes about 2·K·F operations for K entries, and a score for every corner. Source: P03-1021.
    """

def tune_mert(
    offsets: NDArray[np.int64],
    features: NDArray[np.float64],
    counts: NDArray[np.int64],
    metric: Metric,
    *,
    start: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    seeds: Sequence[int],
    preset: str = "both",
    restarts: int | None = None,
    random_directions: int | None = None,
    margin: float = 0.1,
    min_width: float = 1e-9,
    max_steps: int = 1000,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Minimum error rate training, once for each seed: weights, scores, chosen starts, scores of starts, steps.

    Arrays as for :func:`tune_line_search`, and R seeds. A search begins at ``start``, or at weights drawn uniformly
    between ``low`` and ``high``. From there it searches all axes and some random directions, moves to the best part of
    all these lines, and repeats that until no line has a better score, or ``max_steps`` times. The elements of a random
    direction are drawn uniformly between -1 and 1, then scaled to Euclidean length 1; every step draws new ones.
    Weights are divided by the sum of their absolute values, at the start and after every step. The best end of all
    searches wins, the first one of several.

    The preset ``moses`` has 20 restarts and no random directions, ``cdec`` no restarts and 5 random directions, and
    ``both`` has both; ``restarts`` and ``random_directions`` replace its numbers. Start s of a seed, where 0 is the
    given one, takes its random numbers from part s of replicate 0 of the seed's stream, so that a run depends on its
    seed alone.

    Returns the weights (R, F), their scores (R,), the numbers of the starts that led there (R,), the scores at the
    start and at the end of every search (R, starts, 2), and its numbers of steps (R, starts). A step takes a line
    search for every direction. Sources: P03-1021, doi:10.2478/v10108-009-0003-2.
    """

def tune_oracle(
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    metric: Metric,
    starts: NDArray[np.int64],
    *,
    worst: bool = False,
    random_starts: int = 0,
    seed: int = 12345,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The entries with the best corpus score that a search finds, or with the worst.

    ``offsets`` has the first of the K entries of each of the N lists, and K, (N + 1,). ``counts`` are those of each
    entry, (K, T), and ``starts`` choices of an entry for each list, (M, N). A random start takes the lists in random
    order (that of epoch r in :func:`tune_mira`, for random start r), and chooses for each of them the entry with which
    the lists so far have the best score. From each start the search moves to the entries with the largest product of
    counts and derivatives of the score, as long as the score improves, and then replaces the entry of one list after
    another by the best one until nothing improves the score.

    Returns the entries (N,), and the scores at the start and at the end of every search (M + random_starts, 2).
    """

def tune_l1(
    offsets: NDArray[np.int64],
    dense: NDArray[np.float64],
    sparse: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int] | None,
    targets: NDArray[np.int64],
    *,
    gamma: float,
    per_step: list[int],
    limit: int | None = None,
    tolerance: float = 1e-4,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], list[int], list[tuple[int, int, float, float, float, int]], tuple[float, float]]:
    """Minimize the loss plus ``gamma`` · ‖w‖₁ by grafting. See :func:`reshuffle.tune.fit_l1`.

    The loss is −Σ ln p(target). ``offsets`` has the first of the K candidates of each of the N lists, and K, (N + 1,).
    ``dense`` has the shape (K, D). ``sparse`` has the limits of rows (K + 1,), features, values and the number S of
    features. ``targets`` are numbers within their lists, from 0. Arrays may be mapped files: they are read in passes.

    Step i adds at most ``per_step[i]`` features; the last number holds for
    all later steps. The result has the weights (D + S,), the features in the order of their selection, the steps
    (selected, not zero, steepest derivative, loss, objective, Newton steps), and the largest violations of the
    conditions of the optimum among the selected features and among the others.
    """

def tune_templates(
    offsets: NDArray[np.int64],
    hypotheses: list[str],
    templates: list[str],
    *,
    sources: list[str] | None = None,
    segmentations: list[str] | None = None,
    edges: bool = False,
    minimum: int = 1,
    known: list[str] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], list[str]]:
    """Sparse features from templates: limits of rows, features, values, and names.

    See :func:`reshuffle.tune.template_features`.
    """

def tune_mira(
    metric: Metric,
    offsets: NDArray[np.int64],
    dense: NDArray[np.float64],
    sparse: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int] | None,
    counts: NDArray[np.int64],
    gains: NDArray[np.float64] | None,
    *,
    initial: NDArray[np.float64],
    seeds: Sequence[int],
    epochs: int = 60,
    c: float = 0.01,
    decay: float = 0.999,
    background: str = "hope",
    safe_hope: bool = False,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Batch MIRA, once for each seed: weights (runs, F) and the corpus score of the mean weights (runs, epochs).

    ``offsets`` says where the list of each sentence begins, and where the last one ends; ``dense`` has the features of
    each candidate, ``sparse`` where the sparse features of each candidate begin, their numbers and values, and how many
    there are. Weights are those of the dense features, then those of the sparse ones. ``counts`` are those of
    ``metric``. Without ``gains`` it has to be BLEU. In epoch e, the sentences are put in order by Fisher and Yates'
    shuffle with the values of replicate e of the stream ``visit``.
    """

def tune_pro(
    offsets: NDArray[np.int64],
    dense: NDArray[np.float64],
    sparse: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int] | None,
    scores: NDArray[np.float64],
    *,
    seeds: Sequence[int],
    samples: int | None = ...,
    threshold: float = 0.05,
    kept: int | None = ...,
    penalty: float = 1.0,
    tolerance: float = 1e-8,
    iterations: int = 100,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairwise ranking, once for each seed: weights (runs, F), and (runs, 4) pairs, loss, length of gradient, steps.

    Lists and features are as for :func:`tune_mira`. The pairs of sentence i are drawn with the indices of replicate i
    of the stream ``pairs``.
    """

def tune_xbleu(
    offsets: NDArray[np.int64],
    dense: NDArray[np.float64],
    sparse: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int] | None,
    scores: NDArray[np.float64],
    lengths: NDArray[np.float64],
    *,
    initial: NDArray[np.float64],
    seeds: Sequence[int],
    penalty: float = 10.0,
    epochs: int = 30,
    rate: float = 0.1,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected sentence scores by stochastic gradient descent, once for each seed: weights (runs, F), and the objective
    at the start and after each epoch (runs, epochs + 1).

    Lists and features are as for :func:`tune_mira`, and so is the order of the sentences.
    """

def tune_xbleu_objective(
    offsets: NDArray[np.int64],
    dense: NDArray[np.float64],
    sparse: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int] | None,
    scores: NDArray[np.float64],
    lengths: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    penalty: float = 10.0,
    threads: int = 0,
) -> tuple[float, NDArray[np.float64]]:
    """The objective of :func:`tune_xbleu` and its derivative."""
