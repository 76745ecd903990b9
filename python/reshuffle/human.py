"""``human``: is a system better, by the labels of some segments and a metric on all?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, signature
from .comparing import data_and_units
from .errors import Argument, InputError, counted, listed, warn
from .inference.hypotheses import pairs_of
from .inference.multiplicity import holm
from .inference.power import POWER, detectable_factor, t_detectable, t_required_units
from .inference.predicted import Estimated, Labelled, sums_of
from .inference.rankings import ranked
from .inference.raters import agreements, noise, standardized
from .inference.sequential import boundaries, drift_for, stopping
from .metrics.base import Scores
from .metrics.precomputed import SegmentScores
from .options.declare import called_with, taken
from .options.human import HumanOptions
from .progress import reported
from .resampling.counting import Data, check_reachable
from .resampling.samples import Sample
from .resampling.units import Documents, Strata, documents_and_strata
from .results import RankedSystem
from .results.studies import LabelledEstimate, PlannedLook, PlannedRaters, RaterAgreement, StudyResult
from .results.studies.human import HumanPlan, deciding
from .settings import Resampling, Units
from .validate import DEFAULT_SEED, check_name

# With fewer labels nothing is estimated.
FEWEST = 20
# What tests scores that are all there.
COMPARE = Argument("compare", as_flag="'reshuffle compare'")
# Where a larger share has labels, their order means little.
NEARLY_ALL = 0.9
# For the error of a stratum.
FEWEST_IN_STRATUM = 5
# Plans have so many labels of a segment at most.
MOST_LABELS = 3
# A sample of raters.
FEWEST_RATERS = 5


@called_with(HumanOptions)
def human(options: HumanOptions) -> StudyResult[HumanPlan]:
    """Estimate scores and differences by people's labels of some segments and metrics of all of them.

    One metric has the labels, or one for each rater, with missing scores for segments without labels. Each of the
    others predicts labels. If it predicts them well, the estimate is as certain as one from more labels; if not, it is
    that of the labels alone.

    Returns
    -------
    StudyResult
        With the tables ``differences`` and ``scores`` (:class:`~reshuffle.results.studies.LabelledEstimate`): for the
        labels alone, and for each predictor. Of several raters also ``agreement``, with ``all_pairs`` the
        ``ranking``, and for a planned difference ``looks``, or ``designs`` with several raters.

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
        at = labels_among(data, options.human, options.raters == "random")
        samples = data.count_alone(data.names, Resampling(threads=options.threads, progress=watched))
        scores = scores_by_segment(data, samples)
        design = LabelUnits.of(units, data.n_segments, options.target == "set", options.raters == "random")
        others = [m for m in range(len(scores)) if m not in at]
        asked = Asked(
            raters=[data.labels[m] for m in at],
            ratings=np.array([scores[m] for m in at]),
            scores=[scores[m] for m in others],
            predictors=[data.labels[m] for m in others],
            design=design,
            options=options,
            names=data.names,
            higher_is_better=data.metrics[at[0]].higher_is_better,
        )
        if options.difference is not None:
            check_reachable("the difference", options.difference, [asked.ratings], "no number of labels is enough")
        ways = [asked, *asked.without_scales()]
        plan, metrics = _plan(asked), data.used_metrics()
        return StudyResult(
            study="human",
            plan=plan,
            metrics=metrics,
            tables={name: tuple(rows) for name, rows in _tables(ways).items()},
            truths={},
            signature=signature.without_seed("human", plan, [metric.signature for metric in metrics]),
            version=_core.VERSION,
        )


