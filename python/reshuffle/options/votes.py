"""The options of :func:`reshuffle.votes`."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge
from attrs import field, frozen

from .. import types
from ..validate import DEFAULT_SEED, chosen_seed
from .declare import Flag, Kind, Options
from .groups import PYTHON, Alpha, ConfidenceLevel, Progress, Resamples, Seed, Workers, Working

if TYPE_CHECKING:
    import os

    from ..data.votes import VoteTable

Role = Literal["first", "second", "winner", "judge", "ranking", "prompt"]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ReadVotes(Options):
    """How files of votes are read."""

    TITLE: ClassVar[str] = "Input"
    columns: Annotated[Mapping[Role, str], Flag(metavar="ROLE=NAME"), Kind("mapping of str to str")] = field(
        factory=dict
    )
    """Columns or keys of the file by role: {names}. By default known names, such as model_a, model_b and winner."""
    language_pair: str | None = None
    """The language pair of WMT's rankings, such as cs-en, if the file has several."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Rating(Options):
    """The model of the votes."""

    TITLE: ClassVar[str] = "Ratings"
    units: Annotated[types.VoteUnit | str | None, Kind(noun="unit of votes")] = None
    """What is resampled as a whole: {names}. By default the first of judge, ranking and prompt that the file has.

    Votes of one judge, in one ranking or on one prompt are more alike than others. If judges are a few models, take
    ``prompt``. ``vote`` takes all votes as independent, which makes intervals too short if they are not.
    """
    ties: Annotated[types.VoteTies | str, Kind(noun="treatment of ties")] = "model"
    """How ties count: model (by their probability in Davidson's model), half (as half a win for both) or drop (not at
    all). The last two are the model of Bradley and Terry. Half wins bring ratings closer together.
    """
    prior: Annotated[float, Ge(0), Flag(metavar="WINS")] = 0.0
    """Wins added to both systems of every compared pair (such as 0.5). They make ratings finite where the votes alone
    do not, and draw them together. Where they are needed in more than 1% of the draws, there are no intervals and
    tests.
    """
    position: bool = False
    """Fit and test the advantage of being shown first (or on the left)."""
    scale: Annotated[types.RatingScale | str, Kind(noun="scale of ratings")] = "log"
    """Scale of the ratings: log (natural logarithms of strengths) or elo (400 times their logarithms to base 10). Their
    mean is 0.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Drawn(Working):
    """The draws, and what is decided by them."""

    TITLE: ClassVar[str] = "Resampling"
    confidence_level: ConfidenceLevel = None
    alpha: Alpha = None
    n_resamples: Resamples = 10_000
    """Bootstrap draws of the units."""
    seed: Seed = field(default=DEFAULT_SEED, converter=chosen_seed)
    workers: Workers = None
    progress: Progress = None


@frozen(slots=False, eq=False, repr=False)
class VotesOptions(Drawn, Rating, ReadVotes):
    """:func:`reshuffle.votes`."""

    votes: Annotated[
        "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | VoteTable",
        PYTHON,
        Kind("path, sequence of paths, or VoteTable"),
    ]
    """Files of votes, which docs/for/votes.md describes, or votes made by :meth:`reshuffle.VoteTable.from_columns`."""
