"""The compiled core: counts, replicates, scores, tallies. The public API is :mod:`reshuffle`.

Arrays must be C-contiguous and of the dtypes given, and must not be changed by another thread during a call. Long calls
let go of the interpreter, raise what a signal handler raises (``KeyboardInterrupt``) within a tenth of a second or so,
and take ``threads=0`` for as many threads as there are cores. Errors are :class:`reshuffle.InputError`, and
``MemoryError`` if memory does not suffice.
"""

from collections.abc import Sequence
from typing import Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "GENERATOR",
    "LARGEST_SUM",
    "UNICODE_VERSION",
    "VERSION",
    "Counts",
    "Draws",
    "MaxT",
    "Metric",
    "MetricSpec",
    "MinP",
    "Moments",
    "OptionSpec",
    "Progress",
    "Ranks",
    "Reduction",
    "Resampler",
    "Sequential",
    "SequentialTally",
    "Series",
    "Spread",
    "StoppingRule",
    "Sums",
    "Tally",
    "TokenizerSpec",
    "broken_parse",
    "coin_law",
    "derive",
    "draw_many",
    "draw_weights",
    "metrics",
    "shuffle_many",
    "simd",
    "stream_indices",
    "stream_words",
    "tokenize",
    "tokenizers",
]

GENERATOR: Final[str]
"""The generator of the random words, as signatures name it."""

LARGEST_SUM: Final[int]
"""The largest sum of counts over segments, in absolute value, a power of two: larger ones are refused, so that nothing
wraps around in 64 bits."""

UNICODE_VERSION: Final[str]
"""The version of Unicode that ``intl`` and ``mteval-intl`` take their classes of characters from."""

VERSION: Final[str]
"""The version of the package."""

@final
class Progress:
    """How far a long call has come, to be read from another thread.

    >>> from reshuffle import Progress, compare
    >>> progress = Progress()
    >>> _ = compare(["a b", "c d"], [["a b", "c"], ["a", "c d"]], progress=progress)
    >>> progress.stage, progress.done == progress.total
    ('shuffling', True)

    """

    def __new__(cls) -> Progress: ...
    def begin(self, stage: str, total: int) -> None:
        """Start a stage. Long calls of the core do this themselves."""

    def update(self, done: int) -> None:
        """Say how many segments or replicates are done."""

    @property
    def stage(self) -> str:
        """What is being done: ``tokenizing``, ``counting``, ``shuffling`` or ``drawing``; empty at first."""

    @property
    def total(self) -> int:
        """How many segments or replicates the stage has."""

    @property
    def done(self) -> int:
        """How many of them are done."""

