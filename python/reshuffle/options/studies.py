"""The options of the studies: a record for each study, which is a sum of groups."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from annotated_types import Ge, Gt, Le, Lt, MinLen
from attrs import field, frozen
from attrs.converters import optional
from typing_extensions import Doc

from .. import types
from ..errors import Argument, InputError
from .choices import AR, TESTS_WITH_MARGIN, TESTS_WITH_OPTIONS, WithMargin, read
from .declare import Except, Flag, Kind, Options, Reads, Several, several
from .groups import (
    ONLY,
    PYTHON,
    SYSTEM_OR_FILE,
    Alternative,
    Checkpointed,
    Computed,
    FixedLevel,
    Resamples,
    numbers,
    whole_numbers,
)
from .inputs import AnyMetrics, IdsOfDocuments, Inputs
from .nulls import NULLS_WITH_OPTIONS, Documents, EqualScore, Margin, Noise, Replicate, Variants
from .watch import Looks

if TYPE_CHECKING:
    from ..data.corpus import StratumIds

# How a test is named, and how many of them; the type of what a converter takes is the type of the keyword argument.
TestName = types.Test | str
StudyTest = types.Test | str | AR | WithMargin
LayoutName = types.SampleLayout | str
ModelName = types.PowerModel | str
NullName = types.Null | str | EqualScore | Margin | Documents | Noise | Replicate | Variants
ExchangeName = Literal["all"] | types.Exchange | str
VariancesName = types.Variances | str
AdjustmentName = types.Adjustment | str
MethodName = types.DecisionMethod | str
DifferencesName = types.SimulatedDifferences | str
WITH_OPTIONS = Kind("str, AR, Equivalence or NonInferiority, or sequence of these, optional", "test")
# The types of options that several records declare, each with a text or a default of its own.
TESTS = Flag(("--tests", "--test"), note="separated by commas or spaces")
TESTS_WITH_OPTIONS_FLAG = TESTS._replace(note=f"{TESTS.note}; options follow a colon: ar:scheme=subgroup")
TestNames = Annotated[tuple[TestName, ...], TESTS]
Sizes = Annotated[tuple[int, ...] | None, Ge(2), Flag(("--sizes", "--size"))]
LevelList = Annotated[
    tuple[float, ...], Gt(0), Lt(1), Flag(("--alphas", "--alpha"), "LEVEL"), Doc("Significance levels.")
]
ConfidenceLevel = Annotated[float, Gt(0), Lt(1), Flag(("--confidence",), "LEVEL")]
Baseline = Annotated[
    str | None,
    Flag(metavar="NAME", note=SYSTEM_OR_FILE),
    Doc("The baseline of the pairs. By default the first system."),
]
AllPairs = Annotated[bool, Doc("Use every pair of systems.")]
SizeAdjusted = Annotated[
    bool,
    Flag(("--size-adjusted/--not-adjusted",)),
    Doc(
        """Size-adjusted power: choose the level of each test such that its type-I error is alpha, so that tests with
        different type-I errors can be compared.

        The level is that at which the test rejects a share α of simulations of the null hypothesis, η = 0."""
    ),
]


def tests(value: TestName | Sequence[TestName]) -> tuple[TestName, ...]:
    """One test or several as a tuple. None with a margin, for which there is no place."""
    found = several(value)
    for each in found:
        name = each.partition(":")[0] if isinstance(each, str) else ""
        if name in TESTS_WITH_MARGIN:
            raise InputError(
                f"test {name!r} does not test whether scores are equal: leave it out, or use study 'type1' with the "
                "null 'margin'. To plan a test of non-inferiority, plan a one-sided test of equal scores ({better}): "
                "its minimum detectable difference is the margin at which an equally good system is shown not to be "
                "worse, with the same power",
                better=Argument("alternative", ("better",)),
            )
    return found


def tests_with_options(value: StudyTest | Sequence[StudyTest]) -> tuple[StudyTest, ...]:
    """One test or several as a tuple, which may have options of their own."""
    return tuple(read("test", each, TESTS_WITH_OPTIONS, get_args(types.Test)) for each in several(value))


def nulls(value: NullName | Sequence[NullName]) -> tuple[NullName, ...]:
    """One null hypothesis or several as a tuple, which may have options of their own."""
    return tuple(read("null", each, NULLS_WITH_OPTIONS, get_args(types.Null)) for each in several(value))


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Study(Options):
    """The group of all that follow."""

    TITLE: ClassVar[str] = "Study"


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Pairs(Study):
    """Which pairs of systems are studied."""

    baseline: Baseline = None
    all_pairs: AllPairs = False


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Tested(Study):
    """The tests of simulated test sets, and what they decide."""

    tests: Annotated[tuple[StudyTest, ...] | None, TESTS_WITH_OPTIONS_FLAG, WITH_OPTIONS] = field(
        default=None, converter=optional(tests_with_options)
    )
    """Tests of :func:`reshuffle.compare`, by name. By default ``ar``, ``bootstrap-both``, ``bootstrap`` and, if
    two-sided, ``bootstrap-shift``.
    """
    alternative: Alternative = "two-sided"
    alphas: LevelList = field(default=(0.01, 0.05, 0.1), converter=numbers)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Sized(Study):
    """The sizes of simulated test sets."""

    sizes: Sizes = field(default=None, converter=optional(whole_numbers))
    """Segments (with ``documents``, documents) in a simulated test set. By default as many as there are."""
    sampling: types.Sampling | str = "replace"
    """How test sets are drawn: replace (with replacement), subset (without), or fixed (every segment once)."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Simulated(Study):
    """The number of simulations, and of the replicates of each test."""

    simulations: Annotated[int, Ge(1)] = 1000
    """Number of simulated test sets.

    For each null or effect, and each size. They are the same for all tests, and also for all metrics unless the null
    depends on the metric. Simulation i has the seed ``derive_seed(seed, "simulation", i)``, whatever else is in the
    study.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Replicates(Options):
    """How many replicates a test has."""

    TITLE: ClassVar[str] = "Resampling"
    n_resamples: Resamples = 999
    """Shuffles or draws of each test.

    The size of ``ar`` is exact if (R + 1)·α is a whole number, so R need not be large.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class SharedDraws(Study):
    """Draws that simulations share."""

    weight_sets: Annotated[int | None, Ge(1), Le(1 << 32)] = None
    """Number of sets of bootstrap draws, which the simulations then share. This is faster, but simulations that share a
    set are not independent. By default each has draws of its own.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Nulls(Study):
    """Null hypotheses."""

    null: Annotated[
        tuple[NullName, ...],
        Flag(("--null", "--nulls"), note="options follow a colon: noise:rate=0.1"),
        Kind("str, EqualScore, Margin, Documents, Noise, Replicate or Variants, or sequence of these", "null"),
    ] = field(default=("swap",), converter=nulls)
    """Null hypotheses: names in :data:`reshuffle.study.nulls.NULLS`.

    Others with options are documents:icc=0.2, replicate:runs=3, equal-score:equalize=drop-words and margin:bleu=0.5.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class StudyOptions(Checkpointed, Computed):
    """What all studies have."""

    TITLE: ClassVar[str] = "Study"