def labels_among(data: Data, named: Sequence[str], random_raters: bool = False) -> list[int]:
    """The indices of the metrics that have the labels: one, or one of each rater."""
    incomplete = [
        label
        for label, metric in zip(data.labels, data.metrics, strict=True)
        if isinstance(metric, SegmentScores) and not metric.is_complete
    ]
    if not incomplete:
        raise InputError(
            "no metric has missing scores: leave segments without a label empty or NaN; if all have labels, use "
            "{compare}",
            compare=COMPARE,
        )
    if not named and len(incomplete) > 1:
        raise InputError(
            "{names} have missing scores, but only labels may: leave out the others, or their segments; if each has "
            "the labels of a rater, name them: {raters}",
            names=listed(incomplete),
            raters=Argument(f"human={incomplete}", as_flag=f"--human {' '.join(incomplete)}"),
        )
    named = named or incomplete
    for name in named:
        check_name("metric of labels", name, data.labels)
        if name not in incomplete:
            raise InputError(
                "human: {name} has no missing scores: leave segments without a label empty or NaN; if all have "
                "labels, use {compare}",
                name=name,
                compare=COMPARE,
            )
    others = [each for each in incomplete if each not in named]
    if others:
        raise InputError(f"{others[0]} has missing scores, too: a predictor needs the scores of all segments")
    if len(data.labels) == len(named):
        only = f"{named[0]} is the only metric" if len(named) == 1 else "there are only labels"
        raise InputError(f"{only}: give another one that has scores of all segments")
    found = [data.labels.index(name) for name in named]
    if len({data.metrics[at].higher_is_better for at in found}) > 1:
        raise InputError("for some raters higher labels are better, and for others lower ones: say the same for all")
    if random_raters and len(found) < FEWEST_RATERS:
        raise InputError(
            f"raters: {counted(len(found), 'rater')} cannot stand for others, for which at least {FEWEST_RATERS} are "
            "needed: use {fixed}, which is about these",
            fixed=Argument("raters", ("fixed",)),
        )
    return found


def scores_by_segment(data: Data, samples: Sequence[Sample]) -> list[Scores]:
    """The scores of all systems on all segments, (k, S), by metric. NaN if missing."""
    for label, sample in zip(data.labels, samples, strict=True):
        if sample.evaluations is not None:
            raise InputError(f"{label} is a function of texts, which need not have a value on a segment: leave it out")
    return [sample.segment_scores(data.names) for sample in samples]


class LabelUnits(NamedTuple):
    """The units, and what is meant."""

    documents: Documents | None
    strata: Strata | None
    finite: bool
    random_raters: bool

    @classmethod
    def of(cls, units: Units, n_segments: int, finite: bool = False, random_raters: bool = False) -> LabelUnits:
        """Of these ids."""
        return cls(*documents_and_strata(units, n_segments, warn_of_ids=True), finite, random_raters)

    @property
    def unit(self) -> str:
        """``segment`` or ``document``."""
        return "segment" if self.documents is None else "document"

    def unit_of(self, n_segments: int) -> NDArray[np.intp]:
        """The unit of each segment."""
        return np.arange(n_segments) if self.documents is None else self.documents.index


