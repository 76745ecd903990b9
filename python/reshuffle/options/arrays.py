"""The options of tests, intervals and standard errors of arrays."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Union

from annotated_types import Ge, Gt, Le, Lt
from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from ..validate import MAX_RESAMPLES, check_n_resamples
from .declare import Check, Kind, Options
from .groups import PYTHON, Progress, Threads, Working
from .inputs import IdsOfDocuments, IdsOfStrata

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..metrics.base import MetricLike
    from ..resampling.stopping import AnyRule
    from ..resampling.supplied import Blocks

ARRAYS = Kind("(S, K) array_like of int, or (S,) array_like of float")
AnyArray = Annotated[
    "ArrayLike",
    PYTHON,
    ARRAYS,
    Doc(
        """The counts of each segment, as :meth:`reshuffle.NativeMetric.suff_stats` returns them, or one score for each
        segment, from any metric or human rater. Arrays of shape (batch, S, K), or (batch, S) of floats, are a batch of
        problems, which are computed in one call with the same results as in separate calls."""
    ),
]
AnyMetric = Annotated[
    "MetricLike | None",
    PYTHON,
    Kind("str, Metric or callable, optional"),
    Doc(
        """Scores summed counts. A callable maps an integer array of shape (…, K) to scores of shape (…). Leave it out
        for segment scores: their means are compared in exact fixed-point arithmetic, with a resolution that all
        arrays share (:class:`~reshuffle.SegmentScores`)."""
    ),
]
Number = Annotated[int | None, Ge(1), Le(MAX_RESAMPLES)]
Draws = Annotated[
    Number,
    Doc(
        """R, the number of draws, 10,000 by default. With D documents, D documents are drawn, so draws differ in their
        number of segments; a metric must not divide by a fixed number of segments."""
    ),
]
Masks = Annotated["Blocks | None", PYTHON, Kind("(R, S) array_like of bool, or iterable of such blocks, optional")]
Indices = Annotated[
    "Blocks | None",
    PYTHON,
    Kind("(R, n) array_like of int, or iterable of such blocks, optional"),
    Doc(
        """The draws of another program, instead of ``n_resamples`` and ``seed``: draw b takes the segments
        ``indices[b]``, from 0 to S − 1. n is usually S. If an iterator yields blocks of rows, they are never all in
        memory. All problems of a batch share the draws."""
    ),
]
TieRule = Annotated[types.Ties | str, Kind(noun="tie rule")]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class OfArrays(Working):
    """The units of arrays, and their replicates."""

    TITLE: ClassVar[str] = "Resampling"
    documents: IdsOfDocuments = None
    """The document id of each segment. Segments of a document need not be adjacent. Counts are summed over each
    document before resampling.
    """
    strata: IdsOfStrata = None
    """The stratum id of each segment; segments of a stratum need not be adjacent. A stratum is a part of the test set
    whose size was fixed by design. Each draw takes as many segments (or documents) from a stratum as it has. All
    segments of a document must be in the same stratum.
    """
    n_resamples: Annotated[int | Literal["auto"] | None, Check(check_n_resamples), Kind("int or 'auto', optional")] = (
        None
    )
    """R, the number of draws, or of shuffles for ``ar-studentized``, 10,000 by default; ``delta``, ``jackknife`` and
    ``t`` use neither. ``auto`` stands for 40/(1 − ``confidence_level``) − 1, so that about 20 draws lie beyond each
    end, but at least 10,000 and at most a million.
    """
    seed: Annotated["int | ArrayLike | None", PYTHON, Kind("int, or (batch,) array_like of int, optional")] = None
    """The same seed gives the same result. From 0 to 2⁶⁴ − 1; None is 12345. The result is also the same on another
    machine, and with another number of workers. For a batch, one seed for all problems or one for each.
    """
    workers: Threads = None
    progress: Progress = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Alternative(Options):
    """The alternative hypothesis."""

    alternative: types.Alternative | str = "two-sided"
    """``greater``: the alternative hypothesis is that a scores higher than b. ``better``: that a is better than b,
    which depends on the metric; it needs the name of a metric or a :class:`~reshuffle.Metric`.
    """


@frozen(slots=False, eq=False, repr=False)
class TwoSystems(Options):
    """The systems that are tested."""

    a: AnyArray = field(kw_only=False)
    b: AnyArray = field(kw_only=False)
    """As ``a``, of the other system."""
    metric: AnyMetric = field(default=None, kw_only=False)


@frozen(slots=False, eq=False, repr=False)
class ApproximateRandomization(OfArrays, Alternative, TwoSystems):
    """:func:`reshuffle.approximate_randomization`."""

    strata: IdsOfStrata = field(default=None, kw_only=True)
    """The stratum id of each segment, as in :func:`bootstrap_test`. Only with ``ar-studentized``: standard errors
    depend on strata, but shuffles do not.
    """
    test: types.ShuffleTest | str = field(default="ar", kw_only=True)
    """``ar-studentized`` divides each difference, observed or shuffled, by its own standard error by the delta method.
    The test remains exact under the null hypothesis above. In large samples it is also valid for systems that have
    equal scores without being exchangeable, for example two outputs with different lengths (Janssen 1997,
    doi:10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi:10.1214/13-AOS1090), but not near a kink of the metric,
    as where outputs are about as long as their references. The metric needs derivatives; those of a callable are finite
    differences.
    """
    scheme: types.Scheme | str = field(default="auto", kw_only=True)
    """See above."""
    stopping: Annotated[
        Union[types.Stopping, str, "AnyRule", None],
        Kind("{'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional", "stopping rule"),
    ] = field(default=None, kw_only=True)
    """Sequential Monte Carlo: use ``iid`` shuffles one after another, at most R, until the rule stops the test.
    :class:`~reshuffle.BesagClifford` stops after 20 exceedances. :class:`~reshuffle.Gandy` stops once it is decided
    whether p ≤ .05, with error probability .001. The result has the number of shuffles used, which depends only on the
    data and the seed.
    """
    n_resamples: Number = field(default=None, kw_only=True)
    """R, the number of shuffles, 10,000 by default. The smallest possible p is 1/(R + 1). A subgroup has 2^m shuffles,
    the next power of two ≥ R, and its smallest p is 1/2^m.
    """
    masks: Masks = field(default=None, kw_only=True)
    """The shuffles of another program, instead of ``n_resamples`` and ``seed``: shuffle r swaps the segments for which
    ``masks[r]`` is true (or 1). If an iterator yields blocks of rows, they are never all in memory. p = (c + 1)/(R +
    1). All problems of a batch share the shuffles.
    """
    ties: TieRule = field(default=">=", kw_only=True)
    """``>`` does not count shuffles in which \\|t_r\\| equals \\|t\\|. Then p is too small if there are ties, and 1/(R
    + 1) for identical systems. Only with ``masks``, to reproduce the p-values of programs that count in this way, such
    as sacreBLEU.
    """
    keep_null_distribution: bool = field(default=False, kw_only=True)
    """Return the statistic of every shuffle used (8 bytes each). For a convolution, return every value of the statistic
    and its probability. Not supported for a batch.
    """


@frozen(slots=False, eq=False, repr=False)
class BootstrapTest(OfArrays, Alternative, TwoSystems):
    """:func:`reshuffle.bootstrap_test`."""

    test: types.BootstrapTest | str = field(default="bootstrap", kw_only=True)
    """See above. ``bootstrap-shift`` is only two-sided."""
    n_resamples: Draws = field(default=None, kw_only=True)
    indices: Indices = field(default=None, kw_only=True)
    ties: TieRule = field(default=">=", kw_only=True)
    """``>`` does not count draws for which both sides of the condition above are equal; for ``paired-bootstrap``, draws
    with d_b = 0. Only with ``indices``, to reproduce the p-values of programs that count in this way, such as
    sacreBLEU.
    """
    keep_null_distribution: bool = field(default=False, kw_only=True)
    """Return d_b − d of every draw, 8·R bytes. Not supported for a batch."""


@frozen(slots=False, eq=False, repr=False)
class OneOrTwoSystems(Options):
    """The system whose score is estimated, or two systems whose difference is."""

    a: AnyArray = field(kw_only=False)
    metric: AnyMetric = field(default=None, kw_only=False)
    b: Annotated["ArrayLike | None", PYTHON, Kind(f"{ARRAYS.text}, optional")] = field(default=None, kw_only=True)
    """As ``a``, of another system."""


@frozen(slots=False, eq=False, repr=False)
class BootstrapInterval(OfArrays, OneOrTwoSystems):
    """:func:`reshuffle.bootstrap_interval`."""

    strata: IdsOfStrata = field(default=None, kw_only=True)
    """The stratum id of each segment, as in :func:`bootstrap_test`. Not for ``studentized`` and ``t``."""
    interval: types.Interval | str = field(default="percentile", kw_only=True)
    """One of those above. ``t`` is only for means of segment scores (no metric, or :class:`reshuffle.SegmentScores`),
    and does not support documents.
    """
    confidence_level: Annotated[float, Gt(0), Lt(1)] = field(default=0.95, kw_only=True)
    """Strictly between 0 and 1."""
    indices: Indices = field(default=None, kw_only=True)
    """As in :func:`bootstrap_test`. Only for the intervals with draws, except ``studentized``."""


@frozen(slots=False, eq=False, repr=False)
class StandardError(OfArrays, OneOrTwoSystems):
    """:func:`reshuffle.standard_error`."""

    method: Annotated[types.StandardError | str, Kind(noun="standard error")] = field(default="delta", kw_only=True)
    """See above. Number, seed, workers and progress only affect ``bootstrap``."""
    n_resamples: Draws = field(default=None, kw_only=True)
    indices: Indices = field(default=None, kw_only=True)
    """As in :func:`bootstrap_test`. Only for the method ``bootstrap``."""
