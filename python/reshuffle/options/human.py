"""The options of :func:`reshuffle.human`."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Lt, MinLen
from attrs import field, frozen

from ..errors import Argument, InputError
from .comparisons import Watched
from .declare import Excludes, Flag, Kind, Options
from .groups import Baseline, names
from .inputs import IdsOfDocuments, IdsOfStrata, Inputs


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Labelling(Options):
    """What was labelled, and what is estimated."""

    TITLE: ClassVar[str] = "Labels"
    human: Annotated[tuple[str, ...], Flag(metavar="NAME"), Kind("str or sequence of str", "metric"), MinLen(0)] = (
        field(default=(), converter=names)
    )
    """The metric that has the labels; or several, one for each rater. By default the one with missing scores.

    With several raters, the label of a segment is the mean of its labels. For a difference, only raters who labelled
    both systems count.
    """
    raters: Literal["fixed", "random"] = "fixed"
    """Raters are fixed (only these count) or random (a sample of raters like them)."""
    baseline: Baseline = None
    """The system to compare with. By default the first."""
    all_pairs: bool = False
    """Compare every pair of systems, and rank them."""
    target: Literal["population", "set"] = "population"
    """Estimate the mean of the population (from which these segments were drawn) or the set (these segments, as if
    people had labelled all of them).
    """
    difference: Annotated[float | None, Gt(0), Flag(metavar="D")] = None
    """Plan how many labels show a difference of this size (with 80% power)."""
    looks: Annotated[int | None, Ge(2), Flag(metavar="N")] = None
    """Plan N equally spaced looks for --difference. Each of them may end the labelling."""
    confidence_level: Annotated[float, Gt(0), Lt(1), Flag(("--confidence",), "LEVEL")] = 0.95
    """Confidence level of the intervals."""

    def check_together(self) -> None:
        """:class:`InputError` for looks without what they plan."""
        looks, difference = Argument("looks"), Argument("difference")
        if self.looks is not None and (self.difference is None or self.target == "set"):
            raise InputError(
                "{looks} are planned for a {difference} of all segments like these: give it, and leave out the target "
                "'set'",
                looks=looks,
                difference=difference,
            )
        if self.looks is not None and self.raters == "random":
            raise InputError(
                "{looks} cannot be planned with {random}: more labels do not make the raters differ less; leave it "
                "out, or use {fixed}",
                looks=looks,
                random=Argument("raters", ("random",)),
                fixed=Argument("raters", ("fixed",)),
            )


@frozen(slots=False, eq=False, repr=False)
class HumanOptions(Watched, Labelling, Inputs):
    """:func:`reshuffle.human`."""

    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Documents are then the units, and must be labelled whole or not at all."""
    strata: Annotated[IdsOfStrata, Excludes(("looks",), "the degrees of freedom of more labels are not known")] = field(
        default=None, kw_only=True
    )
    """The stratum id of each segment. Labels are then a random sample within each stratum, in any proportions. All
    segments of a document must be in the same stratum.
    """