@frozen(slots=False, eq=False, repr=False)
class StudyInputs(StudyOptions, Inputs):
    """What all studies of data have."""


@frozen(slots=False, eq=False, repr=False)
class Counted(Inputs):
    """Data of metrics whose counts a study simulates with."""

    metrics: AnyMetrics = "bleu"
    """As for :func:`reshuffle.compare`, but metrics must have counts: no :class:`~reshuffle.CorpusFunction`, and no
    missing scores.
    """


@frozen(slots=False, eq=False, repr=False)
class Type1(StudyInputs, Replicates, SharedDraws, Simulated, Sized, Pairs, Tested, Nulls, Counted):
    """:func:`reshuffle.study.type1`."""


EFFECTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Effects(Study):
    """Effects whose power is simulated."""

    effects: Annotated[tuple[float, ...], Ge(0), Le(0.5), Flag(("--effects", "--effect"), "ETA")] = field(
        default=EFFECTS, converter=numbers
    )
    """Effect sizes η, from 0 (no difference) to 0.5 (the real pair).

    The difference is about 2η times that of the pair.
    """
    size_adjusted: SizeAdjusted = False


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Models(Study):
    """Models of the true difference."""

    models: Annotated[tuple[ModelName, ...], Flag(("--models", "--model"))] = field(
        default=("eta",), converter=Several[ModelName]
    )
    """Models of the true difference: eta (a mixture of no difference and the real pair), real (the real pair), or
    parametric (the model of Card et al. 2020, fitted to the pair; test ar only).

    Card et al. 2020 is 2020.emnlp-main.745. ``real`` has no effects.
    """


