"""The options of :func:`reshuffle.watch`."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from typing import Annotated, ClassVar

from annotated_types import Ge
from attrs import field, frozen
from attrs.converters import optional
from typing_extensions import Doc

from .. import types
from ..errors import InputError, quoted
from .comparisons import Watched
from .declare import Flag, Kind, Options
from .flips import finite
from .groups import SYSTEM_OR_FILE, FixedLevel
from .inputs import IdsOfDocuments, Inputs

# What ``e-bh`` is, and the paper.
E_BH = "Benjamini and Hochberg's procedure for e-values, however they depend on one another"
SOURCE_OF_E_BH = "doi:10.1111/rssb.12489"


def bounds(value: tuple[float, float]) -> tuple[float, float]:
    """Two finite numbers, the smaller one first."""
    expected = "bounds: expected two numbers, the lowest and the highest possible score"
    try:
        low, high = value
    except (TypeError, ValueError):
        got = " and ".join(map(quoted, value)) if isinstance(value, tuple | list) else quoted(value)
        raise InputError(f"{expected}, got {got or 'none'}") from None
    low, high = finite("bounds", low), finite("bounds", high)
    if low >= high:
        raise InputError(f"{expected}, got {low:g} and {high:g}")
    return low, high


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Looks(Options):
    """When to look, for tests that do not look after every unit."""

    TITLE: ClassVar[str] = "Looks"
    first_look: Annotated[int, Ge(2), Flag(metavar="N")] = 500
    """Number of units at the first look (for asymptotic). Nothing is tested before it."""
    looks: Annotated[int, Ge(1), Flag(metavar="N")] = 5
    """Planned looks, equally spaced (for obrien-fleming and pocock)."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Looking(Looks):
    """How differences are tested while data arrive."""

    baseline: Annotated[str | None, Flag(metavar="NAME", note=SYSTEM_OR_FILE)] = None
    """The system to compare with. By default the first."""
    method: types.SequentialMethod | str = "auto"
    """auto, betting (for scores with bounds), sign (for wins and losses), asymptotic, obrien-fleming or pocock. Of
    these, betting and sign test after every unit, asymptotic from the first look on, and the others at planned looks.
    The last three take any metric. The default, auto, is betting if there are bounds, else asymptotic.

    See docs/guide/watch.md and :mod:`reshuffle.inference.sequential`. Choose the method before you see scores.
    """
    bounds: Annotated[tuple[float, float] | None, Flag(metavar="LOW HIGH"), Kind("pair of float, optional")] = field(
        default=None, converter=optional(bounds)
    )
    """Lowest and highest possible score, such as 0 and 1. Needed by betting."""
    alpha: FixedLevel = 0.05
    """Largest error rate: the probability of any wrong verdict, over all looks; with e-bh, the expected share of wrong
    verdicts.
    """
    adjust: Annotated[
        types.SequentialAdjustment | str,
        Doc(
            f"""How pairs and metrics share alpha: bonferroni (equally) or e-bh (betting and sign only: alpha bounds the
            expected share of wrong verdicts among those of one look, whenever it is).

            e-bh is {E_BH} (Wang & Ramdas 2022, {SOURCE_OF_E_BH})."""
        ),
    ] = "bonferroni"
    planned: Annotated[int | None, Ge(2), Flag(metavar="N")] = None
    """Units at the last planned look, chosen beforehand."""


@frozen(slots=False, eq=False, repr=False)
class WatchOptions(Watched, Looking, Inputs):
    """:func:`reshuffle.watch`."""

    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Documents are then the units, instead of segments."""
