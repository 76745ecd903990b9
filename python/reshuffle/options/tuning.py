"""The options of what is done with k-best lists: optimizers of weights, oracles, and minimum Bayes risk decoding."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, MinLen
from attrs import field, frozen
from attrs.converters import optional
from typing_extensions import Doc

from .. import types
from ..errors import InputError, quoted
from ..validate import DEFAULT_SEED, MAX_SEED, check_integer, chosen_seed
from .declare import Check, Flag, Kind, Options, Several, check, documented
from .groups import PYTHON, Progress, Seed, Threads, Workers, Working, names, real, whole_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ..metrics.base import MetricLike
    from ..tune.decoders import Decoder
    from ..tune.lists import NBest
    from ..tune.weights import Weights

    References = Sequence[str] | Sequence[Sequence[str | None]]

# Each run has weights, a course and an output in memory.
MAX_REPLICATIONS = 100_000

# The presets of ``mert``.
PRESETS: dict[str, str] = {
    "both": "the given start and 20 random restarts, along all axes and 5 random directions",
    "moses": "the given start and 20 random restarts, along all axes",
    "cdec": "the given start only, along all axes and 5 random directions",
}

# The types of options that several records declare, most of them with a text of its own.
Share = Annotated[float, Gt(0), Le(1), Flag(metavar="X")]
Positive = Annotated[float, Gt(0), Flag(metavar="X")]
NotNegative = Annotated[float, Ge(0), Flag(metavar="X")]
Limit = Annotated[int | None, Ge(1), Flag(none="all")]
Lists = Annotated["NBest", PYTHON, Kind("NBest"), Doc("The k-best lists.")]
ListsAndReferences = Annotated[
    "tuple[NBest, References] | None", PYTHON, Kind("NBest and references, optional"), Doc("Test lists.")
]
OfLists = Annotated[
    "References", PYTHON, Kind("N references, or columns of N references each"), Doc("The references of the lists.")
]
AnyMetric = Annotated["MetricLike", PYTHON, Kind("str or metric"), Doc("Any metric of the core that counts texts.")]
SourceLines = Annotated["Sequence[str] | None", PYTHON, Kind("sequence of str, optional")]
Initial = Annotated[
    "ArrayLike | None", PYTHON, Kind("array, optional"), Doc("The weights at the start. By default each is 0.")
]
ModelScores = Annotated["ArrayLike | None", PYTHON, Kind("(K,) array of numbers, optional")]


def each_within(least: int, most: int | None = None) -> Check:
    """A check of whole numbers that may be repeated."""

    def checked(shown: str, value: Sequence[object]) -> None:
        if not value:
            raise InputError(f"{shown}: expected at least one, got none")
        for each in value:
            check_integer(shown, each, least, most)

    return Check(checked)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Optimization(Options):
    """The base of the options of an optimizer."""

    TITLE: ClassVar[str] = "Optimizer"


@documented
@frozen(kw_only=True, slots=False)
class Mert(Optimization):
    """Minimum error rate training, with its options: for :func:`reshuffle.tune.tune`.

    See :func:`reshuffle.tune.mert`.
    """

    preset: Annotated[
        types.MertPreset | str,
        Doc(
            "; ".join(f"{name}: {about}" for name, about in PRESETS.items())
            + ".\n\nElements of a random direction are drawn between -1 and 1, before it is scaled to length 1."
        ),
    ] = "both"
    restarts: Annotated[int | None, Ge(0)] = None
    """Number of random restarts, instead of the preset's."""
    random_directions: Annotated[int | None, Ge(0)] = None
    """Number of random directions, instead of the preset's."""
    max_steps: Annotated[int, Ge(1)] = 1000
    """Maximum number of steps from each start."""
    margin: Positive = field(default=0.1, converter=real)
    """How far to go past the last corner of a line, if the best part has no end."""
    min_width: Positive = field(default=1e-9, converter=real)
    """Parts of a line that are not wider than this are skipped."""


@documented
@frozen(kw_only=True, slots=False)
class Kbmira(Optimization):
    """Batch MIRA, with its options: for :func:`reshuffle.tune.tune`. See :func:`reshuffle.tune.kbmira`."""

    epochs: Annotated[int, Ge(1)] = 60
    """Passes over all sentences."""
    c: Positive = field(default=0.01, converter=real)
    """Largest step size (C of the paper)."""
    decay: Share = field(default=0.999, converter=real)
    """Factor by which the background shrinks after each sentence.

    The background begins as one of each count.
    """
    background: Literal["hope", "model"] | str = "hope"
    """The entry whose counts enter the background: the hope, or that with the best model score."""
    safe_hope: bool = False
    """When the hope is chosen, scale model scores down if that of the hope is more than five times its BLEU times the
    reference's length.
    """


