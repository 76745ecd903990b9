"""``flips``: the segments that make the difference between two systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import _core, signature
from .comparing import data_and_units
from .data.corpus import DocumentIds
from .errors import Argument, InputError, quoted
from .metrics.base import Scores
from .options.declare import called_with
from .options.flips import FlipOptions, finite
from .progress import reported
from .resampling.counting import Data
from .resampling.influence import contributions
from .resampling.samples import TextSample
from .resampling.units import Documents, paired_influence
from .results import FlippedSegment, Flips, UsedMetric
from .settings import Resampling
from .validate import check_name


@called_with(FlipOptions)
def flips(options: FlipOptions) -> Flips:
    """The segments that a system gains and loses against a baseline, and those that add most to the difference.

    A segment passes if its score is at least the threshold, or at most the threshold if lower is better. It is gained
    if it passes only under the system, and lost if it passes only under the baseline. What a segment adds to the
    difference of the two corpus scores is :attr:`reshuffle.FlippedSegment.contribution`.

    Returns
    -------
    Flips

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if a name is unknown, both systems are the same, the threshold is not a finite
        number or there is none, or fewer than two segments have scores of both systems.

    Notes
    -----
    Cost: a pass over the counts, beyond the segment scores. A function of texts is called 4·S times. With
    missing scores (:class:`reshuffle.SegmentScores`), only the segments for which both systems have scores count.

    Examples
    --------
    >>> from reshuffle import SegmentScores
    >>> ratings = SegmentScores("rating", {"old": [90, 20, 70, 60], "new": [80, 75, 30, 65]})
    >>> found = flips(metric=ratings, system="new", baseline="old", threshold=50)
    >>> found.gained, found.lost, found.n_both, found.n_neither, found.net
    ([2], [3], 2, 0, 0)
    >>> [(segment.segment, segment.contribution) for segment in found.largest[:2]]
    [(2, 13.75), (3, -10.0)]
    """
    data, units = data_and_units(options, [options.metric])
    pair = _pair(data.names, options.system, options.baseline)
    with reported(options.progress) as watched:
        resampling = Resampling(threads=options.threads, progress=watched)
        return _flips(data, units.documents, resampling, pair, options.threshold, options.top)


def _pair(names: Sequence[str], system: str | None, baseline: str | None) -> tuple[str, str]:
    """The system and its baseline; :class:`InputError` if they are unknown, the same, or not clear."""
    baseline = names[0] if baseline is None else baseline
    others = [name for name in names if name != baseline]
    if system is None:
        if len(others) != 1:
            raise InputError(
                "there are {n} systems: choose one with {system}, to compare it with {baseline}",
                n=len(names),
                system=Argument("system", tuple(others)),
                baseline=baseline,
            )
        system = others[0]
    for kind, name in (("system", system), ("baseline", baseline)):
        check_name(kind, name, names)
    if system == baseline:
        raise InputError(f"system and baseline are both {quoted(system)}: expected two different systems")
    return system, baseline


def _flips(
    data: Data,
    documents: DocumentIds | None,
    resampling: Resampling,
    pair: tuple[str, str],
    threshold: float | None,
    top: int,
) -> Flips:
    """The flips of a system and its baseline under the only metric of the data: see :func:`flips`."""
    system, baseline = pair
    (metric,), (label,) = data.metrics, data.labels
    names, pairs = (baseline, system), [(1, 0)]
    (by_segment,) = [sample.for_pairs(pairs) for sample in data.count_alone(names, resampling)]
    grouping = None if documents is None else Documents.from_ids(documents, data.n_segments, least=1)
    ids = data.segment_ids if grouping is None else grouping.names
    sample = by_segment.in_units(grouping, None)
    if sample.n_units < 2:
        raise InputError(f"there is only one {sample.unit}: expected at least 2")
    ((y, x),) = sample.rows_of(pairs)
    scored = sample.scored_units([x, y])
    units = np.arange(sample.n_units) if scored is None else scored
    # Of documents, from the segments that both systems have scores for.
    scores = by_segment.segment_scores(names) if grouping is None else by_segment.document_scores(grouping)[[x, y]]
    alone, (x, y) = sample.alone([x, y])
    difference = float(alone.scores[y] - alone.scores[x])
    parts = None if isinstance(alone, TextSample) else contributions(alone.with_counts(), y, x)[1]
    if parts is None or not np.isfinite(parts).all():
        parts = paired_influence(alone.scores, alone.leave_one_out, y, x) / (alone.n_units - 1)
    old, new = scores[:, units]
    threshold = _threshold(threshold, scores[:, units])
    passes = [(each >= threshold) if metric.higher_is_better else (each <= threshold) for each in (old, new)]
    kinds = np.array([["neither", "gained"], ["lost", "both"]])[passes[0].astype(int), passes[1].astype(int)]
    numbers = [unit + 1 for unit in units.tolist()] if ids is None else [ids[unit] for unit in units.tolist()]
    found = tuple(
        FlippedSegment(*values)
        for values in zip(
            numbers, old.tolist(), new.tolist(), kinds.tolist(), map(alone.round_score, parts.tolist()), strict=True
        )
    )
    of_metric = (metric.segment_signature if grouping is None else metric.signature)(data.n_references)
    return Flips(
        baseline=baseline,
        system=system,
        metric=UsedMetric(label, of_metric, metric.higher_is_better, sample.evaluations),
        threshold=threshold,
        unit=sample.unit,
        baseline_score=alone.round_score(float(alone.scores[x])),
        system_score=alone.round_score(float(alone.scores[y])),
        difference=alone.round_score(difference),
        segments=found,
        n_missing=sample.n_units - len(units),
        top=top,
        pvalue=_mcnemar(int((kinds == "gained").sum()), int((kinds == "lost").sum())),
        signature=signature.for_flips(of_metric, threshold, sample.unit, sample.n_units),
        version=_core.VERSION,
    )


def _threshold(given: float | None, scores: Scores) -> float:
    """The threshold; :class:`InputError` if there is none and scores are not only 0 and 1."""
    if given is not None:
        return finite("threshold", given)
    if np.isin(scores, (0, 1)).all():
        return 0.5
    raise InputError(
        "scores of segments are from {low:g} to {high:g}: choose the score at which a segment passes with {threshold}",
        low=float(scores.min()),
        high=float(scores.max()),
        threshold=Argument("threshold"),
    )


def _mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p that gains and losses are equally likely: McNemar 1947, doi:10.1007/BF02295996.

    >>> round(_mcnemar(9, 2), 5), _mcnemar(3, 3), _mcnemar(0, 0)
    (0.06543, 1.0, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5)))
