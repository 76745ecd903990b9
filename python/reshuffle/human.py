"""``human``: is a system better, by the labels of some segments and a metric on all?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, signature
from .comparing import data_and_units
from .errors import InputError, listed
from .inference.hypotheses import pairs_of
from .inference.multiplicity import holm
from .inference.power import POWER, detectable_factor, t_detectable, t_required_units
from .inference.predicted import Estimated, Labelled, sums_of
from .inference.steps import counting_steps
from .metrics.base import Scores
from .metrics.precomputed import SegmentScores
from .options.declare import called_with, taken
from .options.human import HumanOptions
from .progress import reported
from .resampling.counting import Data
from .resampling.units import Documents
from .results.studies import LabelledEstimate, StudyResult
from .results.studies.human import HumanPlan
from .settings import Resampling
from .validate import check_name

# With fewer labels nothing is estimated.
FEWEST = 20


@called_with(HumanOptions)
def human(options: HumanOptions) -> StudyResult[HumanPlan]:
    """Estimate scores and differences by people's labels of some segments and metrics of all of them.

    One metric has the labels, with missing scores for segments without labels. Each of the others predicts labels. If
    it predicts them well, the estimate is as certain as one from more labels; if not, it is that of the labels alone.

    Returns
    -------
    StudyResult
        With the tables ``differences`` and ``scores`` (:class:`~reshuffle.results.studies.LabelledEstimate`): for the
        labels alone, and for each predictor.

    Raises
    ------
    InputError
        If no metric, or more than one, has missing scores and none is named; a metric of texts is no number for each
        segment; fewer than 20 units have labels; all have; or a document has labels for some of its segments.

    Notes
    -----
    Labelled units must be a random sample of all units. Choose the predictor before you see labels: the best of several
    intervals is too short. Formulas and sources: :mod:`reshuffle.inference.predicted`. Cost: a pass over the scores.

    Examples
    --------
    Judges scored all 1,000 answers, people 100 of them.

    >>> import numpy as np
    >>> from reshuffle import SegmentScores, human
    >>> rng = np.random.default_rng(2)
    >>> truth = rng.normal(0.1, 1, (2, 1000)) + [[0], [0.3]]
    >>> judge = truth + rng.normal(0, 0.4, truth.shape)
    >>> labels = np.where(rng.permutation(1000) < 100, truth, np.nan)
    >>> people = SegmentScores("people", dict(zip("ab", labels)), missing="pairwise")
    >>> found = human(metrics=[people, SegmentScores("judge", dict(zip("ab", judge)))])
    >>> for each in found.tables["differences"]:
    ...     print(each.predictor, round(each.estimate, 2), round(each.standard_error, 2), round(each.worth))
    None 0.05 0.15 0
    judge 0.21 0.08 314
    """
    data, units = data_and_units(options)
    if options.baseline is not None:
        check_name("baseline", options.baseline, data.names)
    with reported(options.progress) as watched:
        if watched is not None:
            watched.plan(counting_steps(data, len(data.names)))
        at = _labels(options, data)
        scores = _segment_scores(data, Resampling(threads=options.threads, progress=watched))
        documents = None if units.documents is None else Documents.checked(units.documents, data.n_segments)
        return _estimated(options, data, at, scores, documents)


def _labels(options: HumanOptions, data: Data) -> int:
    """The index of the metric that has the labels."""
    incomplete = [
        label
        for label, metric in zip(data.labels, data.metrics, strict=True)
        if isinstance(metric, SegmentScores) and not metric.is_complete
    ]
    if not incomplete:
        raise InputError(
            "no metric has missing scores: leave segments without a label empty or NaN; if all have labels, use "
            "'reshuffle compare'"
        )
    if options.human is None and len(incomplete) > 1:
        raise InputError(
            f"{listed(incomplete)} have missing scores, but only labels may: leave out the others, or their segments"
        )
    name = incomplete[0] if options.human is None else options.human
    check_name("human", name, data.labels)
    if name not in incomplete:
        raise InputError(
            f"human: {name} has no missing scores: leave segments without a label empty or NaN; if all have labels, "
            "use 'reshuffle compare'"
        )
    others = [each for each in incomplete if each != name]
    if others:
        raise InputError(f"{others[0]} has missing scores, too: a predictor needs the scores of all segments")
    if len(data.labels) == 1:
        raise InputError(f"{name} is the only metric: give another one that has scores of all segments")
    return data.labels.index(name)


def _segment_scores(data: Data, resampling: Resampling) -> list[Scores]:
    """The scores of all systems on all segments, (k, S), by metric. NaN if missing."""
    samples = data.count(data.names, resampling)
    for label, sample in zip(data.labels, samples, strict=True):
        if sample.evaluations is not None:
            raise InputError(f"{label} is a function of texts, which need not have a value on a segment: leave it out")
    return [sample.segment_scores(data.names) for sample in samples]


class Question(NamedTuple):
    """The values of a system, or the differences of two, on all segments: (S,) by metric."""

    labels: Scores
    predictions: Sequence[Scores]
    whose: str
    """For errors: of both systems, or nothing."""

    @classmethod
    def of(cls, scores: Sequence[Scores], at: int, system: int, baseline: int | None = None) -> Question:
        values = [each[system] - (0 if baseline is None else each[baseline]) for each in scores]
        return cls(values.pop(at), values, "" if baseline is None else " of both systems")

    def labelled(self, documents: Documents | None, finite: bool) -> Labelled:
        """The labels of units; :class:`InputError` if there are too few, or documents are labelled in part."""
        known = ~np.isnan(self.labels)
        index = _index(known, documents)
        unit = "segment" if documents is None else "document"
        sizes, of_unit = np.bincount(index), sums_of(index, known.astype(np.float64))
        part = int(((of_unit > 0) & (of_unit < sizes)).sum())
        if part:
            raise InputError(
                f"{part:,} of {len(sizes):,} documents have labels for some of their segments only: label whole "
                "documents; if segments were drawn one by one, leave the documents out, with target 'set' (--target "
                "set)"
            )
        labelled = of_unit > 0
        if labelled.sum() < FEWEST:
            raise InputError(
                f"only {labelled.sum()} {unit}s have labels{self.whose}: an estimate needs at least {FEWEST}"
            )
        if (~labelled).sum() < 2:
            raise InputError(
                f"{labelled.sum():,} of {len(sizes):,} {unit}s have labels, but at least 2 must have none: leave "
                "some labels out, or label all and use compare"
            )
        sums = sums_of(index, np.where(known, self.labels, 0))[labelled]
        return Labelled(sums, labelled, sizes.astype(np.float64), finite)

    def answers(self, documents: Documents | None, finite: bool) -> list[Estimated]:
        """By the labels alone, and with each predictor."""
        own = self.labelled(documents, finite)
        index = _index(self.labels, documents)
        return [own.alone(), *(own.predicted(sums_of(index, each)) for each in self.predictions)]


def _index(values: NDArray[Any], documents: Documents | None) -> NDArray[np.intp]:
    """The unit of each segment."""
    return np.arange(len(values)) if documents is None else documents.index


def _estimated(
    options: HumanOptions, data: Data, at: int, scores: Sequence[Scores], documents: Documents | None
) -> StudyResult[HumanPlan]:
    base = 0 if options.baseline is None else data.names.index(options.baseline)
    n_units = data.n_segments if documents is None else documents.n_documents

    def records(questions: Sequence[tuple[int, int | None]]) -> tuple[LabelledEstimate, ...]:
        """The answers to these questions, and for pairs their p-values."""
        predictors = [None, *(label for label in data.labels if label != data.labels[at])]
        found = [Question.of(scores, at, *each).answers(documents, options.target == "set") for each in questions]
        adjusted = [holm(np.array([each.pvalue for each in column])).tolist() for column in zip(*found, strict=True)]
        return tuple(
            _record(
                (data.labels[at], predictor, data.names[system], None if other is None else data.names[other]),
                (answers[0], answers[column]),
                options,
                n_units,
                adjusted[column][row] if len(questions) > 1 else None,
            )
            for row, ((system, other), answers) in enumerate(zip(questions, found, strict=True))
            for column, predictor in enumerate(predictors)
        )

    pairs = pairs_of(len(data.names), base)
    plan = taken(
        HumanPlan,
        options,
        systems=data.names,
        baseline=data.names[base],
        human=data.labels[at],
        unit="segment" if documents is None else "document",
        units=n_units,
    )
    used = data.used_metrics(cited=False)
    return StudyResult(
        study="human",
        plan=plan,
        metrics=used,
        tables={
            "differences": records(pairs),
            "scores": records([(system, None) for system in range(len(data.names))]),
        },
        truths={},
        signature=signature.without_seed("human", plan, [metric.signature for metric in used]),
        version=_core.VERSION,
    )


class Planned(NamedTuple):
    """What other numbers of labels n would do: the variance is proportional to 1/n − 1/``of``."""

    own: Estimated
    of: float
    """The number of units if only these are meant, else infinity."""
    level: float

    def _labels(self, factor: float) -> float:
        """How many labels have the variance of the labels that there are times ``factor``."""
        return 1 / (factor * (1 / self.own.n - 1 / self.of) + 1 / self.of)

    def as_good_as(self, alone: Estimated) -> float:
        """How many labels alone have the standard error of this estimate."""
        if not alone.standard_error:
            return self.own.n
        return self._labels((self.own.standard_error / alone.standard_error) ** 2)

    @property
    def detectable(self) -> float:
        """The difference that the test shows with 80% power."""
        return t_detectable(self.own.n, self.level) * self.own.standard_error * math.sqrt(self.own.n)

    def needed(self, difference: float) -> int | None:
        """The number of labels with which the test shows a difference with 80% power."""
        error = self.own.standard_error
        if math.isinf(self.of):
            return t_required_units(difference / (error * math.sqrt(self.own.n)), self.level, POWER) if error else None
        shown = detectable_factor(self.level) * error
        return math.ceil(self._labels((difference / shown) ** 2)) if shown else None


def _record(
    names: tuple[str, str | None, str, str | None],
    answers: tuple[Estimated, Estimated],
    options: HumanOptions,
    n_units: int,
    adjusted: float | None,
) -> LabelledEstimate:
    """``answers`` are that of the labels alone and the one to record."""
    metric, predictor, system, baseline = names
    alone, own = answers
    low, high = own.interval(options.confidence_level)
    is_pair = baseline is not None
    plan = Planned(own, n_units if options.target == "set" else math.inf, 1 - options.confidence_level)
    planned = options.difference if is_pair else None
    return LabelledEstimate(
        metric,
        predictor,
        system,
        baseline,
        labelled=own.n,
        estimate=own.mean,
        standard_error=own.standard_error,
        low=low,
        high=high,
        pvalue=own.pvalue if is_pair else None,
        adjusted_pvalue=adjusted if is_pair else None,
        weight=own.weight,
        correlation=own.correlation,
        worth=plan.as_good_as(alone) - own.n,
        detectable=plan.detectable if is_pair else None,
        needed=None if planned is None else plan.needed(planned),
        shift_pvalue=own.shift_pvalue,
    )
