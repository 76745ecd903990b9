"""The options of :func:`reshuffle.flips`."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge
from attrs import field, frozen

from ..errors import InputError, quoted
from .comparisons import Watched
from .declare import Check, Flag, Kind
from .groups import PYTHON
from .inputs import IdsOfDocuments

if TYPE_CHECKING:
    from ..data.corpus import References, Systems
    from ..metrics.named import AnyMetric


def finite(name: str, value: Any) -> float:
    """The value as a float; :class:`InputError` if it is not a finite number."""
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {quoted(value)}")
    return number


@frozen(slots=False, eq=False, repr=False)
class FlipOptions(Watched):
    """:func:`reshuffle.flips`."""

    TITLE: ClassVar[str] = "Flips"

    references: Annotated["References", PYTHON, Kind("references, optional")] = field(default=None, kw_only=False)
    """As for :func:`reshuffle.compare`."""
    systems: Annotated["Systems", PYTHON, Kind("systems, optional")] = field(default=None, kw_only=False)
    """As for :func:`reshuffle.compare`."""
    metric: Annotated["str | AnyMetric", PYTHON, Kind("str or metric")] = field(default="bleu", kw_only=False)
    """One of those for :func:`reshuffle.compare`."""
    threshold: Annotated[float | None, Flag(metavar="SCORE"), Check(finite)] = field(default=None, kw_only=True)
    """A segment passes with at least this score (or, if lower is better, at most this). Needed unless all scores are 0
    or 1. By default 0.5.

    In the units of segment scores, as :func:`reshuffle.segment_scores` returns them.
    """
    baseline: Annotated[str | None, Flag(metavar="NAME")] = field(default=None, kw_only=True)
    """The system to compare with. By default the first."""
    system: Annotated[str | None, Flag(metavar="NAME")] = field(default=None, kw_only=True)
    """The other system. By default the only other one."""
    top: Annotated[int, Ge(0)] = field(default=10, kw_only=True)
    """How many segments to list: those that add most to the difference."""
    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Documents are then compared instead of segments; the score of a document is the
    corpus score of its segments.
    """