@frozen(slots=False, eq=False, repr=False)
class Power(StudyInputs, Replicates, Simulated, Sized, Pairs, Tested, Effects, Models, Counted):
    """:func:`reshuffle.study.power`."""


@frozen(slots=False, eq=False, repr=False)
class Sensitivity(StudyInputs, Replicates, Simulated, Sized, Pairs, Tested, Effects, Inputs):
    """:func:`reshuffle.study.sensitivity`."""

    metrics: AnyMetrics = ("bleu", "nist")
    """At least two, all with counts."""
    # The tests of Riezler & Maxwell 2005, with the bootstrap centred on the estimate.
    tests: Annotated[tuple[StudyTest, ...], Flag(("--tests", "--test")), WITH_OPTIONS] = field(
        default=("ar", "bootstrap"), converter=tests_with_options, kw_only=True
    )
    """Tests of :func:`reshuffle.compare`, by name.

    The p-values of the real pairs use 10,000 replicates.
    """
    size_adjusted: SizeAdjusted = field(default=True, kw_only=True)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Model(Study):
    """The model of the effects of swaps."""

    p_zero: Annotated[float, Ge(0), Le(1)] = 0.13
    """Without data: P₀ of Card et al.'s model of differences, which they fitted to BLEU."""
    b_zero: Annotated[float, Ge(0)] = 25.8
    """Without data: b₀ of Card et al.'s model of differences, which they fitted to BLEU."""
    metric: Annotated[str, PYTHON] = "BLEU"
    """The name of the metric in the result."""


@frozen(slots=False, eq=False, repr=False)
class ParametricPower(StudyOptions, Replicates, Simulated, Model):
    """:func:`reshuffle.study.parametric_power`."""

    difference: Annotated[tuple[float, ...], Flag(("--difference", "--differences"), "VALUE")] = field(
        default=(1.0,), converter=numbers, kw_only=False
    )
    """True differences Δ (without data), in points of the metric."""
    sizes: Annotated[tuple[int, ...], Ge(2), Flag(("--sizes", "--size"))] = field(
        default=(2000,), converter=whole_numbers, kw_only=False
    )
    """Segments in a simulated test set (n)."""
    alphas: LevelList = field(default=(0.05,), converter=numbers, kw_only=True)
    alternative: types.Alternative | str = field(default="two-sided", kw_only=True)
    """The alternative hypothesis."""
    size_adjusted: SizeAdjusted = field(default=False, kw_only=True)


def differences(value: Any) -> Any:
    """One number or several for each metric, as tuples; none for None. A number alone is of the only metric."""
    if isinstance(value, Real) and not isinstance(value, bool):
        value = {ONLY: float(value)}
    if not isinstance(value, Mapping):
        return {} if value is None else value
    return {name: several(each) for name, each in value.items()}


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Planned(Options):
    """What is planned."""

    TITLE: ClassVar[str] = "Plan"
    difference: Annotated[
        Mapping[str, tuple[float, ...]],
        Flag(("--difference", "--differences"), "METRIC=VALUE"),
        Kind("float, or mapping of str to float or sequence of float, optional"),
        Reads(float, ONLY),
    ] = field(default=None, converter=differences)
    """Differences to detect, in points of the metric. The name can be left out if there is only one.

    For example ``{"bleu": 1.0}``.
    """
    power: Annotated[tuple[float, ...], Gt(0), Lt(1), Flag(metavar="P")] = field(default=(0.8,), converter=numbers)
    """Target power: the probability of detecting a difference."""
    sizes: Sizes = field(default=None, converter=optional(whole_numbers))
    """Segments (with ``documents``, documents) of the planned test sets. By default 1/4, 1/2, 1, 2 and 4 times the size
    of the data.
    """
    alpha: FixedLevel = 0.05
    """Significance level of a family of tests."""
    alternative: types.Alternative | str = "two-sided"
    """The alternative hypothesis: two-sided; better or worse than the baseline; greater or less in score.

    One-sided tests are planned, and simulated, for a difference in their direction.
    """
    looks: Annotated[int | None, Ge(2), Flag(metavar="N")] = None
    """Also plan N equally spaced looks, for :func:`reshuffle.watch`: the size needed, and the expected size."""
    family_size: Annotated[int | None, Ge(1)] = None
    """Number of tests adjusted together; each is planned at level alpha/N. By default the number of pairs."""
    simulate: Annotated[bool, Flag(("--simulate/--no-simulate",))] = True
    """Simulate power (on test sets drawn from the data), or compute that of a z-test.

    See Notes. The z-test has a known standard error, and its power is in closed form; the power of real tests can be
    lower or higher by .06.
    """
    tests: TestNames = field(default=("bootstrap-both",), converter=tests)
    """Tests of :func:`reshuffle.compare` to simulate, by name."""
    # The standard error of a planned power of .8 is then .008.
    simulations: Annotated[int, Ge(1)] = 2000
    """Number of test sets of each simulation."""
    baseline: Baseline = None
    all_pairs: AllPairs = False