@frozen(kw_only=True, slots=False)
class Ranking(Optimization):
    """The options of pairwise ranking."""

    samples: Limit = 5000
    """Pairs of entries drawn for each sentence. ``None`` for every pair."""
    threshold: NotNegative = field(default=0.05, converter=real)
    """Leave out pairs whose scores (0 to 1) differ by less than this."""
    kept: Limit = 50
    """Pairs kept for each sentence, those that differ most. ``None`` for no limit."""
    penalty: Positive = field(default=1.0, converter=real)
    """Strength of the l2 penalty: factor of half the sum of squared weights.

    λ: the classifier minimizes the sum of its log losses plus λ/2 times the sum of squared weights. It is
    scikit-learn's ``LogisticRegression(C=1/λ, fit_intercept=False)``.
    """
    interpolation: Share = field(default=0.1, converter=real)
    """From round 2 on: share of the new weights, the rest being the last ones."""


@documented
@frozen(kw_only=True, slots=False)
class Pro(Ranking):
    """Pairwise ranking, with its options: for :func:`reshuffle.tune.tune`. See :func:`reshuffle.tune.pro`."""

    entry_scores: Literal["metric", "moses"] | str = "metric"
    """How entries are scored. metric: by the metric of sentences; moses: by BLEU with 1 added to matches and totals of
    all orders, as in Moses' pro.
    """


@documented
@frozen(kw_only=True, slots=False)
class Xbleu(Optimization):
    """Expected sentence BLEU, with its options: for :func:`reshuffle.tune.tune`. See :func:`reshuffle.tune.xbleu`."""

    method: Literal["sgd", "lbfgs"] | str = "sgd"
    """sgd: stochastic gradient descent; lbfgs: L-BFGS, without random numbers.

    L-BFGS is that of SciPy; it finds one run and reports no progress.
    """
    penalty: NotNegative = field(default=10.0, converter=real)
    """Strength of the l2 penalty: factor of the sum of squared weights.

    λ. The paper has 10.
    """
    epochs: Annotated[int, Ge(1)] = 30
    """Passes over all sentences. lbfgs makes at most ten times as many iterations."""
    rate: Positive = field(default=0.1, converter=real)
    """Initial learning rate of sgd.

    η₀: the rate of step t, from 0, is η₀/(1 + t/N). It must be below N/2λ, for N sentences. The paper does not name
    its own.
    """


@documented
@frozen(kw_only=True, slots=False)
class L1(Optimization):
    """A reranker with an ℓ1 penalty, with its options: for :func:`reshuffle.tune.tune`.

    See :func:`reshuffle.tune.fit_l1`.
    """

    templates: Annotated[tuple[str, ...], MinLen(0), Flag(metavar="NAME")] = field(default=(), converter=names)
    """Features made from the entries: ngram:2 counts bigrams, presence:2 says which there are (also of orders 1 to 9);
    phrase: phrase pairs; words: pairs of source and target words.

    See :func:`reshuffle.tune.template_features`.
    """
    gamma: Positive = field(default=1.0, converter=real)
    """Strength of the l1 penalty: factor of the sum of absolute weights.

    γ, in nats per unit of weight. Weights depend on the scale of features.
    """
    per_step: Annotated[int, Ge(1)] = 10
    """Maximum number of features that a step adds."""
    limit: Limit = None
    """Maximum number of selected features. By default all."""
    edges: bool = False
    """Put <s> and </s> around entries before n-grams are counted."""
    minimum: Annotated[int, Ge(1)] = 1
    """Leave out made features that differ within fewer lists than this number."""
    tolerance: Positive = field(default=1e-4, converter=real)
    """Largest violation of the conditions of an optimum at which a fit ends."""


