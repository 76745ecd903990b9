"""Which entries weights choose, and the outputs that these make: systems to be compared with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import InputError, quoted
from ..lazy import lazy
from ..metrics.base import Counts, Scores
from ..metrics.native import NativeMetric
from .lists import NBest
from .templates import template_features

# The templates of :func:`reshuffle.tune.template_features`, of which each feature has its template before ``=``.
COUNTING = ("ngram", "presence")
OTHERS = ("phrase", "words")


def first_best(offsets: NDArray[np.int64], scores: NDArray[np.float64], rounding: float = 0.0) -> NDArray[np.int64]:
    """The first row with the highest score of each list: (N,). Scores equal the highest up to a share of it.

    >>> first_best(np.array([0, 3, 5]), np.array([1.0, 2.0, 2.0, 0.0, 5.0])).tolist()
    [1, 4]
    """
    best = np.maximum.reduceat(scores, offsets[:-1])
    rows = np.flatnonzero(scores >= np.repeat(best - rounding * np.abs(best), np.diff(offsets)))
    _, first = np.unique(np.searchsorted(offsets, rows, "right"), return_index=True)
    found: NDArray[np.int64] = rows[first]
    return found


def templates_of(names: Mapping[str, float] | Sequence[str]) -> tuple[str, ...]:
    """The templates that made the features with these names.

    >>> templates_of(["lm", "ngram:2=a b", "words=a b", "ngram:2=b c", "ngram:x=1"])
    ('ngram:2', 'words')
    """
    heads = (name.partition("=")[0] for name in names if "=" in name)
    return tuple(dict.fromkeys(head for head in heads if head in OTHERS or _is_counting(head)))


def _is_counting(template: str) -> bool:
    kind, _, order = template.partition(":")
    return kind in COUNTING and order in "123456789" and len(order) == 1


def weighted_scores(
    lists: NBest,
    weights: Mapping[str, float],
    *,
    templates: Sequence[str] = (),
    sources: Sequence[str] | None = None,
    edges: bool = False,
) -> NDArray[np.float64]:
    """The weighted sum of the features of each entry: (K,).

    Sums are taken in the order of the features, so that equal entries have equal scores on any machine.

    Parameters
    ----------
    lists : NBest
    weights : mapping of str to float
        Weights by feature. Features that the lists lack are 0, and so are the weights of those that are not in here.
    templates, sources, edges
        How features that are not in the lists are made: see :func:`reshuffle.tune.template_features`.

    Raises
    ------
    InputError
        If sources or alignments that a template needs are missing, or a sum is too large for floating-point numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = _weighted_sums(lists, weights, templates, sources, edges)
    if not np.isfinite(total).all():
        entry = int(np.flatnonzero(~np.isfinite(total))[0]) + 1
        raise InputError(
            f"{lists.source}: the weighted features of entry {entry} are too large for floating-point numbers: use "
            "smaller weights"
        )
    return total


def _weighted_sums(
    lists: NBest, weights: Mapping[str, float], templates: Sequence[str], sources: Sequence[str] | None, edges: bool
) -> NDArray[np.float64]:
    """The sums of :func:`weighted_scores`, some of which may not be finite."""
    total = np.zeros(len(lists))
    for i, name in enumerate(lists.names):
        weight = weights.get(name, 0.0)
        if weight:
            total += weight * lists.dense[:, i]
    parts = [lists.sparse]
    if templates:
        made = [name for name in weights if name.partition("=")[0] in templates]
        parts.append(template_features(lists, templates, sources=sources, edges=edges, known=made))
    for part in parts:
        if part is not None:
            of = np.array([weights.get(name, 0.0) for name in part.names])
            rows = np.repeat(np.arange(len(lists)), np.diff(part.indptr))
            total += np.bincount(rows, part.values * of[part.indices], minlength=len(lists))
    return total


def check_features(lists: NBest, names: Sequence[str], other: str) -> None:
    """Raise :class:`InputError` unless the lists have the dense features ``names``, which are those of ``other``."""
    known = set(lists.names)
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        raise InputError(f"{lists.source}: no feature {quoted(missing)}, which {other} has")
    wanted = set(names)
    extra = next((name for name in lists.names if name not in wanted), None)
    if extra is not None:
        raise InputError(f"{lists.source}: the feature {quoted(extra)} is not in {other}: it has no weight")


class Model(Protocol):
    """What chooses entries: weights of features."""

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each feature; 0 for others."""
        ...

    def choose(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.int64]:
        """The entry of each sentence with the highest score, the first of equals: (N,) numbers of rows."""
        ...


@record(slots=False, eq=False)
class LinearModel:
    """A weight for each feature of lists.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("dev.nbest").write_text("0 ||| a b ||| lm= -1\\n0 ||| a c ||| lm= -2\\n")
    >>> lists = tune.read_nbest("dev.nbest")
    >>> model = tune.LinearModel({"lm": 1.0, "ngram:1=c": 1.5})
    >>> model.scores(lists).tolist(), lists.hypotheses(model.choose(lists))
    ([-1.0, -0.5], ['a c'])
    >>> Path("dev.nbest").unlink()
    """

    weights: Mapping[str, float]
    """Names as ``ngram:2=a b`` are features that :func:`reshuffle.tune.template_features` makes."""

    def scores(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.float64]:
        """The weighted sum of the features of each entry: (K,). Features that the lists lack are 0."""
        own = {*lists.names, *([] if lists.sparse is None else lists.sparse.names)}
        made = [name for name in self.weights if name not in own]
        templates = templates_of(made)
        # Without a weight for an n-gram with <s> or </s> these marks change nothing.
        edges = any({"<s>", "</s>"} & set(name.partition("=")[2].split(" ")) for name in made) if templates else False
        return weighted_scores(lists, self.weights, templates=templates, sources=sources, edges=edges)

    def choose(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.int64]:
        """The entry of each sentence with the highest score, the first of equals: (N,) numbers of rows."""
        return first_best(lists.offsets, self.scores(lists, sources))


@record(slots=False, eq=False)
class Chosen:
    """The entries that each of R runs chooses: one for each of N sentences."""

    lists: tuple[NBest, ...] = field(repr=False)
    """The lists of each run: the same ones, unless each run has decoded."""
    rows: NDArray[np.int64] = field(repr=False)
    """Shape (R, N). Rows of the lists."""
    counts: Counts = field(repr=False)
    """Shape (R, N, T). The counts of the chosen entries under ``metric``: a replicate is a system."""
    metric: NativeMetric

    @lazy
    def scores(self) -> Scores:
        """The score of each run: (R,)."""
        return self.metric.score(self.counts.sum(axis=1))

    def outputs(self) -> list[list[str]]:
        """The output of each run, N hypotheses each: the runs of a system for :func:`reshuffle.compare_runs`."""
        return [lists.hypotheses(rows) for lists, rows in zip(self.lists, self.rows, strict=True)]
