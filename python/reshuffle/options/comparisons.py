"""The options of comparisons: of systems on one test set or several, and of systems with several runs."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from annotated_types import MinLen
from attrs import field, frozen

from .. import types
from ..errors import Argument, InputError
from ..validate import DEFAULT_SEED, check_n_resamples
from .choices import AR, INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Simultaneous, WithMargin, read
from .declare import Check, Flag, Kind, Options, Several
from .groups import PYTHON, Alpha, Alternative, Baseline, Computed, ConfidenceLevel, Progress, Threads, Working
from .inputs import AnyMetrics, IdsOfDocuments, IdsOfStrata, OutputTexts

if TYPE_CHECKING:
    from ..data.corpus import Lines, References
    from .inputs import AnySet

# How many draws intervals without tests have by default.
N_DRAWS = 10_000

AnyNumber = Annotated[
    int | Literal["auto"], Check(check_n_resamples), Kind("int or 'auto'"), Flag(("-n", "--n-resamples"), "N")
]
TestChoice = types.TestChoice | str | AR | WithMargin
IntervalChoice = types.IntervalChoice | str | Simultaneous | None
ExchangeName = Literal["auto", "all"] | types.Exchange | str
Included = Literal["texts", "parts"] | str


def test_choice(value: TestChoice) -> TestChoice:
    """A test, with options or without."""
    found: TestChoice = read("test", value, TESTS_WITH_OPTIONS, get_args(types.TestChoice))
    return found


def interval_choice(value: IntervalChoice) -> IntervalChoice:
    """An interval, with options or without."""
    if isinstance(value, str) and value == "simultaneous":
        return Simultaneous()
    found: IntervalChoice = read("interval", value, INTERVALS_WITH_OPTIONS, get_args(types.IntervalChoice))
    return found


@frozen(slots=False, eq=False, repr=False)
class Texts(Options):
    """What is scored. Commands read it from files."""

    TITLE: ClassVar[str] = "Input"
    references: Annotated["References", PYTHON, Kind("S references, or columns of S references each")] = None
    """None stands for a missing reference; every segment needs at least one reference.

    Columns may be lists or columns of pandas, polars, Arrow or numpy: ``compare(frame["ref"], frame[["a", "b"]])``.
    """
    systems: OutputTexts = None
    """In a sequence they are named ``system 1``, ``system 2`` … The columns of a data frame, a table or a structured
    array are named as they are there.
    """
    metrics: AnyMetrics = "bleu"
    """Names, which ``help(reshuffle.metric)`` lists, or metrics made by :func:`reshuffle.metric`,
    :class:`~reshuffle.CorpusFunction`, :class:`~reshuffle.SegmentScores`, :class:`~reshuffle.FromCounts` or
    :class:`~reshuffle.OwnTexts`. The last three bring their own data: with only these, ``references`` and ``systems``
    can be left out.
    """
    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment; the segments of a document need not be adjacent. Whole documents are then
    resampled, and the intraclass correlation and design effect are reported.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Stratified(Options):
    """Strata of segments."""

    TITLE: ClassVar[str] = "Input"
    strata: IdsOfStrata = None
    """The stratum id of each segment. A stratum is a part of the test set whose size was fixed by design. Bootstrap
    draws and standard errors are then stratified; shuffles are not affected, because they swap within a segment. All
    segments of a document must be in the same stratum.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Test(Options):
    """The group of the options of tests."""

    TITLE: ClassVar[str] = "Test"


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Pairs(Test):
    """Which pairs are compared, and in which direction."""

    baseline: Baseline = None
    """The system to compare with. By default the first."""
    all_pairs: bool = False
    """Compare every pair of systems."""
    alternative: Alternative = "two-sided"


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Tested(Test):
    """The test, and what is decided by it."""

    test: Annotated[
        TestChoice,
        Flag(note="options: ar:scheme=subgroup"),
        Kind("str, AR, Equivalence or NonInferiority", "test"),
    ] = field(default="auto", converter=test_choice)
    """A name in :data:`reshuffle.inference.tests.TESTS`. The default, ``auto``, is ``bootstrap-both``, or ``ar`` for
    systems that differ in fewer than 30 segments.

    ``bootstrap-both`` tests whether the expected scores on test sets of this size are equal, and ``ar`` is for pairs
    that differ in fewer than 30 segments or documents, where the bootstrap is unreliable. A note says for which pairs,
    and where the larger p of ``ar`` and ``bootstrap-kink`` counts because lengths are near those of the references.
    ``bootstrap-kink`` tests whether the scores of the populations are equal, which is not the same where BLEU's brevity
    penalty sets in. ``ar`` (approximate randomization) tests exchangeability and is exact for any number of segments;
    its options are those of :class:`~reshuffle.AR`. ``t-test``, ``wilcoxon`` and ``sign-test`` are for metrics that are
    means of segment scores: :class:`~reshuffle.SegmentScores`. :class:`~reshuffle.Equivalence` and
    :class:`~reshuffle.NonInferiority` need a margin for each metric.
    """
    adjust: Annotated[types.Adjustment | str | None, Kind("str or None", "adjustment")] = "auto"
    """Adjustment of p: a name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`.

    ``none`` or None for p-values that are not adjusted. The default, ``auto``, is step-down ``maxt``, or ``tukey`` for
    ``anova`` and ``permutation`` (with family ``metric``). It is ``holm`` for other tests without ``maxt``, with the
    schemes ``exact`` and ``subgroup``, with ``besag-clifford``, and if every family has only one test. A single
    comparison (one pair under one metric) is not adjusted, nor are tests stopped by ``gandy``.
    """
    family: types.Family | str = "metric"
    """Tests that are adjusted together: the pairs under each metric (metric), or all pairs under all metrics (all).
    With several test sets: under each metric, on each set (metric) or all sets (sets); or under all metrics, on each
    set (set) or all sets (all).
    """
    alpha: Alpha = None
    """Significance level. A star marks p, or adjusted p, <= alpha. By default 1 minus ``confidence_level``; half of
    that for tests with margins.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Intervals(Options):
    """Confidence intervals."""

    TITLE: ClassVar[str] = "Intervals"
    interval: Annotated[IntervalChoice, Kind("str, Simultaneous or None", "interval")] = field(
        default="percentile", converter=interval_choice
    )
    """Confidence intervals: a name in :data:`reshuffle.inference.intervals.INTERVALS`. Or ``simultaneous`` for all
    differences of a family.

    None for no intervals. Simultaneous intervals of the differences in a family hold at once. They have the statistic
    and the replicates that decide about stars: a difference whose interval excludes 0 has a star. They are for the
    two-sided tests ``bootstrap-both``, ``bootstrap``, ``bootstrap-percentile`` and ``ar-studentized`` with ``maxt``,
    and for ``anova`` with ``tukey`` or ``scheffe``; see :class:`~reshuffle.Simultaneous` for the intervals of scores.
    """
    confidence_level: ConfidenceLevel = None
    """Confidence level. By default 0.95; 1 minus 2*alpha with margins.

    ``equivalence`` and ``non-inferiority`` are tests with margins.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Replicated(Options):
    """How many replicates there are."""

    TITLE: ClassVar[str] = "Resampling"
    n_resamples: AnyNumber = 10_000
    """Number of shuffles and draws; auto: 10,000 to 1,000,000.

    R, the number of shuffles or draws of the test, and the number of draws of the intervals. ``auto`` is at least
    10,000 and at most a million: 20/``alpha`` − 1 for the test, or 20·m/``alpha`` − 1 for families of m tests with any
    adjustment but ``maxt`` and ``tukey``; twice as many for ``bootstrap-both`` and ``bootstrap-percentile``; and 40/(1
    − ``confidence_level``) − 1 for intervals whose ends are draws. The result and its signature have the number used.
    Where p is near ``alpha``, a note says how many would decide on which side it lies.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Resampled(Computed, Replicated):
    """How many replicates there are, and what computes them."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Draws(Replicated):
    """How many draws there are, for intervals."""

    n_resamples: AnyNumber = N_DRAWS
    """Bootstrap draws for intervals; auto: 10,000 to 1,000,000.

    ``auto`` is 40/(1 − ``confidence_level``) − 1, but at least 10,000 and at most a million. The result and its
    signature have the number used.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Kept(Options):
    """What a result keeps."""

    TITLE: ClassVar[str] = "Output"
    include: Annotated[
        tuple[Included, ...],
        MinLen(0),
        Kind("{'texts', 'parts'} or sequence of these", "value of include"),
    ] = field(default=(), converter=Several[Included])
    """What else results have: texts, with segment scores (HTML, JSON), and parts of differences.

    ``texts``: HTML lists the segments that differ most. ``Comparison.texts`` has the references, the outputs, and the
    score of every segment.

    ``parts``: each difference is split into the contributions of the parts of the metric's formula, such as BLEU's
    brevity penalty and precisions, with intervals from the same draws (:attr:`PairedDifference.contributions`). For
    ``bleu``, ``chrf``, ``chrf++``, ``meteor``, ``nist``, ``gtm``, ``depf`` and ``wil``, for the kinds of edits of
    ``asr-wer``, ``cer`` and ``mer``, and for the operations of ``sari``.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Sourced(Options):
    """The text that was translated."""

    TITLE: ClassVar[str] = "Input"
    source: Annotated["Sequence[str | None] | None", PYTHON, Kind("sequence of S str, optional")] = None
    """The source text of each segment. ``sari`` needs it, and reports with texts (``include="texts"``) show it."""