class Question(NamedTuple):
    """The values of a system, or the differences of two, on all segments: (A, S) of raters, (S,) by predictor."""

    labels: Scores
    predictions: Sequence[Scores]
    whose: str
    """For errors: of both systems, or nothing."""

    @classmethod
    def of(cls, ratings: Scores, scores: Sequence[Scores], system: int, baseline: int | None = None) -> Question:
        labels, *values = (
            np.asarray(each[..., system, :] - (0 if baseline is None else each[..., baseline, :]))
            for each in (ratings, *scores)
        )
        return cls(labels, values, "" if baseline is None else " of both systems")

    def labelled(self, design: LabelUnits) -> Labelled:
        """The labels of units; :class:`InputError` if there are too few, or documents are labelled in part."""
        of_rater = ~np.isnan(self.labels)
        known = np.asarray(of_rater.any(axis=0))
        # A label is the mean of the raters of a segment.
        parts = of_rater / np.maximum(of_rater.sum(axis=0), 1)
        index = design.unit_of(len(known))
        unit = design.unit
        sizes, of_unit = np.bincount(index), sums_of(index, known.astype(np.float64))
        part = int(((of_unit > 0) & (of_unit < sizes)).sum())
        if part:
            raise InputError(
                f"{part:,} of {len(sizes):,} documents have labels for some of their segments only: label whole "
                "documents; if segments were drawn one by one, leave the documents out, with {target}",
                target=Argument("target", ("set",)),
            )
        labelled = of_unit > 0
        if labelled.sum() < FEWEST:
            raise InputError(
                f"only {counted(labelled.sum(), unit)} {'has a label' if labelled.sum() == 1 else 'have labels'}"
                f"{self.whose}: an estimate needs at least {FEWEST}"
            )
        if (~labelled).sum() < 2:
            raise InputError(
                f"{labelled.sum():,} of {len(sizes):,} {unit}s have labels, but at least 2 must have none: leave "
                "some labels out, or label all and use {compare}",
                compare=COMPARE,
            )
        if design.strata is not None:
            _check_strata(design.strata, labelled, unit + "s")
        elif np.ptp(np.flatnonzero(labelled)) < labelled.sum() < NEARLY_ALL * len(labelled):
            warn(
                f"the {labelled.sum():,} {unit}s with labels follow one another: they are a random sample only if all "
                f"{unit}s are in random order"
            )
        of_raters = np.array(
            [
                sums_of(index, np.where(has, own, 0) * part)[labelled]
                for has, own, part in zip(of_rater, self.labels, parts, strict=True)
            ]
        )
        by_rater = None
        if design.random_raters:
            by_rater = of_raters, np.array([sums_of(index, part)[labelled] for part in parts])
        n_segments = sizes.astype(np.float64)
        return Labelled(of_raters.sum(axis=0), labelled, n_segments, design.finite, design.strata, by_rater)

    def answers(self, design: LabelUnits) -> list[Estimated]:
        """By the labels alone, and with each predictor."""
        own, index = self.labelled(design), design.unit_of(self.labels.shape[1])
        return [own.alone(), *(own.predicted(sums_of(index, each)) for each in self.predictions)]


def _check_strata(strata: Strata, labelled: NDArray[np.bool_], units: str) -> None:
    """:class:`InputError` for a stratum with few labels, or without other units."""
    found = zip(np.bincount(strata.index[labelled], minlength=strata.n_strata), strata.sizes, strict=True)
    for number, (n, size) in enumerate(found, start=1):
        if n < FEWEST_IN_STRATUM or size - n < 2:
            raise InputError(
                f"strata: {n:,} of {size:,} {units} of stratum {number} of {strata.n_strata} have labels, but a "
                f"stratum needs at least {FEWEST_IN_STRATUM} with labels and 2 without: merge it with another"
            )


