"""What a meta-evaluation works on: the scores of metrics, and human judgments of the same outputs.

:class:`JudgedSet` is made from texts and metrics, from scores of other programs, or from both. Systems that no one
judged are left out when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import InputError, counted, listed, printable, quoted, unknown_name
from ..metrics.base import Scores
from ..metrics.precomputed import SegmentScores
from ..options.declare import called_with
from ..options.inputs import JudgedTexts
from ..progress import reported
from ..resampling.counting import Data
from ..results.lookup import first_names
from ..settings import Resampling
from .metric_scores import MetricScores, check_size, places_of, rows_at

if TYPE_CHECKING:
    from ..data.judgments import Judgments
    from ..data.score_tables import ScoreTable

# Scores of systems, as public functions take them: one set by people, and several of metrics from other programs.
AnyScores: TypeAlias = "ScoreTable | SegmentScores"
OtherScores: TypeAlias = "AnyScores | Sequence[AnyScores]"


@record(eq=False)
class JudgedSet:
    """A test set of a meta-evaluation: systems, scores of metrics, and human judgments.

    Make it by :meth:`from_texts` or :meth:`from_scores`.
    """

    __test__: ClassVar[bool] = False  # pytest would take it for a class of tests

    name: str
    """Such as a language pair."""
    systems: tuple[str, ...]
    """The judged systems."""
    n_segments: int
    """S."""
    metrics: tuple[MetricScores, ...]
    judgments: Judgments | None = None
    """Votes between pairs of ``systems``."""
    human: ScoreTable | None = None
    """Scores by people, of ``systems`` in this order."""
    left_out: tuple[str, ...] = field(default=(), repr=False)
    """The systems with outputs or scores that no one judged."""

    @property
    def cells(self) -> Scores:
        """The scores of all metrics, higher for better, NaN for missing ones: (M, N, S)."""
        missing = np.full((len(self.systems), self.n_segments), np.nan)
        return np.stack([missing if m.segments is None else m.sign * m.segments for m in self.metrics])

    def __repr__(self) -> str:
        systems = f"{counted(len(self.systems), 'system')} ({first_names(self.systems)})"
        size, metrics = counted(self.n_segments, "segment"), first_names(metric.label for metric in self.metrics)
        return f"<JudgedSet: {_of_set(printable(self.name))}{metrics}; {systems}; {size}>"

    @property
    def human_cells(self) -> Scores | None:
        """The scores of segments by people, higher for better, NaN for missing ones: (N, S). None if there are none."""
        human = self.human
        if human is None or human.segments is None:
            return None
        return human.segments if human.higher_is_better else -human.segments

    def __post_init__(self) -> None:
        if not self.metrics:
            raise InputError("no metrics: expected at least one")
        if self.judgments is None and self.human is None:
            raise InputError(f"{_of_set(self.name)}no judgments and no human scores: expected one of them")
        labels = [m.label for m in self.metrics]
        repeated = next((label for label in labels if labels.count(label) > 1), None)
        if repeated is not None:
            raise InputError(f"two metrics are called {repeated}: rename one of them")

    def on(self, segments: NDArray[np.intp]) -> JudgedSet:
        """The same test set with these segments alone, in increasing order; itself if these are all."""
        if len(segments) == self.n_segments:
            return self
        human, judgments = self.human, self.judgments
        if human is not None and human.segments is not None:
            human = replace(human, segments=human.segments[:, segments], segment_ids=None)
        return replace(
            self,
            n_segments=len(segments),
            metrics=tuple(m.on(segments) for m in self.metrics),
            judgments=None if judgments is None else judgments.on_segments(segments),
            human=human,
        )

    @staticmethod
    @called_with(JudgedTexts)
    def from_texts(options: JudgedTexts) -> JudgedSet:
        """Score the outputs of systems that people judged.

        Returns
        -------
        JudgedSet

        Raises
        ------
        InputError
            If a judged system has no output, numbers of segments differ, there is nothing from people, two metrics have
            the same name, or as :func:`reshuffle.compare`.

        Notes
        -----
        Only judged systems are counted. Memory: 8·N·S·(K + 1) bytes for a metric with K counts.

        Examples
        --------
        >>> import numpy as np
        >>> from reshuffle.meta import ScoreTable, JudgedSet
        >>> references = ["the cat sat on the mat", "a dog barked at the moon"]
        >>> systems = {"a": ["the cat sat", "a dog"], "b": references, "c": ["mat", "the moon"]}
        >>> ratings = ScoreTable("DA", ("a", "b"), np.array([[60.0, 55.0], [99.0, 90.0]]), None, True)
        >>> test_set = JudgedSet.from_texts(references, systems, ["sentbleu", "ter"], human=ratings, name="xx-en")
        >>> test_set.systems, test_set.left_out, [m.label for m in test_set.metrics]
        (('a', 'b'), ('c',), ['sentBLEU', 'TER'])
        """
        data = Data.from_arguments(options.references, options.systems, options.metrics, warn_of_duplicates=False)
        with reported(options.progress) as watched:
            resampling = Resampling(threads=options.threads, progress=watched)
            human = _by_people(options.human)
            return JudgedSet.from_data(data, options.judgments, human, options.scores, options.name, resampling)

    @classmethod
    def from_data(
        cls,
        data: Data,
        judgments: Judgments | None,
        human: ScoreTable | None,
        scores: OtherScores,
        name: str,
        resampling: Resampling,
    ) -> JudgedSet:
        """From checked texts and metrics: see :meth:`from_texts`."""
        judged = _judged(data.names, judgments, human, name)
        counted = [
            MetricScores.from_sample(label, sample, judged, data.n_references)
            for label, sample in zip(data.labels, data.count_alone(judged, resampling), strict=True)
        ]
        others = [_other(each, judged, data.n_segments) for each in _listed(scores)]
        left_out = tuple(system for system in data.names if system not in judged)
        votes, scored = _votes_of(judgments, judged, data.n_segments), _human_of(human, judged, data.n_segments)
        return cls(name, judged, data.n_segments, (*counted, *others), votes, scored, left_out)

    @classmethod
    def from_scores(
        cls,
        scores: OtherScores,
        *,
        judgments: Judgments | None = None,
        human: AnyScores | None = None,
        name: str = "",
    ) -> JudgedSet:
        """From scores of other programs, without texts.

        Parameters
        ----------
        scores : ScoreTable, SegmentScores, or sequence of these
            The metrics.
        judgments, human, name
            As for :meth:`from_texts`.

        Raises
        ------
        InputError
            If no metric has scores of a judged system, numbers of segments differ, there is nothing from people, or two
            metrics have the same name.

        Examples
        --------
        From arrays or data frames with a column for each system:

        >>> from reshuffle import SegmentScores
        >>> from reshuffle.meta import JudgedSet
        >>> ratings = SegmentScores("DA", {"a": [60, 55], "b": [99, 90]})
        >>> comet = SegmentScores("COMET", {"b": [0.9, 0.8], "a": [0.5, None]}, missing="pairwise")
        >>> test_set = JudgedSet.from_scores(comet, human=ratings)
        >>> test_set.metrics[0].segments
        array([[0.5, nan],
               [0.9, 0.8]])
        """
        listed_scores, human = _listed(scores), _by_people(human)
        if not listed_scores:
            raise InputError("no metrics: expected at least one")
        scored = dict.fromkeys(system for each in listed_scores for system in _systems_of(each))
        named = [system for each in (judgments, human) if each is not None for system in each.systems]
        # In the order in which people's judgments name them; those without scores are an error.
        names = list(dict.fromkeys([*(system for system in named if system in scored), *scored]))
        judged = _judged(names, judgments, human, name)
        sizes = [n for each in [*listed_scores, human, judgments] if (n := _n_segments(each)) is not None]
        n_segments = sizes[0] if sizes else 0
        metrics = tuple(_other(each, judged, n_segments) for each in listed_scores)
        left_out = tuple(system for system in names if system not in judged)
        votes, by_people = _votes_of(judgments, judged, n_segments), _human_of(human, judged, n_segments)
        return cls(name, judged, n_segments, metrics, votes, by_people, left_out)


def _of_set(name: str) -> str:
    """The start of a message about a test set."""
    return f"{name}: " if name else ""


def _listed(scores: OtherScores) -> list[AnyScores]:
    """One or several metrics as a list."""
    found = list(scores) if isinstance(scores, Sequence) else [scores]
    for each in found:
        _check_scores("scores", each, "COMET")
    return found


def _check_scores(argument: str, given: object, example: str) -> None:
    """:class:`InputError` for what has scores, but not their name: a dict, an array or a data frame."""
    from ..data.score_tables import ScoreTable

    if not isinstance(given, ScoreTable | SegmentScores):
        raise InputError(
            f"{argument}: expected SegmentScores or a ScoreTable, got {quoted(given)}: write "
            f"{argument}=SegmentScores({example!r}, {{'SYSTEM': SCORES, …}}), or with a data frame that has a column "
            "for each system"
        )


def _by_people(human: AnyScores | None) -> ScoreTable | None:
    """The scores of people as a table."""
    if human is None:
        return None
    _check_scores("human", human, "DA")
    if not isinstance(human, SegmentScores):
        return human
    from ..data.score_tables import ScoreTable

    names = tuple(human.counts)
    segments = human.reported_segment_scores(names, np.stack([*human.counts.values()]))
    return ScoreTable(human.name, names, segments, higher_is_better=bool(human.higher_is_better))


def _systems_of(scores: AnyScores) -> Sequence[str]:
    """The names of the systems with scores."""
    return list(scores.counts) if isinstance(scores, SegmentScores) else scores.systems


def _n_segments(each: object) -> int | None:
    """The number of segments, None if it is unknown."""
    if isinstance(each, SegmentScores):
        return len(next(iter(each.counts.values())))
    return getattr(each, "n_segments", None)


def _other(scores: AnyScores, systems: tuple[str, ...], n_segments: int) -> MetricScores:
    """A metric from another program."""
    if not isinstance(scores, SegmentScores):
        return MetricScores.from_table(scores, systems, n_segments)
    check_size(scores.name, _n_segments(scores), n_segments)
    data = Data(None, [scores], systems, n_segments)
    (sample,) = data.count(systems, Resampling())
    return MetricScores.from_sample(scores.name, sample, systems, None)


def _judged(
    names: Sequence[str], judgments: Judgments | None, human: ScoreTable | None, test_set: str
) -> tuple[str, ...]:
    """The systems that people judged, in the order of ``names``; :class:`InputError` for one that is not among them."""
    judged: dict[str, None] = {}
    if judgments is not None:
        voted = np.unique(np.concatenate([judgments.better, judgments.worse, *judgments.tied[:, 1:].T]))
        judged |= dict.fromkeys(judgments.systems[at] for at in voted.tolist())
    if human is not None:
        judged |= dict.fromkeys(name for name, has in zip(human.systems, _has_scores(human), strict=True) if has)
    if not judged:
        raise InputError(f"{_of_set(test_set)}no judgments and no human scores of any system: expected some")
    known = set(names)
    for name in judged:
        if name not in known:
            raise unknown_name(f"judged system{f' of {test_set}' if test_set else ''}", name, names)
    return tuple(name for name in names if name in judged)


def _has_scores(human: ScoreTable) -> NDArray[np.bool_]:
    """Whether people scored each system of a table, or a segment of it."""
    has = np.zeros(len(human.systems), dtype=np.bool_)
    if human.segments is not None:
        has |= ~np.isnan(human.segments).all(axis=1)
    if human.system_scores is not None:
        has |= ~np.isnan(human.system_scores)
    return has


def _votes_of(judgments: Judgments | None, systems: tuple[str, ...], n_segments: int) -> Judgments | None:
    """The same votes, with indices into ``systems``."""
    if judgments is None:
        return None
    last = max((int(each.max()) for each in (judgments.segment, judgments.tied[:, 0]) if each.size), default=-1)
    if last >= n_segments:
        raise InputError(
            f"{judgments.source or 'the judgments'}: a judgment of segment {last + 1:,}, but the test set has "
            f"{n_segments:,} segments"
        )
    at = places_of(judgments.systems, systems).astype(np.int64)
    tied = np.array(judgments.tied, dtype=np.int64)
    tied[:, 1:] = at[tied[:, 1:]]
    return replace(
        judgments,
        systems=systems,
        n_segments=n_segments,
        raw=_votes_of(judgments.raw, systems, n_segments),
        better=at[judgments.better],
        worse=at[judgments.worse],
        tied=tied,
    )


def _human_of(human: ScoreTable | None, systems: tuple[str, ...], n_segments: int) -> ScoreTable | None:
    """The human scores of these systems, NaN for those without."""
    if human is None:
        return None
    check_size(human.name, human.n_segments, n_segments)
    at = places_of(systems, human.systems)
    return replace(
        human,
        systems=systems,
        segments=None if human.segments is None else rows_at(human.segments, at),
        system_scores=None if human.system_scores is None else rows_at(human.system_scores, at),
    )


def check_same_metrics(sets: Sequence[JudgedSet]) -> tuple[str, ...]:
    """The labels of the metrics; :class:`InputError` if test sets have different ones."""
    labels = tuple(m.label for m in sets[0].metrics)
    for other in sets[1:]:
        own = [m.label for m in other.metrics]
        if set(own) != set(labels):
            missing = [label for label in labels if label not in own]
            without, found = (other, own) if missing else (sets[0], labels)
            missing = missing or [label for label in own if label not in labels]
            name = quoted(without.name) if without.name else "one"
            raise InputError(
                f"test sets have different metrics: {quoted(missing[0])} is not in all of them; test set {name} has "
                f"{listed(found)}"
            )
    return labels


def as_sets(test_sets: JudgedSet | Sequence[JudgedSet] | Mapping[str, JudgedSet]) -> list[JudgedSet]:
    """One or several test sets as a list with distinct names, and metrics in the same order."""
    if isinstance(test_sets, JudgedSet):
        found = [test_sets]
    else:
        found = list(test_sets.values() if isinstance(test_sets, Mapping) else test_sets)
    if not found:
        raise InputError("no test sets: expected at least one")
    if not all(isinstance(each, JudgedSet) for each in found):
        raise InputError(
            f"expected a meta.JudgedSet, got {quoted(test_sets)}: make one with meta.JudgedSet.from_scores(scores, "
            "human=ratings), or from_texts"
        )
    if isinstance(test_sets, Mapping):
        found = [replace(each, name=name) for name, each in test_sets.items()]
    names = [each.name or f"set {at}" for at, each in enumerate(found, 1)] if len(found) > 1 else [found[0].name]
    repeated = next((name for name in names if names.count(name) > 1 or name in ("average", "pooled")), None)
    if repeated is not None:
        raise InputError(f"test sets need names of their own, other than average and pooled, got {quoted(repeated)}")
    labels = check_same_metrics(found)
    ordered = [tuple(sorted(each.metrics, key=lambda m: labels.index(m.label))) for each in found]
    return [
        replace(each, name=name, metrics=metrics) for each, name, metrics in zip(found, names, ordered, strict=True)
    ]