@frozen(slots=False, eq=False, repr=False)
class Plan(StudyInputs, Replicates, Planned, Counted):
    """:func:`reshuffle.study.plan`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Pooled(Study):
    """Samples of a large test set."""

    sizes: Sizes = field(default=None, converter=optional(whole_numbers))
    """Segments (with ``documents``, documents) in a sample. By default those of 100, 300, 600 and 3000 that allow at
    least ten samples.
    """
    layouts: Annotated[tuple[LayoutName, ...], Flag(("--layouts", "--layout"))] = field(
        default=("broad", "block"), converter=Several[LayoutName]
    )
    """How samples are taken: broad (sample j has every m-th segment from the j-th on) or block (consecutive segments).

    There are m samples. Consecutive segments often come from the same document, so blocks differ more.
    """
    n_samples: Annotated[int | None, Ge(1)] = None
    """Number of samples. By default as many as fit."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class PoolReplicates(Replicates):
    """Replicates of a study of samples."""

    # As in the paper, where 95% means 950 of the draws.
    n_resamples: Resamples = 1000
    """Shuffles or draws on each sample.

    Sample j of each size and layout has the seed ``derive_seed(seed, "test-set", j)``.
    """


@frozen(slots=False, eq=False, repr=False)
class Samples(StudyInputs, PoolReplicates, Pairs, Pooled, Inputs):
    """:func:`reshuffle.study.samples`."""

    sizes: Sizes = field(default=None, converter=optional(whole_numbers), kw_only=True)
    """Segments (with ``documents``, documents) in a sample. By default the largest of 100, 300, 600 and 3000 that
    allows at least ten samples.
    """
    layouts: Annotated[tuple[LayoutName, ...], Flag(("--layouts", "--layout"))] = field(
        default=("block", "broad"), converter=Several[LayoutName], kw_only=True
    )
    """How samples are taken: broad (sample j has every m-th segment from the j-th on) or block (consecutive segments).

    As for :func:`reshuffle.study.validate`.
    """
    interval: types.Interval | str = field(default="koehn", kw_only=True)
    """Confidence intervals: a name in :data:`reshuffle.inference.intervals.INTERVALS`.

    Koehn's drop 2.5% of the draws at each end, as the paper does.
    """
    confidence_level: ConfidenceLevel = field(default=0.95, kw_only=True)
    """Confidence level of the intervals; also the share of draws won that a conclusion needs.

    The share is without the + 1 of p-values.
    """
    curve_sizes: Annotated[tuple[int, ...] | None, Ge(2), MinLen(0)] = field(
        default=None, converter=optional(whole_numbers), kw_only=True
    )
    """Sizes of the test sets of the curves. By default all segments, a half, a quarter … down to 50.

    The test sets are broad samples. An empty sequence for no curves.
    """
    n_references: Annotated[tuple[int, ...] | None, Ge(1)] = field(
        default=None, converter=optional(whole_numbers), kw_only=True
    )
    """References per segment in the curves: the first n. By default 1, 2, … up to all.

    The metrics are counted again with these references. All segments need this many.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Binned(Study):
    """Bins of differences."""

    bins: Annotated[tuple[float, ...], Flag(metavar="NUMBER")] = field(
        default=(0.0, 0.5, 1.0, 2.0, 3.0, 5.0), converter=numbers
    )
    """Edges of the bins of differences, ascending, in points of the metric."""


@frozen(slots=False, eq=False, repr=False)
class Validate(StudyInputs, PoolReplicates, Binned, Pooled, Inputs):
    """:func:`reshuffle.study.validate`."""

    truth: types.Truth | str = field(default="complement", kw_only=True)
    """Which system counts as better: that with the better score on the rest of the test set (complement), or on all of
    it (whole), which contains the sample.

    The paper's is ``whole``, which makes conclusions from large samples look better than they are.
    """
    tests: TestNames = field(default=("paired-bootstrap",), converter=tests, kw_only=True)
    """Tests of :func:`reshuffle.compare`, by name.

    The confidence of ``paired-bootstrap`` is the share of draws won by the system that wins more of them, so 95% needs
    950 of 1,000 draws. The confidence of other tests is 1 − p. No p-value is adjusted for multiple tests.
    """
    baseline: Annotated[str | None, Flag(metavar="NAME", note=SYSTEM_OR_FILE)] = field(default=None, kw_only=True)
    """Compare each system with this one only. By default all pairs."""
    confidence_level: ConfidenceLevel = field(default=0.95, kw_only=True)
    """Confidence level at which a test draws a conclusion."""


@frozen(slots=False, eq=False, repr=False)
class Agreement(StudyInputs, Replicates, Binned, Inputs):
    """:func:`reshuffle.study.agreement`."""

    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Whole documents are then resampled."""
    # The default test of comparisons, and those of Graham et al. 2014 and of Riezler & Maxwell 2005.
    tests: TestNames = field(
        default=("ar", "bootstrap-both", "bootstrap", "bootstrap-shift", "paired-bootstrap"),
        converter=tests,
        kw_only=True,
    )
    """Tests of :func:`reshuffle.compare`, by name.

    The p-values are two-sided where the test has two sides, and not adjusted for multiple tests. On the whole test set
    they are those of :func:`reshuffle.compare` with the same seed; part j has the seed ``derive_seed(seed, "test-set",
    j)``.
    """
    alphas: LevelList = field(default=(0.05,), converter=numbers, kw_only=True)
    domains: Annotated["StratumIds | None", Flag(metavar="FILE"), Kind("sequence of S str or int, optional")] = field(
        default=None, kw_only=True
    )
    """Domain ids, one per segment: check whether the winners on one domain also win on the others.

    For two test sets, pass the segments of both, one after the other. All segments of a document must have the same
    domain.
    """
    halves: Annotated[types.SampleLayout | str | None, Kind("{'broad', 'block'} or None", "layout")] = field(
        default="broad", kw_only=True
    )
    """How to halve the test set: broad (every other segment) or block (the first and the second half). This is for data
    without domains. The report says whether the winners on one half also win on the other.

    None for no such check.
    """