class Asked(NamedTuple):
    """What is estimated from the same labels: the ratings (A, k, S), and the predictors' scores (k, S)."""

    raters: Sequence[str]
    ratings: Scores
    scores: Sequence[Scores]
    predictors: Sequence[str]
    design: LabelUnits
    options: HumanOptions
    names: Sequence[str]
    higher_is_better: bool
    standardized: bool = False

    def without_scales(self) -> Iterator[Asked]:
        """The same of standardized labels; nothing for one rater, or if a rater has no scale."""
        if len(self.raters) > 1 and (ratings := standardized(self.ratings)) is not None:
            yield self._replace(ratings=ratings, standardized=True)

    @property
    def baseline(self) -> int | None:
        """The index of the system that others are compared with; None for all pairs."""
        if self.options.all_pairs:
            return None
        return 0 if self.options.baseline is None else self.names.index(self.options.baseline)

    @property
    def pairs(self) -> Sequence[tuple[int, int]]:
        """The pairs that are compared."""
        return pairs_of(len(self.names), self.baseline)

    @property
    def unit_of(self) -> NDArray[np.intp]:
        """The unit of each segment."""
        return self.design.unit_of(self.ratings.shape[-1])

    @property
    def n_units(self) -> int:
        """The number of units, with labels or not."""
        return int(self.unit_of.max()) + 1

    def records(self, pairs: Sequence[tuple[int, int | None]]) -> list[LabelledEstimate]:
        """The answers to these questions, and for pairs their p-values."""
        found = [Question.of(self.ratings, self.scores, *each).answers(self.design) for each in pairs]
        pvalues = np.array([[each.pvalue for each in answers] for answers in found])
        adjusted = [holm(column).tolist() for column in pvalues.T]
        return [
            self._record(pair, predictor, answers[0], own, adjusted[column][row] if len(pairs) > 1 else None)
            for row, (pair, answers) in enumerate(zip(pairs, found, strict=True))
            for column, (predictor, own) in enumerate(zip([None, *self.predictors], answers, strict=True))
        ]

    def _record(
        self,
        pair: tuple[int, int | None],
        predictor: str | None,
        alone: Estimated,
        own: Estimated,
        adjusted: float | None,
    ) -> LabelledEstimate:
        """``alone`` is the answer of the labels alone, and ``own`` the one to record."""
        (system, other), options, n_units = pair, self.options, self.n_units
        low, high = own.interval(options.confidence_level) if own.is_tested else (None, None)
        plan = Planned(own, n_units if options.target == "set" else math.inf, 1 - options.confidence_level, n_units)
        # More labels do not make raters differ less, and say nothing of the degrees of freedom of strata.
        is_detectable = other is not None and options.raters == "fixed" and own.is_tested
        planned = options.difference if is_detectable and options.strata is None else None
        return taken(
            LabelledEstimate,
            own,
            metric=", ".join(self.raters),
            standardized=self.standardized,
            predictor=predictor,
            system=self.names[system],
            baseline=None if other is None else self.names[other],
            labelled=own.n,
            estimate=own.mean,
            low=low,
            high=high,
            pvalue=None if other is None else own.pvalue,
            adjusted_pvalue=None if other is None else adjusted,
            worth=plan.as_good_as(alone) - own.n,
            detectable=plan.detectable if is_detectable else None,
            needed=None if planned is None else plan.needed(planned),
        )

    def agreement(self) -> Iterator[RaterAgreement]:
        """How far the raters agree. Names and orders have no scale."""
        level = self.options.confidence_level
        for each in agreements(self.ratings, self.unit_of, level, DEFAULT_SEED):
            if each.coefficient == "alpha-interval" or not self.standardized:
                yield RaterAgreement(self.standardized, *each)

    @property
    def can_plan_raters(self) -> bool:
        """Whether the number of labels of each segment can be planned."""
        design = self.design
        return len(self.raters) > 1 and not (design.finite or design.random_raters or design.strata is not None)

    def designs(self, system: int, other: int) -> Iterator[PlannedRaters]:
        """How many units show the planned difference with 80% power, by the number of labels of each segment."""
        question = Question.of(self.ratings, self.scores, system, other)
        variance, n_labels = noise(question.labels), (~np.isnan(question.labels)).sum(axis=0)
        if variance is None:
            return
        level, n_segments = 1 - self.options.confidence_level, int((n_labels > 0).sum())
        of_noise = variance * float((1 / n_labels[n_labels > 0]).sum()) / n_segments**2
        for predictor, own in zip([None, *self.predictors], question.answers(self.design), strict=True):
            # What more labels of the same units leave as it is.
            of_units = max(0.0, own.standard_error**2 - of_noise) * own.n
            for each in range(1, min(len(self.ratings), MOST_LABELS) + 1):
                sd = math.sqrt(of_units + variance * own.n / (n_segments * each))
                needed = t_required_units((self.options.difference or math.nan) / sd, level, POWER) if sd else None
                yield PlannedRaters(predictor, self.names[system], self.names[other], each, needed)


def _plan(asked: Asked) -> HumanPlan:
    """The options, and what followed from them."""
    options, strata = asked.options, asked.design.strata
    return taken(
        HumanPlan,
        options,
        systems=asked.names,
        baseline=None if asked.baseline is None else asked.names[asked.baseline],
        human=tuple(asked.raters),
        raters=options.raters if len(asked.raters) > 1 else None,
        strata=None if strata is None else strata.n_strata,
        unit=asked.design.unit,
        units=asked.n_units,
    )