@frozen(slots=False, eq=False, repr=False)
class Compare(Resampled, Kept, Intervals, Tested, Pairs, Sourced, Stratified, Texts):
    """:func:`reshuffle.compare`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class OptionalIntervals(Options):
    """Confidence intervals, if any."""

    TITLE: ClassVar[str] = "Intervals"
    interval: Annotated[types.Interval | str | None, Kind("str, optional", "interval")] = None
    """Confidence intervals: a name in :data:`reshuffle.inference.intervals.INTERVALS`. By default percentile with
    ``confidence_level``, else none.
    """
    confidence_level: ConfidenceLevel = None
    """Confidence level. By default 0.95 with ``interval``."""


@frozen(slots=False, eq=False, repr=False)
class Score(Resampled, Draws, OptionalIntervals, Stratified, Texts):
    """:func:`reshuffle.score`."""

    def check_together(self) -> None:
        """:class:`InputError` for draws without the intervals that they are for."""
        if self.interval is not None or self.confidence_level is not None:
            return
        if self.n_resamples != N_DRAWS or self.seed != DEFAULT_SEED:
            raise InputError(
                "{drawn} is for confidence intervals: add {interval} or {level}, or leave it out",
                drawn=Argument("seed" if self.n_resamples == N_DRAWS else "n_resamples"),
                interval=Argument("interval", ("percentile",)),
                level=Argument("confidence_level"),
            )


@frozen(slots=False, eq=False, repr=False)
class CompareSets(Resampled, Kept, Intervals, Tested, Pairs):
    """:func:`reshuffle.compare_sets`."""

    TITLE: ClassVar[str] = "Input"

    sets: Annotated["Mapping[str, AnySet]", PYTHON, Kind("mapping of str to TestSet or (references, systems)")] = field(
        kw_only=False
    )
    """The test sets by name, at least one."""
    metrics: AnyMetrics = field(default="bleu", kw_only=False)
    """The metrics on test sets that have none of their own."""
    average: Annotated[bool, Flag(("--average/--no-average",))] = field(default=True, kw_only=True)
    """Also compare the average scores over test sets.

    The test must be ``ar`` (scheme ``iid``), a bootstrap test or ``permutation``; or ``equivalence`` or
    ``non-inferiority``, whose margins then also apply to the averages.
    """
    missing_systems: types.MissingSystems | str = field(default="error", kw_only=True)
    """For systems that are not in every test set: error, or drop to leave them out, with a warning."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Watched(Working):
    """Threads, and how a result is watched, where nothing is drawn."""

    TITLE: ClassVar[str] = "Resampling"
    workers: Threads = None
    progress: Progress = None


