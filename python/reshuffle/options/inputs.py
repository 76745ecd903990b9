"""What is compared or evaluated: texts, metrics, documents and strata, test sets, and what people said of outputs."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from attrs import field, frozen
from typing_extensions import Doc

from .declare import Flag, Kind, Options
from .groups import PYTHON, Progress, Threads, Working
from .hints import with_hints

if TYPE_CHECKING:
    from ..data.corpus import DocumentIds, References, StratumIds, Systems
    from ..data.judgments import Judgments
    from ..data.score_tables import ScoreTable
    from ..metrics.named import Metrics
    from ..metrics.precomputed import SegmentScores

IdsOfDocuments = Annotated[
    "DocumentIds | None", Flag(("--docs",), shown=False), Kind("sequence of S str or int, optional")
]
ReferenceTexts = Annotated[
    "References",
    PYTHON,
    Kind("S references, or columns of these"),
    Doc("As for :func:`reshuffle.compare`."),
]
OutputTexts = Annotated[
    "Systems",
    PYTHON,
    Kind("mapping of str to S hypotheses, sequence of these, or a data frame"),
    Doc("As for :func:`reshuffle.compare`."),
]
AnyMetrics = Annotated[
    "Metrics", PYTHON, Kind("str, metric, or sequence of these"), Doc("As for :func:`reshuffle.compare`.")
]
IdsOfStrata = Annotated["StratumIds | None", PYTHON, Kind("sequence of S str or int, optional")]


@frozen(slots=False, eq=False, repr=False)
class Inputs(Options):
    """What is compared. Commands read it from files."""

    TITLE: ClassVar[str] = "Input"
    references: ReferenceTexts = None
    systems: OutputTexts = None
    metrics: AnyMetrics = "bleu"
    documents: IdsOfDocuments = field(default=None, kw_only=True)
    """The document id of each segment. Sizes are then in documents, which are drawn whole."""


@with_hints
@dataclasses.dataclass(frozen=True, eq=False)
class TestSet:
    """One of the test sets of :func:`compare_sets`: texts, metrics and resampling units.

    Parameters
    ----------
    references, systems, documents, strata, source
        As for :func:`reshuffle.compare`.
    metrics : str, metric, or sequence of these, optional
        The metrics on this test set, instead of those of the call: with other options, such as a tokenizer, or with
        scores of this test set (:class:`~reshuffle.SegmentScores`). All test sets need metrics of the same names.

    Examples
    --------
    >>> import reshuffle
    >>> chinese = TestSet(["今天天气很好"], [["今天天气好"]], reshuffle.metric("bleu", tokenize="zh"))
    """

    __test__: ClassVar[bool] = False  # pytest would take it for a class of tests

    references: "References" = dataclasses.field(default=None, repr=False)
    systems: "Systems" = dataclasses.field(default=None, repr=False)
    metrics: "Metrics | None" = None
    documents: "DocumentIds | None" = dataclasses.field(default=None, repr=False)
    strata: "StratumIds | None" = dataclasses.field(default=None, repr=False)
    source: Sequence[str | None] | None = dataclasses.field(default=None, repr=False)


AnySet: TypeAlias = "TestSet | tuple[References, Systems]"


@frozen(slots=False, eq=False, repr=False)
class JudgedTexts(Working):
    """The options of :meth:`reshuffle.meta.JudgedSet.from_texts`."""

    TITLE: ClassVar[str] = "Input"
    references: ReferenceTexts
    systems: OutputTexts
    metrics: AnyMetrics = "sentbleu"
    """As for :func:`reshuffle.compare`. Functions of texts are not supported."""
    judgments: Annotated["Judgments | None", PYTHON, Kind("Judgments, optional")] = field(default=None, kw_only=True)
    """Votes, from :func:`reshuffle.meta.read_judgments`."""
    human: Annotated["ScoreTable | SegmentScores | None", PYTHON, Kind("ScoreTable or SegmentScores, optional")] = (
        field(default=None, kw_only=True)
    )
    """Scores by people: from :func:`reshuffle.meta.read_scores`, or arrays and data frames as
    :class:`~reshuffle.SegmentScores`.
    """
    scores: Annotated[
        "ScoreTable | SegmentScores | Sequence[ScoreTable | SegmentScores]",
        PYTHON,
        Kind("ScoreTable, SegmentScores, or sequence of these"),
    ] = field(default=(), kw_only=True)
    """Further metrics: scores of the same outputs from other programs."""
    name: Annotated[str, PYTHON] = field(default="", kw_only=True)
    """Such as a language pair."""
    workers: Threads = field(default=None, kw_only=True)
    progress: Progress = field(default=None, kw_only=True)
