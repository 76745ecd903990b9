"""The null hypotheses of ``study type1`` that have options: ``noise:rate=0.1``, or ``Noise(rate=0.1)`` in Python."""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Protocol

from annotated_types import Ge, Gt, Lt
from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from .choices import Choice, Named
from .declare import Kind, documented
from .groups import by_metric

Degraded = Annotated[
    types.Equalize | str,
    Doc("How the better system is degraded: mix (with segments of a third system) or drop-words."),
]


@documented
@frozen(slots=False)
class EqualScore(Choice):
    """The null ``equal-score``: the scores of two systems on all the data are made equal.

    >>> EqualScore(equalize="drop-words")
    EqualScore(equalize='drop-words')
    """

    equalize: Degraded = field(default="mix", kw_only=True)

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        return {"null": "equal-score", "equalize": self.equalize}


@documented
@frozen(slots=False)
class Margin(Choice):
    """The null ``margin``: as ``equal-score``, but the system is worse by the margin."""

    margins: Annotated[Mapping[str, float], Kind("mapping of str to float, optional")] = field(
        default=None, converter=by_metric
    )
    """The margin of each metric, a positive number in points of the metric: ``{'bleu': 0.5}``. By default that of the
    tests of equivalence or non-inferiority in the study.
    """
    equalize: Degraded = field(default="mix", kw_only=True)

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        return {"null": "margin", "margins": self.margins, "equalize": self.equalize}


@documented
@frozen(slots=False)
class Documents(Choice):
    """The nulls ``documents`` and ``documents-as-units``: whole documents are drawn and swapped.

    The options are for data without documents, which are then simulated.
    """

    size: Annotated[int | None, Ge(2)] = field(default=None, kw_only=True)
    """Segments in a simulated document. By default 15, if ``icc`` is given.

    Sizes of test sets are then in segments, and rounded down to whole documents.
    """
    icc: Annotated[float | None, Gt(0), Lt(1)] = field(default=None, kw_only=True)
    """The intraclass correlation of differences under the first metric. By default .1, if ``size`` is given."""
    as_units: bool = field(default=False, kw_only=True)
    """Whether tests resample documents: the null ``documents-as-units``."""

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        name = "documents-as-units" if self.as_units else "documents"
        return {"null": name, "document_size": self.size, "icc": self.icc}


@documented
@frozen(slots=False)
class Noise(Choice):
    """The null ``noise``: two copies of one system, each with its own random edits of words."""

    rate: Annotated[float, Gt(0), Lt(1)] = field(default=0.05, kw_only=True)
    """The share of words to edit."""

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        return {"null": "noise", "noise": self.rate}


@documented
@frozen(slots=False)
class Replicate(Choice):
    """The null ``replicate``: two disjoint sets of runs of one configuration, which all systems are runs of."""

    runs: Annotated[int, Ge(1)] = field(default=1, kw_only=True)
    """The number of runs on each side."""

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        return {"null": "replicate", "runs": self.runs}


class TrainedSystems(Protocol):
    """How the systems of the null ``variants`` were made: a :class:`reshuffle.tune.TrainedVariants`."""

    @property
    def plan(self) -> Mapping[str, Any]:
        """The options of the training."""

    @property
    def about(self) -> str:
        """How the systems were made, in words."""


@documented
@frozen(slots=False)
class Variants(Choice):
    """The null ``variants``: pairs of systems that are assumed to be equivalent.

    Without a baseline, all pairs take turns.
    """

    trained: Annotated[TrainedSystems, Kind("reshuffle.tune.TrainedVariants")]
    """How the systems were made, for the report."""

    @property
    def settings(self) -> dict[str, Any]:
        """The null and its options."""
        return {"null": "variants", "variants": self.trained}


NULLS_WITH_OPTIONS: Named = {
    "equal-score": partial(EqualScore),
    "margin": partial(Margin),
    "documents": partial(Documents, as_units=False),
    "documents-as-units": partial(Documents, as_units=True),
    "noise": partial(Noise),
    "replicate": partial(Replicate),
}
