"""A scorer for Inspect (``inspect_ai``) with the score of the corpus and its standard error.

Inspect's metrics are means over samples. BLEU, chrF and TER of a corpus are not: they are computed from sums of counts.
:func:`translation` scores each sample and keeps its counts in the score's metadata. :func:`corpus_score` and
:func:`corpus_stderr` compute from them, also when a log is scored again. Inspect must be installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, scorer
from inspect_ai.scorer import metric as registered
from inspect_ai.solver import TaskState

from reshuffle import InputError, NativeMetric
from reshuffle import metric as native

from .harness import Counted

__all__ = ["corpus_score", "corpus_stderr", "count", "score_of", "translation"]

# The key of the counts in the metadata of a score.
KEY = "reshuffle"
# Metrics whose counts of a sample depend on the references of all samples, which a scorer does not see.
OF_ALL_SAMPLES = ("nist",)


@registered  # type: ignore[untyped-decorator]  # Inspect may be missing
def corpus_score() -> Metric:
    """The score of the corpus, from the counts of :func:`translation`.

    Returns
    -------
    Metric
        A function from a list of SampleScore to a float: NaN for an empty list. It raises :class:`InputError` for
        scores without counts.

    Examples
    --------
    >>> texts = [("the cat sat on a mat", "the cat sat on the mat"), ("it rained", "it rained all day")]
    >>> scores = [SampleScore(score=score_of(text, [target], "chrf")) for text, target in texts]
    >>> round(corpus_score()(scores), 2)
    60.11
    """

    def compute(scores: list[SampleScore]) -> float:
        if not scores:
            return float("nan")
        counted = count(scores)
        return float(counted.metric.score(counted.counts.sum(axis=0)))

    return compute


@registered  # type: ignore[untyped-decorator]
def corpus_stderr(n_resamples: int = 10_000) -> Metric:
    """The bootstrap standard error of :func:`corpus_score`.

    Parameters
    ----------
    n_resamples : int
        The number of bootstrap draws of the samples.

    Returns
    -------
    Metric
        A function from a list of SampleScore to a float. As Inspect's own ``stderr``, it is 0 for fewer than two
        scores.

    Examples
    --------
    >>> texts = [("the cat sat on a mat", "the cat sat on the mat"), ("it rained", "it rained all day")]
    >>> scores = [SampleScore(score=score_of(text, [target], "chrf")) for text, target in texts]
    >>> round(corpus_stderr(100_000)(scores), 1)
    4.9
    """

    def compute(scores: list[SampleScore]) -> float:
        return count(scores).bootstrap_error(n_resamples) if len(scores) > 1 else 0.0

    return compute


@scorer(metrics=[corpus_score(), corpus_stderr()])  # type: ignore[untyped-decorator]
def translation(metric: str = "bleu", options: Mapping[str, Any] | None = None) -> Scorer:
    """Score the completion of a sample against its target, which may have several references.

    Parameters
    ----------
    metric : str
        The key of a metric of reshuffle: ``bleu``, ``chrf``, ``ter`` and others, but not ``nist``, which needs the
        references of all samples to count one.
    options : mapping, optional
        Options of the metric, such as ``{"word_order": 2}``.

    Returns
    -------
    Scorer
        The value of its scores is that of the sample alone, for BLEU with ``effective_order``. Numbers of references
        may differ between samples.

    Raises
    ------
    InputError
        If the metric or an option is unknown, or the metric is ``nist``.

    Notes
    -----
    With several epochs, Inspect keeps the metadata of the first one, so the score of the corpus is that of the first
    epoch. Use ``Task(epochs=1)``.

    Examples
    --------
    >>> from inspect_ai import Task
    >>> task = Task(scorer=translation("chrf", {"word_order": 2}))
    """
    found = _native(metric, dict(options or {}))

    async def compute(state: TaskState, target: Target) -> Score:
        return _scored(found, metric, dict(options or {}), state.output.completion, list(target))

    return compute


def score_of(
    completion: str, references: Sequence[str], metric: str = "bleu", options: Mapping[str, Any] | None = None
) -> Score:
    """The Score that :func:`translation` gives to a completion, for scorers of one's own.

    Parameters
    ----------
    completion : str
    references : sequence of str
    metric, options
        As for :func:`translation`.

    Returns
    -------
    Score

    Raises
    ------
    InputError
        If there is no reference, the metric or an option is unknown, or the metric is ``nist``.

    Examples
    --------
    >>> score = score_of("the cat sat on a mat", ["the cat sat on the mat"])
    >>> round(score.value, 2), score.metadata["reshuffle"]["counts"]
    (53.73, [6, 6, 5, 3, 2, 1, 6, 5, 4, 3])
    """
    found = dict(options or {})
    return _scored(_native(metric, found), metric, found, completion, references)


def count(scores: Iterable[SampleScore | Score]) -> Counted:
    """The counts of scores of :func:`translation`.

    They can be passed to the functions of reshuffle, for example to :func:`reshuffle.bootstrap_interval`.

    Parameters
    ----------
    scores : iterable of SampleScore or Score
        For example ``[sample.scores["translation"] for sample in log.samples]`` of a log.

    Returns
    -------
    Counted
        ``metric`` and ``counts``, an (S, K) ndarray of int64.

    Raises
    ------
    InputError
        If there are no scores, scores have no counts, or their metrics differ.

    Examples
    --------
    >>> count([score_of("the cat sat on a mat", ["the cat sat on the mat"])]).counts
    array([[6, 6, 5, 3, 2, 1, 6, 5, 4, 3]])
    """
    found = [item.score if isinstance(item, SampleScore) else item for item in scores]
    kept: list[Any] = [(item.metadata or {}).get(KEY) for item in found]
    if not kept:
        raise InputError("no scores, so there is nothing to count")
    if None in kept:
        where = f"score {kept.index(None)} (counted from 0)"
        raise InputError(f"{where} has no counts: use the scorer reshuffle.compat.inspect_ai.translation")
    first = kept[0]
    if any((item["metric"], item["options"]) != (first["metric"], first["options"]) for item in kept):
        raise InputError("the scores are from different metrics or options")
    return Counted(native(first["metric"], **first["options"]), np.array([item["counts"] for item in kept], np.int64))


def _native(key: str, options: Mapping[str, Any]) -> NativeMetric:
    if key in OF_ALL_SAMPLES:
        raise InputError(f"{key} needs the references of all samples to count one: use another metric, such as bleu")
    return native(key, **options)


def _scored(metric: NativeMetric, key: str, options: dict[str, Any], text: str, references: Sequence[str]) -> Score:
    """The score of one sample. Its metadata has all that :func:`count` needs, as JSON."""
    if not references:
        raise InputError("the sample has no target: a reference is needed")
    (row,) = Counted.from_items(metric, [text], [references]).counts
    alone = native(key, **{**options, "effective_order": True}) if key == "bleu" else metric
    metadata = {KEY: {"metric": key, "options": options, "counts": row.tolist()}}
    return Score(value=float(alone.score(row)), answer=text, metadata=metadata)