@frozen(slots=False, eq=False, repr=False)
class SegmentScoring(Watched, Texts):
    """:func:`reshuffle.segment_scores`."""

    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Then documents are scored, instead of segments."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class RunTests(Test):
    """The tests of runs."""

    exchange: Annotated[tuple[ExchangeName, ...], Kind("str or sequence of str", "exchange")] = field(
        default=("auto",), converter=Several[ExchangeName]
    )
    """What is exchanged between two systems: names in :data:`reshuffle.inference.exchange.EXCHANGES`. The first one
    decides. ``auto`` is hierarchical (segment if a system has one run), then tests of other questions; ``all`` is all
    but multeval.

    The default, ``auto``, asks whether new runs on new segments would differ: ``hierarchical``, with any number of runs
    from two on. The tests of other questions are ``welch``, ``run`` if its p-value can be as small as ``alpha`` with
    these numbers of runs, ``segment``, and ``pooled``, the reading of Clark et al.
    """
    statistic: types.RunStatistic | str = "pooled"
    """The score of a system: that of all runs' outputs taken as one (pooled), or the mean of the runs' scores (mean).
    """
    adjust: Annotated[types.RunAdjustment | str | None, Kind("str or None", "adjustment")] = "auto"
    """Adjustment of p: a name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`.

    The default, ``auto``, is step-down ``maxt``, or ``holm`` where pairs have no replicates in common.
    """
    family: Literal["metric", "all"] | str = "metric"
    """Tests that are adjusted together: the pairs under each metric (metric) or under all metrics (all)."""
    alpha: Alpha = None
    confidence_level: ConfidenceLevel = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Medians(Options):
    """Which run is the median."""

    TITLE: ClassVar[str] = "Development set"
    median_on: types.RunSet | str = "test"
    """Choose the median run of each system by its score on the test set (test) or development set (dev).

    Clark et al. recommend another set than the one to analyse.
    """
    median_metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """The metric whose median run the report recommends for analysis. By default the first."""