AnyOptimizer = types.OptimizerName | str | Optimization


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Watched(Working):
    """Threads, and how a result is watched."""

    TITLE: ClassVar[str] = "Computation"
    workers: Threads = None
    progress: Progress = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Seeds(Options):
    """A run for each seed."""

    seeds: Annotated[tuple[int, ...], each_within(0, MAX_SEED), PYTHON, Kind("int or sequence of int")] = field(
        default=(12345,), converter=Several[int]
    )
    """One run for each seed, which decides all random choices."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Started(Options):
    """The weights with which a search begins."""

    initial: Initial = None


@frozen(slots=False, eq=False, repr=False)
class Counted(Options):
    """Lists whose entries have been counted."""

    lists: Lists = field(kw_only=False)
    counts: Annotated["NDArray[np.int64]", PYTHON, Kind("(K, T) array of int64")] = field(kw_only=False)
    """The counts of each entry, from :meth:`NBest.count`."""


@frozen(slots=False, eq=False, repr=False)
class Scored(Options):
    """Lists whose entries have been scored."""

    lists: Lists = field(kw_only=False)
    scores: Annotated["ArrayLike", PYTHON, Kind("(K,) array")] = field(kw_only=False)
    """The sentence score of each entry from 0 to 1, larger is better: for example ``lists.sentence_scores("sentbleu",
    references) / 100``, with any smoothing.
    """


@frozen(slots=False, eq=False, repr=False)
class FitMert(Watched, Seeds, Mert, Counted):
    """:func:`reshuffle.tune.mert`."""

    metric: AnyMetric = field(default="bleu", kw_only=True)
    """The metric of these counts. Error rates are minimized."""
    initial: Initial = field(default=None, kw_only=True)
    """The weights of one start. By default that of each dense feature is 1. Weights of sparse features are not
    searched: they keep their proportions to each other, as one more feature, and are 0 if they are not given.
    """
    low: Annotated["ArrayLike | None", PYTHON, Kind("(F,) array, optional")] = field(default=None, kw_only=True)
    """Restarts are drawn uniformly from these weights on. By default from -1 on."""
    high: Annotated["ArrayLike | None", PYTHON, Kind("(F,) array, optional")] = field(default=None, kw_only=True)
    """Restarts are drawn uniformly up to these weights. By default up to 1."""


@frozen(slots=False, eq=False, repr=False)
class FitKbmira(Watched, Seeds, Kbmira, Started, Counted):
    """:func:`reshuffle.tune.kbmira`."""

    metric: AnyMetric = field(default="bleu", kw_only=True)
    """The metric of these counts. The result is best under it. Without ``gains`` it has to be BLEU."""
    gains: Annotated["ArrayLike | None", PYTHON, Kind("(K,) array, optional")] = field(default=None, kw_only=True)
    """What each entry gains, larger is better: for example sentence BLEU times the length of the reference. By default
    the gain is BLEU of the entry together with a background of earlier entries, times the reference length of both,
    without smoothing and with equal weights of the orders.
    """


@frozen(slots=False, eq=False, repr=False)
class FitPro(Watched, Seeds, Ranking, Scored):
    """:func:`reshuffle.tune.pro`."""

    previous: Initial = field(default=None, kw_only=True)
    """Weights of the decode before. By default each is 0."""
    interpolation: Share = field(default=1.0, converter=real, kw_only=True)
    """The part of the new weights in the result: new · part + previous · (1 − part). Hopkins & May use .1 between
    decodes.
    """


@frozen(slots=False, eq=False, repr=False)
class FitXbleu(Watched, Seeds, Xbleu, Started, Scored):
    """:func:`reshuffle.tune.xbleu`."""

    lengths: Annotated["ArrayLike", PYTHON, Kind("(N,) array")] = field(kw_only=False)
    """The length of each sentence's reference in words; the mean length if there are several."""


