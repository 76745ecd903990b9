"""The options of meta-evaluation: how well metrics agree with people."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge
from attrs import field, frozen
from attrs.converters import optional

from .. import types
from ..errors import InputError, quoted
from .declare import Check, Except, Flag, Kind, Options, Several, several
from .groups import PYTHON, Alpha, Computed, ConfidenceLevel, Resamples, real

if TYPE_CHECKING:
    from ..meta.material import JudgedSet

TestSets = Annotated[
    "JudgedSet | Sequence[JudgedSet] | Mapping[str, JudgedSet]",
    PYTHON,
    Kind("JudgedSet, sequence of these, or mapping of str to JudgedSet"),
]
CoefficientName = types.MetaCoefficient | str
GroupingName = types.Grouping | str
TestName = Literal["auto"] | types.MetaTest | Literal["none"] | str
IntervalName = types.MetaInterval | Literal["none"] | str
# Whether to average over test sets, or names of groups of test sets, which are averaged first.
Averages = bool | Mapping[str, Sequence[str]]
# The coefficients of each level: those that the other one lacks.
OF_SEGMENTS_ONLY = ("tau", "darr", "kendall-c", "acc23", "tau23")
OF_SYSTEMS_ONLY = ("accuracy", "soft-accuracy")
# The coefficients of systems by default.
BY_DEFAULT: tuple[CoefficientName, ...] = ("pearson", "spearman", "kendall-b", "accuracy")


def of_systems(value: CoefficientName | Sequence[CoefficientName] | None) -> tuple[CoefficientName, ...]:
    """One coefficient or several as a tuple; those of systems by default."""
    return BY_DEFAULT if value is None else several(value)


def no_interval(value: IntervalName | None) -> IntervalName | None:
    """None for ``none``."""
    return None if value == "none" else value


def check_average(shown: str, value: object) -> None:
    """:class:`InputError` for anything but a bool or groups of names. The names are checked with the test sets."""
    if not isinstance(value, bool | Mapping):
        raise InputError(
            f"{shown} must be True, False, or a mapping of names to names of test sets, got {quoted(value)}"
        )
    for name, own in value.items() if isinstance(value, Mapping) else ():
        if isinstance(own, str) or not isinstance(own, Sequence) or not own:
            raise InputError(f"{shown}: expected names of test sets for {quoted(name)}, got {quoted(own)}")


@frozen(slots=False, eq=False, repr=False)
class Judged(Options):
    """The test sets."""

    TITLE: ClassVar[str] = "Input"
    test_sets: TestSets = field(kw_only=False)
    """All with the same metrics. At system level, each needs at least 3 judged systems."""
    average: Annotated[
        Averages,
        Check(check_average),
        Flag(("--average/--no-average",)),
        Kind("bool or mapping of str to sequence of str"),
    ] = field(default=True, kw_only=True)
    """With several test sets, also the mean over them.

    A mapping names groups of test sets, such as years: the result has the mean of each group, and ``average`` is the
    mean of these means and of test sets in no group.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Votes(Options):
    """How votes count."""

    TITLE: ClassVar[str] = "Agreement"
    ties: Annotated[types.MetricTies | str, Kind(noun="treatment of ties")] = "half"
    """How a vote counts in ``tau`` if the metric gives both outputs the same score: half (half concordant, half
    discordant), discordant (WMT12), ignore (WMT13) or denominator (WMT14; the same values as half).
    """
    pooled: bool = False
    """With several test sets, also ``tau`` and ``darr`` of all votes taken as one test set."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class OfSegments(Options):
    """What is asked about segments."""

    TITLE: ClassVar[str] = "Agreement"
    coefficients: Annotated[
        tuple[CoefficientName, ...] | None,
        Except(OF_SYSTEMS_ONLY),
        Flag(("--coefficient", "--coefficients")),
        Kind(noun="coefficient at segment level"),
    ] = field(default=None, converter=optional(Several[CoefficientName]))
    """Names in :data:`reshuffle.meta.COEFFICIENTS`. By default tau for votes; pearson, kendall-b and acc23 for scores.
    """
    groupings: Annotated[tuple[GroupingName, ...] | None, Flag(("--grouping", "--groupings"))] = field(
        default=None, converter=optional(Several[GroupingName])
    )
    """With human scores of segments: agreement over all outputs (none), or its mean within systems (sys) or within
    segments (item). By default item for coefficients that count pairs, none for correlations.

    ``tau`` and ``darr`` always compare outputs of the same segment; their grouping is called ``votes``.
    """
    minimum_difference: Annotated[float, Ge(0), Flag(metavar="POINTS")] = field(default=25.0, converter=real)
    """For darr: the smallest difference of two human scores that counts.

    In points of these scores.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Test(Options):
    """The test. What there is to say of it depends on the function."""

    TITLE: ClassVar[str] = "Test"
    test: Annotated[TestName | None, Kind("str or None", "test")] = "auto"
    """A name in :data:`reshuffle.meta.TESTS`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Decided(Options):
    """What is decided by the test."""

    TITLE: ClassVar[str] = "Test"
    adjust: Annotated[types.MetaAdjustment | str | None, Kind("str or None", "adjustment")] = "auto"
    """Adjust p for multiple comparisons: a name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`. minp needs one
    of the tests perm-*.

    Within a family: all pairs for one coefficient on one test set. ``auto`` is ``holm`` for ``t-both`` and
    ``williams``, and step-down ``maxt`` for others.
    """
    alpha: Alpha = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class WithBaseline(Options):
    """Which metrics are compared."""

    TITLE: ClassVar[str] = "Test"
    baseline: Annotated[str | None, Flag(("--baseline-metric",), "METRIC")] = None
    """Compare the other metrics with this one. By default all pairs are compared, and metrics are ranked."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Intervals(Options):
    """Confidence intervals."""

    TITLE: ClassVar[str] = "Intervals"
    interval: Annotated[IntervalName | None, Kind("str or None", "interval")] = field(
        default="boot-inputs", converter=no_interval
    )
    """Percentile intervals from draws of segments with all their judgments (boot-inputs), of systems (boot-systems) or
    of both (boot-both); or none.

    None is the same as ``none``. For ``tau`` and ``darr``, there is only ``boot-inputs``.
    """
    confidence_level: ConfidenceLevel = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Replicated(Options):
    """How many replicates there are."""

    TITLE: ClassVar[str] = "Resampling"
    n_resamples: Resamples = 1000
    """Shuffles or draws.

    All metrics have the same ones. Test set i of several has the seed ``derive_seed(seed, "test-set", i)``.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Evaluation(Computed, Replicated, Intervals, Decided, Test, Judged):
    """What all functions of :mod:`reshuffle.meta` share."""

    def check_together(self) -> None:
        if self.adjust == "minp" and str(self.test).startswith("boot-"):
            raise InputError(
                f"adjustment 'minp' needs shuffles, which the test {self.test!r} does not make: use 'maxt', or a test "
                "'perm-…'"
            )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TestOfSegments(Test):
    """The test of agreement on segments."""

    test: Annotated[
        TestName | None,
        Except(
            ("williams",),
            "test 'williams' is for Pearson's r at system level: use 'perm-both', or meta.systems "
            "(reshuffle meta systems)",
        ),
        Kind("str or None", "test"),
    ] = "auto"
    """How metrics are compared: a name in :data:`reshuffle.meta.TESTS`. With ``auto``: t-both, and with fewer than 4
    systems or segments perm-inputs for tau and darr, perm-both for others.

    None is the same as ``none``: no tests. ``t-both`` asks about other systems and segments. For ``tau`` and ``darr``,
    ``perm-inputs`` swaps the counts of votes, ``perm-both`` and ``perm-systems`` swap standardized scores and count
    votes again. ``perm-both``, ``perm-inputs`` and ``boot-inputs`` ask about these systems: where metrics favour some
    systems, they reject about a quarter of true null hypotheses about other systems (docs/evidence/people.md).
    """


@frozen(slots=False, eq=False, repr=False)
class Segments(Evaluation, WithBaseline, TestOfSegments, Votes, OfSegments):
    """:func:`reshuffle.meta.segments`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class OfSystems(Options):
    """What is asked about systems."""

    TITLE: ClassVar[str] = "Agreement"
    coefficients: Annotated[
        tuple[CoefficientName, ...],
        Except(OF_SEGMENTS_ONLY),
        Flag(("--coefficient", "--coefficients")),
        Kind(noun="coefficient at system level"),
    ] = field(default=BY_DEFAULT, converter=of_systems)
    """Names in :data:`reshuffle.meta.COEFFICIENTS`.

    ``soft-accuracy`` needs scores or votes of segments.
    """
    human_scores: Annotated[types.HumanScore | str | None, Flag(("--human-score",)), Kind(noun="human scores")] = None
    """How systems are scored by votes: wins (WMT12: the share of its votes that a system wins), expected-wins (WMT13:
    the mean over the other systems) or wins-or-ties (WMT08). By default the scores that people gave to systems or
    segments, else wins.

    See :func:`reshuffle.meta.human_scores`. Scores of segments are averaged.
    """
    scored_segments: Annotated[types.ScoredSegments | str, Kind(noun="scored segments")] = "judged"
    """The segments on which metrics score the systems: judged (those of which people judged an output) or all.

    The segments are the same for all systems. On segments that people did not see, systems may be better or worse. All
    are scored where people scored systems as a whole. Given scores of systems remain as they are.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TestOfSystems(Test):
    """The test of agreement on systems."""

    test: Annotated[
        TestName | None,
        Except(
            ("t-both",),
            "test 't-both' is for segments: use 'williams', 'perm-systems', or meta.segments (reshuffle meta segments)",
        ),
        Kind("str or None", "test"),
    ] = "auto"
    """How metrics are compared: a name in :data:`reshuffle.meta.TESTS`. With ``auto``: williams for pearson with 4
    systems or more, else perm-systems.

    Both ask about other systems, too. None is the same as ``none``: no tests.
    """


@frozen(slots=False, eq=False, repr=False)
class Systems(Evaluation, WithBaseline, TestOfSystems, OfSystems):
    """:func:`reshuffle.meta.systems`."""

    def check_together(self) -> None:
        super().check_together()
        others = [name for name in self.coefficients if name != "pearson"]
        if self.test == "williams" and others:
            raise InputError(
                f"test 'williams' is for 'pearson', not for {others[0]!r}: leave out the test, or {others[0]}"
            )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DrawnVotes(Intervals):
    """Confidence intervals of tau."""

    interval: Annotated[
        IntervalName | None,
        Except(
            ("boot-both", "boot-systems"), "tau has draws of segments only, with all their votes: use 'boot-inputs'"
        ),
        Kind("str or None", "interval"),
    ] = field(default="boot-inputs", converter=no_interval)
    """Percentile intervals from draws of segments with all their judgments (boot-inputs); or none.

    None is the same as ``none``.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DecidingVotes(Votes):
    """How votes count, and which of them decide."""

    pooled: bool = False
    """With several test sets, also ``tau`` of all votes taken as one test set. If there is no average, it decides which
    value is best.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TestOfValues(Test):
    """The test of values of a parameter."""

    test: Annotated[
        TestName | None,
        Except(("williams",), "test 'williams' is for Pearson's r at system level: use 'perm-inputs'"),
        Except(
            ("boot-both", "boot-systems"), "tau has draws of segments only, with all their votes: use 'boot-inputs'"
        ),
        Kind("str or None", "test"),
    ] = "auto"
    """How other values are compared with the best one: a name in :data:`reshuffle.meta.TESTS`. With ``auto``:
    perm-inputs.

    None is the same as ``none``: no tests.
    """


@frozen(slots=False, eq=False, repr=False)
class TuneSmoothing(Evaluation, DrawnVotes, TestOfValues, DecidingVotes):
    """:func:`reshuffle.meta.tune_smoothing`."""

    TITLE: ClassVar[str] = "Input"

    test_sets: TestSets = field(kw_only=False)
    """With votes, and with the metrics of :func:`smoothing_grid`."""