@frozen(slots=False, eq=False, repr=False)
class Multiplicity(StudyInputs, Replicates, Simulated, Sized, Counted):
    """:func:`reshuffle.study.multiplicity`."""

    variances: Annotated[tuple[VariancesName, ...], Kind(noun="value of variances")] = field(
        default=("equal", "unequal"), converter=Several[VariancesName], kw_only=True
    )
    """How all systems are made equally good: equal (outputs are permuted, so systems are exchangeable) or unequal
    (better systems are degraded to the score of the worst, so variances differ).
    """
    n_systems: Annotated[tuple[int, ...] | None, Ge(2)] = field(
        default=None, converter=optional(whole_numbers), kw_only=True
    )
    """Compare the first N systems. By default all.

    With ``variances="unequal"`` and ``equalize="mix"``, by default all but the worst.
    """
    # The default test of comparisons, beside it one by draws and one by shuffles, and the randomized Tukey test.
    tests: TestNames = field(
        default=("ar", "bootstrap-both", "bootstrap", "permutation"), converter=tests, kw_only=True
    )
    """Tests of :func:`reshuffle.compare`, by name.

    ``permutation`` with the adjustment ``tukey`` is the randomized Tukey test.
    """
    adjustments: Annotated[
        tuple[AdjustmentName, ...] | None, Except(("auto",)), Flag(("--adjustments", "--adjust"))
    ] = field(default=None, converter=optional(Several[AdjustmentName]), kw_only=True)
    """Adjustments of p for multiple comparisons: names in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`. By
    default all.

    Each is used with the tests that support it. Adjustments that multiply p by the number m of pairs cannot reject
    unless ``n_resamples`` is at least m/alpha − 1.
    """
    alphas: LevelList = field(default=(0.05,), converter=numbers, kw_only=True)
    equalize: Annotated[types.Equalize | str | None, Kind("{'mix', 'drop-words'}, optional")] = field(
        default=None, kw_only=True
    )
    """How better systems are degraded with ``variances="unequal"``: mix or drop-words. By default drop-words if the
    metrics count words, else mix.

    ``mix`` takes segments of the worst system of all, which is then not in the family.
    """