@frozen(slots=False, eq=False, repr=False)
class FitL1(Watched, L1):
    """:func:`reshuffle.tune.fit_l1`."""

    lists: Lists = field(kw_only=False)
    """Their features, dense and sparse, are candidates for selection like those of ``templates``."""
    targets: Annotated["ArrayLike", PYTHON, Kind("(N,) array of int")] = field(kw_only=False)
    """The rows of the entries to be preferred, from :func:`closest`."""
    sources: SourceLines = field(default=None, kw_only=True)
    """The source of each sentence, for the templates ``phrase`` and ``words``."""
    per_step: Annotated[tuple[int, ...], each_within(1), Kind("int or sequence of int")] = field(  # type: ignore[assignment]
        default=(10,), converter=whole_numbers, kw_only=True
    )
    """Maximum number of features that a step adds; of several numbers, one for each step, the last one for all later
    steps.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Rounds(Options):
    """Rounds of decoding and tuning."""

    TITLE: ClassVar[str] = "Decoder"
    rounds: Annotated[int, Ge(1)] = 1
    """Rounds of tuning. The decoder runs between them, and its lists are joined with the earlier ones.

    A run stops early if its decoder writes no new entries.
    """
    decoder: Annotated["Decoder | None", PYTHON, Kind("callable, optional")] = None
    """From weights by name, and a folder for its files, to lists: :func:`command_decoder`, :func:`simulated_decoder`,
    or a function. Its sentences have the ids of ``lists``.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Replications(Working):
    """The runs of an optimizer."""

    TITLE: ClassVar[str] = "Replications"
    replications: Annotated[int, Ge(1), Le(MAX_REPLICATIONS)] = 1
    """How many runs, each with a seed of its own.

    Nothing in ``l1`` is random: its runs are the variants of :func:`l1_variants`, and need a template ``ngram:N``.
    """
    seed: Seed = field(default=DEFAULT_SEED, converter=chosen_seed)
    """The seeds of the runs are derived from it. The same seed gives the same result, on any machine and with any
    workers.

    Run i has the seed ``derive_seed(seed, "run", i)``.
    """
    seeds: Annotated[tuple[int, ...] | None, each_within(0, MAX_SEED), PYTHON, Kind("sequence of int, optional")] = (
        field(default=None, converter=optional(Several[int]))
    )
    """The seeds of the runs instead."""
    workers: Workers = None
    """Number of threads. By default all cores.

    Or an executor: a pool of processes, a Dask client or the like, whose workers run the replications of the first
    round: see docs/clusters.md. Not for ``l1``, which reads texts. The result has the same bytes.
    """
    progress: Progress = None


@frozen(slots=False, eq=False, repr=False)
class Tune(Rounds, Replications):
    """:func:`reshuffle.tune.tune`."""

    TITLE: ClassVar[str] = "Input"

    optimizer: Annotated[AnyOptimizer, PYTHON, Kind("str, Mert, Kbmira, Pro, Xbleu or L1")] = field(kw_only=False)
    """A name in :data:`reshuffle.tune.OPTIMIZERS`, or the optimizer with options, such as ``tune.Mert(restarts=5)``."""
    lists: Annotated["NBest | None", PYTHON, Kind("NBest or None")] = field(kw_only=False)
    """The lists to tune on. None if a decoder writes those of the first round, with the initial weights."""
    references: OfLists = field(kw_only=False)
    metric: AnyMetric = field(default="bleu", kw_only=True)
    """The corpus metric: what ``mert`` optimizes, and the metric of all scores of the result."""
    sentence_metric: Annotated["MetricLike | None", PYTHON, Kind("str or metric, optional")] = field(
        default=None, kw_only=True
    )
    """The metric of single entries that ``pro``, ``xbleu`` and ``l1`` need. By default, sentence BLEU for BLEU and
    NIST, otherwise the metric itself. Scores are divided by 100, and error rates are negated. ``kbmira`` uses it if it
    is given, or the metric is not BLEU: an entry gains its score times the length of the reference.
    """
    initial: Annotated[
        "Weights | Mapping[str, float] | ArrayLike | None", PYTHON, Kind("Weights, mapping, or (F,) array, optional")
    ] = field(default=None, kw_only=True)
    """Initial weights, from which ``mert``, ``kbmira`` and ``xbleu`` search; the result has their scores. Limits in
    :class:`Weights` are those of random restarts.
    """
    dev: ListsAndReferences = field(default=None, kw_only=True)
    """Development lists for the scores of the result. By default those that are tuned on."""
    test: ListsAndReferences = field(default=None, kw_only=True)
    sources: SourceLines = field(default=None, kw_only=True)
    """The source of each sentence, for templates of ``l1``."""
    dev_sources: SourceLines = field(default=None, kw_only=True)
    """The same for ``dev``."""
    test_sources: SourceLines = field(default=None, kw_only=True)
    """The same for ``test``."""

    def check_together(self) -> None:
        if isinstance(self.optimizer, Optimization):
            check(self.optimizer)
        elif not isinstance(self.optimizer, str):
            raise InputError(f"optimizer: expected a name or an optimizer with options, got {quoted(self.optimizer)}")


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TuneHere(Tune):
    """The same for an optimizer that reads texts, which only this process has."""

    TITLE: ClassVar[str] = Replications.TITLE

    workers: Threads = None