@final
class Metric:
    """A metric with its options. Wrapped by :class:`reshuffle.NativeMetric`."""

    def __new__(cls, name: str, options_given: dict[str, bool | int | float | str | None]) -> Metric: ...
    @staticmethod
    def mean(name: str, scale: float, higher_is_better: bool) -> Metric:
        """A mean over segments; a row is a number in units of 1/scale, and 1."""

    @property
    def name(self) -> str:
        """The name in tables and signatures."""

    @property
    def columns(self) -> list[str]:
        """What each of the K counts of a segment is."""

    @property
    def higher_is_better(self) -> bool:
        """Is a larger score a better one?"""

    @property
    def decimals(self) -> int | None:
        """The number of known decimals of a score, if counts are real numbers rounded to a unit; else None."""

    @property
    def signature(self) -> list[tuple[str, str]]:
        """The options that change a score."""

    @property
    def segment_signature(self) -> list[tuple[str, str]]:
        """The same for scores of segments."""

    def count(
        self,
        systems: Sequence[Sequence[str]],
        references: Sequence[Sequence[str | None]],
        *,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> NDArray[np.int64]:
        """Count k systems of S segments: (k, S, K)."""

    def scores(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of (R, K) summed counts: (R,)."""

    def segment_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of (S, K) segments, each by itself: (S,)."""

    def gradients(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """The derivatives of the scores of (R, K) summed counts with respect to each count: (R, K)."""

    def details(self, totals: NDArray[np.int64]) -> list[tuple[str, float]]:
        """The parts that make up the score of (K,) summed counts."""

@final
class OptionSpec:
    """What the registry knows of an option."""

    @property
    def name(self) -> str:
        """The argument's name."""

    @property
    def about(self) -> str:
        """One line for people."""

    @property
    def kind(self) -> str:
        """``flag``, ``integer``, ``real``, ``reals`` or ``choice``."""

    @property
    def minimum(self) -> float | None:
        """The smallest value of a number."""

    @property
    def maximum(self) -> float | None:
        """The largest value of a number."""

    @property
    def choices(self) -> list[str]:
        """The names of a choice."""

    @property
    def default(self) -> bool | int | float | str | None:
        """The value if none is given."""

@final
class MetricSpec:
    """What the registry knows of a metric."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def about(self) -> str:
        """One line for people."""

    @property
    def source(self) -> str:
        """Where it was defined: ACL id or DOI."""

    @property
    def of_parses(self) -> bool:
        """Does it read parses in CoNLL-U in the place of texts?"""

    @property
    def options(self) -> list[OptionSpec]:
        """Its options."""

@final
class TokenizerSpec:
    """What the registry knows of a tokenizer."""

    @property
    def name(self) -> str:
        """The name in options and signatures."""

    @property
    def about(self) -> str:
        """One line for people."""

def metrics() -> list[MetricSpec]:
    """Every metric there is."""

def tokenizers() -> list[TokenizerSpec]:
    """Every tokenizer there is."""

def broken_parse(blocks: Sequence[str]) -> tuple[int, int, str, str] | None:
    """The first block that is not CoNLL-U: its number from 0, the line in it from 1, what was expected, what came."""

def tokenize(lines: Sequence[str], tokenizer: str) -> list[list[str]]:
    """The tokens of each line."""

@final
class StoppingRule:
    """When a test needs no more shuffles. Wrapped by :mod:`reshuffle.stopping`."""

    @staticmethod
    def besag_clifford(exceedances: int) -> StoppingRule:
        """At the h-th exceedance."""

    @staticmethod
    def gandy(level: float, risk: float) -> StoppingRule:
        """As soon as the side of α on which p lies is decided with an error of at most ε."""

    def limits(self, n: int) -> NDArray[np.int64]:
        """The limits after the first n shuffles: (n, 2). A test stops at or below the first, at or above the second."""

@final
class Sequential:
    """Counts exceedances until a rule stops them, for tests on the same shuffles."""

    def __new__(cls, rule: StoppingRule, tests: int) -> Sequential: ...
    def look(self, reached: NDArray[np.bool_]) -> None:
        """Take the results of n more shuffles: (tests, n). Those of a test that has stopped are ignored.

        After ``KeyboardInterrupt`` some of them may have been taken.
        """

    @property
    def finished(self) -> bool:
        """Have all tests stopped?"""

    @property
    def outcomes(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
        """Shuffles looked at, exceedances among them, and whether the rule stopped the test: each (1, tests)."""

_Reduction = TypeVar("_Reduction", bound=Reduction)

@disjoint_base
class Reduction:
    """What is kept of replicates: a specification, and what a run made of it.

    Nothing can be asked of a specification but to be run, by :meth:`Resampler.run`, which returns another object.
    """

    @property
    def replicates(self) -> tuple[int, int]:
        """The numbers of the first replicate, and of the one behind the last."""

    def merge(self, later: Self) -> Self:
        """This and a reduction of the replicates that follow on these, of the same specification.

        The same bytes as what one run makes of all replicates, if the two ranges meet at a multiple of 64; elsewhere
        sums of floats may differ in their last bits.
        """

@final
class Tally(Reduction):
    """How many shuffles reach each threshold: an array of shape (metrics, pairs)."""

    def __new__(cls, pairs: Sequence[tuple[int, int]], alternative: str, thresholds: NDArray[np.float64]) -> Tally: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class SequentialTally(Reduction):
    """As :class:`Tally`, until a rule stops every test.

    What begins behind shuffle 0 keeps a bit for every test and shuffle: it has outcomes once it is merged with what
    comes before.
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str,
        thresholds: NDArray[np.float64],
        rule: StoppingRule,
    ) -> SequentialTally: ...
    @property
    def shuffles(self) -> NDArray[np.uint64]:
        """How many shuffles were looked at: (metrics, pairs)."""

    @property
    def exceedances(self) -> NDArray[np.uint64]:
        """How many of them reach the threshold: (metrics, pairs)."""

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Whether the rule stopped the test: (metrics, pairs)."""

@final
class Spread(Reduction):
    """The root mean square of score(x) − score(y) over the shuffles."""

    def __new__(cls, pairs: Sequence[tuple[int, int]]) -> Spread: ...
    @property
    def values(self) -> NDArray[np.float64]:
        """The root mean squares: (metrics, pairs)."""

@final
class MaxT(Reduction):
    """How many shuffles have, among a pair and the less extreme ones of its metric, one that reaches its threshold.

    Statistics are made comparable by ``scales``; all arrays have shape (metrics, pairs).
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str,
        scales: NDArray[np.float64],
        thresholds: NDArray[np.float64],
    ) -> MaxT: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class MinP(Reduction):
    """How many shuffles have, among a pair and the less significant ones of its metric, one of its rank or better.

    All arrays have shape (metrics, pairs); what was observed has the rank c + 1. Ranks are among all shuffles, so this
    is made by passes of its own, and cannot be merged: merge :class:`Series` in its place.
    """

    def __new__(
        cls,
        pairs: Sequence[tuple[int, int]],
        alternative: str,
        thresholds: NDArray[np.float64],
        ranks: NDArray[np.uint64],
    ) -> MinP: ...
    @property
    def counts(self) -> NDArray[np.uint64]:
        """The counts: (metrics, pairs)."""

@final
class Series(Reduction):
    """score(x) − score(y) of every shuffle."""

    def __new__(cls, pairs: Sequence[tuple[int, int]]) -> Series: ...
    @property
    def statistics(self) -> NDArray[np.float64]:
        """The statistics: (metrics, pairs, R). Not a copy, and not writeable."""

@final
class Draws(Reduction):
    """The score of every system on every draw."""

    def __new__(cls) -> Draws: ...
    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores: (systems of all metrics, R). Not a copy, and not writeable."""

@final
class Moments(Reduction):
    """Means and standard deviations of the systems' scores over the draws."""

    def __new__(cls) -> Moments: ...
    @property
    def means(self) -> NDArray[np.float64]:
        """The means: (systems of all metrics,)."""

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviations, by R − 1: (systems of all metrics,)."""

@final
class Ranks(Reduction):
    """How often each system has each rank among those of its metric."""

    def __new__(cls) -> Ranks: ...
    @property
    def counts(self) -> list[NDArray[np.uint64]]:
        """A (k, k) array for each metric: systems, ranks from the best; equals share the better one."""

@final
class Sums(Reduction):
    """The sums of every replicate, for a caller who scores them."""

    def __new__(cls) -> Sums: ...
    @property
    def sums(self) -> NDArray[np.int64]:
        """The sums: (R, cells), the k × K of each sample in turn. Not a copy, and not writeable.

        Of shuffles they are those over the swapped segments, less the sums of the first system.
        """

@final
class Counts:
    """Counts of systems: arrays of shape (n, S, K), checked once. It keeps the arrays, which must not be changed.

    For n problems of k systems each there are k arrays, one for each system. The k systems of one problem may also be
    one array, (k, S, K). Systems are numbered problem by problem.
    """

    def __new__(cls, arrays: Sequence[NDArray[np.int64]]) -> Counts: ...
    def __len__(self) -> int:
        """How many systems there are, in all problems."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """The sums over all segments: (systems, K)."""

    def differing(self, pairs: Sequence[tuple[int, int]], *, most: int) -> list[tuple[int, int | None, int]]:
        """For each pair the number of segments in which it differs, the column in which it does if that is but one, and
        how far apart the least and the largest sum of the differences there are, in units of their greatest common
        divisor.

        A pair that differs in several columns is looked at until ``most`` segments are passed.
        """

@final
class Resampler:
    """Counts of k systems under each of some metrics, packed and tabulated once; keeps no Python object.

    ``samples`` are metrics and their counts; without a metric only :class:`Sums` can be run. ``kind`` is
    ``shuffles`` or ``draws``; ``strata`` are the sizes of groups of segments that lie one after the other, from each of
    which as many are drawn as it has.
    """

    def __new__(
        cls,
        samples: Sequence[tuple[Metric | None, Counts]],
        *,
        kind: str = "shuffles",
        strata: Sequence[int] | None = None,
        threads: int = 0,
        progress: Progress | None = None,
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
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[_Reduction]:
        """What the reductions make of n replicates from ``first`` on, all in one pass.

        ``masks``, an (R, S) array that says which segments to swap, or ``indices``, one that says which to draw, takes
        the place of ``n`` and ``seed``. ``codes``, (S,), takes that of the seed: replicate g swaps the segments whose
        code has an odd number of bits in common with g.
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
    threads: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.uint64]:
    """How many of n shuffles of two systems reach the threshold, for each problem of a batch: (batch,).

    ``counts`` are two arrays of shape (batch, S, K), thresholds and seeds have shape (batch,). Each problem is what
    :class:`Tally` makes of it with its seed.
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

    ``counts`` are k arrays of shape (batch, S, K), seeds have shape (batch,). Each problem is what :class:`Draws` makes
    of it with its seed.
    """

