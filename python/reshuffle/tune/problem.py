"""What optimizers need: lists, counts and scores of their entries, and the weights with which a search begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Counts, MetricLike, Scores
from ..metrics.named import metric as native_metric
from ..metrics.native import NativeMetric
from ..metrics.registry import spec_of
from .lists import NBest, additive
from .weights import Weights, weights_by_name

Floats = NDArray[np.float64]

# Metrics whose scores of single sentences say little, or have another range than 0 to 100.
BY_SENTENCE_BLEU = ("bleu", "nist", "length")
# The metric that counts the lengths of references, if no other one does.
LENGTH = "length"
# The column of these lengths.
REFERENCE_LENGTH = "ref_len"


def sentence_metric_for(metric: NativeMetric, like: MetricLike | None = None) -> NativeMetric:
    """The metric that scores sentences: ``like``, or one that suits the corpus metric.

    That is sentence BLEU for ``bleu`` and ``nist``, with the options that both have, such as the tokenizer; otherwise
    the metric itself.

    >>> from reshuffle import metric
    >>> sentence_metric_for(metric("bleu", tokenize="none")), sentence_metric_for(metric("ter"))
    (metric('sentbleu', tokenize='none'), metric('ter'))
    """
    if like is not None:
        return additive(like)
    if metric.key not in BY_SENTENCE_BLEU:
        return metric
    return native_metric("sentbleu", **shared_options(metric.options, "sentbleu"))


# Options of metrics that mean something else in others.
OWN = ("weights", "auto_reweigh", "max_ngram_order")


def shared_options(options: Mapping[str, Any], other: str) -> dict[str, Any]:
    """The options of a metric that another one has, too, such as the tokenizer.

    >>> shared_options({"tokenize": "none", "smooth_method": "floor"}, "sentbleu")
    {'tokenize': 'none'}
    """
    known = {option.name for option in spec_of(other).options}
    return {name: value for name, value in options.items() if name in known and name not in OWN}


@dataclass(frozen=True, eq=False)
class Problem:
    """Lists to be tuned on, with K entries in all."""

    lists: NBest
    references: list[list[str | None]] = field(repr=False)
    """Of N references each."""
    metric: NativeMetric
    """The corpus metric."""
    sentence: NativeMetric
    """The metric of sentences."""
    asked: bool = False
    """Whether the user has chosen the metric of sentences."""
    initial: Mapping[str, float] | None = field(default=None, repr=False)
    """The weights with which a search begins."""
    low: Floats | None = None
    """Shape (F,). Between which weights random starts are drawn."""
    high: Floats | None = None
    """Shape (F,)."""
    previous: Mapping[str, float] | None = field(default=None, repr=False)
    """The weights of the round before."""
    sources: Sequence[str] | None = field(default=None, repr=False)
    threads: int = 0
    """0 means all cores."""
    progress: _core.Progress | None = None

    @lazy
    def counts(self) -> Counts:
        """The counts of each entry under the corpus metric: (K, T)."""
        return self.lists.count(self.metric, self.references, workers=self.threads or None, progress=self.progress)

    @lazy
    def sentence_counts(self) -> Counts:
        """The same under the metric of sentences."""
        if self.sentence == self.metric:
            return self.counts
        return self.lists.count(self.sentence, self.references, workers=self.threads or None, progress=self.progress)

    @lazy
    def scores(self) -> Scores:
        """The score of each entry as a sentence, divided by 100, higher is better: (K,)."""
        own = self.sentence.segment_scores(self.sentence_counts) / 100
        return own if self.sentence.higher_is_better else -own

    @lazy
    def bleu_plus_one(self) -> Floats:
        """BLEU of each entry from 0 to 1, with 1 added to matches and totals of all orders: (K,). Moses' PRO uses it.

        :class:`InputError` unless the corpus metric is BLEU.
        """
        if self.metric.key != "bleu":
            raise InputError(f"entry_scores moses is for the metric bleu: leave it out for {self.metric.key}")
        place = {name: i for i, name in enumerate(self.metric.columns)}
        orders = range(1, 1 + sum(name.startswith("match_") for name in place))
        matches, totals = (self.counts[:, [place[f"{kind}_{n}"] for n in orders]] for kind in ("match", "total"))
        precision = np.log((matches + 1.0) / (totals + 1.0)).mean(axis=1)
        length, reference = self.counts[:, place["hyp_len"]], self.counts[:, place[REFERENCE_LENGTH]]
        brevity = np.minimum(0.0, 1.0 - reference / np.maximum(length, 1))
        scores: Floats = np.where(length > 0, np.exp(precision + brevity), 0.0)
        return scores

    @lazy
    def lengths(self) -> Floats:
        """The length of the reference of each sentence, of several their mean: (N,).

        References are counted one by one: some metrics sum the lengths of several, others take the closest one.
        """
        counting = (m for m in (self.sentence, self.metric) if REFERENCE_LENGTH in m.columns)
        m = next(counting, None) or native_metric(LENGTH, **shared_options(self.metric.options, LENGTH))
        texts = [[text or "" for text in column] for column in self.references]
        column = m.columns.index(REFERENCE_LENGTH)
        lengths = [m.suff_stats([each], [each], workers=self.threads or None)[0][:, column] for each in texts]
        there = np.array([[text is not None for text in column] for column in self.references])
        found: Floats = np.average(lengths, axis=0, weights=there)
        return found

    @property
    def gains_bleu(self) -> bool:
        """Whether an entry gains BLEU of the corpus so far: without a metric of sentences."""
        return self.metric.key == "bleu" and not self.asked

    def watched(self, threads: int, progress: _core.Progress | None) -> Problem:
        """A copy with other threads and another progress, which has what has been computed."""
        copied = copy(self)
        vars(copied).update(threads=threads, progress=progress)
        return copied

    @property
    def names(self) -> list[str]:
        """The names of all features, the dense ones first."""
        return [*self.lists.names, *self.lists.sparse_names]

    def vector(self, weights: Mapping[str, float]) -> Floats:
        """Weights in the order of :attr:`names`; :class:`InputError` if a dense feature has none."""
        found: Weights = weights_by_name(weights, self.lists.names, self.lists.sparse_names)
        return np.concatenate([found.dense, found.sparse])

    def start(self) -> Floats | None:
        """The weights with which a search begins: those of the round before, or the given ones."""
        weights = self.initial if self.previous is None else self.previous
        return None if weights is None else self.vector(weights)

    def check(self, made: bool) -> None:
        """Raise :class:`InputError` for lists on which nothing can be tuned. ``made``: features are made from texts."""
        self.lists.check_choice(made=made)
        if not self.lists.names and self.lists.sparse is None and not made:
            raise InputError(f"{self.lists.source}: no features: expected lists with at least one")