@frozen(slots=False, eq=False, repr=False)
class TrainVariants(Watched):
    """:func:`reshuffle.tune.train_variants`."""

    TITLE: ClassVar[str] = "Variants (--null variants)"

    lists: Lists = field(kw_only=False)
    """The lists for training."""
    references: OfLists = field(kw_only=False)
    """Of the lists for training."""
    apply_to: Lists = field(kw_only=False)
    """The lists from which the variants choose. They need the same dense features."""
    n: Annotated[int, Ge(2), Flag(("--variants",))] = field(default=6, kw_only=True)
    """Number of variants. The first has no redundant features; each further one adds one more feature per step."""
    sentence_metric: AnyMetric = field(default="sentbleu", kw_only=True)
    """The entry with the best score under this metric is the one to be preferred."""
    templates: Annotated[tuple[str, ...], Flag(metavar="NAME")] = field(
        default=("ngram:2", "ngram:3"), converter=names, kw_only=True
    )
    """Features made from the entries: counts of n-grams.

    See :func:`reshuffle.tune.template_features`.
    """
    per_step: Annotated[int, Ge(1)] = field(default=10, kw_only=True)
    """Features that the first variant adds in each step."""
    limit: Annotated[int, Ge(1)] = field(default=100, kw_only=True)
    """Number of features at which the selection of each variant ends.

    Features whose weight the penalty sets to 0 are among them.
    """
    gamma: Positive = field(default=1.0, converter=real, kw_only=True)
    """Strength of the l1 penalty.

    As for :func:`fit_l1`.
    """


@frozen(slots=False, eq=False, repr=False)
class Oracle(Watched):
    """:func:`reshuffle.tune.oracle`."""

    lists: Lists = field(kw_only=False)
    references: OfLists = field(kw_only=False)
    metric: AnyMetric = field(default="bleu", kw_only=False)
    scores: ModelScores = field(default=None, kw_only=True)
    """The model score of each entry, for example ``lists.totals`` or :meth:`LinearModel.scores`: ``topbest`` has the
    highest score of each list, the first of equals. By default it is the first entry.
    """
    random_starts: Annotated[int, Ge(0)] = field(default=20, kw_only=True)
    """Number of searches that start from greedy choices, in random orders of the sentences."""
    seed: Seed = field(default=DEFAULT_SEED, converter=chosen_seed, kw_only=True)


@frozen(slots=False, eq=False, repr=False)
class Mbr(Watched):
    """:func:`reshuffle.tune.mbr`."""

    TITLE: ClassVar[str] = "Probabilities"

    lists: Lists = field(kw_only=False)
    """K-best lists, or samples from a model (:func:`read_samples`)."""
    metric: AnyMetric = field(default="chrf", kw_only=False)
    """The utility: any metric of the core that counts texts, such as ``chrf``, ``bleu``, ``sentbleu``, ``ter`` or
    ``meteor``.
    """
    scores: ModelScores = field(default=None, kw_only=True)
    """The model score of each entry, as a logarithm, for example ``lists.totals``: p is the softmax of ``scale`` times
    the score over the list. By default all entries of a list have the same probability, as samples should; an entry
    that comes twice counts twice.
    """
    scale: NotNegative = field(default=1.0, converter=real, kw_only=True)
    """With model scores: probabilities are the softmax of this number times the scores.

    At 0 all entries are equally probable, and the larger it is, the more the best ones count. Choose it on a
    development set, because of a tuned model only the ratios of the weights have a meaning. An :class:`InputWarning`
    says if it leaves the probabilities nearly uniform.
    """
    exclude_self: bool = field(default=False, kw_only=True)
    """Leave an entry itself out of its expected utility.

    Entry i is left out of its sum, which is divided by 1 − p_i. By default it counts, as in the definition: the list
    stands for the distribution.
    """
    references: Annotated[
        "References | None", PYTHON, Kind("N references, or columns of N references each, optional")
    ] = field(default=None, kw_only=True)
    """For the corpus scores of the chosen entries, and of those that the decoder prefers."""
    metrics: Annotated["Sequence[MetricLike] | None", PYTHON, Kind("sequence of str or metric, optional")] = field(
        default=None, kw_only=True
    )
    """For ``references``. By default ``metric``."""