@frozen(slots=False, eq=False, repr=False)
class Exchange(StudyInputs, Replicates, Simulated, Sized, Inputs):
    """:func:`reshuffle.study.exchange`."""

    metrics: AnyMetrics = "bleu"
    """As for :func:`reshuffle.compare`, but metrics must have counts. All systems are runs of one configuration.
    Without data, scores are simulated.
    """
    exchange: Annotated[tuple[ExchangeName, ...], Kind(noun="exchange")] = field(
        default=("all",), converter=Several[ExchangeName], kw_only=True
    )
    """What is exchanged between two systems: names in :data:`reshuffle.inference.exchange.EXCHANGES`; ``all`` is all
    but multeval.
    """
    runs: Annotated[tuple[int, ...] | None, Ge(1)] = field(
        default=None, converter=optional(whole_numbers), kw_only=True
    )
    """Number of runs of each configuration (n). By default 3, 5 and 10; with data, half of them."""
    run_sd: Annotated[tuple[float, ...], Ge(0), Flag(metavar="VALUE")] = field(
        default=(0.0, 0.5, 1.0), converter=numbers, kw_only=True
    )
    """Standard deviation between runs (without data). The unit is the sampling standard deviation of a run's score.

    τ of the model.
    """
    correlation: Annotated[tuple[float, ...], Ge(0), Le(1), Flag(metavar="VALUE")] = field(
        default=(0.0, 0.5), converter=numbers, kw_only=True
    )
    """Correlation of segment differences (without data). It is that between two pairs of runs.

    ρ of the model.
    """
    statistic: types.RunStatistic | str = field(default="pooled", kw_only=True)
    """The score of a system: that of all runs' outputs taken as one (pooled), or the mean of the runs' scores (mean).

    They are the same for simulated scores.
    """
    sizes: Sizes = field(default=None, converter=optional(whole_numbers), kw_only=True)
    """Segments in a simulated test set (S). By default 200; with data, all."""
    alphas: LevelList = field(default=(0.05,), converter=numbers, kw_only=True)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Gate(StudyOptions, Replicates, Simulated, Looks):
    """:func:`reshuffle.study.gate`."""

    methods: Annotated[tuple[MethodName, ...], Flag(("--methods", "--method")), Kind(noun="method")] = field(
        default=("gate",), converter=Several[MethodName]
    )
    """gate, or a test while data arrive: a method of :func:`reshuffle.watch`; naive, a z-test after every segment from
    the 51st on; once, a z-test at the end.
    """
    tasks: Annotated[tuple[int, ...], Ge(1), Flag(metavar="N")] = field(default=(1, 5), converter=whole_numbers)
    """Tasks (metrics on test sets) that are decided together."""
    correlation: Annotated[tuple[float, ...], Ge(0), Le(1), Flag(metavar="VALUE")] = field(
        default=(0.0, 0.5), converter=numbers
    )
    """Correlation between tasks (ρ)."""
    margin: Annotated[tuple[float, ...] | None, Gt(0), Flag(metavar="VALUE")] = field(
        default=None, converter=optional(numbers)
    )
    """Margin of each task, in standard errors (of its difference). By default that with which independent tasks are
    allowed in 80% of the cases if nothing changed.
    """
    differences: Annotated[tuple[DifferencesName, ...], Kind(noun="differences")] = field(
        default=("normal",), converter=Several[DifferencesName]
    )
    """Differences of segments: normal, 4%, 10%, 40%, skewed or mirrored. With a percentage, scores are 0 or 1, and that
    share of the segments differs. Skewed ones are 0.9 in a tenth of the segments, else −0.1; mirrored is the reverse.
    """
    sizes: Annotated[tuple[int, ...], Ge(2), Flag(("--sizes", "--size"))] = field(
        default=(200,), converter=whole_numbers
    )
    """Segments in a simulated test set."""
    alpha: FixedLevel = 0.05
    """The largest probability of each kind of wrong decision."""