def derive(seed: int, kind: str, index: int) -> int:
    """A seed for the ``index``-th of what has one of its own: ``test-set``, ``simulation``, ``run`` or ``restart``.

    It is a word of the seed's generator under a purpose of its own. Seeds that are derived from derived ones are others
    again.
    """

def coin_law(steps: NDArray[np.uint64], *, progress: Progress | None = None) -> NDArray[np.float64]:
    """The probabilities of all sums from 0 to Σ of those steps whose coins show heads: (Σ + 1,).

    Less than n·Σ/2 additions on one thread; each of the n steps adds a relative error of 2⁻⁵³ at most.
    """

def draw_weights(
    seed: int, replicate: int, segments: int, *, strata: Sequence[int] | None = None
) -> NDArray[np.uint32]:
    """How often a draw takes each of S segments: (S,), summing to S, and to its size in each of the ``strata``."""

def simd() -> str:
    """Which instructions are in use: ``portable``, ``avx2`` or ``avx512``. All give the same results.

    It is the best that the processor has, or what the environment variable ``RESHUFFLE_SIMD`` named at the first call
    of a function that takes long. A name that cannot be followed is an :class:`reshuffle.InputError` there and here.
    """

def stream_words(seed: int, purpose: str, replicate: int, n: int) -> NDArray[np.uint64]:
    """The first n random words of a replicate; ``purpose`` is ``shuffle``, ``draw`` or ``code``.

    Bit u % 64 of word u // 64 of a shuffle says whether segment u is swapped. Word u of replicate 0 of ``code`` is the
    code of segment u.
    """

def stream_indices(seed: int, replicate: int, bound: int, n: int) -> NDArray[np.uint32]:
    """The first n uniform indices below ``bound`` from the stream of a draw, 32 bits each, with Lemire's rejection."""