def _tables(ways: Sequence[Asked]) -> Mapping[str, Sequence[Any]]:
    """All tables. ``ways`` are the labels as given, which decide, and standardized ones if there are any."""
    given, options = ways[0], ways[0].options
    systems: list[tuple[int, int | None]] = [(system, None) for system in range(len(given.names))]
    found: dict[str, Sequence[Any]] = {
        "differences": [row for way in ways for row in way.records(given.pairs)],
        "scores": [row for way in ways for row in way.records(systems)],
    }
    differences, scores = ([row for row in rows if not row.standardized] for rows in found.values())
    if options.looks is not None:
        found["looks"] = [look for row in differences for look in _looks(row, options.looks, options)]
    if options.difference is not None and given.can_plan_raters:
        found["designs"] = [each for pair in given.pairs for each in given.designs(*pair)]
    if options.all_pairs:
        found["ranking"] = _ranking(given, differences, scores)
    if len(given.raters) > 1:
        found["agreement"] = [each for way in ways for each in way.agreement()]
    return found


def _ranking(
    asked: Asked, differences: Sequence[LabelledEstimate], scores: Sequence[LabelledEstimate]
) -> Sequence[RankedSystem]:
    """The systems by their scores, with what the tests of all pairs say of them, by the predictor that decides."""
    higher, helped = asked.higher_is_better, deciding(asked.predictors)
    scores = sorted([row for row in scores if row.predictor == helped], key=lambda row: row.estimate, reverse=higher)
    significant = [
        (row.system, row.baseline, 1 if (row.estimate > 0) == higher else -1)
        for row in differences
        if row.predictor == helped and row.baseline and row.decisive_pvalue <= 1 - asked.options.confidence_level
    ]
    estimates = np.array([row.estimate for row in scores])
    systems, _ = ranked([row.system for row in scores], estimates, significant, {})
    return systems


def _looks(row: LabelledEstimate, n_looks: int, options: HumanOptions) -> Iterator[PlannedLook]:
    """O'Brien and Fleming's looks that show the planned difference with 80% power."""
    if not row.standard_error:
        return
    shares = tuple(look / n_looks for look in range(1, n_looks + 1))
    limits = boundaries("obrien-fleming", shares, 1 - options.confidence_level)
    drift = drift_for(limits, shares, POWER)
    most = row.labelled * (drift * row.standard_error / (options.difference or math.nan)) ** 2
    shown = np.cumsum(stopping(limits, shares, drift)).tolist()
    for look, (share, limit, power) in enumerate(zip(shares, limits.tolist(), shown, strict=True), 1):
        labels, level = math.ceil(share * most), math.erfc(limit / math.sqrt(2))
        yield PlannedLook(row.predictor, row.system, str(row.baseline), look, labels, level, power)


class Planned(NamedTuple):
    """What other numbers of labels n would do: the variance is proportional to 1/n − 1/``of``."""

    own: Estimated
    of: float
    """The number of units if only these are meant, else infinity."""
    level: float
    units: int
    """Those with labels and without."""

    def _labels(self, factor: float) -> float:
        """How many labels have the variance of the labels that there are times ``factor``."""
        return 1 / (factor * (1 / self.own.n - 1 / self.of) + 1 / self.of)

    def as_good_as(self, alone: Estimated) -> float:
        """How many labels alone have the standard error of this estimate."""
        if not alone.standard_error:
            return self.own.n
        if not self.own.standard_error:  # as without any error: as good as the labels of all
            return self.units
        return self._labels((self.own.standard_error / alone.standard_error) ** 2)

    @property
    def detectable(self) -> float:
        """The difference that the test shows with 80% power, with the degrees of freedom that it has."""
        n = self.own.freedom + 1
        return t_detectable(n, self.level) * self.own.standard_error * math.sqrt(n)

    def needed(self, difference: float) -> int | None:
        """The number of labels with which the test shows a difference with 80% power."""
        error = self.own.standard_error
        if math.isinf(self.of):
            return t_required_units(difference / (error * math.sqrt(self.own.n)), self.level, POWER) if error else None
        shown = detectable_factor(self.level) * error
        return math.ceil(self._labels((difference / shown) ** 2)) if shown else None