@frozen(slots=False, eq=False, repr=False)
class CompareRuns(Resampled, Medians, RunTests, Pairs, Stratified):
    """:func:`reshuffle.compare_runs`."""

    references: Annotated["References", PYTHON, Kind("S references, or columns of S references each, or None")] = field(
        default=None, kw_only=False
    )
    """As for :func:`reshuffle.compare`. None if all metrics bring their own scores."""
    systems: Annotated[
        "Mapping[str, Sequence[Lines] | int] | None", PYTHON, Kind("mapping of str to sequence of S hypotheses each")
    ] = field(default=None, kw_only=False)
    """For each system the outputs of its runs; systems may have different numbers of runs. Without references, the
    number of runs of each system, by default of all runs that have scores.
    """
    metrics: AnyMetrics = field(default="bleu", kw_only=False)
    """As for :func:`reshuffle.compare`. Metrics that bring their own scores have those of each run, as in
    ``SegmentScores("accuracy", {"x": [run, run], "y": [run, run]})``; or the output of run i of the system ``x`` is
    called ``x#i``, counted from 0. Functions of texts are not supported.
    """
    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """As for :func:`reshuffle.compare`."""
    dev_references: Annotated["References", PYTHON, Kind("references, optional")] = field(default=None, kw_only=True)
    """References of the development set, as for :func:`reshuffle.compare`."""
    dev_systems: Annotated[
        "Mapping[str, Sequence[Lines]] | None", PYTHON, Kind("mapping of str to sequence of hypotheses, optional")
    ] = field(default=None, kw_only=True)
    """Outputs of the same runs on the development set, for the standard deviation of its scores, ``s_dev``."""
    dev_scores: Annotated[
        "Mapping[str, Mapping[str, Sequence[float]]] | None",
        PYTHON,
        Kind("mapping of str to (mapping of str to sequence of float), optional"),
    ] = field(default=None, kw_only=True)
    """Instead of ``dev_systems``: for each system and metric the score of each run on the development set."""
